"""Random planar mechanisms with a given number of groups, of a given size, tied as one likes.

A group of two bodies is a dyad.  One of 2 k + 2 bodies has k links with three joints each, hinged
to one another in a row, and k + 2 bars from them to bodies known before: two from each end of the
row and one from each link between; with k = 1 all three from the one link, which is a triad.
None of them splits further.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import biela as bl

Floats = npt.NDArray[np.float64]

#: rad that the crank swings to both sides.
SWING = 0.01
#: rad between a bar of a larger group and the way from the middle of its link.
BESIDE = 0.9


def random_mechanism(
    groups: int, size: int = 2, density: float = 0.0, speed: float = 10.0, seed: int = 0
) -> bl.Model:
    """A crank, and groups that follow it.

    Args:
        groups: How many, besides the crank.
        size: Bodies of each, an even number.
        density: Share of the outer joints, besides the first of each group, that rest on bodies
            that move; the others rest on the ground.
        speed: The crank's angle is SWING sin(speed t).
        seed: Of the random numbers.

    Raises:
        ValueError: A group of this size is not known.
    """
    if size < 2 or size % 2:
        raise ValueError(f"groups have 2, 4, 6 … bodies, not {size}")
    rng = np.random.default_rng(seed)
    m = bl.Model(f"{groups} groups of {size} bodies", plane="xy")
    crank = m.body("crank", mass=1.0, inertia=0.1, position=(0, 0, 0))
    m.joint("revolute", "shaft", m.ground, crank, at=(0, 0, 0))
    m.driver("rotary", "motor", coordinate="shaft.angle", law=f"{SWING}*sin({speed}*t)")
    # bodies that move, and a place of each
    moving: list[tuple[str, Floats]] = [("crank", np.array([1.0, 0.0]))]
    for k in range(groups):
        body, place = moving[int(rng.integers(len(moving)))]
        first = (body, place)
        others = [p for p in moving[-8:] if p[0] != body and rng.random() < density]
        moving.append(_group(m, f"g{k}", size, first, others, rng))
    return m


def _group(
    m: bl.Model,
    name: str,
    size: int,
    first: tuple[str, Floats],
    others: list[tuple[str, Floats]],
    rng: np.random.Generator,
) -> tuple[str, Floats]:
    """Add a group; a body of it that moves, and a place of it."""
    corner = first[1]
    outer = [first, *others]

    def held(number: int, at: Floats) -> tuple[str, Floats]:
        """What outer joint ``number`` rests on, and where: the ground is wherever it is wanted."""
        return (outer[number][0], outer[number][1]) if number < len(outer) else ("ground", at)

    if size == 2:
        apex = corner + _turned(1.0 + 0.3 * rng.random(), np.pi / 2 + 0.4 * rng.normal())
        second, place = held(1, apex + _turned(1.0 + 0.3 * rng.random(), 0.4 * rng.normal()))
        a, b = _body(m, f"{name}a"), _body(m, f"{name}b")
        _hinge(m, f"{name}_0", first[0], a, corner)
        _hinge(m, f"{name}_1", a, b, apex)
        _hinge(m, f"{name}_2", second, b, place)
        return b, apex
    links = (size - 2) // 2
    # bars that all pointed to the middle of their link would let it turn: they pass beside it
    begin = _sides(0, links)[0]
    shift = corner - _turned(1.1, begin + BESIDE) - _turned(0.6, begin)
    number = 0
    row = [_body(m, f"{name}t{i}") for i in range(links)]
    for i in range(links - 1):
        # beside the line of the middles, about which both links would turn
        aside = 1.2 if i % 2 else -1.2
        _hinge(m, f"{name}_h{i}", row[i], row[i + 1], shift + np.array([2.0 * i + 1.0, aside]))
    for i in range(links):
        # a link alone has bars to three sides, one at an end of the row to two
        angles = _sides(i, links)
        for angle in angles:
            eye = shift + np.array([2.0 * i, 0.0]) + _turned(0.6, angle + 0.15 * rng.normal())
            away = eye + _turned(1.0 + 0.2 * rng.random(), angle + BESIDE + 0.1 * rng.normal())
            body, place = (first[0], corner) if number == 0 else held(number, away)
            bar = _body(m, f"{name}b{number}")
            _hinge(m, f"{name}_o{number}", body, bar, place)
            _hinge(m, f"{name}_i{number}", bar, row[i], eye)
            number += 1
    return row[-1], shift + np.array([2.0 * (links - 1), 0.0])


def _sides(link: int, links: int) -> tuple[float, ...]:
    """Where the bars of a link of the row go."""
    if links == 1:
        return (-np.pi / 2 - 0.4, 0.5, 2.6)
    if link == 0:
        return (-np.pi / 2 - 0.4, 2.4)
    if link == links - 1:
        return (-0.9, 1.0)
    return (np.pi / 2 if link % 2 else -np.pi / 2,)


def _body(m: bl.Model, name: str) -> str:
    m.body(name, mass=1.0, inertia=0.1, position=(0, 0, 0))
    return name


def _hinge(m: bl.Model, name: str, a: str, b: str, at: Floats) -> None:
    m.joint("revolute", name, a, b, at=(float(at[0]), float(at[1]), 0.0))


def _turned(length: float, angle: float) -> Floats:
    return length * np.array([np.cos(angle), np.sin(angle)])
