"""Animations have the frames, the pace and the data they should."""

from __future__ import annotations

import json
import re
import stat
import sys
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from biela.errors import ResultsError
from biela.results import Box, Cylinder, Dot, Ground, Link, Results, Scene, Sphere, Trace
from tests.results.runs import swing


def data_of(page):
    return json.loads(re.search(r"^const data = (.*);$", page, re.M)[1])


def spatial():
    """All kinds of shapes, moving in space."""
    t = np.linspace(0, 1, 5)
    p = np.stack([np.cos(t), np.sin(t), t], axis=1)
    R = np.tile(np.eye(3), (5, 1, 1))
    shapes = [
        Link("link", np.stack([0 * p, p], axis=1)),
        Dot("dot", p, "red"),
        Trace("trace", p),
        Sphere("ball", p, 0.1),
        Box("box", p, R, (0.1, 0.2, 0.3)),
        Cylinder("can", p, R, 0.1, 0.3),
        Ground("ground", np.zeros(3)),
    ]
    return Results("space", t, {}, scene=Scene(shapes))


def test_frames_are_equally_far_apart_and_pace_the_film():
    film = swing().animate(fps=20, speed=0.5)
    assert len(film.times()) == 81  # two seconds at half speed are four
    assert np.diff(film.times()) == pytest.approx(0.025)
    assert swing().animate(fps=7).times()[-1] <= 2.0


def test_a_gif_has_the_frames_and_runs_in_real_time(tmp_path):
    told = []
    r = swing()
    r.animate(
        tmp_path / "a.gif", fps=30, speed=4, size=(161, 120), progress=lambda *n: told.append(n)
    )
    with Image.open(tmp_path / "a.gif") as film:
        assert film.size == (160, 120)
        durations, frames = [], []
        for i in range(film.n_frames):
            film.seek(i)
            durations.append(film.info["duration"])
            frames.append(np.asarray(film.convert("RGB"), dtype=int))
    # 30 a second is not a whole number of hundredths: shown, and so sampled, every 30 ms
    assert set(durations) == {30} and len(frames) == 1 + int(2.0 / (4 * 0.03))
    assert told == [(i + 1, len(frames)) for i in range(len(frames))]
    assert all(np.abs(a - b).max() > 100 for a, b in pairwise(frames))


def test_the_rod_is_where_it_should_be_in_the_picture():
    """Pixels in the colour of the rod lie on the line from the pivot to the tip."""
    time = 0.6
    figure = swing().draw(time)
    figure.canvas.draw()
    picture = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].astype(int)
    rows, columns = np.nonzero(np.abs(picture - [0x00, 0x72, 0xB2]).max(axis=2) < 12)
    pixels = np.stack([columns + 0.5, picture.shape[0] - rows - 0.5], axis=1)
    x, z = figure.axes[0].transData.inverted().transform(pixels).T
    theta = np.sin(2 * time)
    across = x * np.cos(theta) + z * np.sin(theta)
    along = x * np.sin(theta) - z * np.cos(theta)
    assert len(pixels) > 300
    assert np.abs(across).max() < 0.03  # half the width of the stroke
    assert along.min() == pytest.approx(0, abs=0.03) and along.max() == pytest.approx(1, abs=0.03)


def test_every_kind_of_shape_is_drawn_flat_and_in_space():
    pictures = {}
    for view in ("3d", "xz"):
        shapes = spatial().scene.shapes
        for leave in (None, *range(len(shapes))):
            kept = [shape for i, shape in enumerate(shapes) if i != leave]
            # the bounds must not change with what is left out
            frame = [Dot(f"corner{s}", s * np.full((1, 3), 2.0), "white") for s in (-1, 1)]
            r = Results("space", spatial().t, {}, scene=Scene([*frame, *kept], view))
            figure = r.draw(0.5, size=(240, 180))
            figure.canvas.draw()
            pictures[leave] = np.array(figure.canvas.buffer_rgba())
        for leave in range(len(shapes)):
            name = shapes[leave].name
            assert not np.array_equal(pictures[None], pictures[leave]), (view, name)


def test_the_page_holds_the_data_and_asks_nothing_of_the_network(tmp_path):
    r = swing()
    film = r.animate(tmp_path / "a.html", fps=10, speed=1.0)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page == film.html()
    assert not re.search(r"https?:|//[a-z]|\bsrc=|<link|@import|url\(|fetch\(|@[A-Z]+@", page)
    data = data_of(page)
    assert data["flat"] == "xz" and data["times"] == pytest.approx(film.times())
    (rod,) = [item for item in data["items"] if item["kind"] == "line" and item["pins"]]
    points = np.reshape(rod["points"], (21, 2, 3))
    assert points[:, 1, 0] == pytest.approx(np.sin(np.sin(2 * film.times())), abs=2e-4)
    assert np.abs(points[:, 0]).max() == 0


def test_the_page_of_a_scene_in_space_has_all_shapes():
    data = data_of(spatial().animate(fps=4, speed=1.0).html())
    assert data["flat"] == "" and len(data["times"]) == 5
    kinds = [item["kind"] for item in data["items"]]
    assert sorted(kinds) == ["disc", "disc", "line", "mesh", "mesh", "mesh", "path"]
    view = np.reshape(data["view"], (3, 3))
    assert view @ view.T == pytest.approx(np.eye(3)) and np.linalg.det(view) == pytest.approx(1)


def test_the_speed_of_the_page_is_a_figure_to_read():
    assert data_of(spatial().animate(fps=2, speed=1 / 3).html())["speed"] == 0.333


def test_a_name_cannot_break_out_of_the_page():
    r = swing(name='</script><b title="x">&')
    page = r.animate(fps=2).html()
    assert page.count("</script>") == 1 and data_of(page)["name"] == r.name
    frame = r.animate(fps=2)._repr_html_()
    assert frame.startswith('<iframe srcdoc="') and frame.count("<") == 2


def test_an_mp4_is_fed_to_ffmpeg_frame_by_frame(tmp_path, monkeypatch):
    """A stand-in for ffmpeg writes what it is given, to count the pictures."""
    import matplotlib

    program = tmp_path / "ffmpeg"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'wb').write(sys.stdin.buffer.read())\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with matplotlib.rc_context({"animation.ffmpeg_path": str(program)}):
        swing().animate(tmp_path / "a.mp4", fps=5, speed=1.0, size=(121, 101))
    assert (tmp_path / "a.mp4").stat().st_size == 11 * 120 * 100 * 3


def test_without_ffmpeg_the_error_offers_what_works(tmp_path):
    import matplotlib

    with (
        matplotlib.rc_context({"animation.ffmpeg_path": str(tmp_path / "nowhere")}),
        pytest.raises(ResultsError, match=r"ffmpeg.*a\.gif or a\.html"),
    ):
        swing().animate(tmp_path / "a.mp4")


def test_what_cannot_be_animated_is_refused_in_words(tmp_path):
    r = swing()
    for wrong, message in (
        ({"fps": 0}, "fps = 0"),
        ({"speed": -1.0}, "speed = -1"),
        ({"speed": np.nan}, "speed"),
        ({"size": (10, 10)}, "size"),
    ):
        with pytest.raises(ResultsError, match=message):
            r.animate(**wrong)
    with pytest.raises(ResultsError, match=r"should end in \.gif, \.mp4, \.html"):
        r.animate(tmp_path / "a.avi")
    with pytest.raises(ResultsError, match="cannot be written"):
        r.animate(tmp_path / "no" / "a.html")
    with pytest.raises(ResultsError, match="no scene"):
        swing(scene=None).animate()
    with pytest.raises(ResultsError, match="outside the stored interval"):
        r.draw(3.0)
    painted = Results("r", [0.0], {}, scene=Scene([Dot("d", np.zeros((1, 3)), "greenish")]))
    with pytest.raises(ResultsError, match="'greenish' is not a colour"):
        painted.draw()


def test_a_scene_at_rest_and_a_lazy_scene_can_be_shown():
    made = []

    def scene():
        made.append(1)
        return Scene([Dot("d", np.zeros((1, 3)))])

    r = Results("rest", [0.0, 1.0], {}, scene=scene)
    assert not made
    assert len(data_of(r.animate(fps=2, speed=1.0).html())["times"]) == 3
    r.draw(1.0)
    assert len(made) == 1


def test_a_short_run_is_shown_in_slow_motion():
    t = np.linspace(0.0, 0.3, 31)
    points = np.stack([np.cos(t), 0 * t, np.sin(t)], axis=1)
    r = Results("short", t, {}, scene=Scene([Dot("tip", points)]))
    assert r.animate().speed == pytest.approx(0.1)
    assert r.animate(speed=1.0).speed == 1.0
    assert swing().animate().speed == pytest.approx(min(1.0, swing().t[-1] / 3))


@pytest.mark.parametrize("size", [(400, 320), (480, 400), (800, 600)])
def test_the_labels_of_the_axes_lie_inside_the_picture(size):
    t = np.linspace(0.0, 1.0, 5)
    points = np.stack([0.001 * t, 0 * t, 0.002 * t - 0.1], axis=1)  # long numbers at the ticks
    r = Results("small", t, {}, scene=Scene([Dot("tip", points)]))
    figure = r.draw(0.5, size=size)
    figure.canvas.draw()
    axes = figure.axes[0]
    for label in (axes.xaxis.label, axes.yaxis.label):
        box = label.get_window_extent()
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= size[0] and box.y1 <= size[1]


@pytest.mark.parametrize("form", [".gif", ".mp4", ".html"])
@pytest.mark.parametrize("pace", [{"speed": 1e-9}, {"speed": 1e-300}, {"fps": 1e12, "speed": 1e-3}])
def test_too_many_frames_are_refused_before_the_first(form, pace, tmp_path, monkeypatch):
    monkeypatch.setattr(Scene, "at", lambda *_: pytest.fail("frames are computed"))
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: True)
    film = swing().animate(**pace)
    said = r"would have .* frames; the limit is 100,000: give a higher speed"
    with pytest.raises(ResultsError, match=said):
        film.save(tmp_path / f"film{form}")
    assert not list(tmp_path.iterdir())
    assert "frames" in repr(film)


def test_the_memory_of_the_frames_and_the_size_of_a_picture_are_limited(monkeypatch):
    monkeypatch.setenv("BIELA_MEMORY", "1e-6")
    monkeypatch.setattr(Scene, "at", lambda *_: pytest.fail("frames are computed"))
    with pytest.raises(ResultsError, match=r"frames would take .* GB; the limit is 1e-06 GB"):
        swing().animate().html()
    for size in ((10**6, 10**6), (100, float("inf")), (10**400, 200), (200, 1e300)):
        with pytest.raises(ResultsError, match="pixels; the limit is 50,000,000: give less"):
            swing().animate(size=size)
    with pytest.raises(ResultsError, match="two numbers of pixels"):
        swing().animate(size=(float("nan"), 200))


@pytest.mark.parametrize("duration", [1e4, 1e6, 1e12])
def test_a_long_run_is_shown_faster_so_that_it_can_be_shown_at_all(duration):
    t = np.linspace(0.0, duration, 50)
    ends = np.zeros((50, 2, 3))
    ends[:, 1, 0], ends[:, 1, 1] = np.cos(t), np.sin(t)
    film = Results("long {x}", t, {}, scene=Scene([Link("rod", ends)])).animate()
    assert film.speed == duration / 1800 and len(film.times()) == 45001
    with pytest.raises(ResultsError, match=r"long \{x\}: .*; the limit is 100,000"):
        Results("long {x}", t, {}, scene=film.scene).animate(speed=1e-3).html()
