"""Rows that follow one unknown alone: as cheap as promised, and right without pivoting."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ShapeError
from biela.graph import adjacency, symbolic_fill
from biela.graph.ordering import multibody_order
from biela.graph.ordering.anchored_rows import AnchoredRows
from biela.graph.ordering.multibody import _Topology
from tests.graph.multibody_graphs import ROWS, Mechanism, chain, closed_chain
from tests.graph.test_multibody_order import general, solved


def anchors(mechanism: Mechanism) -> np.ndarray:
    """The ±1 of the three rows of each pin, by the place of each of its bodies."""
    found = [
        (6 * mechanism.count + ROWS * k + i, 6 * body + i)
        for k, pair in enumerate(mechanism.pairs)
        for body in pair
        if body >= 0
        for i in range(3)
    ]
    return np.array(found)


def four_bars(loops: int) -> Mechanism:
    """Cranks on the ground, side by side, and couplers between them."""
    cranks = [(k, -1) for k in range(loops + 1)]
    couplers = [(loops + 1 + k, k + side) for k in range(loops) for side in (0, 1)]
    return Mechanism(2 * loops + 1, [*cranks, *couplers])


def all_orders(mechanism: Mechanism) -> dict[str, np.ndarray]:
    graph, bodies, joints = mechanism.graph, mechanism.bodies, mechanism.joints
    topology = _Topology(graph, bodies, joints)
    held = AnchoredRows(graph, bodies, joints, anchors(mechanism))
    found = {}
    for name, tree in (("tree", topology.tree), ("trunk", topology.trunk_tree())):
        waits = topology.loop_waits(tree)
        assert waits is not None
        more = held.orders(tree.child, waits)
        found |= {f"{name}, {way}": order for way, order in more.items()}
    return found


@pytest.mark.parametrize(
    ("mechanism", "at_most", "strategies"),
    [
        (four_bars(40), 0.8, {"tree, pairs", "tree, pins"}),
        (closed_chain(60), 0.8, {"tree, pins", "trunk, pins", "trunk, pairs"}),
        (chain(60), 0.6, {"bridges", "tree", "trunk"}),
    ],
    ids=["four-bars", "closed chain", "chain"],
)
def test_places_that_follow_from_angles_save_operations_in_loops(
    mechanism: Mechanism, at_most: float, strategies: set[str]
) -> None:
    graph = mechanism.graph
    found = multibody_order(graph, mechanism.bodies, mechanism.joints, anchors(mechanism))
    assert sorted(found.order.tolist()) == list(range(graph.size))
    assert found.strategy in strategies
    assert found.cost == symbolic_fill(graph, found.order)
    assert found.cost.operations <= at_most * min(general(mechanism).values())


@pytest.mark.parametrize("seed", range(12))
def test_any_of_the_orders_is_solved_without_pivoting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(3, 12))
    joints = [(k, int(rng.integers(-1, k))) for k in range(bodies)]
    for _ in range(int(rng.integers(0, 4))):
        a, b = rng.permutation(bodies)[:2].tolist()
        joints.append((a, -1) if rng.random() < 0.3 else (a, b))
    mechanism = Mechanism(bodies, joints)
    K, n = mechanism.matrix(rng), 6 * bodies
    motion = rng.standard_normal(n)
    b = K @ np.concatenate([motion, rng.standard_normal(len(K) - n)])
    for name, order in all_orders(mechanism).items():
        assert sorted(order.tolist()) == list(range(len(K)))
        np.testing.assert_allclose(solved(K, b, order)[:n], motion, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("loops", [1, 3])
def test_redundant_rows_are_found_redundant_in_any_of_the_orders(loops: int) -> None:
    # planar loops of spatial revolutes: three rows too many in each
    mechanism = four_bars(loops)
    K = mechanism.matrix(np.random.default_rng(loops), planar=True)
    n = 6 * mechanism.count
    assert np.linalg.matrix_rank(K) == len(K) - 3 * loops
    motion = np.linalg.svd(K[n:, :n])[2][-1]  # what the constraints leave free
    b = np.concatenate([K[:n, :n] @ motion, np.zeros(len(K) - n)])
    for name, order in all_orders(mechanism).items():
        np.testing.assert_allclose(solved(K, b, order)[:n], motion, atol=1e-9, err_msg=name)


def test_an_unknown_on_which_two_rows_of_a_joint_act_is_no_anchor() -> None:
    # rows 2 and 3 of one joint both act on unknown 0, row 3 alone on unknown 1
    graph = adjacency(4, [2, 3, 3], [0, 0, 1])
    bodies, joints = np.array([0, 0, -1, -1]), np.array([-1, -1, 0, 0])
    held = AnchoredRows(graph, bodies, joints, [(2, 0), (3, 1)])
    assert held.of(np.array([2, 3]), np.array([0])).tolist() == [-1, 1]


def test_what_is_no_entry_is_refused_as_an_anchor() -> None:
    mechanism = chain(2)
    for wrong in ([(0, 12)], [(12, 1)], [(12, 99)]):
        with pytest.raises(ShapeError, match="is no entry of a row by an unknown"):
            multibody_order(mechanism.graph, mechanism.bodies, mechanism.joints, wrong)
