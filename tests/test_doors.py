"""Arguments of the wrong kind are refused in words, by every public function."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike

import biela as bl
from biela.cli.main import main
from biela.doors import door, doors
from biela.errors import BielaError, DomainError, ModelError, ResultsError
from tools.fuzz_doors import enter

if TYPE_CHECKING:
    from nowhere import Unknown


def used(*given: Any) -> None:
    """Fails as numpy and Python do in the depths."""
    raise TypeError("ufunc 'isfinite' not supported for the input types")


@door(ModelError)
def asked(
    number: float = 1.0,
    count: int = 1,
    flag: bool = True,
    name: str = "",
    path: str | Path = "",
    array: ArrayLike | None = None,
    rows: Sequence[float] | np.ndarray = (0.0,),
    values: Mapping[str, float] | None = None,
    pair: tuple[float, float] = (0.0, 0.0),
    kind: Literal["a", "b"] = "a",
    names: Sequence[str] = (),
    later: Unknown = None,
    **more: Any,
) -> None:
    used()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"number": [1]}, r"asked: number is a finite number, not \[1\]"),
        ({"number": True}, "number is a finite number, not True"),
        ({"number": float("nan")}, "number is a finite number, not nan"),
        ({"number": 10**400}, "number is a finite number, not 1000"),
        ({"number": np.ones(2)}, "number is a finite number, not array"),
        ({"count": 1.5}, "count is a whole number, not 1.5"),
        ({"count": 2**63}, "count is a whole number, not 9223"),
        ({"flag": "no"}, "flag is True or False, not 'no'"),
        ({"name": b"x"}, "name is a text, not b'x'"),
        ({"path": 3}, "path is a text or a path, not 3"),
        ({"array": [[1], [2, 3]]}, "array is an array of finite numbers or None, not"),
        ({"array": "1"}, "array is an array of finite numbers or None, not '1'"),
        ({"rows": 0.0}, "rows is a sequence, each item a finite number or an array of finite"),
        ({"values": [1]}, r"values is a mapping of names to values, each a finite number or None"),
        ({"values": {"x": {}}}, "values is a mapping"),
        ({"values": {3: 1.0}}, "values is a mapping"),
        ({"pair": (1.0,)}, r"pair is .*, not \(1\.0,\)"),
        ({"kind": "c"}, "kind is one of 'a', 'b', not 'c'"),
        ({"names": "ab"}, "names is a sequence, each item a text, not 'ab'"),
        ({"names": np.zeros(())}, "names is a sequence"),
    ],
)
def test_the_argument_that_does_not_fit_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said) as told:
        asked(**given)
    assert isinstance(told.value.__cause__, TypeError)


@pytest.mark.parametrize(
    "given",
    [
        {"number": np.float32(1), "count": np.int8(1), "flag": np.bool_(True)},
        {"array": [[1], [2]], "rows": np.zeros(3), "values": {"x": 1}, "pair": [1, 2]},
        {"array": None, "path": Path("x"), "names": ("a", "b"), "later": 3, "other": {}},
    ],
)
def test_an_error_with_arguments_that_fit_is_left_as_it_is(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="isfinite"):
        asked(**given)


def test_a_call_that_fits_no_signature_is_answered_by_python() -> None:
    @door(ModelError)
    def alone(x: float) -> float:
        return x

    with pytest.raises(TypeError, match="missing 1 required"):
        alone()  # type: ignore[call-arg]


def test_errors_of_biela_pass() -> None:
    @door(ModelError)
    def refuse(x: float) -> None:
        raise ResultsError("mine")

    with pytest.raises(ResultsError, match="mine"):
        refuse("x")  # type: ignore[arg-type]


def test_an_object_that_cannot_be_shown_is_called_by_its_class() -> None:
    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(ModelError, match=r"number is a finite number, not .*Rude"):
        asked(number=Rude())  # type: ignore[arg-type]


def test_the_doors_of_a_class_are_its_public_methods_and_those_it_inherits() -> None:
    class Base:
        def inherited(self, x: float) -> float:
            return x + 1

    @doors(ResultsError)
    class Thing(Base):
        def __init__(self, x: float) -> None:
            self.x = x + 1

        def __getitem__(self, name: str) -> str:
            return name.upper()

        @staticmethod
        def alone(x: float) -> float:
            return x + 1

        @classmethod
        def made(cls, x: float) -> Thing:
            return cls(x)

    thing = Thing(1.0)
    assert (thing.inherited(1.0), thing["a"], Thing.alone(1.0), Thing.made(1.0).x) == (2, "A", 2, 2)
    wrong: Any = None
    for call in (Thing, thing.inherited, thing.__getitem__, Thing.alone, Thing.made):
        with pytest.raises(ResultsError, match=r"is a (finite number|text), not None"):
            call(wrong)


@pytest.mark.parametrize(
    ("of", "name", "given"),
    [
        ("pendulum", "simulate", {"duration": "!column"}),
        ("pendulum", "simulate", {"duration": 0.01, "tolerance": {}}),
        ("pendulum", "assemble", {"hold": {"A.angle": {}}}),
        ("pendulum", "equilibrium", {"hold": 5}),
        ("pendulum", "mobility", {"positions": 10**18}),
        ("pendulum", "mobility", {"seed": 1e-9}),
        ("pendulum", "mobility", {"seed": -1}),
        ("crank", "branches", {"seed": -1}),
        ("inverse", "solve", {"values": [1, 0, 0], "seed": -1}),
        ("inverse", "solve", {"values": [1, 0, 0], "restarts": -1}),
        ("inverse", "follow", {"times": [0], "values": [[1, 0, 0]], "rates": [[0, 0, "-inf"]]}),
        ("function", "map", {"*": [[0.5, 1.0], [[1.0]]], "threads": "!read-only"}),
        ("function", "interpret", {"*": [0.5, [[1.0], 2.0]]}),
        ("results", "table", {"*": ["A.angle"], "every": 5e-324}),
        ("crank", "structural_groups", {"positions": 10**18}),
        ("crank", "structural_groups", {"positions": "!set"}),
        ("crank", "formulate", {"coordinates": "!matrix"}),
        ("crank", "joint_reactions", {"axes": "!matrix"}),
        ("crank", "redundancy", {"q": {"A.angle": 1e308}}),
        ("driven", "kinematics", {"duration": 0.02, "drives": {"A.angle": []}}),
        ("driven", "group_kinematics", {"duration": 0.02, "q": 5}),
        ("driven", "inverse_dynamics", {"motion": "!set"}),
        ("robot", "mass_matrix", {"q": [[0.1], [0.2, 0.3]]}),
        ("robot", "frame_velocity", {"frame": "rod", "q": [0.1], "v": 0.0}),
        ("robot", "forward_dynamics", {"q": [0], "v": [0], "tau": [0], "external": {"rod": [{}]}}),
        ("robot", "pose", {"frame": True, "q": [0.1]}),
        ("robot", "random", {"count": 10**18}),
        ("robot", "random", {"rng": -1}),
        ("robot", "trajectory", {"waypoints": [[0.0], "x"]}),
        ("robot", "trajectory", {"waypoints": [[0.0], [1e308]], "velocity": 1}),
        ("robot", "trajectory", {"waypoints": [[0.0], [1.0]], "acceleration": 5e-324}),
        ("robot", "trajectory", {"waypoints": [[0.0], [1.0]], "times": 1e-300}),
        ("robot", "interpolate", {"q0": [0.1], "q1": "!texts", "s": 0.5}),
        ("robot", "rollout", {"q0": [0.1], "dt": 0.01, "steps": "two"}),
        ("robot", "inverse_kinematics", {"frame": "rod.tip", "target": [1, 10**400, 0]}),
        ("robot", "inverse_kinematics", {"frame": "!path", "target": [1, 0, 0]}),
        ("robot", "inverse_kinematics", {"frame": [3], "target": [1, 0, 0]}),
        ("robot", "computed_torque", {"q": [0], "v": [0], "q_desired": [0], "kp": "x", "kd": 1}),
        ("robot", "export", {"languages": "c", "folder": "o", "functions": []}),
        ("results", "__getitem__", {"*": [1.5]}),
        ("results", "at", {"time": "soon"}),
        ("results", "between", {"start": "!type", "end": 1.0}),
        ("results", "table", {"at": "A.angle"}),
        ("results", "with_channels", {"values": [1]}),
        ("new", "body", {"name": "new", "mass": 1, "orientation": "#"}),
        ("new", "body", {"name": "new", "points": [[1, 2, 3]]}),
        ("new", "joint", {"kind": "revolute", "name": "D", "i": 1.5, "j": "rod"}),
        ("new", "with_parameters", {"values": "L"}),
        (
            "new",
            "driver",
            {"kind": "position", "name": "new", "marker": "rod.B", "axis": "!empty", "law": "t"},
        ),
        ("crank", "simulate", {"duration": 5e-324}),
        ("crank", "export_simulator", {"folder": "o", "t": "!fraction"}),
        ("robot", "line", {"frame": "rod.tip", "q": [[0.0]], "target": [1, 0, 0], "times": 1}),
        ("biela", "Options", {"rounds": []}),
        ("biela", "PointTarget", {"frame": "rod", "point": 3}),
    ],
)
def test_public_functions_refuse_what_they_cannot_use(
    of: str, name: str, given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BielaError):
        enter(json.dumps({"door": name, "of": of, "given": given}).encode())


@pytest.mark.parametrize(
    ("of", "name", "given"),
    [
        ("crank", "holding_inputs", {"q": {}, "unknown": "!empty"}),
        ("inverse", "solve", {"values": [-1e49, 1e308, 0.1], "restarts": 0}),
    ],
)
def test_public_functions_answer_what_is_odd(of: str, name: str, given: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        enter(json.dumps({"door": name, "of": of, "given": given}).encode())


def test_an_argument_that_some_functions_take_is_blamed_last() -> None:
    with pytest.raises(ModelError, match="asked: name is a text, not None"):
        asked(number=float("inf"), count=2.0, rows={1.0, 2.0}, name=None)  # type: ignore[arg-type]


def test_equilibrium_is_found_from_where_there_is_hardly_any_stiffness() -> None:
    call = {"q": {"A.angle": 5e-324}}
    enter(json.dumps({"door": "equilibrium", "of": "pendulum", "given": call}).encode())


def test_a_time_between_stored_instants_may_be_longer_than_the_motion() -> None:
    call = {"duration": 0.02, "step": 0.01, "output": 10**18}
    enter(json.dumps({"door": "kinematics", "of": "driven", "given": call}).encode())


# ------------------------------------------------------------------------- more than there can be


def test_a_view_of_many_entries_is_looked_at_without_writing_it_out() -> None:
    many = np.broadcast_to(0.1, (10**12, 3))
    with pytest.raises(ModelError, match="name is a text"):
        asked(array=many, name=3)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="array is an array of finite numbers"):
        asked(array=np.broadcast_to(np.nan, (10**12, 3)))
    with pytest.raises(ModelError, match="array is an array of finite numbers"):
        asked(array=np.append(np.zeros(200_000), np.inf))


def test_too_little_memory_is_told() -> None:
    @door(ModelError)
    def hungry(count: int) -> None:
        raise MemoryError(f"no room for {count}")

    with pytest.raises(ModelError, match=r"hungry: there is not enough memory \(no room for 3\)"):
        hungry(3)


@pytest.mark.parametrize(
    "names", ["x:1000000000", "x0:99999999999999999999", "x:" + "9" * 5000, "a:600000 b:600000"]
)
def test_symbols_without_end_are_refused(names: str) -> None:
    with pytest.raises(BielaError, match="symbols; the limit is 1,000,000: declare fewer"):
        bl.Workspace("w").symbols(names)


def test_a_robot_refuses_states_and_points_without_end() -> None:
    m = bl.Model("m", plane="xz")
    rod = m.body("rod", mass=1.0, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "A", m.ground, rod, axis="y")
    robot = bl.Robot(m)
    with pytest.raises(BielaError, match=r"about 1.0e10 states would take about 240 GB"):
        robot.forward_dynamics(np.broadcast_to(0.1, (10**10, 1)), [0.0], [0.0])
    with pytest.raises(ModelError, match="points; the limit is 100,000"):
        robot.line("rod", [0.0], [0, 0, 0], points=10**18, times=1)
    with pytest.raises(ModelError, match="threads are asked for; the limit is 1,000"):
        bl.GroupSolver(m, threads=10**18)


def test_a_command_reads_the_limit_of_memory_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BIELA_MEMORY", "abc")
    assert main(["check", "there_is_none.toml"]) == 1
    assert "BIELA_MEMORY is a number of gigabytes, not 'abc'" in capsys.readouterr().err


# ----------------------------------------------------------------------------------- expressions

WS = bl.Workspace("doors")
X = WS.symbol("x")


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (bl.sin, (None,)),
        (bl.latex, (3,)),
        (bl.dump, (None,)),
        (bl.diff, ([X], [None])),
        (bl.evaluate, (X, None)),
        (bl.evaluate, (X, {X: 10**400})),
        (bl.substitute, (X, None)),
        (bl.gradient, (X, None)),
        (bl.jacobian, (None, X)),
        (bl.sparsity, (3, X)),
        (bl.directional, ([X], [None])),
        (bl.time_derivative, (None,)),
        (bl.latex_listing, (3,)),
        (bl.parse, (None, "x")),
        (bl.expanded_text, (X + 1, None)),
        (bl.to_sympy, (X + 1, None)),
        (bl.from_sympy, (WS, int)),
        (WS.symbols, (None,)),
        (WS.symbol, (np.array(0.1),)),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_functions_of_expressions_refuse_what_is_none(call: Any, given: tuple[Any, ...]) -> None:
    with pytest.raises(DomainError):
        call(*given)


def test_functions_of_expressions_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(bl.sin)) is bl.sin
