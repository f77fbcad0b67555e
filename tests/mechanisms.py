"""Mechanisms that the tests share: some from the literature, and trees made at random.

A random tree is a recipe of plain numbers.  It is built twice: as a symbolic system, and as a cloud
of particles whose positions follow from rotation matrices, without any mechanics but Newton's
second law for a particle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.atoms import Atom, Kind, Workspace, evaluate
from biela.equations import Route
from biela.equations.virtual_power import CANDIDATES
from biela.space import Algebra, Toward
from examples.symbolic.block_pendulum import block_pendulum
from examples.symbolic.crank_rod_disc import crank_rod_disc
from examples.symbolic.four_bar import four_bar

Floats = npt.NDArray[np.float64]
Values = dict[Atom, float]

#: Every combination of the rules for vectors.
ALGEBRAS = tuple(
    Algebra(toward, extended, merge)
    for toward in Toward
    for extended in (True, False)
    for merge in (False, True)
)
#: Ways to the equations of motion: one algebra throughout, and those that biela tries.
ROUTES = tuple(dict.fromkeys((*(Route(algebra, algebra) for algebra in ALGEBRAS), *CANDIDATES)))
#: The axes a base may be turned about by name, as vectors.
AXES = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}
#: How near two ways to one number must be: rounding, and the error of a difference quotient.
ROUNDING = {"rtol": 1e-10, "atol": 1e-10}
DIFFERENCE = {"rtol": 1e-7, "atol": 1e-7}


# ------------------------------------------------------------------------- numbers


def random_values(ws: Workspace, seed: int) -> Values:
    """A value for every symbol of a workspace."""
    rng = np.random.default_rng(seed)
    return {symbol: float(rng.uniform(0.3, 1.3) * rng.choice((-1, 1))) for symbol in ws}


def moved(values: Mapping[Atom, float], tau: float) -> Values:
    """The values a time later: coordinates with constant acceleration, and the clock."""
    later = dict(values)
    for symbol in values:
        if symbol.kind is Kind.COORDINATE:
            v, a = values[symbol.velocity], values[symbol.acceleration]
            later[symbol] += v * tau + a * tau**2 / 2
            later[symbol.velocity] += a * tau
        elif symbol.kind is Kind.TIME:
            later[symbol] += tau
    return later


def numbers(expressions: Any, values: Mapping[Atom, Any]) -> Floats:
    """The values of an expression, or of nested lists of them."""
    if isinstance(expressions, Atom):
        return np.asarray(evaluate(expressions, values))
    return np.array([numbers(e, values) for e in expressions])


def rate(function: Callable[[float], Any], step: float = 1e-3) -> Any:
    """The derivative at zero, by a central difference of fourth order."""
    near = function(step) - function(-step)
    far = function(2 * step) - function(-2 * step)
    return (8 * near - far) / (12 * step)


def rate_of(expressions: Any, values: Values) -> Any:
    """The rate of expressions along the motion, by differences."""
    return rate(lambda tau: numbers(expressions, moved(values, tau)))


def turn(axis: Sequence[float], angle: Any) -> Any:
    """The matrix of a rotation about a direction (Rodrigues)."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def axial(S: Any) -> Any:
    """The vector of a skew matrix."""
    return np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2


# ------------------------------------------------------------ from the literature

#: The four-bar linkage of the specification of the symbolic system: a state that need not close.
FOUR_BAR_STATE = {"q": [0.3, 0.7, -0.4], "v": [1.1, -0.6, 0.9]}
FOUR_BAR_PARAMETERS = {
    "l1": 1.0, "l2": 0.8, "l3": 0.9, "l4": 1.5, "g": 9.81,
    "m1": 2.0, "m2": 1.5, "m3": 1.2,
    "cg1x": 0.5, "cg1z": 0.05, "cg2x": 0.4, "cg2z": -0.03, "cg3x": 0.45, "cg3z": 0.02,
    "I1yy": 0.7, "I2yy": 0.35, "I3yy": 0.4,
}  # fmt: skip
FOUR_BAR_FORCES = {"Fx2": 1.0, "Fz2": -2.0, "My2": 0.5, "Fx3": -1.5, "Fz3": 0.7, "My3": -0.3}
FOUR_BAR_INPUTS = list(FOUR_BAR_FORCES.values())


def four_bar_values(system: bl.SymbolicSystem) -> Values:
    """The values of all symbols of :func:`four_bar` in that state."""
    ws = system.workspace
    known = FOUR_BAR_PARAMETERS | FOUR_BAR_FORCES
    values = {ws[name]: value for name, value in known.items()}
    for q, x, v in zip(system.q, FOUR_BAR_STATE["q"], FOUR_BAR_STATE["v"], strict=True):
        values |= {q: x, q.velocity: v, q.acceleration: 0.0}
    return values


def rolling_disc() -> bl.SymbolicSystem:
    """An upright disc on a plane: two non-holonomic equations, and a heading that turns."""
    s = bl.SymbolicSystem("disc")
    x, y, heading, spin = s.coordinates("x y heading spin")
    r, m, J, I = s.parameters(r=0.3, m=2.0, J=0.09, I=0.045)
    ahead = s.base.rotated("ahead", "z", heading)
    disc = ahead.rotated("disc", "y", spin)
    centre = s.origin.offset("C", s.base.vector(x, y, r))
    contact = centre.offset("K", s.base.vector(0, 0, -r))
    body = s.solid("disc", at=centre, base=disc, mass=m, inertia=disc.inertia(xx=I, yy=J, zz=I))
    slip = s.velocity(contact, of=body)
    s.constrain_velocity(slip.x, slip.y, name="rolling")
    return s


# ----------------------------------------------------------------------- at random

GRAVITY = (0.5, -1.0, -9.0)
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Joint:
    """A turn about an axis through a point, or a slide along it, from the body before.

    The angle or the path is q + drive sin 2t.
    """

    parent: int  # -1 is the ground
    turns: bool
    axis: str | Triple
    offset: Triple
    drive: float

    @property
    def direction(self) -> Floats:
        """The axis as a unit vector."""
        axis = np.array(AXES[self.axis] if isinstance(self.axis, str) else self.axis)
        return axis / np.linalg.norm(axis)


@dataclass(frozen=True)
class Force:
    """A force on a particle, with components in the base of its body or in the inertial one."""

    body: int
    particle: int
    inertial: bool
    force: Triple


@dataclass(frozen=True)
class Spring:
    """A spring and damper between particles of two bodies."""

    first: tuple[int, int]
    second: tuple[int, int]
    stiffness: float
    length: float
    damping: float


@dataclass(frozen=True)
class Tree:
    """A tree of bodies, each moved by its joint and made of particles (mass, place)."""

    joints: tuple[Joint, ...]
    bodies: tuple[tuple[tuple[float, Triple], ...], ...]
    forces: tuple[Force, ...] = ()
    springs: tuple[Spring, ...] = ()


def random_tree(seed: int, bodies: int = 3, driven: bool = False) -> Tree:
    """A tree whose sizes are multiples of 1/8, many of them zero."""
    rng = np.random.default_rng(seed)

    def size() -> float:
        return float(rng.choice((0.0, 0.0, *np.arange(-6, 7) / 8)))

    def place() -> Triple:
        return size(), size(), size()

    def axis() -> str | Triple:
        if rng.random() < 0.75:
            return str(rng.choice(list(AXES)))
        return 1.0, size(), size() + 0.25

    joints = [
        Joint(
            int(rng.integers(-1, i)) if rng.random() < 0.4 else i - 1,
            bool(rng.random() < 0.75),
            axis(),
            place(),
            float(rng.choice((0.0, 0.5))) if driven else 0.0,
        )
        for i in range(bodies)
    ]
    clouds = []
    for _ in range(bodies):
        if rng.random() < 0.3:  # a body of revolution about z, with its centre on the axis
            a, b = 0.5, size()
            ring = ((a, 0.0, b), (-a, 0.0, b), (0.0, a, b), (0.0, -a, b))
            clouds.append(tuple((0.5, p) for p in ring))
        else:
            clouds.append(tuple((float(rng.integers(1, 5)) / 4, place()) for _ in range(4)))
    forces = [
        Force(int(rng.integers(bodies)), int(rng.integers(4)), bool(k % 2), place())
        for k in range(3)
    ]
    springs = []
    if bodies > 1:
        a, b = rng.choice(bodies, 2, replace=False)
        springs.append(Spring((int(a), 0), (int(b), 1), 40.0, 0.25, 1.5))
    return Tree(tuple(joints), tuple(clouds), tuple(forces), tuple(springs))


def symbolic(tree: Tree) -> bl.SymbolicSystem:
    """The tree as a symbolic system."""
    s = bl.SymbolicSystem("tree")
    bases, points, solids = [], [], []
    for i, (joint, cloud) in enumerate(zip(tree.joints, tree.bodies, strict=True)):
        (q,) = s.coordinates(f"q{i}")
        if joint.drive:
            q = q + joint.drive * bl.sin(2 * s.time)
        base = s.base if joint.parent < 0 else bases[joint.parent]
        point = s.origin if joint.parent < 0 else points[joint.parent]
        point = point.offset(f"J{i}", base.vector(*joint.offset))
        if joint.turns:
            base = base.rotated(f"b{i}", joint.axis, q)
        else:
            point = point.offset(f"P{i}", base.vector(*joint.direction) * q)
        bases.append(base)
        points.append(point)
        m = np.array([m for m, _ in cloud])
        r = np.array([r for _, r in cloud])
        second = (r.T * m) @ r
        solids.append(
            s.solid(
                f"body{i}",
                at=point,
                base=base,
                mass=float(m.sum()),
                first_moment=[float(c) for c in m @ r],
                inertia=base.tensor((np.trace(second) * np.eye(3) - second).tolist()),
            )
        )

    def particle(body: int, k: int) -> Any:
        name = f"particle{body}_{k}"
        known = s.space.points
        if name not in known:
            points[body].offset(name, bases[body].vector(*tree.bodies[body][k][1]))
        return known[name]

    for f in tree.forces:
        base = s.base if f.inertial else bases[f.body]
        s.wrench(solids[f.body], base.vector(*f.force), at=particle(f.body, f.particle))
    for spring in tree.springs:
        s.spring(
            "spring",
            (solids[spring.first[0]], particle(*spring.first)),
            (solids[spring.second[0]], particle(*spring.second)),
            stiffness=spring.stiffness,
            length=spring.length,
            damping=spring.damping,
        )
    s.gravity = s.base.vector(*GRAVITY)
    return s


def tree_values(system: bl.SymbolicSystem, seed: int) -> Values:
    """A random state, with time and accelerations."""
    assert system.time is not None  # it is a symbol of the workspace from here on
    return random_values(system.workspace, seed)


def particles(tree: Tree, q: Any, t: Any) -> tuple[list[Any], list[Any]]:
    """Of each body the rotation matrix and the places of its particles, from the ground."""
    turns, origins, places = [], [], []
    for i, joint in enumerate(tree.joints):
        x = q[i] + joint.drive * np.sin(2 * t)
        R = np.eye(3) if joint.parent < 0 else turns[joint.parent]
        p = np.zeros(3) if joint.parent < 0 else origins[joint.parent]
        p = p + R @ np.array(joint.offset)
        if joint.turns:
            R = R @ turn(joint.direction, x)
        else:
            p = p + R @ joint.direction * x
        turns.append(R)
        origins.append(p)
        places.append(np.array([p + R @ np.array(r) for _, r in tree.bodies[i]]))
    return turns, places


def newton(tree: Tree, q: Any, v: Any, t: float) -> tuple[Any, Any]:
    """M and Q from the second law for every particle: M = Σ m JᵀJ, Q = Σ Jᵀ (f - m b).

    J by complex steps, exact; b, the acceleration with q'' = 0, by differences of velocities.
    """
    q, v, n = np.asarray(q), np.asarray(v), len(q)
    step = 1e-30

    def stacked(q: Any, t: Any) -> Any:
        return np.concatenate(particles(tree, q, t)[1]).ravel()

    def velocities(tau: float) -> Any:
        return stacked(q + v * (tau + 1j * step), t + tau + 1j * step).imag / step

    J = np.array([stacked(q + 1j * step * e, t).imag / step for e in np.eye(n)]).T
    m = np.repeat([m for cloud in tree.bodies for m, _ in cloud], 3)
    turns, places = particles(tree, q, t)
    count = [len(cloud) for cloud in tree.bodies]
    f = (m.reshape(-1, 3) * GRAVITY).reshape(-1, 3)

    def index(body: int, k: int) -> int:
        return sum(count[:body]) + k

    for force in tree.forces:
        components = np.array(force.force)
        turned = components if force.inertial else turns[force.body] @ components
        f[index(force.body, force.particle)] += turned
    speeds, flat = velocities(0.0).reshape(-1, 3), np.concatenate(places)
    for spring in tree.springs:
        a, b = index(*spring.first), index(*spring.second)
        gap, closing = flat[b] - flat[a], speeds[b] - speeds[a]
        length = np.linalg.norm(gap)
        pull = spring.stiffness * (length - spring.length) + spring.damping * gap @ closing / length
        f[a] += pull * gap / length
        f[b] -= pull * gap / length
    return (J.T * m) @ J, J.T @ (f.ravel() - m * rate(velocities))


__all__ = [
    "ALGEBRAS",
    "AXES",
    "DIFFERENCE",
    "FOUR_BAR_INPUTS",
    "FOUR_BAR_PARAMETERS",
    "FOUR_BAR_STATE",
    "ROUNDING",
    "ROUTES",
    "axial",
    "block_pendulum",
    "crank_rod_disc",
    "four_bar",
    "four_bar_values",
    "moved",
    "newton",
    "numbers",
    "particles",
    "random_tree",
    "random_values",
    "rate",
    "rate_of",
    "rolling_disc",
    "symbolic",
    "tree_values",
    "turn",
]
