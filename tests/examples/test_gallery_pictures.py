"""What the [run] tables of the gallery plot is there, and every body of it is drawn."""

from __future__ import annotations

import pytest

from biela.equations.figures import BallFigure, LineFigure, SlideFigure, SolidFigure
from tests.examples.gallery import NAMES, model, system

PLOTTED = [name for name in NAMES if {"plot", "path"} & set(model(name).run)]


@pytest.mark.parametrize("name", PLOTTED)
def test_names_of_plots_and_paths_are_those_of_results(name: str) -> None:
    equations, run = system(name), model(name).run
    outputs = {entry.name for entry in (*equations.q, *equations.y)}
    wanted = [*run.get("plot", ()), *([run["against"]] if "against" in run else [])]
    assert [entry for entry in wanted if entry not in outputs] == []
    points = {entry[:-2] for entry in outputs if entry.endswith(".x")} | set(equations.frames)
    assert [entry for entry in run.get("path", ()) if entry not in points] == []


@pytest.mark.parametrize("name", ["slider_crank", "scissor_lift", "excavator"])
def test_every_body_is_drawn(name: str) -> None:
    drawing = system(name).drawing
    assert drawing is not None
    drawn = set()
    for figure in drawing.figures:
        if isinstance(figure, SolidFigure | BallFigure | LineFigure):
            drawn.add(figure.body)
        elif isinstance(figure, SlideFigure):
            drawn |= {figure.guide, figure.block}
    assert set(model(name).flattened().bodies) <= drawn
