from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ShapeError
from biela.graph import Adjacency, adjacency, minimum_degree, symbolic_fill
from biela.graph.ordering import (
    compare_eliminations,
    deferred,
    multibody_order,
    nested_dissection,
    reverse_cuthill_mckee,
)
from tests.graph.multibody_graphs import Mechanism, chain, closed_chain, convoy, ladder, net, tree


def general(mechanism: Mechanism) -> dict[str, int]:
    """Operations of orders that know nothing of bodies, with multipliers behind their unknowns."""
    graph, late = mechanism.graph, mechanism.multipliers
    orders = {
        "minimum degree": minimum_degree(graph, late),
        "reverse Cuthill-McKee": deferred(graph, reverse_cuthill_mckee(graph), late),
        "nested dissection": deferred(graph, nested_dissection(graph), late),
    }
    return {name: symbolic_fill(graph, order).operations for name, order in orders.items()}


@pytest.mark.parametrize(
    ("mechanism", "at_most"),
    [
        (chain(100), 0.6),
        (tree(100), 0.5),
        (convoy(3), 0.3),
        (ladder(30), 0.95),
        (net(4, 20), 0.9),
        (net(8, 8), 0.95),
        (closed_chain(60), 1.0),
    ],
    ids=["chain", "tree", "vehicles", "ladder", "long net", "square net", "closed chain"],
)
def test_knowing_bodies_from_joints_saves_operations(mechanism: Mechanism, at_most: float) -> None:
    found = multibody_order(mechanism.graph, mechanism.bodies, mechanism.joints)
    assert sorted(found.order.tolist()) == list(range(mechanism.graph.size))
    assert found.cost.operations <= at_most * min(general(mechanism).values())


def test_a_hub_with_many_arms_does_not_join_them() -> None:
    hub = Mechanism(200, [(0, -1), *((k, 0) for k in range(1, 200))])
    found = multibody_order(hub.graph, hub.bodies, hub.joints)
    assert found.cost.operations < 1e-3 * min(general(hub).values())


def solved(K: np.ndarray, b: np.ndarray, order: np.ndarray) -> np.ndarray:
    """LDLᵀ without pivoting; pivots that are rounding of what was subtracted are dropped."""
    A = K[np.ix_(order, order)].copy()
    n = len(A)
    seen = np.abs(np.diag(A)).copy()
    L = np.eye(n)
    inverse = np.zeros(n)
    for k in range(n):
        if abs(A[k, k]) <= 1e-10 * seen[k]:
            continue
        inverse[k] = 1 / A[k, k]
        column = A[k + 1 :, k].copy()
        L[k + 1 :, k] = column * inverse[k]
        change = np.outer(column, column) * inverse[k]
        A[k + 1 :, k + 1 :] -= change
        seen[k + 1 :] += np.abs(np.diag(change))
    y = np.linalg.solve(L, b[order])
    x = np.empty(n)
    x[order] = np.linalg.solve(L.T, y * inverse)
    return x


@pytest.mark.parametrize("seed", range(8))
def test_loops_and_trees_are_solved_in_that_order_without_pivoting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(3, 14))
    joints = [(k, int(rng.integers(-1, k))) for k in range(bodies)]
    for _ in range(int(rng.integers(0, 4))):
        a, b = rng.permutation(bodies)[:2].tolist()
        joints.append((a, -1) if rng.random() < 0.3 else (a, b))
    mechanism = Mechanism(bodies, joints)
    K = mechanism.matrix(rng)
    n = 6 * bodies
    # accelerations that the constraints allow, and the forces that they need
    motion = rng.standard_normal(n)
    b = K @ np.concatenate([motion, rng.standard_normal(len(K) - n)])
    graph, late = mechanism.graph, mechanism.multipliers
    found = multibody_order(graph, mechanism.bodies, mechanism.joints)
    assert set(found.costs) >= {"late", "bridges", "tree"}
    for order in (minimum_degree(graph, late), found.order, mechanism.tree_order()):
        x = solved(K, b, order)
        np.testing.assert_allclose(x[:n], motion, atol=1e-7)


def test_redundant_loops_are_found_redundant_in_any_of_the_orders() -> None:
    # a planar four-bar of spatial revolutes: three rows too many
    mechanism = Mechanism(3, [(0, -1), (1, 0), (2, 1), (2, -1)])
    K = mechanism.matrix(np.random.default_rng(0), planar=True)
    n = 18
    assert np.linalg.matrix_rank(K) == len(K) - 3
    motion = np.linalg.svd(K[n:, :n])[2][-1]  # what the constraints leave free
    b = np.concatenate([K[:n, :n] @ motion, np.zeros(len(K) - n)])
    for order in (
        minimum_degree(mechanism.graph, mechanism.multipliers),
        multibody_order(mechanism.graph, mechanism.bodies, mechanism.joints).order,
        mechanism.tree_order(),
    ):
        np.testing.assert_allclose(solved(K, b, order)[:n], motion, atol=1e-9)


def test_all_orders_are_compared_and_the_multibody_one_is_the_cheapest() -> None:
    mechanism = convoy(2)
    reports = compare_eliminations(
        mechanism.graph, mechanism.multipliers, mechanism.bodies, mechanism.joints
    )
    names = [report.name for report in reports]
    assert names[0] == "natural" and names[-1] == "multibody" and len(names) == 7
    assert min(reports, key=lambda r: r.predicted).name == "multibody"
    for report in reports:
        assert report.cost == symbolic_fill(mechanism.graph, report.order)


def test_a_joint_on_three_bodies_is_taken_for_a_loop() -> None:
    graph = adjacency(4, [3, 3, 3], [0, 1, 2])
    found = multibody_order(graph, [0, 1, 2, -1], [-1, -1, -1, 0])
    assert found.order.tolist()[-1] == 3


def test_vertices_that_are_of_nothing_are_named() -> None:
    graph: Adjacency = adjacency(3, [0, 1], [1, 2])
    with pytest.raises(ShapeError, match="vertex 1 should be either"):
        multibody_order(graph, [0, -1, 1], [-1, -1, -1])
    with pytest.raises(ShapeError, match="2 bodies for 3 vertices"):
        multibody_order(graph, [0, 1], [-1, -1, -1])
    with pytest.raises(ShapeError, match="joint 0 has multipliers that act on no body"):
        multibody_order(adjacency(2, [], []), [0, -1], [-1, 0])
