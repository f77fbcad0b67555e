"""The server of the studio: it listens on this machine only, and has a page for each visitor.

Nobody comes in without the link, see `door`.
"""

from __future__ import annotations

import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from typing import Any, Final

import rich
import viser

from biela.errors import BielaError
from biela.studio.beginning import begun
from biela.studio.framing import framed
from biela.studio.shelf import Shelf
from biela.studio.table import Table
from biela.studio.view.client_page import PlainServer
from biela.studio.view.door import Door, named
from biela.studio.view.page import Page

__all__ = ["Server"]

#: Ports that are tried if the one wanted is taken.
_TRIED: Final = 50


class Server:
    """Pages of a shelf of models.

    Args:
        shelf: What can be opened.
        name: What is opened first.
        host: The address to listen at.
        port: The port, or the first free one after it.
        play: Whether motions run as soon as they are there.

    Raises:
        BielaError: No port is free, the address is none of this machine, or this version of viser
            cannot be guarded.
    """

    def __init__(
        self,
        shelf: Shelf,
        name: str,
        host: str = "127.0.0.1",
        port: int = 8080,
        play: bool = True,
    ) -> None:
        # a visitor may go while his page is being moved
        warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)
        self._shelf, self._name, self._play = shelf, name, play
        self.pages: dict[int, Page] = {}
        self._begun: list[Table] = []  # for the first visitor
        self._stopped = threading.Event()
        #: Set once a page was open, or the server stops.
        self.visited = threading.Event()
        self._door = Door(host)
        with _silence():
            self._viser = PlainServer(host, _free(host, port), self._door)
        self.host, self.port = host, self._viser.get_port()
        self._viser.gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(0, 84, 140)
        )
        # native code is loaded once, by nobody's page
        self._warm = threading.Thread(target=self._prepare, name="studio start", daemon=True)
        self._warm.start()
        self._viser.on_client_connect(self._arrived)
        self._viser.on_client_disconnect(self._left)

    def _prepare(self) -> None:
        with suppress(BielaError):  # who opens the page will be told
            session = begun(self._shelf.source(self._name))
            session.open()
            self._begun.append(session)
        for name in self._shelf.names:
            self._shelf.description(name)  # which is remembered

    def until_ready(self) -> None:
        """Wait until the first mechanism can be shown at once."""
        self._warm.join()

    @property
    def address(self) -> str:
        """The link to the page: whoever has it, with its token, may come in."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else named(self.host)
        return f"http://{host}:{self.port}/?token={self._door.token}"

    def __repr__(self) -> str:
        return f"biela studio at {self.address}"

    def frame(self, height: int = 700) -> str:
        """The page in a frame for a notebook; others may not frame it before this is called."""
        self._door.framable = True
        return framed(self.address, height)

    def _repr_html_(self) -> str:
        return self.frame()

    def _arrived(self, client: viser.ClientHandle) -> None:
        self.visited.set()
        session = self._begun.pop() if self._begun else None
        self.pages[client.client_id] = Page(client, self._shelf, self._name, self._play, session)
        if client.client_id not in self._viser.get_clients():  # gone while the page was made
            self._left(client)

    def _left(self, client: viser.ClientHandle) -> None:
        page = self.pages.pop(client.client_id, None)
        if page is not None:
            page.end()

    def wait(self) -> None:
        """Serve until `stop`, or until the program is interrupted."""
        try:
            self._stopped.wait()
        finally:
            self.stop()

    def stop(self) -> None:
        """Close all pages."""
        self.visited.set()
        for page in self.pages.values():
            page.end()
        self.pages = {}
        if not self._stopped.is_set():
            self._stopped.set()
        with _silence():
            self._viser.stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()


@contextmanager
def _silence() -> Iterator[None]:
    """Inside, viser does not announce itself: on a terminal it prints, in a notebook it shows."""
    console = rich.get_console()
    before = console.quiet
    console.quiet = True
    try:
        with redirect_stdout(StringIO()):
            yield
    finally:
        console.quiet = before


def _free(host: str, port: int) -> int:
    """The first free port from one on."""
    for tried in range(port, port + _TRIED):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, tried))
            except OSError as error:
                if not isinstance(error, PermissionError) and error.errno in _TAKEN:
                    continue
                raise BielaError(
                    f"the studio cannot listen at {host}:{tried}: {error.strerror}; give another "
                    f"host or port"
                ) from error
            return tried
    raise BielaError(f"no port from {port} to {port + _TRIED - 1} is free: give another port")


#: What a port says that is taken, on Linux and macOS, and on Windows.
_TAKEN: Final = (98, 48, 10048)
