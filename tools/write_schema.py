"""Write the JSON Schema of model files, which the documentation publishes.

It is made from the kinds of joints, drivers, forces and sensors that biela has.

    python tools/write_schema.py            # write docs/schema/model.schema.json
    python tools/write_schema.py --check    # fail if it is not up to date
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from biela.model.files import schema

TARGET = Path(__file__).parents[1] / "docs" / "schema" / "model.schema.json"


def text() -> str:
    """The schema as the file has it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if it differs")
    options = parser.parse_args(arguments)
    there = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
    if options.check:
        if there != text():
            print(f"{TARGET.name} is out of date: run python tools/write_schema.py")
        return int(there != text())
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
