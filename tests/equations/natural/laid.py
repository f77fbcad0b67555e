"""Layouts by hand: the mechanisms of the sparse-ordering thesis and small ones beside them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.equations.natural import Cross, Layout, NaturalPoint, NaturalVector, Segment

Floats = npt.NDArray[np.float64]

#: The cube of the Bricard mechanism: ends of its bars, and axes of its joints.
ENDS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))


def spatial_chain(
    bars: int = 5, *, fixed_end: bool = False, written: str = "switched"
) -> tuple[Layout, list[NaturalPoint], list[NaturalVector]]:
    """Bars of unit length and mass, hinged one after the other about crossed axes."""
    lay = Layout("chain", gravity=(0, -9.81, 0))
    ends = [ENDS[k % 6] for k in range(6)]
    place = np.zeros(3)
    p = [lay.point("p0", place, fixed=True)]
    v = [lay.vector("v0", AXES[0], fixed=True)]
    reference = lay.vector("r0", (0, 0, -1), fixed=True)
    arrows: list[NaturalVector | Segment] = [reference]
    for i in range(1, bars + 1):
        a, b = np.array(ends[(i - 1) % 6]), np.array(ends[i % 6])
        place = place + (b - a)
        held = fixed_end and i == bars
        p.append(lay.point(f"p{i}", place, fixed=held))
        v.append(lay.vector(f"v{i}", AXES[i % 6], fixed=held))
    for i in range(1, bars + 1):
        u = Segment(p[i - 1], p[i])
        arrows.append(u)
        lay.length(p[i - 1], p[i])
        lay.dot(u, v[i - 1])
        lay.dot(u, v[i])
        lay.dot(v[i - 1], v[i])
        lay.unit(v[i])
        lay.rod(f"bar{i}", p[i - 1], p[i], 1.0, shape=False)
    for i in range(1, bars + 1):
        lay.angle(f"theta{i}", arrows[i - 1], arrows[i], v[i - 1], written)
    return lay, p, v


def bricard(model: int) -> Layout:
    """The chain with its tip hinged to the ground: closed by equations (1), or by fixing it (2)."""
    lay, p, v = spatial_chain(5, fixed_end=model == 2)
    if model == 1:
        lay.close(p[5], lay.point("end", ENDS[5], fixed=True))
        lay.close(v[5], lay.vector("axis", AXES[5], fixed=True))
    return lay


def tether(bodies: int) -> Layout:
    """Rods in a row on balls, with a torsion and two bending springs in each."""
    m, r = 1.0, 0.05
    lay = Layout("tether")
    p = [lay.point(f"p{i}", (i, 0, 0), fixed=i < 2) for i in range(bodies + 1)]
    reference = lay.vector("r0", (0, 0, 1), fixed=True)
    b = lay.vector("b1", (0, 0, 1))
    first = Segment(p[0], p[1])
    lay.unit(b)
    lay.dot(first, b)
    lay.spring(lay.angle("tau", reference, b, first, "regular"), 20.0)
    lay.inertia("body1", [b], [[2 * m * r**2 / 4]])
    before: tuple[NaturalVector | Cross, NaturalVector] = (Cross(b, first), b)
    for i in range(2, bodies + 1):
        a, b = lay.vector(f"a{i}", (0, 1, 0)), lay.vector(f"b{i}", (0, 0, 1))
        along, across = m * r**2 / 2, m / 12 + m * r**2 / 4
        lay.body(
            f"body{i}", [p[i - 1], p[i]], [a, b], mass=m, centre=(i - 0.5, 0, 0),
            inertia=(along, across, across),
        )  # fmt: skip
        lay.joint_springs(
            f"joint{i}", before, (Segment(p[i - 1], p[i]), a), torsion=(20.0, 0.0),
            bending=((50.0, 0.0), (50.0, 0.0)),
        )  # fmt: skip
        before = (a, b)
    return lay


def four_bar(written: str = "regular") -> Layout:
    """A planar four-bar with the angle of its crank."""
    lay = Layout("four bar", plane="xy", gravity=(0, -9.81, 0))
    A = lay.point("A", (0, 0), fixed=True)
    B = lay.point("B", (3, 0), fixed=True)
    p = lay.point("p", (0, 1))
    q = lay.point("q", (2, 2))
    for name, ends in {"crank": (A, p), "coupler": (p, q), "rocker": (B, q)}.items():
        lay.rod(name, *ends, mass=1.0)
    x = lay.vector("x", (1, 0), fixed=True)
    lay.angle("alpha", x, Segment(A, p), written=written)
    return lay
