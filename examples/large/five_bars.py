"""Five bars on crossed hinges: a pendulum, and Bricard's mechanism where its tip is hinged too.

Bars of 1 m and 1 kg run along the edges of a cube, each hinged to the one before; gravity points to
-y, and they start from rest.

    point   p0         p1         p2          p3          p4          p5
    place   (0,0,0)    (1,0,0)    (1,-1,0)    (1,-1,1)    (0,-1,1)    (0,0,1)
    axis    v0 = y     v1 = z     v2 = x      v3 = y      v4 = z      v5 = x

Coordinates are the free points p_i and axes v_i and the relative angles theta_i: mixed coordinates.
With u_i = p_i - p_{i-1} a bar keeps its shape by five equations, |u_i| = 1, u_i ⟂ v_{i-1},
u_i ⟂ v_i, v_{i-1} ⟂ v_i, |v_i| = 1, and theta_i is the angle from u_{i-1} to u_i about v_{i-1}.

The pendulum has as many freedoms as bars, and any number of bars by going on around the cube.  With
the tip p5 and its axis v5 hinged to the ground it is Bricard's mechanism: by a count of freedoms it
has none, but it moves.  It is laid twice: with p5 and v5 as coordinates that six equations close
onto the ground (`bricard_closed`), and with p5 and v5 fixed (`bricard_fixed`).

    biela order examples/large/five_bars.py --model bricard_closed --independent theta5
    biela run examples/large/five_bars.py --model pendulum_bodies -t 10
    python examples/large/five_bars.py

J. García de Jalón & E. Bayo, *Kinematic and Dynamic Simulation of Multibody Systems* (1994), for
the coordinates; problem A04 of the IFToMM library of computational benchmarks for the pose.
"""

from __future__ import annotations

import numpy as np

import biela as bl
from biela.analysis.orderings import study_orderings
from biela.equations.natural import Layout, NaturalPoint, NaturalVector, Segment

#: The ends of the bars on the cube, and the axes there.
ENDS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))
GRAVITY = (0.0, -9.81, 0.0)

#: By time: place of the tip p5 and angles of the pendulum.
PENDULUM = {
    0.25: (
        (-0.000851, -0.340035, 1.194331),
        (-1.589257, -1.562652, -1.261359, -1.637914, -1.587042),
    ),
    0.5: (
        (-0.018803, -1.647110, 1.518144),
        (-1.720070, -1.559365, -0.518028, -1.217813, -1.706293),
    ),
    1.0: (
        (1.535653, -1.778125, -0.199418),
        (-2.697516, -1.617564, 0.495700, -0.823585, 1.987567),
    ),
    2.0: (
        (2.588722, -2.756022, -0.324795),
        (-2.464124, -1.801902, 0.925968, 0.518914, 0.057563),
    ),
}
#: By time: place of p3 of Bricard's mechanism, angles theta1 and theta2, rate of theta1.
BRICARD = {
    0.25: ((0.998085, -1.060057, 0.938139), -1.508896, -1.629086, 0.499604),
    0.5: ((0.968154, -1.225035, 0.749644), -1.317748, -1.772387, 1.035714),
    1.0: ((0.508665, -1.649827, 0.139035), -0.533633, -2.051772, 2.040336),
    1.25: ((-0.007628, -1.732034, 0.000029), 0.007628, -2.094387, 2.228578),
    2.0: ((-0.969892, -1.219455, 0.756465), 1.324787, -1.767911, 1.020615),
    5.0: ((1.000000, -1.000184, 0.999816), -1.570612, -1.570980, 0.026864),
}


def chain(
    bars: int = 5,
    *,
    fixed_end: bool = False,
    written: str = "switched",
    name: str = "pendulum of bars",
) -> tuple[Layout, list[NaturalPoint], list[NaturalVector]]:
    """Bars hinged one after the other, and their points and axes.

    ``written`` is how the equations of the angles are, see `biela.equations.natural.kinds`.
    """
    lay = Layout(name, gravity=GRAVITY)
    reference = lay.vector("r0", (0, 0, -1), fixed=True)
    place = np.zeros(3)
    p = [lay.point("p0", place, fixed=True)]
    v = [lay.vector("v0", AXES[0], fixed=True)]
    for i in range(1, bars + 1):
        place = place + np.subtract(ENDS[i % 6], ENDS[(i - 1) % 6])
        held = fixed_end and i == bars
        p.append(lay.point(f"p{i}", place, fixed=held))
        v.append(lay.vector(f"v{i}", AXES[i % 6], fixed=held))
    u: list[NaturalVector | Segment] = [reference]
    for i in range(1, bars + 1):
        arrow = Segment(p[i - 1], p[i])
        lay.length(p[i - 1], p[i])
        lay.dot(arrow, v[i - 1])
        lay.dot(arrow, v[i])
        lay.dot(v[i - 1], v[i])
        lay.unit(v[i])
        lay.rod(f"bar{i}", p[i - 1], p[i], 1.0, shape=False)
        u.append(arrow)
    for i in range(1, bars + 1):
        lay.angle(f"theta{i}", u[i - 1], u[i], v[i - 1], written)
    return lay, p, v


def pendulum(bars: int = 5, written: str = "switched") -> Layout:
    """The open chain: 7 coordinates, 6 equations and 1 freedom a bar."""
    return chain(bars, written=written)[0]


def layout() -> Layout:
    """The pendulum of five bars."""
    return pendulum()


def bricard_closed(written: str = "switched") -> Layout:
    """Bricard's mechanism, model 1: the tip is a coordinate, and closed onto the ground."""
    lay, p, v = chain(5, written=written, name="Bricard, closed")
    lay.close(p[5], lay.point("end", ENDS[5], fixed=True), "tip")
    lay.close(v[5], lay.vector("axis", AXES[5], fixed=True), "tip axis")
    return lay


def bricard_fixed(written: str = "switched") -> Layout:
    """Bricard's mechanism, model 2: the tip is fixed, and nothing is left to close."""
    return chain(5, fixed_end=True, written=written, name="Bricard, fixed")[0]


def angles(bars: int = 5) -> tuple[str, ...]:
    """The independent coordinates of the pendulum."""
    return tuple(f"theta{i}" for i in range(1, bars + 1))


def pendulum_bodies(bars: int = 5, tip_hinged: bool = False) -> bl.Model:
    """The same of bodies and joints, of which natural coordinates are made automatically."""
    m = bl.Model("Bricard" if tip_hinged else "pendulum of bars", gravity=GRAVITY)
    place, before = np.zeros(3), "ground"
    for i in range(1, bars + 1):
        along = np.subtract(ENDS[i % 6], ENDS[(i - 1) % 6])
        across = [(1.0 - abs(d)) / 12 for d in along]
        m.body(f"bar{i}", position=place, mass=1.0, com=tuple(along / 2), inertia=across)
        m.joint("revolute", f"theta{i}", before, f"bar{i}", at=place, axis=AXES[(i - 1) % 6])
        place, before = place + along, f"bar{i}"
    if tip_hinged:
        m.joint("revolute", "tip", before, "ground", at=place, axis=AXES[bars % 6])
    return m


def bricard_bodies() -> bl.Model:
    """Bricard's mechanism of bodies and joints."""
    return pendulum_bodies(tip_hinged=True)


def main() -> None:
    """Order and run both, and say what they cost."""
    for lay, independent, duration in (
        (pendulum(), angles(), 10.0),
        (bricard_closed(), ("theta5",), 15.0),
    ):
        study = study_orderings(lay, independent=independent)
        print(f"{study.name}: {study.dependent.shape}, {study.dependent.nnz} entries")
        for report in study.orderings:
            if report.by_blocks:
                print(f"  {report.name:26} {report.border}/{report.band} {report.orders}")
        options = bl.Options(independent=independent, linear_solver="reordered")
        run = bl.simulate(
            lay.system(), duration, tolerance=1e-6, formulation="velocity_projection",
            options=options,
        )  # fmt: skip
        print(run.statistics)


if __name__ == "__main__":
    main()
