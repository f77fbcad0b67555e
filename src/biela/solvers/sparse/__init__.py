"""Sparse systems with patterns that never change: analysed once, factored and solved often."""

from __future__ import annotations
