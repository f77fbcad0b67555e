"""Joint unknowns, directions of wrenches, and equations to read."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations import SymbolicSystem
from biela.errors import ModelError


def lifted(toward: bl.Toward | None = None) -> SymbolicSystem:
    """A bar in the plane in three coordinates; its pivot is held by two joint unknowns."""
    s = SymbolicSystem("lifted")
    x, z, theta = s.coordinates("x z theta")
    base = s.base.rotated("b", "y", theta)
    at = s.origin.offset("P", s.base.vector(x, 0, z))
    bar = s.solid("bar", at, base, 2.0, (0.4, 0, 0.1), base.inertia(yy=0.7))
    e1, e2 = s.unknowns("e1 e2")
    s.wrench(bar, force=(e1, 0, e2), toward=toward)
    s.wrench(
        bar, force=s.base.vector(1, 0, 2), at=at.offset("T", base.vector(1, 0, 0)), toward=toward
    )
    s.gravity = (0, 0, -9.81)
    return s


def test_joint_unknowns_become_a_matrix_of_their_own():
    eq = lifted().equations()
    q, v = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]
    V = eq.system.evaluate("V", q)
    np.testing.assert_array_equal(V, [[-1, 0, 0], [0, -1, 0]])
    # the forces that keep the pivot at rest: M v' + Vᵀ ε = Q with x'' = z'' = 0
    M, Q = eq.mass(q), eq.forces(q, v)
    A = np.block([[M, V.T], [V, np.zeros((2, 2))]])
    found = np.linalg.solve(A, [*Q, 0, 0])
    np.testing.assert_allclose(M @ found[:3] + V.T @ found[3:], Q, atol=1e-12)
    pendulum = M[2, 2] * found[2]
    assert pendulum == pytest.approx(Q[2], rel=1e-12)


@pytest.mark.parametrize("toward", list(bl.Toward))
def test_the_direction_of_a_wrench_changes_no_value(toward):
    q, v = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]
    plain, directed = lifted().equations(), lifted(toward).equations()
    np.testing.assert_allclose(directed.forces(q, v), plain.forces(q, v), rtol=1e-14)


def test_the_direction_of_a_wrench_changes_where_its_moment_is_formed():
    from biela.equations.virtual_power import CANDIDATES

    plain = next(r for r in CANDIDATES if not r.solids.extended)
    sizes = {
        toward: lifted(toward).equations(plain).joint("Q").count.arithmetic for toward in bl.Toward
    }
    assert sizes[bl.Toward.LEAF] != sizes[bl.Toward.ROOT]


def test_small_matrices_are_written_out_and_large_ones_as_atoms():
    eq = lifted().equations()
    text = eq.text("M")
    assert "M[0, 0] = 2" in text
    assert "def M(" in eq.text("M", limit=5)


def test_matrices_are_shown_as_mathematics():
    eq = lifted().equations()
    assert eq.latex("M").startswith(r"M = \begin{bmatrix} 2 & 0 &")
    assert r"\sin" in eq.latex("Q")
    assert eq._repr_latex_().count("bmatrix") >= 2


def test_the_whole_system_is_exported_as_one_function(tmp_path):
    paths = lifted().equations().export("python", tmp_path)
    text = paths[0].read_text(encoding="utf-8")
    assert "def lifted_all(" in text
    assert "def lifted_M_Q(" in text


@pytest.mark.parametrize("name", ("energy", "M_Q", "accelerations"))
@pytest.mark.parametrize("ask", ("joint", "latex", "text"))
def test_what_is_no_matrix_is_refused_with_the_names_of_those_there_are(ask, name):
    eq = lifted().equations()
    with pytest.raises(ModelError, match=rf"{name} of .* none of the matrices, which are M, Q, V"):
        getattr(eq, ask)(name)
