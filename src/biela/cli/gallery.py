"""The gallery: model files of mechanisms that come with biela.

In the installed package they are in ``biela/gallery``; in a checkout they are those of
``examples/mechanisms``, from which the package gets them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import biela
from biela.errors import BielaError


@cache
def mechanisms() -> Mapping[str, Path]:
    """The model files by name, in the order of the alphabet; names have - between words."""
    package = Path(biela.__file__).parent
    checkout = package.parents[1] / "examples" / "mechanisms"
    # a checkout goes first: a copy in its package folder would be an old one
    for folder in (checkout, package / "gallery"):
        files = sorted(folder.glob("*.toml"))
        if files:
            return {_plain(file.stem): file for file in files}
    return {}


def mechanism(name: str) -> Path:
    """The model file of a mechanism.

    Raises:
        BielaError: There is none; the message has the nearest names.
    """
    known = mechanisms()
    plain = _plain(name)
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
    near = get_close_matches(_plain(name), mechanisms(), n=1, cutoff=0.8)
    return near[0] if near else ""


def description(file: Path) -> str:
    """What a model file says of itself."""
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8")).get("description", "")
    except (OSError, tomllib.TOMLDecodeError):
        return ""
    return " ".join(str(found).split())


def _plain(name: str) -> str:
    return name.lower().removesuffix(".toml").replace("_", "-").replace(" ", "-")


def _words(name: str) -> set[str]:
    return set(name.split("-"))
