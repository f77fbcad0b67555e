"""Jacobian patterns of the mechanisms of a thesis on sparse reordering, as it describes them.

Natural coordinates: points and unit vectors of three components, relative coordinates of one.  A
pattern has a column a free component and, in each row, the columns of the entities of one
constraint: every entry that can be different from zero in any position.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from biela.graph import Pattern


@dataclass
class Mechanism:
    """Entities with the columns of their free components, and constraint rows."""

    columns: dict[str, list[int]] = field(default_factory=dict)
    rows: list[set[int]] = field(default_factory=list)
    count: int = 0
    closures: list[int] = field(default_factory=list)
    constant: list[int] = field(default_factory=list)
    relative: list[int] = field(default_factory=list)

    def free(self, *names: str) -> None:
        for name in names:
            self.columns[name] = [self.count, self.count + 1, self.count + 2]
            self.count += 3

    def fixed(self, *names: str) -> None:
        for name in names:
            self.columns[name] = []

    def angle(self, *names: str) -> None:
        for name in names:
            self.columns[name] = [self.count]
            self.relative.append(self.count)
            self.count += 1

    def row(self, *names: str) -> None:
        """One row with all components of some entities."""
        self.rows.append({c for name in names for c in self.columns[name]})

    def by_component(self, *names: str, scalar: str | None = None) -> None:
        """Three rows, each with one component of every entity."""
        extra = set(self.columns[scalar]) if scalar else set()
        for k in range(3):
            self.rows.append({self.columns[n][k] for n in names if self.columns[n]} | extra)

    def cross(self, component: int, *names: str) -> None:
        """A component of a cross product: the two other components of its entities."""
        others = [k for k in range(3) if k != component]
        self.rows.append({self.columns[n][k] for n in names for k in others})

    def column(self, name: str, component: int = 0) -> int:
        return self.columns[name][component]

    @property
    def pattern(self) -> Pattern:
        return Pattern.of_rows(self.rows, self.count)

    def without(self, independent: list[int]) -> tuple[Pattern, list[int]]:
        """The pattern by the dependent coordinates, and the relative ones among them."""
        pattern, kept = self.pattern.without_columns(independent)
        return pattern, [k for k, c in enumerate(kept.tolist()) if c in self.relative]


def five_bar_chain(bars: int = 5, tip_fixed: bool = False) -> Mechanism:
    """A pendulum of bars hinged about axes that are not parallel; angles are independent."""
    m = Mechanism()
    moving = range(1, bars) if tip_fixed else range(1, bars + 1)
    m.fixed("p0", "v0", "r0")
    if tip_fixed:
        m.fixed(f"p{bars}", f"v{bars}")
    m.free(*(f"p{i}" for i in moving))
    m.free(*(f"v{i}" for i in moving))
    m.angle(*(f"θ{i}" for i in range(1, bars + 1)))
    for i in range(1, bars + 1):
        u = (f"p{i - 1}", f"p{i}")
        m.row(*u)
        m.row(*u, f"v{i - 1}")
        m.row(*u, f"v{i}")
        m.row(f"v{i - 1}", f"v{i}")
        m.row(f"v{i}")
    for i in range(1, bars + 1):
        before = "r0" if i == 1 else f"p{i - 2}"
        m.row(before, f"p{i - 1}", f"p{i}", f"v{i - 1}", f"θ{i}")
    return m


def bricard(model: int = 1) -> Mechanism:
    """The pendulum with its tip hinged to the ground: closed by six rows, or by sharing."""
    if model == 2:
        return five_bar_chain(tip_fixed=True)
    m = five_bar_chain()
    m.closures = m.constant = list(range(len(m.rows), len(m.rows) + 6))
    m.by_component("p5")
    m.by_component("v5")
    return m


def tether(bodies: int = 10) -> Mechanism:
    """Bodies in a row on spherical joints with three angles each; the first only twists."""
    m = Mechanism()
    m.fixed("p0", "p1", "r0", "a1")
    m.free("b1")
    for i in range(2, bodies + 1):
        m.free(f"p{i}", f"a{i}", f"b{i}")
    m.angle("τ1")
    for i in range(2, bodies + 1):
        m.angle(f"φ{i}", f"ψ{i}", f"γ{i}")
    m.row("b1")
    m.row("p0", "p1", "b1")
    m.row("b1", "τ1")
    for i in range(2, bodies + 1):
        u, a, b = (f"p{i - 1}", f"p{i}"), f"a{i}", f"b{i}"
        m.row(*u)
        m.row(*u, a)
        m.row(*u, b)
        m.row(a, b)
        m.row(a)
        m.row(b)
        # a₁ = b₁ × û₁ is no coordinate: where it acts, b₁ does
        before = f"a{i - 1}" if i > 2 else "b1"
        m.row(*u, before, f"b{i - 1}", f"φ{i}")
        m.row(*u, before, f"b{i - 1}", f"ψ{i}")
        m.row(*u, before, a, f"γ{i}")
    return m


def vehicle(tube: tuple[int, int] = (0, 1)) -> Mechanism:
    """A car with McPherson struts in front, five links behind, and steering.

    ``tube`` are the components of a cross product that keep the tubes of the rear struts in line.
    """
    m = Mechanism()
    m.free("pc", "pc2", "cy", "cz", "CG", "H")
    chassis = ("pc", "pc2", "cy", "cz")
    m.row("pc", "pc2")
    m.row("cy")
    m.row("cz")
    m.row("pc", "pc2", "cy")
    m.row("pc", "pc2", "cz")
    m.row("cy", "cz")
    for name in ("CG", "H"):
        m.by_component(name, *chassis)
    m.free("RL", "RR")
    m.by_component("RL", "H", "cy")
    m.by_component("RR", "RL", "cy")
    for side in "LR":
        _front(m, side, chassis)
        _rear(m, side, chassis, tube)
    return m


def _front(m: Mechanism, side: str, chassis: tuple[str, ...]) -> None:
    def name(text: str) -> str:
        return f"F{side}{text}"

    A1, A2, T, B, C, S, N, T2, w, d, e = (
        name(t) for t in ("A1", "A2", "T", "B", "C", "S", "N", "T'", "w", "d", "e")
    )
    m.free(A1, A2, T, B, C, S, N, T2, w, d, e)
    m.angle(name("s"))
    for point in (A1, A2, T):
        m.by_component(point, *chassis)
    m.row(B, A1)
    m.row(B, A2)
    for entities in ((w,), (d,), (w, d), (C, B), (C, B, w), (C, B, d)):
        m.row(*entities)
    for point in (S, N):
        m.by_component(point, B, C, w, d)
    m.by_component(T2, S, d, scalar=name("s"))
    for entities in ((e,), (e, w), (w, d, e)):
        m.row(*entities)
    m.closures += range(len(m.rows), len(m.rows) + 4)
    m.constant += range(len(m.rows), len(m.rows) + 3)
    m.by_component(T2, T)
    m.row(N, f"R{side}")


def _rear(m: Mechanism, side: str, chassis: tuple[str, ...], tube: tuple[int, int]) -> None:
    def name(text: str) -> str:
        return f"R{side}{text}"

    Q = [name(f"Q{k}") for k in range(1, 6)]
    K = [name(f"K{k}") for k in range(1, 6)]
    T, S, SpT, SpB, C, T2, w, e = (name(t) for t in ("T", "S", "SpT", "SpB", "C", "T2", "w", "e"))
    m.free(*Q, *K, T, S, SpT, SpB, C, T2, w, e)
    m.angle(name("s"))
    for point in (*Q, T, SpT):
        m.by_component(point, *chassis)
    basis = (S, K[0], K[1], w)
    for entities in ((w,), (K[0], S), (K[1], S), (K[0], K[1]), (K[0], S, w), (K[1], S, w)):
        m.row(*entities)
    for point in (*K[2:], C, SpB):
        m.by_component(point, *basis)
    for entities in ((e,), (e, w), (w, K[0], S, e)):
        m.row(*entities)
    m.row(T, S, name("s"))
    m.row(T2, T)
    for component in tube:
        m.cross(component, T2, T, S)
    m.closures += range(len(m.rows), len(m.rows) + 5)
    for k in range(5):
        m.row(K[k], Q[k])


def vehicle_independent(m: Mechanism) -> list[int]:
    """The chassis and the four struts."""
    chassis = [*m.columns["pc"], m.column("pc2", 1), m.column("pc2", 2), m.column("cy", 2)]
    return chassis + [m.column(f"{axle}{side}s") for axle in "FR" for side in "LR"]


def opened_vehicle(tube: tuple[int, int] = (0, 1)) -> tuple[Pattern, list[int]]:
    """The vehicle without its closures, by the coordinates that are then dependent."""
    m = vehicle(tube)
    more = [("F", "B", 2), ("F", "C", 0), ("F", "C", 2), ("F", "d", 2)]
    more += [("R", "S", 0), ("R", "S", 1), ("R", "K1", 0), ("R", "K1", 2), ("R", "K2", 2)]
    extra = [m.column(f"{axle}{side}{n}", k) for axle, n, k in more for side in "LR"]
    closed = m.closures
    m.rows = [row for i, row in enumerate(m.rows) if i not in closed]
    return m.without(vehicle_independent(m) + extra)


# --- numbers of the pendulum and of Bricard's mechanism ------------------------------------------

POINTS = np.array(
    [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float
)
AXES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)


def bricard_residual(q: np.ndarray) -> np.ndarray:
    """The 36 constraints of model 1, for q = (p₁…p₅, v₁…v₅, θ₁…θ₅)."""
    p = np.vstack([POINTS[:1], q[:15].reshape(5, 3)])
    v = np.vstack([AXES[:1], q[15:30].reshape(5, 3)])
    u = [np.array([0, 0, -1.0]), *(p[i] - p[i - 1] for i in range(1, 6))]
    rows = []
    for i in range(1, 6):
        rows += [u[i] @ u[i] - 1, u[i] @ v[i - 1], u[i] @ v[i], v[i - 1] @ v[i], v[i] @ v[i] - 1]
    for i in range(1, 6):
        sine, cosine = np.cross(u[i - 1], u[i]) @ v[i - 1], u[i - 1] @ u[i]
        rows.append(sine * np.cos(q[29 + i]) - cosine * np.sin(q[29 + i]))
    return np.array([*rows, *(p[5] - POINTS[5]), *(v[5] - AXES[5])])


def bricard_start() -> np.ndarray:
    return np.concatenate([POINTS[1:].ravel(), AXES[1:].ravel(), np.full(5, -np.pi / 2)])


def bricard_jacobian(q: np.ndarray) -> np.ndarray:
    """By complex steps."""
    columns = []
    for k in range(35):
        z = q.astype(complex)
        z[k] += 1e-30j
        columns.append(bricard_residual(z).imag / 1e-30)
    return np.array(columns).T
