"""The robots of the benchmarks: what biela gives is what Pinocchio gives, in its coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.robots.models import Case, chain_text
from biela.equations import spatial
from examples.newton_euler import random_chain

pin = pytest.importorskip("pinocchio")

from benchmarks.robots.pinocchio_peer import Frames, joints_of  # noqa: E402

TRUNK = (
    '<link name="base"><inertial><mass value="5"/><origin xyz="0.1 0.05 -0.02"/>'
    '<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.02" ixz="-0.03" iyz="0.01"/></inertial></link>'
)
TEXT = chain_text("floating", random_chain(3)).replace('<link name="base"/>', TRUNK)
FLOATING = Case("floating", "humanoid", TEXT, floating=True)


def quantities(case: Case) -> tuple[Frames, Any, Any, list[np.ndarray]]:
    made = pin.buildModelFromXML(case.text, pin.JointModelFreeFlyer())
    tree = spatial.SpatialTree(case.model)
    frames = Frames.of(joints_of(made), tree)
    random = np.random.default_rng(6)
    q = random.normal(size=len(tree.q))
    for first, _ in tree.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return frames, made, made.createData(), [q, *random.normal(size=(2, len(tree.v)))]


def test_a_state_of_a_floating_robot_has_the_same_forces() -> None:
    frames, made, data, (q, v, a) = quantities(FLOATING)
    tau = spatial.inverse_dynamics(FLOATING.model)(q, v, a)
    theirs = pin.rnea(made, data, *frames.state(q, v, a))
    np.testing.assert_allclose(frames.forces(q, tau), theirs, atol=1e-12 * np.abs(theirs).max())
    M = np.triu(frames.matrix(q, spatial.mass_matrix(FLOATING.model)(q)))
    theirs = np.triu(pin.crba(made, data, frames.state(q, v, a)[0]))
    np.testing.assert_allclose(M, theirs, atol=1e-12 * np.abs(theirs).max())


@pytest.mark.parametrize("method", ["columns", "written out"])
def test_derivatives_keep_constant_what_pinocchio_keeps_constant(method: str) -> None:
    frames, made, data, (q, v, a) = quantities(FLOATING)
    tau = spatial.inverse_dynamics(FLOATING.model)(q, v, a)
    found = spatial.forward_dynamics_derivatives(FLOATING.model, method)(q, v, tau)
    rate, by_q, by_v, by_tau = frames.derivatives(q, v, tau, found)
    x, u, _ = frames.state(q, v, a)
    pin.computeABADerivatives(made, data, x, u, frames.forces(q, tau))
    theirs = {"ddq": rate, "ddq_dq": by_q, "ddq_dv": by_v, "Minv": np.triu(by_tau)}
    for name, mine in theirs.items():
        other = getattr(data, name)
        other = np.triu(other) if name == "Minv" else other
        np.testing.assert_allclose(mine, other, atol=1e-10 * np.abs(other).max(), err_msg=name)
