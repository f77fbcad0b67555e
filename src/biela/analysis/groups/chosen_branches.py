"""On which branches the groups of a solver are: told in words, and chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from biela.equations.groups.cast import Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.closed_forms import GroupBranches, branches_of
from biela.equations.groups.lowering import GroupProgram
from biela.errors import ModelError
from biela.spelling import nearest

__all__ = ["ChosenBranch", "choose_branches", "chosen_branches"]


@dataclass(frozen=True)
class ChosenBranch(GroupBranches):
    """The two ways to assemble a group, and the one that a solver takes.

    Attributes:
        chosen: The sign of the branch that is taken: that of the start, or another one if it was
            asked for.
    """

    chosen: float

    @property
    def word(self) -> str:
        """What the branch that is taken is called."""
        return self.words[0 if self.chosen > 0 else 1]

    def __str__(self) -> str:
        """The branch that is taken, and the other one."""
        taken, other = (0, 1) if self.chosen > 0 else (1, 0)
        why = "as the model starts" if self.chosen == self.assembled else "as chosen"
        return (
            f"{', '.join(self.bodies)}: {self.words[taken]!r}, {why}: {self.sentences[taken]}; "
            f"the other branch is {self.words[other]!r}"
        )


def chosen_branches(casts: Casts, program: GroupProgram, poses: Poses) -> list[ChosenBranch]:
    """The branches of every group that has a closed form with two."""
    found = []
    for group in branches_of(casts, program.closed, poses):
        kind, instance = group.cast
        signs = program.branch_signs.get(kind)
        chosen = group.assembled if signs is None else float(signs[instance])
        own = {item.name: getattr(group, item.name) for item in fields(group)}
        found.append(ChosenBranch(**own, chosen=chosen))
    return found


def choose_branches(
    name: str,
    found: Sequence[GroupBranches],
    program: GroupProgram,
    poses: Poses,
    choices: Mapping[str, str | int],
) -> None:
    """Put groups on branches, by a body or joint of theirs; ``name`` is that of the model.

    Raises:
        ModelError: No group with branches has such a body or joint, or no such branch.
    """
    for member, choice in choices.items():
        mine = [group for group in found if member in (*group.bodies, *group.joints)]
        if not mine:
            known = [body for group in found for body in group.bodies]
            raise ModelError(
                f"{name}: {member!r} is no body or joint of a group with branches"
                f"{nearest(member, known)}"
            )
        for group in mine:
            kind, instance = group.cast
            form = program.closed[kind]
            assert form is not None, "only groups with a closed form have branches"
            signs = program.branch_signs.get(kind)
            signs = np.array(form.branch_of(poses)) if signs is None else signs
            signs[instance] = group.sign(choice)
            program.branch_signs[kind] = signs
