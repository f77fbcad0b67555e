"""Inverse and forward dynamics of a mechanism of plain numbers, by Newton and Euler.

With W the wrench on a body at its reference point that its motion asks of joints and drivers,
Φ_vᵀ λ = W.  λ is the solution of least norm; a reaction is given with a flag for every component
that all solutions share.  Only those are comparable between formulations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tests.groups_oracle.bodies import Marker, Mechanism, Row, State, joint_rows
from tests.groups_oracle.motion import RANK, Law, matrix, rows

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Mass(NamedTuple):
    """Of a body: mass, centre in its axes, inertia about the centre in its axes."""

    mass: float
    centre: Floats
    inertia: Floats


class Reaction(NamedTuple):
    """On the second body of a joint, at the second marker's point, in world axes."""

    force: Floats
    torque: Floats
    #: six flags: the component is the same in every solution
    determined: Bools


class Forces(NamedTuple):
    """What moves a mechanism as prescribed."""

    #: one a joint
    reactions: list[Reaction]
    #: generalised force of each driver, along its coordinate
    drivers: Floats
    drivers_determined: Bools
    #: what joints and drivers cannot balance: not zero where a passive freedom is accelerated
    unbalanced: Floats


def wanted(
    s: State,
    masses: Sequence[Mass],
    gravity: Floats,
    applied: Floats | None = None,
) -> Floats:
    """W of every moving body: (bodies, 6), force and moment about the reference point, world axes.

    ``applied`` (bodies, 6) holds known wrenches at the reference points.
    """
    W = np.zeros((len(masses), 6))
    for k, (m, centre, inertia) in enumerate(masses, start=1):
        A, w, dw = s.A[k], s.w[k], s.dw[k]
        arm = A @ centre
        Inertia = A @ inertia @ A.T
        f = m * (s.a[k] + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)) - gravity)
        W[k - 1, :3] = f
        W[k - 1, 3:] = Inertia @ dw + np.cross(w, Inertia @ w) + np.cross(arm, f)
    return W if applied is None else W - applied


def inverse_dynamics(
    mechanism: Mechanism,
    s: State,
    laws: Sequence[Law],
    masses: Sequence[Mass],
    gravity: Sequence[float],
    applied: Floats | None = None,
) -> Forces:
    """Reactions and driving forces of a solved instant."""
    found = rows(mechanism, s, laws)
    J = matrix(mechanism, found)
    W = wanted(s, masses, np.asarray(gravity, dtype=float), applied)
    if mechanism.planar:
        W[:, [2, 3, 4]] = 0.0
    U, sigma, Vt = np.linalg.svd(J.T)
    rank = int(np.sum(sigma > RANK * sigma[0]))
    inverse = (Vt[:rank].T / sigma[:rank]) @ U[:, :rank].T
    target = W.ravel()
    multipliers = inverse @ target
    multipliers = multipliers + inverse @ (target - J.T @ multipliers)
    null = Vt[rank:]

    reactions, at = [], 0
    for joint in mechanism.joints:
        own = joint_rows(joint, s)
        T = _wrench_map(own, joint.b, s, mechanism.planar)
        part = slice(at, at + len(own))
        at += len(own)
        wrench = T @ multipliers[part]
        open_ = np.abs(T @ null[:, part].T).max(axis=1, initial=0.0)
        determined = open_ < 1e-7
        if mechanism.planar:
            determined[[2, 3, 4]] = False
        reactions.append(Reaction(wrench[:3], wrench[3:], determined))
    free = np.abs(null[:, at:]).max(axis=0, initial=0.0)
    unbalanced = (target - J.T @ multipliers).reshape(-1, 6)
    return Forces(reactions, multipliers[at:], free < 1e-7, unbalanced)


def _wrench_map(own: Sequence[Row], marker: Marker, s: State, planar: bool) -> Floats:
    """Multipliers of a joint to the wrench on its second body, at the marker's point."""
    T = np.zeros((6, len(own)))
    for i, row in enumerate(own):
        for body, block in row.blocks:
            if body == marker.body:
                T[:, i] += block
    if planar:
        T[[2, 3, 4]] = 0.0
    arm = s.A[marker.body] @ marker.point
    T[3:] -= np.cross(arm, T[:3], axisb=0, axisc=0)
    return T


def forward_dynamics(
    mechanism: Mechanism,
    s: State,
    masses: Sequence[Mass],
    gravity: Sequence[float],
    applied: Floats | None = None,
) -> State:
    """Accelerations of the mechanism under its joints alone: drivers are left out.

    The state has consistent velocities; its accelerations are not read.
    """
    free = Mechanism(mechanism.bodies, mechanism.joints, (), mechanism.planar)
    found = rows(free, s, ())
    J = matrix(free, found)
    c = np.array([row.quadratic for row in found])
    g = np.asarray(gravity, dtype=float)
    zero = np.zeros_like(s.a)
    still = s._replace(a=zero, dw=zero)
    bias = wanted(still, masses, g, applied)
    n = len(masses)
    M = np.zeros((6 * n, 6 * n))
    for k, (m, centre, inertia) in enumerate(masses, start=1):
        A = s.A[k]
        x, y, z = A @ centre
        C = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        top = np.hstack([m * np.eye(3), -m * C])
        bottom = np.hstack([m * C, A @ inertia @ A.T - m * C @ C])
        M[6 * k - 6 : 6 * k, 6 * k - 6 : 6 * k] = np.vstack([top, bottom])
    if free.planar:
        keep = np.tile([True, True, False, False, False, True], n)
    else:
        keep = np.ones(6 * n, dtype=bool)
    Jk, Mk = J[:, keep], M[np.ix_(keep, keep)]
    # accelerations q̈ = x + N y: x satisfies the rows, y the virtual power along the freedoms N
    _, sigma, Vt = np.linalg.svd(Jk)
    rank = int(np.sum(sigma > RANK * sigma[0]))
    N = Vt[rank:].T
    x = -np.linalg.lstsq(Jk, c, rcond=RANK)[0]
    y = np.linalg.solve(N.T @ Mk @ N, -N.T @ (bias.ravel()[keep] + Mk @ x))
    acceleration = np.zeros(6 * n)
    acceleration[keep] = x + N @ y
    twist = np.vstack([np.zeros((1, 6)), acceleration.reshape(-1, 6)])
    return s._replace(a=twist[:, :3], dw=twist[:, 3:])


def energy(s: State, masses: Sequence[Mass], gravity: Sequence[float]) -> float:
    """Kinetic and potential."""
    total = 0.0
    for k, (m, centre, inertia) in enumerate(masses, start=1):
        arm = s.A[k] @ centre
        v, w = s.v[k] + np.cross(s.w[k], arm), s.A[k].T @ s.w[k]
        total += m * (v @ v) / 2 + w @ inertia @ w / 2 - m * np.dot(gravity, s.r[k] + arm)
    return float(total)
