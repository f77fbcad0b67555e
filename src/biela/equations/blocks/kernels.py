"""Kernels of reference-point equations: what one joint does to two bodies, and one body by itself.

They are derived by the same rows on the same markers as the equations of a whole mechanism, on two
bodies that are free, with the places and axes of the markers as parameters:

    q_i, q_j   place r (3) and Euler parameters (4) of the two bodies,    v_i, v_j   r' and ω'
    x, dx      coordinates that count turns, of this joint
    p          for each marker its place from the centre of mass (3) and its axes by rows (9),
               then the numbers of the joint itself, in the order in which its equations ask
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from biela.atoms import Atom
from biela.code import Function
from biela.equations.symbolic import SymbolicSystem
from biela.model.joints import Joint
from biela.model.joints.primitives import Row, all_rows
from biela.model.pair import Pair, Place
from biela.model.values import Value

#: The Jacobian by each of these is an output of its own.
SIDES = ("i", "j")


@dataclass
class Numbers:
    """The numbers that equations ask for: each becomes a parameter, and its value is noted."""

    system: SymbolicSystem
    read: Callable[[Value, str], float]
    symbols: list[Atom] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def __call__(self, value: Value, dimension: str) -> Atom:
        """The parameter of a number."""
        (symbol,) = self.system.workspace.parameters([f"number{len(self.symbols)}"])
        self.symbols.append(symbol)
        self.values.append(self.read(value, dimension))
        return symbol


@dataclass(frozen=True)
class PairKernel:
    """A kernel on two bodies."""

    function: Function
    labels: tuple[str, ...]
    extra: tuple[str, ...]
    numbers: tuple[float, ...]

    @property
    def count(self) -> int:
        """How many rows it has."""
        return len(self.labels)


def pair_kernel(
    name: str,
    rows: Callable[[Pair, dict[str, Atom]], Sequence[Row]],
    extra: Sequence[str],
    read: Callable[[Value, str], float],
) -> PairKernel:
    """The kernel of rows on two markers, with coordinates ``extra`` besides."""
    system = SymbolicSystem(name)
    numbers = Numbers(system, read)
    places, states, markers = [], [], []
    for side in SIDES:
        place, state, marker = _free_body(system, side)
        places.append(place)
        states.append(state)
        markers += marker
    own = dict(zip(extra, system.coordinates([f"x{k}" for k in range(len(extra))]), strict=True))
    pair = Pair(places[0], places[1], numbers)
    made = list(rows(pair, own))
    for row in made:
        system.hold(row.value, row.speed, "row")
    levels = system.constraints()
    columns = {v: k for k, v in enumerate(system.v)}

    def by(velocities: Sequence[Atom]) -> list[list[Atom]]:
        return [[row[columns[v]] for v in velocities] for row in levels.Phi_v]

    inputs = {
        "t": [system.time],
        "q_i": states[0][0],
        "v_i": states[0][1],
        "q_j": states[1][0],
        "v_j": states[1][1],
    }
    outputs = {
        "Phi": levels.Phi,
        "Phi_i": by(states[0][1]),
        "Phi_j": by(states[1][1]),
        "beta": levels.beta,
        "gamma": levels.gamma,
    }
    if own:
        rates = [q.velocity for q in own.values()]
        inputs |= {"x": list(own.values()), "dx": rates}
        outputs["Phi_x"] = by(rates)
    inputs["p"] = [*markers, *numbers.symbols]
    function = Function(name, inputs, outputs)
    labels = tuple(row.label for row in made)
    return PairKernel(function, labels, tuple(extra), tuple(numbers.values))


def joint_rows(joint: Joint) -> Callable[[Pair, dict[str, Atom]], list[Row]]:
    """All rows of a joint that closes a loop, those that count its turns included."""

    def rows(pair: Pair, own: dict[str, Atom]) -> list[Row]:
        made = all_rows(joint.conditions(), pair)
        for coordinate in joint.coordinates:
            if coordinate.name in own and coordinate.reading is not None:
                q = own[coordinate.name]
                made.append(coordinate.reading.row(pair, q, q.velocity))
        if joint.laws:
            held = joint.law_rows({n: own[n] for n in joint.needs}, pair)
            made += [replace(row, label=k) for k, row in zip(joint.laws, held, strict=True)]
        return made

    return rows


@cache
def body_kernel() -> Function:
    """A rigid body by itself: forces of gravity and of its own turning, with its parameters.

    p: mass, the six moments (xx, yy, zz, xy, xz, yz) and gravity (3).
    """
    system = SymbolicSystem("body")
    place, (q, v), _ = _free_body(system, "b")
    m, xx, yy, zz, xy, xz, yz = system.parameters("m Ixx Iyy Izz Ixy Ixz Iyz")
    gx, gy, gz = system.parameters("gx gy gz")
    del place
    omega = v[3:]
    rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    h = [
        sum((a * w for a, w in zip(row[1:], omega[1:], strict=True)), row[0] * omega[0])
        for row in rows
    ]
    wx, wy, wz = omega
    spin = [wy * h[2] - wz * h[1], wz * h[0] - wx * h[2], wx * h[1] - wy * h[0]]
    Q = [m * gx, m * gy, m * gz, *(-s for s in spin)]
    rates = [system.space.time_rate(c) for c in q]
    p = [m, xx, yy, zz, xy, xz, yz, gx, gy, gz]
    return Function("rigid_body", {"q": q, "v": v, "p": p}, {"Q": Q, "rates": rates})


def _free_body(
    system: SymbolicSystem, side: str
) -> tuple[Place, tuple[list[Atom], list[Atom]], list[Atom]]:
    """A free body with a marker: the marker, its state, its parameters."""
    r = list(system.coordinates([f"{side}_{axis}" for axis in "xyz"]))
    base = system.orientation(side)
    turned = system.orientations[side]
    centre = system.origin.offset(f"{side}_centre", system.base.vector(r[0], r[1], r[2]))
    s = list(system.parameters(" ".join(f"{side}_s{axis}" for axis in "xyz")))
    R = list(system.parameters(" ".join(f"{side}_R{i}{j}" for i in range(3) for j in range(3))))
    point = centre.offset(f"{side}_point", base.vector(s[0], s[1], s[2]))
    axes = base.by_matrix(f"{side}_axes", [R[0:3], R[3:6], R[6:9]])
    # fixed in the body: the matrix has no angular velocity of its own
    q = [*r, *turned.parameters]
    v = [*(c.velocity for c in r), *turned.angular_velocity]
    return Place(point, axes), (q, v), [*s, *R]
