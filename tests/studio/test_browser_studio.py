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
    visitor.tab.wait_for_timeout(400)


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
    visitor.slide("rod_length", 0.8)
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
    visitor.tab.wait_for_timeout(600)
    poser = visitor.session.poser
    grip, _ = poser.frame("crank.crank_pin", visitor.session.position())
    grip = 0.6 * grip  # on the crank, which turns about the origin
    turn = np.radians(20)
    target = np.array(
        [[np.cos(turn), np.sin(turn), 0], [-np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    )
    target = target @ grip
    visitor.drag(visitor.pixel(grip), [visitor.pixel(0.5 * (grip + target)), visitor.pixel(target)])
    visitor.until(lambda: visitor.session.pose is not None)
    visitor.until(lambda: np.linalg.norm(_crank(visitor) - target / np.linalg.norm(target)) < 0.05)
    visitor.picture("drag")
    visitor.tab.mouse.up()
    q = visitor.session.pose
    pins = [poser.frame(name, q)[0] for name in ("rod.piston_pin", "piston.piston_pin")]
    assert np.linalg.norm(pins[0] - pins[1]) < 1e-6
    assert "closed" in visitor.text() or "closest" in visitor.text()


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
    visitor.press("rod_angle", "[role=option]")
    visitor.until(lambda: visitor.tab.locator("svg.studio-xy polyline").count() == 1)
    told = visitor.tab.locator("svg.studio-xy title").first.text_content()
    assert "rod_angle = " in told and "slider.x = " in told and "t = 0 s" in told
    visitor.picture("plot-against")


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
    other.slide("time, s", 0.2)
    other.until(lambda: abs(other.session.time - 2.0) < 0.1)
    other.tab.wait_for_timeout(1000)
    other.picture("two-visitors")
    other.turn_to("Gallery")
    other.press("balanced-lamp")  # which has no drivers
    other.until(lambda: other.session.name == "balanced lamp" and "balanced lamp" in other.text())
    paused(other)
    assert other.tab.locator(".studio-error").count() == 0
    assert visitor.session.name == "slider-crank"
    assert "excavator arm" not in visitor.text()
    assert other.complaints == []
    other.tab.close()
    visitor.until(lambda: len(server.pages) == 1)
