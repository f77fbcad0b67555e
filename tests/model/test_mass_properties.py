"""Mass properties: against sums over particles."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ModelError
from biela.model.mass_properties import MassProperties


def rotation(rng: np.random.Generator) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q if np.linalg.det(q) > 0 else -q


def inertia_of_particles(m, r, point) -> np.ndarray:
    """Each particle by itself, component by component."""
    total = np.zeros((3, 3))
    for mass, place in zip(m, r, strict=True):
        x, y, z = place - point
        total += mass * np.array(
            [
                [y * y + z * z, -x * y, -x * z],
                [-x * y, x * x + z * z, -y * z],
                [-x * z, -y * z, x * x + y * y],
            ]
        )
    return total


@pytest.mark.parametrize("seed", range(5))
def test_particles_moved_and_joined_keep_their_inertia(seed):
    rng = np.random.default_rng(seed)
    m1, r1 = rng.uniform(0.1, 2, 6), rng.normal(size=(6, 3))
    m2, r2 = rng.uniform(0.1, 2, 4), rng.normal(size=(4, 3)) + 3
    p, R, point = rng.normal(size=3), rotation(rng), rng.normal(size=3)
    one = MassProperties.of_points(m1, r1)
    both = one.moved(p, R) + MassProperties.of_points(m2, r2)
    m = np.concatenate([m1, m2])
    r = np.concatenate([r1 @ R.T + p, r2])
    assert both.mass == pytest.approx(m.sum(), rel=1e-14)
    assert both.com == pytest.approx(m @ r / m.sum(), rel=1e-12)
    scale = np.abs(both.inertia).max()
    assert both.inertia == pytest.approx(inertia_of_particles(m, r, both.com), abs=1e-12 * scale)
    assert both.about(point) == pytest.approx(inertia_of_particles(m, r, point), rel=1e-11)
    moments = np.sort(np.linalg.eigvals(one.inertia).real)
    assert one.moved(p, R).principal_moments == pytest.approx(moments, rel=1e-10)
    half = one.scaled(0.5)
    assert half.mass == one.mass / 2
    assert half.inertia == pytest.approx(inertia_of_particles(m1 / 2, r1, one.com), abs=1e-12)


def test_an_inertia_is_a_tensor_its_moments_or_six_numbers():
    full = [[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]]
    six = MassProperties(1.0, (0, 0, 0), (2, 3, 4, 0.1, 0.2, 0.3))
    assert (six.inertia == np.array(full)).all()
    assert (MassProperties(1.0, inertia=(2, 3, 4)).inertia == np.diag([2, 3, 4])).all()
    assert not MassProperties(1.0).inertia.any()


def test_a_planar_body_is_one_that_exists():
    n = np.array([1.0, 2.0, 2.0]) / 3
    body = MassProperties.planar(2.0, (1, 0, 0), 0.3, 5 * n)
    assert n @ body.inertia @ n == pytest.approx(0.3, rel=1e-14)
    assert body.principal_moments == pytest.approx([0.15, 0.15, 0.3], rel=1e-12)


def test_properties_cannot_be_written_through():
    body = MassProperties(1.0, (0, 0, 0), (1, 1, 1))
    with pytest.raises(ValueError, match="read-only"):
        body.com[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        body.inertia[0, 0] = 2.0


def test_two_massless_parts_join():
    total = MassProperties(0.0, (1, 0, 0), (1, 1, 1)) + MassProperties(0.0, (3, 0, 0))
    assert total.mass == 0
    assert (total.inertia == np.eye(3)).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((-1.0,), "zero or positive"),
        ((np.nan,), "zero or positive"),
        ((1.0, (0, 0)), "three finite numbers"),
        ((1.0, "abc"), "three finite numbers"),
        ((1.0, (0, 0, np.inf)), "three finite numbers"),
        ((1.0, (0, 0, 0), (1, 2)), "3 moments"),
        ((1.0, (0, 0, 0), [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
        ((1.0, (0, 0, 0), (1, 1, -0.5)), "not all positive"),
        ((1.0, (0, 0, 0), (-1, -1, -1)), "not all positive"),
        ((1.0, (0, 0, 0), (0, 0, 1)), "planar"),
        ((1.0, (0, 0, 0), (1, 1, 2.01)), "about the centre of mass"),
    ],
)
def test_what_no_body_has_is_refused(arguments, says):
    with pytest.raises(ModelError, match=says):
        MassProperties(*arguments)


def test_rounded_tables_are_accepted():
    # a thin plate, Izz = Ixx + Iyy, rounded to three digits
    assert MassProperties(1.0, (0, 0, 0), (0.123, 0.124, 0.2472)).mass == 1


@pytest.mark.parametrize(
    ("R", "says"),
    [
        (np.eye(2), "3x3"),
        (2 * np.eye(3), "orthonormal"),
        (np.diag([1, 1, -1]), "reflection"),
    ],
)
def test_what_is_no_rotation_is_refused(R, says):
    with pytest.raises(ModelError, match=says):
        MassProperties(1.0).moved((0, 0, 0), R)


def test_particles_must_fit_their_places():
    with pytest.raises(ModelError, match=r"\(n, 3\)"):
        MassProperties.of_points([1, 2], [[0, 0, 0]])
    with pytest.raises(ModelError, match="zero or positive"):
        MassProperties.of_points([1, -2], np.zeros((2, 3)))
