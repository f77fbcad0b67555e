"""The door of the studio: who comes in, and how much they may say.

A browser lets any page open connections to this machine, and a name of the network may be made to
point here.  So a request must name this server as its host, come from a page of this server or from
none, and have the token of the link that biela printed.  Who is inside may send messages of a
limited size at a limited rate; what is malformed is dropped with a line in the log.

viser offers no place for any of that: it starts its server with the arguments that it likes.
`guard` runs the function that does so with another ``serve``, the one here.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import http
import ipaddress
import logging
import secrets
import socket
from collections.abc import Callable
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any, Final
from urllib.parse import parse_qs

import websockets.asyncio.server
import websockets.datastructures
import websockets.exceptions
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response
from websockets.protocol import State

from biela.errors import BielaError
from biela.studio.view.messages import LARGE, fault

__all__ = ["AT_ONCE", "CLIENTS", "KEPT", "PICTURE", "RATE", "UNGUARDED", "Door", "guard", "named"]

_LOG: Final = logging.getLogger("biela.studio")

#: Pages at a time.
CLIENTS: Final = 64
#: Messages of one page a second, and how many may come at once: a page sends about a hundred a
#: second at most, while its camera turns and a slider is drawn.
RATE: Final = 200.0
AT_ONCE: Final = 400
#: Bytes of the largest message, which is a picture of the scene.
PICTURE: Final = 1 << 23
#: So many malformed messages end a connection.
_MALFORMED: Final = 10
#: Frames that are read ahead of their turn, and how long a client may take to say goodbye (s).
_AHEAD, _GOODBYE = 4, 1.0
#: What is said where viser has changed so that nothing would stand before its server.
UNGUARDED: Final = (
    "this version of viser starts its server in a way that biela does not know, and the studio "
    'would be open to every page of a browser: pip install "viser==1.1.1", and tell the authors'
)
#: Under this name a page keeps the token for when it is loaded again.
KEPT: Final = "biela token"

#: The page without the token.  A window that was inside before has the token: it is loaded again.
_AGAIN: Final = f"""
const kept = sessionStorage.getItem("{KEPT}");
if (location.search) sessionStorage.removeItem("{KEPT}");
else if (kept) location.replace("/?token=" + kept);
"""
_SHUT: Final = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>biela studio</title></head><body>
<p>The studio opens with the link that biela printed when it was started, token included.</p>
<script>{_AGAIN}</script></body></html>
"""
_HASH: Final = base64.b64encode(hashlib.sha256(_AGAIN.encode()).digest()).decode()
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
#: The page of viser unpacks itself: it adds inline scripts and styles, makes functions for its
#: WebAssembly, and starts workers and loads pictures from data that it has.  All that is left to
#: forbid is to load or send anything elsewhere.
_POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "connect-src ws://{host} data: blob:; base-uri 'none'; form-action 'none'"
)


class Door:
    """Decides on requests.

    Attributes:
        token: What a link must have.
        framable: Whether another page may show the studio in a frame, as a notebook does.
        served: Whether a server listens behind it.

    Args:
        host: The address that the server listens at.
    """

    def __init__(self, host: str) -> None:
        self.token = secrets.token_urlsafe(24)
        self.framable, self.served = False, False
        self._names = {"127.0.0.1", "localhost", "[::1]", named(host).lower()}
        self._anywhere = host in ("", "0.0.0.0", "::")
        if self._anywhere:
            self._names.add(socket.gethostname().lower())

    def refusal(self, request: Request, port: int, clients: int) -> Response | None:
        """The answer to a request that does not come in; None if it does.

        Args:
            request: What is asked.
            port: Where the server listens.
            clients: Pages that are open.
        """
        headers = request.headers
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        upgrade = "Upgrade" in headers
        path, _, query = request.path.partition("?")
        if len(hosts) != 1 or not self._is_own(hosts[0].lower(), port):
            return _response(421, "This is another server.\n")
        # of pages, only a browser sends no origin, and never with an upgrade
        if (origins or upgrade) and origins != [f"http://{hosts[0]}"]:
            return _response(403, "The studio answers to its own page only.\n")
        if not self._has_token(query):
            shut = _response(403, _SHUT, "text/html")
            policy = f"default-src 'none'; script-src 'sha256-{_HASH}'; frame-ancestors 'none'"
            shut.headers["Content-Security-Policy"] = policy
            return shut
        if path != "/":
            return _response(404, "The studio has one page.\n")
        if upgrade and clients >= CLIENTS:
            return _response(503, f"{clients} pages are open, which is the limit.\n")
        return None

    def dress(self, response: Response, host: str) -> Response:
        """The same page with headers that keep others out of it."""
        policy = _POLICY.format(host=host)
        if not self.framable:
            policy += "; frame-ancestors 'none'"
        response.headers.update(_HEADERS)
        response.headers["Content-Security-Policy"] = policy
        return response

    def _is_own(self, host: str, port: int) -> bool:
        """Whether a host of a request, with its port, is this server.

        A server for the network is called by any of its addresses.  Numbers are safe: only names
        can be made to point elsewhere.
        """
        name, colon, given = host.rpartition(":")
        if not colon or host.endswith("]"):  # a browser leaves the port 80 out
            name, given = host, "80"
        if given != str(port):
            return False
        return name in self._names or (self._anywhere and _is_number(name))

    def _has_token(self, query: str) -> bool:
        given = parse_qs(query).get("token", [""])
        own = self.token.encode()
        return len(given) == 1 and hmac.compare_digest(given[0].encode(errors="replace"), own)


def named(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _response(status: int, text: str, kind: str = "text/plain") -> Response:
    body = text.encode()
    headers = websockets.datastructures.Headers(_HEADERS)
    headers["Connection"] = "close"
    headers["Content-Length"] = str(len(body))
    headers["Content-Type"] = f"{kind}; charset=utf-8"
    return Response(status, http.HTTPStatus(status).phrase, headers, body)


# --------------------------------------------------------------------------- inside of the door


class _Visit(ServerConnection):
    """A connection of a page, which is read no faster than `RATE`.

    Who sends more waits: the network holds the messages back, and nobody else is held up.  Who goes
    on with that is put out.
    """

    element: Callable[[str], Any]
    _left, _last = float(AT_ONCE), 0.0
    _late, _malformed = 0, 0

    async def recv(self, decode: bool | None = None) -> Any:
        """The next message that is sound."""
        while True:
            raw = await super().recv(decode)
            await self._take_turn()
            wrong = fault(raw, self.element)
            if not wrong:
                return raw
            _LOG.warning("the studio dropped a malformed message: %s", wrong)
            self._malformed += 1
            if self._malformed == _MALFORMED:
                await self._put_out(1008, f"{_MALFORMED} malformed messages")
            elif len(raw) > LARGE:
                await self._put_out(1009, f"a message of {len(raw)} bytes, which is no picture")

    async def _take_turn(self) -> None:
        now = self.loop.time()
        self._left = min(AT_ONCE, self._left + (now - self._last) * RATE) - 1.0
        self._last = now
        if self._left > AT_ONCE / 2:  # it was quiet for a while
            self._late = 0
        elif self._left < 0.0:
            self._late += 1
            await asyncio.sleep(-self._left / RATE)
        if self._late > AT_ONCE:
            await self._put_out(1008, f"more than {RATE:g} messages a second")

    async def _put_out(self, code: int, reason: str) -> None:
        if self.state is State.OPEN:
            _LOG.warning("the studio disconnected a page: %s", reason)
            await self.close(code, reason)


def guard(server: Any, door: Door, element: Callable[[str], Any]) -> None:
    """Put a door before a server of viser that has not been started yet.

    Args:
        server: A ``viser.infra.WebsockServer``.
        door: The door.
        element: Finds an element of a page by its id.

    Raises:
        BielaError: This version of viser starts its server in another way.
    """

    class Visit(_Visit):
        pass

    Visit.element = staticmethod(element)

    def serve(handler: Any, host: str, port: int, *, process_request: Any, **options: Any) -> Any:
        def process(connection: ServerConnection, request: Request) -> Response | None:
            clients = len(connection.server.connections)
            refusal = door.refusal(request, connection.local_address[1], clients)
            if refusal is not None:
                return refusal
            page: Response | None = process_request(connection, request)
            return page and door.dress(page, request.headers["Host"])

        asyncio.get_running_loop().set_exception_handler(_tell)
        door.served = True
        limits = {"max_size": PICTURE, "max_queue": _AHEAD, "close_timeout": _GOODBYE}
        return websockets.asyncio.server.serve(
            handler, host, port, process_request=process, create_connection=Visit,
            logger=_logger(), server_header=None, **(options | limits),
        )  # fmt: skip

    seen = SimpleNamespace(
        asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)),
        datastructures=websockets.datastructures,
        exceptions=websockets.exceptions,
    )
    stock = getattr(type(server), "_background_worker", None)
    if not isinstance(stock, FunctionType):
        raise BielaError(UNGUARDED)
    names = {**stock.__globals__, "websockets": seen}
    worker = FunctionType(
        stock.__code__, names, stock.__name__, stock.__defaults__, stock.__closure__
    )
    server._background_worker = MethodType(worker, server)


def _tell(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say in a line what went wrong in a task of the server, which goes on."""
    error = context.get("exception")
    words = f"{type(error).__name__}: {error}" if error else str(context.get("message"))
    _LOG.warning("the studio could not do what a page asked for: %s", ascii(words)[1:-1])
    _LOG.debug("in full", exc_info=error)


def _logger() -> logging.Logger:
    """The log of connections: who does not come in is not worth a line, and a fault is one."""

    def filtered(record: logging.LogRecord) -> bool:
        if record.exc_info:
            record.msg, record.args = f"{record.getMessage()}: {record.exc_info[1]!r}", ()
            record.exc_info = None
        return not record.getMessage().startswith("opening handshake failed")

    logger = logging.Logger(_LOG.name, logging.ERROR)  # viser adds a filter to it
    logger.parent = _LOG
    logger.addFilter(filtered)
    return logger
