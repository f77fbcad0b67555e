"""The straight-line kernels of a front: factorise, carry a right-hand side in, and out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biela.atoms import Atom, Workspace, select
from biela.atoms.ranked_elimination import RankedElimination
from biela.code import Function
from biela.solvers.fronts.analysis import Front

#: A multiplier's pivot below this part of what was summed up in it is rounding only.
DROP_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class FrontKernels:
    """The kernels of fronts that are alike.

    Attributes:
        factor: From the entries K and what children pass on (c0, c1, …) to the factors F (inverse
            pivots, what pairs have off their diagonals, then the columns of L) and what is passed
            on, C; ``dropped`` is 1 for each
            own multiplier that depends on others.
        inward: From the factors, the own right-hand side b and those passed on by children
            (h0, h1, …) to L⁻¹ b and what is passed on, h.
        outward: From the factors, L⁻¹ b and the solution in the border to the own solution x.
        inward_twice: `inward` for two right-hand sides, the arrays of the second marked by "_2";
            likewise `outward_twice`.
        both: `factor` and `inward` at once, for a single right-hand side, without ``dropped``.
        columns: For each own unknown the rows of its column of L.
    """

    factor: Function
    inward: Function
    outward: Function
    inward_twice: Function
    outward_twice: Function
    both: Function
    columns: tuple[tuple[int, ...], ...]
    pairs: int

    @property
    def factors(self) -> int:
        """How many numbers F are."""
        return len(self.columns) + self.pairs + sum(len(rows) for rows in self.columns)


def front_kernels(front: Front, drop: float = DROP_TOLERANCE) -> FrontKernels:
    """The kernels of a kind of front."""
    there, _, _ = front.pattern
    columns = tuple(
        tuple(i for i in range(pivot[-1] + 1, front.size) if (i, p) in there)
        for pivot in front.pivots
        for p in pivot
    )
    return FrontKernels(
        _factor(front, columns, drop, with_right=False),
        _inward(front, columns, ("",)),
        _outward(front, columns, ("",)),
        _inward(front, columns, ("", "_2")),
        _outward(front, columns, ("", "_2")),
        _factor(front, columns, drop, with_right=True),
        columns,
        len(front.pairs),
    )


def _symbols(ws: Workspace, name: str, count: int) -> list[Atom]:
    return [ws.parameter(f"{name}_{k}") for k in range(count)]


def _factor(
    front: Front, columns: tuple[tuple[int, ...], ...], drop: float, with_right: bool
) -> Function:
    ws = Workspace("front")
    zero = ws.atom(0)
    rest: dict[tuple[int, int], Atom] = {}
    size: dict[int, Atom] = {}
    inputs: dict[str, list[Atom]] = {}
    if front.entries:
        inputs["K"] = _symbols(ws, "K", len(front.entries))
    for place, value in zip(front.entries, inputs.get("K", ()), strict=True):
        rest[place] = rest[place] + value if place in rest else value
    for i in range(front.size):
        if front.late[i] and (i, i) in rest:
            size[i] = abs(rest[i, i])
    right = [zero] * front.size
    for k, (pairs, magnitudes) in enumerate(front.children):
        brought = _symbols(ws, f"c{k}", len(pairs) + len(magnitudes))
        if brought:
            inputs[f"c{k}"] = brought
        for place, value in zip(pairs, brought, strict=False):
            rest[place] = rest[place] + value if place in rest else value
        for i, value in zip(magnitudes, brought[len(pairs) :], strict=True):
            size[i] = size[i] + value if i in size else value
    if with_right:
        right = _given_right(ws, front, inputs, "")
    inverse: list[Atom] = []
    across: list[Atom] = []
    L: list[Atom] = []
    dropped: list[Atom] = []
    sets = {places[0]: (places, rank) for places, rank in front.ranked}
    kept: dict[int, Atom] = {}
    for pivot in front.pivots:
        below = columns[pivot[0]]
        if len(pivot) == 2:
            p, q = pivot
            a, b, c = (rest.get(at, zero) for at in ((p, p), (q, p), (q, q)))
            over = 1 / (a * c - b * b)
            D = [[c * over, -b * over], [-b * over, a * over]]
            across.append(D[1][0])
            dropped += [zero] * (front.late[p] + front.late[q])
        else:
            (p,) = pivot
            if p in sets:
                kept |= _kept(rest, size, *sets[p], drop, ws)
            if p in kept:
                reciprocal = select(kept[p] > 0.5, 1 / rest.get((p, p), ws.atom(1)), 0)
                gone = [1 - kept[p]]
            else:
                reciprocal, gone = _reciprocal(
                    rest.get((p, p), zero), size.get(p, zero), front, p, drop
                )
            D = [[reciprocal]]
            dropped += gone
        inverse += [D[k][k] for k in range(len(pivot))]
        y = {i: [rest.get((i, p), zero) for p in pivot] for i in below}
        l = {i: [_dot(row, y[i]) for row in D] for i in below}
        for k in range(len(pivot)):
            L += [l[i][k] for i in below]
        for i in below:
            right[i] = right[i] - _dot(l[i], [right[p] for p in pivot])
            for j in below:
                if j > i:
                    break
                change = _dot(l[i], y[j])
                old = rest.get((i, j))
                rest[i, j] = -change if old is None else old - change
                if i == j and front.late[i]:
                    size[i] = size[i] + abs(change) if i in size else abs(change)
    _, pairs, magnitudes = front.pattern
    outputs: dict[str, list[Atom]] = {"F": [*inverse, *across, *L]}
    passed = [*(rest[place] for place in pairs), *(size[i] for i in magnitudes)]
    if passed:
        outputs["C"] = passed
    if with_right:
        outputs |= _right_outputs(front, right, "")
    elif dropped:
        outputs["dropped"] = dropped
    return Function("factor", inputs, outputs)


def _reciprocal(
    pivot: Atom, size: Atom, front: Front, p: int, drop: float
) -> tuple[Atom, list[Atom]]:
    """The inverse of a pivot, 0 if it is dropped; and, of a multiplier, whether it is."""
    one, zero = pivot.workspace.atom(1), pivot.workspace.atom(0)
    if not front.late[p]:
        return 1 / pivot, []
    if not pivot.ref:
        return zero, [one]
    # a nan is not dropped, to be seen in the result
    gone = abs(pivot) <= drop * size
    return select(gone, 0, 1 / pivot), [select(gone, 1, 0)]


def _kept(
    rest: Mapping[tuple[int, int], Atom],
    size: Mapping[int, Atom],
    places: Sequence[int],
    rank: int,
    drop: float,
    ws: Workspace,
) -> dict[int, Atom]:
    """Which multipliers of a set of known rank count, 1 or 0: those with the largest pivots.

    Pivots are measured by what was summed up in them.  The matrix of those that count is definite:
    they may then be eliminated in any order.
    """
    own = set(places)
    S = {(i, j): entry for (i, j), entry in rest.items() if i in own and j in own}
    there = {p: size[p] for p in places if p in size}
    weights = {p: select(size > 0, 1 / size, 0) for p, size in there.items()}
    floors = {p: drop * size for p, size in there.items()}
    zero = dict.fromkeys(own - there.keys(), ws.atom(0))
    return RankedElimination(S, [(places, rank, weights | zero)], floors, ws.atom(1)).kept


def _dot(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def _given_right(
    ws: Workspace, front: Front, inputs: dict[str, list[Atom]], side: str
) -> list[Atom]:
    """The right-hand side of a front: its own, and what children pass on."""
    own = inputs[f"b{side}"] = _symbols(ws, f"b{side}", front.own)
    right = [*own, *([ws.atom(0)] * (front.size - front.own))]
    for c, where in enumerate(front.borders):
        brought = inputs[f"h{c}{side}"] = _symbols(ws, f"h{c}{side}", len(where))
        for i, value in zip(where, brought, strict=True):
            right[i] = right[i] + value
    return right


def _right_outputs(front: Front, right: list[Atom], side: str) -> dict[str, list[Atom]]:
    outputs = {f"y{side}": right[: front.own]}
    if front.size > front.own:
        outputs[f"h{side}"] = right[front.own :]
    return outputs


def _inward(front: Front, columns: tuple[tuple[int, ...], ...], sides: tuple[str, ...]) -> Function:
    ws = Workspace("front")
    F = _given_factors(ws, front, columns)
    inputs: dict[str, list[Atom]] = {"F": F}
    outputs: dict[str, list[Atom]] = {}
    L = _columns(front, columns, F)
    for side in sides:
        right = _given_right(ws, front, inputs, side)
        for pivot in front.pivots:
            for i in columns[pivot[0]]:
                right[i] = right[i] - _dot([L[p][i] for p in pivot], [right[p] for p in pivot])
        outputs |= _right_outputs(front, right, side)
    return Function("inward", inputs, outputs)


def _outward(
    front: Front, columns: tuple[tuple[int, ...], ...], sides: tuple[str, ...]
) -> Function:
    ws = Workspace("front")
    F = _given_factors(ws, front, columns)
    inputs: dict[str, list[Atom]] = {"F": F}
    outputs: dict[str, list[Atom]] = {}
    L = _columns(front, columns, F)
    across = dict(zip(front.pairs, F[front.own :], strict=False))
    for side in sides:
        y = inputs[f"y{side}"] = _symbols(ws, f"y{side}", front.own)
        x = [*y, *_symbols(ws, f"x{side}", front.size - front.own)]
        if front.size > front.own:
            inputs[f"border{side}"] = x[front.own :]
        for pivot in reversed(front.pivots):
            found = []
            for p in pivot:
                value = F[p] * y[p]
                for q in pivot:
                    if q != p:
                        value = value + across[min(p, q)] * y[q]
                for i in columns[p]:
                    value = value - L[p][i] * x[i]
                found.append(value)
            for p, value in zip(pivot, found, strict=True):
                x[p] = value
        outputs[f"x{side}"] = x[: front.own]
    return Function("outward", inputs, outputs)


def _given_factors(ws: Workspace, front: Front, columns: tuple[tuple[int, ...], ...]) -> list[Atom]:
    return _symbols(ws, "F", front.own + len(front.pairs) + sum(len(rows) for rows in columns))


def _columns(
    front: Front, columns: tuple[tuple[int, ...], ...], F: list[Atom]
) -> list[dict[int, Atom]]:
    """The columns of L, by rows."""
    k, found = front.own + len(front.pairs), []
    for rows in columns:
        found.append(dict(zip(rows, F[k : k + len(rows)], strict=True)))
        k += len(rows)
    return found
