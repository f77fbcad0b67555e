"""The branches of groups in words: the ways to assemble each, and which one is meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biela.equations.groups.cast import Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.closed_forms.closed_form import ClosedForm
from biela.errors import ModelError

__all__ = ["GroupBranches", "branches_of"]


@dataclass(frozen=True)
class GroupBranches:
    """The two ways to assemble a group.

    Attributes:
        group: Its number in solution order.
        cast: Number of its kind among the casts, and its instance there: where its sign stands.
        bodies: Its bodies.
        joints: Its joints.
        words: What the branches are called: the one with the sign 1, and the one with -1.
        sentences: What they mean.
        assembled: The sign of the branch at the start.
    """

    group: int
    cast: tuple[int, int]
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    words: tuple[str, str]
    sentences: tuple[str, str]
    assembled: float

    def sign(self, choice: str | float) -> float:
        """The sign of a branch: by its word, 1 or -1, or "assembled" or "other".

        Raises:
            ModelError: There is no such branch.
        """
        signs = dict(zip(self.words, (1.0, -1.0), strict=True))
        signs |= {"assembled": self.assembled, "other": -self.assembled}
        if isinstance(choice, str) and choice in signs:
            return signs[choice]
        if not isinstance(choice, str) and choice in (1, -1):
            return float(choice)
        raise ModelError(
            f"the group of {', '.join(self.bodies)} has no branch {choice!r}: it is "
            f"{self.words[0]!r} ({self.sentences[0]}) or {self.words[1]!r} ({self.sentences[1]}), "
            f"or 'assembled' or 'other', or 1 or -1"
        )


def branches_of(
    casts: Casts, forms: Sequence[ClosedForm | None], poses: Poses
) -> Iterator[GroupBranches]:
    """The branches of all groups that have two, at a position of the whole model."""
    for c, (cast, form) in enumerate(zip(casts.casts, forms, strict=True)):
        signs = None if form is None else form.branch_of(poses)
        if form is None or form.sides is None or signs is None:
            continue
        for k in range(cast.count):
            yield GroupBranches(
                int(cast.groups[k]),
                (c, k),
                tuple(casts.world.names[b] for b in cast.bodies[k]),
                tuple(e.names[k] for e in cast.elements),
                form.sides.words,
                (form.sides.sentence(1.0, k), form.sides.sentence(-1.0, k)),
                float(signs[k]),
            )
