"""The coordinates and velocities of a tree: symbols, and coordinates that follow others by gears.

They are those of `biela.formulate(model)`, in the same order and by the same names, but one that
gears tie to another is no symbol of its own: it is an expression of the other, and the links
of both joints move by one velocity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, Kind, Workspace, diff, substitute
from biela.equations.mechanism.placement import identifier
from biela.errors import ModelError
from biela.model import Model
from biela.model.joints import Coupling, Joint
from biela.model.quantities.values import Number
from biela.model.topology.tree import Branch, quaternion
from biela.spelling import nearest

Floats = npt.NDArray[np.float64]
Values = Mapping[str, Mapping[str, "float | Floats"]]


@dataclass
class Coordinates:
    """Symbols of a state.

    Attributes:
        q, v: Symbols.
        q_names, v_names: What they are called.
        start: Values of q where a motion starts.
        quaternions: Rotations: number of the first coordinate and of the first velocity.
        scalars: Coordinates that are one symbol, by "joint.coordinate": their numbers in q and v.
        followers: Coordinates that follow others: their expressions, and the number of the
            velocity.
    """

    q: list[Atom] = field(default_factory=list)
    v: list[Atom] = field(default_factory=list)
    q_names: list[str] = field(default_factory=list)
    v_names: list[str] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    quaternions: list[tuple[int, int]] = field(default_factory=list)
    scalars: dict[str, tuple[int, int]] = field(default_factory=dict)
    followers: dict[str, tuple[Atom, int]] = field(default_factory=dict)
    _balls: dict[str, tuple[tuple[Atom, ...], tuple[int, ...]]] = field(default_factory=dict)
    #: The coordinate whose rate a velocity is, by the number of the velocity.
    _leaders: dict[int, Atom] = field(default_factory=dict)
    #: How many coordinates were known when they were sorted by name, and these.
    _known: tuple[int, dict[str, list[str]]] = field(default_factory=lambda: (0, {}))

    def leader(self, k: int) -> Atom:
        """The coordinate whose rate velocity k is."""
        return self._leaders[k]

    def value(self, name: str) -> tuple[Atom, int]:
        """A coordinate as an expression, and the number of its velocity."""
        if name in self.followers:
            return self.followers[name]
        i, j = self.scalars[name]
        return self.q[i], j

    def full_name(self, name: str) -> str:
        """The "joint.coordinate" of a name that may be that of a joint with one coordinate.

        Raises:
            ModelError: There is no such coordinate that is a number.
        """
        count = len(self.scalars) + len(self.followers)
        if count != self._known[0]:
            self._known = count, _by_name([*self.scalars, *self.followers])
        own = self._known[1].get(name, [])
        if len(own) != 1:
            known = [*self.scalars, *self.followers]
            raise ModelError(f"{name!r} is not one coordinate of a joint{nearest(name, known)}")
        return own[0]

    def of_joint(
        self, joint: Joint
    ) -> tuple[
        list[Atom | float], dict[int, int], dict[int, tuple[int, ...]], dict[int, tuple[Atom, ...]]
    ]:
        """What its moves take, the coordinate of each symbol in it, its velocities, quaternions."""
        given: list[Atom | float] = []
        symbols: dict[int, int] = {}
        velocities: dict[int, tuple[int, ...]] = {}
        balls: dict[int, tuple[Atom, ...]] = {}
        for k, coordinate in enumerate(joint.coordinates):
            name = f"{joint.name}.{coordinate.name}"
            if coordinate.manifold == "rotation":
                balls[k], velocities[k] = self._balls[name]
                given.append(0.0)
                continue
            value, number = self.value(name)
            given.append(value)
            velocities[k] = (number,)
            symbols.setdefault(self._leaders[number].ref, k)
        return given, symbols, velocities, balls

    # --------------------------------------------------------------------- declaring

    def _line(self, ws: Workspace, name: str, start: float) -> None:
        (q,) = ws.coordinates([identifier(name)])
        self.scalars[name] = len(self.q), len(self.v)
        self._leaders[len(self.v)] = q
        self.start.append(start)
        self.q.append(q)
        self.q_names.append(name)
        self.v.append(q.velocity)
        self.v_names.append(f"{name}_rate")

    def _ball(self, ws: Workspace, name: str, R: Floats) -> None:
        plain = identifier(name)
        e = [ws.symbol(f"{plain}_e{k}", Kind.COORDINATE) for k in range(4)]
        speed = len(self.v)
        self.quaternions.append((len(self.q), speed))
        self._balls[name] = tuple(e), (speed, speed + 1, speed + 2)
        self.q += e
        self.q_names += [f"{name}_e{k}" for k in range(4)]
        self.start += [float(x) for x in quaternion(R)]
        self.v += ws.speeds([f"{plain}_w{axis}" for axis in "xyz"])
        self.v_names += [f"{name}_w{axis}" for axis in "xyz"]


def declared(
    ws: Workspace, model: Model, branches: Sequence[Branch], values: Values, number: Number
) -> Coordinates:
    """The coordinates of the joints of a tree, in its order.

    Raises:
        ModelError: Couplings close a loop, or are not linear.
    """
    known = _by_name(
        f"{branch.joint.name}.{coordinate.name}"
        for branch in branches
        for coordinate in branch.joint.coordinates
        if coordinate.manifold != "rotation"
    )
    follows = _followers(model, known)
    found = Coordinates()
    for branch in branches:
        joint = branch.joint
        given = values.get(joint.name, {})
        # line coordinates before rotations, as biela.formulate declares them
        for coordinate in sorted(joint.coordinates, key=lambda c: c.manifold == "rotation"):
            name, value = f"{joint.name}.{coordinate.name}", given.get(coordinate.name)
            if coordinate.manifold == "rotation":
                R = value if isinstance(value, np.ndarray) else np.eye(3)
                found._ball(ws, name, R.T if branch.backwards else R)
            elif name not in follows:
                found._line(ws, name, value if isinstance(value, float) else 0.0)
    waiting = dict(follows)
    while waiting:
        name = next(n for n, (_, leader) in waiting.items() if leader not in waiting)
        coupling, leader = waiting.pop(name)
        found.followers[name] = _solved(ws, model, coupling, found, known, name, leader, number)
    return found


def _by_name(known: Iterable[str]) -> dict[str, list[str]]:
    """Coordinates by what they may be called: "joint.coordinate", or "joint" alone."""
    found: dict[str, list[str]] = {}
    for full in known:
        for name in (full, full.rpartition(".")[0]):
            found.setdefault(name, []).append(full)
    return found


def _followers(model: Model, known: Mapping[str, list[str]]) -> dict[str, tuple[Coupling, str]]:
    """Each coordinate that follows another, with the coupling and the other."""
    follows: dict[str, tuple[Coupling, str]] = {}

    def root(name: str) -> str:
        while name in follows:
            name = follows[name][1]
        return name

    for coupling in model.joints.values():
        if not isinstance(coupling, Coupling):
            continue
        first, second = _coupled(model, coupling, known)
        if root(first) == root(second) or (first in follows and second in follows):
            raise ModelError(
                f"{model.name}: {coupling.kind} {coupling.name} couples joints that are coupled "
                f"already; use formulate(model)"
            )
        if second in follows:
            follows[first] = coupling, second
        else:
            follows[second] = coupling, first
    return follows


def _coupled(model: Model, coupling: Coupling, known: Mapping[str, list[str]]) -> list[str]:
    found = []
    for name in coupling.couples:
        own = known.get(name, [])
        if len(own) != 1 or len(coupling.couples) != 2:
            raise ModelError(
                f"{model.name}: {coupling.kind} {coupling.name} does not couple two coordinates of "
                f"joints of the tree; use formulate(model)"
            )
        found.append(own[0])
    return found


def _solved(
    ws: Workspace,
    model: Model,
    coupling: Coupling,
    coordinates: Coordinates,
    known: Mapping[str, list[str]],
    name: str,
    leader: str,
    number: Number,
) -> tuple[Atom, int]:
    """A follower as an expression of the coordinate that leads: a linear law solved for it."""
    unknown = ws.symbol(f"{identifier(name)}_follows")
    value, velocity = coordinates.value(leader)
    order = _coupled(model, coupling, known)
    law = ws.atom(coupling.law([unknown if n == name else value for n in order], number))
    slope = diff(law, unknown)
    if unknown.ref in ws.table.live([slope.ref]) or not slope.ref:
        raise ModelError(
            f"{model.name}: {coupling.kind} {coupling.name} is not linear in {name}; use "
            f"formulate(model)"
        )
    (rest,) = substitute([law], {unknown: 0.0})
    return -rest / slope, velocity
