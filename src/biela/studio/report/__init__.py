"""Reports: a model and what is to be known of it, in one file that opens anywhere.

`report` writes the file.  Its pieces are `Fragment`s, a title and some HTML each, which the studio
and notebooks show too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biela.studio.report.fragments import Fragment

if TYPE_CHECKING:
    from biela.studio.report.writing import report, report_html

__all__ = ["Fragment", "report", "report_html"]


def __getattr__(name: str) -> Any:
    """What writes reports, loaded when it is asked for: it uses the pieces of the studio."""
    if name in ("report", "report_html"):
        from biela.studio.report import writing

        return getattr(writing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
