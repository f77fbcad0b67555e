"""What a page may say: everything else is dropped with a line, and nothing comes of it."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
from types import SimpleNamespace
from typing import Any

import pytest

viser = pytest.importorskip("viser", reason='viser is not installed: pip install "biela[studio]"')

from websockets.exceptions import ConnectionClosed  # noqa: E402

from biela.studio.view.binding import on_change, on_click  # noqa: E402
from biela.studio.view.messages import LARGE, fault  # noqa: E402
from tests.studio.browser import PATIENCE  # noqa: E402
from tests.studio.guests import CAMERA, guest, packed, still_serves, until  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Queued a .* on a closed connection")

DRAG = {
    "type": "SceneNodeDragMessage", "phase": "start", "name": "/x", "instance_index": None,
    "start_position": [0.0, 0.0, 0.0], "start_screen_pos": [0.0, 0.0],
    "end_position": [0.0, 0, 0.5], "end_screen_pos": [0.1, 1], "button": "left", "modifier": None,
    "owner": "",
}  # fmt: skip
ELEMENTS = {
    "slider": SimpleNamespace(value=0.5),
    "box": SimpleNamespace(value=True),
    "law": SimpleNamespace(value="t"),
    "place": SimpleNamespace(value=(0.0, 0.0, 1.0)),
    "choice": SimpleNamespace(value="a", options=("a", "b")),
}


def update(uuid: str, **updates: Any) -> dict[str, Any]:
    return {"type": "GuiUpdateMessage", "uuid": uuid, "updates": updates}


def nested(depth: int) -> bytes:
    return b"\x81\xa1x" + b"\x91" * depth + b"\xc0"


SOUND = [
    CAMERA,
    DRAG,
    update("slider", value=1),
    update("slider", value=-0.25),
    update("box", value=False),
    update("law", value="2*t\n"),
    update("choice", value="b"),
    update("place", value=[1, 2.5, 0]),
    update("gone", value=None),
    {"type": "GuiFormSubmitMessage", "uuid": "x"},
    {"type": "GuiFormDirtyMessage", "uuid": "x"},
    {"type": "GetRenderResponseMessage", "payload": bytes(LARGE), "render_uuid": "x"},
]
MALFORMED = {
    "text": "hello",
    "text of json": '{"type": "ViewerCameraMessage"}',
    "nothing": b"",
    "no msgpack": b"\xc1\xc1",
    "cut off": packed(CAMERA)[:-3],
    "more than one": packed(CAMERA) * 2,
    "not a table": packed([1, 2]),
    "a number": packed(1),
    "no kind": packed({"uuid": "x"}),
    "no text as kind": packed(CAMERA | {"type": 3}),
    "a list as kind": packed(CAMERA | {"type": ["ViewerCameraMessage"]}),
    "an unknown kind": packed({"type": "NoMessage"}),
    "a kind of the server": packed({"type": "RunJavascriptMessage", "source": "1"}),
    "a tunnel": packed({"type": "ShareUrlRequest"}),
    "an upload": packed({"type": "FileTransferStartUpload", "source_component_uuid": "slider",
                         "transfer_uuid": "x", "filename": "../../x", "mime_type": "",
                         "part_count": 1, "size_bytes": 1 << 60}),
    "a part of an upload": packed({"type": "FileTransferPart", "source_component_uuid": "slider",
                                   "transfer_uuid": "x", "part_index": 0, "content": b""}),
    "keys that are numbers": packed({1: 2}),
    "too few fields": packed({"type": "ViewerCameraMessage"}),
    "too many fields": packed(CAMERA | {"surplus": 1}),
    "a text for a number": packed(CAMERA | {"fov": "0.8"}),
    "nothing for a number": packed(CAMERA | {"fov": None}),
    "a table for a number": packed(CAMERA | {"fov": {}}),
    "not finite": packed(CAMERA | {"fov": float("nan")}),
    "not finite in a list": packed(CAMERA | {"position": [0.0, 0.0, float("inf")]}),
    "out of sight": packed(CAMERA | {"position": [0.0, 0.0, 1e308]}),
    "looks at a place out of sight": packed(CAMERA | {"look_at": [0.0, -1e308, 0.0]}),
    "looks at itself": packed(CAMERA | {"position": [1.0, 2, 3], "look_at": [1.0, 2, 3]}),
    "looks at itself from afar": packed(
        CAMERA | {"position": [1e40, 0.0, 0.0], "look_at": [1e40, 1.0, 0.0]}),
    "looks at itself from near": packed(
        CAMERA | {"position": [0.0, 0.0, 0.0], "look_at": [1e-30, 0.0, 0.0]}),
    "a huge number of pixels": packed(CAMERA | {"image_height": 1e300}),
    "too short a list": packed(CAMERA | {"position": [0.0, 0.0]}),
    "too long a list": packed(CAMERA | {"position": [0.0] * 999}),
    "another phase": packed(DRAG | {"phase": "never"}),
    "deep": nested(100),
    "deep enough to end a parser": nested(60_000),
    "another attribute of an element": packed(update("slider", update_cb=[1])),
    "a value and more": packed(update("slider", value=1, removed=True)),
    "no value": packed(update("slider")),
    "a text for a slider": packed(update("slider", value="nan")),
    "a switch for a slider": packed(update("slider", value=True)),
    "not finite for a slider": packed(update("slider", value=float("nan"))),
    "a list for a slider": packed(update("slider", value=[1.0])),
    "a number for a box": packed(update("box", value=1)),
    "a table for a law": packed(update("law", value={"a": {"b": 1}})),
    "too short a place": packed(update("place", value=[1.0, 2.0])),
    "a place of texts": packed(update("place", value=["1", "2", "3"])),
    "a number for a place": packed(update("place", value=1.0)),
    "no choice": packed(update("choice", value="c")),
    "large": packed(CAMERA | {"type": "x" * LARGE}),
    "large and no picture": packed(update("law", value="x" * LARGE)),
    "a large picture of text": packed(
        {"type": "GetRenderResponseMessage", "payload": "x" * LARGE, "render_uuid": "x"}),
    "line ends": packed({"type": "GuiFormSubmitMessage", "uuid": {"a\n\x1b[31m": 1}}),
}  # fmt: skip


@pytest.mark.parametrize("message", SOUND, ids=lambda each: str(each["type"]))
def test_what_a_page_sends_is_sound(message: dict[str, Any]) -> None:
    assert fault(packed(message), ELEMENTS.get) == ""


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_told_in_a_line(name: str) -> None:
    found = fault(MALFORMED[name], ELEMENTS.get)
    assert 5 < len(found) < 200 and found.isprintable()


def test_any_bytes_have_an_answer() -> None:
    dice = random.Random(7)
    sound = [packed(each) for each in SOUND[:-1]]
    for _ in range(20_000):
        raw = bytearray(dice.choice(sound))
        for _ in range(dice.randint(1, 4)):
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        assert fault(bytes(raw[: dice.randint(1, len(raw))]), ELEMENTS.get).isprintable()


# ------------------------------------------------------------------------------- over the wire


@pytest.fixture
def server(pendulum_server: Any) -> Any:
    return pendulum_server


def test_malformed_messages_are_lines_in_the_log_and_the_tenth_ends_the_connection(
    server: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    small = [raw for raw in MALFORMED.values() if len(raw) <= LARGE][:33]
    for first in (0, 10, 20):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "biela.studio"), guest(server) as client:
            client.send(packed(CAMERA))
            for raw in small[first : first + 10]:
                client.send(raw)
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    client.recv(timeout=PATIENCE)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
        *lines, last = (each.getMessage() for each in caplog.records)
        assert len(lines) == 10 and all("dropped a malformed" in line for line in lines)
        assert "disconnected a page: 10 malformed messages" in last
    still_serves(server)
    assert "Traceback" not in capfd.readouterr().err


def test_sound_messages_with_odd_values_break_no_page(
    server: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every element of a page, and the camera, get values from the ends of what they can take."""
    texts = ["", "t**t**t", "\0", "import os", "((((", "é" * 300]
    with caplog.at_level(logging.WARNING, "biela.studio"), guest(server) as client:
        client.send(packed(CAMERA))
        until(lambda: [page for page in server.pages.values() if page.session])
        (page,) = server.pages.values()
        elements = page._client.gui._gui_input_handle_from_uuid
        for uuid, element in list(elements.items()):
            held = element.value
            if isinstance(held, bool):
                values: list[Any] = [not held, held]
            elif isinstance(held, tuple):
                values = [[1e3] * len(held), [0] * len(held)]
            elif isinstance(held, float):
                ends = getattr(element, "min", 0.0), getattr(element, "max", 0.1)
                values = [end for end in ends if end is not None]
            else:
                values = list(getattr(element, "options", texts))[:3]
            for value in values:
                client.send(packed(update(uuid, value=value)))
        for form in list(page._client.gui._container_handle_from_uuid):
            client.send(packed({"type": "GuiFormSubmitMessage", "uuid": form}))
        for size in (0, -1, 2**62):
            odd = {"image_height": size, "image_width": -size, "wxyz": [0.0] * 4, "fov": 1e300}
            client.send(packed(CAMERA | odd))
            for phase in ("update", "start", "update", "end", "end"):
                for name in list(page._client.scene._handle_from_node_name):
                    held = {"name": name, "owner": page._client.scene._owner_id}
                    place = {"end_position": [1e300, -1e300, 0.0], "phase": phase}
                    client.send(packed(DRAG | held | place))
        client.send(packed(CAMERA | {"far": 77.0}))
        until(lambda: page._client.camera.far == 77.0)
        done: list[int] = []
        page.worker.ask("the last of all", lambda: done.append(1))
        until(lambda: done)
    until(lambda: not server.pages)
    still_serves(server)
    gc.collect()  # which tells of tasks that have failed
    assert not caplog.records
    assert "Traceback" not in capfd.readouterr().err


def test_what_one_page_says_is_not_kept_for_others(server: Any) -> None:
    kept = server._viser._serving._broadcast_buffer.message_from_id
    before = len(kept)
    with guest(server) as client:
        for k in range(50):
            client.send(packed({"type": "GuiFormDirtyMessage", "uuid": f"form {k}"}))
        client.send(packed(CAMERA))
        until(lambda: server.pages)
        assert len(kept) == before
    until(lambda: not server.pages)


def test_what_an_element_asks_for_is_not_done_after_it_was_removed() -> None:
    """A page that is built anew has other elements; those of before must not be written to."""
    asked: list[Any] = []
    worker: Any = SimpleNamespace(ask=lambda kind, job: asked.append(job))
    handlers: list[Any] = []
    element = SimpleNamespace(
        value=1.0, _impl=SimpleNamespace(removed=False),
        on_update=handlers.append, on_click=handlers.append,
    )  # fmt: skip
    done: list[str] = []
    on_change(worker, element, "x", lambda value: done.append(f"changed to {value}"))
    on_click(worker, element, "x", lambda: done.append("clicked"))
    for handler in handlers:
        asyncio.run(handler(SimpleNamespace(client=1)))
    for job in asked:
        job()
    element._impl.removed = True
    for job in asked:
        job()
    assert done == ["changed to 1.0", "clicked"]
