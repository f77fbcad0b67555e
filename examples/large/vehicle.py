"""A car in natural coordinates: McPherson struts in front, five links behind, steering.

202 coordinates, 192 equations, 10 freedoms: those of the chassis and the lengths of four struts.
The wheels do not turn about their axes, and the rack is held.

* chassis: two points and two vectors, and 22 further points that are combinations of these;
* front, each side: an arm of two rods A1 B and A2 B, a carrier on the ball B, a strut that slides
  along d of the carrier to the point T', which is closed onto T of the chassis; a tie rod from the
  carrier (N) to the end of the rack;
* rear, each side: a carrier on five rods Q_i K_i, a strut between T and S, and its tube to T2.

The rods of the loops and T' = T are the closures, 18 equations: without them the mechanism is a
tree with 18 more freedoms (`opened`).

The car is let go where the ground is 5 cm higher than that on which its springs balance its weight,
and settles there.  x points forward, y to the left, z up.  The topology and the counts are those of
a thesis on sparse reordering, which gives no numbers; geometry, masses and springs are our own.

    biela order examples/large/vehicle.py
    python examples/large/vehicle.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import biela as bl
from biela.analysis.orderings import study_orderings
from biela.atoms import maximum
from biela.equations.natural import (
    Layout,
    NaturalPoint,
    NaturalVector,
    RelativeCoordinate,
    Segment,
)

Place = Sequence[float]

#: Hard points of the left side, m; those of the right have the other sign of y.
FRONT = {
    "A1": (1.45, 0.35, -0.10), "A2": (1.15, 0.35, -0.10), "T": (1.28, 0.56, 0.55),
    "B": (1.31, 0.70, -0.14), "C": (1.30, 0.76, 0.0), "S": (1.295, 0.62, 0.05),
    "N": (1.17, 0.68, -0.02), "rack": (1.20, 0.34, -0.05),
}  # fmt: skip
REAR = {
    "Q1": (-1.15, 0.38, 0.12), "Q2": (-1.42, 0.40, 0.10), "Q3": (-1.12, 0.33, -0.10),
    "Q4": (-1.45, 0.30, -0.08), "Q5": (-0.85, 0.55, -0.06), "K1": (-1.22, 0.66, 0.14),
    "K2": (-1.36, 0.67, 0.13), "K3": (-1.20, 0.69, -0.12), "K4": (-1.40, 0.70, -0.10),
    "K5": (-1.24, 0.70, -0.05), "T": (-1.33, 0.52, 0.50), "S": (-1.31, 0.62, -0.06),
    "SpT": (-1.25, 0.45, 0.20), "SpB": (-1.26, 0.50, -0.11), "C": (-1.30, 0.76, 0.0),
}  # fmt: skip
#: Chassis: kg, and kg m² about its centre; each wheel with its carrier, kg at its centre C.
CHASSIS_MASS, CHASSIS_INERTIA = 1300.0, (450.0, 1500.0, 1700.0)
CENTRE, WHEEL_MASS = (0.0, 0.0, 0.25), 40.0
#: Struts: preload N, N/m, N s/m.  Tyres: N/m, N s/m along and across.
STRUT = (3188.0, 25_000.0, 1500.0)
TYRE = (2e5, 500.0, 2000.0)
GRAVITY = 9.81

#: Independent coordinates, and those that are so besides where the loops are opened.
INDEPENDENT = (
    "pc.x", "pc.y", "pc.z", "pc2.y", "pc2.z", "cy.z",
    *(f"{wheel}.s" for wheel in ("FL", "FR", "RL", "RR")),
)  # fmt: skip
OPENED = tuple(
    f"{axle}{side}.{name}"
    for axle, names in (
        ("F", ("B.z", "C.x", "C.z", "d.z")),
        ("R", ("S.x", "S.y", "K1.x", "K1.z", "K2.z")),
    )
    for side in "LR"
    for name in names
)


@dataclass(frozen=True)
class Chassis:
    """What the suspensions are fixed to."""

    points: tuple[NaturalPoint, NaturalPoint]
    vectors: tuple[NaturalVector, NaturalVector]
    rack: dict[str, NaturalPoint]


class Car:
    """The layout of the car, being laid."""

    def __init__(self, steer: float, opened: bool) -> None:
        self.lay = Layout("vehicle, opened" if opened else "vehicle", gravity=(0.0, 0.0, -GRAVITY))
        (self.ground,) = self.lay.source.parameters(ground=0.05)
        self.closed = not opened
        self.chassis = self._chassis(steer)
        for side, y in (("L", 1.0), ("R", -1.0)):
            self._front(f"F{side}", y)
            self._rear(f"R{side}", y)
        tops = [self._point(f"{wheel}.T") for wheel in ("FL", "FR", "RR", "RL")]
        floor = [self._point(name) for name in ("FL.A1", "FR.A1", "RR.Q4", "RL.Q4")]
        rack = [self.chassis.rack[side] for side in "LR"]
        self._shown({"frame": tops, "floor": floor, "rack": rack}, "chassis")

    def _point(self, name: str) -> NaturalPoint:
        found = self.lay.entities[name]
        assert isinstance(found, NaturalPoint)
        return found

    # ----------------------------------------------------------------------- bodies

    def _chassis(self, steer: float) -> Chassis:
        lay = self.lay
        pc, pc2 = lay.point("pc", (0, 0, 0)), lay.point("pc2", (1, 0, 0))
        cy, cz = lay.vector("cy", (0, 1, 0)), lay.vector("cz", (0, 0, 1))
        lay.body(
            "chassis",
            [pc, pc2],
            [cy, cz],
            mass=CHASSIS_MASS,
            centre=CENTRE,
            inertia=CHASSIS_INERTIA,
        )
        made = Chassis((pc, pc2), (cy, cz), {})
        self._fixed_to((pc, pc2), (cy, cz), lay.point("CG", CENTRE))
        x, y, z = FRONT["rack"]
        H = self._fixed_to((pc, pc2), (cy, cz), lay.point("H", (x, 0.0, z)))
        rack = lay.relative("rack", steer, "m", fixed=True)
        left = lay.point("rackL", (x, y + steer, z))
        right = lay.point("rackR", (x, steer - y, z))
        lay.combination(left, [(1.0, H), (y + rack.q, cy)], "rack left")
        lay.combination(right, [(1.0, left), (-2 * y, cy)], "rack right")
        made.rack.update(L=left, R=right)
        return made

    def _on_chassis(self, name: str, place: Place) -> NaturalPoint:
        c = self.chassis
        return self._fixed_to(c.points, c.vectors, self.lay.point(name, place))

    def _fixed_to(
        self, points: Sequence[NaturalPoint], vectors: Sequence[NaturalVector], extra: NaturalPoint
    ) -> NaturalPoint:
        """A further point of a body on some points and vectors: origin + Σ α e."""
        origin, *others = points
        E = np.array([*(p.at - origin.at for p in others), *(v.at for v in vectors)]).T
        alpha = np.linalg.solve(E, extra.at - origin.at).tolist()
        first = 1.0 - sum(alpha[: len(others)])
        terms = [(first, origin), *zip(alpha, (*others, *vectors), strict=True)]
        self.lay.combination(extra, terms, extra.name)
        return extra

    def _wheel(
        self, name: str, C: NaturalPoint, w: NaturalVector, arrow: Segment | NaturalVector
    ) -> None:
        """A wheel held by an arrow of its carrier, its mass, and its tyre on the ground."""
        lay = self.lay
        e = lay.vector(f"{name}.e", (0, 0, 1))
        lay.unit(e)
        lay.dot(e, w)
        lay.angle(f"{name}.roll", arrow, e, w, "regular", fixed=True)
        lay.particle(f"{name}.wheel", C, WHEEL_MASS)
        stiffness, damping, across = TYRE
        x, y, z = C.components
        load = (CHASSIS_MASS / 4 + WHEEL_MASS) * GRAVITY
        push = load + stiffness * (self.ground - z) - damping * z.velocity
        lay.force(C, (-across * x.velocity, -across * y.velocity, maximum(0.0, push)))
        squeezed = maximum(0.0, self.ground + load / stiffness - z)
        lay.source.output(f"{name} tyre energy", stiffness * squeezed * squeezed / 2)

    def _strut(self, s: RelativeCoordinate) -> None:
        preload, stiffness, damping = STRUT
        self.lay.spring(s, stiffness, s.start[0] + preload / stiffness, damping)

    # ------------------------------------------------------------------ suspensions

    def _front(self, name: str, side: float) -> None:
        """A McPherson strut: arm, carrier, slider, tie rod."""
        lay, at = self.lay, mirrored(FRONT, side)
        A1, A2, T = (self._on_chassis(f"{name}.{k}", at[k]) for k in ("A1", "A2", "T"))
        B, C = (lay.point(f"{name}.{k}", at[k]) for k in ("B", "C"))
        w = lay.vector(f"{name}.w", (0, side, 0))
        way = at["T"] - at["S"]
        d = lay.vector(f"{name}.d", way / np.linalg.norm(way))
        lay.length(A1, B)
        lay.length(A2, B)
        # the carrier
        for vector in (w, d):
            lay.unit(vector)
        lay.dot(w, d)
        lay.length(B, C)
        lay.dot(Segment(B, C), w)
        lay.dot(Segment(B, C), d)
        S, N = (self._fixed_to((B, C), (w, d), lay.point(f"{name}.{k}", at[k])) for k in ("S", "N"))
        top = lay.point(f"{name}.T'", at["T"])
        s = lay.relative(f"{name}.s", float(np.linalg.norm(way)), "m")
        lay.slider(S, top, d, s)
        self._strut(s)
        self._wheel(name, C, w, d)
        if self.closed:
            lay.close(T, top, f"{name}.top")
            lay.length(N, self.chassis.rack[name[-1]], owner=f"{name}.tie", closure=True)
        rack = self.chassis.rack[name[-1]]
        self._shown(
            {"arm": (A1, B, A2), "carrier": (B, C, S, N), "strut": (S, top), "tie rod": (N, rack)},
            name,
        )

    def _rear(self, name: str, side: float) -> None:
        """Five rods, a carrier, and a strut with its tube."""
        lay, at = self.lay, mirrored(REAR, side)
        Q = [self._on_chassis(f"{name}.Q{k}", at[f"Q{k}"]) for k in range(1, 6)]
        T, _ = (self._on_chassis(f"{name}.{k}", at[k]) for k in ("T", "SpT"))
        S, K1, K2 = (lay.point(f"{name}.{k}", at[k]) for k in ("S", "K1", "K2"))
        w = lay.vector(f"{name}.w", (0, side, 0))
        # the carrier
        lay.unit(w)
        lay.length(S, K1)
        lay.length(S, K2)
        lay.length(K1, K2)
        lay.dot(Segment(S, K1), w)
        lay.dot(Segment(S, K2), w)
        K3, K4, K5, C, _ = (
            self._fixed_to((S, K1, K2), (w,), lay.point(f"{name}.{k}", at[k]))
            for k in ("K3", "K4", "K5", "C", "SpB")
        )
        s = lay.distance(f"{name}.s", T, S)
        self._strut(s)
        way = at["S"] - at["T"]
        T2 = lay.point(f"{name}.T2", at["T"] + 0.25 * way / np.linalg.norm(way))
        lay.length(T, T2)
        lay.collinear(T, T2, Segment(T, S), owner=f"{name}.tube")
        self._wheel(name, C, w, Segment(S, K1))
        for k, (q, p) in enumerate(zip(Q, (K1, K2, K3, K4, K5), strict=True), 1):
            if self.closed:
                lay.length(q, p, owner=f"{name}.rod{k}", closure=True)
            self._shown({f"link {k}": (q, p)}, name)
        self._shown({"carrier": (S, K4, K2, K1, K5, K3, C), "strut": (T, S)}, name)

    def _shown(self, bodies: dict[str, Sequence[NaturalPoint]], of: str) -> None:
        """Bodies without mass whose equations are written above: they are drawn."""
        for name, points in bodies.items():
            self.lay.body(f"{of}.{name}", points, shape=False)


def mirrored(places: dict[str, Place], side: float) -> dict[str, np.ndarray]:
    """The hard points of the left (1) or right (-1) side."""
    return {name: np.array([x, side * y, z]) for name, (x, y, z) in places.items()}


def vehicle(steer: float = 0.0) -> Layout:
    """The car; ``steer`` is the place of the rack, m to the left."""
    return Car(steer, opened=False).lay


def opened() -> Layout:
    """The tree that is left of the car without its closures."""
    return Car(0.0, opened=True).lay


def layout() -> Layout:
    """The car with its wheels straight."""
    return vehicle()


def main() -> None:
    """Order it, and let it settle on the step."""
    study = study_orderings(layout(), independent=INDEPENDENT)
    print(f"{study.name}: {study.dependent.shape}, {study.dependent.nnz} entries")
    for report in study.orderings:
        if report.by_blocks:
            print(f"  {report.name:26} {report.border}/{report.band} {report.orders}")
    options = bl.Options(independent=INDEPENDENT, index=3, linear_solver="reordered")
    run = bl.simulate(
        layout().system(), 1.0, tolerance=1e-5, integrator="adams",
        formulation="velocity_projection", options=options,
    )  # fmt: skip
    print(run.statistics)
    print(f"the chassis ends {run['pc.z'][-1]:.4f} m higher")


if __name__ == "__main__":
    main()
