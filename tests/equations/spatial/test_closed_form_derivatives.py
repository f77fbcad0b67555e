"""Derivatives in closed form against the graph differentiated, robots against complex steps."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import biela as bl
from biela.code.columns import ColumnFunction
from biela.equations import spatial
from biela.equations.spatial import SpatialTree, analytic_derivatives, composite
from biela.equations.spatial.derivatives import by_displacement, by_symbols
from biela.equations.spatial.newton_euler import inverse_dynamics
from biela.equations.spatial.one_frame import size
from biela.errors import ModelError
from biela.model.files import load_urdf
from tests.equations.spatial.trees import KINDS, random_tree, state

STEP = 1e-30
#: Joints whose motions are constant in the frame of what they carry.
CONSTANT = tuple(kind for kind in KINDS if kind[0] != "point_on_curve")


def values(tree: SpatialTree, matrices: object, *arrays: np.ndarray) -> list[np.ndarray]:
    names = ("one", "two", "three")
    inputs = {"q": tree.q, "v": tree.v, "a": tree.a}
    f = bl.Function("f", inputs, dict(zip(names, matrices, strict=True)))
    return list(f.interpret(*arrays))


@pytest.mark.parametrize("way", ["_met_on_the_way", "_met_in_one_frame"])
@pytest.mark.parametrize("seed", range(4))
def test_the_closed_form_is_the_derivative_of_the_graph(seed: int, way: str) -> None:
    tree = SpatialTree(random_tree(6, 20 + seed, CONSTANT))
    assert analytic_derivatives.applies(tree)
    columns = analytic_derivatives._columns(tree)
    found = getattr(analytic_derivatives, way)(tree, columns)
    tau = inverse_dynamics(tree, tree.v, tree.a).tau
    M = composite.mass_matrix_by_unit_accelerations(tree)
    expected = by_displacement(tree, tau), by_symbols(tau, tree.v), M
    arrays = state(tree, seed)
    for mine, other in zip(
        values(tree, found, *arrays), values(tree, expected, *arrays), strict=True
    ):
        np.testing.assert_allclose(mine, other, atol=1e-13 * np.abs(other).max())


def test_a_way_along_a_curve_is_left_to_the_graph() -> None:
    curved = tuple(kind for kind in KINDS if kind[0] == "point_on_curve")
    tree = SpatialTree(random_tree(2, 3, curved))
    assert not analytic_derivatives.applies(tree)


def geared() -> bl.Model:
    """A chain with two hinges tied by a gear, and a spring with a damper on one of them."""
    m = random_tree(9, 5, (("revolute", {}), ("spherical", {})), chain=True, turned=False)
    hinges = [j.name for j in m.joints.values() if j.kind == "revolute"]
    m.joint("gear", "gears", first=hinges[0], second=hinges[1], ratio=-0.4)
    m.force("torsional", "spring", coordinate=hinges[1], stiffness=3.0, damping=0.2)
    return m


@cache
def arm() -> bl.Model:
    """The lengths and masses of a UR5, with tensors that have no zeros."""
    rows = (
        (0.0892, 0.0, math.pi / 2, 3.7),
        (0.0, -0.425, 0.0, 8.393),
        (0.0, -0.392, 0.0, 2.275),
        (0.109, 0.0, math.pi / 2, 1.219),
        (0.0947, 0.0, -math.pi / 2, 1.219),
        (0.0823, 0.0, 0.0, 0.1889),
    )
    parts = ['<robot name="arm"><link name="base"/>']
    before = "base"
    for k, (d, a, alpha, mass) in enumerate(rows):
        parts.append(
            link(f"l{k}", mass, k) + joint(f"j{k}", before, f"l{k}", (a, 0.0, d), alpha, "z")
        )
        before = f"l{k}"
    return load_urdf("".join([*parts, "</robot>"]), notes=[])


def humanoid() -> bl.Model:
    """A floating trunk with two legs of six joints, a waist of two, two arms of four and a head."""
    parts = ['<robot name="humanoid">', link("base_link", 15.0, 0)]
    branches = {
        "left_leg": ("base_link", (0.0, 0.1, -0.05), "zxyyyx"),
        "right_leg": ("base_link", (0.0, -0.1, -0.05), "zxyyyx"),
        "waist": ("base_link", (0.0, 0.0, 0.1), "zy"),
        "left_arm": ("waist1", (0.0, 0.2, 0.4), "zxyz"),
        "right_arm": ("waist1", (0.0, -0.2, 0.4), "zxyz"),
        "head": ("waist1", (0.02, 0.0, 0.5), "yz"),
    }
    for name, (before, place, axes) in branches.items():
        for k, axis in enumerate(axes):
            parts.append(link(f"{name}{k}", 1.0 + 0.3 * k, len(parts)))
            parts.append(joint(f"{name}_j{k}", before, f"{name}{k}", place, 0.0, axis))
            before, place = f"{name}{k}", (0.01, 0.0, -0.15)
    return load_urdf("".join([*parts, "</robot>"]), floating=True, notes=[])


def link(name: str, mass: float, seed: int) -> str:
    random = np.random.default_rng(seed)
    c = random.uniform(-0.05, 0.05, 3)
    half = 0.05 * random.normal(size=(3, 3))
    I = mass * (np.trace(half @ half.T) * np.eye(3) - half @ half.T)
    keys = {
        "ixx": (0, 0),
        "iyy": (1, 1),
        "izz": (2, 2),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyz": (1, 2),
    }
    moments = " ".join(f'{key}="{I[at]}"' for key, at in keys.items())
    return (
        f'<link name="{name}"><inertial><origin xyz="{c[0]} {c[1]} {c[2]}"/><mass value="{mass}"/>'
        f"<inertia {moments}/></inertial></link>"
    )


def joint(
    name: str, before: str, after: str, place: tuple[float, ...], turn: float, axis: str
) -> str:
    xyz = " ".join(map(str, place))
    along = " ".join(str(int(axis == letter)) for letter in "xyz")
    return (
        f'<joint name="{name}" type="continuous"><parent link="{before}"/><child link="{after}"/>'
        f'<origin xyz="{xyz}" rpy="{turn} 0 0"/><axis xyz="{along}"/></joint>'
    )


@pytest.mark.parametrize("make", [arm, humanoid, geared])
def test_accelerations_of_robots_have_the_derivatives_of_complex_steps(make: object) -> None:
    m = make()
    tree = SpatialTree(m)
    q, v, a = state(tree, 2)
    tau = spatial.inverse_dynamics(m).interpret(q, v, a)
    fd, rates = spatial.forward_dynamics(m), spatial.rates(m)
    function = spatial.forward_dynamics_derivatives(m)
    assert isinstance(function, ColumnFunction) == (len(v) > 8)
    found, by_q, by_v, by_tau = function(q, v, tau)
    np.testing.assert_allclose(found, a, atol=1e-9 * np.abs(a).max())
    # along random directions: an error in any column shows
    random = np.random.default_rng(3)
    for d in random.normal(size=(2, len(v))):
        way = rates.interpret(q, d)
        moved = {
            "δ": (by_q, fd.interpret(q + 1j * STEP * way, v + 0j, tau + 0j)),
            "v": (by_v, fd.interpret(q + 0j, v + 1j * STEP * d, tau + 0j)),
            "τ": (by_tau, fd.interpret(q + 0j, v + 0j, tau + 1j * STEP * d)),
        }
        for by, (matrix, step) in moved.items():
            expected = np.imag(step) / STEP
            scale = np.abs(matrix).max() * np.abs(d).max()
            np.testing.assert_allclose(matrix @ d, expected, atol=1e-11 * scale, err_msg=by)


def test_written_out_and_by_columns_are_the_same() -> None:
    m = arm()
    q, v, tau = state(SpatialTree(m), 4)
    ways = [spatial.forward_dynamics_derivatives(m, way) for way in ("columns", "written out")]
    for one, other in zip(*(f(q, v, tau) for f in ways), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12 * np.abs(other).max())
    with pytest.raises(ModelError, match="choose one of"):
        spatial.forward_dynamics_derivatives(m, "guessed")


def test_the_mass_matrix_of_a_deep_tree_is_that_of_unit_accelerations() -> None:
    m = random_tree(14, 8, CONSTANT, chain=True)
    tree = SpatialTree(m)
    forces = composite._composite_forces(tree)
    ways = [composite._met_on_the_way(tree, forces), composite._met_in_one_frame(tree, forces)]
    # the shorter one is taken
    assert size(tree, [composite.mass_matrix(tree)]) == min(size(tree, [M]) for M in ways)
    q, v, a = state(tree, 1)
    M = composite.mass_matrix_by_unit_accelerations(tree)
    *found, expected = values(tree, [*ways, M], q, v, a)
    for mine in found:
        np.testing.assert_allclose(mine, expected, atol=1e-13 * np.abs(expected).max())
