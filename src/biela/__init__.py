"""biela: mechanisms and robots, from equations to native code.

Describe a system once with symbols; get its equations, its derivatives, and code that runs them.

>>> import biela as bl
>>> ws = bl.Workspace("demo")
>>> x = ws.symbol("x")
>>> bl.diff(x * bl.sin(x), x)
sin(x) + x*cos(x)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from biela.atoms import *  # noqa: F403
from biela.atoms import __all__ as _atoms
from biela.errors import BielaError

if TYPE_CHECKING:
    from biela.analysis import (
        Options,
        Simulator,
        assemble,
        assemble_velocity,
        branches,
        driven,
        equilibria,
        equilibrium,
        export_simulator,
        holding_inputs,
        initial_problem,
        inverse_dynamics,
        joint_reactions,
        kinematics,
        linearise,
        reactions,
        redundancy,
        simulate,
    )
    from biela.code import Changes, Function
    from biela.code import cache as code_cache
    from biela.equations import SymbolicSystem, System, formulate
    from biela.model import Model
    from biela.results import Results, compare
    from biela.space import Algebra, Toward

__version__ = "0.1.0"

#: Names that need LLVM or more, and where they live: imported when first asked for.
_LAZY = {
    "Algebra": "biela.space",
    "Options": "biela.analysis",
    "Results": "biela.results",
    "Simulator": "biela.analysis",
    "assemble": "biela.analysis",
    "assemble_velocity": "biela.analysis",
    "branches": "biela.analysis",
    "compare": "biela.results",
    "simulate": "biela.analysis",
    "driven": "biela.analysis",
    "equilibria": "biela.analysis",
    "equilibrium": "biela.analysis",
    "export_simulator": "biela.analysis",
    "holding_inputs": "biela.analysis",
    "initial_problem": "biela.analysis",
    "inverse_dynamics": "biela.analysis",
    "joint_reactions": "biela.analysis",
    "kinematics": "biela.analysis",
    "linearise": "biela.analysis",
    "reactions": "biela.analysis",
    "redundancy": "biela.analysis",
    "Changes": "biela.code",
    "Function": "biela.code",
    "Model": "biela.model",
    "SymbolicSystem": "biela.equations",
    "System": "biela.equations",
    "formulate": "biela.equations",
    "Toward": "biela.space",
    "code_cache": "biela.code.cache",
}
__all__ = [
    "Algebra",
    "BielaError",
    "Changes",
    "Function",
    "Model",
    "Options",
    "Results",
    "Simulator",
    "SymbolicSystem",
    "System",
    "Toward",
    "assemble",
    "assemble_velocity",
    "branches",
    "code_cache",
    "compare",
    "simulate",
    "driven",
    "equilibria",
    "equilibrium",
    "export_simulator",
    "formulate",
    "holding_inputs",
    "initial_problem",
    "inverse_dynamics",
    "joint_reactions",
    "kinematics",
    "linearise",
    "reactions",
    "redundancy",
    *_atoms,
]


def __dir__() -> list[str]:
    """All public names, those not loaded yet included."""
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    """Load what is heavy when it is first used, so that `import biela` stays light."""
    if name not in _LAZY:
        raise AttributeError(f"module 'biela' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if name == "code_cache" else getattr(module, name)
