"""Why a run stopped: the time, the coordinate and the probable cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import dependent_rows
from biela.analysis.instant import Instant, unit_rows
from biela.analysis.singularity import joints_of, weakest
from biela.equations import System
from biela.equations.positions import own_velocities
from biela.model import Model
from biela.model.forces.bushing import Bushing
from biela.results import Results
from biela.results.frames import FRAME_GROUPS
from biela.solvers.integrators import MEANINGS, NOT_FINITE, STEP_TOO_SMALL

if TYPE_CHECKING:
    from biela.analysis.recording import Recording

Floats = npt.NDArray[np.float64]

#: Rows whose smallest singular value is below this part of the largest are nearly dependent.
SINGULAR: Final = 0.03
#: In a singular position that is passed they are weaker than usual by this factor.
_WEAKER: Final = 0.3
#: A mechanism whose energy changes by less than this part of its size stands still.
_STANDING = 1e-9
#: Bushings are not followed further, rad; from there on steps of some degrees reach π.
_HALF_TURN = 0.98 * np.pi
_PAST = (
    "bushing {name} comes to half a turn, where its torsional springs would pull the other way: "
    "use a torsional spring on the angle of a joint, which counts turns, or look whether the "
    "bushing is too soft"
)


def explanation(
    system: System,
    status: int,
    results: Results,
    p: Floats,
    step: float | None = None,
    integrator: str = "",
) -> str:
    """A sentence for the status with which an integrator stopped, and what else to try."""
    t = float(results.t[-1])
    q, v = results.q[-1], results.v[-1]
    state = {e.name: abs(x) for e, x in zip((*system.q, *system.v), (*q, *v), strict=True)}
    worst = max(state, key=lambda name: state[name] if np.isfinite(state[name]) else np.inf)
    grown = f"the largest entry of the state is {worst} = {state[worst]:.3g}"
    cause = _cause(system, results, p, step, integrator)
    if status == NOT_FINITE:
        what = "the state became infinite or not a number"
    elif status == STEP_TOO_SMALL:
        what = "the step became too small for the accuracy asked for"
    else:
        what = MEANINGS[status]
    return (
        f"{system.name}: {what} after t = {t:.6g} s ({grown}). {cause} The results until then are "
        f"in the attribute results of this error"
    )


def fastest(system: System, recording: Recording, k: int) -> str:
    """The velocity that changes most between two stored instants."""
    v = recording.readings()["v"]
    if not system.v:
        return ""
    usual = np.abs(v).max(axis=0) + 1e-12 * np.abs(v).max()
    changed = np.abs(v[k + 1] - v[k])
    part = np.divide(changed, usual, out=np.zeros_like(usual), where=usual > 0)
    return system.v[int(np.argmax(part))].name


def likely_cause(system: System, recording: Recording, p: Floats, adaptive: bool, k: int) -> str:
    """What may have made a motion wrong between two stored instants, and what to try."""
    found = recording.readings()
    if system.multipliers:
        instants = _rows_at(system, recording, p, (k, k + 1))
        joints = near_singular(system, recording, p, k)
        if joints:
            advice = (
                "Use a fixed step (step=1e-3) or a larger tolerance"
                if adaptive
                else "Use another step, or begin a little beside the position"
            )
            return (
                f"Likely cause: the mechanism left its branch in a singular position, where "
                f"{joints} become dependent. {advice}"
            )
        dependent = [system.multipliers[i] for i in dependent_rows(instants[0])]
        if dependent:
            joints = ", ".join(joints_of(dependent)[:3])
            return (
                f"Likely cause: constraints of {joints} depend on others, and the choice among "
                f"them failed, or a singular position was passed. Take joints with more freedoms "
                f"in their place (spherical or cylindrical for revolute), other coordinates, or a "
                f"shorter step"
            )
    a = found["a"] if "a" in found else np.zeros((len(recording.t), 1))
    usual = float(np.median(np.abs(np.diff(a, axis=0)).max(axis=1))) if len(a) > 2 else 0.0
    if float(np.abs(a[k + 1] - a[k]).max()) > 20 * usual > 0:
        return (
            "Likely cause: a force is stiff, or a law jumps there. Use integrator='radau' or a "
            "shorter step; model a jump as an event"
        )
    return "Likely cause: the equations and the energy of a force do not belong together, or " + (
        "the tolerance is too large. Use a smaller tolerance"
        if adaptive
        else "the step is too long. Use a shorter step"
    )


def near_singular(system: System, recording: Recording, p: Floats, k: int) -> str:
    """The joints that become dependent between two stored instants, or nothing."""
    if not system.multipliers:
        return ""
    instants = _rows_at(system, recording, p, (k, k + 1))
    least = [weakness(rows) for rows in instants]
    worst = int(np.argmin([found.min() for found in least]))
    if least[worst].min() > SINGULAR:
        return ""
    return ", ".join(joints_of(weakest(system, instants[worst])[0])[:3])


def passed_singular(system: System, recording: Recording, p: Floats, k: int) -> str:
    """The same, where they are not as weak at other instants of the motion."""
    joints = near_singular(system, recording, p, k)
    if not joints:
        return ""
    some = np.linspace(0, len(recording.t) - 1, 7).astype(int).tolist()
    near, usual = (
        [weakness(rows) for rows in _rows_at(system, recording, p, instants)]
        for instants in ((k, k + 1), some)
    )
    return joints if passes(near, usual) else ""


def weakness(rows: Floats) -> Floats:
    """The least singular value that is not rounding, over the largest: of rows, and of unit rows.

    A row that vanishes is weak as it is; rows that grow alike are so at unit length.
    """
    sizes = [np.linalg.svd(form, compute_uv=False) for form in (rows, unit_rows(rows)[0])]
    return np.array([float((s[s > 1e-9 * s[0]] / s[0]).min(initial=1.0)) for s in sizes])


def passes(near: Sequence[Floats], some: Sequence[Floats]) -> bool:
    """Whether rows are weak near an instant and not as weak at others, see `weakness`."""
    least, usual = np.min(near, axis=0), np.median(some, axis=0)
    return bool(((least < SINGULAR) & (least < _WEAKER * usual)).any())


def _rows_at(
    system: System, recording: Recording, p: Floats, instants: Sequence[int]
) -> list[Floats]:
    """Φ_v at stored instants."""
    found = recording.readings()["q"]
    return [
        np.atleast_2d(
            system.evaluate("Phi_v", found[i], t=recording.t[i], u=recording.inputs[i], p=p)
        )
        for i in instants
    ]


def half_turn(model: Model, results: Results) -> tuple[str, float]:
    """What to say if a bushing with torsional springs turned past π, and the time until then.

    Its rotation vector jumps there from n π to -n π, and its levers are singular close to it.
    """
    said, until = "", float(results.t[-1])
    for name, vectors in _turned(model, results):
        passed = np.linalg.norm(vectors, axis=1) > _HALF_TURN
        passed[:-1] |= np.linalg.norm(np.diff(vectors, axis=0), axis=1) > np.pi
        if passed.any() and results.t[int(np.argmax(passed))] <= until:
            until = float(results.t[int(np.argmax(passed))])
            said = f"after t = {until:.6g} s {_PAST.format(name=name)}"
    return said, until


def near_half_turn(model: Model, results: Results) -> str:
    """What to say if a bushing stands near half a turn at the end, or nothing."""
    last = results.between(results.t[-1], results.t[-1])
    for name, vectors in _turned(model, last):
        if np.linalg.norm(vectors[-1]) > 0.9 * np.pi:
            return _PAST.format(name=name)
    return ""


def _turned(model: Model, results: Results) -> Iterator[tuple[str, Floats]]:
    """The rotation vectors at the stored instants of bushings with torsional springs."""
    springs = [f for f in model.forces.values() if isinstance(f, Bushing) and f.turns_back]
    known = set(results.groups["poses"].names) if springs and "poses" in results.groups else set()
    for bushing in springs:
        parts = [
            f"{marker.label}.{part}"
            for marker in (bushing.i, bushing.j)
            for part in FRAME_GROUPS["poses"][3:]
        ]
        if known.issuperset(parts):
            R = np.stack([results[part] for part in parts], axis=1).reshape(-1, 2, 3, 3)
            yield bushing.name, _rotation_vectors(np.swapaxes(R[:, 0], 1, 2) @ R[:, 1])


def _rotation_vectors(R: Floats) -> Floats:
    """N φ of rotation matrices (k, 3, 3), 0 ≤ φ ≤ π, by the eigenvector of quaternions."""
    trace = np.trace(R, axis1=1, axis2=2)
    w = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], 1)
    # 4 (e0, e) e_k of the largest e_k: no cancellation at any angle
    squares = np.stack([1 + trace, *(1 + 2 * R[:, i, i] - trace for i in range(3))], 1)
    four = np.empty((len(R), 4))
    for k, row in enumerate(np.argmax(squares, axis=1)):
        if row == 0:
            four[k] = [squares[k, 0], *w[k]]
        else:
            i = row - 1
            around = R[k, i] + R[k, :, i]
            around[i] = squares[k, row]
            four[k] = [w[k, i], *around]
    four /= np.linalg.norm(four, axis=1, keepdims=True)
    four = np.where(four[:, :1] < 0, -four, four)
    sine = np.linalg.norm(four[:, 1:], axis=1, keepdims=True)
    angle = 2 * np.arctan2(sine, four[:, :1])
    return np.asarray(four[:, 1:] * np.where(sine > 0, angle / np.where(sine > 0, sine, 1), 2.0))


def energy_size(system: System, columns: Mapping[str, Floats], known: float = 0.0) -> float:
    """The size of the energies of a motion, J, also where it stands still: Σ |Q_i q_i|.

    Each force times the largest length among the coordinates, or times 1 where its coordinate is an
    angle or a direction: m g z of a weight, m g l of a pendulum, k x² of a spring, wherever the
    potential has its zero.  Rounding of the
    energy is in proportion to it.  ``columns`` are the arguments of Q with a row an instant, and
    ``known`` is what the size is at the least.
    """
    if "Q" not in system:
        return float(known)
    function = system["Q"]
    forces = np.asarray(function.walk_map(*(columns[a.name] for a in function.inputs)))
    Q = np.abs(forces).max(axis=0)
    far = np.abs(columns["q"]).max(axis=0)
    lengths = [i for i, entry in enumerate(system.q) if entry.unit == "m"]
    extent = float(far[lengths].max(initial=0.0))  # a height of 0 has the rounding of the width
    levers = np.ones(len(system.v))
    for i, j in enumerate(own_velocities(system)):
        if j >= 0 and system.q[i].unit == "m":
            levers[j] = extent
    return max(float(known), float(np.nan_to_num(Q) @ levers))


def relative_drift(
    t: Floats, kinetic: Floats, potential: Floats, size: Callable[[], float]
) -> float:
    """The largest change of an energy that should be constant, over its scale.

    The scale is what is exchanged in the motion.  A mechanism that stands still exchanges nothing
    but rounding, which is compared with the ``size`` of its energies instead.  What events change,
    between two instants of the same time, is no drift.
    """
    steps = np.where(np.diff(t) > 0, np.diff(kinetic + potential), 0.0)
    change = float(np.abs(np.cumsum(steps)).max(initial=0.0))
    scale = float(np.max(kinetic) + np.ptp(potential))
    if change <= 1e-3 * scale:
        return change / scale if scale > 0 else 0.0
    whole = size()
    return change / (whole if scale <= _STANDING * whole else scale)


def _cause(system: System, results: Results, p: Floats, step: float | None, integrator: str) -> str:
    turned = near_half_turn(system.begins.model, results) if system.begins is not None else ""
    if turned:
        return f"Probable cause: {turned}."
    bad = _not_finite(system, results, p, step)
    if bad:
        return (
            f"Probable cause: the acceleration of {bad} is not finite from there on; a force or "
            f"law divides by zero or leaves its domain."
        )
    if system.geometric and np.abs(results["constraint error"][-1]) > 1e-3:
        return (
            "Probable cause: the constraints are violated; use projections, or smaller steps, and "
            "look for a singular position."
        )
    if step is not None:
        return (
            "Probable cause: the step is too long for a stiff force; try integrator='radau', or a "
            "smaller step."
        )
    # what is advised is not what has just failed
    fixed = f"a fixed step (step={_fixed_step(results):.1g})"
    others = (
        f"{fixed} or a larger tolerance"
        if integrator == "radau"
        else f"{fixed}, a larger tolerance, or integrator='radau' for stiff forces"
    )
    return (
        f"Probable cause: the mechanism stands in a singular position, or a law jumps; "
        f"try {others}."
    )


def _fixed_step(results: Results) -> float:
    """A step to try instead of adaptive ones: a millisecond, or less for short motions."""
    spacing = np.diff(results.t)
    spacing = spacing[spacing > 0]
    return min(1e-3, float(np.median(spacing))) if len(spacing) else 1e-3


def _not_finite(system: System, results: Results, p: Floats, step: float | None) -> str:
    """The velocity whose force is the first that is not finite at the end or soon after it."""
    t, q, v = float(results.t[-1]), results.q[-1], results.v[-1]
    given = {
        "p": p,
        "u": results.u[-1] if system.u else None,
        "lam": results.lam[-1] if system.multipliers else None,
    }
    instant = Instant(system, t, np.zeros(0) if given["u"] is None else given["u"], p)
    spacing = float(np.diff(results.t[-2:])[0]) if len(results.t) > 1 else 1e-3
    ahead = step or spacing  # an adaptive step may be a few times as long
    for later in (0.0, 1e-9 * max(1.0, abs(t)), 0.5 * ahead, ahead, 2 * ahead, 5 * ahead):
        place = instant.moved(q, later * v)
        Q = np.asarray(system.evaluate("Q", place, v, t=t + later, **given))
        if not np.isfinite(Q).all():
            return system.v[int(np.argwhere(~np.isfinite(Q))[0][0])].name
    return ""
