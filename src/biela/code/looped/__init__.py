"""Native looped programs: a few kernels run over many instances, without Python between them.

All numbers lie in one flat array of doubles, the *workspace* ``w``; `Memory` names its segments.
A `Stage` is a kernel (`biela.code.Function`) and its instances: each has a row of parameters (the
input "p"), and for every other array a row of places in ``w``, or a first place where entries
follow each other.  Outputs are set, or added to what is there.  Instances run in order, so that one
may read what the one before wrote (recursions, eliminations); ``independent=True`` promises that
none does, and they run in the lanes of the processor.  A `Program` is a sequence of stages, or a
tape of segments of them, and one native call:

>>> import numpy as np
>>> import biela as bl
>>> from biela.code.looped import Clear, Memory, Program, Stage, Write
>>> ws = bl.Workspace("springs")
>>> a, b = ws.symbol("a"), ws.symbol("b")
>>> k = ws.parameter("k")
>>> force = k * (b - a)
>>> spring = bl.Function("spring", {"x": [a, b], "p": [k]}, {"f": [force, -force]})
>>> memory = Memory({"x": 4, "f": 4})
>>> first = np.arange(3)  # a chain: spring i is between the points i and i + 1
>>> stage = Stage(
...     spring,
...     gather={"x": memory.first("x") + first},
...     scatter={"f": Write(memory.first("f") + first, "add")},
...     parameters=np.array([[1.0], [2.0], [3.0]]),
...     independent=True,
... )
>>> program = Program([Clear(memory.first("f"), 4), stage], memory.size)
>>> w = memory.array()
>>> memory.view(w, "x")[:] = [0.0, 1.0, 3.0, 4.0]
>>> program.run(w)
>>> memory.view(w, "f")
array([ 1.,  3., -1., -3.])

A `Solve` is a stage of instances that solve small nonlinear equations by Newton's method before
they write their results; see `biela.code.looped.solve_stage`.

Tables and parameters are data, not code: a kernel is compiled once whatever the number of its
instances and stages, and is found again on disk for a model of another size.

``program.address`` is that of ``void run(double *w)``, for numba drivers and other native code:
declare it as a kernel without inputs and with one output of ``program.size`` reals.
``program.function(memory, inputs, outputs)`` has the signature of all other kernels,
``void run(const double *in0, …, double *out0, …)``, with a workspace of its own; its ``map`` runs
many states, one in every lane of the processor.
"""

from biela.code.looped.function import ProgramFunction
from biela.code.looped.memory import Inside, Memory
from biela.code.looped.program import Program
from biela.code.looped.solve_stage import STATUS, Failure, Solve
from biela.code.looped.stage import Call, Clear, Segment, Stage, Write
from biela.code.looped.window import Window

__all__ = [
    "STATUS",
    "Call",
    "Clear",
    "Failure",
    "Inside",
    "Memory",
    "Program",
    "ProgramFunction",
    "Segment",
    "Solve",
    "Stage",
    "Window",
    "Write",
]
