"""What the finder of structural groups is made of: elements, rows, subchains, kinds, names."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.blocks import reference_blocks
from biela.equations.groups.determined import split
from biela.equations.groups.elements import elements_of
from biela.equations.groups.grouping import grouping
from biela.equations.groups.naming import people_name
from biela.equations.groups.passive import passive_spins, with_locks
from biela.equations.groups.subchains import subchains
from biela.equations.groups.units import Rows, rows_of


def rows(model: bl.Model) -> Rows:
    """At the start, where these models are assembled."""
    blocks = reference_blocks(model)
    assert np.abs(blocks.Phi(blocks.start)).max() < 1e-12
    return rows_of(blocks, [(0.0, blocks.start)])


def four_bar(plane: str | None, tilt: float = 0.0) -> bl.Model:
    """In a plane that is tilted about x if it is modelled in space."""
    m = bl.Model("four-bar", plane=plane)
    c, s = np.cos(tilt), np.sin(tilt)

    def at(x: float, y: float) -> tuple[float, float, float]:
        return (x, c * y, s * y)

    a, b, d = (m.body(n, mass=1.0, position=at(x, 0.1)) for n, x in (("a", 0), ("b", 1), ("d", 2)))
    axis = (0.0, -s, c)
    m.joint("revolute", "A", m.ground, a, at=at(0, 0), axis=axis)
    m.joint("revolute", "B", a, b, at=at(0.3, 1), axis=axis)
    m.joint("revolute", "C", b, d, at=at(2.1, 1.4), axis=axis)
    m.joint("revolute", "D", m.ground, d, at=at(2, 0), axis=axis)
    m.driver("rotary", "motor", coordinate="A", law="t")
    return m


def test_elements_know_the_bodies_they_touch_and_their_rows() -> None:
    found = elements_of(reference_blocks(four_bar("xy")))
    by_name = {found.name(k): k for k in range(len(found))}
    assert set(by_name) == {"A", "B", "C", "D", "motor"}
    assert found.touched[by_name["B"]].tolist() == [0, 1]
    assert found.touched[by_name["motor"]].tolist() == [0, -1]  # by the joint it drives
    assert found.is_driver.tolist() == [found.name(k) == "motor" for k in range(len(found))]
    named = {found.row_name(r) for r in range(len(found.element))}
    assert {"A.x", "A.y", "motor.angle"} <= named


def test_rows_are_the_slopes_of_the_constraints() -> None:
    """Against differences of the constraints along random displacements of the bodies."""
    model = four_bar(None, 0.4)
    blocks = reference_blocks(model)
    found = rows_of(blocks, [(0.0, blocks.start)])
    rng = np.random.default_rng(0)
    delta = rng.normal(size=blocks.nv)
    h = 1e-6
    ahead, behind = (blocks.Phi(blocks.moved(blocks.start, s * h * delta)) for s in (1, -1))
    slope = (ahead - behind) / (2 * h)
    v = delta.reshape(-1, 6).copy()
    v[:, 3:] = np.einsum("nij,nj->ni", found.axes[0], v[:, 3:])  # to axes of the ground
    A = found.matrix(0, np.arange(len(found.element)), range(found.bodies))
    sizes = np.linalg.norm(_dense(blocks), axis=1)
    assert sizes[:, None] * A @ v.ravel()[:, None] == pytest.approx(slope[:, None], abs=1e-7)


def _dense(blocks: object) -> np.ndarray:
    A = np.zeros((len(blocks.rows), blocks.nv))
    A[blocks.indices[0], blocks.indices[1]] = blocks.Phi_v(blocks.start)
    return A


def test_a_gear_is_written_on_the_bodies_of_both_joints() -> None:
    """The coordinates that count turns are gone; their rows say ω₂ = -2 ω₁."""
    m = bl.Model("gears", plane="xy")
    one, two = m.body("one", mass=1.0), m.body("two", mass=1.0, position=(1, 0, 0))
    m.joint("revolute", "A", m.ground, one)
    m.joint("revolute", "B", m.ground.at(1.0), two)
    m.joint("gear", "teeth", first="A", second="B", ratio=-2.0)
    found = rows(m)
    (k,) = (
        r for r in range(len(found.element)) if found.elements.name(found.element[r]) == "teeth"
    )
    A = found.matrix(0, np.array([k]), [0, 1])[0]
    assert A / A[5] == pytest.approx([0, 0, 2, 0, 0, 1])
    assert len(found.element) == 5  # two hinges and the gear


@pytest.mark.parametrize("tilt", [0.0, 0.7])
def test_the_plane_of_a_four_bar_in_space_is_a_subchain_on_the_ground(tilt: float) -> None:
    found = rows(four_bar(None, tilt))
    chains = subchains(found, np.ones(3, dtype=bool))
    assert chains.count == 1 and chains.grounded.all() and not chains.spherical.any()
    names = [found.elements.name(k) for k in np.flatnonzero(chains.element == 0)]
    assert sorted(names) == ["A", "B", "C", "D"]
    groups, count = grouping(found)
    assert not count.over.any()  # what is redundant is counted right
    assert groups.group.tolist() == [0, 1, 1]


def test_a_four_bar_that_a_moving_body_carries_is_a_subchain_with_three_unknowns_more() -> None:
    """A turntable about x carries the four-bar: table, crank, dyad."""
    m = bl.Model("carried")
    table = m.body("table", mass=1.0)
    m.joint("revolute", "turn", m.ground, table, at=(0, 0, 0), axis="x")
    m.driver("rotary", "drive", coordinate="turn", law="t")
    a, b, d = (m.body(n, mass=1.0, position=(x, 0.1, 0)) for n, x in (("a", 0), ("b", 1), ("d", 2)))
    m.joint("revolute", "A", table, a, at=(0, 0, 0), axis="z")
    m.joint("revolute", "B", a, b, at=(0.3, 1, 0), axis="z")
    m.joint("revolute", "C", b, d, at=(2.1, 1.4, 0), axis="z")
    m.joint("revolute", "D", table, d, at=(2, 0, 0), axis="z")
    m.driver("rotary", "motor", coordinate="A", law="t")
    found = rows(m)
    chains = subchains(found, np.ones(4, dtype=bool))
    assert chains.count == 1 and not chains.grounded.any()
    assert chains.body.tolist() == [0, 0, 0, 0]
    groups, count = grouping(found)
    assert not count.over.any()
    assert groups.group.tolist() == [0, 1, 2, 2]


def test_hinges_that_meet_in_a_point_are_a_spherical_subchain() -> None:
    m = bl.Model("spherical four-bar")
    axes = [(1, 0, 0), (0.8, 0.5, 0.3), (0.2, 0.9, 0.5), (0, 1, 0)]
    names = ["a", "b", "d"]
    bodies = [m.body(n, mass=1.0, position=(0.1 * k, 0.2, 0.3)) for k, n in enumerate(names)]
    ends = [m.ground, *bodies, m.ground]
    for k, axis in enumerate(axes):
        place = tuple(1.5 * x for x in axis)
        m.joint("revolute", f"R{k}", ends[k], ends[k + 1], at=place, axis=axis)
    m.driver("rotary", "motor", coordinate="R0", law="t")
    found = rows(m)
    chains = subchains(found, np.ones(3, dtype=bool))
    assert chains.count == 1 and chains.spherical.all() and chains.grounded.all()
    groups, count = grouping(found)
    assert not count.over.any()
    assert groups.group.tolist() == [0, 1, 1]


def test_counting_with_subchains_and_ranks_alone_give_the_same_sets() -> None:
    for model in (four_bar("xy"), four_bar(None, 0.3)):
        found = rows(model)
        groups, _ = grouping(found)
        by_rank = split(found, range(found.bodies), ())
        sets = {tuple(np.flatnonzero(groups.group == g).tolist()) for g in range(groups.count)}
        assert set(by_rank.groups) == sets and not by_rank.left


def rod(ends: tuple[str, str]) -> bl.Model:
    """A rod between joints to a crank and to a slide."""
    m = bl.Model("rod")
    crank = m.body("crank", mass=1.0, position=(0, 0, 0))
    bar = m.body("bar", mass=1.0, com=(0.1, 0.4, 0.2), inertia=0.1, position=(0, 1, 0))
    slide = m.body("slide", mass=1.0, position=(2, 0.5, 0))
    m.joint("revolute", "A", m.ground, crank, at=(0, 0, 0), axis=(0.2, 0, 1))
    m.joint(ends[0], "B", crank, bar, at=(0, 1, 0.2), axis=(1, 0.1, 0))
    m.joint(ends[1], "C", bar, slide, at=(2, 0.5, 0), axis=(1, 0.1, 0))
    m.joint("prismatic", "P", m.ground, slide, at=(2, 0.5, 0), axis="x")
    m.driver("rotary", "motor", coordinate="A", law="t")
    return m


def test_a_rod_between_two_balls_spins_about_their_line_and_one_on_a_cross_does_not() -> None:
    found = rows(rod(("spherical", "spherical")))
    (spin,) = passive_spins(found)
    line = np.array([2.0, 0.5, 0.0]) - np.array([0.0, 1.0, 0.2])
    assert spin.body == 1 and spin.bodies == (1,)
    assert np.abs(np.cross(spin.axes[0], line)).max() < 1e-9
    assert sorted(p.tolist() for p in spin.points) == [
        pytest.approx([0, 1, 0.2]),
        pytest.approx([2, 0.5, 0]),
    ]
    # the spin is in the null space of the whole, and the lock takes it out
    every = np.arange(len(found.element))
    A = found.matrix(0, every, range(3))
    assert np.linalg.matrix_rank(A) == 17
    held = with_locks(found, [spin])
    B = held.matrix(0, np.arange(len(held.element)), range(3))
    assert np.linalg.matrix_rank(B) == 18
    assert not passive_spins(rows(rod(("universal", "spherical"))))


def test_a_bar_with_three_balls_does_not_spin() -> None:
    m = rod(("spherical", "spherical"))
    arm = m.body("arm", mass=1.0, position=(1, 2, 1))
    m.joint("spherical", "E", m.bodies["bar"], arm, at=(1, 2, 0.4))
    m.joint("universal", "F", m.ground, arm, at=(1, 3, 1))
    assert not passive_spins(rows(m))


@pytest.mark.parametrize(
    ("bodies", "joints", "drivers", "name"),
    [
        (1, [("revolute", (0,))], 1, "1R"),
        (1, [("prismatic", (0,))], 1, "1P"),
        (1, [], 2, "led body"),
        (2, [("revolute", (0,)), ("revolute", (0, 1)), ("revolute", (1,))], 0, "RRR"),
        (2, [("revolute", (1,)), ("prismatic", (0, 1)), ("revolute", (0,))], 0, "RPR"),
        (2, [("spherical", (0,)), ("spherical", (0, 1)), ("prismatic", (1,))], 0, "2S1P"),
        (2, [("universal", (0,)), ("prismatic", (0, 1)), ("spherical", (1,))], 0, "SPU"),
        (2, [("revolute", (0,)), ("prismatic", (0, 1)), ("revolute", (1,))], 1, "RPR+1"),
        (3, [("revolute", (0,))] * 4, 0, "3 bodies, 4 joints (4R)"),
    ],
)
def test_groups_have_the_names_people_give_them(
    bodies: int, joints: list[tuple[str, tuple[int, ...]]], drivers: int, name: str
) -> None:
    assert people_name(bodies, joints, drivers, 0) == name
