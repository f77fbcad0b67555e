"""A few of the linear systems that ``make soak`` solves by the thousand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.soak import saddle_systems
from tests.soak.saddle_systems import SOLVERS, drawn, judged, main, right


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_agree_with_dense_least_squares(name: str) -> None:
    assert [text for seed in range(2000, 2020) if (text := SOLVERS[name](seed))] == []


def test_a_rank_or_a_solution_that_is_off_is_noticed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    M, Phi, _ = next(
        found for seed in range(50) if len((found := drawn(seed, massless=False))[1]) > 2
    )
    n, m = len(M), len(Phi)
    A = np.block([[M, Phi.T], [Phi, np.zeros((m, m))]])
    b = right(M, Phi, 0)
    x = np.linalg.lstsq(A, b, rcond=1e-11)[0]
    rank = n + int(np.linalg.matrix_rank(Phi, tol=1e-9))
    dropped = np.arange(rank, n + m)
    assert judged(M, Phi, b, x, rank, dropped) == ""
    assert judged(M, Phi, b, x, rank - 1, dropped).startswith("rank")
    assert judged(M, Phi, b, x, rank, dropped - n).endswith("dropped") or len(dropped) == 0
    assert judged(M, Phi, b, x * (1 + 1e-6), rank, dropped).startswith("error")
    monkeypatch.setitem(saddle_systems.SOLVERS, "dense", lambda seed: "off" if seed == 3 else "")
    assert main(["--count", "4", "--solvers", "dense"]) == 1
    assert "dense, seed 3: off" in capsys.readouterr().out
