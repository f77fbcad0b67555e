"""What a run has computed so far, in a file that can be read whenever the run ends.

The file grows at its end while the run goes on: a line that says what it is, and then pieces, each
an archive of some instants as in a file of results, after its length in eight bytes.  A process
that is killed leaves at worst a piece that is cut short, which a reader leaves out.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BufferedReader, BytesIO, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from biela.given_files import check_ordinary

if TYPE_CHECKING:
    from biela.results.results import Results

__all__ = ["MARK", "PartialResults", "SoFar", "pieces"]

#: The first line of a file.
MARK: Final = b"biela.partial 1\n"
#: Seconds between two pieces, and before the first: shorter runs write none.
EVERY: Final = 5.0
#: A piece may take this part of the time between two.
_SHARE: Final = 0.05
#: Numbers that take more than a few seconds to compress.
_LARGE: Final = 2_000_000
_LENGTH: Final = 8

#: Gives the results of a run from a stored instant on, counted from 0.
SoFar: TypeAlias = Callable[[int], "Results"]


class PartialResults:
    """The file of a run that goes on.

    It is a help and not a part of the run: what cannot be kept is left out, and no more is tried.

    Attributes:
        path: The file; it is there once there is something in it.
        count: How many instants it holds.
        until: The last of them, s.
    """

    def __init__(self, path: Path) -> None:
        """Begin to wait; nothing is written yet."""
        self.path, self.count, self.until = path, 0, -np.inf
        self._file: FileIO | None = None
        self._made: tuple[int, int] | None = None  # the file that is ours, even without its mark
        self._failed = False
        self._next = time.monotonic() + EVERY

    @property
    def due(self) -> bool:
        """Whether it is time for another piece."""
        return time.monotonic() >= self._next

    def add(self, so_far: SoFar) -> None:
        """Append the instants that have been stored since."""
        if self._failed:
            return
        began = time.monotonic()
        try:
            # from the last one on that is known already, to see what happens after it
            self._append(so_far(max(self.count - 1, 0)), min(self.count, 1))
        except Exception:  # a full disk, or a state whose outputs cannot be computed
            self._failed, self._next = True, np.inf
            self.close()
            if not self.count:
                self.remove()
            return
        now = time.monotonic()
        self._next = now + max(EVERY, (now - began) / _SHARE)

    def hold(self, results: Results) -> None:
        """Keep a whole motion, if it is so large that its own file takes seconds to compress."""
        if self._failed or len(results.t) * len(results.names) <= _LARGE:
            return
        # beside what there is, which stays until this is whole
        whole = PartialResults(self.path.with_name(f"{self.path.name}.new"))
        whole.add(lambda first: results)
        whole.close()
        if not whole.count:
            return
        self.close()
        try:
            if not self.count:
                self._unlink()  # what is there is not of this run
            os.replace(whole.path, self.path)
        except OSError:
            whole.remove()
            return
        self.count, self.until = whole.count, whole.until

    def close(self) -> None:
        """Write no more."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Remove the file: the results are kept elsewhere, or another run begins."""
        self.close()
        with suppress(OSError):
            self._unlink()
        self.count, self.until = 0, -np.inf

    def _unlink(self) -> None:
        """Remove the file if it is one of pieces, this run's or an earlier one's.

        Raises:
            OSError: It is something else, or cannot be removed.
        """
        with suppress(FileNotFoundError):
            check_ordinary(self.path)
            with self.path.open("rb") as file:
                found = os.fstat(file.fileno())
                ours = (found.st_dev, found.st_ino) == self._made
                if not ours and file.read(len(MARK)) != MARK:
                    raise FileExistsError(errno.EEXIST, "", str(self.path))
            self.path.unlink()

    def _append(self, results: Results, known: int) -> None:
        from biela.results.files import archive, record

        header, arrays = record(results, scene=False)
        if len(results.t) <= known:
            return
        header["events"] = [event for event in header["events"] if event["time"] > self.until]
        header["interrupted"] = True
        piece = BytesIO()
        archive(piece, header, {name: array[known:] for name, array in arrays.items()}, np.savez)
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.count:  # a whole motion was put in its place
                self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115
            else:
                self._unlink()  # another process may write to that of its name
                self._file = open(self.path, "xb", buffering=0)  # noqa: SIM115
                made = os.fstat(self._file.fileno())
                self._made = made.st_dev, made.st_ino
                self._file.write(MARK)
        _write(self._file, piece.tell().to_bytes(_LENGTH, "little") + piece.getvalue())
        self.count, self.until = self.count + len(results.t) - known, float(results.t[-1])


def _write(file: FileIO, data: bytes) -> None:
    """Write all of it: a disk that becomes full takes a part before it says so."""
    rest = memoryview(data)
    while len(rest):
        rest = rest[file.write(rest) :]


def pieces(file: BufferedReader) -> Iterator[BytesIO]:
    """The whole pieces of a file, after its first line."""
    size = os.fstat(file.fileno()).st_size
    while True:
        length = int.from_bytes(file.read(_LENGTH), "little")
        if not 0 < length <= size - file.tell():
            return
        yield BytesIO(file.read(length))
