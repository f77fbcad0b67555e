"""A plot of one quantity over another as a drawing in SVG, for pages.

Curves that go back and forth along the axis across are no business of plotters of time series.
Points of the curve tell their values when the pointer rests on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.results.drawing import nice_step
from biela.results.style import COLORS
from biela.studio.channels import Curve
from biela.studio.pieces import between

__all__ = ["xy_plot"]

Floats = npt.NDArray[np.float64]

_WIDTH, _HEIGHT = 360, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 24, 42
#: Points that tell their values, at most.
_TOLD: Final = 120


def xy_plot(t: Floats, across: Curve, up: Sequence[Curve], place: float) -> str:
    """The drawing, with a dot at a place among the instants.

    Args:
        t: The instants (k,).
        across: The quantity of the axis across.
        up: Those of the axis up; units may differ, the axis has none then.
        place: Where the dots are, see `between`.
    """
    x = _Axis(across.values, _LEFT, _WIDTH - _RIGHT)
    y = _Axis(np.concatenate([c.values for c in up]), _HEIGHT - _BOTTOM, _TOP)
    units = {curve.unit for curve in up}
    parts = [*_grid(x, y), *_labels(across, up, units)]
    for k, curve in enumerate(up):
        color = COLORS[k % len(COLORS)]
        px, py = x.pixels(across.values), y.pixels(curve.values)
        way = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py, strict=True) if _known(a, b))
        parts.append(f'<polyline points="{way}" fill="none" stroke="{color}" stroke-width="1.8"/>')
        step = max(1, len(t) // _TOLD)
        for i in range(0, len(t), step):
            if _known(px[i], py[i]):
                told = (
                    f"{across.name} = {across.values[i]:.5g} {across.unit}\n"
                    f"{curve.name} = {curve.values[i]:.5g} {curve.unit}\nt = {t[i]:.4g} s"
                )
                parts.append(
                    f'<circle cx="{px[i]:.1f}" cy="{py[i]:.1f}" r="6" fill="transparent">'
                    f"<title>{escape(told)}</title></circle>"
                )
        a, b = (float(v) for v in (between(px, place), between(py, place)))
        if _known(a, b):
            parts.append(
                f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4.5" fill="{color}" stroke="white"/>'
            )
    return (
        f'<svg class="studio-xy" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="100%" '
        f'font-family="sans-serif" font-size="10.5" fill="#333">{"".join(parts)}</svg>'
    )


class _Axis:
    """From values to pixels, with round ticks."""

    def __init__(self, values: Floats, first: float, last: float) -> None:
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
            low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
        room = 0.04 * (high - low)
        self._low, self._high = low - room, high + room
        self._first, self._last = first, last

    def pixels(self, values: Floats) -> Floats:
        part = (values - self._low) / (self._high - self._low)
        found: Floats = self._first + part * (self._last - self._first)
        return found

    def ticks(self) -> list[tuple[float, str]]:
        """Places in pixels and their numbers."""
        step = nice_step(self._high - self._low)
        count = np.arange(np.ceil(self._low / step), np.floor(self._high / step) + 1)
        digits = max(0, -int(np.floor(np.log10(step))))
        values = count * step
        texts = [f"{v + 0.0:.{digits}f}" if digits < 6 else f"{v:.2e}" for v in values]
        return [(float(p), text) for p, text in zip(self.pixels(values), texts, strict=True)]


def _known(a: float, b: float) -> bool:
    return bool(np.isfinite(a) and np.isfinite(b))


def _grid(x: _Axis, y: _Axis) -> list[str]:
    low, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for at, text in x.ticks():
        parts.append(f'<path d="M{at:.1f} {_TOP}V{low}" stroke="#e6e6e6"/>')
        parts.append(f'<text x="{at:.1f}" y="{low + 15}" text-anchor="middle">{text}</text>')
    for at, text in y.ticks():
        parts.append(f'<path d="M{_LEFT} {at:.1f}H{right}" stroke="#e6e6e6"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{text}</text>')
    parts.append(f'<path d="M{_LEFT} {_TOP}V{low}H{right}" fill="none" stroke="#555"/>')
    return parts


def _labels(across: Curve, up: Sequence[Curve], units: set[str]) -> list[str]:
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts = [
        f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(across.label)}</text>'
    ]
    names = (
        f'<tspan fill="{COLORS[k % len(COLORS)]}">'
        f"{escape(curve.label if len(units) > 1 or k == 0 else curve.name)}&#8195;</tspan>"
        for k, curve in enumerate(up)
    )
    return [*parts, f'<text x="{_LEFT}" y="{_TOP - 10}">{"".join(names)}</text>']
