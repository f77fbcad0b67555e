"""The characteristic of a spring given by points, and the energy that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom, Curve, Workspace
from biela.atoms.piecewise import PiecewisePolynomial, table
from biela.errors import DomainError, ModelError
from biela.model.quantities.units import quantity
from biela.model.quantities.values import Value


def check_pairs(who: str, points: object) -> None:
    """Refuse a characteristic that is no list.

    Raises:
        ModelError: It is a number or a text.
    """
    if isinstance(points, str) or not hasattr(points, "__len__"):
        raise ModelError(
            f"{who}: a characteristic is a list of pairs (extension, force), not {points!r}; a "
            f"number is a stiffness"
        )


def characteristic(
    workspace: Workspace,
    who: str,
    name: str,
    points: Sequence[Sequence[Value]],
    dimensions: tuple[str, str],
) -> tuple[Curve, Curve]:
    """Force and energy as functions of the extension: straight lines through points, and beyond.

    The energy is the integral from zero extension, a parabola between any two points, so that
    energy is conserved to rounding.

    Raises:
        ModelError: The points are none, or not in order.
    """
    try:
        pairs = [(quantity(x, dimensions[0]), quantity(f, dimensions[1])) for x, f in points]
        xs, fs = [x for x, _ in pairs], [f for _, f in pairs]
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        force = table(f"force_{plain}", xs, fs, outside="linear")
    except (TypeError, ValueError, DomainError) as error:
        raise ModelError(
            f"{who}: a characteristic is a list of pairs (extension, force), the extensions in "
            f"increasing order: {error}"
        ) from None
    energy = _integral(force, f"energy_{plain}")
    return _curve(workspace, force), _curve(workspace, energy)


def _integral(line: PiecewisePolynomial, name: str) -> PiecewisePolynomial:
    """The integral from zero of straight lines."""
    pieces = np.array(line.coefficients)
    widths = np.diff(line.breaks)
    inner = pieces[1:-1]
    rises = inner[:, 0] * widths + inner[:, 1] * widths**2 / 2
    starts = np.concatenate([[0.0, 0.0], np.cumsum(rises)])

    def made(shift: float) -> PiecewisePolynomial:
        rows = tuple(
            (float(c - shift), float(row[0]), float(row[1] / 2), 0.0)
            for c, row in zip(starts, pieces, strict=True)
        )
        return PiecewisePolynomial(name, line.breaks, line.origins, rows)

    return made(made(0.0)(0.0))


def _curve(workspace: Workspace, curve: PiecewisePolynomial) -> Curve:
    return Curve(workspace, workspace.table.add_piecewise(curve))


def linear(stiffness: Atom, extension: Atom) -> tuple[Atom, Atom]:
    """Force k x and energy k x² / 2."""
    return stiffness * extension, stiffness * extension**2 / 2
