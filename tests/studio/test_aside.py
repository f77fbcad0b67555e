"""Work beside the thread of a visitor: the newest answer is handed over, and failures are told."""

from __future__ import annotations

import threading

from biela.errors import BielaError
from biela.studio.view.aside import Aside


class Desk:
    """A worker that does everything at once."""

    def __init__(self) -> None:
        self.done = threading.Event()

    def ask(self, kind: str, job: object) -> None:
        job()
        self.done.set()


def test_of_two_requests_of_a_kind_the_newer_is_handed_over() -> None:
    desk, found, gate = Desk(), [], threading.Event()
    aside = Aside(desk, found.append)

    def slow() -> str:
        gate.wait(10)
        return "old"

    aside.find("a", slow, found.append)
    aside.find("a", lambda: "new", found.append)
    gate.set()
    assert desk.done.wait(10)
    assert found == ["new"]


def test_what_is_forgotten_is_not_handed_over_and_others_are() -> None:
    desk, found, gate = Desk(), [], threading.Event()
    aside = Aside(desk, found.append)
    aside.find("a", lambda: gate.wait(10), found.append)
    aside.forget("a")
    aside.find("b", lambda: "b", found.append)
    gate.set()
    assert desk.done.wait(10)
    assert found == ["b"]


def test_errors_are_told_in_their_words() -> None:
    desk, said = Desk(), []
    aside = Aside(desk, said.append)

    def fail() -> None:
        raise BielaError("no forces here")

    aside.find("a", fail, lambda _: None)
    assert desk.done.wait(10)
    assert said == ["no forces here"]
