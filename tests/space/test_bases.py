"""Bases: trees of orientations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.atoms import Workspace
from biela.errors import DomainError
from biela.space import Base, Space, angular_velocity, rotation_matrix
from biela.space.bases import keeps_along, path, project
from biela.space.tree import branch, common_ancestor
from tests.mechanisms import (
    AXES,
    DIFFERENCE,
    ROUNDING,
    axial,
    numbers,
    random_values,
    rate_of,
    turn,
)

SEQUENCES = ["".join(s) for s in product("xyz", repeat=3)]
#: Parent and axis of each base after the root.
TREES = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(list(AXES))), min_size=1, max_size=6)


def space() -> Space:
    return Space(Workspace("bases"))


def grown(recipe: list[tuple[int, str]]) -> list[Base]:
    """A tree of bases, each turned by a coordinate of its own."""
    s = space()
    bases = [s.root]
    for k, (parent, axis) in enumerate(recipe):
        angle = s.workspace.coordinate(f"a{k}")
        bases.append(bases[parent % len(bases)].rotated(f"b{k}", axis, angle))
    return bases


def matrix(recipe: list[tuple[int, str]], values: dict, bases: list[Base], k: int):
    """The matrix from the root to a base, by plain numbers."""
    if k == 0:
        return np.eye(3)
    parent, axis = recipe[k - 1]
    angle = values[bases[k].space.workspace[f"a{k - 1}"]]
    return matrix(recipe, values, bases, parent % k) @ turn(AXES[axis], angle)


# ------------------------------------------------------------------------ new bases


@pytest.mark.parametrize("axis", [*AXES, "+x", "+y", "+z"])
def test_axes_have_names_and_signs(axis):
    s = space()
    a = s.workspace.coordinate("a")
    b = s.root.rotated("b", axis, a)
    R = numbers(rotation_matrix(s.root, b), {a: 0.6})
    np.testing.assert_allclose(R, turn(AXES[axis.lstrip("+")], 0.6), **ROUNDING)


def test_an_axis_may_be_any_direction():
    s = space()
    a = s.workspace.coordinate("a")
    b = s.root.rotated("b", (1, -2, 0.5), a)
    R = numbers(rotation_matrix(s.root, b), {a: 0.6})
    np.testing.assert_allclose(R, turn((1, -2, 0.5), 0.6), **ROUNDING)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_turn_about_axes_already_turned(sequence):
    s = space()
    angles = s.workspace.coordinates("a:3")
    b = s.root.euler("b", sequence, angles)
    values = random_values(s.workspace, 5)
    expected = np.eye(3)
    for letter, angle in zip(sequence, angles, strict=True):
        expected = expected @ turn(AXES[letter], values[angle])
    R = rotation_matrix(s.root, b)
    np.testing.assert_allclose(numbers(R, values), expected, **ROUNDING)
    omega = numbers(angular_velocity(s.root, b).components(s.root), values)
    np.testing.assert_allclose(omega, axial(rate_of(R, values) @ expected.T), **DIFFERENCE)
    assert [base.name for base in branch(s.root, b)] == ["b_1", "b_2", "b"]


def test_a_quaternion_of_half_angles_turns_about_an_axis():
    s = space()
    e = s.workspace.coordinates("e:4")
    b = s.root.by_euler_parameters("b", e)
    axis = np.array([0.6, 0.0, 0.8])
    values = dict(zip(e, [np.cos(0.4), *np.sin(0.4) * axis], strict=True))
    np.testing.assert_allclose(
        numbers(rotation_matrix(s.root, b), values), turn(axis, 0.8), **ROUNDING
    )


def test_a_matrix_gives_the_axes_as_its_columns():
    s = space()
    b = s.root.by_matrix("b", turn((1, 2, 3), 0.5).tolist())
    first = numbers(b.vector(1, 0, 0).components(s.root), {})
    np.testing.assert_allclose(first, turn((1, 2, 3), 0.5)[:, 0], **ROUNDING)
    assert angular_velocity(s.root, b).is_zero


# ----------------------------------------------------------------- between two bases


@settings(derandomize=True, max_examples=60, deadline=None)
@given(TREES, st.data())
def test_the_matrix_between_any_two_bases_takes_components_of_the_second_to_the_first(recipe, data):
    bases = grown(recipe)
    values = random_values(bases[0].space.workspace, 6)
    i, j = (data.draw(st.integers(0, len(recipe))) for _ in range(2))
    a, b = bases[i], bases[j]
    expected = matrix(recipe, values, bases, i).T @ matrix(recipe, values, bases, j)
    np.testing.assert_allclose(numbers(rotation_matrix(a, b), values), expected, **ROUNDING)
    # the way back is the transpose, atom for atom when the two are on one branch
    back = rotation_matrix(b, a)
    np.testing.assert_allclose(numbers(back, values), expected.T, **ROUNDING)
    if common_ancestor(a, b) in (a, b):
        R = rotation_matrix(a, b)
        assert all(back[r][c] == R[c][r] for r in range(3) for c in range(3))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(TREES, st.data())
def test_a_projection_is_the_same_with_turns_made_one_by_one_or_together(recipe, data):
    bases = grown(recipe)
    ws = bases[0].space.workspace
    u = ws.parameters("ux uy uz")
    values = random_values(ws, 7)
    i, j = (data.draw(st.integers(0, len(recipe))) for _ in range(2))
    R = matrix(recipe, values, bases, j).T @ matrix(recipe, values, bases, i)
    expected = R @ numbers(u, values)
    for merge in (False, True):
        found = numbers(project(u, bases[i], bases[j], merge), values)
        np.testing.assert_allclose(found, expected, **ROUNDING)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(TREES, st.data())
def test_angular_velocities_are_those_of_the_matrix_between_the_bases(recipe, data):
    bases = grown(recipe)
    i, j = (data.draw(st.integers(0, len(recipe))) for _ in range(2))
    a, b = bases[i], bases[j]
    values = random_values(a.space.workspace, 8)
    R = rotation_matrix(a, b)
    omega = numbers(angular_velocity(a, b).components(a), values)
    expected = axial(rate_of(R, values) @ numbers(R, values).T)
    np.testing.assert_allclose(omega, expected, **DIFFERENCE)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(TREES, st.data())
def test_components_said_to_be_kept_along_a_path_are_kept(recipe, data):
    bases = grown(recipe)
    ws = bases[0].space.workspace
    i, j = (data.draw(st.integers(0, len(recipe))) for _ in range(2))
    axis = data.draw(st.integers(0, 2))
    v = tuple(ws.parameter("u") if k == axis else ws.atom(0) for k in range(3))
    if keeps_along(v, bases[i], bases[j]):
        assert project(v, bases[i], bases[j]) == v
    turned = [base.rotation.axis for base, _ in path(bases[i], bases[j])]
    assert keeps_along(v, bases[i], bases[j]) == all(k == axis for k in turned)


def test_consecutive_turns_about_one_axis_are_made_as_one_by_the_sum_of_angles():
    s = space()
    a, b = s.workspace.coordinates("a b")
    u = s.workspace.parameters("ux uy uz")
    upper = s.root.rotated("b1", "z", a).rotated("b2", "z", b)
    single = s.root.rotated("b", "z", a + b)
    assert project(u, upper, s.root, merge=True) == project(u, single, s.root)


# -------------------------------------------------------------------------- the tree


def tree() -> dict[str, Base]:
    """The tree of the thesis's figure 4.1, as far as its text tells."""
    s = space()
    b = {"0": s.root}
    for name, parent in {"1": "0", "2": "1", "3": "1", "4": "3", "6": "3"}.items():
        b[name] = b[parent].rotated(name, "x", s.workspace.coordinate(f"a{name}"))
    return b


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [("2", "4", "1"), ("4", "6", "3"), ("1", "4", "1"), ("4", "1", "1"), ("2", "2", "2")],
)
def test_the_common_ancestor_is_the_furthest_from_the_root(first, second, common):
    b = tree()
    assert common_ancestor(b[first], b[second]) is b[common]


def test_a_path_goes_down_to_the_common_ancestor_and_up_again():
    b = tree()
    steps = [(base.name, up) for base, up in path(b["2"], b["4"])]
    assert steps == [("2", False), ("3", True), ("4", True)]
    assert path(b["3"], b["3"]) == []
    assert [base.name for base in branch(b["0"], b["4"])] == ["1", "3", "4"]


def test_depths_and_numbers_follow_the_making():
    b = tree()
    assert [base.depth for base in b.values()] == [0, 1, 2, 2, 3, 3]
    assert [base.index for base in b.values()] == list(range(6))


# ------------------------------------------------------------------------- refusals


def test_two_bases_of_one_name_are_refused():
    s = space()
    s.root.rotated("b", "x", 0.1)
    with pytest.raises(DomainError, match="already has a base b"):
        s.root.rotated("b", "y", 0.1)


@pytest.mark.parametrize("axis", ["", "w", "xy", "X"])
def test_what_is_no_axis_is_refused(axis):
    with pytest.raises(DomainError, match="is not an axis"):
        space().root.rotated("b", axis, 0.1)


def test_euler_angles_need_as_many_axes():
    with pytest.raises(DomainError, match=r"3 axes \('zxz'\) for 2 angles"):
        space().root.euler("b", "zxz", [0.1, 0.2])


def test_the_root_is_turned_from_nothing():
    with pytest.raises(DomainError, match="root of the bases"):
        _ = space().root.rotation


# ------------------------------------------------------- what a position may depend on

WAYS = {
    "about an axis": lambda base, e: base.rotated("b", "-x", 2 * e),
    "about a direction": lambda base, e: base.rotated("b", (1, 1, 0), e),
    "euler": lambda base, e: base.euler("b", "zxz", (0.1, e, 0.2)),
    "by_matrix": lambda base, e: base.by_matrix("b", [[1, 0, 0], [0, 1, 0], [0, 0, 1 + e]]),
    "by_euler_parameters": lambda base, e: base.by_euler_parameters("b", [1, 0, e, 0]),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("kind", ("velocity", "acceleration", "input", "unknown"))
def test_a_turn_depends_on_position_and_time_only(way, kind):
    s = space()
    ws = s.workspace
    q = ws.coordinate("q")
    symbols = {
        "velocity": q.velocity,
        "acceleration": q.acceleration,
        "input": ws.input("u"),
        "unknown": ws.unknowns("e")[0],
    }
    wrong = symbols[kind]
    with pytest.raises(DomainError, match=rf"base b depends on {wrong.name} \({kind}\)"):
        way(s.root, q * wrong)
    # nothing is left behind, and what is allowed is taken
    way(s.root, q * ws.time + ws.parameter("p") * ws.symbol("free"))
    assert "b" in s.bases
