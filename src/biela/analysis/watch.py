"""The watch over a run: its energy account, the closure of its constraints, and what explains them.

Along a motion of M v' + Φ_vᵀ λ = Q

    T + V - (T + V)₀ = W,       W' = P = power of forces without potential - λᵀ Φ_v v,

whatever the formulation and however well it holds the constraints.  What is left of that at the
stored instants is energy that the integration has made or lost, or work between the instants that
they do not show.  Where more than a small part is missing, the intervals that miss most are run
once more, seen closely, until it is sure where the energy is missing.  Then

- a tolerance explains errors of the states in every step, and so many of them times the slopes of
  the energy;
- a step explains what steps a few times shorter do not miss, unless it goes missing all at once
  while no force changes, as where a mechanism is thrown onto another branch.

What they do not explain tells that the motion is wrong.  What a step explains is told too if it is
much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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

# Parts of the energy that takes part in the motion:
#: what is missing up to here is never looked into,
SMALL: Final = 1e-4
#: from here on a step that explains it is told to be too long,
TOLD: Final = 1e-3
#: from here on no tolerance of 1e-6 or less explains it,
LARGE: Final = 1e-2
#: and from here on the motion is wrong, whatever explains it.
UNSOUND: Final = 0.05

#: Rounding of energies, as a part of their size; what is below the second part stands still.
ROUNDING: Final = 1e-13
STANDING: Final = 1e-9
#: Errors of a step in tolerances; most runs have a hundredth of that.
MARGIN: Final = 10.0
#: Intervals that are run once more, with steps so many times shorter, which miss half at the most;
#: and how many where the motion may be wrong.
LOOKS: Final = 8
MOST_LOOKS: Final = 64
FINER: Final = 16
#: Energy that goes missing all at once is so many times what the intervals before miss, while
#: accelerations change by less than this part of the largest.
CONTRAST: Final = 1e4
SHAKEN: Final = 0.05
#: Energy that goes missing in a singular position is this part, and so many times what is missing
#: in the intervals around it.
PASSED: Final = 1e-7
ALONE: Final = 30.0
#: Rates of constraints hold to this part of the velocities, or to a hundred tolerances.
CLOSED: Final = 1e-4


class Motion(Protocol):
    """Stored instants of a run, and what the watch asks of them."""

    t: Floats

    def energies(self) -> tuple[Floats, Floats]:
        """Kinetic and potential energy at every instant."""

    def power(self) -> Floats:
        """What changes their sum, at every instant; exact zeros where nothing does."""

    def carried_power(self) -> Floats | None:
        """The same where the coordinates themselves contain a motion; None where they do not."""

    def size(self) -> float:
        """The size of the energies, J, also where nothing moves."""

    def accelerations(self) -> Floats:
        """The accelerations, one row per instant."""

    def sensitivity(self, rows: npt.NDArray[np.intp]) -> Floats:
        """Σ |∂(T + V)/∂x_i| (|x_i| + 0.01) over the entries x of q and v, at some instants.

        0.01 is the absolute tolerance as a part of the relative one, see `Plan.stepper`.
        """


@dataclass(frozen=True)
class CloserLook:
    """A closer look at an interval: its number, the work there with its doubt, the new energy."""

    interval: int
    work: float
    doubt: float
    change: float


@dataclass(frozen=True)
class Account:
    """The energies at stored instants and what they should change by.

    Attributes:
        t: Times (k,); an instant stands twice where an event has changed the state.
        kinetic: Kinetic energy.
        potential: Potential energy.
        power: What changes their sum.
        size: The size of the energies, J, of which rounding is a part.
        sampled: Whether the power jumps between instants, as that of a sampled controller does.
        known: What closer looks at some intervals found.
    """

    t: Floats
    kinetic: Floats
    potential: Floats
    power: Floats
    size: float
    sampled: bool = False
    known: tuple[CloserLook, ...] = ()

    @classmethod
    def glance(cls, motion: Motion, sampled: bool = False) -> Account:
        """The account of a motion, as far as it costs little.

        What it leaves out only makes more go missing.
        """
        kinetic, potential = motion.energies()
        size = float(np.abs(kinetic).max() + np.abs(potential).max())
        return cls(motion.t, kinetic, potential, motion.power(), size, sampled)

    @classmethod
    def of(cls, motion: Motion, sampled: bool = False) -> Account:
        """The account of a motion."""
        seen, carried = cls.glance(motion, sampled), motion.carried_power()
        power = seen.power if carried is None else carried
        return replace(seen, size=seen.size + motion.size(), power=power)

    @property
    def floor(self) -> float:
        """Energy that is rounding, J."""
        return ROUNDING * self.size * (1.0 + float(np.sqrt(len(self.t))))

    @cached_property
    def work(self) -> tuple[Floats, Floats]:
        """The work between instants, by cubics through four of them, and how uncertain it is.

        Fourth differences tell the error of the cubics where the power is smooth, and half the
        jump where it jumps.
        """
        h, P = np.diff(self.t), self.power
        found, doubt = np.zeros(len(h)), np.zeros(len(h))
        if self.known:
            found, doubt = (part.copy() for part in replace(self, known=()).work)
            for seen in self.known:
                found[seen.interval], doubt[seen.interval] = seen.work, seen.doubt
            return self._settled(found, doubt)
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

    def _settled(self, found: Floats, doubt: Floats) -> tuple[Floats, Floats]:
        """The work and its doubt, where closer looks that leave much doubt tell by their ends."""
        for seen in sorted(self.known, key=lambda seen: -seen.doubt):
            moved = float(np.ptp(np.cumsum(found))) + self._moved
            if seen.doubt > UNSOUND * moved:
                found[seen.interval], doubt[seen.interval] = seen.change, 0.0
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
        done = np.concatenate([[0.0], np.cumsum(self.work[0])])
        return max(self._moved + float(np.ptp(done)), STANDING * self.size)

    @cached_property
    def _moved(self) -> float:
        """The energy that takes part without work: kinetic at the start, and what weights do."""
        begins = [0, *(np.flatnonzero(np.diff(self.t) <= 0) + 1)]
        return float(self.kinetic[begins].max() + np.ptp(self.potential))

    @property
    def drift(self) -> float:
        """The largest energy surely missing, in an interval or in all, as a part of the scale."""
        in_all, in_one = np.abs(self.in_all) - self.doubt, np.abs(self.missing) - self.work[1]
        surely = max(float(in_all.max()), float(in_one.max(initial=0.0))) - self.floor
        return max(0.0, surely) / self.scale if self.scale > 0 else 0.0

    @property
    def constant(self) -> bool:
        """Whether nothing does work and the energy stays as it is: the quickest look."""
        total = self.kinetic + self.potential
        least = float(self.kinetic[0]) + float(np.ptp(self.potential))
        return not self.power.any() and bool(np.ptp(total) <= SMALL * least + self.floor)

    @property
    def worst(self) -> int:
        """The interval that misses most."""
        return int(np.argmax(np.abs(self.missing) - self.work[1]))

    @property
    def doubtful(self) -> list[int]:
        """The intervals whose work may hide that the motion is wrong, the worst first.

        A force that acts for less than a step shows as power at one instant, or at none.
        """
        doubt, least = self.work[1], UNSOUND * self.scale + self.floor
        if not doubt.max() > least:
            return []
        order = np.argsort(-doubt, kind="stable")
        return [int(k) for k in order[:LOOKS] if doubt[k] > least]

    def change(self, k: int) -> float:
        """The change of the energy from an instant to the next."""
        total = self.kinetic + self.potential
        return float(total[k + 1] - total[k])

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
        replay: Runs an interval once more, from an instant to the next, with so many times shorter
            steps if they are fixed; None where that cannot be done.
        place: The velocity that changes most between two instants, in words; may be empty.
        cause: What may have happened there, in words, and what to try; None asks nothing.
        singular: The joints that become dependent there, in words; nothing elsewhere.
    """

    tolerance: float
    step: float
    steps: int
    leaps: int = 0
    replay: Callable[[int, int], Motion | None] | None = None
    place: Callable[[int], str] | None = None
    cause: Callable[[int], str] | None = None
    singular: Callable[[int], str] | None = None

    def where(self, k: int) -> str:
        """Returns which velocity changes most, as part of a sentence."""
        found = self.place(k) if self.place is not None else ""
        return f", where {found} moves most" if found else ""

    def why(self, k: int) -> str:
        """The likely cause, as sentences."""
        return self.cause(k) if self.cause is not None else ""


@np.errstate(over="ignore", invalid="ignore")
def energy_fault(account: Account, motion: Motion, means: Means) -> Fault | None:
    """What is wrong with the energy of a run, if anything; the account is that of a glance."""
    if len(account.t) < 2:
        return None
    if account.constant:
        return _passage(account, means)
    if not np.isfinite(account.in_all).all():
        return _unknown(account)
    unseen = means.replay is None or account.sampled
    if account.first_beyond(SMALL * account.scale) is None and (unseen or not account.doubtful):
        return _passage(account, means)
    account = Account.of(motion, account.sampled)
    if unseen:
        k = account.first_beyond(2 * LARGE * account.scale)
        if k is not None and account.sampled and not account.power.any():
            return _unjudged(account, k)  # what a controller did between the instants is not known
        return None if k is None else _wrong(account, k, means)
    account = _surer(account, means)
    fault = (_of_tolerance if means.tolerance else _of_steps)(account, motion, means)
    return fault or _passage(account, means)


def _passage(account: Account, means: Means) -> Fault | None:
    """Says that a mechanism passed a singular position, if its energy changes there a little.

    Errors of a method change little from one interval to the next; where rows become dependent,
    it decides by rounding how the motion goes on, and how much energy goes with it.
    """
    if means.singular is None:
        return None
    lost, doubt = np.abs(account.missing), account.work[1]
    d, around = lost - doubt, lost + doubt
    least = PASSED * account.scale + account.floor
    if len(d) < 7 or not d[3:-3].max() > least:
        return None
    for k in 3 + np.argsort(-d[3:-3])[:3]:
        alone = d[k] > max(least, ALONE * around[[k - 3, k - 2, k + 2, k + 3]].max())
        joints = means.singular(int(k)) if alone else ""
        if joints:
            said = (
                f"a singular position is passed, in which constraints of {joints} depend on others "
                f"and motions branch; {d[k] / account.scale:.1g} of the energy is made or lost"
            )
            return Fault(float(account.t[k]), said, wrong=False)
    return None


def slip_fault(
    names: Sequence[str], t: Floats, slips: Floats, sizes: Floats, speed: float, means: Means
) -> Fault | None:
    """What is wrong with the rates of constraints that a run projects onto, if anything.

    States that reactions to events gave are as good as their authors made them.

    Args:
        names: Of the constraints, dropped ones included.
        t: Stored instants (k,).
        slips: Φ_v v - β of each there (k, m).
        sizes: How large these rates could be, Σ |∂Φ/∂x| |v| (m,).
        speed: The largest velocity.
        means: How the run was made.
    """
    part = max(CLOSED, 100 * means.tolerance)
    limit = part * np.minimum(max(1.0, 10 * speed), 10 * sizes)
    # a rate that is not a number is not within its limit
    beyond = np.asarray(~(np.abs(slips) <= limit).all(axis=1))
    beyond[1:] &= np.diff(t) > 0
    if not beyond.any():
        return None
    k = int(np.flatnonzero(beyond)[0])
    worst = int(np.argmax(np.nan_to_num(np.abs(slips[k]) / limit, nan=np.inf)))
    before = max(k - 1, 0)
    where, why = (means.where(before), means.why(before)) if len(t) > 1 else ("", "")
    said = (
        f"the rate of constraint {names[worst]} is missed by {slips[k, worst]:.3g} at "
        f"t = {t[k]:.6g} s{where}. {why}"
    )
    return Fault(float(t[before]), said.rstrip())


def _of_tolerance(account: Account, motion: Motion, means: Means) -> Fault | None:
    """What the tolerance of an adaptive run does not explain."""
    assert means.replay is not None, "asked where there is one"
    each = MARGIN * means.tolerance * max(means.steps, 1)
    # slopes of a motion that has run wild explain nothing
    most = max(LARGE, 1e4 * means.tolerance)
    leapt = LARGE if means.leaps else SMALL
    rows = np.unique([*_spread(len(account.t)), account.worst, account.worst + 1])
    slopes = float(motion.sensitivity(rows).max())
    looked: set[int] = set()
    while (k := account.first_beyond(_limit(account, each * slopes, leapt, most))) is not None:
        if account.worst in looked:
            return _wrong(account, k, means)
        if len(looked) == _looks(account):
            return _unjudged(account, k)
        looked.add(account.worst)
        again = means.replay(account.worst, 1)
        if again is not None:
            # stored instants may lie far apart: forces and power in between are seen now
            slopes = max(slopes, float(again.sensitivity(_spread(len(again.t))).max()))
            account = _sharper(account, account.worst, Account.of(again))
    while account.first_beyond(TOLD * account.scale) is not None and account.worst not in looked:
        if len(looked) >= LOOKS:
            return None
        looked.add(account.worst)
        again = means.replay(account.worst, 1)
        if again is not None:
            account = _sharper(account, account.worst, Account.of(again))
    first, part = account.first_beyond(TOLD * account.scale), account.drift
    if first is None or part <= TOLD:
        return None
    said = (
        f"the tolerance is too large: {100 * part:.2g} % of the energy is made or lost by the "
        f"method; try tolerance={_rounded(0.5 * means.tolerance * TOLD / part)}"
    )
    wrong = part > UNSOUND
    return Fault(float(account.t[first if wrong else first + 1]), said, wrong)


def _surer(account: Account, means: Means) -> Account:
    """The account with the work of doubtful intervals, seen closely."""
    assert means.replay is not None, "asked where there is one"
    for k in account.doubtful:
        again = means.replay(k, 1 if means.tolerance else FINER)
        if again is not None:
            account = _sharper(account, k, Account.of(again))
    return account


def _limit(account: Account, explained: float, least: float, most: float) -> float:
    return min(explained + least * account.scale, most * account.scale)


def _of_steps(account: Account, motion: Motion, means: Means) -> Fault | None:
    """What the length of fixed steps does not explain; or what it does, if that is much."""
    assert means.replay is not None, "asked where there is one"
    order, looked, unhealed = 1.0, set[int](), False
    for k in _abrupt(account):
        if _unshaken(account, motion, means, k):
            return _wrong(account, k, means)
    while account.first_beyond(SMALL * account.scale) is not None:
        if len(looked) >= _looks(account):
            break
        k = account.worst
        doubtful = k in looked
        if doubtful:  # then what may hide behind doubts
            k = int(np.argmax(account.work[1]))
            if k in looked or account.work[1][k] * len(account.t) < TOLD * account.scale:
                break
        looked.add(k)
        again = means.replay(k, FINER)
        if again is None:
            continue
        close = Account.of(again)
        account = _sharper(account, k, close)
        lost, finer = abs(float(account.missing[k])), abs(float(close.in_all[-1]))
        doubt = TOLD * account.scale / len(account.t) + 2 * float(close.doubt[-1])
        unhealed |= finer > 0.5 * lost + doubt and not doubtful
        if lost > doubt:
            ratio = lost / max(finer, 1e-9 * lost)
            order = max(1.0, float(np.log(ratio) / np.log(FINER)))
    first, part = account.first_beyond(TOLD * account.scale), account.drift
    if first is None or part <= TOLD:
        return None
    if account.worst not in looked:
        return _unjudged(account, first)
    if unhealed:
        return _wrong(account, first, means)
    shorter = _rounded(means.step * (0.5 * TOLD / part) ** (1 / order))
    if part > UNSOUND:
        said = (
            f"the energy is wrong by {_times(part)} that of the motion, and by 0.1 % from "
            f"t = {account.t[first + 1]:.6g} s on{means.where(first)}: the step is far too long. "
            f"Try step={shorter}, or leave step out"
        )
        return Fault(float(account.t[first]), said)
    said = (
        f"the step is too long: {100 * part:.2g} % of the energy is made or lost by the method; "
        f"try step={shorter}"
    )
    return Fault(float(account.t[first + 1]), said, wrong=False)


def _looks(account: Account) -> int:
    """How many intervals may be run once more."""
    return MOST_LOOKS if account.drift > UNSOUND else LOOKS


def _unjudged(account: Account, k: int) -> Fault | None:
    """Says that much energy is missing and that it cannot be told why; None for little."""
    part = account.drift
    if part <= UNSOUND:
        return None
    said = (
        f"it cannot be told whether the motion is right: {_times(part)} the energy that takes part "
        f"in it is missing at the stored instants, which lie too far apart. Store more of them "
        f"(a smaller output)"
    )
    return Fault(float(account.t[k]), said, wrong=False)


def _unknown(account: Account) -> Fault:
    """Says that an energy or a power is not a number."""
    named = {
        "kinetic energy": account.kinetic,
        "potential energy": account.potential,
        "power of the forces": account.power,
    }
    bad = {what: ~np.isfinite(found) for what, found in named.items()}
    what = max(bad, key=lambda what: bool(bad[what].any()))
    k = int(np.argmax(bad[what]))
    said = (
        f"it cannot be told whether the motion is right: the {what} is {named[what][k]:g} at "
        f"t = {account.t[k]:.6g} s. Look at the laws of the forces there"
    )
    return Fault(float(account.t[k]), said, wrong=False)


def _sharper(account: Account, k: int, close: Account) -> Account:
    """The account with the work in an interval that was seen closely."""
    total = close.kinetic + close.potential
    work, doubt, change = close.work[0].sum(), close.doubt[-1], total[-1] - total[0]
    known = CloserLook(k, float(work), float(doubt), float(change))
    return replace(account, known=(*account.known, known))


def _abrupt(account: Account) -> list[int]:
    """The intervals in which energy begins to go missing all at once.

    The error of a step changes little from one to the next, unless a force sets in.
    """
    d = np.maximum(np.abs(account.missing) - account.work[1], 0.0)
    limit = max(SMALL * account.scale, 1e3 * account.floor)
    found = []
    for k in np.flatnonzero(d > limit):
        before = np.sort(d[max(k - 4, 0) : k])
        # one of four may be small by chance, where the error changes its sign
        if len(before) == 4 and d[k] > CONTRAST * before[1] + account.floor:
            found.append(int(k))
    return sorted(found, key=lambda k: -d[k])[:3]


def _unshaken(account: Account, motion: Motion, means: Means, k: int) -> bool:
    """Whether energy is missing in an interval indeed, and no force sets in that explains it."""
    again = means.replay(k, FINER) if means.replay is not None else None
    if again is None:
        return False
    work = float(Account.of(again).work[0].sum())
    if abs(account.change(k) - work) < 0.5 * abs(account.missing[k]):
        return False  # it was done by a force between the instants
    inside, usual = again.accelerations(), motion.accelerations()
    if not np.isfinite(inside).all():
        return False
    return bool(np.ptp(inside, axis=0).max() < SHAKEN * np.abs(usual).max())


def _wrong(account: Account, k: int, means: Means) -> Fault:
    """A fault that nothing explains, seen between instant k and the next, or already before."""
    first = account.first_beyond(SMALL * account.scale)
    k = k if first is None else min(k, first)
    jump, last = float(account.missing[k]), int(np.argmax(np.abs(account.in_all)))
    before, after = float(account.t[k]), float(account.t[k + 1])
    if abs(jump) > 0.5 * abs(account.in_all[last]):
        what = f"the energy jumps by {jump:.3g} J between t = {before:.6g} s and {after:.6g} s"
    else:
        what = (
            f"the energy is wrong from t = {before:.6g} s on, and by {account.in_all[last]:.3g} J "
            f"at t = {account.t[last]:.6g} s"
        )
    of = f" ({account.scale:.3g} J take part in the motion)"
    return Fault(before, f"{what}{of}{means.where(k)}. {means.why(k)}".rstrip())


def _spread(count: int) -> npt.NDArray[np.intp]:
    """Some of so many instants."""
    return np.unique(np.linspace(0, count - 1, min(count, 40)).astype(np.intp))


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
