"""Positions of groups that have a closed form, in place of Newton's method.

The closed form is where the iteration of a group starts: the residual is tested there, and passes.
One step polishes where rounding is above the tolerance.  A branch is a sign that an instance
carries along, so that a group stays on its side however large the steps are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from biela.atoms import Atom, cos, sin, substitute
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.actuated import actuated_dyad, actuated_dyad_of
from biela.equations.groups.closed_forms.dyad import dyad_of
from biela.equations.groups.closed_forms.geometry import Geometry, Sides
from biela.equations.groups.closed_forms.planar_dyads import LETTERS as PLANAR
from biela.equations.groups.closed_forms.planar_dyads import planar_dyad
from biela.equations.groups.closed_forms.planar_view import PlanarView
from biela.equations.groups.closed_forms.plane_in_space import plane_of
from biela.equations.groups.closed_forms.spatial_dyads import LETTERS as SPATIAL
from biela.equations.groups.closed_forms.spatial_dyads import spatial_dyad
from biela.equations.groups.closed_forms.spatial_view import SpatialView
from biela.equations.groups.closed_forms.unknowns import Value, value_of

if TYPE_CHECKING:
    from biela.equations.groups.kernel import GroupEquations

__all__ = ["ClosedForm", "closed_form"]

#: Squares of sines below this are a dead point: rounding of the squares of lengths says no more.
_DEAD: Final = 1e-14


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The solution of a group as expressions.

    Attributes:
        branch: The symbol of the branch, 1 or -1; None where there is one solution.
        values: The unknowns.
        margin: Positive away from dead points; see `Geometry`.
        sides: What the branches are; None where there is one solution.
    """

    branch: Atom | None
    values: tuple[Value, ...]
    margin: Atom | None
    sides: Sides | None

    @property
    def branch_count(self) -> int:
        """How many solutions there are."""
        return 1 if self.sides is None else 2

    @property
    def atoms(self) -> list[Atom]:
        """All expressions it is made of but predictions."""
        parts = [v.value for v in self.values]
        return parts if self.margin is None else [*parts, self.margin]

    def guess(self, prediction: Sequence[Atom]) -> list[Atom]:
        """The unknowns; angles that count turns are those next to a prediction."""
        pairs = zip(self.values, prediction, strict=True)
        return [value.next_to(near) for value, near in pairs]

    @property
    def stuck(self) -> Atom | None:
        """Whether the group is out of reach or at a dead point, where no step leads anywhere."""
        return None if self.margin is None else self.margin < _DEAD

    def positive(self, prediction: Sequence[Atom]) -> list[Atom]:
        """Above zero where the group is on its branch, and not at a dead point.

        A group that passes a point where both branches meet goes on to the other one, as a
        parallelogram does when it is flat: the other solution is then nearer to a prediction.
        """
        found = [] if self.margin is None else [self.margin - _DEAD]
        nearer = None if self.branch is None else self._nearer(self.branch, prediction)
        return found if nearer is None else [*found, nearer]

    def _nearer(self, branch: Atom, prediction: Sequence[Atom]) -> Atom | None:
        """Above zero where a prediction p is nearer to this solution than to the other one.

        Of points and lengths |x₋ - p|² - |x - p|²; if all unknowns are angles, of one of them that
        the branch changes, cos(x - p) - cos(x₋ - p).  None if the branch changes none of them.
        """
        table = branch.workspace.table
        depends = [branch.ref in set(table.live([v.value.ref])) for v in self.values]
        mine = [(v, p) for v, p, d in zip(self.values, prediction, depends, strict=True) if d]
        lengths = [(v.value, p) for v, p in mine if v.parts is None]
        total = branch.workspace.atom(0)
        if lengths:
            others = substitute([x for x, _ in lengths], {branch: -branch})
            for (x, p), other in zip(lengths, others, strict=True):
                total = total + (other - x) * (x + other - 2 * p)
            return total
        if not mine:
            return None
        value, p = mine[0]
        assert value.parts is not None
        s, c = value.parts
        other_s, other_c = substitute([s, c], {branch: -branch})
        return (s - other_s) * sin(p) + (c - other_c) * cos(p)

    def branch_of(self, poses: Poses) -> Floats | None:
        """(n,) the signs of the branches that instances are on at a position."""
        return None if self.sides is None else self.sides.signs(poses)

    def branches(self, instance: int = 0) -> dict[str, str]:
        """The branches of an instance: what each is called, and what it means."""
        if self.sides is None:
            return {}
        words = zip(self.sides.words, (1.0, -1.0), strict=True)
        return {word: self.sides.sentence(sign, instance) for word, sign in words}


def closed_form(equations: GroupEquations) -> ClosedForm | None:
    """The solution of a group in closed form, if it has one that is known here.

    It is recognised by its joints, bodies and markers, whatever their names and order.
    """
    derivation = equations.derivation
    if not derivation.unknowns:
        return None
    branch = derivation.workspace.parameter("branch")
    for recognise in _RECOGNISED:
        geometry = recognise(equations, branch)
        if geometry is None:
            continue
        values: list[Value] = []
        for unknown in derivation.unknowns:
            try:
                value = value_of(geometry.found, unknown, equations.poses)
            except LookupError:  # a rod whose spin somebody asks for
                return None
            if value is None:
                return None
            values.append(value)
        sides = geometry.sides
        return ClosedForm(
            branch if sides is not None else None, tuple(values), geometry.margin, sides
        )
    return None


def _planar(equations: GroupEquations, branch: Atom) -> Geometry | None:
    derivation, poses = equations.derivation, equations.poses
    if derivation.plane is None:
        return None
    view = PlanarView(derivation)
    dyad, actuated = dyad_of(derivation.cast, PLANAR), actuated_dyad_of(derivation.cast)
    if actuated is not None:
        return actuated_dyad(view, actuated, poses, branch)
    return None if dyad is None else planar_dyad(view, dyad, poses, branch)


def _spatial(equations: GroupEquations, branch: Atom) -> Geometry | None:
    derivation, poses = equations.derivation, equations.poses
    dyad = dyad_of(derivation.cast, SPATIAL) if derivation.plane is None else None
    if dyad is None:
        return None
    return spatial_dyad(SpatialView(derivation), dyad, poses, branch)


def _plane_in_space(equations: GroupEquations, branch: Atom) -> Geometry | None:
    derivation, poses = equations.derivation, equations.poses
    if derivation.plane is not None:
        return None
    dyad, actuated = dyad_of(derivation.cast, PLANAR), actuated_dyad_of(derivation.cast)
    chain = dyad if actuated is None else actuated.dyad
    plane = None if chain is None else plane_of(SpatialView(derivation), chain, poses)
    if plane is None or chain is None:
        return None
    if actuated is not None:
        return actuated_dyad(plane, actuated, poses, branch)
    return planar_dyad(plane, chain, poses, branch)


_RECOGNISED: Final[tuple[Callable[[GroupEquations, Atom], Geometry | None], ...]] = (
    _planar,
    _spatial,
    _plane_in_space,
)
