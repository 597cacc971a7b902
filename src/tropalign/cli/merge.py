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
    from tropalign.cli.output import assemble, check_output, output_path, write_file, write_stream
    from tropalign.errors import InputError
    from tropalign.execution.archive import open_archives
    from tropalign.formats.registry import restore

    _, assembly, parts = open_archives(options.shards)
    try:
        writer = restore(assembly)
    except InputError as error:
        raise InputError(str(error), file=options.shards[0]) from None
    check_output(options, writer.name, "npz" if writer.is_binary else "")
    path = output_path(options.output)
    if path is None:
        write_stream(options.output, writer, parts)
        return
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    write_file(path, temporary, lambda place: assemble(place, writer, parts))
