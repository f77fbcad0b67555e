"""The demonstration: a linkage from its bodies to a film and to a simulator in C."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import biela as bl
from biela.cli.running import speed_rows
from biela.cli.tables import console, duration, pairs, shown_path
from biela.results import Animation, Ground, Results, Scene, Trace
from biela.whole_files import make_folder

STEP, TIME = 1e-3, 2.0


def demo(folder: Path) -> None:
    """Derive, simulate, plot, animate and export a linkage, and print what it took."""
    out = console()
    make_folder(folder, bl.BielaError)
    out.print("[bold]Hoecken's linkage[/bold]: a crank turns, and a point of the coupler draws a")
    out.print("line that is straight for half a turn.  Three bars, one closed loop.\n")
    rows: list[tuple[str, str]] = []

    model = hoecken()
    equations, seconds = _timed(model.equations)
    expressions = [*_flat(equations.expressions.values())]
    size = sum(bl.expanded_size(entry) for entry in expressions)
    count = equations.joint().count.arithmetic
    rows.append(
        ("derived", f"{duration(seconds)}: {size} terms written out, {count} operations as code")
    )

    files_before = bl.code_cache.contents()[0]
    simulator = bl.Simulator(equations)
    _, seconds = _timed(lambda: simulator.run(STEP, step=STEP))
    files = bl.code_cache.contents()[0]
    if files > files_before or files == 0 or not bl.code_cache.enabled():
        rows.append(("compiled", f"{duration(seconds)}, native code for this CPU"))
    else:
        rows.append(("loaded", f"{duration(seconds)}, native code kept from an earlier run"))
    # the fastest of several, since other programs take their share of the processor
    runs = [simulator.run(TIME, step=STEP) for _ in range(5)]
    results = min(runs, key=_integration)
    steps = f"{TIME:g} s in {round(TIME / STEP)} steps of {duration(STEP)} by Runge and Kutta"
    error = results["constraint error"].max()
    rows.append(("simulated", f"{steps}; the loop stays closed to {error:.0e} m"))
    rows += speed_rows(results)
    out.print(pairs(rows))

    out.print("\nwritten")
    written, seconds = _timed(lambda: _files(model, results, folder))
    out.print(pairs((text, shown_path(path)) for path, text in written))
    out.print(f"  [dim]in {duration(seconds)}[/dim]")
    out.print(
        "\nNext\n"
        f"{activation()}"
        f"  make -C {shown_path(folder / 'simulator')} run     the C simulator against the clock\n"
        "  biela new slider-crank            a model file to begin with; --list has more\n"
        "  biela check FILE                  is it sound, how can it move\n"
        "  biela run FILE --time 10          your model, or one of examples/mechanisms\n"
        "  docs/notebooks                    first steps, closed loops, control\n"
        "  biela studio                      the gallery in the browser: play, change, drag, plot\n"
        f"{studio_hint()}",
        markup=False,
        soft_wrap=True,
    )


def studio_hint() -> str:
    """The line that installs what the studio needs; "" where it is installed."""
    if find_spec("viser") is not None:
        return ""
    return '    pip install "biela[studio]"     it needs that once\n'


def activation() -> str:
    """The line that makes ``biela`` a command of the shell; "" where it is one already."""
    script = Path(sys.prefix) / "bin" / "activate"
    if shutil.which("biela") or not script.is_file():
        return ""
    return f"  {'. ' + shown_path(script):<34}once in a terminal: then it knows biela\n"


def hoecken() -> bl.SymbolicSystem:
    """Hoecken's straight-line linkage, with bars of 1, 2.5 and 2.5 cranks on a ground of 2.

        O ── crank (a) ── B ── coupler (2.5 a) ── C ── (2.5 a) ── P
        D ── rocker (2.5 a) ── C

    All angles are from the ground, about z; gravity points to -y.  The crank is a flywheel.
    """
    s = bl.SymbolicSystem("hoecken")
    theta, phi, psi = s.coordinates("theta phi psi")
    a, g, flywheel, density = s.parameters(a=0.1, g=9.81, flywheel=0.1, density=2.0)
    (torque,) = s.inputs("torque")
    s.gravity = s.base.vector(0, -g, 0)

    D = s.origin.offset("D", s.base.vector(2 * a, 0, 0))
    crank = s.base.rotated("crank", "z", theta)
    coupler = s.base.rotated("coupler", "z", phi)
    rocker = s.base.rotated("rocker", "z", psi)
    B = s.origin.offset("B", crank.vector(a, 0, 0))
    C = B.offset("C", coupler.vector(2.5 * a, 0, 0))
    P = C.offset("P", coupler.vector(2.5 * a, 0, 0))
    end = D.offset("end", rocker.vector(2.5 * a, 0, 0))

    wheel = s.solid("crank", s.origin, crank, mass=1.0, inertia=crank.inertia(zz=flywheel))
    for name, at, base, length in (("coupler", B, coupler, 5 * a), ("rocker", D, rocker, 2.5 * a)):
        m = density * length
        inertia = base.inertia(yy=m * length**2 / 3, zz=m * length**2 / 3)
        s.solid(name, at, base, mass=m, com=(length / 2, 0, 0), inertia=inertia)
    s.wrench(wheel, moment=s.base.vector(0, 0, torque), name="motor")
    s.close(end, C, axes="xy", name="pin")

    s.start(theta=0.0, dtheta=2 * math.pi, phi=1.3, psi=2.0)
    place = s.position(s.origin, P)
    s.output("x", place.x)
    s.output("y", place.y)
    return s


def _files(model: bl.SymbolicSystem, results: Results, folder: Path) -> list[tuple[Path, str]]:
    """Plots, a film, a page and a simulator; each with what it is."""
    results.plot("q", "lam", save=folder / "motion.png")
    page = animation(results)
    page.save(folder / "linkage.html")
    # a film of one turn, small and with few frames, since drawing its frames takes the longest here
    turn = float(results.t[np.argmax(results["theta"] >= 2 * math.pi)])
    film = animation(results.between(0.0, turn), fps=10, speed=0.5, size=(480, 400))
    film.save(folder / "linkage.gif")
    bl.export_simulator(model, folder / "simulator", step=STEP)
    return [
        (folder / "motion.png", "angles and reactions"),
        (folder / "linkage.gif", "film of a turn"),
        (folder / "linkage.html", "page to play with"),
        (folder / "simulator", "simulator in C99"),
    ]


def animation(results: Results, **options: Any) -> Animation:
    """The linkage with its pivots and the path of its point."""
    scene = results.scene
    assert scene is not None, "the linkage has points"
    path = np.stack([results["x"], results["y"], 0 * results.t], axis=1)
    bars = [shape for shape in scene.shapes if shape.name != "ground"]
    pivots = [Ground(name, np.array(p)) for name, p in (("O", (0, 0, 0)), ("D", (0.2, 0, 0)))]
    shapes = [*pivots, *bars, Trace("P", path)]
    return Animation("Hoecken's linkage", results.t, Scene(shapes), **options)


def _integration(results: Results) -> float:
    """Time spent in the integrator, s."""
    statistics = results.statistics
    return (statistics.time_integration or 0.0) if statistics is not None else 0.0


def _flat(entries: Any) -> list[Any]:
    """The atoms of nested lists."""
    found = []
    for entry in entries:
        found += _flat(entry) if isinstance(entry, list | tuple) else [entry]
    return found


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start
