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
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from biela.atoms import *  # noqa: F403
from biela.atoms import __all__ as _atoms
from biela.doors import door
from biela.errors import BielaError, DomainError

if TYPE_CHECKING:
    import biela.code_cache as code_cache
    from biela.analysis import (
        Options,
        Simulator,
        assemble,
        assemble_velocity,
        branches,
        continuation,
        cost,
        driven,
        equilibria,
        equilibrium,
        export_simulator,
        holding_inputs,
        initial_problem,
        inverse_dynamics,
        joint_reactions,
        kinematic_bases,
        kinematics,
        linearise,
        mobility,
        precision,
        reactions,
        redundancy,
        simulate,
    )
    from biela.analysis.checking import (
        check,
    )
    from biela.analysis.control_state import (
        PID,
    )
    from biela.analysis.groups.finding import (
        structural_groups,
    )
    from biela.analysis.groups.inverse_dynamics import (
        group_inverse_dynamics,
    )
    from biela.analysis.groups.kinematics import (
        group_kinematics,
    )
    from biela.analysis.groups.simulation import (
        GroupSimulator,
        group_simulation,
    )
    from biela.analysis.groups.solver import (
        GroupSolver,
    )
    from biela.analysis.inverse_kinematics import (
        CoordinateTarget,
        DirectionTarget,
        InverseKinematics,
        PointTarget,
        PoseTarget,
    )
    from biela.analysis.loading import (
        load,
    )
    from biela.analysis.realtime.groups import (
        export_groups,
    )
    from biela.analysis.robots.robot import (
        Robot,
    )
    from biela.code import (
        Changes,
        Function,
    )
    from biela.equations import (
        SymbolicSystem,
        System,
        formulate,
    )
    from biela.model import (
        Model,
    )
    from biela.model.files import (
        load_model,
    )
    from biela.model.files import save as save_model
    from biela.results import (
        Results,
        compare,
    )
    from biela.space import (
        Algebra,
        Toward,
    )
    from biela.studio.notebook import (
        show,
    )
    from biela.studio.opening import (
        studio,
    )
    from biela.studio.report.writing import (
        report,
    )

__version__ = "0.1.0"

#: Names that need LLVM or more, and where they live: imported when first asked for.
_LAZY = {
    "Algebra": "biela.space",
    "assemble": "biela.analysis",
    "assemble_velocity": "biela.analysis",
    "branches": "biela.analysis",
    "Changes": "biela.code",
    "check": "biela.analysis.checking",
    "code_cache": "biela.code_cache",
    "compare": "biela.results",
    "continuation": "biela.analysis",
    "CoordinateTarget": "biela.analysis.inverse_kinematics",
    "cost": "biela.analysis",
    "DirectionTarget": "biela.analysis.inverse_kinematics",
    "driven": "biela.analysis",
    "equilibria": "biela.analysis",
    "equilibrium": "biela.analysis",
    "export_groups": "biela.analysis.realtime.groups",
    "export_simulator": "biela.analysis",
    "formulate": "biela.equations",
    "Function": "biela.code",
    "holding_inputs": "biela.analysis",
    "initial_problem": "biela.analysis",
    "inverse_dynamics": "biela.analysis",
    "InverseKinematics": "biela.analysis.inverse_kinematics",
    "joint_reactions": "biela.analysis",
    "kinematic_bases": "biela.analysis",
    "kinematics": "biela.analysis",
    "linearise": "biela.analysis",
    "load": "biela.analysis.loading",
    "load_model": "biela.model.files",
    "mobility": "biela.analysis",
    "Model": "biela.model",
    "Options": "biela.analysis",
    "PID": "biela.analysis.control_state",
    "PointTarget": "biela.analysis.inverse_kinematics",
    "PoseTarget": "biela.analysis.inverse_kinematics",
    "precision": "biela.analysis",
    "reactions": "biela.analysis",
    "redundancy": "biela.analysis",
    "report": "biela.studio.report.writing",
    "Results": "biela.results",
    "save_model": "biela.model.files",
    "show": "biela.studio.notebook",
    "simulate": "biela.analysis",
    "GroupSimulator": "biela.analysis.groups.simulation",
    "GroupSolver": "biela.analysis.groups.solver",
    "group_inverse_dynamics": "biela.analysis.groups.inverse_dynamics",
    "group_kinematics": "biela.analysis.groups.kinematics",
    "group_simulation": "biela.analysis.groups.simulation",
    "structural_groups": "biela.analysis.groups.finding",
    "Robot": "biela.analysis.robots.robot",
    "Simulator": "biela.analysis",
    "studio": "biela.studio",
    "SymbolicSystem": "biela.equations",
    "System": "biela.equations",
    "Toward": "biela.space",
}
#: Names that are others where they live.
_ELSEWHERE = {"save_model": "save"}
__all__ = [
    "Algebra",
    "BielaError",
    "Changes",
    "CoordinateTarget",
    "DirectionTarget",
    "Function",
    "InverseKinematics",
    "Model",
    "Options",
    "PID",
    "PointTarget",
    "PoseTarget",
    "Results",
    "Robot",
    "Simulator",
    "SymbolicSystem",
    "System",
    "Toward",
    "assemble",
    "assemble_velocity",
    "branches",
    "check",
    "code_cache",
    "compare",
    "continuation",
    "cost",
    "driven",
    "equilibria",
    "equilibrium",
    "export_groups",
    "export_simulator",
    "formulate",
    "holding_inputs",
    "initial_problem",
    "inverse_dynamics",
    "joint_reactions",
    "kinematic_bases",
    "kinematics",
    "linearise",
    "load",
    "load_model",
    "mobility",
    "precision",
    "reactions",
    "redundancy",
    "report",
    "save_model",
    "show",
    "simulate",
    "GroupSimulator",
    "GroupSolver",
    "group_inverse_dynamics",
    "group_kinematics",
    "group_simulation",
    "structural_groups",
    "studio",
    *_atoms,
]

# what is derived inside calls the functions of the atoms themselves, which do not pay for this
for _name in _atoms:
    if isfunction(globals()[_name]):
        globals()[_name] = door(DomainError)(globals()[_name])
        globals()[_name].__module__ = __name__  # where pickle finds it


def __dir__() -> list[str]:
    """All public names, those not loaded yet included."""
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    """Load what is heavy when it is first used, so that `import biela` stays light."""
    if name not in _LAZY:
        raise AttributeError(f"module 'biela' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if name == "code_cache" else getattr(module, _ELSEWHERE.get(name, name))
