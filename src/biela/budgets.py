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
    "BODIES",
    "CORNERS",
    "DURATION",
    "HEADER",
    "LARGEST",
    "LEVELS",
    "NODES",
    "PARAMETERS",
    "POSITIONS",
    "REPEATED_TRIANGLES",
    "RESTARTS",
    "STEPS",
    "about",
    "check_memory",
    "within",
]

#: Bodies of a model in arrays of parts, which are never written out one by one.
BODIES: Final = 10_000_000
#: Tables, arrays and keys within each other in a file.
LEVELS: Final = 100
#: Parameters of a model and its parts; rows of values have one for each instance.
PARAMETERS: Final = 1_000_000
#: Nodes and geometries of a COLLADA scene, each as often as others show it.
NODES: Final = 20_000
#: Corners of a face of a mesh, which is cut into triangles.
CORNERS: Final = 500
#: Bytes of the names, units and further texts of a file of results.
HEADER: Final = 20_000_000
#: Triangles of a COLLADA scene beyond those that the file has itself.
REPEATED_TRIANGLES: Final = 1_000_000
#: Numbers of models, robots and meshes; the inertia of a body, a fifth power, is still a double.
LARGEST: Final = 1e50
#: Steps of a motion.
STEPS: Final = 10_000_000_000
#: Seconds of a motion whose steps adapt.
DURATION: Final = 10_000_000_000
#: Positions at which ranks are compared.
POSITIONS: Final = 100
#: Starts of a search.
RESTARTS: Final = 100_000
#: Gigabytes for the arrays of a motion or a file of results, unless BIELA_MEMORY says otherwise.
_MEMORY: Final = 4.0
_VARIABLE: Final = "BIELA_MEMORY"


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
        raise error(f"{what.format(about(amount))}; the limit is {limit:,}: {advice}")


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
    given = os.environ.get(_VARIABLE, "")
    try:
        limit = float(given) if given else _MEMORY
    except ValueError:
        limit = math.nan
    if not limit > 0:
        raise error(f"{_VARIABLE} is a number of gigabytes, not {given!r}")
    needed = values * 8 / 1e9 if values < 1e300 else math.inf
    if needed > limit:
        raise error(
            f"{what.format(f'{about(needed)} GB')}; the limit is {limit:g} GB: {advice}, or set "
            f"{_VARIABLE} to more gigabytes"
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
