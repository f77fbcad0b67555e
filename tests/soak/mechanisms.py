"""Random mechanisms: trees, loops, planar and overconstrained ones, with all joints and forces.

Bodies are placed at random, then joints are drawn in the ground and written in the frames of the
bodies, so that every loop closes where the bodies are.  One whole number makes the same mechanism
again, everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import biela as bl
from tests.oracles.free_bodies import rotation

Floats = npt.NDArray[np.float64]
Line = tuple[Floats, Floats]

#: Freedoms that each kind of joint leaves in space.
FREEDOMS = {
    "revolute": 1,
    "prismatic": 1,
    "helical": 1,
    "cylindrical": 2,
    "universal": 2,
    "spherical": 3,
    "planar": 3,
    "point_on_line": 4,
    "point_on_curve": 4,
    "distance": 5,
    "free": 6,
    "fixed": 0,
}
#: Those left in the plane by the kinds that can move in it.
IN_PLANE = {"revolute": 1, "prismatic": 1, "point_on_line": 2, "distance": 2, "planar": 3}
ANGLES = {
    "revolute": ("angle",),
    "helical": ("angle",),
    "cylindrical": ("angle",),
    "planar": ("angle",),
    "universal": ("first", "second"),
}
LENGTHS = {
    "prismatic": ("displacement",),
    "cylindrical": ("displacement",),
    "planar": ("x", "y"),
    "free": ("x", "y", "z"),
    "point_on_line": ("displacement",),
}


@dataclass(eq=False)
class Case:
    """A mechanism and what it is tried with."""

    seed: int
    kind: str
    model: bl.Model
    t: float = 0.0
    parameters: dict[str, float] = field(default_factory=dict)
    #: Whether the joints form no loop, so that every reaction is determinate.
    tree: bool = False
    #: Whether positions may be assembled elsewhere than where the bodies were drawn.
    movable: bool = True


class Draft:
    """A model under construction, with every body at a known place."""

    def __init__(self, rng: np.random.Generator, name: str, plane: str | None = None) -> None:
        self.rng, self.plane = rng, plane
        gravity = rng.normal(size=3) * 5.0
        self.m = bl.Model(name, gravity=tuple(map(float, gravity)), plane=plane)
        self.poses: dict[str, tuple[Floats, Floats]] = {"ground": (np.zeros(3), np.eye(3))}
        #: Coordinates of joints by name, as they were drawn.
        self.values: dict[str, float] = {}
        self.angles: list[str] = []
        self.lengths: list[str] = []
        #: Parameters whose values may be changed without opening a loop.
        self.loose: list[str] = []
        self.posed = True

    # ------------------------------------------------------------------------ small things

    def uniform(self, low: float = -1.0, high: float = 1.0) -> float:
        return float(self.rng.uniform(low, high))

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    @property
    def normal(self) -> Floats:
        k = next(k for k in range(3) if "xyz"[k] not in (self.plane or ""))
        return np.asarray(np.eye(3)[k])

    def point(self, size: float = 0.6) -> Floats:
        p = self.rng.uniform(-size, size, 3)
        return p * (1 - self.normal) if self.plane else p

    def turn(self) -> Floats:
        """A rotation, in the plane if there is one."""
        if self.plane:
            return rotation("xyz"[int(np.argmax(self.normal))], self.uniform(-2, 2))
        Q, _ = np.linalg.qr(self.rng.normal(size=(3, 3)))
        return np.asarray(Q * np.sign(np.linalg.det(Q)))

    def triad(self, axis: Floats | None = None, *, across: bool = False) -> Floats:
        """Axes of a joint, with z along an axis; in a plane along its normal, or across it."""
        if axis is None and self.plane:
            axis = self.turn() @ np.roll(self.normal, 1) if across else self.normal
        z = self.rng.normal(size=3) if axis is None else axis
        z = z / np.linalg.norm(z)
        x = self.rng.normal(size=3)
        if self.plane and across:
            x = self.normal
        x = x - z * (x @ z)
        x /= np.linalg.norm(x)
        return np.stack([x, np.cross(z, x), z], axis=1)

    def number(self, value: float, loose: bool = True) -> Any:
        """The number, or now and then a parameter that stands for it."""
        if not self.chance(0.12):
            return value
        name = f"p{len(self.m.parameters)}"
        half = self.chance(0.5)
        self.m.parameter(name, value / 2 if half else value)
        if loose:
            self.loose.append(name)
        return f"2*{name}" if half else name

    def law(self, value: float, size: float = 0.3) -> str:
        """A law that begins at a value."""
        kind = int(self.rng.integers(4))
        a, w = self.uniform(-size, size), self.uniform(0.5, 3.0)
        if kind == 0:
            return f"{value!r} + {a!r}*sin({w!r}*t)"
        if kind == 1:
            return f"{value!r} + {a!r}*t + {self.uniform(-size, size)!r}*t^2"
        if kind == 2:
            return f"{value - a!r} + {a!r}*cos({w!r}*t)"
        return f"{value - a!r} + {a!r}*exp(-{w!r}*t)"

    # ------------------------------------------------------------------------------ bodies

    def body(self) -> str:
        name = f"b{len(self.m.bodies)}"
        p, R = self.point(), self.turn()
        points = self.rng.uniform(-0.3, 0.3, (5, 3))
        weights = self.rng.uniform(0.1, 0.6, 5)
        com = weights @ points / weights.sum()
        arms = points - com
        I = sum(
            w * (r @ r * np.eye(3) - np.outer(r, r)) for w, r in zip(weights, arms, strict=True)
        )
        moments = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        where: dict[str, Any] = {}
        if self.posed:
            angles = (
                math.atan2(R[1, 0], R[0, 0]),
                math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0])),
                math.atan2(R[2, 1], R[2, 2]),
            )
            where = {"position": tuple(map(float, p)), "orientation": ("zyx", angles)}
        self.m.body(
            name,
            mass=self.number(float(weights.sum())),
            com=tuple(map(float, com)),
            inertia=tuple(map(float, moments)),
            **where,
        )
        self.poses[name] = p, R
        return name

    def marker(self, body: str, point: Floats, axes: Floats) -> Any:
        """A marker on a body, from a frame in the ground."""
        p, R = self.poses[body]
        x, y, z = (float(c) for c in R.T @ (point - p))
        local = R.T @ axes
        owner = self.m.ground if body == "ground" else self.m.bodies[body]
        return owner.at(x, y, z, axis=tuple(local[:, 2]), x_axis=tuple(local[:, 0]))

    def random_marker(self, body: str) -> Any:
        p, _ = self.poses[body]
        return self.marker(body, p + self.point(0.4), self.triad())

    # ------------------------------------------------------------------------------ joints

    def joint(
        self,
        kind: str,
        a: str,
        b: str,
        *,
        at: Floats | None = None,
        axis: Floats | None = None,
        closes: bool = False,
        place: bool = False,
    ) -> str:
        """A joint between two bodies that holds where they are; it may place the second one."""
        name = f"j{len(self.m.joints)}"
        P = self.point() if at is None else at
        across = bool(self.plane) and kind in ("prismatic", "point_on_line")
        axes = self.triad(axis, across=across)
        offset, turn, settings, values = self._relative(kind)
        if kind == "distance":
            Q = P + self.point() + (0 if self.plane else 0.0)
            while np.linalg.norm(Q - P) < 0.15:
                Q = P + self.point()
            settings["length"] = float(np.linalg.norm(Q - P))
        else:
            Q = P + axes @ offset
        axes_j = axes @ turn
        i = self.marker(a, P, axes)
        if place:
            # the body goes where the joint has its marker
            p, R = self.point(0.4), self.turn()
            local = self.triad()
            x, y, z = (float(c) for c in p)
            j = self.m.bodies[b].at(x, y, z, axis=tuple(local[:, 2]), x_axis=tuple(local[:, 0]))
            R = axes_j @ local.T
            self.poses[b] = Q - R @ p, R
            start = {k: v for k, v in values.items()}
            if start:
                settings["start"] = start
        else:
            j = self.marker(b, Q, axes_j)
            if kind == "point_on_curve":
                settings["start"] = dict(values)
        if closes:
            settings["closes"] = True
        self.m.joint(kind, name, i, j, **settings)
        for coordinate, value in values.items():
            self.values[f"{name}.{coordinate}"] = value
        if kind == "distance":
            return name
        self.angles += [f"{name}.{c}" for c in ANGLES.get(kind, ())]
        self.lengths += [f"{name}.{c}" for c in LENGTHS.get(kind, ())]
        return name

    def _relative(self, kind: str) -> tuple[Floats, Floats, dict[str, Any], dict[str, float]]:
        """The pose of j seen from i for random coordinates."""
        zero, q = np.zeros(3), self.uniform(-2, 2)
        s = self.uniform(-0.4, 0.4)
        if kind == "revolute":
            return zero, rotation("z", q), {}, {"angle": q}
        if kind == "prismatic":
            return np.array([0, 0, s]), np.eye(3), {}, {"displacement": s}
        if kind == "cylindrical":
            found = {"displacement": s, "angle": q}
            return np.array([0, 0, s]), rotation("z", q), {}, found
        if kind == "universal":
            first, second = self.uniform(-1.1, 1.1), self.uniform(-1.1, 1.1)
            turn = rotation("x", first) @ rotation("y", second)
            return zero, turn, {}, {"first": first, "second": second}
        if kind == "planar":
            x, y = self.uniform(-0.4, 0.4), self.uniform(-0.4, 0.4)
            found = {"x": x, "y": y, "angle": q}
            return np.array([x, y, 0]), rotation("z", q), {}, found
        if kind == "helical":
            pitch = self.uniform(0.05, 0.5) * self.pick((-1, 1))
            way = np.array([0, 0, pitch * q / (2 * math.pi)])
            return way, rotation("z", q), {"pitch": pitch}, {"angle": q}
        if kind == "point_on_line":
            turn = self.turn()
            return np.array([0, 0, s]), turn, {}, {"displacement": s}
        if kind == "point_on_curve":
            a, b, c = (self.uniform(0.2, 0.5) for _ in range(3))
            texts = {"x": f"{a!r}*cos(s)", "y": f"{b!r}*sin(s)", "z": f"{c!r}*s"}
            place = np.array([a * math.cos(q), b * math.sin(q), c * q])
            return place, self.turn(), texts, {"s": q}
        if kind == "free":
            place = self.point(0.4)
            x, y, z = (float(v) for v in place)
            return place, np.eye(3), {}, {"x": x, "y": y, "z": z}
        if kind == "fixed":
            return zero, np.eye(3), {}, {}
        return zero, self.turn(), {}, {}  # spherical, and both ends of a rod

    # --------------------------------------------------------------- couplings and drivers

    def couple(self) -> None:
        """Gears or a rack, between coordinates drawn at random."""
        name = f"c{len(self.m.joints)}"
        if self.lengths and self.angles and self.chance(0.4):
            pinion, rack = self.pick(self.angles), self.pick(self.lengths)
            radius = self.uniform(0.05, 0.3) * self.pick((-1, 1))
            offset = self.values[rack] - radius * self.values[pinion]
            self.m.joint(
                "rack_pinion", name, pinion=pinion, rack=rack, radius=radius, offset=offset
            )
        elif len(self.angles) > 1:
            first, second = self.rng.choice(self.angles, 2, replace=False)
            ratio = self.uniform(0.3, 2.0) * self.pick((-1, 1))
            phase = self.values[second] - ratio * self.values[first]
            self.m.joint(
                "gear", name, first=str(first), second=str(second), ratio=ratio, phase=phase
            )

    def drive(self) -> int:
        """A driver of a coordinate, or of a point or direction; how many freedoms it takes."""
        name = f"d{len(self.m.drivers)}"
        driven = {getattr(d, "coordinate", None) for d in self.m.drivers.values()}
        angles = [c for c in self.angles if c not in driven]
        lengths = [c for c in self.lengths if c not in driven]
        kind = self.pick(("rotary", "rotary", "translational", "distance", "position", "cosine"))
        if kind == "rotary" and angles:
            coordinate = self.pick(angles)
            law = self.law(self.values[coordinate])
            self.m.driver("rotary", name, coordinate=coordinate, law=law)
            return 1
        if kind == "translational" and lengths:
            coordinate = self.pick(lengths)
            law = self.law(self.values[coordinate])
            self.m.driver("translational", name, coordinate=coordinate, law=law)
            return 1
        body = self.pick(list(self.m.bodies))
        P, Q = self.point(), self.poses[body][0] + self.point(0.3)
        a, b = self.triad(), self.triad()
        i, j = self.marker("ground", P, a), self.marker(body, Q, b)
        if kind == "distance" and np.linalg.norm(Q - P) > 0.2:
            law = self.law(float(np.linalg.norm(Q - P)), 0.1)
            self.m.driver("distance", name, i=i, j=j, law=law)
            return 1
        if kind == "position":
            axis = self.pick([c for c in "xyz" if not self.plane or c in self.plane])
            law = self.law(float((Q - P)["xyz".index(axis)]))
            self.m.driver("position", name, marker=j, axis=axis, law=law, i=i)
            return 1
        if kind == "cosine":
            angle = math.acos(float(np.clip(a[:, 0] @ b[:, 0], -1, 1)))
            if 0.3 < angle < 2.8:
                self.m.driver("cosine", name, i=i, j=j, law=self.law(angle, 0.2))
                return 1
        return 0

    def drive_base(self, body: str) -> None:
        """Lead a free body along a path with its orientation: a moving base."""
        p, R = self.poses[body]
        marker = self.m.bodies[body].at(0, 0, 0)
        x, y, z = (self.law(float(c)) for c in p)
        self.m.driver("path", f"{body}_path", marker=marker, x=x, y=y, z=z)
        if self.chance(0.7):
            angles = (
                math.atan2(R[1, 0], R[0, 0]),
                math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0])),
                math.atan2(R[2, 1], R[2, 2]),
            )
            first, second, third = (self.law(a) for a in angles)
            self.m.driver(
                "orientation",
                f"{body}_turn",
                marker=self.m.bodies[body].at(0, 0, 0),
                axes="zyx",
                first=first,
                second=second,
                third=third,
            )

    # ------------------------------------------------------------------------------ forces

    def force(self, *, loaded: bool = False) -> None:
        """A force of any kind."""
        kinds = ["spring_damper", "bushing", "wrench", "drag"]
        if self.angles:
            kinds += ["torsional"]
        if self.lengths:
            kinds += ["axial"]
        if self.angles or self.lengths:
            kinds += ["friction", "actuator", "stop"]
        kind = self.pick(kinds)
        name = f"f{len(self.m.forces)}"
        getattr(self, f"_{kind}")(name, **({"loaded": loaded} if kind == "friction" else {}))

    def _two(self) -> tuple[str, str]:
        bodies = ["ground", *self.m.bodies]
        a, b = self.rng.choice(len(bodies), 2, replace=False)
        return bodies[a], bodies[b]

    def _along(self) -> str:
        return str(self.pick([*self.angles, *self.lengths]))

    def _spring_damper(self, name: str) -> None:
        a, b = self._two()
        i, j = self.random_marker(a), self.random_marker(b)
        settings: dict[str, Any] = {"stiffness": self.number(self.uniform(5, 80))}
        kind = int(self.rng.integers(5))
        if kind:
            settings["length"] = self.number(self.uniform(0.1, 0.8))
            settings["damping"] = self.number(self.uniform(0.0, 5))
        if kind == 2:
            settings["only"] = self.pick(("tension", "compression"))
        if kind == 3:
            del settings["stiffness"]
            xs = np.sort(self.rng.uniform(-0.5, 0.5, 4))
            fs = np.sort(self.rng.uniform(-20, 20, 4))
            pairs = zip(xs, fs, strict=True)
            settings["characteristic"] = [(float(x), float(f)) for x, f in pairs]
        if kind == 4:
            settings["force"] = self.law(self.uniform(-5, 5), 3.0)
        self.m.force("spring_damper", name, i=i, j=j, **settings)

    def _bushing(self, name: str) -> None:
        a, b = self._two()
        i = self.random_marker(a)
        # not far from the other marker's axes, so that no rotation is near half a turn
        _, axes = self._frame_of(a, i)
        small = rotation("x", self.uniform(-0.8, 0.8)) @ rotation("y", self.uniform(-0.8, 0.8))
        if self.plane:
            small = rotation("z", self.uniform(-0.8, 0.8))
        j = self.marker(b, self.poses[b][0] + self.point(0.3), axes @ small)

        def three(size: float) -> tuple[Any, ...]:
            return tuple(self.number(self.uniform(0, size)) for _ in range(3))

        settings: dict[str, Any] = {"stiffness": three(60), "damping": three(4)}
        if self.chance(0.5):
            settings["rest"] = tuple(self.uniform(-0.2, 0.2) for _ in range(3))
        if self.chance(0.7):
            settings["torsional_stiffness"] = three(8)
            settings["torsional_damping"] = three(0.6)
        self.m.force("bushing", name, i=i, j=j, **settings)

    def _frame_of(self, body: str, marker: Any) -> tuple[Floats, Floats]:
        p, R = self.poses[body]
        return p + R @ np.array(marker.position, dtype=float), R @ np.array(marker.orientation.axes)

    def _wrench(self, name: str) -> None:
        body = self.pick(list(self.m.bodies))
        settings: dict[str, Any] = {}
        kinds = ["fx", "fy", "fz", "mx", "my", "mz"]
        if self.plane:
            n = "xyz"[int(np.argmax(self.normal))]
            kinds = [k for k in kinds if (k[0] == "m") == (k[1] == n)]
        for k in kinds:
            if self.chance(0.6):
                settings[k] = self.law(self.uniform(-5, 5), 3.0)
        settings.setdefault(kinds[0], self.uniform(-5, 5))
        if self.chance(0.5) and not self.plane:
            settings["along"] = self.random_marker(self.pick(["ground", *self.m.bodies]))
        others = [b for b in self.m.bodies if b != body]
        if others and self.chance(0.4):
            settings["reaction"] = self.random_marker(self.pick(others))
        self.m.force("wrench", name, marker=self.random_marker(body), **settings)

    def _drag(self, name: str) -> None:
        wind = {k: self.law(self.uniform(-3, 3)) for k in ("wind_x", "wind_y") if self.chance(0.4)}
        if self.plane and self.plane != "xy":
            wind = {}
        self.m.force(
            "drag",
            name,
            marker=self.random_marker(self.pick(list(self.m.bodies))),
            area=self.number(self.uniform(0.1, 1.0)),
            coefficient=self.uniform(0.3, 1.2),
            **wind,
        )

    def _spring_along(self, name: str, kind: str, coordinate: str) -> None:
        settings: dict[str, Any] = {"damping": self.number(self.uniform(0, 2))}
        if self.chance(0.25):
            xs = np.sort(self.rng.uniform(-1, 1, 3))
            fs = np.sort(self.rng.uniform(-10, 10, 3))
            pairs = zip(xs, fs, strict=True)
            settings["characteristic"] = [(float(x), float(f)) for x, f in pairs]
        else:
            settings["stiffness"] = self.number(self.uniform(1, 20))
            settings["rest"] = self.number(self.uniform(-0.5, 0.5))
        if self.chance(0.3):
            settings["force"] = self.law(self.uniform(-3, 3), 2.0)
        self.m.force(kind, name, coordinate=coordinate, **settings)

    def _torsional(self, name: str) -> None:
        self._spring_along(name, "torsional", self.pick(self.angles))

    def _axial(self, name: str) -> None:
        self._spring_along(name, "axial", self.pick(self.lengths))

    def _actuator(self, name: str) -> None:
        settings: dict[str, Any] = {}
        if self.chance(0.5):
            settings["law"] = self.law(self.uniform(-5, 5), 2.0)
        else:
            settings["value"] = self.uniform(-5, 5)
        if self.chance(0.3):
            settings["limit"] = self.uniform(0.5, 4)
        if self.chance(0.4):
            settings["gear"] = self.number(self.uniform(-3, 3))
        self.m.force("actuator", name, coordinate=self._along(), **settings)

    def _stop(self, name: str) -> None:
        coordinate = self._along()
        value = self.values[coordinate]
        ends = {"upper": value + self.uniform(-0.3, 0.3)}
        if self.chance(0.5):
            ends["lower"] = ends["upper"] - self.uniform(0.1, 0.8)
        if self.chance(0.3):
            ends = {"lower": value + self.uniform(-0.3, 0.3)}
        self.m.force(
            "stop",
            name,
            coordinate=coordinate,
            stiffness=self.number(self.uniform(10, 100)),
            damping=self.uniform(0, 3),
            depth=self.uniform(0.01, 0.2),
            **ends,
        )

    def _friction(self, name: str, *, loaded: bool) -> None:
        coordinate = self._along()
        settings: dict[str, Any] = {
            "viscous": self.number(self.uniform(0, 1)),
            "kinetic": self.number(self.uniform(0, 2)),
            "transition": self.uniform(0.1, 0.5),
        }
        if self.chance(0.4):
            settings["kinetic"] = self.uniform(0, 1)
            settings["static"] = settings["kinetic"] + self.uniform(0, 1)
        joint = self.m.joints[coordinate.partition(".")[0]]
        if loaded and joint.kind in ("revolute", "prismatic"):
            settings["coefficient"] = self.uniform(0.02, 0.15)
            if joint.kind == "revolute":
                settings["radius"] = self.uniform(0.01, 0.05)
            if self.chance(0.4):
                settings["span"] = self.uniform(0.3, 0.8)
        self.m.force("friction", name, coordinate=coordinate, **settings)


# ------------------------------------------------------------------------------------- mechanisms

_CARRIERS = (
    *("revolute",) * 5,
    *("prismatic",) * 3,
    *("spherical",) * 2,
    *("universal",) * 2,
    *("cylindrical",) * 2,
    "helical",
    "helical",
    "planar",
    "free",
    "fixed",
    "point_on_line",
    "point_on_curve",
)


def tree(d: Draft) -> int:
    """Bodies on random joints, along random branches."""
    count = int(d.rng.integers(1, 6))
    freedoms = 0
    d.posed = d.chance(0.5)
    for k in range(count):
        name = d.body()
        before = "ground" if k == 0 or d.chance(0.2) else f"b{int(d.rng.integers(k))}"
        kind = d.pick(_CARRIERS)
        if k == count - 1 and freedoms == 0 and kind == "fixed":
            kind = "revolute"
        d.joint(kind, before, name, place=not d.posed, at=None if d.posed else d.point(0.5))
        freedoms += FREEDOMS[kind]
    return freedoms


def moving_base(d: Draft) -> int:
    """A tree on a free body that is led, or flies."""
    base = d.body()
    d.joint("free", "ground", base)
    freedoms = 6
    for k in range(int(d.rng.integers(1, 4))):
        name = d.body()
        kind = d.pick(("revolute", "prismatic", "universal", "spherical", "cylindrical", "helical"))
        d.joint(kind, f"b{int(d.rng.integers(k + 1))}", name)
        freedoms += FREEDOMS[kind]
    if d.chance(0.6):
        d.drive_base(base)
        freedoms -= sum(driver.removes for driver in d.m.drivers.values())
    return freedoms


def loops(d: Draft) -> int:
    """A tree, and joints that close loops of it as long as a freedom is left."""
    count = int(d.rng.integers(2, 5))
    freedoms = 0
    for k in range(count):
        name = d.body()
        before = "ground" if k == 0 or d.chance(0.3) else f"b{int(d.rng.integers(k))}"
        kind = d.pick([c for c in _CARRIERS if c not in ("fixed", "free")])
        d.joint(kind, before, name)
        freedoms += FREEDOMS[kind]
    for _ in range(int(d.rng.integers(1, 4))):
        closers = [k for k, left in FREEDOMS.items() if 0 < 6 - left < freedoms]
        if not closers or freedoms < 2:
            break
        kind = d.pick(closers)
        a, b = d._two()
        d.joint(kind, a, b, closes=d.chance(0.5))
        freedoms -= 6 - FREEDOMS[kind]
    return freedoms


def chain_of(*kinds: str) -> Callable[[Draft], int]:
    """A loop of named joints in order, such as RSSR."""

    def made(d: Draft) -> int:
        names = ["ground", *(d.body() for _ in kinds[1:])]
        for k, kind in enumerate(kinds):
            d.joint(kind, names[k], names[(k + 1) % len(names)])
        return sum(FREEDOMS[kind] for kind in kinds) - 6

    return made


def planar(d: Draft) -> int:
    """A planar mechanism with loops."""
    count = int(d.rng.integers(2, 6))
    freedoms = 0
    for k in range(count):
        name = d.body()
        before = "ground" if k == 0 or d.chance(0.3) else f"b{int(d.rng.integers(k))}"
        kind = d.pick(("revolute", "revolute", "revolute", "prismatic", "point_on_line", "planar"))
        d.joint(kind, before, name)
        freedoms += IN_PLANE[kind]
    for _ in range(int(d.rng.integers(0, 3))):
        closers = [k for k, left in IN_PLANE.items() if 0 < 3 - left < freedoms]
        if not closers:
            break
        kind = d.pick(closers)
        d.joint(kind, *d._two())
        freedoms -= 3 - IN_PLANE[kind]
    return freedoms


def planar_in_space(d: Draft) -> int:
    """A loop of hinges with parallel axes, solved as a spatial mechanism: three rows too many."""
    axis = d.rng.normal(size=3)
    across = d.triad(axis)
    count = int(d.rng.integers(3, 5))
    names = ["ground", *(d.body() for _ in range(count))]
    slides = int(d.rng.integers(0, 2))
    for k in range(count + 1):
        a, b = names[k], names[(k + 1) % len(names)]
        if k < slides:
            d.joint("prismatic", a, b, axis=across[:, 0] + d.uniform() * across[:, 1])
        else:
            d.joint("revolute", a, b, axis=axis)
    return count + 1 - 3


def hinged(d: Draft, lines: Sequence[Line]) -> int:
    """One loop of hinges along given lines; the ground is its first link."""
    names = ["ground", *(d.body() for _ in lines[1:])]
    for k, (point, direction) in enumerate(lines):
        at = point + d.uniform(-0.2, 0.2) * direction
        d.joint("revolute", names[k - 1], names[k], at=at, axis=direction)
    return 1


def placed(d: Draft, lines: Sequence[Line]) -> list[Line]:
    """Lines brought somewhere else by a rigid motion."""
    p, R = d.point(0.3), d.turn()
    return [(p + R @ point, R @ direction) for point, direction in lines]


def bennett_lines(a: float, b: float, alpha: float, beta: float, theta: float) -> list[Line]:
    """The four axes of a Bennett linkage, by its Denavit–Hartenberg chain.

    sin α / a = sin β / b, and tan(θ₁/2) tan(θ₂/2) = sin((β+α)/2) / sin((β-α)/2).
    """
    ratio = math.sin((beta + alpha) / 2) / math.sin((beta - alpha) / 2)
    other = 2 * math.atan(ratio / math.tan(theta / 2))
    T, lines = np.eye(4), []
    angles = (theta, other, -theta, -other)
    for angle, (length, twist) in zip(angles, ((a, alpha), (b, beta)) * 2, strict=True):
        lines.append((T[:3, 3].copy(), T[:3, 2].copy()))
        step = np.eye(4)
        step[:3, :3] = rotation("z", angle) @ rotation("x", twist)
        step[:3, 3] = rotation("z", angle) @ [length, 0, 0]
        T = T @ step
    assert np.allclose(T, np.eye(4), atol=1e-12), "a Bennett linkage closes"
    return lines


def _bennett_sizes(d: Draft) -> tuple[float, float, float, float]:
    a, alpha, beta = d.uniform(0.3, 0.6), d.uniform(0.4, 1.0), d.uniform(1.2, 1.8)
    return a, a * math.sin(beta) / math.sin(alpha), alpha, beta


def bennett(d: Draft) -> int:
    """A Bennett linkage."""
    theta = d.uniform(0.5, 2.5) * d.pick((-1, 1))
    return hinged(d, placed(d, bennett_lines(*_bennett_sizes(d), theta)))


def goldberg(d: Draft) -> int:
    """Goldberg's 5R: two Bennett linkages with a common link, which is left out."""
    a, b, alpha, beta = _bennett_sizes(d)
    first = bennett_lines(a, b, alpha, beta, d.uniform(0.5, 2.5))
    other_beta = d.uniform(1.2, 1.8)
    c = a * math.sin(other_beta) / math.sin(alpha)
    second = bennett_lines(a, c, alpha, other_beta, -d.uniform(0.5, 2.5))
    # the link of length a lies between the first and the second line of each
    moved = []
    F, G = (_frame(lines) for lines in (first, second))
    for point, direction in second:
        moved.append((F[0] + F[1] @ G[1].T @ (point - G[0]), F[1] @ G[1].T @ direction))
    return hinged(d, placed(d, [first[3], first[2], first[1], moved[2], moved[3]]))


def _frame(lines: Sequence[Line]) -> tuple[Floats, Floats]:
    (p, z), (q, _) = lines[0], lines[1]
    x = (q - p) / np.linalg.norm(q - p)
    return p, np.stack([x, np.cross(z, x), z], axis=1)


def line_symmetric(d: Draft) -> int:
    """Bricard's 6R that is its own image after half a turn about a line."""
    half = np.diag([-1.0, -1.0, 1.0])
    lines = [(d.point(), d.triad()[:, 2]) for _ in range(3)]
    lines += [(half @ p, half @ u) for p, u in lines]
    return hinged(d, placed(d, lines))


def plane_symmetric(d: Draft) -> int:
    """Bricard's 6R that is its own image in a mirror."""
    mirror = np.diag([1.0, 1.0, -1.0])
    flat = np.array([1.0, 1.0, 0.0])
    first, last = ((d.point() * flat, d.triad()[:, 2] * flat) for _ in range(2))
    second, third = ((d.point(), d.triad()[:, 2]) for _ in range(2))
    lines = [first, second, third, last]
    lines += [(mirror @ p, mirror @ u) for p, u in (third, second)]
    lines = [(p, u / np.linalg.norm(u)) for p, u in lines]
    return hinged(d, placed(d, lines))


def sarrus(d: Draft) -> int:
    """Sarrus's linkage: two legs of three parallel hinges lift a table straight."""
    x, y = np.eye(3)[0], np.eye(3)[1]
    lines = [(d.point(), x) for _ in range(3)] + [(d.point(), y) for _ in range(3)]
    return hinged(d, placed(d, lines))


def parallelogram(d: Draft) -> int:
    """A coupler on three or four parallel cranks of equal length, as a spatial mechanism."""
    axes = d.triad()
    x, y, axis = axes.T
    angle, length = d.uniform(0.4, 2.7), d.uniform(0.2, 0.6)
    arm = length * (math.cos(angle) * x + math.sin(angle) * y)
    base = d.point(0.3)
    coupler = d.body()
    for _ in range(int(d.rng.integers(2, 5))):
        foot = base + d.uniform(-0.8, 0.8) * x
        crank = d.body()
        d.joint("revolute", "ground", crank, at=foot, axis=axis)
        d.joint("revolute", crank, coupler, at=foot + arm, axis=axis)
    return 1


def platform(d: Draft) -> int:
    """A platform on three legs: three freedoms."""
    plate = d.body()
    for _ in range(3):
        low, high = d.body(), d.body()
        d.joint(d.pick(("revolute", "prismatic")), "ground", low)
        d.joint(d.pick(("revolute", "prismatic")), low, high)
        d.joint("spherical", high, plate)
    return 3


#: The kinds of mechanisms, and how often each is drawn.
KINDS: dict[str, tuple[Callable[[Draft], int], int]] = {
    "tree": (tree, 6),
    "moving base": (moving_base, 2),
    "loops": (loops, 5),
    "planar": (planar, 4),
    "planar in space": (planar_in_space, 2),
    "RSSR": (chain_of("revolute", "spherical", "spherical", "revolute"), 1),
    "RSCS": (chain_of("revolute", "spherical", "cylindrical", "spherical"), 1),
    "RSUR": (chain_of("revolute", "spherical", "universal", "revolute"), 1),
    "RCCC": (chain_of("revolute", "cylindrical", "cylindrical", "cylindrical"), 1),
    "RSCR": (chain_of("revolute", "spherical", "cylindrical", "revolute"), 1),
    "PUSR": (chain_of("prismatic", "universal", "spherical", "revolute"), 1),
    "HSSR": (chain_of("helical", "spherical", "spherical", "revolute"), 1),
    "Bennett": (bennett, 1),
    "Goldberg": (goldberg, 1),
    "Bricard, line-symmetric": (line_symmetric, 1),
    "Bricard, plane-symmetric": (plane_symmetric, 1),
    "Sarrus": (sarrus, 1),
    "parallelogram": (parallelogram, 1),
    "platform": (platform, 1),
}
TREES = ("tree", "moving base")
#: Mechanisms with one freedom that only their special dimensions give them.
PARADOXICAL = (
    "planar in space",
    "Bennett",
    "Goldberg",
    "Bricard, line-symmetric",
    "Bricard, plane-symmetric",
    "Sarrus",
    "parallelogram",
)


def drawn(seed: int, kind: str | None = None) -> Case:
    """The mechanism of a seed."""
    rng = np.random.default_rng(seed)
    names = [name for name, (_, often) in KINDS.items() for _ in range(often)]
    chosen = names[int(rng.integers(len(names)))]
    kind = kind or chosen
    plane = ("xy", "xz", "yz")[int(rng.integers(3))] if kind == "planar" else None
    d = Draft(rng, f"random_{seed}", plane)
    freedoms = KINDS[kind][0](d)
    if kind not in TREES and d.chance(0.3) and kind != "planar":
        # a branch that hangs on the loop
        name = d.body()
        joint = d.pick(("revolute", "spherical", "universal", "prismatic"))
        d.joint(joint, d.pick([*d.m.bodies][:-1]), name)
        freedoms += FREEDOMS[joint]
    if kind in TREES and freedoms > 1 and d.chance(0.25):
        before = len(d.m.joints)
        d.couple()
        freedoms -= len(d.m.joints) - before
    if (freedoms > 1 and d.chance(0.3)) or d.chance(0.1):
        freedoms -= d.drive()
    for _ in range(int(rng.integers(0, 5))):
        d.force(loaded=kind in TREES and d.chance(0.4))
    case = Case(seed, kind, d.m, tree=kind in TREES)
    if d.m.drivers or d.m.forces:
        case.t = float(rng.choice([0.0, 0.0, 0.1]))
    if d.loose and d.chance(0.5):
        name = str(d.pick(d.loose))
        case.parameters[name] = d.m.parameters[name] * d.uniform(0.7, 1.3)
    if d.angles and d.chance(0.2):
        d.m.rotors[str(d.pick(d.angles))] = d.uniform(0.01, 0.3)
    return case
