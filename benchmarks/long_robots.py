"""Long chains of joints: looped dynamics written once a kind of link, from 50 to 10,000 joints.

Hinges about x, y and z in turn, bodies without a zero.  Inverse dynamics is recursive Newton–Euler,
forward dynamics by articulated bodies; times are those of native code, in a native loop.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import biela as bl
from benchmarks.agreement import check_equal
from benchmarks.peers import PeerMissingError
from benchmarks.report import Row, against, below
from benchmarks.timing import fastest, native_burst, python_burst
from biela.code.looped import ProgramFunction
from biela.equations import spatial

WAYS = ("inverse_dynamics", "forward_dynamics")


def run(quick: bool) -> Iterator[Row]:
    seconds = 0.5 if quick else 2.0
    yield from beside_unrolled(seconds)
    sizes = (100, 1_000) if quick else (100, 1_000, 10_000)
    made, built = {}, {}
    for count in sizes:
        start = time.perf_counter()
        model = chain(count)
        described = time.perf_counter()
        dynamics = spatial.LoopedDynamics(spatial.SpatialTree(model))
        made[count] = {way: getattr(dynamics, way)() for way in WAYS}
        built[count] = time.perf_counter() - described, described - start
    last = sizes[-1]
    note = f", besides {built[last][1]:.2g} s for the description"
    limit = 2e-3 * last
    yield below(f"both dynamics of {last:,} joints derived", built[last][0], limit, "s", note)
    for way in WAYS:
        arrays = {count: [*state(count), np.empty(count)] for count in sizes}
        bursts = {
            str(count): native_burst(made[count][way].address, arrays[count]) for count in sizes
        }
        best = fastest(bursts, seconds)
        each = {count: best[str(count)] / count for count in sizes}
        name = way.replace("_", " ")
        for count in sizes:
            yield Row(f"{name}, {count:,} joints", f"{1e9 * each[count]:.3g} ns a joint")
        growth = each[last] / each[sizes[0]]
        yield below(f"{name}: growth from 100 to {last:,} joints", growth, 1.5, "times a joint")
    yield from beside_pinocchio(seconds)


def beside_unrolled(seconds: float, count: int = 50) -> Iterator[Row]:
    """Both lowerings at a size where both are at home."""
    model = chain(count)
    dynamics = spatial.LoopedDynamics(spatial.SpatialTree(model))
    pairs = {
        "inverse_dynamics": spatial.inverse_dynamics(model),
        "forward_dynamics": spatial.forward_dynamics(model, "articulated"),
    }
    for way, function in pairs.items():
        looped: ProgramFunction = getattr(dynamics, way)()
        arrays = state(count)
        found, expected = looped(*arrays), function(*arrays)
        check_equal(f"{way} of {count} joints", found, expected)
        best = fastest(
            {
                "looped": native_burst(looped.address, [*arrays, found]),
                "unrolled": native_burst(function.native.address, [*arrays, expected]),
            },
            seconds,
        )
        measured = f"{1e6 * best['looped']:.3g} µs, unrolled {1e6 * best['unrolled']:.3g} µs"
        what = f"{way.replace('_', ' ')}, {count} joints, looped / unrolled"
        yield against(what, best["looped"], best["unrolled"], 2, measured)
        many = [np.repeat(x[None], 256, 0) for x in arrays]
        check_equal(f"{way} of many states", looped.map(*many), function.map(*many))
        bursts = {
            "looped": python_burst(looped.map, *many),
            "unrolled": python_burst(function.map, *many),
        }
        best = {name: 1e6 * t / 256 for name, t in fastest(bursts, seconds).items()}
        measured = f"{best['looped']:.3g} µs a state, unrolled {best['unrolled']:.3g} µs"
        what = "the same for 256 states, looped / unrolled"
        yield against(what, best["looped"], best["unrolled"], 2, measured)


def beside_pinocchio(seconds: float, count: int = 200) -> Iterator[Row]:
    """Against Pinocchio by its Python package, whose part in these calls is small.

    Its data for a thousand joints do not fit into 20 GB.
    """
    try:
        import pinocchio as pin
    except ImportError:
        raise PeerMissingError("Pinocchio is not installed (pip install pin)") from None
    dynamics = spatial.LoopedDynamics(spatial.SpatialTree(chain(count)))
    theirs = in_pinocchio(pin, count)
    data = theirs.createData()
    q, v, x = state(count)
    out = np.empty(count)
    for way, peer in zip(WAYS, (pin.rnea, pin.aba), strict=True):
        looped: ProgramFunction = getattr(dynamics, way)()
        looped(q, v, x, out)
        expected = peer(theirs, data, q, v, x)
        check_equal(f"{way} of {count} joints", out, expected)
        best = fastest(
            {
                "looped": python_burst(looped, q, v, x, out),
                "peer": python_burst(peer, theirs, data, q, v, x),
            },
            seconds,
        )
        measured = f"{1e6 * best['looped']:.3g} µs, Pinocchio {1e6 * best['peer']:.3g} µs"
        what = f"{way.replace('_', ' ')}, {count:,} joints, biela / Pinocchio"
        yield against(what, best["looped"], best["peer"], 1, measured)


def links(count: int) -> Iterator[tuple[int, Any, Any, Any, Any]]:
    """Axis, place of the joint on the body before, mass, centre and moments of each body."""
    random = np.random.default_rng(4)
    for k in range(count):
        half = random.normal(size=(3, 3))
        second = 0.002 * half @ half.T
        moments = np.trace(second) * np.eye(3) - second
        place = random.uniform(-0.3, 0.3, 3) if k else np.zeros(3)
        yield k % 3, place, random.uniform(0.5, 2.0), random.uniform(-0.1, 0.1, 3), moments


def chain(count: int) -> bl.Model:
    """The chain in biela."""
    m = bl.Model("chain")
    before: Any = m.ground
    for k, (axis, place, mass, com, I) in enumerate(links(count)):
        moments = I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()
        body = m.body(f"b{k}", mass=float(mass), com=com.tolist(), inertia=moments)
        m.joint("revolute", f"j{k}", before.at(*place.tolist()), body.at(), axis="xyz"[axis])
        before = body
    return m


def in_pinocchio(pin: Any, count: int) -> Any:
    """The chain in Pinocchio."""
    made = pin.Model()
    made.gravity.linear = np.array([0.0, 0.0, -9.81])
    kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    number = 0
    for k, (axis, place, mass, com, moments) in enumerate(links(count)):
        where = pin.SE3(np.eye(3), place)
        number = made.addJoint(number, kinds[axis](), where, f"j{k}")
        made.appendBodyToJoint(number, pin.Inertia(mass, com, moments), pin.SE3.Identity())
    return made


def state(count: int) -> list[np.ndarray]:
    """Random q, v and a third vector."""
    random = np.random.default_rng(5)
    return [random.normal(size=count) for _ in range(3)]
