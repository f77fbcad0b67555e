"""The inverse dynamics of serial chains, as biela and as CasADi functions of q, v and a."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import biela as bl
from benchmarks.peers import casadi
from examples.newton_euler import PUMA_560, Link, inverse_dynamics, random_chain

#: The two arms of the tables.
ARMS: dict[str, tuple[Link, ...]] = {"puma_560": PUMA_560, "random_7": random_chain(7)}


@dataclass(frozen=True)
class Chain:
    """A chain in a workspace: its symbols and its torques."""

    q: Sequence[bl.Atom]
    v: Sequence[bl.Atom]
    a: Sequence[bl.Atom]
    tau: Sequence[bl.Atom]

    @classmethod
    def of(cls, links: Sequence[Link]) -> Chain:
        q, v, a = symbols(len(links))
        return cls(q, v, a, inverse_dynamics(links, q, v, a))

    def function(self, name: str) -> bl.Function:
        """A fresh function of the same atoms."""
        return bl.Function(name, {"q": self.q, "v": self.v, "a": self.a}, {"tau": self.tau})


def symbols(joints: int) -> tuple[list[bl.Atom], list[bl.Atom], list[bl.Atom]]:
    """q, v and a in a new workspace."""
    q = list(bl.Workspace().coordinates(f"q:{joints}"))
    return q, [x.velocity for x in q], [x.acceleration for x in q]


def casadi_function(name: str, links: Sequence[Link]) -> Any:
    """The same recursion on CasADi's scalar expressions (SX)."""
    ca = casadi()
    q, v, a = (ca.SX.sym(letter, len(links)) for letter in "qva")
    q_i, v_i, a_i = (ca.vertsplit(x) for x in (q, v, a))
    tau = inverse_dynamics(links, q_i, v_i, a_i, sin=ca.sin, cos=ca.cos)
    return ca.Function(name, [q, v, a], [ca.vertcat(*tau)])


def states(joints: int, rows: int | None = None) -> list[np.ndarray]:
    """Random q, v, a and room for tau: one state, or one a row."""
    random = np.random.default_rng(1)
    shape = (joints,) if rows is None else (rows, joints)
    return [*(random.normal(size=shape) for _ in range(3)), np.zeros(shape)]
