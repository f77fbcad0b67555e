"""Stages of kernels over links, and the order in which segments of them run.

What links hand inward is set by the first of those that follow a link, and added by the others:
where each link has one that follows, nothing has to be cleared or added.  Row 0 of what links
exchange is the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, Workspace
from biela.code import Function
from biela.code.looped import Clear, Memory, Program, Segment, Stage, Write
from biela.equations.orientation import product as quaternion_product
from biela.equations.spatial.looped.prototypes import Kind
from biela.equations.spatial.looped.recursions import LinkKernel, Recursion
from biela.equations.spatial.looped.structure import Description, Image
from biela.equations.spatial.turning import zero
from biela.errors import ModelError

if TYPE_CHECKING:
    from biela.equations.spatial.looped.lowering import Lowering

Integers = npt.NDArray[np.int64]
#: Coordinates and velocities that a force along a velocity may depend on: those of its own joint.
_SYMBOLS: Final = 8


class NotLoopedError(ModelError):
    """Something in a model has no looped form; written out it has."""


@dataclass(frozen=True)
class _Part:
    """Some links of a kind that run by one kernel in one way."""

    kind: Kind
    kernel: LinkKernel
    members: Integers  # numbers in the kind
    added: frozenset[str]  # outputs that are added to what is there

    @property
    def links(self) -> Integers:
        """Numbers of the links."""
        return np.array(self.kind.links)[self.members]


class Tape:
    """Collects what runs."""

    def __init__(self, lowering: Lowering, memory: Memory) -> None:
        self.lowering, self.memory = lowering, memory
        self._stages: list[Stage | Clear] = []
        self._segments: list[Segment] = []

    def program(self, name: str) -> Program:
        """All of it."""
        return Program(self._stages, self.memory.size, tape=self._segments, name=name)

    # -------------------------------------------------------------------------- links

    def turns(self) -> None:
        """The cosines and sines of all angles, which do not wait for each other."""
        for kind, recursion in zip(self.lowering.kinds, self.lowering.recursions, strict=True):
            kernel = recursion.turn()
            if kernel is not None:
                part = _Part(kind, kernel, np.arange(len(kind.links)), frozenset())
                self._whole(self._stage(part, {}, independent=True))

    def run(
        self,
        kernel_of: Callable[[Recursion], LinkKernel],
        names: Mapping[str, str],
        inward: bool = False,
        added: set[str] | frozenset[str] = frozenset(),
    ) -> None:
        """One recursion over all links; ``names`` are the vectors of the arrays of kernels."""
        low = self.lowering
        count = len(low.parent)
        stage_of, place_in = np.empty(count, dtype=int), np.empty(count, dtype=int)
        for kind, recursion in zip(low.kinds, low.recursions, strict=True):
            kernel = kernel_of(recursion)
            order = np.arange(len(kind.links))
            ways: list[tuple[Integers, frozenset[str]]] = [(order, frozenset(added))]
            if inward:
                order = order[::-1]
                first = low.first_child[np.array(kind.links)[order]]
                more = frozenset({*added, "before"})
                ways = [(order[first], frozenset(added)), (order[~first], more)]
            for members, adding in ways:
                if len(members):
                    part = _Part(kind, kernel, members, adding)
                    stage_of[part.links] = len(self._stages)
                    place_in[part.links] = np.arange(len(members))
                    self._stages.append(self._stage(part, names))
        sequence = np.arange(count)[::-1] if inward else np.arange(count)
        changes = np.flatnonzero(np.diff(stage_of[sequence])) + 1
        for run in np.split(sequence, changes):
            self._segments.append(Segment(int(stage_of[run[0]]), int(place_in[run[0]]), len(run)))

    def _stage(self, part: _Part, names: Mapping[str, str], independent: bool = False) -> Stage:
        function = part.kernel.function
        gather = {
            array.name: self._places(part, array.name, names, array.size)
            for array in function.inputs
            if array.name != "p"
        }
        scatter = {
            array.name: Write(
                self._places(part, array.name, names, array.size),
                "add" if array.name in part.added else "set",
            )
            for array in function.outputs
        }
        parameters = None
        if part.kernel.numbers:
            rows = self.lowering.numbers_of(part.kind)
            parameters = np.ascontiguousarray(rows[part.members][:, list(part.kernel.numbers)])
        return Stage(function, gather, scatter, parameters, independent=independent)

    def _places(self, part: _Part, name: str, names: Mapping[str, str], width: int) -> Integers:
        """The places of an array of a kernel for all instances."""
        low, links = self.lowering, part.links
        first = 0 if name == "q" else self.memory.first(names.get(name, name))
        places: Integers
        if name == "q":
            rows = low.coordinates_of(part.kind, self.memory)
            places = rows[part.members][:, list(part.kernel.coordinates)]
        elif name in ("v", "a", "tau"):
            places = first + np.array([low.tree.links[k].v for k in links])
        elif name == "gain":
            places = first + low.gains[links]
        elif name in ("own", "turn"):
            places = first + width * links
        else:  # rows that the ground has, too
            places = first + width * ((low.parent[links] if name == "before" else links) + 1)
        return _compact(places)

    # --------------------------------------------------------------- along velocities

    def clear(self, name: str) -> None:
        """Set a vector to zero."""
        self._whole(Clear(self.memory.first(name), self.memory.sizes[name]))

    def rates(self) -> None:
        """The rates of the coordinates, q' = N(q) v."""
        tree, memory = self.lowering.tree, self.memory
        q, v, rates = (memory.first(name) for name in ("q", "v", "rates"))
        if tree.scalars:
            at, of = np.array(list(tree.scalars.values())).T
            ws = Workspace("rate")
            x = ws.symbol("x")
            kernel = Function("rate", {"x": [x]}, {"y": [x]})
            scatter = {"y": Write(rates + at)}
            self._whole(Stage(kernel, {"x": v + of}, scatter, independent=True))
        if tree.quaternions:
            at, of = np.array(tree.quaternions).T
            ws = Workspace("quaternion_rate")
            e = [ws.symbol(f"e{k}") for k in range(4)]
            w = [ws.symbol(f"w{k}") for k in range(3)]
            product = quaternion_product(tuple(e), (ws.atom(0), *w))  # type: ignore[arg-type]
            kernel = Function("rate", {"e": e, "w": w}, {"y": [x / 2 for x in product]})
            scatter = {"y": Write(rates + at)}
            gather = {"e": q + at, "w": v + of}
            self._whole(Stage(kernel, gather, scatter, independent=True))

    def copy(self, source: str, target: str) -> None:
        """Set a vector to another."""
        x = Workspace("copy").symbol("x")
        kernel = Function("copy", {"x": [x]}, {"y": [x]})
        scatter = {"y": Write(self.memory.places(target))}
        self._whole(Stage(kernel, {"x": self.memory.places(source)}, scatter, independent=True))

    def along(self, target: str, *, rotors: bool, pushes: bool, sign: float) -> None:
        """Add rotor v' + sign · (springs, friction …) to a vector along the velocities.

        Raises:
            NotLoopedError: A force depends on the state of many joints, as one between bodies does.
        """
        tree = self.lowering.tree
        parameters = frozenset(p.ref for p in tree.p)
        groups: dict[Hashable, list[tuple[int, Description]]] = {}
        for k in range(len(tree.v)):
            rotor = tree.rotor[k] if rotors else 0.0
            pushed: Atom | float = tree.pushed[k] if pushes else 0.0
            if not (zero(rotor) and zero(pushed)):
                found = Description(parameters)
                found.scalars((rotor, pushed))
                if len(found.symbols) > _SYMBOLS:
                    raise NotLoopedError(
                        f"{tree.model.name}: the force along {tree.v_names[k]} depends on "
                        f"{len(found.symbols)} coordinates and velocities, as forces between "
                        f"bodies do, and looped dynamics has forces of joints only: use "
                        f"lowering='unrolled'"
                    )
                groups.setdefault(tuple(found.key), []).append((k, found))
        for members in groups.values():
            self._whole(self._forces(members, target, sign))

    def _forces(self, members: list[tuple[int, Description]], target: str, sign: float) -> Stage:
        """The forces of one structure."""
        low, memory = self.lowering, self.memory
        ws = Workspace("along")
        image = Image(ws, members[0][1])
        rotor, pushed = image.scalars(2)
        numbers = np.array([k for k, _ in members])
        inputs: dict[str, list[Atom]] = {}
        gather: dict[str, Integers] = {}
        parameters = None
        force = ws.atom(sign * pushed)
        if not zero(rotor):
            a = ws.symbol("a")
            force = force + rotor * a
            inputs["a"], gather["a"] = [a], memory.first("a") + numbers
        if image.symbols:
            rows = [low.places_of(found.symbols, memory, "a force") for _, found in members]
            inputs["x"], gather["x"] = image.symbols, np.array(rows)
        if image.numbers:
            inputs["p"] = image.numbers
            parameters = low.numbers([found.numbers for _, found in members])
        kernel = Function("along", inputs, {"f": [force]})
        scatter = {"f": Write(memory.first(target) + numbers, "add")}
        return Stage(kernel, gather, scatter, parameters, independent=True)

    def _whole(self, stage: Stage | Clear) -> None:
        """Run a stage with all its instances."""
        count = stage.count if isinstance(stage, Stage) else 0
        self._segments.append(Segment(len(self._stages), 0, count))
        self._stages.append(stage)


def _compact(places: Any) -> Integers:
    """First places, where those of every row follow each other."""
    follow = places.ndim == 2 and bool((np.diff(places, axis=1) == 1).all())
    found: Integers = np.ascontiguousarray(places[:, 0]) if follow else places
    return found
