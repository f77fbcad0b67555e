"""The force that belongs to a coordinate: its power is force times rate."""

from __future__ import annotations


def force_along(unit: str) -> tuple[str, str]:
    """Dimension and unit of the force along a coordinate in rad, m or neither."""
    return {"rad": ("torque", "N m"), "m": ("force", "N")}.get(unit, ("any", ""))


def dimension_along(unit: str, *, per: str = "") -> str:
    """The dimension of a coordinate in rad or m, or with ``per`` of its rate or of a constant."""
    names = {
        "": ("angle", "length"),
        "rate": ("angular velocity", "velocity"),
        "stiffness": ("torsional stiffness", "stiffness"),
        "damping": ("torsional damping", "damping"),
    }[per]
    return {"rad": names[0], "m": names[1]}.get(unit, "any")
