"""Equations as blocks: looped, unrolled, and those of the formulation of whole mechanisms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.code import Function
from biela.equations.blocks import ReferenceBlocks, reference_blocks, unrolled
from biela.equations.system import System
from biela.errors import ModelError

INERTIA = (0.03, 0.05, 0.04, 0.004, -0.006, 0.002)
FOLDER = Path(__file__).parents[2] / "examples" / "mechanisms"
GALLERY = ("delta", "double_wishbone", "geared_five_bar", "screw_press", "stewart", "theo_jansen")


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels by walking their graph: hundreds of them need not be compiled to be compared."""

    def mapped(function: Function, *arguments: np.ndarray, threads: int = 1) -> object:
        rows = [function.interpret(*row) for row in zip(*arguments, strict=True)]
        if len(function.outputs) == 1:
            return np.array(rows)
        return tuple(np.array(part) for part in zip(*rows, strict=True))

    monkeypatch.setattr(Function, "map", mapped)


def joined(kind: str, *, to_ground: bool, **settings: object) -> bl.Model:
    """Two bodies, one of them on a joint of the kind, to the ground or to the other."""
    m = bl.Model(f"joined by {kind}")
    first = m.body("first", mass=1.3, com=(0.1, 0.05, -0.2), inertia=INERTIA)
    second = m.body("second", mass=0.7, com=(0.0, 0.1, -0.1), inertia=INERTIA)
    before = m.ground if to_ground else second
    i = before.at(0.1, -0.2, 0.3, axis=(1, 2, -1), x_axis=(0, 1, 1))
    j = first.at(0.05, 0.1, 0.2, axis=(0, 1, 0.3), x_axis="x")
    m.joint(kind, "J", i, j, **settings)
    m.joint("revolute", "hinge", first.at(0, 0, -0.4), second.at(0, 0, 0.1), axis="y")
    return m


def dense(blocks: ReferenceBlocks, values: np.ndarray) -> np.ndarray:
    J = np.zeros((len(blocks.rows), blocks.nv))
    np.add.at(J, (blocks.indices[0], blocks.indices[1]), values)
    return J


def state(blocks: ReferenceBlocks, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    q = blocks.moved(blocks.start, random.uniform(-0.5, 0.5, blocks.nv))
    return q, random.uniform(-1, 1, blocks.nv), random.uniform(-1, 1, len(blocks.rows))


def check_against(system: System, blocks: ReferenceBlocks, seed: int = 0, t: float = 0.3) -> None:
    """All that blocks answer, at a random state, is what the whole formulation answers."""
    q_names, v_names = list(blocks.coordinate_names), list(blocks.velocity_names)
    assert sorted(q_names) == sorted(e.name for e in system.q)
    assert sorted(v_names) == sorted(e.name for e in system.v)
    assert sorted(blocks.rows) == sorted(system.multipliers)
    in_q = [q_names.index(e.name) for e in system.q]
    in_v = [v_names.index(e.name) for e in system.v]
    in_rows = [list(blocks.rows).index(name) for name in system.multipliers]
    q, v, lam = state(blocks, seed)
    given = {"q": q[in_q], "v": v[in_v], "lam": lam[in_rows], "t": t, "u": system.inputs}
    given["p"] = system.parameters

    def expected(what: str) -> np.ndarray:
        function = system[what]
        return np.atleast_1d(function.interpret(*(given[a.name] for a in function.inputs)))

    def same(found: np.ndarray, wanted: np.ndarray) -> None:
        assert found.shape == wanted.shape
        scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
        np.testing.assert_allclose(found, wanted, atol=2e-13 * scale, rtol=0)

    if len(blocks.rows):
        Phi, entries = blocks.position(q, t)
        same(Phi[in_rows], expected("Phi"))
        same(dense(blocks, entries)[in_rows][:, in_v], expected("Phi_v"))
        same(blocks.beta(q, t)[in_rows], expected("beta"))
        same(blocks.gamma(q, v, t)[in_rows], expected("gamma"))
    same(blocks.Q(q, v, t, lam=lam)[in_v], expected("Q"))
    M = np.zeros((blocks.nv, blocks.nv))
    width = blocks.widths[1]
    for k, block in enumerate(blocks.M()):
        M[width * k : width * (k + 1), width * k : width * (k + 1)] = block
    same(M[np.ix_(in_v, in_v)], expected("M"))
    if "rates" in system:
        same(blocks.rates(q, v)[in_q], expected("rates"))
    if len(blocks.outputs):
        names = list(blocks.outputs)
        in_y = [names.index(e.name) for e in system.y]
        same(blocks.y(q, v, t, lam=lam)[in_y], expected("outputs"))


def check(m: bl.Model, seed: int = 0) -> None:
    check_against(bl.formulate(m, "reference"), reference_blocks(m), seed)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("revolute", {}),
        ("prismatic", {}),
        ("cylindrical", {}),
        ("universal", {}),
        ("spherical", {}),
        ("planar", {}),
        ("helical", {"pitch": 0.3}),
        ("fixed", {}),
        ("free", {}),
        ("point_on_line", {}),
        ("distance", {"length": 0.4}),
        ("dot", {"a": "x", "b": "-y", "value": 0.3}),
        ("in_plane", {"normal": "y", "offset": "3 mm"}),
        ("coordinate_difference", {"along": "y", "value": 0.2}),
        ("parallel_axes", {}),
        ("point_on_curve", {"x": "0.3*cos(s)", "y": "0.2*sin(s)", "z": "0.1*s"}),
        ("point_on_curve", {"points": [[0, 0, 0], [0.1, 0, 0], [0.2, 0.1, 0], [0.3, 0.1, 0.1]]}),
    ],
)
def test_a_joint_has_the_rows_of_the_whole_formulation(kind: str, settings: dict) -> None:
    check(joined(kind, to_ground=kind in ("revolute", "helical", "distance"), **settings))


def two_shafts() -> bl.Model:
    """Shafts and slides on one carrier: what gears, drivers and forces along joints act on."""
    m = bl.Model("two shafts")
    m.parameter("k", 3.0)
    carrier = m.body("carrier", mass=1.3, com=(0.1, 0.05, -0.2), inertia=INERTIA)
    left = m.body("left", mass=0.7, com=(0.0, 0.1, -0.1), inertia=INERTIA)
    right = m.body("right", mass=0.4, com=(0.02, 0.0, 0.1), inertia=INERTIA)
    slide = m.body("slide", mass=0.9, com=(0.0, 0.03, 0.1), inertia=INERTIA)
    m.joint("revolute", "arm", m.ground.at(0.1, 0, 0), carrier.at(0, 0.1, 0), axis="y")
    m.joint("revolute", "A", carrier.at(0.2, 0, 0, axis=(1, 1, 0)), left)
    m.joint("revolute", "B", carrier.at(-0.2, 0.1, 0), right.at(0.1, 0, 0), axis="z")
    m.joint("prismatic", "C", carrier.at(0, 0, 0.3), slide, axis="x")
    return m


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("rotary", {"coordinate": "A", "law": "0.3 + 2*t + 0.1*sin(k*t)"}),
        ("translational", {"coordinate": "C.displacement", "law": ([0, 1, 2, 3], [0, 1, 3, 2])}),
        ("cosine", {"i": "left", "j": "right", "law": "1 + t^2"}),
        ("distance", {"i": "left", "j": "right", "law": "0.4 + 0.1*t"}),
        ("distance", {"i": "left", "j": "right", "law": 0.4}),
        (
            "orientation",
            {"marker": "left", "axes": "zyx", "first": "t", "second": 0.2, "third": "t^2"},
        ),
        ("path", {"marker": "left", "x": "t", "z": "cos(t)", "i": "right"}),
        ("position", {"marker": "right", "axis": "y", "law": "0.1*t"}),
    ],
)
def test_a_driver_has_the_rows_of_the_whole_formulation(kind: str, settings: dict) -> None:
    m = two_shafts()
    m.driver(kind, "D", **settings)
    check(m)


@pytest.mark.usefixtures("interpreted")
def test_couplings_count_turns_for_all_that_follows() -> None:
    m = two_shafts()
    m.joint("gear", "gears", first="A.angle", second="B.angle", ratio=-2.5, phase=0.3)
    m.joint("rack_pinion", "rack", pinion="A.angle", rack="C", radius="20 mm")
    m.driver("rotary", "D", coordinate="B", law="2*t")
    m.force("torsional", "T", coordinate="A", stiffness=3.0, damping=0.2)
    check(m)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (
            "spring_damper",
            {
                "i": "left",
                "j": "right",
                "stiffness": "k",
                "length": 0.2,
                "damping": 0.4,
                "force": "3*t",
            },
        ),
        ("spring_damper", {"i": "left", "j": "ground", "stiffness": 100.0}),
        (
            "spring_damper",
            {
                "i": "left",
                "j": "right",
                "length": 0.1,
                "only": "tension",
                "characteristic": [(0, 0), (0.1, 2), (0.3, 9)],
            },
        ),
        (
            "bushing",
            {
                "i": "left",
                "j": "right",
                "stiffness": (1, 2, 3),
                "damping": (0.1, 0.2, 0.3),
                "rest": (0.1, 0, 0),
                "torsional_stiffness": ("k", 5, 6),
            },
        ),
        ("torsional", {"coordinate": "A.angle", "stiffness": 2.0, "rest": 0.1, "force": "t"}),
        ("torsional", {"coordinate": "A.angle", "damping": 2.0}),
        ("axial", {"coordinate": "C.displacement", "stiffness": 2.0, "damping": 0.3}),
        ("actuator", {"coordinate": "A", "value": 2.5, "limit": 3.0}),
        ("actuator", {"coordinate": "C", "law": "2*t", "gear": 3.0}),
        ("drag", {"marker": "left", "area": 0.3, "coefficient": 1.1, "wind_x": "3*t"}),
        ("friction", {"coordinate": "A", "viscous": 0.1, "kinetic": 0.3, "static": 0.5}),
        ("friction", {"coordinate": "B", "coefficient": 0.2, "radius": 0.01, "span": 0.1}),
        (
            "stop",
            {"coordinate": "B", "stiffness": 100.0, "lower": -0.05, "upper": 0.01, "damping": 1.0},
        ),
        (
            "wrench",
            {"marker": "left", "fx": "2*t", "mz": 3.0, "along": "left", "reaction": "right"},
        ),
    ],
)
def test_a_force_acts_as_in_the_whole_formulation(kind: str, settings: dict) -> None:
    m = two_shafts()
    m.force(kind, "F", **settings)
    check(m)


@pytest.mark.usefixtures("interpreted")
def test_sensors_read_as_in_the_whole_formulation() -> None:
    m = two_shafts()
    m.sensor("joint", "encoder", coordinate="A")
    m.sensor("joint", "way", coordinate="C")
    m.sensor("point", "tip", marker="left")
    m.sensor("pose", "pose", marker="left", i="right")
    m.sensor("distance", "gap", i="left", j="right", rate=True)
    m.sensor("angle", "angle", i="carrier", j="right", about="z")
    m.sensor("reaction", "load", joint="B")
    m.sensor("expression", "work", text="k*B.angle + C.displacement.rate*t")
    check(m)


def planar(plane: str) -> bl.Model:
    """A slider-crank with a spring, moved out of the ground plane."""
    normal = {"xy": "z", "xz": "y", "yz": "x"}[plane]
    m = bl.Model("slider crank", plane=plane)
    out = 0.05

    def at(body: object, a: float, b: float, **more: object) -> object:
        place = dict(zip(plane, (a, b), strict=True)) | {normal: out}
        return body.at(*(place[axis] for axis in "xyz"), **more)

    crank = m.body("crank", mass=1.0, com=(0.0, 0.0, 0.0), inertia=INERTIA)
    rod = m.body("rod", mass=1.5, inertia=INERTIA)
    block = m.body("block", mass=0.5, inertia=INERTIA)
    m.joint("revolute", "A", at(m.ground, 0, 0), at(crank, 0, 0), axis=normal)
    m.joint("revolute", "B", at(crank, 0.2, 0), at(rod, 0, 0), axis=normal)
    m.joint("revolute", "C", at(rod, 0.5, 0.1), at(block, 0, 0), axis=normal)
    along = tuple({plane[0]: 0.8, plane[1]: 0.6}.get(axis, 0.0) for axis in "xyz")
    m.joint("prismatic", "D", m.ground, block, axis=along)
    m.force(
        "spring_damper",
        "S",
        i=at(crank, 0.1, 0),
        j=at(m.ground, 0.4, 0.3),
        stiffness=9.0,
        length=0.1,
    )
    m.force("torsional", "T", coordinate="B", stiffness=0.4)
    m.driver("rotary", "motor", coordinate="A", law="2*t")
    m.sensor("point", "tip", marker=at(rod, 0.1, 0.2))
    return m


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("plane", ["xy", "xz", "yz"])
def test_a_planar_model_has_three_freedoms_a_body_and_no_rows_across(plane: str) -> None:
    m = planar(plane)
    check(m)
    assert len(reference_blocks(m).rows) == 2 + 2 + 2 + 2 + 1 + 1  # with B.angle, that is counted


def test_what_can_never_be_fulfilled_in_the_plane_is_named() -> None:
    m = bl.Model("apart", plane="xy")
    crank = m.body("crank", mass=1.0, position=(0, 0, 0.1))
    m.joint("revolute", "A", m.ground, crank)
    with pytest.raises(ModelError, match=r"joint A can never be fulfilled.*equation z"):
        reference_blocks(m)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", GALLERY)
def test_mechanisms_of_the_gallery_are_the_same_as_blocks(name: str) -> None:
    check(bl.load_model(FOLDER / f"{name}.toml"))


def test_unrolled_blocks_are_the_looped_ones() -> None:
    m = two_shafts()
    m.joint("gear", "gears", first="A.angle", second="B.angle", ratio=-2.5)
    m.driver("rotary", "D", coordinate="arm", law="0.3 + 2*t")
    blocks = reference_blocks(m)
    q, v, _ = state(blocks, 3)
    ws = bl.Workspace("whole")
    known = {
        "q": [ws.parameter(f"q{k}") for k in range(blocks.nq)],
        "v": [ws.parameter(f"v{k}") for k in range(blocks.nv)],
        "t": [ws.time],
    }
    laws = unrolled(blocks.laws, known, {name: blocks.law_count for name in ("w", "dw", "ddw")})
    sizes = {"Phi": len(blocks.rows), "Phi_v": blocks.indices.shape[1]}
    found = unrolled(blocks.positions, {**known, **laws}, sizes)
    found |= unrolled(blocks.accelerations, {**known, **laws}, {"gamma": len(blocks.rows)})
    whole = Function("whole", known, found)
    Phi, Phi_v, gamma = whole.interpret(q, v, [0.3])
    np.testing.assert_allclose(Phi, blocks.Phi(q, 0.3), atol=1e-14)
    np.testing.assert_allclose(Phi_v, blocks.Phi_v(q, 0.3), atol=1e-14)
    np.testing.assert_allclose(gamma, blocks.gamma(q, v, 0.3), atol=1e-13)


def test_joints_that_differ_by_numbers_only_share_a_kernel() -> None:
    m = bl.Model("screws")
    for k in range(5):
        nut = m.body(f"nut{k}", mass=1.0, inertia=INERTIA)
        i = m.ground.at(0.1 * k, 0.3, 0.2)
        m.joint("helical", f"J{k}", i, nut.at(0.1, 0.02 * k, 0.3), pitch=0.1 + 0.01 * k)
        m.driver("rotary", f"D{k}", coordinate=f"J{k}", law=f"{0.3 * k} + t")
    blocks = reference_blocks(m)
    assert [len(block) for block in blocks.positions] == [5, 5, 5]  # rows, turns, drivers
    check_against(bl.formulate(m, "reference"), blocks)


def cell(plane: str | None = None) -> bl.Model:
    """A driven four-bar whose lengths are parameters."""
    m = bl.Model("cell", plane=plane)
    for name, value in (("a", 0.1), ("b", 0.3), ("c", 0.25), ("phase", 0.4)):
        m.parameter(name, value)
    crank = m.body("crank", mass="2*a", com=("a/2", 0, 0), inertia=INERTIA)
    coupler = m.body("coupler", mass=0.4, com=("b/2", 0, 0), inertia=INERTIA)
    rocker = m.body("rocker", mass=0.5, com=("c/2", 0, 0), inertia=INERTIA)
    m.joint("revolute", "A", m.ground, crank, axis="z")
    m.joint("revolute", "B", crank.at("a"), coupler, axis="z", start=0.36)
    m.joint("revolute", "C", coupler.at("b"), rocker.at("c"), axis="z", start=0.97)
    m.joint("revolute", "D", m.ground.at(0.35), rocker, axis="z")
    rocker.marker("tip", ("c", 0.02, 0), axis="z")
    m.driver("rotary", "motor", coordinate="A", law="phase + 2*t")
    m.force("spring_damper", "S", i=m.ground.at(0.1, 0.2), j=rocker.at("c/3"), stiffness=50.0)
    return m


def arrays(plane: str | None) -> dict[str, bl.Model]:
    found = {}
    side = bl.Model("side by side", plane=plane)
    side.parameter("shared", 0.31)
    side.part(
        "cell",
        cell(plane),
        3,
        shift=(0, 0.5, 0),
        orientation=("z", (0.3,)),
        parameters={"a": [0.1, 0.11, 0.12], "b": "shared", "phase": [0.1, 0.2, 0.3]},
    )
    found["side by side"] = side
    chain = bl.Model("chain", plane=plane)
    chain.part("cell", cell(plane), 3, link="rocker.tip", parameters={"c": [0.25, 0.26, 0.27]})
    found["chain"] = chain
    held = bl.Model("held", plane=plane)
    held.part(
        "cell",
        cell(plane),
        3,
        shift=(0, 0.5, 0),
        between=[
            (
                "spherical" if plane is None else "distance",
                "rocker.tip",
                "rocker",
                {} if plane is None else {"length": 0.4},
            )
        ],
    )
    rod = held.body("rod", mass=0.3, inertia=INERTIA, position=(0.1, 0, 0))
    held.joint("revolute", "R", "cell[1].rocker.tip", rod, axis="z")
    held.joint("gear", "G", first="cell[0].A", second="cell[2].D", ratio=2.0)
    held.driver("rotary", "motor", coordinate="R", law="t")
    found["held"] = held
    return found


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("name", ["side by side", "chain", "held"])
def test_arrays_are_what_they_are_written_out(name: str, plane: str | None) -> None:
    m = arrays(plane)[name]
    blocks = reference_blocks(m)
    assert len(blocks.world.populations) == 2  # it was not flattened
    check_against(bl.formulate(m, "reference"), blocks)


def test_arrays_make_no_object_an_instance() -> None:
    m = bl.Model("many", plane="xy")
    m.part(
        "cell", cell("xy"), 5000, shift=(0, 0.5, 0), parameters={"a": np.linspace(0.1, 0.12, 5000)}
    )
    blocks = reference_blocks(m)
    assert (blocks.nv, len(blocks.rows)) == (45000, 45000)
    assert blocks.bodies[14999] == "cell[4999].rocker"
    assert sum(len(block) for block in blocks.positions) == 25000
    assert len(blocks.positions) < 8
