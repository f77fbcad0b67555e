"""Arguments and options that several verbs have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Language(StrEnum):
    """Languages of exported equations."""

    C = "c"
    MATLAB = "matlab"
    PYTHON = "python"
    JULIA = "julia"


class Film(StrEnum):
    """Forms of an animation."""

    HTML = "html"
    GIF = "gif"
    MP4 = "mp4"
    NONE = "none"

    @property
    def suffix(self) -> str:
        """That of the file; "" for none."""
        return "" if self is Film.NONE else self.value


class Coordinates(StrEnum):
    """Coordinates in which equations of bodies and joints are derived."""

    JOINT = "joint"
    REFERENCE = "reference"


class MotionCoordinates(StrEnum):
    """Coordinates in which a motion is simulated."""

    JOINT = "joint"
    REFERENCE = "reference"
    EULER = "euler"
    NATURAL = "natural"
    GROUPS = "groups"


class Engine(StrEnum):
    """What runs a simulation."""

    UNROLLED = "unrolled"
    LOOPED = "looped"


class Method(StrEnum):
    """How positions are found."""

    NEWTON = "newton"
    DAMPED = "damped"
    TRANSPOSE = "transpose"
    QUASI_NEWTON = "quasi_newton"


def _seconds(text: str) -> float:
    from biela.cli.values import seconds  # a help must not wait for biela to load

    return seconds(text)


def names_option(option: str, help: str, metavar: str = "NAME") -> Any:
    """An option that may be repeated, a name each time."""
    return typer.Option(option, metavar=metavar, help=help)


def picture_option(what: str, option: str = "--picture") -> Any:
    """The option of a file for a drawing."""
    formats = "the suffix says the format: .png, .svg, .pdf"
    return typer.Option(option, metavar="FILE", help=f"Draw {what}; {formats}.")


def step_option(help: str) -> Any:
    """The option of a time between steps."""
    return typer.Option(parser=_seconds, metavar="TIME", help=help)


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Model file .toml, Python file .py, folder with the four text files of a thesis, or "
        "the name of a mechanism of the gallery, such as stewart (biela new --list).",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Which model, if a Python file has several."),
]
CoordinatesOption = Annotated[
    Coordinates | None,
    typer.Option(
        help="Coordinates of the equations: joint (few), or reference, a point and an orientation "
        "of every body. \\[default: that of the file, else joint]"
    ),
]
MotionCoordinatesOption = Annotated[
    MotionCoordinates | None,
    typer.Option(
        help="Coordinates of the equations: joint (few), reference or euler, a point and an "
        "orientation of every body, natural, points and unit vectors, or groups, the independent "
        "ones by structural groups. \\[default: those of the file, else those of the engine]"
    ),
]
EngineOption = Annotated[
    Engine | None,
    typer.Option(
        help="unrolled, the equations as one piece of code, or looped, for large mechanisms. "
        "\\[default: the one that is ready sooner]"
    ),
]
Formulation = Annotated[
    str | None,
    typer.Option(
        help="multipliers, baumgarte, penalty, augmented, index2, index3, velocity_projection, "
        "matrix_r, null_space, range_space; with a step of their own: augmented3, "
        "generalised_alpha. \\[default: that of the file, else multipliers]",
        metavar="NAME",
    ),
]
#: In quotes, as they have spaces; `biela.analysis.groups.formulations` says what they are.
KinematicFormulation = Annotated[
    str | None,
    typer.Option(
        "--formulation",
        help='Solve the bodies group by group: "natural groups", "natural groups, tensor", '
        '"relative groups", "mixed groups", "reference groups"; or all at once: "global dense", '
        '"global sparse", "relative loops"; "auto" takes what is likely the fastest. '
        "\\[default: all at once, in the coordinates of --coordinates]",
        metavar="NAME",
    ),
]
Time = Annotated[
    float | None,
    typer.Option(
        "--time",
        "-t",
        parser=_seconds,
        metavar="TIME",
        help="Duration, s if no unit is given. \\[default: that of the file, else 5]",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter: r=45mm; may be repeated."),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=VALUE", help="A constant input; may be repeated."),
]
Positions = Annotated[
    list[str] | None,
    typer.Option("--q", metavar="NAME=VALUE", help="A start position: A=20deg; may be repeated."),
]
Velocities = Annotated[
    list[str] | None,
    typer.Option("--v", metavar="NAME=VALUE", help="A start velocity; may be repeated."),
]
Folder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder for the files (out/<model>).")
]
Csv = Annotated[bool, typer.Option("--csv", help="The channels as comma separated text.")]
Save = Annotated[bool, typer.Option(help="The results as a file .npz, for Results.load.")]
