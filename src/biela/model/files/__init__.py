"""Model files: TOML, and the four text files of Peinado's thesis."""

from biela.model.files.reading import load, loads
from biela.model.files.schema import schema
from biela.model.files.writing import dumps, save

__all__ = ["dumps", "load", "loads", "save", "schema"]
