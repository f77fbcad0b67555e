"""Two markers of which the second moves, seen from the first: what rows are derived on.

Marker i is the root of a space of its own; marker j has a rotation D and a gap d that are
symbols, with the relative angular velocity ω and velocity u, all along the axes of i.
"""

from __future__ import annotations

from dataclasses import dataclass

from biela.atoms import Atom, Direction, Kind, Workspace
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.tree_derivation import TreeDerivation
from biela.errors import ModelError
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.model.joints.primitives import Row
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.space import Base, Space
from biela.space.rotations import MatrixRotation, matrix3, triple


@dataclass(frozen=True, eq=False)
class Symbols:
    """D (3 x 3), d, ω and u of marker j seen from marker i."""

    D: list[list[Atom]]
    d: list[Atom]
    omega: list[Atom]
    u: list[Atom]
    along: Direction

    @classmethod
    def of(cls, ws: Workspace) -> Symbols:
        """The symbols, the same whenever they are asked for."""
        D = [[_symbol(ws, f"relative_D{i}{j}") for j in range(3)] for i in range(3)]
        d, omega, u = (
            [_symbol(ws, f"relative_{name}{axis}") for axis in "xyz"] for name in ("d", "w", "u")
        )
        rates: dict[Atom, Atom | float] = dict(zip(d, u, strict=True))
        for j in range(3):
            for i in range(3):
                k, l = (i + 1) % 3, (i + 2) % 3
                rates[D[i][j]] = omega[k] * D[l][j] - omega[l] * D[k][j]
        rates[ws.time] = 1.0
        return cls(D, d, omega, u, Direction(ws, rates))


def _symbol(ws: Workspace, name: str) -> Atom:
    known = next((ref for ref, s in ws.table.symbols.items() if s.name == name), None)
    return ws.symbol(name, Kind.COORDINATE) if known is None else Atom(ws.table, known)


class RowDerivation(TreeDerivation):
    """What joints and drivers ask for (`biela.model.derivation.Derivation`), for one pair."""

    def __init__(self, tree: SpatialTree) -> None:
        super().__init__(tree)
        self.symbols = Symbols.of(tree.workspace)
        self.space = Space(tree.workspace)
        #: The markers that were asked for.
        self.markers: tuple[Marker, Marker] = (Marker(GROUND, "origin"), Marker(GROUND, "origin"))
        D, root = self.symbols.D, self.space.root
        own = [
            sum((D[i][k] * w for i, w in enumerate(self.symbols.omega)), self.workspace.atom(0))
            for k in range(3)
        ]
        turn = MatrixRotation(matrix3(self.workspace, D), triple(self.workspace, own))
        base = Base(self.space, "j", root, turn)
        point = self.space.origin.offset("j", root.vector(*self.symbols.d))
        self.space.memory[root, point] = root.vector(*self.symbols.u)
        self._j = Place(point, base)

    @property
    def asking(self) -> str:
        """The rows of which markers, for messages."""
        i, j = self.markers
        return f"a joint or driver on {i.label} and {j.label}"

    def pair(self, i: Marker, j: Marker) -> Pair:
        """Two markers."""
        self.markers = i, j
        return Pair(Place(self.space.origin, self.space.root), self._j, self.number)

    def place(self, marker: Marker) -> Place:
        """A marker seen from the ground."""
        self.markers = self.markers[0], marker
        return self._j

    def unit(self, name: str) -> str:
        """The unit of a coordinate of a joint."""
        return self._joint(name)[1]

    def driven(self, name: str, target: Atom, rate: Atom) -> Row:
        """The row that holds a coordinate of a joint that closes a loop."""
        joint, _, coordinate = self._joint(name)
        reading = next(c.reading for c in joint.coordinates if c.name == coordinate)
        assert reading is not None
        return reading.row(self.pair(joint.i, joint.j), target, rate)

    def _joint(self, name: str) -> tuple[Joint, str, str]:
        joints = self._tree.model.joints
        owner = name if name in joints else name.rpartition(".")[0]
        joint = joints.get(owner)
        part = "" if owner == name else name.rpartition(".")[2]
        if isinstance(joint, Joint):
            found = [
                c
                for c in joint.coordinates
                if c.manifold != "rotation" and (c.name == part or not part)
            ]
            if len(found) == 1:
                return joint, found[0].unit, found[0].name
        raise ModelError(f"{self._tree.model.name}: there is no joint coordinate {name!r}")
