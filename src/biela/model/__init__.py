"""What a user describes: bodies, joints, drivers and forces, and the file formats for them.

A model holds numbers, names and the text of laws, never atoms, and no analysis changes it. Each
joint type is one file.

May import `biela.space`, `biela.atoms` and `biela.graph`.
"""

from biela.model.bodies import Body, Inertia
from biela.model.laws.law import Law, law_from
from biela.model.markers import Marker
from biela.model.mass_properties import MassProperties
from biela.model.model import Model
from biela.model.orientation import Orientation

__all__ = [
    "Body",
    "Inertia",
    "Law",
    "Marker",
    "MassProperties",
    "Model",
    "Orientation",
    "law_from",
]
