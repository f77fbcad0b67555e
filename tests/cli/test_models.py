"""How the model of a file is found, and what is said if it is not."""

from __future__ import annotations

import sys

import pytest

from biela.cli.models import model_in
from biela.errors import ModelError
from tests.cli.models_on_disk import LOOP, PENDULUM


def written(folder, text, name="swing.py"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_system_at_module_level_is_the_model_whatever_its_name(tmp_path):
    assert model_in(written(tmp_path, LOOP)).name == "loop"


def test_one_system_with_two_names_is_one_model(tmp_path):
    assert model_in(written(tmp_path, LOOP + "\nagain = s\n")).name == "loop"


@pytest.mark.parametrize("name", ["model", "build", "swing"])
def test_a_function_of_a_usual_name_is_called(tmp_path, name):
    assert model_in(written(tmp_path, PENDULUM.format(name=name))).name == "pendulum"


def test_a_function_that_says_what_it_returns_is_called(tmp_path):
    text = PENDULUM.format(name="anything").replace("():", "() -> bl.SymbolicSystem:")
    assert model_in(written(tmp_path, text)).name == "pendulum"


def test_of_several_models_one_must_be_named(tmp_path):
    text = 'import biela as bl\na = bl.SymbolicSystem("one")\nb = bl.SymbolicSystem("two")\n'
    path = written(tmp_path, text)
    with pytest.raises(ModelError, match="a, b: choose one, --model a"):
        model_in(path)
    assert model_in(path, "b").name == "two"
    with pytest.raises(ModelError, match="c is not there; the file has a, b"):
        model_in(path, "c")


def test_a_function_that_needs_arguments_is_shown_with_them(tmp_path):
    path = written(tmp_path, PENDULUM.format(name="swing").replace("():", "(links):"))
    with pytest.raises(ModelError, match=r"swing\(links\) needs arguments"):
        model_in(path, "swing")
    with pytest.raises(ModelError, match="has no model"):
        model_in(path)


def test_a_function_that_returns_something_else_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"model\(\) returns int"):
        model_in(written(tmp_path, "def model():\n    return 3\n"))


def test_a_syntax_error_shows_file_and_line(tmp_path):
    path = written(tmp_path, "x = 1\ny = (2\n\nz = ]\n")
    with pytest.raises(ModelError, match=r"swing\.py:4: "):
        model_in(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nimport nothing_of_this_name\n", r"swing\.py:2: ModuleNotFoundError"),
        ("def f():\n    return 1 / 0\n\nf()\n", r"swing\.py:2: ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", r"swing\.py:2: the file ends the program"),
        ("def build():\n    raise ValueError('bad')\n", r"swing\.py:2: ValueError: bad"),
    ],
)
def test_a_file_that_fails_shows_its_line(tmp_path, text, said):
    with pytest.raises(ModelError, match=said):
        model_in(written(tmp_path, text))


def test_what_biela_says_of_a_file_comes_with_the_line(tmp_path):
    text = 'import biela as bl\ns = bl.SymbolicSystem("s")\ns.parameters(m="heavy")\n'
    with pytest.raises(ModelError, match=r"swing\.py:3: s: the value of parameter m"):
        model_in(written(tmp_path, text))


def test_a_file_that_is_not_there_a_folder_and_another_format_are_told_apart(tmp_path):
    with pytest.raises(ModelError, match="is not there"):
        model_in(tmp_path / "absent.py")
    with pytest.raises(ModelError, match="is a folder"):
        model_in(tmp_path)
    with pytest.raises(ModelError, match=r"should end in \.py"):
        model_in(written(tmp_path, "{}", "model.json"))


def test_a_file_may_import_its_neighbours_and_leaves_the_path_as_it_was(tmp_path):
    written(tmp_path, "LENGTH = 0.7\n", "neighbour_of_swing.py")
    text = "import neighbour_of_swing\n" + PENDULUM.format(name="model")
    before = list(sys.path), list(sys.argv)
    model_in(written(tmp_path, text))
    assert (sys.path, sys.argv) == before


def test_a_model_called_like_a_library_does_not_take_its_place(tmp_path):
    import json

    model_in(written(tmp_path, PENDULUM.format(name="model"), "json.py"))
    assert sys.modules["json"] is json


def test_what_belongs_to_a_program_is_not_run(tmp_path):
    text = LOOP + '\nif __name__ == "__main__":\n    raise RuntimeError\n'
    assert model_in(written(tmp_path, text)).name == "loop"
