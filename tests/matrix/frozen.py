"""What a change of the house must not change: sizes of equations, and the C they are exported as.

``python -m tests.matrix.frozen`` derives all mechanisms of the gallery in all coordinates and says
what differs from ``frozen.toml``; with ``--write`` it writes that file anew.  A few of them are
compared by the tests.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import biela as bl
from biela.model.files.gallery import mechanisms

FILE = Path(__file__).with_name("frozen.toml")
COORDINATES = ("joint", "reference", "euler", "natural")
#: What is counted and exported, where a system has it.
CAPABILITIES = ("M", "Q", "Phi", "Phi_v", "beta", "gamma", "energy", "outputs", "events", "poses")


def measured(name: str, coordinates: str) -> dict[str, str]:
    """Operations of each capability and the hash of its C, as "count hash"."""
    system = bl.formulate(bl.load_model(mechanisms()[name]), coordinates)
    found = {}
    for capability in CAPABILITIES:
        if capability in system:
            function = system[capability]
            text = function.c().encode()
            digest = hashlib.blake2b(text, digest_size=8).hexdigest()
            found[capability] = f"{function.count.arithmetic} {digest}"
    return found


def stored() -> dict[str, dict[str, str]]:
    """The figures of the file, by "mechanism coordinates"."""
    return tomllib.loads(FILE.read_text("utf-8"))


def differences(name: str, coordinates: str, known: dict[str, str]) -> Iterator[str]:
    """What has changed in the equations of a mechanism."""
    found = measured(name, coordinates)
    for capability in sorted({*found, *known}):
        before, now = known.get(capability, "absent"), found.get(capability, "absent")
        if before != now:
            yield f"{name}, {coordinates}, {capability}: {before} before, {now} now"


def main() -> int:
    """Compare all, or write all; the exit code is 1 where something has changed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="take today's figures")
    write = parser.parse_args().write
    known = {} if write else stored()
    lines, changed = ["# Operations and hashes of exported C; see frozen.py.\n"], 0
    for name in sorted(mechanisms()):
        for coordinates in COORDINATES:
            title = f"{name} {coordinates}"
            if write:
                found = measured(name, coordinates)
                body = "".join(f'{key} = "{value}"\n' for key, value in found.items())
                lines.append(f'\n["{title}"]\n{body}')
                print(title, flush=True)
                continue
            for line in differences(name, coordinates, known.get(title, {})):
                print(line, flush=True)
                changed += 1
    if write:
        FILE.write_text("".join(lines), "utf-8")
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
