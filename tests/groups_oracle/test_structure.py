"""The counting finder of structural groups on the cases of the specification."""

from __future__ import annotations

import numpy as np
import pytest

from tests.groups_oracle.structure import Driver, Joint, find_structure

FRAME = 1


def chain(n_d):
    joints = [Joint(1, 2, 1, driven=1)]
    for k in range(1, n_d + 1):
        before = 2 if k == 1 else 2 * k
        joints += [Joint(before, 2 * k + 1, 1), Joint(2 * k + 1, 2 * k + 2, 1)]
        joints += [Joint(2 * k + 2, 1, 1)]
    return joints


def sliders(n_d, locked=1):
    joints = [Joint(1, 2, 1, driven=1)]
    for k in range(1, n_d + 1):
        rod, slider = 2 * k + 1, 2 * k + 2
        joints += [Joint(2, rod, 3), Joint(rod, slider, 3, locked=locked), Joint(slider, 1, 1)]
    return joints


def stewart(lengths_driven):
    """Platform 2; legs (3, 4) … (13, 14): universal on the frame, prismatic, spherical."""
    joints = []
    if not lengths_driven:
        joints += [Driver(1, 2)] * 6
    for k in range(6):
        low, high = 3 + 2 * k, 4 + 2 * k
        joints += [Joint(1, low, 2), Joint(low, high, 1, driven=int(lengths_driven))]
        joints += [Joint(high, 2, 3)]
    return joints


TRUCK = [
    Driver(1, 2),
    Driver(1, 2),
    *(Joint(a, b, 2) for a, b in ((2, 4), (2, 5), (6, 8), (7, 9), (2, 10), (2, 12))),
    *(Joint(a, b, 3) for a, b in ((1, 4), (1, 5), (2, 3), (1, 8), (1, 9), (1, 11), (1, 13))),
    *(Joint(a, b, 1) for a, b in ((1, 3), (2, 6), (2, 7), (10, 11), (12, 13))),
]
TRIAD = [Joint(a, b, 1) for a, b in ((1, 3), (1, 4), (1, 5), (3, 2), (4, 2), (5, 2))]


@pytest.mark.parametrize(
    ("d", "joints", "groups"),
    [
        (3, chain(1), [(2,), (3, 4)]),
        (3, chain(5), [(2,), *((2 * k + 1, 2 * k + 2) for k in range(1, 6))]),
        (6, sliders(3), [(2,), (3, 4), (5, 6), (7, 8)]),
        (6, TRUCK, [(2, 3, 4, 5), (6, 8), (7, 9), (10, 11), (12, 13)]),
        (6, stewart(False), [(2,), *((3 + 2 * k, 4 + 2 * k) for k in range(6))]),
        (6, stewart(True), [tuple(range(2, 15))]),
        (3, TRIAD, [(2, 3, 4, 5)]),
    ],
    ids=["four-bar", "chain", "sliders", "truck", "Stewart pose", "Stewart lengths", "triad"],
)
def test_the_groups_of_the_specification_are_found_in_order(d, joints, groups):
    found = find_structure(d, FRAME, joints)
    assert found.groups == groups
    assert not found.redundant
    assert not found.loose
    for k, needs in enumerate(found.needs):
        assert all(j < k for j in needs)


def test_rods_whose_spin_is_not_locked_leave_their_dyads_loose():
    found = find_structure(6, FRAME, sliders(1, locked=0))
    assert found.loose
    assert set(found.loose) <= {3, 4}


def test_a_link_too_many_is_one_redundant_unit():
    found = find_structure(
        3,
        FRAME,
        [Joint(1, 2, 1, driven=1)]
        + [Joint(a, b, 1) for a, b in ((2, 3), (3, 4), (4, 1), (3, 5), (5, 1))],
    )
    assert len(found.redundant) == 1
    assert not found.loose


@pytest.mark.parametrize("case", ["chain", "truck", "Stewart lengths"])
def test_numbers_and_order_do_not_matter(case):
    d, joints = {
        "chain": (3, chain(4)),
        "truck": (6, TRUCK),
        "Stewart lengths": (6, stewart(True)),
    }[case]
    expected = {frozenset(group) for group in find_structure(d, FRAME, joints).groups}
    rng = np.random.default_rng(8)
    bodies = sorted({body for joint in joints for body in joint[:2]} - {FRAME})
    for _ in range(20):
        new = dict(zip(bodies, rng.permutation(bodies).tolist(), strict=True)) | {FRAME: FRAME}
        swapped = []
        for i in rng.permutation(len(joints)):
            a, b = (new[body] for body in joints[i][:2])
            ends = (b, a) if rng.random() < 0.5 else (a, b)
            swapped.append(joints[i]._replace(a=ends[0], b=ends[1]))
        found = find_structure(d, FRAME, swapped)
        assert {frozenset(group) for group in found.groups} == {
            frozenset(new[body] for body in group) for group in expected
        }
