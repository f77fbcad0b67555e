"""What acts in a symbolic system: wrenches, springs, bushings, and forces along speeds.

The second part of `SymbolicSystem`, between its declarations and its bodies and equations.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom, jacobian
from biela.equations import forces
from biela.equations.bodies import check_frame
from biela.equations.declarations import Declarations
from biela.errors import DomainError, ModelError
from biela.space import Base, Point, Solid, Toward, Vector, Wrench
from biela.space.rotations import Triple, triple


class Acting(Declarations):
    """Wrenches, force elements and their potentials."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.wrenches: list[Wrench] = []
        #: Potential energies of springs and the like, gravity not included.
        self.potentials: list[Atom] = []
        #: Forces along speeds, each with the speed.
        self.pushes: list[tuple[Atom, Atom]] = []
        #: Inertia along speeds, each with the speed.
        self.rotors: list[tuple[Atom, Atom]] = []

    def wrench(
        self,
        solid: Solid,
        force: Vector | Sequence[Atom | float] | None = None,
        moment: Vector | Sequence[Atom | float] | None = None,
        at: Point | None = None,
        name: str = "",
        reaction_on: Solid | None = None,
        toward: Toward | None = None,
    ) -> None:
        """A force through a point (that of the solid by default) and a moment on a solid.

        Three numbers in place of a vector are components in the inertial base.  With
        ``reaction_on`` the opposite acts on another solid.  ``toward`` sets the direction of the
        operations with it (a force of the inertial base is often cheapest towards the root).

        Raises:
            ModelError: If it does not act on a solid of this system.
            DomainError: If its force, moment or point are not of this system.
        """
        self._check_solid(solid)
        nothing = Vector(self.space, {})
        force = nothing if force is None else self._vector(self.base, force)
        moment = nothing if moment is None else self._vector(self.base, moment)
        point = solid.point if at is None else at
        name = name or f"wrench{len(self.wrenches) + 1}"
        acting = [Wrench(name, solid, point, force, moment, toward)]
        if reaction_on is not None:
            self._check_solid(reaction_on)
            acting.append(Wrench(f"{name}_reaction", reaction_on, point, -force, -moment, toward))
        self.wrenches += acting

    def _check_solid(self, solid: object) -> None:
        if not isinstance(solid, Solid):
            what = getattr(solid, "name", repr(solid))
            raise ModelError(
                f"{self.name}: {what} is not a solid; on a flexible body forces act at a marker, "
                f"made by marker(name, where)"
            )
        if solid.point.space is not self.space:
            raise ModelError(
                f"{self.name}: solid {solid.name} belongs to another system, "
                f"{solid.point.space.name}"
            )

    def spring(
        self,
        name: str,
        first: tuple[Solid | None, Point],
        second: tuple[Solid | None, Point],
        stiffness: Atom | float = 0,
        length: Atom | float = 0,
        damping: Atom | float = 0,
        force: Atom | float = 0,
    ) -> None:
        """A spring, damper and actuator in the line between two points of two solids.

        The pull is k (l - l0) + c l' - f: an actuator force f pushes the points apart.  None in
        place of a solid is the ground.  The line has no direction where the points meet, unless
        the length l0 is the number 0 and there is a spring only.

        Raises:
            ModelError: If an end is not a solid and a point of this system.
        """
        k, l, c, f = (self.workspace.atom(x) for x in (stiffness, length, damping, force))
        ends = self._checked(name, first), self._checked(name, second)
        self._add(forces.spring(self.space, name, ends, k, l, c, f))

    def bushing(
        self,
        name: str,
        first: tuple[Solid | None, Point],
        second: tuple[Solid | None, Point],
        stiffness: Sequence[Atom | float],
        damping: Sequence[Atom | float] = (0, 0, 0),
        rest: Sequence[Atom | float] = (0, 0, 0),
        base: Base | None = None,
    ) -> None:
        """Three springs and dampers between two points, along the axes of a base.

        The base, that of the first solid unless given, must be fixed in one of the two solids (the
        inertial base, if one of them is None, the ground).  ``stiffness`` (N/m) and ``damping``
        (N s/m) are along its axes; ``rest`` is the gap without force.

        Raises:
            ModelError: If the base turns against both solids, or an end is not a solid and a point
                of this system.
            DomainError: If stiffness, damping or rest are not three values.
        """
        k = self._along_axes(f"stiffness of bushing {name}", stiffness)
        c = self._along_axes(f"damping of bushing {name}", damping)
        x0 = self._along_axes(f"rest of bushing {name}", rest)
        ends = self._checked(name, first), self._checked(name, second)
        if base is not None:
            check_frame(f"{self.name}: bushing {name}", self.space, ends[0][1], base)
        self._add(forces.bushing(self.space, name, ends, k, c, x0, base))

    def _along_axes(self, what: str, values: Sequence[Atom | float]) -> Triple:
        if not hasattr(values, "__len__"):
            raise DomainError(
                f"{self.name}: the {what} is three values, one along each axis of its base, "
                f"not {values!r}"
            )
        return triple(self.workspace, values)

    def _checked(self, name: str, end: object) -> tuple[Solid | None, Point]:
        """The end of a force element: a solid, or None for the ground, and a point."""
        if not (isinstance(end, Sequence) and len(end) == 2 and isinstance(end[1], Point)):
            raise ModelError(
                f"{self.name}: an end of {name} is a pair (solid, point), with None in place of "
                f"the solid for the ground, not {end!r}"
            )
        solid, point = end
        if solid is not None:
            self._check_solid(solid)
        if point.space is not self.space:
            raise ModelError(
                f"{self.name}: point {point.name} of {name} belongs to another system, "
                f"{point.space.name}"
            )
        return solid, point

    def push(self, speed: Atom, force: Atom | float, potential: Atom | float = 0) -> None:
        """A force along a speed: its power is force times speed, and Q gets force ∂speed/∂v.

        The speed is linear in the velocities: that of a coordinate (a torque in a joint), of a
        distance, or any other.  ``potential`` is the energy that it takes from, if it has one.

        Raises:
            ModelError: If the speed has no velocity in it, or is not linear in them.
        """
        self._check_speed(speed)
        self.pushes.append((speed, self.workspace.atom(force)))
        energy = self.workspace.atom(potential)
        if energy.ref:
            self.potentials.append(energy)

    def rotor(self, speed: Atom, inertia: Atom | float) -> None:
        """Inertia along a speed s: the kinetic energy ½ J s², such as that of a geared rotor.

        The dual of `push`: with s = S v, M gets J Sᵀ S and Q gets -J Sᵀ S' v.

        Raises:
            ModelError: If the speed has no velocity in it, or is not linear in them, or the inertia
                is negative.
        """
        self._check_speed(speed)
        J = self.workspace.atom(inertia)
        if J.value is not None and J.value < 0:
            raise ModelError(f"{self.name}: the inertia along {speed!r} is negative, {J.value}")
        if J.ref:
            self.rotors.append((speed, J))

    def _check_speed(self, speed: Atom) -> None:
        slopes = jacobian([speed], self.v).rows[0]
        if not any(slope.ref for slope in slopes):
            raise ModelError(f"{self.name}: {speed!r} is not a speed: no velocity is in it")
        velocities = {v.ref for v in self.v}
        if velocities & set(self.workspace.table.live(slope.ref for slope in slopes)):
            raise ModelError(f"{self.name}: {speed!r} is not linear in the velocities")

    def with_pushes(self, Q: list[Atom]) -> list[Atom]:
        """Q with the forces along speeds."""
        if not self.pushes:
            return Q
        for slopes, (_, force) in zip(
            jacobian([speed for speed, _ in self.pushes], self.v).rows, self.pushes, strict=True
        ):
            Q = [q + slope * force if slope.ref else q for q, slope in zip(Q, slopes, strict=True)]
        return Q

    def with_rotor_inertia(self, M: list[list[Atom]]) -> list[list[Atom]]:
        """M with the inertia along speeds."""
        if not self.rotors:
            return M
        found = [list(row) for row in M]
        slopes = jacobian([speed for speed, _ in self.rotors], self.v).rows
        for S, (_, J) in zip(slopes, self.rotors, strict=True):
            moving = [k for k, slope in enumerate(S) if slope.ref]
            for i in moving:
                for j in moving:
                    found[i][j] = found[i][j] + J * (S[i] * S[j])
        return found

    def with_rotor_forces(self, Q: list[Atom]) -> list[Atom]:
        """Q with what the inertia along speeds needs while all velocities last, -J Sᵀ S' v."""
        if not self.rotors:
            return Q
        slopes = jacobian([speed for speed, _ in self.rotors], self.v).rows
        for S, (speed, J) in zip(slopes, self.rotors, strict=True):
            bias = J * self.space.bias_rate(speed)
            Q = [q - slope * bias if slope.ref else q for q, slope in zip(Q, S, strict=True)]
        return Q

    def _add(self, element: forces.Element) -> None:
        self.wrenches += element.wrenches
        self.potentials.append(element.potential)
