"""A model whose numbers are parameters: inertias, and lengths.

Equations derived from it hold for all values of these numbers, which may then be identified,
optimised, or changed while a program runs.

>>> import biela as bl
>>> from biela.model.parametrised import parametrised
>>> m = bl.Model("pendulum")
>>> rod = m.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
>>> _ = m.joint("revolute", "pivot", m.ground, rod, axis="y")
>>> print(*list(parametrised(m).parameters)[:4])
rod_m rod_cx rod_cy rod_cz
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from biela.errors import ModelError
from biela.model.bodies import Inertia
from biela.model.joints import Joint
from biela.model.markers import Marker
from biela.model.model import Model
from biela.model.quantities.values import SiText, Value
from biela.spelling import nearest

#: The parameters of a body, in the order of `Inertia`.
ENTRIES: Final = ("m", "cx", "cy", "cz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
KINDS: Final = ("inertia", "geometry")

_Named = Callable[[str, Value], Value]


def parametrised(
    model: Model, kinds: Sequence[str] = ("inertia",), *, bodies: Sequence[str] | None = None
) -> Model:
    """A copy of a model with numbers named: "body_m", "body_cx" …, "joint_i_x", "joint_j_z" ….

    Args:
        model: It is not changed; what is a text in it stays as it is.  Inertias of shapes get the
            values that they have with the parameters of the model, and follow them no more.
        kinds: "inertia" names mass, centre of mass and central moments of bodies that have any;
            "geometry" the places of joints on their bodies, where these are not zero.
        bodies: Only those of these bodies; else of all.

    Raises:
        ModelError: There is no such kind or body, or a name is taken.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if isinstance(kinds, str) or unknown:
        raise ModelError(f"the kinds are a list of {' and '.join(KINDS)}, not {kinds!r}")
    whole = copy.copy(model.flattened() if model.parts else model)
    for name in () if bodies is None else bodies:
        if name not in whole.bodies:
            raise ModelError(
                f"{model.name}: there is no body {name!r}{nearest(name, whole.bodies)}"
            )
    wanted = set(whole.bodies if bodies is None else bodies)
    whole.parameters, whole.bodies = whole.parameters.copy(), dict(whole.bodies)
    whole.joints = dict(whole.joints)

    def named(name: str, value: Value) -> Value:
        if isinstance(value, SiText):  # of shapes: a number of its own from now on
            value = whole.number(value)
        return value if isinstance(value, str) else whole.parameter(_identifier(name), value)

    if "inertia" in kinds:
        for body in [body for body in whole.bodies.values() if body.name in wanted]:
            inertia = _named_inertia(body.name, body.inertia, named)
            whole.bodies[body.name] = replace(body, inertia=inertia)
    if "geometry" in kinds:
        for joint in [j for j in whole.joints.values() if isinstance(j, Joint)]:
            i, j = (
                _named_place(f"{joint.name}_{side}", marker, named)
                if marker.body in wanted or marker.body == whole.ground.name
                else marker
                for side, marker in (("i", joint.i), ("j", joint.j))
            )
            whole.joints[joint.name] = replace(joint, i=i, j=j)
    return whole


def _named_inertia(body: str, inertia: Inertia, named: _Named) -> Inertia:
    values = (inertia.mass, *inertia.com, *inertia.moments)
    if all(value == 0 for value in values):
        return inertia
    found = [named(f"{body}_{entry}", x) for entry, x in zip(ENTRIES, values, strict=True)]
    m, x, y, z, *moments = found
    xx, yy, zz, xy, xz, yz = moments
    return Inertia(m, (x, y, z), (xx, yy, zz, xy, xz, yz))


def _named_place(name: str, marker: Marker, named: _Named) -> Marker:
    x, y, z = (
        named(f"{name}_{axis}", value) if value != 0 else value
        for axis, value in zip("xyz", marker.position, strict=True)
    )
    return replace(marker, position=(x, y, z))


def _identifier(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)
