"""What a page may say: the few kinds of messages that the studio acts on, and values that fit.

viser builds whatever message a client names and writes whatever it says into the element that it
names.  So every message is checked before viser sees it: its kind, the types of all of its fields,
that numbers are finite, and that a new value is one that the element could have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Final, Literal

import msgspec
from viser import _messages as said

from biela.budgets import LARGEST

__all__ = ["LARGE", "fault"]

#: What the page of the studio sends, by name; uploads and tunnels, which viser also takes, are not
#: among them.
_KINDS: Final[dict[str, Any]] = {
    kind.__name__: kind
    for kind in (
        said.ViewerCameraMessage,
        said.GuiUpdateMessage,
        said.GuiFormSubmitMessage,
        said.GuiFormDirtyMessage,
        said.SceneNodeDragMessage,
        said.GetRenderResponseMessage,
    )
}
#: Bytes of a message at most; only a picture of the scene may have more.
LARGE: Final = 1 << 16


class _Picture(msgspec.Struct, forbid_unknown_fields=True):
    """The one message that may be large: read as this, no other takes memory before it is known."""

    type: Literal["GetRenderResponseMessage"]
    payload: bytes
    render_uuid: str


#: Tables and lists within each other at most.
_DEEP: Final = 4
#: The least distance of a camera from what it looks at, as a part of how far away it is, or m.
_NEAREST: Final = 1e-9
#: Characters of a fault that are told.
_TOLD: Final = 120


def fault(raw: str | bytes, element: Callable[[str], Any]) -> str:
    """What is wrong with a message of a page, in a line; "" if nothing is.

    Args:
        raw: The message as it came.
        element: Finds the element of a page by its id; None if there is none.
    """
    try:
        return _fault(raw, element)
    except RecursionError:
        return "it is nested too deeply"
    except Exception as error:  # of any class: text that is none, keys that are lists, other years
        # what the client wrote may be quoted in there: no line ends, no codes of a terminal
        return ascii(str(error))[1:-1][:_TOLD]


def _fault(raw: str | bytes, element: Callable[[str], Any]) -> str:
    if isinstance(raw, str):
        return "it is text"
    if len(raw) > LARGE:
        msgspec.msgpack.decode(raw, type=_Picture)
        return ""
    message = msgspec.msgpack.decode(raw)
    if not isinstance(message, dict):
        return "it is not a table"
    kind = _KINDS.get(name) if isinstance(name := message.pop("type", None), str) else None
    if kind is None:
        return "its kind is not one that a page sends"
    if unknown := set(message) - {field.name for field in fields(kind)}:
        return f"it has {len(unknown)} fields that {name} does not have"
    if trouble := _not_plain(message):
        return trouble
    checked = msgspec.convert(message, kind)
    if kind is said.GuiUpdateMessage:
        return _misfit(checked.updates, element(checked.uuid))
    if kind is said.ViewerCameraMessage:
        return _unseen(checked.position, checked.look_at)
    return ""


def _unseen(position: Sequence[float], look_at: Sequence[float]) -> str:
    """Why a camera cannot look from one place at another."""
    size = max(map(abs, (*position, *look_at)))
    if size > LARGEST:
        return "its camera is too far away"
    if math.dist(position, look_at) <= _NEAREST * max(size, 1.0):
        return "its camera stands where it looks at"
    return ""


def _not_plain(value: object, depth: int = 0) -> str:
    """What is wrong with the numbers in a value, or with its depth."""
    if isinstance(value, float):
        return "" if math.isfinite(value) else "it has a number that is not finite"
    if not isinstance(value, dict | list):
        return ""
    if depth == _DEEP:
        return "it is nested too deeply"
    parts = value.values() if isinstance(value, dict) else value
    return next(filter(None, (_not_plain(part, depth + 1) for part in parts)), "")


def _misfit(updates: dict[str, Any], element: Any) -> str:
    """Why an element cannot take the value of an update."""
    if element is None:  # it was removed just now, and viser knows as well
        return ""
    if set(updates) != {"value"}:
        return "it changes more than a value"
    value, held = updates["value"], element.value
    if not _fits(value, held):
        return f"a value of type {type(value).__name__} where a {type(held).__name__} is"
    if isinstance(value, str) and value not in getattr(element, "options", (value,)):
        return "a choice that is not offered"
    return ""


def _fits(value: object, held: object) -> bool:
    """Whether a value of a page, which has lists for tuples, can take the place of another."""
    if isinstance(held, tuple):
        return isinstance(value, list) and len(value) == len(held) and all(map(_fits, value, held))
    if isinstance(held, bool) or isinstance(value, bool):
        return isinstance(held, bool) and isinstance(value, bool)
    if isinstance(held, int | float):
        return isinstance(value, int | float)
    return isinstance(held, str) and isinstance(value, str)
