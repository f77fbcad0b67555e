"""Straight-line LLVM IR, written instruction by instruction.

Only what the kernels of this package need: doubles at known places, and no branches. A value that
is zero in the pattern is None, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import llvmlite.binding as llvm

from biela.code.llvm import host

__all__ = ["Instructions", "load_functions"]


class Instructions:
    """The instructions of one function; calling it adds one and returns the name of its value."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def __call__(self, text: str) -> str:
        """Add an instruction."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def place(self, base: str, index: int | str, kind: str = "double") -> str:
        """Pointer to an element."""
        return self(f"getelementptr {kind}, ptr {base}, i64 {index}")

    def load(self, pointer: str) -> str:
        """The number at a pointer."""
        return self(f"load double, ptr {pointer}, align 8")

    def store(self, value: str, pointer: str) -> None:
        """Keep a number."""
        self.lines.append(f"  store double {value}, ptr {pointer}, align 8")

    def times(self, a: str, b: str) -> str:
        """`a b`, not fused with what follows."""
        return self(f"fmul double {a}, {b}")

    def plus(self, a: str | None, b: str) -> str:
        """`a + b`."""
        return b if a is None else self(f"fadd double {a}, {b}")

    def minus(self, a: str | None, b: str) -> str:
        """`a - b`."""
        return self(f"fneg double {b}") if a is None else self(f"fsub double {a}, {b}")

    def minus_product(self, value: str | None, a: str, b: str) -> str:
        """`value - a b`, fused where the processor can."""
        product = self(f"fmul contract double {a}, {b}")
        if value is None:
            return self(f"fneg double {product}")
        return self(f"fsub contract double {value}, {product}")

    def plus_product(self, value: str | None, a: str, b: str) -> str:
        """`value + a b`, fused where the processor can."""
        product = self(f"fmul contract double {a}, {b}")
        return product if value is None else self(f"fadd contract double {value}, {product}")

    def magnitude(self, a: str) -> str:
        """`|a|`."""
        return self(f"call double @llvm.fabs.f64(double {a})")

    def below(self, a: str, part: str, b: str, or_equal: bool) -> str:
        """Whether a < part b, or ≤; no for a nan."""
        kind = "ole" if or_equal else "olt"
        return self(f"fcmp {kind} double {a}, {self.times(part, b)}")

    def choose(self, condition: str, a: str, b: str) -> str:
        """A where the condition holds, else b."""
        return self(f"select i1 {condition}, double {a}, double {b}")

    def text(self, head: str, result: str) -> str:
        """The whole function."""
        return "\n".join([f"define {head} {{", *self.lines, f"  ret {result}", "}", ""])


def load_functions(
    texts: Mapping[str, str], declared: Sequence[str] = ()
) -> tuple[object, tuple[int, ...]]:
    """Compile functions by name; return what keeps them alive, and their addresses in order."""
    text = "\n".join(["declare double @llvm.fabs.f64(double)", *declared, *texts.values()])
    module = llvm.parse_assembly(text)
    library = host.load_object(host.host_machine().emit_object(module), list(texts))
    return library, tuple(int(library[name]) for name in texts)
