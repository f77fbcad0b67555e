"""Chains of many four-bars: biela's looped engine beside MuJoCo and Exudyn."""
