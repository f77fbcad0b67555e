"""How the model of a file is found, and what is said if it is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import biela as bl
from biela.cli.models import bodies_in, function_name, model_in, output_name, system_of
from biela.errors import ModelError
from tests.cli.models_on_disk import BODIES, LOOP, PENDULUM, SLIDER_CRANK, THESIS


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
    with pytest.raises(ModelError, match=r"should end in \.toml, \.urdf, \.xml or \.py"):
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


# --- bodies and joints ----------------------------------------------------------------------------


def test_a_model_of_bodies_may_stand_in_a_python_file(tmp_path):
    model = model_in(written(tmp_path, BODIES))
    assert isinstance(model, bl.Model)
    assert list(model.joints) == ["pivot"]


def test_a_function_that_returns_a_model_of_bodies_is_called(tmp_path):
    body = "".join(f"    {line}\n" for line in BODIES.splitlines()[1:])
    text = f"import biela as bl\ndef anything() -> bl.Model:\n{body}    return m\n"
    assert model_in(written(tmp_path, text)).name == "swing"


def test_a_model_file_is_read(tmp_path):
    model = bodies_in(written(tmp_path, SLIDER_CRANK, "crank.toml"))
    assert list(model.joints) == ["A", "B", "C", "slide"]
    with pytest.raises(ModelError, match="--model x is for Python files"):
        model_in(tmp_path / "crank.toml", "x")


def test_a_folder_of_text_files_is_a_model():
    assert list(bodies_in(THESIS).bodies) == ["link2", "link3", "link4"]


def test_a_mistake_in_a_model_file_comes_with_its_line(tmp_path):
    text = SLIDER_CRANK.replace('kind = "prismatic"', 'kind = "prismatik"')
    line = text[: text.index("prismatik")].count("\n") + 1
    path = written(tmp_path, text, "crank.toml")
    with pytest.raises(ModelError, match=rf"crank\.toml:{line}: .*did you mean 'prismatic'"):
        model_in(path)


def test_a_file_that_is_not_there_but_in_the_gallery_is_offered(tmp_path):
    with pytest.raises(ModelError, match="biela new slider-crank writes one"):
        model_in(tmp_path / "slider_crank.toml")


def test_what_needs_bodies_refuses_symbols_and_the_other_way_round(tmp_path):
    path = written(tmp_path, LOOP)
    with pytest.raises(ModelError, match="is written in symbols"):
        bodies_in(path)
    with pytest.raises(ModelError, match="leave out --coordinates"):
        system_of(model_in(path), "reference")


def test_coordinates_are_chosen_on_the_command_line_or_in_the_file(tmp_path):
    model = bodies_in(written(tmp_path, SLIDER_CRANK, "crank.toml"))
    assert len(system_of(model).q) == 3
    assert len(system_of(model, "reference").q) == 9
    model.run["coordinates"] = "reference"
    assert len(system_of(model).q) == 9


@pytest.mark.parametrize(
    ("name", "folder"), [("slider-crank 2", "slider_crank_2"), ("4-bar", "model_4_bar")]
)
def test_functions_and_folders_have_plain_names(name, folder):
    assert function_name(bl.Model(name)) == folder
    assert output_name(Path(f"models/{name}.toml"), None) == folder


def test_files_that_describe_one_model_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("first.py", "second.py"):
        written(tmp_path, BODIES, name)
    names = [output_name(Path(name), None) for name in ("first.py", "second.py")]
    assert names == ["first", "second"]
    assert model_in(Path("first.py")).name == model_in(Path("second.py")).name


def test_a_bare_name_is_a_mechanism_of_the_gallery_unless_it_is_something_else(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    gallery = model_in(Path("four_bar"))
    assert gallery.name == model_in(Path("Four-Bar")).name and len(gallery.bodies) == 3
    with pytest.raises(ModelError, match=r"four_bar\.toml is not there"):
        model_in(Path("four_bar.toml"))
    with pytest.raises(ModelError, match="is not there"):
        model_in(Path("somewhere/four_bar"))
    Path("four_bar").mkdir()  # what is there goes first
    with pytest.raises(ModelError, match="four_bar is a folder, and no model"):
        model_in(Path("four_bar"))
