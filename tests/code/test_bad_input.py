"""Mistakes a user makes are answered by an error of biela that says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ShapeError


@pytest.fixture
def ws() -> bl.Workspace:
    return bl.Workspace("w")


def test_what_is_not_text_is_not_an_expression(ws):
    with pytest.raises(bl.BielaError, match="None is not text"):
        ws.parse(None)
    with pytest.raises(bl.BielaError, match="text of one, is wanted, not None"):
        bl.load(None)


def test_points_must_be_numbers(ws):
    with pytest.raises(bl.BielaError, match="cam: the points must be numbers"):
        ws.spline("cam", "abc", "abd")


def test_arrays_of_a_function_have_names(ws):
    x = ws.symbol("x")
    with pytest.raises(bl.BielaError, match="by name"):
        bl.Function("f", [x], [x])


def test_threads_are_counted(ws):
    x = ws.symbol("x")
    f = bl.Function("f", {"x": x}, {"y": x + 1})
    with pytest.raises(bl.BielaError, match="'two'"):
        f.map(np.ones(3), threads="two")


def test_a_folder_that_cannot_be_made_is_named(ws, tmp_path):
    x = ws.symbol("x")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(
        bl.BielaError, match="file/folder: cannot be written: a part of the path is a file"
    ):
        bl.Function("f", {"x": x}, {"y": x + 1}).export("c", tmp_path / "file" / "folder")


def test_a_parameter_is_a_number():
    with pytest.raises(bl.BielaError, match="parameter length must be a number"):
        bl.SymbolicSystem("s").parameters(length="long")


def test_initial_conditions_hold_what_they_may():
    s = bl.SymbolicSystem("s")
    (a,) = s.coordinates("a")
    with pytest.raises(bl.BielaError, match="depends on da"):
        s.initial(a.velocity)
    with pytest.raises(bl.BielaError, match="depends on dda"):
        s.initial_velocity(a.acceleration)


def test_a_number_cannot_be_held_at_zero():
    s = bl.SymbolicSystem("s")
    with pytest.raises(bl.BielaError, match="never zero"):
        s.constrain(s.workspace.atom(0.5))


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ({"y": [[1.0], 2.0]}, "y is a list of entries, or of rows of them, and not of both"),
        (3.0, "Function: outputs is a mapping of names to values"),
        ({"y": np.zeros(())}, None),
    ],
)
def test_outputs_are_named_lists_or_rows(outputs, said, ws):
    x = ws.symbol("x")
    if said is None:
        assert bl.Function("f", {"x": x}, outputs)(1.0) == 0
        assert bl.Function("f", outputs={"y": np.array(x)}, inputs={"x": x})(1.0) == 1.0
        return
    with pytest.raises(ShapeError, match=said):
        bl.Function("f", {"x": x}, outputs)


def test_the_entries_of_a_function_are_asked_for_by_name(ws):
    x = ws.symbol("x")
    f = bl.Function("f", {"x": x}, {"y": x, "z": x})
    with pytest.raises(ShapeError, match=r"expressions: name is a text or None, not array"):
        f.expressions(np.ones(3))
    with pytest.raises(ShapeError, match=r"jacobian: by is a text or a sequence.* not 3"):
        f.jacobian("y", 3)
    for ragged in (f.map, f.walk_map):
        with pytest.raises(ShapeError, match=r"f\.map: an argument is not an array of numbers"):
            ragged([[1.0], 2.0])
