"""The equations of bodies whose basis depends on parameters, which some values leave flat.

A body of a model stands on a point and arrows e_k that it shares with others, chosen where the
parameters have their defaults. With other values the same arrows may lie in a plane or on a line,
and what is written on them has no finite mass. How far they are from it is

    |det(e₁, e₂, e₃)| / (|e₁| |e₂| |e₃|):     1 for right angles, 0 where they span no space
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from biela.atoms import Atom, sqrt
from biela.code import Function
from biela.equations.natural.entities import Floats, cross, dot
from biela.equations.system import System
from biela.errors import ModelError

#: Arrows nearer to a plane or line than this do not carry a body: entries of M grow by its square.
_FLAT: Final = 1e-5


def volume(E: Sequence[Sequence[Atom]]) -> Atom:
    """How far three arrows are from a plane, with a sign."""
    sizes = [sqrt(dot(e, e)) for e in E]
    return dot(E[0], cross(E[1], E[2])) / (sizes[0] * sizes[1] * sizes[2])


@dataclass(frozen=True, repr=False)
class SpannedSystem(System):
    """A system that refuses parameters with which its bodies have no basis.

    Attributes:
        spanned: The bodies whose basis depends on parameters.
        volumes: The function of p that gives how far each is from a plane.
    """

    spanned: tuple[str, ...] = ()
    volumes: Function | None = None

    def evaluate(
        self,
        capability: str,
        q: Sequence[float] | Floats,
        v: Sequence[float] | Floats | None = None,
        *,
        p: Mapping[str, float] | Sequence[float] | Floats | None = None,
        **more: Any,
    ) -> Any:
        """The value of a capability; what is not given is zero, or the default of the model.

        Raises:
            ModelError: It is the mass matrix, and a body has no basis with these parameters.
        """
        if capability == "M" and self.volumes is not None:
            with np.errstate(all="ignore"):
                sizes = np.abs(np.atleast_1d(self.volumes(self._parameter_values(p))))
            # written so that a nan, of an arrow without length, is refused
            flat = [n for n, x in zip(self.spanned, sizes, strict=True) if not x > _FLAT]
            if flat:
                raise ModelError(
                    f"{self.name}: the points and axes that body {flat[0]} stands on lie in a "
                    f"plane or on a line with these parameters; they were chosen for the defaults "
                    f"of the parameters: give the model these values as defaults and formulate it "
                    f"again, or use other coordinates than natural ones"
                )
        return super().evaluate(capability, q, v, p=p, **more)
