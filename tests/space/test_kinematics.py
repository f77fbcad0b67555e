"""Kinematic operators, against differences of positions and against sympy.physics."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics import vector as spv

from biela.atoms import Workspace, cos, expanded_text, sin
from biela.code.counts import count_listing
from biela.space import (
    Algebra,
    Base,
    Frame,
    Point,
    Solid,
    Space,
    Toward,
    Vector,
    acceleration,
    acceleration_in,
    angular_acceleration,
    angular_velocity,
    derivative,
    position,
    rotation_matrix,
    velocity,
    velocity_in,
)
from tests.mechanisms import (
    ALGEBRAS,
    DIFFERENCE,
    ROUNDING,
    axial,
    four_bar,
    moved,
    numbers,
    random_values,
    rate,
    rate_of,
)


class Carousel:
    """Two branches of bases and of points, with slides, turns and a clock."""

    def __init__(self, algebra: Algebra) -> None:
        self.space = Space(Workspace("carousel"), algebra)
        ws = self.space.workspace
        q = ws.coordinates("q:6")
        l1, l2, h = ws.parameters("l1 l2 h")
        t = ws.time
        root, origin = self.space.root, self.space.origin
        self.platform = root.rotated("platform", "z", q[0] + sin(2 * t))
        self.arm = self.platform.rotated("arm", "-y", q[1])
        self.wrist = self.arm.rotated("wrist", (1, 1, 0), q[2] * cos(t))
        self.seat = self.platform.rotated("seat", "x", q[3])
        self.hub = origin.offset("hub", root.vector(0, q[4], h))
        self.elbow = self.hub.offset("elbow", self.arm.vector(l1, 0, 0.1))
        self.hand = self.elbow.offset("hand", self.wrist.vector(l2 + q[5] ** 2, sin(t), 0))
        self.rider = self.hub.offset("rider", self.seat.vector(0.2, l1, t * 0.3))
        # a vector with parts in two bases
        self.rope = self.hub.offset(
            "rope", self.arm.vector(0, l2, 0) + self.seat.vector(q[5], 0, h)
        )
        self.values = random_values(ws, 21)

    @property
    def points(self) -> list[Point]:
        return list(self.space.points.values())

    @property
    def bases(self) -> list[Base]:
        return list(self.space.bases.values())

    @property
    def frames(self) -> list[Frame]:
        """Observers: the ground, one on each branch, and a point with a base of another branch."""
        return [
            self.space.inertial,
            Frame(self.elbow, self.arm),
            Frame(self.rider, self.seat),
            Frame(self.hand, self.seat),
        ]

    def place(self, tau: float, point: Point):
        """The position in the inertial base, each link turned by its matrix."""
        values = moved(self.values, tau)
        place = np.zeros(3)
        while point.parent is not None:
            for base, part in point.vector.parts.items():
                place = place + self.matrix(tau, base) @ numbers(part, values)
            point = point.parent
        return place

    def matrix(self, tau: float, base: Base):
        """The matrix to the inertial base, one edge after the other."""
        R = np.eye(3)
        while base.parent is not None:
            R = numbers(base.rotation.matrix, moved(self.values, tau)) @ R
            base = base.parent
        return R

    def seen(self, tau: float, frame: Frame, point: Point):
        """Where a point is for an observer, in the base of the observer."""
        there = self.place(tau, point) - self.place(tau, frame.point)
        return self.matrix(tau, frame.base).T @ there


@pytest.fixture(params=ALGEBRAS, ids=str)
def carousel(request):
    return Carousel(request.param)


def test_positions_join_any_two_points(carousel):
    c = carousel
    for start in c.points:
        for end in c.points:
            r = numbers(position(start, end).components(c.space.root), c.values)
            np.testing.assert_allclose(r, c.place(0, end) - c.place(0, start), **ROUNDING)


def test_velocities_are_rates_of_positions_for_every_observer(carousel):
    c = carousel
    for frame in c.frames:
        for point in c.points:
            v = numbers(velocity(frame, point).components(frame.base), c.values)
            expected = rate(lambda tau, f=frame, p=point: c.seen(tau, f, p))
            np.testing.assert_allclose(v, expected, **DIFFERENCE)


def test_accelerations_are_rates_of_velocities_for_every_observer(carousel):
    c = carousel
    for frame in c.frames:
        for point in c.points[1:]:
            speed = velocity(frame, point).components(frame.base)
            a = numbers(acceleration(frame, point).components(frame.base), c.values)
            np.testing.assert_allclose(a, rate_of(speed, c.values), **DIFFERENCE)


def test_angular_velocities_and_accelerations_are_those_of_the_matrices(carousel):
    c = carousel
    for observer in c.bases:
        for base in c.bases:
            omega = angular_velocity(observer, base).components(observer)

            def R(tau: float, a: Base = observer, b: Base = base):
                return c.matrix(tau, a).T @ c.matrix(tau, b)

            np.testing.assert_allclose(
                numbers(omega, c.values), axial(rate(R) @ R(0).T), **DIFFERENCE
            )
            alpha = numbers(angular_acceleration(observer, base).components(observer), c.values)
            np.testing.assert_allclose(alpha, rate_of(omega, c.values), **DIFFERENCE)


def test_the_way_back_is_the_opposite(carousel):
    c = carousel
    to_root = c.space.root
    for a, b in ((c.elbow, c.rider), (c.hub, c.hand)):
        there, back = (position(*ends).components(to_root) for ends in ((a, b), (b, a)))
        np.testing.assert_allclose(numbers(there, c.values), -numbers(back, c.values), **ROUNDING)
    for a, b in ((c.wrist, c.seat), (c.platform, c.wrist)):
        there, back = (angular_velocity(*ends).components(to_root) for ends in ((a, b), (b, a)))
        np.testing.assert_allclose(numbers(there, c.values), -numbers(back, c.values), **ROUNDING)


def test_motions_compose(carousel):
    """The velocity and the acceleration of a point seen from two frames, eqs 2.8–2.10.

    The acceleration as printed there lacks the term of the angular acceleration.
    """
    c = carousel
    one = c.space.inertial
    two = Frame(c.elbow, c.arm)
    r = position(two.point, c.rider)
    omega, alpha = angular_velocity(one.base, two.base), angular_acceleration(one.base, two.base)
    v = velocity(two, c.rider)
    speed = v + velocity(one, two.point) + omega.cross(r)
    a = (
        acceleration(two, c.rider)
        + acceleration(one, two.point)
        + alpha.cross(r)
        + omega.cross(omega.cross(r))
        + omega.cross(v) * 2
    )
    for found, composed in ((velocity(one, c.rider), speed), (acceleration(one, c.rider), a)):
        np.testing.assert_allclose(
            numbers(found.components(c.space.root), c.values),
            numbers(composed.components(c.space.root), c.values),
            **ROUNDING,
        )


def test_a_point_may_be_taken_as_belonging_to_a_solid(carousel):
    """Its velocity and acceleration are those of a point glued to the solid at this instant."""
    c = carousel
    solid = Solid(
        "arm", c.elbow, c.arm, c.space.workspace.atom(1), Vector(c.space, {}), c.arm.inertia()
    )
    for point in (c.hand, c.rider, c.rope):
        glued = c.matrix(0, c.arm).T @ (c.place(0, point) - c.place(0, c.elbow))
        for frame in (c.space.inertial, Frame(c.rider, c.seat)):

            def seen(tau: float, frame: Frame = frame, glued=glued):
                place = c.place(tau, c.elbow) + c.matrix(tau, c.arm) @ glued
                return c.matrix(tau, frame.base).T @ (place - c.place(tau, frame.point))

            v = numbers(velocity_in(frame, point, solid).components(frame.base), c.values)
            np.testing.assert_allclose(v, rate(seen), **DIFFERENCE)
            a = numbers(acceleration_in(frame, point, solid).components(frame.base), c.values)
            twice = rate(lambda tau, s=seen: rate(lambda more: s(tau + more)))
            np.testing.assert_allclose(a, twice, **DIFFERENCE)


def test_the_derivative_of_a_vector_depends_on_the_observer(carousel):
    c = carousel
    u = c.rope.vector
    for observer in c.bases:
        found = derivative(u, observer, c.space.time_rate)
        components = u.components(observer)
        np.testing.assert_allclose(
            numbers(found.components(observer), c.values),
            rate_of(components, c.values),
            **DIFFERENCE,
        )


def test_without_accelerations_the_derivative_of_a_velocity_is_its_bias(carousel):
    """What is left of the acceleration when q'' = 0, the turning of the bases included."""
    c = carousel
    still = {s: 0.0 if s.kind.name == "ACCELERATION" else x for s, x in c.values.items()}
    v = velocity(c.space.inertial, c.hand)
    bias = derivative(v, c.space.root, c.space.bias_rate)
    a = acceleration(c.space.inertial, c.hand)
    np.testing.assert_allclose(
        numbers(bias.components(c.space.root), c.values),
        numbers(a.components(c.space.root), still),
        **ROUNDING,
    )


# --------------------------------------------------------------- against another package


def test_velocities_and_accelerations_are_those_of_sympy():
    t = spv.dynamicsymbols._t
    q = spv.dynamicsymbols("q1:4")
    N = spv.ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q[0] + sp.sin(t), N.z])
    B = A.orientnew("B", "Axis", [q[1], A.x])
    C = A.orientnew("C", "Axis", [q[2], A.y])
    O = spv.Point("O")
    P = O.locatenew("P", 0.7 * A.x + q[1] * B.y)
    R = O.locatenew("R", 0.4 * C.x - 0.2 * A.z)

    space = Space(Workspace("sympy"))
    x = space.workspace.coordinates("q:3")
    a = space.root.rotated("A", "z", x[0] + sin(space.workspace.time))
    b, c = a.rotated("B", "x", x[1]), a.rotated("C", "y", x[2])
    p = space.origin.offset("P", a.vector(0.7, 0, 0) + b.vector(0, x[1], 0))
    r = space.origin.offset("R", c.vector(0.4, 0, 0) + a.vector(0, 0, -0.2))
    values = random_values(space.workspace, 23)
    # derivatives before what they are derivatives of, and time last
    given = [
        (theirs.diff(t, order), values[ours])
        for order in (2, 1, 0)
        for theirs, coordinate in zip(q, x, strict=True)
        for ours in [(coordinate, coordinate.velocity, coordinate.acceleration)[order]]
    ]
    given.append((t, values[space.workspace.time]))

    def same(found: Vector, expected: spv.Vector, base: Base, frame: spv.ReferenceFrame) -> None:
        matrix = expected.to_matrix(frame).subs(given)
        np.testing.assert_allclose(
            numbers(found.components(base), values),
            np.array(matrix.evalf(), dtype=float).ravel(),
            **ROUNDING,
        )

    for point, theirs in ((p, P), (r, R)):
        v = theirs.pos_from(O).dt(N)
        same(velocity(space.inertial, point), v, space.root, N)
        same(acceleration(space.inertial, point), v.dt(N), space.root, N)
    w = B.ang_vel_in(C)
    same(angular_velocity(c, b), w, c, C)
    same(angular_acceleration(c, b), w.dt(C), c, C)
    between = P.pos_from(R)
    same(velocity(Frame(r, c), p), between.dt(C), c, C)
    same(acceleration(Frame(r, c), p), between.dt(C).dt(C), c, C)


# -------------------------------------------------------------------- how much it takes


def written(components) -> int:
    """Operations of components written out without any shared part."""
    text = "".join(f"y[{k}] = {expanded_text(e)};" for k, e in enumerate(components))
    return count_listing(text)[1]


def test_the_last_joint_is_found_in_21_operations_upwards_and_at_most_54_downwards():
    """Plaza 2015, table 6.9 and listings B.1 and B.3."""
    s = four_bar()
    points, bases = s.space.points, s.space.bases
    with s.space.using(Algebra(Toward.LEAF, extended=False)):
        up = position(s.origin, points["C"])
        assert up.base is bases["b3"]
        assert written(up.components(bases["b3"])) == 21
    with s.space.using(Algebra(Toward.ROOT, extended=False)):
        down = position(s.origin, points["C"])
        assert down.base is bases["b1"]
        assert written(down.components(s.base)) <= 54


def test_walking_up_shares_the_head_of_a_branch():
    space = Space(Workspace("heads"), Algebra(Toward.LEAF, extended=False))
    ws = space.workspace
    q = ws.coordinates("q:2")
    sizes = ws.parameters("a b c d e f g h i j k l")
    b1 = space.root.rotated("b1", "z", q[0])
    b3 = b1.rotated("b3", "x", q[1])
    p1 = space.origin.offset("P1", space.root.vector(*sizes[:3]))
    p3 = p1.offset("P3", b1.vector(*sizes[3:6]))
    p4 = p3.offset("P4", b3.vector(*sizes[6:9]))
    p5 = p3.offset("P5", b3.vector(*sizes[9:]))
    first = position(space.origin, p4)
    before = len(ws)
    second = position(space.origin, p5)
    assert first.base is second.base is b3
    assert len(ws) - before == 3  # one sum for each component


def test_the_same_question_makes_no_new_atoms():
    c = Carousel(Algebra())
    ask = [
        lambda: position(c.hand, c.rider),
        lambda: velocity(c.space.inertial, c.hand),
        lambda: acceleration(c.space.inertial, c.hand),
        lambda: angular_velocity(c.seat, c.wrist),
    ]
    first = [question().parts for question in ask]
    size = len(c.space.workspace)
    assert [question().parts for question in ask] == first
    assert len(c.space.workspace) == size


def test_the_matrix_of_a_base_with_itself_is_the_identity():
    c = Carousel(Algebra())
    R = rotation_matrix(c.arm, c.arm)
    assert [[entry.value for entry in row] for row in R] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
