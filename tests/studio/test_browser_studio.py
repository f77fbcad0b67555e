"""The studio as a visitor has it: opened, played, scrubbed, changed, dragged, plotted, and wrong.

Every test leaves a picture in ``out/studio-screenshots``, to be looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlparse

import numpy as np
import pytest
from PIL import Image

from biela.studio import studio
from tests.studio.browser import Visitor, launched

#: Of the slider-crank of the gallery, m.
CRANK, ROD = 2.0, 3.5


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    pytest.importorskip("viser", reason='viser is not installed: pip install "biela[studio]"')
    served = studio(browser=False, wait=False, play=False, port=18080)
    served.until_ready()
    yield served
    served.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def visitor(browser: Any, server: Any) -> Visitor:
    return Visitor(browser, server)


@pytest.fixture(autouse=True)
def the_page_never_dies(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "visitor" in request.fixturenames:
        assert request.getfixturevalue("visitor").complaints == []


def piston(time: float) -> float:
    """The place of the piston, x = r cos θ + √(l² - r² sin² θ), a turn a second from 45° on."""
    angle = np.pi / 4 + 2 * np.pi * time
    return float(CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2))


def paused(visitor: Visitor) -> None:
    """Stop, and wait for the picture to stand still."""
    if visitor.page.clock.playing:
        visitor.press("Pause")
    visitor.until(lambda: not visitor.page.clock.playing)
    visitor.stand_still()


def test_the_page_opens_with_the_mechanism_in_colour_and_asks_nobody_else(
    visitor: Visitor,
) -> None:
    paused(visitor)
    picture = visitor.picture("open")
    left, top, width, height = (round(x) for x in visitor.scene())
    space = picture[top : top + height, left : left + width]
    red, _, blue = np.moveaxis(space, 2, 0)
    assert (blue - red > 60).sum() > 100, "the crank is blue"
    assert (red - blue > 60).sum() > 100, "the rod is orange"
    for word in ("slider-crank", "Gallery", "crank_length", "motor(t)", "slider.x"):
        assert word in visitor.text()
    assert visitor.tab.title() == "biela studio"
    # drawn in software, edges are not smoothed, which would take half of the time
    assert visitor.tab.evaluate("() => document.documentElement.dataset.drawn") == "in software"
    samples = """() => [...document.querySelectorAll('canvas')].map(c => c.getContext('webgl2'))
        .filter(g => g).map(g => g.getParameter(g.SAMPLES))"""
    assert set(visitor.tab.evaluate(samples)) == {0}
    hosts = {
        urlparse(url).hostname for url in visitor.asked if not url.startswith(("data", "blob"))
    }
    assert hosts == {"127.0.0.1"}


def test_what_is_played_moves_on_the_page(visitor: Visitor) -> None:
    paused(visitor)
    before, place = visitor.picture("paused"), visitor.session.place
    visitor.press("Play")
    visitor.until(lambda: abs(visitor.session.place - place) > 10)
    visitor.tab.wait_for_timeout(300)
    after = visitor.picture("play")
    paused(visitor)
    left, top, width, height = (round(x) for x in visitor.scene())
    window = np.s_[top : top + height, left : left + width]
    assert (np.abs(after[window] - before[window]).max(axis=2) > 60).sum() > 200


def test_the_time_is_scrubbed_and_the_piston_is_where_geometry_says(visitor: Visitor) -> None:
    visitor.slide("time, s", 0.5)
    visitor.until(lambda: abs(visitor.session.time - 0.5) < 0.02)
    assert not visitor.page.clock.playing
    shown = f"slider.x {piston(visitor.session.time):.3g}"[:12]  # the value under the plot
    visitor.until(lambda: shown in visitor.text().replace("\n", " "))
    visitor.picture("scrub")


def test_a_slider_of_a_parameter_runs_the_analysis_anew(visitor: Visitor) -> None:
    paused(visitor)
    visitor.turn_to("Values")
    visitor.slide("rod_length, m", 0.8)
    visitor.until(lambda: visitor.session.settings.parameters.get("rod_length", ROD) > 5)
    rod = visitor.session.settings.parameters["rod_length"]
    visitor.until(lambda: abs(np.ptp(visitor.session.motion["slider.x"]) - 2 * CRANK) < 1e-2)
    visitor.until(lambda: visitor.session.motion["slider.x"].max() > rod)
    assert visitor.session.motion["slider.x"].max() == pytest.approx(CRANK + rod, abs=1e-2)
    visitor.tab.wait_for_timeout(500)
    visitor.picture("slider")
    visitor.press("Reset all values")
    visitor.until(lambda: abs(visitor.session.motion["slider.x"].max() - CRANK - ROD) < 1e-2)
    visitor.tab.wait_for_timeout(300)  # the panel is made anew


def test_a_body_that_is_dragged_takes_the_mechanism_along_with_its_joints_closed(
    visitor: Visitor,
) -> None:
    visitor.slide("time, s", 0.1)
    visitor.until(lambda: abs(visitor.session.time - 0.1) < 0.02)
    poser = visitor.session.poser
    grip, _ = poser.frame("crank.crank_pin", visitor.session.position())
    grip = 0.6 * grip  # on the crank, which turns about the origin
    turn = np.radians(20)
    target = np.array(
        [[np.cos(turn), np.sin(turn), 0], [-np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    )
    target = target @ grip
    there = target / np.linalg.norm(target)
    way = [grip, 0.5 * (grip + target), target]
    with visitor.dragging(way, gripped=lambda: visitor.session.pose is not None):
        visitor.until(lambda: np.linalg.norm(_crank(visitor) - there) < 0.05)
        visitor.picture("drag")
    q = visitor.session.pose
    pins = [poser.frame(name, q)[0] for name in ("rod.piston_pin", "piston.piston_pin")]
    assert np.linalg.norm(pins[0] - pins[1]) < 1e-6
    # the pointer is somewhere within a pixel, which may be a few millimetres off the circle
    told = re.compile(r"crank is where you want it|out of reach: ([\d.]+) mm short, the closest")
    visitor.until(lambda: told.search(visitor.text()))
    missed = told.search(visitor.text()).group(1)
    assert missed is None or float(missed) < 30


def test_what_is_pulled_out_of_reach_stops_at_the_closest_position_and_says_how_far_it_is(
    visitor: Visitor,
) -> None:
    visitor.slide("time, s", 0.1)
    visitor.until(lambda: abs(visitor.session.time - 0.1) < 0.02)
    grip = 0.6 * visitor.session.poser.frame("crank.crank_pin", visitor.session.position())[0]
    out = grip / np.linalg.norm(grip)
    target = 1.6 * CRANK * out  # the point turns at 0.6 CRANK about the origin
    told = re.compile(r"out of reach: ([\d.]+) m short, the closest")
    way = [grip, 1.2 * grip, target]
    with visitor.dragging(way, gripped=lambda: told.search(visitor.text())):
        visitor.until(lambda: abs(float(told.search(visitor.text()).group(1)) - CRANK) < 0.05)
        visitor.picture("drag-out-of-reach")
    assert np.linalg.norm(_crank(visitor) - out) < 0.02


def _crank(visitor: Visitor) -> np.ndarray:
    """The direction of the crank."""
    place, _ = visitor.session.poser.frame("crank.crank_pin", visitor.session.pose)
    return np.asarray(place / np.linalg.norm(place))


def test_plots_tell_the_values_at_the_cursor_and_have_any_variable_across(
    visitor: Visitor,
) -> None:
    visitor.slide("time, s", 0.3)
    visitor.until(lambda: abs(visitor.session.time - 0.3) < 0.02)
    chart = visitor.tab.locator(".u-over").bounding_box()
    visitor.tab.mouse.move(chart["x"] + chart["width"] / 2, chart["y"] + chart["height"] / 2)
    told = re.compile(r"t \[s\]\s*([-\d.]+)\s*slider\.x \[m\]\s*([-\d.]+)")
    visitor.until(lambda: told.search(visitor.tab.locator(".u-legend").inner_text()))
    found = told.search(visitor.tab.locator(".u-legend").inner_text())
    time, x = (float(text) for text in found.groups())
    assert time == pytest.approx(0.5, abs=0.02)
    assert x == pytest.approx(piston(time), abs=2e-3)
    visitor.picture("plot")
    visitor.tick("against")
    visitor.press("rod", "[role=option]")  # of which nothing is plotted
    visitor.tick("its")
    visitor.press("angle", "[role=option]")
    visitor.until(lambda: visitor.page._plots.across == "rod.angle")
    visitor.until(lambda: visitor.tab.locator("svg.studio-xy polyline").count() == 2)
    title = visitor.tab.locator("svg.studio-xy title").first
    visitor.until(lambda: "rod.angle = " in title.text_content())  # drawn a moment later
    told = title.text_content()
    assert "slider.x = " in told and "t = 0 s" in told
    visitor.picture("plot-against")


def test_the_torque_of_the_motor_is_plotted_over_its_angle(visitor: Visitor) -> None:
    visitor.tick("of")
    visitor.press("motor", "[role=option]")
    visitor.until(lambda: visitor.page._plots._quantity.value == "torque")
    visitor.press("Only this")
    visitor.until(lambda: visitor.page._plots.names == ("motor.torque",))
    at_first = visitor.session.quantities.curve("motor.torque").values[0]
    visitor.until(lambda: "motor.torque [N·m]" in visitor.text())
    visitor.tick("against")
    visitor.press("motor", "[role=option]")  # which is plotted: nothing is drawn over itself
    visitor.until(lambda: "motor.torque is across: add a quantity" in visitor.text())
    visitor.tick("against")
    visitor.press("pivot", "[role=option]")
    visitor.until(lambda: visitor.tab.locator("svg.studio-xy polyline").count() == 1)
    told = visitor.tab.locator("svg.studio-xy title").first.text_content()
    assert f"motor.torque = {at_first:.5g} N·m" in told
    visitor.picture("plot-torque")
    visitor.tick("against")
    visitor.press("time", "[role=option]")
    visitor.until(lambda: visitor.tab.locator(".u-over").count() == 1)


def test_a_driver_is_stretched_and_played_at_another_speed(visitor: Visitor) -> None:
    visitor.turn_to("Values")
    visitor.slide("motor ×", 0.625)
    visitor.until(lambda: "motor" in visitor.session.settings.laws)
    factor = visitor.session.settings.laws["motor"].factor
    assert factor == pytest.approx(0.5, abs=0.05)
    whole = np.pi / 4 + 2 * np.pi
    visitor.until(lambda: abs(visitor.session.motion["pivot.angle"][-1] - factor * whole) < 1e-6)
    visitor.press("¼")
    visitor.until(lambda: visitor.page.clock.speed == 0.25)
    visitor.press("1")
    visitor.until(lambda: visitor.page.clock.speed == 1.0)
    visitor.press("Reset all values")
    visitor.until(lambda: abs(visitor.session.motion["pivot.angle"][-1] - whole) < 1e-6)
    visitor.tab.wait_for_timeout(300)


def test_let_go_it_begins_where_a_slider_says_and_rests_upright_or_hanging(
    visitor: Visitor,
) -> None:
    visitor.turn_to("Values")
    visitor.tick("drivers act")
    visitor.until(lambda: not visitor.session.settings.driven)
    visitor.until(lambda: str(visitor.session.settings.analysis) == "dynamics")
    visitor.turn_to("Start")
    visitor.tab.wait_for_timeout(500)  # the folder opens
    visitor.slide("guide.displacement, m", 0.3)
    visitor.until(lambda: "guide.displacement" in visitor.session.settings.q)
    wanted = visitor.session.settings.q["guide.displacement"]
    assert CRANK + ROD > wanted > ROD - CRANK
    visitor.until(lambda: abs(visitor.session.motion["slider.x"][0] - wanted) < 1e-6)
    # all sliders show the real start
    sliders = visitor.page._controls._sliders
    angle = visitor.session.motion["pivot.angle"][0]
    visitor.until(lambda: abs(sliders["start pivot.angle"].value - angle) < 2e-2)
    visitor.picture("start-slider")
    visitor.tick("analysis")
    visitor.press("equilibrium", "[role=option]")
    visitor.until(lambda: "stable equilibrium" in visitor.text())
    visitor.until(lambda: visitor.session.pose is not None)
    crank = _crank(visitor)
    assert np.abs(crank) == pytest.approx([0, 1, 0], abs=1e-6)
    assert ("unstable" in visitor.text()) == (crank[1] > 0), "upright it does not stay"
    visitor.picture("equilibrium")
    visitor.turn_to("Values")
    visitor.press("Reset all values")
    visitor.tick("analysis")
    visitor.press("kinematics", "[role=option]")
    visitor.until(lambda: str(visitor.session.settings.analysis) == "kinematics")
    visitor.until(lambda: visitor.session.pose is None and not visitor.session.error)


def test_what_goes_wrong_is_said_in_words_and_the_page_goes_on(visitor: Visitor) -> None:
    visitor.turn_to("Values")
    visitor.write("law", "sin(2*t")
    visitor.until(lambda: "driver motor: this parenthesis is not closed" in visitor.text())
    assert visitor.tab.locator(".studio-error").count() == 1
    visitor.tab.wait_for_timeout(500)
    visitor.picture("error")
    visitor.press("Reset all values")
    visitor.until(lambda: visitor.tab.locator(".studio-error").count() == 0)
    assert visitor.session.run()


def test_an_analysis_that_does_not_end_is_stopped_and_the_page_goes_on(visitor: Visitor) -> None:
    paused(visitor)
    visitor.turn_to("Values")
    visitor.tick("analysis")
    visitor.press("dynamics", "[role=option]")
    visitor.until(lambda: str(visitor.session.settings.analysis) == "dynamics")
    visitor.until(lambda: "computing" not in visitor.text() and "Stop" not in visitor.text())
    visitor.write("law", "exp(1000*t)")  # which an integrator follows in ever shorter steps
    visitor.until(lambda: "motor" in visitor.session.settings.laws)
    visitor.press("Stop")
    visitor.until(lambda: "stopped at" in visitor.text())
    visitor.picture("stopped")
    visitor.press("Reset all values")
    visitor.until(lambda: visitor.tab.locator(".studio-error").count() == 0)
    visitor.until(lambda: len(visitor.session.motion) > 100 and not visitor.session.error)


def test_the_motion_the_model_and_a_picture_can_be_taken_away(visitor: Visitor) -> None:
    paused(visitor)
    visitor.turn_to("Save")
    for button, ending, word in (
        ("Motion (CSV)", ".csv", "slider.x"),
        ("Model (TOML)", ".toml", "rod"),
    ):
        with visitor.tab.expect_download() as download:
            visitor.press(button)
        file = download.value.path()
        assert download.value.suggested_filename.endswith(ending)
        assert word in file.read_text("utf-8")
    with visitor.tab.expect_download() as download:
        visitor.press("Picture (PNG)")
    assert download.value.suggested_filename == "slider-crank.png"
    with Image.open(download.value.path()) as image:
        red, _, blue = np.moveaxis(np.asarray(image.convert("RGB"), dtype=float), 2, 0)
    assert (blue - red > 60).sum() > 100, "the crank is blue"
    visitor.picture("save")


def test_the_structure_comes_piece_by_piece_and_the_mechanism_goes_on(visitor: Visitor) -> None:
    visitor.turn_to("Structure")
    visitor.press("Look into its structure")
    visitor.until(lambda: "3 bodies and 4 joints" in visitor.text())
    visitor.until(lambda: "Equations" in visitor.text())
    assert visitor.tab.locator(".studio-structure").count() > 0
    visitor.until(lambda: not visitor.page._structure._said.visible)
    visitor.picture("structure")
    visitor.turn_to("Plot")


def test_two_visitors_do_not_disturb_each_other_and_open_what_they_like(
    visitor: Visitor, browser: Any, server: Any
) -> None:
    paused(visitor)
    other = Visitor(browser, server)
    paused(other)
    other.turn_to("Gallery")
    other.press("excavator")
    other.until(lambda: other.session.name == "excavator arm")
    other.until(lambda: "excavator arm" in other.text())
    paused(other)
    other.turn_to("Show")
    other.tick("reactions of joints")
    other.tick("frames of bodies")
    other.until(lambda: other.page.shown.wanted.get("frames"))
    other.until(lambda: other.page._over._axes is not None)
    other.until(lambda: "reactions" in other.page._over._arrows)
    assert len(other.page._over._ways) == 1
    assert other.tab.get_by_label("trace of").input_value() == other.page.shown.points[0]
    other.tick("trace of")
    other.press("-", "[role=option]")
    other.until(lambda: not other.page._over._ways)
    other.slide("time, s", 0.2)
    other.until(lambda: abs(other.session.time - 2.0) < 0.1)
    other.tab.wait_for_timeout(1000)
    other.picture("two-visitors")
    other.turn_to("Gallery")
    other.press("balanced-lamp")  # which has no drivers
    other.until(lambda: other.session.name == "balanced lamp" and "balanced lamp" in other.text())
    other.tab.wait_for_timeout(500)
    open_tabs = "[...document.querySelectorAll('[role=tab][aria-selected=true]')]"
    names = other.tab.evaluate(f"() => {open_tabs}.map(e => e.innerText.trim())")
    assert "Gallery" in names, "who goes through the gallery stays there"
    paused(other)
    assert other.tab.locator(".studio-error").count() == 0
    assert visitor.session.name == "slider-crank"
    assert "excavator arm" not in visitor.text()
    assert other.complaints == []
    other.tab.close()
    visitor.until(lambda: len(server.pages) == 1)
