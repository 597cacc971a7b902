"""What a command said last."""

from __future__ import annotations

from pathlib import Path

from tropalign.errors import shown

TAIL_BYTES = 1 << 16
BEGIN, WARNING = "tropalign: ", "tropalign: warning: "


def sentence_of(path: Path, begin: str = BEGIN) -> str:
    """The last line that begins so, without that; warnings are no such lines; "" where there is none."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        if line.startswith(begin) and not line.startswith(WARNING) and line.strip():
            return shown(line.removeprefix(begin).strip())
    return ""
