"""The report: one file that is valid, asks for nothing, and has the right figures in it."""

from __future__ import annotations

import re
import shlex
import time
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.cli.main import main
from biela.errors import FileError, ModelError
from biela.studio.report.fragments import made, number, table
from biela.studio.report.loads import duties
from biela.studio.report.motion import course, settings_for
from biela.studio.report.plots import player
from biela.studio.report.writing import report_html
from biela.studio.shelf import gallery
from tests.studio.browser import PICTURES, launched
from tests.studio.pages import fetched, read, rows, text_of

MASS, LENGTH, ACCELERATION, GRAVITY = 2.0, 0.5, 3.0, 9.81


def arm(driven: bool = True) -> bl.Model:
    """A mass on a light arm that a motor speeds up from the horizontal."""
    model = bl.Model("arm & mass", plane="xz")
    body = model.body("arm", mass=MASS, com=(LENGTH, 0, 0), inertia=(0, 0, 0))
    model.joint("revolute", "pivot", model.ground, body, axis="-y")  # upwards is positive
    if driven:
        model.driver("rotary", "motor", coordinate="pivot", law=f"{ACCELERATION / 2}*t^2")
    model.sensor("point", "tip", marker=body.at(LENGTH, 0, 0))
    model.run = {"duration": 1.0, "step": 0.02, "plot": ["tip.z"]}
    return model


@pytest.fixture(scope="module")
def page() -> str:
    """The report of the slider-crank of the gallery."""
    return report_html(gallery().files["slider-crank"])


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What makes the report of the arm."""
    folder = tmp_path_factory.mktemp("arm")
    bl.save_model(arm(), folder / "arm.toml")
    target = str(folder / "arm report.html")
    return ["report", str(folder / "arm.toml"), "--output", target, "--plot", "pivot.angle_r*"]


@pytest.fixture(scope="module")
def small(command: list[str]) -> str:
    """The report of the arm, by the command line."""
    assert main(command) == 0
    return Path(command[3]).read_text(encoding="utf-8")


# ------------------------------------------------------------------------------ the file


def test_it_is_valid_html_and_so_is_the_player_in_it(page: str) -> None:
    frames = list(read(page).iter("iframe"))
    assert len(frames) == 1
    assert "canvas" in {element.tag for element in read(str(frames[0].get("srcdoc"))).iter()}


def test_it_would_fetch_nothing_and_is_small(page: str, small: str) -> None:
    assert list(fetched(page)) == list(fetched(small)) == []
    assert len(page.encode()) < 5_000_000
    assert "default-src 'none'" in page


def test_what_a_page_fetches_is_found() -> None:
    head = '<!DOCTYPE html><html lang="en"><head><title>x</title>'
    bad = head + '<link rel="x" href="https://a.b/c"></head><img src="d.png" alt="d"></html>'
    assert list(fetched(bad)) == ["https://a.b/c", "d.png"]


def test_it_has_all_chapters_and_no_trouble(page: str) -> None:
    titles = [text_of(h) for h in read(page).iter("h2")]
    assert titles == [
        "Model", "Motion", "Plots", "Extreme values", "Loads", "Structure", "Equations",
        "Timings", "How to make it again",
    ]  # fmt: skip
    assert 'class="trouble"' not in page


def becomes(frame: Any, expression: str) -> None:
    """Wait until something is so, asked from outside: inside, the page forbids texts as code."""
    end = time.monotonic() + 120
    while not frame.evaluate(expression):
        assert time.monotonic() < end, f"not so: {expression}"
        time.sleep(0.05)


def test_it_opens_in_a_browser_without_network_plays_and_prints(tmp_path: Path, page: str) -> None:
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    with launched() as browser:
        context = browser.new_context(viewport={"width": 1100, "height": 900}, offline=True)
        tab = context.new_page()
        asked: list[str] = []
        complaints: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.goto(file.as_uri())
        assert {a for a in asked if not a.startswith("data:")} == {file.as_uri()}
        tab.locator("iframe").scroll_into_view_if_needed()
        shown = tab.frames[1]
        becomes(shown, "document.getElementById('time')?.textContent.includes('t = 0.')")
        becomes(shown, "frame > 2")  # it plays
        broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).length"
        assert tab.evaluate(broken) == 0
        PICTURES.mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=PICTURES / "report.png")
        tab.emulate_media(media="print")
        assert not tab.locator("iframe").is_visible()
        assert tab.locator("figure.still img").is_visible()
        assert tab.pdf(prefer_css_page_size=True).startswith(b"%PDF")
        assert complaints == []


# --------------------------------------------------------------------------- the figures


def test_the_motor_gives_the_torque_of_the_closed_form() -> None:
    model = arm()
    (duty,), failures = duties(model, course(model, settings_for(model, None, None)))
    angle = ACCELERATION / 2 * duty.t**2
    torque = MASS * LENGTH**2 * ACCELERATION + MASS * GRAVITY * LENGTH * np.cos(angle)
    assert failures == []
    assert duty.torque == pytest.approx(torque, rel=1e-9)
    assert duty.speed == pytest.approx(ACCELERATION * duty.t, rel=1e-9)


def test_the_torque_at_a_joint_that_closes_a_loop_is_the_reaction_of_the_free_bodies() -> None:
    model = gallery().source("slider-crank").model({})
    del model.drivers["motor"]
    model.joints["piston_pin"] = replace(model.joints["piston_pin"], closes=True)
    model.driver("rotary", "wrist", coordinate="piston_pin", law="24 deg + 0.1*sin(5*t)")
    found = course(model, settings_for(model, 0.2, 0.02))
    assert "piston_pin.angle" not in found.motion.groups["q"].names
    (duty,), failures = duties(model, found)
    _, moment = bl.joint_reactions(model, found.motion, axes="marker")["wrist"]
    assert failures == []
    assert duty.torque == pytest.approx(moment[:, 2], rel=1e-8)
    assert np.abs(duty.torque).min() > 1.0


def test_forces_of_the_joint_are_those_of_the_closed_form(small: str) -> None:
    t = np.linspace(0.0, 1.0, 51)
    angle, rate = ACCELERATION / 2 * t**2, ACCELERATION * t
    along = MASS * (-LENGTH * rate**2 + GRAVITY * np.sin(angle))
    across = MASS * (LENGTH * ACCELERATION + GRAVITY * np.cos(angle))
    largest = np.hypot(along, across).max()
    (found,) = [row for row in rows(small) if row[0] == "pivot" and len(row) == 6]
    assert found[1] == number(largest)


def test_extreme_values_have_their_times(small: str) -> None:
    (found,) = [row for row in rows(small) if row[0] == "tip.z"]
    height = LENGTH * np.sin(ACCELERATION / 2)  # at the end, on the way to the top
    assert found[4:6] == [number(height), "1"]


def test_names_are_text_and_no_markup(small: str) -> None:
    model = bl.Model('<script>alert("x")</script>')
    model.description = "<img src=https://a.b/c>"
    found = report_html(model)
    assert list(fetched(found)) == [] and not list(read(found).iter("script"))
    assert text_of(next(read(found).iter("h1"))) == '<script>alert("x")</script>'
    assert text_of(next(read(small).iter("h1"))) == "arm & mass"


# ------------------------------------------------------------------------- what goes wrong


def test_a_mechanism_that_cannot_be_assembled_has_a_report_with_the_reason() -> None:
    found = report_html(gallery().files["four-bar"], parameters={"coupler_length": 0.01})
    troubles = [text_of(e) for e in read(found).iter("div") if e.get("class") == "trouble"]
    assert "cannot be assembled" in troubles[0]
    assert all("under Motion" in text for text in troubles[1:5])
    assert ["coupler_length", "0.01", "m"] in list(rows(found))
    assert list(fetched(found)) == []
    assert "reactions in the plane are determinate" not in found
    assert "there is no position in which reactions could be asked for" in found


def test_what_is_not_driven_moves_by_its_forces() -> None:
    model = arm(driven=False)
    found = course(model, settings_for(model, 0.2, 0.01))
    # it falls from rest: the first instants are those of a constant acceleration g / L
    t = found.motion.t[:4]
    assert found.motion["pivot.angle"][:4] == pytest.approx(
        -GRAVITY / LENGTH * t**2 / 2, rel=1e-2, abs=1e-9
    )
    assert found.warning == ""


def test_a_system_in_symbols_has_trees_equations_and_a_motion_by_forces() -> None:
    system = bl.SymbolicSystem("pendulum")
    (theta,) = system.coordinates("theta")
    m, l, g = system.parameters(m=1.0, l=0.5, g=9.81)
    arm = system.base.rotated("arm", "y", theta)
    bob = system.origin.offset("bob", arm.vector(0, 0, -l))
    system.solid("mass", at=bob, base=arm, mass=m)
    system.gravity = system.base.vector(0, 0, -g)
    found = report_html(system, duration=0.2)
    titles = [text_of(h) for h in read(found).iter("h3")]
    assert {"Tree of bases", "Tree of points", "Equations", "Coordinates"} <= {*titles}
    assert list(fetched(found)) == []
    with pytest.raises(ModelError, match="written in symbols"):
        report_html(system, parameters={"m": 2.0})


def test_a_model_without_bodies_has_words_for_everything() -> None:
    found = read(report_html(bl.Model("empty")))
    assert "empty has no bodies" in text_of(found)


def test_something_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model"):
        bl.report(3)
    with pytest.raises(ModelError, match="is not there"):
        bl.report(tmp_path / "none.toml")
    with pytest.raises(ModelError, match="above zero"):
        report_html(arm(), duration=-1.0)
    with pytest.raises(ModelError, match="no parameter x"):
        bl.report(arm(), parameters={"x": 1.0})


def test_a_folder_that_is_not_there_is_told_before_the_work(tmp_path: Path) -> None:
    told: list[str] = []
    with pytest.raises(FileError, match="no folder"):
        bl.report(arm(), tmp_path / "none" / "r.html", progress=lambda what, *_: told.append(what))
    with pytest.raises(FileError, match="is a folder"):
        bl.report(arm(), tmp_path)
    assert told == []


def test_a_singular_matrix_becomes_words() -> None:
    def fails() -> str:
        raise np.linalg.LinAlgError("singular")

    fragment = made("x", fails)
    assert fragment.failed and "singular" in fragment.html


# --------------------------------------------------------------------------------- parts


def test_progress_goes_from_nothing_to_all() -> None:
    told: list[tuple[int, int]] = []
    report_html(bl.Model("empty"), progress=lambda _, done, total: told.append((done, total)))
    done = [d for d, _ in told]
    assert done[0] == 0 and done == sorted(done) and {total for _, total in told} == {told[0][1]}
    assert done[-1] == told[0][1] - 1


def test_an_animation_has_fewer_frames_where_there_is_little_room() -> None:
    model = arm()
    motion = course(model, settings_for(model, None, None)).motion
    whole = player(motion)
    half = player(motion, room=len(escape(whole).encode()) - 1)
    count = [len(re.findall(r'"times":\[([^\]]*)', p)[0].split(",")) for p in (whole, half)]
    assert count[1] <= count[0] / 2 + 1
    assert player(motion, room=1000) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.0, "0"), (316241.7, "316240"), (-1.5e-7, "−1.5e−07"), (1 / 3, "0.33333"),
     (float("nan"), "–"), (12.0, "12")],
)  # fmt: skip
def test_numbers_have_five_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_a_long_table_counts_its_rest_and_leaves_out_empty_columns() -> None:
    found = table(("a", "b", "c"), [(k, "", "x") for k in range(70)])
    assert found.count("<tr>") == 61 and "… 10 more" in found and ">b<" not in found


# ---------------------------------------------------------------------------- by command


def test_the_command_stands_in_the_file(command: list[str], small: str) -> None:
    (shown,) = [text_of(e) for e in read(small).iter("pre")]
    assert shlex.split(shown) == ["biela", *command]


def test_the_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "biela report stewart -o stewart.html" in told and "NAME_report.html" in told
