"""Which tests `make test` leaves to `make test-rest`: those of slow_tests.txt, and other instruction sets.

slow_tests.txt has a node id of pytest per line: a folder, a file, a function, or one of its cases. It is chosen by
measurement (choose_slow_tests.py). A new test is not in it, and runs in `make test`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tropalign import _native

SLOW_TESTS = Path(__file__).with_name("slow_tests.txt")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow", choices=("run", "skip", "only"), default="run", help="the tests of slow_tests.txt (default: run)"
    )
    parser.addoption("--record", metavar="FOLDER", type=Path, help="write the time of each test there")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Record a test's time for choose_slow_tests.py, and name it to coverage.py."""
    folder = item.config.getoption("record")
    if folder is None:
        return (yield)
    if "coverage" in sys.modules and (running := sys.modules["coverage"].Coverage.current()):
        running.switch_context(item.nodeid)
    start, before = time.monotonic(), os.times()
    result = yield
    used = os.times()
    processor = sum(used[:4]) - sum(before[:4])
    line = json.dumps([item.nodeid, max(processor, (time.monotonic() - start) / 4)])
    with (folder / f"times-{os.getpid()}.jsonl").open("a") as file:
        print(line, file=file)
    return result


class Slow:
    """The tests that are left out."""

    def __init__(self) -> None:
        lines = SLOW_TESTS.read_text(encoding="utf-8").splitlines() if SLOW_TESTS.is_file() else []
        self._listed = {line for line in lines if line and not line.startswith("#")}
        self._other_isas = set(_native.supported_isas()[1:])

    def skips(self, item: pytest.Item) -> bool:
        """Whether `make test` leaves a test out."""
        name = item.nodeid.removeprefix("tests/")
        function, path = name.split("[")[0], name.split("::")[0]
        names = {name, function, path, *map(str, Path(path).parents)}
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        is_other = any(isinstance(value, str) and value in self._other_isas for value in parameters)
        return is_other or bool(names & self._listed)

    def repeats(self, item: pytest.Item) -> bool:
        """Whether a test compares all instruction sets: `make test` may have had only one of them."""
        code = getattr(getattr(item, "function", None), "__code__", None)
        loops = code is not None and "supported_isas" in code.co_names
        return bool(self._other_isas) and (loops or "engines" in getattr(item, "fixturenames", ()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that the option leaves out, and with it those marked long."""
    wanted = config.getoption("slow")
    if wanted == "run":
        return
    slow, chosen = Slow(), []
    for item in items:
        is_chosen = not slow.skips(item) if wanted == "skip" else slow.skips(item) or slow.repeats(item)
        if is_chosen and item.get_closest_marker("long") is None:
            chosen.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the reasons of skipped tests with their numbers: which programs and packages are missing."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple):
            reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1
    if reasons:
        terminalreporter.section("skipped, for want of")
    for reason, n in sorted(reasons.items()):
        terminalreporter.write_line(f"{n:5d}  {reason:.120}")
