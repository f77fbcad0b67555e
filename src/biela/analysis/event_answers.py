"""What a reaction to an event may answer."""

from __future__ import annotations

from biela.errors import ModelError


def says_stop(event: str, answer: object) -> bool:
    """Whether the answer to an event is to stop.

    Raises:
        ModelError: It is another text.
    """
    if not isinstance(answer, str):
        return False
    if answer != "stop":
        raise ModelError(f"event {event}: {answer!r} is not a reaction; use 'stop'")
    return True
