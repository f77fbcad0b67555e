"""External functions that native code calls: the table of their addresses, and what they raise."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

from biela.atoms import opcodes as op
from biela.code.schedule import Schedule
from biela.errors import CompileError


class ExternalCalls:
    """The external functions of one schedule.

    Native code reads their addresses from a table of its own.  A function written in Python is
    called through a guard: what it raises is kept, and raised after the native call
    (`raise_failures`).
    """

    def __init__(self, name: str, schedule: Schedule) -> None:
        self.name = name
        self._schedule = schedule
        self._callbacks: list[Any] = []
        self._failures: list[BaseException] = []
        #: Whether one of them is written in Python.
        self.in_python = False

    def bind(self, address: int) -> None:
        """Fill the table of addresses that loaded code has at ``address``.

        Raises:
            CompileError: A function has no implementation.
        """
        table = self._schedule.table
        used = {table.left[a] for a in self._schedule.operations if table.ops[a] == op.EXTERNAL}
        slots = (ctypes.c_void_p * len(table.externals)).from_address(address)
        for index in sorted(used):
            function = table.externals[index]
            implementation = function.evaluate
            if implementation is None:
                raise CompileError(
                    f"{self.name} calls the external function {function.name}, which has no "
                    f"implementation in process: workspace.bind({function.name!r}, function)"
                )
            native = getattr(implementation, "address", None)
            if native is None:
                kind = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * function.arity)
                # through the function itself, so that binding another one takes effect
                callback = kind(self._guarded(function))
                self._callbacks.append(callback)
                native = ctypes.cast(callback, ctypes.c_void_p).value
            self._callbacks.append(implementation)
            slots[index] = native

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., float]:
        """A Python function that native code can call: what it raises is raised after the call."""

        def call(*values: float) -> float:
            try:
                return float(function(*values))
            except BaseException as error:  # even an interrupt must not unwind native code
                self._failures.append(error)
                return math.nan

        self.in_python = True
        return call

    def raise_failures(self) -> None:
        """Raise the first of what Python functions raised since the last call."""
        if self._failures:
            error = self._failures[0]
            self._failures.clear()
            raise error
