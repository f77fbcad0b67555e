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
GALLERY = sorted((Path(__file__).parents[2] / "examples" / "mechanisms").glob("*.toml"))


def joined(kind: str, *, to_ground: bool, **settings: object) -> bl.Model:
    """Two bodies, one of them on a joint of the kind, to the ground or to the other."""
    m = bl.Model(f"joined by {kind}")
    first = m.body("first", mass=1.3, com=(0.1, 0.05, -0.2), inertia=INERTIA)
    second = m.body("second", mass=0.7, com=(0.0, 0.1, -0.1), inertia=INERTIA)
    before = m.ground if to_ground else second
    i = before.at(0.1, -0.2, 0.3, axis=(1, 2, -1), x_axis=(0, 1, 1))
    j = first.at(0.05, 0.1, 0.2, axis=(0, 1, 0.3), x_axis="x")
    m.joint(kind, "J", i, j, **settings)  # type: ignore[arg-type]
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
        return np.atleast_1d(function(*(given[a.name] for a in function.inputs)))

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


@pytest.mark.parametrize("to_ground", [True, False])
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
def test_a_joint_has_the_rows_of_the_whole_formulation(
    kind: str, settings: dict, to_ground: bool
) -> None:
    check(joined(kind, to_ground=to_ground, **settings))
