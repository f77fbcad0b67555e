"""Large mechanisms in motion, against the unrolled equations and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.looped import motion as looped_motion
from biela.analysis.looped.motion import LoopedMotion
from biela.equations.blocks import reference_blocks
from biela.errors import ModelError

#: Simulates by the looped engine.
looped = partial(bl.simulate, engine="looped")

Maker = Callable[[], bl.Model]
GALLERY = Path(__file__).parents[2] / "examples" / "mechanisms"


def four_bars(count: int, angle: float, rate: float) -> bl.Model:
    """Rods of 1 m and 1 kg: parallelograms side by side, all cranks at one angle."""
    cell = bl.Model("cell", plane="xy", gravity=(0, -9.81, 0))
    crank = cell.body("crank", mass=1.0, com=(0.5, 0, 0), inertia=1 / 12)
    coupler = cell.body("coupler", mass=1.0, com=(0.5, 0, 0), inertia=1 / 12)
    crank.marker("tip", (1, 0, 0))
    coupler.marker("end", (1, 0, 0))
    cell.joint("revolute", "A", cell.ground, crank, start=angle, rates=rate)
    cell.joint("revolute", "B", crank.markers["tip"], coupler, start=-angle)
    m = bl.Model("four-bars", plane="xy", gravity=(0, -9.81, 0))
    pin = ("revolute", "coupler.end", "crank.tip")
    m.part("cell", cell, count, shift=(1, 0, 0), between=[pin])
    last = m.body("last", mass=1.0, com=(0.5, 0, 0), inertia=1 / 12)
    m.joint("revolute", "A", m.ground.at(count, 0, 0), last.at(), start=angle, rates=rate)
    m.joint("revolute", "pin", f"cell[{count - 1}].coupler.end", last.at(1, 0, 0))
    return m


def crank_angle(count: int, angle: float, rate: float, time: float) -> float:
    """The closed form of their motion, a pendulum: a θ'' = -b g cos θ, by small steps of RK4."""
    a, b = (count + 1) / 3 + count, (count + 1) / 2 + count

    def f(x: np.ndarray) -> np.ndarray:
        return np.array([x[1], -b / a * 9.81 * cos(x[0])])

    x, steps = np.array([angle, rate]), 20_000
    h = time / steps
    for _ in range(steps):
        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        k4 = f(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return float(x[0])


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("bennett", 1e-11),  # redundant
        ("geared_five_bar", 1e-10),  # coordinates without inertia, and a gear
        ("excavator", 1e-10),
        ("double_wishbone", 1e-11),  # a spring
        ("cardan_shaft", 1e-11),
        ("slider_crank", 1e-11),  # thin rods in space
    ],
)
def test_the_gallery_moves_as_with_unrolled_equations(name: str, tolerance: float) -> None:
    m = bl.load_model(GALLERY / f"{name}.toml")
    found = looped(m, 0.02, step=1e-3)
    other = bl.simulate(bl.formulate(m, "reference"), 0.02, step=1e-3)
    n = found.q.shape[1]
    assert found.q[-1] == pytest.approx(other.q[-1][:n], rel=tolerance, abs=tolerance)
    nv = found.v.shape[1]
    assert found.v[-1] == pytest.approx(other.v[-1][:nv], rel=10 * tolerance, abs=10 * tolerance)


def test_forty_four_bars_pass_singular_positions_on_their_branch() -> None:
    # all cranks in line with all couplers: there the mobility is 41 in place of 1
    m = four_bars(40, pi / 2, -1.0)
    r = bl.simulate(m, 5.0, step=2e-3, output=5.0, engine="looped")
    theta = crank_angle(40, pi / 2, -1.0, 5.0)
    found = r["cell[0].crank.angle"][-1]
    assert (cos(found), sin(found)) == pytest.approx((cos(theta), sin(theta)), abs=1e-6)
    assert r.statistics is not None
    assert r.statistics.max_constraint_error is not None
    assert r.statistics.max_constraint_error < 1e-12
    assert np.abs(r["energy"] - r["energy"][0]).max() < 1e-5


def test_four_bars_start_from_a_singular_position() -> None:
    m = four_bars(10, 0.0, 6.0)
    r = bl.simulate(m, 0.2, step=1e-3, engine="looped")
    theta = crank_angle(10, 0.0, 6.0, 0.2)
    assert r["cell[4].crank.angle"][-1] == pytest.approx(theta, abs=1e-6)


def test_a_mechanism_of_many_bodies_is_looped_without_being_asked() -> None:
    m = four_bars(120, 1.0, 0.5)
    r = bl.simulate(m, 0.01, step=1e-3)
    assert r.statistics is not None
    assert "looped" in r.statistics.method
    assert r["cell[7].crank.angle"][-1] == pytest.approx(crank_angle(120, 1.0, 0.5, 0.01), abs=1e-9)


def test_mechanisms_that_are_not_joined_move_alone() -> None:
    one = four_bars(1, 1.0, 0.5)
    m = bl.Model("array", plane="xy", gravity=(0, -9.81, 0))
    m.part("each", one.flattened(), 9, shift=(0, 5, 0))
    r = looped(m, 0.1, step=1e-3)
    theta = crank_angle(1, 1.0, 0.5, 0.1)
    for k in (0, 4, 8):
        assert r[f"each[{k}].last.angle"][-1] == pytest.approx(theta, abs=1e-9)


def test_joints_without_rates_rest_at_the_start() -> None:
    m = bl.Model("double pendulum", plane="xz", gravity=(0, 0, -9.81))
    upper, lower = (m.body(x, mass=1, com=(0, 0, -0.5), inertia=0.1) for x in ("upper", "lower"))
    m.joint("revolute", "a", m.ground.at(axis="y"), upper.at(axis="y"))
    m.joint("revolute", "b", upper.at(0, 0, -1, axis="y"), lower.at(axis="y"), rates=2)
    found = looped(m, 0.01, step=1e-3)
    other = bl.simulate(bl.formulate(m, "reference"), 0.01, step=1e-3)
    assert found.v[0] == pytest.approx([0, 0, 0, -1, 0, 2], abs=1e-13)
    assert found.v[-1] == pytest.approx(other.v[-1], abs=1e-12)


def test_the_velocity_of_a_body_is_that_of_its_frame_in_all_coordinates() -> None:
    m = bl.Model("pendulum", gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    m.joint("revolute", "a", m.ground.at(axis="y"), rod.at(0, 0, 0.2, axis="y"), rates=1.0)
    runs = [looped(m, 0.01, step=1e-3)]
    runs += [
        bl.simulate(bl.formulate(m, coordinates), 0.01, step=1e-3)
        for coordinates in ("joint", "reference", "natural")
    ]
    for run in runs:
        assert run["rod.vx"] == pytest.approx(runs[1]["rod.vx"], abs=1e-12)
    assert runs[0]["rod.vx"][0] == pytest.approx(-0.2)


def test_an_adaptive_run_agrees_with_fixed_steps() -> None:
    m = four_bars(5, 1.0, 0.0)
    fixed = looped(m, 0.5, step=1e-3)
    adaptive = looped(m, 0.5, tolerance=1e-10)
    assert adaptive.q[-1] == pytest.approx(fixed.q[-1], abs=1e-8)


def test_what_a_run_needs_and_lacks_is_said() -> None:
    m = four_bars(2, 1.0, 0.0)
    with pytest.raises(ModelError, match="does not know timers"):
        bl.simulate(m, 1.0, step=1e-3, engine="looped", timers=True)
    with pytest.raises(ModelError, match="has no inputs, so a controller has nothing to set"):
        bl.simulate(m, 1.0, step=1e-3, engine="looped", control=lambda t, q, v: [])
    with pytest.raises(ModelError, match="not known; use unrolled or looped"):
        bl.simulate(m, 1.0, step=1e-3, engine="fast")
    with pytest.raises(ModelError, match=r"no velocity 'last\.spin'"):
        bl.simulate(m, 1.0, step=1e-3, engine="looped", v={"last.spin": 1.0})
    # of few bodies the first rates are kept, as in all other coordinates; many must agree
    many = four_bars(40, 1.0, 0.0)
    many.joints["A"] = replace(many.joints["A"], rates={"angle": 3.0})
    with pytest.raises(ModelError, match="no velocity fulfils all joints and their rates"):
        bl.simulate(many, 1.0, step=1e-3, engine="looped")


def massless_links() -> bl.Model:
    """A thin rod, a link without mass and a thin rod again, in space."""
    m = bl.Model("links", gravity=(0, 0, -9.81))
    a = m.body("a", mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    b = m.body("b")
    c = m.body("c", mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    m.joint("revolute", "A", m.ground, a.at(), axis="y", start=0.3)
    m.joint("revolute", "B", a.at(1, 0, 0), b.at(), axis="z", start=0.2)
    m.joint("revolute", "C", b.at(0.4, 0, 0), c.at(), axis="y", start=-0.4)
    return m


def driven_massless_crank() -> bl.Model:
    """Only the driver of its turn holds a crank without mass."""
    m = bl.Model("crank", plane="xy", gravity=(0, -9.81, 0))
    crank, rod = m.body("crank"), m.body("rod", mass=1.0, inertia=0.2)
    m.joint("revolute", "A", m.ground, crank, start=0.3)
    m.joint("revolute", "B", crank.at(1, 0, 0), rod.at(0.2, 0, 0), start=0.5)
    m.driver("rotary", "motor", coordinate="A", law="0.3 + 2*t + t^2")
    return m


@pytest.mark.parametrize("make", [massless_links, driven_massless_crank])
def test_bodies_without_inertia_move_as_with_unrolled_equations(make: Maker) -> None:
    m = make()
    found = looped(m, 0.1, step=1e-3)
    other = bl.simulate(bl.formulate(m, "reference"), 0.1, step=1e-3)
    assert found.q[-1] == pytest.approx(other.q[-1][: found.q.shape[1]], abs=1e-9)
    assert found.v[-1] == pytest.approx(other.v[-1][: found.v.shape[1]], abs=1e-9)


def test_a_thin_rod_that_nothing_keeps_from_spinning_is_named() -> None:
    m = bl.Model("spinning", gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    m.joint("spherical", "A", m.ground, rod.at())
    with pytest.raises(ModelError, match=r"body rod has no mass, or no inertia about one of its"):
        looped(m, 0.1, step=1e-2)


def test_dependent_rows_and_kinds_are_counted() -> None:
    # hinges and slide of the spatial slider-crank and its driver: three rows too many
    m = bl.load_model(GALLERY / "slider_crank.toml")
    r = looped(m, 0.002, step=1e-3)
    assert r.statistics is not None
    assert r.statistics.more["dependent rows"] == 3
    assert r.statistics.more["kinds of groups"] == 1


def test_springs_between_bodies_that_are_evaluated_far_apart_pull_both() -> None:
    m = bl.Model("row", plane="xy", gravity=(0, 0, 0))
    bodies = [m.body(f"b{k}", mass=2.0, inertia=0.1, position=(1.5 * k, 0, 0)) for k in range(100)]
    for k in range(99):
        ends = {"i": bodies[k], "j": bodies[k + 1]}
        m.force("spring_damper", f"s{k}", **ends, stiffness=10.0, length=1.0)
    blocks = reference_blocks(m)
    a, _ = LoopedMotion(blocks).accelerations(
        0.0, blocks.start, np.zeros(blocks.nv), blocks.input_values
    )
    # 0.5 m too long: the ends are pulled by 5 N, all others are in balance
    expected = np.zeros((100, 3))
    expected[0, 0], expected[-1, 0] = 2.5, -2.5
    assert a.reshape(100, 3) == pytest.approx(expected, abs=1e-12)


def branched(arms: int) -> bl.Model:
    """A disc that turns about the ground, with arms of two rods that hang on it."""
    m = bl.Model("arms", plane="xy", gravity=(0, -9.81, 0))
    disc = m.body("disc", mass=10.0, inertia=5.0)
    m.joint("revolute", "pin", m.ground, disc.at(), start=0.1)
    for k in range(arms):
        upper = m.body(f"upper{k}", mass=1.0, com=(0.5, 0, 0), inertia=1 / 12)
        lower = m.body(f"lower{k}", mass=1.0, com=(0.5, 0, 0), inertia=1 / 12)
        m.joint("revolute", f"A{k}", disc.at(0.1 * k, 0, 0), upper.at(), start=-0.3 * k)
        m.joint("revolute", f"B{k}", upper.at(1, 0, 0), lower.at(), start=0.5)
    return m


@pytest.mark.parametrize("operations", [12_000, 0])
def test_a_body_with_many_arms_moves_as_with_unrolled_equations(
    operations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # without operations to spare, a general sparse solver does it
    monkeypatch.setattr(looped_motion, "most_operations", lambda *_: operations)
    m = branched(5)
    found = looped(m, 0.02, step=1e-3)
    other = bl.simulate(bl.formulate(m, "reference"), 0.02, step=1e-3)
    assert found.q[-1] == pytest.approx(other.q[-1], abs=1e-10)
    assert found.v[-1] == pytest.approx(other.v[-1], abs=1e-9)
    assert found.statistics is not None
    assert found.statistics.more["dependent rows"] == 0
    way = "by kind of group" if operations else "general sparse solver"
    assert found.statistics.more["elimination"] == way


def test_closed_loops_among_branches_keep_their_redundant_rows_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # a net of hinged squares: both ways of elimination drop as many rows, and move alike
    m = bl.Model("net", plane="xy", gravity=(0, -9.81, 0))
    net = {
        (i, j): m.body(f"b{i}{j}", mass=1.0, inertia=0.1, position=(i, j, 0))
        for i in range(3)
        for j in range(3)
    }
    for (i, j), body in net.items():
        for di, dj in ((1, 0), (0, 1)):
            other = net.get((i + di, j + dj))
            if other is not None:
                ends = body.at(di / 2, dj / 2, 0), other.at(-di / 2, -dj / 2, 0)
                m.joint("revolute", f"h{i}{j}{di}", *ends)
    m.joint("revolute", "pin", m.ground, net[0, 0].at())
    runs = []
    for most in (10**9, 0):
        monkeypatch.setattr(looped_motion, "most_operations", lambda *_, most=most: most)
        runs.append(looped(m, 0.02, step=1e-3))
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=1e-10)
    dropped = [r.statistics.more["dependent rows"] for r in runs if r.statistics is not None]
    blocks = reference_blocks(m)
    J = np.zeros((len(blocks.rows), blocks.nv))
    J[blocks.indices[0], blocks.indices[1]] = blocks.Phi_v(blocks.start)
    redundant = len(J) - np.linalg.matrix_rank(J)
    assert redundant > 0
    assert dropped == [redundant, redundant]
