"""The tables of the thesis beside our counts: ``python -m benchmarks.thesis.tables``.

Writes ``docs/thesis-tables.md``.  Published figures are those of A. Plaza Puértolas, *Symbolic
modelling for real-time simulation of multibody systems* (2015), chapter 6.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import biela as bl
from biela.atoms import expanded_text
from biela.code import Count
from biela.code.counts import count_listing
from biela.equations import Equations
from biela.equations.textbook import mass_and_forces_textbook
from biela.equations.thesis import PLAIN_DOWN, PLAIN_UP
from biela.equations.virtual_power import Route
from biela.space import Algebra, Toward, position
from examples.symbolic.block_pendulum import block_pendulum
from examples.symbolic.crank_rod_disc import crank_rod_disc
from examples.symbolic.four_bar import four_bar
from examples.symbolic.locomotive import locomotive
from examples.symbolic.stewart import stewart

PAGE = Path(__file__).parents[2] / "docs" / "thesis-tables.md"
MODELS = {
    "block-pendulum": block_pendulum,
    "four-bar": four_bar,
    "crank-rod-disc": crank_rod_disc,
    "Stewart": stewart,
    "locomotive": locomotive,
}
ELEMENTS = ("M", "Q", "Phi_v", "gamma")
HEADS = ("M", "δ", "Φ̇_q̇", "γ")

#: Operations by element: linear search, hash table, and recursive on atoms (table 6.1).
BY_CASE = {
    "block-pendulum": ("8/16/0/0", "8/16/0/0", "8/16/0/0"),
    "four-bar": ("64/250/48/87", "66/253/46/80", "63/212/42/76"),
    "crank-rod-disc": ("37/123/121/279", "137/128/90/152", "37/123/123/226"),
    "Stewart": ("496/2703/393/1052", "492/2793/410/1175", "486/2667/688/917"),
    "locomotive": ("–", "13825/48007/10002/47727", "12782/26626/8449/28202"),
}
#: Atoms by Maple and by the thesis (6.4), operations by Maple and by the thesis (6.5).
BY_EXPORTER = {
    "block-pendulum": ("1/3/0/0", "1/3/0/0", "8/16/0/0", "8/16/0/0"),
    "four-bar": ("17/50/17/25", "13/51/16/24", "72/244/42/76", "63/212/42/76"),
    "crank-rod-disc": ("10/27/23/35", "4/30/23/41", "33/111/73/137", "37/123/123/226"),
    "Stewart": ("52/503/78/203", "66/455/114/214", "473/2857/368/927", "486/2667/618/917"),
    "locomotive": (
        "2396/5563/1470/7040",
        "2076/4740/1144/5195",
        "13922/31174/7252/34818",
        "12782/26626/8449/28202",
    ),
}
#: M and δ apart, and together (6.6).
JOINT = {
    "block-pendulum": (24, 21),
    "four-bar": (275, 264),
    "crank-rod-disc": (160, 150),
    "Stewart": (3153, 3106),
    "locomotive": (39408, 36695),
}
#: [M δ] with operations towards the root (DOWN) and towards the leaves (UP) (6.10).
DIRECTIONS = {
    "block-pendulum": (21, 21),
    "four-bar": (303, 264),
    "crank-rod-disc": (164, 150),
    "Stewart": (4923, 3106),
    "locomotive": (39170, 36695),
}
#: Seconds (6.11) and operations (6.12), direct and by textbook virtual power.
TEXTBOOK = {
    "block-pendulum": (0.017, 0.017, 22, 23),
    "four-bar": (0.050, 0.055, 264, 353),
    "crank-rod-disc": (0.030, 0.037, 150, 197),
    "Stewart": (0.697, 1.702, 3106, 3375),
    "locomotive": (132.213, 4709.2, 36695, 60474),
}

INTRODUCTION = """\
# The tables of the thesis

Chapter 6 of A. Plaza Puértolas, *Symbolic modelling for real-time simulation of multibody systems*
(PhD thesis, Public University of Navarre, 2015), beside the counts of biela. Written by
`python -m benchmarks.thesis.tables`.

A pair such as 126 (122) gives operations *as written*, the rule of the thesis, and those *carried
out* once, in parentheses. δ of the thesis is our -Q. The models follow its appendix A; of the
Stewart platform and the locomotive it gives neither geometry nor inertias, so that ours are near
and not the same problem. Each of our solids has six general inertias there, which is why M of the
locomotive alone takes more than the published one.
"""


@cache
def derived(name: str) -> Equations:
    return MODELS[name]().equations()


def pair(count: Count) -> str:
    return f"{count.thesis} ({count.arithmetic})"


def by_element(name: str, text: Callable[[Count], str]) -> str:
    """M, Q, Φ_v and γ, each alone; 0 where there are no constraints."""
    equations = derived(name)
    return "/".join(
        text(equations.joint(what).count) if what in equations.expressions else "0"
        for what in ELEMENTS
    )


def by_route(name: str, algebra: Algebra, *names: str) -> Count:
    """Of M and Q, derived by one algebra throughout."""
    return MODELS[name]().equations(Route(algebra, algebra)).joint(*(names or ("M", "Q"))).count


# ----------------------------------------------------------------------------------- the tables


def per_element(models: Iterable[str]) -> str:
    """Tables 6.1 and 6.5."""
    rows = []
    for name in models:
        A, B, C = BY_CASE[name]
        _, _, maple, thesis = BY_EXPORTER[name]
        ours = (by_element(name, lambda c: str(c.thesis)), by_element(name, written_once))
        rows.append((name, A, B, C, maple, thesis, *ours))
    heads = ("A", "B", "C", "Maple", "C.2", "biela", "biela, carried out")
    return section(
        f"6.1 and 6.5: operations of {', '.join(HEADS)}, each alone",
        ("model", *heads),
        rows,
        "A, B: linear search and hash table; C: derivatives and substitutions on atoms, which is "
        "C.2 of table 6.5. There 137 is probably 37; 688 and 618 are both printed for one case.",
    )


def written_once(count: Count) -> str:
    return str(count.arithmetic)


def atoms(models: Iterable[str]) -> str:
    """Table 6.4."""
    rows = [
        (name, *BY_EXPORTER[name][:2], by_element(name, lambda c: str(c.atoms))) for name in models
    ]
    return section(
        f"6.4: atoms of {', '.join(HEADS)}, each alone", ("model", "Maple", "C.2", "biela"), rows
    )


def together(models: Iterable[str]) -> str:
    """Table 6.6."""
    rows = []
    for name in models:
        equations = derived(name)
        M, Q = (equations.joint(what).count for what in "MQ")
        apart = Count(M.thesis + Q.thesis, M.arithmetic + Q.arithmetic, 0)
        rows.append((name, *JOINT[name], pair(apart), pair(equations.joint("M", "Q").count)))
    heads = ("model", "M + δ", "[M δ]", "biela, M + Q", "biela, [M Q]")
    return section("6.6: M and δ apart and together", heads, rows)


def positions() -> str:
    """Table 6.7."""
    count = derived("four-bar").joint("Phi_q", "Phi").count
    rows = [
        ("thesis", 18, 43),
        ("Robotran", 22, 47),
        ("biela", count.atoms, pair(count)),
    ]
    return section("6.7: [Φ_q Φ] of the four-bar", ("by", "atoms", "operations"), rows)


def last_joint(toward: Toward) -> int:
    """Operations of r from O to C of the four-bar, written out without any shared part.

    Upwards the components are in the last base, downwards in the inertial one.
    """
    s = four_bar()
    with s.space.using(Algebra(toward, extended=False)):
        r = position(s.origin, s.space.points["C"])
        found = r.components(r.base if toward is Toward.LEAF else s.base)
    text = "".join(f"y[{k}] = {expanded_text(e)};" for k, e in enumerate(found))
    return count_listing(text)[1]


def reach() -> str:
    """Table 6.9."""
    rows = [
        ("thesis, plain sum", 64, 21),
        ("thesis, operator", 54, 21),
        ("biela", last_joint(Toward.ROOT), last_joint(Toward.LEAF)),
    ]
    title = "6.9: position of the last joint of the four-bar, written out"
    return section(title, ("by", "DOWN", "UP"), rows)


def directions(models: Iterable[str]) -> str:
    """Table 6.10."""
    rows = [
        (
            name,
            *DIRECTIONS[name],
            *(pair(by_route(name, algebra)) for algebra in (PLAIN_DOWN, PLAIN_UP)),
            pair(derived(name).joint("M", "Q").count),
        )
        for name in models
    ]
    heads = ("model", "DOWN", "UP", "biela, DOWN", "biela, UP", "biela, as shipped")
    return section("6.10: [M δ] by the direction of operations", heads, rows)


def textbook(models: Iterable[str]) -> str:
    """Table 6.12."""
    rows = []
    for name in models:
        s = MODELS[name]()
        M, Q = mass_and_forces_textbook(s)
        theirs = s.function("textbook", {"M": M, "Q": Q}).count
        ours = derived(name).joint("M", "Q").count
        rows.append((name, *TEXTBOOK[name][2:], pair(ours), pair(theirs)))
    heads = ("model", "direct", "textbook", "biela", "biela, textbook")
    return section("6.12: [M δ] directly and by textbook virtual power", heads, rows)


def seconds(models: Iterable[str]) -> str:
    """Table 6.11."""
    rows = []
    for name in models:
        direct = timed(lambda s: s.mass_and_forces(Route(PLAIN_UP, PLAIN_UP)), MODELS[name])
        longer = timed(mass_and_forces_textbook, MODELS[name])
        rows.append((name, *TEXTBOOK[name][:2], f"{direct:.3f}", f"{longer:.3f}"))
    heads = ("model", "direct", "textbook", "biela, UP", "biela, textbook")
    note = "On unlike machines, years apart: what compares is how the two columns of each grow."
    return section("6.11: seconds to derive M and δ", heads, rows, note)


def timed(derive: Callable[[bl.SymbolicSystem], object], model: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(2):
        system = model()
        assert isinstance(system, bl.SymbolicSystem)
        start = time.process_time()
        derive(system)
        best = min(best, time.process_time() - start)
    return best


def trigonometry() -> str:
    """Tables 6.14 and 6.15."""
    rows: list[tuple[object, ...]] = [
        ("thesis, ordinary vectors, UP", "13/63", "51/212", "60/264"),
        ("thesis, extended; the listing is wrong", "9/39", "16/97", "25/135"),
        ("Robotran", "–", "–", "35/182"),
    ]
    routes = {
        "biela, in one base, UP": PLAIN_UP,
        "biela, in parts, UP": Algebra(Toward.LEAF),
        "biela, in parts, DOWN": Algebra(Toward.ROOT),
    }
    for what, algebra in routes.items():
        counts = [by_route("four-bar", algebra, *names) for names in ("M", "Q", "MQ")]
        rows.append((what, *(f"{c.atoms}/{pair(c)}" for c in counts)))
    shipped = [derived("four-bar").joint(*names).count for names in ("M", "Q", "MQ")]
    rows.append(("biela, as shipped", *(f"{c.atoms}/{pair(c)}" for c in shipped)))
    title = (
        "6.14 and 6.15: the four-bar with and without expressions that trigonometry would shorten"
    )
    note = "Atoms/operations. The published listing without such expressions forgets rotations."
    return section(title, ("by", "M", "δ", "[M δ]"), rows, note)


# -------------------------------------------------------------------------------------- the page


def section(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], note: str = ""
) -> str:
    lines = [f"## Table{'s' if ' and 6' in title else ''} {title}", ""]
    lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join([*lines, *(["", note] if note else []), ""])


def counted(models: Iterable[str]) -> list[str]:
    """All tables of counts, which no machine changes."""
    chosen = list(models)
    return [
        per_element(chosen),
        atoms(chosen),
        together(chosen),
        positions(),
        reach(),
        directions(chosen),
        textbook(chosen),
        trigonometry(),
    ]


def main() -> None:
    PAGE.write_text("\n".join([INTRODUCTION, *counted(MODELS), seconds(MODELS)]), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
