"""Forces in the joints of structural groups, group after group in the reverse order."""

from biela.equations.groups.forces.derivation import BodySymbols, Counted, MultiplierDerivation
from biela.equations.groups.forces.kernel import ForceEquations, ForceKernel
from biela.equations.groups.forces.program import ForceProgram

__all__ = [
    "BodySymbols",
    "Counted",
    "ForceEquations",
    "ForceKernel",
    "ForceProgram",
    "MultiplierDerivation",
]
