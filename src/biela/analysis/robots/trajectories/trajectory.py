"""A trajectory: pieces of polynomials on the manifold of the coordinates.

In a piece the configuration is q(t) = q_k ⊕ r(t - t_k), with a polynomial r of at most degree five
for each freedom: numbers are moved by r, rotations turned by the rotation vector r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.robots.trajectories.turns import angular_acceleration, angular_velocity
from biela.analysis.stepping import resolved, storable
from biela.errors import ModelError
from biela.results import Results

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions

Floats = npt.NDArray[np.float64]

#: How much slower a motion is tried that asks for too much effort.
_SLOWEST: Final = 1e6
#: Of coordinates, and of efforts, at their limits.
_ROUNDING: Final = 1e-9
#: At how many instants of each piece efforts are looked at, at least.
_SAMPLES: Final = 9


@dataclass(frozen=True, eq=False)
class Samples:
    """A trajectory at instants: times (T,), q (T, nq), v and a (T, nv)."""

    t: Floats
    q: Floats
    v: Floats
    a: Floats

    def __len__(self) -> int:
        return len(self.t)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion that is planned; before its start and after its end the robot rests there.

    Attributes:
        robot: What moves.
        breaks: Times (K + 1,) at which pieces begin and end.
        base: (K, nq), from where each piece is measured.
        coefficients: (K, 6, nv), of r in rising powers of the time in the piece.
        waypoint_times: When it passes its waypoints.
    """

    robot: Motions
    breaks: Floats
    base: Floats
    coefficients: Floats
    waypoint_times: Floats

    @property
    def duration(self) -> float:
        """How long it takes."""
        return float(self.breaks[-1] - self.breaks[0])

    def __repr__(self) -> str:
        count = len(self.waypoint_times)
        return f"Trajectory of {self.robot.name}: {count} waypoints, {self.duration:.6g} s"

    def at(self, t: Any) -> tuple[Floats, Floats, Floats]:
        """Coordinates, velocities and accelerations at one time, or a row for each of many."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        found = self._at(times)
        one = np.ndim(t) == 0
        q, v, a = ((x[0] if one else x) for x in found)
        return q, v, a

    def q(self, t: Any) -> Floats:
        """Coordinates at one time or many."""
        return self.at(t)[0]

    def v(self, t: Any) -> Floats:
        """Velocities at one time or many."""
        return self.at(t)[1]

    def a(self, t: Any) -> Floats:
        """Accelerations at one time or many."""
        return self.at(t)[2]

    def sampled(self, dt: float) -> Samples:
        """At instants dt apart, the first at the start, the last not before the end.

        Raises:
            ModelError: The time between instants is not positive, or so short that they coincide.
        """
        if not (np.isfinite(dt) and dt > 0):
            raise ModelError(f"{self.robot.name}: samples are a positive time apart, not {dt!r}")
        resolved(float(self.breaks[0]), self.duration, dt, "the time between samples")
        count = int(np.ceil(self.duration / dt - 1e-9)) + 1
        storable(count, 4 * self.robot.nq)
        t = self.breaks[0] + dt * np.arange(count)
        return Samples(t, *self.at(t))

    def slowed(self, factor: float) -> Trajectory:
        """The same way in ``factor`` times the time: velocities fall by it, accelerations by its
        square.

        Raises:
            ModelError: The factor is not positive.
        """
        if not (np.isfinite(factor) and factor > 0):
            raise ModelError(f"{self.robot.name}: a factor of time is positive, not {factor!r}")
        first = self.breaks[0]
        scale = float(factor) ** -np.arange(6.0)
        return Trajectory(
            self.robot,
            first + factor * (self.breaks - first),
            self.base,
            self.coefficients * scale[:, None],
            first + factor * (self.waypoint_times - first),
        )

    def within_effort(self, limits: Any = None, samples: int = 1000) -> Trajectory:
        """The same way, slowed down as little as needed for the joint forces to keep their limits.

        Args:
            limits: The largest joint forces, one number or (nv,); the `effort_limits` of the
                robot if not given.
            samples: At how many instants, at least, the forces are looked at; between them they
                are bounded by their curvature.

        Raises:
            ModelError: A joint is too weak to hold the robot somewhere on the way.
        """
        robot = self.robot
        given = robot.effort_limits if limits is None else np.asarray(limits, dtype=float)
        most = np.broadcast_to(given, (robot.nv,))
        count = len(self.base)
        inner = max(_SAMPLES, -(-samples // count))
        start, end = self.breaks[:-1, None], self.breaks[1:, None]
        t = start + (end - start) * np.linspace(0, 1, inner)
        q, v, a = self._at(t.ravel(), np.repeat(np.arange(count), inner))

        def load(factor: float) -> Floats:
            tau = robot.inverse_dynamics(q, v / factor, a / factor**2)
            return np.asarray(_highest(tau.reshape(count, inner, robot.nv)) / most)

        if load(1.0).max() <= 1:
            return self
        low, high = 1.0, 2.0
        while load(high).max() > 1 - _ROUNDING:
            low, high = high, 2 * high
            if high > _SLOWEST:
                k = int(np.argmax(load(high)))
                raise ModelError(
                    f"{robot.name}: {robot.v_names[k].removesuffix('_rate')} needs "
                    f"{load(high)[k] * most[k]:.4g} to hold the robot on this way, and has "
                    f"{most[k]:.4g}: no slower motion helps"
                )
        for _ in range(50):
            middle = (low + high) / 2
            beyond = load(middle).max() > 1 - _ROUNDING
            low, high = (middle, high) if beyond else (low, middle)
        return self.slowed(high)

    @cached_property
    def outside(self) -> tuple[str, ...]:
        """The coordinates that leave their limits on the way: splines may pass beyond waypoints."""
        t, pieces = self._extremes()
        q = self._at(t, pieces)[0]
        wrong = (q < self.robot.lower - _ROUNDING) | (q > self.robot.upper + _ROUNDING)
        return tuple(self.robot.q_names[i] for i in np.flatnonzero(wrong.any(axis=0)))

    @cached_property
    def peaks(self) -> tuple[Floats, Floats]:
        """The largest sizes of velocities and of accelerations, (nv,) each."""
        v, a = self.piece_peaks
        return v.max(axis=0), a.max(axis=0)

    @cached_property
    def piece_peaks(self) -> tuple[Floats, Floats]:
        """The same in each of the K pieces, (K, nv) each."""
        t, pieces = self._extremes()
        _, v, a = self._at(t, pieces)
        found = np.zeros((2, len(self.base), v.shape[1]))
        for peaks, values in zip(found, (v, a), strict=True):
            np.maximum.at(peaks, pieces, np.abs(values))
        return found[0], found[1]

    def results(self, dt: float | None = None) -> Results:
        """As `Results`, with frames and the scene: to be plotted, animated, saved.

        Args:
            dt: Time between instants; 200 of them if it is not given.
        """
        s = self.sampled(self.duration / 200 if dt is None else dt)
        return self.robot.results(s.t, s.q, s.v, s.a)

    def plot(self, **options: Any) -> Any:
        """Coordinates, velocities and accelerations over time; a matplotlib figure."""
        import matplotlib.pyplot as plt

        s = self.sampled(self.duration / 400)
        figure, axes = plt.subplots(3, 1, sharex=True, **{"figsize": (7, 7), **options})
        for ax, values, names, label in zip(
            axes,
            (s.q, s.v, s.a),
            (self.robot.q_names, self.robot.v_names, self.robot.v_names),
            ("q", "v", "a"),
            strict=True,
        ):
            for k, name in enumerate(names):
                ax.plot(s.t, values[:, k], label=name)
            ax.set_ylabel(label)
            ax.grid(True, alpha=0.3)
        axes[0].legend(fontsize="small", ncols=2)
        axes[-1].set_xlabel("t [s]")
        figure.suptitle(self.robot.name)
        return figure

    # ------------------------------------------------------------------------ inside

    def _at(
        self, times: Floats, pieces: npt.NDArray[np.int64] | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """At many times; at a break in the pieces given, else in the one that begins there."""
        last = len(self.base) - 1
        clipped = np.clip(times, self.breaks[0], self.breaks[-1])
        if pieces is None:
            pieces = np.clip(np.searchsorted(self.breaks, clipped, side="right") - 1, 0, last)
        tau = (clipped - self.breaks[pieces])[:, None]
        c = self.coefficients[pieces]
        r = _polynomial(c, tau, (1, 1, 1, 1, 1, 1), 0)
        dr = _polynomial(c, tau, (0, 1, 2, 3, 4, 5), 1)
        ddr = _polynomial(c, tau, (0, 0, 2, 6, 12, 20), 2)
        resting = (times < self.breaks[0]) | (times > self.breaks[-1])
        dr[resting] = ddr[resting] = 0.0
        q = self.robot.displaced(self.base[pieces], r)
        v, a = dr.copy(), ddr.copy()
        for _, j in self.robot.quaternions:
            part = slice(j, j + 3)
            v[:, part] = angular_velocity(r[:, part], dr[:, part])
            a[:, part] = angular_acceleration(r[:, part], dr[:, part], ddr[:, part])
        return q, v, a

    def _extremes(self) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Times, with their pieces, among which are the extremes of all that moves.

        Those of numbers are roots of polynomials; those of rotations that turn about changing axes
        are looked for between many instants.
        """
        times: list[float] = []
        pieces: list[int] = []
        for k, c in enumerate(self.coefficients):
            length = float(self.breaks[k + 1] - self.breaks[k])
            # in parts of the piece, so that small coefficients are those that do not matter
            scaled = c * length ** np.arange(6.0)[:, None]
            found = {0.0, 1.0}
            for j in range(c.shape[1]):
                for order in (1, 2, 3):
                    slope = np.polynomial.polynomial.polyder(scaled[:, j], order)
                    found |= {x for x in _roots(slope) if 0 < x < 1}
            if self.robot.quaternions:
                found |= set(np.linspace(0, 1, 65).tolist())
            times += [float(self.breaks[k]) + length * x for x in found]
            pieces += [k] * len(found)
        return np.array(times), np.array(pieces, dtype=np.int64)


def _highest(tau: Floats) -> Floats:
    """A bound (nv,) of what is sampled, (K, n, nv), evenly in K pieces, between samples too.

    With second differences D a smooth peak is at most |D|/8 above the sample beside it.  The least
    of three neighbours is taken: where dry friction changes its sign there is no peak.
    """
    D = np.pad(np.abs(np.diff(tau, 2, axis=1)), ((0, 0), (2, 2), (0, 0)), mode="edge")
    least = np.minimum(np.minimum(D[:, :-2], D[:, 1:-1]), D[:, 2:])
    return np.asarray((np.abs(tau) + 0.15 * least).max(axis=(0, 1)))


def _polynomial(c: Floats, tau: Floats, factors: tuple[int, ...], order: int) -> Floats:
    """A derivative of Σ c_i τⁱ, by Horner's rule."""
    found = np.zeros((len(c), c.shape[2]))
    for i in range(5, order - 1, -1):
        found = found * tau + factors[i] * c[:, i]
    return found


def _roots(c: Floats) -> list[float]:
    """The real roots of a polynomial of rising powers; none of a constant."""
    size = float(np.abs(c).max(initial=0.0))
    kept = np.trim_zeros(np.where(np.abs(c) > 1e-14 * size, c, 0.0), "b")
    if len(kept) < 2:
        return []
    found = np.polynomial.polynomial.polyroots(kept)
    return [float(x.real) for x in found if abs(x.imag) <= 1e-7 * (1 + abs(x.real))]
