"""Parts: a model used inside another, once or many times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biela.model.model import Model


@dataclass(frozen=True)
class Part:
    """A model used as a part of another one."""

    name: str
    model: Model
    count: int | None = None

    @classmethod
    def made(cls, host: Model, name: str, model: Model, count: int | None, **settings: Any) -> Part:
        """Make one."""
        raise NotImplementedError
