"""Atoms: shared symbolic expressions.

Builds, differentiates, substitutes and counts expressions; knows nothing of mechanics.
"""

from biela.atoms.atom import Atom
from biela.atoms.differentiate import Direction, diff, directional, time_derivative
from biela.atoms.dump import dump
from biela.atoms.dump import load as load  # biela.load reads other files too
from biela.atoms.evaluate import evaluate
from biela.atoms.functions import (
    acos,
    asin,
    atan,
    atan2,
    both,
    cos,
    either,
    exp,
    log,
    maximum,
    minimum,
    opposite,
    select,
    sign,
    sin,
    sqrt,
    tan,
    tanh,
)
from biela.atoms.jacobians import Jacobian, gradient, jacobian, sparsity
from biela.atoms.latex import latex
from biela.atoms.latex_listing import latex_listing
from biela.atoms.parse import parse
from biela.atoms.substitute import substitute
from biela.atoms.symbols import Kind
from biela.atoms.sympy_bridge import from_sympy, to_sympy
from biela.atoms.text import expanded_size, expanded_text
from biela.atoms.workspace import Curve, External, Statistics, Workspace

__all__ = [
    "Atom",
    "Curve",
    "Direction",
    "External",
    "Jacobian",
    "Kind",
    "Statistics",
    "Workspace",
    "acos",
    "asin",
    "atan",
    "atan2",
    "both",
    "cos",
    "diff",
    "directional",
    "dump",
    "either",
    "evaluate",
    "exp",
    "expanded_size",
    "expanded_text",
    "from_sympy",
    "gradient",
    "jacobian",
    "latex",
    "latex_listing",
    "log",
    "maximum",
    "minimum",
    "opposite",
    "parse",
    "select",
    "sign",
    "sin",
    "sparsity",
    "sqrt",
    "substitute",
    "tan",
    "tanh",
    "time_derivative",
    "to_sympy",
]
