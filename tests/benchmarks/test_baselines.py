"""The baseline atomizers, and the mechanisms derived with them and with biela."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from benchmarks.thesis.algebra import Algebra, Biela
from benchmarks.thesis.baselines import (
    Atomized,
    AtomTable,
    HashedTable,
    Raw,
    SearchedTable,
    operations,
)
from benchmarks.thesis.derivation import derive
from benchmarks.thesis.models import MODELS, dot, times
from benchmarks.thesis.run import CASES, Numbers, derive_and_export, new_algebra

x, y, z = sympy.symbols("x y z")
TABLES = [SearchedTable, HashedTable]
SAMPLES = [
    x * y + sympy.sin(x * y),
    (x + y) ** 2 * z - (x + y),
    sympy.cos(x - y) / z + 2 * x - sympy.Rational(1, 2),
    -x * y * z,
    (x + sympy.sin(y * (x + z))) * (x + z) ** 3,
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("expression", SAMPLES, ids=str)
def test_an_atomized_expression_keeps_its_value(table: type[AtomTable], expression: Any) -> None:
    atoms = table()
    numbers = {"x": 0.3, "y": -1.2, "z": 0.7}
    leaf = Atomized(atoms).table.atomize(expression)
    exact = float(expression.subs({x: 0.3, y: -1.2, z: 0.7}))
    assert Atomized(atoms).result([leaf]).values(numbers) == pytest.approx([exact])
    assert sympy.simplify(atoms.expanded(leaf) - expression) == 0


@pytest.mark.parametrize("table", TABLES)
def test_every_atom_holds_one_operation_on_leaves(table: type[AtomTable]) -> None:
    atoms = table()
    for expression in SAMPLES:
        atoms.atomize(expression)
    for expression in atoms.expressions.values():
        assert all(not part.args or -part in expression.free_symbols for part in expression.args)


@pytest.mark.parametrize("table", TABLES)
def test_a_repeated_subexpression_gets_one_atom(table: type[AtomTable]) -> None:
    atoms = table()
    atoms.atomize(sympy.sin(x * y) + z * sympy.cos(x * y))
    product = [e for e in atoms.expressions.values() if e == x * y]
    assert len(product) == 1
    size = len(atoms.expressions)
    assert atoms.atomize(sympy.sin(x * y)) in atoms.expressions
    assert len(atoms.expressions) == size


def test_the_hash_table_reuses_an_atom_with_the_opposite_sign() -> None:
    atoms = HashedTable()
    difference = atoms.atomize(x - y)
    assert atoms.atomize(y - x) == -difference
    assert atoms.atomize(-x) == -x  # a signed symbol needs no atom
    assert len(atoms.expressions) == 1


@pytest.mark.parametrize("table", TABLES)
def test_operators_atomize_as_they_go(table: type[AtomTable]) -> None:
    algebra = Atomized(table())
    a, b = algebra.symbol("a"), algebra.symbol("b")
    first = algebra.sin(a * b) - 2 * (a * b)
    again = algebra.sin(b * a) - 2 * (b * a)
    assert first.leaf == again.leaf
    assert first.leaf.is_Symbol
    assert len(algebra.table.expressions) == 4  # a b, its sine, its double, the difference


@pytest.mark.parametrize("case", CASES)
def test_derivatives_and_substitutions_agree_with_sympy(case: str) -> None:
    algebra = new_algebra(case)
    a, b = algebra.symbol("a"), algebra.symbol("b")
    e = algebra.sin(a * b) * (a + b) + a * a
    s, t = sympy.symbols("a b")
    exact = sympy.sin(s * t) * (s + t) + s**2
    point = {s: 0.4, t: 1.3}
    numbers = {"a": 0.4, "b": 1.3}

    row = algebra.jacobian([e], [a, b])[0]
    expected = [float(exact.diff(u).subs(point)) for u in (s, t)]
    assert algebra.result(row).values(numbers) == pytest.approx(expected)

    (along,) = algebra.directional([e], {a: b, b: a})
    slope = expected[0] * 1.3 + expected[1] * 0.4
    assert algebra.result([along]).values(numbers) == pytest.approx([slope])

    (rest,) = algebra.without([e], [b])
    assert algebra.result([rest]).values(numbers) == pytest.approx([0.4**2])


def test_operations_count_what_is_written_without_signs() -> None:
    assert operations(x) == 0
    assert operations(-x * y) == 1
    assert operations(x - y) == 1
    assert operations(2 * x + sympy.sin(y)) == 3
    assert operations(x**4) == 2


def test_raw_expressions_share_what_cse_finds() -> None:
    algebra = Raw()
    a, b = algebra.symbol("a"), algebra.symbol("b")
    result = algebra.result([algebra.sin(a * b), algebra.cos(a * b)])
    assert result.operations() == 3


# ------------------------------------------------------------------------------- mechanisms


def values(algebra: Algebra, model: str, numbers: dict[str, float]) -> dict[str, np.ndarray]:
    mechanism = MODELS[model](algebra)
    groups = derive(algebra, mechanism).groups
    n = len(mechanism.q)
    found = {name: np.array(algebra.result(g).values(numbers)) for name, g in groups.items()}
    for name in ("M", "Phi_q"):
        found[name] = found[name].reshape(-1, n)
    found["Phi"] = np.array(algebra.result(mechanism.geometric).values(numbers))
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_block_pendulum_has_the_published_equations(case: str) -> None:
    numbers = Numbers(
        theta=0.4, dx=0.5, dtheta=-0.8, m_b=3, m_p=1.2, l_p=0.7, Iyy_p=0.65, k=20, theta_0=0.1,
        c_vis=0.9, F_b=4, M_p=-0.6, g=9.81,
    )  # fmt: skip
    found = values(new_algebra(case), "block-pendulum", numbers)
    M = [[4.2, 0.773691234962], [0.773691234962, 0.65]]
    assert -found["M"] == pytest.approx(np.array(M), rel=1e-11)
    assert found["delta"] == pytest.approx([-3.759351300825, 8.608962907960], rel=1e-11)


@pytest.mark.parametrize("case", ["B", "C on SymPy", "C"])
def test_the_four_bar_has_the_published_equations(case: str) -> None:
    numbers = Numbers(
        theta1=0.3, theta2=0.7, theta3=-0.4, dtheta1=1.1, dtheta2=-0.6, dtheta3=0.9,
        l1=1.0, l2=0.8, l3=0.9, l4=1.5, m1=2.0, m2=1.5, m3=1.2, g=9.81,
        cg1x=0.5, cg1z=0.05, cg2x=0.4, cg2z=-0.03, cg3x=0.45, cg3z=0.02,
        I1yy=0.7, I2yy=0.35, I3yy=0.4,
        Fx2=1.0, Fz2=-2.0, My2=0.5, Fx3=-1.5, Fz3=0.7, My3=-0.3,
    )  # fmt: skip
    found = values(new_algebra(case), "four-bar", numbers)
    M = [
        [9.073119445125, 3.985981239800, 1.313395706325],
        [3.985981239800, 2.298843034474, 0.790421517237],
        [1.313395706325, 0.790421517237, 0.4],
    ]
    Phi_q = [
        [-1.476875220563, -1.181355013902, -0.508178226056],
        [-2.130380387239, -1.175043898113, -0.742802053419],
    ]
    delta = [-47.368079887892, -10.812750879026, -4.086200652711]
    gamma = np.array([2.719909637716, -1.521902970091])
    assert -found["M"] == pytest.approx(np.array(M), rel=1e-11)
    assert found["delta"] == pytest.approx(delta, rel=1e-11)
    assert found["Phi"] == pytest.approx([0.630380387239, -1.476875220563], rel=1e-11)
    assert found["Phi_q"] == pytest.approx(np.array(Phi_q), rel=1e-11)
    assert found["gamma"] == pytest.approx(gamma, rel=1e-11)
    matrix = np.block([[found["M"], found["Phi_q"].T], [found["Phi_q"], np.zeros((2, 2))]])
    solution = np.linalg.solve(matrix, np.concatenate([found["delta"], gamma]))
    accelerations = [10.508477125425, -10.504310715494, -11.472941341928]
    assert solution[:3] == pytest.approx(accelerations, rel=1e-10)


#: How the names of forces, stiffnesses and gravity begin: with zeros for them inertia is left.
APPLIED = ("F", "M1", "M_p", "My", "k", "c_vis", "g")


@pytest.mark.parametrize("model", MODELS)
def test_the_power_of_the_bias_is_the_rate_of_the_kinetic_energy(model: str) -> None:
    """For q'' = 0, bias = M' dq - dT/dq, so that dq.bias = dq.M'.dq / 2 = dT/dt."""
    algebra = Biela()
    mechanism = MODELS[model](algebra)
    equations = derive(algebra, mechanism)
    q, dq = mechanism.q, mechanism.dq
    kinetic = -0.5 * dot(dq, times(equations.M, dq))
    (rate,) = algebra.directional([kinetic], dict(zip(q, dq, strict=True)))
    zeros = [s.name for s in algebra.workspace if s.name.startswith(APPLIED)]
    result = algebra.result([rate, dot(dq, equations.delta)])
    energy, power = result.values(Numbers(dict.fromkeys(zeros, 0.0)))
    assert power == pytest.approx(energy, rel=1e-10)


def test_all_cases_of_the_crank_rod_disc_agree() -> None:
    numbers = Numbers()
    results = {
        case: derive_and_export(MODELS["crank-rod-disc"], new_algebra(case))
        for case in ("B", "C on SymPy", "C", "C.1")
    }
    for group in ("M", "delta", "Phi_q", "gamma"):
        reference = results["C"][group].values(numbers)
        for case in ("B", "C on SymPy", "C.1"):
            found = results[case][group].values(numbers)
            assert found == pytest.approx(reference, rel=1e-11, abs=1e-13)
