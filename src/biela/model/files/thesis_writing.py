"""Models written as the four text files of Peinado's thesis, as far as these can hold them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.errors import FileError, ModelError
from biela.model.bodies import GROUND
from biela.model.drivers import Cosine, DistanceDriver, Driver, PositionDriver, Rotary
from biela.model.drivers import Path as PathDriver
from biela.model.element import Element
from biela.model.files.thesis import DRIVER_CODES, JOINT_CODES
from biela.model.joints import (
    Connection,
    CoordinateDifference,
    Cylindrical,
    Distance,
    Dot,
    InPlane,
    Joint,
    ParallelAxes,
    PointOnLine,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from biela.model.laws.law import Constant, Formula, Law
from biela.model.markers import Marker
from biela.model.model import Model
from biela.model.placing import body_pose, marker_pose
from biela.model.quantities.dimensions import UNITS
from biela.whole_files import make_folder, write_files

Floats = npt.NDArray[np.float64]
Point = Sequence[float]

_HEADER = "# code i j  Pi  Qi  Ri  Pj  Qj  Rj  value\n"


def save_thesis(model: Model, folder: str | Path) -> list[str]:
    """Write general.txt, joints.txt, drivers.txt and initial.txt into a folder.

    These files hold kinematics only.  Bodies become links in their order, with the ground first.

    Args:
        model: The model.
        folder: The folder, made if it is not there.

    Returns:
        What the files have no place for and was left out: masses, forces, sensors …

    Raises:
        ModelError: A joint or driver has no row in this format, or the model has parts.
        FileError: The files cannot be written there.
    """
    if model.parts:
        raise ModelError(f"{model.name}: the files of the thesis have no parts")
    writer = _Writer(model)
    texts = {
        "general": writer.general(),
        "joints": _HEADER + "".join(writer.joint(joint) for joint in model.joints.values()),
        "drivers": _HEADER + "".join(writer.driver(driver) for driver in model.drivers.values()),
        "initial": writer.initial(),
    }
    place = make_folder(folder, FileError)
    write_files({place / f"{name}.txt": text for name, text in texts.items()}, FileError)
    return writer.left_out()


class _Writer:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.links = {GROUND: 1} | {name: k for k, name in enumerate(model.bodies, start=2)}
        self.joint_codes = {name: code for code, name in reversed(JOINT_CODES.items())}
        self.driver_codes = {name: code for code, name in reversed(DRIVER_CODES.items())}

    def general(self) -> str:
        """Links, interval and number of intervals."""
        run = self.model.run
        duration = self._number(run.get("duration", 1.0), "time")
        step = self._number(run.get("step", duration / 100), "time")
        if not (duration > 0 and step > 0):
            raise ModelError(
                f"{self.model.name}: a motion of {duration!r} s in steps of {step!r} s cannot be "
                "written: duration and step of the table [run] are positive"
            )
        lines = [
            f"# {self.model.name}",
            f"nb {len(self.links)}",
            f"T {duration!r}",
            f"t {max(1, round(duration / step))}",
            f"endpoint {'yes' if run.get('end_point') else 'no'}",
        ]
        if "tolerance" in run:
            lines.append(f"tol {self._number(run['tolerance'], 'none')!r}")
        if "max_iterations" in run:
            lines.append(f"max_iter {run['max_iterations']}")
        if "method" in run:
            lines.append(f"solver {run['method']}")
        return "\n".join(lines) + "\n"

    def initial(self) -> str:
        """The seven coordinates of each link."""
        lines = ["qo 0 0 0 1 0 0 0"]
        for name, body in self.model.bodies.items():
            T = body_pose(self.model, body)
            numbers = [*T[:3, 3], *euler_parameters(T[:3, :3])]
            lines.append(f"   {' '.join(_text(x) for x in numbers)}  # {name}")
        return "\n".join(lines) + "\n"

    def left_out(self) -> list[str]:
        """What has no place in the files."""
        model = self.model
        found = [f"the mass of {n}" for n, body in model.bodies.items() if body.inertia.mass != 0.0]
        found += [f"the shapes of {n}" for n, body in model.bodies.items() if body.shapes]
        for what, names in (("force", model.forces), ("sensor", model.sensors)):
            found += [f"{what} {name}" for name in names]
        found += [
            f"the limits of joint {name}"
            for name, joint in model.joints.items()
            if isinstance(joint, Joint)
            and (joint.limits or joint.velocity_limits or joint.effort_limits)
        ]
        return found

    # ----------------------------------------------------------------------- joints

    def joint(self, joint: Connection) -> str:
        """The row of a joint."""
        if not isinstance(joint, Joint):
            raise self._unfit(joint)
        i, j = self._frame(joint.i), self._frame(joint.j)
        links = self.links[joint.i.body], self.links[joint.j.body]
        plane = {"Pi": i["o"], "Qi": i["x"], "Ri": i["y"]}
        ends = {"Pi": i["o"], "Pj": j["o"]}
        code, value = "", 0.0
        points: dict[str, Point]
        if isinstance(joint, Revolute | Cylindrical | ParallelAxes):
            code = {"revolute": "RJ", "cylindrical": "CJ"}.get(joint.kind, "PERP1")
            points = {**plane, "Pj": j["o"], "Qj": j["z"], "Rj": j["x"]}
        elif isinstance(joint, Prismatic):
            code, points = "TJ", {**plane, "Pj": j["o"], "Qj": j["z"], "Rj": j["y"]}
        elif isinstance(joint, PointOnLine):
            code, points = "PERP2", {**plane, "Pj": j["o"]}
        elif isinstance(joint, Spherical):
            code, points = "SJ", ends
        elif isinstance(joint, Universal):
            code, points = "UJ", {**ends, "Qi": i["x"], "Qj": j["y"]}
        elif isinstance(joint, Distance):
            code, points, value = "D", ends, self._number(joint.length, "length")
        elif isinstance(joint, CoordinateDifference):
            code, points = f"CD{joint.along}", ends
            value = self._number(joint.value, "length")
        elif isinstance(joint, Dot):
            code, points = "DP1", {**ends, "Qi": i[joint.a], "Qj": j[joint.b]}
            value = self._number(joint.value, "none")
        elif isinstance(joint, InPlane):
            code, points = "DP2", {**ends, "Qi": i[joint.normal]}
            value = self._number(joint.offset, "length")
        else:
            raise self._unfit(joint)
        return self._row(self.joint_codes[code], links, points, f"{value!r}  # {joint.name}")

    # ---------------------------------------------------------------------- drivers

    def driver(self, driver: Driver) -> str:
        """The row of a driver, or the rows of a path."""
        if isinstance(driver, Rotary):
            return self._rotary(driver)
        if isinstance(driver, Cosine):
            i, j = self._frame(driver.i), self._frame(driver.j)
            points = {"Pi": i["o"], "Qi": i[driver.a], "Pj": j["o"], "Qj": j[driver.b]}
            return self._driver_row(
                driver, "rotary", driver.i.body, driver.j.body, points, driver.law
            )
        if isinstance(driver, DistanceDriver):
            points = {"Pi": self._frame(driver.i)["o"], "Pj": self._frame(driver.j)["o"]}
            return self._driver_row(
                driver, "distance", driver.i.body, driver.j.body, points, driver.law
            )
        if isinstance(driver, PositionDriver):
            return self._position(driver, driver.i, driver.marker, {driver.axis: driver.law})
        if isinstance(driver, PathDriver) and driver.i is None:
            laws = {"x": driver.x, "y": driver.y, "z": driver.z}
            return self._position(driver, None, driver.marker, laws)
        raise self._unfit(driver)

    def _rotary(self, driver: Rotary) -> str:
        joint = self.model.joints.get(driver.coordinate.removesuffix(".angle"))
        if not isinstance(joint, Revolute | Cylindrical):
            raise self._unfit(driver)
        i, j = self._frame(joint.i), self._frame(joint.j)
        points = {"Pi": i["o"], "Qi": i["x"], "Pj": j["o"], "Qj": j["x"]}
        return self._driver_row(driver, "rotary", joint.i.body, joint.j.body, points, driver.law)

    def _position(
        self, driver: Driver, i: Marker | None, j: Marker, laws: dict[str, Law | None]
    ) -> str:
        start = (0.0, 0.0, 0.0) if i is None else self._frame(i)["o"]
        before = GROUND if i is None else i.body
        points = {"Pi": start, "Pj": self._frame(j)["o"]}
        return "".join(
            self._driver_row(driver, axis, before, j.body, points, law)
            for axis, law in laws.items()
            if law is not None
        )

    def _driver_row(
        self, driver: Driver, code: str, i: str, j: str, points: dict[str, Point], law: Law
    ) -> str:
        if not isinstance(law, Formula | Constant):
            raise ModelError(
                f"driver {driver.name}: a law in these files is a formula, not a table or profile"
            )
        text = repr(law.number) if isinstance(law, Constant) else law.text
        for name in law.parameters:
            if name in UNITS:  # which one a place means is not to be told from the text alone
                raise ModelError(
                    f"driver {driver.name}: the parameter {name} has the name of a unit; rename it"
                )
            number = self.model.parameters[name]
            text = re.sub(rf"\b{name}\b", f"({number!r})", text)
        rest = f"0  | {text}  # {driver.name}"
        return self._row(self.driver_codes[code], (self.links[i], self.links[j]), points, rest)

    # ----------------------------------------------------------------------- inside

    def _unfit(self, element: Element) -> ModelError:
        return ModelError(
            f"{element.category} {element.name}: the kind {element.kind!r} has no row in the files "
            "of the thesis"
        )

    def _number(self, value: Any, dimension: str) -> float:
        return float(self.model.number(value, dimension))

    def _frame(self, marker: Marker) -> dict[str, Point]:
        """The origin of a marker, and the points one metre from it along its axes."""
        T = marker_pose(self.model, marker)
        points = {"o": T[:3, 3].tolist()}
        for k, axis in enumerate("xyz"):
            points[axis] = (T[:3, 3] + T[:3, k]).tolist()
            points[f"-{axis}"] = (T[:3, 3] - T[:3, k]).tolist()
        return points

    @staticmethod
    def _row(code: int, links: tuple[int, int], points: dict[str, Point], rest: str) -> str:
        columns = [
            " ".join(_text(x) for x in points.get(name, (0.0, 0.0, 0.0)))
            for name in ("Pi", "Qi", "Ri", "Pj", "Qj", "Rj")
        ]
        return f"{code} {links[0]} {links[1]}  {'  '.join(columns)}  {rest}\n"


def _text(x: float) -> str:
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(float(x))


def euler_parameters(R: Floats) -> tuple[float, float, float, float]:
    """The Euler parameters of a rotation, from the largest of them (Shepperd, JGC 1(3), 1978)."""
    t = float(np.trace(R))
    squares = [t, *(2 * float(R[k, k]) - t for k in range(3))]  # 4 e² - 1 of each
    k = int(np.argmax(squares))
    e = np.zeros(4)
    e[k] = math.sqrt(1 + squares[k]) / 2
    skew = (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])  # 4 e0 e
    for n in range(4):
        if n == k:
            continue
        if k == 0 or n == 0:
            e[n] = skew[max(k, n) - 1] / (4 * e[k])
        else:
            e[n] = (R[k - 1, n - 1] + R[n - 1, k - 1]) / (4 * e[k])
    return float(e[0]), float(e[1]), float(e[2]), float(e[3])
