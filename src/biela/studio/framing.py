"""A page in a frame of a notebook."""

from __future__ import annotations

import sys
from html import escape

__all__ = ["framed", "in_notebook"]


def framed(address: str, height: int) -> str:
    """The page at an address, in a frame with a link to it below."""
    to = escape(address)
    return (
        f'<iframe src="{to}" width="100%" height="{height}" style="border:0" '
        f'title="biela studio"></iframe><p><a href="{to}">{to}</a></p>'
    )


def in_notebook() -> bool:
    """Whether this program is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and hasattr(running, "kernel")
