"""Random trees against Pinocchio, where it is installed: an independent implementation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.equations import spatial
from biela.equations.spatial import SpatialTree
from biela.model.joints import Joint
from tests.equations.spatial.trees import KINDS, random_tree, state

pin = pytest.importorskip("pinocchio")

#: Joints that Pinocchio has with the same coordinates and velocities.
SHARED = tuple(k for k in KINDS if k[0] in ("revolute", "prismatic", "spherical", "helical"))


def placed(marker: Any) -> Any:
    R = np.array(marker.orientation.axes)
    return pin.SE3(R, np.array(marker.position, dtype=float))


def depth_first(m: bl.Model, body: str = "ground") -> Iterator[Joint]:
    """Pinocchio numbers all that follows a joint before it goes on to the next."""
    for joint in m.joints.values():
        if isinstance(joint, Joint) and joint.i.body == body:
            yield joint
            yield from depth_first(m, joint.j.body)


def in_pinocchio(m: bl.Model) -> Any:
    """The same tree, with the frame of each joint at its marker j."""
    made = pin.Model()
    made.gravity.linear = np.array(m.gravity, dtype=float)
    joints: dict[str, tuple[int, Any]] = {"ground": (0, pin.SE3.Identity())}
    kinds = {
        "revolute": lambda joint: pin.JointModelRZ(),
        "prismatic": lambda joint: pin.JointModelPZ(),
        "spherical": lambda joint: pin.JointModelSpherical(),
        "helical": lambda joint: pin.JointModelHZ(joint.pitch / (2 * np.pi)),
    }
    for joint in depth_first(m):
        parent, frame = joints[joint.i.body]
        number = made.addJoint(
            parent, kinds[joint.kind](joint), frame * placed(joint.i), joint.name
        )
        frame = placed(joint.j).inverse()
        joints[joint.j.body] = number, frame
        body = m.bodies[joint.j.body].inertia
        xx, yy, zz, xy, xz, yz = body.moments
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(body.mass, np.array(body.com), I)
        made.appendBodyToJoint(number, inertia, frame)
    return made


def matched(m: bl.Model, made: Any, tree: SpatialTree, q: Any) -> tuple[Any, Any]:
    """The coordinates of Pinocchio for ours, and our number of each of its velocities."""
    theirs = np.empty(made.nq)
    order = np.empty(len(tree.v), dtype=int)
    known = {name: k for k, name in enumerate(tree.v_names)}
    for joint in m.joints.values():
        number = made.getJointId(joint.name)
        first, speed = made.joints[number].idx_q, made.joints[number].idx_v
        if joint.kind == "spherical":
            k = known[f"{joint.name}.rotation_wx"]
            e = q[next(i for i, j in tree.quaternions if j == k) :][:4]
            theirs[first : first + 4] = [*e[1:], e[0]]
            order[speed : speed + 3] = [k, k + 1, k + 2]
        else:
            (name,) = (n for n in tree.scalars if n.startswith(f"{joint.name}."))
            i, k = tree.scalars[name]
            theirs[first], order[speed] = q[i], k
    return theirs, order


@pytest.mark.parametrize("seed", range(5))
def test_dynamics_are_those_of_pinocchio(seed: int) -> None:
    m = random_tree(8, 60 + seed, SHARED, turned=False)
    made = in_pinocchio(m)
    data = made.createData()
    tree = SpatialTree(m)
    q, v, a = state(tree, seed)
    theirs, order = matched(m, made, tree, q)
    tau = pin.rnea(made, data, theirs, v[order], a[order])
    found = spatial.inverse_dynamics(m).interpret(q, v, a)
    np.testing.assert_allclose(found[order], tau, atol=1e-11 * np.abs(tau).max())
    M = pin.crba(made, data, theirs)
    M = np.triu(M) + np.triu(M, 1).T
    ours = spatial.mass_matrix(m).interpret(q)[np.ix_(order, order)]
    np.testing.assert_allclose(ours, M, atol=1e-11 * np.abs(M).max())
    acc = pin.aba(made, data, theirs, v[order], tau)
    forward = spatial.forward_dynamics(m, "articulated").interpret(q, v, found)[order]
    np.testing.assert_allclose(forward, acc, atol=1e-13 * np.linalg.cond(M) * np.abs(acc).max())
    if seed > 1:
        return
    by_q, by_v, _ = spatial.inverse_dynamics_derivatives(m).interpret(q, v, a)
    pin.computeRNEADerivatives(made, data, theirs, v[order], a[order])
    scale = np.abs(data.dtau_dq).max()
    both = np.ix_(order, order)
    np.testing.assert_allclose(by_q[both], data.dtau_dq, atol=1e-11 * scale)
    np.testing.assert_allclose(by_v[both], data.dtau_dv, atol=1e-11 * scale)
    A_G = spatial.centroidal(m).interpret(q, v)[3][:, order]
    expected = pin.computeCentroidalMap(made, data, theirs)
    np.testing.assert_allclose(A_G, expected[[3, 4, 5, 0, 1, 2]], atol=1e-11)
