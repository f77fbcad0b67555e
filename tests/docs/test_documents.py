"""The Python of the README and of the guide runs as printed, and gives what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
_FENCE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_python_of_a_document_does_what_it_says(path, tmp_path, monkeypatch):
    """A comment ``# -> value`` after an expression promises its value."""
    monkeypatch.chdir(tmp_path)
    blocks = _FENCE.findall(path.read_text(encoding="utf-8"))
    assert blocks
    scope: dict[str, object] = {}
    for number, block in enumerate(blocks):
        # routines read their own source, so each block is a file
        file = tmp_path / f"block{number}.py"
        file.write_text(block, encoding="utf-8")
        exec(compile(block, str(file), "exec"), scope)
        for line in block.splitlines():
            expression, arrow, promised = line.partition("# -> ")
            if arrow:
                assert repr(eval(expression, scope)) == promised.strip(), line
