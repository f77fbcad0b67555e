"""The inertia of a solid as a symmetric matrix of four rows.

    J = ∫ (r, 1)(r, 1)ᵀ dm = [ Σ   mr ]        Σ = ½ tr(I) 1 - I
                             [ mrᵀ  m ]

A frame placed in another by X = [R r; 0 1] takes its inertia there as X J Xᵀ.  Wensing, Kim &
Slotine, *Linear matrix inequalities for physically consistent inertial parameter identification*
(2018).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biela.atoms import Atom

#: The ten inertial parameters of a solid, as `Solid.inertial_parameters`.
Ten = list[Atom]
#: A point (r, 1) or a direction (u, 0).
Four = tuple[Atom, Atom, Atom, Atom]


def spread(a: Four, b: Four) -> Ten:
    """The parameters of b bᵀ, or of a bᵀ + b aᵀ."""
    same = all(x.ref == y.ref for x, y in zip(a, b, strict=True))
    return _parameters(
        [[a[i] * a[j] if same else a[i] * b[j] + b[i] * a[j] for j in range(4)] for i in range(4)]
    )


def carried(ten: Ten, R: Sequence[Sequence[Atom]], place: Four) -> Ten:
    """The parameters in another frame: X J Xᵀ, where ``place`` and R place the old in the new."""
    X = [[*R[i], place[i]] for i in range(3)]
    X.append([place[3] * 0, place[3] * 0, place[3] * 0, place[3]])
    J = pseudo_inertia(ten)
    XJ = [[_sum(X[i][k] * J[k][j] for k in range(4)) for j in range(4)] for i in range(4)]
    return _parameters(
        [[_sum(XJ[i][k] * X[j][k] for k in range(4)) for j in range(4)] for i in range(4)]
    )


def pseudo_inertia(ten: Ten) -> list[list[Atom]]:
    """J from the ten parameters."""
    m, mx, my, mz, xx, yy, zz, xy, xz, yz = ten
    return [
        [(yy + zz - xx) / 2, -xy, -xz, mx],
        [-xy, (xx + zz - yy) / 2, -yz, my],
        [-xz, -yz, (xx + yy - zz) / 2, mz],
        [mx, my, mz, m],
    ]


def _parameters(J: Sequence[Sequence[Atom]]) -> Ten:
    xx, yy, zz = J[0][0], J[1][1], J[2][2]
    return [
        J[3][3],
        *(J[k][3] for k in range(3)),
        *(yy + zz, xx + zz, xx + yy),
        *(-J[0][1], -J[0][2], -J[1][2]),
    ]


def _sum(terms: Iterator[Atom]) -> Atom:
    total = next(terms)
    for term in terms:
        total = total + term
    return total
