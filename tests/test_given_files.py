"""Whatever takes a file or a text answers what is neither with an error of biela."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.diagram import draw_groups
from biela.analysis.topology_drawing import draw_topology
from biela.cli.main import main
from biela.errors import BielaError, ResultsError
from biela.given_files import path_of, shown, text_in, text_of
from biela.model import files
from biela.model.meshes.files import read_mesh, write_stl
from biela.model.meshes.mesh import Mesh
from biela.results.channels import Channels, Event
from biela.results.tables import Table
from biela.whole_files import make_folder, write_file, write_files

HALF = "half\ud83d"
#: What is no path, and how a message shows it.
NO_PATHS = {
    "None": (None, "None"),
    "number": (3, "3"),
    "truth": (True, "True"),
    "list": (["a.toml"], "['a.toml']"),
    "array": (np.zeros(2), "array([0., 0.])"),
    "bytes": (b"a.toml", "b'a.toml'"),
    "nothing": ("", "''"),
    "null": ("\0x", r"\x00x"),
    "half": (HALF, r"half\ud83d"),
    "long": ("n" * 5000, "nnnn"),
    "ring": ("ring/x", "ring"),
}


@pytest.fixture(scope="module")
def model() -> bl.Model:
    made = bl.Model("pendulum", plane="xz")
    rod = made.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    made.joint("revolute", "pivot", made.ground, rod, axis="y")
    made.driver("rotary", "turn", coordinate="pivot.angle", law="t")
    return made


@pytest.fixture(scope="module")
def motion(model) -> bl.Results:
    return bl.kinematics(model, 0.1, step=0.05)


def function() -> bl.Function:
    x = bl.Workspace("one").symbol("x")
    return bl.Function("square", {"x": x}, {"y": x * x})


READERS = {
    "load": (bl.load, ".toml"),
    "load robot": (bl.load, ".urdf"),
    "load results": (bl.load, ".npz"),
    "load anything": (bl.load, ""),
    "load_model": (bl.load_model, ".toml"),
    "load_model xml": (bl.load_model, ".xml"),
    "load_model csv": (bl.load_model, ".csv"),
    "files.load": (files.load, ".toml"),
    "loads, folder": (lambda path: files.loads("", folder=path), ""),
    "load_urdf": (files.load_urdf, ".urdf"),
    "load_urdf, package": (
        lambda path: files.load_urdf(
            "<robot name='a'><link name='b'/></robot>", packages={"a": path}
        ),
        "",
    ),
    "load_mjcf": (files.load_mjcf, ".xml"),
    "load_dh": (files.load_dh, ".csv"),
    "load_thesis": (lambda path: files.load_thesis(path, path, path, path), ".txt"),
    "load_thesis_folder": (files.load_thesis_folder, ""),
    "read_mesh": (read_mesh, ".stl"),
    "Results.load": (bl.Results.load, ".npz"),
    "Results.from_csv": (bl.Results.from_csv, ".csv"),
}


@pytest.mark.parametrize("door", READERS)
def test_a_reader_says_what_it_was_given_and_what_it_wants(door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ring").symlink_to("ring")
    read, ending = READERS[door]
    for wrong, (given, said) in NO_PATHS.items():
        if given is None and door == "loads, folder":
            continue
        with pytest.raises(BielaError) as caught:
            read(_ended(given, ending))
        message = str(caught.value)
        assert said in message and len(message) < 500 and message.isprintable(), message
        wanted = "cannot be looked up" if wrong in ("long", "ring") else "wanted, not"
        assert wanted in message, message


def _ended(given: object, ending: str) -> object:
    return given + ending if isinstance(given, str) and given else given


@pytest.mark.parametrize("door", READERS)
def test_a_reader_answers_a_folder_and_a_file_that_is_not_there(door, tmp_path):
    read, ending = READERS[door]
    (tmp_path / f"folder{ending}").mkdir()
    if "folder" in door or "package" in door:
        pytest.skip("it takes folders")
    for name in ("folder", "none", "none/none"):
        with pytest.raises(BielaError, match=name):
            read(tmp_path / f"{name}{ending}")
        with pytest.raises(BielaError, match=name):
            read(str(tmp_path / f"{name}{ending}"))


def test_studio_and_report_say_what_they_were_given():
    for given, said in NO_PATHS.values():
        if given is not None:  # the gallery
            with pytest.raises(BielaError) as caught:
                bl.studio(given, browser=False, wait=False)
            assert said in str(caught.value) or "model" in str(caught.value)
        with pytest.raises(BielaError):
            bl.report(given, "out.html")
        with pytest.raises(BielaError):
            bl.show(given)


WRITERS = {
    "save_model": (lambda m, r, path: bl.save_model(m, path), ".toml"),
    "save_thesis": (lambda m, r, path: files.save_thesis(m, path), ""),
    "write_stl": (
        lambda m, r, path: write_stl(Mesh(np.eye(3), np.array([[0, 1, 2]])), path),
        ".stl",
    ),
    "Results.save": (lambda m, r, path: r.save(path), ".npz"),
    "to_csv": (lambda m, r, path: r.to_csv(path), ".csv"),
    "plot": (lambda m, r, path: r.plot(save=path), ".png"),
    "animate": (lambda m, r, path: r.animate(path), ".html"),
    "Table.save": (lambda m, r, path: Table(("a",), ("",), ((1.0,),), "t").save(path), ".csv"),
    "draw_topology": (lambda m, r, path: draw_topology(bl.check(m), path), ".png"),
    "draw_groups": (lambda m, r, path: draw_groups(bl.structural_groups(m), path), ".png"),
    "export": (lambda m, r, path: function().export("c", path), ""),
    "export_simulator": (lambda m, r, path: bl.export_simulator(m, path), ""),
    "report": (lambda m, r, path: bl.report(m, path, duration=0.1), ".html"),
}
#: Without a name these draw only, or choose one.
OPTIONAL = ("plot", "animate", "report")


@pytest.mark.parametrize("door", WRITERS)
def test_a_writer_says_what_it_was_given_before_it_writes(
    door, model, motion, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("ring").symlink_to("ring")
    write, ending = WRITERS[door]
    for given, said in NO_PATHS.values():
        if given is None and door in OPTIONAL:
            continue
        with pytest.raises(BielaError) as caught:
            write(model, motion, _ended(given, ending))
        assert said in str(caught.value), str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["ring"]


def test_names_of_exported_files_and_languages_are_checked(model, tmp_path):
    for name in (3, b"f", ["f"], "", "2f", "f\n", HALF, "n" * 5000, np.zeros(2)):
        with pytest.raises(BielaError, match="cannot name a source file"):
            function().export("c", tmp_path, name=name)
        with pytest.raises(BielaError, match="cannot name a simulator"):
            bl.export_simulator(model, tmp_path, name=name)
        with pytest.raises(BielaError, match="cannot name a solver"):
            bl.export_groups(model, tmp_path, bodies=True, name=name)
    for language in (None, 3, b"c", np.zeros(2), [3], {"c": 1}, "fortran"):
        with pytest.raises(BielaError, match="no such language"):
            function().export(language, tmp_path)
    assert not list(tmp_path.iterdir())


# --- texts ----------------------------------------------------------------------------------------

TEXTS = {
    "load a robot": lambda text: bl.load(f"<robot name='{text}'/>"),
    "load_urdf": lambda text: files.load_urdf(f"<robot name='{text}'/>"),
    "load_mjcf": lambda text: files.load_mjcf(f"<mujoco model='{text}'/>"),
    "loads": lambda text: files.loads(f"name = '{text}'\n"),
    "load a dump": lambda text: bl.load(f"biela.atoms 1\n{text}\n"),
    "Model": bl.Model,
    "body": lambda text: bl.Model("m").body(text),
    "marker": lambda text: bl.Model("m").body("b").marker(text),
    "joint": lambda text: bl.Model("m").joint("revolute", text, "ground", "ground"),
    "kind": lambda text: bl.Model("m").joint(text, "j", "ground", "ground"),
    "sensor": lambda text: bl.Model("m").sensor("point", text, marker="ground"),
    "parameter": lambda text: bl.Model("m").parameter(text, 1.0),
    "law": lambda text: bl.Model("m").force("force", "f", marker="ground", law=text),
    "quantity": lambda text: bl.Model("m").parameter("a", f"1 {text}"),
    "Workspace": bl.Workspace,
    "symbol": lambda text: bl.Workspace("w").symbol(text),
    "parse": lambda text: bl.Workspace("w").parse(text),
    "SymbolicSystem": bl.SymbolicSystem,
    "Function": lambda text: bl.Function(text, {}, {"y": bl.Workspace("w").symbol("x")}),
    "Results": lambda text: bl.Results(text, [0.0], {}),
    "channel": lambda text: Channels([text], np.zeros((1, 1))),
    "unit": lambda text: Channels(["a"], np.zeros((1, 1)), [text]),
    "group": lambda text: bl.Results("r", [0.0], {text: Channels(["a"], [[0.0]])}),
    "monitor": lambda text: bl.Results("r", [0.0], {}, {text: [0.0]}),
    "event": lambda text: bl.Results("r", [0.0], {}, events=[Event(0.0, text)]),
}


@pytest.mark.parametrize("door", TEXTS)
def test_half_a_letter_is_refused_at_the_door(door):
    with pytest.raises(BielaError):
        TEXTS[door](HALF)


@pytest.mark.parametrize(
    "door",
    [
        "Model", "body", "marker", "joint", "kind", "parameter", "Workspace", "symbol", "parse",
        "SymbolicSystem", "Function", "Results", "channel", "unit", "group", "monitor", "event",
    ],
)  # fmt: skip
def test_what_is_no_text_is_refused_as_a_name(door):
    for given in (None, 3, b"x", ("x",)):
        with pytest.raises(BielaError):
            TEXTS[door](given)
    for given in (None, 3, b"x", ["x"], np.zeros(2), {}):
        with pytest.raises(BielaError, match="a model file is a text, not"):
            files.loads(given)


def test_what_a_file_cannot_hold_is_said_wherever_it_comes_from(model, motion, tmp_path):
    half = bl.Model("pendulum")
    half.description = f"a {HALF} of it"
    with pytest.raises(BielaError, match=r"out\.toml: cannot be written: .* U\+D83D: .*a half"):
        bl.save_model(half, tmp_path / "out.toml")
    film = motion.animate()
    film.name = HALF
    with pytest.raises(ResultsError, match=r"U\+D83D"):
        film.save(tmp_path / "out.html")
    with pytest.raises(ResultsError, match=r"U\+D83D"):
        write_files({tmp_path / "a": "whole", tmp_path / "b": HALF}, ResultsError)
    assert not list(tmp_path.iterdir())


def test_results_whose_header_has_half_a_letter_are_refused(motion, tmp_path):
    path = motion.save(tmp_path / "whole.npz")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "half.npz", "w") as new:
        for entry in old.namelist():
            content = old.read(entry)
            if entry == "header.npy":
                shape = content.index(b"{", content.index(b"\n"))
                header = json.loads(content[shape:])
                text = json.dumps({**header, "name": HALF}).encode()
                with new.open(entry, "w") as file:
                    np.lib.format.write_array(file, np.frombuffer(text, dtype=np.uint8))
            else:
                new.writestr(entry, content)
    with pytest.raises(ResultsError, match=r"half\.npz: the name of results is"):
        bl.Results.load(tmp_path / "half.npz")


# --- the functions themselves ---------------------------------------------------------------------


def test_paths_and_texts_come_back_as_they_are(tmp_path):
    # a name whose bytes are no UTF-8 is one that Unix has
    for name in ("a.toml", "ä", "with blank", "\udcff.toml"):
        assert path_of(str(tmp_path / name), BielaError) == tmp_path / name
    assert path_of(tmp_path, BielaError) == tmp_path
    assert text_of("μ\n𝛼", BielaError, "it") == "μ\n𝛼"
    (tmp_path / "lines").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert text_in(tmp_path / "lines", BielaError) == "a\nb\nc\n"
    (tmp_path / "latin").write_bytes(b"a\nb\xe9\n")
    with pytest.raises(BielaError, match=r"latin:2: the file should be UTF-8, .* 0xe9"):
        text_in(tmp_path / "latin", BielaError)


def test_whatever_is_given_is_shown_in_a_line():
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError

    for given in (None, "a" * 10**6, np.zeros((1000, 3)), list(range(10**5)), Silent(), HALF):
        assert shown(given).isprintable() and len(shown(given)) < 300
    for write in (write_file, make_folder):
        for given in (None, 3, b"x", "\0", HALF):
            with pytest.raises(BielaError, match="wanted, not"):
                write(given, *(["x"] if write is write_file else []), BielaError)


def test_the_command_line_answers_names_of_any_bytes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("ring").symlink_to("ring")
    Path("mute\udcff").mkdir()
    long = "n" * 3000
    for words in (
        ["check", "\udcff.toml"],
        ["check", "mute\udcff"],
        ["check", f"{long}.toml"],
        ["check", "ring/x.toml"],
        ["order", "ring/x.py"],
        ["new", "four-bar", "--out", f"{long}.toml"],
        ["convert", "four-bar", "--to", "ring/x.toml"],
        ["convert", "four-bar", "--to", long],
        ["export", "four-bar", "--out", "ring/x"],
        ["run", "four-bar", "--out", long],
        ["kinematics", "four-bar", "--reference", f"{long}.csv"],
        ["report", "four-bar", "--output", f"{long}.html"],
    ):
        code, said = main(words), capsys.readouterr().err
        assert code == 1 and said.startswith("biela: "), (words, code, said)
        assert any(w in said for w in ("looked up", "not there", "mute", "too long")), said
        assert len(said) < 500, said


def test_braces_in_names_do_not_disturb_what_is_said_of_a_limit(tmp_path):
    for name in ("{}", "{x}", "{0.a}", "}{"):
        file = tmp_path / f"{name}.toml"
        file.write_text(f"{'a.' * 1000}b = 1\n")
        with pytest.raises(BielaError, match=r"would make 1,001 nested tables; the limit is 100"):
            files.load(file)


@pytest.mark.parametrize("ending", ["toml", "urdf", "xml", "stl", "csv"])
def test_a_pipe_is_not_waited_for(ending: str, tmp_path: Path) -> None:
    pipe = tmp_path / f"pipe.{ending}"
    os.mkfifo(pipe)
    readers = {"stl": read_mesh}
    with pytest.raises(BielaError, match="pipe"):
        readers.get(ending, bl.load)(pipe)
