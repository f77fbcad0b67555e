"""The dynamics of long chains and large trees: looped in place of written out.

Each function is a native program that takes arrays and gives arrays, like those of
`biela.equations.spatial`: compiling takes as long for ten thousand joints as for ten, and running
is linear in their number.  The parameters of a model are numbers here.
"""

from __future__ import annotations

from collections.abc import Mapping

from biela.code.looped import ProgramFunction
from biela.equations.spatial.garbage import collector_paused
from biela.equations.spatial.looped.kinematics import LinkPoses
from biela.equations.spatial.looped.lowering import Lowering
from biela.equations.spatial.looped.motion import LoopedMotion
from biela.equations.spatial.tree import SpatialTree


class LoopedDynamics:
    """The dynamics of a tree by recursions that run link after link.

    >>> import biela as bl
    >>> from biela.equations.spatial import LoopedDynamics, SpatialTree
    >>> m = bl.Model("pendulum")
    >>> rod = m.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    >>> _ = m.joint("revolute", "pivot", m.ground, rod, axis="y")
    >>> LoopedDynamics(SpatialTree(m)).inverse_dynamics()([0.0], [0.0], [1.0])
    array([0.52])

    Args:
        tree: The links.
        parameters: Values of parameters of the model, in place of its own.

    Raises:
        ModelError: The model is no tree.
    """

    @collector_paused()
    def __init__(self, tree: SpatialTree, parameters: Mapping[str, float] | None = None) -> None:
        tree.check_open("looped dynamics")
        self._lowering = Lowering(tree, {**tree.model.parameters.given, **(parameters or {})})

    def inverse_dynamics(self) -> ProgramFunction:
        """τ(q, v, a) by recursive Newton–Euler.

        Raises:
            NotLoopedError: A force depends on time, or on the state of many joints.
        """
        return self._inverse("inverse_dynamics", ("q", "v", "a"))

    def bias_forces(self) -> ProgramFunction:
        """ξ(q, v): Coriolis, centrifugal, gravity, springs and friction."""
        return self._inverse("bias_forces", ("q", "v"))

    def gravity_forces(self) -> ProgramFunction:
        """g(q): what holds the weight."""
        return self._inverse("gravity_forces", ("q",), passive=False)

    def mass_product(self) -> ProgramFunction:
        """The product M(q) a, without the matrix."""
        return self._inverse("mass_product", ("q", "a"), passive=False, weight=False)

    def forward_dynamics(self) -> ProgramFunction:
        """V'(q, v, tau) by articulated bodies.

        Raises:
            ModelError: Gears tie joints together, or nothing has inertia along a velocity.
        """
        return self._forward("forward_dynamics", ("q", "v", "tau"))

    def inverse_mass_product(self) -> ProgramFunction:
        """The product M⁻¹(q) tau, without the matrix.

        Raises:
            ModelError: Gears tie joints together, or nothing has inertia along a velocity.
        """
        return self._forward("inverse_mass_product", ("q", "tau"), passive=False, weight=False)

    @collector_paused()
    def motion(self) -> LoopedMotion:
        """The equations of motion as integrators take them.

        Raises:
            NotLoopedError: A force depends on time, or on the state of many joints.
            ModelError: Gears tie joints together, or nothing has inertia along a velocity.
        """
        return LoopedMotion(self._lowering)

    @collector_paused()
    def poses(self) -> LinkPoses:
        """The poses of all links, of frames on them, and the potential energy."""
        return LinkPoses(self._lowering)

    @collector_paused()
    def _inverse(
        self, name: str, inputs: tuple[str, ...], passive: bool = True, weight: bool = True
    ) -> ProgramFunction:
        program, memory = self._lowering.inverse_dynamics(passive)
        found = program.function(memory, inputs, ("tau",), name)
        if weight:
            memory.view(found.w, "motion")[6:9] = self._lowering.ground
        return found

    @collector_paused()
    def _forward(
        self, name: str, inputs: tuple[str, ...], passive: bool = True, weight: bool = True
    ) -> ProgramFunction:
        program, memory = self._lowering.forward_dynamics(passive)
        found = program.function(memory, inputs, ("a",), name)
        if weight:
            memory.view(found.w, "acceleration")[3:6] = self._lowering.ground
        return found
