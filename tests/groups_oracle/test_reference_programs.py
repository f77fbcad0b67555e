"""The hand-written C programs give the closed forms: what they are timed at is right."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from benchmarks.groups import reference
from benchmarks.peers import PeerMissingError
from tests.groups_oracle import closed_forms

needs_compiler = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler is installed"
)
gcc = pytest.mark.gcc


def uniform(start, rate, steps):
    # the programs add the angle up, step by step
    x = np.concatenate([[start], np.full(steps - 1, rate * reference.DT)]).cumsum()
    return closed_forms.Motion(x, np.full(steps, rate), np.zeros(steps))


@gcc
@needs_compiler
@pytest.mark.parametrize("program", reference.FOUR_BARS)
def test_programs_of_the_chain_give_its_closed_form_at_every_instant(program):
    n_d, steps = 5, 1203  # a little more than a third of a turn, and no multiple of eight
    angle = uniform(np.pi / 2, reference.SPEEDS["b"], steps)
    run = reference.run(program, n_d, steps, recorded=2)
    assert run.updates < 2.1
    for k in range(n_d):
        C = closed_forms.chain_joint(angle, k + 1)
        if program.endswith("_stored"):
            kept = run.kept[:, k + 1]
        elif k == 2:
            kept = run.kept
        else:
            continue
        # 1e-10 on squared distances leaves the points better than 1e-10
        np.testing.assert_allclose(kept, np.hstack(C), rtol=0, atol=1e-10)
        if k == 2:
            np.testing.assert_array_equal(run.end, kept[-1])


@gcc
@needs_compiler
@pytest.mark.parametrize("speed", "abc")
@pytest.mark.parametrize("program", reference.SLIDERS)
def test_programs_of_the_fan_give_its_closed_form_at_every_instant(program, speed):
    n_d, steps, rate = 11, 203, reference.SPEEDS[speed]
    P = closed_forms.inclined_crank(uniform(0.0, rate, steps), 2.0, np.pi / 6)
    for k in (0, 3, 10):
        psi = 2 * np.pi * k / n_d
        e = np.array([np.cos(psi), np.sin(psi), 0.0])
        s = closed_forms.slider_on_rail(P, 6.0, e, np.zeros(3))
        kept = reference.run(program, n_d, steps, rate, recorded=k).kept
        for order in range(3):
            part = kept[:, 3 * order : 3 * order + 3]
            np.testing.assert_allclose(
                part, s[order][:, None] * e, rtol=0, atol=1e-9 * max(rate, 0.1) ** order
            )


def test_without_a_compiler_the_programs_are_refused_in_words(monkeypatch):
    monkeypatch.setattr(reference.shutil, "which", lambda name: None)
    with pytest.raises(PeerMissingError, match="no C compiler"):
        reference.library.__wrapped__(reference.source_of("slider_nat4_scalar"))


def test_unknown_programs_and_dyads_are_refused_in_words():
    with pytest.raises(ValueError, match="no program 'five_bar'"):
        reference.run("five_bar")
    with pytest.raises(ValueError, match="dyad 5 cannot be recorded"):
        reference.run("four_bar_natural_scalar", n_d=5, recorded=5)
