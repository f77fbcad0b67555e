"""Inertia transfer: what can be moved from one solid to another without changing the motion.

The kinetic energy of a solid is ½ tr(T' J T'ᵀ), with J its pseudo-inertia and T the matrix of four
rows that places its frame.  Let the frame move by X relative to that of another solid.  A part δJ
of the inertia with X' δJ = 0 is at rest in the other solid too: moving it there changes nothing.
The columns of δJ are points (r, 1) and directions (u, 0) at rest in both solids, so

    δJ = Σ s_ab (b_a b_bᵀ + b_b b_aᵀ),     b_a at rest in both:

one parameter for a spherical joint (its centre), three for a revolute (a point and the axis), six
for any sliding (three directions).  What is moved to the ground is gone.  (That X δJ Xᵀ does not
change is not enough: the inertia about the axis of a revolute joint is seen.)

Where the motion is restricted (planar mechanisms, the first bodies of an arm) more is hidden.
That is found as null vectors of the columns of the regressor that belong to one solid, or to one
and another that it is joined to.  Every transfer has to satisfy K δφ = 0.

Khalil & Dombre, *Modeling, Identification and Control of Robots* (2002), ch. 9; Plaza 2015, §8.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.equations.base_parameters import rounding
from biela.equations.joint_survey import DRAWS, Body, Survey
from biela.equations.pseudo_inertia import Four, Ten, carried, spread
from biela.equations.regressor import PARAMETERS
from biela.singular_values import svd
from biela.space import position, rotation_matrix

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Transfer:
    """A change of the inertial parameters of some solids, by number, that no motion shows."""

    changes: dict[int, Ten]


class Transfers:
    """The transfers that the joints of a system allow."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self._total = len(PARAMETERS) * len(survey.bodies)
        n, zero, one = len(PARAMETERS), survey.zero, survey.one
        self._units: list[Ten] = [[one if i == j else zero for j in range(n)] for i in range(n)]
        self._identity = [[one if i == j else zero for j in range(3)] for i in range(3)]

    def independent(self) -> list[Transfer]:
        """Independent transfers, as many as are found, of all that the rank of K shows to exist."""
        wanted = self._total - self.visible
        kept: list[Transfer] = []
        basis = np.zeros((self._total, 0))
        for transfer in self._candidates():
            if len(kept) == wanted:
                break
            numbers = self.hidden(transfer)
            if numbers is None:
                continue
            unit = numbers[:, 0] / np.linalg.norm(numbers[:, 0])
            rest = unit - basis @ (basis.T @ unit)
            rest -= basis @ (basis.T @ rest)
            if np.linalg.norm(rest) > 1e-8:
                kept.append(transfer)
                basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
        return kept

    def _candidates(self) -> Iterator[Transfer]:
        survey = self.survey
        joints = survey.joints
        for a, b, rest in joints:
            for k, first in enumerate(rest):
                for second in rest[: k + 1]:
                    here, there = (spread(first[i], second[i]) for i in range(2))
                    yield self._moved(a, here, b, there)
        own = (survey.zero, survey.zero, survey.zero, survey.one)
        places: dict[Body, list[Four]] = {a: [own] for a in survey.bodies}
        for a, _, rest in joints:
            places[a] += [here for here, _ in rest if here[3].ref and any(x.ref for x in here[:3])]
        for a in survey.outermost_first:
            for place in places[a]:
                yield from self._unseen(a, place)
        for a, b, _ in joints:
            for place in places[a] if b.solid is not None else ():
                yield from self._unseen(a, place, b)

    def _unseen(self, a: Body, place: Four, b: Body | None = None) -> Iterator[Transfer]:
        """All inertias of a solid, about a place in it, that it can lose, or give to another.

        The other gets them as they stand with q = 0; what changes then with q has to be hidden by
        the restricted motion of that other.  Found as the null space of columns of K.
        """
        R: Sequence[Sequence[Atom]] = ()
        arm = place
        if b is not None:
            R = [self.survey.at_rest(row) for row in rotation_matrix(b.base, a.base)]
            x, y, z = self.survey.at_rest(position(b.point, a.point).components(b.base))
            arm = (x, y, z, self.survey.one)

        def moved(ten: Ten) -> Transfer:
            here = carried(ten, self._identity, place)
            return self._moved(a, here, b, carried(here, R, arm) if b is not None else None)

        units = [self._column(moved(unit)) for unit in self._units]
        effects = np.concatenate(
            [
                s.W @ np.column_stack([unit[:, k] for unit in units]) / (np.abs(s.W).max() or 1.0)
                for k, s in enumerate(self.survey.samples)
            ]
        )
        for row in _null_space(effects):
            yield moved([self.survey.system.workspace.atom(float(x)) for x in row])

    def _moved(
        self, a: Body, here: Ten, b: Body | None = None, there: Ten | None = None
    ) -> Transfer:
        """Taken from one solid and given to another; the ground takes what it is given."""
        assert a.solid is not None, "the ground has nothing to give"
        changes = {a.solid: here}
        if b is not None and b.solid is not None and there is not None:
            changes[b.solid] = [-x for x in there]
        return Transfer(changes)

    # ------------------------------------------------------------------- numbers

    def hidden(self, transfer: Transfer) -> Floats | None:
        """The numbers of a transfer (all parameters of all solids), if no motion shows it."""
        total = self._column(transfer)
        for k, sample in enumerate(self.survey.samples):
            delta = total[:, k]
            size = float(np.abs(delta).max(initial=0.0))
            if not size or np.abs(sample.W @ delta).max() > 10 * rounding(sample.W) * size:
                return None
        return total

    def _column(self, transfer: Transfer) -> Floats:
        total = np.zeros((self._total, DRAWS))
        for solid, ten in transfer.changes.items():
            total[len(ten) * solid : len(ten) * (solid + 1)] = self.survey.values(ten)
        return total

    @cached_property
    def visible(self) -> int:
        """How many base parameters there are, by rank."""
        return max(
            int((np.linalg.svd(s.W, compute_uv=False) > rounding(s.W)).sum())
            for s in self.survey.samples
        )


def _null_space(A: Floats) -> Floats:
    """A basis of the null space in rows, in echelon form: as many zeros as there can be."""
    _, sizes, rows = svd(A, full_matrices=False)
    rank = int((sizes > 1e-10 * max(1.0, sizes[0])).sum())
    basis = rows[rank:]
    pivots: list[int] = []
    for k in range(len(basis)):
        free = [j for j in range(basis.shape[1]) if j not in pivots]
        j = max(free, key=lambda j: round(float(np.abs(basis[k:, j]).max()), 6))
        i = k + int(np.argmax(np.abs(basis[k:, j])))
        basis[[k, i]] = basis[[i, k]]
        basis[k] /= basis[k, j]
        others = np.arange(len(basis)) != k
        basis[others] -= np.outer(basis[others, j], basis[k])
        pivots.append(j)
    whole = np.round(basis)
    return np.asarray(np.where(np.abs(basis - whole) < 1e-10, whole, basis) + 0.0)
