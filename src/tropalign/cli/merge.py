"""``tropalign merge``: the shards of a run become the file that one run would have written."""

from __future__ import annotations

import argparse
import os
from typing import Any

from tropalign.cli.options import add_output_options

EXAMPLE = """example:
  tropalign pairs a.fa --shard 1/2 -o 1.shard
  tropalign pairs a.fa --shard 2/2 -o 2.shard
  tropalign merge 1.shard 2.shard -o all.tsv"""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "merge",
        help="join the shards of a run",
        description="Joins the files that --shard I/N wrote into the file that one run would have written.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("shards", nargs="+", metavar="SHARD", help="all shards of the run, in any order")
    add_output_options(parser)
    parser.set_defaults(run=run, parser=parser, shard=None)


def run(options: argparse.Namespace) -> None:
    """Joins."""
    from tropalign.cli.assembly import restore
    from tropalign.cli.output import assemble, check_output, output_path, write_file, write_stream
    from tropalign.errors import InputError
    from tropalign.execution.archive import open_archives
    from tropalign.formats.writers import WRITERS

    _, assembly, parts = open_archives(options.shards)
    try:
        name, context = restore(assembly)
        writer = WRITERS[name]
    except (KeyError, TypeError):
        raise InputError(
            "another version of tropalign wrote this shard: merge with that", file=options.shards[0]
        ) from None
    check_output(options, name, context.matrix_layout)
    path = output_path(options.output)
    if path is None:
        write_stream(options.output, writer, parts, context)
        return
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    write_file(path, temporary, lambda place: assemble(place, writer, parts, context))
