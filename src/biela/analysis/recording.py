"""From the states of a run to results: channels, monitors and the scene."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import displacements, speeds
from biela.analysis.divergence import energy_size, relative_drift
from biela.analysis.formulations import StateKernel
from biela.analysis.limits import LimitEnd, Track, events_beyond, limit_ends
from biela.analysis.scenes import mechanism_scene
from biela.analysis.watch import Account, Fault
from biela.equations import System
from biela.equations.figures import Figure
from biela.equations.mechanism.drawing import figures
from biela.equations.positions import own_velocities
from biela.results import Channels, Dot, Event, Link, Results, RunStatistics, Scene
from biela.results.frames import frame_channels
from biela.singular_values import pinv
from biela.solvers.coordinate_basis import CoordinateBasis

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Miss:
    """A constraint that a motion does not fulfil.

    Attributes:
        what: "" for its position, or words for its rate or acceleration.
        instant: The first instant at which it does not.
        row: Which constraint.
        missed: By how much each is missed there.
    """

    what: str
    instant: int
    row: int
    missed: Floats

    def said(self, system: System, t: Floats) -> str:
        """Which constraint is missed, when, and by how much."""
        return (
            f"{self.what}constraint {system.multipliers[self.row]} is missed by "
            f"{self.missed[self.row]:.3g} at t = {t[self.instant]:.6g} s"
        )


class Recording:
    """The states of a run and what can be computed from them, each thing when it is asked for.

    ``read`` is the function that gives q, v, a and λ in a state, or these themselves, with a row
    an instant.
    """

    def __init__(
        self,
        system: System,
        read: StateKernel | Mapping[str, Floats],
        t: Floats,
        states: Floats,
        p: Floats,
        u: Floats,
    ) -> None:
        self.system, self.t = system, t
        self._p, self.inputs = p, u
        self._read = read
        self._states = states
        self.readings = cache(self._readings)
        self.gaps = cache(lambda: np.asarray(self.evaluate("Phi"), dtype=float).reshape(len(t), -1))
        self.applied = cache(lambda: np.asarray(self.evaluate("power"), dtype=float))
        self.slips = cache(
            lambda: np.asarray(self.evaluate("dPhi"), dtype=float).reshape(len(t), -1)
        )
        self.moving = cache(
            lambda: np.asarray(self.evaluate("beta"), dtype=float).reshape(len(t), -1)
        )

    def _readings(self) -> dict[str, Floats]:
        """q, v, a and λ at every instant, by one batch evaluation."""
        if isinstance(self._read, Mapping):
            return dict(self._read)
        if not len(self.t):
            return {a.name: np.zeros((0, a.size)) for a in self._read.outputs}
        inputs = np.concatenate([np.repeat(self._p[None], len(self.t), 0), self.inputs], axis=1)
        found = self._read.walk_map(self.t[:, None], self._states, inputs)
        names = [a.name for a in self._read.outputs]
        return dict(zip(names, found, strict=True))

    def evaluate(self, capability: str) -> Any:
        """A capability of the system at every instant."""
        function, given = self.system[capability], self._columns(capability)
        return function.walk_map(*(given[a.name] for a in function.inputs))

    def _columns(self, capability: str) -> dict[str, Floats]:
        """The arguments of a capability, with a row an instant."""
        found = self.readings()
        k = len(self.t)
        given = {
            "t": self.t,
            "q": found["q"],
            "v": found["v"],
            "u": self.inputs,
            "p": np.repeat(self._p[None], k, 0),
            "a": found["a"],
        }
        function = self.system[capability]
        if any(a.name == "lam" for a in function.inputs):
            given["lam"] = found["lam"] if "lam" in found else self._multipliers()
        return given

    def first_miss(
        self,
        part: float,
        counted: npt.NDArray[np.bool_] | None = None,
        rows: Floats | None = None,
        instants: npt.NDArray[np.bool_] | None = None,
    ) -> Miss | None:
        """The first constraint that the motion misses, in position, velocity or acceleration.

        Args:
            part: Of what they could be missed by, Σ |∂Φ/∂x| |x| and so on.
            counted: Which constraints are looked at; all without it.
            rows: Φ_v at all instants, where it is known already.
            instants: At which instants they are looked at; at all without it.
        """
        system, found, k = self.system, self.readings(), len(self.t)
        m = len(system.multipliers)
        if not (m and k):
            return None
        counted = np.ones(m, dtype=bool) if counted is None else counted
        if rows is None:
            rows = np.asarray(self.evaluate("Phi_v"), dtype=float).reshape(k, m, -1)
        q, v, a = found["q"], found["v"], found["a"]
        gamma = np.asarray(self.evaluate("gamma"), dtype=float).reshape(k, m)
        units = [e.unit for e in system.q], [e.unit for e in system.v]
        numbers = np.isfinite(np.hstack([q, v, a, gamma])).all(axis=1)
        slopes = np.abs(rows[numbers]).max(axis=0, initial=0.0)
        fast = slopes @ speeds(q[0], v[numbers], *units)
        pushed = slopes @ speeds(q[0], a[numbers], *units)
        far = (slopes @ displacements(q[0], *units))[: system.geometric]
        levels = (
            ("", self.gaps() if system.geometric else np.zeros((k, 0)), far),
            ("the rate of ", self.slips(), fast),
            (
                "the acceleration of ",
                np.einsum("kij,kj->ki", rows, a) - gamma,
                pushed + np.abs(gamma[numbers]).max(axis=0, initial=0.0) + fast,
            ),
        )
        for what, missed, size in levels:
            # what is not a number is not within its limit
            over = ~(np.abs(missed) <= part * size) & counted[: missed.shape[1]]
            if instants is not None:
                over &= instants[:, None]
            if over.any():
                at = int(np.argmax(over.any(axis=1)))
                far_off = np.nan_to_num(np.abs(missed[at]) / size, nan=np.inf)
                row = int(np.argmax(np.where(over[at], far_off, 0.0)))
                return Miss(what, at, row, missed[at])
        return None

    def _multipliers(self) -> Floats:
        """The smallest multipliers of a motion whose forces nobody asked for until now.

        Φ_vᵀ λ = Q - M v'; not a number where the forces themselves depend on them.
        """
        system = self.system
        unknown = np.full((len(self.t), len(system.multipliers)), np.nan)
        if "M" not in system or any(a.name == "lam" for a in system["Q"].inputs):
            return unknown
        M, Q, rows = (np.asarray(self.evaluate(name)) for name in ("M", "Q", "Phi_v"))
        force = Q - np.einsum("kij,kj->ki", M, self.readings()["a"])
        inverse = pinv(np.swapaxes(rows, 1, 2), rcond=1e-9)
        return np.asarray(np.einsum("kij,kj->ki", inverse, force))

    def results(
        self,
        statistics: RunStatistics,
        events: Sequence[Event],
        interrupted: bool,
        more: Mapping[str, tuple[Callable[[], Floats], str]] | None = None,
        known: Collection[LimitEnd] = (),
        closer: Callable[[int], Recording | None] | None = None,
    ) -> Results:
        """Results with all channels of the system; ``more`` are monitors with their units.

        Where a coordinate leaves its limits is told, and counted, among the events: but for ends
        that are ``known``, whose events are there.  ``closer`` runs the interval from a stored
        instant to the next once more, to find them as closely as steps do.
        """
        system = self.system
        read = self.readings
        passed = self.limit_events(known, closer)
        if passed:
            events = sorted([*events, *passed], key=lambda event: event.time)
            if statistics.events is not None:
                statistics = replace(statistics, events=len(events))
        units_v = [e.unit for e in system.v]
        # with q' = N v the velocities are not the slopes of the coordinates
        slopes = None
        if "rates" in system:
            slopes = [f"v.{system.v[j].name}" if j >= 0 else "" for j in own_velocities(system)]
        groups = {
            "q": Channels(
                [e.name for e in system.q], lambda: read()["q"], _units(system.q), slopes
            ),
            "v": Channels([e.name for e in system.v], lambda: read()["v"], units_v),
            "a": Channels(
                [f"d{e.name}" for e in system.v],
                lambda: read()["a"],
                [f"{u}²" if u.endswith("/s") else u for u in units_v],
            ),
        }
        if system.multipliers and self._has_multipliers():
            groups["lam"] = Channels(
                [f"λ({name})" for name in system.multipliers], lambda: read()["lam"]
            )
        if system.u:
            groups["u"] = Channels([e.name for e in system.u], self.inputs, _units(system.u))
        if "outputs" in system:
            groups["y"] = Channels(
                [e.name for e in system.y],
                lambda: np.asarray(self.evaluate("outputs")).reshape(len(self.t), -1),
                _units(system.y),
                [e.rate for e in system.y],
                angles=[bool(e.rate) for e in system.y],
            )
        if system.joint_coordinates:
            groups["joints"] = self._joints()
        groups |= self._frames()
        monitors, units = self._monitors()
        for name, (monitor, unit) in (more or {}).items():
            monitors[name], units[name] = monitor, unit
        for entry in system.y:  # an output of the model of that name takes its place
            monitors.pop(entry.name, None)
            units.pop(entry.name, None)
        drawing = system.drawing
        return Results(
            system.name,
            self.t,
            groups,
            monitors,
            units,
            statistics,
            self.scene if drawing is not None and (drawing.links or drawing.figures) else None,
            events,
            interrupted,
        )

    def limit_events(
        self,
        known: Collection[LimitEnd] = (),
        closer: Callable[[int], Recording | None] | None = None,
    ) -> list[Event]:
        """The events of limits that are not ``known``, in order; see `results`."""
        ends = limit_ends(self.system, self._p)
        if not ends or len(self.t) == 0:
            return []
        seen: dict[int, Recording | None] = {}

        def near(name: str, k: int) -> Track | None:
            assert closer is not None, "asked where there is one"
            if k not in seen:
                seen[k] = closer(k)
            found = seen[k]
            return None if found is None else found.track(name)

        return events_beyond(ends, self.track, near if closer is not None else None, known)

    def track(self, name: str) -> Track:
        """A coordinate with its rates at all instants; rates are zero where none is its own."""
        found, system = self.readings(), self.system
        followers = [entry.name for entry in system.joint_coordinates]
        if name in followers:
            x, dx = (np.reshape(part, (len(self.t), -1))[:, followers.index(name)]
                     for part in self.evaluate("joint_coordinates"))  # fmt: skip
            return Track(self.t, x, dx)
        k = [entry.name for entry in system.q].index(name)
        own = own_velocities(system)[k]
        rows = [np.asarray(found[part])[:, own] for part in "va" if own >= 0 and part in found]
        dx = rows[0] if rows else np.zeros(len(self.t))
        return Track(self.t, found["q"][:, k], dx, rows[1] if len(rows) > 1 else None)

    def _joints(self) -> Channels:
        """Coordinates of joints that are no coordinates of the system, over any number of turns."""
        read = self.system.joint_coordinates
        rates = [f"{entry.name}_rate" for entry in read]
        return Channels(
            [*(entry.name for entry in read), *rates],
            lambda: np.concatenate(
                [np.reshape(x, (len(self.t), -1)) for x in self.evaluate("joint_coordinates")],
                axis=1,
            ),
            [*(e.unit for e in read), *(f"{e.unit}/s" if e.unit else "1/s" for e in read)],
            [*rates, *[""] * len(rates)],
            angles=[*(bool(entry.rate) for entry in read), *[False] * len(rates)],
        )

    def _frames(self) -> dict[str, Channels]:
        """Motion of the bodies and markers, as far as the system gives it."""
        system = self.system
        if not (system.frames and "poses" in system):
            return {}
        more = [g for g in ("twists", "frame_accelerations") if g in system]
        found = {g: partial(self._rows, g, len(system.frames)) for g in ["poses", *more]}
        return frame_channels(
            system.frames, found["poses"], found.get("twists"), found.get("frame_accelerations")
        )

    def _rows(self, capability: str, count: int) -> Floats:
        """The rows of `count` frames at every instant, (k, count, …)."""
        found: Floats = np.asarray(self.evaluate(capability), dtype=float)
        return found.reshape(len(self.t), count, -1)

    def _has_multipliers(self) -> bool:
        if isinstance(self._read, Mapping):
            return "lam" in self._read
        return any(a.name == "lam" for a in self._read.outputs)

    def _monitors(self) -> tuple[dict[str, Callable[[], Floats]], dict[str, str]]:
        monitors: dict[str, Callable[[], Floats]] = {}
        if "energy" in self.system:
            energy = cache(self.energies)
            monitors["kinetic energy"] = lambda: energy()[0]
            monitors["potential energy"] = lambda: energy()[1]
            monitors["energy"] = lambda: energy()[0] + energy()[1]
        if self.system.geometric:
            monitors["constraint error"] = lambda: _largest(self.gaps())
        if self.system.multipliers:
            monitors["velocity error"] = lambda: _largest(self.slips())
        # an output of the model that has the name of a monitor is what its author wants to see
        taken = {e.name for e in self.system.y}
        monitors = {name: values for name, values in monitors.items() if name not in taken}
        return monitors, {name: "J" for name in monitors if name.endswith("energy")}

    def smallest_multipliers(self) -> Floats:
        """The multipliers; of those of dependent constraints, the ones of least norm.

        They are not unique: all λ with the same Φ_vᵀ λ do.  Every formulation drops or weighs the
        dependent rows in its own way; Φ_v Φ_v⁺ λ is the same for all of them.
        """
        lam = self.readings()["lam"]
        if not len(lam):
            return lam
        rows = np.asarray(self.evaluate("Phi_v")).reshape(*lam.shape, -1)
        middle = rows[len(rows) // 2]
        if not np.isfinite(rows).all() or np.linalg.matrix_rank(middle) == len(middle):
            return lam
        found: Floats = np.einsum("kij,kj->ki", rows @ pinv(rows, rcond=1e-9), lam)
        return found

    def constraint_error(self) -> float | None:
        """The largest violation of a geometric constraint at the stored instants."""
        if not (self.system.geometric and len(self.t)):
            return None
        return float(_largest(self.gaps()).max())

    def energies(self) -> tuple[Floats, Floats]:
        """Kinetic and potential energy at every instant."""
        kinetic, potential = self.evaluate("energy")
        return np.asarray(kinetic, dtype=float), np.asarray(potential, dtype=float)

    def power(self) -> Floats:
        """What changes the energy: forces without potential, and constraints that are moved.

        P - λᵀ Φ_v v: it counts what constraints do that move, and those that do not hold.
        Systems that do not know P tell it by the slope of the energy.
        """
        if "power" not in self.system:
            return self._slope_of_energy()
        power = self.applied()
        if not self.system.multipliers:
            return power
        slips, moving, found = self.slips(), self.moving(), self.readings()
        largest = max(slips.max(initial=0.0), -slips.min(initial=0.0))
        closed = largest <= 1e-12 * np.abs(found["v"]).max(initial=0.0)
        if closed and not moving.any():
            return power
        rates = moving if closed else moving + slips
        lam = found["lam"] if "lam" in found else self._multipliers()
        return np.asarray(power - np.einsum("ki,ki->k", lam, rates))

    def carried_power(self) -> Floats | None:
        """The slope of the energy along the motion, where bodies move while coordinates rest.

        Then T is not quadratic in v, or knows t.  None for other motions.
        """
        if "power" not in self.system:
            return None
        found, k = self.readings(), len(self.t) // 2
        once = found["v"][k] + 1e-3
        v = np.stack([once, 2 * once, once])
        t = self.t[k] + np.array([0.0, 0.0, 0.37])
        q = np.repeat(found["q"][k][None], 3, 0)
        T, twice, later = self._energies(t, q, v, np.full(3, k))[0]
        if max(abs(twice - 4 * T), abs(later - T)) <= 1e-9 * abs(T):
            return None
        return self._slope_of_energy()

    def _energies(self, t: Floats, q: Floats, v: Floats, rows: Any) -> tuple[Floats, Floats]:
        """Energies in other states; inputs are those of instants of the run."""
        given = {
            "t": t,
            "q": q,
            "v": v,
            "u": self.inputs[rows],
            "p": np.repeat(self._p[None], len(t), 0),
        }
        function = self.system["energy"]
        kinetic, potential = function.walk_map(*(given[a.name] for a in function.inputs))
        return np.asarray(kinetic), np.asarray(potential)

    def _slope_of_energy(self) -> Floats:
        """d(T + V)/dt along the motion that v and v' tell; zeros where it is rounding."""
        every, ahead = np.arange(len(self.t)), 1e-6
        v, a = self.readings()["v"], self.readings()["a"]
        (T, V), (T_before, V_before) = (
            self._energies(self.t + d, self._later(d), v + d * a, every) for d in (ahead, -ahead)
        )
        slopes = (T - T_before) / (2 * ahead), (V - V_before) / (2 * ahead)
        found = np.asarray(sum(slopes))
        return found if np.abs(found).max() > 1e-8 * np.abs(slopes).max() else 0.0 * found

    def _later(self, d: float) -> Floats:
        """The positions a short time later."""
        found = self.readings()
        rates = self.evaluate("rates") if "rates" in self.system else found["v"]
        return np.asarray(found["q"] + d * rates)

    def size(self) -> float:
        """The size of the energies at the start, J: Σ |Q_i q_i|, and ½ vᵀ M v of slow velocities.

        Those are some 1e-5 m/s or rad/s.
        """
        system, q = self.system, self.readings()["q"][0]
        given = {"t": self.t[0], "u": self.inputs[0], "p": self._p}
        slow = 0.0
        if "M" in system:
            slow = 1e-9 * float(np.trace(np.atleast_2d(system.evaluate("M", q, **given))))
        if "Q" not in system:
            return slow
        return slow + energy_size(system, {k: x[:1] for k, x in self._columns("Q").items()})

    def accelerations(self) -> Floats:
        """The accelerations v', one row per instant."""
        return self.readings()["a"]

    def sensitivity(self, rows: npt.NDArray[np.intp]) -> Floats:
        """Σ |∂(T + V)/∂x_i| (|x_i| + 0.01) over the entries of q and v, at some instants."""
        found = self.readings()
        q, v = found["q"][rows], found["v"][rows]
        x, nq = np.concatenate([q, v], axis=1), q.shape[1]
        total = np.zeros(len(rows))
        for i in range(x.shape[1]):
            sums = []
            delta = 1e-6 * (np.abs(x[:, i]) + 0.01)
            for sign in (1, -1):
                moved = x.copy()
                moved[:, i] += sign * delta
                sums.append(sum(self._energies(self.t[rows], moved[:, :nq], moved[:, nq:], rows)))
            total += np.abs(sums[0] - sums[1]) / (2 * delta) * (np.abs(x[:, i]) + 0.01)
        return total

    def energy_drift(self, account: Account | None) -> float | None:
        """The largest change of the energy over its scale, where it should be constant.

        That is where no force without potential and no constraint that moves does work; nothing
        where it is not known.
        """
        if account is None or "power" not in self.system or len(self.t) < 2:
            return None
        if self.applied().any():
            return None
        if self.system.multipliers and self.moving().any():
            return None
        return relative_drift(
            self.t,
            account.kinetic,
            account.potential,
            lambda: energy_size(
                self.system, self._columns("Q"), np.abs(account.potential).max(initial=0.0)
            ),
        )

    def conditions(self, choices: Sequence[tuple[int, CoordinateBasis | None]]) -> Floats:
        """Condition numbers of the dependent columns of Φ_v, for so many instants a choice."""
        rows = np.asarray(self.evaluate("Phi_v")).reshape(
            len(self.t), len(self.system.multipliers), -1
        )
        found, done = np.full(len(self.t), np.nan), 0
        for count, basis in choices:
            for k in range(done, done + count):
                if basis is not None and np.isfinite(rows[k]).all():
                    found[k] = basis.condition(rows[k])
            done += count
        return found

    def scene(self) -> Scene:
        """The figures or lines of the drawing at every instant."""
        drawing = self.system.drawing
        assert drawing is not None, "only asked for with a drawing"
        if drawing.figures:
            frames = self.system.frames
            poses = self._rows("poses", len(frames))
            return mechanism_scene(self._figures(), frames, poses, drawing.plane)
        places = self.evaluate("points")
        shapes: list[Link | Dot] = []
        for link in drawing.links:
            ends = places[:, [link.first, link.second]]
            if link.name == "ground":
                shapes.append(Link(link.name, ends[:1], color="0.6", width=2.0))
            elif link.slides:
                shapes.append(Dot(link.name, ends[:, 1], size=14.0))
            else:
                shapes.append(Link(link.name, ends))
        return Scene(shapes)

    def _figures(self) -> tuple[Figure, ...]:
        """What is drawn, in the size that the parameters of the run give it."""
        system = self.system
        assert system.drawing is not None, "only asked for with a drawing"
        if system.begins is None or np.array_equal(self._p, system.parameters):
            return system.drawing.figures
        given = dict(zip((e.name for e in system.p), self._p.tolist(), strict=True))
        return tuple(figures(system.begins.model_at(given)))


def _largest(values: Any) -> Floats:
    flat: Floats = np.asarray(values, dtype=float)
    sizes: Floats = np.abs(flat.reshape(len(flat), -1)).max(axis=1)
    return sizes


def _units(entries: Any) -> list[str]:
    return [entry.unit for entry in entries]


def not_numbers(system: System, recording: Recording) -> Fault | None:
    """The first coordinate, velocity or acceleration of a motion that is not a number, if any."""
    found = recording.readings()
    for what, names in (("q", system.q), ("v", system.v), ("a", system.v)):
        bad = ~np.isfinite(found[what])
        if bad.any():
            k, i = (int(place) for place in np.argwhere(bad)[0])
            name = f"the acceleration of {names[i].name}" if what == "a" else names[i].name
            said = (
                f"{name} is {found[what][k, i]:g} at t = {recording.t[k]:.6g} s. Likely cause: the "
                f"independent coordinates or rows chosen for the run fail in that position. Try "
                f"formulation='multipliers', or other coordinates"
            )
            return Fault(float(recording.t[max(k - 1, 0)]), said)
    return None
