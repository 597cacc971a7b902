"""Write slow_tests.txt, the tests that `make test` leaves out, from a recorded run of all tests.

    COVERAGE_PROCESS_START=rc python -m pytest --record FOLDER -n auto -m "not long" tests
    python tests/choose_slow_tests.py FOLDER

The first command writes the time of each test, and the lines of src that each test reaches. `rc` configures coverage.py
(CONTRIBUTING.md shows it). Every test of at most FAST seconds stays in `make test`, and the fastest one of each file.
So do slower ones that reach further lines, those with the most lines per second first, until SHARE of all lines is
reached.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections import defaultdict
from pathlib import Path

#: Seconds of a test that always stays.
FAST = 0.25
#: Of the lines that all tests reach, the share that the chosen ones reach at least.
SHARE = 0.98
#: Tests that stay whatever they take: what a reader of README.md types, and every command of the golden tables.
ALWAYS = ("tests/golden/", "tests/test_docs_examples.py::test_all_of_a_page_runs_in_order[README.md")
#: Tests that never stay: what they need is not on every machine, or they test the machine.
NEVER = (
    "tests/native/test_vectors.py",
    "tests/other_processors/",
    "tests/serve/pages/test_pages_by_axe.py",
    "tests/serve/pages/test_pages_in_browser.py",
    "tests/test_benchmarks.py",
    "tests/test_docs_examples.py::test_all_of_a_page_runs_in_order",
    "tests/workflows/",
)

Lines = dict[str, int]  # file -> one bit per line


def read_times(folder: Path) -> dict[str, float]:
    """Seconds by node id."""
    lines = [line for path in sorted(folder.glob("times-*.jsonl")) for line in path.read_text().splitlines()]
    return dict(json.loads(line) for line in lines)


def read_lines(folder: Path) -> dict[str, Lines]:
    """The lines that each test reaches, also in processes that it starts."""
    found: dict[str, Lines] = defaultdict(lambda: defaultdict(int))
    for path in sorted(folder.glob(".coverage*")):
        try:
            with sqlite3.connect(path) as data:
                rows = data.execute(
                    "select context, path, numbits from line_bits join context on context.id = context_id "
                    "join file on file.id = file_id"
                ).fetchall()
        except sqlite3.DatabaseError:  # of a process that a test killed
            continue
        for context, file, bits in rows:
            name = context.rpartition("|")[2]  # of a process that a test started: "node id (call)"
            found[re.sub(r" \((setup|call|teardown)\)$", "", name)][file] |= int.from_bytes(bits, "little")
    return found


def count(lines: Lines) -> int:
    """The number of lines."""
    return sum(bits.bit_count() for bits in lines.values())


def new_lines(lines: Lines, reached: Lines) -> int:
    """The number of lines that are not reached yet."""
    return sum((bits & ~reached.get(file, 0)).bit_count() for file, bits in lines.items())


def add(reached: Lines, lines: Lines) -> None:
    """Add lines to those that are reached."""
    for file, bits in lines.items():
        reached[file] = reached.get(file, 0) | bits


def choose(times: dict[str, float], lines: dict[str, Lines]) -> tuple[set[str], float]:
    """The tests that stay in `make test`, and the share of all lines that they reach."""
    everything: Lines = {}
    for name in lines.keys() - times.keys() | times.keys():
        add(everything, lines.get(name, {}))
    never = {name for name in times if name.startswith(NEVER) and not name.startswith(ALWAYS)}
    fastest: dict[str, str] = {}
    for name in sorted(times, key=lambda name: (-times[name], name)):
        fastest[name.split("::")[0]] = name
    chosen = {name for name, seconds in times.items() if seconds <= FAST or name.startswith(ALWAYS)}
    chosen = (chosen | set(fastest.values())) - never
    reached: Lines = {}
    for name in chosen | (lines.keys() - times.keys()):
        add(reached, lines.get(name, {}))
    left = times.keys() - chosen - never
    gains = {name: new_lines(lines.get(name, {}), reached) for name in left}
    while left and count(reached) < SHARE * count(everything):
        best = max(left, key=lambda name: (gains[name] / times[name], name))
        gains[best] = new_lines(lines.get(best, {}), reached)
        if gains[best] / times[best] < max((gains[name] / times[name] for name in left), default=0):
            continue  # gains only shrink: the next look at `best` has its true one
        if not gains[best]:
            break
        add(reached, lines[best])
        chosen.add(best)
        left.discard(best)
    return chosen, count(reached) / count(everything)


def compressed(slow: set[str], times: dict[str, float]) -> list[str]:
    """Node ids, with a function or a file in place of all its cases."""
    every: dict[str, set[str]] = defaultdict(set)
    for name in times:
        every[name.split("[")[0]].add(name)
        every[name.split("::")[0]].add(name)
    listed = set()
    for name in slow:
        groups = (name.split("::")[0], name.split("[")[0])
        listed.add(next((group for group in groups if every[group] <= slow), name).removeprefix("tests/"))
    return sorted(listed)


def main(folder: Path) -> None:
    """Choose, write the file, and print what it comes to."""
    times = read_times(folder)
    chosen, share = choose(times, read_lines(folder))
    names = compressed(times.keys() - chosen, times)
    head = "# Left out by `make test`; written by choose_slow_tests.py from a measured run.\n"
    Path(__file__).with_name("slow_tests.txt").write_text(head + "\n".join(names) + "\n", encoding="utf-8")
    print(f"{len(chosen)} of {len(times)} tests stay: {sum(times[name] for name in chosen):.0f} of "
          f"{sum(times.values()):.0f} s, {share:.1%} of the lines")  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
