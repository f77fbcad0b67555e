"""The doors of Python: functions and methods of biela that are called with damaged arguments.

A call is a text of JSON, ``{"door": "simulate", "of": "pendulum", "given": {"duration": 0.01}}``:
the door, what it is asked of, and its arguments by name ("*" has those without one).  Texts such as
"!complex" stand for values that JSON has not, see `odd_values`.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import biela as bl
from biela.cli.kind_examples import toml as example_of
from biela.errors import BielaError
from biela.model.element import KINDS
from biela.model.files import loads
from biela.model.files.writing import dumps

__all__ = ["asked", "calls", "enter", "solver_calls"]

#: What Python says of arguments that a function has not, or has to have.
_SIGNATURE = re.compile(
    "unexpected keyword|required .*argument|multiple values|missing a|too many pos"
)
#: Texts that may be the name of a file elsewhere.
_OUTSIDE = re.compile(r"\.\.|(?<![\w.])/")

_PENDULUM = """name = "pendulum"
parameters = { L = "1 m" }
joints.A = { kind = "revolute", i = "ground", j = "rod", axis = "y", start = "20 deg" }
forces.motor = { kind = "actuator", coordinate = "A.angle" }
sensors.gauge = { kind = "point", marker = "rod.tip" }
[bodies.rod]
mass = 1
com = ["L/2", 0, 0]
inertia = [0.01, 0.1, 0.1]
markers.tip.position = ["L", 0, 0]
"""
_CRANK = """name = "crank"
parameters = { L = "0.7 m" }
forces.motor = { kind = "actuator", coordinate = "B.angle" }
bodies.slider = { position = ["L", 0, 0], mass = 0.5, inertia = [0.1, 0.1, 0.1] }
joints.A = { kind = "revolute", i = "ground", j = "crank", axis = "z", start = 0.4 }
joints.B = { kind = "revolute", i = "crank.B", j = "rod.B", axis = "z" }
joints.C = { kind = "revolute", i = "rod.C", j = "slider", axis = "z" }
joints.slide = { kind = "prismatic", i = "ground", j = "slider", axis = "x" }
[bodies.crank]
mass = 1
com = [0.1, 0, 0]
inertia = [0.1, 0.1, 0.1]
markers.B.position = [0.2, 0, 0]
[bodies.rod]
mass = 1
position = [0.2, 0, 0]
inertia = [0.1, 0.1, 0.1]
markers = { B = {}, C = { position = [0.5, 0, 0] } }
"""
_DRIVEN = f"""{_CRANK}
[drivers.turn]
kind = "rotary"
coordinate = "A.angle"
law = "0.4 + t"
"""
_MODELS = {"pendulum": _PENDULUM, "crank": _CRANK, "driven": _DRIVEN}
#: Which doors are called with what, of each subject.
_MODEL_CALLS: dict[str, list[dict[str, Any]]] = {
    "simulate": [
        {"duration": 0.01, "step": 0.005},
        {"duration": 0.01, "step": 0.005, "q": {"A.angle": 0.5}, "v": {"A.angle_rate": 1.0}},
        {"duration": 0.01, "formulation": "index3", "integrator": "rk4", "step": 0.005},
        {"duration": 0.01, "tolerance": 1e-6, "output": 0.005, "watch": "event", "t": 0.0},
        {"duration": 0.01, "step": 0.005, "parameters": {"L": 1.2}, "inputs": {"motor": 0.5}},
    ],
    "assemble": [
        {"q": {"A.angle": 0.5}, "hold": {"A.angle": 0.3}, "restarts": 2, "seed": 1},
        {
            "q": {"A.angle": "20 deg"},
            "near": {"A.angle": 0.2},
            "signs": {"A.angle": 1},
            "t": 0.0,
            "restarts": 2,
        },
    ],
    "assemble_velocity": [{"q": {"A.angle": 0.5}, "v": {"A.angle_rate": 1}, "hold": {}, "t": 0}],
    "linearise": [{"q": {"A.angle": 0.5}, "v": {"A.angle_rate": 0.1}, "independent": [], "t": 0}],
    "equilibrium": [{"q": {"A.angle": 0.5}, "hold": {}, "method": "auto", "t": 0.0}],
    "mobility": [{"q": {"rod.rx": 0.5}, "positions": 2, "seed": 1, "t": 0.0}],
    "redundancy": [{"q": {"A.angle": 0.5}, "assemble": True}],
    "reactions": [{"q": {"A.angle": 0.5}, "v": {}, "weights": {}, "assemble": True}],
    "initial_problem": [{"q": {"A.angle": 0.5}, "positions": ["A.angle = 0.3"], "velocities": []}],
    "joint_reactions": [{"q": {"A.angle": 0.5}, "axes": "ground"}],
    "kinematic_bases": [{"q": {"A.angle": 0.5}, "independent": [], "partition": "pivoting"}],
    "holding_inputs": [{"q": {"A.angle": 0.5}, "unknown": ["motor"], "tolerance": 1e-8}],
    "formulate": [{"coordinates": "joint"}, {"coordinates": "natural", "rods": []}],
    "structural_groups": [{"independent": ["A.angle"], "passive": "hold", "positions": 2}],
    "save_model": [{"path": "m.toml"}],
    "export_simulator": [{"folder": "o", "step": 0.01, "outputs": ["q"], "name": "s", "t": 0}],
}
_DRIVEN_CALLS: dict[str, list[dict[str, Any]]] = {
    "kinematics": [
        {"duration": 0.02, "step": 0.01},
        {"duration": 0.02, "step": 0.01, "method": "damped", "t": 0.1, "output": 0.01},
        {"duration": 0.02, "step": 0.01, "inputs": {"motor": 1.0}, "q": {"B.angle": 0.1}},
        {
            "duration": 0.02,
            "step": 0.01,
            "tolerance": 1e-9,
            "condition_limit": 1e6,
            "q": [0.4, 0, 0],
        },
        {"duration": 0.02, "step": 0.01, "formulation": "natural groups", "end_point": True},
        {"duration": 0.02, "step": 0.01, "integrate": False, "through_dead_points": True},
        {"duration": 0.02, "determinant_limits": [1e-9, 1e9], "accelerations": {}, "inputs": {}},
    ],
    "inverse_dynamics": [{"motion": "!motion", "tolerance": 1e-6}],
    "group_kinematics": [{"duration": 0.02, "step": 0.01, "q": {"B.angle": 0.1}, "t": 0.0}],
    "group_inverse_dynamics": [{"duration": 0.02, "step": 0.01, "formulation": "auto"}],
    "precision": [
        {"tolerance": 1e-10, "tolerances": {}, "outputs": ["slide.displacement"], "seed": 1}
    ],
    "cost": [{"duration": 0.02, "step": 0.01, "method": "newton", "q": {"B.angle": 0.1}}],
}
_ROBOT_CALLS: dict[str, list[dict[str, Any]]] = {
    "forward_dynamics": [{"q": [0.1], "v": [0.2], "tau": [0.3], "t": 0.0, "threads": 1},
                         {"q": [0.1], "v": [0.2], "tau": [0.3], "external": {"rod": [0] * 6}}],
    "inverse_dynamics": [{"q": [[0.1], [0.2]], "v": [[0.2]] * 2, "a": [[0.3]] * 2, "threads": 1}],
    "mass_matrix": [{"q": [0.1], "threads": 1}],
    "pose": [{"frame": "rod.tip", "q": [0.1]}],
    "jacobian": [{"frame": "rod", "q": [0.1], "axes": "aligned"}],
    "frame_velocity": [{"frame": "rod.tip", "q": [0.1], "v": [1.0], "axes": "local"}],
    "energy": [{"q": [0.1], "v": [0.2]}],
    "regressor": [{"q": [0.1], "v": [0.2], "a": [0.3]}],
    "difference": [{"q0": [0.1], "q1": [0.2]}],
    "interpolate": [{"q0": [0.1], "q1": [0.2], "s": 0.5}],
    "integrate": [{"q": [0.1], "dv": [0.2]}],
    "configuration": [{"*": [{"A.angle": 0.4}]}],
    "random": [{"rng": 3, "count": 2}],
    "normalised": [{"q": [0.1]}],
    "within_limits": [{"q": [0.1], "tolerance": 0.1}],
    "q_index": [{"name": "A.angle"}],
    "v_index": [{"name": "A.angle_rate"}],
    "function": [{"name": "mass_matrix"}, {"*": ["pose", "rod.tip"]}],
    "rollout": [{"q0": [0.1], "v0": [0.2], "inputs": [[0.0]] * 2, "dt": 0.01, "steps": 2},
                {"q0": [0.1], "dt": 0.01, "steps": 2, "method": "rk4", "substeps": 2, "t": 0.0}],
    "trajectory": [{"waypoints": [[0.0], [1.0]], "times": [0, 1], "kind": "quintic"},
                   {"waypoints": [[0.0], [1.0]], "velocity": 1, "acceleration": 2}],
    "results": [{"t": [0, 1], "q": [[0.1], [0.2]], "v": [[0.0], [0.1]]}],
    "computed_torque": [{"q": [0.1], "v": [0.2], "q_desired": [0.3], "kp": 10, "kd": 1}],
    "pd_law": [{"kp": 10, "kd": [1], "gravity": True}],
    "inverse_kinematics": [{"frame": "rod.tip", "target": [1, 0, 0], "q": [0.1], "limits": True,
                            "tolerance": 1e-8}],
    "line": [{"frame": "rod.tip", "q": [0.0], "target": [1, 0, 0], "points": 2, "times": 1}],
    "assemble": [{"q": [0.1], "hold": ["A.angle"], "t": 0.0}],
    "simulate": [{"duration": 0.01, "step": 0.005}],
    "export": [{"languages": "c", "folder": "o", "functions": ["mass_matrix"]}],
}  # fmt: skip
_RESULTS_CALLS: dict[str, list[dict[str, Any]]] = {
    "__getitem__": [{"*": ["A.angle"]}],
    "at": [{"time": 0.005}, {"time": [0.0, 0.005]}],
    "between": [{"start": 0.0, "end": 0.005}],
    "describe": [{"*": ["A.angle", "rod.x"]}],
    "frame": [{"name": "rod"}],
    "rate": [{"name": "A.angle"}],
    "unit": [{"name": "A.angle"}],
    "select": [{"*": ["A.*"]}],
    "table": [{"*": ["A.angle"], "at": [0.0, 0.005]}, {"*": ["A.angle"], "every": 0.005}],
    "save": [{"path": "r.npz"}],
    "to_csv": [{"*": ["r.csv", "A.angle"]}],
    "with_channels": [{"values": {"x": [0.0, 1.0, 2.0]}, "units": {"x": "m"}}],
}
_BUILDING_CALLS: dict[str, list[dict[str, Any]]] = {
    "body": [
        {"name": "new", "mass": 1, "com": [0, 0, 0.1], "inertia": [1, 1, 1], "position": [0, 0, 1]},
        {"name": "new", "mass": "1 kg", "orientation": "!turned", "shapes": []},
        {"name": "new", "points": [[1.0, [0, 0, 0]], [2.0, ["10 mm", 0, 0]]]},
    ],
    "joint": [
        {"kind": "revolute", "name": "D", "i": "crank.B", "j": "rod.B", "axis": [0, 0, 1],
         "start": 0.1, "rates": {"angle": 0.1}, "limits": [-1, 1], "x_axis": "x"},
        {"kind": "spherical", "name": "D", "i": "ground", "j": "rod", "at": [0, 0, "10 mm"]},
    ],
    "parameter": [{"name": "r", "value": "2 mm"}],
    "with_parameters": [{"values": {"L": "3 mm"}}],
    "marker": [{"place": "crank.B", "name": "M"}],
    "number": [{"value": "2*3 mm", "dimension": "length"}],
    "in_plane": [{"plane": "xy"}],
    "find_body": [{"name": "crank"}],
}  # fmt: skip
_OPTIONS_CALLS: dict[str, list[dict[str, Any]]] = {
    "Options": [
        {"metric": "M", "baumgarte": 10.0, "penalty": 1e7, "rounds": 3, "independent": []},
        {"index": 2, "rho": 0.9, "iterations": 3, "linear_solver": "dense", "refinements": 1},
        {"projections": 0.1, "position_iterations": 1, "frequency": 10.0, "partition": "pivoting"},
    ],
    "PointTarget": [{"frame": "rod.tip", "point": [0, 0, 0], "weight": 1.0}],
    "load": [{"source": "biela atoms 1\n"}],
}
#: Steps along a curve that nobody gave a number of.
_FOLLOWED = 100
#: Doors of what is made once and solves often; they cost more than others.
_SOLVER_CALLS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "crank": {
        "continuation": [
            {"steps": 3},
            {"q": {"A.angle": 0.5}, "direction": {"A.angle": 1}, "step": 0.1, "steps": 3,
             "limits": {"A.angle": [-1, 2]}, "parameters": {"L": 0.7}, "tolerance": 1e-10},
            {"drives": {"A.angle": "0.4 + t"}, "steps": 3, "t": 0.1, "inputs": {"motor": 0.5}},
        ],
        "branches": [
            {"q": {"A.angle": 0.5}, "hold": {"A.angle": 0.3}, "restarts": 3, "seed": 1, "t": 0.0},
            {"restarts": 3, "parameters": {"L": 0.7}, "inputs": {"motor": 0.5}},
        ],
    },
    "driven": {
        "GroupSolver": [
            {"coordinates": "natural", "points": ["rod.C"], "bodies": True, "joints": ["C"],
             "convective": "tensor", "lanes": "instants", "threads": 1},
            {"coordinates": {"PRR": "mixed"}, "angles": "relative", "closed_forms": False,
             "solver": "unrolled", "assembly": "generated", "t": 0.1},
            {"branches": {"rod": 1}, "parameters": {"L": 0.7}, "q": {"B.angle": 0.1}},
        ],
    },
    "pendulum": {
        "InverseKinematics": [
            {"targets": ["!target"], "limits": {"A.angle": [-1, 1]}, "tolerance": 1e-8,
             "weights": {"A.angle": 2.0}, "parameters": {"L": 1.0}, "inputs": {"motor": 0.0}},
            {"targets": "!target", "limits": False},
        ],
    },
    "groups": {
        "run": [{"t": [0.0, 0.01], "store": "points", "progress": False}, {"t": [0.0]}],
        "room": [{"instants": 2, "store": "all"}],
        "export": [{"folder": "o", "name": "s", "step": 0.001, "limit": 1.0}],
        "branches": [{}],
    },
    "inverse": {
        "solve": [{"values": [1, 0, 0], "q0": {"A.angle": 0.1}, "t": 0.0, "restarts": 2,
                   "seed": 1, "objective": "closest"},
                  {"values": [0.9, 0, 0.1], "objective": {"A.angle": 0.1}, "restarts": 0}],
        "batch": [{"values": [[1, 0, 0], [0.9, 0, 0.1]], "q0": [0.1], "t": [0, 1], "restarts": 2,
                   "threads": 1, "progress": False}],
        "follow": [{"times": [0, 1, 2, 3], "values": [[1, 0, 0]] * 4, "rates": "splined"},
                   {"times": [0, 1], "values": [[1, 0, 0]] * 2, "rates": [[0, 0, 1]] * 2,
                    "second_rates": [[0, 0, 0]] * 2, "restarts": 1, "seed": 2}],
    },
    "biela": {
        "Function": [
            {"name": "f", "inputs": {"x": "!x", "a": ["!y"]}, "outputs": {"z": ["!sum", 1.0]}},
            {"name": "f", "inputs": {"x": [["!x", "!y"]]}, "outputs": {"z": [["!sum"], [2]]}},
        ],
    },
    "function": {
        "__call__": [{"*": [0.5, [1.0]]}],
        "map": [{"*": [[0.5, 1.0], [[1.0], [2.0]]], "threads": 1}],
        "walk": [{"*": [0.5, [1.0]]}],
        "walk_map": [{"*": [[0.5, 1.0], [[1.0], [2.0]]]}],
        "interpret": [{"*": [0.5, [1.0]]}],
        "jacobian": [{"of": "z", "by": ["x", "a"], "mode": "forward", "name": "g"}, {"by": "x"}],
        "inline": [{"*": ["!x", ["!y"]]}],
        "expressions": [{"name": "z"}],
        "export": [{"languages": ["c", "python"], "folder": "o"}],
        "c": [{}],
    },
}  # fmt: skip


@cache
def solver_calls() -> list[bytes]:
    """The calls of solvers and functions that are damaged."""
    return _texts(_SOLVER_CALLS)


@cache
def calls() -> list[bytes]:
    """The calls that are damaged."""
    made: dict[str, dict[str, list[dict[str, Any]]]] = {
        "pendulum": _MODEL_CALLS,
        "crank": _MODEL_CALLS,
        "driven": _DRIVEN_CALLS,
        "robot": _ROBOT_CALLS,
        "results": _RESULTS_CALLS,
        "new": dict(_BUILDING_CALLS),
        "biela": _OPTIONS_CALLS,
    }
    for category, kinds in KINDS.items():
        examples = [tomllib.loads(example_of(kind)) for kind in kinds.values()]
        given = [
            {"name": "new", **table}
            for example in examples
            for named in example.values()
            for table in named.values()
        ]
        made["new"][category] = [*_BUILDING_CALLS.get(category, []), *given]
    return _texts(made)


def _texts(made: Mapping[str, Mapping[str, list[dict[str, Any]]]]) -> list[bytes]:
    return [
        json.dumps({"door": door, "of": of, "given": one}).encode()
        for of, doors in made.items()
        for door, given in doors.items()
        for one in given
    ]


@cache
def _subject(of: str) -> Any:
    """What doors are asked of, made once."""
    match of:
        case "robot":
            return bl.Robot(_subject("pendulum"))
        case "results":
            return bl.simulate(_subject("pendulum"), 0.01, step=0.005)
        case "motion":
            return bl.kinematics(_subject("driven"), 0.02, step=0.01)
        case "groups":
            return bl.GroupSolver(_subject("driven"), points=["rod.C"])
        case "inverse":
            return bl.InverseKinematics(_subject("pendulum"), bl.PointTarget("rod.tip"))
        case "symbols":
            return bl.Workspace("fuzzing").symbols("x y")
        case "function":
            x, y = _subject("symbols")
            return bl.Function("f", {"x": x, "a": [y]}, {"z": [x * y, bl.sin(x)]})
        case "biela":
            return bl
    return loads(_MODELS[of])


@cache
def odd_values() -> Mapping[str, Callable[[], Any]]:
    """Values that JSON has not, by name."""
    read_only = np.zeros(1)
    read_only.setflags(write=False)
    return {
        "complex": lambda: 1j,
        "bytes": lambda: b"A.angle",
        "set": lambda: {1, 2},
        "decimal": lambda: Decimal("0.5"),
        "fraction": lambda: Fraction(1, 3),
        "object": object,
        "type": lambda: int,
        "function": lambda: np.sin,
        "generator": lambda: iter([0.1]),
        "path": lambda: Path("there"),
        "range": lambda: range(3),
        "zero": lambda: np.zeros(()),
        "one": lambda: np.ones(1),
        "empty": lambda: np.zeros(0),
        "column": lambda: np.ones((3, 1)),
        "cube": lambda: np.ones((2, 2, 2)),
        "nans": lambda: np.full(1, np.nan),
        "infinite": lambda: np.full(1, np.inf),
        "float32": lambda: np.float32(0.5),
        "int8": lambda: np.ones(1, np.int8),
        "bools": lambda: np.ones(1, bool),
        "texts": lambda: np.array(["a"]),
        "objects": lambda: np.array([None], object),
        "strided": lambda: np.zeros(4)[::2],
        "read-only": lambda: read_only,
        "masked": lambda: np.ma.masked_array([0.1], [True]),
        "matrix": lambda: np.eye(3),
        "datetime": lambda: datetime(2020, 1, 1),
        "model": lambda: _subject("crank"),
        "results": lambda: _subject("results"),
        "motion": lambda: _subject("motion"),
        "atom": lambda: bl.Workspace().symbol("a"),
        "x": lambda: _subject("symbols")[0],
        "y": lambda: _subject("symbols")[1],
        "sum": lambda: _subject("symbols")[0] * 2 + _subject("symbols")[1],
        "target": lambda: bl.PointTarget("rod.tip"),
        "slice": lambda: slice(1, None),
        "ellipsis": lambda: ...,
        "turned": lambda: ("zyx", [0.1, "10 deg", 0]),
    }


def _decoded(value: Any) -> Any:
    if isinstance(value, str):
        if value[:1] == "!" and value[1:] in odd_values():
            return odd_values()[value[1:]]()
        # nothing is written but where the call is made
        return value.replace("/", "_") if _OUTSIDE.search(value) else value
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if isinstance(value, dict):
        return {key: _decoded(item) for key, item in value.items()}
    return value


def asked(text: bytes) -> tuple[Any, Callable[..., Any], list[Any], dict[str, Any]]:
    """The parts of a call: what is asked, its door, and the arguments without names and with."""
    call = json.loads(text)
    of, given = call["of"], _decoded(call["given"])
    subject = loads(_CRANK) if of == "new" else _subject(of)
    door = getattr(bl if of in _MODELS else subject, call["door"])
    bare = given.pop("*", [])
    arguments = bare if isinstance(bare, list) else [bare]
    return subject, door, [subject, *arguments] if of in _MODELS else arguments, given


def enter(text: bytes) -> None:
    """Make a call.

    One whose arguments do not fit the signature is none: Python answers it, by a TypeError.
    """
    of = json.loads(text)["of"]
    subject, door, arguments, given = asked(text)
    if getattr(door, "__name__", "") == "continuation":
        given.setdefault("steps", _FOLLOWED)  # by default ten thousand, which take half a minute
    try:
        inspect.signature(door).bind(*arguments, **given)
        found = door(*arguments, **given)
    except TypeError as error:
        if _SIGNATURE.search(str(error)):
            return
        raise
    repr(found)
    if of == "new":
        subject.check_values()
        subject.flattened()
        with contextlib.suppress(BielaError):  # what a file cannot say
            loads(dumps(subject))
    if of in _MODELS and isinstance(found, bl.Results) and not np.isfinite(found.q).all():
        raise AssertionError("positions that are not numbers, and no word of it")
