"""Splines and tables: through the points, smooth inside, as asked outside."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.atoms import Workspace, diff, evaluate
from biela.atoms.piecewise import PiecewisePolynomial, cubic_spline, table
from biela.errors import BielaError, DomainError, WorkspaceError

X = [-1.0, 0.0, 0.3, 1.5, 2.0, 4.0]
Y = [2.0, -1.0, 0.5, 0.25, 3.0, 2.0]  # closed: first = last
ENDS = ("natural", "clamped", "not-a-knot", "periodic")


def derivatives(f: PiecewisePolynomial) -> list[PiecewisePolynomial]:
    d1 = f.derivative()
    d2 = d1.derivative()
    return [f, d1, d2, d2.derivative()]


def both_sides(f: PiecewisePolynomial, k: int, order: int) -> tuple[float, float]:
    """The limits of a derivative from the left and from the right of breakpoint k."""
    d = derivatives(f)[order]
    s = f.breaks[k] - f.origins[k]
    c = d.coefficients[k]
    left = ((c[3] * s + c[2]) * s + c[1]) * s + c[0]
    return left, d.coefficients[k + 1][0]


points = st.lists(st.tuples(st.integers(1, 40), st.integers(-50, 50)), min_size=4, max_size=12).map(
    lambda ps: (
        list(itertools.accumulate(h / 8 for h, _ in ps)),
        [y / 4 for _, y in ps],
    )
)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(data=points, end=st.sampled_from(ENDS))
def test_a_spline_passes_through_its_points_and_is_twice_smooth(data, end):
    x, y = data
    if end == "periodic":
        y = [*y[:-1], y[0]]
    f = cubic_spline("f", x, y, end=end, slopes=(1.5, -2.0))
    scale = max(map(abs, y)) + 1
    assert [f(v) for v in x] == pytest.approx(y, rel=1e-12, abs=1e-12 * scale)
    h = min(b - a for a, b in itertools.pairwise(x))
    for k in range(1, len(x) - 1):
        for order in range(3):
            left, right = both_sides(f, k, order)
            # derivatives are of the size of the values over h**order
            assert left == pytest.approx(right, abs=1e-12 * scale / h**order * 10)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(data=points)
def test_the_ends_are_as_asked(data):
    x, y = data
    scale = (max(map(abs, y)) + 1) / min(b - a for a, b in itertools.pairwise(x)) ** 3
    natural = derivatives(cubic_spline("f", x, y, end="natural"))
    assert natural[2](x[0]) == pytest.approx(0, abs=1e-12 * scale)
    assert both_sides(natural[0], len(x) - 1, 2)[0] == pytest.approx(0, abs=1e-12 * scale)
    clamped = derivatives(cubic_spline("f", x, y, end="clamped", slopes=(1.5, -2.0)))
    assert clamped[1](x[0]) == pytest.approx(1.5, abs=1e-12 * scale)
    assert both_sides(clamped[0], len(x) - 1, 1)[0] == pytest.approx(-2, abs=1e-12 * scale)
    free = cubic_spline("f", x, y, end="not-a-knot")
    for k in (1, len(x) - 2):
        left, right = both_sides(free, k, 3)
        assert left == pytest.approx(right, abs=1e-11 * scale)
    closed = cubic_spline("f", x, [*y[:-1], y[0]], end="periodic")
    for order in range(3):
        last = both_sides(closed, len(x) - 1, order)[0]
        first = derivatives(closed)[order].coefficients[1][0]
        assert last == pytest.approx(first, abs=1e-12 * scale)


@pytest.mark.parametrize(
    "knots",
    [
        [0.0, 1.0, 2.0, 3.0],
        [-3.0, -2.5, 0.0, 1.0, 7.0],
        [0.0, 1e-3, 1.0, 1.001, 5.0, 5.5],
        [0.0, 1e-6, 1.0, 2.0],
    ],
)
def test_a_spline_without_end_conditions_reproduces_a_cubic(knots):
    cubic = np.polynomial.Polynomial([0.5, -1.0, 0.25, 0.125])
    f = cubic_spline("f", knots, [float(cubic(v)) for v in knots])
    # a difference quotient of values over the smallest step loses so many digits
    loss = 1e-15 * 50 / min(np.diff(knots))
    for v in np.linspace(knots[0], knots[-1], 41):
        assert f(v) == pytest.approx(float(cubic(v)), rel=1e-12, abs=loss)
        assert f.derivative()(v) == pytest.approx(float(cubic.deriv()(v)), abs=10 * loss)


def test_a_clamped_spline_reproduces_a_cubic_of_the_same_end_slopes():
    cubic = np.polynomial.Polynomial([0.5, -1.0, 0.25, 0.125])
    slope = cubic.deriv()
    for knots in ([0.0, 2.0], [0.0, 0.5, 2.0]):
        f = cubic_spline(
            "f",
            knots,
            [float(cubic(v)) for v in knots],
            end="clamped",
            slopes=(float(slope(0.0)), float(slope(2.0))),
        )
        for v in np.linspace(0, 2, 21):
            assert f(v) == pytest.approx(float(cubic(v)), rel=1e-14, abs=1e-14)


def test_few_points_give_the_lowest_curve_through_them():
    line = cubic_spline("f", [1.0, 3.0], [2.0, 8.0])
    assert [line(v) for v in (0.0, 1.0, 2.0, 3.0, 5.0)] == pytest.approx(
        [-1, 2, 5, 8, 14], rel=1e-14, abs=0
    )
    parabola = cubic_spline("f", [0.0, 1.0, 3.0], [1.0, 0.0, 4.0])
    assert [parabola(v) for v in (0.5, 2.0, 2.5)] == pytest.approx(
        [0.25, 1.0, 2.25], rel=1e-14, abs=0
    )


def test_a_natural_spline_has_the_least_bending():
    """The natural spline minimises the integral of f''² among interpolants (Holladay)."""

    def bending(f: PiecewisePolynomial) -> float:
        total = 0.0
        for k in range(1, len(X)):
            h = X[k] - X[k - 1]
            _, _, c2, c3 = f.coefficients[k]
            total += 4 * c2**2 * h + 12 * c2 * c3 * h**2 + 12 * c3**2 * h**3
        return total

    least = bending(cubic_spline("f", X, Y, end="natural"))
    assert least < bending(cubic_spline("f", X, Y, end="not-a-knot"))
    for slopes in ((0, 0), (1, 1), (-3, 2)):
        assert least < bending(cubic_spline("f", X, Y, end="clamped", slopes=slopes))


def test_a_spline_converges_with_the_fourth_power_of_the_step():
    errors = []
    for n in (20, 40):
        x = np.linspace(0, 2, n + 1)
        f = cubic_spline("f", x, np.sin(3 * x))
        fine = np.linspace(0, 2, 999)
        errors.append(max(abs(f(v) - math.sin(3 * v)) for v in fine))
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.4)


# --- outside ------------------------------------------------------------------


def test_outside_a_spline_goes_on_straight_or_stays():
    f = cubic_spline("f", X, Y, end="natural")
    first, last = f.derivative()(X[0]), both_sides(f, len(X) - 1, 1)[0]
    assert f(-3.0) == pytest.approx(Y[0] - 2 * first, rel=1e-13, abs=0)
    assert f(6.0) == pytest.approx(Y[-1] + 2 * last, rel=1e-13, abs=0)
    assert f.derivative()(-3.0) == first and f.derivative().derivative()(-3.0) == 0
    g = cubic_spline("g", X, Y, outside="constant")
    assert g(-100.0) == Y[0] and g(100.0) == Y[-1] and g.derivative()(100.0) == 0


def test_a_table_is_straight_between_its_points():
    f = table("f", [0, 1, 3], [0, 2, -2])
    assert [f(v) for v in (-1, 0, 0.25, 1, 2, 3, 9)] == [0, 0, 0.5, 2, 0, -2, -2]
    g = table("g", [0, 1, 3], [0, 2, -2], outside="linear")
    assert [g(v) for v in (-1, 5)] == [-2, -6]
    h = table("h", [0, 1, 3], [0, 2, 0], outside="periodic")
    assert [h(v) for v in (-1.0, 0.5, 3.5, 300.5, -2.5)] == [1.0, 1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("turns", [-7, -1, 1, 5])
def test_a_periodic_spline_repeats(turns):
    f = cubic_spline("f", X, Y, end="periodic")
    for d in derivatives(f)[:3]:
        for v in (-0.7, 0.1, 1.9, 3.9):
            assert d(v + 5 * turns) == pytest.approx(d(v), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("n", [3, 4, 7])
def test_a_periodic_spline_of_a_turned_list_is_turned(n):
    """No point of a closed curve is special: starting at the second point changes nothing."""
    rng = np.random.default_rng(n)
    h = rng.uniform(0.5, 1.5, n - 1)
    x = np.concatenate([[0.0], np.cumsum(h)])
    y = rng.normal(size=n - 1)
    f = cubic_spline("f", x, [*y, y[0]], end="periodic")
    turned_x = np.concatenate([x[1:], [x[-1] + h[0]]])
    g = cubic_spline("g", turned_x, [*y[1:], y[0], y[1]] if n > 2 else y, end="periodic")
    for v in np.linspace(-3, 9, 50):
        assert f(v) == pytest.approx(g(v), rel=1e-11, abs=1e-11)


def test_a_periodic_spline_is_smooth_where_it_closes():
    """-1e-18 + 1 rounds to the last breakpoint; all derivatives must be those at 0."""
    f = cubic_spline("f", [0, 0.25, 0.6, 1], [0, 1, -1, 0], end="periodic")
    for d in derivatives(f)[:3]:
        assert d(-1e-18) == pytest.approx(d(0.0), rel=1e-12, abs=1e-12)
        assert d(1.0) == pytest.approx(d(0.0), rel=1e-12, abs=1e-12)
        assert d(-1e-9) == pytest.approx(d(1e-9), rel=1e-6, abs=1e-6)


# --- as atoms -----------------------------------------------------------------


def test_a_curve_of_a_workspace_is_one_function():
    ws = Workspace()
    x = ws.symbol("x")
    f = ws.spline("f", X, Y)
    assert f(x) == f(x) and f(x) != f(-x)
    assert ws.spline("f", X, Y)(x) == f(x)
    assert f(0.3).value == pytest.approx(0.5, rel=1e-14, abs=0)
    assert f(ws.atom(0.3)) == f(0.3)
    flat = ws.lookup("flat", [0, 1], [0, 0])
    assert flat(x) == 0
    values = np.linspace(-2, 5, 9)
    assert evaluate(f(x), {x: values}).tolist() == [f.polynomial(v) for v in values.tolist()]


def test_two_different_curves_cannot_have_one_name():
    ws = Workspace()
    ws.lookup("h", [0, 1], [0, 1])
    with pytest.raises((WorkspaceError, DomainError), match="h"):
        ws.lookup("h", [0, 1], [0, 2])


def test_a_curve_does_not_take_the_name_of_a_derivative():
    """The derivative of f is written f_d: a second function of that name must not hide it."""
    ws = Workspace()
    x = ws.symbol("x")
    f = ws.lookup("f", [0, 1, 2], [0, 1, 3])
    try:
        other = ws.lookup("f_d", [0, 1], [5, 6])(x)
        d = diff(f(x), x)
    except BielaError:
        return  # refused: as good
    assert repr(d) != repr(other)
    assert float(evaluate(d, {x: 1.5})) == 2.0


def test_many_points_take_memory_in_proportion():
    """A dense system of 3000 equations would take 72 MB."""
    x = np.linspace(0, 1, 3000)
    y = np.sin(x)
    y[-1] = y[0]
    for end in ENDS:
        tracemalloc.start()
        try:
            f = cubic_spline("f", x, y, end=end)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 10e6, end
        assert f(0.123) == pytest.approx(math.sin(0.123), rel=1e-9, abs=0)


# --- errors -------------------------------------------------------------------


@pytest.mark.parametrize(
    "x, y, words",
    [
        ([0, 1, 1], [0, 1, 2], ["increase", "x[1]"]),
        ([0, 2, 1], [0, 1, 2], ["increase", "x[1]", "x[2]"]),
        ([0, 1], [0, 1, 2], ["(2,)", "(3,)"]),
        ([0], [0], ["at least"]),
        ([], [], ["at least"]),
        ([[0, 1]], [[0, 1]], ["(1, 2)"]),
        ([0, math.nan], [0, 1], ["finite"]),
        ([0, 1], [0, math.inf], ["finite"]),
    ],
)
@pytest.mark.parametrize("make", [table, cubic_spline])
def test_bad_points_are_refused_by_name(make, x, y, words):
    with pytest.raises(DomainError, match="camber") as caught:
        make("camber", x, y)
    for word in words:
        assert word in str(caught.value)


def test_other_bad_input_is_refused_by_name():
    with pytest.raises(DomainError, match=r"f.*bogus.*natural"):
        cubic_spline("f", X, Y, end="bogus")
    with pytest.raises(DomainError, match=r"f.*bogus.*linear"):
        cubic_spline("f", X, Y, outside="bogus")
    with pytest.raises(DomainError, match=r"f.*bogus"):
        table("f", X, Y, outside="bogus")
    with pytest.raises(DomainError, match=r"f.*finite"):
        cubic_spline("f", X, Y, end="clamped", slopes=(math.nan, 0))
    with pytest.raises(DomainError, match="2x"):
        table("2x", X, Y)
    with pytest.raises(DomainError, match="at least 3"):
        cubic_spline("f", [0, 1], [0, 0], end="periodic")


@pytest.mark.parametrize("scale", [1.0, 1e-13, 1e9])
def test_a_periodic_curve_must_close_whatever_its_units(scale):
    for make in (
        lambda y: table("f", [0, 1, 2], y, outside="periodic"),
        lambda y: cubic_spline("f", [0, 1, 2], y, end="periodic"),
    ):
        with pytest.raises(DomainError, match="equal first and last"):
            make([0, scale, 0.5 * scale])
        closed = make([scale, 2 * scale, scale * (1 + 1e-15)])
        assert closed(1.0) == pytest.approx(2 * scale)
