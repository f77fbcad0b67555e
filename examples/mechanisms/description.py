"""What the scripts of this folder print about a mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import biela as bl
from biela.equations import Equations


def describe(s: bl.SymbolicSystem, q: Sequence[float], v: Sequence[float]) -> Equations:
    """Derive the equations, and print their size and the mobility in a state.

    The mobility counts the independent motions, n - rank Φ_v; constraints beyond the rank are
    redundant.
    """
    eq = s.equations()
    system = eq.system
    constraints = len(system.multipliers)
    rank = int(np.linalg.matrix_rank(system.evaluate("Phi_v", q, v))) if constraints else 0
    print(f"{s.name}\nsolids       {len(s.solids):3}  {_listed([b.name for b in s.solids])}")
    print(f"coordinates  {len(system.q):3}  {_listed([c.name for c in system.q])}")
    print(f"constraints  {constraints:3}  {_listed(list(system.multipliers))}")
    print(f"redundant    {constraints - rank:3}")
    print(f"mobility     {len(system.v) - rank:3}  at the start")
    print(f"derived           {eq.route}")
    together = ("M", "Q", "Phi_v", "gamma") if constraints else ("M", "Q")
    for names in (together, *((name,) for name in ("Phi", "outputs") if name in system)):
        print(f"{' '.join(names):16}  {eq.joint(*names).count}")
    return eq


def _listed(names: list[str], most: int = 12) -> str:
    shown = " ".join(names[:most])
    return shown if len(names) <= most else f"{shown} …"
