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
from tests.studio.browser import free_port
from tests.studio.visitor import Visitor, coloured


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    pytest.importorskip("viser", reason='viser is not installed: pip install "biela[studio]"')
    served: Any = studio(four_bar(), browser=False, wait=False, play=False, port=free_port())
    served.until_ready()
    yield served
    served.stop()


def test_a_four_bar_of_symbols_plays_in_colour_and_is_scrubbed(visitor: Visitor) -> None:
    session = visitor.session
    visitor.press("Play", lambda: visitor.page.clock.playing)
    visitor.until(lambda: visitor.page.clock.time > 0.5)
    visitor.pause()
    visitor.slide("time", 0.5, lambda: abs(session.time - 2.5) < 0.2)
    angle = session.quantities.curve("theta1").told(session.place)
    visitor.until(lambda: angle in visitor.text())
    (a,) = session.ways(["A"])
    k = round(session.place)
    assert session.motion.t[k] == pytest.approx(session.time, abs=0.02)
    # along the first bar, which is blue, as seen by the camera
    visitor.until(lambda: visitor.sees("blue", 0.3 * a[k], 0.5 * a[k], 0.7 * a[k]))
    visitor.until(lambda: coloured(visitor.space(), "orange") > 100)  # the second bar
    visitor.picture("symbolic-scrub")


def test_its_structure_has_trees_and_equations(visitor: Visitor) -> None:
    visitor.look_into_it()
    visitor.until(lambda: "Equations" in visitor.text())
    width = visitor.scene()[2]
    visitor.press("Wider, or narrower", lambda: visitor.page._structure._wide)
    visitor.until(lambda: visitor.scene()[2] < width - 50)
    for words in ("Tree of bases", "about y by theta2", "Tree of points", "O2", "Sparsity"):
        visitor.until(lambda words=words: words in visitor.text())
    visitor.picture("symbolic-structure")
    visitor.press("Wider, or narrower", lambda: not visitor.page._structure._wide)
    visitor.until(lambda: visitor.scene()[2] == width)
    visitor.turn_to("Plot")


def test_a_slider_runs_it_anew_and_panels_of_joints_are_not_there(visitor: Visitor) -> None:
    session = visitor.session
    visitor.turn_to("Values")
    before = session.motion
    visitor.slide("l1", 0.2, lambda: session.motion is not before)  # of 0.5 to 4 m
    crank = session.settings.parameters["l1"]
    assert crank == pytest.approx(1.2, abs=0.1)
    (a,) = session.ways(["A"])
    assert np.linalg.norm(a, axis=1) == pytest.approx(crank)
    visitor.until(lambda: visitor.sees("blue", 0.3 * a[0], 0.7 * a[0]))
    visitor.turn_to("Show")
    visitor.until(lambda: "trace of" in visitor.text())
    for words in ("reactions of joints", "symbols of joints"):
        assert words not in visitor.text()
    visitor.choose("trace of", "B", lambda: visitor.page.shown.points == ("B",))
    visitor.turn_to("Start")
    visitor.until(lambda: "positions" in visitor.text())
    assert "by hand" not in visitor.text()
    visitor.picture("symbolic-slider")


def test_what_is_wrong_is_told_and_the_gallery_is_there_and_back(visitor: Visitor) -> None:
    visitor.turn_to("Values")
    # 20 m, farther than the bars reach
    visitor.slide("l4", 0.99, lambda: "cannot be assembled" in visitor.text())
    visitor.picture("symbolic-error")
    visitor.turn_to("Gallery")
    visitor.press("slider-crank", lambda: "slider.x" in visitor.text())
    assert visitor.session.error == ""
    visitor.turn_to("Show")
    visitor.until(lambda: "symbols of joints" in visitor.text())
    visitor.turn_to("Gallery")
    visitor.press("four_bar", lambda: visitor.session.name == "four_bar")
    visitor.until(lambda: "theta1" in visitor.text())
    assert visitor.session.error == ""
    (a,) = visitor.session.ways(["A"])
    visitor.until(lambda: visitor.sees("blue", 0.3 * a[0], 0.7 * a[0]))
    visitor.picture("symbolic-back")
