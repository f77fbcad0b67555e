"""The equations of each solid as matrices: six rows, any point of the body, joint unknowns."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations import SymbolicSystem
from biela.equations.elimination import constrained_matrix, factorise
from biela.space import Solid, angular_velocity, derivative, position, velocity
from examples.symbolic.stewart import stewart
from tests.mechanisms import (
    ROUNDING,
    Values,
    crank_rod_disc,
    four_bar,
    numbers,
    random_tree,
    random_values,
    symbolic,
)


def tilde(r: np.ndarray) -> np.ndarray:
    x, y, z = r
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


# ----------------------------------------------------------------------------- six rows


def six_rows(s: SymbolicSystem, solid: Solid, values: Values):
    """M and Q of one solid by 6 x n matrices: Plaza 2015, eqs 4.67–4.71, errata corrected.

    All in the base of the solid, by plain matrices; b() is the derivative without accelerations.
    """
    inertial, root, base = s.space.inertial, s.base, solid.base

    def inside(vector) -> np.ndarray:
        return numbers(vector.components(base), values)

    v, omega = velocity(inertial, solid.point), angular_velocity(root, base)
    J = np.vstack(
        [
            np.array([inside(v.diff(rate)) for rate in s.v]).T,
            np.array([inside(omega.diff(rate)) for rate in s.v]).T,
        ]
    )
    bias = np.concatenate([inside(derivative(x, root, s.space.bias_rate)) for x in (v, omega)])
    m, mr = float(numbers(solid.mass, values)), inside(solid.first_moment)
    I, w = numbers(solid.inertia.components(base), values), inside(omega)
    M_c = np.block([[m * np.eye(3), tilde(mr).T], [tilde(mr), I]])
    spin = np.concatenate([tilde(w) @ tilde(w) @ mr, tilde(w) @ I @ w])
    g = inside(s.gravity)
    wrench = np.concatenate([m * g, tilde(mr) @ g])
    for acting in s.wrenches:
        if acting.solid is solid:
            f, arm = inside(acting.force), inside(position(solid.point, acting.point))
            wrench += np.concatenate([f, inside(acting.moment) + tilde(arm) @ f])
    return J.T @ M_c @ J, J.T @ (wrench - M_c @ bias - spin)


@pytest.mark.parametrize(
    "make",
    [
        four_bar,
        crank_rod_disc,
        stewart,
        *(lambda seed=seed: symbolic(random_tree(seed, 3, True)) for seed in range(3)),
    ],
)
def test_mass_and_forces_are_the_sums_of_six_rowed_matrices(make):
    s = make()
    eq = s.equations()
    values = random_values(s.workspace, 61)
    parts = [six_rows(s, solid, values) for solid in s.solids]
    for name, expected in zip("MQ", (sum(p) for p in zip(*parts, strict=True)), strict=True):
        found = numbers(eq.expressions[name], values)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(found).max())


# ------------------------------------------------------------------------------ any point


def thrown(shift: np.ndarray) -> SymbolicSystem:
    """A body turned and moved in space, described from a point of it that lies anywhere."""
    s = SymbolicSystem("thrown")
    x, y, z, a, b, c = s.coordinates("x y z a b c")
    base = s.base.euler("b", "zyx", (a, b, c))
    first = s.origin.offset("A", s.base.vector(x, y, z))
    at = first.offset("B", base.vector(*shift.tolist()))
    m, r = 2.0, np.array([0.3, -0.2, 0.5]) - shift
    central = np.array([[1.2, 0.1, -0.2], [0.1, 0.9, 0.05], [-0.2, 0.05, 0.7]])
    I = central + m * (r @ r * np.eye(3) - np.outer(r, r))
    body = s.solid("body", at, base, m, r.tolist(), base.tensor(I.tolist()))
    # a force through a point of the body, which is the same in both descriptions
    s.wrench(body, force=(1, 2, 3), at=first.offset("T", base.vector(1, 0, 0)))
    s.gravity = (0, 0, -9.81)
    return s


@pytest.mark.parametrize("shift", [[0.7, 0, 0], [-0.4, 1.1, 0.3], [0.3, -0.2, 0.5]])
def test_a_body_has_the_same_equations_from_any_of_its_points(shift):
    """Inertia moved by Huygens and Steiner; the last point is the centre of mass."""
    one, other = (thrown(np.array(at)).equations() for at in ([0.0, 0, 0], shift))
    assert one.source.solids[0].inertia is not other.source.solids[0].inertia
    for q, v in np.random.default_rng(62).normal(size=(3, 2, 6)):
        np.testing.assert_allclose(other.mass(q), one.mass(q), **ROUNDING)
        np.testing.assert_allclose(other.forces(q, v), one.forces(q, v), **ROUNDING)


# -------------------------------------------------------------------------- joint unknowns


def test_elimination_gives_accelerations_and_joint_unknowns():
    """A pendulum in three coordinates, its pivot held by two unknown forces: M v' + Vᵀ ε = Q.

    For workless joints V is the Jacobian of what they hold, up to its sign, and the matrix is
    symmetric: the elimination of multipliers serves.
    """
    s = SymbolicSystem("held")
    x, z, theta = s.coordinates("x z theta")
    m, c, I, g = s.parameters(m=2.0, c=0.4, I=0.7, g=9.81)
    base = s.base.rotated("b", "y", theta)
    bar = s.solid(
        "bar", s.origin.offset("P", s.base.vector(x, 0, z)), base, m, (0, 0, -c), base.inertia(yy=I)
    )
    s.wrench(bar, force=s.base.vector(s.unknowns("e1")[0], 0, s.unknowns("e2")[0]))
    s.gravity = s.base.vector(0, 0, -g)
    eq = s.equations()
    M, Q, V = (eq.expressions[name] for name in ("M", "Q", "V"))
    zero = s.workspace.atom(0)
    solved = factorise(constrained_matrix(M, V), late=[3, 4]).solve([*Q, zero, zero])
    f = s.function("held", {"a": solved[:3], "e": solved[3:]})
    angle, omega = 0.6, 1.3
    a, e = f(0.0, [0, 0, angle], [0, 0, omega], [], eq.system.parameters)
    # closed form: I θ'' = -m g c sin θ, and Newton for the centre of mass
    alpha = -2.0 * 9.81 * 0.4 * np.sin(angle) / 0.7
    np.testing.assert_allclose(a, [0, 0, alpha], atol=1e-12)
    along, inwards = -np.cos(angle), np.sin(angle)
    centre = 0.4 * np.array(
        [along * alpha + inwards * omega**2, inwards * alpha - along * omega**2]
    )
    np.testing.assert_allclose(e, 2.0 * (centre + np.array([0, 9.81])), rtol=1e-12)


# ------------------------------------------------------------------------------ together


@pytest.mark.parametrize("pair", ["Phi_q Phi", "Phi_v dPhi"])
def test_constraints_with_their_jacobian_share_atoms(pair):
    """[Φ_q | Φ] and [Φ_v | Φ'] as one function each: fewer operations than as two."""
    for make in (four_bar, crank_rod_disc, stewart):
        eq = make().equations()
        names = pair.split()
        together = eq.joint(*names)
        assert [a.name for a in together.outputs] == names
        assert together.count.arithmetic < sum(eq.joint(n).count.arithmetic for n in names)
        given = [np.random.default_rng(63).normal(size=a.shape) for a in together.inputs]
        for name, found in zip(names, together.interpret(*given), strict=True):
            expected = eq.system[name].interpret(*given)
            np.testing.assert_allclose(found, expected, **ROUNDING)


def test_each_constraint_equation_has_a_multiplier_of_its_own():
    """18 of the platform, which has 24 dynamic equations."""
    for make in (four_bar, crank_rod_disc, stewart):
        eq = make().equations()
        rows = len(eq.expressions["Phi_v"])
        symbols = eq.source.multipliers
        assert len(set(symbols)) == len(eq.system.multipliers) == rows
        assert all(symbol.kind is bl.Kind.UNKNOWN for symbol in symbols)
