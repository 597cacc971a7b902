"""Options that several verbs share, and the types of their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from tropalign.compute.memory import parse_bytes
from tropalign.compute.shard import parse_shard


def checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser's ValueError becomes argparse's usage error, with its text."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def whole(least: int) -> Callable[[str], int]:
    """A whole number of at least `least`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ValueError(f"{text!r} is no whole number") from None
        if value < least:
            raise ValueError(f"{value} is below {least}")
        return value

    return parse


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Output, threads, memory, device, shard and quiet."""
    group = parser.add_argument_group("output and resources")
    group.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write; - is standard output")
    group.add_argument(
        "-t", "--threads", type=checked(whole(0)), default=0, metavar="N", help="threads; 0 (default) for all there are"
    )
    group.add_argument(
        "--memory",
        type=checked(parse_bytes),
        metavar="SIZE",
        help="memory to take at most, like 8G (default: 60%% of the free)",
    )
    group.add_argument("--device", choices=("auto", "cpu"), default="auto", help="what computes (default: auto)")
    group.add_argument(
        "--shard",
        type=checked(parse_shard),
        metavar="I/N",
        help="compute the I-th of N shares only; see tropalign merge",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress, no warnings")
