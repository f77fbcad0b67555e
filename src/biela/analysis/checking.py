"""Is a model sound?  What `biela check` says before anything is computed with it.

Bodies and joints are counted; the rank of the constraints says how many freedoms there really are
and which equations are too many; the start position is looked at, and so are masses, names and
units.  Large arrays are counted as a whole and looked at closely in a few instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.array_freedoms import array_freedoms, undriven
from biela.analysis.assembly import assemble
from biela.analysis.check_report import CheckReport, Finding, Opening
from biela.analysis.few_instances import few_instances
from biela.analysis.idle import idle_freedoms
from biela.analysis.instant import Instant
from biela.analysis.joint_replacements import joint_of, replacements
from biela.analysis.mobility import Mobility, mobility
from biela.analysis.openings import best_openings, start_openings
from biela.analysis.reach import nearest
from biela.analysis.smells import (
    bodies_without_mass,
    driven_twice,
    driver_smells,
    gravity_across,
    name_smells,
    parallel_joints,
    unit_smells,
)
from biela.analysis.topology_drawing import draw_topology
from biela.doors import door
from biela.equations import System
from biela.equations.elements import element_faults
from biela.errors import AssemblyError, BielaError, ModelError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.model.topology.planarity import Plane, plane_faults, plane_of_motion
from biela.model.topology.topology import Topology
from biela.model.topology.tree import joint_tree, start_poses

__all__ = ["CheckReport", "Finding", "Opening", "check", "draw_topology"]

#: Bodies up to which a model is looked at as a whole.
_WHOLE: Final = 60


@door(ModelError)
def check(model: Model) -> CheckReport:
    """Look a model over.

    Nothing is raised for a bad model: what is wrong stands in the findings.
    """
    topology = Topology.of(model)
    findings = list(_shape_findings(model, topology))
    large = body_count(model) > _WHOLE
    near = few_instances(model, 1 if large else 10**9)
    looked_at = near.model.flattened(limit=None)
    rank: Mobility | None = None
    openings: tuple[Opening, ...] = ()
    suggestions: tuple[str, ...] = ()
    plane: Plane | None = None
    freedoms: int | None = None
    basis = ""
    idle: tuple[str, ...] = ()
    if not looked_at.bodies:
        findings.append(Finding("error", f"{model.name} has no bodies"))
    elif len(looked_at.bodies) > _WHOLE:
        findings.append(
            Finding(
                "note",
                f"{len(looked_at.bodies):,} bodies that are no array: rank and start position were "
                f"not looked at; ask mobility(…) and assemble(…)",
            )
        )
    else:
        try:
            if looked_at.plane is not None:
                faults = plane_faults(looked_at, looked_at.plane)
                findings += [Finding("error", text) for text in faults]
            system = undriven(looked_at)
            openings = start_openings(system)
            rank, unclosed, idle = _closed(looked_at, system)
            findings += unclosed
            if rank is not None:
                plane = _plane(looked_at)
                freedoms, basis = array_freedoms(model, rank) if large else (rank.by_rank, "")
            if large:
                findings.append(_array_finding(near.left_out))
            if large and near.left_out:
                freedoms, basis = None, ""
            if rank is not None and not large:
                suggestions = replacements(looked_at, rank, plane)
            findings += [Finding("error", text) for text in element_faults(looked_at)]
        except BielaError as error:
            findings.append(Finding("error", str(error)))
    if rank is not None:
        findings += _rank_findings(
            model, topology, rank, openings, suggestions, freedoms, () if large else idle
        )
    if plane is not None:
        findings.append(_plane_finding(plane))
    findings += _smell_findings(model)
    order = ("error", "warning", "note")
    findings.sort(key=lambda finding: order.index(finding.level))
    return CheckReport(
        looked_at,
        topology,
        freedoms,
        rank,
        basis,
        openings,
        plane,
        suggestions,
        tuple(findings),
    )


# ------------------------------------------------------------------------------ freedoms


def _closed(model: Model, system: System) -> tuple[Mobility | None, list[Finding], tuple[str, ...]]:
    """The freedoms where all joints are closed, and those that are idle.

    None and the reason where they cannot be closed.
    """
    rank = mobility(system)
    if rank.assembled:
        instant = Instant(system, 0.0, system.inputs, system.parameters)
        first = np.array([entry.value for entry in system.q])
        idle = idle_freedoms(instant, nearest(instant, first).q)
        return rank, [], tuple(str(one) for one in idle)
    with suppress(AssemblyError):  # from other sides too
        found = assemble(system)
        rank = mobility(system, found.q)
        if rank.assembled:
            return rank, [], found.idle
    best = best_openings(model)
    if not best:
        text = "the joints are closed in joint coordinates only: give bodies a start nearer to it"
        return None, [Finding("warning", text)], ()
    wide = _listed([str(opening).replace(" is open", " stays open") for opening in best], 3)
    text = f"cannot be closed: {wide} at best; check lengths and places"
    return None, [Finding("error", text)], ()


def _array_finding(left_out: Sequence[str]) -> Finding:
    text = (
        "arrays are counted as a whole; rank, redundant rows and start position are those of "
        "their first instances"
    )
    if left_out:
        text += (
            f", without {_listed(left_out)}, which hold on to others: the freedoms of the whole "
            f"are not known"
        )
    return Finding("note", text)


def _rank_findings(
    model: Model,
    topology: Topology,
    rank: Mobility,
    openings: Sequence[Opening],
    suggestions: Sequence[str],
    freedoms: int | None,
    idle: Sequence[str],
) -> Iterator[Finding]:
    if openings:
        widest = "; ".join(str(opening) for opening in openings[:5])
        more = f"; and {len(openings) - 5} more" if len(openings) > 5 else ""
        yield Finding("note", f"at the start {widest}{more}; it will be assembled")
    redundant: dict[str, list[str]] = {}
    for row in rank.redundant:
        redundant.setdefault(joint_of(row), []).append(row.rpartition(".")[2])
    for joint, rows in redundant.items():
        yield Finding(
            "note",
            f"joint {joint} has {len(rows)} redundant row{'s' * (len(rows) > 1)} "
            f"({', '.join(rows)}): reactions are not unique",
        )
    for text in suggestions:
        yield Finding("note", text)
    if rank.singular:
        joints = dict.fromkeys(joint_of(row) for row in rank.singular)
        yield Finding("warning", f"the start is a singular position: see {', '.join(joints)}")
    if rank.doubtful:
        joints = dict.fromkeys(joint_of(row) for row in rank.doubtful)
        yield Finding(
            "warning",
            f"the number of freedoms is doubtful: rows of {', '.join(joints)} are within 1e-5 of "
            f"depending on other joints, in all positions compared; check lengths and axes that "
            f"should be equal or parallel",
        )
    if freedoms is not None and topology.driven > freedoms:
        motions = f"{topology.driven:,} motion{'s' * (topology.driven != 1)}"
        who = f": {_listed(list(model.drivers))}" if model.drivers else ""
        yield Finding(
            "error",
            f"drivers impose {motions} on {freedoms:,} freedom{'s' * (freedoms != 1)}{who}",
        )
    elif freedoms is not None:
        left = max(freedoms - topology.driven - len(idle), 0)
        have = f", {topology.driven:,} of them driven" if topology.driven else ""
        needs = f"; kinematics needs {left:,} more driver{'s' * (left != 1)}" if left else ""
        yield Finding("note", f"{freedoms:,} freedom{'s' * (freedoms != 1)}{have}{needs}")
        for text in idle:
            yield Finding("note", f"an idle freedom: {text}; kinematics holds it")


# ----------------------------------------------------------------------- start and plane


def _plane(model: Model) -> Plane | None:
    if model.plane is not None:
        return None
    poses, _ = start_poses(model, joint_tree(model))
    return plane_of_motion(model, poses)


def _plane_finding(plane: Plane) -> Finding:
    offer = (
        f'; Model(…, plane="{plane.name}") or in_plane("{plane.name}") gives it three freedoms a '
        f"body: smaller equations, fewer of them redundant"
        if plane.name
        else "; turned so that this is the xy, xz or yz plane, it can be declared planar"
    )
    return Finding("note", f"it moves in {plane}{offer}")


# ----------------------------------------------------------------------- shape and smells


def _shape_findings(model: Model, topology: Topology) -> Iterator[Finding]:
    if len(topology.loose):
        yield Finding(
            "error",
            f"no joint connects {_few(topology, topology.loose)} to the ground: add one, or a free "
            f"joint if it is to float",
        )
    if len(topology.floating):
        verb = "hangs" if len(topology.floating) == 1 else "hang"
        who = _few(topology, topology.floating)
        yield Finding("warning", f"{who} {verb} free by a free joint")
    for text in driven_twice(model):
        yield Finding("error", text)
    for text in parallel_joints(model):
        yield Finding("note", text)


def _few(topology: Topology, bodies: Sequence[int] | npt.NDArray[np.int64]) -> str:
    more = f" and {len(bodies) - 5:,} more" if len(bodies) > 5 else ""
    return ", ".join(topology.body_names(bodies[:5])) + more


def _smell_findings(model: Model) -> Iterator[Finding]:
    light = bodies_without_mass(model)
    total = len(model.bodies) + sum(len(part.model.bodies) for part in model.parts.values())
    if light and len(light) == total:
        yield Finding("note", "no body has mass: enough for kinematics, not for dynamics")
    elif light:
        yield Finding("warning", f"without mass, which dynamics needs: {_listed(light)}")
    across = gravity_across(model)
    if across:
        yield Finding("warning", across)
    for text in (*name_smells(model), *unit_smells(model), *driver_smells(model)):
        yield Finding("warning", text)


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
