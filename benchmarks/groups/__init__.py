"""Structural groups measured beside hand-written C of the same algorithms."""
