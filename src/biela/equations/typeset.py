r"""Matrices of the motion as LaTeX, each with the equation it stands in.

A small matrix is written out.  A large one is a list of definitions, the atoms that its entries
share, and then the matrix in these: the sharing that makes it short for a machine makes it short on
paper too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from biela.atoms import Atom, expanded_size, latex, latex_listing

_LETTERS: Final = {
    "Phi": r"\Phi",
    "rates": r"\dot{q}",
    "Phi_q": r"\Phi_q",
    "Phi_v": r"\Phi_v",
    "dPhi": r"\dot{\Phi}",
    "beta": r"\beta",
    "gamma": r"\gamma",
    "Init": r"\Phi_0",
    "Init_q": r"\Phi_{0,q}",
    "Init_v": r"\Phi_{0,v}",
    "Init_beta": r"\beta_0",
    "outputs": "y",
    "events": "e",
    "positions": "q",
}
_EQUATIONS: Final = {
    "Phi": r"\Phi = 0",
    "Phi_q": r"\Phi_q = \frac{\partial \Phi}{\partial q}",
    "dPhi": r"\dot{\Phi} = \Phi_v \dot{q} - \beta = 0",
    "Phi_v": r"\Phi_v \dot{q} = \beta",
    "beta": r"\Phi_v \dot{q} = \beta",
    "gamma": r"\Phi_v \ddot{q} = \gamma",
    "Init": r"\Phi_0 = 0",
    "Init_q": r"\Phi_{0,q} = \frac{\partial \Phi_0}{\partial q}",
    "Init_v": r"\Phi_{0,v} \dot{q} = \beta_0",
    "Init_beta": r"\Phi_{0,v} \dot{q} = \beta_0",
}


def letter(name: str) -> str:
    """The letter of a matrix."""
    return _LETTERS.get(name, name)


def equation(name: str, present: Collection[str]) -> str:
    """The equation a matrix stands in, with the terms that the system has; often none is needed."""
    if name not in ("M", "Q", "V"):
        return _EQUATIONS.get(name, "")
    terms = [r"M \ddot{q}"]
    terms += [r"\Phi_v^{T} \lambda"] if "Phi_v" in present else []
    terms += [r"V^{T} \varepsilon"] if "V" in present else []
    return f"{' + '.join(terms)} = Q"


def matrix_latex(
    name: str, matrix: Sequence[Sequence[Atom]], present: Collection[str], limit: int
) -> str:
    """A matrix written out, or, beyond a limit of leaves and operations, by its atoms."""
    entries = [entry for row in matrix for entry in row]
    stands_in = equation(name, present)
    if sum(expanded_size(entry) for entry in entries) <= limit:
        written = f"{letter(name)} = {_bmatrix([[latex(e, limit) for e in row] for row in matrix])}"
        return f"{written}, \\qquad {stands_in}" if stands_in else written
    listing = latex_listing(entries)
    cells = iter(listing.results)
    rows = _bmatrix([[next(cells) for _ in row] for row in matrix])
    lines = [f"{atom} &= {text}" for atom, text in listing.definitions]
    lines.append(f"{letter(name)} &= {rows}")
    lines += [f"& {stands_in}"] if stands_in else []
    body = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _bmatrix(rows: Sequence[Sequence[str]]) -> str:
    body = " \\\\ ".join(" & ".join(row) for row in rows)
    return f"\\begin{{bmatrix}} {body} \\end{{bmatrix}}"
