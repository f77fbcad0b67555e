"""Robots with closed loops: forward dynamics of one state against MuJoCo and Pinocchio in C++.

A Stewart platform, and four-bars in a row, each on the rod of the one before.  All have the same
mechanism; a peer has the platform on three slides and three hinges with six loops, biela on the
first leg with five.  MuJoCo starts from its own solution, which saves it iterations.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import biela as bl
from benchmarks import pinocchio_headers
from benchmarks.agreement import WrongResultError
from benchmarks.closed_loops import mujoco_peer
from benchmarks.closed_loops.catalogue import stewart
from benchmarks.closed_loops.mechanism import ORIGIN, Body, Closure, Joint, Mechanism
from benchmarks.closed_loops.pinocchio_native import declared
from benchmarks.closed_loops.pinocchio_peer import Settings, Simulation, Way
from benchmarks.peers import PeerMissingError
from benchmarks.report import Row, against
from benchmarks.timing import Burst, fastest, native_burst
from biela.equations import spatial

SOURCE = Path(__file__).with_name("robot_loops_pinocchio.cpp")
#: Our time may be this part of the best peer's.
LIMIT = 0.15
CELLS = (1, 2, 5, 10, 20)
STATES = 4096

#: The joint of biela for one or several freedoms of a body.
KINDS: dict[tuple[str, ...], tuple[str, dict[str, Any], tuple[str, ...]]] = {
    ("hinge x", "hinge y"): ("universal", {}, ("first", "second")),
    ("hinge y",): ("revolute", {"axis": "y"}, ("angle",)),
    ("slide z",): ("prismatic", {"axis": "z"}, ("displacement",)),
}


def run(quick: bool) -> Iterator[Row]:
    seconds = 0.5 if quick else 3.0
    yield from platform(seconds)
    yield from growth(seconds)


def platform(seconds: float) -> Iterator[Row]:
    """The Stewart platform."""
    mechanism = stewart()
    ours = Ours(mechanism)
    found, errors, missing = measured(mechanism, ours, seconds)
    count = len(ours.function.schedule.operations)
    yield Row("stewart, biela", f"{found['biela']:.3g} µs, {count} operations")
    yield from rows("stewart", found, errors, LIMIT)
    for text in missing:
        yield Row("stewart, against a peer", f"not measured: {text}")
    q, v, tau = (np.repeat(x[None], STATES, 0) for x in (ours.q, ours.v, ours.tau))

    def many(times: int) -> None:
        for _ in range(times):
            ours.function.map(q, v, tau)

    each = 1e6 * fastest({"many": many}, seconds / 3)["many"] / STATES
    text = f"{each:.3g} µs, one alone {found['biela']:.3g} µs"
    yield Row(f"stewart, each of {STATES} states", text, ratio=each / found["biela"])


def growth(seconds: float) -> Iterator[Row]:
    """Loops in a row."""
    times, counts = {}, {}
    for n in CELLS:
        mechanism = four_bars(n)
        ours = Ours(mechanism)
        counts[n] = len(ours.function.schedule.operations)
        if n < CELLS[-1]:
            times[n] = 1e6 * fastest({"": ours.burst}, seconds / 10)[""]
            continue
        found, errors, missing = measured(mechanism, ours, seconds)
        times[n] = found["biela"]
        yield from rows(f"{n} four-bars in a row", found, errors, LIMIT)
        for text in missing:
            yield Row(f"{n} four-bars, against a peer", f"not measured: {text}")
    told = ", ".join(f"{n}: {counts[n]} in {times[n]:.3g} µs" for n in CELLS)
    yield Row("operations and time for so many four-bars", told)
    few, many = CELLS[-2:]
    more = (counts[many] - counts[few]) / (many - few)
    first = (counts[few] - counts[CELLS[-3]]) / (few - CELLS[-3])
    yield Row(
        "operations of one more four-bar",
        f"{first:.0f} after {CELLS[-3]}, {more:.0f} after {few}",
        "the same",
        ok=first == more,
    )


def rows(
    what: str, found: Mapping[str, float], errors: Mapping[str, float], limit: float
) -> Iterator[Row]:
    """A row for each peer."""
    for peer, theirs in found.items():
        if peer != "biela":
            apart = f"accelerations {errors[peer]:.0e} apart"
            text = f"{found['biela']:.3g} µs, {theirs:.3g} µs, {apart}"
            yield against(f"{what}, {peer}", found["biela"], theirs, limit, text)


def measured(
    mechanism: Mechanism, ours: Ours, seconds: float
) -> tuple[dict[str, float], dict[str, float], list[str]]:
    """Times in µs, differences of accelerations, and what is said of peers that are missing.

    Raises:
        WrongResultError: A peer has other accelerations; those of MuJoCo are soft.
    """
    peers: dict[str, Peer] = {}
    missing = []
    for make in (mujoco, pinocchio):
        try:
            peers |= make(mechanism)
        except PeerMissingError as error:
            missing.append(str(error))
    bursts = {"biela": ours.burst} | {name: peer.burst for name, peer in peers.items()}
    times = {name: 1e6 * t for name, t in fastest(bursts, seconds).items()}
    mine = ours.shared(ours.accelerations)
    errors = {}
    for name, peer in peers.items():
        theirs = ours.shared_of_peer(peer.accelerations)
        errors[name] = float(np.abs(mine - theirs).max() / np.abs(mine).max())
        if not errors[name] < (1e-2 if "MuJoCo" in name else 1e-7):
            raise WrongResultError(f"{mechanism.name}: {name} differs by {errors[name]:.1e}")
    return times, errors, missing


# ------------------------------------------------------------------------------- ours


class Ours:
    """A mechanism as a robot, in the start of the mechanism."""

    def __init__(self, mechanism: Mechanism) -> None:
        m, names = model_of(mechanism)
        robot = bl.Robot(m)
        self._peer = [k for k, name in enumerate(names) if name is not None]
        known = [name.removesuffix("_rate") for name in robot.v_names]
        self._own = [known.index(name) for name in names if name is not None]
        speed = np.array(mechanism.v)[self._peer]
        start = robot.start.copy()
        for name, k in zip((n for n in names if n is not None), self._peer, strict=True):
            start[robot.q_names.index(name)] = mechanism.q[k]
        self.q = robot.assemble(start, hold=[name for name in names if name is not None])
        J = robot.closure_jacobian(self.q)
        rest = [k for k in range(robot.nv) if k not in self._own]
        self.v = np.zeros(robot.nv)
        self.v[self._own] = speed
        self.v[rest] = np.linalg.lstsq(J[:, rest], -J[:, self._own] @ speed, rcond=None)[0]
        self.tau, self.accelerations = np.zeros(robot.nv), np.zeros(robot.nv)
        self.function = spatial.forward_dynamics(m)
        arrays = [self.q, self.v, self.tau, self.accelerations]
        self.burst = native_burst(self.function.native.address, arrays)

    def shared(self, a: np.ndarray) -> np.ndarray:
        """The accelerations of the coordinates that the peers have, too."""
        return a[self._own]

    def shared_of_peer(self, a: np.ndarray) -> np.ndarray:
        """The same of a peer."""
        return a[self._peer]


def model_of(mechanism: Mechanism) -> tuple[bl.Model, list[str | None]]:
    """A mechanism from bodies and joints, and our name of each coordinate of it.

    A body with six freedoms hangs on its loops alone, and none of them has a name of ours.
    """
    m = bl.Model(mechanism.name, gravity=mechanism.gravity)
    names: list[str | None] = []
    flat = all(closure.axes == "xz" for closure in mechanism.closures)
    bodies: dict[str, Any] = {"": m.ground}
    for body in mechanism.bodies:
        made = m.body(body.name, mass=body.mass, com=body.com, inertia=body.inertia)
        bodies[body.name] = made
        freedoms = tuple(f"{joint.kind} {joint.axis}" for joint in body.joints)
        if len(freedoms) == 6:
            names += [None] * 6
            continue
        kind, settings, coordinates = KINDS[freedoms]
        place = bodies[body.parent].at(*body.offset)
        joint = f"{body.name}_joint"
        m.joint(kind, joint, place, made, **settings)
        for coordinate, freedom in zip(coordinates, body.joints, strict=True):
            names.append(f"{joint}.{coordinate}")
            if freedom.stiffness:
                m.force(
                    "axial",
                    f"{joint}_spring",
                    coordinate=f"{joint}.{coordinate}",
                    stiffness=freedom.stiffness,
                    rest=freedom.rest,
                )
    for closure in mechanism.closures:
        i, j = (bodies[name].at(*place) for name, place in (closure.first, closure.second))
        if flat:
            m.joint("revolute", closure.name, i, j, axis="y")
        else:
            m.joint("spherical", closure.name, i, j)
    return m, names


def four_bars(count: int) -> Mechanism:
    """Cells of three bars, each on the rod of the cell before.

    What follows a body comes before what is beside it, as MuJoCo and Pinocchio number joints.
    """
    hinge = (Joint("hinge", "y"),)
    cube = (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)
    first: list[Body] = []
    last: list[Body] = []
    closures = []
    base, x, z = "", 0.0, 0.0
    for k in range(count):
        places = ((base, (x, 0.0, z)), (f"a{k}", (1.0, 0.0, 0.0)), (base, (x + 1.0, 0.0, z)))
        bars = [
            Body(f"{name}{k}", parent, place, hinge, 1.0, (0.5, 0.0, 0.05), cube)
            for name, (parent, place) in zip("abc", places, strict=True)
        ]
        first += bars[:2]
        last.insert(0, bars[2])
        ends = ((f"b{k}", (1.2, 0.0, 0.0)), (f"c{k}", (0.9, 0.0, 0.0)))
        closures.append(Closure(f"loop{k}", *ends, "xz"))
        base, x, z = f"b{k}", 0.1, 0.1
    bodies, gravity = (*first, *last), (0.0, 0.0, -9.81)
    made = Mechanism(f"{count}_four_bars", bodies, tuple(closures), gravity, ("b0", ORIGIN))
    if count == 1:
        return made.started([-1.3, 1.2, -1.5], [0.3, 0.0, 0.0], given=[0])
    # all cells alike: far from the ground, gaps are known to fewer digits
    one = four_bars(1)
    return replace(
        made,
        q=one.q[:2] * count + one.q[2:] * count,
        v=one.v[:2] * count + one.v[2:] * count,
    )


# ------------------------------------------------------------------------------ peers


@dataclass(frozen=True)
class Peer:
    """What a peer does in a burst, and where it leaves accelerations."""

    burst: Burst
    accelerations: np.ndarray
    alive: Any = None


def mujoco(mechanism: Mechanism) -> dict[str, Peer]:
    """MuJoCo's mj_forward, from its own loop."""
    mj = mujoco_peer.mujoco()
    model = mujoco_peer.compiled(mechanism, 1e-3, mujoco_peer.HARD)
    data = mujoco_peer.at_start(mechanism, model)
    mj.mj_forward(model, data)
    data.qacc_warmstart[:] = data.qacc
    (path,) = Path(mj.__file__).parent.glob("libmujoco*")
    address = ctypes.cast(ctypes.CDLL(str(path)).mj_forward, ctypes.c_void_p).value
    assert address is not None
    pointers = [SimpleNamespace(ctypes=SimpleNamespace(data=address_of(x))) for x in (model, data)]
    return {"MuJoCo": Peer(native_burst(address, pointers), data.qacc, (model, data))}  # type: ignore[arg-type]


def address_of(x: Any) -> int:
    """Where a structure of MuJoCo is."""
    return int(x._address)


def pinocchio(mechanism: Mechanism) -> dict[str, Peer]:
    """Both algorithms of Pinocchio, with springs as joint forces."""
    native = declared(pinocchio_headers.library(SOURCE))
    for function in (native.order, native.choose):
        function.argtypes, function.restype = [ctypes.c_void_p], None
    # proximal iterations stop where the rows are fulfilled to so much; a smaller mu costs LCABA
    # digits, a larger one iterations
    settings = Settings(Way.CONSTRAINT_DYNAMICS, baumgarte=0.0, accuracy=1e-9, mu=1e-6)
    q, v = np.array(mechanism.q), np.array(mechanism.v)
    joints = mechanism.joints
    tau = np.array([j.stiffness * (j.rest - x) for j, x in zip(joints, q, strict=True)])
    found = {}
    for name, symbol in (("constraintDynamics", "constraint_dynamics"), ("LCABA", "loop_aba")):
        # each has data of its own, which the other would spoil
        simulation = Simulation(mechanism, settings, native)
        native.order(simulation.handle)
        a = np.zeros(len(q))
        address = ctypes.cast(getattr(native, symbol), ctypes.c_void_p).value
        assert address is not None
        call = native_burst(address, [q, v, tau, a])

        def burst(times: int, call: Burst = call, own: Simulation = simulation) -> None:
            native.choose(own.handle)
            call(times)

        found[f"Pinocchio, {name}"] = Peer(burst, a, simulation)
    return found
