"""Functions of the arrays of a tree: coordinates, velocities, wrenches, time, parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from biela.atoms import Atom, Kind
from biela.code import Function
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, cross, minus, times, transposed
from biela.errors import ModelError
from biela.model.quantities.values import Value

Rotors = Mapping[str, Value]


def function_of(
    name: str, tree: SpatialTree, inputs: Sequence[str], outputs: Mapping[str, Any], **more: Any
) -> Function:
    """A function of arrays of a tree, of more arrays, and of its parameters if there are any."""
    arrays: dict[str, Any] = {key: getattr(tree, key) for key in inputs} | more
    if depends_on_time(tree, outputs.values()):
        arrays["t"] = tree.workspace.time
    if tree.p:
        arrays["p"] = tree.p
    return Function(name, arrays, outputs)


def depends_on_time(tree: SpatialTree, outputs: Any) -> bool:
    """Whether the time is in any of the atoms of lists of lists."""
    refs: list[int] = []

    def collect(x: Any) -> None:
        if isinstance(x, Atom):
            refs.append(abs(x.ref))
        elif isinstance(x, Iterable):
            for part in x:
                collect(part)

    collect(outputs)
    return tree.workspace.time.ref in tree.workspace.table.live(refs)


def external_wrenches(
    tree: SpatialTree, external: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Symbols of the wrenches on frames, by frame, and as an input of a function.

    Raises:
        ModelError: A frame is named twice.
        UnknownNameError: There is no such frame.
    """
    if isinstance(external, str) or len(set(external)) < len(external):
        raise ModelError(f"external frames are a list of different names, not {external!r}")
    rows = [
        [tree.workspace.symbol(f"wrench{i + 1}_{k + 1}", Kind.INPUT) for k in range(6)]
        for i in range(len(external))
    ]
    for name in external:
        tree.frame(name)
    return dict(zip(external, rows, strict=True)), {"wrenches": rows} if rows else {}


def held(tree: SpatialTree, body: str, F: Sequence[Sequence[Scalar]]) -> list[Atom]:
    """The force by which a body is held, at and along the marker of its joint on it.

    F are the forces between links, [moment; force] at and along the frame of each link.
    """
    k, here = tree.held_at[body]
    moment, force = F[k][:3], F[k][3:]
    back = transposed(here.R)
    moment = minus(moment, cross(here.p, force))
    return [tree.workspace.atom(x) for x in (*times(back, moment), *times(back, force))]
