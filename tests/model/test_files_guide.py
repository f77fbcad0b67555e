"""The TOML of the guide is loaded as printed: the first block is a model, the others add to it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from biela.analysis import kinematics
from biela.model.files import load, loads, save, schema
from biela.model.meshes.files import write_stl
from biela.model.model import Model
from biela.model.shapes import Box

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "files.md"
BLOCKS = re.findall(r"^```toml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)


def test_the_first_block_is_a_model_that_runs() -> None:
    model = loads(BLOCKS[0])
    motion = kinematics(model, 0.5, step=0.1)
    assert motion["slide.displacement"][0] == pytest.approx(0.08 * 0.5 + (0.0576 - 0.0048) ** 0.5)


def test_every_block_adds_to_the_first(tmp_path: Path) -> None:
    arm = Model("arm", plane="xz")
    arm.parameter("L", 0.1)
    rod = arm.body("rod", mass=1.0)
    rod.marker("tip", ("L", 0, 0))
    arm.joint("revolute", "pivot", arm.ground, rod, axis="y")
    save(arm, tmp_path / "arm.toml")
    write_stl(Box(size=(30, 20, 10)).surface(), tmp_path / "cover.stl")
    text = "\n".join(BLOCKS)
    (tmp_path / "m.toml").write_text(text, encoding="utf-8")
    model = load(tmp_path / "m.toml")
    assert len(BLOCKS) == 5
    assert set(model.parts) == {"arm", "cell"}
    assert model.bodies["cover"].inertia.mass == pytest.approx(6e-6 * 2700 + 0.025)
    errors = jsonschema.Draft202012Validator(schema()).iter_errors(tomllib.loads(text))
    assert list(errors) == []


def test_the_kinds_and_keys_of_the_guide_are_those_of_the_schema() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    made = schema()
    for name in ("BodyTable", "PartTable", "RunTable"):
        for key in made["$defs"][name]["properties"]:
            assert f"`{key}`" in text, key
