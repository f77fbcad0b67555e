"""The blocks of a mechanism in reference-point coordinates, and what they answer.

q = (r, e) a body, v = (r', ω'),  or in the plane (two places, angle) and their rates,
then the coordinates that count turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from biela.equations.blocks.block import Block, looped, read_multipliers
from biela.equations.blocks.populations import Floats, Integers, Names
from biela.equations.blocks.world import World


@dataclass(frozen=True, eq=False)
class ReferenceBlocks:
    """A mechanism in reference-point coordinates.

    Attributes:
        name: That of the model.
        plane: The plane of a planar model.
        world: Its bodies, as populations.
        extra: Names of the coordinates that count turns.
        rotors: Inertia along each of these.
        rows: Name of each row, "joint.label".
        positions: Blocks of Phi and Phi_v.
        velocities: Of beta.
        accelerations: Of gamma.
        gaps: Of Phi alone.
        dynamics: Of the entries of Phi_v, and gamma.
        rates_of_rows: Of dPhi = Phi_v v - beta.
        forces: Of Q and the stored energy V.
        sensors: Of y.
        watched: Of g, whose changes of sign are events.
        laws: Of the laws of time.
        law_count: How many laws there are.
        masses: The bodies by themselves.
        start: The position where a motion starts, as far as joints and bodies say it.
        across: The places of the bodies across the plane.
        indices: (2, entries) row and column of each entry of Φ_v, in the order of its values.
        inputs: Names of the inputs.
        input_values: Their values if nobody gives others.
        outputs: Names of the outputs.
        output_units: For so many instances, unit and name of the rate of each output.
        events: Names of the events.
    """

    name: str
    plane: str | None
    world: World
    extra: Names
    rotors: Floats
    rows: Names
    positions: tuple[Block, ...]
    velocities: tuple[Block, ...]
    accelerations: tuple[Block, ...]
    gaps: tuple[Block, ...]
    dynamics: tuple[Block, ...]
    rates_of_rows: tuple[Block, ...]
    forces: tuple[Block, ...]
    sensors: tuple[Block, ...]
    watched: tuple[Block, ...]
    laws: tuple[Block, ...]
    law_count: int
    masses: Block
    start: Floats
    across: Floats
    indices: Integers
    inputs: Names
    input_values: Floats
    outputs: Names
    output_units: tuple[tuple[int, tuple[tuple[str, str], ...]], ...]
    events: Names
    _laws_at: dict[float, dict[str, Floats]] = field(default_factory=dict)

    # ---------------------------------------------------------------------------- sizes

    @property
    def bodies(self) -> Sequence[str]:
        """Names of the bodies."""
        return self.world.names

    @property
    def widths(self) -> tuple[int, int]:
        """Coordinates and velocities of a body."""
        return (7, 6) if self.plane is None else (3, 3)

    @property
    def body_sizes(self) -> tuple[int, int]:
        """Coordinates and velocities of all bodies; those that count turns follow."""
        return self.widths[0] * self.world.count, self.widths[1] * self.world.count

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.widths[0] * self.world.count + len(self.extra)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.widths[1] * self.world.count + len(self.extra)

    @property
    def coordinate_names(self) -> Iterator[str]:
        """Names of q, as `biela.equations.formulate` has them."""
        places = "xyz" if self.plane is None else self.plane
        own = [f"r{axis}" for axis in places]
        own += [f"e{k}" for k in range(4)] if self.plane is None else ["angle"]
        yield from (f"{body}.{part}" for body in self.bodies for part in own)
        yield from self.extra

    @property
    def velocity_names(self) -> Iterator[str]:
        """Names of v, likewise."""
        if self.plane is None:
            own = [*(f"r{axis}_rate" for axis in "xyz"), *(f"own_w{axis}" for axis in "xyz")]
        else:
            own = [*(f"r{axis}_rate" for axis in self.plane), "angle_rate"]
        yield from (f"{body}.{part}" for body in self.bodies for part in own)
        yield from (f"{name}_rate" for name in self.extra)

    # ------------------------------------------------------------------------ equations

    def position(self, q: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """The constraints, and the entries of their Jacobian at ``indices``."""
        sizes = {"Phi": len(self.rows), "Phi_v": self.indices.shape[1]}
        found = looped(self.positions, self.vectors(q, None, t), sizes)
        return found["Phi"], found["Phi_v"]

    def Phi(self, q: Floats, t: float = 0.0) -> Floats:
        """The constraints."""
        return self.position(q, t)[0]

    def Phi_v(self, q: Floats, t: float = 0.0) -> Floats:
        """Entries of the Jacobian, at ``indices``."""
        return self.position(q, t)[1]

    def beta(self, q: Floats, t: float = 0.0) -> Floats:
        """Φ_v v = β."""
        return looped(self.velocities, self.vectors(q, None, t), {"beta": len(self.rows)})["beta"]

    def gamma(self, q: Floats, v: Floats, t: float = 0.0) -> Floats:
        """Φ_v v' = γ."""
        sizes = {"gamma": len(self.rows)}
        return looped(self.accelerations, self.vectors(q, v, t), sizes)["gamma"]

    def dPhi(self, q: Floats, v: Floats, t: float = 0.0) -> Floats:
        """The rates of the constraints, Φ_v v - β."""
        sizes = {"dPhi": len(self.rows)}
        return looped(self.rates_of_rows, self.vectors(q, v, t), sizes)["dPhi"]

    def Q(
        self,
        q: Floats,
        v: Floats,
        t: float = 0.0,
        u: Floats | None = None,
        lam: Floats | None = None,
    ) -> Floats:
        """Gravity, the moments of turning bodies and all forces."""
        blocks = (self.masses, *self.forces)
        return looped(blocks, self.vectors(q, v, t, u, lam), {"Q": self.nv})["Q"]

    def stored_energy(self, q: Floats, v: Floats, t: float = 0.0, u: Floats | None = None) -> float:
        """The potential energy of springs; gravity is not included."""
        return float(looped(self.forces, self.vectors(q, v, t, u), {"V": 1})["V"][0])

    def kinetic_energy(self, v: Floats) -> Floats:
        """½ vᵀ M v of velocities, a row an instant."""
        return np.asarray(np.einsum("ti,ti->t", v, self.momentum(v)) / 2)

    def momentum(self, v: Floats) -> Floats:
        """M v of velocities, a row an instant: of the bodies, and of rotors."""
        count, bodies = self.world.count, self.body_sizes[1]
        speed = v[:, :bodies].reshape(len(v), count, self.widths[1])
        found = np.einsum("nij,tnj->tni", self.M(), speed, optimize=True).reshape(len(v), bodies)
        return np.concatenate([found, self.rotors * v[:, bodies:]], axis=1)

    def height_energy(self, q: Floats) -> Floats:
        """The potential energy of gravity of positions, a row an instant."""
        weight, place = self._weights_and_places(q)
        return np.asarray(-np.einsum("ni,tni->t", weight, place))

    def height_size(self, q: Floats) -> float:
        """The size of that energy in one position, wherever it has its zero: Σ |m g_i r_i|, J."""
        weight, place = self._weights_and_places(q[None])
        return float(np.abs(weight * place[0]).sum())

    def _weights_and_places(self, q: Floats) -> tuple[Floats, Floats]:
        """M g of the bodies, and where they are at every instant."""
        count, wide = self.world.count, self.widths[0]
        place = q[:, : wide * count].reshape(len(q), count, wide)
        mass, g = self.masses.parameters[:, :1], self.masses.parameters[:, 7:]
        axes = [0, 1, 2] if self.plane is None else ["xyz".index(axis) for axis in self.plane]
        return (mass * g)[:, axes], place[:, :, : len(axes)]

    @property
    def reads_multipliers(self) -> bool:
        """Whether a sensor reads the reaction of a joint."""
        return read_multipliers(self.sensors)

    def y(
        self,
        q: Floats,
        v: Floats,
        t: float = 0.0,
        u: Floats | None = None,
        lam: Floats | None = None,
    ) -> Floats:
        """The outputs."""
        sizes = {"y": len(self.outputs)}
        return looped(self.sensors, self.vectors(q, v, t, u, lam), sizes)["y"]

    def g(self, q: Floats, v: Floats, t: float = 0.0, u: Floats | None = None) -> Floats:
        """What changes its sign at events."""
        return looped(self.watched, self.vectors(q, v, t, u), {"g": len(self.events)})["g"]

    def M(self) -> Floats:
        """The mass matrix of the bodies, constant: blocks (n, 6, 6), or (n, 3, 3) in a plane.

        Coordinates that count turns have no inertia but that of rotors.
        """
        p = self.masses.parameters
        if self.plane is not None:
            normal = 6 - sum("xyz".index(axis) + 1 for axis in self.plane)  # 1, 2, 3 for x, y, z
            return np.stack([p[:, 0], p[:, 0], p[:, normal]], axis=1)[:, :, None] * np.eye(3)
        found = np.zeros((len(p), 6, 6))
        found[:, [0, 1, 2], [0, 1, 2]] = p[:, :1]
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        for k, (i, j) in enumerate(pairs):
            found[:, 3 + i, 3 + j] = found[:, 3 + j, 3 + i] = p[:, 1 + k]
        return found

    def rates(self, q: Floats, v: Floats) -> Floats:
        """The rates q' = N(q) v."""
        n, m = self.widths[0] * self.world.count, self.widths[1] * self.world.count
        found = looped([self.masses], {"q": q, "v": v}, {"rates": n})["rates"]
        return np.concatenate([found, v[m:]])

    def moved(self, q: Floats, delta: Floats) -> Floats:
        """The position q ⊕ δ: each body displaced, and turned by the exponential map."""
        if self.plane is not None:
            return q + delta
        n = self.world.count
        place, step = q[: 7 * n].reshape(n, 7), delta[: 6 * n].reshape(n, 6)
        half = step[:, 3:] / 2
        size = np.linalg.norm(half, axis=1, keepdims=True)
        sine = np.where(size > 1e-8, np.sin(size) / np.maximum(size, 1e-300), 1 - size**2 / 6)
        d0, d = np.cos(size), half * sine
        e0, e = place[:, 3:4], place[:, 4:]
        turned = np.empty((n, 4))
        turned[:, :1] = e0 * d0 - (e * d).sum(axis=1, keepdims=True)
        turned[:, 1:] = e0 * d + d0 * e
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            turned[:, 1 + k] += e[:, a] * d[:, b] - e[:, b] * d[:, a]
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        bodies = np.concatenate([place[:, :3] + step[:, :3], turned], axis=1)
        return np.concatenate([bodies.ravel(), q[7 * n :] + delta[6 * n :]])

    # ----------------------------------------------------------------------------- state

    def vectors(
        self,
        q: Floats,
        v: Floats | None,
        t: float,
        u: Floats | None = None,
        lam: Floats | None = None,
    ) -> dict[str, Floats]:
        """What kernels read; multipliers that nobody knows are not numbers."""
        return {
            "q": q,
            "v": np.zeros(self.nv) if v is None else v,
            "t": np.array([t]),
            "u": self.input_values if u is None else u,
            "lam": np.full(len(self.rows), np.nan) if lam is None else lam,
            **self._law_values(t),
        }

    def _law_values(self, t: float) -> dict[str, Floats]:
        if t not in self._laws_at:
            sizes = {name: self.law_count for name in ("w", "dw", "ddw")}
            self._laws_at.clear()
            self._laws_at[t] = looped(self.laws, {"t": np.array([t])}, sizes)
        return self._laws_at[t]
