"""One process of `start_up`: prints the seconds of the imports, and of all up to an answer."""

from __future__ import annotations

import json
import sys
import time

start = time.perf_counter()

import numpy as np  # noqa: E402

import biela as bl  # noqa: E402
from biela.model.files import load_urdf  # noqa: E402

bl.Robot  # noqa: B018 (loads what is behind the name)


def main(path: str, floating: bool) -> None:
    imported = time.perf_counter()
    robot = bl.Robot(load_urdf(path, floating=floating, geometry="none", notes=[]))
    tau = robot.rnea(robot.start, np.zeros(robot.nv), np.zeros(robot.nv))
    done = time.perf_counter()
    assert np.isfinite(tau).all()
    print(json.dumps([imported - start, done - imported]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "1")
