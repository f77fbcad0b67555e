"""The words on top of the panel: what the mechanism is, what was found, and what went wrong."""

from __future__ import annotations

from html import escape

__all__ = ["status_text"]

_BOX = "padding:8px 10px;border-radius:6px;font-size:0.8em;line-height:1.4;overflow-wrap:anywhere;"
_ERROR = "background:#fdecea;color:#7a1c14;border:1px solid #f2b8b5;white-space:pre-wrap;"
#: Two lines at least, so that the sliders below stay where they are when the words change.
_NOTE = "background:#f1f3f5;color:#343a40;min-height:2.8em;box-sizing:content-box;"


def status_text(title: str, note: str, error: str) -> str:
    """The words as HTML; all that comes from a model is escaped."""
    head = f'<div style="font-weight:600;margin-bottom:4px">{escape(title)}</div>'
    parts = [head]
    if error:
        parts.append(f'<div class="studio-error" style="{_BOX}{_ERROR}">{escape(error)}</div>')
    elif note:
        parts.append(f'<div class="studio-note" style="{_BOX}{_NOTE}">{escape(note)}</div>')
    return f'<div style="padding:4px 12px 6px 12px">{"".join(parts)}</div>'
