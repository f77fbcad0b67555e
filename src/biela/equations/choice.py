"""Which derivations are kept: for M alone, for Q alone, and for both together.

The routes differ only in size, and the one best for M need not be the best for Q.  Together they
share atoms, so that the best pair is looked for among all pairs, by the atoms of the union.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from biela.atoms import Atom
from biela.equations.virtual_power import Dynamics, Route
from biela.space import Algebra

Matrix = list[list[Atom]]


@dataclass(frozen=True)
class Pair:
    """M by one route and Q by another, or by the same."""

    M: Matrix
    Q: list[Atom]
    for_M: Route
    for_Q: Route

    def __str__(self) -> str:
        if self.for_M == self.for_Q:
            return str(self.for_M)
        return f"M {self.for_M}; Q {self.for_Q}"


@dataclass(frozen=True)
class Choice:
    """The smallest pair for M and Q together, and the smallest of each alone."""

    together: Pair
    apart: Pair


def derive(
    dynamics: Callable[[Algebra], Dynamics], for_M: Iterable[Route], for_Q: Iterable[Route]
) -> Choice:
    """Derive M and Q by several routes each and keep the smallest."""
    known: dict[Algebra, Dynamics] = {}

    def needs(algebra: Algebra) -> Dynamics:
        if algebra not in known:
            known[algebra] = dynamics(algebra)
        return known[algebra]

    return smallest(
        {route: needs(route.solids).mass(route.carry) for route in for_M},
        {route: needs(route.solids).forces(route.carry) for route in for_Q},
    )


def smallest(masses: Mapping[Route, Matrix], forces: Mapping[Route, list[Atom]]) -> Choice:
    """Compare derivations by the atoms they need; of equals the first is kept."""
    table = next(iter(forces.values()))[0].table
    atoms_M = {r: set(table.live(e.ref for row in M for e in row)) for r, M in masses.items()}
    atoms_Q = {r: set(table.live(e.ref for e in Q)) for r, Q in forces.items()}

    def pair(m: Route, q: Route) -> Pair:
        return Pair(masses[m], forces[q], m, q)

    # one route for both stands first, so that a tie does not mix two
    pairs = sorted(product(masses, forces), key=lambda routes: routes[0] != routes[1])
    together = min(pairs, key=lambda routes: len(atoms_M[routes[0]] | atoms_Q[routes[1]]))
    alone_M = min(masses, key=lambda route: len(atoms_M[route]))
    alone_Q = min(forces, key=lambda route: len(atoms_Q[route]))
    return Choice(pair(*together), pair(alone_M, alone_Q))
