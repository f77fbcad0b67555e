"""Natural coordinates of groups in space: rods, sliders, legs, arms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.kernel import GroupEquations, GroupKernel, known_values
from biela.equations.groups.lowering import Iteration
from biela.equations.groups.natural import natural_group
from biela.equations.groups.structure import Structure
from biela.model.files import load

MECHANISMS = Path(__file__).parents[2] / "examples" / "mechanisms"
T = np.linspace(0.0, 0.3, 7)
R3 = np.sqrt(3.0)


def structure_of(model: bl.Model) -> Structure:
    """The groups; spins that are held are named in ``locked`` only."""
    found = bl.structural_groups(model)
    groups = []
    for group in found.groups:
        kept = [k for k, name in enumerate(group.joints_in_order) if "spin of" not in name]
        names = tuple(group.joints_in_order[k] for k in kept)
        sides = tuple(group.sides[k] for k in kept)
        groups.append(replace(group, joints_in_order=names, sides=sides))
    return replace(found, groups=groups)


def solver(model: bl.Model, coordinates: Any, structure: Structure | None = None) -> GroupSolver:
    return GroupSolver(
        model,
        structure or structure_of(model),
        coordinates=coordinates,
        iteration=Iteration(polish=1),
    )


def check_same_motion(model: bl.Model, one: str, other: str, requests: int = 3) -> GroupSolver:
    """Centres (and two axes) of all bodies, and their two rates, agree."""
    first = solver(model, one)
    second = solver(model, other, first.structure)
    pairs = zip(first.run(T).body_rows, second.run(T).body_rows, strict=True)
    for a, b in list(pairs)[:requests]:
        for d in range(3):
            scale = max(1.0, float(np.abs(b[d]).max()))
            assert np.abs(a[d] - b[d]).max() < 1e-10 * scale
    return first


def spatial_slider(count: int = 1) -> bl.Model:
    """Crank 2 m about an axis 30° off x, rod 6 m, slider on x; and a fan of such sliders."""
    m = bl.Model("slider")
    crank = m.body("crank", mass=1.0, inertia=0.1)
    axis = (R3 / 2, -0.5, 0.0)
    m.joint("revolute", "A", m.ground, crank, at=(0.0, 0.0, 0.0), axis=axis)
    m.driver("rotary", "motor", coordinate="A", law="24*t")
    for k in range(count):
        way = np.array([np.cos(0.3 * k), np.sin(0.3 * k), 0.1 * k])
        way /= np.linalg.norm(way)
        length = 6.0 + 0.2 * k
        pin = np.array([0.0, 0.0, 2.0])
        along = way @ pin
        end = way * (along + np.sqrt(along**2 - 4.0 + length**2))
        rod = m.body(f"rod{k}", mass=1.0, inertia=0.1, position=(0.0, 0.0, 2.0))
        slider = m.body(f"slider{k}", mass=1.0, inertia=0.1, position=tuple(end))
        m.joint("spherical", f"B{k}", crank, rod, at=tuple(pin))
        m.joint("spherical", f"C{k}", rod, slider, at=tuple(end))
        m.joint("prismatic", f"D{k}", m.ground, slider, at=(0.0, 0.0, 0.0), axis=tuple(way))
    return m


@cache
def slider_kind() -> tuple[Cast, Poses]:
    found = solver(spatial_slider(), "natural")
    (cast,) = (c for c in found.casts.casts if c.size == 2)
    return cast, found.poses


def solved(kernel: GroupKernel, poses: Poses, h: Any, dh: Any, ddh: Any) -> dict[str, Any]:
    """The first instance of a kernel, by Newton's method from a position."""
    known = np.array([known_values(k, poses)[0] for k in kernel.known])
    x = np.array([u.start(poses)[0] for u in kernel.unknowns])
    arguments: dict[str, Any] = {"p": kernel.parameters[0]} if kernel.columns else {}
    arguments |= dict.fromkeys(("last", "dlast", "ddlast"), np.zeros(len(x)))
    arguments |= {"tau": [0.0], "gauge_before": [1.0], "dh": dh, "ddh": ddh}
    names = [array.name for array in kernel.function.inputs]
    outputs = [array.name for array in kernel.function.outputs]
    # what is known moves in small steps from where it starts
    for share in np.linspace(0.05, 1.0, 20):
        given = known + share * (np.asarray(h) - known)
        for _ in range(8):
            state = arguments | {"x": x, "h": given}
            values = kernel.function(*(state[name] for name in names))
            found = dict(zip(outputs, values, strict=True))
            x = found["next"]
    assert np.abs(found["residual"]).max() < 1e-12
    unknowns = [u.name for u in kernel.unknowns]
    return {
        d: dict(zip(unknowns, found[name], strict=True))
        for d, name in (("", "x_found"), ("d", "dx"), ("dd", "ddx"))
    }


@pytest.mark.parametrize(
    ("options", "count"),
    [({}, 3), ({"mixed": True}, 4), ({"mixed": True, "slider": "two_points"}, 8)],
)
def test_the_rod_and_slider_follow_the_closed_form_with_three_four_or_eight_unknowns(
    options: dict[str, Any], count: int
) -> None:
    cast, poses = slider_kind()
    kernel = GroupEquations(natural_group(cast, poses, **options), poses).kernel("slider", [])
    assert len(kernel.unknowns) == len(kernel.rows) == count
    assert [k.item.kind for k in kernel.known] == ["point"] * 3  # of B; the axis is a parameter
    for phi in (0.3, 1.2, 2.5):
        # the pin in closed form, and x, x' and x'' of the slider from it
        r = np.array([-np.sin(phi), -R3 * np.sin(phi), 2 * np.cos(phi)])
        v = 24 * np.array([-np.cos(phi), -R3 * np.cos(phi), -2 * np.sin(phi)])
        a = -576 * r
        root = np.sqrt(36 - r[1] ** 2 - r[2] ** 2)
        x = r[0] + root
        dx = v[0] - (r[1] * v[1] + r[2] * v[2]) / root
        across = v[1] ** 2 + v[2] ** 2 + r[1] * a[1] + r[2] * a[2]
        ddx = a[0] - ((dx - v[0]) ** 2 + across) / root
        found = solved(kernel, poses, r, v, a)
        for d, value in (("", x), ("d", dx), ("dd", ddx)):
            assert found[d]["C0.x"] == pytest.approx(value, rel=1e-11, abs=1e-10)
            assert found[d]["C0.y"] == pytest.approx(0.0, abs=1e-9)
            if options:
                # the slide counts from where the mechanism was built
                way = value - (np.sqrt(32.0) if d == "" else 0.0)
                assert found[d]["D0.displacement"] == pytest.approx(way, rel=1e-11, abs=1e-10)


def test_a_fan_of_sliders_is_one_kind_and_moves_as_in_relative_coordinates() -> None:
    found = check_same_motion(spatial_slider(3), "natural", "relative", requests=1)
    assert sorted(c.count for c in found.casts.casts) == [1, 3]


def test_the_rod_and_slider_cost_what_one_writes_by_hand() -> None:
    cast, poses = slider_kind()
    kernel = GroupEquations(natural_group(cast, poses), poses).kernel("slider", [])
    assert len(kernel.function.schedule.operations) <= 60


def rssr() -> bl.Model:
    m = bl.Model("rssr")
    crank, rod, rocker = (m.body(n, mass=1.0, inertia=0.1) for n in ("crank", "rod", "rocker"))
    m.joint("revolute", "A", m.ground, crank, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.joint("spherical", "B", crank, rod, at=(0.2, 0.0, 0.0))
    m.joint("spherical", "C", rod, rocker, at=(0.7, 0.5, 0.6))
    m.joint("revolute", "D", rocker, m.ground, at=(0.8, 0.6, 0.0), axis=(1.0, 0.2, 0.3))
    m.driver("rotary", "motor", coordinate="A", law="t")
    return m


def strut() -> bl.Model:
    """An arm and a crank with a strut between them: two halves that slide, on balls."""
    m = bl.Model("strut")
    crank, arm = (m.body(n, mass=1.0, inertia=0.1) for n in ("crank", "arm"))
    tube = m.body("tube", mass=1.0, inertia=0.1, position=(0.2, 0.0, 0.0))
    rod = m.body("rod", mass=1.0, inertia=0.1, position=(0.7, 0.5, 0.6))
    m.joint("revolute", "A", m.ground, crank, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.joint("revolute", "D", arm, m.ground, at=(0.8, 0.6, 0.0), axis=(1.0, 0.2, 0.3))
    m.joint("spherical", "B", crank, tube, at=(0.2, 0.0, 0.0))
    m.joint("prismatic", "S", tube, rod, at=(0.2, 0.0, 0.0), axis=(0.5, 0.5, 0.6))
    m.joint("spherical", "C", rod, arm, at=(0.7, 0.5, 0.6))
    m.driver("rotary", "motor", coordinate="A", law="t")
    m.driver("rotary", "lift", coordinate="D", law="0.3*t")
    return m


def driven_strut() -> bl.Model:
    """The same with the length of the strut driven in place of the arm."""
    m = strut()
    del m.drivers["lift"]
    m.driver("translational", "push", coordinate="S", law="0.1*t")
    return m


@pytest.mark.parametrize(
    ("make", "sizes"),
    [
        (rssr, {"C.x", "C.y", "C.z"}),
        # the axis of the strut and its length
        (driven_strut, {"C.x", "C.y", "C.z"}),
        (strut, {"tube.axis.x", "tube.axis.y", "tube.axis.z", "S.displacement"}),
    ],
)
def test_rods_and_struts_have_two_points_or_a_vector(
    make: Callable[[], bl.Model], sizes: set[str]
) -> None:
    found = check_same_motion(make(), "natural", "reference")
    names = [u.name for k in found.groups.kernels for u in k.unknowns]
    assert len(names) == len(sizes)
    assert {n.replace("rod.axis", "tube.axis") for n in names} == sizes


def test_a_suspension_moves_as_in_reference_point_coordinates() -> None:
    check_same_motion(load(MECHANISMS / "double_wishbone.toml"), "natural", "reference")


def legs() -> bl.Model:
    """A plate that turns on two legs of variable length: cross, slide, ball."""
    m = bl.Model("legs")
    plate = m.body("plate", mass=1.0, inertia=0.1, position=(0.0, 0.0, 1.0))
    m.joint("revolute", "A", m.ground, plate, at=(0.0, 0.0, 1.0), axis=(0.3, 0.1, 1.0))
    m.driver("rotary", "motor", coordinate="A", law="t")
    for k, (foot, head) in enumerate(
        [((1.0, 0.2, 0.0), (0.6, 0.1, 1.1)), ((-0.2, 1.1, 0.1), (-0.1, 0.5, 1.2))]
    ):
        way = np.subtract(head, foot)
        tube = m.body(f"tube{k}", mass=1.0, inertia=0.1, position=foot)
        rod = m.body(f"rod{k}", mass=1.0, inertia=0.1, position=head)
        m.joint("universal", f"U{k}", m.ground, tube, at=foot, axis=(0.0, 0.0, 1.0))
        m.joint("prismatic", f"P{k}", tube, rod, at=foot, axis=tuple(way))
        m.joint("spherical", f"S{k}", rod, plate, at=head)
    return m


def test_legs_on_a_known_plate_share_one_kernel_of_two_vectors() -> None:
    found = check_same_motion(legs(), "natural", "relative")
    (kernel,) = (
        k for c, k in zip(found.casts.casts, found.groups.kernels, strict=True) if c.count == 2
    )
    assert len(kernel.unknowns) == len(kernel.rows) == 6


def test_a_third_vector_of_its_own_keeps_the_motion() -> None:
    found = solver(load(MECHANISMS / "rssr.toml"), "natural")
    (cast,) = (c for c in found.casts.casts if c.size == 2)
    kernels = [
        GroupEquations(natural_group(cast, found.poses, third=third), found.poses).kernel("k", [])
        for third in ("product", "vector")
    ]
    assert len(kernels[1].unknowns) == len(kernels[0].unknowns) + 3
    h = [known_values(k, found.poses)[0] for k in kernels[0].known]
    results = [solved(k, found.poses, h, [0.3] * len(h), [0.7] * len(h)) for k in kernels]
    for d in ("", "d", "dd"):
        for name, value in results[0][d].items():
            assert results[1][d][name] == pytest.approx(value, rel=1e-9, abs=1e-10)


def test_both_ways_of_the_convective_term_agree() -> None:
    cast, poses = slider_kind()
    results = []
    for way in ("rate", "tensor"):
        equations = GroupEquations(natural_group(cast, poses), poses, way)
        kernel = equations.kernel("k", [])
        h = [known_values(k, poses)[0] + 0.01 for k in kernel.known]
        results.append(solved(kernel, poses, h, [0.3, -0.2, 0.5], [0.1, 0.4, 0.7]))
    assert results[0]["dd"] == pytest.approx(results[1]["dd"], rel=1e-11, abs=1e-12)
