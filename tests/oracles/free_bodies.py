"""An oracle for mechanisms: Newton and Euler for free bodies, held together by their joints.

Nothing here comes from biela's equations.  The oracle takes the plain data of a model (numbers,
markers, texts of laws), writes every joint, driver and force anew from its documented meaning as a
function of the places of two markers, and differentiates by `Jet`s, which carry a value with its
first and second derivative along a motion.  With the twists V of all bodies (velocity of the origin
of the body frame, angular velocity; axes of the ground) it solves

    M V' = F + Jᵀ λ,      J V' = -g'' (taken with V' = 0)

by the singular value decomposition of J, so that rows may depend on each other.

Angles are principal values: a state with an angle that counts and is near half a turn is an
`UnclearError`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline

Floats = npt.NDArray[np.float64]

#: Singular values, relative to the largest, that belong to dependent and to independent rows.
DEPENDENT, INDEPENDENT = 1e-9, 1e-4
#: Angles beyond this may have been counted over another turn.
FARTHEST = 2.9


class UnclearError(Exception):
    """The state has no clear answer: it is next to a singular position, or to half a turn."""


# ------------------------------------------------------------------------------------------- jets


class Jet:
    """A value with its first and second time derivative, for a batch of motions at once."""

    __array_ufunc__ = None

    def __init__(self, f: Any, d: Any = 0.0, dd: Any = 0.0) -> None:
        self.f, self.d, self.dd = (np.asarray(x, dtype=float) for x in (f, d, dd))

    @staticmethod
    def of(x: Any) -> Jet:
        return x if isinstance(x, Jet) else Jet(x)

    def __add__(self, other: Any) -> Jet:
        o = Jet.of(other)
        return Jet(self.f + o.f, self.d + o.d, self.dd + o.dd)

    def __neg__(self) -> Jet:
        return Jet(-self.f, -self.d, -self.dd)

    def __sub__(self, other: Any) -> Jet:
        return self + -Jet.of(other)

    def __rsub__(self, other: Any) -> Jet:
        return Jet.of(other) - self

    def __mul__(self, other: Any) -> Jet:
        o = Jet.of(other)
        return Jet(
            self.f * o.f,
            self.d * o.f + self.f * o.d,
            self.dd * o.f + 2 * self.d * o.d + self.f * o.dd,
        )

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Jet:
        o = Jet.of(other)
        return self * o.through(1 / o.f, -1 / o.f**2, 2 / o.f**3)

    def __rtruediv__(self, other: Any) -> Jet:
        return Jet.of(other) / self

    def __pow__(self, n: float) -> Jet:
        f = self.f
        return self.through(f**n, n * f ** (n - 1), n * (n - 1) * f ** (n - 2))

    def through(self, g: Any, slope: Any, bend: Any) -> Jet:
        """G of the value, with the derivatives of g there."""
        return Jet(g, slope * self.d, bend * self.d**2 + slope * self.dd)

    def dot(self, other: Jet) -> Jet:
        product = self * other
        return Jet(product.f.sum(-1), product.d.sum(-1), product.dd.sum(-1))


def sin(x: Any) -> Any:
    x = Jet.of(x)
    return x.through(np.sin(x.f), np.cos(x.f), -np.sin(x.f))


def cos(x: Any) -> Any:
    x = Jet.of(x)
    return x.through(np.cos(x.f), -np.sin(x.f), -np.cos(x.f))


def exp(x: Any) -> Any:
    x = Jet.of(x)
    return x.through(np.exp(x.f), np.exp(x.f), np.exp(x.f))


def sqrt(x: Any) -> Any:
    return Jet.of(x) ** 0.5


def atan2(s: Jet, c: Jet) -> Jet:
    """The angle; its rate is (c s' - s c') / (s² + c²)."""
    n = s.f**2 + c.f**2
    above, above_d = c.f * s.d - s.f * c.d, c.f * s.dd - s.f * c.dd
    n_d = 2 * (s.f * s.d + c.f * c.d)
    return Jet(np.arctan2(s.f, c.f), above / n, above_d / n - above * n_d / n**2)


def read(text: Any, names: Mapping[str, Any]) -> Any:
    """A number, or a text in plain arithmetic."""
    if not isinstance(text, str):
        return text
    known = {"sin": sin, "cos": cos, "exp": exp, "sqrt": sqrt, "pi": math.pi, **names}
    # texts come from the generator of the tests
    return eval(text.replace("^", "**"), {"__builtins__": {}}, known)


# ------------------------------------------------------------------------------------------ poses


@dataclass(frozen=True)
class Motion:
    """Where a body is and how it moves: its frame in the axes of the ground."""

    p: Floats
    R: Floats
    v: Floats
    w: Floats


GROUND = Motion(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))
_LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def rotation(axis: str, angle: float) -> Floats:
    """About a coordinate axis."""
    c, s = math.cos(angle), math.sin(angle)
    k = "xyz".index(axis)
    R = np.eye(3)
    a, b = (k + 1) % 3, (k + 2) % 3
    R[a, a] = R[b, b] = c
    R[b, a], R[a, b] = s, -s
    return R


def cross(a: Any, b: Any) -> Floats:
    return np.cross(a, b)


class Track:
    """A marker in a batch of motions: the motion itself, then unit twists of the two bodies."""

    def __init__(self, motion: Motion, place: Floats, axes: Floats, v: Floats, w: Floats) -> None:
        self.arm = motion.R @ place
        self.here = motion.p + self.arm
        first = np.zeros((len(v), 1))
        first[0] = 1.0  # only the motion itself has second derivatives

        def turning(u: Floats) -> Jet:
            d = cross(w, u)
            return Jet(np.broadcast_to(u, d.shape), d, first * cross(w, cross(w, u)))

        moved = turning(self.arm)
        self.r = Jet(self.here + 0 * v, v + moved.d, moved.dd)
        self.R = motion.R @ axes
        self.x, self.y, self.z = (turning(self.R[:, k]) for k in range(3))

    def axis(self, name: str) -> Jet:
        found = getattr(self, name[-1])
        assert isinstance(found, Jet)
        return -found if name[0] == "-" else found


@dataclass(frozen=True)
class Pair:
    """Two markers in a batch of thirteen motions, and the time in them."""

    i: Track
    j: Track
    t: Jet

    @property
    def gap(self) -> Jet:
        return self.j.r - self.i.r


# ----------------------------------------------------------------------------------------- oracle


@dataclass(frozen=True)
class Row:
    """A scalar of two bodies: its jet in the motion, and its slope along their twists."""

    bodies: tuple[str, str]
    f: float
    d: float
    dd: float
    slopes: Floats  # (12,): of the two bodies, velocity and angular velocity each


@dataclass
class Answer:
    """What the oracle found."""

    acceleration: dict[str, Floats]  # of the origin of each body frame
    angular: dict[str, Floats]
    position_error: float
    velocity_error: float
    contradiction: float  # how far dependent rows are from agreeing, relative
    rank: int
    rows: int
    condition: float
    reactions: dict[str, tuple[Floats, npt.NDArray[np.bool_]]]
    kinetic: float
    potential: float
    forces: Floats = field(repr=False)


class Oracle:
    """The mechanism of a model.

    Args:
        model: Its bodies, joints, drivers and forces are read as plain data.
        parameters: Values other than those of the model.
        rotors: Inertia of rotors along coordinates of joints.
        without: Kinds of forces that do not act.
    """

    def __init__(
        self,
        model: Any,
        parameters: Mapping[str, float] | None = None,
        rotors: Mapping[str, float] | None = None,
        without: Sequence[str] = (),
    ) -> None:
        self.model = model
        self.p = {**model.parameters, **(parameters or {})}
        self.names = list(model.bodies)
        self.place = {name: 6 * k for k, name in enumerate(self.names)}
        self.rotors, self.without = dict(rotors or {}), tuple(without)

    def number(self, value: Any) -> float:
        return float(read(value, self.p))

    def law(self, law: Any, t: Jet) -> Jet:
        """A law of time, from what a file would hold."""
        data = law.to_data()
        return Jet.of(read(data, {**self.p, "t": t}))

    # ------------------------------------------------------------------------------- geometry

    def _marker(self, marker: Any) -> tuple[Floats, Floats]:
        place = np.array([self.number(x) for x in marker.position])
        axes = np.array(marker.orientation.axes, dtype=float)
        for letter, angle in marker.orientation.turns:
            axes = axes @ rotation(letter, self.number(angle))
        return place, axes

    def _pair(self, i: Any, j: Any) -> Pair:
        """Markers i and j; None is the frame of the ground."""
        motions, places, twists = [], [], []
        for k, marker in enumerate((i, j)):
            body = "ground" if marker is None else marker.body
            motion = GROUND if body == "ground" else self.state[body]
            v, w = np.zeros((13, 3)), np.zeros((13, 3))
            v[0], w[0] = motion.v, motion.w
            if body != "ground":
                v[1 + 6 * k : 4 + 6 * k] = w[4 + 6 * k : 7 + 6 * k] = np.eye(3)
            motions.append(motion)
            places.append((np.zeros(3), np.eye(3)) if marker is None else self._marker(marker))
            twists.append((v, w))
        if i is not None and j is not None and i.body == j.body:
            # one body moves both markers
            for v_or_w in (0, 1):
                both = twists[0][v_or_w][1:7]
                twists[1][v_or_w][1:7] = both
                twists[1][v_or_w][7:] = 0.0
        tracks = [Track(motions[k], *places[k], *twists[k]) for k in (0, 1)]
        rate = np.zeros(13)
        rate[0] = 1.0
        return Pair(tracks[0], tracks[1], Jet(np.full(13, self.t), rate))

    def _row(self, i: Any, j: Any, jet: Jet) -> Row:
        bodies = tuple("ground" if m is None else m.body for m in (i, j))
        f, d, dd = (np.broadcast_to(x, 13) for x in (jet.f, jet.d, jet.dd))
        return Row((bodies[0], bodies[1]), float(f[0]), float(d[0]), float(dd[0]), d[1:].copy())

    def _spread(self, row: Row) -> Floats:
        """The slopes of a row along the twists of all bodies."""
        found = np.zeros(6 * len(self.names))
        for k, body in enumerate(row.bodies):
            if body != "ground":
                at = self.place[body]
                found[at : at + 6] += row.slopes[6 * k : 6 * k + 6]
        return found

    # --------------------------------------------------------------------------------- joints

    def coordinate(self, name: str, counted: bool = True) -> Row:
        """A coordinate of a joint, by "joint.coordinate", read from its markers.

        Raises:
            UnclearError: It is an angle near half a turn, and its turns count.
        """
        joint, _, which = name.partition(".")
        made = self.model.joints[joint]
        pair = self._pair(made.i, made.j)
        if not which:
            which = _ONLY[made.kind]
        jet = _coordinate(self, made, which, pair)
        if counted and which in ("angle", "first", "second") and abs(jet.f.flat[0]) > FARTHEST:
            raise UnclearError(f"{name} is near half a turn")
        return self._row(made.i, made.j, jet)

    def _joint_rows(self, joint: Any) -> list[Row]:
        if joint.kind in ("gear", "rack_pinion"):
            raise AssertionError("couplings have rows of four bodies")
        pair = self._pair(joint.i, joint.j)
        return [self._row(joint.i, joint.j, jet) for jet in _JOINTS[joint.kind](self, joint, pair)]

    def _driver_rows(self, driver: Any) -> list[Row]:
        if driver.kind in ("rotary", "translational"):
            row = self.coordinate(driver.coordinate, counted=False)
            law = self.law(driver.law, Jet(self.t, 1.0))
            gap = row.f - float(law.f)
            if driver.kind == "rotary":
                gap = math.remainder(gap, 2 * math.pi)
            return [Row(row.bodies, gap, row.d - float(law.d), row.dd - float(law.dd), row.slopes)]
        j = driver.marker if hasattr(driver, "marker") else driver.j
        pair = self._pair(driver.i, j)
        return [self._row(driver.i, j, jet) for jet in _DRIVERS[driver.kind](self, driver, pair)]

    def _constraints(self) -> tuple[Floats, Floats, Floats, Floats, list[str]]:
        """J, g, g', g'' and the element that each row belongs to."""
        J, g, dg, ddg, owners = [], [], [], [], []

        def add(owner: str, slopes: Floats, f: float, d: float, dd: float) -> None:
            J.append(slopes)
            g.append(f)
            dg.append(d)
            ddg.append(dd)
            owners.append(owner)

        for name, joint in self.model.joints.items():
            if joint.kind in ("gear", "rack_pinion"):
                add(name, *self._coupling(joint))
                continue
            for row in self._joint_rows(joint):
                add(name, self._spread(row), row.f, row.d, row.dd)
        for name, driver in self.model.drivers.items():
            for row in self._driver_rows(driver):
                add(name, self._spread(row), row.f, row.d, row.dd)
        if self.model.plane:
            for row in self._plane_rows():
                add("plane", self._spread(row), row.f, row.d, row.dd)
        n = 6 * len(self.names)
        rows = np.array(J).reshape(len(J), n)
        return rows, np.array(g), np.array(dg), np.array(ddg), owners

    def _coupling(self, joint: Any) -> tuple[Floats, float, float, float]:
        """A linear relation of two coordinates; their turns are those that fit best."""
        if joint.kind == "gear":
            first, second = joint.first, joint.second
            factor, offset = self.number(joint.ratio), self.number(joint.phase)
            turns = [2 * math.pi * k for k in range(-3, 4)]
        else:
            first, second = joint.pinion, joint.rack
            factor, offset = self.number(joint.radius), self.number(joint.offset)
            turns = [0.0]
        a, b = (self.coordinate(name, counted=False) for name in (first, second))
        gaps = [
            b.f + more - factor * (a.f + 2 * math.pi * k) - offset
            for more in turns
            for k in range(-3, 4)
        ]
        f = min(gaps, key=abs)
        slopes = self._spread(b) - factor * self._spread(a)
        return slopes, f, b.d - factor * a.d, b.dd - factor * a.dd

    def _plane_rows(self) -> list[Row]:
        """Bodies of a planar model do not leave it."""
        normal = next(letter for letter in "xyz" if letter not in self.model.plane)
        k = "xyz".index(normal)
        rows = []
        for name in self.names:
            body = _Frame(name)
            pair = self._pair(None, body)
            across = pair.j.axis(normal)
            out = pair.gap.dot(Jet(np.eye(3)[k]))
            rows.append(self._row(None, body, out - float(out.f[0])))
            rows += [
                self._row(None, body, across.dot(Jet(np.eye(3)[c]))) for c in range(3) if c != k
            ]
        return rows

    # --------------------------------------------------------------------------------- bodies

    def _inertia(self) -> tuple[Floats, Floats, float, float]:
        """The mass matrix, weight less centrifugal forces, and both energies."""
        n = 6 * len(self.names)
        M, F = np.zeros((n, n)), np.zeros(n)
        g = np.array([self.number(x) for x in self.model.gravity])
        kinetic = potential = 0.0
        for name in self.names:
            data, motion = self.model.bodies[name].inertia, self.state[name]
            m = self.number(data.mass)
            c = motion.R @ np.array([self.number(x) for x in data.com])
            xx, yy, zz, xy, xz, yz = (self.number(x) for x in data.moments)
            I = motion.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ motion.R.T
            C = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
            at = self.place[name]
            linear, turning = slice(at, at + 3), slice(at + 3, at + 6)
            M[linear, linear] = m * np.eye(3)
            M[linear, turning], M[turning, linear] = -m * C, m * C
            I_origin = I - m * C @ C
            M[turning, turning] = I_origin
            w = motion.w
            F[linear] = m * g - m * cross(w, cross(w, c))
            F[turning] = cross(c, m * g) - cross(w, I_origin @ w)
            v = motion.v + cross(w, c)
            kinetic += float(m * v @ v + w @ I @ w) / 2
            potential -= float(m * g @ (motion.p + c))
        return M, F, kinetic, potential

    # --------------------------------------------------------------------------------- answer

    def solved(
        self,
        state: Mapping[str, Motion],
        t: float = 0.0,
        inputs: Mapping[str, float] | None = None,
        efforts: Mapping[str, float] | None = None,
    ) -> Answer:
        """Accelerations and reactions in a state.

        Args:
            state: The motion of every body.
            t: The time.
            inputs: Values of inputs of forces, by name; else those of the model.
            efforts: Further forces along coordinates of joints, by "joint.coordinate".

        Raises:
            UnclearError: There is no clear answer.
        """
        self.state, self.t, self.inputs = dict(state), float(t), dict(inputs or {})
        J, g, dg, ddg, owners = self._constraints()
        M, F, kinetic, potential = self._inertia()
        for name, inertia in self.rotors.items():
            row = self.coordinate(name, counted=False)
            slopes = self._spread(row)
            M += inertia * np.outer(slopes, slopes)
            F -= inertia * slopes * row.dd
            kinetic += inertia * row.d**2 / 2
        self.potential = potential
        for name, effort in (efforts or {}).items():
            F = F + effort * self._spread(self.coordinate(name, counted=False))
        F = F + self._applied()
        loads: dict[str, tuple[Floats, Floats]] = {}
        loaded = [f for f in self.model.forces.values() if f.kind == "friction" and _loaded(f)]
        for _ in range(60 if loaded else 1):
            rubbing = sum((self._friction(f, loads) for f in loaded), np.zeros(len(F)))
            found = self._balanced(J, g, dg, ddg, owners, M, F + rubbing)
            before = loads
            loads = {f.name: self._wrench(found, _joint_of(f)) for f in loaded}
            if before and all(
                np.allclose(np.concatenate(loads[k]), np.concatenate(before[k]), rtol=1e-13)
                for k in loads
            ):
                break
        else:
            if loaded:
                raise UnclearError("the friction under load was not found by iteration")
        self.potential, kept = 0.0, self.potential
        found.kinetic, found.potential = kinetic, kept
        return found

    def _balanced(
        self,
        J: Floats,
        g: Floats,
        dg: Floats,
        ddg: Floats,
        owners: list[str],
        M: Floats,
        F: Floats,
    ) -> Answer:
        sizes = np.linalg.norm(J, axis=1)
        if len(J) and sizes.min() < 1e-6:
            raise UnclearError("a constraint has no slope")
        unit = J / sizes[:, None] if len(J) else J
        U, s, Vt = np.linalg.svd(unit) if len(J) else (np.eye(0), np.zeros(0), np.eye(len(F)))
        ratios = s / s[0] if len(s) else s
        if ((ratios > DEPENDENT) & (ratios < INDEPENDENT)).any():
            raise UnclearError(f"singular values {ratios} have no gap")
        rank = int((ratios >= INDEPENDENT).sum())
        N = Vt[rank:].T
        right = -ddg / sizes
        particular = Vt[:rank].T @ ((U[:, :rank].T @ right) / s[:rank])
        contradiction = U[:, rank:].T @ right
        inner = N.T @ M @ N
        condition = float(ratios[rank - 1]) ** -1 if rank else 1.0
        if inner.size:
            a = particular + N @ np.linalg.solve(inner, N.T @ (F - M @ particular))
            condition *= float(np.sqrt(np.linalg.cond(inner)))
        else:
            a = particular
        lam = U[:, :rank] @ ((Vt[:rank] @ (M @ a - F)) / s[:rank])
        reactions = self._reactions(unit, lam, U[:, rank:], owners)
        size = 1.0 + float(np.abs(right).max(initial=0.0))
        rates = (np.abs(dg) / sizes).max(initial=0.0)
        return Answer(
            {name: a[self.place[name] :][:3] for name in self.names},
            {name: a[self.place[name] :][3:6] for name in self.names},
            float(np.abs(g).max(initial=0.0)),
            float(rates),
            float(np.abs(contradiction).max(initial=0.0)) / size,
            rank,
            len(J),
            condition,
            reactions,
            0.0,
            0.0,
            M @ a - F,
        )

    def _reactions(
        self, unit: Floats, lam: Floats, idle: Floats, owners: list[str]
    ) -> dict[str, tuple[Floats, npt.NDArray[np.bool_]]]:
        """Force and moment on the body after each joint, at its marker j, and what is sure."""
        found = {}
        for name, joint in self.model.joints.items():
            if joint.kind in ("gear", "rack_pinion", "free") or joint.j.body == "ground":
                continue
            mine = [k for k, owner in enumerate(owners) if owner == name]
            at = self.place[joint.j.body]
            W = unit[mine, at : at + 6].T  # wrench at the origin of the body, for unit multipliers
            arm = self.state[joint.j.body].R @ self._marker(joint.j)[0]
            W[3:] -= np.stack([cross(arm, f) for f in W[:3].T], axis=1) if mine else 0.0
            sure = np.abs(W @ idle[mine]).max(axis=1, initial=0.0) < 1e-8
            found[name] = W @ lam[mine], sure
        return found

    def _wrench(self, found: Answer, joint: str) -> tuple[Floats, Floats]:
        wrench, sure = found.reactions[joint]
        if not sure.all():
            raise UnclearError(f"the load of {joint} is not determinate")
        return wrench[:3], wrench[3:]

    # --------------------------------------------------------------------------------- forces

    def _applied(self) -> Floats:
        """Forces of all elements but friction under load."""
        total = np.zeros(6 * len(self.names))
        for force in self.model.forces.values():
            if force.kind in self.without:
                continue
            if force.kind == "friction":
                if not _loaded(force):
                    total += self._friction(force, {})
                continue
            total += _FORCES[force.kind](self, force)
        return total

    def _along(self, coordinate: Row, Q: float) -> Floats:
        return Q * self._spread(coordinate)

    def _at(self, body: str, point: Floats, force: Floats, moment: Floats) -> Floats:
        """A force through a point of space and a moment, on a body."""
        total = np.zeros(6 * len(self.names))
        if body != "ground":
            at = self.place[body]
            total[at : at + 3] = force
            total[at + 3 : at + 6] = moment + cross(point - self.state[body].p, force)
        return total

    def _value_of(self, law: Any) -> float:
        return 0.0 if law is None else float(self.law(law, Jet(self.t, 1.0)).f)

    def _friction(self, force: Any, loads: Mapping[str, tuple[Floats, Floats]]) -> Floats:
        row = self.coordinate(force.coordinate, counted=False)
        C = self.number(force.kinetic)
        S = C if force.static is None else self.number(force.static)
        if force.name in loads:
            push, moment = loads[force.name]
            N = float(np.linalg.norm(push))
            if force.span is not None:
                N += 2 * float(np.linalg.norm(moment)) / self.number(force.span)
            if self.number(force.radius):
                N *= self.number(force.radius)
            mu = self.number(force.coefficient)
            held = force.static_coefficient
            C, S = C + mu * N, S + (mu if held is None else self.number(held)) * N
        x = row.d / self.number(force.transition)
        dry = C * math.tanh(4 * x) + (S - C) * x / (x**2 / 4 + 0.75) ** 2
        return self._along(row, -dry - self.number(force.viscous) * row.d)


@dataclass(frozen=True)
class _Frame:
    """The frame of a body in place of a marker."""

    body: str
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @dataclass(frozen=True)
    class _Straight:
        axes: tuple[tuple[float, ...], ...] = tuple(_LETTERS.values())
        turns: tuple[Any, ...] = ()

    orientation: _Straight = _Straight()


# ------------------------------------------------------------------------- joints, from their docs

#: The only coordinate of joints that have one.
_ONLY = {
    "revolute": "angle",
    "prismatic": "displacement",
    "helical": "angle",
    "distance": "length",
    "point_on_line": "displacement",
    "point_on_curve": "s",
}


def _parts(x: Jet) -> list[Jet]:
    return [Jet(x.f[..., k], x.d[..., k], x.dd[..., k]) for k in range(3)]


def _one_point(o: Oracle, joint: Any, pair: Pair) -> list[Jet]:
    return _parts(pair.gap)


def _parallel(pair: Pair) -> list[Jet]:
    return [pair.i.x.dot(pair.j.z), pair.i.y.dot(pair.j.z)]


def _on_axis(pair: Pair) -> list[Jet]:
    return [pair.i.x.dot(pair.gap), pair.i.y.dot(pair.gap)]


def _turn(pair: Pair) -> Jet:
    """The angle from x_i to x_j about z_i."""
    return atan2(pair.i.y.dot(pair.j.x), pair.i.x.dot(pair.j.x))


def _screw(o: Oracle, joint: Any, pair: Pair) -> list[Jet]:
    pitch, angle = o.number(joint.pitch), _turn(pair)
    law = pair.i.z.dot(pair.gap) - angle * (pitch / (2 * math.pi))
    turns = round(float(law.f.flat[0]) / pitch)
    return [*_parallel(pair), *_on_axis(pair), law - turns * pitch]


def _curve(o: Oracle, joint: Any) -> Callable[[float], tuple[Floats, Floats, Floats]]:
    """C, c' and c'' of a value of s."""
    if len(joint.points):
        knots = np.array([[o.number(x) for x in row] for row in joint.points])
        if joint.closed and not np.array_equal(knots[0], knots[-1]):
            knots = np.vstack([knots, knots[0]])
        s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
        spline = CubicSpline(s, knots, bc_type="periodic" if joint.closed else "not-a-knot")
        return lambda x: (spline(x), spline(x, 1), spline(x, 2))

    def at(s: float) -> tuple[Floats, Floats, Floats]:
        jets = [
            Jet.of(read(text, {**o.p, "s": Jet(s, 1.0)})) for text in (joint.x, joint.y, joint.z)
        ]
        f, d, dd = (np.array([float(getattr(j, k)) for j in jets]) for k in ("f", "d", "dd"))
        return f, d, dd

    return at


def _nearest(o: Oracle, joint: Any, e: Floats) -> tuple[float, Floats, Floats, Floats]:
    """The place of the curve nearest to a point."""
    curve = _curve(o, joint)
    s = min(np.linspace(-4.0, 4.0, 401), key=lambda x: float(np.linalg.norm(curve(x)[0] - e)))
    for _ in range(30):
        c, d, dd = curve(s)
        s -= float((c - e) @ d / (d @ d + (c - e) @ dd))
    return s, *curve(s)


def _on_curve(o: Oracle, joint: Any, pair: Pair) -> list[Jet]:
    e = [axis.dot(pair.gap) for axis in (pair.i.x, pair.i.y, pair.i.z)]
    here, rate = (np.stack([getattr(j, k) for j in e], -1) for k in ("f", "d"))
    _, c, d, dd = _nearest(o, joint, here[0])
    first = np.zeros(len(here))
    first[0] = (rate[0] @ d / (d @ d)) ** 2  # s'²
    rows = []
    for n in np.linalg.svd(d[None])[2][1:]:  # across the tangent
        total = e[0] * n[0] + e[1] * n[1] + e[2] * n[2]
        rows.append(Jet(total.f - n @ c, total.d, total.dd - first * (n @ dd)))
    return rows


_JOINTS: dict[str, Callable[[Oracle, Any, Pair], list[Jet]]] = {
    "revolute": lambda o, j, p: [*_parts(p.gap), *_parallel(p)],
    "prismatic": lambda o, j, p: [*_parallel(p), *_on_axis(p), p.i.x.dot(p.j.y)],
    "cylindrical": lambda o, j, p: [*_parallel(p), *_on_axis(p)],
    "universal": lambda o, j, p: [*_parts(p.gap), p.i.x.dot(p.j.y)],
    "spherical": _one_point,
    "planar": lambda o, j, p: [*_parallel(p), p.i.z.dot(p.gap)],
    "helical": _screw,
    "fixed": lambda o, j, p: [*_parts(p.gap), *_parallel(p), p.i.x.dot(p.j.y)],
    "free": lambda o, j, p: [],
    "distance": lambda o, j, p: [sqrt(p.gap.dot(p.gap)) - o.number(j.length)],
    "point_on_line": lambda o, j, p: _on_axis(p),
    "point_on_curve": _on_curve,
}


def _coordinate(o: Oracle, joint: Any, which: str, pair: Pair) -> Jet:
    if joint.kind == "universal":
        # a turn about x_i, then one about y_j
        if which == "first":
            return atan2(pair.i.z.dot(pair.j.y), pair.i.y.dot(pair.j.y))
        return atan2(pair.i.x.dot(pair.j.z), pair.i.x.dot(pair.j.x))
    if which == "angle":
        return _turn(pair)
    if which == "length":
        return sqrt(pair.gap.dot(pair.gap))
    if which == "s":
        e = [axis.dot(pair.gap) for axis in (pair.i.x, pair.i.y, pair.i.z)]
        here, rate, bend = (np.stack([getattr(j, k) for j in e], -1) for k in ("f", "d", "dd"))
        s, _, d, dd = _nearest(o, joint, here[0])
        speed = rate @ d / (d @ d)
        return Jet(np.full(len(here), s), speed, (bend @ d - speed**2 * (dd @ d)) / (d @ d))
    axis = {"displacement": "z"}.get(which, which)
    return pair.i.axis(axis).dot(pair.gap)


# ------------------------------------------------------------------------ drivers, from their docs


def _path(o: Oracle, driver: Any, pair: Pair) -> list[Jet]:
    laws = [(letter, getattr(driver, letter)) for letter in "xyz"]
    return [
        pair.i.axis(letter).dot(pair.gap) - o.law(law, pair.t)
        for letter, law in laws
        if law is not None
    ]


def _oriented(o: Oracle, driver: Any, pair: Pair) -> list[Jet]:
    """The axes of the target T = R_i R(first) R(second) … are those of j."""
    target = [pair.i.x, pair.i.y, pair.i.z]
    laws = [law for law in (driver.first, driver.second, driver.third) if law is not None]
    for letter, law in zip(driver.axes, laws, strict=True):
        angle = o.law(law, pair.t)
        c, s = cos(angle), sin(angle)
        c, s = (Jet(*(np.broadcast_to(x, 13)[:, None] for x in (k.f, k.d, k.dd))) for k in (c, s))
        k = "xyz".index(letter)
        a, b = (k + 1) % 3, (k + 2) % 3
        target[a], target[b] = target[a] * c + target[b] * s, target[b] * c - target[a] * s
    own = [pair.j.x, pair.j.y, pair.j.z]
    return [
        (target[2].dot(own[1]) - target[1].dot(own[2])) * 0.5,
        (target[0].dot(own[2]) - target[2].dot(own[0])) * 0.5,
        (target[1].dot(own[0]) - target[0].dot(own[1])) * 0.5,
    ]


_DRIVERS: dict[str, Callable[[Oracle, Any, Pair], list[Jet]]] = {
    "distance": lambda o, d, p: [sqrt(p.gap.dot(p.gap)) - o.law(d.law, p.t)],
    "position": lambda o, d, p: [p.gap.dot(Jet(np.array(_LETTERS[d.axis]))) - o.law(d.law, p.t)],
    "path": _path,
    "orientation": _oriented,
    "cosine": lambda o, d, p: [p.i.axis(d.a).dot(p.j.axis(d.b)) - cos(o.law(d.law, p.t))],
}


# ------------------------------------------------------------------------- forces, from their docs


def _loaded(friction: Any) -> bool:
    return friction.coefficient != 0.0 or friction.static_coefficient not in (None, 0.0)


def _joint_of(friction: Any) -> str:
    return str(friction.coordinate.partition(".")[0])


def _through_points(points: Sequence[Sequence[Any]], x: float, o: Oracle) -> tuple[float, float]:
    """Straight lines through points and beyond them, and their integral from zero."""
    xs, fs = np.array([[o.number(a), o.number(b)] for a, b in points]).T

    def force(at: float) -> float:
        k = int(np.clip(np.searchsorted(xs, at) - 1, 0, len(xs) - 2))
        return float(fs[k] + (fs[k + 1] - fs[k]) / (xs[k + 1] - xs[k]) * (at - xs[k]))

    corners = [0.0, *(float(c) for c in xs if min(0.0, x) < c < max(0.0, x)), x]
    corners = sorted(corners, reverse=x < 0)
    pairs = pairwise(corners)
    # the force is a line between corners: the trapezoidal rule is exact
    return force(x), sum((b - a) * (force(a) + force(b)) / 2 for a, b in pairs)


def _spring_damper(o: Oracle, force: Any) -> Floats:
    pair = o._pair(force.i, force.j)
    row = o._row(force.i, force.j, sqrt(pair.gap.dot(pair.gap)))
    extension = row.f - o.number(force.length)
    acts = {"": True, "tension": extension > 0, "compression": extension < 0}[force.only]
    pull = 0.0
    if acts:
        if len(force.characteristic):
            pull, stored = _through_points(force.characteristic, extension, o)
        else:
            k = o.number(force.stiffness)
            pull, stored = k * extension, k * extension**2 / 2
        o.potential += stored
        damping = o.number(force.damping) * row.d
        pull += damping
        if damping and force.only:
            pull = max(pull, 0.0) if force.only == "tension" else min(pull, 0.0)
    pull -= o._value_of(force.force)
    if force.actuated:
        pull -= o.inputs.get(force.name, 0.0)
    return o._along(row, -pull)


def _joint_spring(o: Oracle, force: Any) -> Floats:
    bent = bool(len(force.characteristic)) or o.number(force.stiffness) != 0
    row = o.coordinate(force.coordinate, counted=bent)
    x = row.f - o.number(force.rest)
    if len(force.characteristic):
        pull, stored = _through_points(force.characteristic, x, o)
    else:
        k = o.number(force.stiffness)
        pull, stored = k * x, k * x**2 / 2
    o.potential += stored
    return o._along(row, -pull - o.number(force.damping) * row.d + o._value_of(force.force))


def _actuator(o: Oracle, force: Any) -> Floats:
    row = o.coordinate(force.coordinate, counted=False)
    u = o.inputs.get(force.name, o.number(force.value))
    if force.law is not None:
        u = o._value_of(force.law)
    if force.limit is not None:
        limit = o.number(force.limit)
        u = min(max(u, -limit), limit)
    return o._along(row, o.number(force.gear) * u)


def _wrench(o: Oracle, force: Any) -> Floats:
    base = np.eye(3)
    if force.along is not None:
        base = o._pair(None, force.along).j.R
    f = base @ [o._value_of(x) for x in (force.fx, force.fy, force.fz)]
    m = base @ [o._value_of(x) for x in (force.mx, force.my, force.mz)]
    point = o._pair(None, force.marker).j.here
    total = o._at(force.marker.body, point, f, m)
    if force.reaction is not None:
        total += o._at(force.reaction.body, point, -f, -m)
    return total


def _stop(o: Oracle, force: Any) -> Floats:
    row = o.coordinate(force.coordinate)
    k, c, d = (o.number(x) for x in (force.stiffness, force.damping, force.depth))
    Q = 0.0
    for end, way in ((force.lower, -1), (force.upper, 1)):
        if end is None:
            continue
        x, speed = (row.f - o.number(end)) * way, row.d * way
        if x <= 0:
            continue
        if x <= d:
            share = (x / d) ** 2 * (3 - 2 * x / d)
            push = k * x**2 / (2 * d) + c * share * speed
            o.potential += k * x**3 / (6 * d)
        else:
            push = k * (x - d / 2) + c * speed
            o.potential += k * d**2 / 6 + k * (x**2 - d**2) / 2 - k * d * (x - d) / 2
        Q -= way * max(push, 0.0)
    return o._along(row, Q)


def _drag(o: Oracle, force: Any) -> Floats:
    track = o._pair(None, force.marker).j
    wind = [o._value_of(x) for x in (force.wind_x, force.wind_y, force.wind_z)]
    v = track.r.d[0] - np.array(wind)
    half = o.number(force.density) * o.number(force.area) * o.number(force.coefficient) / 2
    return o._at(force.marker.body, track.here, -half * np.linalg.norm(v) * v, np.zeros(3))


def _rotation_vector(pair: Pair) -> list[Jet]:
    """Of j seen from i, along the axes of i: n φ = w φ / sin φ with w = n sin φ."""
    a, b = (pair.i.x, pair.i.y, pair.i.z), (pair.j.x, pair.j.y, pair.j.z)
    w = [(a[2].dot(b[1]) - a[1].dot(b[2])) * 0.5]
    w += [(a[0].dot(b[2]) - a[2].dot(b[0])) * 0.5, (a[1].dot(b[0]) - a[0].dot(b[1])) * 0.5]
    square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    cosine = (a[0].dot(b[0]) + a[1].dot(b[1]) + a[2].dot(b[2]) - 1) * 0.5
    if float(square.f[0]) < 1e-4 and cosine.f[0] > 0:
        ratio: Any = 0.0
        for n in range(5, -1, -1):  # asin(x)/x in powers of x²
            ratio = ratio * square + math.comb(2 * n, n) / (4**n * (2 * n + 1))
    else:
        sine = sqrt(square)
        angle = atan2(sine, cosine)
        if angle.f[0] > FARTHEST:
            raise UnclearError("a bushing is near half a turn")
        ratio = angle / sine
    return [x * ratio for x in w]


def _bushing(o: Oracle, force: Any) -> Floats:
    """Each of the six springs pushes along the coordinate that it holds.

    So do the dampers along the gap; those about the axes act on the angular velocity.
    """
    pair = o._pair(force.i, force.j)
    gap = [axis.dot(pair.gap) for axis in (pair.i.x, pair.i.y, pair.i.z)]
    total = np.zeros(6 * len(o.names))
    none = (0.0, 0.0, 0.0)
    groups = [(gap, force.stiffness, force.damping, force.rest)]
    if any(o.number(x) for x in force.torsional_stiffness):
        groups.append((_rotation_vector(pair), force.torsional_stiffness, none, none))
    for jets, K, C, rest in groups:
        for jet, stiffness, damping, start in zip(jets, K, C, rest, strict=True):
            row, k = o._row(force.i, force.j, jet), o.number(stiffness)
            x = row.f - o.number(start)
            o.potential += k * x**2 / 2
            total += o._along(row, -k * x - o.number(damping) * row.d)
    if any(o.number(x) for x in force.torsional_damping):
        motions = [GROUND if m.body == "ground" else o.state[m.body] for m in (force.i, force.j)]
        axes, C = pair.i.R, np.array([o.number(x) for x in force.torsional_damping])
        moment = -axes @ (C * (axes.T @ (motions[1].w - motions[0].w)))
        point, nothing = pair.j.here, np.zeros(3)
        total += o._at(force.j.body, point, nothing, moment)
        total += o._at(force.i.body, point, nothing, -moment)
    return total


_FORCES: dict[str, Callable[[Oracle, Any], Floats]] = {
    "spring_damper": _spring_damper,
    "torsional": _joint_spring,
    "axial": _joint_spring,
    "actuator": _actuator,
    "wrench": _wrench,
    "stop": _stop,
    "drag": _drag,
    "bushing": _bushing,
}
