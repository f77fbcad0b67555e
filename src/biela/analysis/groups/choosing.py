"""Independent coordinates where those of joints that are numbers are not enough.

The motions that joints and drivers leave, N, are those that independent coordinates have to give:
coordinates with the rows C on velocities are enough where C N is square and regular.  Numbers of
joints are taken as far as they go, in the way that splits the model best; what they leave is given
to rotations of balls, and then to rotations, angles and places of bodies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.drives import Drive, body_drives, rotation_drives
from biela.analysis.groups.finding import Study
from biela.equations.groups.determined import null_space, pieces, rows_among
from biela.equations.groups.freedom_drivers import RotationDriver, SpinDriver
from biela.equations.groups.passive import passive_spins, with_locks
from biela.equations.groups.structure import Structure
from biela.equations.groups.units import Rows
from biela.model.bodies import GROUND
from biela.model.drivers.position import PositionDriver
from biela.singular_values import svd

__all__ = ["further_drives"]

Floats = npt.NDArray[np.float64]

#: Bodies that hang together up to which their motions are looked at.
_LARGEST: Final = 120
#: A row that moves by less than this with all motions is none.
_SMALL: Final = 1e-6
#: Parts of rows that have to be new, from one round over all candidates to the next.
_CLEAR: Final = (0.2, 0.02, 1e-6)


def further_drives(study: Study, plain: Structure) -> list[Drive]:
    """The rotations, and coordinates of bodies, that a model needs besides numbers of joints.

    Args:
        study: The equations of the model at some positions.
        plain: Its structure without independent coordinates.

    Returns:
        As many as there are; too few where nothing here gives a motion.
    """
    names = list(dict.fromkeys(c for f in plain.freedoms for c in f.coordinates))
    return _Choice(study, plain.undetermined, names).drives()


class _Choice:
    """Bodies that move freely, and what may be said of their motion."""

    def __init__(self, study: Study, left: Sequence[str], names: Sequence[str]) -> None:
        self.model, self.plain = study.model, study.rows
        self.numbers = {name: k for k, name in enumerate(study.rows.elements.bodies)}
        self.left = [self.numbers[name] for name in left]
        self.known = set(range(study.rows.bodies)) - set(self.left)
        spins = passive_spins(study.rows)
        self.held = with_locks(study.rows, spins)
        # a rod whose ball is driven spins as that says; others are held all the same
        moving = set(self.left)
        self.loose = with_locks(study.rows, [s for s in spins if s.body not in moving])
        self.coordinates: tuple[Rows, dict[int, str]] | None = None
        if names:
            self.coordinates = study.with_coordinates(names)
        self.rotations = list(rotation_drives(study.model))

    def drives(self) -> list[Drive]:
        """Those of all sets of bodies that hang together."""
        found: list[Drive] = []
        for piece in pieces(self.plain, set(self.left)):
            if len(piece) > _LARGEST:
                continue
            for rows in (self.loose, self.held):
                taken = self._taken(rows, piece)
                if self._rest(piece, taken) == 0:
                    break
            found += taken
        return found

    def _taken(self, rows: Rows, piece: list[int]) -> list[Drive]:
        """One after the other those that give as many motions more as they have velocities."""
        k, N = self._motions(rows, piece)
        nothing = np.zeros((0, N.shape[1]))
        given = _basis(nothing, self._number_rows(k, piece) @ N)[0]
        found: list[Drive] = []
        # first those that give motions clearly
        for clear in _CLEAR:
            for drive in self._candidates(piece):
                if len(given) == N.shape[1]:
                    return found
                more, rank = _basis(given, self._velocity_rows(drive, piece) @ N, clear)
                if rank == drive.freedoms:
                    given = more
                    found.append(drive)
        return found

    def _rest(self, piece: list[int], drives: Sequence[Drive]) -> int:
        """How many motions numbers of joints and some drives leave, with spins held."""
        k, N = self._motions(self.held, piece)
        rows = [self._number_rows(k, piece), *(self._velocity_rows(d, piece) for d in drives)]
        rank = _basis(np.zeros((0, N.shape[1])), np.concatenate(rows) @ N)[1]
        return int(N.shape[1]) - rank

    def _motions(self, rows: Rows, piece: list[int]) -> tuple[int, Floats]:
        """The position at which equations leave fewest motions, and these."""
        among = rows_among(rows, piece, self.known)
        spaces = [null_space(rows.matrix(k, among, piece)) for k in range(len(rows.values))]
        k = min(range(len(spaces)), key=lambda k: spaces[k].shape[1])
        return k, spaces[k]

    def _candidates(self, piece: list[int]) -> Iterator[Drive]:
        names = [self.plain.elements.bodies[b] for b in piece]
        inside = set(names)
        for drive in self.rotations:
            assert isinstance(drive.driver, RotationDriver)
            ends = {drive.driver.marker.body, drive.driver.i.body if drive.driver.i else GROUND}
            if ends & inside:
                yield drive
        yield from body_drives(self.model, [name for name in names if name in self.model.bodies])

    def _number_rows(self, position: int, piece: list[int]) -> Floats:
        """The rows of coordinates that are numbers."""
        if self.coordinates is None:
            return np.zeros((0, len(piece) * self.plain.width))
        rows, known = self.coordinates
        return rows.matrix(position, rows.rows_of(list(known)), piece)

    def _velocity_rows(self, drive: Drive, piece: list[int]) -> Floats:
        """The velocities of a coordinate from those of bodies, (freedoms, velocities)."""
        driver, width = drive.driver, self.plain.width
        place = {b: k for k, b in enumerate(piece)}
        A = np.zeros((drive.freedoms, len(piece), width))
        if isinstance(driver, RotationDriver):
            for marker, sign in ((driver.marker, 1.0), (driver.i, -1.0)):
                body = -1 if marker is None else self.numbers.get(marker.body, -1)
                if body in place:
                    A[:, place[body], 3:] += sign * np.eye(3)
        elif isinstance(driver, SpinDriver):
            A[0, place[self.numbers[driver.marker.body]], 2] = 1.0
        else:
            assert isinstance(driver, PositionDriver)
            axes = self.plain.plane or "xyz"
            A[0, place[self.numbers[driver.marker.body]], axes.index(driver.axis)] = 1.0
        return A.reshape(drive.freedoms, -1)


def _basis(given: Floats, more: Floats, clear: float = _CLEAR[-1]) -> tuple[Floats, int]:
    """An orthonormal basis of rows and more rows, and by how much its rank is higher.

    ``clear`` is the part of the length of rows that has to be new.
    """
    rest = more - (more @ given.T) @ given
    _, s, Vt = svd(rest)
    size = float(np.linalg.norm(more, axis=1).max(initial=0.0))
    rank = int(np.count_nonzero(s > clear * max(size, _SMALL)))
    return np.concatenate([given, Vt[:rank]]), rank
