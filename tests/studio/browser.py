"""A real browser on the page of the studio: what a visitor sees and does, by hand of a program.

It needs an installed Chromium (its path in ``CHROMIUM``, or found) and the package playwright;
pictures are drawn in software, so that no graphics card is needed.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Floats = npt.NDArray[np.float64]

#: Where pictures are kept to be looked at.
PICTURES = Path(__file__).parents[2] / "out" / "studio-screenshots"
_SIZE = {"width": 1100, "height": 660}
_SOFTWARE = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader-webgl",
    "--enable-unsafe-swiftshader",
]
#: A slow machine is waited for, and not longer.
_PATIENCE = 60.0


def chromium() -> str:
    """The path of a Chromium; the test is skipped, in words, where there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed: pip install playwright")
    known = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, known)), None)
    if found is None:
        pytest.skip("no Chromium on this machine: install it, or give its path in CHROMIUM")
    return found


@contextmanager
def launched() -> Iterator[Any]:
    """A browser."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_SOFTWARE)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """A window with the page, and the session that the server has for it."""

    def __init__(self, browser: Any, server: Any, plotted: str = "slider.x") -> None:
        before = set(server.pages)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.tab = browser.new_page(viewport=_SIZE)
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.goto(server.address)
        self.until(lambda: "Gallery" in self.text() and plotted in self.text())
        (own,) = set(server.pages) - before
        self.page = server.pages[own]

    @property
    def session(self) -> Any:
        return self.page.session

    def until(self, happened: Callable[[], Any]) -> None:
        """Wait until something is so."""
        end = time.monotonic() + _PATIENCE
        while not happened():
            assert time.monotonic() < end, f"not so after {_PATIENCE:g} s; the page: {self.text()}"
            time.sleep(0.05)

    def text(self) -> str:
        """All that can be read."""
        return str(self.tab.evaluate("() => document.body.innerText"))

    def picture(self, name: str) -> Floats:
        """A picture of the window, kept under a name: (height, width, 3), 0 to 255."""
        from PIL import Image

        PICTURES.mkdir(parents=True, exist_ok=True)
        self.tab.screenshot(path=PICTURES / f"{name}.png")
        with Image.open(PICTURES / f"{name}.png") as image:
            return np.asarray(image.convert("RGB"), dtype=float)

    def scene(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the window into space."""
        x, y, width, height = self.tab.evaluate(
            """() => {
                const all = [...document.querySelectorAll('canvas')];
                const r = all.map(c => c.getBoundingClientRect())
                    .sort((a, b) => b.width * b.height - a.width * a.height)[0];
                return [r.x, r.y, r.width, r.height];
            }"""
        )
        return x, y, width, height

    def pixel(self, place: Floats) -> Floats:
        """Where a place of the ground is seen, by the pinhole camera of the page."""
        import viser.transforms

        camera = self.page._client.camera
        R = viser.transforms.SO3(camera.wxyz).as_matrix()
        x, y, z = R.T @ (np.asarray(place) - camera.position)
        left, top, width, height = self.scene()
        focal = 0.5 * height / np.tan(camera.fov / 2)
        return np.array([left + width / 2 + focal * x / z, top + height / 2 + focal * y / z])

    def press(self, label: str, selector: str = "button") -> None:
        """Click on a button, or on another element that can be seen, with these words.

        The element is told, so that it does not matter if the page moves it just then.
        """
        self.until(lambda: self.tab.evaluate(_CLICK, [label, selector]))

    def turn_to(self, tab: str) -> None:
        """Choose a tab, with the mouse."""
        self.until(lambda: self.tab.evaluate(_PLACE, tab))
        self.tab.mouse.click(*self.tab.evaluate(_PLACE, tab))

    def tick(self, label: str) -> None:
        """Click on the box or field beside a label."""
        self.until(lambda: self.tab.evaluate(_TICK, label))

    def write(self, label: str, text: str) -> None:
        """Put another text into the field beside a label, and press Enter."""
        self.until(lambda: self.tab.evaluate(_TICK, label))
        self.tab.keyboard.press("Control+a")
        self.tab.keyboard.insert_text(text)
        self.tab.keyboard.press("Enter")

    def slide(self, label: str, part: float) -> None:
        """Click on the track of a slider, at a part of its length."""
        x, y, width, height = self.tab.evaluate(
            """label => {
                const labels = [...document.querySelectorAll('label')];
                const named = l => l.innerText == label || l.innerText.startsWith(label + ',');
                const seen = l => l.getBoundingClientRect().width > 0;
                const found = labels.find(l => named(l) && seen(l));
                let row = found;
                while (!row.querySelector('.mantine-Slider-track')) row = row.parentElement;
                found.scrollIntoView({block: 'center'});
                const r = row.querySelector('.mantine-Slider-track').getBoundingClientRect();
                return [r.x, r.y, r.width, r.height];
            }""",
            label,
        )
        self.tab.mouse.click(x + part * width, y + height / 2)

    def stand_still(self) -> None:
        """Wait until two pictures of space, a while apart, are the same: all is drawn by then."""
        left, top, width, height = self.scene()
        window = {"x": left, "y": top, "width": width, "height": height}
        seen = [b""]

        def still() -> bool:
            self.tab.wait_for_timeout(300)
            seen.append(self.tab.screenshot(clip=window))
            return seen[-1] == seen[-2]

        self.until(still)

    @contextmanager
    def dragging(self, places: list[Floats], gripped: Callable[[], Any]) -> Iterator[None]:
        """Hold what is seen at the first place, and move it over the others; let go at the end.

        Who misses a rod of four pixels, because the picture was late, tries again.
        """

        def hold() -> bool:
            self.tab.mouse.up()
            self.stand_still()
            start, *ways = (self.pixel(place) for place in places)
            self.tab.mouse.move(*start)
            self.tab.wait_for_timeout(200)
            self.tab.mouse.down()
            for way in ways:
                self.tab.mouse.move(*way, steps=3)
            end = time.monotonic() + 3.0
            while not gripped() and time.monotonic() < end:
                self.tab.wait_for_timeout(50)
            return bool(gripped())

        try:
            self.until(hold)
            yield
        finally:
            self.tab.mouse.up()


_CLICK = """([label, selector]) => {
    const found = [...document.querySelectorAll(selector)]
        .find(e => e.innerText.trim() == label && e.getBoundingClientRect().width > 0);
    if (found) found.click();
    return !!found;
}"""

_PLACE = """tab => {
    const found = [...document.querySelectorAll('[role=tab]')].find(e => e.innerText.trim() == tab);
    const r = found && found.getBoundingClientRect();
    return r && r.width ? [r.x + r.width / 2, r.y + r.height / 2] : null;
}"""

_TICK = """label => {
    let found = [...document.querySelectorAll('label')].find(e => e.innerText.trim() == label);
    while (found && !found.querySelector('input')) found = found.parentElement;
    if (!found) return false;
    found = found.querySelector('input');
    found.scrollIntoView({block: 'nearest'});
    found.focus();
    found.click();
    return true;
}"""
