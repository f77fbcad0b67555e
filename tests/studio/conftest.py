"""Pages of the studio for tests that visit it; a module of such tests has a fixture ``server``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import biela as bl
from tests.studio.browser import free_port, launched
from tests.studio.visitor import Visitor


@pytest.fixture(scope="session")
def pendulum_server() -> Iterator[Any]:
    """A studio that opens at once, for tests that knock at its door."""
    from tests.studio.guests import pendulum

    made = bl.studio(pendulum(), port=free_port(), browser=False, wait=False, play=False)
    with made as found:
        found.until_ready()
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def visitors(browser: Any, server: Any) -> list[Visitor]:
    """The page of the tests before; none at first, nor after one that has failed."""
    return []


@pytest.fixture
def visitor(
    request: pytest.FixtureRequest, browser: Any, server: Any, visitors: list[Visitor]
) -> Iterator[Visitor]:
    """A visitor who sees the mechanism as it is opened, whatever was done before."""
    failed = request.session.testsfailed
    if visitors:
        found = visitors.pop()
        found.begin_again()
    else:
        found = Visitor(browser, server)
    yield found
    if request.session.testsfailed > failed or found.complaints:
        found.tab.close()
    else:
        visitors.append(found)
    assert found.complaints == [], "the page never dies"
