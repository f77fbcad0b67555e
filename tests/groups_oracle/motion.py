"""Position, velocity and acceleration of a mechanism of plain numbers, in reference points.

Newton by least squares on all rows at once, so that redundant rows and passive freedoms are
ordinary: of all solutions the one of least change (of least norm, for the velocities).  What a
passive freedom leaves open is told by component.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tests.groups_oracle.bodies import Mechanism, Row, State, cross, driver_row, joint_rows

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: value, rate and acceleration of a driver's law
Law = tuple[float, float, float]

#: a singular value below this share of the largest counts as zero
RANK = 1e-9


class AssemblyError(ArithmeticError):
    """The mechanism does not close at the driven values."""


class Motion(NamedTuple):
    """A solved instant."""

    state: State
    #: (bodies + 1, 6): velocity and angular velocity settled by the constraints and drivers
    determined: Bools
    rank: int
    #: rows beyond the rank
    redundant: int
    updates: int


def rows(mechanism: Mechanism, s: State, laws: Sequence[Law]) -> list[Row]:
    """All rows: those of the joints, then one a driver."""
    found = [row for joint in mechanism.joints for row in joint_rows(joint, s)]
    for driver, law in zip(mechanism.drivers, laws, strict=True):
        found.append(driver_row(driver, law[0], s))
    return found


def matrix(mechanism: Mechanism, found: Sequence[Row]) -> Floats:
    """Φ_v over the twists of the moving bodies: (rows, 6 bodies).

    In a planar mechanism the columns of what leaves the plane are zero.
    """
    J = np.zeros((len(found), mechanism.bodies + 1, 6))
    for i, row in enumerate(found):
        for body, block in row.blocks:
            J[i, body] += block
    if mechanism.planar:
        J[:, :, [2, 3, 4]] = 0.0
    return J[:, 1:].reshape(len(found), -1)


def assembled(
    mechanism: Mechanism,
    guess: State,
    laws: Sequence[Law],
    tolerance: float = 1e-12,
    most: int = 60,
) -> tuple[State, int]:
    """The poses that close the mechanism next to a guess, and the Newton updates taken.

    Raises:
        AssemblyError: ``most`` updates do not reach the tolerance on the largest residual.
    """
    s, zero = guess, np.zeros_like(guess.v)
    s = State(s.r, s.A, zero, zero, zero, zero)
    found = rows(mechanism, s, laws)
    size = _size(found)
    for update in range(most):
        if size <= tolerance:
            return s, update
        J = matrix(mechanism, found)
        step = -np.linalg.lstsq(J, np.array([row.value for row in found]), rcond=RANK)[0]
        # far off, a shorter step: half as long until the rows are better satisfied
        share = 1.0
        while True:
            ahead = _moved(s, share * step.reshape(-1, 6))
            there = rows(mechanism, ahead, laws)
            if _size(there) < size or size < 1e-9 or share < 1e-3:
                break
            share /= 2
        s, found, size = ahead, there, _size(there)
    if size <= 100 * tolerance:
        return s, most
    raise AssemblyError(f"the rows stay at {size:.1e} after {most} updates")


def _size(found: Sequence[Row]) -> float:
    return max((abs(row.value) for row in found), default=0.0)


def _moved(s: State, step: Floats) -> State:
    r, A = s.r.copy(), s.A.copy()
    for k, twist in enumerate(step, start=1):
        r[k] += twist[:3]
        A[k] = turned(twist[3:]) @ A[k]
    return s._replace(r=r, A=A)


def turned(w: Floats) -> Floats:
    """The rotation by the vector w (Rodrigues)."""
    angle = float(np.linalg.norm(w))
    W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    a = np.sinc(angle / np.pi)
    b = 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
    return np.eye(3) + a * W + b * W @ W


def solved(mechanism: Mechanism, guess: State, laws: Sequence[Law]) -> Motion:
    """Pose, velocity and acceleration at the laws' values.

    Raises:
        AssemblyError: the mechanism does not close.
    """
    s, updates = assembled(mechanism, guess, laws)
    found = rows(mechanism, s, laws)
    J = matrix(mechanism, found)
    U, sigma, Vt = np.linalg.svd(J)
    rank = int(np.sum(sigma > RANK * sigma[0]))
    inverse = (Vt[:rank].T / sigma[:rank]) @ U[:, :rank].T

    passive = len(found) - len(mechanism.drivers)
    rates = np.array([0.0] * passive + [law[1] for law in laws])
    s = _with(s, "v", "w", _settled(J, inverse, rates, "velocity"))
    quadratic = np.array([row.quadratic for row in rows(mechanism, s, laws)])
    wanted = np.array([0.0] * passive + [law[2] for law in laws]) - quadratic
    s = _with(s, "a", "dw", _settled(J, inverse, wanted, "acceleration"))

    free = np.abs(Vt[rank:]).max(axis=0, initial=0.0).reshape(-1, 6)
    determined = np.vstack([np.ones((1, 6), dtype=bool), free < 1e-7])
    if mechanism.planar:
        determined[:, [2, 3, 4]] = True
    return Motion(s, determined, rank, len(found) - rank, updates)


def _settled(J: Floats, inverse: Floats, b: Floats, what: str) -> Floats:
    x = inverse @ b
    left = b - J @ x
    x = x + inverse @ left  # one refinement
    if np.abs(b - J @ x).max() > 1e-6 * max(1.0, np.abs(b).max()):
        raise AssemblyError(f"the constraints admit no {what}: the drivers contradict the joints")
    return np.asarray(x)


def _with(s: State, linear: str, angular: str, x: Floats) -> State:
    twist = np.vstack([np.zeros((1, 6)), x.reshape(-1, 6)])
    return s._replace(**{linear: twist[:, :3], angular: twist[:, 3:]})


def point(s: State, body: int, local: Floats) -> tuple[Floats, Floats, Floats]:
    """Position, velocity and acceleration of a point of a body."""
    arm = s.A[body] @ local
    w = s.w[body]
    velocity = cross(w, arm)
    return (
        s.r[body] + arm,
        s.v[body] + velocity,
        s.a[body] + cross(s.dw[body], arm) + cross(w, velocity),
    )
