"""The robots that are measured, as URDF texts, so that biela and Pinocchio read the same thing.

Arms, a quadruped and a humanoid come from ``example-robot-data``; a PUMA 560 and random chains are
written here.  Springs, friction and joints that follow others are left out: Pinocchio's recursions
do not know them.  The fingers of the Panda are fixed, which leaves its seven joints.
"""

from __future__ import annotations

import math
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import biela as bl
from benchmarks.peers import PeerMissingError
from benchmarks.pinocchio_headers import pinocchio
from biela.model.files import load_urdf
from examples.newton_euler import PUMA_560, Link, clean, random_chain

#: Files below the folder of ``example-robot-data``.
FILES = {
    "UR5": "ur_description/urdf/ur5_robot.urdf",
    "Panda": "panda_description/urdf/panda.urdf",
    "ANYmal": "anymal_b_simple_description/robots/anymal.urdf",
    "TALOS": "talos_data/robots/talos_reduced.urdf",
}
_IDLE = ("dynamics", "mimic", "visual", "collision", "safety_controller")


@dataclass(frozen=True)
class Case:
    """A robot: what it is called, its kind ("arm", "quadruped" …), and its URDF."""

    name: str
    kind: str
    text: str
    floating: bool = False

    @cached_property
    def model(self) -> bl.Model:
        """Its model in biela."""
        return load_urdf(self.text, floating=self.floating, geometry="none", notes=[])

    @cached_property
    def merged(self) -> bl.Model:
        """The same with one body a joint."""
        options = {"floating": self.floating, "geometry": "none", "merge_fixed": True}
        return load_urdf(self.text, **options, notes=[])


def file_of(name: str) -> Path:
    """Where the file of a robot is.

    Raises:
        PeerMissingError: If the robots are not installed.
    """
    prefix = Path(pinocchio().__file__).parents[4]
    path = prefix / "share" / "example-robot-data" / "robots" / FILES[name]
    if not path.exists():
        raise PeerMissingError("example-robot-data is not installed (pip install biela[bench])")
    return path


def cases(quick: bool) -> list[Case]:
    """All robots of the table, the smallest first."""
    # the first link of the PUMA is known by its inertia about one axis only
    shoulder = replace(PUMA_560[0], mass=1.0, inertia=(0.35, 0.35, 0.35, 0, 0, 0))
    lengths = (2, 10) if quick else (2, 5, 10, 20, 50, 100)
    return [
        Case("PUMA 560", "arm", chain_text("puma_560", (shoulder, *PUMA_560[1:]))),
        Case("UR5", "arm", stripped("UR5")),
        Case("Panda", "arm", stripped("Panda")),
        Case("ANYmal", "quadruped", stripped("ANYmal"), floating=True),
        Case("TALOS", "humanoid", stripped("TALOS"), floating=True),
        *(Case(f"{n} joints", "chain", chain_text(f"chain_{n}", random_chain(n))) for n in lengths),
    ]


def stripped(name: str) -> str:
    """The text of a robot without shapes, friction and followers; its fingers are fixed."""
    root = ET.fromstring(file_of(name).read_text(encoding="utf-8"))
    for element in [*root.findall("transmission"), *root.findall("gazebo")]:
        root.remove(element)
    for part in [*root.findall("link"), *root.findall("joint")]:
        for tag in _IDLE:
            for element in part.findall(tag):
                part.remove(element)
        if "finger" in part.get("name", "") and part.get("type") == "prismatic":
            part.set("type", "fixed")
    return ET.tostring(root, encoding="unicode")


def chain_text(name: str, links: Sequence[Link]) -> str:
    """A chain of hinges about z in modified Denavit–Hartenberg frames, as URDF."""
    parts = [f'<robot name="{name}"><link name="base"/>']
    before = "base"
    for k, link in enumerate(links, 1):
        c, s = clean(math.cos(link.alpha)), clean(math.sin(link.alpha))
        place = " ".join(repr(float(x)) for x in (link.a, -s * link.d, c * link.d))
        centre = " ".join(repr(float(x)) for x in link.centre)
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        moments = " ".join(f'{i}="{float(x)!r}"' for i, x in zip(keys, link.inertia, strict=True))
        parts.append(
            f'<link name="link{k}"><inertial><mass value="{link.mass!r}"/>'
            f'<origin xyz="{centre}"/><inertia {moments}/></inertial></link>'
            f'<joint name="joint{k}" type="revolute"><parent link="{before}"/>'
            f'<child link="link{k}"/><origin xyz="{place}" rpy="{link.alpha!r} 0 0"/>'
            f'<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="0" velocity="0"/></joint>'
        )
        before = f"link{k}"
    return "\n".join([*parts, "</robot>"])


def quiet_load(path: Path, floating: bool) -> bl.Model:
    """The model of a file, without remarks about meshes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_urdf(path, floating=floating, geometry="none")
