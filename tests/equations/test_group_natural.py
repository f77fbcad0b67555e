"""Natural coordinates of planar groups: few unknowns, the motion of other coordinates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups.lowering import Iteration
from biela.equations.groups.natural import natural_group
from biela.errors import ModelError
from biela.model.files import load

MECHANISMS = Path(__file__).parents[2] / "examples" / "mechanisms"
T = np.linspace(0.0, 0.3, 7)


def solver(model: bl.Model, coordinates: Any, structure: Any = None) -> GroupSolver:
    return GroupSolver(model, structure, coordinates=coordinates, iteration=Iteration(polish=1))


def check_same_motion(model: bl.Model, one: str, other: str) -> GroupSolver:
    """Centres and orientations of all bodies, and their two rates, agree."""
    first = solver(model, one)
    second = solver(model, other, first.structure)
    for a, b in zip(first.run(T).body_rows, second.run(T).body_rows, strict=True):
        for d in range(3):
            scale = max(1.0, float(np.abs(b[d]).max()))
            assert np.abs(a[d] - b[d]).max() < 1e-10 * scale
    return first


def unknowns(found: GroupSolver, kind: int = -1) -> list[str]:
    return [u.name for u in found.groups.kernels[kind].unknowns]


def driven_crank() -> tuple[bl.Model, Any]:
    """A crank of 0.3 m in the plane, which turns by 1 rad/s from the x axis."""
    m = bl.Model("group", plane="xy")
    crank = m.body("crank", mass=1.0, inertia=0.1)
    m.joint("revolute", "A", m.ground, crank, at=(0.0, 0.0, 0.0))
    m.driver("rotary", "motor", coordinate="A", law="t")
    return m, crank


B, C, D = (0.3, 0.0, 0.0), (0.5, 0.6, 0.0), (1.0, 0.1, 0.0)


def two_bodies(m: bl.Model) -> tuple[Any, Any]:
    first = m.body("first", mass=1.0, inertia=0.1, position=(0.35, 0.2, 0.0))
    return first, m.body("second", mass=1.0, inertia=0.1, position=(0.8, 0.3, 0.0))


def rrr() -> bl.Model:
    m, crank = driven_crank()
    first, second = two_bodies(m)
    m.joint("revolute", "B", crank, first, at=B)
    m.joint("revolute", "C", first, second, at=C)
    m.joint("revolute", "D", m.ground, second, at=D)
    return m


def rrp() -> bl.Model:
    m, crank = driven_crank()
    first, second = two_bodies(m)
    m.joint("revolute", "B", crank, first, at=B)
    m.joint("revolute", "C", first, second, at=C)
    m.joint("prismatic", "D", second, m.ground, at=D, axis=(1.0, 0.2, 0.0))
    return m


def rpr() -> bl.Model:
    m, crank = driven_crank()
    first, second = two_bodies(m)
    m.joint("revolute", "B", crank, first, at=B)
    m.joint("prismatic", "C", first, second, at=C, axis=(0.8, 0.5, 0.0))
    m.joint("revolute", "D", m.ground, second, at=D)
    return m


def prp() -> bl.Model:
    m, crank = driven_crank()
    first, second = two_bodies(m)
    m.joint("prismatic", "B", crank, first, at=B, axis=(0.1, 1.0, 0.0))
    m.joint("revolute", "C", first, second, at=C)
    m.joint("prismatic", "D", m.ground, second, at=D, axis=(1.0, 0.2, 0.0))
    return m


def rpp() -> bl.Model:
    m, crank = driven_crank()
    first, second = two_bodies(m)
    m.joint("revolute", "B", crank, first, at=B)
    m.joint("prismatic", "C", first, second, at=C, axis=(0.1, 1.0, 0.0))
    m.joint("prismatic", "D", m.ground, second, at=D, axis=(1.0, 0.2, 0.0))
    return m


def triad() -> bl.Model:
    """A plate on three bars."""
    m, crank = driven_crank()
    plate = m.body("plate", mass=1.0, inertia=0.1, position=(0.6, 0.7, 0.0))
    for k, (base, foot, top) in enumerate(
        [
            (crank, B, (0.4, 0.6, 0.0)),
            (m.ground, (1.0, 0.0, 0.0), (0.9, 0.7, 0.0)),
            (m.ground, (1.4, 0.6, 0.0), (0.8, 1.0, 0.0)),
        ]
    ):
        bar = m.body(f"bar{k}", mass=1.0, inertia=0.1, position=foot)
        m.joint("revolute", f"foot{k}", base, bar, at=foot)
        m.joint("revolute", f"top{k}", bar, plate, at=top)
    return m


@pytest.mark.parametrize(
    ("make", "count", "names"),
    [
        (rrr, 2, {"C.x", "C.y"}),
        (rrp, 2, {"C.x", "C.y"}),
        (rpr, 2, {"first.axis.x", "first.axis.y"}),
        (prp, 2, {"C.x", "C.y"}),
        (rpp, 2, {"second.x", "second.y"}),
        (triad, 4, None),
    ],
)
def test_a_planar_group_has_few_unknowns_and_the_motion_of_reference_point_coordinates(
    make: Callable[[], bl.Model], count: int, names: set[str] | None
) -> None:
    found = check_same_motion(make(), "natural", "reference")
    kernel = found.groups.kernels[-1]
    assert len(kernel.unknowns) == len(kernel.rows) == count
    assert names is None or set(unknowns(found)) <= names | {"second.axis.x", "second.axis.y"}


@pytest.mark.parametrize("make", [rpr, rrp])
def test_mixed_coordinates_add_the_displacements_of_slides(make: Callable[[], bl.Model]) -> None:
    found = check_same_motion(make(), "mixed", "relative")
    assert any(name.endswith(".displacement") for name in unknowns(found))
    assert len(unknowns(found)) == 3


def chain(seed: int, count: int) -> tuple[bl.Model, np.ndarray]:
    """Dyads of random lengths, each driven by the rocker of the one before."""
    rng = np.random.default_rng(seed)
    m, known = driven_crank()
    pin = np.array(B)
    corners = []
    for k in range(count):
        inner = pin + [0.3, 0.8, 0.0] + rng.uniform(-0.1, 0.1, 3) * [1, 1, 0]
        outer = pin + [1.0, 0.1, 0.0] + rng.uniform(-0.1, 0.1, 3) * [1, 1, 0]
        coupler = m.body(f"coupler{k}", mass=1.0, inertia=0.1, position=tuple(pin))
        rocker = m.body(f"rocker{k}", mass=1.0, inertia=0.1, position=tuple(outer))
        m.joint("revolute", f"B{k}", known, coupler, at=tuple(pin))
        m.joint("revolute", f"C{k}", coupler, rocker, at=tuple(inner))
        m.joint("revolute", f"D{k}", m.ground, rocker, at=tuple(outer))
        following = outer + np.array([0.2, 0.3, 0.0])
        corners.append([pin[:2], inner[:2], outer[:2], following[:2]])
        known, pin = rocker, following
    return m, np.array(corners)


def test_a_chain_of_dyads_is_one_kind_and_follows_the_intersection_of_circles() -> None:
    m, corners = chain(3, 5)
    found = solver(m, "natural")
    assert [len(c.groups) for c in found.casts.casts] == [1, 5]
    orientation = found.run(T).body_rows[1][0]  # cosine and sine of all bodies
    names = list(m.bodies)
    z = corners @ np.array([1.0, 1.0j])
    for n, t in enumerate(T):
        pin = 0.3 * np.exp(1j * t)
        for k, (b, c, d, f) in enumerate(z):
            # C lies on circles about B and D, on the side where it starts
            first, second, gap = abs(c - b), abs(c - d), d - pin
            along = (first**2 - second**2 + abs(gap) ** 2) / (2 * abs(gap))
            side = np.sign(((c - b) / (d - b)).imag)
            now = pin + gap / abs(gap) * (along + 1j * side * np.sqrt(first**2 - along**2))
            turn = (now - d) / (c - d)
            seen = orientation[n, names.index(f"rocker{k}")] @ [1.0, 1.0j]
            assert abs(seen - turn) < 1e-12
            pin = d + turn * (f - d)


def test_the_dyad_of_three_pins_costs_what_one_writes_by_hand() -> None:
    # differences, lengths, determinant and its reciprocal, three solutions; 10 more for the
    # prediction from the instant before and the side of the dead point
    found = solver(chain(1, 2)[0], "natural")
    kernel = found.groups.equations[-1].kernel("dyad", [])
    assert len(kernel.unknowns) == 2
    assert len(kernel.known) == 2  # of B only: D is on the ground, and a parameter
    assert len(kernel.function.schedule.operations) <= 75


def test_a_pin_driven_inside_a_group_turns_the_body_beyond_it() -> None:
    m = bl.Model("inside", plane="xy")
    crank = m.body("crank", mass=1.0, inertia=0.1)
    first, second = two_bodies(m)
    m.joint("revolute", "A", m.ground, crank, at=(0.0, 0.0, 0.0))
    m.joint("revolute", "B", crank, first, at=(0.0, 0.3, 0.0))
    m.joint("revolute", "C", second, first, at=C)
    m.joint("revolute", "D", m.ground, second, at=D)
    m.driver("rotary", "motor", coordinate="C", law="0.5*t")
    found = check_same_motion(m, "natural", "reference")
    kernel = found.groups.kernels[-1]
    assert "motor" not in {row.partition(".")[0] for row in kernel.rows}
    assert len(kernel.unknowns) == len(kernel.rows) <= 4


def test_a_driven_slide_on_a_driven_crank_is_explicit() -> None:
    m, crank = driven_crank()
    slide = m.body("slide", mass=1.0, inertia=0.1, position=(0.2, 0.1, 0.0))
    m.joint("prismatic", "S", slide, crank, at=B, axis=(0.6, 0.8, 0.0))
    m.driver("translational", "push", coordinate="S", law="0.1*t + 0.2*t**2")
    arm = m.body("arm", mass=1.0, inertia=0.1, position=(0.4, 0.1, 0.0))
    m.joint("revolute", "E", arm, slide, at=(0.25, 0.2, 0.0))
    m.driver("rotary", "bend", coordinate="E", law="t**2")
    equations = [natural_group(c, s.poses) for s in [solver(m, "natural")] for c in s.casts.casts]
    assert all(not e.unknowns for e in equations)
    check_same_motion(m, "natural", "reference")


@pytest.mark.parametrize("height", [0.0, 0.07])
def test_a_driven_cylinder_is_a_bar_of_given_length(height: float) -> None:
    """With its rod in line with its pins, or beside them."""
    m = bl.Model("lift", plane="xy")
    boom = m.body("boom", mass=1.0, inertia=0.1)
    tube = m.body("tube", mass=1.0, inertia=0.1, position=(0.4, -0.3, 0.0))
    rod = m.body("rod", mass=1.0, inertia=0.1, position=(0.8, 0.2, 0.0))
    way = np.array([0.4, 0.5, 0.0]) / np.hypot(0.4, 0.5)
    m.joint("revolute", "A", m.ground, boom, at=(0.0, 0.0, 0.0))
    m.joint("revolute", "B", m.ground, tube, at=(0.4, -0.3, 0.0))
    beside = np.array([0.6, 0.0, 0.0]) + height * np.array([-way[1], way[0], 0.0])
    m.joint("prismatic", "S", rod, tube, at=tuple(beside), axis=tuple(-way))
    m.joint("revolute", "C", boom, rod, at=(0.8, 0.2, 0.0))
    m.driver("translational", "push", coordinate="S", law="0.2*t + 0.1*t**2")
    found = check_same_motion(m, "natural", "reference")
    assert unknowns(found) == ["C.x", "C.y"]


def test_a_gear_takes_the_angle_of_its_pin_as_the_one_unknown() -> None:
    model = load(MECHANISMS / "geared_five_bar.toml")
    found = check_same_motion(model, "natural", "relative")
    sizes = {
        c.example.name: len(k.unknowns)
        for c, k in zip(found.casts.casts, found.groups.kernels, strict=True)
    }
    assert sizes == {"1R": 0, "1R geared": 1, "RRR": 2}


def test_angles_that_are_asked_for_become_unknowns() -> None:
    found = solver(rrr(), "natural")
    cast = found.casts.casts[-1]
    derivation = natural_group(cast, found.poses, coordinates=["C.angle"])
    assert [u.name for u in derivation.unknowns] == ["C.x", "C.y", "C.angle"]
    with pytest.raises(ModelError, match=r"no coordinate 'C.way'.*B, C, D|C, B, D"):
        natural_group(cast, found.poses, coordinates=["C.way"])
