"""A few of the free motions that ``make soak`` tries by the hundred, and what it calls a fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from tests.overconstrained import peaucellier
from tests.soak import free_motion
from tests.soak.free_motion import Engine, Run, apart, main, method, missing, started, tried

#: Formulations that other tests leave out; the soak tries all of them on more linkages.
QUICK = [
    ("bennett", "penalty"),
    ("bennett", "augmented"),
    ("bennett", "augmented3"),
    ("bennett", "generalised_alpha"),
]


def test_a_linkage_that_starts_at_speed_keeps_its_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_motion, "DURATION", 2.0)
    made = Engine(started("sarrus", 1), "reference", "looped")
    outcome, error, *_ = tried(made, 1e-3)
    assert outcome == "kept" and error < 1e-8


@pytest.mark.parametrize(("name", "formulation"), QUICK)
def test_formulations_lose_no_more_energy_than_their_order_explains(
    name: str, formulation: str
) -> None:
    """Or they end with an error that names the model and the time."""
    run = method(name, 0, formulation)
    assert run.outcome in ("kept", "explained", "refused"), run
    assert run.outcome != "refused" or formulation == "generalised_alpha", run


def test_a_free_peaucellier_linkage_in_space_draws_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(free_motion, "DURATION", 2.0)
    m, given = peaucellier(0)
    made = Engine(m, "joint", "unrolled")
    r = made.run(2e-3)
    Q = np.stack([np.asarray(r[f"Q.{axis}"]) for axis in "xyz"], axis=1)
    x, y, z = ((Q - given.place) @ given.turn).T
    assert np.abs(x - (given.long**2 - given.side**2) / (2 * given.crank)).max() < 1e-9
    assert np.abs(z).max() < 1e-9
    assert np.ptp(y) > 0.5
    assert missing(made, r)[0] < 1e-8


# --------------------------------------------------------------------------- the sweep itself


def test_energy_that_a_shorter_step_does_not_bring_back_is_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A motion whose speeds are a little off from the middle on."""
    monkeypatch.setattr(free_motion, "DURATION", 0.5)
    energies = Engine.energies

    def spoilt(self: Engine, r: bl.Results) -> tuple[np.ndarray, np.ndarray]:
        kinetic, total = energies(self, r)
        return kinetic, total + np.where(r.t > 0.25, 2e-7, 0.0) * kinetic.max()

    monkeypatch.setattr(Engine, "energies", spoilt)
    outcome, error, finer, *_ = tried(Engine(started("bennett", 0), "joint", "unrolled"), 2e-3)
    assert outcome == "silent"
    assert error == pytest.approx(2e-7, rel=1e-3) and finer == pytest.approx(error, rel=1e-3)


def test_errors_that_name_nothing_are_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Engine(started("bennett", 0), "reference", "looped")
    for text, wanted in (("bennett 0: it stops", "refused"), ("it stops", "silent")):

        def fail(*_: object, text: str = text) -> None:
            raise bl.BielaError(text)

        monkeypatch.setattr(Engine, "run", fail)
        assert tried(made, 1e-3)[0] == wanted


def test_motions_that_keep_their_energy_and_part_are_faults() -> None:
    one = Run("bennett", 0, "joint", "unrolled", None, "kept", 0.0, None, 1.0, (0.0, 0.0), 0.1)
    other = replace(one, coordinates="natural", end=(0.0, 0.02))
    assert apart([one, replace(other, end=(0.0, 1e-5))]) == []
    assert len(apart([one, other])) == 1
    assert len(apart([one, replace(one, kinetic=1.1)])) == 1


def test_a_sweep_writes_a_line_per_run_and_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []

    def quick(name: str, seed: int) -> list[Run]:
        made.append((name, seed))
        run = Run(name, seed, "joint", "unrolled", None, "kept", 0.0, None, 1.0, (0.0,), 0.1)
        return [run] * 20

    monkeypatch.setattr(free_motion, "runs", quick)
    log = tmp_path / "log.jsonl"
    given = ["--log", str(log), "--methods", "0"]
    assert main([*given, "--starts", "2"]) == 0
    lines = log.read_text().splitlines()
    assert len(lines) == 40
    log.write_text("\n".join(lines[:30]) + "\n")
    assert main([*given, "--starts", "2", "--resume"]) == 0
    assert made == [("bennett", 0), ("goldberg", 0), ("goldberg", 0)]
    assert "40 runs of 2 starts" in capsys.readouterr().out.splitlines()[-5]

    monkeypatch.setattr(
        free_motion, "runs", lambda *_: [replace(quick("x", 0)[0], outcome="silent")]
    )
    assert main([*given, "--starts", "1"]) == 1
