"""The page that a browser loads: that of viser, with a script before its own."""

from __future__ import annotations

from pathlib import Path

import pytest

viser = pytest.importorskip("viser", reason='viser is not installed: pip install "biela[studio]"')

from biela.studio.view.client_page import client_page  # noqa: E402


def test_the_script_stands_before_those_of_the_page_and_nothing_else_changes() -> None:
    stock = Path(viser.__file__).parent / "client" / "build" / "index.html"
    page = stock.read_text("utf-8")
    own = client_page(page)
    first = own.index("<script")
    assert "antialias: false" in own[first : own.index("</script>", first)]
    assert own.index("<meta charset") < first < 2000
    without = own[:first] + own[own.index("</script>", first) + len("</script>") :]
    assert without == page.replace("<title>Viser</title>", "<title>biela studio</title>")


def test_a_page_of_another_kind_is_left_as_it_is() -> None:
    assert client_page("no page") == "no page"
