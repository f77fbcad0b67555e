"""What hangs together how in a model: the pieces of a page that the studio and reports show.

    for piece in topology_page(model):
        piece.title, piece.html

Of bodies and joints: the connection graph, loops, freedoms by count and by rank with the redundant
constraints, the structural groups, the pattern of the Jacobian before and after ordering, and the
equations if they are few.  Of symbols: the trees of bases and points, the pattern, the equations.
What cannot be found is told in words in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import biela as bl
from biela.analysis.robots.robot import Robot
from biela.errors import ModelError
from biela.studio.report.fragments import Fragment, made
from biela.studio.topology_equations import Equations
from biela.studio.topology_structure import Structure
from biela.studio.topology_trees import Trees

__all__ = ["Describable", "described", "topology_page", "topology_parts"]

#: What a model is described by: bodies and joints, or symbols.
Describable: TypeAlias = "bl.Model | bl.SymbolicSystem"


def topology_page(model: object) -> tuple[Fragment, ...]:
    """The pieces of the page, each with a title; errors become words.

    Args:
        model: A Model, Robot or SymbolicSystem.

    Raises:
        ModelError: It is none of these.
    """
    parts = topology_parts(described(model))
    return tuple(made(title, maker) for title, maker in parts.items())


def topology_parts(
    model: Describable, structure: Structure | None = None
) -> Mapping[str, Callable[[], str]]:
    """What makes each piece, by title: for those who show how far they are.

    Args:
        model: Bodies and joints, or symbols.
        structure: That of the model, from those who have it.
    """
    equations = Equations(model)
    if isinstance(model, bl.SymbolicSystem):
        trees = Trees(model)
        return {
            "Tree of bases": trees.bases,
            "Tree of points": trees.points,
            "Degrees of freedom": equations.freedoms,
            "Sparsity": equations.sparsity,
            "Equations": equations.written,
        }
    structure = structure or Structure(model)
    return {
        "Connection graph": structure.graph,
        "Loops": structure.loops,
        "Degrees of freedom": structure.freedoms,
        "Redundant constraints": structure.redundancy,
        "Structural groups": structure.groups,
        "Sparsity": equations.sparsity,
        "Equations": equations.written,
    }


def described(model: object) -> Describable:
    """A model as it is described: of a robot its bodies and joints.

    Raises:
        ModelError: It is no model.
    """
    if isinstance(model, Robot):
        model = model.model
    if isinstance(model, bl.Model | bl.SymbolicSystem):
        return model
    raise ModelError(
        f"a {type(model).__name__} is no model: give a Model, a Robot or a SymbolicSystem"
    )
