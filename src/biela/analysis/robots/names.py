"""The names of the coordinates of a robot, their places and their limits."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, evaluate
from biela.code import Function
from biela.equations import spatial
from biela.errors import ShapeError, UnknownNameError
from biela.model import Model
from biela.model.joints import Coupling, Joint
from biela.model.quantities.values import Value
from biela.spelling import nearest

Floats = npt.NDArray[np.float64]

#: What the numbers of a coordinate have behind its name: rates, quaternions, angular velocities.
_PART: Final = re.compile(r"_(rate|e[0-3]|w[xyz])$")


class RobotNames:
    """What a robot calls its coordinates, and how far they go; a base of `biela.Robot`."""

    model: Model
    #: The model as it was when the robot was made of it: what is derived later is the same robot.
    snapshot: Model
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    frames: tuple[str, ...]
    start: Floats
    _p: Floats | None

    _rotors: dict[str, Value]

    def function(self, name: str, *of: str, external: Sequence[str] = ()) -> Function:
        """The function behind a method."""
        raise NotImplementedError

    def pose(self, frame: str, q: Any) -> Floats:
        """The pose of a frame in the ground."""
        raise NotImplementedError

    def inverse_dynamics(self, q: Any, v: Any, a: Any) -> Floats:
        """The joint forces of a motion."""
        raise NotImplementedError

    @property
    def is_looped(self) -> bool:
        """Whether its dynamics run link after link instead of being written out."""
        looped = getattr(self, "_looped", None)
        return looped is not None and looped.moves

    @property
    def rotors(self) -> Mapping[str, float]:
        """Inertia of rotors by joint."""
        return {name: self.snapshot.number(value) for name, value in self._rotors.items()}

    @property
    def nq(self) -> int:
        """How many coordinates there are."""
        return len(self.q_names)

    @property
    def nv(self) -> int:
        """How many freedoms there are."""
        return len(self.v_names)

    # ------------------------------------------------------------------------ names

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.model.name

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Bodies and markers, "body" and "body.marker"."""
        return self.frames

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that have coordinates, in their order."""
        return tuple(dict.fromkeys(name.rpartition(".")[0] for name in self.q_names))

    @cached_property
    def parameter_values(self) -> Mapping[str, float]:
        """The parameters of the model, with the values that this robot has."""
        model = self.snapshot.flattened() if self.snapshot.parts else self.snapshot
        values = [] if self._p is None else self._p.tolist()
        return dict(zip(model.parameters.given, values, strict=False))

    @cached_property
    def quaternions(self) -> tuple[tuple[int, int], ...]:
        """Rotations: numbers of the first coordinate and of the first velocity of each."""
        known = {name: j for j, name in enumerate(self.v_names)}
        return tuple(
            (i, known[f"{name[:-3]}_wx"])
            for i, name in enumerate(self.q_names)
            if name.endswith("_e0") and f"{name[:-3]}_wx" in known
        )

    @cached_property
    def scalars(self) -> Mapping[str, tuple[int, int]]:
        """Coordinates that are numbers, by name: their places in q and in v."""
        known = {name: j for j, name in enumerate(self.v_names)}
        return {
            name: (i, known[f"{name}_rate"])
            for i, name in enumerate(self.q_names)
            if f"{name}_rate" in known
        }

    def q_index(self, name: str) -> slice:
        """Where a joint, or one coordinate "joint.coordinate", stands in q.

        Raises:
            UnknownNameError: There is none; the message has the nearest name.
        """
        return self._place(name, self._q_places, "coordinates")

    def v_index(self, name: str) -> slice:
        """Where the velocities of a joint, or of one coordinate, stand in v.

        Raises:
            UnknownNameError: There is none; the message has the nearest name.
        """
        return self._place(name, self._v_places, "velocities")

    @cached_property
    def _q_places(self) -> Mapping[str, slice]:
        return _places(self.q_names)

    @cached_property
    def _v_places(self) -> Mapping[str, slice]:
        return _places(self.v_names)

    def own_name(self, name: str) -> str:
        """What a joint or "joint.coordinate" is called here that a file calls ``name``.

        A name of this robot means what it says, whatever the file has under it.
        """
        if name in self._q_places or name in self._v_places:
            return name
        aliases = self.snapshot.aliases
        joint, _, coordinate = name.rpartition(".")
        if ("joint", name) in aliases:
            return aliases["joint", name]
        return f"{aliases['joint', joint]}.{coordinate}" if ("joint", joint) in aliases else name

    def own_frame(self, name: str) -> str:
        """What a body or "body.marker" is called here that a file calls ``name``.

        Raises:
            ShapeError: It is no name: coordinates may stand in its place.
        """
        if not isinstance(name, str):
            raise ShapeError(
                f"{self.name}: the name of a frame comes before the coordinates, as in "
                f"pose(frame, q); {name!r} is no name"
            )
        aliases = self.snapshot.aliases
        if not aliases or name in self._known_frames:
            return name
        body, _, marker = name.rpartition(".")
        if ("body", name) in aliases:
            return aliases["body", name]
        return f"{aliases['body', body]}.{marker}" if ("body", body) in aliases else name

    @cached_property
    def _known_frames(self) -> frozenset[str]:
        return frozenset(self.frames)

    def _place(self, name: str, places: Mapping[str, slice], what: str) -> slice:
        name = self.own_name(name)
        if name not in places:
            raise UnknownNameError(
                f"{self.name}: nothing called {name!r} has {what}{nearest(name, list(places))}"
            )
        return places[name]

    # ----------------------------------------------------------------------- limits

    @cached_property
    def lower(self) -> Floats:
        """The lowest value of each coordinate, -∞ where there is none.

        Limits of coordinates that follow it by gears count, too; a warning says so where they are
        the narrower ones, and `narrowed` which.
        """
        return self._limits[0]

    @cached_property
    def upper(self) -> Floats:
        """The highest value of each coordinate, ∞ where there is none."""
        return self._limits[1]

    @cached_property
    def velocity_limits(self) -> Floats:
        """The largest size of each velocity, ∞ where there is none."""
        found = self._own_sizes("velocity_limits")
        for _, j, size in self._follower_sizes:
            found[j] = min(found[j], size)
        _ = self._narrowing_told
        return found

    @cached_property
    def effort_limits(self) -> Floats:
        """The largest size of each joint force, ∞ where there is none."""
        return self._own_sizes("effort_limits")

    @cached_property
    def _joints(self) -> Mapping[str, Joint]:
        model = self.snapshot.flattened() if self.snapshot.parts else self.snapshot
        return {name: j for name, j in model.joints.items() if isinstance(j, Joint)}

    @cached_property
    def narrowed(self) -> tuple[str, ...]:
        """What coordinates that follow others by gears take from the limits of these, in words."""
        found = []
        lower, upper = self._own_limits
        for name, i, _, ends in self._follower_limits:
            if ends[0] > lower[i] or ends[1] < upper[i]:
                low, high = max(lower[i], ends[0]), min(upper[i], ends[1])
                left = f"[{low:.4g}, {high:.4g}]" if low <= high else "nothing"
                of = f" of [{lower[i]:.4g}, {upper[i]:.4g}]" if np.isfinite(lower[i]) else ""
                found.append(f"those of {name} leave {self.q_names[i]} {left}{of}")
        speeds = self._own_sizes("velocity_limits")
        for name, j, size in self._follower_sizes:
            if size < speeds[j]:
                of = f" of {speeds[j]:.4g}" if np.isfinite(speeds[j]) else ""
                found.append(f"that of the rate of {name} leaves {self.v_names[j]} {size:.4g}{of}")
        return tuple(found)

    @cached_property
    def _narrowing_told(self) -> bool:
        """Whether there was something to warn of; it is said once."""
        if self.narrowed:
            more = len(self.narrowed) - 3
            others = f"; and {more} more, see robot.narrowed" if more > 0 else ""
            warnings.warn(
                f"{self.name}: limits of coordinates that follow others by gears hold for these, "
                f"too: {'; '.join(self.narrowed[:3])}{others}",
                stacklevel=4,
            )
        return bool(self.narrowed)

    @cached_property
    def _own_limits(self) -> tuple[Floats, Floats]:
        """Those that are given to the coordinates themselves."""
        lower, upper = np.full(self.nq, -np.inf), np.full(self.nq, np.inf)
        for name, (i, _) in self.scalars.items():
            joint, _, coordinate = name.rpartition(".")
            pair = self._joints[joint].limits.get(coordinate) if joint in self._joints else None
            if pair is not None:
                lower[i], upper[i] = (self.snapshot.number(x, self._dimension(name)) for x in pair)
        return lower, upper

    @cached_property
    def _follower_limits(self) -> tuple[tuple[str, int, int, Sequence[float]], ...]:
        """Limits of coordinates that follow others: name, places of the other, its limits."""
        found = []
        for name, i, j, slope, offset in self._followers:
            joint, _, coordinate = name.rpartition(".")
            pair = self._joints[joint].limits.get(coordinate)
            if pair is not None and slope:
                dimension = self._dimension(name)
                ends = sorted((self.snapshot.number(x, dimension) - offset) / slope for x in pair)
                found.append((name, i, j, ends))
        return tuple(found)

    @cached_property
    def _limits(self) -> tuple[Floats, Floats]:
        lower, upper = (limits.copy() for limits in self._own_limits)
        for _, i, _, ends in self._follower_limits:
            lower[i], upper[i] = max(lower[i], ends[0]), min(upper[i], ends[1])
        _ = self._narrowing_told
        return lower, upper

    @cached_property
    def _followers(self) -> tuple[tuple[str, int, int, float, float], ...]:
        """Coordinates that follow others by gears: name, places of the other, slope and offset."""
        model = self.snapshot.flattened() if self.snapshot.parts else self.snapshot
        if not any(isinstance(joint, Coupling) for joint in model.joints.values()):
            return ()
        tree = spatial.SpatialTree(self.snapshot)
        given: dict[Atom, float] = dict(zip(tree.p, self.parameter_values.values(), strict=True))
        found = []
        for name, (value, j) in tree.coordinates.followers.items():
            i = next(place for place, k in tree.scalars.values() if k == j)
            at = [float(evaluate(value, {**given, tree.q[i]: x})) for x in (0.0, 1.0)]
            found.append((name, i, j, at[1] - at[0], at[0]))
        return tuple(found)

    def _own_sizes(self, what: str) -> Floats:
        """Limits of sizes that are given to the velocities themselves."""
        found = np.full(self.nv, np.inf)
        for name, (_, j) in self.scalars.items():
            joint, _, coordinate = name.rpartition(".")
            given = getattr(self._joints.get(joint), what, {}).get(coordinate)
            if given is not None:
                found[j] = self.snapshot.number(given, "any")
        return found

    @cached_property
    def _follower_sizes(self) -> tuple[tuple[str, int, float], ...]:
        """Limits of rates that follow others: name, place of the other, its limit."""
        found = []
        for name, _, j, slope, _ in self._followers:
            joint, _, coordinate = name.rpartition(".")
            given = self._joints[joint].velocity_limits.get(coordinate)
            if given is not None and slope:
                found.append((name, j, self.snapshot.number(given, "any") / abs(slope)))
        return tuple(found)

    def _dimension(self, name: str) -> str:
        return {"rad": "angle", "m": "length"}.get(self._unit(name), "any")

    def _unit(self, name: str) -> str:
        joint, _, coordinate = name.rpartition(".")
        if joint not in self._joints:  # a body that floats
            return "m"
        return next(c.unit for c in self._joints[joint].coordinates if c.name == coordinate)


def _places(names: Sequence[str]) -> dict[str, slice]:
    """Where joints, their coordinates, and single numbers of these stand among names."""
    found: dict[str, slice] = {}
    for i, full in enumerate(names):
        joint, _, coordinate = full.rpartition(".")
        known = {joint, f"{joint}.{_PART.sub('', coordinate)}", full}
        for key in filter(None, known):
            found[key] = slice(found[key].start if key in found else i, i + 1)
    return found
