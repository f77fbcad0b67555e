"""The dynamics of trees of bodies in time linear in their number: robots, floating or fixed.

Spatial vectors, [angular; linear] and [moment; force], are carried from link to link; inverse
dynamics, mass matrix and forward dynamics are recursions of a few lines on a `SpatialTree`, and
each comes as a `biela.code.Function` of a model:

>>> import biela as bl
>>> from biela.equations import spatial
>>> m = bl.Model("pendulum")
>>> rod = m.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
>>> _ = m.joint("revolute", "pivot", m.ground, rod, axis="y")
>>> spatial.inverse_dynamics(m)([0.0], [0.0], [1.0])
array([0.52])

Joints that are not needed to carry bodies close loops: see `constrained_forward_dynamics`.

`Operators` has the operators P, ρ, H, W … of Jaramillo 1998 at a state, as matrices.
"""

from biela.equations.spatial.forward_derivatives import forward_dynamics_derivatives
from biela.equations.spatial.functions import (
    bias_forces,
    computed_torque,
    coriolis_matrix,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    inverse_mass_matrix,
    mass_matrix,
    regressor,
)
from biela.equations.spatial.kinematic_functions import (
    centroidal,
    difference,
    energy,
    frame_acceleration,
    integrate,
    jacobian,
    momentum_rate,
    pose,
    rates,
)
from biela.equations.spatial.loop_functions import (
    closure,
    closure_drift,
    closure_jacobian,
    constrained_forward_dynamics,
    constrained_inverse_dynamics,
    constraint_names,
    held_by,
    loop_wrenches,
)
from biela.equations.spatial.looped import LoopedDynamics, NotLoopedError
from biela.equations.spatial.operators import Operators, OperatorValues
from biela.equations.spatial.system import spatial_system
from biela.equations.spatial.tree import SpatialTree

__all__ = [
    "LoopedDynamics",
    "NotLoopedError",
    "OperatorValues",
    "Operators",
    "SpatialTree",
    "bias_forces",
    "centroidal",
    "closure",
    "closure_drift",
    "closure_jacobian",
    "computed_torque",
    "constrained_forward_dynamics",
    "constrained_inverse_dynamics",
    "constraint_names",
    "coriolis_matrix",
    "difference",
    "energy",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "frame_acceleration",
    "gravity_forces",
    "held_by",
    "integrate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_mass_matrix",
    "jacobian",
    "loop_wrenches",
    "mass_matrix",
    "momentum_rate",
    "pose",
    "rates",
    "regressor",
    "spatial_system",
]
