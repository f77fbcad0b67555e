"""The watch over a run: its energy account, the closure of its constraints, and what explains them.

Along a motion of M v' + Φ_vᵀ λ = Q

    T + V - (T + V)₀ = W,       W' = P = power of forces without potential - λᵀ Φ_v v,

whatever the formulation and however well it holds the constraints.  What is left of that at the
stored instants is energy that the integration has made or lost.  A run explains some of it: its
tolerance, times the slopes of the energy; or the length of its steps, if half of it loses less.
What it does not explain tells that the motion is wrong.

Ordinary runs pay for the energies at the stored instants only.  Where more than a small part is
missing, the intervals that miss most are run once more, in finer steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from biela.errors import ModelError
from biela.results import Event

Floats = npt.NDArray[np.float64]

#: Ways to answer a run whose energy or closure is not explained.
WATCHES: Final = ("error", "event")
#: Energy missing up to this part of its scale is never looked into.
SMALL: Final = 1e-7
#: Energy missing beyond this part of its scale is told, even where the step explains it …
LARGE: Final = 1e-2
#: … and beyond this the motion means nothing any more.
MEANINGLESS: Final = 1.0
#: Rounding of energies, as a part of the magnitudes that are added up.
ROUNDING: Final = 1e-13
#: Velocities that are rounding, m/s or rad/s.
STILL: Final = 1e-11
#: What an adaptive run may miss, in tolerances a step times the slopes of the energy: runs of the
#: gallery miss a thousandth to a twentieth.
MARGIN: Final = 10.0
#: The absolute tolerance as a part of the relative one, see `Plan.stepper`.
ABSOLUTE: Final = 0.01
#: What steps of mean length across singular positions may miss, as a part of the scale; and what
#: tolerances may miss at the most, or so many of them.
LEAP: Final = 2e-2
MOST: Final = 1e4
#: Intervals that are run once more, and instants for slopes of the energy.
INTERVALS: Final = 3
INSTANTS: Final = 40
#: Energy missing in an interval that is so large a part of the scale, and so many times what is
#: missing in intervals just before or after, has come abruptly …
ABRUPT: Final = 1e-6
CONTRAST: Final = 1e4
#: … which forces explain if accelerations change there by this part of the largest.
SHAKEN: Final = 0.05
#: Constraints hold to this part of the coordinates at the least, or to a hundred tolerances.
CLOSED: Final = 1e-7
#: Half a step that misses this part of what a whole one does, or more, does not converge.
CONVERGING: Final = 0.75


class Motion(Protocol):
    """Stored instants of a run, and what the watch asks of them."""

    t: Floats

    def energies(self) -> tuple[Floats, Floats]:
        """Kinetic and potential energy at every instant."""

    def power(self) -> Floats:
        """What changes their sum, at every instant; exact zeros where nothing does."""

    def inertia(self) -> float:
        """The sum of all masses and moments of inertia, kg or kg·m²."""

    def accelerations(self) -> Floats:
        """The accelerations, one row per instant."""

    def sensitivity(self, rows: npt.NDArray[np.intp]) -> Floats:
        """Σ |∂(T + V)/∂x_i| (|x_i| + ABSOLUTE) over the entries x of q and v, at some instants."""


@dataclass(frozen=True)
class Account:
    """The energies at stored instants and what they should change by.

    Attributes:
        t: Times (k,); an instant stands twice where an event has changed the state.
        kinetic: Kinetic energy.
        potential: Potential energy.
        power: What changes their sum.
        floor: Energy that is rounding, J.
        sampled: Whether the power jumps between instants, as that of a sampled controller does.
    """

    t: Floats
    kinetic: Floats
    potential: Floats
    power: Floats
    floor: float
    sampled: bool = False

    @classmethod
    def of(cls, motion: Motion, sampled: bool = False) -> Account:
        """The account of a motion."""
        kinetic, potential = motion.energies()
        power = motion.power()
        size = float(np.abs(kinetic).max() + np.abs(potential).max())
        floor = ROUNDING * size * (1.0 + len(motion.t) ** 0.5) + motion.inertia() * STILL**2
        return cls(motion.t, kinetic, potential, power, floor, sampled)

    @cached_property
    def work(self) -> tuple[Floats, Floats]:
        """The work between instants, by cubics through four of them, and how uncertain it is.

        Fourth differences tell the error of the cubics where the power is smooth, and half the
        jump where it jumps.
        """
        h, P = np.diff(self.t), self.power
        found, doubt = np.zeros(len(h)), np.zeros(len(h))
        if not P.any():
            return found, doubt
        cuts = [0, *(np.flatnonzero(h <= 0) + 1), len(P)]
        for first, last in pairwise(cuts):
            if last - first < 2:
                continue
            p, steps, part = P[first:last], h[first : last - 1], slice(first, last - 1)
            line = steps * (p[1:] + p[:-1]) / 2
            if last - first < 5 or self.sampled:
                # a controller may have pushed as hard as ever between two instants
                found[part], doubt[part] = line, steps * float(np.abs(P).max())
                continue
            slope = np.gradient(p, self.t[first:last], edge_order=2)
            bent = steps**2 * (slope[:-1] - slope[1:]) / 12
            found[part] = line + bent
            bends = np.pad(np.abs(np.diff(p, 4)), 3, mode="edge")
            near = np.max([bends[i : i + len(p) - 1] for i in range(4)], axis=0)
            # slopes across a short interval, such as one that ends at an event, are less sure
            beside = np.pad(steps, 1, mode="edge")
            beside = np.stack([beside[:-2], beside[1:-1], beside[2:]])
            uneven = beside.max(axis=0) > 1.5 * beside.min(axis=0)
            doubt[part] = steps * near / 6 + np.where(uneven, 2 * np.abs(bent), 0.0)
        return found, doubt

    @cached_property
    def missing(self) -> Floats:
        """The energy that nothing explains, gained between instants."""
        found: Floats = np.diff(self.kinetic + self.potential) - self.work[0]
        found[np.diff(self.t) <= 0] = 0.0  # events change states
        return found

    @cached_property
    def in_all(self) -> Floats:
        """The same, added up from the start (k,)."""
        return np.concatenate([[0.0], np.cumsum(self.missing)])

    @cached_property
    def doubt(self) -> Floats:
        """By how much the work up to each instant may be wrong (k,)."""
        return np.concatenate([[0.0], np.cumsum(self.work[1])])

    @cached_property
    def scale(self) -> float:
        """The energy that takes part in the motion, J."""
        begins = [0, *(np.flatnonzero(np.diff(self.t) <= 0) + 1)]
        done = np.concatenate([[0.0], np.cumsum(self.work[0])])
        return float(self.kinetic[begins].max() + np.ptp(self.potential) + np.ptp(done))

    @property
    def drift(self) -> float:
        """The largest energy missing, as a part of the scale; 0 where it is rounding."""
        largest = float(np.abs(self.in_all).max())
        return 0.0 if largest <= self.floor else largest / max(self.scale, self.floor)

    def first_beyond(self, limit: Floats | float) -> int | None:
        """The instant before which more is missing than a limit, with the doubt of the work."""
        beyond = np.abs(self.in_all) > limit + self.doubt + self.floor
        jumps = np.abs(self.missing) > limit + self.work[1] + self.floor
        found = np.flatnonzero(beyond[1:] | jumps)
        return int(found[0]) if len(found) else None


@dataclass(frozen=True)
class Fault:
    """What is wrong with a run, from when on, and whether the motion is wrong with it."""

    time: float
    said: str
    wrong: bool = True

    @property
    def event(self) -> Event:
        """The fault as an event of the results."""
        return Event(self.time, self.said)


@dataclass(frozen=True)
class Means:
    """How a run was made, as far as that explains its errors.

    Attributes:
        tolerance: Relative tolerance of an adaptive run; 0 for fixed steps.
        step: Length of fixed steps, s; 0 for an adaptive run.
        steps: How many were taken.
        leaps: Steps across singular positions, taken without control of errors.
        replay: Runs an interval once more, from an instant to the next: with steps as they were (1)
            or so many times shorter, or with a tolerance so many times smaller; None where that
            cannot be done.
        place: Who moves most between two instants, in words; may be empty.
        cause: What may have happened there, in words, and what to try; None asks nothing.
        redundant: Whether constraints depend on each other at an instant.
    """

    tolerance: float
    step: float
    steps: int
    leaps: int = 0
    replay: Callable[[int, int], Motion | None] | None = None
    place: Callable[[int], str] | None = None
    cause: Callable[[int], str] | None = None
    redundant: Callable[[int], bool] | None = None

    def where(self, k: int) -> str:
        """Who moves most, as part of a sentence."""
        found = self.place(k) if self.place is not None else ""
        return f", where {found} moves most" if found else ""

    def why(self, k: int) -> str:
        """The likely cause, as sentences."""
        return self.cause(k) if self.cause is not None else ""


def energy_fault(account: Account, motion: Motion, means: Means) -> Fault | None:
    """What is wrong with the energy of a run, if anything."""
    if len(account.t) < 2 or not np.isfinite(account.in_all).all():
        return None
    if account.first_beyond(SMALL * account.scale) is None:
        return None
    if account.sampled:
        k = account.first_beyond(2 * LARGE * account.scale)
        return None if k is None else _wrong(account, k, means)
    return (_of_tolerance if means.tolerance else _of_steps)(account, motion, means)


def closure_fault(
    names: Sequence[str], t: Floats, missed: Floats, size: float, what: str, means: Means
) -> Fault | None:
    """What is wrong with constraints that a run holds, if anything.

    Args:
        names: Of the constraints, dropped ones included.
        t: Stored instants (k,).
        missed: By how much each is missed there (k, m).
        size: Of the coordinates or velocities.
        what: "" for constraints on positions, "the rate of " for those on velocities.
        means: How the run was made.
    """
    if not missed.size or not np.isfinite(missed).all():
        return None
    part = max(CLOSED, 100 * means.tolerance) if means.tolerance else 10 * CLOSED
    beyond = np.flatnonzero((np.abs(missed) > part * max(1.0, size)).any(axis=1))
    if not len(beyond):
        return None
    k = int(beyond[0])
    worst = int(np.argmax(np.abs(missed[k])))
    before = max(k - 1, 0)
    said = (
        f"{what}constraint {names[worst]} is missed by {missed[k, worst]:.3g} at t = {t[k]:.6g} s"
        f"{means.where(before)}. {means.why(before)}"
    )
    return Fault(float(t[before]), said.rstrip())


def _of_tolerance(account: Account, motion: Motion, means: Means) -> Fault | None:
    """What the tolerance of an adaptive run does not explain."""
    each = MARGIN * means.tolerance * max(means.steps, 1)
    leapt = LEAP * account.scale if means.leaps else 0.0
    # slopes of a motion that has run wild explain nothing
    most = max(LEAP, MOST * means.tolerance) * account.scale
    worst = _worst(account)
    slopes = motion.sensitivity(np.unique([*_spread(len(account.t)), *worst, *(worst + 1)]))
    limit = min(each * float(slopes.max()) + leapt, most)
    k = account.first_beyond(limit)
    if k is None:
        return None
    # stored instants may lie far apart: forces and power in between are seen by running again
    confirmed, replay = means.replay is None, means.replay
    for place in map(int, worst):
        again = replay(place, 1) if replay is not None else None
        if again is None:
            confirmed = True
            continue
        close = Account.of(again)
        seen = each * float(again.sensitivity(_spread(len(close.t))).max()) + leapt
        limit = max(limit, min(seen, most))
        lost = abs(_between(account, place) - close.work[0].sum())
        confirmed |= bool(lost > 0.5 * abs(account.missing[place]) + close.doubt[-1])
    k = account.first_beyond(limit)
    return _wrong(account, k, means) if confirmed and k is not None else None


def _of_steps(account: Account, motion: Motion, means: Means) -> Fault | None:
    """What the length of fixed steps does not explain; or what it does, if that is much."""
    count = len(account.missing)
    small = SMALL * account.scale / count + account.floor * max(1.0, means.steps / count) ** 0.5
    order, believed, confirmed = 1.0, 0.0, 0.0
    for k in _abrupt(account)[:INTERVALS]:
        if _unshaken(account, motion, means, k):
            return _wrong(account, k, means)
    for k in map(int, _worst(account)) if means.replay is not None else ():
        runs = [_run_again(means, k, finer) for finer in (1, 2, 4)]
        if None in runs:
            continue
        whole, half, quarter = (found for found in runs if found is not None)
        doubt = small + 2 * max(found.doubt[-1] for found in (whole, half, quarter))
        lost = [abs(float(found.in_all[-1])) for found in (whole, half, quarter)]
        seen = abs(_between(account, k) - float(whole.work[0].sum()))
        # where work is done between the instants, it is known better now
        believed, confirmed = believed + abs(float(account.missing[k])), confirmed + seen
        if lost[0] > 30 * seen + doubt:
            continue  # the run went another way, and a better one
        other = seen > 30 * lost[0] + doubt + ABRUPT * account.scale
        if other or min(lost[1:]) > CONVERGING * lost[0] + doubt:
            return _wrong(account, k, means)
        if lost[0] > doubt:
            order = max(1.0, float(np.log2(lost[0] / max(lost[1], 1e-3 * lost[0]))))
    first = account.first_beyond(LARGE * account.scale)
    if first is None:
        return None
    part = account.drift
    if account.power.any():
        part *= min(1.0, confirmed / believed) if believed else 0.0
    if part <= LARGE:
        return None
    shorter = _rounded(means.step * (0.1 * LARGE / part) ** (1 / order))
    if part > MEANINGLESS:
        said = (
            f"the energy is wrong by {_times(part)} that of the motion at t = "
            f"{account.t[-1]:.6g} s, and by 1 % from t = {account.t[first + 1]:.6g} s on"
            f"{means.where(first)}: the step is far too long. Try step={shorter}, or leave step out"
        )
        return Fault(float(account.t[first]), said)
    said = (
        f"the step is too long: {100 * part:.2g} % of the energy is made or lost by the method; "
        f"try step={shorter}"
    )
    return Fault(float(account.t[first + 1]), said, wrong=False)


def _abrupt(account: Account) -> list[int]:
    """The intervals in which energy goes missing that did not just before, or does not just after.

    The error of a step changes little from one to the next, unless a force sets in.
    """
    d = np.maximum(np.abs(account.missing) - account.work[1], 0.0)
    limit = max(ABRUPT * account.scale, 1e3 * account.floor)
    found = []
    for k in np.flatnonzero(d > limit):
        for side in (d[max(k - 4, 0) : k], d[k + 1 : k + 5]):
            # one of four may be small by chance, where the error changes its sign
            if len(side) == 4 and d[k] > CONTRAST * (np.sort(side)[1] + account.floor / CONTRAST):
                found.append(int(k))
                break
    return found


def _unshaken(account: Account, motion: Motion, means: Means, k: int) -> bool:
    """Whether energy is missing in an interval indeed, and no force sets in that explains it."""
    again = means.replay(k, 4) if means.replay is not None else None
    if again is None:
        return False
    work = float(Account.of(again).work[0].sum())
    if abs(_between(account, k) - work) < 0.5 * abs(account.missing[k]):
        return False  # it was done by a force between the instants
    if means.redundant is not None and means.redundant(k):
        return True
    inside, usual = again.accelerations(), motion.accelerations()
    if not np.isfinite(inside).all():
        return False
    return bool(np.ptp(inside, axis=0).max() < SHAKEN * np.abs(usual).max())


def _wrong(account: Account, k: int, means: Means) -> Fault:
    """A fault between instant k and the next, which nothing explains."""
    gained = float(account.in_all[k + 1])
    jump = float(account.missing[k])
    before, after = float(account.t[k]), float(account.t[k + 1])
    if abs(jump) > 0.5 * abs(gained):
        what = f"the energy jumps by {jump:.3g} J between t = {before:.6g} s and {after:.6g} s"
    else:
        what = f"the energy is wrong by {gained:.3g} J at t = {after:.6g} s"
    of = f" ({account.scale:.3g} J take part in the motion)"
    return Fault(before, f"{what}{of}{means.where(k)}. {means.why(k)}".rstrip())


def _worst(account: Account) -> npt.NDArray[np.intp]:
    """The intervals that miss most."""
    sure = np.abs(account.missing) - account.work[1]
    return np.argsort(-sure)[:INTERVALS]


def _spread(count: int) -> npt.NDArray[np.intp]:
    """Some of so many instants."""
    return np.unique(np.linspace(0, count - 1, min(count, INSTANTS)).astype(np.intp))


def _between(account: Account, k: int) -> float:
    """The change of the energy from an instant to the next."""
    total = account.kinetic + account.potential
    return float(total[k + 1] - total[k])


def _run_again(means: Means, k: int, finer: int) -> Account | None:
    """The account of an interval that is run once more; None where that fails."""
    assert means.replay is not None, "asked where there is one"
    motion = means.replay(k, finer)
    if motion is None:
        return None
    account = Account.of(motion)
    return account if np.isfinite(account.in_all).all() else None


def _times(part: float) -> str:
    return f"{part:.2g} times" if part < 1e4 else f"{part:.0e} times"


def _rounded(step: float) -> str:
    """A step with one digit: 1, 2 or 5 times a power of ten, not longer than given."""
    power = 10.0 ** np.floor(np.log10(step))
    digit = max(d for d in (1, 2, 5) if d <= step / power * (1 + 1e-9))
    return f"{digit * power:g}"


def check_watch(name: str, watch: object) -> str:
    """The answer to faults that was asked for.

    Raises:
        ModelError: It is not known.
    """
    if watch not in WATCHES:
        known = " or ".join(map(repr, WATCHES))
        raise ModelError(f"{name}: watch is {known}, not {watch!r}")
    return str(watch)
