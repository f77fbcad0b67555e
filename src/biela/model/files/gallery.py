"""The gallery: model files of mechanisms that come with biela.

In the installed package they are in ``biela/gallery``; in a checkout they are those of
``examples/mechanisms``, from which the package gets them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["description", "mechanisms", "plain_name"]


@cache
def mechanisms() -> Mapping[str, Path]:
    """The model files by name, in the order of the alphabet; names have - between words."""
    package = Path(__file__).parents[2]
    checkout = package.parents[1] / "examples" / "mechanisms"
    # a checkout goes first: a copy in its package folder would be an old one
    for folder in (checkout, package / "gallery"):
        files = sorted(folder.glob("*.toml"))
        if files:
            return {plain_name(file.stem): file for file in files}
    return {}


@cache
def description(file: Path) -> str:
    """What a model file says of itself, "" if nothing."""
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8")).get("description", "")
    except (OSError, ValueError):
        return ""
    return " ".join(str(found).split())


def plain_name(name: str) -> str:
    """A name as the gallery has it: small letters, - between words.

    >>> plain_name("Four_Bar.toml")
    'four-bar'
    """
    return name.lower().removesuffix(".toml").replace("_", "-").replace(" ", "-")
