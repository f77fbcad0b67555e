"""Mechanisms in notebooks: shown where the cell is, kept in the file, in words where need be."""

from __future__ import annotations

import urllib.request

import nbformat
import pytest
from nbclient import NotebookClient

import biela as bl
from biela.studio.framing import in_notebook
from tests.studio.pages import fetched, read, read_fragment, text_of
from tests.studio.test_report import arm


def document(html: str) -> str:
    return f'<!DOCTYPE html><html lang="en"><head><title>x</title></head>{html}</html>'


def test_a_model_is_shown_in_motion_with_its_plots() -> None:
    shown = bl.show(arm(), duration=0.3)
    html = shown._repr_html_()
    page = read_fragment(html)
    (frame,) = page.iter("iframe")
    assert frame.get("sandbox") == "allow-scripts"
    assert "canvas" in {element.tag for element in read(str(frame.get("srcdoc"))).iter()}
    assert [e.get("alt") for e in page.iter("img")] == ["tip.z over time"]
    assert list(fetched(document(html))) == []
    assert repr(shown) == "arm & mass in motion"


def test_results_are_shown_and_a_list_without_channels_plots_nothing() -> None:
    motion = bl.kinematics(bl.formulate(arm()), 0.1, step=0.02)
    assert "<iframe" in bl.show(motion).html
    assert "<img" not in bl.show(arm(), duration=0.1, channels=[]).html


def test_what_goes_wrong_is_told_where_the_motion_would_be() -> None:
    found = bl.show(bl.Model("empty"), topology=True)
    page = read_fragment(found.html)
    assert [e for e in page.iter("div") if e.get("class") == "trouble"]
    assert "Degrees of freedom" in [text_of(e) for e in page.iter("h3")]


def test_the_studio_is_shown_in_a_frame_from_this_machine() -> None:
    pytest.importorskip("viser")
    shown = bl.show(arm(), live=True)
    try:
        (frame,) = read_fragment(shown.html).iter("iframe")
        address = str(frame.get("src"))
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.status == 200
        assert address in repr(shown)
    finally:
        shown.server.stop()


def test_a_model_describes_itself_in_a_table() -> None:
    model = arm()
    model.description = "a mass & an arm"
    text = text_of(read_fragment(model._repr_html_()))
    for part in ("arm & mass", "in the xz plane", "a mass & an arm", "pivot (revolute)", "motor"):
        assert part in text
    many = bl.Model("many")
    for k in range(12):
        many.body(f"b{k}")
    assert "… 4 more" in many._repr_html_()


def test_a_cell_of_a_notebook_shows_it(tmp_path) -> None:
    code = (
        "import biela as bl\n"
        "from biela.studio.framing import in_notebook\n"
        "assert in_notebook()\n"
        "m = bl.Model('pendulum')\n"
        "rod = m.body('rod', mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))\n"
        "m.joint('revolute', 'pivot', m.ground, rod, axis='y', start=0.5)\n"
        "bl.show(m, duration=0.2, channels=[])"
    )
    live = "bl.studio(m, port=18777)"
    cells = [nbformat.v4.new_code_cell(text) for text in (code, live)]
    book = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, timeout=120, kernel_name="python3", resources=resources).execute()
    (output,) = book.cells[0].outputs
    assert "srcdoc" in output.data["text/html"]
    assert output.data["text/plain"] == "pendulum in motion"
    (output,) = book.cells[1].outputs  # at once, as the page itself, and nothing is printed
    assert '<iframe src="http://127.0.0.1:' in output.data["text/html"]
    assert output.data["text/plain"].startswith("biela studio at http://127.0.0.1:")
    assert not in_notebook()  # this is none
