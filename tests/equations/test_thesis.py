"""The published route, term by term, against the published numbers and against ours."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations import thesis
from biela.equations.thesis import PLAIN_UP, mass_and_forces_thesis
from biela.equations.virtual_power import bodies
from tests.mechanisms import FOUR_BAR_INPUTS, FOUR_BAR_PARAMETERS, FOUR_BAR_STATE, four_bar


def as_function(system: bl.SymbolicSystem, M, Q) -> bl.Function:
    inputs = {
        "q": system.q,
        "v": system.v,
        "rest": [s for s in system.workspace if s not in (*system.q, *system.v)],
    }
    return bl.Function("thesis", inputs, {"M": M, "Q": Q})


def random_arm(seed: int) -> bl.SymbolicSystem:
    """Three bodies turned about different axes, with offsets, full inertias and wrenches."""
    random = np.random.default_rng(seed)
    s = bl.SymbolicSystem("arm")
    base, point = s.base, s.origin
    for i, q in enumerate(s.coordinates("q:3")):
        base = base.rotated(f"b{i}", random.choice(["x", "y", "z"]), q)
        half = random.normal(size=(3, 3))
        I = (half @ half.T + np.eye(3)).tolist()
        solid = s.solid(
            f"s{i}", point, base, 1.0 + i, random.normal(size=3).tolist(), base.tensor(I)
        )
        s.wrench(solid, force=random.normal(size=3).tolist(), moment=base.vector(0.3, -0.2, 0.1))
        point = point.offset(f"P{i}", base.vector(*random.normal(size=3).tolist()))
    s.gravity = (0.5, 0, -9.81)
    return s


def test_the_four_bar_has_the_numbers_of_the_printed_listing():
    s = four_bar()
    M, Q = mass_and_forces_thesis(s)
    own = s.equations().system
    q, v = FOUR_BAR_STATE["q"], FOUR_BAR_STATE["v"]
    f = s.function("thesis", {"M": M, "Q": Q})
    p = [FOUR_BAR_PARAMETERS[parameter.name] for parameter in own.p]
    found_M, found_Q = f(0.0, q, v, FOUR_BAR_INPUTS, p)
    # the opposites of M and delta of the source, which has the other sign
    assert found_M[0, 0] == pytest.approx(9.073119445125, abs=1e-11)
    np.testing.assert_allclose(
        found_Q, [47.368079887892, 10.812750879026, 4.086200652711], atol=1e-11
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_arms_have_the_same_equations_by_both_routes(seed):
    s = random_arm(seed)
    eq = s.equations()
    f = as_function(s, *mass_and_forces_thesis(s))
    for q, v in np.random.default_rng(seed).normal(size=(4, 2, 3)):
        M, Q = f(q, v, np.zeros(f.inputs[2].size))
        np.testing.assert_allclose(M, eq.mass(q), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(Q, eq.forces(q, v), rtol=1e-10, atol=1e-10)


def test_its_mass_matrix_is_symmetric_atom_for_atom():
    M, _ = mass_and_forces_thesis(random_arm(1))
    assert all(M[i][j] == M[j][i] for i in range(3) for j in range(3))


def test_our_route_takes_fewer_operations():
    s = four_bar()
    theirs = s.function("thesis", dict(zip("MQ", mass_and_forces_thesis(s), strict=True)))
    assert s.equations().joint("M", "Q").count.thesis < 0.85 * theirs.count.thesis


# ----------------------------------------------------------------------- its rules of order


@pytest.fixture
def tilted():
    """A body that turns and moves in all ways, and its motion by plain vectors."""
    s = bl.SymbolicSystem("tilted")
    q = s.coordinates("q:4")
    names = ("m", "mx", "my", "mz", "xx", "yy", "zz", "xy", "xz", "yz", "l")
    m, mx, my, mz, *inertia, length = s.parameters(" ".join(names))
    base = s.base.rotated("b1", "z", q[0]).rotated("b2", "x", q[1]).rotated("b3", "y", q[2])
    at = s.origin.offset("P", s.base.vector(0, q[3], 0)).offset("A", base.vector(length, 0, 0.3))
    s.solid("body", at, base, m, first_moment=(mx, my, mz), inertia=base.inertia(*inertia))
    with s.space.using(PLAIN_UP):
        yield s, bodies(s.space, s.solids, s.v).motions[0]


def symmetric(M) -> bool:
    return all(M[i][j] == M[j][i] for i in range(len(M)) for j in range(len(M)))


def table(entry) -> list[list[bl.Atom]]:
    return [[entry(j, k) for k in range(4)] for j in range(4)]


def random_numbers(s: bl.SymbolicSystem, M) -> np.ndarray:
    symbols = list(s.workspace)
    f = bl.Function("numbers", {"x": symbols}, {"M": M})
    return f.interpret(np.random.default_rng(9).uniform(0.3, 1.3, len(symbols)))


def test_the_scalar_comes_last_in_m_vv(tilted):
    """Rule 4: m (v_jᵀ v_k) is symmetric atom for atom, (m v_j)ᵀ v_k in numbers only."""
    s, motion = tilted
    m, v = motion.solid.mass, motion.v_by
    last = table(lambda j, k: m * v[j].dot(v[k]))
    first = table(lambda j, k: (v[j] * m).dot(v[k]))
    assert symmetric(last)
    assert not symmetric(first)
    np.testing.assert_allclose(random_numbers(s, last), random_numbers(s, first), rtol=1e-12)


def test_m_wv_is_the_transpose_of_m_vw(tilted):
    """Rule 2: ω_jᵀ (mr x v_k) has the value of v_kᵀ (ω_j x mr), but would be atoms of its own."""
    s, motion = tilted
    v, omega, mr = motion.v_by, motion.omega_by, motion.solid.first_moment
    M_vw = table(lambda j, k: v[j].dot(omega[k].cross(mr)))
    M_wv = table(lambda j, k: omega[j].dot(mr.cross(v[k])))
    transposed = [list(row) for row in zip(*M_vw, strict=True)]
    np.testing.assert_allclose(
        random_numbers(s, M_wv), random_numbers(s, transposed), rtol=1e-11, atol=1e-13
    )

    def operations(*matrices) -> int:
        outputs = {f"M{k}": M for k, M in enumerate(matrices)}
        return bl.Function("f", {"x": list(s.workspace)}, outputs).count.arithmetic

    assert operations(M_vw, transposed) == operations(M_vw) < operations(M_vw, M_wv)


def test_m_vw_and_its_transpose_are_added_first(tilted):
    """Rule 5: M_vv + (M_vω + M_vωᵀ) is symmetric atom for atom, (M_vv + M_vω) + M_vωᵀ is not."""
    s, motion = tilted
    m, v, omega, mr = motion.solid.mass, motion.v_by, motion.omega_by, motion.solid.first_moment
    A = table(lambda j, k: v[j].dot(omega[k].cross(mr)))
    M_vv = table(lambda j, k: m * v[j].dot(v[k]))
    grouped = table(lambda j, k: M_vv[j][k] + (A[j][k] + A[k][j]))
    in_a_row = table(lambda j, k: (M_vv[j][k] + A[j][k]) + A[k][j])
    assert symmetric(grouped)
    assert not symmetric(in_a_row)
    np.testing.assert_allclose(
        random_numbers(s, grouped), random_numbers(s, in_a_row), rtol=1e-11, atol=1e-13
    )


def test_the_weight_is_formed_in_the_inertial_base_and_has_the_same_power_as_upwards(monkeypatch):
    """Rule of eq. 4.62.  It saves nothing with our operators: upwards takes fewer operations."""
    s = random_arm(2)
    s.wrenches.clear()
    moment = {}
    for algebra in (thesis.PLAIN_DOWN, PLAIN_UP):
        with s.space.using(algebra):
            moment[algebra] = s.solids[2].first_moment.cross(s.gravity)
    assert moment[thesis.PLAIN_DOWN].base is s.base
    assert moment[PLAIN_UP].base is s.solids[2].base

    downwards = s.function("Q", {"Q": mass_and_forces_thesis(s)[1]})
    monkeypatch.setattr(thesis, "PLAIN_DOWN", PLAIN_UP)
    upwards = s.function("Q", {"Q": mass_and_forces_thesis(s)[1]})
    assert upwards.count.arithmetic < downwards.count.arithmetic
    given = [np.random.default_rng(10).normal(size=a.shape) for a in upwards.inputs]
    found, expected = downwards.interpret(*given), upwards.interpret(*given)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
