"""Random mechanisms of known groups under random forces: by groups as with all equations at once.

Both runs say so where they cannot go on; where both arrive they agree.
"""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import SimulationError
from tests.analysis.group_mechanisms import Mechanism, place, random_mechanism

DURATION, STEP = 0.15, 5e-4
WAYS = ("natural", "relative", "reference")


def forced(mechanism: Mechanism, rng: np.random.Generator) -> bl.Model:
    """A model with masses of no symmetry, springs, dampers, motors, and some of its drivers."""
    spatial = mechanism.plane is None
    m = bl.Model("random", plane=mechanism.plane, gravity=tuple(rng.normal(size=3) * (6, 6, 0)))
    made = {"ground": m.ground}
    for name, where in mechanism.bodies.items():
        moments = rng.uniform(0.2, 0.25, 3)
        com = tuple(0.2 * place(rng, spatial))
        inertia = tuple(moments) if spatial else float(moments[2])
        made[name] = m.body(
            name, mass=rng.uniform(0.5, 2.0), com=com, inertia=inertia, position=where
        )
    for name, (kind, a, b, at, axis) in mechanism.joints.items():
        m.joint(kind, name, made[a], made[b], at=at, axis=axis)
        if rng.random() < 0.4 and kind in ("revolute", "prismatic"):
            along = "torsional" if kind == "revolute" else "axial"
            stiffness, damping = rng.uniform(2.0, 20.0), rng.uniform(0.0, 1.0)
            m.force(along, f"at_{name}", coordinate=name, stiffness=stiffness, damping=damping,
                    rest=rng.uniform(-0.3, 0.3))  # fmt: skip
        elif rng.random() < 0.2 and kind in ("revolute", "prismatic"):
            m.force("actuator", f"at_{name}", coordinate=name, law="3*sin(8*t)")
    for k in range(2):
        a, b = rng.choice(list(made), 2, replace=False)
        i, j = (made[str(x)].at(*place(rng, spatial)) for x in (a, b))
        m.force("spring_damper", f"spring{k}", i=i, j=j, stiffness=rng.uniform(5, 50), length=0.5,
                damping=rng.uniform(0.0, 1.0))  # fmt: skip
    for k, (name, joint) in enumerate(mechanism.driven.items()):
        if k and rng.random() < 0.4:  # the first is free
            kind = "rotary" if mechanism.joints[joint][0] == "revolute" else "translational"
            m.driver(kind, name, coordinate=joint, law="0.3*sin(5*t)")
    return m


def drawn(seed: int, spatial: bool) -> tuple[bl.Model, dict[str, float]]:
    """A model, and rates at its start."""
    rng = np.random.default_rng([seed, 77, spatial])
    mechanism = random_mechanism(seed, int(rng.integers(2, 5)), spatial)
    model = forced(mechanism, rng)
    driven = {driver.coordinate for driver in model.drivers.values()}
    free = [joint for joint in mechanism.driven.values() if joint not in driven]
    return model, {joint: float(rng.normal()) for joint in free}


def difference(seed: int, spatial: bool) -> tuple[float, str]:
    """How far the two runs are apart, and what kept one of them from arriving."""
    model, v = drawn(seed, spatial)
    try:
        whole = bl.simulate(model, DURATION, step=STEP, integrator="rk4", output=DURATION / 5, v=v)
    except SimulationError as error:
        return 0.0, f"all equations: {error}"
    try:
        found = bl.group_simulation(
            model, DURATION, step=STEP, output=DURATION / 5, v=v, coordinates=WAYS[seed % 3]
        )
    except SimulationError as error:
        return 0.0, f"groups: {error}"
    names = whole.groups["poses"].names
    assert set(names) == set(found.groups["poses"].names)
    return max(float(np.abs(found[n] - whole[n]).max()) for n in names), ""


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
@pytest.mark.parametrize("seed", range(4))
def test_a_random_mechanism_moves_as_with_all_equations_at_once(seed: int, spatial: bool) -> None:
    apart, stopped = difference(seed, spatial)
    assert apart < 1e-9
    assert not stopped
