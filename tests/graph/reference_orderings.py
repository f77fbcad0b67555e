"""P3, P5 and RB3 written with plain sets, as slowly and as literally as they are described."""

from __future__ import annotations

from itertools import combinations


def p5_reference(rows, columns):
    A = {i: set(r) for i, r in enumerate(rows)}
    free = set(range(columns))
    blocks, border, band = [], [], []
    while A:
        empty = sorted(i for i in A if not A[i])
        if empty:
            band += empty
            for i in empty:
                del A[i]
            continue
        m = min(map(len, A.values()))
        T = {i: set(r) for i, r in A.items()}
        chosen = []
        for k in range(m, 0, -1):
            tally = {}
            for i in T:
                if len(T[i]) == k:
                    for c in T[i]:
                        tally[c] = tally.get(c, 0) + 1
            c = min(tally, key=lambda c: (-tally[c], -sum(c in r for r in T.values()), c))
            chosen.append(c)
            for r in T.values():
                r.discard(c)
        emptied = sorted(i for i in A if not T[i])
        s = min(len(emptied), m)
        blocks.append((tuple(emptied[:s]), tuple(chosen[m - s :])))
        border += chosen[: m - s]
        band += emptied[s:]
        for i in emptied:
            del A[i]
        for c in chosen:
            free.discard(c)
            for r in A.values():
                r.discard(c)
    return tuple(blocks), tuple(border + sorted(free)), tuple(band)


def p3_reference(rows, columns):
    """The columns of P5; a row that has none left takes the last spike that reaches it.

    Which spikes reach it is seen by eliminating it with all pivots before, entry by entry.
    """
    A = {i: set(r) for i, r in enumerate(rows)}
    free = set(range(columns))
    stack, band, pivots = [], [], []  # pivots: row, column and what elimination made of the row

    def eliminated(i):
        row = set(rows[i])
        for _, c, above in pivots:
            if c in row:
                row |= above
        return row - {c for _, c, _ in pivots}

    def place(i, c):
        pivots.append((i, c, eliminated(i)))

    while A:
        empty = sorted(i for i in A if not A[i])
        chosen = []
        if not empty:
            m = min(map(len, A.values()))
            T = {i: set(r) for i, r in A.items()}
            for k in range(m, 0, -1):
                tally = {}
                for i in T:
                    if len(T[i]) == k:
                        for c in T[i]:
                            tally[c] = tally.get(c, 0) + 1
                c = min(tally, key=lambda c: (-tally[c], -sum(c in r for r in T.values()), c))
                chosen.append(c)
                for r in T.values():
                    r.discard(c)
            empty = sorted(i for i in A if not T[i])
        s = min(len(empty), len(chosen))
        spikes = chosen[: len(chosen) - s]
        stack += spikes
        for i, c in zip(empty[:s], chosen[len(chosen) - s :], strict=True):
            place(i, c)
        for i in empty[s:]:
            reaching = [c for c in reversed(stack) if c in eliminated(i)]
            if reaching:
                stack.remove(reaching[0])
                place(i, reaching[0])
            else:
                band.append(i)
        for i in empty:
            del A[i]
        for c in chosen:
            free.discard(c)
            for r in A.values():
                r.discard(c)
    return [(i, c) for i, c, _ in pivots], tuple(stack + sorted(free)), tuple(band)


def rb3_reference(rows, columns, relative=(), closures=(), constant=()):
    A = {i: set(r) for i, r in enumerate(rows)}
    C = {c: {i for i in A if c in A[i]} for c in range(columns)}
    blocks, border, band = [], [], []

    def key(i):
        return (i not in constant, len(rows[i]), i)

    def drop_row(i):
        for c in A.pop(i):
            C[c].discard(i)

    def drop_column(c):
        for i in C.pop(c):
            A[i].discard(c)

    def front(R, K):
        blocks.append((tuple(R), tuple(K)))
        for i in R:
            drop_row(i)
        for c in K:
            drop_column(c)

    def tight(k):
        for i in sorted((i for i in A if 0 < len(A[i]) <= k), key=key):
            near = {j for c in A[i] for j in C[c] if j != i and len(A[j]) <= k}
            for T in combinations(sorted(near, key=key), k - 1):
                U = A[i].union(*(A[j] for j in T))
                if len(U) == k:
                    return [i, *T], sorted(U)
        return None

    for i in closures:
        band.append(i)
        drop_row(i)
    for c in relative:
        border.append(c)
        drop_column(c)
    while A:
        empty = sorted(i for i in A if not A[i])
        if empty:
            band += empty
            for i in empty:
                drop_row(i)
            continue
        one = [i for i in A if len(A[i]) == 1]
        if one:
            c = min({next(iter(A[i])) for i in one}, key=lambda c: (-len(C[c]), c))
            front([min((i for i in one if c in A[i]), key=key)], [c])
            continue
        found = tight(2) or tight(3)
        if found:
            front(*found)
            continue
        size = 3 if any(len(r) == 3 for r in A.values()) else min(map(len, A.values()))
        best = None
        for K in {tuple(sorted(r)) for r in A.values() if len(r) == size}:
            R = sorted((i for i in A if A[i] <= set(K)), key=key)
            score = (-min(len(R), 3), -sum(len(C[c]) for c in K), min(R), K)
            if best is None or score < best[0]:
                best = (score, K, R)
        _, K, R = best
        q = min(len(R), len(K))
        order = sorted(K, key=lambda c: (-len(C[c]), c))
        for c in order[q:]:
            border.append(c)
            drop_column(c)
        front(R[:q], order[:q])
    return tuple(blocks), tuple(border + sorted(C)), tuple(band)
