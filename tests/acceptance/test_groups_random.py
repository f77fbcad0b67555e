"""Random mechanisms put together from known groups: taken apart again, moved as the oracle says.

The oracle is `tests.groups_oracle`: reference points, all rows at once, least squares.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups import Structure
from biela.equations.groups.lowering import Iteration
from biela.model.bodies import Marker as ModelMarker
from tests.groups_oracle.bodies import Marker, State
from tests.groups_oracle.motion import solved
from tests.groups_oracle.random_mechanisms import Built, drawn, driven_values

Floats = npt.NDArray[np.float64]

KINDS = {"point on line": "point_on_line", "rod": "distance"}
#: Planar seeds, spatial seeds.
SEEDS = [(planar, seed) for planar in (True, False) for seed in range(2)]
TIMES = np.linspace(0.0, 0.2, 9)
RATE, ACCELERATION = 0.3, -0.4


def model_of(built: Built) -> bl.Model:
    """The mechanism with bodies b1, b2 … where they are, joints j0, j1 … and drivers of joints."""
    mechanism, state = built.mechanism, built.state
    m = bl.Model("drawn", plane="xy" if mechanism.planar else None)
    made = {0: m.ground}
    for k in range(1, mechanism.bodies + 1):
        R = state.A[k]
        # R = Rz Ry Rx
        turn = (
            np.arctan2(R[1, 0], R[0, 0]),
            np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])),
            np.arctan2(R[2, 1], R[2, 2]),
        )
        made[k] = m.body(
            f"b{k}", mass=1.0, position=tuple(state.r[k]), orientation=("zyx", tuple(turn))
        )

    def marker(of: Marker, kind: str, first: bool) -> ModelMarker:
        x, _, z = of.axes.T
        if kind == "universal":
            # the arms of the cross are along x of the first fork and y of the second
            z, x = (x, z) if first else (np.cross(x, z), x)
        return made[of.body].at(*of.point, axis=tuple(z), x_axis=tuple(x))

    for k, joint in enumerate(mechanism.joints):
        ends = [marker(joint.a, joint.kind, True), marker(joint.b, joint.kind, False)]
        size = {"length": joint.size} if joint.kind == "rod" else {}
        m.joint(KINDS.get(joint.kind, joint.kind), f"j{k}", *ends, **size)
    places = [(j.a, j.b) for j in mechanism.joints]
    for k, (driver, value) in enumerate(
        zip(mechanism.drivers, driven_values(mechanism, state), strict=True)
    ):
        number = next(n for n, ends in enumerate(places) if ends == (driver.a, driver.b))
        law = f"{value!r} + {RATE!r}*t + {ACCELERATION / 2!r}*t^2".replace("np.float64", "")
        kind = {"angle": "rotary", "slide": "translational"}[driver.kind]
        coordinate = {"angle": "angle", "slide": "displacement"}[driver.kind]
        m.driver(kind, f"d{k}", coordinate=f"j{number}.{coordinate}", law=law)
    return m


@cache
def drawn_model(planar: bool, seed: int) -> tuple[Built, bl.Model]:
    built = drawn(np.random.default_rng(40 + seed), planar, inputs=1 + seed % 2, dyads=3)
    return built, model_of(built)


@cache
def structure_of(planar: bool, seed: int) -> Structure:
    return bl.structural_groups(drawn_model(planar, seed)[1])


@cache
def motion(planar: bool, seed: int) -> list[State]:
    """By the oracle, instant after instant."""
    built, _ = drawn_model(planar, seed)
    count = len(built.mechanism.drivers)
    rates, accelerations = np.full(count, RATE), np.full(count, ACCELERATION)
    found, state = [], built.state
    for t in np.linspace(0.0, TIMES[-1], 2 * len(TIMES) - 1):
        state = solved(built.mechanism, state, built.laws(float(t), rates, accelerations)).state
        found.append(state)
    return found[::2]


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_known_groups_are_found_again_in_an_order_that_can_be_solved(
    planar: bool, seed: int
) -> None:
    built, _ = drawn_model(planar, seed)
    structure = structure_of(planar, seed)
    wanted = [frozenset(f"b{k}" for k in group) for group in built.groups]
    assert {frozenset(g.bodies) for g in structure.groups} == set(wanted)
    assert structure.determined
    solved_bodies: set[str] = set()
    for group in structure.groups:
        assert set(group.known) <= solved_bodies
        solved_bodies |= set(group.bodies)


@pytest.mark.parametrize("coordinates", ["natural", "relative", "reference"])
@pytest.mark.parametrize(("planar", "seed"), SEEDS)
def test_they_move_as_the_oracle_says(planar: bool, seed: int, coordinates: str) -> None:
    _, model = drawn_model(planar, seed)
    solver = GroupSolver(
        model,
        structure_of(planar, seed),
        coordinates=coordinates,
        iteration=Iteration(tolerance=1e-10, polish=1),
    )
    rows = solver.run(TIMES).body_rows
    states = motion(planar, seed)
    for k, (value, turning) in enumerate((("r", None), ("v", "w"), ("a", "dw"))):
        exact = np.array([getattr(s, value)[1:] for s in states])
        size = 1.0 + np.abs(exact).max()
        np.testing.assert_allclose(rows[0][k], exact, rtol=0, atol=1e-9 * size)
        A = np.array([s.A[1:] for s in states])
        w = np.array([s.w[1:] for s in states])
        for axis in range(2 if not planar else 1):
            e = A[..., axis]
            if turning == "w":
                e = np.cross(w, e)
            elif turning == "dw":
                dw = np.array([s.dw[1:] for s in states])
                e = np.cross(dw, e) + np.cross(w, np.cross(w, e))
            # of a planar body its cosine and sine are given
            found = rows[1 + axis][k]
            size = 1.0 + np.abs(e).max()
            expected = e[..., :2] if planar else e
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * size)
