"""The door: where it listens, who may come in, and what it says when it stays shut."""

from __future__ import annotations

import errno
import os
import socket
import stat
import webbrowser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import biela as bl
import biela.studio.opening as opening
from biela.cli.main import main
from biela.errors import BielaError, ModelError
from tests.studio.browser import free_port
from tests.studio.guests import CAMERA, guest, packed, until


def test_without_viser_the_message_has_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(BielaError, match=r'pip install "biela\[studio\]"'):
        bl.studio()


def test_the_package_is_the_function() -> None:
    assert callable(bl.studio)
    with pytest.raises(ModelError, match="bodies and joints"):
        bl.studio(3.0, wait=False, browser=False)


def test_it_listens_on_this_machine_only_and_takes_the_next_free_port() -> None:
    pytest.importorskip("viser")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with bl.studio(bl.Model("empty"), port=port, browser=False, wait=False) as server:
            assert server.address.startswith("http://127.0.0.1:")
            assert server.port > port
            with socket.create_connection(("127.0.0.1", server.port), timeout=5):
                pass
            other = "127.0.0.2"  # loopback too, but not the address it was told
            with pytest.raises(OSError), socket.create_connection((other, server.port), timeout=5):
                pass
            assert server._viser.request_share_url() is None, "no tunnel to the world"


def test_an_address_of_another_machine_is_refused() -> None:
    pytest.importorskip("viser")
    with pytest.raises(BielaError, match="cannot listen"):
        bl.studio(host="203.0.113.7", browser=False, wait=False)


@pytest.fixture
def browsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What a browser was started with, and the file of it as it was then."""
    seen: list[Any] = []

    def start(words: list[str], *_: Any, **__: Any) -> Any:
        file = Path(unquote(urlsplit(words[-1]).path))
        seen.append((words, file, file.stat(), file.read_text("utf-8")))
        return SimpleNamespace(wait=lambda *_: 0, poll=lambda: 0, stdout=())

    pytest.importorskip("viser")
    home = tmp_path / "my home"
    home.mkdir()
    monkeypatch.setenv("BIELA_CACHE_DIR", str(bl.code_cache.directory()))
    monkeypatch.setenv("HOME", str(home))
    controller = webbrowser.GenericBrowser(["a-browser", "%s"])
    monkeypatch.setattr(webbrowser, "open", lambda url: controller.open(url))
    monkeypatch.setattr(webbrowser.subprocess, "Popen", start)
    return seen


def test_nobody_else_can_read_the_link_that_a_browser_opens(browsed: list[Any]) -> None:
    with bl.studio(bl.Model("m"), port=free_port(), browser=True, wait=False) as server:
        ((words, file, found, text),) = browsed
        token = server.address.partition("token=")[2]
        assert len(token) > 20 and not any(token in word for word in words)
        assert f"url={server.address}" in text
        if os.name == "posix":
            assert stat.S_IMODE(found.st_mode) == 0o600 and found.st_uid == os.geteuid()
        assert file.parent.name == "my home" and not file.name.startswith(".")
    until(lambda: not file.exists())


def test_the_file_of_the_link_goes_once_a_page_is_open(
    browsed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with bl.studio(bl.Model("m"), port=free_port(), browser=True, wait=False) as server:
        ((_, file, _, _),) = browsed
        with guest(server) as page:
            page.send(packed(CAMERA))
            until(lambda: not file.exists())
    monkeypatch.setattr(opening, "_PATIENCE", 0.0)  # nobody comes
    with bl.studio(bl.Model("m"), port=free_port(), browser=True, wait=False):
        until(lambda: not list(file.parent.glob("biela-studio-*")))


def test_without_a_place_for_the_file_or_a_browser_the_link_is_printed(
    browsed: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(opening.tempfile, "mkstemp", full)
    monkeypatch.setattr("biela.studio.view.server.Server.wait", lambda server: server.stop())
    server = bl.studio(bl.Model("m"), port=free_port(), browser=True)
    assert not browsed and server.address in capsys.readouterr().out


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, beside a home."""
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(opening.tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


posix = pytest.mark.skipif(os.name != "posix", reason="homes and permissions are those of Unix")


@posix
@pytest.mark.parametrize("home", ["none", "missing", "read-only", "open to all", "a file"])
def test_without_a_home_of_ones_own_the_link_is_among_temporary_files(
    home: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = temporary.parent / "home"
    made = opening.tempfile.mkstemp
    match home:
        case "none":
            monkeypatch.delenv("HOME")
            monkeypatch.setattr("pwd.getpwuid", lambda _: {}["no such user"])
        case "missing":
            own.rmdir()
        case "a file":
            own.rmdir()
            own.touch()
        case "open to all":
            own.chmod(0o777)
        case "read-only":  # as for anybody but the administrator

            def refused(suffix: str, prefix: str, folder: Path) -> Any:
                if folder == own:
                    raise OSError(errno.EROFS, "Read-only file system")
                return made(suffix, prefix, folder)

            monkeypatch.setattr(opening.tempfile, "mkstemp", refused)
    file = opening._private_file("text")
    assert file.parent == temporary and file.read_text("utf-8") == "text"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.as_uri()
    temporary.chmod(0o777)
    with pytest.raises(OSError):
        opening._private_file("text")
    temporary.chmod(0o1777)  # where nobody renames the files of others
    assert opening._private_file("text").parent == temporary


@posix
def test_what_stands_where_the_link_would_is_left_alone(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = temporary.parent / "home"
    names = iter(["link", "theirs", "dangling", "free"])
    monkeypatch.setattr(opening.tempfile, "_get_candidate_names", lambda: names)
    victim = home / "victim"
    victim.write_text("mine")
    (home / "biela-studio-link.html").symlink_to(victim)
    (home / "biela-studio-theirs.html").write_text("theirs")
    (home / "biela-studio-dangling.html").symlink_to(home / "made")
    assert opening._private_file("text").name == "biela-studio-free.html"
    assert victim.read_text() == "mine" and not (home / "made").exists()
    assert (home / "biela-studio-theirs.html").read_text() == "theirs"


def test_a_disk_that_is_full_leaves_no_half_of_a_link(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.fdopen

    def full(handle: int, *_: Any, **__: Any) -> Any:
        opened(handle, "w").close()
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(opening.os, "fdopen", full)
    with pytest.raises(OSError, match="no folder"):
        opening._private_file("text")
    assert not list(temporary.parent.rglob("*.html"))


class Served:
    """A server that was asked for and left at once."""

    address = "http://127.0.0.1:8080"

    def wait(self) -> None:
        raise KeyboardInterrupt


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    calls: list[Any] = []

    def studio(model: Any = None, **options: Any) -> Served:
        calls.append((model, options))
        return Served()

    monkeypatch.setattr(bl, "studio", studio, raising=False)
    return calls


def test_the_command_opens_the_gallery_a_name_of_it_or_a_file(
    asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\n')
    assert main(["studio", "--no-browser", "--port", "9000"]) == 0
    assert main(["studio", "stewart"]) == 0
    assert main(["studio", str(file), "--host", "0.0.0.0"]) == 0
    (none, first), (name, second), (path, third) = asked
    assert none is None
    assert first == {"host": "127.0.0.1", "port": 9000, "browser": False, "wait": False}
    assert Path(name).name == "stewart.toml" and second["browser"] is True
    assert path == file and third["host"] == "0.0.0.0"
    said = capsys.readouterr().out
    assert "http://127.0.0.1:8080" in said and "everybody" in said


def test_a_program_is_run_only_if_it_is_trusted(
    asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "linkage.py"
    mark = tmp_path / "was_run"
    program.write_text(
        f"import biela as bl, pathlib\npathlib.Path({str(mark)!r}).touch()\nm = bl.Model('m')\n"
    )
    assert main(["studio", str(program)]) == 1
    assert "--trust" in capsys.readouterr().err
    assert not mark.exists() and not asked
    assert main(["studio", str(program), "--trust"]) == 0
    assert mark.exists()
    assert asked[0][0].name == "m"


def test_the_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["studio", "--help"]) == 0
    said = capsys.readouterr().out
    for word in ("biela studio stewart", "--trust", "127.0.0.1", "drag"):
        assert word in said.replace("Drag", "drag")
