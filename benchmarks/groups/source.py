"""The tables of seconds and speed-ups of the source, from the data of the tests."""

from __future__ import annotations

from tests.groups_oracle.golden import Table, example

#: Our names of the formulations that the source has, and its own.
NAMES = {
    "global dense": "GLOB",
    "global sparse": "GLOB_SP",
    "natural groups": "TOP_TD",
    "natural groups, tensor": "TOP_3OT",
    "relative groups": "TOP_REL",
}


def table(number: str) -> Table:
    """A table by its number in the specification, such as "13.4"."""
    return example("timings")[number]


def chain_seconds(formulation: str, dyads: int) -> float | None:
    """Cuadro 2; None where the source has nothing."""
    found = table("13.4")
    sizes = found.column("n_d").tolist()
    if formulation not in NAMES or dyads not in sizes:
        return None
    return float(found.column(NAMES[formulation])[sizes.index(dyads)])


def slider_seconds(formulation: str, dyads: int, speed: str) -> float | None:
    """Cuadro 5, and the times that Cuadros 5 and 6 imply."""
    if formulation == "global sparse":
        found, column = table("13.5"), f"GLOB_SP {speed}"
    elif formulation in NAMES and formulation != "global dense":
        found = table("13.7")
        column = f"{NAMES[formulation].removeprefix('TOP_')} {speed}"
    else:
        return None
    sizes = found.column("n_d").tolist()
    return float(found.column(column)[sizes.index(dyads)]) if dyads in sizes else None
