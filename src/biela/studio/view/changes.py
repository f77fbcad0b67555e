"""What a visitor changes; after each change the analysis is asked anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from biela.studio.laws import LawChange
from biela.studio.settings import Analysis
from biela.studio.table import Table

__all__ = ["Changes"]


class Changes:
    """The changes of one page.

    Args:
        session: The session that the page has at the moment.
        again: Makes a change of it, asks anew and shows the answer.
    """

    def __init__(
        self, session: Callable[[], Table], again: Callable[[Callable[[], None]], None]
    ) -> None:
        self._session, self._again = session, again

    def change(self, **settings: Any) -> None:
        """Change settings."""
        self._again(lambda: self._session().choose(**settings))

    def drive(self, driven: bool) -> None:
        """Let the drivers act, or leave the mechanism to its forces, which kinematics knows not."""
        settings = self._session().settings
        if not driven and settings.analysis is Analysis.KINEMATICS:
            self.change(driven=driven, analysis=Analysis.DYNAMICS)
        else:
            self.change(driven=driven)

    def set_parameter(self, name: str, value: float) -> None:
        """Give a parameter a value."""
        self._again(lambda: self._session().set_parameter(name, value))

    def set_law(self, name: str, change: LawChange) -> None:
        """Change the law of a driver."""
        self._again(lambda: self._session().set_law(name, change))

    def set_input(self, name: str, value: float) -> None:
        """Give a motor a value of its input, and let it move by forces."""
        self._session().choose(analysis=Analysis.DYNAMICS)
        self._again(lambda: self._session().set_input(name, value))

    def set_start(self, name: str, value: float) -> None:
        """Begin with a value of a coordinate."""
        self._again(lambda: self._session().set_start(name, value))

    def set_rate(self, name: str, value: float) -> None:
        """Begin with a velocity."""
        self._again(lambda: self._session().set_rate(name, value))
