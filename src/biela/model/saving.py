"""Saving a model, if what is in it can be read again."""

from __future__ import annotations

from pathlib import Path

from biela.doors import door
from biela.errors import ModelError
from biela.model.files import save
from biela.model.model import Model
from biela.model.rotors import check_rotor_names, check_rotor_values

__all__ = ["save_model"]


@door(ModelError)
def save_model(model: Model, path: str | Path) -> None:
    """Write a model file; meshes that have no file yet are written beside it.

    Args:
        model: The model.
        path: The file; one that is there is left as it is if the model cannot be written.

    Raises:
        ModelError: Something cannot be written, or could not be read again.
        FileError: The file cannot be written there.
    """
    _check(model)
    save(model, path)


def _check(model: Model) -> None:
    check_rotor_names(model)
    check_rotor_values(model)
    for part in model.parts.values():
        _check(part.model)
