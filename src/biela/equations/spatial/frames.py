"""Frames of links in which constants vanish, and inertia that no motion shows.

The frame of a link that turns about its z axis may be turned about it and slid along it: nothing
but the zero of its angle changes.  It is turned such that its x axis is normal to the axis of the
link that follows (Craig 1986, §3.4: modified Denavit–Hartenberg frames), and slid to the height at
which that link starts: of twelve constants a joint at most four are left,

    place = Rx(α),  p = (a, b, 0).

Inertia on the axis of a hinge is at rest in the link before, so that it may be moved there: the
mass, the first moment along the axis and the second moment along it (Khalil & Dombre 2002, ch. 9).
Through a slide all second moments may.  Joint forces, mass matrix and accelerations stay the same;
forces between bodies, centre of mass and momentum do not: these need the inertias as they were.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from biela.atoms import Atom
from biela.equations.spatial.links import Link, Pseudo, Step, added, congruent, no_inertia
from biela.equations.spatial.turning import Pose, Scalar, about_z, are_numbers, zero, zxz

_RIGHT = math.pi / 2


def with_short_constants(links: Sequence[Link]) -> tuple[list[Link], list[Pose]]:
    """The links with better frames, and the old frame of each seen from the new one."""
    found = list(links)
    moved = [Pose.at() for _ in links]
    children: list[list[int]] = [[] for _ in links]
    sizes = [1] * len(links)
    for k in reversed(range(len(links))):
        parent = links[k].parent
        if parent >= 0:
            children[parent].append(k)
            sizes[parent] += sizes[k]
    for k in reversed(range(len(links))):
        link = found[k]
        following = [c for c in children[k] if found[c].place.is_number]
        main = max(following, key=lambda c: (sizes[c], -c), default=None)
        X = _shift(link, None if main is None else found[main])
        if X is None:
            continue
        moved[k] = X.inverse()
        found[k] = link.moved(X, moved[k])
        for c in children[k]:
            found[c] = _placed(found[c], moved[k] @ found[c].place, found[c].step)
    return [_started(link) for link in found], moved


def _shift(link: Link, child: Link | None) -> Pose | None:
    """The screw about z by which the frame of a link is best moved; None where it must stay."""
    step = link.step
    if step.quaternion or not link.place.is_number or not step.is_straight:
        return None
    if not _is_number(link.inertia):
        return None
    if child is None:
        return _to_centre(link)
    gamma, alpha, _ = zxz(child.place.R)
    px, py, pz = (float(x) for x in child.place.p)  # type: ignore[arg-type]
    if child.step.turns and abs(math.sin(alpha)) < 1e-12:  # parallel axes: x towards the next
        gamma = math.atan2(py, px) if px or py else 0.0
        gamma = gamma - math.copysign(math.pi, gamma) if abs(gamma) > _RIGHT + 1e-12 else gamma
    elif not (child.step.turns or child.step.slides):
        gamma = 0.0
    # what slides without turning may have its origin anywhere: where the next step starts
    origin = [0.0, 0.0, pz] if step.turns else [px, py, pz]
    return Pose.at(*origin) if _is_quarter(gamma) else Pose(about_z(gamma).R, list(origin))


def _to_centre(link: Link) -> Pose:
    """Of a tip: its x axis through the centre of mass, or its origin there if it does not turn."""
    x, y, z = (float(link.inertia[k][3]) for k in range(3))  # type: ignore[arg-type]
    if not link.step.turns:
        m = float(link.inertia[3][3])  # type: ignore[arg-type]
        return Pose.at(x / m, y / m, z / m) if m else Pose.at()
    angle = math.atan2(y, x) if x or y else 0.0
    if abs(angle) > _RIGHT + 1e-12:
        angle -= math.copysign(math.pi, angle)
    return Pose.at() if _is_quarter(angle) else about_z(angle)


def _is_quarter(angle: float) -> bool:
    """Whether a turn by this angle costs nothing anyway."""
    return abs(angle - round(angle / _RIGHT) * _RIGHT) < 1e-14


def _started(link: Link) -> Link:
    """The link with the turn about z at the end of its place made part of its own angle."""
    if not (link.step.turns and link.step.is_straight and link.place.is_number):
        return link
    _, _, theta = zxz(link.place.R)
    place = link.place @ about_z(-theta)
    step = link.step.from_offset(_sum(link.step.offset, theta))
    return _placed(link, place, step)


def _placed(link: Link, place: Pose, step: Step) -> Link:
    return Link(link.name, link.parent, place, step, link.inertia, link.grouped)


def _sum(a: float, b: float) -> float:
    total = math.remainder(a + b, 2 * math.pi)
    quarters = round(total / _RIGHT)
    return quarters * _RIGHT if abs(total - quarters * _RIGHT) < 1e-14 else total


# --------------------------------------------------------------------- regrouping


def regrouped(links: Sequence[Link]) -> list[Link]:
    """The links with ``grouped`` inertias, as few as there may be."""
    J = [link.inertia for link in links]
    offset = {link.parent for link in links if any(map(_there, link.place.p))}
    for k in reversed(range(len(links))):
        link = links[k]
        parent = link.parent
        if not (_is_number(J[k]) and link.place.is_number):
            continue
        if parent >= 0 and not _is_number(J[parent]):
            continue
        hidden = _hidden(link, J[k], k in offset)
        J[k] = added(J[k], [[-x for x in row] for row in hidden])
        if parent >= 0:
            J[parent] = added(J[parent], congruent(link.place, hidden))
    return [
        Link(link.name, link.parent, link.place, link.step, link.inertia, inertia)
        for link, inertia in zip(links, J, strict=True)
    ]


def _there(x: Scalar) -> bool:
    return not zero(x)


def _hidden(link: Link, J: Pseudo, offset: bool) -> Pseudo:
    """The part of an inertia that is at rest in the link before, too.

    The second moment along a hinge may be left at any value: at 0, or at that of another axis
    where the matrix U is not needed for anything else, neither for an ``offset`` of a link that
    follows nor for a first moment.
    """
    step = link.step
    if step.quaternion:
        rows: Sequence[int] = (3,)
    elif step.turns:
        rows = (2,) if step.slides else (2, 3)
    elif step.slides:
        rows = (0, 1, 2)
    else:
        rows = (0, 1, 2, 3)
    hidden = no_inertia()
    for i in rows:
        for j in rows:
            hidden[i][j] = J[i][j]
    if step.turns and not offset and not any(map(_there, (J[0][3], J[1][3]))):
        hidden[2][2] = J[2][2] - J[1][1]
    return hidden


def _is_number(J: Pseudo) -> bool:
    return are_numbers(J) or not any(isinstance(x, Atom) for row in J for x in row)
