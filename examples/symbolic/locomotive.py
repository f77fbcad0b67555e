"""A locomotive on its rails: 76 coordinates, 21 solids, 40 constraint equations, 36 freedoms.

A car body (WAG) rests on two bogies, a driven one behind (T) and an identical one without motors in
front (N).  A bogie is a slider (SLD) that turns on a vertical pin of the car body, a frame (BOG),
two wheelsets (WHSF, WHSR) with an axle box at each end (AXBFL, AXBFR, AXBRL, AXBRR) and, in the
driven one, two motors (MOTF, MOTR) with their rotors (ROTF, ROTR).

Coordinates.  x forward, y to the left, z up; c, a, b are turns about z, x and y, in that order.

======  =======================================================  ==================
WAG     x y z c a b from the ground                              6
SLD     c from WAG                                               1 x 2
BOG     x y z c a b from SLD                                     6 x 2
WHS     z a b from BOG: up and down, tilt, spin                  3 x 4
MOT     x y z c a b from BOG                                     6 x 2
AXB     move with their axle, but do not spin                    0
ROT     geared to the spin of their wheelset                     0
wheels  phi, u on the wheel; s, v on the rail                    4 x 8, no inertia
======  =======================================================  ==================

Forces.  Every spring–damper group is a linear bushing: a force proportional to the displacement of
a point of one solid from a point of the other, and to its velocity, along the three axes of the
latter's base.  Two groups tie each axle box to the frame (primary suspension), two each frame to
its slider (secondary), and two silent-blocks, which also resist small turns, each motor to its
frame.  A torque acts between each motor and its rotor.

Contact.  The profiles of wheel and rail are cubic splines.  A wheel is the surface of revolution
r(phi, u) = (0, ±(y + u), -R(u)) in a base turned by phi about the axle; a rail is r(s, v) =
(s, ±(y + v), h(v)).  The wheel being round, its surface is written from the axle that does not
spin.  For every wheel the two points coincide (3 equations) and the normal of the rail is
perpendicular to both tangents of the wheel (2 equations).  Friction follows Coulomb's law: its
coefficient falls with the velocity of slip, and the normal force is that of the multipliers.

Plaza (2015), appendix A.5 (the FEVE 3800 of the Spanish metre-gauge railways), which gives solids,
joints and numbers of coordinates, but neither data nor how the 44 coordinates with inertia are
split; the split above, the friction law and ``data/locomotive.toml`` are ours.  Every solid has ten
inertia parameters of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import biela as bl
from biela.space import Base, Point, Solid

DATA = Path(__file__).parent / "data" / "locomotive.toml"


@dataclass(frozen=True)
class Wheelset:
    """An axle with two wheels, and the base of the axle boxes, which does not spin."""

    name: str
    solid: Solid
    axle: Base
    spin: bl.Atom


@dataclass(frozen=True)
class Suspension:
    """A kind of spring–damper group: stiffness and damping by axis, and the load it carries."""

    stiffness: Sequence[bl.Atom]
    damping: Sequence[bl.Atom]
    load: bl.Atom


class Locomotive:
    """The model while it is being built."""

    def __init__(self) -> None:
        self.data = tomllib.loads(DATA.read_text(encoding="utf-8"))
        self.system = s = bl.SymbolicSystem("locomotive")
        g, self.gear = s.parameters(g=self.data["gravity"], gear=self.data["gear"])
        s.gravity = s.base.vector(0, 0, -g)
        geometry = self.data["geometry"]
        self.size = dict(zip(geometry, s.parameters(**geometry), strict=True))
        self.suspensions = {
            name: self.suspension(name, values) for name, values in self.data["suspension"].items()
        }
        self.turning = self.stiffness_and_damping("turning", self.data["turning"])
        self.wheelsets: list[Wheelset] = []

    # ------------------------------------------------------------------------------ the solids

    def car_body(self) -> Solid:
        s = self.system
        x, y, z, c, a, b = s.coordinates("xWAG yWAG zWAG cWAG aWAG bWAG")
        point = s.origin.offset("O.WAG", s.base.vector(x, y, z))
        return self.solid("WAG", point, s.base.euler("B.WAG", "zxy", (c, a, b)))

    def bogie(self, car: Solid, label: str, side: int) -> Solid:
        """The frame of a bogie; and its slider, with the secondary suspension between them."""
        s, size = self.system, self.size
        (turn,) = s.coordinates(f"cSLD_{label}")
        x, y, z, c, a, b = s.coordinates([f"{k}BOG_{label}" for k in "xyzcab"])
        pin = car.point.offset(
            f"O.SLD_{label}", car.base.vector(side * size["x_pin"], 0, -size["z_pin"])
        )
        slider_base = car.base.rotated(f"B.SLD_{label}", "z", turn)
        centre = pin.offset(f"O.BOG_{label}", slider_base.vector(x, y, z - size["z_bogie"]))
        frame_base = slider_base.euler(f"B.BOG_{label}", "zxy", (c, a, b))
        slider = self.solid(f"SLD_{label}", pin, slider_base)
        frame = self.solid(f"BOG_{label}", centre, frame_base)
        for end, sign in (("L", 1), ("R", -1)):
            y_group, down = sign * size["y_secondary"], size["z_secondary"]
            on_slider = pin.offset(f"P{end}.SLD_{label}", slider_base.vector(0, y_group, -down))
            on_frame = centre.offset(
                f"P{end}.BOG_{label}", frame_base.vector(0, y_group, size["z_bogie"] - down)
            )
            self.bushing(
                f"secondary{end}_{label}", "secondary", (slider, on_slider), (frame, on_frame)
            )
        return frame

    def wheelset(self, frame: Solid, label: str, end: str, side: int) -> Wheelset:
        """A wheelset, its axle boxes, and the primary suspension between these and the frame."""
        s, size = self.system, self.size
        name = f"WHS{end}_{label}"
        z, tilt, spin = s.coordinates([f"{k}{name}" for k in "zab"])
        x_axle = side * size["x_axle"]
        middle = frame.point.offset(f"O.{name}", frame.base.vector(x_axle, 0, z - size["z_axle"]))
        axle = frame.base.rotated(f"B.{name}a", "x", tilt)
        solid = self.solid(name, middle, axle.rotated(f"B.{name}", "y", spin))
        for hand, left in (("L", 1), ("R", -1)):
            box_name = f"AXB{end}{hand}_{label}"
            y_box = left * size["y_box"]
            box = self.solid(
                box_name, middle.offset(f"O.{box_name}", axle.vector(0, y_box, 0)), axle
            )
            for group, ahead in ((1, 1), (2, -1)):
                x_group, up = ahead * size["x_primary"], size["z_primary"]
                on_box = box.point.offset(f"P{group}.{box_name}", axle.vector(x_group, 0, up))
                on_frame = frame.point.offset(
                    f"P{group}{end}{hand}.BOG_{label}",
                    frame.base.vector(x_axle + x_group, y_box, up - size["z_axle"]),
                )
                self.bushing(
                    f"primary{group}{end}{hand}_{label}",
                    f"primary_{label}",
                    (frame, on_frame),
                    (box, on_box),
                )
        wheelset = Wheelset(f"{end}_{label}", solid, axle, spin)
        self.wheelsets.append(wheelset)
        return wheelset

    def motor(self, frame: Solid, wheelset: Wheelset, label: str, end: str, side: int) -> None:
        """A motor on two silent-blocks, and its rotor."""
        s, size = self.system, self.size
        name = f"MOT{end}_{label}"
        x, y, z, c, a, b = s.coordinates([f"{k}{name}" for k in "xyzcab"])
        (torque,) = s.inputs(f"tau{end}")
        rest = (side * size["x_motor"], -size["z_motor"])
        base = frame.base.euler(f"B.{name}", "zxy", (c, a, b))
        centre = frame.point.offset(f"O.{name}", frame.base.vector(rest[0] + x, y, rest[1] + z))
        motor = self.solid(name, centre, base)
        axis = centre.offset(
            f"O.ROT{end}_{label}", base.vector(side * size["x_rotor"], 0, size["z_rotor"])
        )
        turned = base.rotated(f"B.ROT{end}_{label}", "y", self.gear * wheelset.spin)
        rotor = self.solid(f"ROT{end}_{label}", axis, turned)
        s.wrench(rotor, moment=base.vector(0, torque, 0), reaction_on=motor, name=f"torque{end}")
        for hand, left in (("L", 1), ("R", -1)):
            y_block = left * size["y_block"]
            on_frame = frame.point.offset(
                f"P{end}{hand}B.BOG_{label}", frame.base.vector(rest[0], y_block, rest[1])
            )
            on_motor = centre.offset(f"P{hand}.{name}", base.vector(0, y_block, 0))
            block = f"block{end}{hand}_{label}"
            self.bushing(block, "block", (frame, on_frame), (motor, on_motor))
            moments = [
                -(k * angle + d * angle.velocity)
                for k, d, angle in zip(*self.turning, (a, b, c), strict=True)
            ]
            s.wrench(
                motor,
                moment=frame.base.vector(*moments),
                reaction_on=frame,
                name=f"{block}_turning",
            )

    def solid(self, name: str, at: Point, base: Base) -> Solid:
        """A solid with ten symbols: mass, centre of mass, inertia about the point of its frame."""
        s, data = self.system, self.data["solid"][name[:3]]
        m, r, central = data["mass"], np.array(data["com"]), data["inertia"]
        xx, yy, zz = central[:3] + m * (r @ r - r**2)
        xy, xz, yz = central[3:] - m * np.array([r[0] * r[1], r[0] * r[2], r[1] * r[2]])
        values = {"m": m, "cx": r[0], "cy": r[1], "cz": r[2]}
        values |= {"Ixx": xx, "Iyy": yy, "Izz": zz, "Ixy": xy, "Ixz": xz, "Iyz": yz}
        mass, cx, cy, cz, *inertia = s.parameters(**{f"{k}_{name}": v for k, v in values.items()})
        return s.solid(name, at, base, mass, com=(cx, cy, cz), inertia=base.inertia(*inertia))

    # ------------------------------------------------------------------------------ the forces

    def suspension(self, name: str, data: Mapping[str, Any]) -> Suspension:
        """A kind of group, with seven symbols."""
        (load,) = self.system.parameters(**{f"load_{name}": data["load"]})
        stiffness, damping = self.stiffness_and_damping(name, data)
        return Suspension(stiffness, damping, load)

    def stiffness_and_damping(
        self, name: str, data: Mapping[str, Any]
    ) -> list[tuple[bl.Atom, ...]]:
        """Three symbols each."""
        return [
            self.system.parameters(
                **{f"{letter}_{name}_{axis}": x for axis, x in zip("xyz", values, strict=True)}
            )
            for letter, values in (("k", data["stiffness"]), ("d", data["damping"]))
        ]

    def bushing(
        self, name: str, kind: str, first: tuple[Solid, Point], second: tuple[Solid, Point]
    ) -> None:
        """A group whose force on the second solid is linear along the axes of the first."""
        s, suspension = self.system, self.suspensions[kind]
        base = first[0].base
        gap = s.position(first[1], second[1]).components(base)
        speed = s.velocity(second[1], frame=first[0].frame).components(base)
        fx, fy, fz = (
            -(k * x + d * v)
            for k, x, d, v in zip(suspension.stiffness, gap, suspension.damping, speed, strict=True)
        )
        force = base.vector(fx, fy, fz + suspension.load)
        s.wrench(second[0], force=force, at=second[1], reaction_on=first[0], name=name)

    # ----------------------------------------------------------------------------- the contact

    def contacts(self) -> None:
        """Eight wheels on two rails."""
        s, profile = self.system, self.data["profile"]
        self.R = s.workspace.spline("wheel", profile["wheel_y"], profile["wheel_r"])
        self.h = s.workspace.spline("rail", profile["rail_y"], profile["rail_z"])
        self.friction = s.parameters(**self.data["friction"])
        for wheelset in self.wheelsets:
            for hand, left in (("L", 1), ("R", -1)):
                self.contact(wheelset, f"{wheelset.name[0]}{hand}{wheelset.name[1:]}", left)

    def contact(self, wheelset: Wheelset, name: str, left: int) -> None:
        s, size = self.system, self.size
        phi, u, along, v = s.coordinates([f"{k}_{name}" for k in ("phi", "u", "s", "v")], False)
        R, h = self.R(u), self.h(v)
        dR, dh = bl.diff(R, u), bl.diff(h, v)

        # the two points, and the tangents of the wheel; of the first only the direction matters
        turned = wheelset.axle.rotated(f"B.wheel_{name}", "y", phi)
        on_wheel = wheelset.solid.point.offset(
            f"wheel_{name}", turned.vector(0, left * (size["y_wheel"] + u), -R)
        )
        on_rail = s.origin.offset(
            f"rail_{name}", s.base.vector(along, left * (size["y_rail"] + v), h)
        )
        t1, t2 = turned.vector(1, 0, 0), turned.vector(0, left, -dR)
        normal = s.base.vector(0, -left * dh, 1)  # of the rail, upwards

        closure = s.close(on_rail, on_wheel, name=f"contact_{name}")
        s.constrain(normal.dot(t1), normal.dot(t2), name=f"tangent_{name}")

        # the ground pushes the wheel with minus the multipliers of the closure
        mu_0, mu_slip, s_mu, s_0 = self.friction
        length = bl.sqrt(1 + dh**2)
        pressure = (left * dh * closure[1].multiplier - closure[2].multiplier) / length
        across = s.base.vector(0, left, dh) / length
        slip = s.velocity(on_wheel, of=wheelset.solid)
        slip_x, slip_y = s.base.vector(1, 0, 0).dot(slip), across.dot(slip)
        speed = bl.sqrt(slip_x**2 + slip_y**2 + s_0**2)
        coefficient = mu_slip + (mu_0 - mu_slip) * bl.exp(-speed / s_mu)
        drag = -coefficient * pressure / speed
        force = s.base.vector(drag * slip_x, 0, 0) + across * (drag * slip_y)
        s.wrench(wheelset.solid, force=force, at=on_wheel, name=f"friction_{name}")


def locomotive() -> bl.SymbolicSystem:
    """The locomotive: 44 coordinates with inertia, then 32 of the contacts."""
    model = Locomotive()
    car = model.car_body()
    for label, side in (("T", -1), ("N", 1)):
        frame = model.bogie(car, label, side)
        wheelsets = [model.wheelset(frame, label, end, k) for end, k in (("F", 1), ("R", -1))]
        if label == "T":
            for wheelset, end, k in zip(wheelsets, "FR", (1, -1), strict=True):
                model.motor(frame, wheelset, label, end, k)
    model.contacts()
    return model.system


if __name__ == "__main__":
    equations = locomotive().equations()
    print(equations.system)
    print("derived:", equations.route)
    for name, count in equations.count().items():
        print(f"{name:12} {count}")
