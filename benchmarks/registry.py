"""The benchmarks by name: each is a module with a ``run(quick)`` that yields rows."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from benchmarks.report import Row


@dataclass(frozen=True)
class Benchmark:
    """A module of this package that measures something; by default called like it."""

    name: str
    module: str = ""

    @property
    def summary(self) -> str:
        """The first line of the module's docstring."""
        text = self._module().__doc__ or ""
        return text.partition("\n")[0].rstrip(".")

    def run(self, quick: bool) -> Iterator[Row]:
        """Measure; rows come as soon as they are known."""
        yield from self._module().run(quick)

    def _module(self) -> ModuleType:
        return importlib.import_module(f"benchmarks.{self.module or self.name}")


BENCHMARKS = {
    name: Benchmark(name)
    for name in (
        "graph_build",
        "inverse_dynamics",
        "inverse_kinematics",
        "derivatives",
        "long_chain",
        "large_function",
        "python_call",
        "sine_cosine",
        "sparse_solve",
        "orderings",
        "sparse_blocks",
        "large_mechanisms",
        "thesis_examples",
        "thesis_kinematics",
        "symbolic",
        "closed_loops",
        "andrews",
        "first_answer",
        "realtime",
        "model_arrays",
        "structure_finder",
        "looped_kinematics",
        "large_chain",
        "robots",
        "robot_loops",
        "rollouts",
        "long_robots",
        "studio",
    )
}
#: Those of structural groups stand together.
BENCHMARKS |= {
    f"groups_{name}": Benchmark(f"groups_{name}", f"groups.{name}")
    for name in ("chain", "slider", "slider_models", "growth", "formulations", "dynamics", "truck")
}
