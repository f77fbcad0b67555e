"""Kinematics by structural groups: the pieces of a mechanism solved one after the other.

The structure is found once; every kind of group is derived and compiled once, in coordinates of its
own; a run is one native call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from biela.analysis.engine_choice import LARGE
from biela.analysis.groups.chosen_branches import (
    ChosenBranch,
    choose_branches,
    chosen_branches,
)
from biela.analysis.groups.coordinates import (
    COORDINATES,
    Coordinates,
    check_kinds,
    check_word,
    chosen_coordinates,
    placed_group,
)
from biela.analysis.groups.joint_requests import JointRequest, joint_requests
from biela.analysis.groups.run_time_program import MixedProgram
from biela.analysis.groups.runner import GroupRunner
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.starting import check_size, start_poses
from biela.analysis.groups.stored import Stored, aligned_rows
from biela.analysis.groups.tiles import strands_of
from biela.analysis.groups.workspace import Lanes
from biela.analysis.preparation import with_values
from biela.budgets import THREADS, within
from biela.code.llvm.host import host_lanes
from biela.doors import doors
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.dynamics.laws import law_places
from biela.equations.groups.entries import ASSEMBLIES, LINEAR_SOLVERS, Assembly, LinearSolver
from biela.equations.groups.items import Item
from biela.equations.groups.kernel import Convective, GroupEquations
from biela.equations.groups.lowering import GroupProgram, Iteration, Request
from biela.equations.groups.relative import Angles
from biela.equations.groups.structure import Structure
from biela.errors import DeadPointError, ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.results import Results
from biela.spelling import nearest

__all__ = ["GroupSolver"]

Floats = npt.NDArray[np.float64]


@doors(ModelError)
class GroupSolver:
    """The groups of a model, ready to run.

    Args:
        model: With a driver for every freedom.
        structure: Its groups; found if it is not given.
        coordinates: Of all groups, or by name of their kind ("RRR"): "natural", "mixed",
            "relative" or "reference".
        points: Markers ("coupler.P") whose motion is wanted.
        bodies: Whether the motion of all bodies is wanted.
        joints: Coordinates of joints ("D", "D.angle") that are wanted, over all turns.
        convective: How the velocity terms are written, as a "rate" or with the "tensor" of second
            derivatives.
        angles: Of planar bodies in relative coordinates, against the ground ("absolute") or of
            their joints ("relative").
        solver: How the linear equations of a group are solved, of all or by name of their kind:
            "unrolled" into its kernel, "dense" or "sparse" with pivots at run time; "auto" goes by
            their size.
        assembly: Of groups that are not unrolled, whether their equations are "generated" for the
            kind or "assembled" from kernels of single joints.
        closed_forms: Whether positions of groups that have a closed form are taken from it, in
            place of Newton's method.
        branches: On which branch groups with a closed form are, by a body or joint of theirs: a
            word such as "left" (`branches` lists them), 1 or -1, or "other" than where it starts.
        lanes: What shares the lanes of the processor, "instants" or "groups"; None chooses.  Groups
            that are solved at run time take one instant at a time: "groups".
        iteration: Tolerance and number of steps.
        parameters: Values other than those of the model.
        q: First guess of coordinates at the start, by name.
        t: Time of the start, at which the model is assembled.  A run that begins at another
            instant follows the motion from there.
        poses: Where all bodies are then; found if it is not given.
        threads: How many branches of the group diagram are run at a time.

    Raises:
        ModelError: Freedoms are left that nothing drives, or a name is not known.
        AssemblyError: The joints close in no position.
    """

    def __init__(
        self,
        model: Model,
        structure: Structure | None = None,
        *,
        coordinates: Coordinates | Mapping[str, Coordinates] = "natural",
        points: Sequence[str] = (),
        bodies: bool = True,
        joints: Sequence[str] = (),
        convective: Convective = "rate",
        angles: Angles = "absolute",
        solver: LinearSolver | Mapping[str, LinearSolver] = "auto",
        assembly: Assembly = "auto",
        closed_forms: bool = True,
        branches: Mapping[str, str | int] | None = None,
        lanes: Lanes | None = None,
        iteration: Iteration | None = None,
        parameters: Mapping[str, float] | None = None,
        q: Mapping[str, float] | None = None,
        t: float = 0.0,
        poses: Poses | None = None,
        threads: int = 1,
    ) -> None:
        model, parameters = with_values(model, parameters)
        began = time.perf_counter()
        if not isinstance(model, Model):
            raise ModelError("groups are those of a Model, of bodies and joints")
        for what, given, known in (
            ("convective", convective, ("rate", "tensor")),
            ("angles", angles, ("absolute", "relative")),
            ("assembly", assembly, ASSEMBLIES),
            ("lanes", lanes or "instants", ("instants", "groups")),
        ):
            check_word(what, given, known)
        if isinstance(points, str) or isinstance(joints, str):
            raise ModelError("points and joints are lists of names: points=['coupler.P']")
        if threads != int(threads) or threads < 1:
            raise ModelError(f"threads are a whole number from 1, not {threads!r}")
        within(THREADS, threads, "{} threads are asked for", "use as many as there are processors")
        self.model, self.t = model, float(t)
        self.parameters = parameters
        if structure is None:
            from biela.analysis.groups.finding import structural_groups

            structure = structural_groups(model, parameters=parameters, t=self.t)
        self.structure = structure
        if not structure.determined:
            raise ModelError(
                f"{model.name}: drivers do not give the motion of all bodies; {structure.wanting()}"
            )
        self.world = World(model, parameters)
        if poses is None:
            poses = start_poses(model, self.world, q, self.t, parameters)
        self.poses = check_size(model.name, poses)
        self.casts = Casts(self.world, structure)
        names = [cast.example.name for cast in self.casts.casts]
        check_kinds("coordinates", coordinates, names, COORDINATES)
        check_kinds("solver", solver, names, LINEAR_SOLVERS)
        self.coordinates = [chosen_coordinates(coordinates, c) for c in self.casts.casts]
        self.joints = joint_requests(self.casts, joints)
        between = self.casts.coordinates_between()
        between |= {(j.cast, j.element, j.coordinate) for j in self.joints.values()}
        equations = []
        for c, (cast, way) in enumerate(zip(self.casts.casts, self.coordinates, strict=True)):
            derivation = placed_group(cast, way, self.poses, angles)
            for _, element, coordinate in sorted(x for x in between if x[0] == c):
                derivation.require(element, coordinate)
            equations.append(GroupEquations(derivation, self.poses, convective))
        self.joints = {
            name: replace(joint, turns=_turns(joint, equations))
            for name, joint in self.joints.items()
        }
        self.points = {name: self._point_request(name) for name in points}
        self.bodies = self._body_requests() if bodies else []
        items = [j.item for j in self.joints.values()]
        asked: list[Request | Item] = [*self.points.values(), *self.bodies, *items]
        self.threads = threads
        self._strands = strands_of(structure, threads)
        self.groups = MixedProgram(
            self.casts,
            equations,
            asked,
            iteration,
            solver=solver,
            assembly=assembly,
            closed_forms=closed_forms,
            strands=self._strands,
        )
        if branches:
            choose_branches(model.name, self.branches(), self.groups, poses, branches)
        self.lanes: Lanes = self._lanes() if lanes is None else lanes
        if self.lanes == "instants" and self.groups.run_time:
            raise ModelError(
                "groups with a dense or sparse solver take one instant after the other: leave out "
                "lanes, or give lanes='groups'"
            )
        self.time_prepared = time.perf_counter() - began

    # ----------------------------------------------------------------------- choices

    def _lanes(self) -> Lanes:
        """Instants; groups where they must be: a solver with pivots takes one at a time."""
        return "groups" if self.groups.run_time else "instants"

    def branches(self) -> list[ChosenBranch]:
        """The branches of every group that has a closed form, in words, and the one it is on."""
        return chosen_branches(self.casts, self.groups, self.poses)

    # ---------------------------------------------------------------------- requests

    def _point_request(self, name: str) -> Request:
        body, _, marker = name.rpartition(".")
        if not body or body == GROUND:
            raise ModelError(
                f"{self.model.name}: {name!r} is no marker of a moving body; points are given as "
                f"'body.marker'"
            )
        number = self.world.body(body)
        population, k, local = self.world.located(body)
        markers = population.prototype.bodies[local].markers
        if marker not in markers:
            raise ModelError(
                f"{self.model.name}: body {body} has no marker {marker!r}"
                f"{nearest(marker, sorted(markers))}"
            )
        place = population.frames(markers[marker]).place[k]
        return Request("point", np.array([number]), place[None])

    def _body_requests(self) -> list[Request]:
        """Centre and orientation of every body."""
        numbers = np.arange(self.world.count)
        found = [Request("point", numbers, self.world.centres)]
        if self.model.plane is not None:
            return [*found, Request("turn", numbers)]
        for k in range(2):
            axis = np.broadcast_to(np.eye(3)[k], (len(numbers), 3))
            found.append(Request("axis", numbers, axis))
        return found

    @property
    def large(self) -> bool:
        """Whether results are those of large mechanisms: arrays of bodies, no joints by name."""
        return bool(self.model.parts) or self.world.count > LARGE

    # --------------------------------------------------------------------------- runs

    def run(
        self,
        t: Floats | Sequence[float],
        *,
        store: Literal["all", "points"] = "all",
        room: Floats | None = None,
        given: tuple[Sequence[str], Floats] | None = None,
        progress: bool | None = None,
        so_far: Callable[[GroupMotion, int], Results] | None = None,
    ) -> GroupMotion:
        """The motion at some instants, in order.

        Args:
            t: Times.
            store: All items of all groups, or what was asked for as points.
            room: Where it is stored, see `room`; new memory if it is not given.
            given: Drivers that follow numbers in place of their laws: their names, and values,
                rates and second rates of all their laws at every instant, (instants, 3 * laws).
                The first instant is then that of the start.
            progress: Whether to show a bar; None shows it on a terminal for long runs.
            so_far: Makes results of the motion so far, from one of its results' instants on, for a
                record of the run while it goes on.

        Raises:
            DeadPointError: A group cannot pass; it names the time and the joints, and holds the
                motion until then.
            SimulationError: A group cannot be assembled at the start, or not be followed from there
                to the first instant.
        """
        times = np.asarray(t, dtype=float)
        if times.ndim != 1 or not len(times) or not np.isfinite(times).all():
            raise ModelError("the instants are a row of times, in seconds")
        began = time.perf_counter(), time.process_time()
        runner = GroupRunner(self.groups, self.poses, self.lanes, self.threads, self._strands)
        if given is not None:
            places = [p for name in given[0] for p in law_places(self.casts, name)]
            runner.laws.follow(times, places, np.asarray(given[1], dtype=float))
        first = float(times[0])
        runner.begin(self.t if given is None else first, first, progress)
        stretches, place = self._stretches(store)
        ready = time.perf_counter(), time.process_time()

        def motion_of(stored: Stored) -> GroupMotion:
            now = time.perf_counter(), time.process_time()
            return GroupMotion(
                self,
                stored,
                place,
                time_run=now[0] - ready[0],
                cpu_run=now[1] - ready[1],
                time_total=now[0] - began[0],
            )

        stopped = None
        try:
            kept = None if so_far is None else lambda found, k: so_far(motion_of(found), k)
            stored = runner.run(times, stretches, progress, room, kept)
        except DeadPointError as error:
            stopped, found = str(error), error.results
            assert isinstance(found, Stored)
            stored = found
        motion = motion_of(stored)
        if stopped is not None:
            raise DeadPointError(stopped, motion)
        return motion

    def room(self, instants: int, store: Literal["all", "points"] = "all") -> Floats:
        """Memory for what a run of so many instants stores, to be used again and again.

        Raises:
            ModelError: There is no instant.
        """
        if instants < 1:
            raise ModelError(f"there is room for one instant at least, not for {instants}")
        lanes = host_lanes() if self.lanes == "instants" else 1
        stretches, _ = self._stretches(store)
        kept = sum(length for _, length in stretches)
        found = aligned_rows(-(-instants // lanes), kept, lanes)
        found.fill(0.0)  # the system hands out pages when they are touched
        return found

    # ----------------------------------------------------------------------- real time

    def export(
        self,
        folder: str | Path,
        *,
        name: str | None = None,
        points: Sequence[str] | None = None,
        bodies: bool | None = None,
        step: float = 1e-3,
        iterations: int = 3,
        limit: float | None = None,
    ) -> list[Path]:
        """Write the solver as C99 for real time: the same work at every instant.

        Args:
            folder: Where the files go: ``name.h``, ``name.c``, main.c, Makefile and README.txt.
            name: Name of the files and prefix of what they define (default: that of the model).
            points: Markers whose motion is given (default: those asked of this solver).
            bodies: Whether the motion of all bodies is given (default: as asked of this solver).
            step: Time between instants for which ``main.c`` runs it, s; each call takes its own.
            iterations: Steps of Newton's method in a group, at every instant; a group with a closed
                form takes one.
            limit: Norm of the equations of a group after them from which on it is not solved
                (default: the tolerance of this solver).

        Raises:
            ExportError: The name does not suit, or a file is there that biela did not write.
            ModelError: A number makes no sense, a marker is not known, or a group is too large.
            SimulationError: A group cannot be assembled at the start.
        """
        from biela.analysis.realtime.groups import Asked, check_sizes, write_group_solver

        known = self.points
        if points is not None:
            known = {point: self._point_request(point) for point in points}
        whole = self.bodies if bodies is None else self._body_requests() if bodies else []
        groups: GroupProgram = self.groups
        if points is not None or bodies is not None or self.groups.run_time:
            check_sizes(self.model.name, groups.equations)
            items = [j.item for j in self.joints.values()]
            groups = GroupProgram(
                self.casts,
                groups.equations,
                [*known.values(), *whole, *items],
                groups.iteration,
                closed_forms=any(form is not None for form in groups.closed),
            )
        asked = Asked(tuple(known), len(whole), tuple(self.joints.values()))
        return write_group_solver(
            self, groups, asked, folder, name=name, step=step, iterations=iterations, limit=limit
        )

    def _stretches(self, store: str) -> tuple[list[tuple[int, int]], dict[int, int]]:
        """Parts of the workspace that are stored, and where places of y stand then."""
        check_word("store", store, ("all", "points"))
        memory = self.groups.memory
        if store == "all":
            size = memory.sizes["y"]
            return [(memory.first("y"), 3 * size)], {}
        places: list[int] = []
        for k in range(len(self.points)):
            places += [int(p) for p in self.groups.request_places[k].ravel()]
        found = [(memory.first(f"{d}y") + place, 1) for d in ("", "d", "dd") for place in places]
        return found, {place: k for k, place in enumerate(places)}


def _turns(joint: JointRequest, equations: Sequence[GroupEquations]) -> bool:
    """Whether a coordinate is an angle that equations give."""
    derivation = equations[joint.cast].derivation
    symbol = derivation.coordinates[joint.element, joint.coordinate]
    return any(u.turns and u.symbol.ref == symbol.ref for u in derivation.unknowns)
