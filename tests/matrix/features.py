"""The features of the matrix: what a model or a run may have, and what is read to compare it.

A feature changes a mechanism that has a hinge A and a length l, gives settings of the run, and may
read more from the results than the motion of the bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import biela as bl

Floats = npt.NDArray[np.float64]
Readings = Mapping[str, Floats]


@dataclass(frozen=True)
class Feature:
    """One column of the matrix.

    Attributes:
        name: What it is called.
        change: Adds what it needs to a mechanism.
        run: Settings of the run.
        read: What is compared besides the motion of the bodies, from the model and the results.
    """

    name: str
    change: Callable[[bl.Model], object] = lambda model: None
    run: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[bl.Model, bl.Results], Readings] = lambda model, results: {}


FEATURES: Final[dict[str, Feature]] = {}


def feature(name: str, **given: Any) -> None:
    """Enter a feature into the matrix."""
    FEATURES[name] = Feature(name, **given)


def _last(model: bl.Model) -> Any:
    """The body added last."""
    return list(model.bodies.values())[-1]


def _motor(model: bl.Model) -> None:
    model.force("actuator", "motor", coordinate="A", value=0.3)


def _spring(model: bl.Model) -> None:
    end = _last(model).at("l/2", 0, 0)
    model.force(
        *("spring_damper", "spring"),
        i=model.ground.at(0.2, 0, 0.6),
        j=end,
        stiffness=40.0,
        damping=0.5,
        length=0.3,
    )
    model.force("torsional", "turning", coordinate="A", stiffness=5.0, damping=0.3)


def _wind(model: bl.Model) -> None:
    place = _last(model).at("l/2", 0, 0)
    model.force("wrench", "wind", marker=place, fx="8*sin(40*t)", fz="3 + 20*t")


def _brake(model: bl.Model) -> None:
    model.force("friction", "brake", coordinate="A", kinetic=0.4, static=0.6, viscous=0.05,
                transition=0.3)  # fmt: skip


def _pin(model: bl.Model) -> None:
    model.force("friction", "pin", coordinate="A", coefficient=0.3, radius=0.05, transition=0.3)


def _buffer(model: bl.Model) -> None:
    angle = float(model.joints["A"].start["angle"])  # type: ignore[attr-defined]
    model.force("stop", "buffer", coordinate="A", upper=angle + 0.006, stiffness=50.0,
                damping=0.2, depth=0.05)  # fmt: skip


def _limited(model: bl.Model) -> None:
    joint: Any = model.joints["A"]
    angle = float(joint.start["angle"])
    joint.limits["angle"] = (-9.0, angle + 0.006)


def _sensors(model: bl.Model) -> None:
    body = _last(model)
    model.sensor("point", "tip", marker=body.at("l", 0, 0))
    model.sensor("joint", "turned", coordinate="A")
    model.sensor("distance", "far", i=model.ground, j=body)


def _rotors(model: bl.Model) -> None:
    model.rotors["A"] = 0.35


def _reaction_sensor(model: bl.Model) -> None:
    model.sensor("reaction", "load", joint="A")


def _sampled(t: float, q: Floats, v: Floats) -> list[float]:
    """A sampled torque that depends on the time only: every engine has other coordinates."""
    return [2.0 * float(np.sin(40.0 * t))]


def _held(state: Any) -> dict[str, float]:
    """A sampled torque that depends on the state of a joint, by names."""
    return {"motor": 4.0 * (0.2 - state["A"]) - 0.3 * state["A.angle_rate"]}


def _events(model: bl.Model, results: bl.Results) -> Readings:
    found = [(e.time, e.name) for e in results.events if "A" in e.name or "buffer" in e.name]
    return {"times of events": np.array([time for time, _ in found])}


def _read_sensors(model: bl.Model, results: bl.Results) -> Readings:
    names = ("tip.x", "tip.z", "turned", "far")
    return {name: np.asarray(results[name]) for name in names}


def _named(model: bl.Model, results: bl.Results) -> Readings:
    """Coordinates of the joints by their names."""
    return {"A": np.asarray(results["A"]), "rate": np.asarray(results["A.angle_rate"])}


def _reactions(model: bl.Model, results: bl.Results) -> Readings:
    loads = bl.joint_reactions(model, results)
    return {
        name: np.where(loads.determinate[:, k], np.hstack(loads[name]), 0.0)
        for k, name in enumerate(loads.joints)
    }


feature("plain")
feature("names", read=_named)
feature("start", run={"q": {"A": 0.55}, "v": {"A": -1.2}}, read=_named)
feature("parameters", run={"parameters": {"l": 0.36}})
feature("inputs", change=_motor, run={"inputs": {"motor": 1.7}})
feature("control", change=_motor, run={"control": _sampled, "sample_time": 2e-3})
feature("control by names", change=_motor, run={"control": _held, "sample_time": 2e-3})
feature("springs", change=_spring)
feature("laws of time", change=_wind, run={"t": 0.7})
feature("friction", change=_brake)
feature("friction under load", change=_pin)
feature("stops", change=_buffer, read=_events)
feature("events that stop", change=_buffer, run={"on_event": {"buffer.upper": "stop"}},
        read=_events)  # fmt: skip
feature("limits", change=_limited, read=_events)
feature("limits that stop", change=_limited, run={"on_event": {"limit of A.angle passed": "stop"}},
        read=_events)  # fmt: skip
feature("sensors", change=_sensors, read=_read_sensors)
feature("sensors of reactions", change=_reaction_sensor,
        read=lambda m, r: {n: np.asarray(r[f"load.{n}"]) for n in ("fx", "fz")})  # fmt: skip
feature("reactions", change=_spring, read=_reactions)
feature("rotors", change=_rotors)
