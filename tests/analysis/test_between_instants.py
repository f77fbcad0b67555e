"""Drives that go wrong between stored instants only: out of reach, or against each other.

What the drives ask for is known in closed form, so is what the mechanism can do: a slider-crank
reaches crank + rod, and two drivers of one angle agree where their laws do.
"""

import numpy as np
import pytest

import biela as bl
from biela.errors import SimulationError

CRANK, ROD = 0.1, 0.3
WAYS = [
    *((c, {"step": 1e-3}) for c in ("joint", "reference", "natural", "euler", "looped")),
    *((c, {}) for c in ("joint", "reference", "natural", "euler", "looped")),
    *(("joint", {"step": 1e-3, "integrator": i}) for i in ("heun", "trapezoidal", "nystrom")),
    ("joint", {"integrator": "radau"}),
]
NAMES = [f"{c}, {', '.join(map(str, how.values())) or 'default'}" for c, how in WAYS]


def slider_crank(law: str, driven: str = "slide") -> bl.Model:
    """A slider-crank with a pendulum on its slider, so that there is a motion to find."""
    m = bl.Model("slider_crank", plane="xz")
    m.gravity = (0.0, 0.0, -9.81)
    small = (1e-3, 1e-3, 1e-3)
    crank = m.body("crank", mass=1.0, com=(CRANK / 2, 0, 0), inertia=small)
    rod = m.body("rod", mass=1.0, com=(ROD / 2, 0, 0), inertia=small)
    slider = m.body("slider", mass=1.0, inertia=small)
    bob = m.body("bob", mass=1.0, com=(0, 0, -0.2), inertia=small)
    m.joint("revolute", "A", m.ground, crank, axis="y", start=-1.0)
    m.joint("revolute", "B", crank.at(CRANK, 0, 0), rod, axis="y", start=1.3)
    m.joint("prismatic", "slide", m.ground, slider, axis="x", start=0.33)
    m.joint("revolute", "C", rod.at(ROD, 0, 0), slider, axis="y")
    m.joint("revolute", "P", slider, bob, axis="y", start=0.3)
    kind = "translational" if driven == "slide" else "rotary"
    m.driver(kind, "drive", coordinate=driven, law=law)
    return m


def run(m: bl.Model, coordinates: str, duration: float = 1.0, **how) -> bl.Results:
    """Stored every tenth of a second."""
    if coordinates == "looped":
        return bl.simulate(m, duration, engine="looped", output=0.1, **how)
    return bl.simulate(bl.formulate(m, coordinates), duration, output=0.1, **how)


@pytest.mark.parametrize(("coordinates", "how"), WAYS, ids=NAMES)
def test_a_place_out_of_reach_is_refused_although_no_stored_instant_shows_it(coordinates, how):
    # the farthest place is 0.4 m; 0.42 m is asked for around t = 0.55 s
    m = slider_crank("0.33 + 0.09*exp(-((t - 0.55)/0.02)^2)")
    with pytest.raises(SimulationError) as caught:
        run(m, coordinates, **how)
    results = caught.value.results
    first = 0.55 - 0.02 * np.sqrt(np.log(0.09 / (CRANK + ROD - 0.33)))
    assert "slider_crank" in str(caught.value)
    assert results.t[-1] <= first
    slide = results.frame("slider").position[:, 0]
    np.testing.assert_allclose(
        slide, 0.33 + 0.09 * np.exp(-(((results.t - 0.55) / 0.02) ** 2)), atol=1e-6
    )


@pytest.mark.parametrize(("coordinates", "how"), WAYS[:5], ids=NAMES[:5])
def test_a_place_out_of_reach_is_called_that(coordinates, how):
    m = slider_crank("0.33 + 0.09*exp(-((t - 0.55)/0.02)^2)")
    with pytest.raises(SimulationError, match="place that the mechanism cannot reach"):
        run(m, coordinates, **how)


@pytest.mark.parametrize(("coordinates", "how"), WAYS, ids=NAMES)
def test_drivers_that_contradict_each_other_between_stored_instants_are_named(coordinates, how):
    m = slider_crank("-1 + t", "A")
    m.driver("rotary", "other", coordinate="A", law="-1 + t + 0.05*exp(-((t - 0.65)/0.008)^2)")
    with pytest.raises(SimulationError, match=r"drive\.angle and other\.angle contradict"):
        run(m, coordinates, **how)


@pytest.mark.parametrize(("coordinates", "how"), WAYS, ids=NAMES)
def test_drivers_that_agree_are_followed(coordinates, how):
    m = slider_crank("-1 + t + 0.2*sin(9*t)", "A")
    m.driver("rotary", "other", coordinate="A", law="t - 1 + 0.1*sin(9*t)*2")
    results = run(m, coordinates, **how)
    angle = -1 + results.t + 0.2 * np.sin(9 * results.t)
    place = CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)
    np.testing.assert_allclose(results.frame("slider").position[:, 0], place, atol=1e-7)
    assert len(results.t) == 11
    assert not results.events


@pytest.mark.parametrize("formulation", ["multipliers", "index2", "matrix_r", "null_space"])
def test_formulations_look_between_instants(formulation):
    m = slider_crank("0.33 + 0.09*exp(-((t - 0.55)/0.02)^2)")
    simulator = bl.Simulator(bl.formulate(m, "reference"), formulation)
    with pytest.raises(SimulationError):
        simulator.run(1.0, step=1e-3, output=0.1)


def test_looks_do_not_change_a_motion():
    """Bit for bit that of a run that stores every step."""
    m = slider_crank("-1 + t", "A")
    system = bl.formulate(m, "joint")
    seldom = bl.simulate(system, 1.0, step=1e-3, output=0.1)
    always = bl.simulate(system, 1.0, step=1e-3, output=1e-3)
    np.testing.assert_array_equal(seldom.q, always.q[::100])
    np.testing.assert_array_equal(seldom.v, always.v[::100])


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural", "euler"])
def test_kinematics_names_drivers_that_contradict(coordinates):
    m = slider_crank("-1 + t", "A")
    m.driver("rotary", "still", coordinate="P", law="0.3")
    m.driver("rotary", "other", coordinate="A", law="-1 + t + 0.01*t^4*(1 - t)^4")
    with pytest.raises(SimulationError, match=r"drive\.angle and other\.angle contradict"):
        bl.kinematics(bl.formulate(m, coordinates), 1.0, step=0.01)
