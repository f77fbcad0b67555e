"""A visitor's work with what was given: bodies and joints, or symbols."""

from __future__ import annotations

from biela.studio.session import Session
from biela.studio.source import Source
from biela.studio.symbolic_session import SymbolicSession
from biela.studio.symbolic_source import SymbolicSource
from biela.studio.table import Table

__all__ = ["begun"]


def begun(source: Source | SymbolicSource) -> Table:
    """A session, before anything is asked.

    Raises:
        BielaError: The source has no model that could be shown.
    """
    if isinstance(source, SymbolicSource):
        return SymbolicSession(source)
    return Session(source)
