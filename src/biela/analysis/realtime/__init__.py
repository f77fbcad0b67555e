"""Simulators for real time: a whole simulator as C99, with the same work in every step."""

from __future__ import annotations

from biela.analysis.realtime.export import export_simulator

__all__ = ["export_simulator"]
