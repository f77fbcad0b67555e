"""A flexible rod that hangs from a slider and carries a bob: a beam among rigid bodies.

The slider moves on the x axis (coordinate ``x``), the rod hangs from it (``theta``) and bends in
the plane of the swing.  Its deflection is a sum of vibrations of a clamped beam, whose tip
displacements ``rod_x1``, ``rod_x2`` … are coordinates like any others.  The bob sits on the tip and
turns with it.

No figures are published; the vibrations have those of Euler and Bernoulli to compare with.
"""

from __future__ import annotations

import numpy as np

import biela as bl
from biela.equations import Equations

LENGTH, MASS_PER_LENGTH, BENDING = 1.2, 0.4, 3.0

#: βl of a beam clamped at one end, cos βl cosh βl = -1.
EULER_BERNOULLI = (1.875104, 4.694091, 7.854757)


def flexible_pendulum(modes: int = 2, polynomials: int | None = None) -> bl.SymbolicSystem:
    """The system; its coordinates are x, theta and the modes of the rod.

    With as many ``polynomials`` as modes these are no longer vibrations of the clamped rod alone,
    but all deflections up to a degree; the frequencies then converge faster.
    """
    s = bl.SymbolicSystem("flexible_pendulum")
    x, theta = s.coordinates("x theta")
    l, mu, EI = s.parameters(l=LENGTH, mu=MASS_PER_LENGTH, EI=BENDING)
    m_s, m_b, I_b, g = s.parameters(m_s=1.0, m_b=0.15, I_b=4e-4, g=9.81)
    (F,) = s.inputs("F")

    pivot = s.origin.offset("A", s.base.vector(x, 0, 0))
    arm = s.base.rotated("arm", "-y", theta)
    slider = s.solid("slider", at=pivot, base=s.base, mass=m_s)
    rod = s.beam("rod", pivot, arm, l, mu, {"x": EI}, modes, along="-z", polynomials=polynomials)

    tip = rod.marker("tip", 1.0)
    s.solid("bob", at=tip.point, base=tip.base, mass=m_b, inertia=tip.base.inertia(yy=I_b))
    s.wrench(slider, force=s.base.vector(F, 0, 0), name="drive")
    s.gravity = s.base.vector(0, 0, -g)
    return s


def cantilever(modes: int) -> bl.SymbolicSystem:
    """The rod alone, clamped to the ground and without weight."""
    s = bl.SymbolicSystem("cantilever")
    s.beam("rod", s.origin, s.base, LENGTH, MASS_PER_LENGTH, bending={"z": BENDING}, modes=modes)
    return s


def frequencies(equations: Equations) -> np.ndarray:
    """Angular frequencies (rad/s) about the position where all coordinates are zero."""
    n = len(equations.system.q)
    rest = np.zeros(n)
    M = equations.mass(rest)
    h = 1e-6
    K = [(equations.forces(-e, rest) - equations.forces(e, rest)) / (2 * h) for e in h * np.eye(n)]
    squares = np.linalg.eigvals(np.linalg.solve(M, np.array(K).T)).real
    return np.asarray(np.sqrt(np.sort(squares.clip(min=0))))


if __name__ == "__main__":
    found = frequencies(cantilever(3).equations())
    unit = np.sqrt(BENDING / MASS_PER_LENGTH) / LENGTH**2
    print("clamped rod           rad/s    beta l   Euler and Bernoulli")
    for omega, exact in zip(found, EULER_BERNOULLI, strict=True):
        print(f"{omega:27.4f} {np.sqrt(omega / unit):9.6f} {exact:12.6f}")

    for modes in (1, 2, 3):
        equations = flexible_pendulum(modes).equations()
        print(f"\nmodes: {modes}; {equations.count()['M Q']} for M and Q")
        print("rad/s:", " ".join(f"{omega:.3f}" for omega in frequencies(equations)))
