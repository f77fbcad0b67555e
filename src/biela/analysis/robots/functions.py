"""The functions behind the methods of a robot: made when first asked for, for one state or many."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.robots.lowering import LoopedFunctions
from biela.analysis.robots.names import RobotNames
from biela.analysis.robots.parameters import HeldParameters
from biela.atoms import Atom
from biela.code import Function
from biela.code.export import export
from biela.equations import spatial
from biela.errors import ModelError, ShapeError
from biela.model import Model

Floats = npt.NDArray[np.float64]
Array = Sequence[float] | Floats


class Functions(RobotNames):
    """What a robot derives and compiles; a base of `biela.Robot`."""

    _functions: dict[tuple[str, ...], Function]
    _held: HeldParameters
    _looped: LoopedFunctions

    def function(self, name: str, *of: str, external: Sequence[str] = ()) -> Function:
        """The function behind a method, such as ``function("jacobian", "hand", "local")``.

        Args:
            name: Of the method.
            *of: What it is about: a frame, axes.
            external: Frames with wrenches, which the function then takes along the axes of each, a
                row [moment; force] for each.

        Raises:
            ModelError: There is no such method, it takes no wrenches, or is about something else.
        """
        key = (name, *of, *(f"on {frame}" for frame in external)) if external else (name, *of)
        if key not in self._functions:
            _check(name, of, external)
            if not self.nv and name not in ("pose", "energy"):
                raise ModelError(
                    f"{self.name} has no freedoms and so no {name}: all its joints are fixed, or "
                    f"follow others"
                )
            more: dict[str, Any] = {}
            if name in _WITH_ROTORS and self._rotors:
                more["rotors"] = self._rotors
            if external:
                more["external"] = tuple(external)
            self._functions[key] = _MAKERS[name](self.snapshot, *of, **more)
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
        of them may also stand before the folder.  Of several frames the functions are called
        ``pose_hand``, ``pose_foot`` …
        """
        if not isinstance(folder, str | Path):
            folder, functions = functions, folder
        if not isinstance(folder, str | Path) or isinstance(functions, Path):
            raise ModelError(f"{self.name}: export takes a folder and names of functions")
        listed = [functions] if isinstance(functions, str) else functions
        keys = [(f,) if isinstance(f, str) else tuple(f) for f in listed]
        if not keys:
            raise ModelError(f"{self.name}: export takes names of functions, and none is given")
        made = [self.function(*key) for key in keys]
        names = [function.name for function in made]
        made = [
            _renamed(function, "_".join((function.name, *key[1:])))
            if names.count(function.name) > 1 and len(key) > 1
            else function
            for key, function in zip(keys, made, strict=True)
        ]
        return export(made, languages, folder, **{"name": made[0].workspace.name, **options})

    def _array(self, name: str, *arrays: Array, **options: Any) -> Floats:
        return np.asarray(self._answer(name, *arrays, **options))

    def _answer(
        self,
        name: str,
        *arrays: Array,
        of: tuple[str, ...] = (),
        frames: tuple[str, ...] = (),
        wrenches: Floats | None = None,
        parameters: bool = True,
        t: float = 0.0,
        threads: int = 1,
    ) -> Any:
        """What a function gives for arrays, and for wrenches on frames along their axes."""
        given = [np.asarray(x, dtype=float) for x in arrays]
        dimensions = max(x.ndim for x in given)
        if dimensions > 2:
            raise ShapeError(
                f"{self.name}: {name} takes one state, or a row for each of many; not an "
                f"array of {dimensions} dimensions"
            )
        many = dimensions == 2
        function: Any = None if frames else self._looped.get(name)
        if function is None:  # what is looped knows its parameters, and no time
            function = self.function(name, *of, external=frames)
            if wrenches is not None:
                many = many or wrenches.ndim == 3
                given.append(wrenches)
            if any(array.name == "t" for array in function.inputs):
                given.append(np.asarray(t))
            if parameters and many:
                given += [] if self._p is None else [self._p]
            elif parameters:
                function, more = self._held.of(" ".join((name, *of, *frames)), function)
                given += more
        return function.map(*given, threads=threads) if many else function(*given)


def _check(name: str, of: Sequence[str], external: Sequence[str]) -> None:
    """Refuse a function that there is not, of too many things or of too few."""
    if name not in _MAKERS:
        raise ModelError(f"a robot has no function {name!r}; it has {', '.join(_MAKERS)}")
    if external and name not in _WITH_WRENCHES:
        raise ModelError(
            f"{name} takes no wrenches from outside; these do: {', '.join(_WITH_WRENCHES)}"
        )
    own = list(signature(_MAKERS[name]).parameters.values())[1:]
    takes = [x for x in own if x.kind is x.POSITIONAL_OR_KEYWORD]
    needed = [x for x in takes if x.default is x.empty]
    if not len(needed) <= len(of) <= len(takes):
        listed = ", ".join([repr(name), *(x.name for x in takes)])
        raise ModelError(f"it is function({listed}), not {', '.join(map(repr, (name, *of)))}")


def _renamed(function: Function, name: str) -> Function:
    inputs, outputs = (
        {a.name: a.nested([Atom(function.table, ref) for ref in a.refs]) for a in arrays}
        for arrays in (function.inputs, function.outputs)
    )
    return Function(re.sub(r"\W", "_", name), inputs, outputs)


def _regressor(model: Model) -> Function:
    return spatial.regressor(model)[0]


_MAKERS: Final[dict[str, Callable[..., Function]]] = {
    "inverse_dynamics": spatial.inverse_dynamics,
    "rnea": spatial.inverse_dynamics,
    "forward_dynamics": spatial.forward_dynamics,
    "mass_matrix": spatial.mass_matrix,
    "inverse_mass_matrix": spatial.inverse_mass_matrix,
    "bias_forces": spatial.bias_forces,
    "gravity_forces": spatial.gravity_forces,
    "coriolis_matrix": spatial.coriolis_matrix,
    "regressor": _regressor,
    "computed_torque": spatial.computed_torque,
    "inverse_dynamics_derivatives": spatial.inverse_dynamics_derivatives,
    "forward_dynamics_derivatives": spatial.forward_dynamics_derivatives,
    "energy": spatial.energy,
    "pose": spatial.pose,
    "jacobian": spatial.jacobian,
    "frame_acceleration": spatial.frame_acceleration,
    "centroidal": spatial.centroidal,
    "momentum_rate": spatial.momentum_rate,
    "rates": spatial.rates,
    "integrate": spatial.integrate,
    "difference": spatial.difference,
    "closure": spatial.closure,
    "closure_jacobian": spatial.closure_jacobian,
}
_WITH_WRENCHES: Final = (
    "inverse_dynamics",
    "rnea",
    "forward_dynamics",
    "bias_forces",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
_WITH_ROTORS: Final = frozenset(
    (*_WITH_WRENCHES, "mass_matrix", "inverse_mass_matrix", "energy", "computed_torque")
)
