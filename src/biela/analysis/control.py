"""Sampled controllers: Python functions, or compiled ones, that set the inputs of a run.

A controller is called at equal intervals and its output is held in between (zero-order hold).  It
takes t, q and v; one that cannot be called with these three, and can with one argument, takes a
`ControlState`.  A method ``reset()`` is called before
each run.  Compiled ones have the signature of kernels,

    void control(const double *t, const double *x, const double *p, double *u),

with x = (q, v) and p the parameters followed by the inputs: a `numba.cfunc`, a ctypes function or
anything with an ``address``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.control_state import ControlState, Readings, system_readings
from biela.analysis.formulations import Formulation
from biela.analysis.given_functions import called_in_vain, real_numbers, shown, takes
from biela.equations import System
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]

_DOUBLES = ctypes.POINTER(ctypes.c_double)
#: Types that make numbers and containers, which are no laws.
_PLAIN = (int, float, complex, str, bytes, dict, list, tuple, set, frozenset, np.generic)
_SIGNATURE = ctypes.CFUNCTYPE(None, _DOUBLES, _DOUBLES, _DOUBLES, _DOUBLES)


@dataclass
class Controller:
    """A kernel that computes the inputs, and what went wrong in it."""

    kernel: Any
    law: Any  # kept alive as long as the kernel
    failures: list[BaseException] = field(default_factory=list)

    def raise_failure(self) -> None:
        """Raise what the Python function raised, if it did."""
        if self.failures:
            raise self.failures[0]


def is_compiled(law: Any) -> bool:
    """Whether a control law is a compiled function."""
    return hasattr(law, "address") or isinstance(law, type(_SIGNATURE()).__mro__[1])


def controller(system: System, law: Any, made: Formulation) -> Controller:
    """The kernel of a control law: compiled already, or a function ``u = law(t, q, v)``.

    A Python law, or ``u = law(state)``, returns an array in the order of the inputs, or the inputs
    it sets by name; the others keep their values.  Where the state of a formulation does not begin
    with q and v, they are read from it first.

    Raises:
        ModelError: There is nothing to control, or the law cannot be called.
    """
    if not system.u:
        raise ModelError(
            f"{system.name} has no inputs, so a controller has nothing to set: declare them with "
            f"inputs(…) and use them in wrenches"
        )
    if is_compiled(law):
        kernel = law if not made.reduced else _through_place(system, law, made)
        return Controller(kernel, law)
    if not callable(law):
        raise ModelError(
            f"a controller is a function u = law(t, q, v) or u = law(state), not {shown(law)}"
        )
    # types of numbers and functions of arrays can be called, but not with a state
    builtin = isinstance(law, type) and issubclass(law, _PLAIN)
    if builtin or (
        takes(law, 3) is False and (takes(law, 1) is False or isinstance(law, np.ufunc))
    ):
        raise ModelError(_uncalled(system, law))
    return _in_python(system, law, made)


def _place(made: Formulation) -> Callable[[Any, Any, Any], Floats]:
    """The entries (q, v) of a state, as a function of t, x and p."""
    if not made.reduced:
        count = len(made.unrolled.q) + len(made.unrolled.v)
        return lambda t, x, p: x[:count]
    return made.located


def _through_place(system: System, law: Any, made: Formulation) -> Any:
    """A compiled law that is given (q, v) instead of the state."""
    address = getattr(law, "address", None) or ctypes.cast(law, ctypes.c_void_p).value
    compiled, place = _SIGNATURE(int(address or 0)), _place(made)
    count, given = made.size, len(system.p) + len(system.u)

    def call(t: Any, x: Any, p: Any, u: Any) -> None:
        state = np.ctypeslib.as_array(x, (count,)).copy()
        found = place([t[0]], state, np.ctypeslib.as_array(p, (given,)).copy())
        found = np.ascontiguousarray(found)
        compiled(t, found.ctypes.data_as(_DOUBLES), p, u)

    return _SIGNATURE(call)


def _in_python(system: System, law: Callable[..., Any], made: Formulation) -> Controller:
    nq, np_, nu = len(system.q), len(system.p), len(system.u)
    size, place = made.size, _place(made)
    failures: list[BaseException] = []
    asked, begin = _by_state(system, law), getattr(law, "reset", None)
    if callable(begin):
        begin()

    def called(arguments: tuple[Any, ...]) -> Any:
        try:
            return law(*arguments)
        except (TypeError, ValueError) as error:
            if takes(law, len(arguments)) or not called_in_vain(error):
                raise
            raise ModelError(_uncalled(system, law)) from error

    def call(t: Any, x: Any, p: Any, u: Any) -> None:
        state = np.ctypeslib.as_array(x, (size,)).copy()
        given = np.ctypeslib.as_array(p, (np_ + nu,)).copy()
        held = given[np_:].copy()
        target = np.ctypeslib.as_array(u, (nu,))
        try:
            now = place([t[0]], state, given)
            q, v = now[:nq].copy(), now[nq:].copy()
            found = called((t[0], q, v) if asked is None else (asked(t[0], q, v, given),))
            target[:] = _set_by(system, held, found, t[0])
        except BaseException as error:  # nothing may unwind through native code
            failures.append(error)
            target[:] = np.nan

    return Controller(_SIGNATURE(call), law, failures)


def _uncalled(system: System, law: Any) -> str:
    """What to say of a controller that cannot be called."""
    return (
        f"the controller of {system.name}, {shown(law)}, cannot be called with t, q and v, nor "
        f"with one state: give a function u = law(t, q, v) or u = law(state)"
    )


def _by_state(
    system: System, law: Callable[..., Any]
) -> Callable[[float, Floats, Floats, Floats], ControlState] | None:
    """What makes the state that a law takes; None for one that takes t, q and v."""
    if takes(law, 3) is not False:  # also where nothing is known, of code in C
        return None
    q_names, v_names, u_names = (
        [entry.name for entry in part] for part in (system.q, system.v, system.u)
    )
    count = len(system.p)
    own = getattr(system, "readings", None)
    readings: tuple[Readings, Readings] | None = own() if own is not None else None

    def state(t: float, q: Floats, v: Floats, given: Floats) -> ControlState:
        nonlocal readings
        if readings is None:
            readings = system_readings(system, given[:count].copy())
        return ControlState(t, q, v, given[count:].copy(), (q_names, v_names, u_names), *readings)

    return state


def _set_by(system: System, held: Floats, found: Any, t: float) -> Floats:
    """The inputs after a controller answered: by name over those that were held, or all in order.

    Raises:
        ModelError: It names no input, returned too few or too many, or what is no finite number.
    """
    names = [entry.name for entry in system.u]
    by_name = isinstance(found, Mapping)
    for name in found if by_name else ():
        if name not in names:
            raise ModelError(
                f"the controller sets {name}, but {system.name} has the inputs {', '.join(names)}"
            )
    try:
        given = real_numbers(list(found.values()) if by_name else found).reshape(-1)
    except ValueError:
        given = np.full(1, np.nan)
    if not np.isfinite(given).all():
        raise ModelError(
            f"the controller of {system.name} returned {shown(found)} at t = {t:.6g} s; it must "
            f"return finite numbers for the inputs {', '.join(names)}"
        )
    if by_name:
        held[[names.index(name) for name in found]] = given
        return held
    if len(given) != len(names):
        raise ModelError(
            f"the controller returned {len(given)} numbers; {system.name} has the "
            f"{len(names)} inputs {', '.join(names)}"
        )
    return given


class SampledLaw:
    """A controller of a state (q, v) that nothing is eliminated from.

    Args:
        system: What has the coordinates, velocities, inputs and parameters; where it has none of
            the latter, kernels take the inputs alone.
        law: A function ``u = law(t, q, v)``, or a compiled one; see `biela.analysis.control`.

    Attributes:
        controller: The kernel, and what went wrong in it.

    Raises:
        ModelError: There is nothing to control, or the law cannot be called.
    """

    def __init__(self, system: Any, law: Any) -> None:
        self._nu, parts = len(system.u), SimpleNamespace(q=system.q, v=system.v)
        made: Any = SimpleNamespace(
            reduced=False, size=len(system.q) + len(system.v), unrolled=parts
        )
        self.controller: Controller = controller(system, law, made)
        kernel = self.controller.kernel
        address = getattr(kernel, "address", None) or ctypes.cast(kernel, ctypes.c_void_p).value
        self._call = _SIGNATURE(int(address or 0))

    def __call__(self, t: float, x: Floats, p: Sequence[float] | Floats) -> Floats:
        """The inputs for a state (q, v), from parameters followed by the inputs held so far."""
        rows = [np.ascontiguousarray(part, dtype=float) for part in ([t], x, p)]
        u = np.array(rows[2][len(rows[2]) - self._nu :])
        self._call(*(part.ctypes.data_as(_DOUBLES) for part in (*rows, u)))
        self.controller.raise_failure()
        return u
