"""``tropalign merge``: the shards of a run become the file that one run would have written."""

from __future__ import annotations

import argparse
import pickle
import sys
from pathlib import Path
from typing import Any

EXAMPLE = """example:
  tropalign pairs a.fa --shard 1/2 -o 1.shard;  tropalign pairs a.fa --shard 2/2 -o 2.shard
  tropalign merge 1.shard 2.shard -o all.tsv

Merge only shards that you or your colleagues wrote: like any pickled data, they are trusted."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "merge",
        help="join the shards of a run",
        description="Joins the files that --shard I/N wrote into the file that one run would have written.",
        epilog=EXAMPLE,
        formatter_class=formatter,
    )
    parser.add_argument("shards", nargs="+", metavar="SHARD")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write; - is standard output")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Joins."""
    from tropalign.cli.output import assemble_file
    from tropalign.compute.parts import disk_error, open_archives
    from tropalign.formats.writers import WRITERS

    manifest, parts = open_archives(options.shards)
    context = pickle.loads(bytes.fromhex(manifest["context"]))
    writer = WRITERS[manifest["format"]]
    if options.output == "-":
        writer.assemble(parts, sys.stdout.buffer, context)
        return
    path = Path(options.output)
    try:
        assemble_file(path, writer, parts, context)
    except OSError as error:
        raise disk_error(error, path, 0) from None
