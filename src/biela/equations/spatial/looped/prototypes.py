"""Links of one structure, and the link that stands for all of them in a kernel.

The structure of a link is how its place turns, which of its constants vanish, and how its step
depends on its coordinates; the numbers are parameters.  Structures that few links have are made
one, with no zeros and any rotation: that costs some operations, and saves compiling a kernel.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from biela.atoms import Atom, Workspace, cos, sin
from biela.equations.spatial.links import Link, Pseudo, Step
from biela.equations.spatial.looped.structure import Description, Image
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import UNIT, AxisTurn, MatrixTurn, Pose, Scalar, Turn

#: Up to this many structures all have kernels of their own.
_FEW: Final = 6
#: Beyond, those of fewer than one link in so many have not.
_RARE: Final = 40
#: The entries of a pseudo-inertia that make it up.
_ENTRIES: Final = tuple((i, j) for i in range(4) for j in range(i, 4))


@dataclass(frozen=True, eq=False)
class KnownStep(Step):
    """A step whose rotation is at hand."""

    known: tuple[Turn, ...] = ()

    @property
    def turn(self) -> tuple[Turn, ...]:
        """Its rotation."""
        return self.known


@dataclass(frozen=True, eq=False)
class KnownLink(Link):
    """A link whose constant rotation is at hand."""

    known: tuple[Turn, ...] = ()

    @property
    def before(self) -> tuple[Turn, ...]:
        """The constant part of its rotation."""
        return self.known


@dataclass(frozen=True, eq=False)
class Kind:
    """Links of one structure.

    Attributes:
        example: The description of one of them.
        links: Their numbers, ascending.
        numbers: A row for each link: numbers, or expressions of the parameters of the model.
        symbols: A row for each link: the coordinates it depends on, by reference.
        freedoms: How many velocities each has.
    """

    example: Description
    links: list[int]
    numbers: list[list[float | Atom]]
    symbols: list[list[int]]
    freedoms: int


def kinds(tree: SpatialTree) -> list[Kind]:
    """The links of a tree by their structure."""
    parameters = frozenset(p.ref for p in tree.p)
    described = [describe(tree, link, parameters) for link in tree.links]
    keys: list[Hashable] = [tuple(d.key) for d in described]
    counts = Counter(keys)
    if len(counts) > _FEW:
        for k, link in enumerate(tree.links):
            if counts[keys[k]] * _RARE < len(tree.links):
                described[k] = describe(tree, link, parameters, general=True)
                keys[k] = tuple(described[k].key)
    members: dict[Hashable, list[int]] = {}
    for k, key in enumerate(keys):
        members.setdefault(key, []).append(k)
    return [
        Kind(
            described[links[0]],
            links,
            [described[k].numbers for k in links],
            [described[k].symbols for k in links],
            len(tree.links[links[0]].v),
        )
        for links in members.values()
    ]


def describe(
    tree: SpatialTree, link: Link, parameters: frozenset[int], general: bool = False
) -> Description:
    """Read a link: what `Prototype` gives back, in the same order."""
    found = Description(parameters, general)
    step = link.step
    found.say(len(link.v), bool(step.quaternion), step.turns, step.slides)
    for turn in (MatrixTurn(link.place.R),) if general else link.before:
        if isinstance(turn, MatrixTurn):
            found.say("matrix")
            for row in turn.matrix:
                found.scalars(row)
        else:
            found.say("axis", turn.axis)
            found.scalars((turn.c, turn.s))
    found.say("end")
    found.scalars(link.place.p)
    found.scalars([link.grouped[i][j] for i, j in _ENTRIES])
    found.scalars([tree.rotor[k] for k in link.v])
    found.general = False  # how a step moves has no part that may be anything
    if step.quaternion:
        found.scalars(step.quaternion)
    elif link.v:
        found.scalars((step.angle, *_offset(step), step.rate, step.bend))
        found.scalars((*step.way, *step.way_rate, *step.way_bend))
    return found


def _offset(step: Step) -> tuple[float, float, float]:
    """A constant angle, and the cosine and sine of its quarter turns.

    Quarters are exchanges and signs, with no rounding.
    """
    quarters = round(step.offset / (math.pi / 2))
    if abs(step.offset - quarters * math.pi / 2) > 1e-15:
        return step.offset, 1.0, 0.0
    return 0.0, (1.0, 0.0, -1.0, 0.0)[quarters % 4], (0.0, 1.0, 0.0, -1.0)[quarters % 4]


class Prototype:
    """The link of a kind in the workspace of a kernel.

    Attributes:
        link: It; its velocities are numbered from 0.
        rotor: The inertia of its rotors.
        p: The parameters.
        q: The coordinates it depends on.
        turn: Symbols of the cosine and sine of its angle; none where it does not turn.
        angle: The cosine and sine themselves.
    """

    def __init__(self, kind: Kind) -> None:
        ws = self.workspace = Workspace("link")
        image = Image(ws, kind.example)
        self.p, self.q = image.numbers, image.symbols
        said = image.said()
        freedoms, ball, turns = kind.freedoms, said[1] is True, said[2] is True
        before = self._before(image)
        # no recursion asks for the matrix of a place: its turns stand for it
        place = Pose(UNIT, image.triple())
        inertia = self._inertia(image)
        self.rotor = image.scalars(freedoms)
        self.turn: list[Atom] = []
        self.angle: list[Atom] = []
        velocities = tuple(range(freedoms))
        step: Step
        if ball:
            step = Step(velocities, quaternion=tuple(ws.atom(x) for x in image.scalars(4)))
        elif freedoms:
            angle, offset, c0, s0, rate, bend = image.scalars(6)
            if turns:
                self.turn = [ws.symbol("c"), ws.symbol("s")]
                whole = ws.atom(angle) + offset
                c, s = cos(whole), sin(whole)
                self.angle = [ws.atom(c * c0 - s * s0), ws.atom(s * c0 + c * s0)]
            known = (AxisTurn(2, *self.turn),) if turns else ()
            way, way_rate, way_bend = image.triple(), image.triple(), image.triple()
            step = KnownStep(velocities, 0.0, rate, bend, 0.0, way, way_rate, way_bend, known=known)
        else:
            step = Step(())
        self.link = KnownLink("link", 0, place, step, inertia, inertia, known=before)

    @staticmethod
    def _before(image: Image) -> tuple[Turn, ...]:
        turns: list[Turn] = []
        while (said := image.said()) != ("end",):
            if said == ("matrix",):
                turns.append(MatrixTurn([image.triple() for _ in range(3)]))
            else:
                axis = said[1]
                assert isinstance(axis, int)
                turns.append(AxisTurn(axis, image.scalar(), image.scalar()))
        return tuple(turns)

    @staticmethod
    def _inertia(image: Image) -> Pseudo:
        J: list[list[Scalar]] = [[0.0] * 4 for _ in range(4)]
        for i, j in _ENTRIES:
            J[i][j] = J[j][i] = image.scalar()
        return J
