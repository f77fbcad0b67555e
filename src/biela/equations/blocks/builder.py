"""Castings gathered by kernel, and written out as blocks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from biela.equations.blocks.block import Block, Places
from biela.equations.blocks.caster import Caster
from biela.equations.blocks.casting import Casting, JointUse
from biela.equations.blocks.groups import Group, Member, ParameterRows
from biela.equations.blocks.kernels import element_kernel
from biela.equations.blocks.law_values import LawTable
from biela.equations.blocks.populations import Floats, InstancePrefix, Integers, Names
from biela.equations.blocks.world import World
from biela.errors import BielaError
from biela.model.joints import Joint


class Builder:
    """Collects the elements of a model."""

    def __init__(self, world: World, across: Floats) -> None:
        self.world, self.caster = world, Caster(world)
        self.plane = world.model.plane
        self.parameter_rows = ParameterRows(world, across)
        self.widths = (7, 6) if self.plane is None else (3, 3)
        self.laws = LawTable()
        self.groups: dict[tuple[object, ...], Group] = {}
        self._literal: set[tuple[object, ...]] = set()
        self.extra, self.row_names, self.inputs = Names(), Names(), Names()
        self.outputs, self.events = Names(), Names()
        self.output_units: list[tuple[int, tuple[tuple[str, str], ...]]] = []
        self.input_values: list[float] = []
        self.counted: dict[tuple[int, str, str], Integers] = {}
        #: The coordinates that count turns, with what they belong to: for the start.
        self.counted_uses: list[tuple[JointUse, str, Integers]] = []
        #: Places of coordinates with rotors, and the inertia along them.
        self._rotors: list[tuple[Integers, Floats]] = []
        self.first_rows: dict[tuple[int, str], Integers] = {}
        self.entries: list[Integers] = []
        self.entry_count = 0

    # ------------------------------------------------------------------------ collecting

    def add(self, casting: Casting, counting: str = "") -> None:
        """Add the instances of an element."""
        counted = set()
        for k, use in enumerate(casting.uses):
            for coordinate in use.joint.coordinates:
                there = self._is_counted(use, coordinate.name)
                if there.any() and not there.all():
                    self.add(casting.at(np.flatnonzero(there)), counting)
                    self.add(casting.at(np.flatnonzero(~there)), counting)
                    return
                if there.all():
                    counted.add(f"j{k}.{coordinate.name}")
        group = self._group(casting, frozenset(counted), counting)
        kernel, count = group.kernel, len(casting)
        x = [self._coordinate(casting, name) for name in kernel.x]
        w = [
            self.laws.places(casting.population, casting.laws[k], dimension)[casting.index]
            for k, dimension in kernel.laws
        ]
        u = np.zeros((count, 0), dtype=np.int64)
        if kernel.inputs:
            first = self._named(self.inputs, casting, [name for name, _, _ in kernel.inputs])
            u = first + np.arange(count * len(kernel.inputs)).reshape(count, -1)
            self.input_values += [value for _, _, value in kernel.inputs] * count
        group.members.append(Member(casting, _stacked(x, count), _stacked(w, count), u))

    def add_rotors(self) -> None:
        """Make the coordinates along which rotors turn count.

        Raises:
            ModelError: A rotor has no such coordinate, or its inertia is negative.
        """
        for rotor in self.caster.rotors():
            places = self.declare(rotor.use, rotor.coordinate)
            self._rotors.append((places, rotor.inertia))

    def rotors(self) -> Floats:
        """The inertia along each of the coordinates that count turns."""
        found = np.zeros(len(self.extra))
        for places, inertia in self._rotors:
            found[places] = inertia
        return found

    def _group(self, casting: Casting, counted: frozenset[str], counting: str) -> Group:
        """Those with the same kernel, which is derived if it is the first."""
        key = (casting.key, counted, counting)
        if key in self.groups:
            return self.groups[key]
        if key not in self._literal:
            try:
                kernel = element_kernel(casting, self.plane, counted, counting)
            except BielaError:
                self._literal.add(key)
            else:
                return self.groups.setdefault(key, Group(kernel, counting))
        # with its own name and numbers: it may need them, or says what is wrong with them
        ends = dict(zip(("i", "j"), casting.frames, strict=False))
        (again,) = self.caster.cast(
            casting.population,
            casting.original,
            casting.index,
            ends if isinstance(casting.original, Joint) else None,
            literal=True,
        )
        casting.element, casting.joints, casting.numbers = (
            again.element,
            again.joints,
            again.numbers,
        )
        key = (casting.key, counted, counting)
        if key not in self.groups:
            self.groups[key] = Group(
                element_kernel(casting, self.plane, counted, counting), counting
            )
        return self.groups[key]

    def _is_counted(self, use: JointUse, coordinate: str) -> npt.NDArray[np.bool_]:
        known = self.counted.get((id(use.population), use.joint.name, coordinate))
        return np.zeros(len(use.index), dtype=bool) if known is None else known[use.index] >= 0

    def _coordinate(self, casting: Casting, name: str) -> Integers:
        """Places of a coordinate that is a symbol; it is declared if it is not there."""
        owner, _, coordinate = name.partition(".")
        if owner == "self":
            assert isinstance(casting.original, Joint)
            use = JointUse(casting.population, casting.original, casting.index)
        else:
            use = casting.uses[int(owner[1:])]
        return self.declare(use, coordinate)

    def declare(self, use: JointUse, coordinate: str) -> Integers:
        """Places of a coordinate among those that count turns, with the rows that read it."""
        key = (id(use.population), use.joint.name, coordinate)
        known = self.counted.setdefault(key, np.full(use.population.count, -1))
        missing = np.unique(use.index[known[use.index] < 0])
        if len(missing):
            prefix = InstancePrefix(use.population, missing)
            first = self.extra.add(len(missing), prefix, [f"{use.joint.name}.{coordinate}"])
            known[missing] = np.arange(first, first + len(missing))
            self.counted_uses.append((use, coordinate, missing))
            declared = next(c for c in use.joint.coordinates if c.name == coordinate)
            if declared.reading is not None:
                for made in self.caster.cast(use.population, use.joint, missing):
                    self.add(made, counting=coordinate)
        return known[use.index]

    def _named(self, names: Names, casting: Casting, suffixes: Iterable[str]) -> int:
        prefix = InstancePrefix(casting.population, casting.index)
        name = casting.original.name
        return names.add(len(casting), prefix, [f"{name}{suffix}" for suffix in suffixes])

    # ---------------------------------------------------------------------- writing out

    def number_rows(self) -> None:
        """Give every equation its row, and every entry of the Jacobian its place."""
        nv_bodies = self.widths[1] * self.world.count
        for group in self.groups.values():
            kernel, m = group.kernel, len(group.kernel.labels)
            if not m:
                continue
            first = len(self.row_names)
            group.rows = first + m * np.arange(len(group))
            done = 0
            for member in group.members:
                casting = member.casting
                owner = f".{group.counting}" if group.counting else ""
                self._named(self.row_names, casting, [f"{owner}.{x}" for x in kernel.labels])
                rows = group.rows[done : done + len(casting)]
                done += len(casting)
                if isinstance(casting.original, Joint) and not group.counting:
                    key = (id(casting.population), casting.original.name)
                    known = self.first_rows.setdefault(key, np.full(casting.population.count, -1))
                    known[casting.index] = rows
            group.first_entry = self.entry_count
            bodies = self._bodies(group)
            x = np.concatenate([member.x for member in group.members])
            r = np.array([e[0] for e in kernel.entries])
            columns = [
                nv_bodies + x[:, c] if slot < 0 else self.widths[1] * bodies[slot] + c
                for _, slot, c in kernel.entries
            ]
            at = np.stack([group.rows[:, None] + r, np.stack(columns, axis=1)])
            self.entries.append(at.reshape(2, -1))
            self.entry_count += len(group) * len(kernel.entries)

    def blocks(self, what: str) -> tuple[Block, ...]:
        """The blocks of functions of one sort: "position", "velocity" …"""
        return tuple(
            self._block(group, what)
            for group in self.groups.values()
            if what in group.kernel.functions and len(group)
        )

    def _bodies(self, group: Group) -> list[Integers]:
        slots = range(group.members[0].casting.body_count)
        found = [member.casting.bodies() for member in group.members]
        return [np.concatenate([bodies[slot] for bodies in found]) for slot in slots]

    def _block(self, group: Group, what: str) -> Block:
        kernel, count = group.kernel, len(group)
        function = kernel.functions[what]
        nq_b, nv_b = self.widths
        bodies = self._bodies(group)
        x, w, u = (
            np.concatenate([getattr(member, name) for member in group.members]) for name in "xwu"
        )
        places: dict[str, Places] = {"t": ("t", np.zeros(count, dtype=np.int64)), "u": ("u", u)}
        for slot, body in enumerate(bodies):
            places[f"q{slot}"], places[f"v{slot}"] = ("q", nq_b * body), ("v", nv_b * body)
            places[f"Q{slot}"] = ("Q", nv_b * body)
        places["x"] = ("q", nq_b * self.world.count + x)
        places["dx"] = ("v", nv_b * self.world.count + x)
        places["Qx"] = ("Q", nv_b * self.world.count + x)
        places |= {name: (name, w) for name in ("w", "dw", "ddw")}
        places["V"] = ("V", np.zeros((count, 1), dtype=np.int64))
        for joint, _ in kernel.multipliers:
            places[f"lam_{joint}"] = ("lam", self._multipliers(group, joint))
        for level in ("Phi", "beta", "gamma", "dPhi"):
            places[level] = (level, group.rows)
        entries = len(kernel.entries)
        places["Phi_v"] = ("Phi_v", group.first_entry + entries * np.arange(count))
        if what == "output":
            places["y"] = ("y", self._output_places(group))
        if what == "event":
            places["g"] = ("g", self._event_places(group))
        return Block(
            f"{what} of {group.members[0].casting.original.kind}",
            function,
            self.parameter_rows.of(group),
            {a.name: places[a.name] for a in function.inputs if a.name != "p"},
            {a.name: places[a.name] for a in function.outputs},
        )

    def _multipliers(self, group: Group, joint: str) -> Integers:
        found = []
        for member in group.members:
            use = member.casting.uses[int(joint[1:])]
            rows = self.first_rows[(id(use.population), use.joint.name)]
            found.append(rows[use.index])
        return np.concatenate(found)

    def _output_places(self, group: Group) -> Integers:
        outputs = group.kernel.outputs
        found = []
        for member in group.members:
            casting = member.casting
            first = self._named(self.outputs, casting, [output.name for output in outputs])
            found.append(first + len(outputs) * np.arange(len(casting)))
            name = casting.original.name
            described = tuple(
                (output.unit, f"{name}{output.rate}" if output.rate else "") for output in outputs
            )
            self.output_units.append((len(casting), described))
        return np.concatenate(found)

    def _event_places(self, group: Group) -> Integers:
        names, found = group.kernel.events, []
        for member in group.members:
            first = self._named(self.events, member.casting, names)
            found.append(first + len(names) * np.arange(len(member.casting)))
        return np.concatenate(found)


def _stacked(columns: list[Integers], count: int) -> Integers:
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0), dtype=np.int64)
