"""How many operations the equations of the large models take: counts, which no machine changes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from biela.equations import Equations
from biela.equations.thesis import mass_and_forces_thesis
from examples.symbolic.locomotive import locomotive
from examples.symbolic.stewart import stewart

#: Operations as written, Plaza (2015), tables 6.5 and 6.6; Phi_v is the best of two programs.
PUBLISHED = {
    "stewart": {"M Q": 3106, "M": 486, "Q": 2667, "Phi_v": 368, "gamma": 917},
    "locomotive": {"M Q": 36695, "M": 12782, "Q": 26626, "Phi_v": 7252, "gamma": 28202},
}
#: Ours.  The data of both models are not published, so the counts are near, not the same problem.
OURS = {
    "stewart": {"M Q": 1339, "M": 396, "Q": 1022, "Phi_v": 204, "gamma": 576},
    "locomotive": {"M Q": 24149, "M": 14765, "Q": 9683, "Phi_v": 4236, "gamma": 9694},
}
#: The mass matrix of our locomotive, all of whose bodies have six general inertias, takes more.
LARGER = {("locomotive", "M")}


@cache
def derived(name: str) -> Equations:
    return {"stewart": stewart, "locomotive": locomotive}[name]().equations()


@pytest.mark.parametrize("name", OURS)
def test_the_equations_take_no_more_operations_than_published(name):
    eq = derived(name)
    for what, limit in OURS[name].items():
        written = eq.joint(*what.split()).count.thesis
        assert written <= limit, what
        assert (limit > PUBLISHED[name][what]) == ((name, what) in LARGER), what


def test_the_route_of_the_thesis_takes_more_on_the_same_model():
    eq = derived("stewart")
    M, Q = mass_and_forces_thesis(eq.source)
    plain = eq.source.function("plain", {"M": M, "Q": Q})
    chosen = eq.joint("M", "Q")
    assert chosen.count.arithmetic < 0.75 * plain.count.arithmetic
    numbers = np.random.default_rng(71)
    arguments = [numbers.uniform(0.05, 0.3, a.shape) for a in chosen.inputs]
    for ours, theirs in zip(chosen.interpret(*arguments), plain.interpret(*arguments), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


def test_everything_is_derived_and_exported_in_one_go(tmp_path):
    """Every matrix of the platform, [M Q] and the whole, as code that gives the same numbers."""
    eq = derived("stewart")
    (path,) = eq.export("python", tmp_path)
    space: dict = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    numbers = np.random.default_rng(72)
    for name in eq.expressions:
        function = eq.system[name]
        arguments = [numbers.uniform(0.05, 0.3, a.shape) for a in function.inputs]
        expected = function.interpret(*arguments)
        found = np.asarray(space[f"{eq.source.workspace.name}_{name}"](*arguments))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    for joint in ("M_Q", "all"):
        assert callable(space[f"{eq.source.workspace.name}_{joint}"])
