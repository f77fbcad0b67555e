"""What hangs together how in a model: bodies, joints, loops, and freedoms by count.

The count of Grübler and Kutzbach for n moving bodies and joints that remove c_i freedoms each,

    in space   6 n - Σ c_i,        in a plane   3 n - Σ c_i,

is the number of drivers a mechanism needs, unless constraints depend on each other: a four-bar has
-2 freedoms by the count in space, and moves.  `biela.analysis.mobility` finds the rank.

Everything is computed from prototypes: an array of 100,000 cells takes some tenths of a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from biela.errors import ShapeError
from biela.graph import Forest, breadth_first, components, smallest_loops
from biela.model.topology.incidence import Incidence, incidence
from biela.model.topology.planarity import planar_removes

if TYPE_CHECKING:
    from biela.model.model import Model

Integers = npt.NDArray[np.int64]

#: The symbols of joints in drawings of mechanisms.
SYMBOLS = {
    "revolute": "R",
    "prismatic": "P",
    "cylindrical": "C",
    "universal": "U",
    "spherical": "S",
    "planar": "E",
    "helical": "H",
    "fixed": "0",
    "free": "6",
}
_ROMAN = {1: "I", 2: "II", 3: "III", 4: "IV", 5: "V"}
#: Bodies, joints or loops up to which a report names them one by one.
_NAMED = 40


def symbol(kind: str) -> str:
    """The symbol of a kind of joint: a letter, or the initials of its name."""
    return SYMBOLS.get(kind, "".join(word[0] for word in kind.split("_") if word).lower())


@dataclass(frozen=True, eq=False)
class Topology:
    """The graph of a model and what can be counted in it.

    Attributes:
        name: Of the model.
        plane: In which it is declared to move, if any.
        graph: Bodies and joints as integers; body 0 is the ground.
        planar: For each joint how many freedoms it removes in the plane, if there is one.
    """

    name: str
    plane: str | None
    graph: Incidence
    planar: Integers | None

    @classmethod
    def of(cls, model: Model) -> Topology:
        """The topology of a model, parts and arrays included."""
        graph = incidence(model)
        planar = None
        if model.plane is not None:
            each = [planar_removes(owner, joint, model.plane) for owner, joint in graph.examples]
            planar = np.array(each, dtype=np.int64)[graph.example] if each else graph.example
        return cls(model.name, model.plane, graph, planar)

    # ------------------------------------------------------------------------ counts

    @property
    def bodies(self) -> int:
        """Number of bodies that can move."""
        return len(self.graph.bodies) - 1

    @property
    def joints(self) -> int:
        """Number of joints between two bodies."""
        return len(self.graph.first)

    @cached_property
    def _held(self) -> tuple[Integers, Integers, Integers]:
        """Numbers and ends of the joints that hold something: a free joint is no connection."""
        numbers = np.flatnonzero(self.graph.removes > 0)
        return numbers, self.graph.first[numbers], self.graph.second[numbers]

    @cached_property
    def _piece(self) -> Integers:
        """The lowest body of the piece each body belongs to."""
        return components(self.bodies + 1, *self._held[1:])

    @property
    def pieces(self) -> int:
        """Number of pieces that hang together; the one with the ground counts too."""
        return int(np.count_nonzero(self._piece == np.arange(self.bodies + 1)))

    @property
    def loops(self) -> int:
        """Number of independent loops."""
        return len(self._held[0]) - (self.bodies + 1) + self.pieces

    @cached_property
    def floating(self) -> Integers:
        """Numbers of the bodies of pieces that hang free by a free joint."""
        free = self.graph.removes == 0
        ends = np.concatenate([self.graph.first[free], self.graph.second[free]])
        named = np.isin(self._piece, self._piece[ends])
        return np.flatnonzero(named & (self._piece != 0))

    @cached_property
    def loose(self) -> Integers:
        """Numbers of the bodies that no joint connects to the ground, not even a free one."""
        return np.setdiff1d(np.flatnonzero(self._piece), self.floating)

    @property
    def removed(self) -> int:
        """Freedoms that joints and couplings remove in space."""
        return int(self.graph.removes.sum()) + self.graph.coupled

    @property
    def freedoms(self) -> int:
        """6 n - Σ removed: freedoms by count in space, drivers left aside."""
        return 6 * self.bodies - self.removed

    @property
    def planar_freedoms(self) -> int | None:
        """3 n - Σ removed in the plane, for a model that is declared planar."""
        if self.planar is None:
            return None
        return 3 * self.bodies - int(self.planar.sum()) - self.graph.coupled

    @property
    def count(self) -> int:
        """Freedoms by the count that applies: in the plane if the model is planar."""
        planar = self.planar_freedoms
        return self.freedoms if planar is None else planar

    @property
    def driven(self) -> int:
        """Freedoms that drivers remove."""
        return self.graph.driven

    @cached_property
    def classes(self) -> dict[str, int]:
        """How many joints there are of class I to V, by the freedoms they leave."""
        found = Counter((6 - self.graph.removes).tolist())
        return {_ROMAN[f]: found[f] for f in sorted(found) if f in _ROMAN}

    @cached_property
    def kinds(self) -> dict[str, int]:
        """How many joints there are of each kind."""
        counts = np.bincount(self.graph.kind, minlength=len(self.graph.kinds))
        return {kind: int(n) for kind, n in zip(self.graph.kinds, counts, strict=True)}

    # ------------------------------------------------------------------------- graph

    @cached_property
    def _degree(self) -> Integers:
        return np.bincount(np.concatenate(self._held[1:]), minlength=self.bodies + 1)

    @property
    def chain(self) -> str:
        """Open or closed: a word for the form of the whole.

        A chain is closed if it has loops; ends that are joined to one body only hang from it as
        open branches.
        """
        if not len(self._held[0]):
            return "no joints"
        if self.loops == 0:
            serial = self._degree.max() <= 2 and self._degree[0] <= 1
            return "open chain, serial" if serial and self.pieces == 1 else "open chain, a tree"
        ends = bool((self._degree[1:] == 1).any())
        return "closed chain with open branches" if ends else "closed chain"

    @cached_property
    def _forest(self) -> Forest:
        return breadth_first(self.bodies + 1, *self._held[1:])

    @property
    def parent(self) -> Integers:
        """The body from which each is reached on the shortest way from the ground; else -1."""
        return self._forest.parent

    @cached_property
    def cut(self) -> tuple[str, ...]:
        """The joints that are not in the tree of `parent`: each closes a loop."""
        numbers = self._held[0]
        rest = np.setdiff1d(np.arange(len(numbers)), self._forest.edge)
        return tuple(self.graph.joints[int(k)] for k in numbers[rest])

    @cached_property
    def smallest_loops(self) -> tuple[tuple[str, ...], ...]:
        """The joints of a smallest basis of the loops, around each.

        Raises:
            ShapeError: There are so many that it would take minutes.
        """
        numbers, first, second = self._held
        found = smallest_loops(self.bodies + 1, first, second)
        return tuple(tuple(self.graph.joints[int(numbers[k])] for k in loop) for loop in found)

    def body_names(self, numbers: Sequence[int] | Integers) -> tuple[str, ...]:
        """The names of bodies by number."""
        return tuple(self.graph.bodies[int(k)] for k in numbers)

    # ------------------------------------------------------------------------ report

    def report(self) -> str:
        """The topology as a text."""
        lines = [
            f"{self.name}: {_many(self.bodies, 'body', 'bodies')}, {_many(self.joints, 'joint')}, "
            f"{_many(self.loops, 'loop')}; {self.chain}"
        ]
        if self.kinds:
            kinds = ", ".join(f"{n:,} {kind}" for kind, n in self.kinds.items() if n)
            lines.append(f"joints: {kinds}")
        if self.classes:
            classes = ", ".join(f"{name}: {n:,}" for name, n in self.classes.items())
            lines.append(f"joint classes by freedoms: {classes}")
        lines.append(
            f"freedoms by count in space: 6·{self.bodies:,} - {self.removed:,} = {self.freedoms:,}"
        )
        if self.planar_freedoms is not None:
            removed = 3 * self.bodies - self.planar_freedoms
            lines.append(
                f"freedoms by count in the {self.plane} plane: "
                f"3·{self.bodies:,} - {removed:,} = {self.planar_freedoms:,}"
            )
        if self.graph.drivers:
            lines.append(f"drivers: {self.graph.drivers:,}, which remove {self.driven:,}")
        if 0 < self.bodies <= _NAMED:
            lines += self._tree_lines()
        return "\n".join(lines)

    def _tree_lines(self) -> list[str]:
        names = [self.graph.bodies[k] for k in range(self.bodies + 1)]
        parents = ", ".join(
            f"{names[k]} ← {names[p]}" for k, p in enumerate(self.parent.tolist()) if p >= 0
        )
        lines = [f"parents: {parents}"] if parents else []
        if self.loops:
            lines.append(f"cut joints: {', '.join(self.cut)}")
            with suppress(ShapeError):  # too many loops to name
                lines += [f"loop: {' - '.join(loop)}" for loop in self.smallest_loops[:_NAMED]]
        return lines

    def thesis_report(self) -> str:
        """The count of coordinates as Peinado's thesis prints it, with seven for every body.

        Total 7 nb, ground included; joints, the ground (6) and the normalisation of the Euler
        parameters (nb) are taken off; what remains is the number of drivers.
        """
        nb = self.bodies + 1
        rows: list[tuple[str, int]] = []
        if self.joints <= _NAMED:
            rows += [
                (f"{self.graph.joints[k]} ({self.graph.kinds[kind]})", int(self.graph.removes[k]))
                for k, kind in enumerate(self.graph.kind.tolist())
            ]
        else:
            for number, kind in enumerate(self.graph.kinds):
                each = self.graph.removes[self.graph.kind == number]
                rows.append((f"{len(each):,} {kind}", int(each.sum())))
        if self.graph.coupled:
            rows.append((_many(self.graph.couplings, "coupling"), self.graph.coupled))
        rows += [("ground", 6), ("normalisation", nb)]
        eliminated = sum(n for _, n in rows)
        remaining = 7 * nb - eliminated
        width = max(len(text) for text, _ in [*rows, ("coordinates 7·nb", 0)])
        digits = len(f"{7 * nb:,}") + 1
        lines = [
            f"{self.name}: nb = {nb:,}",
            f"  {'coordinates 7·nb':<{width}} {7 * nb:>{digits},}",
        ]
        lines += [f"  {text:<{width}} {-n:>{digits},}" for text, n in rows]
        lines.append(f"  {'eliminated':<{width}} {eliminated:>{digits},}")
        meaning = "drivers needed" if remaining >= 0 else "constraints depend on each other"
        lines.append(f"  {'remaining':<{width}} {remaining:>{digits},}   {meaning}")
        return "\n".join(lines)


def _many(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
