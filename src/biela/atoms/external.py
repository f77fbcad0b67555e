"""Named functions that live outside biela: a friction law, a tyre model, a fitted curve.

In an expression only the name counts.  Exported code calls a function of that name; in process, a
Python callable or anything with an ``address`` (a ``numba.cfunc``, a compiled function) is called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from biela.atoms.symbols import checked_name
from biela.errors import DomainError, WorkspaceError


@dataclass(eq=False)
class ExternalFunction:
    """An external function of ``arity`` numbers.

    ``partials[k]`` is the external function of the derivative by argument k; where none was given,
    it is declared on first use under the name ``{name}_d{k+1}``, to be bound like any other.
    """

    name: str
    arity: int
    evaluate: Callable[..., float] | Any | None = None
    partials: dict[int, ExternalFunction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked_name(self.name)
        if self.arity < 1:
            raise DomainError(f"{self.name}: an external function needs at least one argument")

    def bind(self, evaluate: Any) -> None:
        """Give the implementation in process."""
        if not callable(evaluate) and not hasattr(evaluate, "address"):
            raise DomainError(
                f"{self.name}: {evaluate!r} can neither be called nor has it an address"
            )
        self.evaluate = evaluate

    def adopt(self, other: ExternalFunction) -> None:
        """Take over the implementation of a function of the same name from another workspace."""
        if self.evaluate is None:
            self.evaluate = other.evaluate
        elif other.evaluate is not None and other.evaluate is not self.evaluate:
            raise WorkspaceError(
                f"the two workspaces have different external functions {self.name}: rename one of "
                f"them, or bind both to one implementation"
            )
        for k, partial in other.partials.items():
            if k not in self.partials:
                self.partials[k] = ExternalFunction(partial.name, partial.arity)
            self.partials[k].adopt(partial)

    def __call__(self, *values: float) -> float:
        """The value in process."""
        if self.evaluate is None:
            raise DomainError(
                f"the external function {self.name} has no implementation in process: "
                f"give one with workspace.bind({self.name!r}, function)"
            )
        call = getattr(self.evaluate, "ctypes", self.evaluate)
        return float(call(*values))
