"""One model, one start: every formulation and every engine begins, and goes on, alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.one_start import start_state
from biela.errors import AssemblyError, ModelError, SingularityError

Floats = npt.NDArray[np.float64]
COORDINATES = ("reference", "natural", "euler")


def rssr(**parameters: float) -> bl.Model:
    """Two cranks and a rod between balls; nobody says how the second crank starts."""
    m = bl.Model("rssr")
    for name, value in {"a": 0.3, "b": 0.7, "l": 0.9, "phi": 0.4, "w": 1.0, **parameters}.items():
        m.parameter(name, value)
    i = m.body("i", mass=1.0, com=("a/2", 0, 0), inertia=(0.01, 0.02, 0.02))
    c = m.body("c", mass=1.0, com=("l/2", 0, 0), inertia=(0.003, 0.05, 0.05))
    o = m.body("o", mass=1.0, com=(0, 0, "b/2"), inertia=(0.03, 0.03, 0.01))
    m.joint("revolute", "A", m.ground, i, axis="z", start="phi", rates="w")
    m.joint("spherical", "B", i.at("a", 0, 0), c)
    m.joint("spherical", "C", c.at("l", 0, 0), o.at(0, 0, "b"))
    m.joint("revolute", "D", m.ground.at(0.7, 0, 0.1), o, axis="x")
    return m


def four_bar(started: str = "", name: str = "four_bar") -> bl.Model:
    """Bars whose lengths are parameters; besides A, one more joint may be given a start."""
    m = bl.Model(name, plane="xz")
    for parameter, value in {"l": 0.3, "m": 0.45, "n": 0.4, "d": 0.5, "a": 0.7, "z": 1.0}.items():
        m.parameter(parameter, value)
    a, b, c = (
        m.body(n, mass=1.0, com=(f"{l}/2", 0, 0), inertia=0.02)
        for n, l in zip("abc", "lmn", strict=True)
    )
    given: dict[str, dict[str, str]] = {started: {"start": "z"}}
    m.joint("revolute", "A", m.ground, a, axis="y", start="a")
    m.joint("revolute", "B", a.at("l", 0, 0), b, axis="y", **given.get("B", {}))
    m.joint("revolute", "C", b.at("m", 0, 0), c.at("n", 0, 0), axis="y", **given.get("C", {}))
    m.joint("revolute", "D", m.ground.at("d", 0, 0), c, axis="y", **given.get("D", {}), rates=1.0)
    return m


def motion(run: bl.Results, bodies: Mapping[str, Any]) -> Floats:
    """Places and angular velocities of all bodies, an instant a row."""
    frames = [run.frame(name) for name in bodies]
    return np.concatenate([x for f in frames for x in (f.position, f.angular_velocity)], axis=1)


def moved(model: bl.Model, coordinates: str, **given: Any) -> Floats:
    """The motion of a model in coordinates, or by the looped engine."""
    if coordinates == "looped":
        run = bl.simulate(model, 0.1, step=2e-3, output=0.05, engine="looped", **given)
    else:
        system = bl.formulate(model, coordinates)
        # which compiles in no time
        given["formulation"] = "velocity_projection"
        run = bl.simulate(system, 0.1, step=2e-3, output=0.05, **given)
    return motion(run, model.bodies)


@pytest.mark.parametrize("coordinates", [*COORDINATES, "looped"])
def test_a_loop_that_closes_in_two_ways_closes_alike(coordinates: str) -> None:
    for phi in (0.4, 1.2):
        model = rssr(phi=phi)
        np.testing.assert_allclose(
            moved(model, coordinates), moved(model, "joint"), atol=1e-8, rtol=0
        )


@pytest.mark.parametrize("started", ["", "B", "C", "D"])
def test_random_loops_start_alike(started: str) -> None:
    """Poses and twists to rounding, whether or not somebody chose the branch."""
    model = four_bar(started)
    systems = [bl.formulate(model, c) for c in ("joint", "reference", "natural")]
    random = np.random.default_rng(3)
    found = 0
    while found < 5:
        p = np.array([*random.uniform(0.25, 0.5, 4), *random.uniform(-3, 3, 2)])
        try:
            states = [start_state(s, None, None, t=0.0, u=s.inputs, p=p) for s in systems]
        except AssemblyError:
            continue
        found += 1
        places = [
            np.concatenate([s.evaluate("poses", q, p=p), s.evaluate("twists", q, v, p=p)], axis=1)
            for s, (q, v) in zip(systems, states, strict=True)
        ]
        size = 1 + np.abs(places[0]).max()
        np.testing.assert_allclose(places[1] / size, places[0] / size, atol=1e-9, rtol=0)
        np.testing.assert_allclose(places[2] / size, places[0] / size, atol=1e-9, rtol=0)


@pytest.mark.parametrize("coordinates", ["joint", *COORDINATES, "looped"])
def test_parameters_of_a_run_change_its_start(coordinates: str) -> None:
    """As if they were those of the model: lengths, start values and rates."""
    other = {"phi": 2.5, "a": 0.25, "b": 0.6, "l": 1.1, "w": -1.5}
    changed = moved(rssr(), coordinates, parameters=other)
    np.testing.assert_allclose(changed, moved(rssr(**other), "joint"), atol=1e-8, rtol=0)


@pytest.mark.parametrize("coordinates", [*COORDINATES, "looped"])
def test_joint_coordinates_are_known_by_name_in_all(coordinates: str) -> None:
    given: dict[str, Any] = {"q": {"A": 1.5, "D": -0.5}, "v": {"A.angle_rate": 0.7}}
    expected = moved(rssr(), "joint", **given)
    np.testing.assert_allclose(moved(rssr(), coordinates, **given), expected, atol=1e-8, rtol=0)
    # the branch is another than without
    assert np.abs(expected[0] - moved(rssr(), "joint", q={"A": 1.5})[0]).max() > 0.1


def test_coordinates_of_bodies_are_kept_beside_those_of_joints() -> None:
    m = bl.Model("two")
    a = m.body("a", mass=1.0, inertia=0.1)
    m.body("b", mass=1.0, inertia=0.1, position=(0, 0, 1))
    m.joint("revolute", "A", m.ground, a, axis="y")
    system = bl.formulate(m, "reference")
    run = bl.simulate(
        system,
        0.01,
        step=1e-3,
        q={"A": 0.3, "b.rx": 2.0},
        v={"b.rx_rate": 1.5},
    )
    assert run.frame("b").position[0] == pytest.approx([2.0, 0, 1.0], abs=1e-12)
    assert run.frame("b").velocity[0] == pytest.approx([1.5, 0, 0], abs=1e-12)
    with pytest.raises(ModelError, match=r"no coordinate c\.rx"):
        bl.simulate(system, 0.01, q={"c.rx": 1.0})


def hanging(position: tuple[float, float, float]) -> bl.Model:
    """A body on a rod of given length, and one on it that nobody placed."""
    m = bl.Model("hanging")
    a = m.body("a", mass=1.0, inertia=0.1, position=position)
    b = m.body("b", mass=1.0, com=(0.2, 0, 0), inertia=0.1)
    m.joint("distance", "L", m.ground, a, length=1.0)
    m.joint("revolute", "R", a.at(0.3, 0, 0), b, axis="y", start=0.5)
    return m


@pytest.mark.parametrize("coordinates", ["joint", *COORDINATES, "looped"])
def test_a_body_that_fits_stays_and_carries_the_next_one(coordinates: str) -> None:
    model = hanging((0.6, 0.8, 0.0))
    place = moved(model, coordinates)
    np.testing.assert_allclose(place[0, :3], [0.6, 0.8, 0.0], atol=1e-12)
    np.testing.assert_allclose(place[0, 6:9], [0.9, 0.8, 0.0], atol=1e-12)
    np.testing.assert_allclose(place, moved(model, "joint"), atol=1e-8, rtol=0)


def test_drives_of_a_call_start_alike() -> None:
    """Where the drive has the crank, not where the model does, and with the same elbow."""
    model = four_bar()
    runs = [
        bl.kinematics(bl.formulate(model, c), 0.1, step=0.05, drives={"A.angle": "2 + t"})
        for c in ("joint", "natural")
    ]
    one, other = (motion(run, model.bodies) for run in runs)
    np.testing.assert_allclose(one, other, atol=1e-9, rtol=0)


@pytest.mark.parametrize("t", [0.0, 1.3])
def test_a_start_later_than_zero_is_where_drivers_are_then(t: float) -> None:
    def crank() -> bl.Model:
        m = four_bar()
        m.driver("rotary", "motor", coordinate="A", law="0.3 + 2*t")
        return m

    expected = motion(bl.kinematics(crank(), 0.1, step=0.05, t=t), crank().bodies)
    engines: list[Callable[[], bl.Results]] = [
        lambda: bl.kinematics(crank(), 0.1, step=0.05, t=t, engine="looped"),
        *(
            lambda c=c: bl.kinematics(bl.formulate(crank(), c), 0.1, step=0.05, t=t)
            for c in COORDINATES
        ),
    ]
    for run in engines:
        np.testing.assert_allclose(motion(run(), crank().bodies), expected, atol=1e-8, rtol=0)


def test_arrays_of_loops_start_as_one_of_them_does() -> None:
    """Of 25 cells, more bodies than are assembled whole, each closes as its prototype alone."""
    cell = four_bar("", "cell")
    alone = motion(bl.simulate(cell, 0.02, step=2e-3, output=0.02), cell.bodies)
    m = bl.Model("cells", plane="xz")
    m.part("cell", cell, count=25, shift=(0, 0, 2.0))
    run = bl.simulate(m, 0.02, step=2e-3, output=0.02, engine="looped")
    for k in (0, 24):
        names = {f"cell[{k}].{name}": None for name in cell.bodies}
        shift = np.tile([0, 0, 2.0 * k, 0, 0, 0], len(cell.bodies))
        np.testing.assert_allclose(motion(run, names) - shift, alone, atol=1e-7, rtol=0)


# ------------------------------------------------------------------------- singular positions


def flat_four_bar(lengths: tuple[float, ...], angles: tuple[float, ...], rate: float) -> bl.Model:
    """Crank, coupler, rocker and ground with all bars in line at the start."""
    crank, coupler, rocker, ground = lengths
    m = bl.Model("four-bar", plane="xy")
    bars = [
        m.body(name, mass=1.0, com=(l / 2, 0, 0), inertia=l * l / 12)
        for name, l in zip(("crank", "coupler", "rocker"), lengths, strict=False)
    ]
    first, second, third = angles
    rates = {"angle": rate} if rate else {}
    m.joint("revolute", "A", m.ground.at(), bars[0].at(), start=first, rates=rates)
    m.joint("revolute", "B", bars[0].at(crank, 0, 0), bars[1].at(), start=second - first)
    m.joint("revolute", "C", m.ground.at(ground, 0, 0), bars[2].at(), start=third)
    m.joint("revolute", "D", bars[1].at(coupler, 0, 0), bars[2].at(rocker, 0, 0))
    return m


FLAT = [
    ((0.2, 0.3, 0.4, 0.5), (np.pi, 0.0, np.pi)),
    ((0.2, 0.5, 0.4, 0.3), (0.0, 0.0, 0.0)),
    ((0.5, 0.3, 0.2, 0.4), (0.0, np.pi, np.pi)),
]


def flat_rates(
    lengths: tuple[float, ...], angles: tuple[float, ...], rate: float
) -> list[np.ndarray]:
    """Angular velocities of crank, coupler and rocker in the two motions through the line.

    With bars along x the velocity of the pin gives L1 w1 + L2 w2 = L3 w3 across the line, and its
    acceleration along it L1 w1² + L2 w2² = L3 w3², with L the lengths with their signs.
    """
    L1, L2, L3 = (l * np.cos(a) for l, a in zip(lengths, angles, strict=False))
    # w3 = (L1 w1 + L2 w2)/L3
    quadratic = [L2 - L2**2 / L3, -2 * L1 * L2 * rate / L3, (L1 - L1**2 / L3) * rate**2]
    return [np.array([rate, w, (L1 * rate + L2 * w) / L3]) for w in np.roots(quadratic).real]


def bar_rates(system: bl.System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    twists = np.asarray(system.evaluate("twists", q, v))
    return np.array([twists[system.frames.index(n), 5] for n in ("crank", "coupler", "rocker")])


@pytest.mark.parametrize(("lengths", "angles"), FLAT)
def test_a_four_bar_in_line_starts_with_velocities_that_a_motion_has(
    lengths: tuple[float, ...], angles: tuple[float, ...]
) -> None:
    expected = flat_rates(lengths, angles, 2.0)
    m = flat_four_bar(lengths, angles, 2.0)
    starts = []
    for coordinates in ("joint", "reference", "natural"):
        system = bl.formulate(m, coordinates)
        r = bl.simulate(system, 0.04)
        starts.append(bar_rates(system, r.q[0], r.v[0]))
        assert min(np.abs(starts[-1] - w).max() for w in expected) < 1e-9
        assert np.ptp(r["energy"]) < 1e-6 * r["energy"][0]
    np.testing.assert_allclose(starts, [starts[0]] * 3, atol=1e-9)
    looped = bl.simulate(m, 0.04, engine="looped")
    found = [looped[f"{n}.angle_rate"][0] for n in ("crank", "coupler", "rocker")]
    np.testing.assert_allclose(found, starts[0], atol=1e-9)
    assert np.ptp(looped["energy"]) < 1e-6 * looped["energy"][0]


def test_velocities_choose_the_motion_through_a_singular_position() -> None:
    lengths, angles = FLAT[0]
    system = bl.formulate(flat_four_bar(lengths, angles, 0.0))
    for w in flat_rates(lengths, angles, 2.0):
        by_name = {"A": 2.0, "B": w[1] - w[0], "C": w[2]}
        for v in (by_name, {"A": 2.0, "B": w[1] - w[0]}):
            r = bl.simulate(system, 0.04, v=v)
            np.testing.assert_allclose(bar_rates(system, r.q[0], r.v[0]), w, atol=1e-9)
            assert np.ptp(r["energy"]) < 1e-6 * r["energy"][0]


def beside_pendulums(m: bl.Model) -> bl.Model:
    """So many bodies that a mechanism is not assembled along its joints."""
    for k in range(60):
        swing = m.body(f"swing{k}", mass=0.1, com=(0.1, 0, 0), inertia=1e-3)
        m.joint("revolute", f"S{k}", m.ground.at(0.1 * k, 1, 0), swing.at(), start=0.0)
    return m


def test_large_mechanisms_refuse_velocities_that_no_motion_has() -> None:
    lengths, angles = FLAT[0]
    # the crank turns and the others rest as far as the constraints let them: no motion does so
    m = beside_pendulums(flat_four_bar(lengths, angles, 2.0))
    with pytest.raises(SingularityError, match=r"singular position, in which .* no motion"):
        bl.simulate(m, 0.02, engine="looped")
    for w in flat_rates(lengths, angles, 2.0):
        m = beside_pendulums(flat_four_bar(lengths, angles, 0.0))
        rates = {"A": w[0], "B": w[1] - w[0], "C": w[2]}
        for joint, rate in rates.items():
            m.joints[joint] = replace(m.joints[joint], rates={"angle": rate})
        r = bl.simulate(m, 0.02, engine="looped", step=1e-3)
        found = [r[f"{n}.angle_rate"][0] for n in ("crank", "coupler", "rocker")]
        np.testing.assert_allclose(found, w, atol=1e-9)


@pytest.mark.parametrize("engine", ["unrolled", "looped"])
def test_velocities_that_no_motion_has_are_refused_and_not_changed(engine: str) -> None:
    m = flat_four_bar(*FLAT[0], 0.0)
    for joint, rate in (("A", 2.0), ("B", 0.0)):
        m.joints[joint] = replace(m.joints[joint], rates={"angle": rate})
    with pytest.raises(SingularityError, match=r"singular position, in which D\.x .*no motion"):
        bl.simulate(m, 0.1, engine=engine)
    # a bar that is stretched between two pins may leave their line for an instant only
    line = bl.Model("line", plane="xy")
    a, b = (line.body(n, mass=1.0, com=(0.5, 0, 0), inertia=0.1) for n in "ab")
    line.joint("revolute", "A", line.ground.at(), a.at(), start=0.0, rates={"angle": 1.0})
    line.joint("revolute", "B", a.at(1, 0, 0), b.at(), start=0.0)
    line.joint("revolute", "C", b.at(1, 0, 0), line.ground.at(2, 0, 0))
    with pytest.raises(SingularityError, match="no motion goes through it"):
        bl.simulate(line, 0.1, engine=engine)


def test_redundant_rows_are_not_taken_for_a_singular_position() -> None:
    """Hinges along z hold a four-bar in space three times too often, in every position."""
    m = flat_four_bar((0.2, 0.5, 0.4, 0.45), (0.7, 0.3, 1.0), 2.0).in_space()
    system = bl.formulate(m)
    r = bl.simulate(system, 0.2)
    assert r["A.angle_rate"][0] == pytest.approx(2.0)
    assert np.ptp(r["energy"]) < 1e-6 * r["energy"][0]


# ------------------------------------------------------------------------- many bodies


def random_chain(dyads: int, seed: int, off: float) -> bl.Model:
    """A crank and dyads on each other, all different, with angles wrong by up to ``off``."""
    random = np.random.default_rng(seed)
    m = bl.Model("chain", plane="xy")
    crank = m.body("crank", mass=1.0, inertia=0.1)
    angle, tip, before = 0.7, 0.5 * np.array([np.cos(0.7), np.sin(0.7)]), crank.at(0.5, 0, 0)
    m.joint("revolute", "A", m.ground, crank, start=angle)
    for k in range(dyads):
        D = np.array([1.5 * (k + 1), 0.0]) + random.uniform(-0.3, 0.3, 2)
        C = (tip + D) / 2 + np.array([random.uniform(-0.3, 0.3), random.uniform(0.5, 1.0)])
        lengths = [float(np.linalg.norm(C - end)) for end in (tip, D)]
        first, second = (float(np.arctan2(*(C - end)[::-1])) for end in (tip, D))
        wrong = random.uniform(-off, off, 2)
        coupler, rocker = (m.body(f"{n}{k}", mass=1.0, inertia=0.1) for n in ("coupler", "rocker"))
        m.joint("revolute", f"B{k}", before, coupler.at(), start=first - angle + wrong[0])
        m.joint("revolute", f"D{k}", m.ground.at(*D, 0), rocker.at(), start=second + wrong[1])
        m.joint("revolute", f"C{k}", coupler.at(lengths[0], 0, 0), rocker.at(lengths[1], 0, 0))
        share = random.uniform(0.4, 0.7)
        before, tip, angle = rocker.at(share * lengths[1], 0, 0), D + share * (C - D), second
    m.driver("rotary", "motor", coordinate="A.angle", law="0.7 + t")
    return m


def test_a_chain_of_many_bodies_closes_in_the_same_way_for_every_engine() -> None:
    m = random_chain(31, 5, 1.2)
    assert len(m.bodies) > 60
    system = bl.formulate(m)
    poses = np.asarray(system.evaluate("poses", bl.assemble(system).q))
    runs = [bl.kinematics(m, 0.01, engine="looped"), bl.kinematics(m, 0.01, formulation="auto")]
    for body in m.bodies:
        row = poses[system.frames.index(body)]
        for r in runs:
            angle = r[f"{body}.angle"][0]
            assert (np.cos(angle), np.sin(angle)) == pytest.approx((row[3], row[6]), abs=1e-9)


# ------------------------------------------------------------- values at a dead centre, and large


def crank_at_dead_centre(others: int = 0, start: float | None = None) -> bl.Model:
    """A slider-crank 0.1/0.3 that starts with its bars in line, and pendulums beside it."""
    m = bl.Model("dead_centre", plane="xz")
    crank = m.body("crank", mass=2.0, inertia=0.02)
    rod = m.body("rod", mass=0.6, com=(0.15, 0, 0), inertia=0.0045)
    piston = m.body("piston", mass=0.5, inertia=1e-3, position=(0.4, 0, 0))
    given = {} if start is None else {"start": start}
    m.joint("revolute", "A", m.ground, crank, axis="y", **given)
    m.joint("revolute", "B", crank.at(0.1, 0, 0), rod, axis="y")
    m.joint("revolute", "C", rod.at(0.3, 0, 0), piston, axis="y")
    m.joint("prismatic", "slide", m.ground, piston, axis="x")
    for k in range(others):
        link = m.body(f"c{k}", mass=1.0, com=(0.05, 0, 0), inertia=1e-3)
        m.joint("revolute", f"J{k}", m.ground.at(0.1 * k, 0, 1), link, axis="y", start=0.05)
    return m


def begun(m: bl.Model, coordinates: str, q: dict[str, float] | None) -> tuple[float, ...]:
    """Angle of the crank, place of the piston, and angle of J3 if there is one, at the start."""
    if coordinates == "looped":
        r = bl.simulate(m, 1e-6, step=1e-6, q=q, engine="looped")
    else:
        r = bl.simulate(bl.formulate(m, coordinates), 1e-6, step=1e-6, q=q)
    R = r.frame("crank").orientation[0]
    found = [np.arctan2(R[0, 2], R[0, 0]), r.frame("piston").position[0, 0]]
    if "c3" in m.bodies:
        R = r.frame("c3").orientation[0]
        found.append(np.arctan2(R[0, 2], R[0, 0]))
    return tuple(float(x) for x in found)


SMALL = ("joint", "reference", "natural", "euler", "looped")
LARGE = ("joint", "looped")
SIZES = [*((0, c) for c in SMALL), *((70, c) for c in LARGE)]


@pytest.mark.parametrize("slide", [0.39, 0.35, 0.25])
@pytest.mark.parametrize(("others", "coordinates"), SIZES)
def test_a_value_is_kept_that_cannot_move_from_a_dead_centre(others, coordinates, slide):
    crank, place, *more = begun(crank_at_dead_centre(others), coordinates, {"slide": slide})
    assert place == pytest.approx(slide, abs=1e-9)
    # the law of cosines
    assert np.cos(crank) == pytest.approx((0.01 + slide**2 - 0.09) / (0.2 * slide), abs=1e-9)
    assert more == pytest.approx([0.05] * len(more), abs=1e-9)


@pytest.mark.parametrize(("others", "coordinates"), SIZES)
def test_a_value_out_of_reach_is_refused_at_a_dead_centre(others, coordinates):
    with pytest.raises(AssemblyError, match=r"dead_centre cannot be assembled with.*0\.9"):
        begun(crank_at_dead_centre(others), coordinates, {"slide": 0.9})


@pytest.mark.parametrize(("others", "coordinates"), SIZES)
def test_starts_of_joints_in_loops_are_kept_whatever_the_size(others, coordinates):
    for start in (0.2, 1.0):
        crank, place, *_ = begun(crank_at_dead_centre(others, start), coordinates, None)
        assert crank == pytest.approx(start, abs=1e-9)
        assert place == pytest.approx(
            0.1 * np.cos(start) + np.sqrt(0.09 - (0.1 * np.sin(start)) ** 2), abs=1e-9
        )
    named = {"A": 0.5, **({"J3": 0.4} if others else {})}
    crank, _, *more = begun(crank_at_dead_centre(others, 1.0), coordinates, named)
    assert crank == pytest.approx(0.5, abs=1e-9)
    assert more == pytest.approx([0.4] * len(more), abs=1e-9)


def test_a_ring_of_many_bars_is_assembled():
    m = bl.Model("ring", plane="xy")
    last, count = m.ground, 1000
    for k in range(count):
        b = m.body(f"b{k}", mass=1.0, com=(0.5, 0, 0), inertia=0.1)
        bend = 0.6 if k == 0 else -1.2 / count
        m.joint("revolute", f"J{k}", last if k == 0 else last.at(1, 0, 0), b, start=bend)
        last = b
    m.joint("revolute", "end", last.at(1, 0, 0), m.ground.at(0.9 * count, 0, 0))
    r = bl.simulate(m, 1e-3, step=1e-3, engine="looped")
    assert r["constraint error"].max() < 1e-9
    at = r.frame(f"b{count - 1}")
    np.testing.assert_allclose(
        at.position[0] + at.orientation[0, :, 0], [0.9 * count, 0, 0], atol=1e-8
    )


@pytest.mark.parametrize("coordinates", SMALL)
@pytest.mark.parametrize("start", [1.0, 0.3, -1.0, 0.001])
def test_a_value_that_is_named_goes_before_the_start_of_the_model(start, coordinates):
    m = crank_at_dead_centre(3, start)
    crank, place = begun(m, coordinates, {"slide": 0.35})
    assert place == pytest.approx(0.35, abs=1e-9)
    assert np.cos(crank) == pytest.approx((0.01 + 0.35**2 - 0.09) / (0.2 * 0.35), abs=1e-9)
    r = bl.simulate(bl.formulate(m, "joint"), 1e-6, step=1e-6, q={"slide": 0.35})
    assert r["J1.angle"][0] == pytest.approx(0.05, abs=1e-9)
    with pytest.raises(AssemblyError, match=r"0\.9"):
        begun(m, coordinates, {"slide": 0.9})


@pytest.mark.parametrize("coordinates", SMALL)
def test_the_first_value_named_is_kept_at_a_dead_centre(coordinates):
    _, place = begun(crank_at_dead_centre(), coordinates, {"slide": 0.39, "A": 0.5})
    assert place == pytest.approx(0.39, abs=1e-9)
    crank, _ = begun(crank_at_dead_centre(), coordinates, {"A": 0.5, "slide": 0.39})
    assert crank == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("size", [1e3, 1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("coordinates", ["joint", "natural"])
def test_a_dead_centre_is_left_whatever_the_size(coordinates, size):
    m = bl.Model("sized", plane="xz")
    crank = m.body("crank", mass=2.0, inertia=0.02 * size**2)
    rod = m.body("rod", mass=0.6, com=(0.15 * size, 0, 0), inertia=0.0045 * size**2)
    piston = m.body("piston", mass=0.5, inertia=1e-3 * size**2, position=(0.4 * size, 0, 0))
    m.joint("revolute", "A", m.ground, crank, axis="y")
    m.joint("revolute", "B", crank.at(0.1 * size, 0, 0), rod, axis="y")
    m.joint("revolute", "C", rod.at(0.3 * size, 0, 0), piston, axis="y")
    m.joint("prismatic", "slide", m.ground, piston, axis="x")
    _, place = begun(m, coordinates, {"slide": 0.35 * size})
    assert place / size == pytest.approx(0.35, abs=1e-9)
    with pytest.raises(AssemblyError, match="sized cannot be assembled"):
        begun(m, coordinates, {"slide": 0.45 * size})


@pytest.mark.parametrize("coordinates", SMALL)
def test_no_number_says_how_a_spherical_joint_is_turned(coordinates):
    with pytest.raises(ModelError, match=r"rssr has no coordinate '?B"):
        moved(rssr(), coordinates, q={"B": 0.35})
