"""Straight-line code for the elimination of one kind of front.

Fronts of a kind have the same shape, the same entries and the same children, and a repeated
structure has few kinds. For each kind that occurs often four functions are written as LLVM IR,
without a loop, a branch or a zero: factor a front (with one right-hand side), substitute forward
and back, and take its entries from the residual. With the columns k of the front before a and b,

    y_ab = a_ab - Σ y_ak l_bk,    l_ab = y_ab / d_b,    z_b = (b_b - Σ z_k d_k l_bk) / d_b

and the same for what is passed on. See `block_routines` for the loops that call them, and for the
general form that fronts of rare kinds go through; both do the same operations.
"""

from __future__ import annotations

from functools import cache

from biela.solvers.sparse.front_kind import COUNTED, EXTRA, NEAR, FrontKind
from biela.solvers.sparse.instructions import Instructions, load_functions

__all__ = ["compile_kinds"]


class _Body(Instructions):
    """Instructions of one function, with the list of a front at hand.

    The list is: panel, remainder, unknowns, sources of entries, remainders of children.
    """

    def __init__(self, kind: FrontKind) -> None:
        super().__init__()
        self.kind = kind
        self.sources = 2 + kind.m
        self.remainders = self.sources + len(kind.entries)
        self.panel = self.place("%W", self.number(0))

    def number(self, index: int) -> str:
        """Element of the list of this front, as a 64-bit integer."""
        value = self(f"load i32, ptr {self.place('%plan', index, 'i32')}, align 4")
        return self(f"sext i32 {value} to i64")

    def element(self, array: str, index: int) -> str:
        """Pointer to the element of an array whose number stands in the list."""
        return self.place(array, self.number(index))

    def factor(self, i: int, j: int) -> str:
        """Pointer to an element of L, or of D⁻¹."""
        return self.place(self.panel, self.kind.panel[i, j])


class _Factor(_Body):
    """`i64 factor(W, list, A, b, x, tolerance)`: dropped pivots, plus 2³² times the nearly dropped.

    `Y` and `L` are the values so far; row m is the right-hand side.
    """

    def __init__(self, kind: FrontKind) -> None:
        super().__init__(kind)
        self.Y: dict[tuple[int, int], str] = {}
        self.L: dict[tuple[int, int], str] = {}
        self.cancelled: dict[int, str] = {}
        self.small: list[tuple[str, int]] = []
        self.given: dict[tuple[int, int], list[int]] = {}
        for e, place in enumerate(kind.entries):
            self.given.setdefault(place, []).append(e)
        self.passed = [
            self.place("%W", self.number(self.remainders + c)) for c in range(len(kind.children))
        ]
        for columns in kind.pivots:
            self.column(columns)
        self.pass_on()

    def function(self, name: str) -> str:
        total = "0"
        for condition, weight in self.small:
            more = self(f"select i1 {condition}, i64 {weight}, i64 0")
            total = self(f"add i64 {total}, {more}")
        arrays = ", ".join(f"ptr noalias %{name}" for name in ("W", "plan", "A", "b", "x"))
        return self.text(f"i64 @{name}({arrays}, double %tolerance)", f"i64 {total}")

    def own(self, i: int, j: int) -> str | None:
        """Sum of the entries of the matrix at this place."""
        value: str | None = None
        for e in self.given.get((i, j), ()):
            value = self.plus(value, self.load(self.element("%A", self.sources + e)))
        return value

    def start(self, i: int, j: int, value: str | None) -> str | None:
        """Element (i, j) before elimination; i = m, m + 1, m + 2 are the extra rows."""
        m = self.kind.m
        for c, child in enumerate(self.kind.children):
            if j not in child.local or (i < m and i not in child.local):
                continue
            h, b = len(child.local), child.local.index(j)
            a = child.local.index(i) if i < m else h + i - m
            if child.masks[b] >> (a if i < m else b) & 1:
                pointer = self.place(self.passed[c], b * (h + EXTRA) + a)
                value = self.plus(value, self.load(pointer))
        return value

    def reduced(self, a: int, b: int) -> str | None:
        """Element (a, b) less what the columns before take from it."""
        if a < self.kind.m:
            value = self.own(a, b)
        elif b < self.kind.w:
            value = self.load(self.element("%b", 2 + b))
        else:
            value = None
        value = self.start(a, b, value)
        for k in range(min(b, self.kind.w)):
            if (a, k) in self.Y and (b, k) in self.L:
                value = self.minus_product(value, self.Y[a, k], self.L[b, k])
        return value

    def diagonal(self, b: int) -> tuple[str | None, str | None, str | None]:
        """The pivot of row b, or what is passed on of it, and its two sums of magnitudes."""
        own = self.own(b, b)
        size = None if own is None else self.magnitude(own)
        if not self.kind.roles[b] & COUNTED:
            value = self.start(b, b, own)
            for k in range(min(b, self.kind.w)):
                if (b, k) in self.Y and (b, k) in self.L:
                    value = self.minus_product(value, self.Y[b, k], self.L[b, k])
            return value, size, size
        value = self.start(b, b, own)
        m = self.kind.m
        c, e = self.start(m + 1, b, size), self.start(m + 2, b, size)
        for k in range(min(b, self.kind.w)):
            if (b, k) in self.Y and (b, k) in self.L:
                product = self.times(self.Y[b, k], self.L[b, k])
                value = self.minus(value, product)
                size = self.magnitude(product)
                c = self.plus(c, size)
                e = self.plus_product(e, size, self.cancelled[k])
        return value, c, e

    def column(self, columns: list[int]) -> None:
        kind, first = self.kind, columns[0]
        rows = [i for i in range(columns[-1] + 1, kind.m) if kind.masks[first] >> i & 1] + [kind.m]
        pivots = [[value or "0.0" for value in self.diagonal(j)] for j in columns]
        between = self.reduced(columns[-1], first) if len(columns) > 1 else None
        Y = {(i, j): self.reduced(i, j) for j in columns for i in rows}
        r = self.pair(first, pivots, between) if len(columns) > 1 else self.single(first, *pivots)
        for i in rows:
            for q, j in enumerate(columns):
                l: str | None = None
                for t, k in enumerate(columns):
                    y = Y[i, k]
                    if y is not None:
                        l = self.plus_product(l, y, r[max(q, t)][min(q, t)])
                assert l is not None
                self.store(l, self.element("%x", 2 + j) if i == kind.m else self.factor(i, j))
                self.L[i, j] = l
                self.Y[i, j] = Y[i, j] or "0.0"

    def single(self, j: int, pivot: list[str]) -> list[list[str]]:
        d, c, e = pivot
        size = self.magnitude(d)
        dropped = self.below(size, "%tolerance", e, True)
        r = self.choose(dropped, "0.0", self(f"fdiv double 1.0, {d}"))
        self.small += [(dropped, 1), (self.below(size, f"{NEAR:.17e}", e, False), 1 << 32)]
        self.cancelled[j] = self.times(c, self.magnitude(r))
        self.store(r, self.factor(j, j))
        self.judge(j, size, e)
        return [[r]]

    def judge(self, j: int, size: str, e: str) -> None:
        self.store(size, self.place(self.panel, 2 * j))
        self.store(e, self.place(self.panel, 2 * j + 1))

    def pair(self, j: int, pivots: list[list[str]], between: str | None) -> list[list[str]]:
        """Inverse of [[d0, f], [f, d1]]; where it is singular, of what is not zero of d0 and d1."""
        f = between or "0.0"
        (d0, _, e0), (d1, _, e1) = pivots
        product, square = self.times(d0, d1), self.times(f, f)
        det = self.minus(product, square)
        size = self.magnitude(det)
        total = self.plus(self.times(e0, e1), square)
        singular = self.below(size, "%tolerance", total, True)
        inverse = self(f"fdiv double 1.0, {det}")
        # each alone, the first if it can be
        zero0 = self.below(self.magnitude(d0), "%tolerance", e0, True)
        zero1 = self.below(self.magnitude(d1), "%tolerance", e1, True)
        gone1 = self(f"select i1 {zero0}, i1 {zero1}, i1 true")
        alone0 = self.choose(zero0, "0.0", self(f"fdiv double 1.0, {d0}"))
        alone1 = self.choose(gone1, "0.0", self(f"fdiv double 1.0, {d1}"))
        r0 = self.choose(singular, alone0, self.times(d1, inverse))
        r1 = self.choose(singular, alone1, self.times(d0, inverse))
        rf = self.choose(singular, "0.0", self(f"fneg double {self.times(f, inverse)}"))
        near = self.below(size, f"{NEAR:.17e}", total, False)
        self.small.append((near, 1 << 32))
        for column, gone, stored, scale in (
            (j, zero0, size, total),
            (j + 1, gone1, "1.0", "1.0"),
        ):
            self.small.append((self(f"and i1 {singular}, {gone}"), 1))
            judged = self.choose(singular, self.choose(gone, "0.0", "1.0"), stored)
            self.judge(column, judged, self.choose(singular, "1.0", scale))
        sizes = self.plus(self.magnitude(product), square)
        ratio = self.choose(singular, "1.0", self.magnitude(self.times(sizes, inverse)))
        self.cancelled[j] = self.cancelled[j + 1] = ratio
        for value, i, k in ((r0, j, j), (rf, j + 1, j), (r1, j + 1, j + 1)):
            self.store(value, self.factor(i, k))
        return [[r0], [rf, r1]]

    def pass_on(self) -> None:
        kind, w, h = self.kind, self.kind.w, self.kind.h
        if h == 0:
            return
        rest = self.place("%W", self.number(1))
        for b in range(h):
            there = kind.masks[w + b] >> (w + b) & 1
            value, c, e = self.diagonal(w + b) if there else (None, None, None)
            column: list[str | None] = [value]
            for a in range(b + 1, h):
                present = kind.masks[w + b] >> (w + a) & 1
                column.append(self.reduced(w + a, w + b) if present else None)
            column.append(self.reduced(kind.m, w + b) if there else None)
            column += [c, e] if kind.roles[w + b] & COUNTED else [None, None]
            for a, value in enumerate(column, b):
                self.store(value or "0.0", self.place(rest, b * (h + EXTRA) + a))


def _substitution(kind: FrontKind, forward: bool, name: str) -> str:
    """`void f(W, list, x)`: x ← D⁻¹ L⁻¹ x for this front, or x ← L⁻ᵀ x."""
    body = _Body(kind)
    used = [i for i in range(kind.m) if i < kind.w or any(m >> i & 1 for m in kind.masks[: kind.w])]
    pointers = {i: body.element("%x", 2 + i) for i in used}
    x = {i: body.load(pointers[i]) for i in used}

    def L(i: int, j: int) -> str:
        return body.load(body.factor(i, j))

    for columns in kind.pivots if forward else reversed(kind.pivots):
        rows = [i for i in range(columns[-1] + 1, kind.m) if kind.masks[columns[0]] >> i & 1]
        if not forward:
            # the rows whose unknowns are known longest come first
            for j in columns:
                for i in reversed(rows):
                    x[j] = body.minus_product(x[j], L(i, j), x[i])
            continue
        for i in rows:
            for j in columns:
                x[i] = body.minus_product(x[i], L(i, j), x[j])
        scaled: list[str] = []
        for q in columns:
            value: str | None = None
            for t in columns:
                value = body.plus_product(value, L(max(q, t), min(q, t)), x[t])
            assert value is not None
            scaled.append(value)
        x.update(zip(columns, scaled, strict=True))
    for i in used if forward else range(kind.w):
        body.store(x[i], pointers[i])
    return body.text(f"void @{name}(ptr noalias %W, ptr noalias %plan, ptr noalias %x)", "void")


def _residual(kind: FrontKind, name: str) -> str:
    """`i64 f(W, list, A, x, r, unused)`: r ← r - K x for the entries of this front.

    Its own rows are then complete; returned are the bits of their largest magnitude. As integers
    the bits of magnitudes are in order, and those of a nan above all.
    """
    body = _Body(kind)
    used = sorted({i for place in kind.entries for i in place} | set(range(kind.w)))
    pointers = {i: body.number(2 + i) for i in used}
    x = {i: body.load(body.place("%x", pointers[i])) for i in used}
    r = {i: body.load(body.place("%r", pointers[i])) for i in used}
    for e, (i, j) in enumerate(kind.entries):
        value = body.load(body.element("%A", body.sources + e))
        r[i] = body.minus_product(r[i], value, x[j])
        if i != j:
            r[j] = body.minus_product(r[j], value, x[i])
    largest = "0"
    for i in used:
        body.store(r[i], body.place("%r", pointers[i]))
        if i < kind.w:
            bits = body(f"bitcast double {body.magnitude(r[i])} to i64")
            more = body(f"icmp sgt i64 {bits}, {largest}")
            largest = body(f"select i1 {more}, i64 {bits}, i64 {largest}")
    arrays = ", ".join(f"ptr noalias %{name}" for name in ("W", "plan", "A", "x", "r"))
    return body.text(f"i64 @{name}({arrays}, double %unused)", f"i64 {largest}")


@cache
def compile_kinds(kinds: tuple[FrontKind, ...]) -> tuple[object, tuple[int, ...]]:
    """Compile the four functions of each kind; return what keeps them alive, and addresses."""
    if not kinds:
        return None, ()
    parts: dict[str, str] = {}
    for k, kind in enumerate(kinds):
        parts[f"factor{k}"] = _Factor(kind).function(f"factor{k}")
        parts[f"forward{k}"] = _substitution(kind, True, f"forward{k}")
        parts[f"back{k}"] = _substitution(kind, False, f"back{k}")
        parts[f"residual{k}"] = _residual(kind, f"residual{k}")
    return load_functions(parts)
