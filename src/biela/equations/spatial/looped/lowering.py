"""A tree of links by kinds, and its recursions as native looped programs.

Inputs: the links of a tree.  Every kind of them has one kernel a recursion; a link is an instance
with its numbers, and with the places of what it exchanges with the link before it.  Links run from
the ground to the tips, or back; where kinds take turns, segments of them do (`tape`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.atoms.evaluate import evaluate_refs
from biela.code.looped import Memory, Program
from biela.equations.spatial.looped.prototypes import Kind, kinds
from biela.equations.spatial.looped.recursions import FORCE, HELD, MOTION, POSE, SPIN, Recursion
from biela.equations.spatial.looped.tape import NotLoopedError, Tape
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, are_numbers, zero
from biela.errors import ModelError

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Lowering:
    """A tree by kinds, with numbers in place of the parameters of its model.

    Args:
        tree: The links.
        parameters: Values of the parameters of the model.

    Attributes:
        kinds: The links by their structure.
        recursions: What writes the kernels of each kind.
        parent: The number of the link before each link, -1 for the ground.
        gains: Places of u and G of each link in the vector "gain".
        shares: Whether links share velocities, by gears.
        first_child: Whether a link is the first that runs, from the tips, of those on one link.
    """

    def __init__(self, tree: SpatialTree, parameters: Mapping[str, float]) -> None:
        self.tree = tree
        self._values = {p.ref: float(parameters[p.name]) for p in tree.p}
        self.kinds = kinds(tree)
        self._numbers: dict[Kind, Floats] = {}
        self.recursions = [Recursion(kind) for kind in self.kinds]
        self.parent: Integers = np.array([link.parent for link in tree.links])
        self._q = {x.ref: k for k, x in enumerate(tree.q)}
        self._v = {x.ref: k for k, x in enumerate(tree.v)}
        velocities = [k for link in tree.links for k in link.v]
        self.shares = len(set(velocities)) < len(velocities)
        widths = [7 * len(link.v) for link in tree.links]
        self.gains: Integers = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        self.first_child = self._first_children()

    def _first_children(self) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(self.parent), dtype=bool)
        seen: set[int] = set()
        for k in reversed(range(len(self.parent))):
            parent = int(self.parent[k])
            found[k] = parent < 0 or parent not in seen  # nobody reads what the ground is handed
            seen.add(parent)
        return found

    # ----------------------------------------------------------------------- numbers

    def numbers(self, rows: Sequence[Sequence[Scalar]]) -> Floats:
        """Scalars of the parameters as numbers."""
        if are_numbers(rows):
            return np.array(rows, dtype=float)
        atoms = [x.ref for row in rows for x in row if isinstance(x, Atom)]
        values = iter(evaluate_refs(self.tree.workspace.table, atoms, self._values))
        found = [[float(next(values)) if isinstance(x, Atom) else x for x in row] for row in rows]
        return np.array(found, dtype=float).reshape(len(rows), -1)

    def numbers_of(self, kind: Kind) -> Floats:
        """The numbers of the links of a kind, a row each."""
        if kind not in self._numbers:
            self._numbers[kind] = self.numbers(kind.numbers)
        return self._numbers[kind]

    def coordinates_of(self, kind: Kind, memory: Memory) -> Integers:
        """Where the coordinates of the links of a kind lie, a row each."""
        places = self.places_of([ref for row in kind.symbols for ref in row], memory, "a joint")
        return np.array(places, dtype=np.int64).reshape(len(kind.links), -1)

    @property
    def parameters(self) -> list[float]:
        """The values of the parameters of the model."""
        return list(self._values.values())

    @property
    def ground(self) -> Floats:
        """The acceleration of the ground: that against gravity."""
        rows = self.numbers([self.tree.gravity])
        return np.array(-rows[0])

    def places_of(self, refs: Sequence[int], memory: Memory, what: str) -> list[int]:
        """Where symbols of q and v lie.

        Raises:
            NotLoopedError: A symbol is neither.
        """
        found = []
        for ref in refs:
            if ref in self._q:
                found.append(memory.first("q") + self._q[ref])
            elif ref in self._v:
                found.append(memory.first("v") + self._v[ref])
            else:
                name = self.tree.workspace.table.symbols[ref].name
                raise NotLoopedError(
                    f"{self.tree.model.name}: {what} depends on {name}, and looped dynamics on "
                    f"coordinates and velocities only: use lowering='unrolled'"
                )
        return found

    # -------------------------------------------------------------------- programs

    def inverse_dynamics(self, passive: bool = True) -> tuple[Program, Memory]:
        """τ of q, v and a; the motion of the ground is the row 0 of "motion"."""
        n, nv = len(self.tree.links), len(self.tree.v)
        memory = self._memory(
            {"a": nv, "tau": nv, "turn": 2 * n, "motion": MOTION * (n + 1)}
            | {"own": FORCE * n, "force": FORCE * (n + 1)}
        )
        tape = Tape(self, memory)
        tape.turns()
        tape.run(Recursion.motion, {"before": "motion", "here": "motion", "own": "own"})
        names = {"own": "own", "beyond": "force", "before": "force"}
        if self.shares:
            tape.clear("tau")
        tape.run(Recursion.force, names, inward=True, added={"tau"} if self.shares else set())
        tape.along("tau", rotors=True, pushes=passive, sign=-1.0)
        return tape.program("inverse_dynamics"), memory

    def forward_dynamics(self, passive: bool = True, rates: bool = False) -> tuple[Program, Memory]:
        """V' of q, v and τ; the acceleration of the ground is the row 0 of "acceleration".

        With ``rates`` the rates of the coordinates stand before the accelerations.

        Raises:
            ModelError: Gears tie joints together, or nothing has inertia along a velocity.
        """
        self.tree.check_uncoupled("the recursion of articulated bodies")
        self._check_inertia()
        n, nv = len(self.tree.links), len(self.tree.v)
        memory = self._memory(
            {"tau": nv, "given": nv, "t": 1, "rates": len(self.tree.q) if rates else 0, "a": nv}
            | {"turn": 2 * n, "spin": SPIN * (n + 1)}
            | {"own": 2 * FORCE * n, "held": HELD * (n + 1), "gain": int(self.gains[-1])}
            | {"acceleration": FORCE * (n + 1)}
        )
        tape = Tape(self, memory)
        tape.turns()
        given = "tau"
        if passive and not all(map(zero, self.tree.pushed)):
            given = "given"
            tape.copy("tau", given)
            tape.along(given, rotors=False, pushes=True, sign=1.0)
        tape.run(Recursion.spin, {"before": "spin", "here": "spin", "own": "own"})
        names = {"own": "own", "beyond": "held", "before": "held", "tau": given}
        tape.run(Recursion.elimination, names, inward=True)
        names = {"own": "own", "before": "acceleration", "here": "acceleration"}
        tape.run(Recursion.acceleration, names)
        if rates:
            tape.rates()
        return tape.program("forward_dynamics"), memory

    def poses(self) -> tuple[Program, Memory]:
        """The pose of every link, of q; that of the ground is the row 0 of "pose"."""
        n = len(self.tree.links)
        memory = self._memory({"turn": 2 * n, "pose": POSE * (n + 1)})
        tape = Tape(self, memory)
        tape.turns()
        tape.run(Recursion.pose, {"before": "pose", "here": "pose"})
        return tape.program("poses"), memory

    def _memory(self, more: Mapping[str, int]) -> Memory:
        return Memory({"q": len(self.tree.q), "v": len(self.tree.v), **more})

    def _check_inertia(self) -> None:
        """Refuse a joint beyond which nothing has inertia, which would be divided by."""
        tree = self.tree
        there = [not all(zero(x) for row in link.grouped for x in row) for link in tree.links]
        for k in reversed(range(len(there))):
            link = tree.links[k]
            idle = [number for number in link.v if zero(tree.rotor[number])]
            if idle and not there[k]:
                raise ModelError(
                    f"nothing has inertia along {tree.v_names[idle[0]]}: give what moves with it "
                    f"mass or inertia, or a rotor"
                )
            if link.parent >= 0:
                there[link.parent] = there[link.parent] or there[k]
