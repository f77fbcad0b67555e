"""A real browser at the door: the page of the link works, and pages of other origins get nothing.

The foreign pages are served from other ports and names of this machine, and know the address of the
studio; those that even know its token get nothing either.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("viser", reason='viser is not installed: pip install "biela[studio]"')

import biela as bl
import biela.studio.opening as opening
from tests.studio.browser import free_port, launched, window
from tests.studio.guests import pendulum, until

#: What a foreign page does: it connects, fetches, and frames, and tells what it got.
ATTACK = """async ([host, token, protocol]) => {
    const found = { opened: 0, bytes: 0, read: 0, framed: 0 };
    const within = (work) => Promise.race([work, new Promise(r => setTimeout(r, 4000))]);
    const query = token ? `/?token=${token}` : "/";
    await within(new Promise((done) => {
        const line = new WebSocket(`ws://${host}${query}`, [protocol]);
        line.binaryType = "arraybuffer";
        line.onopen = () => { found.opened += 1; };
        line.onmessage = (e) => { found.bytes += e.data.byteLength; done(); };
        line.onclose = done;
    }));
    for (const mode of ["cors", "no-cors"]) {
        try {
            const answer = await within(fetch(`http://${host}${query}`, { mode }));
            found.read += (await answer.text()).length;
        } catch { /* as it should */ }
    }
    const frame = document.createElement("iframe");
    frame.src = `http://${host}${query}`;
    await within(new Promise((done) => { frame.onload = done; document.body.append(frame); }));
    try { found.framed = frame.contentDocument.body.innerHTML.length; } catch { /* likewise */ }
    await new Promise(r => setTimeout(r, 100));
    return found;
}"""


class Foreign(BaseHTTPRequestHandler):
    """A page of somebody else."""

    def do_GET(self) -> None:
        body = b"<!DOCTYPE html><html><body>foreign</body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched("--host-resolver-rules=MAP evil.example 127.0.0.1") as found:
        yield found


@pytest.fixture(scope="module")
def foreign() -> Iterator[int]:
    """The port of another server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Foreign) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found.server_address[1]
        found.shutdown()


@pytest.fixture
def server(pendulum_server: Any) -> Any:
    return pendulum_server


@pytest.mark.parametrize(
    ("name", "known"),
    [("127.0.0.1", True), ("localhost", True), ("evil.example", True), ("evil.example", False)],
)
def test_a_page_of_another_origin_reads_and_does_nothing(
    browser: Any, server: Any, foreign: int, name: str, known: bool
) -> None:
    import viser

    token = server._door.token if known else ""
    tab = window(browser)
    try:
        tab.goto(f"http://{name}:{foreign}/")
        for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
            given = [host, token, f"viser-v{viser.__version__}"]
            found = tab.evaluate(ATTACK, given)
            assert found == {"opened": 0, "bytes": 0, "read": 0, "framed": 0}, json.dumps(found)
        assert not server.pages and not server._viser._serving._client_state_from_id
    finally:
        tab.close()


def test_a_name_that_was_made_to_point_here_opens_nothing(browser: Any, server: Any) -> None:
    tab = window(browser)
    try:
        answer = tab.goto(server.address.replace("127.0.0.1", "evil.example"))
        assert answer.status == 421 and "another server" in tab.content()
        assert not server.pages
    finally:
        tab.close()


def test_without_its_token_the_page_asks_for_the_link(browser: Any, server: Any) -> None:
    tab = window(browser)
    try:
        for query in ("", "?token=wrong"):
            answer = tab.goto(f"http://127.0.0.1:{server.port}/{query}")
            assert answer.status == 403
            assert "the link that biela printed" in tab.evaluate("() => document.body.innerText")
        assert not server.pages
    finally:
        tab.close()


def test_the_link_opens_the_page_once_and_again_and_leaves_no_token_in_the_address_bar(
    browser: Any, server: Any
) -> None:
    tab = window(browser)
    faults: list[str] = []
    tab.on("console", lambda said: faults.append(said.text))
    tab.on("pageerror", lambda error: faults.append(f"Content Security Policy: {error}"))
    # what would lead the page of viser to another server leads it to its own
    tab.goto(f"{server.address}&websocket=ws://127.0.0.1:1")
    for again in (tab.reload, tab.close):
        until(lambda: [page for page in server.pages.values() if page.session])
        until(lambda: "pendulum" in tab.evaluate("() => document.body.innerText"))
        assert tab.url == f"http://127.0.0.1:{server.port}/"
        before = set(server.pages)
        again()
        until(lambda before=before: not before & set(server.pages))
    assert not [each for each in faults if "Content Security Policy" in each]
    until(lambda: not server.pages)


def test_the_file_that_a_browser_is_started_with_leads_to_the_page(
    browser: Any, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(server, "visited", threading.Event())
    opening._open(server)
    tab = window(browser)
    tab.goto(opened[0])
    until(lambda: [page for page in server.pages.values() if page.session])
    until(lambda: "pendulum" in tab.evaluate("() => document.body.innerText"))
    until(lambda: not list(tmp_path.glob("*.html")))
    assert tab.url == f"http://127.0.0.1:{server.port}/"
    tab.close()
    until(lambda: not server.pages)


def test_the_frame_of_a_notebook_shows_it_and_no_other_frame_does(
    browser: Any, foreign: int
) -> None:
    with bl.studio(pendulum(), port=free_port(), browser=False, wait=False) as server:
        tab = window(browser)
        tab.goto(f"http://localhost:{foreign}/")
        tab.evaluate("html => { document.body.innerHTML = html; }", server._repr_html_())
        until(lambda: [page for page in server.pages.values() if page.session])
        until(lambda: "pendulum" in tab.frames[-1].evaluate("() => document.body.innerText"))
        tab.close()
        until(lambda: not server.pages)
