"""Multipliers of groups with redundant rows, and which of them are determinate.

The rows of a group as numbers, its bodies are held by the smallest λ; what redundant rows may carry
beside are the null vectors of J_ownᵀ.  These load earlier groups as any λ does, so a null vector of
a group goes on through all groups before it: together they span the self-stresses N of the whole
model, Φ_vᵀ N = 0.  Then

    λ ← λ - N N⁺ λ

is the smallest solution in the norm Σ λ² (`biela.analysis.joint_reactions`), and a multiplier is
determinate where no self-stress has a part in it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import RANK_TOLERANCE
from biela.equations.groups.forces import ForceProgram
from biela.singular_values import svd

__all__ = ["SelfStresses"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

#: Doubles that are worked on at a time.
_ROOM: Final = 1 << 24
#: A part of a self-stress below this is rounding.
_PART: Final = 1e-7


class SelfStresses:
    """Solves the groups of a model in numbers, all instants of a chunk at a time."""

    def __init__(self, program: ForceProgram) -> None:
        self.program = program
        self.redundant = sum(e.redundant * e.cast.count for e in program.equations)
        self.multipliers = len(program.row_names)
        memory = program.row_memory
        names = ["Qx", "W", *(f"J{c}" for c in range(len(program.equations)))]
        self._at: dict[str, int] = {}
        first = 0
        for name in names:
            self._at[name] = first
            first += memory.sizes[name]
        self._loads = memory.sizes["Qx"] + memory.sizes["W"]
        self._width = first

    @property
    def chunk(self) -> int:
        """How many instants are worked on at a time."""
        wide = self._width + (self._loads + 2 * self.multipliers) * (1 + self.redundant)
        return max(1, _ROOM // wide)

    @cached_property
    def _order(self) -> list[tuple[int, int]]:
        """Kind and instance of all groups, last ones first."""
        level = self.program.levels()
        found = [
            (-int(level[group]), int(group), c, k)
            for c, e in enumerate(self.program.equations)
            for k, group in enumerate(e.cast.groups)
        ]
        return [(c, k) for _, _, c, k in sorted(found)]

    def _load_tables(self) -> list[tuple[Integers, Integers]]:
        """Where the loads of the bodies of each kind stand, own ones and known ones."""
        first = self.program.memory.first("Qx")
        equations = self.program.equations
        return [
            (
                self.program.load_places(e, True) - first,
                self.program.load_places(e, False) - first,
            )
            for e in equations
        ]

    def rows_of(self, rows: Floats) -> list[Floats]:
        """The rows of each kind, (instants, groups, rows, velocities)."""
        found = []
        for c, e in enumerate(self.program.equations):
            shape = (len(rows), e.cast.count, len(e.rows), len(e.J[0]))
            first = self._at[f"J{c}"]
            found.append(rows[:, first : first + int(np.prod(shape[1:]))].reshape(shape))
        return found

    def solved(self, rows: Floats) -> tuple[Floats, Floats]:
        """Multipliers and self-stresses, from loads and rows (instants, entries).

        The self-stresses (instants, multipliers, number of them) are an orthonormal basis.
        """
        T, k = len(rows), self.redundant
        every = self.rows_of(rows)
        loads = np.zeros((T, self._loads, 1 + k))
        loads[:, :, 0] = rows[:, : self._loads]
        lam = np.zeros((T, self.multipliers, 1 + k))
        tables = self._load_tables()
        firsts = self._first_rows()
        used = 1
        for c, instance in self._order:
            e = self.program.equations[c]
            r = len(e.rows)
            J = every[c][:, instance]
            own, known = (table[instance] for table in tables[c])
            held = J[:, :, : e.own]
            found = np.zeros((T, r, 1 + k))
            found[:, :, :used], null = _held(held, loads[:, own, :used])
            found[:, :, used : used + null.shape[2]] = null
            used += null.shape[2]
            pushed = np.swapaxes(J[:, :, e.own :], 1, 2) @ found
            for column, place in enumerate(known):  # the same place may be there twice
                loads[:, place] -= pushed[:, column]
            first = firsts[c] + instance * r
            lam[:, first : first + r] = found
        return _smallest(lam[:, :, 0], lam[:, :, 1:used])

    def _first_rows(self) -> list[int]:
        sizes = [e.cast.count * len(e.rows) for e in self.program.equations]
        return [0, *np.cumsum(sizes).tolist()]

    @staticmethod
    def determinate(null: Floats) -> Flags:
        """For each multiplier whether no self-stress has a part in it, (instants, multipliers)."""
        found: Flags = np.linalg.norm(null, axis=2) <= _PART
        return found


def _smallest(lam: Floats, null: Floats) -> tuple[Floats, Floats]:
    """The smallest multipliers, and the self-stresses as an orthonormal basis."""
    if not null.shape[2]:
        return lam, null
    basis, _ = np.linalg.qr(null)
    part = np.swapaxes(basis, 1, 2) @ lam[:, :, None]
    smallest: Floats = lam - (basis @ part)[:, :, 0]
    return smallest, basis


def _held(J: Floats, load: Floats) -> tuple[Floats, Floats]:
    """The shortest λ of Jᵀ λ = load, for several loads, and the null vectors of Jᵀ."""
    T, r, n = J.shape
    if r == n:
        held = np.linalg.solve(np.swapaxes(J, 1, 2), load)
        return np.asarray(held, dtype=np.float64), np.zeros((T, r, 0))
    U, s, Vt = svd(J)
    large = s > RANK_TOLERANCE * s[:, :1]
    inverse = np.where(large, 1 / np.where(large, s, 1.0), 0.0)
    found: Floats = U[:, :, :n] @ (inverse[:, :, None] * (Vt @ load))
    return found, U[:, :, n:]
