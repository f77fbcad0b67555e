"""The pieces of the topology view: right by known structures, valid, and in words where need be."""

from __future__ import annotations

from random import Random

import pytest

import biela as bl
from biela.errors import BielaError, ModelError
from biela.studio.report.mathml import matrix, row
from biela.studio.shelf import gallery
from biela.studio.topology import topology_page, topology_parts
from biela.studio.topology_equations import Equations
from biela.studio.topology_structure import Structure
from tests.studio.pages import fetched, read_fragment, rows, text_of, value


def model_of(name: str) -> bl.Model:
    return gallery().source(name).model({})


def pendulum() -> bl.SymbolicSystem:
    """A double pendulum in symbols: two turned bases, two points on the way down."""
    system = bl.SymbolicSystem("double pendulum")
    one, two = system.coordinates("theta1 theta2")
    first = system.base.rotated("first", "y", one)
    second = first.rotated("second", "y", two)
    m, l, g = system.parameters(m=1.0, l=0.5, g=9.81)
    elbow = system.origin.offset("elbow", first.vector(0, 0, -l))
    tip = elbow.offset("tip", second.vector(0, 0, -l))
    system.solid("upper", at=elbow, base=first, mass=m)
    system.solid("lower", at=tip, base=second, mass=m)
    system.gravity = system.base.vector(0, 0, -g)
    return system


def document(html: str) -> str:
    return f'<!DOCTYPE html><html lang="en"><head><title>x</title></head>{html}</html>'


# ------------------------------------------------------------------------ bodies and joints


def test_the_page_has_all_pieces_each_valid_and_without_requests() -> None:
    pieces = topology_page(model_of("four-bar"))
    assert [piece.title for piece in pieces] == [
        "Connection graph", "Loops", "Degrees of freedom", "Redundant constraints",
        "Structural groups", "Sparsity", "Equations",
    ]  # fmt: skip
    for piece in pieces:
        assert not piece.failed
        read_fragment(piece.html)
        assert list(fetched(document(piece.html))) == []
        assert piece.title in piece._repr_html_()


def test_a_spatial_slider_crank_has_one_freedom_by_rank_and_three_redundant_rows() -> None:
    structure = Structure(model_of("slider-crank"))
    found = dict(row[:2] for row in rows(document(structure.freedoms())) if len(row) == 2)
    assert found["by count in space"] == "6·3 − 20 = −2"  # Kutzbach: three bodies, 4 × 5
    assert found["by rank, as it really moves"] == "1"
    redundant = [row for row in rows(document(structure.redundancy())) if row[0] == "guide"]
    assert [row[1] for row in redundant] == ["3"]


def test_a_four_bar_is_one_loop_of_four_joints_and_an_open_arm_none() -> None:
    (_, loop) = rows(document(Structure(model_of("four-bar")).loops()))
    assert loop[1] == "4" and set(loop[2].split(" – ")) == {"A", "B", "C", "D"}
    assert "No loops" in Structure(model_of("scara")).loops()


def test_groups_of_a_four_bar_are_the_crank_and_a_dyad() -> None:
    found = [row for row in rows(document(Structure(model_of("four-bar")).groups()))][1:]
    assert [row[2] for row in found] == ["crank", "coupler, rocker"]
    assert found[1][3] == "ground; group 0"


def test_what_cannot_be_found_is_told_in_its_place() -> None:
    pieces = {piece.title: piece for piece in topology_page(bl.Model("empty"))}
    assert pieces["Sparsity"].failed and "trouble" in pieces["Sparsity"].html
    assert "empty has no bodies" in pieces["Degrees of freedom"].html
    with pytest.raises(ModelError, match="is no model"):
        topology_page("four-bar")


def test_a_large_model_is_told_to_be_too_large_for_a_page() -> None:
    model = bl.Model("many")
    for k in range(31):
        model.body(f"b{k}")
    with pytest.raises(ModelError, match="too large for a page"):
        Equations(model).sparsity()


# ---------------------------------------------------------------------------------- symbols


def test_trees_of_symbols_are_nested_as_bases_and_points_are() -> None:
    parts = topology_parts(pendulum())
    tree = read_fragment(parts["Tree of bases"]())
    chain = "./body/ul/li/ul/li/ul/li/b"
    assert [text_of(e) for e in tree.findall(chain)] == ["second"]
    assert "about y by theta2" in text_of(tree)
    points = read_fragment(parts["Tree of points"]())
    assert [text_of(e) for e in points.findall(chain)] == ["tip"]


def test_freedoms_of_symbols_are_velocities_less_constraints() -> None:
    assert ">2<" in Equations(pendulum()).freedoms()
    assert "No constraints" in Equations(pendulum()).sparsity()


def test_the_equations_of_a_small_model_are_formulas() -> None:
    html = Equations(pendulum()).written()
    page = read_fragment(html)
    assert len(list(page.iter("{http://www.w3.org/1998/Math/MathML}mtable"))) == 2  # M and Q
    assert "too many to be read" not in html
    assert "too many to be read" in Equations(model_of("stewart")).written()


# -------------------------------------------------------------------------------- formulas


def expressions() -> list[tuple[str, float, dict[str, float]]]:
    ws = bl.Workspace("formulas")
    x, y = ws.symbols("x y")
    theta = ws.coordinate("theta_1")
    m = ws.parameter("m_p")
    rng = Random(3)
    values = {name: rng.uniform(0.2, 0.9) for name in ("x", "y", "θ_1", "dθ_1", "m_p")}
    made = [
        m * theta.velocity**2 / 2 - bl.sin(theta),
        (x + y) * (x - y) / (x * y + 2),
        bl.sqrt(x * x + y * y) * bl.cos(x - y) ** 3,
        -(x - 3 * y) * (0.25 * x + bl.tanh(x * y)),
        bl.log(x + 1) - bl.atan(y) ** 2 * 7,
    ]
    atoms = {"x": x, "y": y, "θ_1": theta, "dθ_1": theta.velocity, "m_p": m}
    known = {atoms[name]: number for name, number in values.items()}
    return [(bl.latex(e), float(bl.evaluate(e, known)), values) for e in made]


def test_formulas_on_a_page_have_the_values_of_the_expressions() -> None:
    for latex, expected, values in expressions():
        assert value(row(latex), values) == pytest.approx(expected, rel=1e-12), latex


def test_cases_and_matrices_are_tables() -> None:
    ws = bl.Workspace("cases")
    x = ws.symbol("x")
    found = row(bl.latex(bl.select(x < 1, x, 2 * x)))
    assert found.count("<mtr>") == 2 and "otherwise" in found and "if" in found
    assert matrix([["x", "1"], ["0", r"\alpha"]]).count("<mtd>") == 4
    read_fragment(f"<math>{found}</math>")


def test_what_biela_does_not_write_is_refused() -> None:
    for wrong in (r"\unknown{x}", "x }", r"\frac{x}", r"\begin{align} x \end{align}", "x § y"):
        with pytest.raises(BielaError, match="not expected in the formula"):
            row(wrong)


def test_decimals_are_rounded_for_the_reader() -> None:
    assert row("0.12137093776719603") == "<mn>0.12137</mn>"
    assert row("1234567") == "<mn>1234567</mn>"
