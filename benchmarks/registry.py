"""The benchmarks by name: each is a module with a ``run(quick)`` that yields rows."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.report import Row


@dataclass(frozen=True)
class Benchmark:
    """A module of this package that measures something."""

    name: str

    @property
    def summary(self) -> str:
        """The first line of the module's docstring."""
        text = importlib.import_module(f"benchmarks.{self.name}").__doc__ or ""
        return text.partition("\n")[0].rstrip(".")

    def run(self, quick: bool) -> Iterator[Row]:
        """Measure; rows come as soon as they are known."""
        yield from importlib.import_module(f"benchmarks.{self.name}").run(quick)


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
