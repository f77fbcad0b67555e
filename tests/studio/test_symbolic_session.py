"""Symbols on the table: how they move, what sliders do, and what is said when they cannot."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError, UnknownNameError
from biela.studio.beginning import begun
from biela.studio.saving import savable, saved
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.shelf import gallery
from biela.studio.symbolic_session import SymbolicSession
from biela.studio.symbolic_source import SymbolicSource
from biela.studio.topology import topology_page
from examples.symbolic.four_bar import four_bar
from tests.studio.pages import rows

G = 9.81


def pendulum(start: float = 0.3) -> bl.SymbolicSystem:
    """A mass of 2 kg on a thread of 0.5 m, with a torque at the pivot."""
    s = bl.SymbolicSystem("pendulum")
    (theta,) = s.coordinates("theta")
    m, length, g = s.parameters(m=2.0, l=0.5, g=G)
    (torque,) = s.inputs("torque")
    arm = s.base.rotated("arm", "y", theta)
    bob = s.origin.offset("bob", arm.vector(0, 0, -length))
    solid = s.solid("mass", at=bob, base=arm, mass=m)
    s.wrench(solid, s.base.vector(0, 0, 0), arm.vector(0, torque, 0))
    s.gravity = s.base.vector(0, 0, -g)
    s.start(theta=start)
    return s


def opened(system: bl.SymbolicSystem) -> SymbolicSession:
    session = SymbolicSession(SymbolicSource(system))
    session.open()
    return session


@pytest.fixture(scope="module")
def linkage() -> SymbolicSource:
    return SymbolicSource(four_bar())


def quarter(length: float) -> float:
    """A quarter of the period 2π√(l/g) (1 + θ²/16) of swings from 0.3."""
    return float(0.5 * np.pi * np.sqrt(length / G) * (1 + 0.3**2 / 16))


def test_a_pendulum_swings_and_a_slider_makes_it_slower() -> None:
    session = opened(pendulum())
    assert session.error == ""
    assert session.motion is not None
    assert session.motion.at(quarter(0.5))["theta"] == pytest.approx(0.0, abs=1e-3)
    session.set_parameter("l", 2.0)
    assert session.run()
    assert session.motion.at(quarter(2.0))["theta"] == pytest.approx(0.0, abs=1e-3)
    (way,) = session.ways(["bob"])
    assert np.linalg.norm(way, axis=1) == pytest.approx(2.0), "it is drawn at its new length"
    (link,) = session.scene.shapes
    assert link.points[:, 1] == pytest.approx(way), "and so is the line to it"
    session.reset()
    assert session.run()
    assert np.linalg.norm(session.ways(["bob"])[0], axis=1) == pytest.approx(0.5)


def test_the_scene_of_a_four_bar_has_rigid_bars_and_stays_closed(linkage: SymbolicSource) -> None:
    session = SymbolicSession(linkage)
    session.open()
    a, b = session.ways(["A", "B"])
    assert np.linalg.norm(a, axis=1) == pytest.approx(2.0)
    assert np.linalg.norm(b - a, axis=1) == pytest.approx(8.0)
    assert np.linalg.norm(b - [10.0, 0.0, 0.0], axis=1) == pytest.approx(5.0, abs=1e-6)
    assert list(session.points) == ["A", "B"], "the end of the third bar is held"
    assert {piece.name for piece in session.pieces} >= {"bar1", "bar2", "bar3", "ground"}
    assert session.flat
    assert session.scene.view == "xz"
    with pytest.raises(UnknownNameError, match="no point 'Z'"):
        session.ways(["Z"])


def test_what_cannot_be_assembled_is_told_and_the_last_motion_stays(
    linkage: SymbolicSource,
) -> None:
    session = SymbolicSession(linkage)
    session.open()
    before = session.motion
    session.set_parameter("l4", 100.0)  # farther than all bars together
    assert not session.run()
    assert "cannot be assembled" in session.error
    assert session.motion is before
    assert session.pieces
    session.set_parameter("nonsense", 1.0)
    assert not session.run()
    assert "no parameter 'nonsense'" in session.error


def test_what_cannot_move_stands_where_it_begins() -> None:
    system = four_bar()
    system.parameters(l4=100.0)
    session = opened(system)
    assert "cannot be assembled" in session.error
    assert session.motion is None
    assert session.posed_pieces()
    assert session.coordinates() == {"theta1": 0.0, "theta2": 0.0, "theta3": 0.0}
    assert session.starts()[0].name == "theta1"


def test_two_visitors_of_one_system_do_not_disturb_each_other(linkage: SymbolicSource) -> None:
    one, other = SymbolicSession(linkage), SymbolicSession(linkage)
    one.open()
    one.set_parameter("l1", 1.5)
    assert one.run()
    other.open()
    assert np.linalg.norm(one.ways(["A"])[0], axis=1) == pytest.approx(1.5)
    assert np.linalg.norm(other.ways(["A"])[0], axis=1) == pytest.approx(2.0)
    values = {p.name: x for p, x in linkage.given.parameter_values.items()}
    assert values["l1"] == 2.0, "the system of the program is its own"


def test_a_motion_begins_where_the_sliders_of_the_start_are() -> None:
    session = opened(pendulum())
    session.set_start("theta", -0.2)
    session.set_rate("dtheta", 1.5)
    assert session.run()
    assert session.motion is not None
    assert session.motion["theta"][0] == pytest.approx(-0.2)
    assert session.motion["dtheta"][0] == pytest.approx(1.5)
    assert [each.value for each in session.starts()] == pytest.approx([-0.2])
    assert [each.value for each in session.rates()] == pytest.approx([1.5])
    changed = bl.simulate(session.described.equations().system, 0.1, progress=False)
    assert changed["theta"][0] == pytest.approx(-0.2), "reports begin there too"
    assert changed["dtheta"][0] == pytest.approx(1.5)


def test_an_input_goes_as_far_as_the_weight_and_holds_it() -> None:
    session = opened(pendulum())
    (torque,) = session.inputs()
    most = 2.0 * G * 0.5  # m g l holds the arm level
    assert 0.5 * most < torque.high < 2.0 * most
    assert torque.low == -torque.high
    # the arm rests where its weight and the torque are equal: m g l sin θ = M
    session.set_input("torque", 0.5 * most)
    session.choose(analysis=Analysis.EQUILIBRIUM)
    assert session.run(), session.error
    assert session.coordinates()["theta"] == pytest.approx(np.pi / 6)
    assert "stable" in session.note


def test_a_position_of_rest_is_drawn_and_can_be_begun_from() -> None:
    session = opened(pendulum())
    with pytest.raises(ModelError, match="position"):
        session.start_here()
    session.choose(analysis=Analysis.EQUILIBRIUM)
    assert session.run()
    posed = session.posed_scene()
    assert posed is not None
    assert posed.shapes[0].points[0, 1] == pytest.approx([0.0, 0.0, -0.5])
    assert posed.view == session.scene.view
    session.start_here()
    assert session.run()
    assert session.motion is not None
    assert session.motion["theta"] == pytest.approx(0.0, abs=1e-6), "at rest it stays"


def test_kinematics_of_what_is_free_says_what_to_do(linkage: SymbolicSource) -> None:
    session = SymbolicSession(linkage)
    session.open()
    session.choose(analysis=Analysis.KINEMATICS)
    assert not session.run()
    assert "choose dynamics" in session.error
    assert Analysis.INVERSE_KINEMATICS not in session.analyses


def test_its_variables_can_be_plotted_and_saved() -> None:
    session = opened(pendulum())
    quantities = session.quantities
    assert quantities is not None
    assert quantities.menu["q"] == {"theta": "theta"}
    assert "energy" in quantities.menu["whole mechanism"]
    assert quantities.curve("theta").values[0] == pytest.approx(0.3)
    kinds = [kind for kind, _ in savable(session).values()]
    assert kinds == ["csv", "npz", "png", "html"]
    name, table = saved(session, "csv")
    assert name == "pendulum.csv"
    assert b"theta" in table.splitlines()[0]
    with pytest.raises(ModelError, match="written in symbols"):
        saved(session, "toml")


def test_its_report_has_the_values_of_the_sliders() -> None:
    session = opened(pendulum())
    session.set_parameter("l", 1.25)
    session.choose(duration=1.0)
    name, page = saved(session, "html")
    assert name == "pendulum_report.html"
    assert ["l", "1.25"] in [row[:2] for row in rows(page.decode())]


def test_its_structure_has_trees_at_the_values_of_the_sliders() -> None:
    session = opened(pendulum())
    session.set_parameter("l", 2.0)
    pieces = {piece.title: piece for piece in topology_page(session.described)}
    assert "about y by theta" in pieces["Tree of bases"].html
    assert "bob" in pieces["Tree of points"].html
    assert "<math" in pieces["Equations"].html
    assert not any(piece.failed for piece in pieces.values())
    # M = m l² follows the slider: 2 · 2²
    assert session.described.equations().mass([0.0]) == pytest.approx(np.array([[8.0]]))


def test_bodies_without_lines_are_points() -> None:
    s = bl.SymbolicSystem("cart")
    (x,) = s.coordinates("x")
    s.parameters(m=1.0)
    at = s.origin.offset("cart", s.base.vector(x, 0, 0))
    s.solid("cart", at=at, base=s.base, mass=1.0)
    s.start(dx=2.0)
    session = opened(s)
    assert session.error == ""
    (way,) = session.ways(["cart"])
    assert way[-1] == pytest.approx([10.0, 0.0, 0.0])  # 2 m/s for 5 s
    assert session.pieces


def test_symbols_and_bodies_each_have_their_session() -> None:
    assert isinstance(begun(SymbolicSource(pendulum())), SymbolicSession)
    assert isinstance(begun(gallery().source("slider-crank")), Session)
    with pytest.raises(ModelError, match="has no solids"):
        begun(SymbolicSource(bl.SymbolicSystem("nothing")))
