"""The straight-line kernels of a front: factorise, carry a right-hand side in, and out again."""

from __future__ import annotations

from dataclasses import dataclass

from biela.atoms import Atom, Workspace, select
from biela.code import Function
from biela.solvers.fronts.analysis import Front

#: A multiplier's pivot below this part of what was summed up in it is rounding only.
DROP_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class FrontKernels:
    """The kernels of fronts that are alike.

    Attributes:
        factor: From the entries K and what children pass on (c0, c1, …) to the factors F (inverse
            pivots, then the columns of L) and what is passed on, C; ``dropped`` is 1 for each
            own multiplier that depends on others.
        inward: From the factors, the own right-hand side b and those passed on by children
            (h0, h1, …) to L⁻¹ b and what is passed on, h.
        outward: From the factors, L⁻¹ b and the solution in the border to the own solution x.
        both: `factor` and `inward` at once, for a single right-hand side, without ``dropped``.
        columns: For each own unknown the rows of its column of L.
    """

    factor: Function
    inward: Function
    outward: Function
    both: Function
    columns: tuple[tuple[int, ...], ...]

    @property
    def factors(self) -> int:
        """How many numbers F are."""
        return len(self.columns) + sum(len(rows) for rows in self.columns)


def front_kernels(front: Front, drop: float = DROP_TOLERANCE) -> FrontKernels:
    """The kernels of a kind of front."""
    there, _, _ = front.pattern
    columns = tuple(
        tuple(i for i in range(p + 1, front.size) if (i, p) in there) for p in range(front.own)
    )
    return FrontKernels(
        _factor(front, columns, drop, with_right=False),
        _inward(front, columns),
        _outward(front, columns),
        _factor(front, columns, drop, with_right=True),
        columns,
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
    for c, (pairs, magnitudes) in enumerate(front.children):
        brought = _symbols(ws, f"c{c}", len(pairs) + len(magnitudes))
        if brought:
            inputs[f"c{c}"] = brought
        for place, value in zip(pairs, brought, strict=False):
            rest[place] = rest[place] + value if place in rest else value
        for i, value in zip(magnitudes, brought[len(pairs) :], strict=True):
            size[i] = size[i] + value if i in size else value
    if with_right:
        right = _given_right(ws, front, inputs)
    inverse, L, dropped = [], [], []
    for p in range(front.own):
        pivot = rest.get((p, p), zero)
        if front.late[p]:
            # a nan is not dropped, to be seen in the result
            gone = abs(pivot) <= drop * size.get(p, zero)
            reciprocal = select(gone, 0, 1 / pivot) if pivot.ref else zero
            dropped.append(select(gone, 1, 0) if pivot.ref else ws.atom(1))
        else:
            reciprocal = 1 / pivot
        inverse.append(reciprocal)
        scaled = {i: rest[i, p] * reciprocal for i in columns[p]}
        for i in columns[p]:
            L.append(scaled[i])
            right[i] = right[i] - scaled[i] * right[p]
            for j in columns[p]:
                if j > i:
                    break
                change = scaled[i] * rest[j, p]
                old = rest.get((i, j))
                rest[i, j] = -change if old is None else old - change
                if i == j and front.late[i]:
                    size[i] = size[i] + abs(change) if i in size else abs(change)
    _, pairs, magnitudes = front.pattern
    outputs: dict[str, list[Atom]] = {"F": [*inverse, *L]}
    passed = [*(rest[place] for place in pairs), *(size[i] for i in magnitudes)]
    if passed:
        outputs["C"] = passed
    if with_right:
        outputs |= _right_outputs(front, right)
    elif dropped:
        outputs["dropped"] = dropped
    return Function("factor", inputs, outputs)


def _given_right(ws: Workspace, front: Front, inputs: dict[str, list[Atom]]) -> list[Atom]:
    """The right-hand side of a front: its own, and what children pass on."""
    inputs["b"] = _symbols(ws, "b", front.own)
    right = [*inputs["b"], *([ws.atom(0)] * (front.size - front.own))]
    for c, where in enumerate(front.borders):
        inputs[f"h{c}"] = _symbols(ws, f"h{c}", len(where))
        for i, value in zip(where, inputs[f"h{c}"], strict=True):
            right[i] = right[i] + value
    return right


def _right_outputs(front: Front, right: list[Atom]) -> dict[str, list[Atom]]:
    outputs = {"y": right[: front.own]}
    if front.size > front.own:
        outputs["h"] = right[front.own :]
    return outputs


def _inward(front: Front, columns: tuple[tuple[int, ...], ...]) -> Function:
    ws = Workspace("front")
    L = _given_factors(ws, columns)
    inputs = {"F": L}
    right = _given_right(ws, front, inputs)
    k = front.own
    for p, rows in enumerate(columns):
        for i in rows:
            right[i] = right[i] - L[k] * right[p]
            k += 1
    return Function("inward", inputs, _right_outputs(front, right))


def _outward(front: Front, columns: tuple[tuple[int, ...], ...]) -> Function:
    ws = Workspace("front")
    L = _given_factors(ws, columns)
    y = _symbols(ws, "y", front.own)
    inputs = {"F": L, "y": y}
    x = [*y, *_symbols(ws, "x", front.size - front.own)]
    if front.size > front.own:
        inputs["border"] = x[front.own :]
    k = len(L)
    for p in range(front.own - 1, -1, -1):
        rows = columns[p]
        k -= len(rows)
        value = y[p] * L[p]
        for at, i in enumerate(rows):
            value = value - L[k + at] * x[i]
        x[p] = value
    return Function("outward", inputs, {"x": x[: front.own]})


def _given_factors(ws: Workspace, columns: tuple[tuple[int, ...], ...]) -> list[Atom]:
    return _symbols(ws, "F", len(columns) + sum(len(rows) for rows in columns))
