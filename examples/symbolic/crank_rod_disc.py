"""A crank drives a rod, the rod the centre of a disc that rolls on an inclined plane.

Everything happens in the vertical plane of y (horizontal) and z (up).  The crank turns about O by
theta1, the rod about its end A by theta2 seen from the crank, and at the end C of the rod is the
centre of a disc of radius r, turned by psi seen from the ground.  The disc rolls without slipping
on a plane through D, which rises by ``slope`` towards +y.  Their point of contact P has absolute
coordinates y and z of its own, which move no mass.

Three geometric equations say where P is: on the rim, on the plane, and where the rim is parallel to
the plane.  One non-holonomic equation says that the disc does not slip: P *as a point of the disc*
has no velocity along the plane.  Absolute and relative coordinates are mixed on purpose.

A moment M_1 and viscous friction c_vis act on the crank.  The centres of mass are in the middle of
the bars and in the centre of the disc; I1, I2, I3 are inertias about O, A and C.  Plaza (2015),
appendix A.3.  No figures are published; those here are ours.
"""

from __future__ import annotations

import biela as bl


def crank_rod_disc() -> bl.SymbolicSystem:
    """The mechanism; its coordinates are theta1, theta2, psi, and y and z of the contact."""
    s = bl.SymbolicSystem("crank_rod_disc")
    theta1, theta2, psi = s.coordinates("theta1 theta2 psi")
    y, z = s.coordinates("y z", inertia=False)
    l1, l2, r = s.parameters(l1=0.4, l2=1.5, r=0.3)
    m1, m2, m3 = s.parameters(m1=1.0, m2=2.5, m3=6.0)
    I1, I2, I3 = s.parameters(I1=0.054, I2=1.9, I3=0.27)
    slope, y_D, z_D = s.parameters(slope=0.15, y_D=1.0, z_D=-0.5)
    c_vis, g = s.parameters(c_vis=0.2, g=9.81)
    (M_1,) = s.inputs("M_1")

    # the bars lie along y of their bases
    crank_base = s.base.rotated("crank", "x", theta1)
    rod_base = crank_base.rotated("rod", "x", theta2)
    disc_base = s.base.rotated("disc", "x", psi)
    plane = s.base.rotated("plane", "x", slope)
    A = s.origin.offset("A", crank_base.vector(0, l1, 0))
    C = A.offset("C", rod_base.vector(0, l2, 0))
    D = s.origin.offset("D", s.base.vector(0, y_D, z_D))
    P = s.origin.offset("P", s.base.vector(0, y, z))

    crank = s.solid(
        "crank",
        at=s.origin,
        base=crank_base,
        mass=m1,
        com=(0, l1 / 2, 0),
        inertia=crank_base.inertia(xx=I1),
    )
    s.solid(
        "rod", at=A, base=rod_base, mass=m2, com=(0, l2 / 2, 0), inertia=rod_base.inertia(xx=I2)
    )
    disc = s.solid("disc", at=C, base=disc_base, mass=m3, inertia=disc_base.inertia(xx=I3))
    s.wrench(crank, moment=s.base.vector(M_1 - c_vis * theta1.velocity, 0, 0), name="motor")
    s.gravity = s.base.vector(0, 0, -g)

    # P is on the rim, on the plane, and straight below the centre as seen from the plane
    radius = s.position(C, P)
    tangent, normal = plane.vector(0, 1, 0), plane.vector(0, 0, 1)
    s.constrain(radius.norm2() - r**2, name="rim")
    s.constrain(normal.dot(s.position(D, P)), name="plane")
    s.constrain(tangent.dot(radius), name="parallel")
    s.constrain_velocity(tangent.dot(s.velocity(P, of=disc)), name="rolling")
    return s


if __name__ == "__main__":
    equations = crank_rod_disc().equations()
    print(equations.system)
    print("derived:", equations.route)
    for name, count in equations.count().items():
        print(f"{name:12} {count}")
