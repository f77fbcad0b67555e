"""The types of what may stand in a model file, for pydantic: how each is checked and described.

A check returns what goes into the model, as it was written, and says in one sentence what is wrong.
Each type has a JSON Schema for editors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PlainValidator, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from biela.errors import BielaError, ModelError, ParseError
from biela.model.files.names import Known
from biela.model.laws.law import Law, law_from
from biela.model.mass_properties import as_rotation
from biela.model.orientation import Orientation, by_rows, turned, unit
from biela.model.quantities.dimensions import described, dimension_of
from biela.model.quantities.values import Value
from biela.spelling import nearest

VALUE_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}
_VALUES = {"type": "array", "items": VALUE_SCHEMA}
_NUMBERS3 = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
_DIRECTION: dict[str, Any] = {"anyOf": [{"enum": ["x", "y", "z", "-x", "-y", "-z"]}, _NUMBERS3]}


def fault(message: str) -> PydanticCustomError:
    """An error of pydantic with a message of ours."""
    return PydanticCustomError("biela", "{what}", {"what": message})


def message_of(error: BielaError) -> str:
    """The message of an error on one line; of a text that cannot be read, with the place."""
    if isinstance(error, ParseError):
        return f'{error.message} (in "{error.text}", column {error.column})'
    return " ".join(str(error).split())


def known_of(info: ValidationInfo) -> Known:
    """The names of the file that is being checked."""
    return info.context if isinstance(info.context, Known) else Known()


def shown_value(given: object) -> str:
    """A value of a file in a message."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, dict):
        return "a table"
    return repr(given) if not isinstance(given, list) else f"an array of {len(given)}"


# --- values ---------------------------------------------------------------------------------------


def checked_value(given: object, dimension: str, known: Known) -> Value:
    """A number or a text of a dimension, as it was written.

    Raises:
        PydanticCustomError: It is none.
    """
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        wanted = dimension_of(dimension)
        what = "a value" if wanted is None else described(wanted)
        raise fault(
            f'{what} is wanted, a number in SI units or a text such as "120 mm", '
            f"not {shown_value(given)}"
        )
    try:
        number = known.parameters.value(given, dimension)
    except BielaError as error:
        raise fault(message_of(error)) from None
    return given if isinstance(given, str) else number


@functools.cache
def value_of(dimension: str) -> Any:
    """The type of a value of a dimension, or of "any"."""

    def check(given: object, info: ValidationInfo) -> Value:
        return checked_value(given, dimension, known_of(info))

    return Annotated[Any, PlainValidator(check), WithJsonSchema(VALUE_SCHEMA)]


@functools.cache
def triple_of(dimension: str) -> Any:
    """The type of three values of a dimension."""
    value = value_of(dimension)
    return Annotated[tuple[value, value, value], BeforeValidator(_three)]  # type: ignore[valid-type]


def _three(given: object) -> object:
    if not isinstance(given, list) or len(given) != 3:
        raise fault(f"three values are wanted, such as [0, 0, 1], not {shown_value(given)}")
    return given


def _inertia(given: object, info: ValidationInfo) -> object:
    known = known_of(info)
    if not isinstance(given, list):
        return checked_value(given, "inertia", known)
    if len(given) == 3 and all(isinstance(row, list) and len(row) == 3 for row in given):
        return tuple(tuple(checked_value(v, "inertia", known) for v in row) for row in given)
    if len(given) in (3, 6) and not any(isinstance(v, list) for v in given):
        return tuple(checked_value(v, "inertia", known) for v in given)
    raise fault(
        "an inertia is three moments, six (xx, yy, zz, xy, xz, yz) or 3 x 3, "
        f"not {shown_value(given)}"
    )


InertiaField = Annotated[
    Any,
    PlainValidator(_inertia),
    WithJsonSchema({"anyOf": [VALUE_SCHEMA, _VALUES, {"type": "array", "items": _VALUES}]}),
]


# --- directions and orientations --------------------------------------------------------------


def _direction(given: object) -> object:
    if isinstance(given, list):
        given = tuple(given)
    try:
        if isinstance(given, bool) or not isinstance(given, str | tuple):
            raise ModelError(
                f"{shown_value(given)} is not a direction; use x, y, z, -x, -y, -z or three numbers"
            )
        unit("", given)
    except ModelError as error:
        raise fault(message_of(error).removeprefix(": ")) from None
    return given


DirectionField = Annotated[Any, PlainValidator(_direction), WithJsonSchema(_DIRECTION)]

_FORMS = (
    'give angles by axes, as {zyx = ["30 deg", 0, 0]}, {axes = [[…], […], […]]}, the rows of a '
    "matrix, or {quaternion = [e0, e1, e2, e3]}"
)


def _orientation(given: object, info: ValidationInfo) -> Orientation:
    if not isinstance(given, dict) or not given:
        raise fault(f"{shown_value(given)} is not an orientation; {_FORMS}")
    letters = [key for key in given if key and not set(key) - set("xyz")]
    other = [key for key in given if key not in letters and key not in ("axes", "quaternion")]
    if other:
        raise fault(f"unknown key {other[0]!r}{nearest(other[0], ['axes', 'quaternion', 'zyx'])}")
    if len(letters) > 1 or ("axes" in given and "quaternion" in given):
        raise fault(f"this orientation is given twice; {_FORMS}")
    axes = Orientation().axes
    if "axes" in given:
        axes = _axes(given["axes"])
    if "quaternion" in given:
        axes = quaternion(given["quaternion"]).axes
    if not letters:
        return Orientation(axes)
    angles = given[letters[0]]
    if not isinstance(angles, list) or len(angles) != len(letters[0]):
        raise fault(
            f"{letters[0]} wants {len(letters[0])} angles in an array, not {shown_value(angles)}"
        )
    checked = [checked_value(angle, "angle", known_of(info)) for angle in angles]
    return Orientation(axes, turned(letters[0], checked).turns)


def _axes(given: object) -> Any:
    try:
        as_rotation(given)  # type: ignore[arg-type]
    except ModelError as error:
        raise fault(f"{message_of(error)}; its rows are those of the matrix") from None
    R = np.array(given, dtype=float)
    if float(np.abs(R.T @ R - np.eye(3)).max()) > 1e-13:  # typed by hand: the nearest rotation
        u, _, vt = np.linalg.svd(R)
        return by_rows(u @ vt).axes
    return tuple((float(a), float(b), float(c)) for a, b, c in R)


def quaternion(given: object) -> Orientation:
    """The orientation of Euler parameters e0, e1, e2, e3, which need not be normalised.

    Raises:
        PydanticCustomError: They are not four numbers, or all zero.
    """
    numbers = isinstance(given, Sequence) and all(
        isinstance(e, int | float) and not isinstance(e, bool) for e in given
    )
    p = np.array(given, dtype=float) if numbers else np.zeros(0)
    with np.errstate(over="ignore"):
        size = float(np.linalg.norm(p))
    if p.shape != (4,) or not np.isfinite(size) or not size:
        raise fault(f"Euler parameters are four numbers, not all 0, not {given!r}")
    e0, e = p[0] / size, p[1:] / size
    x, y, z = e
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    # A = (e0² - eᵀe) 1 + 2 e eᵀ + 2 e0 ẽ
    return by_rows((e0 * e0 - e @ e) * np.eye(3) + 2 * np.outer(e, e) + 2 * e0 * skew)


OrientationField = Annotated[
    Any,
    PlainValidator(_orientation),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                "axes": {
                    "description": "rows of a rotation matrix",
                    "type": "array",
                    "items": _NUMBERS3,
                    "minItems": 3,
                    "maxItems": 3,
                },
                "quaternion": {
                    "description": "Euler parameters e0, e1, e2, e3",
                    "type": "array",
                    "items": {"type": "number"},
                    "minItems": 4,
                    "maxItems": 4,
                },
                "zyx": {**_VALUES, "description": "yaw, pitch and roll"},
            },
            "patternProperties": {"^[xyz]+$": _VALUES},
            "additionalProperties": False,
        }
    ),
]


# --- references, laws, data -------------------------------------------------------------------


def _named(what: str, find: Callable[[Known, str], str]) -> Any:
    def check(given: object, info: ValidationInfo) -> str:
        if not isinstance(given, str):
            raise fault(f"the name of {what} is wanted, not {shown_value(given)}")
        wrong = find(known_of(info), given)
        if wrong:
            raise fault(wrong)
        return given

    return Annotated[Any, PlainValidator(check), WithJsonSchema({"type": "string"})]


def _law(given: object, info: ValidationInfo) -> Law:
    if isinstance(given, bool | list):
        raise fault(f'a law of the time t is wanted, such as "2*pi*t", not {shown_value(given)}')
    try:
        law = law_from(given)
    except BielaError as error:
        raise fault(message_of(error)) from None
    known = known_of(info).parameters
    for name in sorted(law.parameters - set(known)):
        raise fault(f"unknown parameter {name!r} in the law{nearest(name, ['t', *known])}")
    return law


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise fault(f"a text is wanted, not {shown_value(given)}")
    return given


def _flag(given: object) -> bool:
    if not isinstance(given, bool):
        raise fault(f"true or false is wanted, not {shown_value(given)}")
    return given


def _array(given: object) -> Any:
    if not isinstance(given, list):
        raise fault(f"an array is wanted, not {shown_value(given)}")
    return frozen(given)


def frozen(given: Any) -> Any:
    """Data with tuples for arrays, as the elements of a model hold it."""
    if isinstance(given, list):
        return tuple(frozen(item) for item in given)
    if isinstance(given, dict):
        return {key: frozen(item) for key, item in given.items()}
    return given


PlaceName = _named("a body, or body.marker,", Known.place_fault)
BodyName = _named("a body", Known.body_fault)
JointName = _named("a joint", Known.joint_fault)
CoordinateName = _named("a coordinate", Known.coordinate_fault)
LawField = Annotated[
    Any, PlainValidator(_law), WithJsonSchema({"type": ["string", "number", "object"]})
]
Text = Annotated[Any, PlainValidator(_text), WithJsonSchema({"type": "string"})]
Flag = Annotated[Any, PlainValidator(_flag), WithJsonSchema({"type": "boolean"})]
Data = Annotated[Any, PlainValidator(frozen), WithJsonSchema({})]
Array = Annotated[Any, PlainValidator(_array), WithJsonSchema({"type": "array"})]
