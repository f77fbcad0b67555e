"""The model: bodies, joints, drivers, forces and sensors, as a person describes them.

It holds numbers, names and the texts of laws; no analysis changes it.  `biela.equations.formulate`
derives its equations in the coordinates one asks for.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from biela.doors import doors
from biela.errors import BielaError, ModelError
from biela.given_files import text_of
from biela.model import marking
from biela.model.bodies import GROUND, Body, Inertia, weighed
from biela.model.coordinate_names import check_coordinate
from biela.model.drivers import Driver, JointDriver
from biela.model.element import Element, kind_named, plain_name
from biela.model.forces import Force
from biela.model.joints import Connection, Joint
from biela.model.joints.joint import BY_COORDINATE
from biela.model.laws.law import Formula, law_from
from biela.model.markers import Marker
from biela.model.marking import Place
from biela.model.mass_properties import MassProperties
from biela.model.orientation import Direction, Orientation, along, turned
from biela.model.parameters import Parameters
from biela.model.parts.flattening import LARGEST, flattened
from biela.model.parts.instances import instance_body
from biela.model.parts.part import Part
from biela.model.quantities.units import check_law
from biela.model.quantities.values import Triple, Value, triple
from biela.model.rotors import Rotors, check_rotor_values
from biela.model.sensors import Sensor
from biela.model.shapes import Shape
from biela.model.topology.planarity import copied, in_plane, in_space
from biela.spelling import nearest

Kind = TypeVar("Kind", bound=Element)

#: Gravity where none is given, m/s², against the last axis of the plane, or z.
STANDARD_GRAVITY = 9.81

#: Entries of an inertia that should be equal may differ by this part of its largest moment: it is
#: often a product of matrices.
_ASYMMETRY = 1e-9

#: What goes before the names of the elements of a part.
_OF_INSTANCE = re.compile(r"\A(?:[\w-]+(?:\[[0-9]+\])?\.)+")

#: What every joint may be given besides the settings of its kind.
_OF_JOINTS = ("at", "axis", "x_axis", *BY_COORDINATE)


@doors(ModelError)
class Model:
    """A mechanism or a robot.

    >>> import biela as bl
    >>> m = bl.Model("pendulum")
    >>> rod = m.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    >>> m.joint("revolute", "pivot", m.ground, rod, axis="y")
    Revolute(name='pivot', ...)

    Args:
        name: What it is called.
        gravity: Acceleration of gravity in the axes of the ground; 9.81 m/s² downwards by default.
        plane: "xy", "xz" or "yz" for a planar model: each body has three freedoms.
    """

    def __init__(
        self, name: str, *, gravity: Sequence[Value] | None = None, plane: str | None = None
    ) -> None:
        if plane not in (None, "xy", "xz", "yz"):
            raise ModelError(f"{name}: the plane of a model is xy, xz or yz, not {plane!r}")
        self.name = text_of(name, ModelError, "the name of a model")
        self.plane = plane
        down = "xyz".index(plane[1] if plane else "z")
        default = tuple(-STANDARD_GRAVITY if k == down else 0.0 for k in range(3))
        self.gravity: Triple = triple(f"{name}: gravity", default if gravity is None else gravity)
        self.description = ""
        self._parameters = Parameters()
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Connection] = {}
        self.drivers: dict[str, Driver] = {}
        self.forces: dict[str, Force] = {}
        self.sensors: dict[str, Sensor] = {}
        self.parts: dict[str, Part] = {}
        self._rotors = Rotors({})
        #: Names that a file has for what is called otherwise here: ("joint", name) …
        self.aliases: dict[tuple[str, str], str] = {}
        #: What a run uses if nothing else is said, such as ``duration`` and ``step``.
        self.run: dict[str, object] = {}
        #: Whether names such as "arm[2].rod" are its own, as the parts are written out.
        self.written_out = False
        #: The body that does not move.
        self.ground = Body(GROUND)

    def __repr__(self) -> str:
        counts = (
            (len(self.bodies), "bodies"),
            (len(self.joints), "joints"),
            (len(self.drivers), "drivers"),
            (len(self.forces), "forces"),
            (len(self.parts), "parts"),
        )
        return f"Model {self.name}: " + ", ".join(f"{n} {what}" for n, what in counts if n)

    def _repr_html_(self) -> str:
        from biela.model.overview import html

        return html(self)

    # ------------------------------------------------------------------- parameters

    @property
    def parameters(self) -> Parameters:
        """The named numbers of the model."""
        return self._parameters

    @parameters.setter
    def parameters(self, values: Mapping[str, float]) -> None:
        self._parameters = values if isinstance(values, Parameters) else Parameters(values)

    @property
    def parameter_units(self) -> dict[str, str]:
        """The SI units of the parameters whose values were given with one."""
        return self._parameters.units

    @property
    def rotors(self) -> dict[str, Value]:
        """Inertia J of rotors by joint or "joint.coordinate", reflected to its coordinate s.

        In kg m², or kg along a slide: the kinetic energy ½ J s'².
        """
        return self._rotors

    @rotors.setter
    def rotors(self, values: Mapping[str, Value]) -> None:
        try:
            self._rotors = Rotors(values)
        except ModelError as error:
            raise ModelError(f"{self.name}: {error}") from None

    def parameter(self, name: str, value: Value) -> str:
        """Name a number; texts such as "2*r + 5 mm" may then use it.

        Its value may be changed for every run without deriving the equations again.  One that is
        computed from others follows them.

        Returns:
            The name, to be used in texts.

        Raises:
            ModelError: The name is taken or no identifier.
        """
        text_of(name, ModelError, f"{self.name}: the name of a parameter")
        if not name.isidentifier() or name in ("t", "pi"):
            raise ModelError(f"{self.name}: a parameter cannot be called {name!r}")
        if name in self.parameters:
            raise ModelError(f"{self.name}: parameter {name} is given twice")
        self.parameters.define(name, value)
        return name

    def with_parameters(self, values: Mapping[str, Value]) -> Model:
        """A copy with other values of parameters, as if they stood in its description.

        Masses and inertias of shapes, starts, laws and the parameters that are computed from
        others follow.

        >>> from biela.model.shapes import Rod
        >>> m = Model("pendulum")
        >>> rod = m.body("rod", shapes=[Rod((0, 0, 0), (m.parameter("l", "1 m"), 0, 0), mass=2.0)])
        >>> m.number(rod.inertia.moments[2]), m.with_parameters({"l": "2 m"}).number(
        ...     rod.inertia.moments[2])
        (0.16666666666666666, 0.6666666666666666)

        Args:
            values: Numbers in SI units, or texts with units, by name.

        Raises:
            ModelError: There is no such parameter, its unit is another, or there is no such
                mechanism.
        """
        inner = any(name not in self.parameters for name in values) and bool(self.parts)
        found = copied(self.flattened() if inner else self, self.plane)
        found.parameters = found.parameters.changed(values, self.name)
        found.parts = {name: part.with_rows(found) for name, part in found.parts.items()}
        try:
            found.check_values()
        except ModelError as error:
            shown = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise ModelError(f"with {shown}: {error}") from None
        return found

    def check_values(self) -> None:
        """Refuse values that are none with the parameters as they are: a radius below zero …

        Raises:
            ModelError: The message names body or element.
        """
        for body in (self.ground, *self.bodies.values()):
            who = f"{self.name}: body {body.name}"
            try:
                for shape in body.shapes:
                    shape.measured(self.number)
            except BielaError as error:
                raise ModelError(f"{who}: {error}") from None
            self._check_inertia(who, body.inertia)
        for table in (self.joints, self.drivers, self.forces, self.sensors):
            for element in table.values():
                self._check_element(element)
        check_rotor_values(self)

    def number(self, value: Value, dimension: str = "any") -> float:
        """A value as a number in SI units, with the parameters as they are."""
        return value if isinstance(value, float) else self.parameters.value(value, dimension)

    # ----------------------------------------------------------------------- bodies

    def body(
        self,
        name: str,
        *,
        mass: Value | None = None,
        com: Sequence[Value] | None = None,
        inertia: Sequence[Any] | Value | None = None,
        shapes: Sequence[Shape] = (),
        points: Sequence[tuple[Value, Sequence[Value]]] = (),
        position: Sequence[Value] | None = None,
        orientation: Orientation | tuple[str, Sequence[Value]] | None = None,
    ) -> Body:
        """Add a body.

        Args:
            name: What it is called.
            mass: Its mass, kg.  Without it the mass is that of the shapes and points.
            com: Centre of mass, from the frame of the body.
            inertia: About the centre of mass along the axes of the body: three moments, six
                (xx, yy, zz, xy, xz, yz, products as they stand in the tensor) or 3 x 3.
            shapes: Solids of which it consists, with a density or mass; they are drawn too.  Their
                dimensions may be texts with parameters, which mass and inertia then follow.
            points: Point masses (mass, place).
            position: Where its frame is when a motion starts; joints may correct it.
            orientation: How it is turned then: ("zyx", angles) or an `Orientation`.

        Raises:
            ModelError: The name is taken, or mass and inertia are none.
        """
        self._check_name(name)
        who = f"{self.name}: body {name}"
        if not isinstance(orientation, Orientation | tuple | None):
            raise ModelError(
                f'{who}: orientation is ("zyx", angles) or an Orientation, not {orientation!r}'
            )
        masses = tuple((m, triple(f"{who}: point mass", place)) for m, place in points)
        body = Body(
            name,
            self._inertia(who, mass, com, inertia, shapes, masses),
            None if position is None else triple(f"{who}: position", position),
            turned(*orientation) if isinstance(orientation, tuple) else orientation,
            tuple(shapes),
            points=masses,
        )
        self.bodies[name] = body
        return body

    def _inertia(
        self,
        who: str,
        mass: Value | None,
        com: Sequence[Value] | None,
        inertia: Sequence[Any] | Value | None,
        shapes: Sequence[Shape],
        points: Sequence[tuple[Value, Triple]],
    ) -> Inertia:
        for shape in shapes:
            try:
                shape.measured(self.number)
            except BielaError as error:
                raise ModelError(f"{who}: {error}") from None
        if mass is None and com is None and inertia is None:
            made = weighed(shapes, points)
            self._check_inertia(who, made)
            return made
        if points:
            raise ModelError(f"{who}: give mass and inertia, or point masses, not both")
        if mass is None:
            raise ModelError(f"{who}: a centre of mass or an inertia needs a mass")
        made = Inertia(
            mass,
            triple(f"{who}: com", (0.0, 0.0, 0.0) if com is None else com),
            _moments(who, inertia),
        )
        self._check_inertia(who, made)
        return made

    def _check_inertia(self, who: str, inertia: Inertia) -> None:
        mass = self.number(inertia.mass, "mass")
        xx, yy, zz, xy, xz, yz = (self.number(v, "inertia") for v in inertia.moments)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        com = [self.number(x, "length") for x in inertia.com]
        try:
            MassProperties(mass, com, tensor)
        except ModelError as error:
            raise ModelError(f"{who}: {error}") from None

    # --------------------------------------------------------------------- elements

    def joint(
        self,
        kind: str,
        name: str,
        i: Place | None = None,
        j: Place | None = None,
        *,
        at: Sequence[Value] | None = None,
        axis: Direction | None = None,
        x_axis: Direction | None = None,
        start: Mapping[str, Value] | Value | None = None,
        rates: Mapping[str, Value] | Value | None = None,
        limits: Mapping[str, tuple[Value, Value]] | tuple[Value, Value] | None = None,
        velocity_limits: Mapping[str, Value] | Value | None = None,
        effort_limits: Mapping[str, Value] | Value | None = None,
        **settings: Any,
    ) -> Connection:
        """Add a joint between a body before and a body after it, or a coupling of two joints.

        Args:
            kind: "revolute", "prismatic" …; ``biela joints`` lists and explains them.
            name: What it is called.
            i: Marker on the body before; a body stands for its own frame.
            j: Marker on the body after.
            at: Place of both markers in the ground, with the bodies where they start.
            axis: Direction of the z axes of markers made here: in the ground with ``at``, else
                along the axes of each body.
            x_axis: Likewise, of their x axes, from which angles count.
            start: Values of coordinates where a motion starts: one number for a joint with one.
            rates: Likewise, of their rates.
            limits: Lowest and highest value of coordinates: a pair for a joint with one.
            velocity_limits: Largest rates of coordinates, either way, for those who plan motions.
            effort_limits: Largest forces or torques along them, likewise.
            **settings: What the kind needs besides, such as ``pitch`` of a helical joint.

        Raises:
            ModelError: A name is taken or unknown, or something is missing.
        """
        self._check_name(name)
        cls = kind_named("joint", kind)
        if issubclass(cls, Joint):
            if i is None or j is None:
                raise ModelError(f"{self.name}: joint {name} needs two bodies or markers")
            turned_by = axis is not None or x_axis is not None
            who = f"{self.name}: joint {name}"
            frame = along(who, "z" if axis is None else axis, x_axis) if turned_by else None
            settings["i"] = marking.joint_marker(self, name, i, at, frame)
            settings["j"] = marking.joint_marker(self, name, j, at, frame)
            given = (start, rates, limits, velocity_limits, effort_limits)
            for what, values in zip(BY_COORDINATE, given, strict=True):
                settings[what] = _by_coordinate(cls, name, values)
        elif any(x is not None for x in (i, j, start, limits, velocity_limits, effort_limits)):
            raise ModelError(f"{self.name}: {kind} {name} couples joints and has no markers")
        made = self._made(cls, name, settings)
        assert isinstance(made, Connection)
        self.joints[name] = made
        return made

    def driver(self, kind: str, name: str, **settings: Any) -> Driver:
        """Add a driver, such as ``driver("rotary", "motor", coordinate="A", law="2*pi*t")``."""
        made = self._element("driver", kind, name, settings)
        assert isinstance(made, Driver)
        self.drivers[name] = made
        return made

    def force(self, kind: str, name: str, **settings: Any) -> Force:
        """Add a force, such as ``force("spring_damper", "s", i=…, j=…, stiffness=100)``."""
        made = self._element("force", kind, name, settings)
        assert isinstance(made, Force)
        self.forces[name] = made
        return made

    def sensor(self, kind: str, name: str, **settings: Any) -> Sensor:
        """Add a sensor, such as ``sensor("point", "tip", marker=…)``."""
        made = self._element("sensor", kind, name, settings)
        assert isinstance(made, Sensor)
        self.sensors[name] = made
        return made

    def add(self, element: Kind) -> Kind:
        """Add an element that was made elsewhere, with markers of bodies of this model."""
        self._check_name(element.name)
        tables: dict[str, dict[str, Any]] = {
            "joint": self.joints,
            "driver": self.drivers,
            "force": self.forces,
            "sensor": self.sensors,
        }
        settings = {f.name: getattr(element, f.name) for f in dataclasses.fields(element)}
        for field, described in element.settings().items():
            value, dimension = settings[field], described.metadata["dimension"]
            if value is not None and dimension == "marker":
                settings[field] = self.marker(value, element.name)
            elif value is not None and dimension == "law":
                settings[field] = law_from(value)
        made = type(element)(**settings)
        self._check_element(made)
        tables[element.category][element.name] = made
        return made

    def part(
        self,
        name: str,
        model: Model,
        count: int | None = None,
        **settings: Any,
    ) -> Part:
        """Add another model as a part of this one, once or many times in a row: see `Part`.

        Its bodies are then called "name.body", or "name[0].body", "name[1].body" …
        """
        self._check_name(name)
        made = Part.made(self, name, model, count, **settings)
        self.parts[name] = made
        return made

    def flattened(self, limit: int | None = LARGEST) -> Model:
        """The model with its parts written out as plain bodies and elements; itself without parts.

        Raises:
            ModelError: It would have more bodies than ``limit`` (None: no matter how many).
        """
        return flattened(self, limit)

    def in_plane(self, plane: str) -> Model:
        """A copy that is declared to move in a plane, "xy", "xz" or "yz": see `check`.

        Raises:
            ModelError: The plane is none, or a part is turned out of it.
        """
        return in_plane(self, plane)

    def in_space(self) -> Model:
        """A copy in which every body has six freedoms, to be solved as a spatial mechanism."""
        return in_space(self)

    # ---------------------------------------------------------------------- markers

    def marker(self, place: Place, name: str = "marker") -> Marker:
        """The marker that is meant, kept on its body; one without a name gets the name given.

        Raises:
            ModelError: There is no such body or marker.
        """
        return marking.marker(self, place, name)

    def find_body(self, name: str) -> Body:
        """The body of a name, the ground included.

        Raises:
            ModelError: There is none; the message has the nearest name.
        """
        if name == GROUND:
            return self.ground
        if name in self.bodies:
            return self.bodies[name]
        found = instance_body(self, name) if self.parts else None
        if found is None:
            raise ModelError(
                f"{self.name}: there is no body {name!r}{nearest(name, [*self.bodies, GROUND])}"
            )
        return found

    # ----------------------------------------------------------------------- inside

    def _check_name(self, name: object) -> None:
        tables: Iterable[Mapping[str, Any]] = (
            self.bodies,
            self.joints,
            self.drivers,
            self.forces,
            self.sensors,
            self.parts,
        )
        if isinstance(name, Body | Marker | tuple):
            raise ModelError(
                f"{self.name}: {name!r} stands where the name should: the second argument is the "
                f'name, as in joint("revolute", "pin", ground, rod)'
            )
        if not isinstance(name, str) or not name or name == GROUND:
            raise ModelError(f"{self.name}: {name!r} is not a name that can be used")
        own = _OF_INSTANCE.sub("", name) if self.written_out else name
        if plain_name(own) != own:
            raise ModelError(
                f"{self.name}: {name!r} is not a name that can be used: names have letters, "
                f"digits, _ and -, those inside parts a dot; call it {plain_name(name)!r}"
            )
        if any(name in table for table in tables):
            raise ModelError(f"{self.name}: the name {name} is used twice")

    def _element(self, category: str, kind: str, name: str, settings: dict[str, Any]) -> Element:
        self._check_name(name)
        cls = kind_named(category, kind)
        for field in cls.markers():
            if settings.get(field) is not None:
                settings[field] = self.marker(settings[field], name)
        return self._made(cls, name, settings)

    def _made(self, cls: type[Element], name: str, settings: dict[str, Any]) -> Element:
        """An element, with laws read and settings checked."""
        known = cls.settings()
        allowed = [*known, *_OF_JOINTS] if issubclass(cls, Joint) else list(known)
        who = f"{self.name}: {cls.category} {name} ({cls.kind})"
        for given in settings:
            if given not in allowed:
                near = nearest(given, allowed)
                every = f" There are: {', '.join(allowed)}" if near.endswith("?") else ""
                raise ModelError(f"{who} has no setting {given!r}{near}{every}")
        missing = [
            f.name
            for f in known.values()
            if f.default is dataclasses.MISSING
            and f.default_factory is dataclasses.MISSING
            and f.name not in settings
        ]
        if missing:
            hints = ", ".join(f"{n} ({known[n].metadata['help']})" for n in missing)
            raise ModelError(f"{who} needs {hints}")
        for field, described in known.items():
            if settings.get(field) is None:
                continue
            if described.metadata["dimension"] == "law":
                settings[field] = law_from(settings[field])
            elif described.metadata["dimension"] == "coordinate":
                check_coordinate(self, who, settings[field])
            elif described.metadata["dimension"] == "text" and type(settings[field]) is not str:
                help = described.metadata["help"]
                raise ModelError(f"{who}: {field} ({help}) is a text, not {settings[field]!r}")
        made = cls(name=name, **settings)
        self._check_element(made)
        return made

    def _check_element(self, element: Element) -> None:
        """Refuse settings that are none with the parameters as they are."""
        element.check(self.number)
        for field, described in element.settings().items():
            law = getattr(element, field)
            if not isinstance(law, Formula):
                continue
            of = described.metadata["of"]
            if isinstance(element, JointDriver):
                of = element.dimension
            try:
                check_law(law.text, self.parameters, of, self.parameters.dimensions)
            except BielaError as error:
                raise ModelError(
                    f"{element.category} {element.name} ({element.kind}): {field}: {error}"
                ) from None


def _product(who: str, one: Value, other: Value) -> tuple[Value, float]:
    """A product of inertia that stands twice in a tensor, and how far both are apart."""
    if isinstance(one, str) or isinstance(other, str):
        if one != other:
            raise ModelError(f"{who}: the inertia is not symmetric: {one!r} and {other!r}")
        return one, 0.0
    return (one if one == other else (one + other) / 2), abs(one - other)


def _moments(who: str, inertia: Sequence[Any] | Value | None) -> Any:
    """Six moments from what was given."""
    if inertia is None:
        return (0.0,) * 6
    if isinstance(inertia, str | int | float):
        return (inertia, inertia, inertia, 0.0, 0.0, 0.0)
    rows = list(inertia)
    if len(rows) == 3 and all(hasattr(row, "__len__") and not isinstance(row, str) for row in rows):
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rows
        products = [_product(who, *pair) for pair in ((xy, yx), (xz, zx), (yz, zy))]
        scale = max((abs(x) for x in (xx, yy, zz) if not isinstance(x, str)), default=0.0)
        if any(gap > _ASYMMETRY * scale for _, gap in products):
            raise ModelError(f"{who}: the inertia is not symmetric")
        return (xx, yy, zz, *(value for value, _ in products))
    if len(rows) == 3:
        return (*rows, 0.0, 0.0, 0.0)
    if len(rows) == 6:
        return tuple(rows)
    raise ModelError(f"{who}: the inertia is three values, six, or 3 x 3, not {inertia!r}")


def _by_coordinate(cls: type[Joint], name: str, given: Any) -> dict[str, Any]:
    """Values by coordinate: one alone belongs to the only coordinate."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    if len(cls.coordinates) != 1:
        names = ", ".join(c.name for c in cls.coordinates) or "none"
        raise ModelError(
            f"joint {name} ({cls.kind}) has the coordinates {names}: give values by name, "
            f"not {given!r}"
        )
    return {cls.coordinates[0].name: given}
