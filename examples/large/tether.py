"""A tether: rods on spherical joints with a torsion and two bending springs, without gravity.

Body 1 is fixed along its axis and may only twist; bodies 2, 3, … hang in a row on balls, straight
along x at the start.  The last body starts with a spin and a sideways rotation, or gets a blow at
its tip (`blow`), and waves run along the tether.

Coordinates are the free points p_i, two vectors a_i, b_i across each body, and the angles of its
springs: bending of u_i = p_i - p_{i-1} against the body before towards a_{i-1} and towards b_{i-1},
and torsion of a_i against a_{i-1}.  These 3 N - 2 angles are independent, of 12 N - 8 coordinates.

    biela order examples/large/tether.py
    python examples/large/tether.py
"""

from __future__ import annotations

import biela as bl
from biela.analysis.orderings import study_orderings
from biela.equations.natural import (
    Cross,
    Layout,
    NaturalVector,
    RelativeCoordinate,
    Segment,
    struck,
)

#: Each body: length m, mass kg, radius of its round section m.
LENGTH, MASS, RADIUS = 1.0, 1.0, 0.05
#: Springs, N m/rad.
TORSION, BENDING = 20.0, 50.0
#: Rates of the torsion and of the first bending angle of the last joint at the start, rad/s.
SPIN, SWING = 10.0, 2.0


def tether(bodies: int = 10, spin: float = SPIN, swing: float = SWING) -> Layout:
    """The tether; its last body turns at the start."""
    lay = Layout("tether")
    p = [lay.point(f"p{i}", (i * LENGTH, 0, 0), fixed=i < 2) for i in range(bodies + 1)]
    reference = lay.vector("r0", (0, 0, 1), fixed=True)
    b = lay.vector("b1", (0, 0, 1))
    first = Segment(p[0], p[1])
    # ∫ y² dm of the section, about either axis across
    section = MASS * RADIUS**2 / 4
    lay.unit(b)
    lay.dot(first, b)
    twist = lay.angle("tau", reference, b, first, "regular")
    lay.spring(twist, TORSION)
    lay.inertia("body1", [b], [[2 * section]])
    lay.body("body1", p[:2], [b], shape=False)
    found: list[RelativeCoordinate] = [twist]
    before: tuple[NaturalVector | Cross, NaturalVector] = (Cross(b, first), b)
    for i in range(2, bodies + 1):
        a, b = lay.vector(f"a{i}", (0, 1, 0)), lay.vector(f"b{i}", (0, 0, 1))
        across = MASS * LENGTH**2 / 12 + section
        lay.body(
            f"body{i}", [p[i - 1], p[i]], [a, b], mass=MASS,
            centre=((i - 0.5) * LENGTH, 0, 0), inertia=(2 * section, across, across),
        )  # fmt: skip
        found += lay.joint_springs(
            f"joint{i}", before, (Segment(p[i - 1], p[i]), a), torsion=(TORSION, 0.0),
            bending=((BENDING, 0.0), (BENDING, 0.0)),
        )  # fmt: skip
        before = (a, b)
    rates = [0.0] * len(found)
    if bodies > 1:
        rates[-3], rates[-1] = swing, spin
    for angle, rate in zip(found, rates, strict=True):
        lay.rate(angle, rate)
    return lay


def layout() -> Layout:
    """The tether of ten bodies."""
    return tether()


def angles(bodies: int = 10) -> tuple[str, ...]:
    """The independent coordinates."""
    kinds = ("bending1", "bending2", "torsion")
    return ("tau", *(f"joint{i}.{kind}" for i in range(2, bodies + 1) for kind in kinds))


def blow(system: bl.System, bodies: int = 10, impulse: float = 1.0) -> dict[str, float]:
    """Velocities after a blow across the tip, in N s along z, by name: to start a run with."""
    after = struck(system, {f"p{bodies}.z": impulse})
    return {entry.name: float(x) for entry, x in zip(system.v, after, strict=True)}


def main() -> None:
    """Order and run it, and say what it costs."""
    study = study_orderings(layout(), independent=angles())
    print(f"{study.name}: {study.dependent.shape}, {study.dependent.nnz} entries")
    print(next(report.orders for report in study.orderings if report.name == "RB3"))
    options = bl.Options(independent=angles(), index=3, linear_solver="reordered")
    run = bl.simulate(
        layout().system(), 3.0, tolerance=1e-5, integrator="adams",
        formulation="velocity_projection", options=options,
    )  # fmt: skip
    print(run.statistics)


if __name__ == "__main__":
    main()
