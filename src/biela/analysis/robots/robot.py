"""A robot: the dynamics of a tree of bodies by name, for one state or for many.

Each question is answered by a function of `biela.equations.spatial`, derived and compiled when it
is first asked.  Arrays with a row for each state are evaluated in the vector lanes of the
processor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from biela.analysis.robots.functions import Floats
from biela.analysis.robots.loops import Loops
from biela.analysis.robots.lowering import LoopedFunctions, Lowering
from biela.analysis.robots.parameters import HeldParameters
from biela.analysis.robots.targets import Targets
from biela.code import Function
from biela.doors import doors
from biela.equations import spatial
from biela.errors import ModelError
from biela.model import Model
from biela.model.parametrised import parametrised
from biela.model.parts.flattening import snapshot
from biela.model.quantities.values import Value


@doors(ModelError)
class Robot(Loops, Targets):
    """The dynamics of a model: a tree of bodies, with joints that close loops if there are any.

    Coordinates and velocities are those of `biela.formulate(model)`; a rotation is a unit
    quaternion with the angular velocity in the turned frame.  Twists are [angular; linear],
    wrenches [moment; force].  Every method takes one state, or an array with a row for each of
    many, which ``threads`` share.

    >>> import biela as bl
    >>> from biela.analysis.robots.robot import Robot
    >>> m = bl.Model("pendulum")
    >>> rod = m.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    >>> _ = m.joint("revolute", "pivot", m.ground, rod, axis="y")
    >>> robot = Robot(m)
    >>> robot.mass_matrix([0.3])
    array([[0.52]])
    >>> robot.rnea([[0.0], [0.1]], [[0.0], [0.0]], [[1.0], [1.0]]).shape
    (2, 1)

    Args:
        model: Bodies, joints, springs and friction, as they are now: after a change make another
            robot.
        rotors: Inertia of rotors by joint, reflected to the joint (kg m², or kg along a slide), in
            place of what the model has in ``model.rotors``.
        parameters: Values of parameters of the model, in place of its own: numbers in SI units, or
            texts with units.
        symbolic: Numbers of the model that become parameters, too: "inertia", "geometry"; see
            `biela.model.parametrised`.
        lowering: "unrolled" writes recursions out, link by link; "looped" compiles one step for
            each kind of link, and takes ten thousand joints; "auto" loops trees of more than 150
            links.

    Raises:
        ModelError: The model has elements that a robot cannot have, or a rotor has no inertia that
            can be.
    """

    def __init__(
        self,
        model: Model,
        *,
        rotors: Mapping[str, float] | None = None,
        parameters: Mapping[str, Value] | None = None,
        symbolic: Sequence[str] = (),
        lowering: Lowering = "auto",
    ) -> None:
        values = dict(parameters or {})
        if symbolic:
            # lengths come first: what becomes a parameter has the value that they give it
            known = (model.flattened() if model.parts else model).parameters
            own = {name: values.pop(name) for name in list(values) if name in known}
            model = parametrised(model.with_parameters(own) if own else model, symbolic)
        if values:
            model = model.with_parameters(values)
        given: dict[str, Value] = {**model.rotors, **(rotors or {})}
        for name, value in given.items():
            inertia = model.number(value)
            if not (np.isfinite(inertia) and inertia >= 0):
                raise ModelError(
                    f"{model.name}: rotor of {name}: its inertia is zero or more, not {inertia!r}"
                )
        self.model = model
        self.snapshot = snapshot(model)
        tree = spatial.SpatialTree(self.snapshot, rotors=rotors)
        self.q_names = tuple(tree.q_names)
        self.v_names = tuple(tree.v_names)
        #: Bodies and markers, "body" and "body.marker".
        self.frames = tuple(tree.frames)
        #: Coordinates where a motion starts.
        self.start: Floats = np.array(tree.start)
        self._rotors = {tree.coordinate_name(name): value for name, value in given.items()}
        self._functions: dict[tuple[str, ...], Function] = {}
        numbers = tree.model.parameters.given
        self._p = np.array(list(numbers.values())) if numbers else None
        self._held = HeldParameters(self._p)
        self._looped = LoopedFunctions(tree, numbers, lowering)

    def __repr__(self) -> str:
        return f"Robot {self.model.name}: {self.nv} freedoms, {len(self.frames)} frames"
