"""Tables of structure: counts of coordinates and equations, and what orderings make of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from biela.equations.formulate import formulate
from biela.equations.natural import Layout, NaturalPoint, NaturalVector, RelativeCoordinate
from biela.graph import Pattern
from biela.graph.ordering import BlockForm, block_triangular, p5, rb3
from examples.large import five_bars, tether, vehicle
from examples.large.vehicle_bodies import vehicle_bodies

__all__ = ["automatic", "counts", "families", "orders", "section"]

#: Model, layout, independent coordinates, and as printed: points, vectors, relative coordinates;
#: freedoms; constraints and free coordinates; entries.
TABLES: dict[str, tuple[Callable[[], Layout], tuple[str, ...], tuple[str, ...]]] = {
    "pendulum (5.1)": (
        five_bars.pendulum, five_bars.angles(), ("6 / 7 / 5", "5", "30 × 35", "198"),
    ),
    "tether (5.3)": (tether.tether, tether.angles(), ("11 / 20 / 28", "28", "84 × 112", "661")),
    "Bricard, closed (5.5)": (
        five_bars.bricard_closed, ("theta5",), ("7 / 8 / 5", "1", "36 × 35", "209"),
    ),
    "Bricard, fixed (5.6)": (
        five_bars.bricard_fixed, ("theta5",), ("6 / 7 / 5", "1", "30 × 29", "181"),
    ),
    "vehicle (5.8)": (
        vehicle.vehicle, vehicle.INDEPENDENT, ("54 / 12 / 9", "10", "192 × 202", "954"),
    ),
}  # fmt: skip


def section(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], *notes: str) -> str:
    """A heading, a table, and what there is to say about it."""
    lines = [f"## {title}", "", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    for note in notes:
        lines += ["", note]
    return "\n".join([*lines, ""])


def counts() -> str:
    """Tables 5.1, 5.3, 5.5, 5.6 and 5.8: each count, with the printed one where it differs."""
    rows = []
    for name, (make, independent, printed) in TABLES.items():
        lay = make()
        pattern = lay.jacobian_pattern()
        kinds = Counter(type(entity) for entity in lay.entities.values())
        own = [
            " / ".join(
                str(kinds[kind]) for kind in (NaturalPoint, NaturalVector, RelativeCoordinate)
            ),
            str(len(independent)),
            f"{len(pattern.rows)} × {len(pattern.columns)}",
            f"{pattern.entries}, {pattern.without(independent).entries} dependent",
        ]
        shown = [a if a == b else f"{a} ({b})" for a, b in zip(own, printed, strict=True)]
        fixed = sum(not free for entity in lay.entities.values() for free in entity.free)
        rows.append((name, shown[0], len(pattern.columns), fixed, *shown[1:]))
    heads = ("model (table)", "points / vectors / relative", "free", "fixed", "freedoms", "Φ_q")
    return section(
        "Counts",
        (*heads, "entries"),
        rows,
        "What is printed in the source stands in parentheses where it differs. It counts the "
        "entries of the pendulum and of the second Bricard model by the dependent columns, those "
        "of the others by all. Of the vehicle it gives no data: ours has its counts of points, "
        "vectors, coordinates, constraints and freedoms, and a Jacobian of rank 192.",
    )


def dependent(lay: Layout, independent: Sequence[str]) -> tuple[Pattern, list[list[int]]]:
    """The pattern of Φ_q^d; rows of constant slope, relative columns, rows that close loops."""
    found = lay.jacobian_pattern().without(independent)
    constant = [k for k, same in enumerate(found.constant) if same]
    pattern = Pattern.of_rows(found.rows, len(found.columns))
    return pattern, [constant, sorted(found.relative), sorted(found.closure)]


def orders() -> str:
    """Border and band of each ordering, and the blocks of RB3."""
    rows = []
    layouts = {name.partition(" (")[0]: value[:2] for name, value in TABLES.items()}
    every = (*vehicle.INDEPENDENT, *vehicle.OPENED)
    layouts["vehicle, opened"] = (vehicle.opened, every)
    printed = {
        "pendulum": "0 / 0", "tether": "– / 0", "Bricard, closed": "3 / 3", "vehicle": "27 / 17",
        "vehicle, opened": "5 / 0",
    }  # fmt: skip
    for name, (make, independent) in layouts.items():
        pattern, (constant, relative, closures) = dependent(make(), independent)
        plain = rb3(pattern, constant=constant)
        forms: list[BlockForm | None] = [
            p5(pattern),
            plain,
            rb3(pattern, constant=constant, look_ahead=True),
            rb3(pattern, constant=constant, relative=relative) if relative else None,
            rb3(pattern, relative=relative, closures=closures) if relative and closures else None,
        ]
        rows.append(
            (
                name,
                f"{pattern.rows} × {pattern.columns}, {pattern.nnz}",
                printed.get(name, "–"),
                *("–" if f is None else f"{len(f.border)} / {len(f.band)}" for f in forms),
                _blocks(plain),
                _blocks(block_triangular(pattern)),
            )
        )
    heads = ("model", "Φ_q^d, entries", "printed: border of P5 / proposed", "P5", "RB3")
    heads += ("look-ahead", "REL", "REL + CLO", "blocks of RB3", "of block triangular form")
    return section(
        "Orderings",
        heads,
        rows,
        "Border columns / band rows. RB3 is the ordering that the source proposes, with its gaps "
        "filled; REL keeps relative coordinates in the border, CLO equations that close loops in "
        "the band. A band wider than the border holds redundant equations.",
    )


def _blocks(form: BlockForm) -> str:
    return ", ".join(f"{count} of {order}" for order, count in form.orders.items())


def automatic() -> str:
    """Natural coordinates that are laid by the program, for the same mechanisms."""
    rows = []
    for name, model in {
        "pendulum": five_bars.pendulum_bodies(),
        "Bricard": five_bars.bricard_bodies(),
        "vehicle": vehicle_bodies(),
    }.items():
        system = formulate(model, "natural")
        ((_, places),) = system["Phi_v"].sparsity.items()
        shape = f"{len(system.multipliers)} × {len(system.v)}"
        rows.append((name, len(model.bodies), len(model.joints), shape, len(places)))
    note = (
        "Bodies and joints as a model, and points and axes shared as far as joints let them be: no "
        "relative coordinates, since nobody asks for them, and no points that carry nothing."
    )
    heads = ("model", "bodies", "joints", "Φ_q", "entries")
    return section("Laid automatically", heads, rows, note)


def families(sizes: Iterable[int] = (5, 10, 20, 40)) -> str:
    """Pendulums and tethers of growing length."""
    rows = []
    for n in sizes:
        line: list[object] = [n]
        for make, angles in (
            (five_bars.pendulum, five_bars.angles), (tether.tether, tether.angles),
        ):  # fmt: skip
            pattern, _ = dependent(make(n), angles(n))
            line += [f"{pattern.rows} × {pattern.columns}", pattern.nnz, _blocks(rb3(pattern))]
        rows.append(line)
    parts = ("Φ_q^d", "entries", "blocks")
    heads = ("N", *(f"{part} of the {name}" for name in ("pendulum", "tether") for part in parts))
    note = (
        "A pendulum of N bars has 7 N coordinates, 6 N equations and 45 N - 27 dependent entries; "
        "a tether of N bodies 12 N - 8 coordinates, 9 N - 6 equations and 75 N - 89 entries in all."
    )
    return section("Families", heads, rows, note)
