"""Vectors and tensors: every algebra gives the same numbers, some with fewer operations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.atoms import Workspace
from biela.code import Function
from biela.errors import DomainError
from biela.space import (
    Algebra,
    Base,
    Space,
    Tensor,
    Toward,
    Vector,
    angular_velocity,
    rotation_matrix,
    velocity,
)
from biela.space.bases import project
from tests.mechanisms import ALGEBRAS, AXES, ROUNDING, four_bar, numbers, random_values

UP = Algebra(Toward.LEAF, extended=False)
DOWN = Algebra(Toward.ROOT, extended=False)
EXTENDED = Algebra(Toward.ROOT, extended=True)

#: Parent and axis of each base; for each vector the base and the components of its parts.
TREES = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(list(AXES))), min_size=1, max_size=5)
COMPONENTS = st.tuples(*[st.sampled_from(["0", "a", "b", "c"])] * 3)
PARTS = st.lists(st.tuples(st.integers(0, 5), COMPONENTS), min_size=0, max_size=3)


def grown(recipe: list[tuple[int, str]]) -> list[Base]:
    space = Space(Workspace("vectors"))
    bases = [space.root]
    for k, (parent, axis) in enumerate(recipe):
        angle = space.workspace.coordinate(f"q{k}")
        bases.append(bases[parent % len(bases)].rotated(f"b{k}", axis, angle))
    return bases


def summed(bases: list[Base], parts: list[tuple[int, tuple[str, ...]]]) -> Vector:
    ws = bases[0].space.workspace
    total = Vector(bases[0].space, {})
    for where, names in parts:
        x, y, z = (ws.atom(0) if name == "0" else ws.parameter(name) for name in names)
        total = total + bases[where % len(bases)].vector(x, y, z)
    return total


def in_root(bases: list[Base], parts: list[tuple[int, tuple[str, ...]]], values: dict):
    """The same sum, from rotation matrices of plain numbers."""
    ws, total = bases[0].space.workspace, np.zeros(3)
    for where, names in parts:
        R = numbers(rotation_matrix(bases[0], bases[where % len(bases)]), values)
        part = [0.0 if name == "0" else values[ws.parameter(name)] for name in names]
        total = total + R @ np.array(part)
    return total


@settings(derandomize=True, max_examples=40, deadline=None)
@given(TREES, PARTS, PARTS)
def test_every_algebra_gives_the_same_sums_and_products(recipe, first, second):
    bases = grown(recipe)
    space = bases[0].space
    s = space.workspace.parameter("s")
    for name in "abc":
        space.workspace.parameter(name)
    values = random_values(space.workspace, 11)
    a, b = in_root(bases, first, values), in_root(bases, second, values)
    for algebra in ALGEBRAS:
        with space.using(algebra):
            u, v = summed(bases, first), summed(bases, second)
            for found, expected in (
                (u + v, a + b),
                (u - v, a - b),
                (-u, -a),
                (s * u, values[s] * a),
                (u / s, a / values[s]),
                (u.cross(v), np.cross(a, b)),
                (u.cross(v).cross(u), np.cross(np.cross(a, b), a)),
            ):
                components = numbers(found.components(space.root), values)
                np.testing.assert_allclose(components, expected, **ROUNDING)
            np.testing.assert_allclose(numbers(u.dot(v), values), a @ b, **ROUNDING)
            np.testing.assert_allclose(numbers(u.norm2(), values), a @ a, **ROUNDING)
            np.testing.assert_allclose(numbers([u.x, u.y, u.z], values), a, **ROUNDING)


TENSORS = {
    "general": [["a", "b", "c"], ["c", "a", "a"], ["b", "b", "c"]],
    "axis x": [["a", "0", "0"], ["0", "b", "0"], ["0", "0", "b"]],
    "axis y": [["a", "0", "0"], ["0", "c", "0"], ["0", "0", "a"]],
    "only y": [["0", "0", "0"], ["0", "c", "0"], ["0", "0", "0"]],
    "sphere": [["a", "0", "0"], ["0", "a", "0"], ["0", "0", "a"]],
}


@settings(derandomize=True, max_examples=60, deadline=None)
@given(TREES, PARTS, st.integers(0, 5), st.sampled_from(list(TENSORS)))
def test_every_algebra_gives_the_same_tensor_products(recipe, parts, where, kind):
    bases = grown(recipe)
    space = bases[0].space
    ws = space.workspace
    rows = [[ws.atom(0) if n == "0" else ws.parameter(n) for n in row] for row in TENSORS[kind]]
    for name in "abc":
        ws.parameter(name)
    values = random_values(ws, 12)
    base = bases[where % len(bases)]
    T = base.tensor(rows)
    R = numbers(rotation_matrix(space.root, base), values)
    expected = R @ numbers(rows, values) @ R.T @ in_root(bases, parts, values)
    for algebra in ALGEBRAS:
        with space.using(algebra):
            found = (T @ summed(bases, parts)).components(space.root)
            np.testing.assert_allclose(numbers(found, values), expected, **ROUNDING)


@settings(derandomize=True, max_examples=40, deadline=None)
@given(TREES, PARTS, st.integers(0, 5))
def test_components_in_any_base_are_the_turned_components(recipe, parts, where):
    bases = grown(recipe)
    space = bases[0].space
    for name in "abc":
        space.workspace.parameter(name)
    values = random_values(space.workspace, 13)
    base = bases[where % len(bases)]
    R = numbers(rotation_matrix(base, space.root), values)
    for algebra in ALGEBRAS:
        with space.using(algebra):
            u = summed(bases, parts)
            expected = R @ in_root(bases, parts, values)
            np.testing.assert_allclose(numbers(u.components(base), values), expected, **ROUNDING)


# ---------------------------------------------------------------- where operands meet


def chain() -> tuple[Space, list[Base]]:
    """xyz, then bases turned about z, x and y, and one on a branch of its own."""
    space = Space(Workspace("chain"))
    q = space.workspace.coordinates("q:4")
    b1 = space.root.rotated("b1", "z", q[0])
    b2 = b1.rotated("b2", "x", q[1])
    b3 = b2.rotated("b3", "y", q[2])
    side = b1.rotated("side", "x", q[3])
    return space, [space.root, b1, b2, b3, side]


def test_operands_of_one_branch_meet_in_the_upper_or_in_the_lower_base():
    _, (xyz, b1, _, b3, _) = chain()
    for a, b in ((b1, b3), (b3, b1)):
        assert UP.meeting_base(a, b) is b3
        assert DOWN.meeting_base(a, b) is b1
    assert UP.meeting_base(xyz, xyz) is xyz


def test_operands_of_different_branches_meet_in_their_common_base():
    space, (_, b1, b2, b3, side) = chain()
    for algebra in (UP, DOWN):
        assert algebra.meeting_base(b3, side) is b1
        with space.using(algebra):
            total = b2.vector(1, 2, 3) + side.vector(4, 5, 6)
        assert total.base is b1


@pytest.mark.parametrize("algebra", ALGEBRAS, ids=str)
def test_a_vector_without_components_asks_for_no_change_of_base(algebra):
    space, (xyz, _, _, b3, _) = chain()
    with space.using(algebra):
        zero, u = xyz.vector(0, 0, 0), b3.vector(1, 2, 3)
        assert (zero + u).base is b3
        assert (u - zero).base is b3
        assert (zero + u).parts == u.parts
        assert (zero + zero).is_zero
        assert (u - u).is_zero
        assert zero.dot(u).value == 0
        assert zero.cross(u).is_zero
        assert (b3.inertia(1, 2, 3) @ zero).is_zero


def test_an_extended_vector_keeps_its_parts_apart():
    space, (_, b1, b2, _, _) = chain()
    with space.using(EXTENDED):
        total = b1.vector(1, 2, 0) + b2.vector(0, 3, 4) + b1.vector(1, 0, 0)
    assert {b.name: [c.value for c in part] for b, part in total.parts.items()} == {
        "b1": [2, 2, 0],
        "b2": [0, 3, 4],
    }
    assert list(total.parts) == [b1, b2]
    with pytest.raises(DomainError, match="2 parts"):
        _ = total.base


def test_an_algebra_holds_only_inside_its_block():
    space, _ = chain()
    before = space.algebra
    with pytest.raises(RuntimeError), space.using(UP):
        assert space.algebra is UP
        raise RuntimeError
    assert space.algebra is before


# -------------------------------------------------------------- lowering while invariant


def test_a_part_along_the_axis_is_lowered_and_one_in_the_plane_is_not():
    space, (_, _, b2, b3, _) = chain()
    x, y, z = space.workspace.parameters("x y z")
    with space.using(EXTENDED):
        nothing = Vector(space, {})
        along = nothing + b3.vector(0, y, 0) * 1
        assert along.base is b2  # y is the axis from b2 to b3, but not from b1 to b2
        for components in ((x, 0, 0), (0, 0, z), (x, 0, z), (x, y, 0)):
            assert (b3.vector(*components) * 1).base is b3


def test_a_tensor_is_lowered_as_far_as_its_symmetry_goes():
    space, (xyz, b1, b2, b3, _) = chain()
    a, b = space.workspace.parameters("a b")
    assert (b3.inertia(a, b, a) * 1).base is b2
    assert (b3.inertia(yy=b) * 1).base is b2
    assert (b3.inertia(a, a, b) * 1).base is b3
    assert (b3.inertia(a, b, a, xz=b) * 1).base is b3  # a product of inertia in the plane
    assert (b3.inertia(a, a, a) * 1).base is xyz
    assert (b2.inertia(a, b, b) * 1).base is b1


def test_a_skew_tensor_along_the_axis_is_lowered():
    space, (_, _, b2, b3, _) = chain()
    (r,) = space.workspace.parameters("r")
    assert (b3.tensor([[0, 0, r], [0, 0, 0], [-r, 0, 0]]) * 1).base is b2
    assert (b3.tensor([[0, -r, 0], [r, 0, 0], [0, 0, 0]]) * 1).base is b3


def test_a_vector_meets_a_tensor_in_the_nearest_base_where_the_tensor_is_as_simple():
    space, (_, b1, b2, b3, side) = chain()
    a, b = space.workspace.parameters("a b")
    symmetric, general = b3.inertia(a, b, a), b3.inertia(a, a, b)
    with space.using(EXTENDED):
        for vector in (b1.vector(1, 2, 3), side.vector(1, 2, 3)):
            assert (symmetric @ vector).base is b2
            assert (general @ vector).base is b3
        assert (symmetric @ b2.vector(1, 2, 3)).base is b2


def test_lowered_parts_of_opposite_vectors_vanish():
    space, (_, _, b2, b3, _) = chain()
    y = space.workspace.parameter("y")
    with space.using(EXTENDED):
        assert (b3.vector(0, y, 0) - b2.vector(0, y, 0)).is_zero


# --------------------------------------------------- the four-bar, seed of the extended algebra


@pytest.fixture
def linkage():
    s = four_bar()
    s.space.algebra = EXTENDED
    return s


def by_name(v: Vector) -> dict[str, tuple[str, ...]]:
    return {base.name: tuple(map(repr, part)) for base, part in v.parts.items()}


def operations(s, expression) -> int:
    names = {"v": s.v, "q": s.q, "p": list(s._parameters)}
    return Function("f", names, {"y": expression}).count.thesis


def test_angular_velocities_about_one_axis_gather_in_the_root(linkage):
    bases = linkage.space.bases
    omega = [angular_velocity(linkage.base, bases[f"b{i}"]) for i in (1, 2, 3)]
    assert [list(w.parts) for w in omega] == [[linkage.base]] * 3
    d1, d2, d3 = linkage.v
    assert omega[0].components(linkage.base)[1] == d1
    assert omega[1].components(linkage.base)[1] == d1 + d2
    values = random_values(linkage.workspace, 14)
    assert numbers(omega[2].y, values) == pytest.approx(sum(values[d] for d in (d1, d2, d3)))


def test_the_square_of_an_angular_velocity_needs_two_operations(linkage):
    omega = angular_velocity(linkage.base, linkage.space.bases["b2"])
    d1, d2, _ = linkage.v
    assert omega.norm2() == (d1 + d2) ** 2
    assert operations(linkage, omega.norm2()) == 2


def test_velocities_of_the_joints_are_kept_in_the_bases_of_the_bars(linkage):
    points, bases = linkage.space.points, linkage.space.bases
    v_A = velocity(linkage.space.inertial, points["A"])
    v_B = velocity(linkage.space.inertial, points["B"])
    assert velocity(linkage.space.inertial, points["O"]).is_zero
    assert list(v_A.parts) == [bases["b1"]]
    assert list(v_B.parts) == [bases["b1"], bases["b2"]]
    d1, d2, _ = linkage.v
    l1, l2 = linkage.workspace["l1"], linkage.workspace["l2"]
    values = random_values(linkage.workspace, 15)
    # ω x r for a turn about y is along -z
    np.testing.assert_allclose(
        numbers(v_B.parts[bases["b1"]], values), [0, 0, -values[d1] * values[l1]], **ROUNDING
    )
    np.testing.assert_allclose(
        numbers(v_B.parts[bases["b2"]], values),
        [0, 0, -(values[d1] + values[d2]) * values[l2]],
        **ROUNDING,
    )


def test_products_of_velocity_jacobians_have_no_angle_turned_forth_and_back(linkage):
    """The product of eq. 5.86: l1² + l2² + 2 l1 l2 cos θ2 and so on, without θ1."""
    s = linkage
    v = velocity(s.space.inertial, s.space.points["B"])
    J = [v.diff(rate) for rate in s.v]
    values = random_values(s.workspace, 16)
    l1, l2, c2 = values[s.workspace["l1"]], values[s.workspace["l2"]], np.cos(values[s.q[1]])
    product = numbers([[a.dot(b) for b in J] for a in J], values)
    expected = [
        [l1**2 + l2**2 + 2 * l1 * l2 * c2, l2**2 + l1 * l2 * c2, 0],
        [l2**2 + l1 * l2 * c2, l2**2, 0],
        [0, 0, 0],
    ]
    np.testing.assert_allclose(product, expected, **ROUNDING)
    table = s.workspace.table
    for a in J:
        for b in J:
            assert s.q[0].ref not in table.live([a.dot(b).ref])


def test_triple_products_with_the_centre_of_mass_turn_it(linkage):
    """Eq. 5.95: m2 l1 (cg2x cos θ2 + cg2z sin θ2), where a listing of the thesis forgets θ2."""
    s = linkage
    bar = s.solids[1]
    v = velocity(s.space.inertial, bar.point)
    omega = angular_velocity(s.base, bar.base)
    values = random_values(s.workspace, 17)
    product = [[v.diff(a).dot(omega.diff(b).cross(bar.first_moment)) for b in s.v] for a in s.v]
    m2, l1, x, z = (values[s.workspace[n]] for n in ("m2", "l1", "cg2x", "cg2z"))
    theta2 = values[s.q[1]]
    expected = np.zeros((3, 3))
    expected[0, :2] = m2 * l1 * (x * np.cos(theta2) + z * np.sin(theta2))
    np.testing.assert_allclose(numbers(product, values), expected, **ROUNDING)


def test_an_out_of_plane_inertia_needs_no_rotation(linkage):
    s = linkage
    bar = s.solids[1]
    omega = angular_velocity(s.base, bar.base)
    J = [omega.diff(rate) for rate in s.v]
    I2 = s.workspace["I2yy"]
    zero = s.workspace.atom(0)
    product = [[a.dot(bar.inertia @ b) for b in J] for a in J]
    assert product == [[I2, I2, zero], [I2, I2, zero], [zero, zero, zero]]


# ------------------------------------------------------------------- other questions


def test_components_are_turned_at_once_about_one_axis_and_step_by_step_about_several():
    space, (xyz, b1, b2, _, _) = chain()
    a, b, l = space.workspace.parameters("a b l")
    tip = b1.rotated("tip", "z", space.workspace.coordinate("q5"))
    assert tip.vector(l, 0, 0).components(xyz) == project((l, l * 0, l * 0), tip, xyz, merge=True)
    # each turn is made once for all that lies beyond it
    x, y, z = (b1.vector(0, a, 0) + b2.vector(0, b, l)).components(xyz)
    px, py, pz = project((a * 0, b, l), b2, b1)
    assert (x, y, z) == project((px, py + a, pz), b1, xyz)


def test_derivatives_by_a_velocity_and_substitution_go_part_by_part():
    space, (_, b1, b2, _, _) = chain()
    x = space.workspace.coordinate("x")
    u = b1.vector(x.velocity * 2, x, 0) + b2.vector(0, x.velocity, 1)
    assert by_name(u.diff(x.velocity)) == {"b1": ("2", "0", "0"), "b2": ("0", "1", "0")}
    assert by_name(u.substitute({x.velocity: 0})) == {"b1": ("0", "x", "0"), "b2": ("0", "0", "1")}
    assert by_name(u.map(space.bias_rate)) == {"b1": ("0", "dx", "0")}


def test_vectors_print_their_parts_with_their_bases():
    space, (_, b1, b2, _, _) = chain()
    x = space.workspace.parameter("x")
    assert repr(b1.vector(x, 0, 1) + b2.vector(0, 2, 0)) == "Vector (x, 0, 1)_b1 + (0, 2, 0)_b2"
    assert repr(b1.vector(0, 0, 0)) == "Vector 0"
    assert repr(b1.tensor([[x, 0, 0], [0, 1, 0], [0, 0, 2]])) == (
        "Tensor [x, 0, 0; 0, 1, 0; 0, 0, 2]_b1"
    )
    assert isinstance(b1.inertia(x), Tensor)


def test_vectors_of_two_systems_are_not_joined():
    _, (_, b1, _, _, _) = chain()
    _, (_, c1, _, _, _) = chain()
    for join in (Vector.__add__, Vector.__sub__, Vector.dot, Vector.cross):
        with pytest.raises(DomainError, match="cannot be joined"):
            join(b1.vector(1, 0, 0), c1.vector(1, 0, 0))
