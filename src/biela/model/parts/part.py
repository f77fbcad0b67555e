"""Parts: a model used inside another, once or many times.

A part is a prototype and what differs between its instances: a shift and rows of parameters.  An
array of 100,000 cells is one model of a few bodies and a few numpy arrays, never 300,000 bodies.

    cell = four_bar()
    m = Model("array")
    m.part("cell", cell, 1000, shift=(0, 0, "50 mm"), parameters={"r": radii})

    m = Model("chain")                                  # each stands on the one before
    m.part("cell", cell, 1000, link="rocker.tip")

The bodies of instance 3 are "cell[3].crank" …, those of a part without a count "arm.crank".
`biela.model.parts.flattening` writes a part out as plain bodies and joints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.budgets import BODIES, PARAMETERS, within
from biela.errors import ModelError
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.model.orientation import Orientation, turned
from biela.model.parts.renaming import renamed_text
from biela.model.parts.settings import (
    Between,
    Setting,
    betweens,
    check_model,
    needs_many,
    settings_of,
)
from biela.model.quantities.units import parameters_of
from biela.model.quantities.values import Triple, Value, triple

if TYPE_CHECKING:
    from biela.model.model import Model

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """A model used as a part of another one.

    Attributes:
        name: What it is called.
        model: The prototype.
        count: How many there are; None for one that has no number.
        position: Where the ground frame of the prototype is, from the frame of the body ``on``.
        orientation: How it is turned there.
        shift: From one instance to the next, along the axes of ``on``; with ``link``, along those
            of the link.
        on: The body of the host that takes the place of the ground of the prototype.
        link: A body of the prototype, or a marker on one, that takes the place of the ground of
            the next instance: the instances form a chain.
        between: Joints from each instance to the next.
        parameters: Values of parameters of the prototype that differ from its own.
    """

    name: str
    model: Model
    count: int | None = None
    position: Triple = (0.0, 0.0, 0.0)
    orientation: Orientation = Orientation()
    shift: Triple = (0.0, 0.0, 0.0)
    on: str = GROUND
    link: str | None = None
    between: tuple[Between, ...] = ()
    parameters: Mapping[str, Setting] = field(default_factory=dict)
    #: The rows among them that have parameters of the host in them, as they were given.
    texts: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    #: One joint of each kind of ``between``, for what is the same in all instances.
    joints_between: tuple[Joint, ...] = ()

    @classmethod
    def made(
        cls,
        host: Model,
        name: str,
        model: Model,
        count: int | None = None,
        *,
        position: Sequence[Value] = (0.0, 0.0, 0.0),
        orientation: Orientation | tuple[str, Sequence[Value]] | None = None,
        shift: Sequence[Value] = (0.0, 0.0, 0.0),
        on: str | Any = GROUND,
        link: str | None = None,
        between: Sequence[Any] = (),
        parameters: Mapping[str, Value | Sequence[Value] | Floats] | None = None,
    ) -> Part:
        """Check and make one: see the attributes of `Part`.

        Raises:
            ModelError: Something does not fit the prototype or the host.
        """
        who = f"{host.name}: part {name}"
        check_model(who, host, model)
        given: object = count  # files hold anything
        whole = isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 1
        if count is not None and not whole:
            raise ModelError(f"{who}: the count is a whole number above zero, not {count!r}")
        from biela.model.parts.flattening import body_count  # which knows parts

        within(
            BODIES,
            int(count or 1) * max(1, body_count(model)),
            f"{who} would make {{}} bodies",
            "use a smaller count, or fewer parts within parts",
        )
        if isinstance(orientation, tuple):
            orientation = turned(*orientation)
        frame = orientation or Orientation()
        for _, angle in frame.turns:
            if parameters_of(angle):
                raise ModelError(
                    f"{who} is turned by {angle!r}; a part is turned by numbers, not by parameters"
                )
        if (many := needs_many(count, shift, link, between)) is not None:
            raise ModelError(f"{who}: {many} says how instances follow each other; give a count")
        rows = {
            n: tuple(row)
            for n, row in (parameters or {}).items()
            if isinstance(row, list | tuple) and any(parameters_of(x) for x in row)
        }
        part = cls(
            name,
            model,
            None if count is None else int(count),
            triple(f"{who}: position", position),
            frame,
            triple(f"{who}: shift", shift),
            host.find_body(on if isinstance(on, str) else on.name).name,
            link,
            betweens(who, between),
            settings_of(who, host, model, plain_parameters(model), count, parameters or {}),
            rows,
        )
        if link is not None and part.link_place[0] == GROUND:
            raise ModelError(f"{who}: the ground cannot be a link; name a body that moves")
        return part._with_joints(host)

    def _with_joints(self, host: Model) -> Part:
        """With the joints between instances, tried out on two of them."""
        if not self.between:
            return self
        from biela.model.parts.flattening import flattened

        trial = type(host)(host.name)
        trial.parameters = host.parameters.copy()
        rows = {n: v[:2] if isinstance(v, np.ndarray) else v for n, v in self.parameters.items()}
        trial.parts[self.name] = replace(self, count=2, on=GROUND, parameters=rows, texts={})
        whole = flattened(trial)
        made = [whole.joints[f"{self.name}[1].{b.name}"] for b in self.between]
        return replace(self, joints_between=tuple(j for j in made if isinstance(j, Joint)))

    # ------------------------------------------------------------------------ names

    @property
    def size(self) -> int:
        """Number of instances."""
        return 1 if self.count is None else self.count

    def prefix(self, k: int) -> str:
        """What the names of instance k begin with: "arm." or "cell[3]."."""
        return f"{self.name}." if self.count is None else f"{self.name}[{k}]."

    def place(self, text: str, k: int = 0) -> str:
        """The name in the host of a body, marker or coordinate of instance k; -1 is the last.

        >>> from biela.model import Model
        >>> m = Model("array")
        >>> Part("cell", m, 10).place("crank.tip", -1)
        'cell[9].crank.tip'

        Raises:
            ModelError: There are not that many.
        """
        return self.prefix(self.number(k)) + text

    def number(self, k: int) -> int:
        """The number of an instance, counted from the end if negative.

        Raises:
            ModelError: There are not that many.
        """
        if not -self.size <= k < self.size:
            raise ModelError(f"there is no {self.name}[{k}]; they are 0 to {self.size - 1}")
        return k % self.size

    @property
    def link_place(self) -> tuple[str, str]:
        """Body and marker (or none) of the link.

        Raises:
            ModelError: There is no link, or no such body or marker.
        """
        if self.link is None:
            raise ModelError(f"part {self.name} has no link")
        return split_place(self.model, self.link)

    # ------------------------------------------------------------------- parameters

    def parameter_names(self, k: int, plain: Mapping[str, float] | None = None) -> dict[str, str]:
        """What stands in the host for each parameter of the prototype: a name, or "(text)".

        Parameters that are the same in all instances have one name; in rows each has its own.
        One that is computed from others is the text that computes it.  ``plain`` are the parameters
        of the prototype, if they are at hand.
        """
        names: dict[str, str] = {}
        computed = self.model.parameters.texts
        for name in plain_parameters(self.model) if plain is None else plain:
            given = self.parameters.get(name)
            if name in self.texts:
                given = self.texts[name][k]
            if isinstance(given, str):
                names[name] = f"({given})"
            elif isinstance(self.parameters.get(name), np.ndarray):
                names[name] = _identifier(f"{self.name}_{k}_{name}")
            elif given is None and name in computed:
                names[name] = f"({renamed_text(computed[name], names)})"
            else:
                names[name] = _identifier(f"{self.name}_{name}")
        return names

    def with_rows(self, host: Model) -> Part:
        """The part with rows computed anew, for other values of the parameters of the host."""
        rows = {n: np.array([host.number(x) for x in row]) for n, row in self.texts.items()}
        return replace(self, parameters={**self.parameters, **rows}) if rows else self

    def parameter_values(
        self, k: int, plain: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """The numbers of instance k by the names they have in the host; see `parameter_names`."""
        values = {}
        plain = plain_parameters(self.model) if plain is None else plain
        names = self.parameter_names(k, plain)
        for name, own in plain.items():
            given = self.parameters.get(name, self.model.parameters.texts.get(name, own))
            text = isinstance(self.texts[name][k] if name in self.texts else given, str)
            if not text:
                values[names[name]] = float(given[k] if isinstance(given, np.ndarray) else given)
        return values


def split_place(model: Model, text: str) -> tuple[str, str]:
    """Body and marker, or a body alone.

    Raises:
        ModelError: There is no such body or marker.
    """
    from biela.model.parts.instances import is_body

    if is_body(model, text):
        return text, ""
    marker = model.marker(text)
    return marker.body, marker.name


def plain_parameters(
    model: Model, known: dict[int, dict[str, float]] | None = None
) -> dict[str, float]:
    """The parameters of a model and of all its parts, as `flattening` calls them.

    ``known`` are those of models that were looked at before, which many parts may share.

    Raises:
        ModelError: They are more than the limit.
    """
    known = {} if known is None else known
    if id(model) not in known:
        found = dict(model.parameters)
        for part in model.parts.values():
            rows = any(isinstance(v, np.ndarray) for v in part.parameters.values())
            inner = plain_parameters(part.model, known)
            count = part.size if rows else 1
            within(
                PARAMETERS,
                len(found) + count * len(inner),
                f"{model.name}: part {part.name} would make {{}} parameters",
                "give fewer rows of values, or fewer parts within parts",
            )
            for k in range(count):
                found.update(part.parameter_values(k, inner))
        known[id(model)] = found
    return known[id(model)]


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)
