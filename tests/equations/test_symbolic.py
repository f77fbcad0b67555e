"""The symbolic system as its user meets it: building, refusing, counting, exporting."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.equations.virtual_power import CANDIDATES
from biela.errors import BielaError, DomainError, ModelError, WorkspaceError
from tests.mechanisms import (
    FOUR_BAR_INPUTS,
    FOUR_BAR_PARAMETERS,
    FOUR_BAR_STATE,
    ROUNDING,
    block_pendulum,
    crank_rod_disc,
    four_bar,
    numbers,
    random_values,
    rolling_disc,
)


@pytest.fixture
def point() -> bl.SymbolicSystem:
    """A point in the plane."""
    s = bl.SymbolicSystem("point")
    x, y = s.coordinates("x y")
    s.solid("body", at=s.origin.offset("P", s.base.vector(x, y, 0)), base=s.base, mass=2.0)
    return s


# ----------------------------------------------------------------------- building, refusing


def test_a_system_without_solids_says_so():
    s = bl.SymbolicSystem("empty")
    s.coordinates("x")
    with pytest.raises(ModelError, match="empty has no solids"):
        s.equations()


def test_a_system_without_coordinates_says_so():
    s = bl.SymbolicSystem("still")
    s.solid("body", at=s.origin, base=s.base, mass=1.0)
    with pytest.raises(ModelError, match="still has no coordinates"):
        s.equations()


def test_two_solids_of_one_name_are_refused(point):
    with pytest.raises(ModelError, match="two solids are called body"):
        point.solid("body", at=point.origin, base=point.base, mass=1.0)


def test_a_coordinate_is_declared_once(point):
    with pytest.raises(ModelError, match="coordinate x is declared twice"):
        point.coordinates("x")


def test_a_name_stands_for_one_thing(point):
    with pytest.raises(WorkspaceError, match="x is already a coordinate"):
        point.parameters("x")


def test_closing_needs_axes_of_the_inertial_base(point):
    with pytest.raises(DomainError, match="'w' is not an axis"):
        point.close(point.origin, point.space.points["P"], axes="xw")


def test_a_centre_of_mass_has_three_components(point):
    with pytest.raises(DomainError, match="three components are needed, not 2"):
        point.solid("other", at=point.origin, base=point.base, mass=1.0, com=(1, 2))


def test_a_centre_of_mass_that_moves_in_the_body_is_refused(point):
    with pytest.raises(BielaError, match=r"other.*x"):
        point.solid("other", at=point.origin, base=point.base, mass=1.0, com=(point.q[0], 0, 0))


def test_a_centre_of_mass_in_a_base_that_turns_against_the_body_is_refused(point):
    (a,) = point.coordinates("a")
    turned = point.base.rotated("turned", "z", a)
    with pytest.raises(BielaError, match=r"other.*base xyz"):
        point.solid("other", at=point.origin, base=turned, mass=1.0, com=point.base.vector(1, 0, 0))


def test_a_centre_of_mass_along_the_axis_may_be_written_as_any_vector_of_the_body(point):
    """The vector is kept in a lower base then, but it is the same in that of the body."""
    (a,) = point.coordinates("a")
    (h,) = point.parameters(h=0.5)
    turned = point.base.rotated("turned", "z", a)
    as_vector = point.solid(
        "first", at=point.origin, base=turned, mass=1.0, com=turned.vector(0, 0, 1) * h
    )
    as_list = point.solid("second", at=point.origin, base=turned, mass=1.0, com=(0, 0, h))
    assert as_vector.first_moment.components(turned) == as_list.first_moment.components(turned)


def test_things_of_two_systems_do_not_meet(point):
    other = bl.SymbolicSystem("other")
    with pytest.raises(BielaError):
        point.solid("body2", at=other.origin, base=point.base, mass=1.0)
    with pytest.raises(BielaError):
        point.position(point.origin, other.origin)
    with pytest.raises(BielaError):
        point.wrench(point.solids[0], other.base.vector(1, 0, 0))
        point.equations()


def test_gravity_is_a_vector_or_three_components_in_the_inertial_base(point):
    point.gravity = (0, -9.81, 0)
    given = point.equations().forces([0, 0], [0, 0])
    point.gravity = point.base.vector(0, -9.81, 0)
    np.testing.assert_allclose(point.equations().forces([0, 0], [0, 0]), given)
    np.testing.assert_allclose(given, [0, -19.62])


def test_a_matrix_that_is_not_there_is_named(point):
    eq = point.equations()
    for ask in (lambda: eq.joint("Phi"), lambda: eq.text("Phi"), lambda: eq.system["Phi"]):
        with pytest.raises(ModelError, match="point does not give Phi"):
            ask()


def test_parameters_take_their_values_from_the_declaration(point):
    k, c = point.parameters(k=4.0, c=0.5)
    (plain,) = point.parameters("plain")
    x, _ = point.q
    point.wrench(point.solids[0], point.base.vector(-k * x - c * x.velocity + plain, 0, 0))
    eq = point.equations()
    assert [(p.name, p.value) for p in eq.system.p] == [("k", 4.0), ("c", 0.5), ("plain", 0.0)]
    np.testing.assert_allclose(eq.forces([1, 0], [2, 0]), [-5, 0])
    np.testing.assert_allclose(eq.forces([1, 0], [2, 0], p={"k": 1.0, "plain": 3.0}), [1, 0])


def test_inputs_are_zero_unless_given(point):
    F, G = point.inputs("F G")
    point.wrench(point.solids[0], point.base.vector(F, G, 0))
    eq = point.equations()
    np.testing.assert_allclose(eq.forces([0, 0], [0, 0]), [0, 0])
    np.testing.assert_allclose(eq.forces([0, 0], [0, 0], u=[3, 4]), [3, 4])


def test_outputs_are_expressions_of_the_state(point):
    x, y = point.q
    point.output("distance", bl.sqrt(x**2 + y**2))
    point.output("time", point.time)
    eq = point.equations()
    assert [y.name for y in eq.system.y] == ["distance", "time"]
    np.testing.assert_allclose(eq.system.evaluate("outputs", [3, 4], t=2.0), [5, 2])


def test_forces_may_depend_on_time(point):
    point.wrench(point.solids[0], point.base.vector(bl.sin(point.time), 0, 0))
    eq = point.equations()
    np.testing.assert_allclose(eq.forces([0, 0], [0, 0], t=np.pi / 2), [1, 0])


# ------------------------------------------------------------------ inertia-less coordinates


def test_coordinates_without_inertia_have_zero_rows_and_columns():
    s = crank_rod_disc()
    M = np.array([[entry.ref for entry in row] for row in s.equations().expressions["M"]])
    assert not M[3:, :].any()
    assert not M[:, 3:].any()
    assert M[:2, :2].all()


def test_leaving_coordinates_out_changes_nothing():
    padded = crank_rod_disc()
    full = crank_rod_disc()
    full._inertialess.clear()
    for route in CANDIDATES[:2]:
        values = random_values(padded.workspace, 51)
        by_name = {symbol.name: value for symbol, value in values.items()}
        mirrored = {symbol: by_name[symbol.name] for symbol in full.workspace}
        for ours, theirs in zip(
            padded.mass_and_forces(route), full.mass_and_forces(route), strict=True
        ):
            np.testing.assert_allclose(numbers(ours, values), numbers(theirs, mirrored), **ROUNDING)


def test_the_augmented_matrix_with_inertialess_coordinates_is_regular():
    system = crank_rod_disc().equations().system
    q, v = [0.5, -0.7, 0.2, 1.4, -0.4], [0.1] * 5
    M, Phi_v = system.evaluate("M", q, v), system.evaluate("Phi_v", q, v)
    c = len(Phi_v)
    A = np.block([[M, Phi_v.T], [Phi_v, np.zeros((c, c))]])
    assert np.linalg.matrix_rank(M) == 3
    assert np.linalg.matrix_rank(A) == 5 + c


def test_a_force_may_work_through_a_coordinate_without_inertia():
    """A solid without mass at a point that is there only for a force to act on."""
    s = bl.SymbolicSystem("probe")
    (x,) = s.coordinates("x")
    (z,) = s.coordinates("z", inertia=False)
    k, F = s.parameters(k=5.0, F=1.5)
    P = s.origin.offset("P", s.base.vector(x, 0, 0))
    tip = s.origin.offset("tip", s.base.vector(z, 0, 0))
    body = s.solid("body", at=P, base=s.base, mass=2.0)
    probe = s.solid("probe", at=tip, base=s.base, mass=0)
    s.wrench(probe, s.base.vector(F - k * (z - x), 0, 0))
    s.wrench(body, s.base.vector(k * (z - x), 0, 0))
    eq = s.equations()
    np.testing.assert_array_equal(eq.mass([0.1, 0.2]), [[2, 0], [0, 0]])
    np.testing.assert_allclose(eq.forces([0.1, 0.2], [0, 0]), [0.5, 1.0])


def test_a_coordinate_that_moves_a_mass_is_not_without_inertia():
    s = bl.SymbolicSystem("liar")
    (x,) = s.coordinates("x", inertia=False)
    s.solid("body", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=1.0)
    with pytest.raises(ModelError, match="x is declared without inertia, but it moves solid body"):
        s.equations()


# -------------------------------------------------------------------- multipliers in wrenches


def test_friction_makes_the_forces_depend_on_the_multipliers():
    """A block on a plane: the multiplier of the contact is the pressure, friction is μ times it."""
    s = bl.SymbolicSystem("sledge")
    x, z = s.coordinates("x z")
    mu, g = s.parameters(mu=0.3, g=9.81)
    P = s.origin.offset("P", s.base.vector(x, 0, z))
    sledge = s.solid("sledge", at=P, base=s.base, mass=2.0)
    s.gravity = s.base.vector(0, 0, -g)
    (contact,) = s.constrain(z, name="plane")
    # M z'' + λ = Q, so that the plane pushes up with -λ
    s.wrench(sledge, s.base.vector(mu * contact.multiplier, 0, 0), name="friction")
    system = s.equations().system
    assert [a.name for a in system["Q"].inputs] == ["t", "q", "v", "u", "p", "lam"]
    assert [a.name for a in system["M"].inputs] == ["t", "q", "v", "u", "p"]
    weight = 2.0 * 9.81
    Q = system.evaluate("Q", [0, 0], [1, 0], lam=[-weight])
    np.testing.assert_allclose(Q, [-0.3 * weight, -weight])
    np.testing.assert_allclose(system.evaluate("Q", [0, 0], [1, 0]), [0, -weight])


def test_without_multipliers_in_wrenches_no_function_takes_them():
    for build in (four_bar, rolling_disc):
        equations = build().equations()
        for name in equations.expressions:
            assert "lam" not in [a.name for a in equations.system[name].inputs]


# ----------------------------------------------------------------------- counting, reading


def test_matrices_together_take_no_more_operations_than_apart():
    for build in (four_bar, block_pendulum, crank_rod_disc):
        counts = build().equations().count()
        for names in ("M Q", "Phi_q Phi", "Phi_v dPhi", "Phi_v gamma"):
            if names in counts:
                apart = sum(counts[name].thesis for name in names.split())
                assert counts[names].thesis <= apart


def test_the_four_bar_takes_no_more_operations_than_the_best_known_correct_code():
    counts = four_bar().equations().count()
    assert counts["M Q"].thesis <= 153
    assert counts["Phi_q Phi"].thesis <= 27


def test_matrices_can_be_read():
    text = block_pendulum().equations().text("M")
    lines = dict(line.split(" = ") for line in text.splitlines())
    assert set(lines) == {"M[0, 0]", "M[0, 1]", "M[1, 0]", "M[1, 1]"}
    assert lines["M[0, 1]"] == lines["M[1, 0]"]
    assert lines["M[1, 1]"] == "Iyy_p"


def test_a_joint_function_gives_what_its_parts_give():
    eq = four_bar().equations()
    function = eq.joint("M", "Q", "gamma")
    assert function.name == "M_Q_gamma"
    q, v = FOUR_BAR_STATE["q"], FOUR_BAR_STATE["v"]
    p = eq.system._parameter_values(FOUR_BAR_PARAMETERS)
    together = function(0.0, q, v, FOUR_BAR_INPUTS, p)
    for name, found in zip(("M", "Q", "gamma"), together, strict=True):
        alone = eq.system.evaluate(name, q, v, u=FOUR_BAR_INPUTS, p=p)
        np.testing.assert_allclose(found, alone, **ROUNDING)


# ------------------------------------------------------------------------------ exporting


def started_disc() -> bl.SymbolicSystem:
    """A rolling disc held at one coordinate, with equations for where and how it starts."""
    s = rolling_disc()
    x, _, heading, spin = s.q
    s.constrain(x - bl.sin(s.time))
    s.initial(heading - 0.3, spin * bl.cos(heading))
    s.initial_velocity(spin.velocity - 2, x.velocity - heading * spin.velocity)
    return s


@pytest.mark.gcc
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(
    "build", [four_bar, crank_rod_disc, started_disc], ids=lambda b: b.__name__
)
def test_exported_c_gives_the_same_numbers(build, tmp_path: Path):
    eq = build().equations()
    header, source = eq.export("c", tmp_path)
    # the names are those of the header: each matrix, pairs of them, and everything together
    names = re.findall(r"^void (\w+)\(", header.read_text(), flags=re.M)
    library = tmp_path / "model.so"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, source, "-lm"], check=True)
    compiled = ctypes.CDLL(str(library))

    rng = np.random.default_rng(52)
    system = eq.system
    given = {
        "t": np.array([0.3]),
        "q": rng.uniform(-1, 1, len(system.q)),
        "v": rng.uniform(-1, 1, len(system.v)),
        "u": rng.uniform(-1, 1, len(system.u)),
        "p": system.parameters,
    }
    functions = [system[name] for name in eq.expressions]
    for pair in (("M", "Q"), ("Phi_q", "Phi"), ("Phi_v", "dPhi"), ("Phi_v", "gamma")):
        if all(name in eq.expressions for name in pair):
            functions.append(eq.joint(*pair))
    functions.append(eq.joint())
    if build is started_disc:
        wanted = {f"disc_Init{end}" for end in ("", "_q", "_v", "_beta")}
        assert wanted | {"disc_Phi_q_Phi", "disc_Phi_v_dPhi"} <= set(names)
    for name, function in zip(names, functions, strict=True):
        inputs = [given[a.name] for a in function.inputs]
        outputs = [np.full(a.size, np.nan) for a in function.outputs]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*inputs, *outputs)]
        getattr(compiled, name)(*pointers)
        for array, found in zip(function.outputs, outputs, strict=True):
            expected = system.evaluate(
                array.name, given["q"], given["v"], t=0.3, u=given["u"], p=given["p"]
            )
            columns = found.reshape(array.shape, order="F")
            np.testing.assert_allclose(columns, expected, **ROUNDING)


@pytest.mark.parametrize("name", ["four bar", "3 bars", "Kurbel-Schwinge", "四連桿"])
def test_a_system_of_any_name_can_be_exported(name, tmp_path: Path):
    s = bl.SymbolicSystem(name)
    (x,) = s.coordinates("x")
    s.solid("body", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=1.0)
    paths = s.equations().export("python", tmp_path)
    assert all(path.is_file() for path in paths)
    assert s.equations().system.name == name
