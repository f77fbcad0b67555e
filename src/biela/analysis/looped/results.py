"""Results of large mechanisms: states as they were found, the rest when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.pictures import joint_channels, looped_scene
from biela.analysis.looped.sparse_rows import SparseRows
from biela.equations.blocks import FrameMotion, ReferenceBlocks
from biela.results import Channels, Results, RunStatistics
from biela.results.frames import frame_channels

Floats = npt.NDArray[np.float64]

#: Bodies up to which the motion of markers is offered, and that of bodies.
MARKERS_UP_TO, FRAMES_UP_TO = 1_000, 30_000


class LoopedStates(Protocol):
    """The motion of a large mechanism, a row an instant."""

    blocks: ReferenceBlocks

    @property
    def t(self) -> Floats:
        """Times."""

    @property
    def q(self) -> Floats:
        """Positions."""

    @property
    def v(self) -> Floats:
        """Velocities."""

    @property
    def a(self) -> Floats:
        """Accelerations."""

    def outputs(self) -> Floats:
        """What sensors read."""


class Motion:
    """The stored instants of a run."""

    def __init__(self, blocks: ReferenceBlocks) -> None:
        self.blocks = blocks
        self._rows: dict[str, list[Any]] = {name: [] for name in ("t", "q", "v", "a", "p", "n")}

    def store(
        self, t: float, q: Floats, v: Floats, a: Floats, pivot: float, iterations: int
    ) -> None:
        """One more instant."""
        values = (t, q, v, a, pivot, iterations)
        for name, value in zip(self._rows, values, strict=True):
            self._rows[name].append(value)

    def results_from(self, first: int) -> Results:
        """The channels from a stored instant on, while the run goes on."""
        rest = Motion(self.blocks)
        rest._rows = {name: rows[first:] for name, rows in self._rows.items()}
        return Results(self.blocks.name, rest.t, channel_groups(rest), interrupted=True)

    def column(self, name: str) -> Floats:
        """What was stored of t, q, v, a, the pivots p or the iterations n, a row an instant."""
        return np.array(self._rows[name], dtype=float)

    @cached_property
    def q(self) -> Floats:
        """Positions."""
        return self.column("q")

    @cached_property
    def v(self) -> Floats:
        """Velocities."""
        return self.column("v")

    @cached_property
    def a(self) -> Floats:
        """Accelerations."""
        return self.column("a")

    @cached_property
    def t(self) -> Floats:
        """Times."""
        return self.column("t")

    def outputs(self) -> Floats:
        """What sensors read."""
        instants = zip(self.q, self.v, self.t, strict=True)
        return np.array([self.blocks.y(q, v, float(t)) for q, v, t in instants])

    def constraint_errors(self) -> Floats:
        """The largest violation at each instant."""
        return np.array(
            [
                np.abs(self.blocks.Phi(q, float(t))).max()
                for q, t in zip(self.q, self.t, strict=True)
            ]
        )

    def velocity_errors(self, rows: SparseRows) -> Floats:
        """The largest |Φ_v v - β|."""
        found = []
        for q, v, t in zip(self.q, self.v, self.t, strict=True):
            rest = rows.product(self.blocks.Phi_v(q, float(t)), v) - self.blocks.beta(q, float(t))
            found.append(np.abs(rest).max())
        return np.array(found)


def rank_report(rows: Sequence[str], dependent: int, doubtful: Sequence[int]) -> dict[str, Any]:
    """How many rows depend on others and of which it is not certain, for the statistics."""
    found: dict[str, Any] = {"dependent rows": dependent}
    if len(doubtful):
        names = ", ".join(rows[int(k)] for k in doubtful[:6])
        more = f" and {len(doubtful) - 6} more" if len(doubtful) > 6 else ""
        found["rows of doubtful rank"] = names + more
    return found


def looped_results(
    motion: Motion,
    rows: SparseRows,
    counts: Mapping[str, int],
    *,
    interrupted: bool,
    spent: tuple[float, float],
) -> Results:
    """The results of a run, which took ``spent`` seconds in all and from the start on."""
    blocks = motion.blocks
    errors = motion.constraint_errors()
    statistics = RunStatistics(
        method="positions by Newton, sparse",
        steps=counts["steps"],
        failed_steps=counts["failed_steps"],
        iterations=counts["iterations"],
        factorisations=rows.factorisations,
        time_simulated=float(motion.t[-1] - motion.t[0]),
        time_total=spent[0],
        time_integration=spent[1],
        max_constraint_error=float(errors.max()),
        more=rank_report(blocks.rows, len(rows.dropped), rows.doubtful.tolist()),
    )
    monitors: dict[str, Floats | Callable[[], Floats]] = {
        "constraint error": errors,
        "velocity error": lambda: motion.velocity_errors(rows),
        "smallest pivot": motion.column("p"),
        "iterations": motion.column("n"),
    }
    return Results(
        blocks.name,
        motion.t,
        channel_groups(motion),
        monitors,
        {},
        statistics,
        looped_scene(blocks, lambda: motion.q),
        (),
        interrupted,
    )


def coordinate_units(blocks: ReferenceBlocks) -> tuple[list[str], list[str]]:
    """Units of the coordinates of all bodies and of those besides, and of their velocities."""
    extra, count = [""] * len(blocks.extra), blocks.world.count
    if blocks.plane is None:
        units_q, units_v = ["m"] * 3 + [""] * 4, ["m/s"] * 3 + ["rad/s"] * 3
    else:
        units_q, units_v = ["m", "m", "rad"], ["m/s", "m/s", "rad/s"]
    return units_q * count + extra, units_v * count + extra


def channel_groups(motion: LoopedStates) -> dict[str, Channels]:
    """The channels of a motion: coordinates, velocities, accelerations, outputs and frames."""
    blocks = motion.blocks
    count = blocks.world.count
    units_q, units_v = coordinate_units(blocks)
    names_v = list(blocks.velocity_names)
    names_q = list(blocks.coordinate_names)
    slopes = _slopes(blocks, names_v)
    groups = {
        "q": Channels(names_q, lambda: motion.q, units_q, slopes),
        "v": Channels(names_v, lambda: motion.v, units_v),
        "a": Channels(
            [f"d{name}" for name in names_v],
            lambda: motion.a,
            [f"{unit}²" if unit else "" for unit in units_v],
        ),
    }
    if len(blocks.outputs):
        described = [one for n, entries in blocks.output_units for _ in range(n) for one in entries]
        names = list(blocks.outputs)
        rates = [_rate(name, rate) for name, (_, rate) in zip(names, described, strict=True)]
        groups["y"] = Channels(
            names,
            motion.outputs,
            [unit for unit, _ in described],
            rates,
            angles=[bool(rate) for rate in rates],
        )
    groups |= joint_channels(blocks, motion.t, lambda: motion.q, lambda: motion.v)
    if count <= FRAMES_UP_TO:
        frames = FrameMotion.of(blocks, markers=count <= MARKERS_UP_TO)
        groups |= frame_channels(
            frames.names,
            lambda: frames.poses(motion.q),
            lambda: frames.twists(motion.q, motion.v),
            lambda: frames.accelerations(motion.q, motion.v, motion.a),
        )
    return groups


def _slopes(blocks: ReferenceBlocks, names_v: list[str]) -> list[str]:
    """The channel that is the rate of each coordinate; Euler parameters have none."""
    nq, nv = blocks.widths
    own = range(3)
    found: list[str] = []
    for body in range(blocks.world.count):
        found += [f"v.{names_v[nv * body + c]}" for c in own] + [""] * (nq - 3)
    return found + [f"v.{name}" for name in names_v[nv * blocks.world.count :]]


def _rate(name: str, rate: str) -> str:
    """The rate of an output of an instance: the same name with that of the rate at its end."""
    return f"{name}_rate" if rate else ""
