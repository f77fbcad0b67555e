"""Orderings of multibody systems: bodies told from joints, against minimum degree and others.

The general orders have each multiplier moved behind the unknowns it acts on, as elimination without
pivoting needs.  Mechanisms are rigid bodies in space, six unknowns each; chains and trees on
revolute joints (five rows), those with many loops on ball joints (three), so that few rows are
redundant.  Operations are counted, and the factorisation itself is timed with both orders.  Rows of
pins are anchored in the places of the centres of mass; in natural coordinates nothing is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.four_bars import natural, pins, reference_point
from benchmarks.report import Row, against, below
from benchmarks.timing import fastest, python_burst
from biela.graph import (
    Pattern,
    adjacency,
    elimination_tree,
    factor_pattern,
    postorder,
    renumbered,
    symbolic_fill,
    update_targets,
)
from biela.graph.ordering import (
    deferred,
    minimum_degree,
    multibody_order,
    nested_dissection,
    rb3,
    reverse_cuthill_mckee,
)
from biela.solvers import SparseLDLT, SymmetricPattern


def run(quick: bool) -> Iterator[Row]:
    size = 300 if quick else 3000
    for name, (bodies, pairs) in mechanisms(size).items():
        rows = 5 if name in ("chain", "closed chain", "random tree") else 3
        yield from compare(name, bodies, pairs, rows, quick)
    yield from natural_chain(size)
    yield from large_patterns(quick)


def mechanisms(size: int) -> dict[str, tuple[int, list[tuple[int, int]]]]:
    """Numbers of bodies, and the two bodies of each joint, -1 for the ground."""
    rng = np.random.default_rng(0)
    k = np.arange(4 * (size // 4)).reshape(4, -1)
    side = int(size**0.5)
    g = np.arange(side * side).reshape(side, side)
    rails = size // 3
    ladder = [(0, -1), (rails, -1)]
    for r in range(1, rails):
        ladder += [(r, r - 1), (rails + r, rails + r - 1)]
    for r in range(rails):
        ladder += [(2 * rails + r, r), (2 * rails + r, rails + r)]
    loops = size // 2
    return {
        "chain": (size, [(b, b - 1) for b in range(size)]),
        "closed chain": (size, [*((b, b - 1) for b in range(size)), (size - 1, -1)]),
        "random tree": (size, [(b, int(rng.integers(0, b)) if b else -1) for b in range(size)]),
        "vehicles in a row": vehicles(size // 21),
        "ladder": (3 * rails, ladder),
        "net, 4 wide": (k.size, [(0, -1), *joined(k)]),
        "square net": (g.size, [(0, -1), *joined(g)]),
        "four-bars side by side": (
            2 * loops + 1,
            [(a, b) for a, b, _, _ in pins(loops)],
        ),
    }


def joined(k: np.ndarray) -> list[tuple[int, int]]:
    along = zip(k[:, :-1].ravel().tolist(), k[:, 1:].ravel().tolist(), strict=True)
    across = zip(k[:-1].ravel().tolist(), k[1:].ravel().tolist(), strict=True)
    return [*along, *across]


def vehicles(count: int) -> tuple[int, list[tuple[int, int]]]:
    """Chassis in a row, four carriers on three links each, and their wheels."""
    pairs: list[tuple[int, int]] = []
    bodies, before = 0, -1
    for _ in range(count):
        chassis = bodies
        pairs.append((chassis, before))
        before = chassis
        bodies += 1
        for _ in range(4):
            for link in range(bodies + 1, bodies + 4):
                pairs += [(link, chassis), (link, bodies)]
            pairs.append((bodies + 4, bodies))
            bodies += 5
    return bodies, pairs


def saddle(
    bodies: int, pairs: list[tuple[int, int]], rows: int
) -> tuple[SymmetricPattern, np.ndarray, np.ndarray, np.ndarray]:
    """Pattern and values with random dimensions; the body and the joint of each vertex."""
    rng = np.random.default_rng(1)
    n = 6 * bodies
    i, j, x = [], [], []

    def add(row: int, column: int, value: float) -> None:
        i.append(row)
        j.append(column)
        x.append(value)

    centres = rng.standard_normal((bodies, 3))
    for b in range(bodies):
        root = rng.standard_normal((3, 3))
        inertia = root @ root.T + np.eye(3)
        for r in range(3):
            add(6 * b + r, 6 * b + r, 1.0)
            for c in range(r + 1):
                add(6 * b + 3 + r, 6 * b + 3 + c, inertia[r, c])
    for k, pair in enumerate(pairs):
        pin, axes = rng.standard_normal(3), rng.standard_normal((2, 3))
        row = n + rows * k
        for body, sign in zip(pair, (1.0, -1.0), strict=True):
            if body < 0:
                continue
            a, b, c = sign * (pin - centres[body])
            turning = [[0, c, -b], [-c, 0, a], [b, -a, 0]]
            for r in range(3):
                add(row + r, 6 * body + r, sign)
                for d in range(3):
                    if d != r:
                        add(row + r, 6 * body + 3 + d, turning[r][d])
            for r in range(rows - 3):
                for d in range(3):
                    add(row + 3 + r, 6 * body + 3 + d, sign * axes[r, d])
    size = n + rows * len(pairs)
    pattern = SymmetricPattern(size, np.array(i), np.array(j))
    owner = np.repeat([*range(bodies), -1], [6] * bodies + [size - n])
    joint = np.repeat([-1, *range(len(pairs))], [n] + [rows] * len(pairs))
    return pattern, np.array(x), owner, joint


class OrderedLDLT(SparseLDLT):
    """The same factorisation in an order that is given."""

    def __init__(self, pattern: SymmetricPattern, late: np.ndarray, order: np.ndarray) -> None:
        super().__init__(pattern, late)
        graph = adjacency(pattern.size, pattern.rows, pattern.columns)
        order = order[postorder(elimination_tree(renumbered(graph, order)))]
        new = renumbered(graph, order)
        L = factor_pattern(new, elimination_tree(new))
        self.order, self.start, self.rows = order, L.start, L.rows
        self.targets = update_targets(L) + pattern.size
        self.scatter = self._places()
        self._LD = np.zeros(pattern.size + L.fill)

    def eliminate(self) -> int:
        """One elimination of what was factored last: `factor` may need more to find the rank."""
        return self._eliminate(self.tolerance)


def compare(
    name: str, bodies: int, pairs: list[tuple[int, int]], rows: int, quick: bool
) -> Iterator[Row]:
    pattern, values, owner, joint = saddle(bodies, pairs, rows)
    graph = adjacency(pattern.size, pattern.rows, pattern.columns)
    late = np.flatnonzero(joint >= 0)
    anchored = (pattern.rows >= 6 * bodies) & (pattern.columns % 6 < 3)
    anchors = np.stack([pattern.rows[anchored], pattern.columns[anchored]], axis=1)
    multibody_order(graph, owner, joint, anchors)  # compiles, if nothing has yet
    start = time.perf_counter()
    ours = multibody_order(graph, owner, joint, anchors)
    seconds = time.perf_counter() - start
    peers = {
        "AMD": minimum_degree(graph, late),
        "RCM": deferred(graph, reverse_cuthill_mckee(graph), late),
        "ND": deferred(graph, nested_dissection(graph), late),
    }
    costs = {key: symbolic_fill(graph, order).operations for key, order in peers.items()}
    best = min(costs, key=lambda key: costs[key])
    others = ", ".join(f"{key} {cost:.3g}" for key, cost in costs.items())
    measured = f"{ours.cost.operations:.3g} ({ours.strategy}, {seconds * 1e3:.3g} ms), {others}"
    title = f"{name}, {bodies:,} bodies"
    yield against(f"{title}: operations", ours.cost.operations, costs[best], 1.0, measured)

    first, second = OrderedLDLT(pattern, late, ours.order), OrderedLDLT(pattern, late, peers[best])
    # a motion and multipliers that are known: what is asked for is the motion
    known = np.random.default_rng(2).standard_normal(pattern.size)
    b = np.bincount(pattern.rows, values * known[pattern.columns], pattern.size)
    off = pattern.rows != pattern.columns
    b += np.bincount(pattern.columns[off], values[off] * known[pattern.rows[off]], pattern.size)
    for solver in (first, second):
        rank = solver.factor(values)
        error = np.abs(solver.solve(b) - known)[: 6 * bodies].max()
        if not error < 1e-4:
            raise WrongResultError(f"{name}: the motion is off by {error:.1e}, rank {rank}")
    times = fastest(
        {
            "ours": python_burst(first.eliminate),
            "peer": python_burst(second.eliminate),
        },
        0.4 if quick else 2.0,
    )
    us, peer = times["ours"] * 1e3, times["peer"] * 1e3
    measured = f"{us:.3g} ms, {best} {peer:.3g} ms"
    yield Row(f"{title}: factorisation", measured, ratio=us / peer)


def natural_chain(size: int) -> Iterator[Row]:
    """Four-bars in natural coordinates: points for bodies, rods for joints."""
    for name, K, per_body in (
        ("natural", natural(size, 0.7), 2),
        ("reference-point", reference_point(size, 0.7), 3),
    ):
        n = K.unknowns
        graph = adjacency(K.pattern.size, K.pattern.rows, K.pattern.columns)
        rows = K.pattern.size - n
        owner = np.concatenate([np.arange(n) // per_body, np.full(rows, -1)])
        per_joint = 1 if per_body == 2 else 2
        joint = np.concatenate([np.full(n, -1), np.arange(rows) // per_joint])
        anchored = (K.pattern.rows >= n) & (K.pattern.columns % 3 < 2) & (per_body == 3)
        anchors = np.stack([K.pattern.rows[anchored], K.pattern.columns[anchored]], axis=1)
        ours = multibody_order(graph, owner, joint, anchors)
        peer = symbolic_fill(graph, minimum_degree(graph, K.multipliers)).operations
        measured = f"{ours.cost.operations:.3g} ({ours.strategy}), AMD {peer:.3g}"
        title = f"{size:,} planar four-bars, {name}: operations"
        yield against(title, ours.cost.operations, peer, 1.0, measured)


def large_patterns(quick: bool) -> Iterator[Row]:
    """Time of RB3 on tethers in natural coordinates: blocks of three along a chain."""
    for bodies in (160, 1600) if quick else (160, 1600, 16_000):
        rows: list[set[int]] = []
        for k in range(bodies):
            before = set(range(9 * k - 9, 9 * k)) if k else set()
            p, a, b = (set(range(9 * k + 3 * c, 9 * k + 3 * c + 3)) for c in range(3))
            q = {c for c in before if c < 9 * k - 6}
            rows += [
                p | q,
                p | q | a,
                p | q | b,
                a | b,
                a,
                b,
                p | before,
                p | before,
                p | a | before,
            ]
        pattern = Pattern.of_rows(rows, 9 * bodies)
        start = time.perf_counter()
        form = rb3(pattern)
        seconds = time.perf_counter() - start
        if form.orders != {3: 3 * bodies} or form.border:
            raise WrongResultError(f"a tether of {bodies} bodies has blocks {form.orders}")
        per_column = seconds / pattern.columns * 1e6
        title = f"RB3 on {pattern.columns:,} columns, a column"
        yield below(title, per_column, 200.0, "µs", f", {seconds:.3g} s in all")
