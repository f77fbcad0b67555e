"""Random trees against Pinocchio, an independent implementation, by answers that are stored.

Some trees stand on the ground and some float: `pinocchio_trees` makes both, and the file.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from biela.equations import spatial
from biela.equations.spatial import SpatialTree
from tests.equations.spatial.pinocchio_trees import (
    TREES,
    WITH_DERIVATIVES,
    answers,
    in_pinocchio,
    matched,
    stored,
    tree_of,
)

kept = cache(stored)


@pytest.mark.parametrize("seed", TREES)
def test_dynamics_are_those_of_pinocchio(seed: int) -> None:
    m, found = tree_of(seed), kept()[seed]
    kinds = {joint.kind for joint in m.joints.values()}
    assert ("free" in kinds) >= (seed >= 70) and len(kinds) > 2
    q, v, a, tau, M = (found[name] for name in ("q", "v", "a", "tau", "M"))
    ours = spatial.inverse_dynamics(m).interpret(q, v, a)
    np.testing.assert_allclose(ours, tau, rtol=0, atol=1e-11 * np.abs(tau).max())
    np.testing.assert_allclose(
        spatial.mass_matrix(m).interpret(q), M, rtol=0, atol=1e-11 * np.abs(M).max()
    )
    forward = spatial.forward_dynamics(m, "articulated").interpret(q, v, tau)
    scale = 1e-13 * np.linalg.cond(M) * np.abs(found["forward"]).max()
    np.testing.assert_allclose(forward, found["forward"], rtol=0, atol=scale)
    A_G = spatial.centroidal(m).interpret(q, v)[3]
    np.testing.assert_allclose(A_G, found["momentum"], rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", WITH_DERIVATIVES)
def test_derivatives_of_inverse_dynamics_are_those_of_pinocchio(seed: int) -> None:
    found = kept()[seed]
    by_q, by_v, _ = spatial.inverse_dynamics_derivatives(tree_of(seed)).interpret(
        found["q"], found["v"], found["a"]
    )
    scale = WITH_DERIVATIVES[seed] * np.abs(found["tau_q"]).max()
    np.testing.assert_allclose(by_q, found["tau_q"], rtol=0, atol=scale)
    np.testing.assert_allclose(by_v, found["tau_v"], rtol=0, atol=scale)


@pytest.mark.parametrize("seed", TREES)
def test_what_is_stored_is_what_pinocchio_says_now(seed: int) -> None:
    pytest.importorskip("pinocchio")
    for name, now in answers(seed).items():
        digits = WITH_DERIVATIVES.get(seed, 1e-11) if name.startswith("tau_") else 1e-11
        scale = digits * np.abs(now).max()
        np.testing.assert_allclose(kept()[seed][name], now, rtol=0, atol=scale, err_msg=name)


@pytest.mark.parametrize("seed", [k for k in TREES if k >= 70])
def test_a_free_joint_is_the_free_flyer_of_pinocchio_in_other_rates(seed: int) -> None:
    """Its linear velocity is that of the body, Rᵀ ours; forces and masses go along."""
    pin: Any = pytest.importorskip("pinocchio")
    m, found = tree_of(seed), kept()[seed]
    made, tree = in_pinocchio(m, flyer=True), SpatialTree(m)
    theirs, order = matched(m, made, tree, found["q"])
    T, dT = np.eye(made.nv), np.zeros((made.nv, made.nv))
    v, a = found["v"][order], found["a"][order]
    for joint in m.joints.values():
        if joint.kind == "free":
            number = made.getJointId(joint.name)
            i, k = made.joints[number].idx_q, made.joints[number].idx_v
            x, y, z, w = theirs[i + 3 : i + 7]
            R = pin.Quaternion(w, x, y, z).toRotationMatrix()
            T[k : k + 3, k : k + 3] = R.T
            dT[k : k + 3, k : k + 3] = -pin.skew(v[k + 3 : k + 6]) @ R.T
    tau = T.T @ pin.rnea(made, made.createData(), theirs, T @ v, T @ a + dT @ v)
    np.testing.assert_allclose(found["tau"][order], tau, rtol=0, atol=1e-11 * np.abs(tau).max())
