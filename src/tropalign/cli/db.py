"""``tropalign db``: sequences in a store, a file that every verb opens at once instead of reading it."""

from __future__ import annotations

import argparse
import sys
from typing import Any

EXAMPLE = """example:
  tropalign db build swissprot.fasta.gz -o swissprot.tdb
  tropalign search globins.hmm swissprot.tdb

A store is taken wherever a FASTA file is. Exit codes: 0 done, 2 usage, 3 bad input, 4 disk."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb and what it does."""
    parser = verbs.add_parser(
        "db",
        help="keep sequences in a store that every verb opens in milliseconds",
        description="Builds and checks sequence stores (.tdb): files that are mapped into memory instead of read.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, parser=parser, action=None)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    build = actions.add_parser("build", help="make a store of FASTA or FASTQ files", formatter_class=formatter)
    build.add_argument(
        "sources", nargs="+", metavar="FILE", help="FASTA or FASTQ, compressed or not, or a store; - is standard input"
    )
    build.add_argument("-o", "--output", required=True, metavar="STORE", help="the file to make, .tdb by custom")
    build.add_argument("-q", "--quiet", action="store_true", help="no warnings")
    build.set_defaults(run=_build)
    for name, text, action in (("info", "say what a store holds", _info), ("verify", "read all of it", _verify)):
        one = actions.add_parser(name, help=text, formatter_class=formatter)
        one.add_argument("store", metavar="STORE", help="what tropalign db build made")
        one.set_defaults(run=action)


def run(options: argparse.Namespace) -> None:
    """No action was named."""
    options.parser.error("name an action: build, info or verify")


def _build(options: argparse.Namespace) -> None:
    from tropalign.sequences import SequenceStore

    if options.sources.count("-") > 1:
        options.parser.error("standard input can be read once: name - once")
    if options.output == "-":
        options.parser.error("a store is mapped and cannot go to standard output: name a file with -o")
    SequenceStore.build(options.sources, options.output)


def _check_stdout() -> None:
    from tropalign.errors import InputError

    if sys.stdout is None:
        raise InputError("standard output is closed: there is nowhere to say what the store holds")


def _info(options: argparse.Namespace) -> None:
    from tropalign.errors import shown
    from tropalign.sequences import SequenceStore

    _check_stdout()
    store = SequenceStore.open(options.store)
    lengths = store.offsets[store.by_length + 1] - store.offsets[store.by_length]
    facts = {
        "alphabet": store.alphabet.name,
        "sequences": f"{len(store):,}",
        "residues": f"{len(store.letters):,}",
        "lengths": f"{lengths[0]:,} to {lengths[-1]:,}, median {lengths[len(store) // 2]:,}" if len(store) else "none",
        "written by": shown(str(store.manifest.get("made_by"))),
    }
    for name, value in facts.items():
        print(f"{name:<12}{value}")


def _verify(options: argparse.Namespace) -> None:
    from tropalign.sequences import SequenceStore

    _check_stdout()
    SequenceStore.open(options.store).verify()
    print("the store is as it was written")
