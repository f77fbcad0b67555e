"""Kinds of groups: the canonical label of a group as a coloured graph.

Vertices are the bodies of the group, the known bodies and the ground it rests on, and its joints,
couplings, drivers and held spins; edges join an element with what it is written on.  Colours say
what an element is (kind, rows, settings that change the form of its equations) and which part a
body plays for it, where the two sides of it differ: of a hinge they do not.  Numbers and names have
no part in it, so two groups with one label have the same equations with other numbers.

Most groups of a large model are alike to the letter: their lists of local numbers are compared, and
a label is found once for each list.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.equations.groups.colours import element_colours, symmetric
from biela.equations.groups.elements import Elements
from biela.equations.groups.group import Space
from biela.equations.groups.grouping import Grouping
from biela.equations.groups.naming import people_name
from biela.equations.groups.units import Rows
from biela.graph.structure import ColouredGraph, canonical
from biela.model.drivers import Driver
from biela.model.joints import Joint

__all__ = ["KindRows", "kinds_of"]

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_GROUND, _NOTHING = -1, -2


@dataclass(frozen=True, eq=False)
class KindRows:
    """All groups of one kind: a row for each; see `biela.equations.groups.KindTable`."""

    label: str
    name: str
    space: Space
    groups: Integers
    bodies: Integers
    elements: Integers
    known: Integers
    sides: Flags


def kinds_of(
    rows: Rows, grouping: Grouping, spaces: Sequence[Space], independent: Flags
) -> list[KindRows]:
    """The groups by kind, in the order in which kinds appear.

    Args:
        rows: The equations.
        grouping: The groups.
        spaces: Where the bodies of each group move.
        independent: (elements,) drivers that stand for coordinates taken as known.
    """
    from biela.equations.groups.compiled_signatures import signatures

    elements = rows.elements
    colours, number = element_colours(rows, independent)
    attached, roles, referred, reference_roles = _attachments(elements)
    body_start, bodies = grouping.bodies()
    element_start, members = grouping.elements()
    start, integers, known_start, known, _ = signatures(
        body_start,
        bodies,
        element_start,
        members,
        np.zeros(rows.bodies, dtype=np.int64),
        number,
        attached,
        referred,
    )
    alike: dict[tuple[Space, bytes], list[int]] = {}
    for g in range(grouping.count):
        key = (spaces[g], integers[start[g] : start[g + 1]].tobytes())
        alike.setdefault(key, []).append(g)
    found: dict[str, list[KindRows]] = {}
    for (space, text), groups in alike.items():
        g = groups[0]
        own = members[element_start[g] : element_start[g + 1]]
        form = _Form(
            np.frombuffer(text, dtype=np.int64),
            attached.shape[1],
            referred.shape[1],
            [colours[int(number[e])] for e in own],
            [roles[int(elements.sort[e])] for e in own],
            [reference_roles[int(elements.sort[e])] for e in own],
        )
        label, body_order, element_order, known_order, turned = form.canonical(space)
        index = np.array(groups, dtype=np.int64)
        table = KindRows(
            label,
            _named(rows, own, form, space),
            space,
            index,
            bodies[body_start[index][:, None] + np.array(body_order, dtype=np.int64)],
            members[element_start[index][:, None] + np.array(element_order, dtype=np.int64)],
            _known(known, known_start[index], known_order),
            np.broadcast_to(np.array(turned, dtype=bool), (len(groups), len(turned))),
        )
        found.setdefault(label, []).append(table)
    return [_merged(tables) for tables in found.values()]


def _known(known: Integers, start: Integers, order: list[int]) -> Integers:
    """Known bodies in canonical order, -1 for the ground."""
    found = np.full((len(start), len(order)), _GROUND, dtype=np.int64)
    for k, place in enumerate(order):
        if place >= 0:
            found[:, k] = known[start + place]
    return found


def _merged(tables: list[KindRows]) -> KindRows:
    first = tables[0]
    if len(tables) == 1:
        return first
    groups = np.concatenate([t.groups for t in tables])
    order = np.argsort(groups)

    def joined(name: str) -> npt.NDArray[np.generic]:
        return np.concatenate([getattr(t, name) for t in tables])[order]

    return KindRows(
        first.label,
        first.name,
        first.space,
        groups[order],
        np.asarray(joined("bodies"), dtype=np.int64),
        np.asarray(joined("elements"), dtype=np.int64),
        np.asarray(joined("known"), dtype=np.int64),
        np.asarray(joined("sides"), dtype=bool),
    )


def _attachments(
    elements: Elements,
) -> tuple[Integers, list[list[str]], Integers, list[list[str]]]:
    """Bodies and other elements that each element is written on, with their roles by sort."""
    sorts = elements.sorts
    wide = max([1, *(len(sort.bodies) for sort in sorts)])
    many = max([1, *(len(sort.references) for sort in sorts)])
    attached = np.full((len(elements), wide), _NOTHING, dtype=np.int64)
    referred = np.full((len(elements), many), -1, dtype=np.int64)
    roles: list[list[str]] = []
    reference_roles: list[list[str]] = []
    for sort in sorts:
        own = slice(sort.first, sort.first + len(sort))
        for k, bodies in enumerate(sort.bodies):
            attached[own, k] = bodies
        for k, reference in enumerate(sort.references):
            referred[own, k] = reference.element
        same = symmetric(sort.element)
        named = ["" if same and role in ("i", "j") else role for role, _ in sort.ends]
        for reference in sort.references:
            sides = ("", "") if symmetric(reference.joint) else (".i", ".j")
            named += [reference.role + side for side in sides]
        roles.append(named)
        reference_roles.append([reference.role for reference in sort.references])
    roles.append(["held"])
    reference_roles.append([])
    if elements.locked:
        attached[elements.proper :, 0] = elements.locked
    return attached, roles, referred, reference_roles


@dataclass(frozen=True, eq=False)
class _Form:
    """A signature with the colours of its elements and the roles of what they are written on."""

    integers: Integers
    wide: int
    many: int
    colours: list[str]
    roles: list[list[str]]
    reference_roles: list[list[str]]

    @property
    def sizes(self) -> tuple[int, int]:
        return int(self.integers[0]), int(self.integers[1])

    @property
    def table(self) -> Integers:
        """A row for each element: colour, bodies, elements referred to."""
        nb, ne = self.sizes
        return self.integers[2 + nb :].reshape(ne, 1 + self.wide + self.many)

    def attached(self, k: int) -> list[int]:
        """Local numbers of the bodies of an element: -1 the ground."""
        return [int(b) for b in self.table[k, 1 : 1 + len(self.roles[k])]]

    def canonical(self, space: Space) -> tuple[str, list[int], list[int], list[int], list[bool]]:
        """Label, and the orders of own bodies, elements and known bodies (-1 the ground).

        The last are flags: whether an element of which both sides are alike has its marker j on
        the body that comes first.
        """
        nb, ne = self.sizes
        met = int(self.table[:, 1 : 1 + self.wide].max(initial=-1)) + 1
        known = max(met - nb, 0)
        grounded = any(b == _GROUND for k in range(ne) for b in self.attached(k))
        colours = ["1body"] * nb + ["2known"] * known
        ground = len(colours)
        if grounded:
            colours.append("3ground")
        first = len(colours)
        colours += [f"4{text}" for text in self.colours]
        edges: list[tuple[int, int, str]] = []
        for k in range(ne):
            for b, role in zip(self.attached(k), self.roles[k], strict=True):
                edges.append((first + k, ground if b == _GROUND else b, role))
            for r, role in zip(
                self.table[k, 1 + self.wide :], self.reference_roles[k], strict=False
            ):
                if r >= 0:
                    edges.append((first + k, first + int(r), f"of {role}"))
        found = canonical(ColouredGraph(tuple(colours), tuple(edges)))
        place = {v: k for k, v in enumerate(found.order)}
        elements = [v - first for v in found.order if v >= first]
        turned = []
        for k in elements:
            ends = [ground if b == _GROUND else b for b in self.attached(k)]
            same = len(ends) == 2 and self.roles[k][:2] == ["", ""]
            turned.append(bool(same and place[ends[0]] > place[ends[1]]))
        return (
            hashlib.sha1(f"{space};{found.label}".encode()).hexdigest()[:16],
            [v for v in found.order if v < nb],
            elements,
            [(v - nb if v < ground else _GROUND) for v in found.order if nb <= v < first],
            turned,
        )


def _named(rows: Rows, own: Integers, form: _Form, space: Space) -> str:
    elements = rows.elements
    nb, _ = form.sizes
    joints, drivers, others = [], 0, 0
    for k, e in enumerate(own.tolist()):
        if e >= elements.proper:
            continue
        element = elements.of(e)
        inner = [b for b in form.attached(k) if 0 <= b < nb]
        if isinstance(element, Joint):
            joints.append((element.kind, tuple(sorted(set(inner)))))
        elif isinstance(element, Driver):
            drivers += 1
        else:
            others += 1
    return people_name(nb, joints, drivers, others)
