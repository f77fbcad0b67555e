"""Kinematics by structural groups: the pieces of a mechanism solved one after the other.

The structure is found once; every kind of group is derived and compiled once, in coordinates of its
own; a run is one native call.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.engine_choice import LARGE
from biela.analysis.groups.joint_requests import joint_requests
from biela.analysis.groups.poses import poses_of
from biela.analysis.groups.run_time_program import MixedProgram
from biela.analysis.groups.runner import GroupRunner, Lanes, Stored
from biela.analysis.groups.starting import start_poses
from biela.analysis.groups.tiles import strands_of
from biela.code.llvm.host import host_lanes
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.derivation import GroupDerivation, relative_poses
from biela.equations.groups.entries import Assembly, LinearSolver
from biela.equations.groups.items import Item, components
from biela.equations.groups.kernel import Convective, GroupEquations
from biela.equations.groups.lowering import GroupProgram, Iteration, Request
from biela.equations.groups.natural import natural_group
from biela.equations.groups.reference_point import reference_point_group
from biela.equations.groups.relative import relative_group
from biela.equations.groups.structure import Structure
from biela.errors import DeadPointError, ModelError
from biela.model import Model
from biela.model.element import nearest
from biela.model.joints import Joint

__all__ = ["COORDINATES", "Coordinates", "GroupMotion", "GroupSolver", "PointMotion"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
#: The coordinates a group may have.
Coordinates: TypeAlias = Literal["natural", "mixed", "relative", "reference"]
COORDINATES: Final[tuple[str, ...]] = ("natural", "mixed", "relative", "reference")


@dataclass(frozen=True, eq=False)
class PointMotion:
    """Positions, velocities and accelerations of a point, (instants, 3) each; along the ground."""

    position: Floats
    velocity: Floats
    acceleration: Floats


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
        lanes: What shares the lanes of the processor, "instants" or "groups"; None chooses.  Groups
            that are solved at run time take one instant at a time: "groups".
        iteration: Tolerance and number of steps.
        parameters: Values other than those of the model.
        q: First guess of coordinates at the start, by name.
        t: Time of the start.
        poses: Where all bodies are then; assembled if it is not given.
        threads: How many branches of the group diagram are run at a time.

    Raises:
        ModelError: Freedoms are left that nothing drives, or a name is not known.
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
        angles: Literal["absolute", "relative"] = "absolute",
        solver: LinearSolver | Mapping[str, LinearSolver] = "auto",
        assembly: Assembly = "auto",
        closed_forms: bool = True,
        lanes: Lanes | None = None,
        iteration: Iteration | None = None,
        parameters: Mapping[str, float] | None = None,
        q: Mapping[str, float] | None = None,
        t: float = 0.0,
        poses: Poses | None = None,
        threads: int = 1,
    ) -> None:
        began = time.perf_counter()
        self.model, self.t = model, float(t)
        self.parameters = parameters
        if structure is None:
            from biela.analysis.groups.finding import structural_groups

            structure = structural_groups(model)
        self.structure = structure
        if not structure.determined:
            raise ModelError(
                f"{model.name}: drivers do not give the motion of all bodies; {structure.wanting()}"
            )
        self.world = World(model, parameters)
        if poses is None:
            poses = start_poses(model, self.world, q, self.t, parameters)
        self.poses = poses
        self.casts = Casts(self.world, structure)
        self.coordinates = [chosen_coordinates(coordinates, c) for c in self.casts.casts]
        self._joints = joint_requests(self.casts, joints)
        between = self.casts.coordinates_between()
        between |= {(j.cast, j.element, j.coordinate) for j in self._joints.values()}
        equations = []
        for c, (cast, way) in enumerate(zip(self.casts.casts, self.coordinates, strict=True)):
            derivation = placed_group(cast, way, self.poses, angles)
            for _, element, coordinate in sorted(x for x in between if x[0] == c):
                derivation.require(element, coordinate)
            equations.append(GroupEquations(derivation, self.poses, convective))
        self._points = {name: self._point_request(name) for name in points}
        self._bodies = self._body_requests() if bodies else []
        items = [j.item for j in self._joints.values()]
        asked: list[Request | Item] = [*self._points.values(), *self._bodies, *items]
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
        self.lanes: Lanes = self._lanes() if lanes is None else lanes
        if self.lanes == "instants" and self.groups.run_time:
            raise ModelError(
                "groups with a dense or sparse solver take one instant after the other: leave out "
                "lanes, or give lanes='groups'"
            )
        self.time_prepared = time.perf_counter() - began

    # ----------------------------------------------------------------------- choices

    def _lanes(self) -> Lanes:
        """Groups in the lanes where they must be or most stand in wide rows, else instants."""
        if self.groups.run_time:
            return "groups"
        widths = [len(level) for level in self.structure.levels]
        lanes = host_lanes()
        wide = sum(w for w in widths if w >= 4 * lanes)
        return "groups" if wide > 0.8 * sum(widths) else "instants"

    # ---------------------------------------------------------------------- requests

    def _point_request(self, name: str) -> Request:
        body, _, marker = name.rpartition(".")
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

    def counted_angles(self, names: Sequence[str], q: Floats) -> Floats:
        """Joint coordinates over all turns, by "joint.coordinate", at positions of all bodies."""
        found = []
        for name in names:
            owner, _, part = name.rpartition(".")
            joint = self.model.joints[owner]
            assert isinstance(joint, Joint)
            (coordinate,) = (c for c in joint.coordinates if c.name == part)
            assert coordinate.reading is not None
            i, j = (self.world.frames(self.world.host, m) for m in (joint.i, joint.j))
            read = []
            for row in q:
                (T,) = relative_poses(poses_of(self.world, row), i, j)
                read.append(coordinate.reading.number(T))
            angle = np.unwrap(np.array(read)) if coordinate.reading.turns else np.array(read)
            if coordinate.reading.turns:
                first = self.poses.coordinates.get(name, angle[0])
                angle = angle + 2 * np.pi * np.round((first - angle[0]) / (2 * np.pi))
            found.append(angle)
        return np.stack(found, axis=1)

    # --------------------------------------------------------------------------- runs

    def run(
        self,
        t: Floats | Sequence[float],
        *,
        store: Literal["all", "points"] = "all",
        room: Floats | None = None,
        given: tuple[Sequence[str], Floats] | None = None,
        progress: bool | None = None,
    ) -> GroupMotion:
        """The motion at some instants, in order.

        Args:
            t: Times.
            store: All items of all groups, or what was asked for as points.
            room: Where it is stored, see `room`; new memory if it is not given.
            given: Drivers that follow numbers in place of their laws: their names, and values,
                rates and second rates of all of them at every instant, (instants, 3 * drivers).
            progress: Whether to show a bar; None shows it on a terminal for long runs.

        Raises:
            DeadPointError: A group cannot pass; it names the time and the joints, and holds the
                motion until then.
            SimulationError: A group cannot be assembled at the first instant.
        """
        times = np.asarray(t, dtype=float)
        if times.ndim != 1 or not len(times) or not np.isfinite(times).all():
            raise ModelError("the instants are a row of times, in seconds")
        began = time.perf_counter(), time.process_time()
        runner = GroupRunner(self.groups, self.poses, self.lanes, self.threads, self._strands)
        if given is not None:
            places = [self.casts.law_place(name) for name in given[0]]
            runner.laws.follow(times, places, np.asarray(given[1], dtype=float))
        runner.assemble(float(times[0]))
        stretches, place = self._stretches(store)
        ready = time.perf_counter(), time.process_time()
        stopped = None
        try:
            stored = runner.run(times, stretches, progress, room)
        except DeadPointError as error:
            stopped, found = str(error), error.results
            assert isinstance(found, Stored)
            stored = found
        ended = time.perf_counter(), time.process_time()
        motion = GroupMotion(
            self,
            stored,
            place,
            time_run=ended[0] - ready[0],
            cpu_run=ended[1] - ready[1],
            time_total=ended[0] - began[0],
        )
        if stopped is not None:
            raise DeadPointError(stopped, motion)
        return motion

    def room(self, instants: int, store: Literal["all", "points"] = "all") -> Floats:
        """Memory for what a run of so many instants stores, to be used again and again."""
        lanes = host_lanes() if self.lanes == "instants" else 1
        stretches, _ = self._stretches(store)
        kept = sum(length for _, length in stretches)
        found = np.empty((-(-instants // lanes), kept, lanes))
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

        known = self._points
        if points is not None:
            known = {point: self._point_request(point) for point in points}
        whole = self._bodies if bodies is None else self._body_requests() if bodies else []
        groups: GroupProgram = self.groups
        if points is not None or bodies is not None or self.groups.run_time:
            check_sizes(self.model.name, groups.equations)
            items = [j.item for j in self._joints.values()]
            groups = GroupProgram(
                self.casts,
                groups.equations,
                [*known.values(), *whole, *items],
                groups.iteration,
                closed_forms=any(form is not None for form in groups.closed),
            )
        asked = Asked(tuple(known), len(whole), tuple(self._joints.values()))
        return write_group_solver(
            self, groups, asked, folder, name=name, step=step, iterations=iterations, limit=limit
        )

    def _stretches(self, store: str) -> tuple[list[tuple[int, int]], dict[int, int]]:
        """Parts of the workspace that are stored, and where places of y stand then."""
        memory = self.groups.memory
        if store == "all":
            size = memory.sizes["y"]
            return [(memory.first("y"), 3 * size)], {}
        places: list[int] = []
        for k in range(len(self._points)):
            places += [int(p) for p in self.groups.request_places[k].ravel()]
        found = [(memory.first(f"{d}y") + place, 1) for d in ("", "d", "dd") for place in places]
        return found, {place: k for k, place in enumerate(places)}


def chosen_coordinates(
    coordinates: Coordinates | Mapping[str, Coordinates], cast: Cast
) -> Coordinates:
    """The coordinates of a kind.

    Raises:
        ModelError: There are none of that name.
    """
    if isinstance(coordinates, str):
        found: Any = coordinates
    else:
        found = coordinates.get(cast.example.name, coordinates.get("", "natural"))
    if found not in COORDINATES:
        raise ModelError(
            f"groups have no {found!r} coordinates{nearest(str(found), COORDINATES)}; they "
            f"have {', '.join(COORDINATES)}"
        )
    return found  # type: ignore[no-any-return]


def placed_group(
    cast: Cast,
    coordinates: Coordinates | Mapping[str, Coordinates],
    poses: Poses,
    angles: Literal["absolute", "relative"] = "absolute",
) -> GroupDerivation:
    """The bodies of a kind placed by coordinates of that name."""
    way = chosen_coordinates(coordinates, cast)
    if way == "reference":
        return reference_point_group(cast, poses)
    if way == "relative" or cast.example.explicit:
        # one driven body is explicit: a function of its law
        return relative_group(cast, poses, angles)
    return natural_group(cast, poses, mixed=way == "mixed")


class GroupMotion:
    """The motion of a model, as its groups have found it.

    Attributes:
        t: Times.
        iterations: Steps of Newton's method a group and instant, in the mean.
        time_run: Seconds of the run itself.
        cpu_run: Seconds of the processor.
        time_total: With its start.
    """

    def __init__(
        self,
        solver: GroupSolver,
        stored: Stored,
        place: Mapping[int, int],
        *,
        time_run: float,
        cpu_run: float,
        time_total: float,
        instants: Integers | None = None,
    ) -> None:
        self._solver, self._stored, self._place = solver, stored, place
        self._instants = instants
        self.t = stored.t if instants is None else stored.t[instants]
        self.time_run, self.cpu_run, self.time_total = time_run, cpu_run, time_total
        unsolved = [len(c.groups) for c, k in self._kinds() if k.unknowns]
        self.iterations = stored.steps / max(1, sum(unsolved) * len(stored.t))
        self.careful = stored.careful

    def _kinds(self) -> list[tuple[Cast, Any]]:
        groups = self._solver.groups
        return list(zip(self._solver.casts.casts, groups.kernels, strict=True))

    def point(self, name: str) -> PointMotion:
        """The motion of a marker that was asked for.

        Raises:
            ModelError: It was not.
        """
        known = self._solver._points
        if name not in known:
            raise ModelError(
                f"the motion of {name!r} was not asked for; points are "
                f"{', '.join(known) or 'none: give points=[…]'}"
            )
        k = list(known).index(name)
        return PointMotion(*(self._rows(k, d)[:, 0] for d in range(3)))

    def joint(self, name: str) -> Floats:
        """A joint coordinate that was asked for: its value and two rates, (instants, 3).

        Raises:
            ModelError: It was not, or points alone are stored.
        """
        solver = self._solver
        if name not in solver._joints or self._place:
            raise ModelError(
                f"the coordinate {name!r} was not asked for; these are: "
                f"{', '.join(solver._joints) or 'none: give joints=[…]'}, where all is stored"
            )
        number = len(solver._points) + len(solver._bodies) + list(solver._joints).index(name)
        place = int(solver.groups.request_places[number][0, 0])
        size = solver.groups.memory.sizes["y"]
        found = solver._joints[name].sign * self._stored.columns(place + size * np.arange(3))
        return found if self._instants is None else np.asarray(found[self._instants])

    def _rows(self, request: int, rate: int) -> Floats:
        """A request at all instants: (instants, bodies, 3 or 2)."""
        groups = self._solver.groups
        places = groups.request_places[request]
        kind = [*self._solver._points.values(), *self._solver._bodies][request].kind
        flat = places.ravel()
        if self._place:
            size = len(self._place)
            flat = np.array([self._place[int(p)] for p in flat])
        else:
            size = groups.memory.sizes["y"]
        found = self._stored.columns(flat + rate * size)
        found = found if self._instants is None else found[self._instants]
        found = found.reshape(len(self.t), *places.shape)
        plane = self._solver.model.plane
        if plane is None or kind == "turn":
            return found
        whole = np.zeros((*found.shape[:2], 3))
        for k, axis in enumerate(plane[: components(kind, plane)]):
            whole[:, :, "xyz".index(axis)] = found[:, :, k]
        return whole

    def at(self, instants: Integers) -> GroupMotion:
        """Some of the instants, by number."""
        return GroupMotion(
            self._solver,
            self._stored,
            self._place,
            time_run=self.time_run,
            cpu_run=self.cpu_run,
            time_total=self.time_total,
            instants=instants,
        )

    @cached_property
    def body_rows(self) -> list[list[Floats]]:
        """Of every request about bodies its values and two rates.

        Raises:
            ModelError: The motion of bodies was not asked for.
        """
        if not self._solver._bodies:
            raise ModelError("the motion of bodies was not asked for: give bodies=True")
        first = len(self._solver._points)
        return [
            [self._rows(first + k, d) for d in range(3)] for k in range(len(self._solver._bodies))
        ]
