"""Symbols in the studio as a visitor has them: played, scrubbed, changed, looked into, and wrong.

Every test leaves a picture in ``out/studio-screenshots``, to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from biela.studio import studio
from examples.symbolic.four_bar import four_bar
from tests.studio.browser import Visitor, launched


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    pytest.importorskip("viser", reason='viser is not installed: pip install "biela[studio]"')
    served: Any = studio(four_bar(), browser=False, wait=False, play=False, port=18280)
    served.until_ready()
    try:
        with launched() as browser:
            found = Visitor(browser, served, "theta1")
            yield found
            assert found.complaints == []
    finally:
        served.stop()


def test_a_four_bar_of_symbols_plays_in_colour_and_is_scrubbed(visitor: Visitor) -> None:
    visitor.press("Play")
    visitor.until(lambda: visitor.page.clock.time > 0.5)
    visitor.press("Pause")
    visitor.until(lambda: not visitor.page.clock.playing)
    visitor.slide("time", 0.5)
    visitor.until(lambda: abs(visitor.session.time - 2.5) < 0.2)
    time = visitor.session.time
    angle = visitor.session.quantities.curve("theta1").told(visitor.session.place)
    visitor.until(lambda: angle in visitor.text())
    visitor.tab.wait_for_timeout(400)
    picture = visitor.picture("symbolic-scrub")
    (a,) = visitor.session.ways(["A"])
    k = round(visitor.session.place)
    assert visitor.session.motion.t[k] == pytest.approx(time, abs=0.02)
    # half way along the first bar, which is blue, as seen by the camera
    x, y = np.round(visitor.pixel(0.5 * a[k])).astype(int)
    red, _, blue = np.moveaxis(picture[y - 6 : y + 7, x - 6 : x + 7], 2, 0)
    assert (blue - red > 60).sum() > 5
    left, top, width, height = (round(z) for z in visitor.scene())
    red, _, blue = np.moveaxis(picture[top : top + height, left : left + width], 2, 0)
    assert (red - blue > 60).sum() > 100, "the second bar is orange"


def test_its_structure_has_trees_and_equations(visitor: Visitor) -> None:
    visitor.turn_to("Structure")
    visitor.press("Look into its structure")
    visitor.until(lambda: "Equations" in visitor.text())
    visitor.press("Wider, or narrower")
    for words in ("Tree of bases", "about y by theta2", "Tree of points", "O2", "Sparsity"):
        visitor.until(lambda words=words: words in visitor.text())
    visitor.tab.wait_for_timeout(800)
    visitor.picture("symbolic-structure")
    visitor.press("Wider, or narrower")
    visitor.turn_to("Plot")


def test_a_slider_runs_it_anew_and_panels_of_joints_are_not_there(visitor: Visitor) -> None:
    visitor.turn_to("Values")
    before = visitor.session.motion
    visitor.slide("l1", 0.2)  # of 0.5 to 4 m
    visitor.until(lambda: visitor.session.motion is not before)
    crank = visitor.session.settings.parameters["l1"]
    assert crank == pytest.approx(1.2, abs=0.1)
    (a,) = visitor.session.ways(["A"])
    assert np.linalg.norm(a, axis=1) == pytest.approx(crank)
    visitor.turn_to("Show")
    visitor.until(lambda: "trace of" in visitor.text())
    visitor.page.trace("B")
    for words in ("reactions of joints", "symbols of joints"):
        assert words not in visitor.text()
    visitor.turn_to("Start")
    visitor.until(lambda: "positions" in visitor.text())
    assert "by hand" not in visitor.text()
    visitor.tab.wait_for_timeout(400)
    visitor.picture("symbolic-slider")


def test_what_is_wrong_is_told_and_the_gallery_is_there_and_back(visitor: Visitor) -> None:
    visitor.turn_to("Values")
    visitor.slide("l4", 0.99)  # 20 m, farther than the bars reach
    visitor.until(lambda: "cannot be assembled" in visitor.text())
    visitor.tab.wait_for_timeout(400)
    visitor.picture("symbolic-error")
    visitor.turn_to("Gallery")
    visitor.press("slider-crank")
    visitor.until(lambda: "slider.x" in visitor.text())
    assert visitor.session.error == ""
    visitor.turn_to("Show")
    visitor.until(lambda: "symbols of joints" in visitor.text())
    visitor.turn_to("Gallery")
    visitor.press("four_bar")
    visitor.until(lambda: visitor.session.name == "four_bar" and "theta1" in visitor.text())
    assert visitor.session.error == ""
    visitor.tab.wait_for_timeout(400)
    visitor.picture("symbolic-back")
