"""``tropalign VERB ...``: finds the verb, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence

from tropalign import __version__
from tropalign.errors import TropalignError

EXIT_USAGE, EXIT_INPUT, EXIT_RESOURCES, EXIT_INTERRUPTED = 2, 3, 4, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code (0 done, 2 usage, 3 bad input, 4 resources or device)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        print(f"tropalign {__version__}")
        return 0
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.verb is None:
        parser.print_help()
        return EXIT_USAGE
    warnings.showwarning = _show_warning(options)
    warnings.simplefilter("always", UserWarning)
    options.command = "tropalign " + " ".join(arguments)
    try:
        return int(options.run(options) or 0)
    except TropalignError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        parts = getattr(options, "parts_kept", None)
        again = f"; the same command goes on where it stopped ({parts})" if parts else ""
        return _fail(f"interrupted{again}", EXIT_INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("out of memory: allow less with --memory, so that less is held at once", EXIT_RESOURCES)


def make_parser() -> argparse.ArgumentParser:
    """The parser of all verbs."""
    from rich_argparse import RawDescriptionRichHelpFormatter

    from tropalign.cli import devices, merge, pairs

    parser = argparse.ArgumentParser(
        "tropalign",
        description="Exact alignment of biological sequences at the speed of the machine it runs on.",
        epilog="example:\n  tropalign pairs proteins.fa -o alignments.tsv",
        formatter_class=RawDescriptionRichHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tropalign {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for module in (pairs, merge, devices):
        module.add_parser(verbs, RawDescriptionRichHelpFormatter)
    return parser


def _fail(sentence: str, code: int) -> int:
    print(f"tropalign: {sentence}", file=sys.stderr)
    return code


def _show_warning(options: argparse.Namespace):  # type: ignore[no-untyped-def]
    def show(message, category, filename, lineno, file=None, line=None):  # type: ignore[no-untyped-def]
        if not getattr(options, "quiet", False):
            print(f"tropalign: warning: {message}", file=sys.stderr)

    return show


if __name__ == "__main__":
    sys.exit(main())
