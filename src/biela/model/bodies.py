"""Bodies: rigid, with mass properties, markers and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from biela.atoms import Atom, Workspace
from biela.errors import ModelError
from biela.given_files import text_of
from biela.model.markers import Marker
from biela.model.mass_properties import MassProperties, Moments
from biela.model.orientation import Direction, Orientation, along, turned
from biela.model.quantities.units import expression, parameters_of
from biela.model.quantities.values import SiText, Triple, Value, triple

if TYPE_CHECKING:
    from biela.model.shapes import Shape

GROUND = "ground"


@dataclass(frozen=True)
class Inertia:
    """Mass, centre of mass and moments about it (xx, yy, zz, xy, xz, yz), along the body axes.

    The products of inertia are entries of the tensor: xy = -∫ x y dm.
    """

    mass: Value = 0.0
    com: Triple = (0.0, 0.0, 0.0)
    moments: tuple[Value, Value, Value, Value, Value, Value] = (0.0,) * 6

    @classmethod
    def of(cls, properties: MassProperties) -> Inertia:
        """From numbers."""
        x, y, z = (float(c) for c in properties.com)
        I = properties.inertia
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        a, b, c, d, e, f = (float(I[i, j]) for i, j in pairs)
        return cls(float(properties.mass), (x, y, z), (a, b, c, d, e, f))


@dataclass
class Body:
    """A rigid body.

    ``position`` and ``orientation`` are the pose of its frame where a motion starts, if somebody
    gave it; the joints may have to correct it.
    """

    name: str
    inertia: Inertia = field(default_factory=Inertia)
    position: Triple | None = None
    orientation: Orientation | None = None
    shapes: tuple[Shape, ...] = ()
    markers: dict[str, Marker] = field(default_factory=dict)
    #: Point masses that it consists of besides its shapes, and their places.
    points: tuple[tuple[Value, Triple], ...] = ()

    def at(
        self,
        x: Value = 0.0,
        y: Value = 0.0,
        z: Value = 0.0,
        *,
        axis: Direction | None = None,
        x_axis: Direction | None = None,
        angles: tuple[str, Sequence[Value]] | None = None,
    ) -> Marker:
        """A marker without a name at a place of the body.

        ``axis`` is its z axis, that of the joint which uses it; ``x_axis`` its x axis; or
        ``angles=("zyx", (a, b, c))`` turns it by angles.
        """
        who = f"a marker on {self.name}"
        return Marker(
            self.name, "", triple(who, (x, y, z)), self._orientation(who, axis, x_axis, angles)
        )

    def marker(
        self,
        name: str,
        position: Sequence[Value] = (0.0, 0.0, 0.0),
        *,
        axis: Direction | None = None,
        x_axis: Direction | None = None,
        angles: tuple[str, Sequence[Value]] | None = None,
    ) -> Marker:
        """Add a named marker, known to files and results as "body.marker".

        Raises:
            ModelError: The name is taken, or the place or an axis is none.
        """
        who = f"marker {name} on {self.name}"
        made = Marker(
            self.name, name, triple(who, position), self._orientation(who, axis, x_axis, angles)
        )
        return self.keep(made)

    def keep(self, marker: Marker) -> Marker:
        """Add a marker that was made elsewhere.

        Raises:
            ModelError: There is another of this name.
        """
        text_of(marker.name, ModelError, f"the name of a marker on {self.name}")
        known = self.markers.get(marker.name)
        if known is not None and known != marker:
            raise ModelError(f"body {self.name} has two markers called {marker.name}")
        self.markers[marker.name] = marker
        return marker

    def named(self, marker: Marker, name: str) -> Marker:
        """The marker with a name, kept: one without a name gets the first free one like it."""
        if marker.name:
            return self.keep(marker)
        free, k = name, 1
        while free in self.markers and self.markers[free] != replace(marker, name=free):
            k += 1
            free = f"{name}_{k}"
        return self.keep(replace(marker, name=free))

    @staticmethod
    def _orientation(
        who: str,
        axis: Direction | None,
        x_axis: Direction | None,
        angles: tuple[str, Sequence[Value]] | None,
    ) -> Orientation:
        if angles is not None:
            if axis is not None or x_axis is not None:
                raise ModelError(f"{who} is turned by its axis or by angles, not by both")
            return turned(*angles)
        if axis is None and x_axis is None:
            return Orientation()
        return along(who, "z" if axis is None else axis, x_axis)

    def __repr__(self) -> str:
        mass = self.inertia.mass
        shown = "the mass of its shapes" if isinstance(mass, SiText) else f"{mass} kg"
        return f"Body {self.name}: {shown}, {len(self.markers)} markers"


def weighed(shapes: Sequence[Shape], points: Sequence[tuple[Value, Triple]] = ()) -> Inertia:
    """Mass, centre of mass and moments of what a body consists of.

    They are numbers where all dimensions and masses are, and else texts of the same parameters.
    With masses m_i at c_i of inertia I_i, and m = Σ m_i,

        m c = Σ m_i c_i,    I = Σ I_i + Σ_{i<j} m_i m_j/m (|d|² 1 - d dᵀ),    d = c_i - c_j,

    a form of Steiner's theorem in which nothing cancels.

    Raises:
        ModelError: A dimension or mass is none.
    """
    solids = [shape for shape in shapes if shape.has_mass]
    plain = [(m, at) for m, at in points if not any(isinstance(x, str) for x in (m, *at))]
    parts = [shape.mass_properties() for shape in solids if not shape.texts]
    if plain:
        masses = [float(m) for m, _ in plain]
        parts.append(MassProperties.of_points(masses, [list(at) for _, at in plain]))
    total = sum(parts[1:], parts[0]) if parts else None
    if len(plain) == len(points) and not any(shape.texts for shape in solids):
        return Inertia() if total is None else Inertia.of(total)
    workspace = Workspace("shapes")
    symbols: dict[str, Atom | float] = {}

    def number(value: Value, dimension: str) -> Atom | float:
        for name in sorted(parameters_of(value)):
            symbols.setdefault(name, workspace.parameter(name))
        return expression(value, symbols, dimension)

    found = [shape.measured(number).moments() for shape in solids if shape.texts]
    nothing = [[0.0] * 3 for _ in range(3)]
    for mass, at in points:
        if any(isinstance(x, str) for x in (mass, *at)):
            place = [number(x, "length") for x in at]
            found.append(Moments(number(mass, "mass"), place, nothing))
    if total is not None:
        found.append(Moments(total.mass, total.com.tolist(), total.inertia.tolist()))
    whole = Moments.of_parts(found)
    I = whole.inertia
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))

    def text(value: Any) -> Value:
        atom = workspace.atom(value)
        return SiText.of(atom) if atom.value is None else float(atom.value)

    x, y, z = (text(c) for c in whole.com)
    a, b, c, d, e, f = (text(I[i][j]) for i, j in pairs)
    return Inertia(text(whole.mass), (x, y, z), (a, b, c, d, e, f))
