"""Analyses by structural groups."""
