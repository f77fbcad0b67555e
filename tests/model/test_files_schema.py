"""The JSON Schema of model files: valid, up to date, and of one mind with the reader."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from biela.model.files import dumps, load, load_thesis_folder, schema
from tests.model.test_files import SLIDER_CRANK
from tests.model.test_files_errors import WRONG

ROOT = Path(__file__).parents[2]
FILES = sorted(ROOT.glob("examples/mechanisms/**/*.toml"))
FOLDERS = sorted(path.parent for path in ROOT.glob("examples/thesis/*/general.txt"))


@pytest.fixture(scope="module")
def validator() -> Any:
    made = schema()
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)


def test_the_published_schema_is_up_to_date() -> None:
    # in a process of its own: other tests define kinds too
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "write_schema.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_published_schema_is_a_schema() -> None:
    text = (ROOT / "docs" / "schema" / "model.schema.json").read_text(encoding="utf-8")
    made = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(made)
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_a_model_in_a_text_is_valid(validator: Any) -> None:
    assert list(validator.iter_errors(tomllib.loads(SLIDER_CRANK))) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files_that_load_are_valid(validator: Any, file: Path) -> None:
    load(file)
    assert list(validator.iter_errors(tomllib.loads(file.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_is_written_is_valid(validator: Any, folder: Path) -> None:
    text = dumps(load_thesis_folder(folder))
    assert list(validator.iter_errors(tomllib.loads(text))) == []


def test_mistakes_of_form_are_found_by_the_schema_too(validator: Any) -> None:
    paths = {error.json_path for error in validator.iter_errors(tomllib.loads(WRONG))}
    for wrong in ("$", "$.gravity", "$.joints.A", "$.joints.C", "$.forces.f", "$.run.end_point"):
        assert wrong in paths


@pytest.mark.parametrize(
    "text",
    [
        'shapes = [{mesh = "rod.stl", scale = "mm", density = 1}]',
        'shapes = [{kind = "mesh", file = "rod.stl"}]',
        'inertia = [["1 kg*m^2", 0, 0], [0, 1, 0], [0, 0, 1]]',
        "orientation = {xyzx = [0, 0, 0, 1]}",
        'points = [{mass = "1 kg", position = [0, 0, 1]}]',
    ],
)
def test_each_way_to_say_a_thing_is_in_the_schema(validator: Any, text: str) -> None:
    document = tomllib.loads(f'name = "m"\n[bodies.b]\n{text}')
    assert list(validator.iter_errors(document)) == []
    document["bodies"]["b"] = {**document["bodies"]["b"], "unknown": 1}
    assert len(list(validator.iter_errors(document))) == 1


def test_every_kind_has_an_explanation_for_editors() -> None:
    made = schema()
    for key in ("joints", "drivers", "forces", "sensors"):
        for kind in made["properties"][key]["additionalProperties"]["oneOf"]:
            table = made["$defs"][kind["$ref"].rpartition("/")[2]]
            assert table["properties"]["kind"]["const"]
            for name, item in table["properties"].items():
                assert item.get("description"), f"{kind} {name}"
