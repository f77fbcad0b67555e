"""Budgets: how much work a small input may ask for.

A few lines of a file can ask for more bodies, triangles or instants than any machine can hold.
What they ask for is counted before the work begins, and what is beyond the limit is refused, in one
form of words: what would be made, how much of it, the limit, and what to do.  All limits are here.
"""

from __future__ import annotations

import math
import os
from typing import Final

from biela.errors import BielaError, ModelError

__all__ = [
    "AXES",
    "BODIES",
    "CORNERS",
    "CUTTING",
    "DEFAULTS",
    "DURATION",
    "ELEMENTS_DEEP",
    "ENTRIES",
    "FRAMES",
    "HEADER",
    "LARGEST",
    "LETTERS",
    "LEVELS",
    "LINE",
    "MJCF_JOINTS",
    "MJCF_PARTS",
    "NAME_SPACE",
    "NODES",
    "PARAMETERS",
    "PIXELS",
    "POINTS",
    "POSITIONS",
    "REPEATED_TRIANGLES",
    "RESTARTS",
    "ROWS",
    "STEPS",
    "SYMBOLS",
    "THREADS",
    "about",
    "check_equations",
    "check_memory",
    "memory_limit",
    "within",
]

#: Bodies of a model in arrays of parts, which are never written out one by one.
BODIES: Final = 10_000_000
#: Pairs of letters that are compared in search of the names that may be meant by wrong ones.
LETTERS: Final = 1_000_000
#: Tables, arrays and keys within each other in a file.
LEVELS: Final = 100
#: Elements within elements of an XML file.
ELEMENTS_DEEP: Final = 500
#: Letters of the address of a name space in an XML file.
NAME_SPACE: Final = 1_000
#: Parameters of a model and its parts; rows of values have one for each instance.
PARAMETERS: Final = 1_000_000
#: Bodies, joints, geoms and sites of an MJCF file.
MJCF_PARTS: Final = 20_000
#: Joints of one body of an MJCF file; each but the last takes a body of its own.
MJCF_JOINTS: Final = 200
#: Nodes and geometries of a COLLADA scene, each as often as others show it.
NODES: Final = 20_000
#: Corners of the outline of a plate.
CORNERS: Final = 1_000
#: Comparisons of corners that cut the faces of a mesh into triangles.
CUTTING: Final = 5_000_000
#: Tags and attributes of a default class of MJCF, which many elements share.
DEFAULTS: Final = 1_000
#: Bytes of the names, units and further texts of a file of results.
HEADER: Final = 20_000_000
#: Entries of tables and arrays among them; an empty one of three bytes takes sixty of memory.
ENTRIES: Final = 2_000_000
#: Triangles of a COLLADA scene, or of meshes in several sizes, beyond those in files.
REPEATED_TRIANGLES: Final = 1_000_000
#: Numbers of models, robots and meshes; the inertia of a body, a fifth power, is still a double.
LARGEST: Final = 1e50
#: Rows of a Denavit-Hartenberg table.
ROWS: Final = 2_000
#: Points of the straight line of a frame; each takes an inverse kinematics.
LINE: Final = 100_000
#: Symbols that are declared at once.
SYMBOLS: Final = 1_000_000
#: Threads that work at the same time.
THREADS: Final = 1_000
#: Steps of a motion.
STEPS: Final = 10_000_000_000
#: Seconds of a motion whose steps adapt.
DURATION: Final = 10_000_000_000
#: Frames of an animation, an hour at 25 a second and more.
FRAMES: Final = 100_000
#: Pixels of a picture.
PIXELS: Final = 50_000_000
#: Points of the lines of a figure.
POINTS: Final = 100_000_000
#: Axes of a figure one above the other; a picture can be no higher.
AXES: Final = 100
#: Positions at which ranks are compared.
POSITIONS: Final = 100
#: Starts of a search.
RESTARTS: Final = 100_000
#: Gigabytes for the arrays of a motion or a file of results, unless BIELA_MEMORY says otherwise.
_MEMORY: Final = 4.0
_VARIABLE: Final = "BIELA_MEMORY"
#: Bytes that the equations of a body in an array of parts take, with the matrices of a motion.
_BODY: Final = 5_000


def within(
    limit: float,
    amount: float,
    what: str,
    advice: str,
    error: type[BielaError] = ModelError,
) -> None:
    """See that an amount is within its limit.

    >>> within(BODIES, 8**12, "array: part cell would make {} bodies", "use fewer")
    Traceback (most recent call last):
    ...
    biela.errors.ModelError: array: part cell would make about 6.9e10 bodies; the limit is \
    10,000,000: use fewer

    Args:
        limit: The most.
        amount: What is asked for.
        what: What happens; {} stands for the amount.
        advice: What to do.
        error: The class of the error.

    Raises:
        BielaError: The amount is above the limit.
    """
    if not amount <= limit:
        # names in it may have braces of their own
        said = what.replace("{}", about(amount))
        raise error(f"{said}; the limit is {limit:,}: {advice}")


def memory_limit(error: type[BielaError] = ModelError) -> float:
    """The limit of memory for arrays, in gigabytes.

    Raises:
        BielaError: The variable BIELA_MEMORY is no number.
    """
    given = os.environ.get(_VARIABLE, "")
    try:
        limit = float(given) if given else _MEMORY
    except ValueError:
        limit = math.nan
    if not limit > 0:
        raise error(f"{_VARIABLE} is a number of gigabytes, not {given!r}")
    return limit


def check_memory(
    values: float, what: str, advice: str, error: type[BielaError] = ModelError
) -> None:
    """See that so many double-precision numbers are within the limit of memory.

    Args:
        values: How many numbers.
        what: What happens; {} stands for the gigabytes.
        advice: What to do.
        error: The class of the error.

    Raises:
        BielaError: They take more memory, or the variable BIELA_MEMORY is no number.
    """
    limit = memory_limit(error)
    needed = values * 8 / 1e9 if values < 1e300 else math.inf
    if needed > limit:
        said = what.replace("{}", f"{about(needed)} GB")
        raise error(
            f"{said}; the limit is {limit:g} GB: {advice}, or set {_VARIABLE} to more gigabytes"
        )


def check_equations(name: str, bodies: int) -> None:
    """See that the equations of arrays of parts are within the limit of memory.

    Args:
        name: That of the model.
        bodies: Of all instances.

    Raises:
        ModelError: They would take more memory, or the variable BIELA_MEMORY is no number.
    """
    check_memory(
        bodies * _BODY / 8,
        f"{name}: the equations of {bodies:,} bodies would take {{}}",
        "use fewer instances",
    )


def about(amount: float) -> str:
    """A number in a few digits, whole numbers beyond any float included."""
    if not amount < 1e6:
        if amount != amount or amount == math.inf:
            return "endlessly many"
        power = math.floor(math.log10(amount))
        lead = amount / 10**power if power < 300 else 10 ** (math.log10(amount) - power)
        return f"about {lead:.1f}e{power}"
    return f"about {amount:,.3g}" if amount < 1000 else f"{round(amount):,}"
