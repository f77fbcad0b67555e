"""The studio: frames a second, the time until a mechanism follows the hand, and the page itself.

The server's share is measured by itself: poses of all nodes brought to a place and put into the
queue of a page.  Where a Chromium is found, the page is opened in it too, drawn in software: that
says how long a visitor waits without a graphics card, and what the browser makes of the frames.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import biela as bl
from benchmarks.report import Row, below
from biela.studio.pieces import pieces
from biela.studio.session import Session
from biela.studio.shelf import gallery
from biela.studio.source import ModelSource

#: Frames a second at least, ms to follow the hand at most, s to the page at most.
RATE, FOLLOW, LOAD = 30.0, 50.0, 3.0
_SOFTWARE = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader-webgl",
    "--enable-unsafe-swiftshader",
]


def run(quick: bool) -> Iterator[Row]:
    yield from _following(quick)
    yield from _frames(quick)


def chain(count: int = 50) -> bl.Model:
    """Bars of 0.2 m, hinged one to the next, that a motor in every hinge lets wave."""
    model = bl.Model(f"chain of {count}", plane="xz")
    before: Any = model.ground
    for k in range(count):
        body = model.body(f"bar{k}", mass=0.1, com=(0.1, 0, 0), inertia=(1e-5, 4e-4, 4e-4))
        place = before.at(0.2 if k else 0.0, 0, 0, axis="y")
        model.joint("revolute", f"pin{k}", place, body.at(0, 0, 0, axis="y"))
        law = f"0.15*sin(2*pi*t + {0.3 * k:.1f})"
        model.driver("rotary", f"motor{k}", coordinate=f"pin{k}.angle", law=law)
        before = body
    before.marker("end", (0.2, 0, 0))
    return model


def _following(quick: bool) -> Iterator[Row]:
    """From the pointer to poses that can be sent, for every body of every mechanism."""
    worst: dict[str, tuple[float, float]] = {}
    random = np.random.default_rng(0)
    names = gallery().names[:6] if quick else gallery().names
    for name in names:
        session = Session(gallery().source(name))
        session.open()
        spent = []
        for body in session.dragging.bodies[: 3 if quick else 8]:
            session.dragging.prepare(body)
            place, _ = session.poser.frame(body, session.position())
            for _ in range(6):
                target = place + 0.3 * session.size * random.normal(size=3)
                runs = [_pulled(session, body, place, target) for _ in range(3)]
                spent.append(tuple(1e3 * min(times) for times in zip(*runs, strict=True)))
        worst[name] = tuple(max(times) for times in zip(*spent, strict=True))
    slowest = max(worst, key=lambda name: worst[name])
    middle = float(np.median([passed for passed, _ in worst.values()]))
    note = f" of {slowest}, the slowest of {len(worst)}; the median mechanism {middle:.0f} ms"
    yield below("following the hand, worst of all pulls", worst[slowest][0], FOLLOW, "ms", note)
    slowest = max(worst, key=lambda name: worst[name][1])
    note = f" of {slowest}, as other work on the machine does not disturb it"
    yield below("the same, by processor time", worst[slowest][1], FOLLOW, "ms", note)


def _pulled(session: Session, body: str, place: Any, target: Any) -> tuple[float, float]:
    """A grip, a pull and the poses of what is drawn then: passed, and spent by this thread, s."""
    session.pose = None
    begun = time.perf_counter(), time.thread_time()
    session.grip(body, place)
    session.pull(target)
    scene = session.posed_scene()
    assert scene is not None, "it was put there by hand"
    pieces(scene, session.unit)
    return time.perf_counter() - begun[0], time.thread_time() - begun[1]


def _frames(quick: bool) -> Iterator[Row]:
    models: dict[str, Any] = {"Stewart platform": gallery().source("stewart")}
    count = 20 if quick else 50
    models[f"chain of {count} bodies"] = ModelSource(chain(count))
    for name, source in models.items():
        begun = time.perf_counter()
        with _served(name, source) as server:
            spent = time.perf_counter() - begun
            yield Row(f"{name}: derived, compiled, moved", f"{spent:.1f} s before the page")
            yield from _of_one(name, server, 2.0 if quick else 5.0)


@contextmanager
def _served(name: str, source: Any) -> Iterator[Any]:
    from biela.studio.view.server import Server

    server = Server(gallery().with_given(name, source), name, port=18200)
    server.until_ready()
    try:
        yield server
    finally:
        server.stop()


def _of_one(name: str, server: Any, seconds: float) -> Iterator[Row]:
    """One page in a browser: the frames that are sent to it, and those that it draws."""
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield Row(f"{name}: frames", "needs a Chromium and playwright")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_SOFTWARE)
        tab = browser.new_page(viewport={"width": 1280, "height": 760})
        begun = time.perf_counter()
        tab.goto(server.address)
        while "Gallery" not in tab.evaluate("() => document.body.innerText"):
            time.sleep(0.02)
        load = time.perf_counter() - begun
        yield below(f"{name}: page with all panels", load, LOAD, "s", ", drawn in software")
        (page,) = server.pages.values()
        while not page.clock.playing:
            time.sleep(0.05)
        time.sleep(1.0)
        first, begun = page._beats, time.perf_counter()
        drawn = tab.evaluate(_COUNT, 1e3 * seconds)
        sent = (page._beats - first) / (time.perf_counter() - begun)
        cost = _cost(page)
        browser.close()
    note = f", {1e3 * cost:.1f} ms of work each"
    met = "met" if sent >= RATE else "missed"
    yield Row(f"{name}: frames sent", f"{sent:.0f} a second{note} (at least {RATE:g}: {met})")
    met = "met" if drawn >= RATE else "missed"
    told = f"{drawn:.0f} a second by this browser, in software (at least {RATE:g}: {met})"
    yield Row(f"{name}: frames drawn", told)


def _cost(page: Any) -> float:
    """The work of the server for a frame, s: the fastest of some, as others share the machine."""
    page.clock.playing = False
    time.sleep(0.2)
    spent = []
    for k in range(30):
        begun = time.perf_counter()
        page._view.move(page._pieces, k % 20 + 0.5)
        spent.append(time.perf_counter() - begun)
    return min(spent)


_COUNT = """milliseconds => new Promise(done => {
    let count = 0;
    const begun = performance.now();
    const next = () => {
        count += 1;
        const passed = performance.now() - begun;
        if (passed > milliseconds) done(1e3 * count / passed); else requestAnimationFrame(next);
    };
    next();
})"""
