"""Robots out of URDF files.

    arm = load_urdf("arm.urdf", merge_fixed=True)
    dog = load_urdf("dog.urdf", floating=True, packages={"dog_description": "robots/dog"})

Links become bodies and joints joints of the same names.  In a joint marker i is its frame on the
parent and marker j on the child, both turned so that z is the axis of the joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from biela.errors import ModelError
from biela.given_files import path_of, shown
from biela.model.files.urdf_building import UrdfBuilder
from biela.model.files.urdf_description import Urdf
from biela.model.files.urdf_parsing import parsed
from biela.model.files.urdf_shapes import MeshPlaces
from biela.model.files.xml_source import XmlSource
from biela.model.model import Model
from biela.spelling import few_guesses


@few_guesses()
def load_urdf(
    path_or_text: str | Path,
    *,
    floating: bool = False,
    merge_fixed: bool = False,
    geometry: str = "visual",
    packages: Mapping[str, str | Path] | None = None,
    notes: list[str] | None = None,
) -> Model:
    """The model of a robot in a URDF file.

    Revolute and continuous joints become revolute ones, floating ones free.  A joint with an
    ``effort`` gets a motor "<joint>_motor", an actuator with this limit; ``dynamics`` a
    "<joint>_friction"; ``mimic`` a coupling "<joint>_mimic".  The model may be given further
    joints, which close loops.

    Args:
        path_or_text: The file, or its text (anything with a "<").
        floating: Whether the root moves freely; else it is fixed to the ground.  The joint that
            does either is called "root_joint".
        merge_fixed: Whether links on fixed joints become part of the link that carries them: their
            inertia is added to it, and their frame is kept as its marker with the name of the
            link, such as "wrist_3.tool0".
        geometry: "visual" or "collision" shapes, or "none".
        packages: Folders of the packages in ``package://name/…``.  Without it a folder above the
            file that has this name and a ``package.xml`` is taken.  Meshes elsewhere are not read.
        notes: A list to which remarks are added: meshes that are missing, inertias that no body
            has, what is not read.  Without it each is a `FileWarning`.

    Raises:
        FileError: The file cannot be read or has mistakes; all of them, each with its line.
        ModelError: There is no such geometry.
    """
    if geometry not in ("visual", "collision", "none"):
        raise ModelError(f"the geometry is visual, collision or none, not {geometry!r}")
    source = XmlSource.of(path_or_text)
    robot = parsed(source)
    packages = {} if packages is None else packages
    if not isinstance(packages, Mapping):
        raise ModelError(f"packages are folders by name, {{name: folder}}, not {shown(packages)}")
    folders = {
        name: path_of(folder, ModelError, f"the folder of the package {name}")
        for name, folder in packages.items()
    }
    places = MeshPlaces(source.folder, folders)
    with source.named():
        model = UrdfBuilder(source, robot, places, geometry, merge_fixed).built(floating)
    source.check()
    source.report(notes)
    return model


@few_guesses()
def read_urdf(path_or_text: str | Path) -> Urdf:
    """What stands in a URDF file, as plain data, with the limits of effort and speed of joints.

    Raises:
        FileError: The file cannot be read or has mistakes; all of them, each with its line.
    """
    return parsed(XmlSource.of(path_or_text))
