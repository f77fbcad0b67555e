"""One step of each recursion as a kernel: what a link does with what its neighbours hand it.

The equations are those of `newton_euler` and `articulated`, on the prototype of a kind of links.
A link and the one before it exchange

    motion      ω, α, a          outward, nine numbers      (inverse dynamics)
    force       moment, force    inward, six                (inverse dynamics)
    spin        ω                outward, three             (forward dynamics)
    held        I^A, z           inward, 21 and six         (forward dynamics)
    acceleration                 outward, six               (forward dynamics)
    pose        R, p             outward, twelve

and a kernel keeps for a later one of the same link what that needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from biela.atoms import Atom
from biela.code import Function
from biela.equations.spatial.articulated import (
    Six,
    inertia_to_parent,
    passed_on,
    spatial_inertia,
    sum_of,
    unit_axis,
)
from biela.equations.spatial.factorisation import inverse_of
from biela.equations.spatial.looped.prototypes import Kind, Prototype
from biela.equations.spatial.motion import (
    NOTHING,
    Acceleration,
    Spin,
    following,
    to_child,
    to_parent,
)
from biela.equations.spatial.newton_euler import moving
from biela.equations.spatial.turning import (
    Matrix,
    Scalar,
    dot,
    inward,
    plus,
    scaled,
    times,
    zero,
)

MOTION, FORCE, SPIN, HELD, POSE = 9, 6, 3, 27, 12
#: The upper half of a symmetric 6 x 6 matrix, row by row.
_UPPER = tuple((i, j) for i in range(6) for j in range(i, 6))


@dataclass(frozen=True)
class LinkKernel:
    """A step of a recursion.

    Attributes:
        function: Of what it uses only.
        numbers: Which numbers of the link are its parameters.
        coordinates: Which coordinates of the link are its input "q".
    """

    function: Function
    numbers: tuple[int, ...]
    coordinates: tuple[int, ...]


class Recursion:
    """Writes kernels of one kind."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def _start(self) -> Prototype:
        """A prototype in a workspace of its own: one a kernel."""
        return Prototype(self.kind)

    def turn(self) -> LinkKernel | None:
        """The cosine and sine of the angle."""
        prototype = self._start()
        if not prototype.turn:
            return None
        return _function("turn", prototype, {}, {"turn": prototype.angle})

    def pose(self) -> LinkKernel:
        """Outward: the axes and the place of the link in the ground."""
        one = self._start()
        before = _symbols(one, "before", POSE)
        link, step = one.link, one.link.step
        rows: Matrix = [list(before[3 * i : 3 * i + 3]) for i in range(3)]
        p = plus(before[9:], times(rows, link.place.p))
        rows = [inward(link.before, row) for row in rows]
        if step.slides:
            p = plus(p, times(rows, step.way))
        rows = [inward(step.turn, row) for row in rows]
        outputs = {"here": [*rows[0], *rows[1], *rows[2], *p]}
        return _function("pose", one, {"before": before}, outputs)

    # ---------------------------------------------------------------- inverse dynamics

    def motion(self) -> LinkKernel:
        """Outward: the motion of the link, and the force that gives it."""
        one = self._start()
        v, a = _symbols(one, "v", self.kind.freedoms), _symbols(one, "a", self.kind.freedoms)
        before = _symbols(one, "before", MOTION)
        parent = Acceleration(Spin(list(before[:3]), list(before[3:6])), list(before[6:]))
        here = following(one.link, parent, v, a)
        outputs = {
            "here": [*here.spin.omega, *here.spin.alpha, *here.a],
            "own": moving(one.link.grouped, here),
        }
        return _function("motion", one, {"v": v, "a": a, "before": before}, outputs)

    def force(self) -> LinkKernel:
        """Inward: the joint forces, and the force on the link before."""
        one = self._start()
        own, beyond = _symbols(one, "own", FORCE), _symbols(one, "beyond", FORCE)
        F = plus(own, beyond)
        outputs: dict[str, Any] = {"before": to_parent(one.link, F)}
        if self.kind.freedoms:
            outputs["tau"] = [dot(column, F) for column in one.link.H]
        return _function("force", one, {"own": own, "beyond": beyond}, outputs)

    # ---------------------------------------------------------------- forward dynamics

    def spin(self) -> LinkKernel:
        """Outward: ω, the acceleration b of velocity alone, and the force z it takes."""
        one = self._start()
        v, before = _symbols(one, "v", self.kind.freedoms), _symbols(one, "before", SPIN)
        still: list[Scalar] = [0.0] * self.kind.freedoms
        spinning = Acceleration(Spin(list(before), NOTHING), NOTHING)
        motion = following(one.link, spinning, v, still)
        here = Acceleration(Spin(motion.spin.omega, NOTHING), NOTHING)
        b = [*motion.spin.alpha, *motion.a]
        z = moving(one.link.grouped, here)
        outputs = {"here": here.spin.omega, "own": [*b, *z]}
        return _function("spin", one, {"v": v, "before": before}, outputs)

    def elimination(self) -> LinkKernel:
        """Inward: u = D⁻¹ ε and the gain G, and what the joint passes on."""
        one = self._start()
        link, n = one.link, self.kind.freedoms
        own, beyond = _symbols(one, "own", 12), _symbols(one, "beyond", HELD)
        tau = _symbols(one, "tau", n)
        b, z = own[:6], plus(own[6:], beyond[21:])
        I = sum_of(spatial_inertia(link.grouped), _symmetric(beyond[:21]))
        Y = [times(I, column) for column in link.H]
        D = [[dot(column, y) for y in Y] for column in link.H]
        for i, inertia in enumerate(one.rotor):
            D[i][i] = D[i][i] + inertia
        inverse = inverse_of(D)
        columns = [list(row) for row in zip(*Y, strict=True)] if Y else []
        G = [[dot(row, each) for row in columns] for each in inverse]
        held = plus(z, times(I, b))
        eps = [t - dot(column, held) for t, column in zip(tau, link.H, strict=True)]
        passed = list(held)
        for g, e in zip(G, eps, strict=True):
            passed = plus(passed, scaled(g, e))
        for column, t, inertia in zip(link.H, tau, one.rotor, strict=True):
            axis = unit_axis(column)
            if axis is not None and zero(inertia):
                passed[axis] = t
        rest = passed_on(link, I, G, Y, not all(map(zero, one.rotor)))
        up = inertia_to_parent(link, rest)
        outputs: dict[str, Any] = {
            "before": [*(up[i][j] for i, j in _UPPER), *to_parent(link, passed)]
        }
        if n:
            outputs["gain"] = [
                *(dot(each, eps) for each in inverse),
                *(x for g in G for x in g),
            ]
        return _function("elimination", one, {"own": own, "beyond": beyond, "tau": tau}, outputs)

    def acceleration(self) -> LinkKernel:
        """Outward: v' = u - Gᵀ a, and the acceleration of the link."""
        one = self._start()
        n = self.kind.freedoms
        own, before = _symbols(one, "own", 12), _symbols(one, "before", FORCE)
        gain = _symbols(one, "gain", 7 * n)
        a = to_child(one.link, before)
        total = plus(a, own[:6])
        found = [gain[i] - dot(gain[n + 6 * i : n + 6 * i + 6], a) for i in range(n)]
        for x, column in zip(found, one.link.H, strict=True):
            total = plus(total, scaled(column, x))
        outputs: dict[str, Any] = {"here": total}
        if n:
            outputs["a"] = found
        given = {"own": own, "before": before, "gain": gain}
        return _function("acceleration", one, given, outputs)


def _symbols(one: Prototype, name: str, count: int) -> list[Atom]:
    return [one.workspace.symbol(f"{name}{k}") for k in range(count)]


def _symmetric(upper: Sequence[Scalar]) -> Six:
    I: Six = [[0.0] * 6 for _ in range(6)]
    for (i, j), x in zip(_UPPER, upper, strict=True):
        I[i][j] = I[j][i] = x
    return I


def _function(
    name: str, one: Prototype, inputs: dict[str, list[Atom]], outputs: dict[str, Any]
) -> LinkKernel:
    """The function of what is used: inputs that are not would be gathered for nothing."""
    atoms = {key: [one.workspace.atom(x) for x in row] for key, row in outputs.items()}
    live = set(one.workspace.table.live([x.ref for row in atoms.values() for x in row]))
    numbers = tuple(k for k, x in enumerate(one.p) if x.ref in live)
    coordinates = tuple(k for k, x in enumerate(one.q) if x.ref in live)
    used = {key: row for key, row in inputs.items() if any(x.ref in live for x in row)}
    if coordinates:
        used["q"] = [one.q[k] for k in coordinates]
    if one.turn and any(x.ref in live for x in one.turn):
        used["turn"] = one.turn
    if numbers:
        used["p"] = [one.p[k] for k in numbers]
    return LinkKernel(Function(name, used, atoms), numbers, coordinates)
