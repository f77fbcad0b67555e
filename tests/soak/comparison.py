"""A case through all doors, against the oracle."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import biela as bl
from tests.oracles.free_bodies import Answer, Oracle, UnclearError
from tests.soak.doors import Sample, samples
from tests.soak.mechanisms import Case
from tests.soak.refusals import reason

#: Largest difference of accelerations, relative to their size, where all is well conditioned.
TOLERANCE = 1e-8
#: Condition numbers up to this need no allowance; beyond it rounding grows with the square.
WELL_CONDITIONED = 1e3
#: How far a state may be from the joints it is said to hold.
CLOSED = 1e-8


@dataclass(frozen=True)
class Finding:
    """What came of one state at one door."""

    door: str
    outcome: str  # "agrees", "refused", "unclear", "disagrees"
    error: float = 0.0
    text: str = ""


@dataclass
class Report:
    """What came of a case."""

    case: Case
    findings: list[Finding] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def disagreements(self) -> list[Finding]:
        return [f for f in self.findings if f.outcome == "disagrees"]


def compared(case: Case, doors: Sequence[str], count: int) -> Report:
    """All doors of a case."""
    report = Report(case)
    for door in doors:
        began = time.perf_counter()
        try:
            found = samples(door, case, count)
        except bl.BielaError as error:
            text = f"{type(error).__name__}: {error}"
            if not _named(case, str(error)):
                text = f"refused without a word of what is meant: {text}"
                report.findings.append(Finding(door, "disagrees", np.inf, text))
                continue
            if reason(door, text) is None:
                text = f"refused for a reason that is not known to be one: {text}"
                report.findings.append(Finding(door, "disagrees", np.inf, text))
                continue
            report.findings.append(Finding(door, "refused", text=text))
            continue
        except Exception as error:  # anything else is a fault, and must not end a long run
            text = f"{type(error).__name__}: {error}"
            report.findings.append(Finding(door, "disagrees", np.inf, f"not a BielaError: {text}"))
            continue
        finally:
            report.seconds[door] = time.perf_counter() - began
        answers: list[tuple[Sample, Answer]] = []
        for sample in found:
            report.findings.append(_judged(case, door, sample, answers))
        report.findings += _energies(door, answers)
    return Report(case, _assembled(report.findings), report.seconds)


def _assembled(findings: list[Finding]) -> list[Finding]:
    """A mechanism that one door puts together can be put together at all of them."""
    found = any(f.outcome == "agrees" for f in findings)
    return [
        replace(f, outcome="disagrees", error=np.inf, text=f"another door assembled it: {f.text}")
        if found and f.outcome == "refused" and reason(f.door, f.text) == "cannot be assembled"
        else f
        for f in findings
    ]


def _named(case: Case, message: str) -> bool:
    """Whether a message says which model, body, joint, driver or force it is about."""
    m = case.model
    return any(name in message for name in (m.name, *m.bodies, *m.joints, *m.drivers, *m.forces))


def _judged(case: Case, door: str, sample: Sample, answers: list[tuple[Sample, Answer]]) -> Finding:
    numbers = [*sample.acceleration.values(), *sample.angular.values()]
    for motion in sample.state.values():
        numbers += [motion.p, motion.R, motion.v, motion.w]
    finite = all(np.isfinite(x).all() for x in numbers)
    oracle = Oracle(case.model, case.parameters, case.model.rotors, sample.without)
    try:
        if not finite:
            raise FloatingPointError
        answer = oracle.solved(sample.state, sample.t, efforts=sample.efforts)
    except UnclearError as why:
        return Finding(door, "unclear", text=str(why))
    except FloatingPointError:
        return Finding(door, "disagrees", np.inf, "numbers that are not finite, without a word")
    if answer.contradiction > 1e-6:
        return Finding(door, "unclear", text="dependent rows contradict each other: a locked place")
    if answer.position_error > CLOSED or answer.velocity_error > CLOSED * 100:
        text = f"joints open by {answer.position_error:.2g}, {answer.velocity_error:.2g} per second"
        return Finding(door, "disagrees", answer.position_error + answer.velocity_error, text)
    answers.append((sample, answer))
    size, error, worst = 1.0, 0.0, ""
    for exact, found in (
        (answer.acceleration, sample.acceleration),
        (answer.angular, sample.angular),
    ):
        for body, value in exact.items():
            size = max(size, float(np.abs(value).max()))
            gap = float(np.abs(value - found[body]).max())
            if gap > error:
                error, worst = gap, body
    allowed = TOLERANCE * max(1.0, (answer.condition / WELL_CONDITIONED) ** 2)
    about = f"rank {answer.rank} of {answer.rows}, condition {answer.condition:.3g}"
    if not error <= allowed * size:
        text = f"accelerations of {worst} differ by {error:.3g} of {size:.3g}; {about}"
        return Finding(door, "disagrees", error / size, text)
    if sample.kinetic is not None:
        gap = abs(sample.kinetic - answer.kinetic)
        if not gap <= 1e-9 * (1.0 + answer.kinetic):
            text = f"kinetic energy {sample.kinetic:.12g}, not {answer.kinetic:.12g}"
            return Finding(door, "disagrees", gap, text)
    wrong = _reactions(sample, answer, allowed, case.model.plane is not None)
    if wrong:
        return Finding(door, "disagrees", np.inf, f"{wrong}; {about}")
    return Finding(door, "agrees", error / size)


def _reactions(sample: Sample, answer: Answer, allowed: float, planar: bool) -> str:
    """What is wrong with the reactions, if anything."""
    if sample.reactions is None:
        return ""
    scale = 1.0 + max((float(np.abs(w).max()) for w, _ in answer.reactions.values()), default=0.0)
    for name, (exact, sure) in answer.reactions.items():
        found, said = sample.reactions[name]
        if (said & ~sure).any():
            return f"reactions of {name} are said to be determinate, {said}, and are not, {sure}"
        both = sure & said
        gap = float(np.abs(np.where(both, exact - found, 0.0)).max())
        if not gap <= 10 * allowed * scale:
            return f"reactions of {name} differ by {gap:.3g} of {scale:.3g}"
        if planar:  # components across the plane are never said to be sure
            continue
        if (sure & ~said).any():
            return f"reactions of {name} are determinate, {sure}, and said not to be, {said}"
    return ""


def _energies(door: str, answers: list[tuple[Sample, Answer]]) -> list[Finding]:
    """Differences of the potential energy between states: where it counts from is free."""
    levels = [
        sample.potential - answer.potential
        for sample, answer in answers
        if sample.potential is not None
    ]
    if len(levels) < 2:
        return []
    size = 1.0 + max(abs(answer.potential) for _, answer in answers)
    gap = float(np.ptp(levels))
    if gap <= 1e-8 * size:
        return []
    text = f"potential energies of two states differ by {gap:.3g} of {size:.3g} from the oracle's"
    return [Finding(door, "disagrees", gap / size, text)]
