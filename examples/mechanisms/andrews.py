"""Andrews' squeezing mechanism: seven bodies, three loops, times of a hundredth of a second.

A planar mechanism without gravity.  The crank K1 turns about O and pulls, over the rod K2, on a
point E, where four bodies meet:

    O ── K1 (beta) ── F ── K2 (Theta) ── E
    B ── K3 (gamma) ── E        with a spring from its corner D to the fixed point C
    A ── K5 (delta) ── G ── K4 (Phi) ── E
    A ── K7 (epsilon) ── H ── K6 (Omega) ── E

beta, gamma, delta and epsilon turn from the ground, Theta from K1, Phi from K5 and Omega from K7.
E is reached in four ways, which gives six closure equations for seven angles: mobility 1.  A
constant torque drives K1, from rest.

Data and published figures: Schiehlen (ed.), *Multibody Systems Handbook* (1990); Hairer & Wanner,
*Solving Ordinary Differential Equations II*, §VII.7; test set for IVP solvers (Mazzia & Magherini
2008).  The figures of `REFERENCE` are recomputed in extended precision; those published agree to
about ten digits in position and eight in velocity.
"""

from __future__ import annotations

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

#: By body: mass, central inertia, centre of mass in the base of the body, from its pivot.
BODIES = {
    "K1": (0.04325, 2.194e-6, (0.00092, 0.0)),
    "K2": (0.00365, 4.410e-7, (-0.0115, 0.0)),
    "K3": (0.02373, 5.255e-6, (0.01043, -0.01874)),
    "K4": (0.00706, 5.667e-7, (0.0, -(0.02 - 0.01421))),
    "K5": (0.07050, 1.169e-5, (0.02308, 0.00916)),
    "K6": (0.00706, 5.667e-7, (0.02 - 0.01421, 0.0)),
    "K7": (0.05498, 1.912e-5, (-0.00449, -0.01228)),
}

#: By time: coordinates and velocities.
REFERENCE = {
    0.03: {
        "beta": 15.8107711951537,
        "Theta": -15.7563710584118,
        "gamma": 0.0408222401196458,
        "Phi": -0.534730116342080,
        "delta": 0.524409965879954,
        "Omega": 0.534730116342080,
        "epsilon": 1.04808074104194,
        "dbeta": 1139.92030225911,
        "dTheta": -1424.37929517754,
        "dgamma": 11.0329119106186,
    }
}
#: Accelerations at the start and multipliers of the six closure equations, as published.
START_ACCELERATIONS = {"beta": 14222.4439199541, "Theta": -10666.8329399656}
START_MULTIPLIERS = (98.5668703962411, -6.12268834425567, 0.0, 0.0, 0.0, 0.0)


def andrews() -> bl.SymbolicSystem:
    """The mechanism; the coordinates are beta, Theta, gamma, Phi, delta, Omega, epsilon."""
    s = bl.SymbolicSystem("andrews")
    beta, Theta, gamma, Phi, delta, Omega, epsilon = s.coordinates(
        "beta Theta gamma Phi delta Omega epsilon"
    )
    OF, FE, BE, GE, AG, HE, AH = s.parameters(
        OF=0.007, FE=0.028, BE=0.035, GE=0.02, AG=0.04, HE=0.02, AH=0.04
    )
    xA, yA, xB, yB, xC, yC = s.parameters(
        xA=-0.06934, yA=-0.00227, xB=-0.03635, yB=0.03273, xC=0.014, yC=0.072
    )
    xD, yD, stiffness, free, torque = s.parameters(
        xD=0.02, yD=-0.018, stiffness=4530.0, free=0.07785, torque=0.033
    )

    # a base for each body
    K1 = s.base.rotated("K1", "z", beta)
    K2 = K1.rotated("K2", "z", Theta)
    K3 = s.base.rotated("K3", "z", gamma)
    K5 = s.base.rotated("K5", "z", delta)
    K4 = K5.rotated("K4", "z", Phi)
    K7 = s.base.rotated("K7", "z", epsilon)
    K6 = K7.rotated("K6", "z", Omega)

    # the points, and E in four ways
    A = s.origin.offset("A", s.base.vector(xA, yA, 0))
    B = s.origin.offset("B", s.base.vector(xB, yB, 0))
    C = s.origin.offset("C", s.base.vector(xC, yC, 0))
    D = B.offset("D", K3.vector(xD, yD, 0))
    F = s.origin.offset("F", K1.vector(OF, 0, 0))
    G = A.offset("G", K5.vector(AG, 0, 0))
    H = A.offset("H", K7.vector(0, -AH, 0))
    E2 = F.offset("E2", K2.vector(-FE, 0, 0))
    E3 = B.offset("E3", K3.vector(0, -BE, 0))
    E4 = G.offset("E4", K4.vector(0, -GE, 0))
    E6 = H.offset("E6", K6.vector(HE, 0, 0))

    solids = {}
    for base, pivot in ((K1, s.origin), (K2, F), (K3, B), (K4, G), (K5, A), (K6, H), (K7, A)):
        name = base.name
        mass, central, (x, y) = BODIES[name]
        values = {"m": mass, "x": x, "y": y, "I": central + mass * (x**2 + y**2)}
        m, cx, cy, I = s.parameters(**{f"{k}_{name}": v for k, v in values.items()})
        # a centre on an axis of the body is there for good: no symbol for its zero
        com = (cx if x else 0, cy if y else 0, 0)
        solids[name] = s.solid(
            name, at=pivot, base=base, mass=m, com=com, inertia=base.inertia(zz=I)
        )

    s.wrench(solids["K1"], moment=s.base.vector(0, 0, torque), name="motor")
    s.spring("spring", (solids["K3"], D), (None, C), stiffness=stiffness, length=free)
    s.close(E3, E2, axes="xy", name="E3")
    s.close(E4, E2, axes="xy", name="E4")
    s.close(E6, E2, axes="xy", name="E6")

    s.initial(Theta)
    s.initial_velocity(Theta.velocity)

    q0, v0 = start()
    s.start(dict(zip(s.q + s.v, q0 + v0, strict=True)))

    T = kinetic_energy(s)
    # a constant torque has a potential
    V = potential_energy(s) - torque * beta
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)
    return s


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start."""
    beta, gamma = -0.0617138900142764496, 0.455279819163070380
    Phi, delta, epsilon = 0.222668390165885885, 0.487364979543842550, 1.23054744454982119
    return [beta, 0.0, gamma, Phi, delta, -Phi, epsilon], 7 * [0.0]


def main() -> None:
    from description import describe  # stands beside this script

    describe(andrews(), *start())


if __name__ == "__main__":
    main()
