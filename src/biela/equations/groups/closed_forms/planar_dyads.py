"""Dyads in a plane: where two bodies between known ones are, in closed form.

All chains of pins (R) and slides (P) but PPP, in the classification of Assur: A, B and C are the
joints from the first known body to the last, d leads from A to C, and w is the unit vector along a
slide.  With vectors as complex numbers:

    RRR  two circles:           B = A + d (f + i g) / 2d²,  f = d² + a² - c²,
                                g = ± √(((a + c)² - d²)(d² - (a - c)²))
    RRP  circle and line:       B = A + w (± √((a - q)(a + q)) + i q),  q the way from A to the line
    RPR  a right triangle:      d = w (s + i δ),  s = ± √(d² - δ²),  δ = δ_A - δ_C the offsets
    PRP, RPP  two lines:        linear

The product form of the root of RRR is Heron's: nothing is lost by cancellation near dead points
but what d² has lost already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from biela.atoms import Atom, maximum, sqrt
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.arrows import Arrow
from biela.equations.groups.closed_forms.dyad import Dyad, Key
from biela.equations.groups.closed_forms.found import PlanarFound
from biela.equations.groups.closed_forms.geometry import Geometry, Sides
from biela.equations.groups.closed_forms.planar_view import PlanarView

__all__ = ["LETTERS", "PlanarSolver", "planar_dyad"]

#: Kinds of joints, as letters.
LETTERS: Final = {"revolute": "R", "prismatic": "P"}
#: What a quotient is divided by at least.
TINY: Final = 1e-280


@dataclass(frozen=True, eq=False)
class _Slide:
    """A slide on a known body: its point and direction there, and how it turns the other body.

    Of one that is fixed these are rows of numbers.
    """

    point: Arrow
    along: Arrow
    turn: Arrow
    fixed: bool = False


class PlanarSolver:
    """Solves the chains of planar dyads."""

    def __init__(self, view: PlanarView, dyad: Dyad, poses: Poses, branch: Atom) -> None:
        self.view, self.dyad, self.poses, self.branch = view, dyad, poses, branch
        self.found = PlanarFound(view)
        self.number = view.derivation.column

    # ------------------------------------------------------------------------ parts

    def bar(self, start: Key, end: Key) -> tuple[Arrow, Floats]:
        """The way between two pins of a body, in its frame, and the square of its length."""
        way = self.view.local(end) - self.view.local(start)
        return way, np.asarray(way.square)

    def turn_along(self, way: Arrow, square: Floats, found: Arrow) -> Arrow:
        """How a body is turned whose way between two pins is found."""
        return found.turned(self.view.column("bar", way.conjugate * (1.0 / square)))

    def same_way(self, one: Key, other: Key) -> Floats:
        """1 where the markers of a slide point the same way, as they should; -1 against it."""
        a, b = (self.view.axis_at(key, self.poses) for key in (one, other))
        return np.where(np.asarray(a.dot(b)) < 0, -1.0, 1.0)

    def slide(self, known: Key, own: Key) -> _Slide:
        """A slide on a known body."""
        view = self.view
        local = view.local_axis(own).conjugate * self.same_way(known, own)
        if view.fixed(known):
            point, along = view.at(known, self.poses), view.axis_at(known, self.poses)
            return _Slide(point, along, along.turned(local), fixed=True)
        along = view.known_axis(known)
        return _Slide(view.known(known), along, along.turned(view.column("slide", local)))

    def keep(self, slot: int, key: Key, point: Arrow) -> None:
        """A point of a body is found."""
        self.found.points.append((slot, self.view.local(key), point))

    def ahead(self, slide: _Slide, own: Key, pin: Key) -> tuple[Arrow, Arrow, Arrow]:
        """Where a pin of a sliding body is when its slide is at zero; direction, and turn."""
        view, way = self.view, self.view.local(pin) - self.view.local(own)
        if slide.fixed:
            found = slide.point + way.turned(slide.turn), slide.along, slide.turn
            point, along, turn = (view.column("rail", rows) for rows in found)
            return point, along, turn
        point = slide.point + view.column("pin", way).turned(slide.turn)
        return point, slide.along, slide.turn

    # ----------------------------------------------------------------------- chains

    def circles(
        self, d: Arrow, first: tuple[Any, Any], second: tuple[Any, Any]
    ) -> tuple[Arrow, Atom]:
        """From A to where circles about A and C meet, and the margin; squares and radii given.

        All are rows of numbers, or all atoms.
        """
        (aa, a), (cc, c) = first, second
        dd = d.square
        root = (self._number((a + c) * (a + c)) - dd) * (dd - self._number((a - c) * (a - c)))
        share = 0.5 / maximum(dd, TINY)
        along = (dd + self._number(aa - cc)) * share
        aside = self.branch * sqrt(maximum(root, 0)) * share
        # root = 4 a² c² sin² of the angle between the bars
        return d * along + d.left * aside, root * self._number(0.25 / (aa * cc))

    def _number(self, value: Any) -> Atom:
        """Rows of numbers as a parameter."""
        return value if isinstance(value, Atom) else self.number("bars", value)

    def RRR(self) -> Geometry:
        """Two circles."""
        dyad, view = self.dyad, self.view
        A, C = view.known(dyad.a_known), view.known(dyad.c_known)
        first, aa = self.bar(dyad.a_first, dyad.b_first)
        second, cc = self.bar(dyad.c_second, dyad.b_second)
        AB, margin = self.circles(C - A, (aa, np.sqrt(aa)), (cc, np.sqrt(cc)))
        B = A + AB
        for slot, key, point in (
            (dyad.first, dyad.b_first, B),
            (dyad.first, dyad.a_first, A),
            (dyad.second, dyad.b_second, B),
            (dyad.second, dyad.c_second, C),
        ):
            self.keep(slot, key, point)
        self.found.turns = {
            dyad.first: lambda: self.turn_along(first, aa, AB),
            dyad.second: lambda: self.turn_along(second, cc, B - C),
        }
        return Geometry(self.found, margin, self.sides("RRR"))

    def RRP(self) -> Geometry:
        """Circle and line."""
        dyad, view = self.dyad, self.view
        A = view.known(dyad.a_known)
        first, aa = self.bar(dyad.a_first, dyad.b_first)
        slide = self.slide(dyad.c_known, dyad.c_second)
        Q, w, turn = self.ahead(slide, dyad.c_second, dyad.b_second)
        a = self.number("arm", np.sqrt(aa))
        aside = w.cross(Q - A)
        root = (a - aside) * (a + aside)
        AB = w.turned(Arrow(self.branch * sqrt(maximum(root, 0)), aside))
        B = A + AB
        self.keep(dyad.first, dyad.b_first, B)
        self.keep(dyad.first, dyad.a_first, A)
        self.keep(dyad.second, dyad.b_second, B)
        self.found.turns = {
            dyad.first: lambda: self.turn_along(first, aa, AB),
            dyad.second: lambda: turn,
        }
        margin = root * self.number("across", 1.0 / aa)
        return Geometry(self.found, margin, self.sides("RRP"))

    def RPR(self) -> Geometry:
        """A right triangle."""
        dyad, view = self.dyad, self.view
        A, C = view.known(dyad.a_known), view.known(dyad.c_known)
        same = self.same_way(dyad.b_first, dyad.b_second)
        z1, z2 = view.local_axis(dyad.b_first), view.local_axis(dyad.b_second) * same
        of_first = z1.cross(view.local(dyad.b_first) - view.local(dyad.a_first))
        of_second = z2.cross(view.local(dyad.b_second) - view.local(dyad.c_second))
        gap = of_first - of_second
        if np.max(np.abs(gap)) <= 1e-13 * float(np.max(np.abs(of_first)) + 1e-3):
            gap = np.zeros_like(gap)
        offset = self.number("offset", gap)
        d = C - A
        dd = d.square
        root = dd - self.number("offset2", gap * gap)
        length = self.branch * sqrt(maximum(root, 0))
        share = 1.0 / maximum(dd, TINY)
        w = d.turned(Arrow(length, -offset)) * share
        self.keep(dyad.first, dyad.a_first, A)
        self.keep(dyad.second, dyad.c_second, C)
        self.found.turns = {
            dyad.first: lambda: w.turned(view.column("along", z1.conjugate)),
            dyad.second: lambda: w.turned(view.column("along", z2.conjugate)),
        }
        return Geometry(self.found, root * share, self.sides("RPR"))

    def PRP(self) -> Geometry:
        """Two lines."""
        dyad = self.dyad
        one = self.slide(dyad.a_known, dyad.a_first)
        other = self.slide(dyad.c_known, dyad.c_second)
        Q1, u, turn1 = self.ahead(one, dyad.a_first, dyad.b_first)
        Q2, v, turn2 = self.ahead(other, dyad.c_second, dyad.b_second)
        B, margin = _crossing(Q1, u, Q2, v)
        self.keep(dyad.first, dyad.b_first, B)
        self.keep(dyad.second, dyad.b_second, B)
        self.found.turns = {dyad.first: lambda: turn1, dyad.second: lambda: turn2}
        return Geometry(self.found, margin, None)

    def RPP(self) -> Geometry:
        """Two lines, of bodies that do not turn against each other."""
        dyad, view = self.dyad, self.view
        A = view.known(dyad.a_known)
        rail = self.slide(dyad.c_known, dyad.c_second)
        z2 = view.local_axis(dyad.b_second)
        Q2, w, turn2 = self.ahead(rail, dyad.c_second, dyad.b_second)
        along = view.column("inner", z2).turned(turn2)
        back = view.local_axis(dyad.b_first).conjugate * self.same_way(dyad.b_first, dyad.b_second)
        # both bodies turn with the rail: the turn of the first is that of the second and a constant
        turn = turn2.turned(view.column("both", z2.turned(back)))
        way = view.column("arm", view.local(dyad.b_first) - view.local(dyad.a_first))
        Q1 = A + way.turned(turn)
        M, margin = _crossing(Q2, w, Q1, along)
        self.keep(dyad.first, dyad.a_first, A)
        self.keep(dyad.first, dyad.b_first, Q1)
        self.keep(dyad.second, dyad.b_second, M)
        self.found.turns = {dyad.first: lambda: turn, dyad.second: lambda: turn2}
        return Geometry(self.found, margin, None)

    # ------------------------------------------------------------------------ sides

    def sides(self, letters: str) -> Sides:
        """The two branches of a chain, with the names of its joints."""
        dyad, view = self.dyad, self.view
        names = [view.derivation.cast.elements[k[0]].names for k in _joints(dyad)]

        def side(poses: Poses) -> Floats:
            A, B = view.at(dyad.a_known, poses), view.at(dyad.b_first, poses)
            C = view.at(dyad.c_known, poses)
            if letters == "RRR":
                return np.asarray((C - A).cross(B - A))
            if letters == "RRP":
                pin = view.at(dyad.b_second, poses)
                return np.asarray(view.axis_at(dyad.c_known, poses).dot(pin - A))
            return np.asarray(view.axis_at(dyad.b_first, poses).dot(C - A))

        sentences = {
            "RRR": ("left", "right", "{1} is to the {side} of the line from {0} to {2}"),
            "RRP": ("ahead", "behind", "{1} is {side} of {0} along the slide of {2}"),
            "RPR": ("along", "against", "the slide of {1} points {side} the way from {0} to {2}"),
        }
        positive, negative, meaning = sentences[letters]
        words = positive, negative
        if letters == "RRR" and not view.drawn:
            words = negative, positive
        return Sides(words, meaning, tuple(names), side)


def _joints(dyad: Dyad) -> tuple[Key, Key, Key]:
    return dyad.a_first, dyad.b_first, dyad.c_second


def _crossing(P: Arrow, u: Arrow, Q: Arrow, v: Arrow) -> tuple[Arrow, Atom]:
    """Where two lines cross, and the square of the sine between them."""
    sine = u.cross(v)
    square = sine * sine
    way = (Q - P).cross(v) * (sine / maximum(square, TINY))
    return P + u * way, square


def planar_dyad(view: PlanarView, dyad: Dyad, poses: Poses, branch: Atom) -> Geometry | None:
    """Where the bodies of a dyad are; None if its chain has no closed form here."""
    if dyad.letters in ("PRR", "PPR"):
        dyad = dyad.reversed()
    solver = PlanarSolver(view, dyad, poses, branch)
    if "R" in dyad.letters and not _bars_have_length(solver):
        return None
    chains = {
        "RRR": solver.RRR,
        "RRP": solver.RRP,
        "RPR": solver.RPR,
        "PRP": solver.PRP,
        "RPP": solver.RPP,
    }
    chain = chains.get(dyad.letters)
    return None if chain is None else chain()


def _bars_have_length(solver: PlanarSolver) -> bool:
    dyad = solver.dyad
    bars = []
    if dyad.letters[:2] == "RR":
        bars.append(solver.bar(dyad.a_first, dyad.b_first)[1])
    if dyad.letters[1:] == "RR":
        bars.append(solver.bar(dyad.c_second, dyad.b_second)[1])
    return all(bool((square > 0).all()) for square in bars)
