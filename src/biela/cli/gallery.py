"""Mechanisms of the gallery by the names that people type."""

from __future__ import annotations

from pathlib import Path

from biela.errors import BielaError, ModelError
from biela.given_files import path_of
from biela.model.files.gallery import description, mechanisms, plain_name
from biela.spelling import alike

__all__ = ["description", "meant_file", "mechanism", "mechanism_like", "mechanisms"]


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
    near = alike(plain, known, 3, 0.5)
    near += [other for other in known if other not in near and _words(plain) & _words(other)]
    hint = f"did you mean {' or '.join(near[:3])}?" if near else "biela new --list names them all"
    raise BielaError(f"there is no mechanism {name} in the gallery; {hint}")


def meant_file(file: Path) -> Path:
    """The file that is meant: itself, or the mechanism of that name where there is no such file.

    >>> meant_file(Path("four_bar")).name, meant_file(Path("four_bar.toml")).name
    ('four_bar.toml', 'four_bar.toml')
    >>> meant_file(Path("four_bar")).exists(), meant_file(Path("four_bar.toml")).exists()
    (True, False)

    Raises:
        ModelError: It is no path, or one that cannot be looked up.
    """
    file = path_of(file, ModelError)
    bare = not file.suffix and file.name == str(file)
    if not bare or file.exists():
        return file
    return mechanisms().get(plain_name(file.name), file)


def mechanism_like(name: str) -> str:
    """The mechanism of a name or of one very much like it; "" if there is none."""
    near = alike(plain_name(name), mechanisms(), 1, 0.8)
    return near[0] if near else ""


def _words(name: str) -> set[str]:
    return set(name.split("-"))
