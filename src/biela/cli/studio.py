"""``biela studio``: the page of a mechanism, served until it is interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape

import biela as bl
from biela.cli.gallery import meant_file
from biela.cli.models import model_in
from biela.cli.tables import console
from biela.errors import ModelError


def studio(
    file: Path | None,
    model_name: str | None,
    *,
    trust: bool,
    host: str,
    port: int,
    browser: bool,
) -> int:
    """Serve the page; the exit code.

    Raises:
        BielaError: There is no such model, it is a program that is not trusted, viser is not
            installed, or no port is free.
    """
    subject = shown(file, model_name, trust)
    out = console()
    with out.status("starting"):
        server = bl.studio(subject, host=host, port=port, browser=browser, wait=False)
    link = escape(server.address)
    out.print(f"[bold]biela studio[/bold] is at {link} (Ctrl-C ends it)", soft_wrap=True)
    if host not in ("127.0.0.1", "localhost", "::1"):
        out.print(
            "everybody who reaches this machine and has this link can open and run its models",
            style="yellow",
        )
    try:
        server.wait()
    except KeyboardInterrupt:  # which is how one leaves
        out.print("\nclosed")
    return 0


def shown(file: Path | None, model_name: str | None, trust: bool) -> Any:
    """What to show: a path, a model that a trusted program makes, or None for the gallery.

    Raises:
        ModelError: It is a program, and nobody said that it may be run.
    """
    if file is None:
        return None
    if file.suffix.lower() == ".py":
        if not trust:
            raise ModelError(
                f"{file} is a program, and to read its model is to run it: say --trust if you "
                f"know where it comes from"
            )
        return model_in(file, model_name)
    if model_name is not None:
        raise ModelError(f"{file} has one model: --model {model_name} is for Python files")
    return meant_file(file)
