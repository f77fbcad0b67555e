"""The regressor: the equations of motion are linear in the inertial parameters.

Ten parameters describe a solid: its mass, the three first moments and the six inertias about its
point, in its base.  With a, α the accelerations of the solid,

    m:      force a - g
    mr:     force α x e + ω x (ω x e),   moment e x (a - g)      for e = x, y, z
    I:      moment E α + ω x E ω                                 for the six unit tensors E

and virtual power gives τ = K(q, v, v') φ, where τ is what the applied wrenches, gravity excepted,
have to bring.  Plaza 2015, §8.2; Khalil & Dombre, *Modeling, Identification and Control of Robots*
(2002), ch. 12.
"""

from __future__ import annotations

from dataclasses import dataclass

from biela.atoms import Atom
from biela.code import Function
from biela.code.arrays import Entries
from biela.equations.branches import Branches, Loads
from biela.equations.symbolic import SymbolicSystem
from biela.equations.virtual_power import Motion, Route, bodies
from biela.space import Algebra, Solid, Toward, Vector, angular_acceleration, derivative

#: The ten parameters of a solid, in the order of `Solid.inertial_parameters`.
PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
#: Algebras that are tried; vectors in parts towards the root are never best for unit loads.
CANDIDATES = (
    Algebra(Toward.LEAF, extended=False),
    Algebra(Toward.LEAF),
    Algebra(Toward.ROOT, extended=False),
)
_INERTIAS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class Regressor:
    """K, and which parameter of which solid each of its columns belongs to."""

    source: SymbolicSystem
    K: list[list[Atom]]
    names: tuple[str, ...]
    #: By which it was derived.
    algebra: Algebra

    def function(self) -> Function:
        """K as a function of t, q, v, a and the parameters of the model."""
        inputs: dict[str, Entries] = {
            "t": self.source.time,
            "q": self.source.q,
            "v": self.source.v,
            "a": [v.acceleration for v in self.source.v],
            "p": self.source.parameter_symbols,
        }
        return Function("K", inputs, {"K": self.K})

    def joint(self) -> Function:
        """K, M and Q as one function of t, q, v, u, p and a, which computes what they share once.

        M and Q are those of the equations, or derived by the algebra of K, whatever is smaller with
        it (Plaza 2015, §8.2: K in the loop of M and δ).
        """
        accelerations = [v.acceleration for v in self.source.v]
        equations = self.source.equations().expressions
        pairs = [
            (equations["M"], equations["Q"]),
            self.source.mass_and_forces(Route(self.algebra, self.algebra)),
        ]
        functions = [
            self.source.function("K_M_Q", {"K": self.K, "M": M, "Q": Q}, a=accelerations)
            for M, Q in pairs
        ]
        return min(functions, key=lambda function: function.count.arithmetic)


def regressor(system: SymbolicSystem, algebra: Algebra | None = None) -> Regressor:
    """K of all solids, by the same operators and sums as the mass matrix.

    Without an algebra, by the one that gives fewest operations.
    """
    system.check_rigid("the regressor")
    if algebra is not None:
        return _derived(system, algebra)
    found = [_derived(system, candidate) for candidate in CANDIDATES]
    return min(found, key=lambda candidate: candidate.function().count.arithmetic)


def _derived(system: SymbolicSystem, algebra: Algebra) -> Regressor:
    space = system.space
    with space.using(algebra):
        branches = Branches(space, system.v)
        columns, names = [], []
        for motion in bodies(space, system.solids, system.v).motions:
            for name, loads in zip(PARAMETERS, _unit_loads(system, motion), strict=True):
                columns.append(branches.generalised_forces(loads))
                names.append(f"{motion.solid.name}.{name}")
    K = [[column[j] for column in columns] for j in range(len(system.v))]
    return Regressor(system, K, tuple(names), algebra)


def _unit_loads(system: SymbolicSystem, motion: Motion) -> list[Loads]:
    space, solid, base = system.space, motion.solid, motion.solid.base
    nothing = Vector(space, {})
    free = derivative(motion.v, space.root, space.time_rate) - system.gravity
    alpha = angular_acceleration(space.root, base)
    omega = motion.omega
    loads = [_loads(solid, free, nothing)]
    for k in range(3):
        e = base.vector(*(int(k == j) for j in range(3)))
        carried = alpha.cross(e) + omega.cross(omega.cross(e))
        loads.append(_loads(solid, carried, e.cross(free)))
    for a, b in _INERTIAS:
        rows = [[int((r, c) in ((a, b), (b, a))) for c in range(3)] for r in range(3)]
        E = base.tensor(rows)
        loads.append(_loads(solid, nothing, E @ alpha + omega.cross(E @ omega)))
    return loads


def _loads(solid: Solid, force: Vector, moment: Vector) -> Loads:
    loads = Loads()
    loads.add_force(solid.point, force)
    loads.add_moment(solid.base, moment)
    return loads
