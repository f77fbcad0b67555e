"""Models out of MJCF, the files of MuJoCo, as far as they say the same.

Bodies, hinge, slide, ball and free joints, inertials, geoms with their density, limits, springs,
damping, sites (as markers), default classes, motors, and the equalities connect, weld and joint
are read.  Contacts, tendons and what else is particular to MuJoCo are listed as remarks.
"""

from __future__ import annotations

from pathlib import Path

from biela.budgets import MJCF_PARTS, within
from biela.errors import FileError
from biela.model.files.mjcf_attributes import Defaults, Settings
from biela.model.files.mjcf_bodies import MjcfBodies
from biela.model.files.mjcf_elements import add_actuators, add_equalities
from biela.model.files.mjcf_geoms import Geoms
from biela.model.files.xml_source import Xml, XmlSource
from biela.model.model import Model
from biela.spelling import few_guesses

#: What is read at the top of a file; the run has settings of its own.
_READ = ("compiler", "option", "default", "asset", "worldbody", "equality", "actuator")
_REFUSED = ("include",)
_PARTS = frozenset(("body", "joint", "freejoint", "geom", "site", "frame"))


@few_guesses()
def load_mjcf(
    path_or_text: str | Path,
    *,
    notes: list[str] | None = None,
) -> Model:
    """The model in an MJCF file.

    A body with several joints stands at the end of a chain of bodies without mass, called
    "<body>_<joint>"; one without joints is fixed to its parent.  Coordinates count as in MuJoCo:
    a joint with ``ref`` has this value in the pose of the file.  ``armature`` is in `Model.rotors`.

    Args:
        path_or_text: The file, or its text (anything with a "<").
        notes: A list to which remarks are added on what the model does not have.  Without it each
            is a `FileWarning`.

    Raises:
        FileError: The file cannot be read or has mistakes; all of them, each with its line.
    """
    source = XmlSource.of(path_or_text)
    root = source.tree()
    if root.tag != "mujoco":
        source.fault(root, f"the outermost element of MJCF is <mujoco>, not <{root.tag}>")
        source.check()
    elements = list(root.walk())
    within(
        MJCF_PARTS,
        sum(element.tag in _PARTS for element in elements),
        f"{source.name}: its model would have {{}} bodies, joints, geoms and sites",
        "leave some out",
        FileError,
    )
    for element in elements:
        if element.tag in _REFUSED:
            source.fault(
                element,
                "<include> is not followed: save the model in one file with mj_saveLastXML",
            )
    source.check()
    with source.named():
        model = _built(source, root)
    source.report(notes)
    return model


def _built(source: XmlSource, root: Xml) -> Model:
    defaults = Defaults()
    for element in root.all("default"):
        defaults.read(source, element)
    settings = Settings.of(source, root)
    x, y, z = (float(g) for g in settings.gravity)
    model = Model(root.attributes.get("model", "mujoco"), gravity=(x, y, z))
    geoms = Geoms.of(source, root, settings, defaults)
    bodies = MjcfBodies(source, model, settings, defaults, geoms)
    for world in root.all("worldbody"):
        bodies.add_world(world)
    source.check()
    for element in root.children:
        if element.tag == "equality":
            add_equalities(bodies, element)
        elif element.tag == "actuator":
            add_actuators(bodies, element)
        elif element.tag not in _READ:
            source.note(element, f"<{element.tag}> is not read")
    source.check()
    return model
