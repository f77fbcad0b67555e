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
from tests.studio.browser import free_port
from tests.studio.visitor import Floats, Visitor, coloured

#: Of the slider-crank of the gallery, m.
CRANK, ROD = 2.0, 3.5


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    pytest.importorskip("viser", reason='viser is not installed: pip install "biela[studio]"')
    served = studio(browser=False, wait=False, play=False, port=free_port())
    served.until_ready()
    yield served
    served.stop()


def piston(time: float) -> float:
    """The place of the piston, x = r cos θ + √(l² - r² sin² θ), a turn a second from 45° on."""
    angle = np.pi / 4 + 2 * np.pi * time
    return float(CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2))


def crank(visitor: Visitor) -> Floats:
    """The end of the crank in the position that is shown; the other one is at the origin."""
    session = visitor.session
    return np.asarray(session.poser.frame("crank.crank_pin", session.position())[0])


def opened(visitor: Visitor) -> bool:
    """Whether the mechanism is seen, where it is at first."""
    return visitor.sees("blue", 0.3 * crank(visitor), 0.7 * crank(visitor))


def test_the_page_opens_with_the_mechanism_in_colour_and_asks_nobody_else(
    visitor: Visitor,
) -> None:
    visitor.until(lambda: opened(visitor))
    visitor.until(lambda: coloured(visitor.space(), "blue") > 100)  # the crank
    visitor.until(lambda: coloured(visitor.space(), "orange") > 100)  # the rod
    visitor.picture("open")
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
    visitor.until(lambda: opened(visitor))
    before, place = visitor.space(), visitor.session.place
    visitor.press("Play", lambda: visitor.page.clock.playing)
    visitor.until(lambda: abs(visitor.session.place - place) > 10)
    visitor.until(lambda: visitor.differs(before))
    visitor.picture("play")
    visitor.pause()
    visitor.until(lambda: opened(visitor))  # where it stands now


def test_the_time_is_scrubbed_and_the_piston_is_where_geometry_says(visitor: Visitor) -> None:
    visitor.slide("time, s", 0.5, lambda: abs(visitor.session.time - 0.5) < 0.02)
    assert not visitor.page.clock.playing
    shown = f"slider.x {piston(visitor.session.time):.3g}"[:12]  # the value under the plot
    visitor.until(lambda: shown in visitor.text().replace("\n", " "))
    visitor.until(lambda: opened(visitor))
    visitor.picture("scrub")


def test_a_slider_of_a_parameter_runs_the_analysis_anew(visitor: Visitor) -> None:
    visitor.turn_to("Values")
    session = visitor.session
    visitor.slide(
        "rod_length, m", 0.8, lambda: session.settings.parameters.get("rod_length", ROD) > 5
    )
    rod = session.settings.parameters["rod_length"]
    visitor.until(lambda: session.motion["slider.x"].max() > rod)
    assert session.motion["slider.x"].max() == pytest.approx(CRANK + rod, abs=1e-2)
    assert np.ptp(session.motion["slider.x"]) == pytest.approx(2 * CRANK, abs=1e-2)
    pin = crank(visitor)
    end = np.array([pin[0] + np.sqrt(rod**2 - pin[1] ** 2), 0.0, 0.0])
    visitor.until(lambda: visitor.sees("orange", 0.7 * pin + 0.3 * end, 0.3 * pin + 0.7 * end))
    visitor.picture("slider")
    visitor.press(
        "Reset all values", lambda: abs(session.motion["slider.x"].max() - CRANK - ROD) < 1e-2
    )


def shown_now(visitor: Visitor) -> str:
    """What is read, with spaces for all that divides it."""
    return " ".join(visitor.text().split())


def test_a_body_that_is_dragged_takes_the_mechanism_along_with_its_joints_closed(
    visitor: Visitor,
) -> None:
    visitor.slide("time, s", 0.1, lambda: abs(visitor.session.time - 0.1) < 0.02)
    grip = 0.6 * crank(visitor)  # which turns about the origin
    turn = np.radians(20)
    target = np.array(
        [[np.cos(turn), np.sin(turn), 0], [-np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    )
    target = target @ grip
    with visitor.dragging("blue", [grip, 0.5 * (grip + target), target]):
        visitor.until(lambda: np.linalg.norm(direction(visitor) - unit(target)) < 0.05)
        visitor.until(lambda: visitor.sees("blue", target))
        visitor.picture("drag")
    # the pointer is somewhere within a pixel, which may be a few millimetres off the circle
    told = re.compile(r"crank is where you want it|out of reach: ([\d.]+) mm short, the closest")
    visitor.until(lambda: told.search(visitor.text()))
    missed = told.search(visitor.text()).group(1)
    assert missed is None or float(missed) < 30
    poser, q = visitor.session.poser, visitor.session.pose
    pins = [poser.frame(name, q)[0] for name in ("rod.piston_pin", "piston.piston_pin")]
    assert np.linalg.norm(pins[0] - pins[1]) < 1e-6
    # what is told is of the position by hand, whatever is chosen to be told
    visitor.press("Only this", lambda: len(visitor.page._plots.names) == 1)
    visitor.until(lambda: f"by hand slider.x {pins[0][0]:.3g}"[:18] in shown_now(visitor))


def test_what_is_pulled_out_of_reach_stops_at_the_closest_position_and_says_how_far_it_is(
    visitor: Visitor,
) -> None:
    visitor.slide("time, s", 0.1, lambda: abs(visitor.session.time - 0.1) < 0.02)
    grip = 0.6 * crank(visitor)
    target = 1.6 * CRANK * unit(grip)  # the point turns at 0.6 CRANK about the origin
    told = re.compile(r"out of reach: ([\d.]+) m short, the closest")

    def short() -> float:
        found = told.search(visitor.text())
        return float(found.group(1)) if found else np.inf

    with visitor.dragging("blue", [grip, 1.2 * grip, target]):
        visitor.until(lambda: abs(short() - CRANK) < 0.05)
        visitor.picture("drag-out-of-reach")
    assert np.linalg.norm(direction(visitor) - unit(grip)) < 0.02
    # played, and scrubbed likewise, it follows the motion, of which is told again
    motion = f"{len(visitor.session.motion)} instants;"
    visitor.until(lambda: short() < np.inf and motion not in visitor.text())
    visitor.press("Play", lambda: visitor.page.clock.playing)
    visitor.until(lambda: motion in visitor.text() and "out of reach" not in visitor.text())
    visitor.pause()


def test_a_thin_rod_is_gripped_from_beside_it_and_far_from_it_the_camera_turns(
    visitor: Visitor,
) -> None:
    end = crank(visitor)
    middle, seen = 0.5 * end, visitor.pixel(end) - visitor.pixel(0 * end)
    aside = np.array([-seen[1], seen[0]]) / np.linalg.norm(seen)  # square to it, in the picture
    way = [middle, 0.5 * np.linalg.norm(end) * np.array([0.0, 1.0, 0.0])]
    for pixels in (6.0, -6.0):  # it is about four pixels thick
        with visitor.dragging("blue", way, beside=pixels * aside):
            visitor.until(lambda: visitor.session.pose is not None)
            assert visitor.session._grip.body == "crank"
        visitor.begin_again()
    visitor.until(lambda: visitor.sees("blue", middle))
    camera = visitor.page._client.camera
    before, press = np.array(camera.position), visitor.pixel(middle) + 40 * aside
    visitor.tab.mouse.move(*press)
    visitor.tab.mouse.down()
    visitor.tab.mouse.move(*(press + 20), steps=3)
    visitor.until(lambda: np.abs(camera.position - before).max() > 1e-3)
    visitor.tab.mouse.up()
    visitor.catch_up()
    assert visitor.session.pose is None and not visitor.session.holding


def unit(way: Floats) -> Floats:
    """The direction of a way."""
    return np.asarray(way / np.linalg.norm(way))


def direction(visitor: Visitor) -> Floats:
    """The direction of the crank."""
    return unit(crank(visitor))


def ticks(visitor: Visitor) -> list[str]:
    """The numbers along the axis of the time; none where uPlot found no room for any."""
    found = f"() => {{ const x = {_CHART}?.axes[0]; return x?._found?.[1] ? x._values : []; }}"
    return list(visitor.tab.evaluate(found))


def ink_below(visitor: Visitor) -> int:
    """How many dark pixels there are where these numbers stand, below the lines of the chart."""
    box = visitor.tab.locator(".u-over").bounding_box()
    left, right = round(box["x"]), round(box["x"] + box["width"])
    bottom = round(box["y"] + box["height"])
    return int((visitor.picture()[bottom + 3 : bottom + 28, left:right].max(axis=2) < 160).sum())


_CHART = "Object.values(window.__viserTestpoints?.uplots ?? {})[0]?.chart"


def test_a_chart_has_numbers_along_its_time_though_values_come_while_it_gets_its_width(
    visitor: Visitor,
) -> None:
    visitor.until(lambda: ticks(visitor) == ["0", "0.5", "1"] and ink_below(visitor) > 20)
    height, width = visitor.tab.evaluate(f"() => [{_CHART}.height, {_CHART}.width]")
    # as the page does it: a chart without width has none, then width and values come at once
    visitor.tab.evaluate(f"() => {{ {_CHART}.setSize({{width: 0, height: {height}}}); }}")
    visitor.until(lambda: ticks(visitor) == [])
    visitor.tab.evaluate(
        f"""() => {{
            const chart = {_CHART};
            chart.setSize({{width: {width - 20}, height: {height}}});
            chart.setData(chart.data, false);
            chart.redraw();
        }}"""
    )
    visitor.until(lambda: ticks(visitor) == ["0", "0.5", "1"] and ink_below(visitor) > 20)
    visitor.picture("ticks")


def test_plots_tell_the_values_at_the_cursor_and_have_any_variable_across(
    visitor: Visitor,
) -> None:
    visitor.slide("time, s", 0.3, lambda: abs(visitor.session.time - 0.3) < 0.02)
    told = re.compile(r"t \[s\]\s*([-\d.]+)\s*slider\.x \[m\]\s*([-\d.]+)")

    def at_the_cursor() -> tuple[float, ...]:
        """The time and the place of the slider under the pointer, which goes to the middle."""
        chart = visitor.tab.locator(".u-over").bounding_box()
        visitor.tab.mouse.move(chart["x"] + chart["width"] / 2, chart["y"] + chart["height"] / 2)
        found = told.search(visitor.tab.locator(".u-legend").inner_text())
        return tuple(float(text) for text in found.groups()) if found else (np.nan, np.nan)

    visitor.until(lambda: abs(at_the_cursor()[0] - 0.5) < 0.02)
    time, x = at_the_cursor()
    assert x == pytest.approx(piston(time), abs=2e-3)
    visitor.picture("plot")
    plots = visitor.page._plots
    visitor.choose("against", "rod", lambda: plots.across.startswith("rod."))  # not plotted
    visitor.choose("its", "angle", lambda: plots.across == "rod.angle")
    title = visitor.tab.locator("svg.studio-xy title").first
    visitor.until(lambda: "rod.angle = " in title.text_content())  # drawn a moment later
    assert visitor.tab.locator("svg.studio-xy polyline").count() == 2
    assert "slider.x = " in title.text_content() and "t = 0 s" in title.text_content()
    visitor.picture("plot-against")


def test_the_torque_of_the_motor_is_plotted_over_its_angle(visitor: Visitor) -> None:
    plots = visitor.page._plots
    visitor.choose("of", "motor", lambda: plots._quantity.value == "torque")
    visitor.press("Only this", lambda: plots.names == ("motor.torque",))
    at_first = visitor.session.quantities.curve("motor.torque").values[0]
    visitor.until(lambda: "motor.torque [N·m]" in visitor.text())
    # which is plotted: nothing is drawn over itself
    words = "motor.torque is across: add a quantity"
    visitor.choose("against", "motor", lambda: words in visitor.text())
    lines = visitor.tab.locator("svg.studio-xy polyline")
    visitor.choose("against", "pivot", lambda: lines.count() == 1)
    told = visitor.tab.locator("svg.studio-xy title").first.text_content()
    assert f"motor.torque = {at_first:.5g} N·m" in told
    visitor.picture("plot-torque")
    visitor.choose("against", "time", lambda: visitor.tab.locator(".u-over").count() == 1)


def test_a_driver_is_stretched_and_played_at_another_speed(visitor: Visitor) -> None:
    session = visitor.session
    visitor.turn_to("Values")
    visitor.slide("motor ×", 0.625, lambda: "motor" in session.settings.laws)
    factor = session.settings.laws["motor"].factor
    assert factor == pytest.approx(0.5, abs=0.05)
    whole = np.pi / 4 + 2 * np.pi
    visitor.until(lambda: abs(session.motion["pivot.angle"][-1] - factor * whole) < 1e-6)
    visitor.press("¼", lambda: visitor.page.clock.speed == 0.25)
    visitor.press("1", lambda: visitor.page.clock.speed == 1.0)
    visitor.press("Reset all values", lambda: abs(session.motion["pivot.angle"][-1] - whole) < 1e-6)


def test_let_go_it_begins_where_a_slider_says_and_rests_upright_or_hanging(
    visitor: Visitor,
) -> None:
    session = visitor.session
    visitor.turn_to("Values")
    visitor.tick("drivers act", False, lambda: not session.settings.driven)
    visitor.until(lambda: str(session.settings.analysis) == "dynamics")
    visitor.turn_to("Start")
    visitor.slide("guide.displacement, m", 0.3, lambda: "guide.displacement" in session.settings.q)
    wanted = session.settings.q["guide.displacement"]
    assert CRANK + ROD > wanted > ROD - CRANK
    visitor.until(lambda: abs(session.motion["slider.x"][0] - wanted) < 1e-6)
    # all sliders show the real start
    angle = session.motion["pivot.angle"][0]
    sliders = visitor.page._controls._sliders
    visitor.until(lambda: abs(sliders["start pivot.angle"].value - angle) < 2e-2)
    visitor.until(lambda: opened(visitor))
    visitor.picture("start-slider")
    visitor.choose("analysis", "equilibrium", lambda: "stable equilibrium" in visitor.text())
    visitor.until(lambda: session.pose is not None)
    there = direction(visitor)
    assert np.abs(there) == pytest.approx([0, 1, 0], abs=1e-6)
    assert ("unstable" in visitor.text()) == (there[1] > 0), "upright it does not stay"
    visitor.until(lambda: opened(visitor))
    visitor.picture("equilibrium")
    visitor.turn_to("Values")
    visitor.press("Reset all values", lambda: session.settings.driven)
    visitor.choose("analysis", "kinematics", lambda: str(session.settings.analysis) == "kinematics")
    visitor.until(lambda: session.pose is None and not session.error)


def test_what_goes_wrong_is_said_in_words_and_the_page_goes_on(visitor: Visitor) -> None:
    visitor.turn_to("Values")
    words = "driver motor: this parenthesis is not closed"
    visitor.write("law", "sin(2*t", lambda: words in visitor.text())
    errors = visitor.tab.locator(".studio-error")
    visitor.until(lambda: errors.count() == 1)
    visitor.picture("error")
    visitor.press("Reset all values", lambda: errors.count() == 0)
    visitor.catch_up()
    assert visitor.session.run()


def test_an_analysis_that_does_not_end_is_stopped_and_the_page_goes_on(visitor: Visitor) -> None:
    session = visitor.session
    visitor.turn_to("Values")
    visitor.choose("analysis", "dynamics", lambda: str(session.settings.analysis) == "dynamics")
    visitor.until(lambda: "computing" not in visitor.text() and "Stop" not in visitor.text())
    # which an integrator follows in ever shorter steps
    visitor.write("law", "exp(1000*t)", lambda: "motor" in session.settings.laws)
    visitor.press("Stop", lambda: "stopped at" in visitor.text())
    visitor.picture("stopped")
    errors = visitor.tab.locator(".studio-error")
    visitor.press("Reset all values", lambda: errors.count() == 0)
    visitor.until(lambda: len(session.motion) > 100 and not session.error)


def test_the_motion_the_model_and_a_picture_can_be_taken_away(visitor: Visitor) -> None:
    visitor.turn_to("Save")
    for button, ending, word in (
        ("Motion (CSV)", ".csv", "slider.x"),
        ("Model (TOML)", ".toml", "rod"),
    ):
        file = download(visitor, button)
        assert file.suggested_filename.endswith(ending)
        assert word in file.path().read_text("utf-8")
    visitor.until(lambda: opened(visitor))
    file = download(visitor, "Picture (PNG)")
    assert file.suggested_filename == "slider-crank.png"
    with Image.open(file.path()) as image:
        assert coloured(np.asarray(image.convert("RGB"), dtype=float), "blue") > 100, "the crank"
    visitor.picture("save")


def download(visitor: Visitor, button: str) -> Any:
    """The file that a button brings."""
    with visitor.tab.expect_download() as found:
        visitor.press(button)
    return found.value


def test_the_structure_comes_piece_by_piece_and_the_mechanism_goes_on(visitor: Visitor) -> None:
    visitor.look_into_it()
    visitor.until(lambda: "3 bodies and 4 joints" in visitor.text())
    visitor.until(lambda: "Equations" in visitor.text())
    assert visitor.tab.locator(".studio-structure").count() > 0
    visitor.until(lambda: not visitor.page._structure._said.visible)
    visitor.picture("structure")
    visitor.turn_to("Plot")


def test_two_visitors_do_not_disturb_each_other_and_open_what_they_like(
    visitor: Visitor, browser: Any, server: Any
) -> None:
    before = len(server.pages)
    other = Visitor(browser, server)
    try:
        _opens_what_he_likes(other)
        assert visitor.session.name == "slider-crank"
        assert "excavator arm" not in visitor.text()
        assert other.complaints == []
    finally:
        other.tab.close()
    visitor.until(lambda: len(server.pages) == before)


def _opens_what_he_likes(other: Visitor) -> None:
    other.turn_to("Gallery")
    other.press("excavator", lambda: other.session.name == "excavator arm")
    other.until(lambda: "excavator arm" in other.text())
    other.turn_to("Show")
    other.tick("reactions of joints", True, lambda: "reactions" in other.page._over._arrows)
    other.tick("frames of bodies", True, lambda: other.page._over._axes is not None)
    assert len(other.page._over._ways) == 1
    assert other.tab.get_by_label("trace of").input_value() == other.page.shown.points[0]
    other.choose("trace of", "-", lambda: not other.page._over._ways)
    before = other.space()
    other.slide("time, s", 0.2, lambda: abs(other.session.time - 2.0) < 0.1)
    other.until(lambda: other.differs(before))
    other.picture("two-visitors")
    other.turn_to("Gallery")
    other.press("balanced-lamp", lambda: other.session.name == "balanced lamp")  # not driven
    other.until(lambda: "balanced lamp" in other.text())
    other.catch_up()
    assert "Gallery" in other.tabs(), "who goes through the gallery stays there"
    assert other.tab.locator(".studio-error").count() == 0
