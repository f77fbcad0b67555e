"""A visitor of the studio: what he sees and does on its page, by hand of a program.

A slow machine may be late with anything.  So nothing waits for a time: all that is done is done
for something to happen, is waited for, and is done again where nothing came of it, as a visitor
would.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.studio.browser import PATIENCE, PICTURES, window

Floats = npt.NDArray[np.float64]
#: Whether something has happened.
Happened = Callable[[], Any]

#: After so long (s) something is tried again.
_AGAIN = 15.0
_NOWHERE_ELSE = np.zeros(2)


class Visitor:
    """A window with the page, and the session that the server has for it."""

    def __init__(self, browser: Any, server: Any) -> None:
        before = set(server.pages)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.tab = window(browser)
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.goto(server.address)
        self.until(lambda: set(server.pages) - before)
        (own,) = set(server.pages) - before
        self.page, self._opened = server.pages[own], server._name
        self.until(lambda: self.session is not None)
        self.catch_up()

    @property
    def session(self) -> Any:
        return self.page.session

    # ------------------------------------------------------------------------------- waiting

    def until(self, happened: Happened) -> None:
        """Wait until something is so."""
        assert _within(PATIENCE, happened), f"not so after {PATIENCE:g} s: {self.text()}"

    def _do(self, act: Callable[[], bool], happened: Happened) -> None:
        """Do something, as soon as it can be done, and again if nothing comes of it."""
        self.until(lambda: act() and _within(_AGAIN, happened))

    def catch_up(self) -> None:
        """Wait until the page has all that the server has to say so far."""
        word = f"ready {time.monotonic()}"

        def say() -> bool:
            told = partial(self.page._controls.say, self.session.name, word, "")
            self.page.worker.ask("catch up", told)
            return True

        self._do(say, lambda: word in self.text())
        self.page.worker.ask("catch up", self.page._say)
        self.until(lambda: word not in self.text())

    def begin_again(self) -> None:
        """Let go of everything, and have the mechanism as it was opened."""
        self.tab.mouse.up()
        self.tab.keyboard.press("Escape")
        self.page.worker.ask("open", partial(self.page.open, self._opened))
        self.page.worker.ask("speed", partial(self.page.set_speed, 1.0))
        self.catch_up()

    # ------------------------------------------------------------------------------- looking

    def text(self) -> str:
        """All that can be read."""
        return str(self.tab.evaluate("() => document.body.innerText"))

    def picture(self, name: str = "") -> Floats:
        """A picture of the window, kept under a name: (height, width, 3), 0 to 255."""
        from PIL import Image

        taken = self.tab.screenshot()
        if name:
            PICTURES.mkdir(parents=True, exist_ok=True)
            (PICTURES / f"{name}.png").write_bytes(taken)
        with Image.open(BytesIO(taken)) as image:
            return np.asarray(image.convert("RGB"), dtype=float)

    def space(self) -> Floats:
        """A picture of the window into space."""
        left, top, width, height = (round(x) for x in self.scene())
        return self.picture()[top : top + height, left : left + width]

    def sees(self, color: str, *places: Floats) -> bool:
        """Whether there is "blue" or "orange" at places, as the camera of the page sees them."""
        picture = self.picture()
        for place in places:
            x, y = np.round(self.pixel(place)).astype(int)
            if coloured(picture[max(y - 3, 0) : y + 4, max(x - 3, 0) : x + 4], color) < 5:
                return False
        return True

    def differs(self, before: Floats) -> bool:
        """Whether space looks otherwise than in a picture of before."""
        return int((np.abs(self.space() - before).max(axis=2) > 60).sum()) > 200

    def scene(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the window into space."""
        x, y, width, height = self.tab.evaluate(_SCENE)
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

    # ------------------------------------------------------------------------------- doing

    def press(self, label: str, happened: Happened | None = None) -> None:
        """Click on a button with these words; once, if nothing is to happen.

        The element is told, so that it does not matter if the page moves it just then.
        """
        if happened is None:
            self.until(lambda: self.tab.evaluate(_CLICK, [label, "button"]))
        else:
            self._do(lambda: self.tab.evaluate(_CLICK, [label, "button"]), happened)

    def turn_to(self, tab: str) -> None:
        """Choose a tab, with the mouse."""

        def click() -> bool:
            if place := self.tab.evaluate(_PLACE, tab):
                self.tab.mouse.click(*place)
            return bool(place)

        self._do(click, lambda: tab in self.tabs())

    def tabs(self) -> list[str]:
        """The tabs that are chosen."""
        return [str(name) for name in self.tab.evaluate(_CHOSEN)]

    def tick(self, label: str, on: bool, happened: Happened) -> None:
        """Put a tick into the box beside a label, or take it away."""
        self._do(lambda: self.tab.evaluate(_TICK, [label, on]), happened)

    def choose(self, label: str, option: str, happened: Happened) -> None:
        """Choose from the list beside a label."""

        def choose() -> bool:
            self.tab.keyboard.press("Escape")  # a list that is open
            self.tab.evaluate(_TICK, [label, None])
            return _within(_AGAIN, lambda: self.tab.evaluate(_CLICK, [option, "[role=option]"]))

        self._do(choose, happened)

    def write(self, label: str, text: str, happened: Happened) -> None:
        """Put another text into the field beside a label, and press Enter."""

        def write() -> bool:
            if found := self.tab.evaluate(_TICK, [label, None]):
                self.tab.keyboard.press("Control+a")
                self.tab.keyboard.insert_text(text)
                self.tab.keyboard.press("Enter")
            return bool(found)

        self._do(write, happened)

    def slide(self, label: str, part: float, happened: Happened) -> None:
        """Click on the track of a slider, at a part of its length."""

        def click() -> bool:
            if track := self.tab.evaluate(_TRACK, label):
                x, y, width, height = track
                self.tab.mouse.click(x + part * width, y + height / 2)
            return bool(track)

        self._do(click, happened)

    def look_into_it(self) -> None:
        """Ask for the structure of the mechanism, which takes its time."""
        structure = self.page._structure
        self.turn_to("Structure")
        self.press("Look into its structure", lambda: structure._said.visible or structure._folders)

    def pause(self) -> None:
        """Stop what is played."""
        self.press("Pause", lambda: not self.page.clock.playing)

    @contextmanager
    def dragging(
        self, color: str, places: Sequence[Floats], beside: Floats = _NOWHERE_ELSE
    ) -> Iterator[None]:
        """Hold what is seen in a colour at the first place, and move it over the others.

        The press may be some pixels ``beside`` it.  Who misses, because the picture was late, has
        turned the camera, looks from the front and tries again.  At the end it is let go.
        """
        camera = self.page._client.camera

        def hold() -> bool:
            self.until(lambda: self.sees(color, places[0]))
            start, *ways = (self.pixel(place) for place in places)
            before = np.array(camera.position)
            self.tab.mouse.move(*(start + beside))
            self.tab.mouse.down()
            for way in ways:
                self.tab.mouse.move(*(way + beside), steps=3)
            self.until(
                lambda: self.session.holding or np.abs(camera.position - before).max() > 1e-6
            )
            if self.session.holding:
                return True
            self.tab.mouse.up()
            self.page.worker.ask("look", self.page.looking.look)
            self.catch_up()
            return False

        try:
            self.until(hold)
            yield
        finally:
            self.tab.mouse.up()


def _within(seconds: float, happened: Happened) -> bool:
    """Whether something happens soon enough."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def coloured(picture: Floats, color: str) -> int:
    """How many pixels of a picture are "blue" or "orange"."""
    excess = picture[..., 2] - picture[..., 0]
    return int(((excess if color == "blue" else -excess) > 60).sum())


_SCENE = """() => {
    const all = [...document.querySelectorAll('canvas')];
    const r = all.map(c => c.getBoundingClientRect())
        .sort((a, b) => b.width * b.height - a.width * a.height)[0];
    return [r.x, r.y, r.width, r.height];
}"""

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

_CHOSEN = """() => [...document.querySelectorAll('[role=tab][aria-selected=true]')]
    .map(e => e.innerText.trim())"""

_TICK = """([label, on]) => {
    let found = [...document.querySelectorAll('label')].find(e => e.innerText.trim() == label);
    while (found && !found.querySelector('input')) found = found.parentElement;
    if (!found) return false;
    found = found.querySelector('input');
    found.scrollIntoView({block: 'nearest'});
    found.focus();
    if (on === null || found.checked != on) found.click();
    return true;
}"""

_TRACK = """label => {
    const labels = [...document.querySelectorAll('label')];
    const named = l => l.innerText == label || l.innerText.startsWith(label + ',');
    const seen = l => l.getBoundingClientRect().width > 0;
    const found = labels.find(l => named(l) && seen(l));
    let row = found;
    while (row && !row.querySelector('.mantine-Slider-track')) row = row.parentElement;
    if (!row) return null;
    found.scrollIntoView({block: 'center'});
    const r = row.querySelector('.mantine-Slider-track').getBoundingClientRect();
    return [r.x, r.y, r.width, r.height];
}"""
