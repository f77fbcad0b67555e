"""Frames by name, each on a link; found when somebody asks for one.

A chain of thousands of bodies has several markers a body, and few of them are ever asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from biela.equations.spatial.turning import Pose

Place = tuple[int, Pose]


class NamedFrames(Mapping[str, Place]):
    """For each name a link, -1 for the ground, and the pose there."""

    def __init__(self) -> None:
        self._entries: dict[str, Place | Callable[[], Place]] = {}

    def put(self, name: str, entry: Place | Callable[[], Place]) -> None:
        """Set a frame, or how it will be found."""
        self._entries[name] = entry

    def __getitem__(self, name: str) -> Place:
        found = self._entries[name]
        if not isinstance(found, tuple):
            found = self._entries[name] = found()
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def seen_from(self, moved: list[Pose]) -> None:
        """Change frames of links: ``moved`` are the old ones seen from the new ones."""
        for name in self._entries:
            k, pose = self[name]
            if k >= 0:
                self._entries[name] = partial(_seen_from, moved[k], k, pose)


def _seen_from(frame: Pose, k: int, pose: Pose) -> Place:
    return k, frame @ pose
