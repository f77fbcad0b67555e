"""Rotations between neighbouring bases, against matrices of plain numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.atoms import Workspace, sin
from biela.errors import DomainError
from biela.space.rotations import (
    AxisRotation,
    MatrixRotation,
    Rotation,
    about_vector,
    euler_parameters,
    matrix3,
    triple,
)
from tests.mechanisms import DIFFERENCE, ROUNDING, axial, numbers, random_values, rate_of, turn

DIRECTIONS = [(1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.3, -0.4, 1.2), (-1.0, -1.0, 0.0)]


def rotations(ws: Workspace) -> dict[str, Rotation]:
    """One of each kind, all of them moving."""
    a, b = ws.coordinates("a b")
    angle = a + sin(ws.time) * b
    elementary = {f"axis {k}": AxisRotation(k, angle) for k in range(3)}
    return {
        **elementary,
        "direction": about_vector(ws, (0.3, -0.4, 1.2), angle),
        "matrix": MatrixRotation(AxisRotation(1, angle).matrix),
    }


KINDS = list(rotations(Workspace()))


def unit_quaternion(ws: Workspace, seed: int) -> tuple[list[Any], dict[Any, float]]:
    """Four coordinates, on the unit sphere and moving along it."""
    e = list(ws.coordinates("e:4"))
    values = random_values(ws, seed)
    x = np.array([values[c] for c in e])
    v = np.array([values[c.velocity] for c in e])
    x /= np.linalg.norm(x)
    v -= x * (x @ v)
    for c, place, speed in zip(e, x, v, strict=True):
        values |= {c: place, c.velocity: speed}
        values[c.acceleration] = -place * float(v @ v)  # a great circle
    return e, values


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("angle", [0.0, 0.7, -2.0, 5.0])
def test_a_turn_about_a_direction_is_the_formula_of_rodrigues(direction, angle):
    ws = Workspace()
    R = numbers(about_vector(ws, direction, ws.atom(angle)).matrix, {})
    np.testing.assert_allclose(R, turn(direction, angle), **ROUNDING)


@pytest.mark.parametrize("axis", range(3))
def test_a_turn_about_an_axis_has_the_axes_of_the_new_base_as_columns(axis):
    ws = Workspace()
    a = ws.coordinate("a")
    R = numbers(AxisRotation(axis, a).matrix, {a: 0.7})
    np.testing.assert_allclose(R, turn(np.eye(3)[axis], 0.7), **ROUNDING)
    # a quarter turn about z takes x to y
    quarter = numbers(AxisRotation(2, a).matrix, {a: np.pi / 2})
    np.testing.assert_allclose(quarter @ [1, 0, 0], [0, 1, 0], **ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_matrices_are_orthonormal_and_components_come_back(kind):
    ws = Workspace()
    rotation = rotations(ws)[kind]
    u = ws.parameters("ux uy uz")
    values = random_values(ws, 1)
    R, v = numbers(rotation.matrix, values), numbers(u, values)
    np.testing.assert_allclose(R @ R.T, np.eye(3), **ROUNDING)
    assert np.linalg.det(R) == pytest.approx(1)
    np.testing.assert_allclose(numbers(rotation.to_old(u), values), R @ v, **ROUNDING)
    np.testing.assert_allclose(numbers(rotation.to_new(u), values), R.T @ v, **ROUNDING)
    there_and_back = rotation.to_new(rotation.to_old(u))
    np.testing.assert_allclose(numbers(there_and_back, values), v, **ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_angular_velocities_are_those_of_the_moving_matrix(kind):
    ws = Workspace()
    rotation = rotations(ws)[kind]
    values = random_values(ws, 2)
    R, dR = numbers(rotation.matrix, values), rate_of(rotation.matrix, values)
    omega = numbers(rotation.angular_velocity, values)
    np.testing.assert_allclose(omega, axial(R.T @ dR), **DIFFERENCE)


@pytest.mark.parametrize("seed", range(5))
def test_a_unit_quaternion_turns_about_its_axis(seed):
    ws = Workspace()
    e, values = unit_quaternion(ws, seed)
    rotation = euler_parameters(ws, e)
    R, dR = numbers(rotation.matrix, values), rate_of(rotation.matrix, values)
    e0, *vector = numbers(e, values)
    angle = 2 * np.arctan2(np.linalg.norm(vector), e0)
    np.testing.assert_allclose(R, turn(vector, angle), **ROUNDING)
    np.testing.assert_allclose(
        numbers(rotation.angular_velocity, values), axial(R.T @ dR), **DIFFERENCE
    )


def test_a_matrix_and_the_elementary_turn_it_was_made_of_have_one_angular_velocity():
    ws = Workspace()
    a = ws.coordinate("a")
    for axis in range(3):
        elementary = AxisRotation(axis, a)
        general = MatrixRotation(elementary.matrix)
        values = random_values(ws, axis)
        np.testing.assert_allclose(
            numbers(general.angular_velocity, values),
            numbers(elementary.angular_velocity, values),
            **ROUNDING,
        )


# -------------------------------------------------------------- what a rotation keeps


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 2), st.tuples(*[st.sampled_from(["0", "u", "v"])] * 3))
def test_a_vector_said_to_be_kept_is_kept(axis, pattern):
    ws = Workspace()
    rotation = AxisRotation(axis, ws.coordinate("a"))
    v = tuple(ws.atom(0) if name == "0" else ws.parameter(name) for name in pattern)
    values = random_values(ws, 3)
    same = np.allclose(numbers(rotation.to_old(v), values), numbers(v, values))
    assert rotation.keeps(v) == same


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 2), st.tuples(*[st.sampled_from(["0", "u", "-u", "v"])] * 9))
def test_a_tensor_said_to_be_kept_is_kept(axis, pattern):
    ws = Workspace()
    rotation = AxisRotation(axis, ws.coordinate("a"))
    u, v = ws.parameters("u v")
    entries = {"0": ws.atom(0), "u": u, "-u": -u, "v": v}
    T = matrix3(ws, [[entries[pattern[3 * i + j]] for j in range(3)] for i in range(3)])
    values = random_values(ws, 4)
    R, N = numbers(rotation.matrix, values), numbers(T, values)
    assert rotation.keeps_tensor(T) == np.allclose(R @ N @ R.T, N)


def test_a_general_rotation_keeps_only_what_has_no_direction():
    ws = Workspace()
    s, zero = ws.parameter("s"), ws.atom(0)
    rotation = about_vector(ws, (1, 1, 1), ws.coordinate("a"))
    assert rotation.keeps((zero, zero, zero))
    assert not rotation.keeps((s, zero, zero))
    assert rotation.keeps_tensor(matrix3(ws, [[s, 0, 0], [0, s, 0], [0, 0, s]]))
    assert not rotation.keeps_tensor(matrix3(ws, [[s, 0, 0], [0, s, 0], [0, 0, 1]]))


@pytest.mark.parametrize("axis", range(3))
def test_vectors_in_the_plane_of_the_turn_are_not_kept(axis):
    ws = Workspace()
    rotation = AxisRotation(axis, ws.coordinate("a"))
    cg = ws.parameters("cgx cgy cgz")
    for pattern in product((0, 1), repeat=3):
        v = tuple(c if there else ws.atom(0) for c, there in zip(cg, pattern, strict=True))
        in_plane = any(pattern[k] for k in range(3) if k != axis)
        assert rotation.keeps(v) != in_plane


# ------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("direction", [(0, 0, 0), (1, 2), (1, 2, float("nan"))])
def test_what_is_no_direction_is_refused(direction):
    ws = Workspace()
    with pytest.raises(DomainError, match="not a direction"):
        about_vector(ws, direction, ws.coordinate("a"))


def test_wrong_numbers_of_components_are_refused():
    ws = Workspace()
    with pytest.raises(DomainError, match="three components"):
        triple(ws, (1, 2))
    with pytest.raises(DomainError, match="three rows"):
        matrix3(ws, [[1, 0, 0], [0, 1, 0]])
    with pytest.raises(DomainError, match="four, not 3"):
        euler_parameters(ws, ws.coordinates("e:3"))
