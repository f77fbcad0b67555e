"""Kernels of reference-point equations: what one element does to the few bodies it touches.

They are derived by the same rows on the same markers as the equations of a whole mechanism; see
`biela.equations.blocks.deriving` for their inputs.  Their outputs, by what they are asked for:

    position       Phi, and the entries of Phi_v that are not identically zero
    velocity       beta
    acceleration   gamma
    gap            Phi alone
    dynamics       the entries of Phi_v, and gamma
    rate           dPhi = Phi_v v - beta
    force          Q0, Q1 … on the bodies, Qx along x, and the energy V
    output         y
    event          g, which changes its sign there
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from biela.atoms import Atom
from biela.code import Function
from biela.equations.blocks.casting import Casting
from biela.equations.blocks.collected import Output
from biela.equations.blocks.deriving import KernelDerivation
from biela.equations.blocks.generalised import generalised
from biela.equations.constraints import levels
from biela.equations.reference_point import NORMAL
from biela.equations.symbolic import SymbolicSystem
from biela.model.drivers import Driver
from biela.model.forces import Force
from biela.model.joints import Coupling, Joint
from biela.model.joints.primitives import Row
from biela.model.sensors import Sensor
from biela.space import Vector


@dataclass(frozen=True, eq=False)
class Kernel:
    """The functions of one element.

    Attributes:
        functions: By what they are for; those that are identically zero are left out.
        labels: Names of the rows.
        entries: Row, and body slot (or -1 for x) and column there, of each entry of Phi_v.
        fixed: The rows that depend on numbers only, as a function of p, and their labels.
        columns: Where each parameter comes from.
        texts: Texts with parameters that are numbers here, and their dimensions.
        x: Coordinates that are symbols.
        laws: Which laws are used, in the order of w, and of what dimension they are.
        inputs: Name after that of the element, unit and default of each input.
        outputs: What it measures.
        events: Name after that of the element of each event.
        multipliers: Joints whose multipliers are used, and how many.
    """

    functions: dict[str, Function]
    labels: tuple[str, ...]
    entries: tuple[tuple[int, int, int], ...]
    fixed: tuple[Function | None, tuple[str, ...]]
    columns: tuple[tuple[str, int, int], ...]
    texts: tuple[tuple[str, str], ...]
    x: tuple[str, ...]
    laws: tuple[tuple[int, str], ...]
    inputs: tuple[tuple[str, str, float], ...]
    outputs: tuple[Output, ...]
    events: tuple[str, ...]
    multipliers: tuple[tuple[str, int], ...]


def element_kernel(
    casting: Casting, plane: str | None, counted: frozenset[str], counting: str = ""
) -> Kernel:
    """The kernel of an element.

    Args:
        casting: The element in canonical form.
        plane: The plane of a planar model.
        counted: Coordinates of joints that are symbols already.
        counting: The coordinate of a joint whose turns are counted: only that row is derived.
    """
    derivation = KernelDerivation(casting, plane, counted)
    element = casting.element
    rows: Sequence[Row] = ()
    if counting:
        assert isinstance(element, Joint)
        (coordinate,) = (c for c in element.coordinates if c.name == counting)
        assert coordinate.reading is not None, "what has no reading needs no row"
        q = derivation.symbol(f"self.{counting}")
        rows = [coordinate.reading.row(derivation.pair(element.i, element.j), q, q.velocity)]
    elif isinstance(element, Joint):
        rows = derivation.joint_rows("")
    elif isinstance(element, Coupling):
        law = element.law([derivation.coordinate(n) for n in element.couples], derivation.number)
        nothing = Vector(derivation.space, {})
        rows = [Row("ratio", law, None, nothing, nothing)]
    elif isinstance(element, Driver):
        rows = element.rows(derivation)
    elif isinstance(element, Force):
        element.act(derivation)
    elif isinstance(element, Sensor):
        element.read(derivation)
    return _Finisher(derivation).kernel(rows)


class _Finisher:
    """Makes functions of what was derived."""

    def __init__(self, derivation: KernelDerivation) -> None:
        self.derivation = derivation
        self.outputs: dict[str, dict[str, Any]] = {}

    def kernel(self, rows: Sequence[Row]) -> Kernel:
        derivation = self.derivation
        held = [row for row in rows if not derivation.fixed(row)]
        lasting = [row for row in rows if derivation.fixed(row)]
        entries = self._levels(held) if held else ()
        self._forces()
        measured = derivation.said.outputs
        if measured:
            self.outputs["output"] = {"y": [value for _, value in measured]}
        watched = derivation.said.events
        if watched:
            self.outputs["event"] = {"g": [value for _, value in watched]}
        if lasting:
            self.outputs["fixed"] = {"Phi": [row.value for row in lasting]}
        self._find_used()
        functions = {what: self._function(what, found) for what, found in self.outputs.items()}
        return Kernel(
            {what: f for what, f in functions.items() if what != "fixed"},
            tuple(row.label for row in held),
            entries,
            (functions.get("fixed"), tuple(row.label for row in lasting)),
            tuple(source for _, source in self._columns),
            tuple(derivation.texts),
            tuple(derivation.coordinates),
            tuple(derivation.law_dimensions.items()),
            tuple(entry[:3] for entry in derivation.said.inputs),
            tuple(output for output, _ in measured),
            tuple(name for name, _ in watched),
            tuple((joint, len(lam)) for joint, lam in derivation.multipliers.items()),
        )

    def _levels(self, rows: Sequence[Row]) -> tuple[tuple[int, int, int], ...]:
        derivation = self.derivation
        system = derivation.system
        found = levels(
            system.space,
            [row.value for row in rows],
            [row.speed for row in rows],
            [],
            system.q,
            system.v,
        )
        columns = {v: k for k, v in enumerate(system.v)}
        places = [
            (slot, c, columns[v])
            for slot, body in enumerate(derivation.bodies)
            for c, v in enumerate(body.v)
        ]
        x = derivation.coordinates.values()
        places += [(-1, c, columns[q.velocity]) for c, q in enumerate(x)]
        entries, values = [], []
        for r, row in enumerate(found.Phi_v):
            for slot, c, column in places:
                if row[column].ref:
                    entries.append((r, slot, c))
                    values.append(row[column])
        # a law of time is a coordinate whose motion is known
        beta, gamma = list(found.beta), list(found.gamma)
        for k, w in derivation.laws.items():
            column = columns[w.velocity]
            twice = self._second(k)
            for r, row in enumerate(found.Phi_v):
                beta[r] = beta[r] - row[column] * w.velocity
                gamma[r] = gamma[r] - row[column] * twice
        self.outputs["position"] = {"Phi": found.Phi, "Phi_v": values}
        self.outputs["gap"] = {"Phi": found.Phi}
        if any(b.ref for b in beta):
            self.outputs["velocity"] = {"beta": beta}
        self.outputs["dynamics"] = {"Phi_v": values, "gamma": gamma}
        rates = []
        for row, b in zip(found.Phi_v, beta, strict=True):
            rate = -b
            for _, _, column in places:
                if row[column].ref:
                    rate = rate + row[column] * system.v[column]
            rates.append(rate)
        self.outputs["rate"] = {"dPhi": rates}
        if any(g.ref for g in gamma):
            self.outputs["acceleration"] = {"gamma": gamma}
        return tuple(entries)

    def _second(self, law: int) -> Atom:
        return self.derivation.workspace.parameter(f"second_rate{law}")

    def _forces(self) -> None:
        derivation = self.derivation
        found: dict[str, Any] = generalised(derivation)
        if derivation.said.energies:
            energies = derivation.said.energies
            total = energies[0]
            for energy in energies[1:]:
                total = total + energy
            found["V"] = [total]
        if found:
            self.outputs["force"] = found

    # ------------------------------------------------------------------------- functions

    def _find_used(self) -> None:
        """Leave out parameters that no function reads."""
        table = self.derivation.workspace.table
        refs = [x.ref for found in self.outputs.values() for part in found.values() for x in part]
        live = set(table.live(refs))
        self._columns = [c for c in self.derivation.columns if c[0].ref in live]

    def _function(self, what: str, outputs: dict[str, Any]) -> Function:
        """With the inputs that it depends on."""
        derivation = self.derivation
        live = set(
            derivation.workspace.table.live([x.ref for part in outputs.values() for x in part])
        )
        inputs: dict[str, list[Atom]] = {}
        for slot, body in enumerate(derivation.bodies):
            inputs[f"q{slot}"], inputs[f"v{slot}"] = body.q, body.v
        x = list(derivation.coordinates.values())
        inputs["x"], inputs["dx"] = x, [q.velocity for q in x]
        w = list(derivation.laws.values())
        inputs["w"], inputs["dw"] = w, [q.velocity for q in w]
        inputs["ddw"] = [self._second(k) for k in derivation.laws]
        inputs["u"] = [entry[3] for entry in derivation.said.inputs]
        for joint, multipliers in derivation.multipliers.items():
            inputs[f"lam_{joint}"] = multipliers
        inputs["t"] = [derivation.time]
        inputs["p"] = [symbol for symbol, _ in self._columns]
        used = {
            name: atoms for name, atoms in inputs.items() if any(atom.ref in live for atom in atoms)
        }
        if not used:  # a number: it has to be mapped over something all the same
            used = {name: atoms for name, atoms in inputs.items() if atoms and name != "t"}
        return Function(what, used, outputs)


@cache
def body_kernel(plane: str | None) -> Function:
    """A rigid body by itself: the forces of gravity and of its own turning, and q' = N v.

    p: mass, the six moments (xx, yy, zz, xy, xz, yz) and gravity (3).
    """
    system = SymbolicSystem("body")
    m, xx, yy, zz, xy, xz, yz = system.parameters("m Ixx Iyy Izz Ixy Ixz Iyz")
    g = system.parameters("gx gy gz")
    p = [m, xx, yy, zz, xy, xz, yz, *g]
    if plane is not None:
        q = list(system.coordinates([*plane, "turn"]))
        v = [c.velocity for c in q]
        pull = [m * g["xyz".index(axis)] for axis in plane]
        Q = [*pull, system.workspace.atom(0)]
        return Function(f"body_{NORMAL[plane]}", {"q": q, "v": v, "p": p}, {"Q": Q, "rates": v})
    r = list(system.coordinates(["x", "y", "z"]))
    system.orientation("b")
    turned = system.orientations["b"]
    q = [*r, *turned.parameters]
    omega = list(turned.angular_velocity)
    v = [*(c.velocity for c in r), *omega]
    rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    h = [row[0] * omega[0] + row[1] * omega[1] + row[2] * omega[2] for row in rows]
    wx, wy, wz = omega
    spin = [wy * h[2] - wz * h[1], wz * h[0] - wx * h[2], wx * h[1] - wy * h[0]]
    Q = [m * g[0], m * g[1], m * g[2], *(-s for s in spin)]
    rates = [system.space.time_rate(c) for c in q]
    return Function("rigid_body", {"q": q, "v": v, "p": p}, {"Q": Q, "rates": rates})
