"""The Whipple bicycle: two wheels, a frame with a rigid rider, and a handlebar; hands off.

The axes are those of vehicles, x forwards, y to the right, z down, on the plane z = 0.  Seen
upright and straight, with the rear contact P at the origin:

    R (0, 0, -0.30)       rear wheel, 2 kg             w = 1.02   wheelbase
    B (0.3, 0, -0.9)      frame and rider, 85 kg       c = 0.08   trail
    H (0.9, 0, -0.7)      handlebar and fork, 4 kg     tilt π/10 of the steering axis, which
    F (w, 0, -0.35)       front wheel, 3 kg            meets the ground at Q = (w + c, 0, 0)

Coordinates: x and y of P, yaw psi, lean phi, pitch theta of the frame, steer delta, angles wheel_r
and wheel_f of the wheels, and an angle contact that says where the front wheel touches the ground;
it moves no mass.  The rear wheel is on the ground by the way its centre is placed from P.  For the
front wheel this takes two equations: its point of contact has height zero, and the rim is
horizontal there.  That neither wheel slips is four equations for velocities.  Nine coordinates, six
constraints: forward speed, lean rate and steer rate are free.

IFToMM library of computational benchmarks; data and linear stability from Meijaard, Papadopoulos,
Ruina & Schwab, *Linearized dynamics equations for the balance and steer of a bicycle*, Proc. R.
Soc. A 463 (2007).  The model here is not linear.
"""

from __future__ import annotations

import math

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

#: Between these forward speeds (m/s) the straight upright ride is stable.
STABLE_SPEEDS = (4.29238253634111, 6.02426201538837)
SPEED, LEAN_RATE = 4.6, 0.5  # at the start


def bicycle() -> bl.SymbolicSystem:
    """The bicycle; coordinates x, y, psi, phi, theta, delta, wheel_r, wheel_f and contact."""
    s = bl.SymbolicSystem("bicycle")
    x, y, psi, phi, theta, delta = s.coordinates("x y psi phi theta delta")
    wheel_r, wheel_f = s.coordinates("wheel_r wheel_f")
    (contact,) = s.coordinates("contact", inertia=False)
    w, c, tilt, r_r, r_f, g = s.parameters(
        w=1.02, c=0.08, tilt=math.pi / 10, r_r=0.3, r_f=0.35, g=9.81
    )
    s.gravity = s.base.vector(0, 0, g)

    # bases; that of the handlebar is turned back by the tilt, so that data are given in it
    yaw = s.base.rotated("yaw", "z", psi)
    lean = yaw.rotated("lean", "x", phi)
    frame = lean.rotated("frame", "y", theta)
    head = frame.rotated("head", "y", tilt)
    steered = head.rotated("steered", "z", delta)
    handlebar = steered.rotated("handlebar", "-y", tilt)
    rear = lean.rotated("rear", "y", wheel_r)
    front = handlebar.rotated("front", "y", wheel_f)
    down = handlebar.rotated("down", "y", contact)

    # points: contact P, rear centre R, steering axis Q, front centre F, front contact G
    P = s.origin.offset("P", s.base.vector(x, y, 0))
    R = P.offset("R", lean.vector(0, 0, -r_r))
    Q = R.offset("Q", frame.vector(w + c, 0, r_r))
    F = Q.offset("F", handlebar.vector(-c, 0, -r_f))
    G = F.offset("G", down.vector(0, 0, r_f))
    x_B, z_B, x_H, z_H = s.parameters(x_B=0.3, z_B=-0.9, x_H=0.9, z_H=-0.7)
    B = R.offset("B", frame.vector(x_B, 0, z_B + r_r))
    H = Q.offset("H", handlebar.vector(x_H - w - c, 0, z_H))

    # masses, with inertias about their centres
    m_r, Ixx_r, Iyy_r = s.parameters(m_r=2.0, Ixx_r=0.0603, Iyy_r=0.12)
    m_f, Ixx_f, Iyy_f = s.parameters(m_f=3.0, Ixx_f=0.1405, Iyy_f=0.28)
    m_B, Ixx_B, Iyy_B, Izz_B, Ixz_B = s.parameters(
        m_B=85.0, Ixx_B=9.2, Iyy_B=11.0, Izz_B=2.8, Ixz_B=2.4
    )
    m_H, Ixx_H, Iyy_H, Izz_H, Ixz_H = s.parameters(
        m_H=4.0, Ixx_H=0.05892, Iyy_H=0.06, Izz_H=0.00708, Ixz_H=-0.00756
    )
    rear_wheel = s.solid(
        "rear_wheel", at=R, base=rear, mass=m_r, inertia=rear.inertia(Ixx_r, Iyy_r, Ixx_r)
    )
    front_wheel = s.solid(
        "front_wheel", at=F, base=front, mass=m_f, inertia=front.inertia(Ixx_f, Iyy_f, Ixx_f)
    )
    s.solid(
        "frame", at=B, base=frame, mass=m_B, inertia=frame.inertia(Ixx_B, Iyy_B, Izz_B, xz=Ixz_B)
    )
    s.solid(
        "handlebar",
        at=H,
        base=handlebar,
        mass=m_H,
        inertia=handlebar.inertia(Ixx_H, Iyy_H, Izz_H, xz=Ixz_H),
    )

    # the front wheel touches the ground at G, and neither wheel slips
    s.constrain(s.position(P, G).z, down.vector(1, 0, 0).z, name="touch")
    for point, wheel in ((P, rear_wheel), (G, front_wheel)):
        along, aside, _ = s.velocity(point, of=wheel).components(yaw)
        s.constrain_velocity(along, aside, name=wheel.name)

    q0, v0 = start()
    s.start(dict(zip(s.q + s.v, q0 + v0, strict=True)))

    T, V = kinetic_energy(s), potential_energy(s)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)
    return s


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start: upright and straight, beginning to fall."""
    return 9 * [0.0], [SPEED, 0.0, 0.0, LEAN_RATE, 0.0, 0.0, -SPEED / 0.3, -SPEED / 0.35, 0.0]


def main() -> None:
    from description import describe  # stands beside this script

    describe(bicycle(), *start())


if __name__ == "__main__":
    main()
