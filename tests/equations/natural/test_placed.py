"""Models in natural coordinates: what bodies share, and that they move as in all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.instant import Instant
from biela.analysis.joint_reactions import joint_reactions
from biela.equations.natural.implied import implied
from biela.equations.natural.placed import placed
from biela.equations.natural.spanning import completing, spanning
from biela.errors import AssemblyError, ModelError
from biela.model.joints import Joint
from tests.examples.gallery import NAMES, model, motion, system
from tests.soak.mechanisms import drawn

Floats = npt.NDArray[np.float64]
INERTIA = (0.03, 0.05, 0.04, 0.004, -0.006, 0.002)


class Walked:
    """A system evaluated by walking its graphs: nothing is compiled for one state."""

    def __init__(self, system: bl.System, t: float, u: Floats) -> None:
        self.system, self.t, self.u = system, t, u

    def __call__(self, name: str, q: Floats, v: Floats | None = None, **more: Floats) -> Floats:
        function = self.system[name]
        given = {"t": self.t, "q": q, "v": np.zeros(len(self.system.v)) if v is None else v}
        given |= {"u": self.u, "p": self.system.parameters} | more
        found = function.interpret(*(given[array.name] for array in function.inputs))
        return np.asarray(found, dtype=float)

    def accelerations(self, q: Floats, v: Floats) -> Floats:
        """M a + Φ_vᵀ λ = Q, Φ_v a = γ, by least squares."""
        M, Q = self("M", q), self("Q", q, v)
        if not self.system.multipliers:
            return np.linalg.solve(M, Q)
        rows, gamma = np.atleast_2d(self("Phi_v", q)), np.atleast_1d(self("gamma", q, v))
        m, scale = len(rows), np.abs(M).max()
        whole = np.block([[M / scale, rows.T], [rows, np.zeros((m, m))]])
        return np.linalg.lstsq(whole, np.concatenate([Q / scale, gamma]), rcond=1e-12)[0][: len(q)]


def natural_state(
    at: Walked, bodies: list[str], poses: Floats, twists: Floats, known: dict[str, float]
) -> tuple[Floats, Floats]:
    """The natural coordinates of bodies in given poses (k, 12) and twists (k, 6).

    Poses are linear in points and vectors, so that these follow from them; relative coordinates
    follow from their own equations.
    """
    natural = at.system
    rows = [natural.frames.index(body) for body in bodies]
    n = len(natural.q)
    places = [np.zeros(n), *np.eye(n)]
    every = np.array([at("poses", place)[rows].ravel() for place in places])
    offset, A = every[0], (every[1:] - every[0]).T
    R = poses[:, 3:].reshape(-1, 3, 3)
    turned = [np.cross(w, axes.T).T.ravel() for w, axes in zip(twists[:, 3:], R, strict=True)]
    rates = np.concatenate([twists[:, :3], turned], axis=1)
    own = np.abs(A).max(axis=0) > 0
    q, v = np.array([known.get(e.name, e.value) for e in natural.q]), np.zeros(n)
    q[own] = np.linalg.lstsq(A[:, own], poses.ravel() - offset, rcond=None)[0]
    v[own] = np.linalg.lstsq(A[:, own], rates.ravel(), rcond=None)[0]
    relative = ~own
    if relative.any():
        for _ in range(30):
            step = np.linalg.pinv(np.atleast_2d(at("Phi_v", q))[:, relative]) @ at("Phi", q)
            q[relative] -= step
            if np.abs(step).max() < 1e-15:
                break
        Phi_v = np.atleast_2d(at("Phi_v", q))
        v[relative] = np.linalg.pinv(Phi_v[:, relative]) @ (at("beta", q) - Phi_v @ v)
    return q, v


def compare(
    name: str, natural: bl.System, joint: bl.System, bodies: list[str], t: float,
    q: Floats, v: Floats, u: Floats,
) -> None:  # fmt: skip
    """Accelerations of all bodies in a state of joint coordinates, and in the same of natural."""
    instant = Instant(joint, t, u, joint.parameters)
    a, _ = instant.motion(q, v)
    rows = [joint.frames.index(body) for body in bodies]
    poses, twists, expected = (
        np.asarray(part)[rows]
        for part in (
            instant("poses", q),
            instant("twists", q, v),
            instant("frame_accelerations", q, v, a=a),
        )
    )
    known = {entry.name: float(x) for entry, x in zip(joint.q, q, strict=True)}
    if joint.joint_coordinates:
        values, _ = instant("joint_coordinates", q, v)
        names = [entry.name for entry in joint.joint_coordinates]
        known |= dict(zip(names, map(float, np.atleast_1d(values)), strict=True))
    at = Walked(natural, t, u)
    x, w = natural_state(at, bodies, poses, twists, known)
    rows = [natural.frames.index(body) for body in bodies]
    if natural.multipliers:
        np.testing.assert_allclose(at("Phi", x), 0.0, atol=1e-12, err_msg=name)
        missed = np.atleast_2d(at("Phi_v", x)) @ w - at("beta", x)
        np.testing.assert_allclose(missed, 0.0, atol=1e-11 * max(1.0, np.abs(w).max()))
    b = at.accelerations(x, w)
    np.testing.assert_allclose(
        at("twists", x, w)[rows], twists, atol=1e-12 * (1 + np.abs(twists).max())
    )
    found = at("frame_accelerations", x, w, a=b)[rows]
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max(), err_msg=name)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "stewart"])
def test_bodies_of_the_gallery_accelerate_as_in_joint_coordinates(name: str) -> None:
    natural, joint, run = bl.formulate(model(name), "natural"), system(name), motion(name)
    bodies = list(model(name).flattened().bodies)
    for part in (0.41,):
        k = int(part * len(run.t))
        u = np.asarray(run["u"])[k] if joint.u else joint.inputs
        state = np.asarray(run["q"])[k], np.asarray(run["v"])[k]
        compare(name, natural, joint, bodies, float(run.t[k]), *state, u)


def arm(kind: str, **settings: object) -> bl.Model:
    """A body on a joint of the kind, with a second one hinged to it."""
    m = bl.Model(f"arm on {kind}")
    first = m.body("first", mass=1.3, com=(0.1, 0.05, -0.2), inertia=INERTIA)
    second = m.body("second", mass=0.7, com=(0.0, 0.1, -0.1), inertia=INERTIA)
    i = m.ground.at(0.1, -0.2, 0.3, axis=(1, 2, -1), x_axis=(0, 1, 1))
    j = first.at(0.05, 0.1, 0.2, axis=(0, 1, 0.3), x_axis="x")
    m.joint(kind, "J", i, j, **settings)
    m.joint("revolute", "hinge", first.at(0, 0, -0.4), second.at(0, 0, 0.1), axis="x")
    return m


@pytest.mark.parametrize(
    ("kind", "settings", "rows"),
    [
        ("revolute", {}, 0),
        ("prismatic", {}, 3),
        ("cylindrical", {}, 2),
        ("universal", {}, 1),
        ("spherical", {}, 0),
        ("planar", {}, 3),
        ("helical", {"pitch": 0.3}, 3),
        ("fixed", {}, 1),
        ("free", {}, 0),
        ("point_on_line", {}, 2),
        ("point_on_curve", {"x": "0.3*cos(s)", "y": "0.2*sin(s)", "start": {"s": 0.4}}, 3),
    ],
)
def test_every_joint_of_the_library_carries_a_body_the_same(
    kind: str, settings: dict[str, object], rows: int
) -> None:
    """With as many equations as sharing does not make superfluous."""
    m = arm(kind, **settings)
    natural, joint = bl.formulate(m, "natural"), bl.formulate(m)
    own = [name for name in natural.multipliers if name.partition(".")[0] == "J"]
    assert len([name for name in own if name not in ("J.angle.angle", "J.s.law")]) == rows
    assert not [name for name in natural.multipliers if name.startswith("hinge.")]
    assert not bl.assemble(natural).redundant
    random = np.random.default_rng(4)
    instant = Instant(joint, 0.0, joint.inputs, joint.parameters)
    start = np.array([e.value for e in joint.q])
    q = instant.moved(start, 0.6 * random.uniform(-1, 1, len(joint.v)))
    compare(kind, natural, joint, ["first", "second"], 0.0, q, random.normal(size=len(joint.v)),
            joint.inputs)  # fmt: skip


def test_joints_by_sharing_count_as_the_textbook_counts() -> None:
    """A spatial four-bar: points and axes shared, six equations a body, those once that two have.

    R S S R: the crank has the fixed point and axis of its hinge and the ball; so has the rocker.
    """
    derivation = placed(model("rssr").flattened())
    lay = derivation.layout
    fixed = [name for name, e in lay.entities.items() if not any(e.free)]
    assert len(fixed) == 4  # a point and an axis on the ground, twice
    for body in derivation.naturals.values():
        assert len(body.body.basis) == 3
    shared = [e for name, e in lay.entities.items() if all(e.free) and len(e.free) == 3]
    assert len(shared) >= 2


def test_a_planar_four_bar_needs_two_points_and_three_lengths() -> None:
    m = bl.Model("four bar", plane="xz")
    m.body("crank", mass=1.0, com=(0.5, 0, 0), inertia=(0.05, 0.1, 0.05))
    m.body("coupler", mass=1.0, com=(1.0, 0, 0.2), inertia=(0.05, 0.1, 0.05))
    m.body("rocker", mass=1.0, com=(0.5, 0, 0), inertia=(0.05, 0.1, 0.05))
    b = m.bodies
    m.joint("revolute", "A", m.ground, b["crank"], axis="y")
    m.joint("revolute", "B", b["crank"].at(1, 0, 0), b["coupler"], axis="y")
    m.joint("revolute", "C", b["coupler"].at(2, 0, 0), b["rocker"].at(1.5, 0, 0), axis="y")
    m.joint("revolute", "D", b["rocker"], m.ground.at(2.2, 0, 0), axis="y")
    natural = bl.formulate(m, "natural")
    assert (len(natural.q), len(natural.multipliers)) == (4, 3)
    assert {e.unit for e in natural.q} == {"m"}
    found = bl.assemble(natural)
    assert found.mobility == 1
    M = np.asarray(natural.evaluate("M", found.q))
    np.testing.assert_array_equal(M, natural.evaluate("M", found.q + 1.0))


def test_masses_and_places_may_be_parameters() -> None:
    """The same system for other parameters, against a model written with their values."""

    def pendulum(**values: float) -> bl.Model:
        m = bl.Model("pendulum")
        for name, value in values.items():
            m.parameter(name, value)
        body = m.body("bar", mass="mass", com=(0, 0, "-l/2"), inertia=("0.04*mass", 0.1, 0.1))
        tip = m.body("tip", mass="2*mass", com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.03))
        m.joint("revolute", "A", m.ground, body, axis=(1, 1, 0))
        m.joint("spherical", "B", body.at(0, 0, "-l"), tip.at("l/4", 0, 0))
        return m

    other = {"mass": 3.0, "l": 0.7}
    written = bl.formulate(pendulum(**other), "natural")
    changed = bl.formulate(pendulum(mass=1.0, l=0.4), "natural")
    q = bl.assemble(written).q
    random = np.random.default_rng(2)
    v = random.normal(size=len(q))
    for name in ("M", "Phi", "Phi_v"):
        np.testing.assert_allclose(
            changed.evaluate(name, q, p=other), written.evaluate(name, q), atol=1e-13
        )
    instants = [
        Instant(s, 0.0, s.inputs, np.array(list(other.values()))) for s in (changed, written)
    ]
    rows = instants[0].Phi_v(q)
    v = v - np.linalg.pinv(rows) @ (rows @ v)
    np.testing.assert_allclose(
        instants[0].motion(q, v)[0], instants[1].motion(q, v)[0], rtol=1e-10, atol=1e-10
    )


def test_axes_may_be_turned_by_parameters() -> None:
    """The same tilted hinge in joint coordinates, for a tilt that is not that of the model."""
    m = bl.Model("tilted")
    m.parameter("tilt", "20 deg")
    body = m.body("bar", mass=1.0, com=(0.3, 0, 0.1), inertia=INERTIA)
    end = m.body("end", mass=0.5, com=(0.1, 0.2, 0), inertia=INERTIA)
    i = m.ground.at(0, 0, 0, angles=("xy", ("tilt", "-10 deg")))
    m.joint("revolute", "A", i, body.at(0, 0, 0, angles=("z", ("tilt",))))
    m.joint("revolute", "B", body.at(0.6, 0, 0, angles=("x", ("2*tilt",))), end)
    natural, joint = bl.formulate(m, "natural"), bl.formulate(m)
    assert not [name for name in natural.multipliers if name.startswith(("A.", "B."))]
    other = {"tilt": 0.7}
    natural, joint = (
        replace(s, p=(replace(s.p[0], value=other["tilt"]),)) for s in (natural, joint)
    )
    q, v = np.array([0.4, -0.8]), np.array([1.3, 0.6])
    compare("tilted", natural, joint, ["bar", "end"], 0.0, q, v, joint.inputs)


def test_a_body_that_does_not_fit_between_fixed_points_is_refused() -> None:
    m = bl.Model("door")
    door = m.body("door", mass=1.0, com=(0.3, 0, 0), inertia=INERTIA)
    m.joint("spherical", "low", m.ground, door)
    m.joint("spherical", "high", m.ground.at(0, 0, 2.0), door.at(0, 0, 2.1))
    with pytest.raises(
        ModelError, match=r"door can never be where its joints hold it.*off by 0\.1"
    ):
        bl.formulate(m, "natural")


@pytest.mark.parametrize("name", ["four_bar", "bennett", "scissor_lift"])
def test_driven_motions_and_reactions_are_those_of_joint_coordinates(name: str) -> None:
    """The same branch from the same start, and the same wrenches in all joints."""
    reference, found = motion(name), motion(name, "natural")
    for group in ("poses", "twists", "frame_accelerations"):
        columns = [reference.groups[group].names.index(n) for n in found.groups[group].names]
        expected = np.asarray(reference[group])[:, columns]
        np.testing.assert_allclose(found[group], expected, atol=1e-8 * np.abs(expected).max())
    whole = model(name).flattened()
    few = slice(0, None, max(1, len(found.t) // 3))
    wrenches = [joint_reactions(whole, _taken(run, few)).wrenches for run in (reference, found)]
    np.testing.assert_allclose(wrenches[1], wrenches[0], atol=1e-6 * np.abs(wrenches[0]).max())


def _taken(run: bl.Results, few: slice) -> bl.Results:
    from biela.results.channels import Channels

    groups = {
        name: Channels(run.groups[name].names, np.asarray(run[name])[few])
        for name in ("poses", "twists", "frame_accelerations", "q", "u")
        if name in run.groups
    }
    return bl.Results(run.name, np.asarray(run.t)[few], groups)


def test_a_fall_from_forces_alone_is_that_of_joint_coordinates() -> None:
    """The lamp on its springs, from where it starts to a tenth of a second later."""
    runs = [
        bl.simulate(system("balanced_lamp", c), 0.1, output=0.02, tolerance=1e-10, progress=False)
        for c in ("joint", "natural")
    ]
    names = runs[1].groups["poses"].names
    columns = [runs[0].groups["poses"].names.index(n) for n in names]
    np.testing.assert_allclose(
        runs[1]["poses"], np.asarray(runs[0]["poses"])[:, columns], atol=1e-8
    )


@pytest.mark.parametrize("name", ["watched", "plain"])
def test_a_joint_whose_reaction_is_asked_for_keeps_its_equations(name: str) -> None:
    m = arm("revolute")
    if name == "watched":
        m.sensor("reaction", "pull", joint="hinge")
    natural = bl.formulate(m, "natural")
    own = [n for n in natural.multipliers if n.startswith("hinge.")]
    assert len(own) == (5 if name == "watched" else 0)


def test_what_is_shared_implies_the_rows_that_the_textbook_leaves_out() -> None:
    m = arm("prismatic")
    slide, hinge = m.joints["J"], m.joints["hinge"]
    assert isinstance(slide, Joint) and isinstance(hinge, Joint)
    nothing = frozenset[str]()
    assert implied(m, hinge, frozenset({"point", "axis"})) == [True] * 5
    assert implied(m, hinge, frozenset({"point"})) == [True] * 3 + [False] * 2
    assert implied(m, slide, frozenset({"axis"})) == [True, True, False, False, False]
    assert not any(implied(m, slide, nothing))


def test_a_body_is_spanned_by_what_is_well_independent() -> None:
    x, y, z = np.eye(3)
    assert spanning([x, 2 * y, 3 * z], 3) == [0, 1, 2]
    # a fourth that is nearly along the first, and one without length
    assert spanning([x, x + 0.05 * y, 0 * x, y, z + x], 3) == [0, 3, 4]
    assert spanning([x, x + 0.05 * y], 3) in ([0], [1])
    own = completing([x + y], 3)
    columns = np.array([(x + y) / np.sqrt(2), *own])
    np.testing.assert_allclose(columns @ columns.T, np.eye(3), atol=1e-15)
    assert len(completing([], 3)) == 3


def test_parameters_that_flatten_a_basis_are_refused_with_the_name_of_the_body() -> None:
    m = bl.Model("three balls")
    m.parameter("w", "0.3 m")
    a, b, c = (m.body(n, mass=1.0, com=(0.2, 0.1, 0.1), inertia=(0.02, 0.03, 0.04)) for n in "abc")
    m.joint("spherical", "A", m.ground, a)
    m.joint("spherical", "B", a.at(0.5, 0, 0), b)
    m.joint("spherical", "C", a.at(0.25, "w", 0), c)
    natural = bl.formulate(m, "natural")
    q = [entry.value for entry in natural.q]
    assert np.isfinite(natural.evaluate("M", q, p={"w": 0.2})).all()
    for w in (0.0, 1e-6):
        with pytest.raises(ModelError, match=r"body a stands on .* chosen for the defaults"):
            bl.simulate(natural, 0.01, parameters={"w": w})
    assert bl.simulate(natural, 0.01, parameters={"w": 0.2}).t[-1] == 0.01


def test_a_body_is_not_assembled_as_its_mirror_image() -> None:
    m = bl.Model("pendulum")
    bob = m.body("bob", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
    m.joint("spherical", "pin", m.ground, bob.at(0, 0, 0.5))
    natural = bl.formulate(m, "natural")
    q = bl.assemble(natural).q
    # all lengths and angles between the three vectors of the body stay what they are
    mirrored = np.where([entry.name.endswith(".x") for entry in natural.q], -q, q)
    np.testing.assert_allclose(natural.evaluate("Phi", mirrored), 0, atol=1e-15)
    with pytest.raises(AssemblyError, match="bob as its mirror image only"):
        bl.assemble(natural, q=mirrored)
    assert Instant(natural, 0.0, natural.inputs, np.zeros(0)).assembled(mirrored) is None


def test_random_starts_lead_to_bodies_that_are_not_mirrored() -> None:
    case = drawn(700002)
    system = bl.formulate(case.model, "natural")
    instant = Instant(system, case.t, system.inputs, np.array([e.value for e in system.p]))
    start = bl.assemble(system, t=case.t).q
    random = np.random.default_rng(3)
    found = [instant.assembled(start + 0.25 * random.normal(size=len(start))) for _ in range(24)]
    kept = [q for q in found if q is not None]
    assert 0 < len(kept) < len(found)
    for q in kept:
        R = np.asarray(instant("poses", q))[:, 3:].reshape(-1, 3, 3)
        np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-9)
