"""The files that a command leaves: one that cannot be made does not keep the others back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from biela.cli.tables import console, files
from biela.errors import BielaError
from biela.whole_files import together


@dataclass
class Left:
    """What was written, and what went wrong on the way.

    Attributes:
        paths: The files.
        failures: What could not be made, and why.
    """

    paths: list[Path] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def make(self, what: str, maker: Callable[[], Iterable[Path]]) -> None:
        """Write files, all or none; if biela has something against it, keep that for the end."""
        try:
            with together():
                written = list(maker())
            self.paths += written
        except BielaError as error:
            self.failures.append(f"{what}: {error}")

    def tell(self) -> None:
        """Print the files, and then say what failed.

        Raises:
            BielaError: Something did.
        """
        if self.paths:
            out = console()
            out.print("\nwritten")
            out.print(files(self.paths))
        if self.failures:
            raise BielaError("\n".join(self.failures))
