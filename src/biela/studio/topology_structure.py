"""The structure of bodies and joints on a page: graph, loops, freedoms, groups."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import biela as bl
from biela.analysis.checking import CheckReport, check, draw_topology
from biela.analysis.groups.diagram import draw_groups
from biela.analysis.joint_replacements import joint_of
from biela.errors import ShapeError
from biela.studio.report.figures import picture
from biela.studio.report.fragments import table, words

__all__ = ["Structure"]

_REALLY: Final = "by rank, as it really moves"
#: Groups that a table lists, and loops.
_LISTED: Final = 40


class Structure:
    """The pieces of one model; it is looked over when the first is asked for.

    Args:
        model: Bodies and joints.

    Attributes:
        open: Whether it was found that the joints cannot be closed.
    """

    def __init__(self, model: bl.Model) -> None:
        self._model = model
        self.open = False

    @cached_property
    def check(self) -> CheckReport:
        """What `biela check` finds."""
        return check(self._model)

    def graph(self) -> str:
        """A circle a body, an arc a joint.

        Raises:
            ResultsError: There are too many bodies to draw.
        """
        topology = self.check.topology
        told = f"{topology.bodies:,} bodies and {topology.joints:,} joints: {topology.chain}"
        drawn = picture(lambda path: draw_topology(self.check, path), f"Graph of {told}")
        letters = "R revolute, P prismatic, C cylindrical, U universal, S spherical, 0 fixed"
        return drawn + words(f"{told}. {letters}; driven joints are coloured.", "caption")

    def loops(self) -> str:
        """The joints around each loop of a smallest basis."""
        topology = self.check.topology
        if not topology.loops:
            return words(f"No loops: {topology.chain}.")
        head = words(
            f"{topology.loops:,} independent loop{'s' * (topology.loops != 1)}; cut at "
            f"{_few(topology.cut)} the bodies are a tree."
        )
        try:
            loops = topology.smallest_loops
        except ShapeError as error:
            return head + words(str(error))
        return head + table(
            ("loop", "joints", "around it"),
            [(k + 1, len(loop), " – ".join(loop)) for k, loop in enumerate(loops[:_LISTED])],
        )

    def freedoms(self) -> str:
        """Freedoms by count and by rank, and what each joint takes."""
        found = self.check
        topology = found.topology
        count = f"6·{topology.bodies:,} − {topology.removed:,} = {topology.freedoms:,}"
        rows = [("by count in space", count.replace("-", "−"))]
        if topology.planar_freedoms is not None:
            free = topology.planar_freedoms
            count = f"3·{topology.bodies:,} − {3 * topology.bodies - free:,} = {free:,}"
            rows.append((f"by count in the {topology.plane} plane", count.replace("-", "−")))
        if found.freedoms is not None:
            basis = f" ({found.basis})" if found.basis else ""
            how = "by rank, with its joints open as written" if self.open else _REALLY
            rows.append((how, f"{found.freedoms:,}{basis}"))
        rows.append(("of these, given by drivers", f"{topology.driven:,}"))
        html = table(("degrees of freedom", ""), rows)
        if found.mobility is not None:
            html += table(
                ("joint", "constraints", "independent"),
                [(j.name, j.rows, j.independent) for j in found.mobility.joints],
            )
        levels = {"error": "said error", "warning": "said warning", "note": "note"}
        told = [f for f in found.findings if f.text not in found.suggestions]  # those follow below
        ending = "; it will be assembled"
        end = ", and cannot be closed: see Motion" if self.open else ending
        return html + "".join(words(f.text.replace(ending, end), levels[f.level]) for f in told)

    def redundancy(self) -> str:
        """The constraints that depend on others, by joint."""
        rank = self.check.mobility
        if rank is None:
            return words("Not known: the rank of the constraints was not found, see above.")
        count = len(rank.constraints)
        if not rank.redundant and not rank.singular:
            where = " in the plane" if self._model.plane else ""
            if self.open:
                return words(
                    f"None as the model is written: all {count:,} constraints are independent "
                    f"there. Its joints cannot be closed, so that there is no position in which "
                    f"reactions could be asked for."
                )
            return words(
                f"None: all {count:,} constraints are independent, and all reactions"
                f"{where} are determinate."
            )
        rows: dict[str, list[str]] = {}
        for name in rank.redundant:
            rows.setdefault(joint_of(name), []).append(name.rpartition(".")[2])
        html = words(
            f"{len(rank.redundant):,} of {count:,} constraints depend on the "
            f"others: the mechanism moves all the same, but not all reactions are determinate."
        )
        html += table(
            ("joint", "redundant", "rows"), [(j, len(r), ", ".join(r)) for j, r in rows.items()]
        )
        if rank.singular:
            html += words(f"Dependent at the start only: {_few(rank.singular)}.", "said warning")
        return html + "".join(words(text) for text in self.check.suggestions)

    def groups(self) -> str:
        """The groups in the order in which they are solved, and their diagram.

        Raises:
            BielaError: The ranks cannot be found.
        """
        found = bl.structural_groups(self._model)
        if not len(found.groups):
            return words(found.wanting() or "No groups: there is nothing to solve.")
        html = picture(lambda path: draw_groups(found, path), f"{len(found.groups)} groups")
        if self.open:
            html = words("As the model is written: its joints cannot be closed.") + html
        html += words(
            "Each group is solved when those to its left are; groups of one colour are of one "
            "kind.",
            "caption",
        )
        html += table(
            ("group", "kind", "bodies", "rests on"),
            [
                (
                    number,
                    group.name,
                    ", ".join(group.bodies),
                    ", ".join(["ground"] * ("ground" in group.known_in_order))
                    + ("; " if group.after and "ground" in group.known_in_order else "")
                    + ", ".join(f"group {k}" for k in group.after),
                )
                for number, group in enumerate(found.groups[:_LISTED])
            ],
        )
        if found.one_group:
            html += words(f"It does not split: {found.one_group}")
        return html + words(found.wanting())


def _few(names: tuple[str, ...], most: int = 8) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
