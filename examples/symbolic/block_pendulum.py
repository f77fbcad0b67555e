"""A pendulum that hangs from a sliding block: two coordinates, no constraints.

The block slides on the x axis (coordinate ``x``).  At height h above its reference point is the
pivot A, from which the pendulum hangs: its base is turned by -theta about y, its centre of mass
lies l_p below A, and Iyy_p is its inertia about A.  On the block act a force F_b and viscous
friction c_vis against the ground; on the pendulum act a moment M_p about y and, from the block, a
torsional spring k that rests at theta_0.

Plaza (2015), appendix A.1.  No figures are published; those here are ours.
"""

from __future__ import annotations

import biela as bl


def block_pendulum() -> bl.SymbolicSystem:
    """The system; its coordinates are x and theta."""
    s = bl.SymbolicSystem("block_pendulum")
    x, theta = s.coordinates("x theta")
    m_b, h, m_p, l_p, Iyy_p = s.parameters(m_b=3.0, h=0.3, m_p=1.2, l_p=0.7, Iyy_p=0.65)
    k, theta_0, c_vis, g = s.parameters(k=20.0, theta_0=0.1, c_vis=0.9, g=9.81)
    F_b, M_p = s.inputs("F_b M_p")

    slider = s.origin.offset("slider", s.base.vector(x, 0, 0))
    pivot = slider.offset("A", s.base.vector(0, 0, h))
    arm = s.base.rotated("arm", "-y", theta)

    block = s.solid("block", at=slider, base=s.base, mass=m_b)
    pendulum = s.solid(
        "pendulum",
        at=pivot,
        base=arm,
        mass=m_p,
        com=(0, 0, -l_p),
        inertia=arm.inertia(yy=Iyy_p),
    )

    s.wrench(block, force=s.base.vector(F_b - c_vis * x.velocity, 0, 0), name="drive")
    s.wrench(pendulum, moment=s.base.vector(0, M_p, 0), name="motor")
    # theta grows about -y, so the spring pulls it back about +y
    torque = s.base.vector(0, k * (theta - theta_0), 0)
    s.wrench(pendulum, moment=torque, reaction_on=block, name="spring")
    s.gravity = s.base.vector(0, 0, -g)
    return s


if __name__ == "__main__":
    equations = block_pendulum().equations()
    print(equations.system)
    print("derived:", equations.route)
    for name, count in equations.count().items():
        print(f"{name:12} {count}")
    print(equations.text("M"))
    print(equations.text("Q"))
