"""Tensors in parts: sums and products against rotation matrices of plain numbers."""

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
    rotation_matrix,
    skew,
    triple_cross,
)
from biela.space.tensors import project_tensor
from tests.mechanisms import ALGEBRAS, AXES, ROUNDING, numbers, random_values

EXTENDED = Algebra(Toward.ROOT, extended=True)

KINDS = {
    "general": ("a", "b", "c", "c", "a", "a", "b", "b", "c"),
    "symmetric": ("a", "b", "c", "b", "b", "a", "c", "a", "c"),
    "axis x": ("a", "0", "0", "0", "b", "0", "0", "0", "b"),
    "only y": ("0", "0", "0", "0", "c", "0", "0", "0", "0"),
    "skew z": ("0", "a", "0", "-a", "0", "0", "0", "0", "0"),
    "skew": ("0", "a", "b", "-a", "0", "c", "-b", "-c", "0"),
    "sphere": ("a", "0", "0", "0", "a", "0", "0", "0", "a"),
}
#: Parent and axis of each base; the base and the components of each part.
TREES = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(list(AXES))), min_size=1, max_size=5)
PARTS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(list(KINDS))), max_size=3)
VECTOR = st.lists(
    st.tuples(st.integers(0, 5), st.tuples(*[st.sampled_from(["0", "a", "b", "c"])] * 3)),
    max_size=2,
)


def grown(recipe: list[tuple[int, str]]) -> list[Base]:
    space = Space(Workspace("tensors"))
    bases = [space.root]
    for k, (parent, axis) in enumerate(recipe):
        angle = space.workspace.coordinate(f"q{k}")
        bases.append(bases[parent % len(bases)].rotated(f"b{k}", axis, angle))
    space.workspace.parameters("a b c s")
    return bases


def entry(ws: Workspace, name: str):
    if name == "0":
        return ws.atom(0)
    return -ws[name[1:]] if name.startswith("-") else ws[name]


def summed(bases: list[Base], parts: list[tuple[int, str]]) -> Tensor:
    ws = bases[0].space.workspace
    total = Tensor(bases[0].space, {})
    for where, kind in parts:
        nine = [entry(ws, name) for name in KINDS[kind]]
        total = total + bases[where % len(bases)].tensor([nine[:3], nine[3:6], nine[6:]])
    return total


def vector(bases: list[Base], parts: list[tuple[int, tuple[str, ...]]]) -> Vector:
    ws = bases[0].space.workspace
    total = Vector(bases[0].space, {})
    for where, names in parts:
        total = total + bases[where % len(bases)].vector(*(entry(ws, name) for name in names))
    return total


def in_root(bases: list[Base], parts, values) -> np.ndarray:
    """The same sum of vectors or tensors from matrices of numbers."""
    ws = bases[0].space.workspace
    total = 0.0
    for where, names in parts:
        R = numbers(rotation_matrix(bases[0], bases[where % len(bases)]), values)
        if isinstance(names, str):
            T = numbers([entry(ws, name) for name in KINDS[names]], values).reshape(3, 3)
            total = total + R @ T @ R.T
        else:
            total = total + R @ numbers([entry(ws, name) for name in names], values)
    return total if parts else np.zeros((3, 3))


@settings(derandomize=True, max_examples=25, deadline=None)
@given(TREES, PARTS, PARTS, VECTOR)
def test_every_algebra_gives_the_same_sums_and_products(recipe, first, second, third):
    bases = grown(recipe)
    space = bases[0].space
    s = space.workspace["s"]
    values = random_values(space.workspace, 31)
    A, B = in_root(bases, first, values), in_root(bases, second, values)
    x = in_root(bases, third, values) if third else np.zeros(3)
    for algebra in ALGEBRAS:
        with space.using(algebra):
            T, S, u = summed(bases, first), summed(bases, second), vector(bases, third)
            for found, expected in (
                (T + S, A + B),
                (T - S, A - B),
                (-T, -A),
                (s * T, values[s] * A),
                (T / s, A / values[s]),
                (T @ S, A @ B),
                (T @ S @ T, A @ B @ A),
                (T.transposed, A.T),
                (T @ u, A @ x),
                (u @ T, x @ A),
                (T @ (S @ u), A @ B @ x),
                (skew(u) @ T, np.cross(x, A.T).T),
            ):
                components = numbers(found.components(space.root), values)
                np.testing.assert_allclose(components, expected, **ROUNDING)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(TREES, VECTOR, VECTOR, VECTOR)
def test_the_triple_product_is_that_of_two_cross_products(recipe, first, second, third):
    bases = grown(recipe)
    space = bases[0].space
    values = random_values(space.workspace, 32)
    x, y, z = (in_root(bases, p, values) if p else np.zeros(3) for p in (first, second, third))
    for algebra in ALGEBRAS:
        with space.using(algebra):
            u, v, w = (vector(bases, parts) for parts in (first, second, third))
            found = numbers(triple_cross(u, v, w).components(space.root), values)
            np.testing.assert_allclose(found, np.cross(x, np.cross(y, z)), **ROUNDING)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(TREES, PARTS, st.integers(0, 5))
def test_components_in_any_base_are_the_turned_components(recipe, parts, where):
    bases = grown(recipe)
    values = random_values(bases[0].space.workspace, 33)
    base = bases[where % len(bases)]
    R = numbers(rotation_matrix(base, bases[0]), values)
    found = numbers(summed(bases, parts).components(base), values)
    np.testing.assert_allclose(found, R @ in_root(bases, parts, values) @ R.T, **ROUNDING)


# --------------------------------------------------------------------- where parts are kept


def chain() -> tuple[Space, list[Base]]:
    """xyz, then bases turned about z, x and y, and one on a branch of its own."""
    space = Space(Workspace("chain"))
    q = space.workspace.coordinates("q:4")
    b1 = space.root.rotated("b1", "z", q[0])
    b2 = b1.rotated("b2", "x", q[1])
    b3 = b2.rotated("b3", "y", q[2])
    side = b1.rotated("side", "x", q[3])
    return space, [space.root, b1, b2, b3, side]


def test_a_sum_keeps_its_parts_in_their_bases():
    space, (_, b1, b2, b3, _) = chain()
    a, b, c = space.workspace.parameters("a b c")
    total = b3.inertia(a, b, c) + b1.inertia(a, b, c) + b3.inertia(a)
    assert list(total.parts) == [b1, b3]
    assert total.parts[b3][0][0] == 2 * a
    assert (total - b1.inertia(a, b, c)).base is b3
    assert (total - total).is_zero
    # what has an axis of symmetry is lowered along it, and joined with what is there
    lowered = b3.inertia(a, b, a) + b2.inertia(a, b, c)
    assert list(lowered.parts) == [b2]
    with pytest.raises(DomainError, match="2 parts has no base"):
        _ = total.base


def test_a_product_is_formed_where_the_factors_are_as_they_are():
    space, (_, b1, b2, b3, side) = chain()
    a, b, c = space.workspace.parameters("a b c")
    general, round_y = b1.inertia(a, b, c), b3.inertia(a, b, a)
    sphere = side.inertia(b, b, b)
    with space.using(EXTENDED):
        assert (general @ b3.inertia(a, b, c)).base is b1
        assert (b2.inertia(c, b, a) @ round_y).base is b2  # the second comes down for nothing
        assert (sphere @ b3.inertia(a, b, c)).base is b3  # a sphere goes anywhere
        assert (b3.inertia(a, b, c) @ sphere).base is b3
    with space.using(Algebra(Toward.LEAF, extended=True)):
        assert (general @ b3.inertia(a, b, c)).base is b3


def test_a_middle_factor_with_an_axis_is_not_turned_about_it():
    """T W S with W the same in two bases: one rotation, not three (Plaza 2015, §5.6)."""
    space, (_, _, b2, b3, _) = chain()
    names = space.workspace.parameters("a b c d e")
    a, b, c, d, e = names
    T, W, S = b2.inertia(a, b, c), b3.inertia(d, e, d), b2.inertia(c, a, b)
    with space.using(EXTENDED):
        product = T @ W @ S
    assert product.base is b2
    refs = {abs(x.ref) for x in space.workspace.coordinates("q3")}
    live = space.workspace.table.live(x.ref for row in product.parts[b2] for x in row)
    assert not refs & set(live)


def test_a_symmetric_tensor_stays_symmetric_atom_for_atom():
    space, (xyz, _, _, b3, _) = chain()
    names = space.workspace.parameters("a b c d e f")
    found = project_tensor(b3.inertia(*names).parts[b3], b3, xyz)
    assert found == tuple(zip(*found, strict=True))


def test_a_skew_tensor_is_turned_as_its_vector():
    space, (xyz, _, _, b3, _) = chain()
    u = b3.vector(*space.workspace.parameters("a b c"))
    x, y, z = u.components(xyz)
    assert skew(u).components(xyz) == ((0, -z, y), (z, 0, -x), (-y, x, 0))


def test_lagrange_takes_fewer_operations_for_vectors_of_different_bases():
    space, (_, b1, _, b3, _) = chain()
    names = space.workspace.parameters("a b c d e f g h i")
    u, v, w = b1.vector(*names[:3]), b3.vector(*names[3:6]), b1.vector(*names[6:])
    coordinates = space.workspace.coordinates("q:4")

    def operations(result: Vector) -> int:
        outputs = {f"y{k}": list(part) for k, part in enumerate(result.parts.values())}
        return Function("f", {"q": coordinates, "p": list(names)}, outputs).count.arithmetic

    with space.using(EXTENDED):
        assert operations(triple_cross(u, v, w)) < operations(u.cross(v.cross(w)))


def test_gathering_moves_only_what_stays_the_same():
    space, (_, _, b2, b3, _) = chain()
    a, b, c = space.workspace.parameters("a b c")
    assert b2.inertia(a, b, a).gathered(b3).base is b3
    assert b2.inertia(a, b, c).gathered(b3).base is b2


def test_tensors_say_what_they_cannot_do():
    space, (_, b1, b2, _, _) = chain()
    _, (_, c1, _, _, _) = chain()
    T, S, v = b1.inertia(1, 2, 3), c1.inertia(1, 2, 3), c1.vector(1, 2, 3)
    for join in (Tensor.__add__, Tensor.__sub__, Tensor.__matmul__):
        with pytest.raises(DomainError, match="cannot be joined"):
            join(T, S)
    with pytest.raises(DomainError, match="cannot be joined"):
        T @ v
    with pytest.raises(DomainError, match="by @, not by"):
        T * b1.inertia(1)
    for wrong in (1.0, b2.vector(1, 2, 3)):
        with pytest.raises(DomainError, match="not a tensor"):
            T + wrong
    assert repr(Tensor(space, {})) == "Tensor 0"
    assert repr(T + b2.inertia(xy=1)) == (
        "Tensor [1, 0, 0; 0, 2, 0; 0, 0, 3]_b1 + [0, 1, 0; 1, 0, 0; 0, 0, 0]_b2"
    )
