"""Forward dynamics by groups against all equations at once, energy, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.simulation import GroupSimulator, group_simulation
from biela.equations.groups.dynamics.program import SMALL
from biela.errors import DeadPointError, ModelError

EXAMPLES = Path(__file__).parents[2] / "examples" / "mechanisms"
DOWN = (0, -9.81, 0)


def gallery(name: str) -> bl.Model:
    """A mechanism of the gallery without its motors."""
    model = bl.load_model(EXAMPLES / f"{name}.toml")
    model.drivers.clear()
    return model


def pendulum(links: int = 2, plane: str | None = "xy") -> bl.Model:
    """Bars on each other, with a spring and a damper in the second hinge."""
    m = bl.Model("pendulum", plane=plane, gravity=DOWN)
    before, x = m.ground.at(), 0.5
    for k in range(links):
        bar = m.body(f"bar{k}", mass=1.0 + 0.1 * k, com=(0.2, 0.05, 0), inertia=(0.02, 0.03, 0.04))
        m.joint("revolute", f"hinge{k}", before, bar.at(), start=0.4 - 0.2 * k)
        before = bar.at(x, 0, 0)
    m.force("torsional", "spring", coordinate="hinge1.angle", stiffness=3.0, damping=0.05)
    return m


def four_bar(m: bl.Model, k: int) -> None:
    """Bars of 1, 2 and 1.5 m on supports 2.2 m apart."""
    angle = 0.9 + 0.05 * k
    B = np.array([np.cos(angle), np.sin(angle)])
    way = np.array([2.2, 0.0]) - B
    d = float(np.linalg.norm(way))
    along = (d * d + 2.0**2 - 1.5**2) / (2 * d)
    C = B + way * along / d + np.array([-way[1], way[0]]) / d * np.sqrt(4.0 - along**2)
    crank, coupler, rocker = (
        m.body(f"{name}{k}", mass=1.0, com=(0.4, 0.1, 0), inertia=0.1)
        for name in ("crank", "coupler", "rocker")
    )
    m.joint("revolute", f"A{k}", m.ground.at(0, 0, 0), crank.at(), start=angle)
    turn = float(np.arctan2(*(C - B)[::-1]))
    m.joint("revolute", f"B{k}", crank.at(1, 0, 0), coupler.at(), start=turn - angle)
    turn = float(np.arctan2(C[1], C[0] - 2.2))
    m.joint("revolute", f"D{k}", m.ground.at(2.2, 0, 0), rocker.at(), start=turn)
    m.joint("revolute", f"C{k}", coupler.at(2, 0, 0), rocker.at(1.5, 0, 0))


def sprung_four_bars(numbers: range = range(1)) -> bl.Model:
    """Four-bars with a spring from each to the ground, and dampers in a joint of each."""
    m = bl.Model("four-bars", plane="xy", gravity=DOWN)
    for k in numbers:
        four_bar(m, k)
        m.force(
            "spring_damper", f"spring{k}", i=m.ground.at(1.0, 2.5, 0),
            j=m.bodies[f"coupler{k}"].at(1, 0.3, 0), stiffness=30.0, length=0.5, damping=0.4,
        )  # fmt: skip
        m.force("torsional", f"damper{k}", coordinate=f"D{k}.angle", stiffness=2.0, damping=0.3)
    return m


def five_bar(driven: bool = False) -> bl.Model:
    """Two cranks and a dyad between them: two freedoms, one of them driven if asked for."""
    m = bl.Model("five-bar", plane="xy", gravity=DOWN)
    C = np.array([1.0, 1.6])
    for k, (x, angle) in enumerate(((0.0, 2.0), (2.0, 0.9))):
        tip = np.array([x, 0.0]) + np.array([np.cos(angle), np.sin(angle)])
        way = C - tip
        crank = m.body(f"crank{k}", mass=1.0, com=(0.5, 0, 0), inertia=0.1)
        bar = m.body(f"bar{k}", mass=0.8, com=(0.4, 0.1, 0), inertia=0.08)
        turn = float(np.arctan2(way[1], way[0]))
        m.joint("revolute", f"A{k}", m.ground.at(x, 0, 0), crank.at(), start=angle)
        m.joint("revolute", f"B{k}", crank.at(1, 0, 0), bar.at(), start=turn - angle)
        bar.marker("C", (float(np.linalg.norm(way)), 0, 0))
    m.joint("revolute", "C", "bar0.C", "bar1.C")
    if driven:
        m.driver("rotary", "motor", coordinate="A0.angle", law="2.0 + 0.5*sin(3*t)")
    return m


def pushed() -> bl.Model:
    """A force on a body that changes with time, and one between two bodies."""
    m = five_bar()
    m.force("wrench", "push", marker=m.bodies["bar0"].at(0.3, 0, 0), fx="5*sin(4*t)", mz="2")
    m.force(
        "wrench", "pair", marker=m.bodies["crank0"].at(0.5, 0, 0), fy="3",
        reaction=m.bodies["bar1"].at(),
    )  # fmt: skip
    return m


MODELS: dict[str, tuple[Callable[[], bl.Model], float]] = {
    "double pendulum": (pendulum, 0.3),
    "double pendulum in space": (lambda: pendulum(plane=None), 0.3),
    "four-bar with springs": (sprung_four_bars, 0.3),
    "five-bar": (five_bar, 0.2),
    "five-bar, one crank driven": (lambda: five_bar(driven=True), 0.2),
    "five-bar that is pushed": (pushed, 0.2),
    "slider_crank": (lambda: gallery("slider_crank"), 0.2),
    "rssr": (lambda: gallery("rssr"), 0.1),
    "excavator": (lambda: gallery("excavator"), 0.1),
}
STEP = 5e-4


@pytest.mark.parametrize(
    "name",
    list(MODELS),
)
def test_bodies_move_as_with_all_equations_at_once(name: str) -> None:
    make, duration = MODELS[name]
    model = make()
    found = group_simulation(model, duration, step=STEP, output=duration / 10)
    whole = bl.simulate(
        bl.formulate(model, "reference"), duration, integrator="dormand_prince", tolerance=1e-11,
        output=duration / 10,
    )  # fmt: skip
    np.testing.assert_allclose(found.t, whole.t, rtol=0, atol=1e-12)
    for level in "qva":
        a, b = getattr(found, level), getattr(whole, level)
        assert np.ptp(b, axis=0).max() > 1e-3
        # errors of steps of order four
        assert np.abs(a - b).max() <= 2e-8 * (1 + np.abs(b).max()), level
    # nothing drifts
    assert found.statistics.max_constraint_error is not None
    assert found.statistics.max_constraint_error <= 1e-12


@pytest.mark.parametrize("coordinates", ["relative", "reference"])
def test_groups_in_other_coordinates_move_alike(coordinates: str) -> None:
    model = sprung_four_bars()
    one = group_simulation(model, 0.1, step=1e-3)
    other = group_simulation(model, 0.1, step=1e-3, coordinates=coordinates)
    for level in "qva":
        np.testing.assert_allclose(getattr(one, level), getattr(other, level), rtol=0, atol=1e-9)


def test_other_independent_coordinates_give_the_same_motion() -> None:
    model = five_bar()
    runs = [
        group_simulation(model, 0.1, step=STEP, output=0.01, independent=names)
        for names in (["A0.angle", "A1.angle"], ["A0.angle", "B0.angle"])
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-9)


def test_energy_is_kept_and_better_so_with_smaller_steps() -> None:
    model = five_bar()
    lost = []
    for step in (4e-3, 2e-3):
        run = group_simulation(model, 0.2, step=step)
        energy = run["kinetic energy"] + run["potential energy"]
        lost.append(np.abs(energy - energy[0]).max() / np.ptp(run["kinetic energy"]))
    assert lost[1] < 1e-6
    assert lost[1] < lost[0] / 8, "of order four"


def test_many_independent_coordinates_are_solved_by_a_sparse_factorisation() -> None:
    """A pendulum, whose matrix is full."""
    model = pendulum(SMALL + 1)
    assert len(GroupSimulator(model).start.names) > SMALL
    found = group_simulation(model, 0.05, step=STEP, output=0.01)
    whole = bl.simulate(model, 0.05, step=STEP, output=0.01, integrator="rk4", engine="looped")
    for level in "qva":
        a, b = getattr(found, level), getattr(whole, level)
        assert np.abs(a - b).max() <= 1e-8 * (1 + np.abs(b).max()), level


def test_many_four_bars_side_by_side_accelerate_as_in_two_halves() -> None:
    """More coordinates than are solved by code without loops, in a matrix that is sparse."""
    count = SMALL + 1
    half = count // 2

    def accelerations(numbers: range) -> dict[str, float]:
        names = [f"A{k}.angle" for k in numbers]
        simulator = GroupSimulator(sprung_four_bars(numbers), independent=names)
        x = simulator.begin()
        found = simulator.accelerations(np.zeros(1), x[None])[0]
        assert np.abs(found).max() > 0.1
        return dict(zip(simulator.start.names, found.tolist(), strict=True))

    halves = accelerations(range(half)) | accelerations(range(half, count))
    assert len(halves) == count
    assert accelerations(range(count)) == pytest.approx(halves, rel=1e-10)


def test_a_force_that_depends_on_reactions_is_refused() -> None:
    model = gallery("slider_crank")
    model.force("friction", "rub", coordinate="guide.displacement", coefficient=0.1)
    with pytest.raises(ModelError, match="rub"):
        GroupSimulator(model)


def test_a_model_whose_freedoms_are_all_driven_is_sent_to_kinematics() -> None:
    with pytest.raises(ModelError, match="use kinematics"):
        GroupSimulator(bl.load_model(EXAMPLES / "four_bar.toml"))


@pytest.mark.parametrize("argument", ["duration", "step"])
def test_times_that_make_no_sense_are_refused(argument: str) -> None:
    given = {"duration": 0.1, "step": 1e-3} | {argument: -1.0}
    with pytest.raises(ModelError, match=argument):
        group_simulation(pendulum(), given["duration"], step=given["step"])


def test_coordinates_that_do_not_determine_the_motion_are_refused() -> None:
    with pytest.raises(ModelError):
        group_simulation(five_bar(), 0.1, independent=["A0.angle"])


def test_a_dead_point_is_named_and_what_was_found_until_then_is_kept() -> None:
    """The crank of a four-bar of equal bars falls to where all bars are in line."""
    m = bl.Model("falling", plane="xy", gravity=DOWN)
    for name, length in (("crank", 1.0), ("coupler", 2.0), ("rocker", 1.5)):
        m.body(name, mass=1.0, com=(length / 2, 0, 0), inertia=0.1)
    # coupler and rocker are in line where the crank points down by some angle
    A, d = 1.2, 2.9
    B = np.array([np.cos(A), np.sin(A)])
    way = np.array([d, 0.0]) - B
    gap = float(np.linalg.norm(way))
    along = (gap * gap + 4.0 - 2.25) / (2 * gap)
    C = B + way * along / gap + np.array([-way[1], way[0]]) / gap * np.sqrt(4.0 - along**2)
    bodies = m.bodies
    m.joint("revolute", "A", m.ground.at(), bodies["crank"].at(), start=A, rates=3.0)
    turn = float(np.arctan2(*(C - B)[::-1]))
    m.joint("revolute", "B", bodies["crank"].at(1, 0, 0), bodies["coupler"].at(), start=turn - A)
    turn = float(np.arctan2(C[1], C[0] - d))
    m.joint("revolute", "D", m.ground.at(d, 0, 0), bodies["rocker"].at(), start=turn)
    m.joint("revolute", "C", bodies["coupler"].at(2, 0, 0), bodies["rocker"].at(1.5, 0, 0))
    limit = float(np.arccos((1 + d * d - 3.5**2) / (2 * d)))
    with pytest.raises(DeadPointError, match=r"RRR \(coupler, rocker; joints") as error:
        group_simulation(m, 3.0, step=1e-3, independent=["A.angle"])
    kept = error.value.results
    assert kept is not None
    assert kept["A.angle"].max() <= limit + 1e-6


def non_grashof() -> bl.Model:
    """A four-bar whose crank turns back, at a dead point that steps of 5 ms just leap over."""
    lengths = {"crank": 0.6892584073394987, "coupler": 1.183577288293773}
    lengths["rocker"] = 0.9449677778602603
    m = bl.Model("non-Grashof", plane="xy", gravity=(0, -9.81, 0))
    for name, length in lengths.items():
        body = m.body(name, mass=1.0, com=(length / 2, 0, 0), inertia=0.1 * length)
        body.marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground, "crank", start=0.7319891314270489)
    m.joint("revolute", "B", "crank.end", "coupler")
    m.joint("revolute", "C", "coupler.end", "rocker.end")
    foot = m.ground.at(1.4756616792801494, 0, 0)
    m.joint("revolute", "D", foot, "rocker", start="60 deg")
    return m


@pytest.mark.parametrize("step", [1e-2, 5e-3, 2e-3])
def test_a_step_across_a_dead_point_is_told_and_what_is_before_it_is_right(step: float) -> None:
    m, rates = non_grashof(), {"A": -3.211524964328354}
    with pytest.raises(DeadPointError) as stopped:
        bl.group_simulation(m, 2.0, step=step, independent=["A.angle"], v=rates)
    found = stopped.value.results
    assert 0.5 < found.t[-1] < 0.58
    whole = bl.simulate(m, 0.5, step=5e-4, output=step, v=rates)
    early = found.t <= 0.5
    assert found["D.angle"][early] == pytest.approx(whole["D.angle"], abs=2e-3)
    assert np.ptp(found["energy"]) < 0.02 * found["kinetic energy"].max()


@pytest.mark.parametrize("value", [3.0, "3 N*m", "300 N*cm"])
def test_the_input_of_an_actuator_is_read_with_its_unit(value: float | str) -> None:
    m = bl.Model("wheel")
    wheel = m.body("wheel", mass=1.0, inertia=(0.1, 0.2, 0.3))
    m.joint("revolute", "pin", m.ground, wheel, axis="z")
    m.force("actuator", "motor", coordinate="pin", value=value)
    simulator = bl.GroupSimulator(m)
    found = simulator.accelerations(np.zeros(1), simulator.begin()[None])
    np.testing.assert_allclose(found, [[3.0 / 0.3]], rtol=1e-14)
