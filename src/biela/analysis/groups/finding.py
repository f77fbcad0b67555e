"""Find the structural groups of a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from biela.analysis.engine_choice import with_drivers
from biela.analysis.groups.drives import driven_model, joint_drive
from biela.analysis.groups.positions import DENSE, SPARSE, assembled_positions, later_positions
from biela.analysis.looped.start import first_blocks
from biela.analysis.preparation import with_values
from biela.budgets import POSITIONS, within
from biela.doors import door
from biela.equations.blocks import reference_blocks
from biela.equations.groups.building import Passive, grouped_rows, structure_of
from biela.equations.groups.elements import elements_of
from biela.equations.groups.freedoms import freedoms_of
from biela.equations.groups.structure import Structure
from biela.equations.groups.units import Rows, rows_of
from biela.errors import ModelError
from biela.model import Model
from biela.model.joints import Joint
from biela.model.parts.flattening import body_count

__all__ = ["Study", "structural_groups"]

#: A law for drivers of which only the row counts.
_LAW: Final = "0.37"
#: Choices of independent coordinates that are all tried; of more, one after the other is chosen.
_TRIES: Final = 300


@door(ModelError)
def structural_groups(
    model: Model,
    drivers: Mapping[str, Any] | None = None,
    *,
    independent: Sequence[str] | str | None = None,
    passive: Passive = "hold",
    parameters: Mapping[str, float] | None = None,
    t: float = 0.0,
    positions: int = 3,
    seed: int = 0,
) -> Structure:
    """The structural groups of a model: small sets of bodies that are solved one after another.

    >>> import biela as bl
    >>> m = bl.Model("pendulum", plane="xz")
    >>> rod = m.body("rod", mass=1.0)
    >>> joint = m.joint("revolute", "pivot", m.ground, rod, axis="y")
    >>> found = bl.structural_groups(m, {"pivot": "t"})
    >>> print(*(group.name for group in found.groups))
    1R

    Args:
        model: Bodies, joints and drivers; arrays of parts stay arrays.
        drivers: Laws of further joint coordinates, by name, as for `kinematics`.
        independent: Joint coordinates taken as known though nothing drives them, as for dynamics;
            "auto" chooses as many as there are freedoms, so that the largest group is smallest.
        passive: "hold" turns that move nothing else, as of a rod about its two balls, by one
            equation each, or "report" them as freedoms that want a driver.
        parameters: Values other than those of the model.
        t: The time at which the model is assembled.
        positions: At how many positions ranks are looked at; large models are where they start.
        seed: Of the random steps to them.

    Returns:
        The groups in solution order, with what is redundant, passive or not driven.

    Raises:
        ModelError: A name is unknown, or the model has no bodies.
        AssemblyError: The joints close in no position.
    """
    model, parameters = with_values(model, parameters)
    if not isinstance(model, Model):
        raise ModelError("structural groups are those of a Model, of bodies and joints")
    if passive not in ("hold", "report"):
        raise ModelError(f"passive is hold or report, not {passive!r}")
    driven = with_drivers(model, drivers) if drivers else model
    within(POSITIONS, positions, "structural_groups would compare {} positions", "use fewer")
    study = Study(driven, parameters, t, positions, seed)
    if independent is None or (not isinstance(independent, str) and not len(independent)):
        return plain_structure(study, passive)
    if independent == "auto":
        return chosen_structure(study, passive)
    names = [independent] if isinstance(independent, str) else list(independent)
    rows, known = study.with_coordinates(names)
    return structure_of(rows, model.name, known, passive)


class Study:
    """The equations of a model at assembled positions, with coordinates taken as known.

    Arguments are those of `structural_groups`.
    """

    def __init__(
        self,
        model: Model,
        parameters: Mapping[str, float] | None,
        t: float,
        positions: int = 3,
        seed: int = 0,
    ) -> None:
        self.model, self.parameters, self.t = model, parameters, t
        linked = any(part.link is not None for part in model.parts.values())
        if linked and body_count(model) <= SPARSE // 6:
            # an angle that is a little wrong in each cell throws the end of a chain far off
            self.blocks, _ = first_blocks(model, None, t, parameters)
        else:
            self.blocks = reference_blocks(model, parameters=parameters, t=t)
        elements = elements_of(self.blocks)
        drives = elements.is_driver[elements.element]
        self.positions = assembled_positions(
            self.blocks, drives, t=t, count=max(positions, 1), seed=seed
        )
        self.rows = rows_of(self.blocks, [(t, q) for q in self.positions], elements)

    @property
    def elsewhere(self) -> Callable[[], Rows] | None:
        """The equations at more positions of a large model; None if there are several already."""
        if len(self.positions) > 1 or self.blocks.nv <= DENSE:
            return None

        def later() -> Rows:
            found = later_positions(self.blocks, self.positions[0], self.t)
            return rows_of(self.blocks, [(self.t, self.positions[0]), *found], self.rows.elements)

        return later

    def with_coordinates(self, names: Sequence[str]) -> tuple[Rows, dict[int, str]]:
        """The equations with a driver for each coordinate, and which elements these are.

        Raises:
            ModelError: A name is no coordinate of a joint, or it is driven.
        """
        drives = [joint_drive(self.model, name) for name in names]
        whole = driven_model(self.model, drives, [[_LAW]] * len(drives))
        blocks = reference_blocks(whole, parameters=self.parameters, t=self.t)
        known = dict(zip(self.blocks.extra, range(len(self.blocks.extra)), strict=True))
        size = self.blocks.body_sizes[0]
        places = [size + known[name] if name in known else -1 for name in blocks.extra]
        at = []
        for q in self.positions:
            # the bodies are where they are, whatever the laws of the new drivers say
            extra = [float(q[place]) if place >= 0 else 0.0 for place in places]
            at.append((self.t, np.concatenate([q[:size], extra])))
        rows = rows_of(blocks, at)
        found = {}
        called = {drive.driver.name: drive.name for drive in drives}
        for sort in rows.elements.sorts:
            text = sort.element.name
            if text in called:
                found[sort.first] = _full(sort.references[0].joint, called[text])
        return rows, found


def _full(joint: Joint, name: str) -> str:
    """ "joint.coordinate" for a joint that goes by its name alone."""
    coordinate = joint.coordinates[0].name
    return (
        name
        if name.endswith(tuple(f".{c.name}" for c in joint.coordinates))
        else (f"{name}.{coordinate}")
    )


def plain_structure(study: Study, passive: Passive = "hold") -> Structure:
    """The structure of a model as it is driven."""
    return structure_of(study.rows, study.model.name, None, passive, study.elsewhere)


def chosen_structure(study: Study, passive: Passive = "hold") -> Structure:
    """The structure with the coordinates as known that split the model best."""
    name = study.model.name
    plain = structure_of(study.rows, name, None, passive)
    count = len(plain.freedoms)
    candidates = list(dict.fromkeys(c for f in plain.freedoms for c in f.coordinates))
    if not count or len(candidates) < count:
        return plain  # free bodies and balls turn by no coordinate that is a number
    rows, known = study.with_coordinates(candidates)
    elements = list(known)

    def tried(some: Sequence[int]) -> tuple[int, int, int]:
        """Freedoms that are left, bodies of the largest group, and the sum of their squares."""
        others = [e for e in elements if e not in some]
        chosen = {e: known[e] for e in some}
        held, found, kinds, _ = grouped_rows(rows.without(others), chosen, passive)
        left = np.flatnonzero(found.group < 0).tolist()
        sizes = [kind.bodies.shape[1] for kind in kinds for _ in kind.groups]
        sizes += [len(left)] if left else []
        free = 0
        if left:
            solved = set(np.flatnonzero(found.group >= 0).tolist())
            free = len(freedoms_of(held, left, solved))
        return free, max(sizes), sum(n * n for n in sizes)

    if math.comb(len(elements), count) <= _TRIES:
        best: tuple[int, ...] = min(combinations(elements, count), key=tried)
    else:
        best = ()
        for _ in range(count):
            best = min(((*best, e) for e in elements if e not in best), key=tried)
    others = [e for e in elements if e not in best]
    chosen = {e: known[e] for e in sorted(best)}
    return structure_of(rows.without(others), name, chosen, passive)
