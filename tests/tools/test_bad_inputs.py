"""The corpus of bad inputs: one small file for each kind of fault that once came out raw."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import biela as bl
from biela.errors import BielaError
from biela.model.meshes.files import read_mesh

FOLDER = Path(__file__).parents[1] / "data" / "bad_inputs"
#: How the files of a folder are read, if not by the one door.
READERS: dict[str, Callable[[Path], Any]] = {"collada": read_mesh, "mesh": read_mesh}
#: What the message says after the name of the file.
SAID = {
    "collada/doubled_nodes": r"about 3\.3e12 nodes and geometries; the limit is 20,000",
    "collada/encoding_of_several_bytes": r"1: this is not XML",
    "collada/infinite_coordinates": r"vertex 0 of the mesh is not finite",
    "collada/rotation_about_nothing": r"a rotation about the axis",
    "collada/scaled_beyond_doubles": r"not finite",
    "collada/unknown_encoding": r"1: this is not XML",
    "collada/vertices_without_positions": r"the vertices '#v' have no positions",
    "dh_toml/com_of_arrays": r"\[0\]",
    "dh_toml/inertia_beyond_doubles": r"link2|inertia",
    "dh_toml/key_of_many_dots": r"1: the key .*would make 2,001 nested tables; the limit is 100",
    "dh_toml/limits_are_a_number": r"limits is an array, not 5",
    "dh_toml/limits_of_tables": r"joint1.*must be a number or a text",
    "dh_toml/masses_are_a_number": r"masses is an array, not 2\.0",
    "dh_toml/name_is_a_number": r"the name is a text, not 1",
    "dh_toml/number_of_400_digits": r"too large a number",
    "dh_toml/rows_are_numbers": r"row 1 is \(a, alpha, d, theta\)",
    "dump/no_number": r"this line cannot be read.*line 3",
    "dump/not_utf8": r"the file should be UTF-8",
    "mesh/loop_in_a_loop": r"4: an \"outer loop\" within another",
    "mesh/faces_of_one_point": r"no triangle",
    "mesh/signalling_nan": r"triangle 4 has coordinates that are not finite",
    "model/count_of_1e18": r"8: parts\.cell: .*about 1\.0e18 bodies; the limit is 10,000,000",
    "model/inertia_beyond_doubles": r"4: bodies\.a\.inertia.*too large a number",
    "model/direction_beyond_doubles": r"8: joints\.A.*is not a direction",
    "model/key_of_many_dots": r"1: the key .*would make 2,001 nested tables; the limit is 100",
    "model/law_of_times_too_close": r"12: drivers\.motor\.law: .*too close together",
    "mjcf/quaternion_of_denormals": r"2: <body> quat must not be zero",
    "model/parts_8_to_the_12": r"parts\.p.*bodies; the limit is 10,000,000",
    "model/tables_within_tables": r"more than 100 tables and arrays in each other",
    "results/array_header_cut_off": r"damaged",
    "results/claims_8_gb": r"t\.npy claims an array of 8e\+09 bytes",
    "results/encrypted": r"damaged",
    "results/event_without_time": r"Event has time = 'soon'",
    "results/header_of_arrays": r"groups is \[1\]",
    "results/name_is_no_text": r"names of y is \[None\]",
    "results/rate_is_unknown": r"no channel is called 'nobody'",
    "results/unknown_compression": r"compressed in a way",
    "thesis/law_of_an_unknown_name": r"drivers\.txt:\d+.*driver 1: .*ti",
    "urdf/inertia_beyond_doubles": r"2: <inertia> ixx is 1 finite number, not '1e308'",
}


def test_every_file_of_the_corpus_is_expected_to_say_something() -> None:
    there = {f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("*/*")}
    assert there == set(SAID)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*")), ids=lambda path: path.stem)
def test_a_bad_input_is_refused_by_file_and_place(path: Path) -> None:
    with pytest.raises(BielaError) as told:
        READERS.get(path.parent.name, bl.load)(path)
    said = SAID[f"{path.parent.name}/{path.stem}"]
    assert re.search(f"{re.escape(str(path))}.*{said}", str(told.value), re.DOTALL)
