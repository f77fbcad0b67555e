"""Exported simulators for real time: compiled, run, and their instructions counted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.formulations import Options
from biela.analysis.realtime import export_simulator
from biela.analysis.realtime.kernels import kernels
from biela.analysis.realtime.step import rk4_projected_step
from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine
from biela.errors import ExportError, ModelError
from biela.model.shapes import Cylinder
from examples.mechanisms.double_parallelogram import double_parallelogram
from examples.mechanisms.rolling_disc import rolling_disc
from examples.symbolic.four_bar import four_bar
from examples.symbolic.stewart import stewart
from tests.simulators_in_c import FLAGS, CompiledSimulator, run

pytestmark = pytest.mark.gcc

NOT_FINITE, CONSTRAINT_VIOLATED, ANGLE_TOO_LARGE = 1, 2, 4
START = {"theta1": 1.0, "theta2": -1.8, "theta3": 1.6}
FORCES = {"Fx2": 3.0, "My3": -20.0}
MECHANISMS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "four_bar": (four_bar, {"q": START, "v": {"dtheta1": 2.0}, "inputs": FORCES}),
    "rolling_disc": (rolling_disc, {}),
    "double_parallelogram": (double_parallelogram, {}),
    "stewart": (stewart, {"inputs": {f"F{k}": 100.0 * k for k in range(1, 7)}}),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: Any) -> Callable[[str], CompiledSimulator]:
    """The mechanisms, each exported and compiled once and back at its start."""
    made: dict[str, CompiledSimulator] = {}

    def get(name: str) -> CompiledSimulator:
        if name not in made:
            make, choices = MECHANISMS[name]
            # the platform is long: what takes the compiler's time is left out
            level = "-O1" if name == "stewart" else "-O2"
            made[name] = CompiledSimulator(make(), tmp_path_factory.mktemp(name), level, **choices)
        made[name].library.start()
        return made[name]

    return get


def in_process(model: Any, steps: int, integrator: Any = "rk4", **choices: Any) -> Any:
    names = ("formulation", "options")
    made = {k: choices.pop(k) for k in names if k in choices}
    simulator = bl.Simulator(model, integrator=integrator, **made)
    return simulator.run(steps * 1e-3, step=1e-3, output=1e-3, progress=False, **choices)


# --- the same motion --------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_exported_simulator_moves_as_the_run_in_process(
    name: str, compiled: Callable[[str], CompiledSimulator]
) -> None:
    make, choices = MECHANISMS[name]
    steps = 100
    expected = in_process(make(), steps, **choices)
    simulator = compiled(name)
    found = simulator.trajectory(steps)
    states = np.hstack([expected.q, expected.v])
    assert np.ptp(states, axis=0).max() > 0.01
    # nothing but the rounding of fused multiply-adds, over a hundred steps
    assert found == pytest.approx(states, rel=1e-12, abs=1e-12 * np.abs(states).max())
    assert simulator.t == pytest.approx(expected.t[-1], rel=1e-15)
    assert simulator.library.status() == 0
    assert simulator.library.counted(0) == steps


def test_the_step_in_process_gives_the_same_bits(
    compiled: Callable[[str], CompiledSimulator],
) -> None:
    make, choices = MECHANISMS["double_parallelogram"]
    system = make().equations().system
    made = kernels(system, "multipliers", Options(), ("q",), 0.0, {**choices}, classical=True)
    native = {name: f.compiled(reproducible=True) for name, f in made.functions.items()}
    simulator = compiled("double_parallelogram")
    size = made.hoisted.size
    p = np.array(simulator.library.given()[:size])
    assert p == pytest.approx(
        made.hoisted.complete(np.concatenate([made.start.p, made.start.u])), rel=1e-15
    )
    t, x = np.zeros(1), made.formulation.state(0.0, made.start.q, made.start.v, p)
    work, residuals = np.zeros((5, made.n)), np.zeros(2)
    stage, end = np.zeros(2 * made.n + 1), np.zeros(made.n + 2)
    for _ in range(50):
        rk4_projected_step(
            *(made.n, size, 1e-3, t, x, p, native["f"], native["last"], work, stage, end),
            residuals,
        )
        assert simulator.step() == 0
    assert simulator.x.tobytes() == x.tobytes()
    assert list(residuals) == simulator.library.residuals()[:2]
    assert residuals.max() > 0


def test_the_last_slope_projects_as_two_projections_do() -> None:
    system, place = stewart().equations().system, (0.0, MECHANISMS["stewart"][1])
    shared = kernels(system, "multipliers", Options(), (), *place, classical=True)
    apart = kernels(system, "multipliers", Options(), (), *place)
    start, h = shared.start, 1e-3
    given = np.concatenate([start.p, start.u])
    p, q = shared.hoisted.complete(given), apart.hoisted.complete(given)
    rng = np.random.default_rng(0)
    x = np.concatenate([start.q, start.v])
    # a state that misses its constraints as after a step, reached from one nearby
    reached = x + 1e-7 * rng.standard_normal(len(x))
    stage = reached + 1e-6 * rng.standard_normal(len(x))
    end = np.asarray(shared.functions["last"]([0.0], [*stage, *reached, h], p))
    slope = np.asarray(apart.functions["f"]([0.0], stage, q))
    expected = reached + h / 6 * slope
    missed = []
    for name in ("project_q", "project_v"):
        *expected, size = apart.functions[name]([0.0], expected, q)
        missed.append(size)
    # the matrices are 1e-6 apart, the corrections are 1e-7 to 1e-3 large
    assert end[: len(x)] == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert np.abs(np.array(expected) - reached - h / 6 * slope).max() > 1e-7
    assert end[len(x)] == pytest.approx(missed[0], rel=1e-9)
    assert end[len(x) + 1] == pytest.approx(missed[1], rel=1e-2)
    Phi = system.evaluate("Phi", end[: len(start.q)], u=start.u, p=start.p)
    assert np.abs(Phi).max() < 1e-4 * missed[0]


def test_inputs_are_held_until_others_are_given(
    compiled: Callable[[str], CompiledSimulator],
) -> None:
    simulator = compiled("four_bar")
    held = simulator.trajectory(20)
    simulator.library.start()
    again = simulator.trajectory(20, inputs=[3.0, 0.0, 0.0, 0.0, 0.0, -20.0])
    assert again.tobytes() == held.tobytes()
    choices = {**MECHANISMS["four_bar"][1], "inputs": {"Fz2": -50.0, "Fx3": 5.0}}
    expected = in_process(four_bar(), 20, **choices)
    simulator.library.start()
    other = simulator.trajectory(20, inputs=[0.0, -50.0, 0.0, 5.0, 0.0, 0.0])
    assert other == pytest.approx(np.hstack([expected.q, expected.v]), rel=1e-12)
    assert np.abs(other - held).max() > 1e-4


def test_parameters_can_be_changed(tmp_path: Path) -> None:
    longer = {"l": 0.5, "M": 2.0}
    simulator = CompiledSimulator(double_parallelogram(), tmp_path / "a")
    other = CompiledSimulator(double_parallelogram(), tmp_path / "b", parameters=longer, name="b2")
    simulator.set_parameters([0.5, 0.5, 1.0, 2.0, 9.81])
    assert simulator.trajectory(50).tobytes() == other.trajectory(50).tobytes()


@pytest.mark.parametrize(
    ("integrator", "formulation"),
    [
        ("semi_implicit_euler", "multipliers"),
        ("heun", "baumgarte"),
        ("explicit_euler", "multipliers"),
        ("nystrom", "multipliers"),
    ],
)
def test_other_integrators_and_formulations(
    integrator: str, formulation: str, tmp_path: Path
) -> None:
    choices = {**MECHANISMS["four_bar"][1], "formulation": formulation}
    everything = ("q", "v", "a", "lam")
    simulator = CompiledSimulator(
        four_bar(), tmp_path, integrator=integrator, outputs=everything, **choices
    )
    simulator.trajectory(40)
    expected = in_process(four_bar(), 40, integrator, **choices)
    for found, group in zip(simulator.outputs(3, 3, 3, 2), everything, strict=True):
        rows = getattr(expected, group)
        assert found == pytest.approx(rows[-1], rel=1e-9, abs=1e-9 * np.abs(rows).max()), group


def test_outputs_are_those_of_the_model(compiled: Callable[[str], CompiledSimulator]) -> None:
    simulator = compiled("rolling_disc")
    simulator.trajectory(30)
    expected = in_process(rolling_disc(), 30)
    q, v, y = simulator.outputs(5, 5, 3)
    assert q == pytest.approx(expected.q[-1], rel=1e-12, abs=1e-13)
    assert v == pytest.approx(expected.v[-1], rel=1e-12, abs=1e-13)
    assert y == pytest.approx(expected.y[-1], rel=1e-12)


def test_a_body_without_parameters_inputs_or_constraints(tmp_path: Path) -> None:
    s = bl.SymbolicSystem("falling")
    (z,) = s.coordinates("z")
    point = s.origin.offset("P", s.base.vector(0, 0, z))
    s.solid("stone", at=point, base=s.base, mass=2.0, inertia=s.base.inertia(1.0, 1.0, 1.0))
    s.gravity = s.base.vector(0, 0, -10.0)
    simulator = CompiledSimulator(s, tmp_path, integrator=_midpoint, v=[1.0], t=2.0)
    x = simulator.trajectory(100, dt=0.01)[-1]
    assert x == pytest.approx([1.0 - 5.0, 1.0 - 10.0], rel=1e-12)
    assert simulator.t == pytest.approx(3.0, rel=1e-15)


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="2, n")
def _midpoint(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """Take a step of the midpoint rule."""
    f(t, x, p, work[0])
    for i in range(n):
        work[1, i] = x[i] + h / 2.0 * work[0, i]
    t[0] += h / 2.0
    f(t, work[1], p, work[0])
    for i in range(n):
        x[i] += h * work[0, i]


# --- real time --------------------------------------------------------------------------------

_STATES = """\
#include <math.h>
#include "{name}.h"
static {name}_t s;
static double q[{q}], v[{v}];
static void place(double turn, double speed) {{
  for (int i = 0; i < {q}; i++) q[i] = q[i] + turn*(i + 1);
  for (int i = 0; i < {v}; i++) v[i] = v[i] + speed*(i + 1);
  {name}_set_state(&s, 0.0, q, v);
}}
int main(void) {{
  {name}_init(&s);
  {name}_step(&s, 1e-3, 0);
  place(0.0, 0.0);
  {name}_step(&s, 1e-3, 0);
  place(0.4, -3.0);
  {name}_step(&s, 1e-3, 0);
  place(1e4, 1e3);
  {name}_step(&s, 1e-3, 0);
  place(1e8, 0.0);
  {name}_step(&s, 1e-3, 0);
  place(NAN, NAN);
  {name}_step(&s, 1e-3, 0);
  return 0;
}}
"""


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_step_takes_the_same_instructions_in_every_state(
    name: str, compiled: Callable[[str], CompiledSimulator]
) -> None:
    simulator = compiled(name)
    folder, system = simulator.folder, MECHANISMS[name][0]().equations().system
    text = _STATES.format(name=name, q=len(system.q), v=len(system.v))
    (folder / "states.c").write_text(text, encoding="utf-8")
    run(["gcc", "-std=c99", "-o", "states", "states.c", f"{name}.o", "-lm"], folder)
    run(
        [
            *("valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=calls"),
            *(f"--toggle-collect={name}_step", f"--dump-after={name}_step", "./states"),
        ],
        folder,
    )
    counts = []
    for path in sorted(folder.glob("calls.*")):
        found = re.search(r"^summary: (\d+)", path.read_text(encoding="utf-8"), re.M)
        counts += [int(found[1])] if found and int(found[1]) else []
    # that of init, at the start and after it, elsewhere, far away, too far away, nowhere
    assert len(counts) == 7
    assert len(set(counts)) == 1, counts
    assert counts[0] > 1000


@pytest.mark.parametrize("name", ["four_bar", "stewart"])
def test_the_object_asks_for_nothing_that_allocates(
    name: str, compiled: Callable[[str], CompiledSimulator]
) -> None:
    simulator = compiled(name)
    asked = set(re.findall(r"U (\w+)", run(["nm", "-u", f"{name}.o"], simulator.folder)))
    assert asked <= {"memset", "memcpy", "_GLOBAL_OFFSET_TABLE_"}


def test_the_program_has_no_page_faults_and_prints_its_worst_case(
    compiled: Callable[[str], CompiledSimulator],
) -> None:
    folder = compiled("four_bar").folder
    run(["make", "-B"], folder)
    # a page fault of its own comes in every run, one of the system's does not
    reports = [run(["./run_four_bar", "100000"], folder) for _ in range(3)]
    faults = [int(re.search(r"page faults (\d+)", r)[1]) for r in reports]
    assert min(faults) == 0
    for word in (
        "median",
        "p99 ",
        "p99.9",
        "worst case",
        "real time",
        "machine",
        "status 0, 0 refused",
    ):
        assert word in reports[0]
    bars = [int(n) for n in re.findall(r"^ *\d+ +(\d+)  #", reports[0], re.M)]
    assert sum(bars) == 100_000


def test_the_program_writes_the_motion_and_keeps_pace(
    compiled: Callable[[str], CompiledSimulator],
) -> None:
    simulator = compiled("double_parallelogram")
    run(["make", "-B"], simulator.folder)
    command = ["./run_double_parallelogram", "50", "--paced", "--csv", "motion.csv"]
    report = run([*command, "--rounds", "2"], simulator.folder)
    assert "best of 2 rounds" in report
    assert "overruns" in report
    written = np.loadtxt(simulator.folder / "motion.csv", delimiter=",", skiprows=1)
    assert written[:, 1:].tobytes() == simulator.trajectory(50).tobytes()
    assert written[:, 0] == pytest.approx(1e-3 * np.arange(51), rel=1e-15)
    head = (simulator.folder / "motion.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head.startswith("t,theta0,theta1,theta2,phi,dtheta0")


# --- the status word --------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e300])
def test_nonsense_is_refused_and_leaves_the_state_alone(
    bad: float, compiled: Callable[[str], CompiledSimulator]
) -> None:
    simulator = compiled("four_bar")
    simulator.trajectory(5)
    before = simulator.x
    assert simulator.step(inputs=[0.0, bad, 0.0, 0.0, 0.0, bad]) & NOT_FINITE
    assert simulator.x.tobytes() == before.tobytes()
    assert simulator.t == pytest.approx(6e-3, rel=1e-15)
    assert simulator.step(dt=math.nan, inputs=[0.0] * 6) & NOT_FINITE
    assert simulator.t == pytest.approx(6e-3, rel=1e-15)
    assert simulator.step(inputs=[0.0] * 6) == 0
    assert np.abs(simulator.x - before).max() > 0
    assert simulator.library.status() & NOT_FINITE
    assert [simulator.library.counted(k) for k in (0, 1)] == [6, 2]


def test_a_state_off_the_constraints_is_told(
    compiled: Callable[[str], CompiledSimulator],
) -> None:
    simulator = compiled("four_bar")
    q, v = np.split(simulator.x, 2)
    q[1] += 0.05
    simulator.place(0.0, q, v)
    assert simulator.step() == CONSTRAINT_VIOLATED
    assert max(simulator.library.residuals()[:2]) > 0.1
    # Newton's corrections, one a step, bring it back
    assert [simulator.step() for _ in range(4)][-1] == 0


def test_an_angle_too_large_is_told_before_its_sine_is_lost(
    compiled: Callable[[str], CompiledSimulator],
) -> None:
    simulator = compiled("rolling_disc")
    q, v = np.split(simulator.x, 2)
    lost = NOT_FINITE | ANGLE_TOO_LARGE
    for turns, status in ((15_000, 0), (20_000, ANGLE_TOO_LARGE), (200_000, lost)):
        q[2] = 2 * math.pi * turns
        simulator.place(0.0, q, v)
        assert simulator.step() & lost == status


# --- the files --------------------------------------------------------------------------------


def test_the_header_serves_cpp(compiled: Callable[[str], CompiledSimulator]) -> None:
    simulator = compiled("four_bar")
    text = '#include "four_bar.h"\n'
    text += "int main() { static four_bar_t s; four_bar_init(&s);\n"
    text += "  return four_bar_step(&s, FOUR_BAR_STEP, nullptr) != FOUR_BAR_OK; }\n"
    (simulator.folder / "user.cpp").write_text(text, encoding="utf-8")
    warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
    run(["g++", "-std=c++11", *warnings, "-o", "user", "user.cpp", "four_bar.o"], simulator.folder)
    run(["./user"], simulator.folder)


def test_the_c_text_passes_more_warnings_than_asked_for(
    compiled: Callable[[str], CompiledSimulator],
) -> None:
    more = ["-Wshadow", "-Wconversion", "-Wstrict-prototypes", "-Wmissing-prototypes"]
    for name in ("four_bar", "rolling_disc"):
        command = ["gcc", *FLAGS, *more, "-O2", "-c", "-o", "strict.o", f"{name}.c"]
        run(command, compiled(name).folder)


def test_every_file_is_written_and_says_so(tmp_path: Path) -> None:
    paths = export_simulator(rolling_disc(), tmp_path, name="disc")
    assert [p.name for p in paths] == ["disc.h", "disc.c", "main.c", "Makefile", "README.txt"]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert "generated by biela" in text
        assert not re.search(r"@[A-Z_]+@", text)
        assert max(map(len, text.splitlines())) <= 100, path.name
    # once more gives the same bytes
    texts = [p.read_bytes() for p in paths]
    again = export_simulator(rolling_disc(), tmp_path, name="disc")
    assert [p.read_bytes() for p in again] == texts
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    with pytest.raises(ExportError, match=r"main\.c was not written by biela"):
        export_simulator(rolling_disc(), tmp_path, name="disc")


def test_functions_of_variable_work_and_functions_supplied_are_named(tmp_path: Path) -> None:
    s = bl.SymbolicSystem("rubbing")
    (x,) = s.coordinates("x")
    point = s.origin.offset("P", s.base.vector(x, 0, 0))
    block = s.solid("block", at=point, base=s.base, mass=2.0, inertia=s.base.inertia(1, 1, 1))
    stick = s.workspace.external("stick", 1, np.tanh)
    force = -3 * bl.atan(10 * x.velocity) - stick(x.velocity)
    s.wrench(block, s.base.vector(force, 0, 0), s.base.vector(0, 0, 0))
    export_simulator(s, tmp_path, v=[1.0])
    for file in ("rubbing.h", "README.txt"):
        assert "atan of <math.h>" in (tmp_path / file).read_text(encoding="utf-8")
    assert "functions that you supply, as functions of double: stick" in (
        (tmp_path / "README.txt").read_text(encoding="utf-8")
    )
    (tmp_path / "stick.c").write_text(
        "double stick(double v);\ndouble stick(double v) { return 2.0*v; }\n", encoding="utf-8"
    )
    run(["make", "OBJECTS=stick.o"], tmp_path)
    run(["./run_rubbing", "100"], tmp_path)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"integrator": "dormand_prince"}, "fixed amount of work.*rk4"),
        ({"integrator": "trapezoidal"}, "fixed amount of work"),
        ({"outputs": ("q", "energy")}, "'energy' are not known"),
        ({"options": Options(projections=1e-6)}, "always or never"),
        ({"formulation": "magic"}, "these are: multipliers"),
        ({"step": 0.0}, "step must be a positive number"),
        ({"limit": math.nan}, "limit must be a positive number"),
        ({"t": math.inf}, "start time"),
        ({"parameters": {"mass": 1.0}}, "no parameter mass"),
    ],
)
def test_what_does_not_fit_is_refused(
    choices: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=message):
        export_simulator(rolling_disc(), tmp_path, **choices)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["main", "2bars", "a b", ""])
def test_a_name_that_cannot_be_one_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="cannot name a simulator"):
        export_simulator(rolling_disc(), tmp_path, name=name)


def test_parameters_at_run_time_reach_the_masses_of_shapes(tmp_path: Path) -> None:
    m = bl.Model("drum")
    m.parameter("r", "100 mm")
    m.parameter("rho", 7850.0)
    m.parameter("depth", "2*r")
    drum = m.body("drum", shapes=[Cylinder("r", "depth", density="rho")])
    m.joint("revolute", "axle", m.ground, drum)
    m.force("actuator", "motor", coordinate="axle", law=5.0)
    made = CompiledSimulator(m, tmp_path)

    def acceleration(r: float, rho: float) -> float:
        return 5.0 / (rho * math.pi * r**2 * 2 * r * r**2 / 2)

    made.step()
    assert made.x[1] == pytest.approx(1e-3 * acceleration(0.1, 7850.0), rel=1e-12)
    header = made.paths[0].read_text(encoding="utf-8")
    assert "depth" not in header  # it is computed from r
    made.place(0.0, [0.0], [0.0])
    made.set_parameters([0.15, 2700.0])
    made.step()
    assert made.x[1] == pytest.approx(1e-3 * acceleration(0.15, 2700.0), rel=1e-12)
