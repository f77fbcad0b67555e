"""How each kind of joint, driver, force and sensor is written: in a model file, and in Python.

The names are those of a small mechanism: bodies crank and rod with markers A and B, a hinge A, a
hinge B and a slide.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from biela.model.element import Element
from biela.model.joints import Joint

#: What elements are called in examples, by category.
_NAMES: Final = {"joint": "C", "driver": "motor", "force": "load", "sensor": "gauge"}
_TABLES: Final = {"joint": "joints", "driver": "drivers", "force": "forces", "sensor": "sensors"}
#: Example values of fields by what they hold.
_BY_DIMENSION: Final[Mapping[str, Any]] = {
    "length": "120 mm",
    "angle": "30 deg",
    "none": 0.5,
    "area": "0.02 m^2",
    "coordinate": "A.angle",
    "joint": "A",
    "law": "30 deg + 2*pi*t",
    "any": 100.0,
}
#: Example values of fields, by "category kind": what the kind is for, not only what it needs.
_CHOSEN: Final[Mapping[str, Mapping[str, Any]]] = {
    "joint gear": {"first": "A.angle", "second": "B.angle", "ratio": -0.5},
    "joint rack_pinion": {"pinion": "A.angle", "rack": "slide.displacement", "radius": "40 mm"},
    "joint helical": {"pitch": "5 mm"},
    "joint point_on_curve": {"x": "0.2*cos(s)", "y": "0.1*sin(s)"},
    "joint coordinate_difference": {"along": "x"},
    "joint dot": {"a": "x", "b": "y"},
    "driver translational": {"coordinate": "slide.displacement", "law": "0.05*sin(2*pi*t)"},
    "driver distance": {"law": "0.4 + 0.05*t"},
    "driver position": {"axis": "x", "law": "0.1*cos(t)"},
    "driver path": {"x": "0.1*cos(t)", "y": "0.1*sin(t)"},
    "driver orientation": {"first": "0.2*t"},
    "driver cosine": {"law": "pi/3 + t"},
    "force actuator": {"limit": 25.0},
    "force bushing": {"stiffness": [1e5, 1e5, 2e4], "damping": [100.0, 100.0, 50.0]},
    "force drag": {"coefficient": 1.2},
    "force friction": {"viscous": 0.02, "kinetic": 0.1},
    "force torsional": {"stiffness": "20 N*m/rad", "rest": "10 deg"},
    "force axial": {
        "coordinate": "slide.displacement",
        "stiffness": "2 N/mm",
        "damping": "5 N*s/m",
    },
    "force spring_damper": {
        "stiffness": "2 N/mm",
        "length": "150 mm",
        "damping": "5 N*s/m",
    },
    "force stop": {"stiffness": 1e4, "lower": -1.0, "upper": 1.0},
    "force wrench": {"fx": "10*sin(t)", "mz": 2.0},
    "sensor expression": {"text": "2*A.angle + 0.1*t", "unit": "rad"},
}


def settings(cls: type[Element]) -> dict[str, Any]:
    """Example values of the fields of a kind: those it needs, and those that show its use."""
    chosen = _CHOSEN.get(f"{cls.category} {cls.kind}", {})
    found: dict[str, Any] = {}
    for name, item in cls.settings().items():
        dimension = item.metadata["dimension"]
        required = (
            item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        )
        if name in chosen:
            found[name] = chosen[name]
        elif required and dimension == "marker":
            found[name] = "crank.B" if name == "i" else "rod.B"
        elif required:
            found[name] = _BY_DIMENSION[dimension]
    numbers = [c for c in getattr(cls, "coordinates", ()) if c.manifold == "line"]
    if issubclass(cls, Joint) and cls.carries and len(numbers) == len(cls.coordinates) == 1:
        found["start"] = {"rad": "30 deg", "m": "50 mm"}.get(numbers[0].unit, 0.0)
    return found


def toml(cls: type[Element]) -> str:
    """The table of an element in a model file."""
    lines = [f"[{_TABLES[cls.category]}.{_NAMES[cls.category]}]", f'kind = "{cls.kind}"']
    # texts, numbers and arrays of numbers are written alike in JSON and TOML
    lines += [f"{name} = {json.dumps(value)}" for name, value in settings(cls).items()]
    return "\n".join(lines)


def python(cls: type[Element]) -> str:
    """The call that adds an element to a model m."""
    given = settings(cls)
    first = [given.pop("i"), given.pop("j")] if issubclass(cls, Joint) else []
    parts = [_literal(value) for value in (cls.kind, _NAMES[cls.category], *first)]
    parts += [f"{name}={_literal(value)}" for name, value in given.items()]
    return f"m.{cls.category}({', '.join(parts)})"


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(repr, value))})"
    return json.dumps(value)  # texts in double quotes
