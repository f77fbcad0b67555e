"""`studio`: open the page."""

from __future__ import annotations

import atexit
import os
import stat
import tempfile
import threading
import webbrowser
from contextlib import suppress
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import biela as bl
from biela.errors import BielaError
from biela.studio.framing import in_notebook
from biela.studio.shelf import beside, gallery
from biela.studio.source import source_of
from biela.studio.symbolic_source import SymbolicSource

if TYPE_CHECKING:
    from biela.studio.view.server import Server

__all__ = ["studio"]

#: A browser opens the page within so many seconds.
_PATIENCE: Final = 60.0


def studio(
    model: Any = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    browser: bool | None = None,
    play: bool = True,
    wait: bool | None = None,
) -> Server:
    """Open a page with a mechanism that can be played, changed, dragged and plotted.

    Every browser window has a session of its own: two visitors do not disturb each other.  In a
    notebook the page is shown where the cell is, if this is its last expression.

    Args:
        model: A Model, Robot or SymbolicSystem, or the path of a model file; None opens the
            gallery.  Of a file the other models in its folder can be opened too, and nothing else.
        host: The address to listen at; others than this machine can only see the page if it is
            another one, such as "0.0.0.0".
        port: The port, or the first free one after it.
        browser: Whether to open a browser; None: not in a notebook.  It gets the link in a file
            of the home folder that only the user may read, and that is gone once the page is open.
        play: Whether motions run as soon as they are there.
        wait: Whether to print the link and to serve until the program is interrupted; else the
            server is returned at once, and serves until its ``stop()``.  None: not in a notebook.

    Returns:
        The server, with the ``address`` of the page: a link with a token, without which nobody
        comes in.

    Raises:
        ModelError: There is no such file, it is a program, or this is no model.
        BielaError: The package viser is not installed or cannot be guarded, or no port is free.
    """
    if find_spec("viser") is None:
        raise BielaError(
            "the studio needs the package viser, which is not installed: "
            'pip install "biela[studio]"'
        )
    if model is None:
        shelf, name = gallery(), "slider-crank"
        if not shelf.names:
            raise BielaError("the gallery is not part of this installation: give a model file")
        name = name if name in shelf.names else shelf.names[0]
    elif isinstance(model, str | Path):
        shelf, name = beside(model)
    elif isinstance(model, bl.SymbolicSystem):
        name = model.name
        shelf = gallery().with_given(name, SymbolicSource(model))
    else:
        source = source_of(model)
        name = source.model({}).name
        shelf = gallery().with_given(name, source)
    from biela.studio.view.server import Server

    inside = in_notebook()
    server = Server(shelf, name, host, port, play)
    if browser or (browser is None and not inside):
        server.until_ready()
        _open(server)
    if wait or (wait is None and not inside):
        print(f"biela studio is at {server.address} (Ctrl-C ends it)", flush=True)
        server.wait()
    return server


def _open(server: Server) -> None:
    """Have a browser open the page.

    All users of a machine see the arguments of a program, so the browser does not get the link but
    the name of a file that leads there and that nobody else may read.  It is removed once the page
    is open.  What cannot be opened is no fault: the link is printed, too.
    """
    link = escape(server.address)
    with suppress(OSError, RuntimeError):
        file = _private_file(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">\n'
            f'<meta http-equiv="refresh" content="0;url={link}"><title>biela studio</title>\n'
            f'<a href="{link}">biela studio</a>\n'
        )

        def remove() -> None:
            with suppress(OSError):
                file.unlink(missing_ok=True)

        def remove_in_time() -> None:
            server.visited.wait(_PATIENCE)
            remove()

        atexit.register(remove)
        threading.Thread(target=remove_in_time, name="studio link", daemon=True).start()
        webbrowser.open(file.as_uri())


def _private_file(text: str) -> Path:
    """A new HTML file that only this user may read, and that nobody else can replace.

    Raises:
        OSError: There is no place for it.
    """
    # browsers from a snap or a flatpak see neither the folder for temporary files nor hidden ones
    for place in (Path.home, tempfile.gettempdir):
        with suppress(OSError, RuntimeError):  # a user without a home, a folder that is read-only
            folder = Path(place()).resolve(strict=True)
            if _others_replace(folder.stat()):
                continue
            # under a name that nobody knows before; what is there, links too, is left alone
            handle, name = tempfile.mkstemp(".html", "biela-studio-", folder)  # of mode 0600
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
            except BaseException:
                os.unlink(name)
                raise
            return Path(name)
    raise FileNotFoundError("no folder for a file that opens the page")


def _others_replace(folder: os.stat_result) -> bool:
    """Whether other users may rename what is in a folder, and so have a browser open their page."""
    if not hasattr(os, "geteuid"):
        return False
    shared = folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX
    return bool(shared) or folder.st_uid not in (0, os.geteuid())
