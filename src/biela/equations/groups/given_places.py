"""Bodies whose rotation or place drivers give outright: no equation is solved for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from biela.equations.blocks.populations import Frames
from biela.equations.groups.cast import CastElement
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.freedom_drivers import RotationDriver, SpinDriver
from biela.equations.groups.placing import origin_place
from biela.equations.reference_point import NORMAL
from biela.model.drivers.position import PositionDriver
from biela.space import Base

__all__ = ["given_rotation", "place_as_given"]


def given_rotation(
    derivation: GroupDerivation, base: Base, first: Frames, last: Frames
) -> Base | None:
    """The base of frames that a driver turns from others, with that base; None if none does."""
    for number, cast in _drivers(derivation, RotationDriver):
        if len(cast.markers) != 2:
            continue
        driver = cast.element
        assert isinstance(driver, RotationDriver) and driver.i is not None
        j, i = (cast.markers[int(m.name[1:])].frames for m in (driver.marker, driver.i))
        for a, b, back in ((i, j, False), (j, i, True)):
            if _same(a, first) and _same(b, last):
                derivation.satisfied.add(number)
                with derivation.element(number):
                    return driver.target(derivation, base, back=back)
    return None


def place_as_given(derivation: GroupDerivation, slot: int) -> bool:
    """Put a body whose rotation and place in the ground drivers give; False if they do not."""
    axes, root = derivation.plane or "xyz", derivation.system.base
    turned = [
        (number, cast)
        for number, cast in _drivers(derivation, RotationDriver, SpinDriver)
        if len(cast.markers) == 1 and cast.markers[0].slot == slot
    ]
    places = {
        cast.element.axis: (number, cast)
        for number, cast in _drivers(derivation, PositionDriver)
        if isinstance(cast.element, PositionDriver)
        and len(cast.markers) == 1
        and cast.markers[0].slot == slot
    }
    if len(turned) != 1 or set(places) != set(axes):
        return False
    points = [cast.markers[0].frames for _, cast in places.values()]
    if any(not _same(points[0], point) for point in points):
        return False
    number, cast = turned[0]
    driver = cast.element
    with derivation.element(number):
        if isinstance(driver, RotationDriver):
            base = driver.target(derivation, root)
        elif derivation.plane is not None and isinstance(driver, SpinDriver):
            angle = derivation.law(driver.law, "angle")
            base = root.rotated(derivation.fresh("given"), NORMAL[derivation.plane], angle)
        else:
            return False
    derivation.satisfied.add(number)
    r = {axis: derivation.workspace.atom(0) for axis in "xyz"}
    for axis, (position, one) in places.items():
        assert isinstance(one.element, PositionDriver)
        with derivation.element(position):
            r[axis] = derivation.law(one.element.law, "length")
        derivation.satisfied.add(position)
    own = np.broadcast_to(np.eye(3), (derivation.cast.count, 3, 3))
    frame = own if derivation.plane is not None else cast.markers[0].frames.axes
    place = origin_place(derivation, list(r.values()), base, f"given{slot}")
    derivation.put(slot, place, (derivation.in_plane(points[0].place), frame))
    return True


def _drivers(derivation: GroupDerivation, *kinds: type) -> Iterator[tuple[int, CastElement]]:
    for number, cast in enumerate(derivation.cast.elements):
        if isinstance(cast.element, kinds) and number not in derivation.satisfied:
            yield number, cast


def _same(a: Frames, b: Frames) -> bool:
    """Whether frames are one in all instances."""
    return (
        np.array_equal(a.body, b.body)
        and np.allclose(a.place, b.place, rtol=0, atol=1e-14)
        and np.allclose(a.axes, b.axes, rtol=0, atol=1e-14)
    )
