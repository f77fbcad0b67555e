"""The door of the studio: who comes in, how much they may say, and what is left when they go."""

from __future__ import annotations

import gc
import logging
import socket
import threading
import time
import weakref
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

viser = pytest.importorskip("viser", reason='viser is not installed: pip install "biela[studio]"')

from viser._messages import ViewerCameraMessage  # noqa: E402
from viser.infra import WebsockServer  # noqa: E402
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402

import biela as bl  # noqa: E402
import biela.studio.view.door as door  # noqa: E402
from biela.errors import BielaError  # noqa: E402
from biela.studio.view.door import CLIENTS, PICTURE, RATE, Door  # noqa: E402
from tests.studio.browser import PATIENCE, free_port  # noqa: E402
from tests.studio.guests import (  # noqa: E402
    CAMERA,
    asked,
    guest,
    kill,
    packed,
    pendulum,
    still_serves,
    threads_of_pages,
    until,
    upgrade,
)

# as the server sets it, which pytest undoes after each test
pytestmark = pytest.mark.filterwarnings("ignore:Queued a .* on a closed connection")


@pytest.fixture
def server(pendulum_server: Any) -> Any:
    return pendulum_server


@pytest.fixture
def link(server: Any) -> str:
    """The path of the page, token included."""
    return str(server.address.removeprefix(f"http://127.0.0.1:{server.port}"))


# ------------------------------------------------------------------------------- who comes in


def test_the_link_opens_the_page_by_each_name_of_this_machine(server: Any, link: str) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        status, _, body = asked(server, link, f"Host: {name}:{server.port}")
        assert status == 200 and b"<title>biela studio</title>" in body
    still_serves(server)


@pytest.mark.parametrize(
    "host",
    ["evil.example:{}", "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{}",
     "10.0.0.1:{}", "evil.example@127.0.0.1:{}", "[::2]:{}", "localhost:{}:{}", ":{}", ""],
)  # fmt: skip
@pytest.mark.parametrize("headers", [[], ["Origin: http://{}"], upgrade("http://{}")])
def test_a_request_for_another_host_gets_nothing(
    server: Any, link: str, host: str, headers: list[str]
) -> None:
    host = host.replace("{}", str(server.port))
    sent = [each.replace("{}", host) for each in headers]
    status, _, body = asked(server, link, f"Host: {host}", *sent)
    assert status == 421 and len(body) < 100


def test_a_request_with_two_hosts_or_none_gets_nothing(server: Any, link: str) -> None:
    own = f"Host: 127.0.0.1:{server.port}"
    assert asked(server, link, own, "Host: evil.example")[0] == 421
    assert asked(server, link, "Accept: */*")[0] == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://127.0.0.1:1", "http://localhost:{}", "https://127.0.0.1:{}",
     "http://127.0.0.1:{}.evil.example", "null", "", "file://"],
)  # fmt: skip
def test_a_page_of_another_origin_gets_nothing(server: Any, link: str, origin: str) -> None:
    own, origin = f"Host: 127.0.0.1:{server.port}", origin.format(server.port)
    for headers in ([f"Origin: {origin}"], upgrade(origin)):
        status, _, body = asked(server, link, own, *headers)
        assert status == 403 and len(body) < 100
    with pytest.raises(InvalidStatus, match="403"):
        guest(server, origin=origin)


def test_a_connection_without_an_origin_or_with_two_is_refused(server: Any, link: str) -> None:
    own = f"http://127.0.0.1:{server.port}"
    two = [*upgrade(own), "Origin: http://evil.example"]
    for headers in (upgrade(None), two):
        assert asked(server, link, f"Host: 127.0.0.1:{server.port}", *headers)[0] == 403
    assert asked(server, link, f"Host: 127.0.0.1:{server.port}", *upgrade(own))[0] == 101


@pytest.mark.parametrize(
    "path",
    ["/", "/?token=", "/?token=wrong", "/?token={}x", "/?token={}&token={}", "/?Token={}", "/{}",
     "/?token=%C3%A9%00", "/?token=\xe9", "/?x=1", "/#token={}", "/index.html"],
)  # fmt: skip
def test_without_the_token_there_is_a_word_about_the_link(server: Any, path: str) -> None:
    path = path.replace("{}", server._door.token)
    own = f"127.0.0.1:{server.port}"
    for headers in ([], upgrade(f"http://{own}")):
        status, fields, body = asked(server, path.encode("latin-1"), f"Host: {own}", *headers)
        assert status == 403 and b"the link that biela printed" in body
        assert "script-src 'sha256-" in fields["Content-Security-Policy"]
        assert server._door.token.encode() not in body


def test_every_server_has_a_token_of_its_own_that_cannot_be_guessed(server: Any) -> None:
    tokens = {Door("127.0.0.1").token for _ in range(100)} | {server._door.token}
    assert len(tokens) == 101 and min(map(len, tokens)) >= 32


@pytest.mark.parametrize(
    "path",
    ["/..", "/../", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd",
     "/..\\..\\etc\\passwd", "/%5c..%5cetc", "//etc/passwd", "/%2fetc/passwd",
     "/etc/passwd%00.html", "/\0", "/index.html/../index.html", "/./", "/index.html", "/.",
     "/%252e%252e/x", "../x",
     "http://127.0.0.1/", "file:///etc/passwd", "*", "/\xc0\xae\xc0\xae/x"],
)  # fmt: skip
def test_there_is_one_page_and_no_way_to_other_files(server: Any, path: str) -> None:
    target = f"{path}?token={server._door.token}".encode("latin-1")
    own = f"127.0.0.1:{server.port}"
    for headers in ([], upgrade(f"http://{own}")):
        status, _, body = asked(server, target, f"Host: {own}", *headers)
        assert status == 404 and len(body) < 100


def test_answers_carry_headers_that_keep_others_out(server: Any, link: str) -> None:
    own = f"Host: 127.0.0.1:{server.port}"
    for path in (link, "/", f"/nothing{link[1:]}"):
        fields = asked(server, path, own)[1]
        assert fields["Referrer-Policy"] == "no-referrer"
        assert fields["X-Content-Type-Options"] == "nosniff"
        assert fields["Cache-Control"] == "no-store"
        assert "Server" not in fields
    policy = asked(server, link, own)[1]["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert f"connect-src ws://127.0.0.1:{server.port} " in policy


def test_only_what_was_framed_for_a_notebook_may_be_framed() -> None:
    with bl.studio(pendulum(), port=free_port(), browser=False, wait=False) as server:
        own, link = f"Host: 127.0.0.1:{server.port}", "/?" + server.address.partition("?")[2]
        assert "frame-ancestors 'none'" in asked(server, link, own)[1]["Content-Security-Policy"]
        assert server.address in server._repr_html_()
        assert "frame-ancestors" not in asked(server, link, own)[1]["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in asked(server, "/", own)[1]["Content-Security-Policy"]


def test_a_server_for_the_network_answers_to_numbers_and_its_own_name_only() -> None:
    everywhere = Door("0.0.0.0")
    for host, port, own in (
        ("192.168.1.7:8080", 8080, True),
        ("[fe80::1]:8080", 8080, True),
        ("evil.example:8080", 8080, False),
        ("192.168.1.7", 80, True),
        ("[::1]", 80, True),
        ("192.168.1.7.evil.example:8080", 8080, False),
    ):
        assert everywhere._is_own(host, port) is own, host
    assert Door("studio.lan")._is_own("studio.lan:8080", 8080)
    assert not Door("127.0.0.1")._is_own("192.168.1.7:8080", 8080)
    assert Door("::1")._is_own("[::1]:8080", 8080)


# ------------------------------------------------------------------------------- how much


@pytest.mark.parametrize("size", [10_000_000, PICTURE + 1, 1 << 17])
@pytest.mark.parametrize("fill", [b"\x90", b"\xc1", None], ids=["lists", "nothing", "a picture"])
def test_a_message_that_is_too_large_ends_its_connection_and_no_other(
    server: Any, size: int, fill: bytes | None
) -> None:
    if fill:
        raw = b"\xdd" + (size - 5).to_bytes(4, "big") + fill * (size - 5)
    else:
        raw = packed(
            {"type": "GetRenderResponseMessage", "payload": bytes(size), "render_uuid": ""}
        )
    with guest(server) as client, guest(server) as other:
        client.send(raw)
        if fill is None and size < PICTURE:
            assert client.ping().wait(PATIENCE), "a picture may have that size"
            return
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                client.recv(timeout=PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009 and closed.value.rcvd.reason
        assert other.ping().wait(PATIENCE)


def test_a_thousand_messages_a_second_hold_up_nobody_else_and_are_put_out(
    server: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(door, "AT_ONCE", 100)  # of the 400, to wait for fewer
    heard: list[float] = []
    note = lambda *_: heard.append(time.monotonic())  # noqa: E731
    server._viser._serving.register_handler(ViewerCameraMessage, note)
    flood, ended, begun = packed(CAMERA), threading.Event(), time.monotonic()
    with guest(server) as client:

        def pour() -> None:
            with suppress(ConnectionClosed):
                while True:
                    client.send(flood)
            ended.set()

        threading.Thread(target=pour, daemon=True).start()
        until(lambda: len(heard) > 120)  # more than may come at once
        still_serves(server)
        until(ended.is_set)
    server._viser._serving.unregister_handler(ViewerCameraMessage, note)
    until(lambda: not server.pages)
    for k, when in enumerate(heard):  # one of them of the client that was served meanwhile
        assert k <= 100 + RATE * (when - begun) + 2
    (record,) = (each for each in caplog.records if each.name == "biela.studio")
    assert "disconnected a page: more than 200 messages a second" in record.getMessage()


# ------------------------------------------------------------------------------- what is left


def test_fifty_clients_are_served_and_when_they_are_killed_nothing_is_left(server: Any) -> None:
    until(lambda: not server.pages)
    threads = threads_of_pages()
    with ExitStack() as open_:
        clients = [open_.enter_context(guest(server)) for _ in range(50)]
        for client in clients[::10]:  # pages with all that is on them, which take their time
            client.send(packed(CAMERA))
        until(lambda: sum(page.session is not None for page in server.pages.values()) == 5)
        for client in clients:
            assert len(client.recv(timeout=PATIENCE)) > 100
        extra = [open_.enter_context(guest(server)) for _ in range(CLIENTS - 50)]
        with pytest.raises(InvalidStatus, match="503"):
            guest(server)
        left = [weakref.ref(page) for page in server.pages.values()]
        left += [weakref.ref(page.session) for page in server.pages.values()]
        for client in clients[::20]:
            client.send(packed(CAMERA | {"image_width": 500}))  # and is gone before that is done
        for client in (*clients, *extra):
            kill(client)
    until(lambda: not server.pages and not server._viser.get_clients())
    until(lambda: not server._viser._serving._client_state_from_id)
    until(lambda: threads_of_pages() <= threads)
    until(lambda: gc.collect() >= 0 and not any(each() for each in left))
    still_serves(server)


def test_a_client_that_goes_while_its_page_is_made_leaves_none(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import biela.studio.view.server as module

    made: list[Any] = []
    gone = threading.Event()

    def slow(*args: Any) -> Any:
        made.append(Page(*args))
        assert gone.wait(PATIENCE)
        return made[0]

    Page = module.Page
    monkeypatch.setattr(module, "Page", slow)
    with guest(server) as client:
        client.send(packed(CAMERA))
        until(lambda: made)
        kill(client)
    until(lambda: not server._viser.get_clients())
    gone.set()
    until(lambda: made[0].worker.ended)
    assert not server.pages


# ------------------------------------------------------------------------------- what is relied on


def test_a_viser_that_starts_its_server_in_another_way_is_not_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stock = WebsockServer._background_worker
    for other in (None, lambda self, ready: stock(self, ready)):
        monkeypatch.setattr(WebsockServer, "_background_worker", other)
        port = free_port()
        with pytest.raises(BielaError, match="pip install"):
            bl.studio(pendulum(), port=port, browser=False, wait=False)
        with pytest.raises(OSError):
            asked(type("Gone", (), {"port": port}), "/", "Host: x")


def test_what_the_door_needs_of_viser_is_there() -> None:
    """If this fails after an update of viser, read `door.guard` and the script of the page anew."""
    from viser.infra import _infra

    assert _infra.websockets.asyncio.server.serve
    client = Path(viser.__file__).parent / "client" / "src" / "WebsocketInterface.tsx"
    if client.is_file():
        assert 'postToWorker({ type: "set_server", server });' in client.read_text("utf-8")


def test_a_fault_in_the_server_is_a_line_and_no_traceback(
    server: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(client_id: int, message: Any) -> None:
        raise ValueError("two\nlines \x1b[31m")

    server._viser._serving.register_handler(ViewerCameraMessage, fail)
    try:
        with caplog.at_level(logging.WARNING, "biela.studio"), guest(server) as client:
            client.send(packed(CAMERA))
            until(lambda: gc.collect() >= 0 and caplog.records)
    finally:
        server._viser._serving.unregister_handler(ViewerCameraMessage, fail)
    (record,) = caplog.records
    assert "ValueError: two" in record.getMessage()
    assert "\n" not in record.getMessage() and "\x1b" not in record.getMessage()
    assert record.exc_info is None and "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "sent",
    [b"", b"\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" * 99, b"GET /" + b"a" * 99_999,
     b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 999 + b"\r\n"],
)  # fmt: skip
def test_who_does_not_come_in_is_not_worth_a_line(
    server: Any,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    sent: bytes,
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            assert b"<title>biela" not in line.recv(1 << 16)
    with guest(server) as other:
        assert other.ping().wait(PATIENCE)
    assert not caplog.records and capfd.readouterr().err == ""
