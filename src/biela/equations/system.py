"""The System: what every formulation gives and every analysis takes.

State: coordinates q (nq) and velocities v (nv) with q' = N(q) v; often nq = nv and N = 1, but a
quaternion has four entries and an angular velocity three.  Dynamics:

    M v' + Φ_vᵀ λ = Q(t, q, v, u, p, λ),     Φ_v v' = γ,     Φ_v v = β,     Φ = 0.

M is symmetric and positive semidefinite, definite on the motions the constraints allow.  A system
answers what it can, each as a `biela.code.Function` of the arrays ``t, q, v, u, p`` (and
``lam`` where it depends on multipliers); an analysis asks for a capability and is told by name what
is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from biela.code import Function
from biela.equations.figures import Figure
from biela.errors import ModelError

if TYPE_CHECKING:
    from biela.equations.model_start import ModelStart

Floats = npt.NDArray[np.float64]

#: The capabilities a system may have, and what each of them is.
CAPABILITIES: Final[Mapping[str, str]] = {
    "rates": "q' = N(q) v; identity where it is not given",
    "retract": "q ⊕ δ, the position after a displacement; q + δ where it is not given",
    "accelerations": "v' solved for",
    "M": "mass matrix",
    "Q": "generalised forces",
    "M_Q": "both together, in the form that is cheapest for both",
    "V": "matrix of the joint unknowns ε, M v' + Vᵀ ε = Q",
    "Phi": "geometric constraints",
    "Phi_q": "their Jacobian by the coordinates",
    "Phi_v": "Jacobian of all constraints by the velocities",
    "dPhi": "constraints at velocity level, non-holonomic ones included",
    "beta": "Φ_v v = β",
    "gamma": "Φ_v v' = γ",
    "Init": "geometric constraints and initial conditions",
    "Init_q": "their Jacobian by the coordinates",
    "Init_v": "Jacobian of the velocity equations and initial velocities",
    "Init_beta": "their right-hand side",
    "tangents": "K (nv, nq) and C (nv, nv), derivatives by q and v of M a + Φ_vᵀ λ - Q",
    "energy": "kinetic and potential energy",
    "power": "power of the forces that have no potential",
    "outputs": "y",
    "events": "functions whose sign changes are events",
    "positions": "dependent coordinates solved for",
    "points": "places of the points of the model, to be drawn",
    "sides": "positive at the roots that are meant: no angle half a turn off, no body mirrored",
    "joint_coordinates": "of joints that are no coordinates: values read from markers, and rates",
    "poses": "a row a frame: its place (3), and its orientation R by rows (9), in the ground",
    "twists": "a row a frame: velocity of its point (3) and angular velocity (3), in the ground",
    "frame_accelerations": "a row a frame: acceleration of its point, and angular acceleration",
}


@dataclass(frozen=True)
class Quantity:
    """A named entry of a vector, with its unit and a default value.

    ``given`` says that somebody chose the value of a coordinate or velocity: an assembly keeps it
    if it can.  ``lower`` and ``upper`` are the limits of a coordinate, where it has any.  ``rate``
    names the output with the rate of one that is an angle up to whole turns only.
    """

    name: str
    unit: str = ""
    value: float = 0.0
    given: bool = False
    lower: float = -math.inf
    upper: float = math.inf
    rate: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a body from one point to another; ``slides`` where the second moves along it."""

    name: str
    first: int
    second: int
    slides: bool = False


@dataclass(frozen=True)
class Drawing:
    """How a model is drawn: as lines between its points, or as figures on its frames.

    ``points`` are the rows of the capability "points"; ``plane`` is that of a planar mechanism.
    """

    points: tuple[str, ...]
    links: tuple[Line, ...]
    figures: tuple[Figure, ...] = ()
    plane: str = ""


class LazyFunctions(Mapping[str, Function]):
    """Functions by capability, some of which are only made when they are asked for."""

    def __init__(
        self, made: Mapping[str, Function], makers: Mapping[str, Callable[[], Function]]
    ) -> None:
        self._made, self._makers = dict(made), dict(makers)

    def __getitem__(self, name: str) -> Function:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._made, *self._makers]))

    def __len__(self) -> int:
        return len({*self._made, *self._makers})

    def __contains__(self, name: object) -> bool:
        return name in self._made or name in self._makers

    def __reduce__(self) -> tuple[Any, ...]:
        """Stored with all functions made: what makes them may not be storable."""
        return LazyFunctions, ({name: self[name] for name in self}, {})


@dataclass(frozen=True)
class System:
    """The equations of a model in chosen coordinates."""

    name: str
    q: tuple[Quantity, ...]
    v: tuple[Quantity, ...]
    u: tuple[Quantity, ...] = ()
    p: tuple[Quantity, ...] = ()
    y: tuple[Quantity, ...] = ()
    #: One name for each multiplier: the constraint it belongs to.
    multipliers: tuple[str, ...] = ()
    #: How many of the constraints are geometric; the others hold for velocities only.
    geometric: int = 0
    #: One name for each event function.
    events: tuple[str, ...] = ()
    drawing: Drawing | None = None
    #: For each of the "sides" what is wrong where it is negative: "crank half a turn off".
    sides: tuple[str, ...] = ()
    #: What "joint_coordinates" gives, each with the name of its rate where it is an angle up to
    #: whole turns.
    joint_coordinates: tuple[Quantity, ...] = ()
    #: Coordinates of joints that are given at the start, in the order of their importance: as many
    #: are fulfilled as the constraints leave free, the first ones first.
    starts: tuple[str, ...] = ()
    #: Those of them that are conditions and no coordinates: the last rows of "Init".
    wished: tuple[str, ...] = ()
    #: How many of the last rows of "Init_v" are such wishes.
    wished_rates: int = 0
    #: How many of the last of these let joints rest whose rates nobody gave.
    resting: int = 0
    #: The names of the frames: bodies, and the markers on them, one for each row of "poses".
    frames: tuple[str, ...] = ()
    #: Places of the first of four coordinates that are Euler parameters.
    quaternions: tuple[int, ...] = ()
    #: Bodies whose spin about the line of their two points is left out.
    rods: tuple[str, ...] = ()
    #: Where the motions of the model start, the same for all coordinates; None for equations that
    #: come from no model.
    begins: ModelStart | None = None
    #: The limits of coordinates by name, for values of parameters by name, where ``begins`` does
    #: not tell.
    limits: Callable[[Mapping[str, float]], dict[str, tuple[float, float]]] | None = field(
        default=None, compare=False
    )
    functions: Mapping[str, Function] = field(default_factory=dict)

    def __contains__(self, capability: object) -> bool:
        return capability in self.functions

    def __getitem__(self, capability: str) -> Function:
        """The function of a capability.

        Raises:
            ModelError: That names what is missing and what there is.
        """
        if capability not in CAPABILITIES:
            known = ", ".join(CAPABILITIES)
            raise ModelError(f"{capability!r} is not a capability of systems; these are: {known}")
        if capability not in self.functions:
            raise ModelError(
                f"system {self.name} does not give {capability} ({CAPABILITIES[capability]}); "
                f"it gives {', '.join(self.functions)}"
            )
        return self.functions[capability]

    @property
    def parameters(self) -> Floats:
        """The default values of the parameters."""
        return np.array([parameter.value for parameter in self.p])

    @property
    def inputs(self) -> Floats:
        """The default values of the inputs."""
        return np.array([entry.value for entry in self.u])

    def evaluate(
        self,
        capability: str,
        q: Sequence[float] | Floats,
        v: Sequence[float] | Floats | None = None,
        *,
        t: float = 0.0,
        u: Sequence[float] | Floats | None = None,
        p: Mapping[str, float] | Sequence[float] | Floats | None = None,
        lam: Sequence[float] | Floats | None = None,
        a: Sequence[float] | Floats | None = None,
    ) -> Any:
        """The value of a capability; what is not given is zero, or the default of the model.

        It is for a few states: ``system[capability]`` is the function, which is compiled when it
        is first called.
        """
        function = self[capability]
        arguments: dict[str, Any] = {
            "t": float(t),
            "q": q,
            "v": np.zeros(len(self.v)) if v is None else v,
            "u": self.inputs if u is None else u,
            "p": self._parameter_values(p),
            "lam": np.zeros(len(self.multipliers)) if lam is None else lam,
            "a": np.zeros(len(self.v)) if a is None else a,
        }
        return function.walk(*[arguments[a.name] for a in function.inputs])

    def _parameter_values(self, p: Mapping[str, float] | Sequence[float] | Floats | None) -> Any:
        if p is None:
            return self.parameters
        if not isinstance(p, Mapping):
            return p
        names = [parameter.name for parameter in self.p]
        unknown = [name for name in p if name not in names]
        if unknown:
            raise ModelError(
                f"system {self.name} has no parameter {', '.join(unknown)}; it has "
                f"{', '.join(names) or 'none'}"
            )
        return np.array([p.get(parameter.name, parameter.value) for parameter in self.p])

    def __repr__(self) -> str:
        return (
            f"System {self.name}: {len(self.q)} coordinates, {len(self.multipliers)} constraints, "
            f"gives {', '.join(self.functions)}"
        )
