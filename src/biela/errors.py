"""The errors biela raises.

Every one derives from [`BielaError`][biela.errors.BielaError], so `except BielaError` catches what
biela itself has to say and nothing else. Errors about a wrong argument are also `ValueError`s.
A message states what happened, where (body, joint, file and line, time) and what to try; the place
that raises it knows those things and writes it.
"""

from __future__ import annotations

__all__ = [
    "AssemblyError",
    "BielaError",
    "CompileError",
    "DeadPointError",
    "DomainError",
    "ExportError",
    "ExpressionTooLargeError",
    "FileError",
    "ModelError",
    "ParseError",
    "ResultsError",
    "RoutineError",
    "ShapeError",
    "SimulationError",
    "SingularityError",
    "UnknownNameError",
    "WorkspaceError",
]


#: Characters of a long line shown on each side of a fault.
_SHOWN = 60


class BielaError(Exception):
    """Root of all errors raised by biela."""


# --- expressions ----------------------------------------------------------------------------------


class DomainError(BielaError, ValueError):
    """An operation on known numbers has no finite real value, and that is seen while building.

    Examples: division by the number zero, the square root of a negative number, a `nan` or an
    infinity given as a constant. Values that only go bad at run time give `nan` instead.
    """


class WorkspaceError(BielaError):
    """Atoms of two workspaces meet in one expression, or one name is declared as two things.

    An atom is a place in the table of its own workspace and means nothing in another. To carry an
    expression over, make a function of it and inline that function in the other workspace.
    """


class ExpressionTooLargeError(BielaError):
    """Writing an expression out in full would exceed the size the caller allowed.

    Atoms share sub-expressions; a written-out text does not, and it may be exponentially longer.
    """


class ParseError(BielaError, ValueError):
    """A text is not an expression.

    The printed error shows the line of the text at fault with a caret under the place:

    >>> print(ParseError("expected a factor", "2*(a + )", 7))
    expected a factor (line 1, column 8)
      2*(a + )
             ^

    Attributes:
        message: what is wrong, without the place.
        text: the whole text that was being read.
        position: zero-based index into `text` where reading stopped; `len(text)` for its end.
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        self.message = message
        self.text = text
        self.position = min(max(position, 0), len(text))
        super().__init__(message, text, position)

    @property
    def line(self) -> int:
        """Line of the fault, counted from one."""
        return self.text.count("\n", 0, self.position) + 1

    @property
    def column(self) -> int:
        """Column of the fault, counted from one."""
        return self.position - self._line_start + 1

    @property
    def _line_start(self) -> int:
        return self.text.rfind("\n", 0, self.position) + 1

    def __str__(self) -> str:
        """Return the message, the faulty line and a caret under the place."""
        start = self._line_start
        end = self.text.find("\n", self.position)
        shown = self.text[start:] if end < 0 else self.text[start:end]
        place = self.column - 1
        if len(shown) > 2 * _SHOWN:  # of a very long line only the surroundings
            first = max(0, place - _SHOWN)
            shown, place = shown[first : place + _SHOWN], place - first
        # tabs are kept so that the caret stands under its character whatever a tab's width
        margin = "".join("\t" if c == "\t" else " " for c in shown[:place])
        where = f"{self.message} (line {self.line}, column {self.column})"
        return f"{where}\n  {shown}\n  {margin}^"


# --- code -----------------------------------------------------------------------------------------


class CompileError(BielaError):
    """Native code could not be made or loaded; the message carries what LLVM said."""


class ShapeError(BielaError, ValueError):
    """An array argument has the wrong shape, type or memory layout.

    The message names the argument, what it should be and what it is.
    """


class ExportError(BielaError):
    """A function cannot be written in the language asked for.

    Examples: a name that the language reserves, or an operation it has no counterpart of.
    """


class RoutineError(BielaError):
    """A numeric routine leaves the subset of Python that can be translated to C.

    Attributes:
        message: which rule is broken, without the place.
        file: source file of the routine.
        line: line in that file, counted from one.
    """

    def __init__(self, message: str, file: str, line: int) -> None:
        self.message = message
        self.file = file
        self.line = line
        super().__init__(message, file, line)

    def __str__(self) -> str:
        """Return `file:line: message`, the form editors turn into a link."""
        return f"{self.file}:{self.line}: {self.message}"


# --- mechanisms -----------------------------------------------------------------------------------


class ModelError(BielaError):
    """The description of a mechanism is incomplete or contradicts itself.

    The message names the body, joint, driver or force, and the file and line when it was read from
    one.
    """


class FileError(ModelError):
    """A model file has mistakes: each a line ``file:line: where: what is wrong``, in order."""


class AssemblyError(BielaError):
    """No position was found in which all joints of the mechanism close.

    The message names the joints that stay open and by how much.
    """


class SingularityError(BielaError):
    """The mechanism is in, or too near, a position where the question has no unique answer.

    The message names the constraint rows that became dependent and the time.
    """


class SimulationError(BielaError):
    """A simulation cannot go on: the motion diverges, or the accuracy asked for is out of reach.

    The message gives the time, the coordinate and the probable cause.

    Attributes:
        results: what was computed until then, None if nothing was.
    """

    def __init__(self, message: str, results: object = None) -> None:
        super().__init__(message)
        self.results = results


class DeadPointError(SimulationError):
    """A mechanism cannot pass: two branches of a group meet, or its joints do not reach each other.

    The message gives the time, the group and its joints.
    """


# --- results --------------------------------------------------------------------------------------


class ResultsError(BielaError, ValueError):
    """Results cannot be put together, read, written or drawn as asked.

    The message names the channel, shape or file, and what would work instead.
    """


class UnknownNameError(BielaError, KeyError):
    """A name is not among those that are there; the message offers the nearest ones."""

    def __str__(self) -> str:
        """Return the message as it is: a `KeyError` would print it in quotes."""
        return str(self.args[0])
