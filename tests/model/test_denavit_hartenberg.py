"""Robots from Denavit-Hartenberg tables, against the printed matrices and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError
from biela.model.denavit_hartenberg import from_dh

#: A six-axis arm with numbers of its own and one slide: a, alpha, d, theta, kind.
TABLE: list[tuple[Any, ...]] = [
    (0.15, np.pi / 2, 0.45, 0.1),
    (0.57, 0.2, -0.03, np.pi / 2),
    (0.155, -np.pi / 2, 0.0, 0.0, "revolute"),
    (0.02, 1.1, 0.3, -0.4, "prismatic"),
    (0.0, -0.7, 0.08, 0.3),
    (0.01, 0.0, 0.095, 0.0),
]


def standard(a: float, alpha: float, d: float, theta: float) -> np.ndarray:
    """Written out (Siciliano et al. 2009, eq. 2.52)."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [c, -s * ca, s * sa, a * c],
            [s, c * ca, -c * sa, a * s],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


def modified(a: float, alpha: float, d: float, theta: float) -> np.ndarray:
    """Written out (Craig 2005, eq. 3.6)."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [c, -s, 0, a],
            [s * ca, c * ca, -sa, -sa * d],
            [s * sa, c * sa, ca, ca * d],
            [0, 0, 0, 1],
        ]
    )


def poses(system: bl.System, q: np.ndarray) -> dict[str, np.ndarray]:
    rows = system.evaluate("poses", q)
    found = {}
    for name, row in zip(system.frames, rows, strict=True):
        T = np.eye(4)
        T[:3, 3], T[:3, :3] = row[:3], row[3:].reshape(3, 3)
        found[name] = T
    return found


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_frames_are_products_of_the_printed_matrices(convention: str) -> None:
    system = bl.formulate(from_dh(TABLE, convention))
    step = {"standard": standard, "modified": modified}[convention]
    rng = np.random.default_rng(4)
    for _ in range(3):
        q = rng.uniform(-2, 2, len(TABLE))
        found, T = poses(system, q), np.eye(4)
        for k, (a, alpha, d, theta, *kind) in enumerate(TABLE):
            slides = kind == ["prismatic"]
            T = T @ step(a, alpha, d + q[k] * slides, theta + q[k] * (not slides))
            assert found[f"link{k + 1}"] == pytest.approx(T, abs=1e-13)


def test_both_tables_of_one_robot_have_the_same_tip() -> None:
    """The modified table has a and alpha of the link before; the last ones stay as a tool."""
    rows = [(a, alpha, d, theta) for a, alpha, d, theta, *_ in TABLE]
    shifted = [
        ((rows[k - 1][0] if k else 0.0), (rows[k - 1][1] if k else 0.0), *rows[k][2:])
        for k in range(len(rows))
    ]
    q = np.random.default_rng(8).uniform(-3, 3, len(rows))
    one = poses(bl.formulate(from_dh(rows)), q)["link6"]
    other = poses(bl.formulate(from_dh(shifted, "modified")), q)["link6"]
    tool = standard(rows[-1][0], rows[-1][1], 0.0, 0.0)
    assert other @ tool == pytest.approx(one, abs=1e-13)


def test_the_mass_matrix_of_an_elbow_is_the_closed_form() -> None:
    """Two rods in a plane (Spong et al. 2006, eq. 7.82)."""
    l1, m1, m2, r1, r2, I1, I2 = 0.4, 2.0, 1.3, 0.25, 0.11, 0.03, 0.012
    model = from_dh(
        [{"a": "400 mm", "alpha": 0, "d": 0, "theta": 0}, (0.3, 0, 0, "90 deg")],
        masses=[m1, m2],
        coms=[(r1 - l1, 0, 0), (r2 - 0.3, 0, 0)],
        inertias=[(0.02, 0.02, I1), (0.01, 0.01, I2)],
        limits=[("-90 deg", "90 deg"), None],
    )
    system = bl.formulate(model)
    q = [0.3, -0.8]
    c = np.cos(q[1] + np.pi / 2)
    m22 = m2 * r2**2 + I2
    m12 = m22 + m2 * l1 * r2 * c
    m11 = m1 * r1**2 + I1 + m22 + m2 * (l1**2 + 2 * l1 * r2 * c)
    assert system.evaluate("M", q) == pytest.approx(np.array([[m11, m12], [m12, m22]]), rel=1e-13)
    assert (system.q[0].lower, system.q[0].upper) == pytest.approx((-np.pi / 2, np.pi / 2))
    assert system.q[1].upper == np.inf


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        ([], {}, "one row for each joint"),
        ([(1, 2, 3)], {}, r"row 1 is \(a, alpha, d, theta\)"),
        ([(1, 2, 3, 4, "ball")], {}, "row 1: the joint is revolute or prismatic, not 'ball'"),
        ([{"a": 1, "alpha": 0, "d": 0}], {}, "row 1 has a, alpha, d, theta and perhaps kind"),
        ([("1 kg", 0, 0, 0)], {}, "is a mass; a length is wanted|length"),
        ([(1, 0, 0, 0)], {"masses": [1, 2]}, "2 masses for 1 rows"),
        ([(1, 0, 0, 0)], {"convention": "craig"}, "standard or modified, not 'craig'"),
    ],
)
def test_tables_that_are_none_are_refused(rows: list, settings: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        from_dh(rows, **settings)
