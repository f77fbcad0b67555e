"""What a command computes is kept while it runs, so that it is not lost however the run ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from biela.analysis.progress import recorded
from biela.cli.tables import shown_path
from biela.errors import SimulationError
from biela.results import Results
from biela.results.partial import PartialResults
from biela.whole_files import make_folder


@contextmanager
def kept(path: Path) -> Iterator[PartialResults]:
    """Keep what a run has computed so far beside the file of its results, until that is written.

    A run that cannot go on has its results in that file.  After any other end, the place of what
    was kept is printed.

    Raises:
        SimulationError: The run cannot go on; with the place of what there is of it.
    """
    record = PartialResults(path.with_suffix(".partial"))
    try:
        with recorded(record):
            yield record
    except BaseException as error:
        if isinstance(error, SimulationError) and isinstance(error.results, Results):
            make_folder(path.parent, SimulationError)
            where = shown_path(error.results.save(path))
            record.remove()
            said = str(error).partition(" The results until then")[0]
            message = f"{said}\nWhat was computed until then is in {where}"
            raise SimulationError(message, error.results) from error
        if record.count:
            until, where = f"{record.until:.4g} s", shown_path(record.path)
            typer.echo(f"What was computed until {until} is in {where}", err=True)
        raise
    record.remove()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Have a request to end, and a terminal that closes, answered as an interrupt is."""
    names = ("SIGTERM", "SIGHUP")  # the second is not known everywhere, and nohup ignores it
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []  # only that thread may
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
