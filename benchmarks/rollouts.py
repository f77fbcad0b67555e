"""Rollouts: many motions of an arm at once, against MuJoCo's own batch, on one thread.

The arm has the geometry of a Panda with full inertias and a motor at every joint; contacts and
constraints are switched off in MuJoCo, which then has to do the same work.  Both read one file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import biela as bl
from benchmarks.agreement import check_equal
from benchmarks.closed_loops.mujoco_peer import mujoco as mujoco_package
from benchmarks.panda import TURNS, A, D
from benchmarks.report import Row, against
from benchmarks.timing import fastest

#: The most that our time may be of MuJoCo's, by method of both.
LIMITS = {"rk4": ("RK4", 0.1), "semi_implicit_euler": ("Euler", 0.1)}
MOTIONS, STEPS, DT = 256, 100, 2e-3


def arm() -> str:
    """The arm as MJCF."""
    random = np.random.default_rng(5)
    opened, closed = "", ""
    for k, (a, d, turn) in enumerate(zip(A, D, TURNS, strict=True), 1):
        half = random.normal(size=(3, 3))
        second = 0.01 * half @ half.T
        I = np.trace(second) * np.eye(3) - second
        moments = " ".join(f"{x:.17g}" for x in I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        com = " ".join(f"{x:.17g}" for x in random.uniform(-0.1, 0.1, 3))
        mass = f"{random.uniform(0.5, 4.0):.17g}"
        opened += (
            f'<body name="link{k}" pos="{a} {-turn * d} {d * (turn == 0)}" euler="{turn * 90} 0 0">'
            f'<joint name="joint{k}" axis="0 0 1"/>'
            f'<inertial pos="{com}" mass="{mass}" fullinertia="{moments}"/>'
        )
        closed += "</body>"
    motors = "".join(f'<motor joint="joint{k}"/>' for k in range(1, 8))
    return (
        '<mujoco model="panda"><compiler angle="degree"/>'
        f'<option timestep="{DT}"><flag contact="disable" constraint="disable"/></option>'
        f"<worldbody>{opened}{closed}</worldbody><actuator>{motors}</actuator></mujoco>"
    )


def run(quick: bool) -> Iterator[Row]:
    """All rows; both give the same motions."""
    mujoco = mujoco_package()
    from mujoco import rollout as mujoco_rollout

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "panda.xml"
        file.write_text(arm(), encoding="utf-8")
        robot = bl.load(file)
        peer = mujoco.MjModel.from_xml_path(str(file))
    random = np.random.default_rng(1)
    q, v = random.uniform(-1, 1, (2, MOTIONS, 7))
    torques = random.uniform(-2, 2, (MOTIONS, STEPS, 7))
    start = np.concatenate([np.zeros((MOTIONS, 1)), q, v], axis=1)
    data = mujoco.MjData(peer)
    integrators = mujoco.mjtIntegrator
    for method, (name, limit) in LIMITS.items():
        peer.opt.integrator = integrators.mjINT_RK4 if method == "rk4" else integrators.mjINT_EULER
        states = np.empty((MOTIONS, STEPS, 15))

        def theirs(count: int, states: np.ndarray = states) -> None:
            for _ in range(count):
                mujoco_rollout.rollout(peer, data, start, torques, state=states)

        def ours(count: int, method: str = method) -> None:
            for _ in range(count):
                robot.rollout(q, v, torques, dt=DT, method=method)

        theirs(1)
        found = robot.rollout(q, v, torques, dt=DT, method=method)
        check_equal(f"rollouts by {name}", found.q[:, 1:], states[:, :, 1:8])
        times = fastest({"biela": ours, "mujoco": theirs}, 2.0 if quick else 8.0, 5e-2)
        steps = MOTIONS * STEPS
        mine, other = (1e9 * times[key] / steps for key in ("biela", "mujoco"))
        measured = f"{mine:.0f} ns a step, MuJoCo {mujoco.__version__} {other:.0f} ns"
        yield against(f"{MOTIONS} rollouts of an arm by {name}", mine, other, limit, measured)
