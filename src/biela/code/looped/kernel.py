"""Loops over instances as loaded code: compiled once, found again on disk and in the process."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Sequence
from typing import Any, Final

from biela.code.arrays import ExpressionArray
from biela.code.externals import ExternalCalls
from biela.code.function import Function
from biela.code.llvm import host
from biela.code.llvm.emit import CHUNK, ENTRY, EXTERNALS, Layout, Options
from biela.code.looped.emit import Access, Reach, emit_loop
from biela.code.looped.emit_solve import SolveAccess, emit_solve
from biela.code.looped.solve_stage import Solve, arrays_made, arrays_read, equations_of
from biela.code.looped.stage import PARAMETERS, Stage
from biela.code.native import machine, object_code
from biela.code_cache import read_object, write_object
from biela.errors import ShapeError

#: Up to this many operations of one instance several run side by side: more would only spill.
_SIDE_BY_SIDE: Final = min(2000, CHUNK)


class LoopKernel:
    """Loaded code of a loop over instances; the code lives as long as this.

    Attributes:
        address: ``void kernel(double *x, int64_t first, int64_t count, const void **arguments)``.
        lanes: How many instances it runs side by side.
    """

    def __init__(self, code: Any, lanes: int, externals: ExternalCalls | None) -> None:
        self._code = code
        self.address: int = code[ENTRY]
        self.lanes = lanes
        self._externals = externals

    @property
    def calls_python(self) -> bool:
        """Whether it calls functions written in Python, which may raise."""
        return self._externals is not None and self._externals.in_python

    def raise_failures(self) -> None:
        """Raise what external functions written in Python have raised."""
        if self._externals is not None:
            self._externals.raise_failures()


#: Code in use, by its key.
_loaded: weakref.WeakValueDictionary[str, LoopKernel] = weakref.WeakValueDictionary()
#: Code of functions in use, for the stages that share one: its text is not even written again.
_of_function: weakref.WeakKeyDictionary[Function, dict[tuple[Access, int], LoopKernel]] = (
    weakref.WeakKeyDictionary()
)


def lanes_of(stage: Stage) -> int:
    """How many instances of a stage run side by side."""
    lanes = host.host_lanes()
    small = len(stage.kernel.schedule.operations) <= _SIDE_BY_SIDE
    return lanes if stage.independent and small and stage.count >= lanes else 1


def runs_states(stage: Stage) -> bool:
    """Whether there is code of a stage for several states: not for kernels in parts."""
    return isinstance(stage, Solve) or len(stage.kernel.schedule.operations) <= CHUNK


def access_of(stage: Stage) -> Access:
    """How the arrays of a stage are reached."""

    def reach(places: Any) -> Reach:
        return Reach.SCATTERED if places.ndim == 2 else Reach.FOLLOWING

    scatter = stage.scatter
    access = Access(
        tuple(
            Reach.PARAMETERS if a.name == PARAMETERS else reach(stage.gather[a.name])
            for a in stage.inputs
        ),
        tuple(reach(scatter[a.name].places) for a in stage.outputs),
        tuple(scatter[a.name].mode == "add" for a in stage.outputs),
    )
    if not isinstance(stage, Solve):
        return access
    return SolveAccess(
        access.inputs,
        access.outputs,
        access.added,
        carried=tuple(a.name in stage.carried for a in stage.inputs),
        steps=stage.steps,
        polishes=stage.polish > 0,
        inputs_in_window=_inputs_in_window(stage),
        outputs_in_window=_outputs_in_window(stage),
    )


def _inputs_in_window(stage: Solve) -> tuple[tuple[bool, ...], ...]:
    if stage.window is None:
        return ()
    return tuple(
        (False,) * a.size
        if a.name == PARAMETERS
        else stage.window.holds(stage.gather[a.name], a.size)
        for a in stage.inputs
    )


def _outputs_in_window(stage: Solve) -> tuple[bool, ...]:
    if stage.window is None:
        return ()
    held = [stage.window.holds(stage.scatter[a.name].places, a.size) for a in stage.outputs]
    if any(any(h) != all(h) for h in held):
        raise ShapeError(f"stage {stage.name}: an output stands in the window in part")
    return tuple(all(h) for h in held)


def loop_kernel(kernel: Function, access: Access, lanes: int) -> LoopKernel:
    """The code of a kernel reached in a way: that in use, else from the disk, else compiled."""
    known = _of_function.setdefault(kernel, {})
    if (access, lanes) not in known:
        known[access, lanes] = _code(kernel, access, lanes)
    return known[access, lanes]


def _layout(inputs: Sequence[ExpressionArray], outputs: Sequence[ExpressionArray]) -> Layout:
    return Layout(
        {ref: (g, e) for g, array in enumerate(inputs) for e, ref in enumerate(array.refs)},
        tuple(array.size for array in inputs),
        tuple(array.refs for array in outputs),
    )


def _code(kernel: Function, access: Access, lanes: int) -> LoopKernel:
    options = Options(lanes=lanes, packed=min(4, host.host_lanes()), fma=host.host_has_fma())
    if isinstance(access, SolveAccess):
        layout = _layout(arrays_read(kernel), arrays_made(kernel))
        ir = emit_solve(equations_of(kernel), layout, options, access)
    else:
        layout = _layout(kernel.inputs, kernel.outputs)
        ir = emit_loop(kernel.schedule, layout, options, access)
    # the text says all: kernels of another workspace, or of another size of model, are the same
    key = hashlib.blake2b(f"{ir}{machine()}".encode(), digest_size=20).hexdigest()
    external = bool(kernel.table.externals)
    known = None if external else _loaded.get(key)
    if known is not None:
        return known
    code = read_object(key)
    if code is None:
        code = object_code(kernel.name, ir)
        write_object(key, code)
    if external:  # its own table of addresses
        calls = ExternalCalls(kernel.name, kernel.schedule)
        library = host.load_object(code, [ENTRY, EXTERNALS])
        calls.bind(library[EXTERNALS])
        return LoopKernel(library, lanes, calls)
    made = LoopKernel(host.load_object(code, [ENTRY]), lanes, None)
    _loaded[key] = made
    return made
