"""Items written right where they are stored, and unknowns stored once: the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from biela.analysis.groups import runner as runner_module
from biela.analysis.groups.coordinates import Coordinates
from biela.analysis.groups.runner import GroupRunner
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.stored import aligned_rows, joined
from biela.code.llvm.host import host_lanes
from biela.errors import ShapeError
from examples.groups.four_bar_chain import four_bar_chain

TIMES = np.linspace(0.0, 3.0, 301)


def chain(coordinates: Coordinates, bodies: bool = False) -> GroupSolver:
    return GroupSolver(
        four_bar_chain(7),
        coordinates=coordinates,
        points=["cell[2].rocker.C"],
        bodies=bodies,
        closed_forms=False,
    )


@pytest.mark.parametrize("bodies", [False, True])
@pytest.mark.parametrize("coordinates", ["natural", "relative"])
def test_what_is_written_in_place_is_what_would_be_copied(
    coordinates: Coordinates, bodies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = chain(coordinates, bodies)
    monkeypatch.setattr(runner_module, "_CHUNK", 64)  # over several chunks
    plain, said = GroupRunner._in_place, []
    monkeypatch.setattr(GroupRunner, "_in_place", lambda *a: said.append(plain(*a)) or said[-1])
    found = solver.run(TIMES)._stored.rows
    assert said
    assert all(said)
    monkeypatch.setattr(GroupRunner, "_in_place", lambda *_: False)
    copied = solver.run(TIMES)._stored.rows
    np.testing.assert_array_equal(found, copied)


def test_rows_are_told_where_they_are_and_where_the_next_one_is() -> None:
    solver, lanes = chain("natural"), host_lanes()
    runner = GroupRunner(solver.groups, solver.poses, "instants")
    rows = solver.room(4 * lanes)
    window = solver.groups.window
    assert window is not None
    given = runner._driven(np.linspace(0.0, 0.1, 4 * lanes), rows)
    here = [r.ctypes.data - runner.w.ctypes.data - 8 * window.first * lanes for r in rows]
    np.testing.assert_array_equal(8 * given[:, 0], here)
    np.testing.assert_array_equal(8 * given[:, 1], [0, *here[:-1]])
    np.testing.assert_array_equal(8 * given[:, 2], [*np.diff(here), 0])
    assert not runner._driven(np.linspace(0.0, 0.1, 4 * lanes))[:, :3].any()


def test_rooms_that_are_not_aligned_get_the_same_numbers() -> None:
    solver = chain("natural")
    whole = solver.run(TIMES)._stored.rows
    raw = np.zeros(whole.size + 1)
    odd = raw[1:].reshape(whole.shape)
    solver.run(TIMES, room=odd)
    np.testing.assert_array_equal(odd, whole)


def test_a_room_that_cannot_be_written_to_is_refused() -> None:
    solver = chain("natural")
    room = solver.room(len(TIMES))
    shut = room.copy()
    shut.flags.writeable = False
    across = np.moveaxis(np.zeros(room.shape[::-1]), 0, 2).transpose(1, 0, 2)
    assert across.shape == room.shape
    for poor in (room[1:], room.astype(np.float32), shut, across):
        with pytest.raises(ShapeError, match="the room for 301 instants"):
            solver.run(TIMES, room=poor)


def test_unknowns_that_are_items_have_no_places_of_their_own() -> None:
    groups = chain("natural").groups
    kind = next(c for c, kernel in enumerate(groups.kernels) if kernel.unknowns)
    memory = groups.memory
    assert groups.kernels[kind].among_items
    inside = set(memory.places("y").tolist())
    assert set(groups.unknown_places(kind).ravel().tolist()) <= inside
    assert not chain("relative").groups.kernels[kind].among_items


def test_rows_are_aligned_and_stretches_joined() -> None:
    rows = aligned_rows(3, 5, host_lanes())
    assert rows.shape == (3, 5, host_lanes())
    assert rows.ctypes.data % (8 * host_lanes()) == 0
    assert joined([(4, 2), (6, 1), (9, 3), (12, 1), (1, 1)]) == [(4, 3), (9, 4), (1, 1)]
