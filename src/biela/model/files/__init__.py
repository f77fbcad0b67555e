"""Model files: TOML, robots, and the four text files of Peinado's thesis.

    model = load("crank.toml")
    save(model, "crank.toml")
    model = load_thesis_folder("examples/thesis/robot_arm")

A model file cannot run code, and nothing outside of its folder is read.
"""

from biela.model.files.denavit_hartenberg_tables import load_dh
from biela.model.files.formats import load_model
from biela.model.files.mjcf import load_mjcf
from biela.model.files.reading import load, loads
from biela.model.files.schema import schema
from biela.model.files.thesis import load_thesis, load_thesis_folder
from biela.model.files.thesis_writing import save_thesis
from biela.model.files.urdf import load_urdf
from biela.model.files.writing import dumps, save

__all__ = [
    "dumps",
    "load",
    "load_dh",
    "load_mjcf",
    "load_model",
    "load_thesis",
    "load_thesis_folder",
    "load_urdf",
    "loads",
    "save",
    "save_thesis",
    "schema",
]
