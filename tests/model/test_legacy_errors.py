"""The four text files of Peinado's thesis: mistakes in them, and the forms that are accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from biela.errors import FileError
from biela.model.files import dumps, load_thesis, load_thesis_folder
from tests.model.test_legacy import ARM_LAWS, DATA, ROTARY, copied

# --- mistakes -------------------------------------------------------------------------------------

JOINT = "2 1 2 0 0 0 1 0 0 0 1 0 0 0 0 0 0 1 0 1 0 0"


def test_a_row_with_a_number_lost_is_told_with_the_column() -> None:
    with pytest.raises(FileError) as caught:
        load_thesis_folder(DATA / "robot_arm_as_printed", laws=ARM_LAWS)
    told = str(caught.value).splitlines()
    assert len(told) == 2
    assert "joints.txt:1:41: a joint has 22 numbers, and there are 21: column 22 (value)" in told[0]
    assert "joints.txt:2:41:" in told[1]


def test_an_initial_position_with_a_number_lost_is_told_with_the_link() -> None:
    printed, arm = DATA / "robot_arm_as_printed", DATA / "robot_arm"
    with pytest.raises(
        FileError, match=r"initial.txt:1:\d+: qo has 27 numbers, and 4 links have 28"
    ):
        load_thesis(
            printed / "general.txt",
            arm / "joints.txt",
            printed / "drivers.txt",
            printed / "initial.txt",
            laws=ARM_LAWS,
        )


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("general", "nb 4\nT 1", "general.txt:1: t, the number of intervals, is missing"),
        ("general", "nb 4 T 1 t 100 q 3", "general.txt:1:16: unknown key 'q'"),
        ("general", "nb 4 T 1 t", "general.txt:1:10: t has no value"),
        ("general", "nb 4 nb 4 T 1 t 2", "general.txt:1:6: nb is given twice"),
        ("general", "nb 4.5 T 1 t 2", "general.txt:1:4: the number of links is a whole number"),
        ("general", "nb 1 T 1 t 2", "general.txt:1:4: a mechanism has two links or more"),
        ("general", "nb 4 T -1 t 2", "general.txt:1:8: -1 must be above zero"),
        ("general", "4 1", "general.txt:1:3: 2 plain numbers; there are 3: nb, T and t"),
        ("general", "nb 4 T 1 t 9 endpoint maybe", "general.txt:1:23: endpoint is yes or no"),
        ("joints", f"{JOINT} 5", "joints.txt:1:45: .*column 23 is one too many"),
        ("joints", "2 1 2 0 0 0 1 0", r"joints.txt:1:15: .*column 9 \(z of Qi\) is missing"),
        (
            "joints",
            "# x\n" + JOINT.replace("1", "1,5", 1),
            "joints.txt:2:3: '1,5' is not a number; ",
        ),
        ("joints", JOINT.replace("1", "nan", 1), "joints.txt:1:3: 'nan' is not a finite number"),
        ("joints", JOINT.replace("2 1 2", "2 1 7"), "joints.txt:1:5: there is no link 7; they are"),
        ("joints", JOINT.replace("2 1 2", "2 2 2"), "joints.txt:1:5: link 2 is joined with itself"),
        (
            "joints",
            JOINT.replace("2 1 2", "77 1 2"),
            "joints.txt:1:1: 77 is not the code of a joint",
        ),
        ("joints", f"{JOINT} | t", "joints.txt:1:1: a joint has no law"),
        (
            "joints",
            "2 1 2 0 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 1 0 0",
            "joints.txt:1:13: Pi and Qi are one point and give no direction",
        ),
        (
            "joints",
            "2 1 2 0 0 0 1 0 0 2 0 0 0 0 0 0 0 1 0 1 0 0",
            "joints.txt:1:19: a_i = Qi - Pi and b_i = Ri - Pi are parallel",
        ),
        (
            "joints",
            "3 1 2 0 0 0 1 0 0 0 1 0 0 0 0 0 0 1 0 0 2 0",
            "joints.txt:1:37: a_j = Rj - Pj is along the axis",
        ),
        (
            "joints",
            "3 1 2 0 0 0 1 0 0 0 1 0 0 0 0 0 0 1 0 1 0 3",
            "joints.txt:1:43: no angle between a_i and a_j has the cosine 3",
        ),
        ("joints", "5 1 2 " + "0 " * 18 + "-1", "joints.txt:1:1: .*must be above zero"),
        ("drivers", ROTARY, "drivers.txt:1:1: driver 1 has no law: write it after a bar"),
        ("drivers", f"{ROTARY} | 2*(t", "drivers.txt:1:1: the law of driver 1: this parenthesis"),
        ("drivers", "1 1 2 0 | t", r"a driver has 15, 21 or 22 numbers, and there are 4"),
        ("drivers", "| t", "drivers.txt:1: a law without a driver before it"),
        ("drivers", f"9{ROTARY[1:]} | t", "drivers.txt:1:1: 9 is not the code of a driver"),
        ("initial", "0 0 0 1", "initial.txt:1:1: the keyword qo is missing"),
        ("initial", "qo " + "0 0 0 1 0 0 0 " * 4 + "5", "initial.txt:1:60: qo has 29 numbers"),
        ("initial", "qo " + "0 0 0 1 0 0 0 " * 3 + "0 0 0 0 0 0 0", "link 4 are all zero"),
        ("initial", "qo 0 0 1 " + "1 0 0 0 0 0 0 " * 4, "numbers"),
        ("initial", "qo 1 0 0 1 0 0 0 " + "0 0 0 1 0 0 0 " * 3, "link 1 is the ground"),
    ],
)
def test_mistakes_are_told_with_file_line_and_column(
    tmp_path: Path, file: str, text: str, told: str
) -> None:
    folder = copied(tmp_path, "slider_crank", **{file: text})
    with pytest.raises(FileError, match=told):
        load_thesis_folder(folder)


def test_laws_for_drivers_that_are_not_there_are_refused() -> None:
    with pytest.raises(FileError, match="a law for driver 2 and no such driver"):
        load_thesis_folder(DATA / "slider_crank", laws=["t", "t"])


def test_a_folder_without_its_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no file general.txt"):
        load_thesis_folder(tmp_path)
    with pytest.raises(FileError, match=r"the folder cannot be read"):
        load_thesis_folder(tmp_path / "no")


# --- forms that are accepted ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "general", ["4 1 100", "t=100 T = 1\nnb= 4", "nb 4 # eslabones\nT\t1\n\nt 100"]
)
def test_the_general_file_has_several_forms(tmp_path: Path, general: str) -> None:
    folder = copied(tmp_path, "slider_crank", general=general)
    assert load_thesis_folder(folder).run == {"duration": 1.0, "step": 0.01, "end_point": False}


def test_settings_of_a_run_come_along(tmp_path: Path) -> None:
    text = "nb 4 T 1 t 50 tol 1e-9 max_iter 20 solver newton endpoint yes"
    model = load_thesis_folder(copied(tmp_path, "slider_crank", general=text))
    assert model.run == {
        "duration": 1.0,
        "step": 0.02,
        "tolerance": 1e-9,
        "max_iterations": 20,
        "method": "newton",
        "end_point": True,
    }


def test_latin_1_and_the_names_of_the_thesis_are_read(tmp_path: Path) -> None:
    names = {
        "general": "DatosGenerales.txt",
        "joints": "Datos de Juntas.txt",
        "drivers": "Datos de Juntas Adicionales.txt",
        "initial": "aproxinicial_ejemplo1.txt",
    }
    for name, spanish in names.items():
        text = (DATA / "robot_arm" / f"{name}.txt").read_text() + "% posición estimada\n"
        (tmp_path / spanish).write_bytes(text.encode("latin-1"))
    found, plain = load_thesis_folder(tmp_path), load_thesis_folder(DATA / "robot_arm")
    found.name = plain.name
    assert dumps(found) == dumps(plain)


def test_codes_of_joints_can_be_set(tmp_path: Path) -> None:
    joints = (DATA / "robot_arm" / "joints.txt").read_text().replace("\n2 ", "\n42 ")
    folder = copied(tmp_path, "robot_arm", joints=joints)
    model = load_thesis_folder(folder, joint_codes={42: "RJ"})
    assert [joint.kind for joint in model.joints.values()] == ["revolute"] * 3
