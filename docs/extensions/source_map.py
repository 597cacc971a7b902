"""Sphinx: the map of the sources, a line per file, made of the first sentence of each when the site is built.

The build writes it into ``docs/_generated/``, which git ignores; ``python docs/extensions/source_map.py`` prints it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
#: Folders whose files the map lists, and the suffixes of what it lists there.
TOPS = ("src/tropalign", "native", "bench", "packaging", "docs/extensions")
SUFFIXES = (".py", ".hpp", ".cpp", ".h", ".k", ".js")
#: A comment that begins a file, in C++ and JavaScript or in C.
COMMENT = re.compile(r"(?:// ?[^\n]*\n)+|/\*.*?\*/", re.DOTALL)
#: The end of a sentence: not that of "e.g." or "Fig. 2", behind which no capital stands.
SENTENCE = re.compile(r"(?<!et al)[.](?= [A-Z`\"]|$)|:$")
#: A paper in brackets, which a line of the map has no room for.
CITATION = re.compile(r" \([^()]*\b(?:19|20)\d\d\b[^()]*\)")
OPENING = """# The map

A line per file, the first sentence of each. [Architecture](../architecture.md) tells the ways through them.
"""


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", lambda app: write_map(Path(app.srcdir) / "_generated" / "map.md"))
    return {"parallel_read_safe": True}


def write_map(path: Path) -> None:
    """Writes the page; one that has not changed keeps its date."""
    path.parent.mkdir(exist_ok=True)
    text = page()
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def page() -> str:
    """The map in Markdown: a chapter per folder, a table of its files."""
    lines = [OPENING]
    for folder in sorted({path.parent for path in sources()}):
        lines += [f"## `{folder.relative_to(ROOT)}/`", ""]
        init = folder / "__init__.py"
        if init.exists() and first_sentence(init):
            lines += [escaped(first_sentence(init)) + ".", ""]
        rows = [f"| `{names}` | {escaped(words)} |" for names, words in entries(folder)]
        lines += ["| file | what is in it |", "|---|---|", *rows, ""] if rows else []
    return "\n".join(lines)


@cache
def sources() -> tuple[Path, ...]:
    """Every file that the map lists."""
    found = (path for top in TOPS for path in (ROOT / top).rglob("*"))
    return tuple(p for p in found if p.suffix in SUFFIXES and p.is_file() and "__pycache__" not in p.parts)


def entries(folder: Path) -> Iterator[tuple[str, str]]:
    """The files of a folder with their first sentences; a header and a body that has none of its own in one row."""
    for path in sorted(path for path in sources() if path.parent == folder and path.name != "__init__.py"):
        header = path.with_suffix(".hpp")
        if path.suffix == ".cpp" and not first_sentence(path) and header.exists():
            continue
        body = path.with_suffix(".cpp")
        is_pair = path.suffix == ".hpp" and body.exists() and not first_sentence(body)
        yield path.name + (", .cpp" if is_pair else ""), first_sentence(path)


@cache
def first_sentence(path: Path) -> str:
    """The first sentence of a file's docstring or head comment, without full stop and papers; empty where none is."""
    text = path.read_text()
    if path.suffix == ".py":
        told = ast.get_docstring(ast.parse(text)) or ""
    else:
        found = COMMENT.match(text.removeprefix("#pragma once\n"))
        told = re.sub(r"^(?://|/\*+| \*(?!/)) ?|\*/$", "", found[0], flags=re.MULTILINE) if found else ""
    paragraph = CITATION.sub("", " ".join(told.strip().split("\n\n")[0].split()))
    end = SENTENCE.search(paragraph)
    return paragraph[: end.start()] if end else paragraph.rstrip(",:")


def escaped(words: str) -> str:
    """Words as Markdown; code between backquotes stays as it is."""
    pieces = re.split(r"(``?[^`]+``?)", words)
    pieces[::2] = [re.sub(r"([\\*_<>\[\]|$#])", r"\\\1", piece) for piece in pieces[::2]]
    return "".join(pieces).replace("|", r"\|").replace(r"\\|", r"\|")


if __name__ == "__main__":
    print(page())
