"""Values of expressions of the position at a few positions: near the start, and anywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, evaluate
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar

Floats = npt.NDArray[np.float64]

_NEAR, _ANYWHERE = 3, 3


class Samples:
    """Positions of a tree, the same for every run."""

    def __init__(self, tree: SpatialTree) -> None:
        random = np.random.default_rng(0)
        n, count = len(tree.q), _NEAR + _ANYWHERE
        q = np.empty((count, n))
        q[:_NEAR] = np.array(tree.start) + 0.1 * random.uniform(-1, 1, (_NEAR, n))
        q[_NEAR:] = random.uniform(-1, 1, (_ANYWHERE, n))
        for first, _ in tree.quaternions:
            e = q[:, first : first + 4]
            e /= np.linalg.norm(e, axis=1)[:, None]
        values: dict[Atom, Floats | float] = dict(zip(tree.q, q.T, strict=True))
        values |= {v: random.uniform(-1, 1, count) for v in tree.v}
        values[tree.workspace.time] = random.uniform(0, 1, count)
        for symbol, value in zip(tree.p, tree.model.parameters.given.values(), strict=True):
            values[symbol] = value * (1 + random.uniform(0, 0.1, count))
        self._values = values
        self.count = count

    def of(self, expressions: Sequence[Scalar]) -> Floats:
        """Their values, a row for each position."""
        found = np.empty((self.count, len(expressions)))
        atoms = [(k, x) for k, x in enumerate(expressions) if isinstance(x, Atom)]
        for (k, _), x in zip(atoms, evaluate([x for _, x in atoms], self._values), strict=True):
            found[:, k] = x
        for k, x in enumerate(expressions):
            if not isinstance(x, Atom):
                found[:, k] = x
        return found

    def largest(self, expression: Scalar) -> float:
        """The largest size of an expression at the positions."""
        return float(np.abs(self.of([expression])).max())
