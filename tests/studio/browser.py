"""A real browser, without a window.

It needs an installed Chromium (its path in ``CHROMIUM``, or found) and the package playwright;
pictures are drawn in software, so that no graphics card is needed.  ``CHROMIUM_SLOWED=6`` makes
its pages six times as slow, to try tests on a slow machine.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

#: Where pictures are kept to be looked at.
PICTURES = Path(__file__).parents[2] / "out" / "studio-screenshots"
_SIZE = {"width": 1100, "height": 660}
_SOFTWARE = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader-webgl",
    "--enable-unsafe-swiftshader",
]
#: A slow machine is waited for so long (s).
PATIENCE = 150.0


def chromium() -> str:
    """The path of a Chromium; the test is skipped, in words, where there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed: pip install playwright")
    known = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, known)), None)
    if found is None:
        pytest.skip("no Chromium on this machine: install it, or give its path in CHROMIUM")
    return found


def free_port() -> int:
    """A port that nobody listens at: tests that run at the same time have each their own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def launched(*options: str) -> Iterator[Any]:
    """A browser, with further options of its command line."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=[*_SOFTWARE, *options], timeout=1e3 * PATIENCE
        )
        try:
            yield browser
        finally:
            browser.close()


def window(browser: Any) -> Any:
    """A window of a browser, which is empty."""
    tab = browser.new_page(viewport=_SIZE)
    tab.set_default_timeout(1e3 * PATIENCE)
    slowed = float(os.environ.get("CHROMIUM_SLOWED", "1"))
    if slowed > 1:
        control = tab.context.new_cdp_session(tab)
        control.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    return tab
