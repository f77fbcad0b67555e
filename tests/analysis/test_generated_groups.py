"""The two ways to use what was derived: evaluated symbol by symbol, and generated once as code."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from benchmarks.groups.refit import GROUPS, LIMIT, Measured, best, fitted, judged, table
from biela.analysis.groups.choice import formulation_by_size
from biela.analysis.groups.solver import GroupSolver
from biela.atoms import evaluate, jacobian
from examples.groups.spatial_slider import spatial_slider


def test_a_turn_by_evaluated_symbols_is_the_turn_of_the_generated_code() -> None:
    """Newton's method on expressions of atoms, one after the other: the reference of the source."""
    solver = GroupSolver(spatial_slider(), points=["slider.C"], closed_forms=False)
    t = np.linspace(0.0, 0.26, 14)
    generated = solver.run(t)
    c = next(c for c, kernel in enumerate(solver.groups.kernels) if kernel.unknowns)
    equations, kernel = solver.groups.equations[c], solver.groups.kernels[c]
    J = [entry for row in jacobian(equations.Phi, equations.x).rows for entry in row]
    x = np.array([float(u.start(solver.poses)[0]) for u in kernel.unknowns])
    m = len(x)
    known = solver.groups.known_places(c, kernel, "")[0] - solver.groups.memory.first("y")
    wanted = generated.point("slider.C").position
    rows = generated._stored.columns(np.arange(solver.groups.memory.sizes["y"]))
    values = {column.symbol: float(column.values[0]) for column in equations.derivation.columns}
    for instant in range(len(t)):
        h = {k.symbol: rows[instant, at] for k, at in zip(kernel.known, known, strict=True)}
        for _ in range(20):
            given = values | h | dict(zip(equations.x, x, strict=True))
            Phi = np.array([float(v) for v in evaluate(equations.Phi, given)])
            A = np.array([float(v) for v in evaluate(J, given)]).reshape(len(Phi), m)
            x = x - np.linalg.lstsq(A, Phi, rcond=None)[0]
        np.testing.assert_allclose(wanted[instant], x, rtol=0, atol=1e-9)
    assert np.ptp(wanted[:, 0]) > 0.1  # it moves


def test_generated_code_asks_a_small_part_of_the_interpreter() -> None:
    """Calls of functions by the interpreter, which are the time of evaluated symbols.

    The source's generated functions are 150 times as fast; times are those of benchmarks.
    """
    solver = GroupSolver(spatial_slider(), points=["slider.C"], closed_forms=False)
    t = np.linspace(0.0, 1.04, 4001)
    solver.run(t, progress=False)  # compiled now
    generated = _calls(lambda: solver.run(t, progress=False)) / len(t)
    c = next(c for c, kernel in enumerate(solver.groups.kernels) if kernel.unknowns)
    equations = solver.groups.equations[c]
    J = [entry for row in jacobian(equations.Phi, equations.x).rows for entry in row]
    random = np.random.default_rng(0)
    symbols = [s for column in equations.derivation.columns for s in [column.symbol]]
    known = [k.symbol for k in solver.groups.kernels[c].known]
    given = {s: float(random.uniform()) for s in (*symbols, *known, *equations.x)}
    iterations = solver.run(t, progress=False).iterations
    evaluated = _calls(lambda: evaluate([*equations.Phi, *J], given)) * iterations
    assert evaluated > 150 * generated > 0


def _calls(function: Callable[[], object]) -> int:
    count = 0

    def count_calls(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_calls)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def _measured(name: str, planar: bool, bodies: int, **times: float) -> Measured:
    spent = {formulation: times.get(formulation.split()[0], 2.0) for formulation in GROUPS}
    return Measured(name, planar, True, [(1, bodies, 1)], spent, {})


def test_the_report_tells_what_is_gained_and_lost_on_every_mechanism() -> None:
    found = [_measured("bars", True, 2, natural=1.0), _measured("arm", False, 4, relative=1.0)]
    text = judged(found)
    for m in found:
        taken = formulation_by_size(m.planar, m.kinds[0][1])
        ratio = m.times[taken] / min(m.times.values())
        (line,) = (row for row in text.splitlines() if row.startswith(f"| {m.name} |"))
        assert f"| {taken} |" in line and f"| {ratio:.2f} |" in line
        assert line.endswith("| yes |" if ratio <= LIMIT else "| NO |")
    bars, arm = table(found).splitlines()[-2:]
    assert bars.count("**1**") == 2 and arm.count("**1**") == 1  # with rates and with the tensor


def test_a_rule_of_few_formulations_is_kept_unless_another_gains_more_than_noise() -> None:
    plane = _measured("bars", True, 2, natural=1.0)
    near = [_measured("arm", False, 1, relative=1.0, natural=1.06), plane]
    near.append(_measured("truck", False, 4, natural=1.0, relative=1.5))
    assert {fitted(near)[k] for k in ("FEW_BODIES", "SPACE", "MANY_BODIES")} == {"natural groups"}
    assert best([near[0]]) == "natural groups"
    far = [_measured("arm", False, 1, relative=1.0, natural=1.6), *near[1:]]
    rule = fitted(far)
    of_one = "FEW_BODIES" if rule["FEW"] == 1 else "SPACE"
    assert (rule[of_one], rule["MANY_BODIES"]) == ("relative groups", "natural groups")
