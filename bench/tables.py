"""Markdown: tables, paragraphs, figures, and the part of a page that a benchmark fills."""

from __future__ import annotations

import textwrap
from pathlib import Path


def fill(page: str, lines: list[str], mark: str = "speed") -> str:
    """The page with `lines` between its two marks."""
    begin, end = page.index("\n", page.index(f"<!-- {mark}")) + 1, page.index(f"<!-- /{mark}")
    return page[:begin] + "\n".join(lines) + "\n" + page[end:]


def wrap(text: str) -> list[str]:
    """Lines of a paragraph."""
    return textwrap.wrap(" ".join(text.split()), 118, break_on_hyphens=False)


def table(headings: list[str], rows: list[list[str]]) -> list[str]:
    """A Markdown table with its columns aligned."""
    widths = [max(len(row[k]) for row in [headings, *rows]) for k in range(len(headings))]
    padded = ([cell.ljust(w) for cell, w in zip(row, widths, strict=True)] for row in [headings, *rows])
    first, *others = ["| " + " | ".join(row) + " |" for row in padded]
    return [first, "|" + "|".join("-" * (w + 2) for w in widths) + "|", *others]


def publish(text: str, page: Path, output: Path | None, why_not: str = "") -> None:
    """Prints a page and writes it: to `output` if given, else to its place, unless something says why not."""
    print(text)
    if output is None and why_not:
        print(f"{page.name} stays as it is: {why_not}")
        return
    (output or page).write_text(text)
    print(f"written to {output or page}")
