"""Layouts by hand: the mechanisms of the sparse-ordering thesis and small ones beside them."""

from __future__ import annotations

from biela.equations.natural import Layout, Segment
from examples.large import five_bars
from examples.large.tether import tether as turning_tether

#: The cube of the Bricard mechanism: ends of its bars, and axes of its joints.
ENDS, AXES = five_bars.ENDS, five_bars.AXES
#: Bars of unit length and mass, hinged one after the other about crossed axes.
spatial_chain = five_bars.chain


def bricard(model: int) -> Layout:
    """The chain with its tip hinged to the ground: closed by equations (1), or by fixing it (2)."""
    return five_bars.bricard_closed() if model == 1 else five_bars.bricard_fixed()


def tether(bodies: int) -> Layout:
    """Rods in a row on balls, with a torsion and two bending springs in each, at rest."""
    return turning_tether(bodies, spin=0.0, swing=0.0)


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
