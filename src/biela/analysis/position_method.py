"""How the positions of a driven mechanism are found: the method, its end, and its start.

| method         | correction                     | use                                   |
|----------------|--------------------------------|---------------------------------------|
| "newton"       | δ = Φ_v⁺ Φ                     | quadratic; the default                |
| "damped"       | δ = (Φ_vᵀ Φ_v + λ²)⁻¹ Φ_vᵀ Φ    | bounded steps near singular positions |
| "transpose"    | δ = α Φ_vᵀ Φ                   | no linear solve; many iterations      |
| "quasi_newton" | δ = α H Φ_vᵀ Φ                 | no linear solve; H by BFGS or DFP     |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.errors import ModelError
from biela.solvers.implicit_motion import Iteration

_ITERATIONS: Final = {"newton": 50, "damped": 1000, "transpose": 20_000, "quasi_newton": 1000}
#: Residual at which iterations end that converge quadratically (m, rad).
_ROUNDING: Final = 1e-13


@dataclass(frozen=True)
class PositionMethod:
    """The method by which positions are found.

    Attributes:
        name: "newton", "damped", "transpose" or "quasi_newton".
        damping: λ of "damped".
        update: Of "quasi_newton": "bfgs", or "dfp", the formula that the source prints as BFGS.
        stop: Whether the size of the "residual" |Φ| or of the "correction" |δ| ends an iteration.
        tolerance: That size.  If None, 1e-13 for Newton's method, which gains nothing by less, and
            the error that is accepted for the others.  (Peinado 2016 takes 1e-5.)
        iterations: The most for one instant; if None, 50 for Newton's method, 1000 for "damped"
            and "quasi_newton", and 20000 for "transpose".
        predictor: Order of Taylor's series that the iteration starts from: 0 is the position
            before, 1 adds its velocity, 2 its acceleration.

    Raises:
        ModelError: One of them makes no sense.
    """

    name: str = "newton"
    damping: float = 0.05
    update: str = "bfgs"
    stop: str = "residual"
    tolerance: float | None = None
    iterations: int | None = None
    predictor: int = 2

    def __post_init__(self) -> None:
        for what, value, known in (
            ("method", self.name, tuple(_ITERATIONS)),
            ("update", self.update, ("bfgs", "dfp")),
            ("stop", self.stop, ("residual", "correction")),
            ("predictor", self.predictor, (0, 1, 2)),
        ):
            if value not in known:
                names = ", ".join(map(repr, known))
                raise ModelError(f"{what} {value!r} is not known; these are: {names}")
        for what, number in (("damping", self.damping), ("tolerance", self.tolerance)):
            if number is not None and not (np.isfinite(number) and number > 0):
                raise ModelError(f"the {what} of a position method is positive, not {number!r}")
        if self.iterations is not None and self.iterations < 1:
            raise ModelError(f"a position takes 1 iteration at least, not {self.iterations!r}")

    @property
    def plain(self) -> bool:
        """Whether it is Newton's method as the unrolled kernels have it."""
        return self == PositionMethod()

    def iteration(self, accepted: float, size: float = 1.0) -> Iteration:
        """The iteration, for positions whose error is accepted up to a bound, of 1 m or a size."""
        quick = self.name == "newton"
        usual = size * (min(_ROUNDING, accepted) if quick else 0.5 * accepted)
        return Iteration(
            self.update if self.name == "quasi_newton" else self.name,
            self.damping,
            usual if self.tolerance is None else self.tolerance,
            self.stop == "correction",
            # a good prediction may pass a coarse tolerance by itself, and errors would add up
            1 if self.predictor else 0,
            self.iterations or _ITERATIONS[self.name],
        )


def as_method(method: str | PositionMethod) -> PositionMethod:
    """A method by its name, or itself.

    Raises:
        ModelError: There is none of that name.
    """
    return method if isinstance(method, PositionMethod) else PositionMethod(method)
