"""How a mechanism is drawn: each body as lines between its markers."""

from __future__ import annotations

from dataclasses import replace

from biela.code import Function
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.system import Drawing, LazyFunctions, Line, System
from biela.space import position


def drawn(derivation: MechanismDerivation, system: System) -> System:
    """The system with points and lines of its markers."""
    source, model = derivation.system, derivation.model
    names: list[str] = []
    places = []
    lines: list[Line] = []
    for body in (model.ground, *model.bodies.values()):
        first = len(names)
        for marker in body.markers.values():
            names.append(marker.label)
            places.append(derivation.place(marker).point)
        if body is model.ground:
            continue
        count = len(names) - first
        if count < 2:
            names.append(f"{body.name} centre")
            solid = derivation.solids[body.name]
            places.append(solid.point)
            count += 1
        lines += [Line(body.name, first, first + k) for k in range(1, count)]

    def points() -> Function:
        rows = [position(source.origin, place).components(source.base) for place in places]
        return source.function("points", {"points": rows})

    made = dict.fromkeys(name for name in system.functions if name != "points")
    makers = {name: (lambda name=name: system.functions[name]) for name in made}
    return replace(
        system,
        drawing=Drawing(tuple(names), tuple(lines)),
        functions=LazyFunctions({}, {**makers, "points": points}),
    )
