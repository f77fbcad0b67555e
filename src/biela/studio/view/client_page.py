"""The page that a browser loads: that of viser, with three scripts before its own.

A browser without a graphics card draws in software, where smoothing edges by four samples a pixel
takes half of the time of a frame.  A script before those of the page finds out what draws, and
asks for one sample there; with hardware all stays as it is.

A chart is made before its width is known.  If values come in the moment in which it is, as they do
while a motion plays, uPlot takes them for all that is new and leaves the ticks of a chart without
width: none.  Another script has every chart that has another size lay out its axes again.

The token of the link must be with the connection too, which a worker of viser opens.  The third
script has it go to this server with the token, whatever else stands in the link, and takes the
token out of the address bar.  Unlike a cookie, what the page keeps is not sent to other servers of
this machine, and a frame in a notebook has it.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any, Final

import viser
from viser._messages import GuiFormDirtyMessage

from biela.errors import BielaError
from biela.studio.view.door import KEPT, UNGUARDED, Door, guard
from biela.whole_files import write_file

__all__ = ["PlainServer", "client_page"]

#: How long a server is waited for that ends (s).
_PATIENCE: Final = 2.0
#: Names by which renderers in software tell of themselves: Chromium, Mesa, Windows, macOS.
_RENDERERS: Final = "swiftshader|llvmpipe|softpipe|swrast|basic render|software"
_SCRIPT: Final = """
(() => {
    const probe = document.createElement("canvas").getContext("webgl2");
    if (!probe) return;
    const told = probe.getExtension("WEBGL_debug_renderer_info");
    const name = probe.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : probe.RENDERER);
    probe.getExtension("WEBGL_lose_context")?.loseContext();
    if (!/RENDERERS/i.test(String(name))) return;
    document.documentElement.dataset.drawn = "in software";
    const given = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, wishes) {
        const plain = kind.startsWith("webgl") ? { ...wishes, antialias: false } : wishes;
        return given.call(this, kind, plain);
    };
})();
""".replace("RENDERERS", _RENDERERS)
# uPlot lays all charts out anew, zoomed as they are, when the pixels of the screen have another
# size: that event is told here
_LAYOUT: Final = """
(() => {
    const sizes = new WeakMap();
    setInterval(() => {
        let other = false;
        for (const canvas of document.querySelectorAll(".uplot canvas")) {
            const size = `${canvas.width} ${canvas.height}`;
            other ||= sizes.get(canvas) !== size;
            sizes.set(canvas, size);
        }
        if (other) window.dispatchEvent(new CustomEvent("dppxchange"));
    }, 100);
})();
"""
_TOKEN: Final = f"""
(() => {{
    const token = new URLSearchParams(location.search).get("token");
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (data, ...rest) {{
        const server = `ws://${{location.host}}/?token=${{token}}`;
        const told = data?.type === "set_server" ? {{ ...data, server }} : data;
        return post.call(this, told, ...rest);
    }};
    if (window !== top) return;
    sessionStorage.setItem("{KEPT}", token);
    history.replaceState(null, "", "/");
}})();
"""


def client_page(page: str) -> str:
    """The page of viser with the scripts in it, and another title."""
    head, found, rest = page.partition("<head>")
    if not found:
        return page
    rest = rest.replace("<title>Viser</title>", "<title>biela studio</title>", 1)
    # after the declaration of the characters, which must be within the first bytes
    start, meta, end = rest.partition('<meta charset="utf-8" />')
    return f"{head}{found}{start}{meta}<script>{_TOKEN}{_SCRIPT}{_LAYOUT}</script>{end}"


class PlainServer(viser.ViserServer):
    """A server behind a door that no page can make public, and that serves `client_page`.

    viser would open a tunnel for whoever asks.

    Raises:
        BielaError: This version of viser cannot be guarded.
    """

    def __init__(self, host: str, port: int, door: Door) -> None:
        self._door = door
        self._folder = tempfile.TemporaryDirectory(prefix="biela-studio-")
        try:
            super().__init__(host, port, verbose=False)
        except BaseException:
            self._folder.cleanup()
            raise
        if not door.served:
            self.stop()
            raise BielaError(UNGUARDED)
        # it would keep every such message for pages to come
        self._serving.unregister_handler(GuiFormDirtyMessage)

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse."""
        return None

    def stop(self) -> None:
        """Close all pages, and wait until the server has ended: it says so while it does."""
        super().stop()
        thread = getattr(self._serving, "_server_thread", None)
        if thread is not None and thread is not threading.current_thread():
            thread.join(_PATIENCE)
        self._folder.cleanup()

    def _element(self, uuid: str) -> Any:
        """The element of a page with an id, or None."""
        found = (each.gui._gui_input_handle_from_uuid for each in self.get_clients().values())
        return next((elements[uuid] for elements in found if uuid in elements), None)

    @property
    def _websock_server(self) -> Any:
        return self._serving

    @_websock_server.setter
    def _websock_server(self, server: Any) -> None:
        """Before it serves: its door, and the folder of the page.  viser takes none of them."""
        self._serving = server
        guard(server, self._door, self._element)
        root = getattr(server, "_http_server_root", None)
        if root is not None and (Path(root) / "index.html").is_file():
            page = (Path(root) / "index.html").read_text("utf-8")
            own = Path(self._folder.name)
            write_file(own / "index.html", client_page(page), BielaError)
            server._http_server_root = own
