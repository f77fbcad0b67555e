"""Large expressions on paper: the lines, read back by an independent reader, have the values."""

from __future__ import annotations

import re

import numpy as np
import pytest

from biela.atoms import Workspace, atan2, cos, evaluate, latex, latex_listing, select, sin, sqrt
from biela.errors import WorkspaceError
from tests.latex_reader import Reader

BUILDERS = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (2 + sin(b)),
    lambda a, b: cos(a - 2 * b),
    lambda a, b: sqrt(3 + cos(b)) * a,
    lambda a, b: cos(a) ** 3,
    lambda a, b: atan2(a, 2 + cos(b)),
    lambda a, b: abs(a) / 7 + 0.1,
    lambda a, b: -a * 1e-9,
)


def read(expressions, values) -> list[float]:
    """The values of expressions from their listing alone."""
    listing = latex_listing(expressions)
    known = {latex(symbol): value for symbol, value in values.items()}
    reader = Reader(known, listing.definitions)
    return [reader(formula) for formula in listing.results]


def test_random_graphs_read_back_have_their_values():
    rng = np.random.default_rng(51)
    for _ in range(20):
        ws = Workspace()
        symbols = list(ws.symbols("x y1 theta_2 m_p"))
        values = {s: float(rng.uniform(0.5, 1.5)) for s in symbols}
        atoms = list(symbols)
        for _ in range(60):
            a, b = (atoms[k] for k in rng.integers(len(atoms), size=2))
            build = BUILDERS[rng.integers(len(BUILDERS))]
            # bounded, so that long chains keep their digits
            atoms.append(sin(build(a, b)))
        chosen = [atoms[k] for k in rng.integers(len(atoms), size=6)] + [-atoms[-1]]
        expected = [evaluate(e, values) for e in chosen]
        np.testing.assert_allclose(read(chosen, values), expected, rtol=1e-9, atol=1e-9)


def test_what_is_used_once_is_written_in_place():
    ws = Workspace()
    x, y, z = ws.symbols("x y t")
    shared = x * y
    listing = latex_listing([shared + z, sin(shared)])
    assert listing.definitions == [("z_{1}", "x y")]
    assert listing.results == ["t + z_{1}", r"\sin\left(z_{1}\right)"]
    assert latex_listing([x, -y]).definitions == []
    assert latex_listing([]).results == []


def test_no_line_is_longer_than_can_be_read():
    ws = Workspace()
    total = ws.atom(0)
    for symbol in ws.symbols("x:500"):
        total = total + symbol * sin(symbol)
    listing = latex_listing([total])
    assert max(len(text) for _, text in listing.definitions) < 400
    assert len(listing.definitions) > 50
    assert len(listing.results[0]) < 100


@pytest.mark.parametrize(
    "names, letter",
    [("x y", "z"), ("z y", "w"), ("z1 w_2", "h"), ("z w h zeta xi chi", "z'")],
)
def test_the_names_are_no_names_of_symbols(names, letter):
    ws = Workspace()
    symbols = ws.symbols(names)
    product = symbols[0] * symbols[1]
    listing = latex_listing([product + sum(symbols), product - 1])
    assert listing.definitions[0][0] == f"{letter}_{{1}}"


def test_shared_cases_are_cases_of_their_own():
    ws = Workspace()
    x, y = ws.symbols("x y")
    inner = select(x < y, x * y, y)
    listing = latex_listing([select(y < 1, x, inner), inner + 1])
    (name, text), *_ = listing.definitions
    assert text.count("cases") == 2
    assert re.search(rf"{re.escape(name)} & \\text{{otherwise}}", listing.results[0] + str(listing))
    # written in place, a chain of selections is one block
    (written,) = latex_listing([select(y < 1, x, inner)]).definitions
    assert written[1].count(r"\begin{cases}") == 1


def test_two_workspaces_are_refused():
    with pytest.raises(WorkspaceError):
        latex_listing([Workspace().symbol("x"), Workspace().symbol("y")])
