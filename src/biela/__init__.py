"""biela: mechanisms and robots, from equations to native code.

Describe a system once with symbols; get its equations, its derivatives, and code that runs them.

>>> import biela as bl
>>> ws = bl.Workspace("demo")
>>> x = ws.symbol("x")
>>> bl.diff(x * bl.sin(x), x)
sin(x) + x*cos(x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biela.atoms import *  # noqa: F403
from biela.atoms import __all__ as _atoms
from biela.errors import BielaError

if TYPE_CHECKING:
    from biela.code import Changes, Function
    from biela.code import cache as code_cache

__version__ = "0.1.0"
__all__ = ["BielaError", "Changes", "Function", "code_cache", *_atoms]


def __getattr__(name: str) -> Any:
    """Code generation loads LLVM, so it is imported when first asked for."""
    if name in ("Changes", "Function"):
        from biela import code

        return getattr(code, name)
    if name == "code_cache":
        from biela.code import cache

        return cache
    raise AttributeError(f"module 'biela' has no attribute {name!r}")
