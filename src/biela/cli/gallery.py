"""Mechanisms of the gallery by the names that people type."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from biela.errors import BielaError
from biela.model.files.gallery import description, mechanisms, plain_name

__all__ = ["description", "mechanism", "mechanism_like", "mechanisms"]


def mechanism(name: str) -> Path:
    """The model file of a mechanism.

    Raises:
        BielaError: There is none; the message has the nearest names.
    """
    known = mechanisms()
    plain = plain_name(name)
    if plain in known:
        return known[plain]
    if not known:
        raise BielaError("the gallery is not part of this installation: install biela anew")
    near = get_close_matches(plain, known, n=3, cutoff=0.5)
    near += [other for other in known if other not in near and _words(plain) & _words(other)]
    hint = f"did you mean {' or '.join(near[:3])}?" if near else "biela new --list names them all"
    raise BielaError(f"there is no mechanism {name} in the gallery; {hint}")


def mechanism_like(name: str) -> str:
    """The mechanism of a name or of one very much like it; "" if there is none."""
    near = get_close_matches(plain_name(name), mechanisms(), n=1, cutoff=0.8)
    return near[0] if near else ""


def _words(name: str) -> set[str]:
    return set(name.split("-"))
