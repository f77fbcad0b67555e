"""Dyads in space that have a closed form, by the joints of their chain."""

from __future__ import annotations

from typing import Final

from biela.atoms import Atom
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.dyad import Dyad
from biela.equations.groups.closed_forms.geometry import Geometry
from biela.equations.groups.closed_forms.legs import LegSolver
from biela.equations.groups.closed_forms.rods import RodSolver
from biela.equations.groups.closed_forms.spatial_view import SpatialView
from biela.equations.groups.closed_forms.spherical import SphericalSolver

__all__ = ["LETTERS", "spatial_dyad"]

#: Kinds of joints, as letters.
LETTERS: Final = {"spherical": "S", "revolute": "R", "prismatic": "P", "universal": "U"}


def spatial_dyad(view: SpatialView, dyad: Dyad, poses: Poses, branch: Atom) -> Geometry | None:
    """Where the bodies of a dyad are; None if its chain has no closed form here."""
    if dyad.letters[0] in "PR" and dyad.letters[2] in "SU":
        dyad = dyad.reversed()
    given = (view, dyad, poses, branch)
    match dyad.letters:
        case "SSP" | "USP" | "SUP":
            return RodSolver(*given).with_slider()
        case "SSR" | "USR" | "SUR":
            return RodSolver(*given).with_hinge()
        case "SPS" | "SPU" | "UPS":
            return LegSolver(*given).leg()
        case "RRR":
            return SphericalSolver(*given).dyad_about_point()
    return None
