"""The chain in Exudyn: planar rigid bodies and revolutes, its trapezoidal rule of index 2."""

from __future__ import annotations

import importlib
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.closed_loops.mechanism import Floats
from benchmarks.large_chain.chain import GRAVITY, coupler_lengths, crank_lengths, start_angles
from benchmarks.peers import PeerMissingError


def exudyn() -> Any:
    try:
        import exudyn
    except ImportError:
        raise PeerMissingError("Exudyn is not installed (pip install biela[bench])") from None
    return exudyn


class ExudynChain:
    """The chain, assembled; each simulation starts anew."""

    def __init__(self, loops: int) -> None:
        self.loops = loops
        exudyn()

    def simulate(self, seconds: float, step: float) -> tuple[float, Floats, Floats]:
        """CPU seconds, and positions and velocities at the end: (x, y, angle) a body."""
        exu = exudyn()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            system, nodes = self._system(exu)
            settings = exu.SimulationSettings()
            settings.timeIntegration.numberOfSteps = round(seconds / step)
            settings.timeIntegration.endTime = seconds
            settings.timeIntegration.verboseMode = 0
            settings.timeIntegration.newton.useModifiedNewton = True
            settings.solutionSettings.writeSolutionToFile = False
            settings.linearSolverType = exu.LinearSolverType.EigenSparse
            settings.parallel.numberOfThreads = 1
            start = time.process_time()
            system.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
            spent = time.process_time() - start
            kinds = exu.OutputVariableType
            q = [system.GetNodeOutput(n, kinds.Coordinates) for n in nodes]
            at = [system.GetNode(n)["referenceCoordinates"] for n in nodes]
            v = [system.GetNodeOutput(n, kinds.Coordinates_t) for n in nodes]
        return spent, np.array(q) + np.array(at), np.array(v)

    def _system(self, exu: Any) -> tuple[Any, list[Any]]:
        """Cranks, then couplers."""
        item = importlib.import_module("exudyn.itemInterface")

        loops = self.loops
        cranks, couplers = crank_lengths(loops), coupler_lengths(loops)
        theta, phi = start_angles(loops)
        container = exu.SystemContainer()
        system = container.AddSystem()
        self._kept = container
        ground = system.AddObject(item.ObjectGround())
        nodes: list[Any] = []

        def body(length: float, x: float, y: float, angle: float) -> Any:
            node = system.AddNode(item.Rigid2D(referenceCoordinates=[x, y, angle]))
            nodes.append(node)
            made = system.AddObject(
                item.RigidBody2D(physicsMass=1.0, physicsInertia=length**2 / 12, nodeNumber=node)
            )
            system.AddLoad(item.Force(markerNumber=marker(made, 0.0), loadVector=[0, -GRAVITY, 0]))
            return made

        def marker(of: Any, along: float) -> Any:
            return system.AddMarker(
                item.MarkerBodyPosition(bodyNumber=of, localPosition=[along, 0, 0])
            )

        def pin(first: Any, second: Any) -> None:
            system.AddObject(item.RevoluteJoint2D(markerNumbers=[first, second]))

        tips = np.stack(
            [np.arange(loops + 1) + cranks * np.sin(theta), -cranks * np.cos(theta)], axis=1
        )
        made = []
        for k in range(loops + 1):
            x, y = (tips[k] + [k, 0]) / 2
            made.append(body(cranks[k], x, y, np.arctan2(-np.cos(theta[k]), np.sin(theta[k]))))
            pin(marker(ground, float(k)), marker(made[k], -cranks[k] / 2))
        for k in range(loops):
            x, y = (tips[k] + tips[k + 1]) / 2
            coupler = body(couplers[k], x, y, phi[k])
            pin(marker(made[k], cranks[k] / 2), marker(coupler, -couplers[k] / 2))
            pin(marker(made[k + 1], cranks[k + 1] / 2), marker(coupler, couplers[k] / 2))
        system.Assemble()
        return system, nodes
