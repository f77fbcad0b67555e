"""How an integration ended, and the directions and signs of events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Final

__all__ = [
    "BOTH",
    "EVENT",
    "FALLING",
    "FINISHED",
    "MEANINGS",
    "NOT_CONVERGING",
    "NOT_FINITE",
    "RISING",
    "STEP_TOO_SMALL",
    "TOO_MANY_STEPS",
    "UNSUITABLE",
    "WITHOUT",
]

FINISHED = 0  # all that was asked for
NOT_FINITE = 1  # the state became inf or nan; it is the last finite one
EVENT = 2  # stopped at an event
STEP_TOO_SMALL = 3  # the error cannot be met: the step fell below the spacing of time
TOO_MANY_STEPS = 4  # the bound on the steps of one call was reached
UNSUITABLE = 5  # no such method, or not for a state of this form
NOT_CONVERGING = 6  # Newton's method has not met its tolerance

# direction in which an event function must pass zero
FALLING = -1
BOTH = 0
RISING = 1

#: What each status says, for messages.
MEANINGS: Final = {
    FINISHED: "finished",
    NOT_FINITE: "the state is no longer finite",
    EVENT: "stopped at an event",
    STEP_TOO_SMALL: "the error cannot be met with the smallest step that time resolves",
    TOO_MANY_STEPS: "the bound on the steps was reached",
    UNSUITABLE: "the method does not suit the state",
    NOT_CONVERGING: "Newton's method did not meet its tolerance",
}

#: Stands for a kernel that is not there; it is passed on and never called.
WITHOUT: Final = SimpleNamespace(address=0)
