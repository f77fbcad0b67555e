"""Closed loops against Pinocchio's constrained dynamics, where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.equations import spatial
from biela.equations.spatial import SpatialTree
from tests.equations.spatial.closed_models import assembled, called, closed_tree
from tests.equations.spatial.test_pinocchio import in_pinocchio, matched

pin = pytest.importorskip("pinocchio")

SHARED = (("revolute", {}), ("prismatic", {}), ("spherical", {}))
TYPES = {"spherical": "CONTACT_3D", "fixed": "CONTACT_6D"}


def placed(marker: Any) -> Any:
    """The frame of a marker in its body."""
    R = np.array(marker.orientation.axes)
    return pin.SE3(R, np.array(marker.position, dtype=float))


def opened(m: bl.Model) -> bl.Model:
    """The tree of a model, without the joints that close its loops."""
    found = bl.Model(m.name, gravity=m.gravity)
    found.bodies = m.bodies
    found.joints = {n: j for n, j in m.joints.items() if not n.startswith("close")}
    return found


def constraint(made: Any, m: bl.Model, joint: Any) -> Any:
    """A joint that closes a loop, between the joints that carry its bodies."""
    ends = []
    for marker in (joint.i, joint.j):
        carrier = next(j for j in opened(m).joints.values() if j.j.body == marker.body)
        number = made.getJointId(carrier.name)
        ends += [number, placed(carrier.j).inverse() * placed(marker)]
    kind = getattr(pin.ContactType, TYPES[joint.kind])
    return pin.RigidConstraintModel(kind, made, *ends, pin.ReferenceFrame.LOCAL)


@pytest.mark.parametrize(
    ("seed", "closers"), [(3, ["spherical"]), (11, ["spherical", "spherical"]), (14, ["spherical"])]
)
def test_accelerations_are_those_of_pinocchio(seed: int, closers: list[str]) -> None:
    m, q = closed_tree(seed, [(kind, {}) for kind in closers], SHARED)
    tree = SpatialTree(m)
    closing = [joint for joint in m.joints.values() if joint.name.startswith("close")]
    assert {joint.name for joint in tree.closing} == {joint.name for joint in closing}
    q, v, tau = assembled(m, q)
    made = in_pinocchio(opened(m))
    theirs, order = matched(opened(m), made, tree, q)
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for joint in closing:
        models.append(constraint(made, m, joint))
        datas.append(models[-1].createData())
    data = made.createData()
    pin.initConstraintDynamics(made, data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-10, 30)
    a = pin.constraintDynamics(
        made, data, theirs, v[order], tau[order], models, datas, settings
    ).copy()
    for method in ("articulated", "early", "composite"):
        found = called(spatial.constrained_forward_dynamics(m, method), m, q=q, v=v, tau=tau)
        np.testing.assert_allclose(found[order], a, atol=1e-10 * (1 + np.abs(a).max()))
