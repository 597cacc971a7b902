"""Shell completion: ``tropalign --print-completion bash``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tropalign.cli.parser import all_actions

SHELLS = ("bash", "zsh", "tcsh")


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the option that prints a shell's completion script."""
    parser.add_argument(
        "--print-completion",
        action=_Print,
        choices=SHELLS,
        metavar="SHELL",
        help="print what makes a shell (bash, zsh, tcsh) complete verbs, options and files: eval it in the shell's "
        "start-up file",
    )


class _Print(argparse.Action):
    """Action that prints the script and exits."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        import shtab

        for action in all_actions(parser):
            if action.nargs != 0 and action.choices is None and action.type is None:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        print(shtab.complete(parser, str(values)))
        parser.exit(0)
