"""What parsers are made of: the verbs of a parser, and its options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the verbs by their names; ``db`` has verbs of its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All options and arguments, those of verbs included."""
    yield from parser._actions
    for verb in verbs_of(parser).values():
        yield from all_actions(verb)
