"""``biela bench``: the benchmarks of a checkout of the repository."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from biela.errors import BielaError


def bench(names: Sequence[str], quick: bool, list_only: bool) -> int:
    """Run benchmarks as ``python -m benchmarks`` does; its exit code.

    Raises:
        BielaError: This is not a checkout.
    """
    root = checkout(Path.cwd())
    if root is None:
        raise BielaError(
            f"the benchmarks are not part of the installed package, and {Path.cwd()} is not in a "
            f"checkout of the repository: clone it, then run make bench there (it installs the "
            f"peers to measure against), or biela bench"
        )
    flags = [*(["--quick"] if quick else []), *(["--list"] if list_only else [])]
    command = [sys.executable, "-m", "benchmarks", *flags, *names]
    return subprocess.run(command, cwd=root, check=False).returncode


def checkout(folder: Path) -> Path | None:
    """The root of the checkout that a folder is in."""
    for root in (folder, *folder.parents):
        if (root / "benchmarks" / "registry.py").is_file() and (root / "src" / "biela").is_dir():
            return root
    return None
