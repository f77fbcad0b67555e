"""What is wrong in a file: collected, put in order of lines, and raised at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from biela.errors import FileError
from biela.model.files.lines import KeyPath, line_of


@dataclass(frozen=True)
class Fault:
    """One mistake, at a path of keys."""

    path: KeyPath
    message: str

    def text(self, file: str, lines: Mapping[KeyPath, int]) -> str:
        """As an editor makes a link of it: ``crank.toml:12: joints.A: …``."""
        place = f"{file}:{line_of(lines, self.path)}"
        where = f"{shown(self.path)}: " if self.path else ""
        return f"{place}: {where}{self.message}"


def shown(path: KeyPath) -> str:
    """A path as a person writes it: ``bodies.crank.com[1]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def file_error(file: str, lines: Mapping[KeyPath, int], faults: Iterable[Fault]) -> FileError:
    """One error of all mistakes, in order of their lines; each only once."""
    ordered = sorted(faults, key=lambda fault: line_of(lines, fault.path))
    texts = list(dict.fromkeys(fault.text(file, lines) for fault in ordered))
    return FileError("\n".join(texts))
