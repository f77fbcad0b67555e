"""A four-bar linkage: three relative angles and a closure.

Bars along the x axis of their bases, each base turned about y from the one before; the end of the
third bar is held at a point of the ground.  The model of Samin & Fisette (2003), ch. 5, and of
Plaza (2015), appendix A.2: centres of mass off the bars, forces and moments on bars 2 and 3 and, if
wanted, a spring between them.  No figures are published; those here are ours.
"""

from __future__ import annotations

import biela as bl


def four_bar(spring: bool = False) -> bl.SymbolicSystem:
    """The linkage; its coordinates are theta1, theta2, theta3."""
    s = bl.SymbolicSystem("four_bar")
    theta = s.coordinates("theta:3")
    l1, l2, l3, l4, g = s.parameters(l1=2.0, l2=8.0, l3=5.0, l4=10.0, g=9.81)

    # bases turned about y, points at the joints
    base, point = s.base, s.origin
    bases, joints = [], []
    for i, (angle, length) in enumerate(zip(theta, (l1, l2, l3), strict=True)):
        base = base.rotated(f"b{i + 1}", "y", angle)
        joints.append(point)
        bases.append(base)
        point = point.offset("ABC"[i], base.vector(length, 0, 0))
    ground = s.origin.offset("O2", s.base.vector(l4, 0, 0))

    # solids, with forces and moments on the second and third
    bars = []
    for i in range(3):
        n, length = i + 1, (2.0, 8.0, 5.0)[i]
        m, cgx, cgz, Iyy = s.parameters(
            **{
                f"m{n}": length,
                f"cg{n}x": length / 2,
                f"cg{n}z": 0.1,
                f"I{n}yy": length**3 / 3,
            }
        )
        bars.append(
            s.solid(
                f"bar{n}",
                at=joints[i],
                base=bases[i],
                mass=m,
                com=(cgx, 0, cgz),
                inertia=bases[i].inertia(yy=Iyy),
            )
        )
        if i:
            Fx, Fz, My = s.inputs(f"Fx{n} Fz{n} My{n}")
            s.wrench(bars[i], bases[i].vector(Fx, 0, Fz), bases[i].vector(0, My, 0))
    s.gravity = s.base.vector(0, 0, -g)

    if spring:
        k, rest = s.parameters(k=50.0, rest=4.0)
        k1 = joints[1].offset("K1", bases[1].vector(l2 / 2, 0, 0))
        k2 = joints[2].offset("K2", bases[2].vector(l3 / 2, 0, 0))
        s.spring("spring", (bars[1], k1), (bars[2], k2), stiffness=k, length=rest)

    # the end of the third bar stays at the ground point
    s.close(ground, point, axes="xz", name="closure")
    return s


if __name__ == "__main__":
    equations = four_bar().equations()
    print(equations.system)
    print("derived:", equations.route)
    for name, count in equations.count().items():
        print(f"{name:12} {count}")
    print(equations.text("M"))
