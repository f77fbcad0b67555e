"""What a visitor takes away is what he has on the table."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError
from biela.studio.saving import SAVED, changed, saved
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.shelf import gallery
from biela.studio.source import FileSource

ARM = Path(__file__).parents[1] / "data" / "urdf" / "arm6.urdf"


@pytest.fixture(scope="module")
def crank() -> Session:
    """A slider-crank that is longer, let go, and thrown."""
    session = Session(gallery().source("slider-crank"))
    session.choose(analysis=Analysis.DYNAMICS, driven=False, duration=0.4)
    session.set_parameter("crank_length", 1.5)
    session.set_start("pivot.angle", 1.2)
    session.set_rate("guide.displacement_rate", 0.7)
    assert session.run(), session.error
    return session


def written(session: Session, kind: str, folder: Path) -> Path:
    name, contents = saved(session, kind)
    path = folder / name
    path.write_bytes(contents)
    return path


def test_the_model_that_is_saved_moves_as_the_one_on_the_table(
    crank: Session, tmp_path: Path
) -> None:
    model = bl.load(written(crank, "toml", tmp_path))
    assert isinstance(model, bl.Model)
    assert not model.drivers and model.parameters["crank_length"] == 1.5
    again = Session(FileSource(tmp_path / "slider-crank.toml"))
    assert again.run(), again.error
    assert again.settings.duration == 0.4
    for name in ("pivot.angle", "guide.displacement_rate", "slider.x"):
        assert again.motion[name] == pytest.approx(crank.motion[name], abs=1e-5)
    assert changed(crank).joints is not crank.model.joints, "the model on the table stays"


def test_values_of_motors_are_saved_with_the_model(tmp_path: Path) -> None:
    session = Session(FileSource(ARM))
    session.choose(duration=0.1, step=0.05)
    session.set_input("elbow_motor", -12.0)
    assert session.run(), session.error
    again = Session(FileSource(written(session, "toml", tmp_path)))
    assert {each.name: each.value for each in again.inputs()}["elbow_motor"] == -12.0


def test_the_motion_is_saved_as_a_table_and_as_arrays(crank: Session, tmp_path: Path) -> None:
    with written(crank, "csv", tmp_path).open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    column = rows[0].index("slider.x [m]")
    assert [float(row[column]) for row in rows[1:]] == pytest.approx(crank.motion["slider.x"])
    loaded = bl.Results.load(written(crank, "npz", tmp_path))
    np.testing.assert_array_equal(loaded["pivot.angle"], crank.motion["pivot.angle"])


def test_what_has_no_motion_is_not_saved_as_one() -> None:
    session = Session(gallery().source("slider-crank"))
    with pytest.raises(ModelError, match="no motion"):
        saved(session, "csv")
    assert {kind for kind, _ in SAVED.values()} == {"csv", "npz", "png", "toml", "html"}
