"""Drives: further constraints that move a coordinate, a velocity or an output by a law of time.

    y(q, t) - f(t) = 0     or, at velocity level,     y(q, v, t) - f(t) = 0  (linear in v)

Appended to the constraints of a system at the three levels (Plaza 2015, eqs 2.50 to 2.52; the
drivers of Haug 1989), they give a system again: kinematics finds its motion without forces, and its
multipliers are minus the driving forces.  A constant law locks what it drives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from biela.analysis.preparation import Model, as_system, meant
from biela.analysis.unrolled import Matrix, Row, Unrolled, derivatives
from biela.atoms import Atom, Direction, Kind, substitute
from biela.code import Function
from biela.code.arrays import Entries
from biela.doors import door
from biela.equations import System
from biela.equations.model_start import DriveLaw
from biela.equations.system import LazyFunctions
from biela.errors import BielaError, ModelError
from biela.model.laws.law import law_from

#: A law of time that something is driven by.
Law: TypeAlias = DriveLaw

#: Capabilities that drives leave as they are, but for the number of multipliers they may depend on.
_KEPT = (
    *("rates", "retract", "M", "Q", "M_Q", "energy", "power", "outputs", "events", "points"),
    *("sides", "joint_coordinates", "poses", "twists", "frame_accelerations"),
)


@dataclass(frozen=True)
class _Rows:
    """Constraint equations at all levels, as expressions."""

    Phi: Row
    Phi_q: Matrix
    dPhi: Row
    Phi_v: Matrix
    beta: Row
    gamma: Row
    names: list[str]


@door(ModelError)
def driven(model: Model, drives: Mapping[str, Law]) -> System:
    """The system with drives as further constraints, called "drive …".

    Args:
        model: What is driven.
        drives: A law for each coordinate, velocity or output, by its name; a joint with one
            coordinate may go by its own.  A law of a velocity, or of an output that depends on
            velocities, is a constraint at velocity level.

    Conditions on the start are dropped: the drives say where it is.

    Raises:
        ModelError: A name is unknown, is driven twice, or its law is not one of time.
    """
    system = as_system(model)
    if not drives:
        return system
    unrolled = Unrolled(system)
    positions: list[tuple[str, Atom]] = []
    velocities: list[tuple[str, Atom]] = []
    coordinates = [entry.name for entry in system.q]
    others = {entry.name for entry in (*system.v, *system.y)}
    for given, law in drives.items():
        name = given if given in others else meant(given, coordinates)
        if f"drive {name}" in system.multipliers or (name != given and name in drives):
            raise ModelError(f"{system.name}: {name} is driven already")
        quantity, geometric = _quantity(unrolled, name)
        equation = quantity - law_of_time(unrolled, name, law)
        (positions if geometric else velocities).append((f"drive {name}", equation))
    at_position = _levels(unrolled, positions, geometric=True)
    at_velocity = _levels(unrolled, velocities, geometric=False)
    found = _extended(unrolled, at_position, at_velocity)
    begins = system.begins
    return replace(found, begins=None if begins is None else begins.driven(drives))


def constrained(
    system: System, equations: Callable[[Unrolled], Sequence[tuple[str, Atom]]]
) -> System:
    """The system with further constraints on positions: names, and what is to be zero.

    A start that the system has is not asked whether it fulfils them.
    """
    unrolled = Unrolled(system)
    at_position = _levels(unrolled, equations(unrolled), geometric=True)
    return _extended(unrolled, at_position, _levels(unrolled, [], geometric=False))


def law_of_time(unrolled: Unrolled, name: str, law: Law) -> Atom:
    """A law as an expression of the time and the parameters of an unrolled system.

    Raises:
        ModelError: It is not one.
    """
    system, ws = unrolled.system, unrolled.workspace
    try:
        if isinstance(law, str):
            found = _read(unrolled, law)
        elif isinstance(law, Atom):
            found = _carried(unrolled, law)
        elif isinstance(law, tuple):
            times, numbers = (np.asarray(part, dtype=float) for part in law)
            place = f"law_{len(ws.table.piecewise)}"
            found = ws.spline(place, times.tolist(), numbers.tolist())(unrolled.t)
        else:
            found = ws.atom(float(law))
    except (BielaError, TypeError, ValueError) as error:
        raise ModelError(f"{system.name}: the law of {name} cannot be read: {error}") from error
    for atom in found.table.live([found.ref]):
        symbol = found.table.symbols.get(atom)
        if symbol is not None and symbol.kind not in (Kind.TIME, Kind.PARAMETER):
            raise ModelError(
                f"{system.name}: the law of {name} depends on {symbol.name}, and may depend on "
                f"the time t and on parameters only"
            )
    return found


def _read(unrolled: Unrolled, text: str) -> Atom:
    """A text of a law, with units, "30 deg*sin(2*pi*t)", or else as expressions are written."""
    symbols = dict(zip((entry.name for entry in unrolled.system.p), unrolled.p, strict=True))
    try:
        return law_from(text).expression(unrolled.workspace, symbols, time=unrolled.t)
    except BielaError as error:
        try:
            return unrolled.workspace.parse(text)
        except BielaError:
            raise error from None


def _carried(unrolled: Unrolled, law: Atom) -> Atom:
    """An expression of the workspace of a model, in that of the unrolled system."""
    known = dict(zip((e.name for e in unrolled.system.p), unrolled.p, strict=True))
    symbols, places = [], []
    for atom in law.table.live([law.ref]):
        symbol = law.table.symbols.get(atom)
        if symbol is None:
            continue
        if symbol.kind is not Kind.TIME and symbol.name not in known:
            raise ModelError(f"it depends on {symbol.name}, which is no parameter of the model")
        symbols.append(Atom(law.table, atom))
        places.append(unrolled.t if symbol.kind is Kind.TIME else known[symbol.name])
    if not symbols:
        return unrolled.workspace.atom(float(law.value or 0.0))
    found: list[Atom] = Function("law", {"x": symbols}, {"f": [law]}).inline(places)
    return found[0]


def _quantity(unrolled: Unrolled, name: str) -> tuple[Atom, bool]:
    """What a name of a drive stands for, and whether it is geometric."""
    system = unrolled.system
    for entries, symbols, geometric in (
        (system.q, unrolled.q, True),
        (system.v, unrolled.v, False),
    ):
        for entry, symbol in zip(entries, symbols, strict=True):
            if entry.name == name:
                return symbol, geometric
    for entry, output in zip(system.y, list(unrolled("outputs")) if system.y else [], strict=True):
        if entry.name == name:
            return output, _is_geometric(unrolled, name, output)
    names = [e.name for e in (*system.q, *system.v, *system.y)]
    raise ModelError(
        f"{system.name} has no coordinate, velocity or output {name}; it has {', '.join(names)}"
    )


def _is_geometric(unrolled: Unrolled, name: str, output: Atom) -> bool:
    refused = {s.ref for s in (*unrolled.u, *unrolled.lam, *unrolled.a)}
    live = set(output.table.live([output.ref]))
    if live & refused:
        raise ModelError(
            f"{unrolled.system.name}: output {name} depends on inputs or multipliers and cannot be "
            f"driven; only functions of positions and velocities can"
        )
    return not live & {s.ref for s in unrolled.v}


def _levels(unrolled: Unrolled, equations: Sequence[tuple[str, Atom]], geometric: bool) -> _Rows:
    """The equations, differentiated along the motion."""
    names = [name for name, _ in equations]
    rows = [equation for _, equation in equations]
    moving: dict[Atom, Atom | float] = dict(zip(unrolled.q, unrolled.rates(), strict=True))
    moving[unrolled.t] = 1
    along = Direction(unrolled.workspace, moving)
    dPhi = [along(row) for row in rows] if geometric else rows
    Phi_v = derivatives(dPhi, unrolled.v) if dPhi else []
    rest: dict[Atom, Atom | float] = {v: 0 for v in unrolled.v}
    _check_linear(unrolled, names, Phi_v)
    return _Rows(
        rows if geometric else [],
        derivatives(rows, unrolled.q) if geometric and rows else [],
        dPhi,
        Phi_v,
        [-e for e in substitute(dPhi, rest)] if dPhi else [],
        [-along(e) for e in dPhi],
        names,
    )


def _check_linear(unrolled: Unrolled, names: Sequence[str], Phi_v: Matrix) -> None:
    velocities = {v.ref for v in unrolled.v}
    for name, row in zip(names, Phi_v, strict=True):
        if velocities & set(unrolled.workspace.table.live(e.ref for e in row)):
            raise ModelError(
                f"{unrolled.system.name}: {name} is not linear in the velocities and cannot hold"
            )


def _extended(unrolled: Unrolled, positions: _Rows, velocities: _Rows) -> System:
    """The system with rows for positions after its geometric ones, for velocities at the end."""
    system, ws = unrolled.system, unrolled.workspace
    first = system.geometric

    def stacked(own: Sequence[Any], part: str) -> list[Any]:
        return [
            *own[:first],
            *getattr(positions, part),
            *own[first:],
            *getattr(velocities, part),
        ]

    names = tuple(stacked(system.multipliers, "names"))
    driving = [
        [ws.symbol(f"lambda_drive_{k}_{i}", Kind.UNKNOWN) for i in range(len(rows.names))]
        for k, rows in enumerate((positions, velocities))
    ]
    lam = [*unrolled.lam[:first], *driving[0], *unrolled.lam[first:], *driving[1]]
    inputs: dict[str, Entries] = {"t": unrolled.t, "q": unrolled.q, "v": unrolled.v}
    inputs |= {"u": unrolled.u, "p": unrolled.p}

    def function(name: str, outputs: Mapping[str, Entries], **more: Row) -> Function:
        return Function(name, inputs | more, outputs)

    own_Phi_q = [list(row) for row in unrolled("Phi_q")] if first else []
    entries: dict[str, Any] = {
        "Phi": [*unrolled.Phi, *positions.Phi],
        "Phi_q": [*own_Phi_q, *positions.Phi_q],
        "dPhi": stacked(unrolled.dPhi, "dPhi"),
        "Phi_v": stacked(unrolled.Phi_v, "Phi_v"),
        "beta": stacked(unrolled.beta, "beta"),
        "gamma": stacked(unrolled.gamma, "gamma"),
    }
    made = {name: function(name, {name: entry}) for name, entry in entries.items() if entry}

    def with_all_multipliers(name: str) -> Function:
        kept = system[name]
        found = unrolled(name)
        parts = found if len(kept.outputs) > 1 else (found,)
        outputs = {a.name: part for a, part in zip(kept.outputs, parts, strict=True)}
        return function(name, outputs, lam=lam)

    def tangents() -> Function:
        K, C = unrolled("tangents")
        pull: Row = [unrolled.zero] * len(unrolled.v)
        rows = [*positions.Phi_v, *velocities.Phi_v]
        for row, multiplier in zip(rows, [*driving[0], *driving[1]], strict=True):
            pull = [total + e * multiplier for total, e in zip(pull, row, strict=True)]
        more = derivatives(pull, unrolled.q)
        K = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(K, more, strict=True)]
        return function("tangents", {"K": K, "C": C}, a=unrolled.a, lam=lam)

    makers: dict[str, Callable[[], Function]] = {}
    for name in _KEPT:
        if name not in system:
            continue

        # what is made on demand stays so: a kept function is only looked at when it is asked for
        def kept(name: str = name) -> Function:
            with_lam = unrolled.needs(name, "lam")
            return with_all_multipliers(name) if with_lam else system[name]

        makers[name] = kept
    if "tangents" in system:
        makers["tangents"] = tangents
    return replace(
        system,
        multipliers=names,
        geometric=first + len(positions.names),
        functions=LazyFunctions(made, makers),
    )
