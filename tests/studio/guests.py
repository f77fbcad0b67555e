"""Clients of the studio that are no browser: they say what they like, as a hostile one would."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from websockets.sync.client import ClientConnection, connect

import biela as bl
from tests.studio.browser import PATIENCE

#: The first thing a page says; only then it has a session.
CAMERA: Mapping[str, Any] = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [3.0, 3.0, 3.0],
    "fov": 0.8,
    "near": 0.1,
    "far": 100.0,
    "image_height": 660,
    "image_width": 1100,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 0.0, 1.0],
}


def pendulum() -> bl.Model:
    """A model that is computed in no time."""
    model = bl.Model("pendulum")
    rod = model.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    model.joint("revolute", "pivot", model.ground, rod, axis="y", start=0.5)
    model.run["duration"] = 0.1
    return model


def until(happened: Callable[[], Any]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, f"not so after {PATIENCE:g} s"
        time.sleep(0.02)


def still_serves(server: Any) -> None:
    """A new client gets a page, and the scene of the mechanism; it leaves no thread behind."""
    before, threads = set(server.pages), threads_of_pages()
    with guest(server) as other:
        other.send(packed(CAMERA))
        until(lambda: [p for k, p in server.pages.items() if k not in before and p.session])
        assert len(other.recv(timeout=PATIENCE)) > 100
    until(lambda: set(server.pages) <= before and threads_of_pages() <= threads)


def threads_of_pages() -> set[threading.Thread]:
    """The threads that work for pages."""
    return {each for each in threading.enumerate() if each.name.startswith("studio")}


def packed(message: object) -> bytes:
    """A message as it goes over the wire."""
    return msgspec.msgpack.encode(message)


def guest(server: Any, **changes: Any) -> ClientConnection:
    """A connection with the token and the origin of the page; options of `connect` change that."""
    import viser

    options: dict[str, Any] = {
        "uri": server.address.replace("http", "ws", 1),
        "origin": f"http://127.0.0.1:{server.port}",
        "subprotocols": [f"viser-v{viser.__version__}"],
        "open_timeout": 60,
        "close_timeout": 1,
        "max_size": None,
        "max_queue": None,
        "compression": None,
        "proxy": None,
    }
    return connect(**(options | changes))


def kill(client: ClientConnection) -> None:
    """End a connection without a word, as the end of a process does."""
    client.socket.shutdown(socket.SHUT_RDWR)


def asked(server: Any, path: str | bytes, *headers: str) -> tuple[int, dict[str, str], bytes]:
    """The answer to a request with just these headers: status, headers and body; 0 for none."""
    target = path.encode() if isinstance(path, str) else path
    lines = [b"GET " + target + b" HTTP/1.1", *(each.encode() for each in headers), b"", b""]
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as line:
        line.sendall(b"\r\n".join(lines))
        answer = b""
        while not answer.startswith(b"HTTP/1.1 101") and (part := line.recv(1 << 16)):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    fields = dict(each.split(": ", 1) for each in rest)
    return int(first.split()[1]) if first else 0, fields, body


def upgrade(origin: str | None) -> list[str]:
    """The headers by which a page opens a connection."""
    sent = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
    sent.append("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    return sent if origin is None else [*sent, f"Origin: {origin}"]
