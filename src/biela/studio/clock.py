"""The time of a motion that is played: it runs, stands, and begins again at the end."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Clock"]


@dataclass
class Clock:
    """A clock between a start and an end.

    Attributes:
        start: First instant (s).
        end: Last instant (s).
        time: The present one (s).
        speed: Seconds of the motion a second of the watcher.
        playing: Whether it runs.
    """

    start: float = 0.0
    end: float = 1.0
    time: float = 0.0
    speed: float = 1.0
    playing: bool = False

    def between(self, start: float, end: float) -> None:
        """Run between other instants; the present one is kept if it is among them."""
        self.start, self.end = start, end
        self.time = min(max(self.time, start), end)

    def go_to(self, time: float) -> None:
        """Be at a time, within the ends."""
        self.time = min(max(time, self.start), self.end)

    def advance(self, seconds: float) -> float:
        """Let so many seconds of the watcher pass, from the start again after the end.

        >>> clock = Clock(0.0, 2.0, time=1.5, playing=True)
        >>> clock.advance(1.0)
        0.5
        """
        if self.playing:
            span = self.end - self.start
            passed = self.time - self.start + self.speed * seconds
            self.time = self.start + (passed % span if span > 0 else 0.0)
        return self.time
