"""Where the links of a long chain are, and what follows from that without its equations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.code import Function
from biela.equations.spatial.looped.lowering import Lowering
from biela.equations.spatial.looped.recursions import POSE
from biela.equations.spatial.turning import zero

Floats = npt.NDArray[np.float64]


class LinkPoses:
    """The poses of all links, link after link; each method takes one state or a row for each."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        program, memory = lowering.poses()
        self._function = program.function(memory, ("q",), ("pose",), "poses")
        memory.view(self._function.w, "pose")[:9] = np.eye(3).ravel()
        links = lowering.tree.links
        moments = [[*(row[3] for row in link.inertia[:3]), link.inertia[3][3]] for link in links]
        #: First moments and mass of each link in its own frame, (links, 4).
        self._moments = lowering.numbers(moments)

    def __call__(self, q: Any) -> tuple[Floats, Floats]:
        """Axes R, (…, 1 + links, 3, 3), and places, (…, 1 + links, 3); the ground is the first."""
        given = np.asarray(q, dtype=float)
        rows = np.asarray(self._function.map(given) if given.ndim == 2 else self._function(given))
        rows = rows.reshape(*given.shape[:-1], -1, POSE)
        return rows[..., :9].reshape(*rows.shape[:-1], 3, 3), rows[..., 9:]

    def frame(self, name: str, q: Any) -> tuple[Floats, Floats]:
        """Axes and place of a body or marker in the ground.

        Raises:
            UnknownNameError: There is no such frame.
        """
        k, here = self._lowering.tree.frame(name)
        numbers = self._lowering.numbers([*here.R, here.p])
        R, p = self(q)
        R, p = R[..., k + 1, :, :], p[..., k + 1, :]
        return R @ numbers[:3], p + R @ numbers[3]

    def frames(self, names: Sequence[str], q: Any) -> Floats:
        """Place and axes by rows of named frames, (states, frames, 12).

        Raises:
            UnknownNameError: There is no such frame.
        """
        found = [self._lowering.tree.frame(name) for name in names]
        links = np.array([k + 1 for k, _ in found], dtype=int)
        rows = [[x for row in (*here.R, here.p) for x in row] for _, here in found]
        numbers = self._lowering.numbers(rows)
        R, p = self(q)
        R, p = R[..., links, :, :], p[..., links, :]
        axes = R @ numbers[:, :9].reshape(-1, 3, 3)
        places = p + np.einsum("...ij,...j->...i", R, numbers[:, 9:])
        return np.concatenate([places, axes.reshape(*axes.shape[:-2], 9)], axis=-1)

    def potential_energy(self, q: Any) -> Floats:
        """- Σ m g · r, from the origin of the ground, and the energy of springs."""
        R, p = self(q)
        s, m = self._moments[:, :3], self._moments[:, 3:]
        total = (np.einsum("...kij,kj->...ki", R[..., 1:, :, :], s) + m * p[..., 1:, :]).sum(-2)
        return np.asarray(total @ self._lowering.ground) + self._stored(np.asarray(q, dtype=float))

    def _stored(self, q: Floats) -> Floats | float:
        if self._springs is None:
            return 0.0
        given = [q, *([np.array(self._lowering.parameters)] if self._lowering.parameters else [])]
        return np.asarray(self._springs.map(*given) if q.ndim == 2 else self._springs(*given))

    @cached_property
    def _springs(self) -> Function | None:
        """The energy of springs, written out: a sum over them; None if there are none."""
        tree = self._lowering.tree
        if zero(tree.stored):
            return None
        return Function(
            "stored", {"q": tree.q, **({"p": tree.p} if tree.p else {})}, {"V": tree.stored}
        )
