"""The interactive front door: a mechanism in the browser.

Shows a model, its motion and its results, and lets a user change and run it.  `session` is the work
of one visitor without any page; `view` is the page, which needs the package viser.

May import `biela.analysis`, `biela.results` and `biela.model`.
"""

from __future__ import annotations

import sys
from types import ModuleType

from biela.studio.opening import studio

__all__ = ["studio"]


class _Door(ModuleType):
    """This package, which is called like what it does: `bl.studio(model)` is `studio.studio`."""

    __call__ = staticmethod(studio)


sys.modules[__name__].__class__ = _Door
