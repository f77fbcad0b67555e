"""A mechanism in MuJoCo: the tree in joint coordinates, its loops closed by ``connect``.

MuJoCo's constraints are soft.  A row with impedance d (at most 0.9999) and reference acceleration
a* = −b ṙ − k r obeys a − a* + R f = 0 with R = (1 − d)/d times the diagonal of J M⁻¹ Jᵀ, so that a
residual of a ten-thousandth of the unconstrained acceleration stays, and a gap of R f / k.  Hard
settings take the greatest d, and the least time constant of k and b that MuJoCo allows, two steps.
Of time constants from half a step to four steps none is best for all three mechanisms: four steps
drift less in the planar ones and more in the platform, and less than two (with the safeguard off)
drift more in all of them, though one step keeps the energy of the platform better.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from benchmarks.closed_loops.mechanism import Floats, Mechanism
from benchmarks.closed_loops.peer_run import STRIDE, PeerRun, judged
from benchmarks.peers import PeerMissingError

#: What these mechanisms do not have; MuJoCo would look for it at every stage.
ABSENT = ("contact", "limit", "frictionloss", "actuation", "sensor", "clampctrl", "island")


@dataclass(frozen=True)
class Softness:
    """Parameters of the constraints, in MuJoCo's words; None for its defaults."""

    solref: tuple[float, float] | None
    solimp: tuple[float, ...] | None

    def __str__(self) -> str:
        if self.solref is None or self.solimp is None:
            return "default solref and solimp"
        return f"solref {_text(self.solref)}, solimp {_text(self.solimp)}"


#: As the manual has it, for comparison.
DEFAULT = Softness(None, None)
#: As hard as MuJoCo allows for steps of 1 ms.
HARD = Softness((0.002, 1.0), (0.9999, 0.9999, 0.001, 0.5, 2.0))


def mujoco() -> Any:
    try:
        import mujoco
    except ImportError:
        raise PeerMissingError("MuJoCo is not installed (pip install biela[bench])") from None
    return mujoco


def run_mujoco(
    mechanism: Mechanism,
    seconds: float = 10.0,
    step: float = 1e-3,
    softness: Softness = HARD,
    repeats: int = 3,
) -> PeerRun:
    """Simulate with Runge-Kutta of order four; all steps of a repeat are one call of native code.

    Raises:
        PeerMissingError: If MuJoCo is not installed.
    """
    mj = mujoco()
    model = compiled(mechanism, step, softness)
    steps = round(seconds / step)
    best = float("inf")
    for _ in range(repeats):
        data = at_start(mechanism, model)
        start = time.process_time()
        mj.mj_step(model, data, nstep=steps)
        best = min(best, time.process_time() - start)
    q, v = samples(mechanism, model, steps)
    settings = f"MuJoCo {mj.__version__}, RK4, Newton, {softness}"
    return judged("mujoco", mechanism, settings, best, steps, q, v)


def compiled(mechanism: Mechanism, step: float, softness: Softness) -> Any:
    """The model of a mechanism."""
    return mujoco().MjModel.from_xml_string(mjcf(mechanism, step, softness))


def at_start(mechanism: Mechanism, model: Any) -> Any:
    """New data in the start of a mechanism."""
    data = mujoco().MjData(model)
    data.qpos[:], data.qvel[:] = mechanism.q, mechanism.v
    return data


def samples(mechanism: Mechanism, model: Any, steps: int) -> tuple[Floats, Floats]:
    """The motion again, with the coordinates and velocities of every tenth step."""
    data = at_start(mechanism, model)
    q, v = [data.qpos.copy()], [data.qvel.copy()]
    for _ in range(steps // STRIDE):
        mujoco().mj_step(model, data, nstep=STRIDE)
        q.append(data.qpos.copy())
        v.append(data.qvel.copy())
    return np.array(q), np.array(v)


def accelerations(mechanism: Mechanism, softness: Softness = HARD) -> Floats:
    """The accelerations in the start."""
    model = compiled(mechanism, 1e-3, softness)
    data = at_start(mechanism, model)
    mujoco().mj_forward(model, data)
    return np.array(data.qacc)


def start_energy(mechanism: Mechanism) -> tuple[float, float]:
    """Potential and kinetic energy in the start, by MuJoCo."""
    mj = mujoco()
    model = compiled(mechanism, 1e-3, HARD)
    data = at_start(mechanism, model)
    mj.mj_forward(model, data)
    mj.mj_energyPos(model, data)
    mj.mj_energyVel(model, data)
    return float(data.energy[0]), float(data.energy[1])


def mjcf(mechanism: Mechanism, step: float, softness: Softness) -> str:
    """The mechanism in MuJoCo's format; coordinates keep their order."""
    root = Element("mujoco", model=mechanism.name)
    SubElement(root, "compiler", angle="radian", inertiafromgeom="false", balanceinertia="false")
    option = SubElement(
        root,
        "option",
        timestep=repr(step),
        gravity=_text(mechanism.gravity),
        integrator="RK4",
        solver="Newton",
        tolerance="1e-12",
    )
    SubElement(option, "flag", {name: "disable" for name in ABSENT})
    bodies = {"": SubElement(root, "worldbody")}
    for body in mechanism.bodies:
        node = bodies[body.name] = SubElement(
            bodies[body.parent], "body", name=body.name, pos=_text(body.offset)
        )
        for joint in body.joints:
            attributes = {"type": joint.kind, "axis": _text(float(joint.axis == a) for a in "xyz")}
            if joint.stiffness:
                attributes |= {"stiffness": repr(joint.stiffness), "springref": repr(joint.rest)}
            SubElement(node, "joint", attributes)
        SubElement(
            node,
            "inertial",
            pos=_text(body.com),
            mass=repr(body.mass),
            fullinertia=_text(body.inertia),
        )
    equality = SubElement(root, "equality")
    for closure in mechanism.closures:
        sites = {}
        for key, (name, place) in (("site1", closure.first), ("site2", closure.second)):
            sites[key] = f"{closure.name}_{key}"
            SubElement(bodies[name], "site", name=sites[key], pos=_text(place))
        connect = SubElement(equality, "connect", sites)
        if softness.solref is not None and softness.solimp is not None:
            connect.set("solref", _text(softness.solref))
            connect.set("solimp", _text(softness.solimp))
    return tostring(root, encoding="unicode")


def _text(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in numbers)
