from __future__ import annotations

import re
from pathlib import Path

import pytest

from biela.analysis.orderings import OrderingStudy, study_orderings
from biela.cli import order
from biela.cli.main import main
from biela.cli.models import model_in

MECHANISMS = Path(__file__).parents[2] / "examples" / "mechanisms"


def test_orderings_of_a_model_are_listed_and_drawn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    picture = tmp_path / "orders.png"
    file = str(MECHANISMS / "bennett.toml")
    assert main(["order", file, "--coordinates", "reference", "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    for name in ("RB3", "P5", "block triangular", "reverse Cuthill-McKee", "multibody"):
        assert name in out
    assert out.count("▸") == 2  # the best of the Jacobian and of the saddle-point matrix
    assert "orders.png" in out and picture.exists()


def test_a_layout_in_a_python_file_is_ordered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "rods.py"
    file.write_text(
        "from types import SimpleNamespace\n"
        "class Rods:\n"
        "    name = 'rods'\n"
        "    def jacobian_pattern(self):\n"
        "        return SimpleNamespace(row_names=('a', 'b'), columns=('x', 'y'),\n"
        "            rows=({0, 1}, {0, 1}), constant=(False, False), relative=set(),\n"
        "            closure=set())\n"
        "layout = Rods()\n",
        encoding="utf-8",
    )
    assert main(["order", str(file)]) == 0
    assert "2 × 2, 4 entries" in capsys.readouterr().out


def test_no_number_is_cut_off_however_narrow_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = MECHANISMS / "stewart.toml"
    study = study_orderings(model_in(file, None))
    monkeypatch.setattr(order, "study_orderings", lambda *_: study)
    for width in (140, 80, 60, 30):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["order", str(file)]) == 0
        assert_whole(capsys.readouterr().out, study)


def assert_whole(out: str, study: OrderingStudy) -> None:
    """Assert that the costs of all orders are printed, and the blocks of one."""
    lines, saddle = (part.splitlines() for part in out.split("Saddle-point matrix"))
    for report in study.orderings:
        (line,) = (line for line in lines if line[2:].startswith(f"{report.name}  "))
        assert f" {report.fill:,} " in line and f" {report.predicted:,.0f} " in f"{line} "
    for found in study.eliminations:
        (line,) = (line for line in saddle if line[2:].startswith(f"{found.name}  "))
        assert f" {found.cost.storage:,} " in line and f" {found.predicted:,} " in f"{line} "
    # blocks that have no room go on below
    (start,) = (k for k, line in enumerate(lines) if line[2:].startswith("block triangular"))
    (end,) = (k for k, line in enumerate(lines) if line[2:].startswith("P5  "))
    (parted,) = (r for r in study.orderings if r.name == "block triangular")
    listed = re.findall(r"\d+×\d+", " ".join(lines[start:end]))
    assert listed == [f"{count}×{k}" for k, count in parted.orders.items()]


def test_the_orders_of_elimination_say_what_they_count_and_what_multibody_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = str(MECHANISMS / "bennett.toml")
    for coordinates in ("reference", "natural", "joint"):
        assert main(["order", file, "--coordinates", coordinates]) == 0
        text = capsys.readouterr().out.partition("Saddle-point matrix")[2]
        for word in ("fill:", "storage:", "cost:"):
            assert f"  {word} " in text
        assert ("multibody: knows" in text) == (coordinates == "reference")
        assert ("--coordinates reference shows" in text) == (coordinates != "reference")


def test_what_has_no_jacobian_is_told_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "pendulum.toml"
    file.write_text(
        'name = "pendulum"\n[bodies.rod]\nmass = 1.0\ninertia = 0.1\n'
        '[joints.A]\nkind = "revolute"\ni = "ground"\nj = "rod"\n',
        encoding="utf-8",
    )
    assert main(["order", str(file), "--coordinates", "joint"]) == 1
    assert "no Jacobian to order" in capsys.readouterr().err
    assert main(["order", "nowhere.toml"]) == 1
    assert "nowhere.toml is not there" in capsys.readouterr().err


def test_a_wrong_coordinate_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(MECHANISMS / "bennett.toml")
    assert main(["order", file, "--independent", "nobody"]) == 1
    assert "'nobody' is no column" in capsys.readouterr().err


def test_independent_coordinates_of_a_file_are_used_unless_others_are_given(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "bars.py"
    text = (
        "from biela.equations.natural import Layout\n"
        "INDEPENDENT = ('q.y',)\n"
        "def layout():\n"
        "    lay = Layout('bars', plane='xy')\n"
        "    o, r = (lay.point(n, (x, 0), fixed=True) for n, x in (('o', 0), ('r', 3)))\n"
        "    p, q = lay.point('p', (0, 1)), lay.point('q', (2, 2))\n"
        "    for name, a, b in (('a', o, p), ('b', p, q), ('c', q, r)):\n"
        "        lay.rod(name, a, b, mass=1.0)\n"
        "    return lay\n"
    )
    file.write_text(text, encoding="utf-8")
    assert main(["order", str(file)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"independent columns +(1: )?q\.y *\n", out)
    assert "INDEPENDENT of bars.py" in out
    assert main(["order", str(file), "--independent", "p.x"]) == 0
    out = capsys.readouterr().out
    assert "p.x" in out and "q.y" not in out and "INDEPENDENT" not in out
    file.write_text(text.replace("('q.y',)", "3"), encoding="utf-8")
    assert main(["order", str(file)]) == 1
    assert "INDEPENDENT is a list of names" in capsys.readouterr().err
