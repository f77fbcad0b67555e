"""The car of `vehicle.py` of bodies and joints, which any coordinates can be made of.

The arms and rods have no mass; each carrier has that of its wheel in the centre of the wheel.  A
front carrier sits on the ball of its arm, the top of its strut is a ball in a groove along it, and
the tie rod keeps its distance; a rear one hangs on five rods.  Tyres push up by a spring from the
ground and brake across.  They are pressed to the ground throughout, so that they need not let go.

    biela run examples/large/vehicle_bodies.py -t 1
    biela run examples/large/vehicle_bodies.py -t 1 --coordinates natural
"""

from __future__ import annotations

import numpy as np

import biela as bl

# stands beside this file, which may be run by itself
try:
    from examples.large import vehicle as data
except ModuleNotFoundError:
    import vehicle as data  # type: ignore[no-redef,import-not-found]


def vehicle_bodies() -> bl.Model:
    """The car on ground that is 5 cm too high."""
    m = bl.Model("vehicle", gravity=(0.0, 0.0, -data.GRAVITY))
    m.parameter("ground_height", 0.05)
    m.body("chassis", mass=data.CHASSIS_MASS, com=data.CENTRE, inertia=data.CHASSIS_INERTIA)
    m.joint("free", "pose", "ground", "chassis")
    for side, y in (("L", 1.0), ("R", -1.0)):
        _front(m, f"F{side}", data.mirrored(data.FRONT, y))
        _rear(m, f"R{side}", data.mirrored(data.REAR, y))
    return m


def _front(m: bl.Model, name: str, at: dict[str, np.ndarray]) -> None:
    """Arm, carrier, groove of the strut, tie rod."""
    arm, carrier = f"{name}_arm", f"{name}_carrier"
    m.body(arm)
    m.body(carrier, points=[(data.WHEEL_MASS, at["C"])])
    m.joint("revolute", f"{name}_hinge", "chassis", arm, at=at["A1"], axis=at["A1"] - at["A2"])
    m.joint("spherical", f"{name}_ball", arm, carrier, at=at["B"])
    groove = at["T"] - at["S"]
    m.joint("point_on_line", f"{name}_top", carrier, "chassis", at=at["T"], axis=groove)
    _rod(m, f"{name}_tie", ("chassis", at["rack"]), (carrier, at["N"]))
    _strut_and_tyre(m, name, at)


def _rear(m: bl.Model, name: str, at: dict[str, np.ndarray]) -> None:
    """A carrier on five rods."""
    carrier = f"{name}_carrier"
    m.body(carrier, points=[(data.WHEEL_MASS, at["C"])])
    m.joint("free", f"{name}_pose", "chassis", carrier)
    for k in range(1, 6):
        _rod(m, f"{name}_rod{k}", ("chassis", at[f"Q{k}"]), (carrier, at[f"K{k}"]))
    _strut_and_tyre(m, name, at)


def _rod(m: bl.Model, name: str, i: tuple[str, np.ndarray], j: tuple[str, np.ndarray]) -> None:
    length = float(np.linalg.norm(i[1] - j[1]))
    m.joint("distance", name, i, j, length=length)


def _strut_and_tyre(m: bl.Model, name: str, at: dict[str, np.ndarray]) -> None:
    carrier = f"{name}_carrier"
    preload, stiffness, damping = data.STRUT
    length = float(np.linalg.norm(at["T"] - at["S"])) + preload / stiffness
    m.force(
        "spring_damper", f"{name}_strut", i=("chassis", at["T"]), j=(carrier, at["S"]),
        stiffness=stiffness, length=length, damping=damping,
    )  # fmt: skip
    up, down, across = data.TYRE
    load = (data.CHASSIS_MASS / 4 + data.WHEEL_MASS) * data.GRAVITY
    m.force(
        "bushing", f"{name}_tyre", i=("ground", at["C"]), j=(carrier, at["C"]),
        stiffness=(0.0, 0.0, up), damping=(across, across, down),
        rest=(0.0, 0.0, f"ground_height + {load / up}"),
    )  # fmt: skip
