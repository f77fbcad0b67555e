"""A heavy top on a fixed point, by Euler angles and by Euler parameters.

A body of revolution turns about the origin; its centre of mass lies at l on its axis.  By Euler
angles zxz, precession psi, nutation theta and spin phi, it needs no constraint, but M is singular
when the axis is vertical.  By Euler parameters e0 … e3 it has no such position; there is one
constraint, that their squares sum to one, and M, of rank 3, is positive on the motions it allows.

With inertias A across the axis about the origin and C along it, a steady precession Ω at nutation θ
needs the total spin w = φ' + Ω cos θ about the axis with

    C w Ω = A Ω² cos θ + m g l

(Goldstein, Poole & Safko, *Classical Mechanics*, 2002, §5.7).
"""

from __future__ import annotations

import math

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy
from biela.space import Base

MASS, LENGTH, GRAVITY = 0.5, 0.08, 9.81
ACROSS, ALONG = 4.0e-3, 8.0e-4  # inertias about the fixed point
NUTATION, PRECESSION = 0.6, 3.0  # of the steady motion at the start: rad, rad/s


def top() -> bl.SymbolicSystem:
    """By Euler angles; the coordinates are psi, theta and phi."""
    s = bl.SymbolicSystem("top")
    body = s.base.euler("body", "zxz", s.coordinates("psi theta phi"))
    add_body(s, body, *start())
    return s


def top_by_euler_parameters() -> bl.SymbolicSystem:
    """By Euler parameters; the coordinates are e0 … e3, and one constraint."""
    s = bl.SymbolicSystem("top_by_euler_parameters")
    e = s.coordinates("e0 e1 e2 e3")
    body = s.base.by_euler_parameters("body", e)
    add_body(s, body, *start_by_euler_parameters())
    s.constrain(e[0] ** 2 + e[1] ** 2 + e[2] ** 2 + e[3] ** 2 - 1, name="unit")
    return s


def add_body(s: bl.SymbolicSystem, body: Base, q: list[float], v: list[float]) -> None:
    """The solid, gravity, start, and outputs: the tip of the axis and the energies."""
    m, l, g, A, C = s.parameters(m=MASS, l=LENGTH, g=GRAVITY, A=ACROSS, C=ALONG)
    s.solid("top", at=s.origin, base=body, mass=m, com=(0, 0, l), inertia=body.inertia(A, A, C))
    s.gravity = s.base.vector(0, 0, -g)

    s.start(dict(zip(s.q + s.v, q + v, strict=True)))
    axis = body.vector(0, 0, 1)
    for name, component in zip(("x", "y", "z"), axis.components(s.base), strict=True):
        s.output(name, component)
    T, V = kinetic_energy(s), potential_energy(s)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)


def steady(theta: float, precession: float) -> tuple[list[float], list[float]]:
    """Angles and rates of the steady precession at a nutation."""
    moment = MASS * GRAVITY * LENGTH
    spin = (ACROSS * precession**2 * math.cos(theta) + moment) / (ALONG * precession)
    return [0.0, theta, 0.0], [precession, 0.0, spin - precession * math.cos(theta)]


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities of `top` at the start: a steady precession."""
    return steady(NUTATION, PRECESSION)


def start_by_euler_parameters() -> tuple[list[float], list[float]]:
    """The same start for `top_by_euler_parameters`."""
    return as_euler_parameters(*start())


def as_euler_parameters(angles: list[float], rates: list[float]) -> tuple[list[float], list[float]]:
    """Euler parameters and their rates from the angles zxz and theirs.

    Nikravesh, *Computer-Aided Analysis of Mechanical Systems* (1988): with half the sum σ and
    half the difference δ of psi and phi, e = (cos θ/2 cos σ, sin θ/2 cos δ, sin θ/2 sin δ,
    cos θ/2 sin σ).
    """
    (psi, theta, phi), (dpsi, dtheta, dphi) = angles, rates
    sigma, delta, half = (psi + phi) / 2, (psi - phi) / 2, theta / 2
    dsigma, ddelta, dhalf = (dpsi + dphi) / 2, (dpsi - dphi) / 2, dtheta / 2
    c, s = math.cos(half), math.sin(half)
    e0, e3 = c * math.cos(sigma), c * math.sin(sigma)
    e1, e2 = s * math.cos(delta), s * math.sin(delta)
    return [e0, e1, e2, e3], [
        -s * math.cos(sigma) * dhalf - e3 * dsigma,
        c * math.cos(delta) * dhalf - e2 * ddelta,
        c * math.sin(delta) * dhalf + e1 * ddelta,
        -s * math.sin(sigma) * dhalf + e0 * dsigma,
    ]


def main() -> None:
    from description import describe  # stands beside this script

    describe(top(), *start())
    describe(top_by_euler_parameters(), *start_by_euler_parameters())


if __name__ == "__main__":
    main()
