"""A robot: the dynamics of a tree of bodies by name, for one state or for many.

Each question is answered by a function of `biela.equations.spatial`, derived and compiled when it
is first asked.  Arrays with a row for each state are evaluated in the vector lanes of the
processor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.robot_loops import Loops
from biela.analysis.robot_lowering import LoopedFunctions, Lowering
from biela.analysis.robot_motions import Motions
from biela.analysis.robot_parameters import HeldParameters
from biela.code import Function
from biela.code.export import export
from biela.equations import spatial
from biela.errors import ModelError, ShapeError
from biela.model import Model
from biela.model.parametrised import parametrised

Floats = npt.NDArray[np.float64]
Array = Sequence[float] | Floats


class Robot(Motions, Loops):
    """The dynamics of a model: a tree of bodies, with joints that close loops if there are any.

    Coordinates and velocities are those of `biela.formulate(model)`; a rotation is a unit
    quaternion with the angular velocity in the turned frame.  Twists are [angular; linear],
    wrenches [moment; force].  Every method takes one state, or an array with a row for each of
    many.

    >>> import biela as bl
    >>> from biela.analysis.robot import Robot
    >>> m = bl.Model("pendulum")
    >>> rod = m.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    >>> _ = m.joint("revolute", "pivot", m.ground, rod, axis="y")
    >>> robot = Robot(m)
    >>> robot.mass_matrix([0.3])
    array([[0.52]])
    >>> robot.rnea([[0.0], [0.1]], [[0.0], [0.0]], [[1.0], [1.0]]).shape
    (2, 1)

    Args:
        model: Bodies, joints, springs and friction.
        rotors: Inertia of rotors by joint, reflected to the joint (kg m², or kg along a slide).
        parameters: Values of parameters of the model, in place of its own.
        symbolic: Numbers of the model that become parameters, too: "inertia", "geometry"; see
            `biela.model.parametrised`.
        lowering: "unrolled" writes recursions out, link by link; "looped" compiles one step for
            each kind of link, and takes ten thousand joints; "auto" loops trees of more than 150
            links.

    Raises:
        ModelError: The model has elements that a robot cannot have.
    """

    def __init__(
        self,
        model: Model,
        *,
        rotors: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
        symbolic: Sequence[str] = (),
        lowering: Lowering = "auto",
    ) -> None:
        if symbolic:
            model = parametrised(model, symbolic)
        tree = spatial.SpatialTree(model, rotors=rotors)
        self.model = model
        self.q_names = tuple(tree.q_names)
        self.v_names = tuple(tree.v_names)
        #: Bodies and markers, "body" and "body.marker".
        self.frames = tuple(tree.frames)
        #: Coordinates where a motion starts.
        self.start: Floats = np.array(tree.start)
        self._rotors = dict(rotors or {})
        self._functions: dict[tuple[str, ...], Function] = {}
        known = tree.model.parameters
        for name in parameters or {}:
            if name not in known:
                raise ModelError(
                    f"{model.name} has no parameter {name!r}; it has {', '.join(known) or 'none'}"
                )
        values = {**known, **(parameters or {})}
        self._p = np.array(list(values.values())) if values else None
        self._held = HeldParameters(self._p)
        self._looped = LoopedFunctions(tree, values, lowering)

    def __repr__(self) -> str:
        return f"Robot {self.model.name}: {self.nv} freedoms, {len(self.frames)} frames"

    # ------------------------------------------------------------------- dynamics

    def rnea(self, q: Array, v: Array, a: Array, *, t: float = 0.0) -> Floats:
        """The joint forces τ of a motion, by recursive Newton–Euler; loops exert nothing.

        The time counts where forces of the model depend on it.
        """
        return self._array("rnea", q, v, a, t=t)

    def inverse_dynamics(self, q: Array, v: Array, a: Array, *, t: float = 0.0) -> Floats:
        """The joint forces τ of a motion: `rnea` by another name."""
        return self.rnea(q, v, a, t=t)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, *, t: float = 0.0) -> Floats:
        """The accelerations for joint forces, with all loops closed."""
        return self._array("forward_dynamics", q, v, tau, t=t)

    def mass_matrix(self, q: Array) -> Floats:
        """M(q)."""
        return self._array("mass_matrix", q)

    def mass_product(self, q: Array, a: Array) -> Floats:
        """M(q) a; of a looped robot without the matrix."""
        if self._looped.get("mass_product") is None:
            return np.asarray(np.einsum("...ij,...j->...i", self.mass_matrix(q), np.asarray(a)))
        return self._array("mass_product", q, a)

    def inverse_mass_product(self, q: Array, tau: Array) -> Floats:
        """M⁻¹(q) τ; of a looped robot without the matrix."""
        if self._looped.get("inverse_mass_product") is None:
            M = self.mass_matrix(q)
            return np.asarray(np.linalg.solve(M, np.asarray(tau, dtype=float)[..., None])[..., 0])
        return self._array("inverse_mass_product", q, tau)

    def inverse_mass_matrix(self, q: Array) -> Floats:
        """M⁻¹(q)."""
        return self._array("inverse_mass_matrix", q)

    def bias_forces(self, q: Array, v: Array, *, t: float = 0.0) -> Floats:
        """Coriolis, centrifugal, gravity, springs and friction."""
        return self._array("bias_forces", q, v, t=t)

    def gravity_forces(self, q: Array) -> Floats:
        """The joint forces that hold the weight."""
        return self._array("gravity_forces", q)

    def coriolis_matrix(self, q: Array, v: Array) -> Floats:
        """C(q, v) with M' = C + Cᵀ."""
        return self._array("coriolis_matrix", q, v)

    def inverse_dynamics_derivatives(
        self, q: Array, v: Array, a: Array, *, t: float = 0.0
    ) -> tuple[Floats, Floats, Floats]:
        """∂τ/∂δ, ∂τ/∂v and M, with displacements δ of q as `integrate` takes them."""
        by_q, by_v, M = self._answer("inverse_dynamics_derivatives", q, v, a, t=t)
        return by_q, by_v, M

    def forward_dynamics_derivatives(
        self, q: Array, v: Array, tau: Array, *, t: float = 0.0
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """The accelerations v', and ∂v'/∂δ, ∂v'/∂v and ∂v'/∂τ = M⁻¹; of trees."""
        a, by_q, by_v, by_tau = self._answer("forward_dynamics_derivatives", q, v, tau, t=t)
        return a, by_q, by_v, by_tau

    def energy(self, q: Array, v: Array) -> tuple[Floats, Floats]:
        """Kinetic and potential energy."""
        kinetic, potential = self._looped.energy(q, v) or self._answer("energy", q, v)
        return kinetic, potential

    # ----------------------------------------------------------------- kinematics

    def pose(self, frame: str, q: Array) -> Floats:
        """The pose T (4 x 4) of a frame in the ground."""
        R, p = self._looped.pose(frame, q) or self._answer("pose", q, of=(frame,))
        T = np.zeros((*p.shape[:-1], 4, 4))
        T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
        return T

    def jacobian(self, frame: str, q: Array, axes: str = "aligned") -> Floats:
        """J of a frame, six rows, seen from "world", "local" or "aligned" axes."""
        return self._array("jacobian", q, of=(frame, axes))

    def frame_velocity(self, frame: str, q: Array, v: Array, axes: str = "aligned") -> Floats:
        """The twist [angular; linear] of a frame, J v."""
        J = self.jacobian(frame, q, axes)
        return np.asarray(np.einsum("...ij,...j->...i", J, np.asarray(v, dtype=float)))

    def centre_of_mass(self, q: Array) -> Floats:
        """The centre of mass of all bodies, in the ground."""
        rest = np.zeros((*np.shape(q)[:-1], self.nv))
        return np.asarray(self._answer("centroidal", q, rest)[0])

    def integrate(self, q: Array, dv: Array) -> Floats:
        """The coordinates after a displacement dv, measured by velocities over a unit of time."""
        return self._array("integrate", q, dv)

    def difference(self, q0: Array, q1: Array) -> Floats:
        """The displacement from q0 to q1: ``integrate(q0, difference(q0, q1))`` is q1."""
        return self._array("difference", q0, q1, parameters=False)

    # ------------------------------------------------------------------ functions

    def function(self, name: str, *of: str) -> Function:
        """The function behind a method, such as ``function("jacobian", "hand", "local")``.

        Raises:
            ModelError: There is no such method.
        """
        if name not in _MAKERS:
            raise ModelError(f"a robot has no function {name!r}; it has {', '.join(_MAKERS)}")
        key = (name, *of)
        if key not in self._functions:
            more = {"rotors": self._rotors} if name in _WITH_ROTORS and self._rotors else {}
            self._functions[key] = _MAKERS[name](self.model, *of, **more)
        return self._functions[key]

    def export(
        self,
        languages: str | Sequence[str],
        folder: str | Path | Sequence[str | Sequence[str]],
        functions: str | Path | Sequence[str | Sequence[str]] = (
            "inverse_dynamics",
            "forward_dynamics",
            "mass_matrix",
        ),
        **options: Any,
    ) -> list[Path]:
        """Write functions as C, MATLAB, Python or Julia; see `biela.code.export.export`.

        ``functions`` are names as `function` takes them; of a frame, ``("pose", "hand")``.  A list
        of them may also stand before the folder.
        """
        if not isinstance(folder, str | Path):
            folder, functions = functions, folder
        if not isinstance(folder, str | Path) or isinstance(functions, Path):
            raise ModelError(f"{self.model.name}: export takes a folder and names of functions")
        listed = [functions] if isinstance(functions, str) else functions
        made = [self.function(*([f] if isinstance(f, str) else f)) for f in listed]
        return export(made, languages, folder, **{"name": made[0].workspace.name, **options})

    def _array(
        self,
        name: str,
        *arrays: Array,
        of: tuple[str, ...] = (),
        parameters: bool = True,
        t: float = 0.0,
    ) -> Floats:
        return np.asarray(self._answer(name, *arrays, of=of, parameters=parameters, t=t))

    def _answer(
        self,
        name: str,
        *arrays: Array,
        of: tuple[str, ...] = (),
        parameters: bool = True,
        t: float = 0.0,
    ) -> Any:
        given = [np.asarray(x, dtype=float) for x in arrays]
        function: Any = self._looped.get(name) or self.function(name, *of)
        if isinstance(function, Function):  # what is looped knows its parameters, and no time
            if any(array.name == "t" for array in function.inputs):
                given.append(np.asarray(t))
            if parameters and max(x.ndim for x in given) > 1:
                given += [] if self._p is None else [self._p]
            elif parameters:
                function, more = self._held.of(" ".join((name, *of)), function)
                given += more
        dimensions = max(x.ndim for x in given)
        if dimensions > 2:
            raise ShapeError(
                f"{self.model.name}: {name} takes one state, or a row for each of many; not an "
                f"array of {dimensions} dimensions"
            )
        return function.map(*given) if dimensions == 2 else function(*given)


_MAKERS: dict[str, Callable[..., Function]] = {
    "inverse_dynamics": spatial.inverse_dynamics,
    "rnea": spatial.inverse_dynamics,
    "forward_dynamics": spatial.forward_dynamics,
    "mass_matrix": spatial.mass_matrix,
    "inverse_mass_matrix": spatial.inverse_mass_matrix,
    "bias_forces": spatial.bias_forces,
    "gravity_forces": spatial.gravity_forces,
    "coriolis_matrix": spatial.coriolis_matrix,
    "inverse_dynamics_derivatives": spatial.inverse_dynamics_derivatives,
    "forward_dynamics_derivatives": spatial.forward_dynamics_derivatives,
    "energy": spatial.energy,
    "pose": spatial.pose,
    "jacobian": spatial.jacobian,
    "centroidal": spatial.centroidal,
    "rates": spatial.rates,
    "integrate": spatial.integrate,
    "difference": spatial.difference,
    "closure": spatial.closure,
    "closure_jacobian": spatial.closure_jacobian,
}
_WITH_ROTORS = frozenset(
    {
        "inverse_dynamics",
        "rnea",
        "forward_dynamics",
        "mass_matrix",
        "inverse_mass_matrix",
        "bias_forces",
        "energy",
        "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives",
    }
)
