"""Orders of rows, columns and vertices: one module an algorithm."""

from __future__ import annotations

from biela.graph.ordering.degree import minimum_degree

__all__ = ["minimum_degree"]
