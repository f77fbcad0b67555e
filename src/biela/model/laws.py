"""Laws of time (provisional: being written)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from biela.atoms import Atom, Workspace, parse


@dataclass(frozen=True)
class Law:
    """A law given as a text."""

    text: str

    def expression(self, workspace: Workspace, parameters: Mapping[str, Atom | float]) -> Atom:
        """As an atom."""
        del parameters
        return parse(workspace, self.text)


def law_from(data: object) -> Law:
    """Any law."""
    return data if isinstance(data, Law) else Law(str(data))
