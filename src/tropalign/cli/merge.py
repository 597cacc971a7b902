"""``tropalign merge``: the shards of a run become the files that one run would have written."""

from __future__ import annotations

import argparse
from typing import Any

from tropalign.cli.options import add_output_options, started

EXAMPLE = """example:
  tropalign pairs a.fa --shard 1/2 -o 1.shard
  tropalign pairs a.fa --shard 2/2 -o 2.shard
  tropalign merge 1.shard 2.shard -o all.tsv"""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "merge",
        help="join the shards of a run",
        description="Joins the files that --shard I/N wrote into the files that one run would have written.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("shards", nargs="+", metavar="SHARD", help="all shards of the run, in any order")
    add_output_options(parser)
    parser.add_argument("--table", metavar="FILE", help="of shards that tropalign place wrote with --table")
    parser.add_argument("--jplace", metavar="FILE", help="of shards that tropalign place wrote with --jplace")
    parser.set_defaults(run=run, parser=parser, shard=None)


def run(options: argparse.Namespace) -> None:
    """Joins."""
    from tropalign.errors import InputError
    from tropalign.execution.archive import Shards
    from tropalign.execution.files import check_terminal
    from tropalign.execution.run import Output, write_outputs
    from tropalign.formats.registry import restore

    shards = Shards(options.shards)
    try:
        writers = [restore(output.writer) for output in shards.outputs]
    except InputError as error:
        raise InputError(str(error), file=options.shards[0]) from None
    roles = [output.role for output in shards.outputs]
    paths = {"reference": f"{options.output}.reference", "table": options.table, "jplace": options.jplace}
    paths[roles[0]] = options.output
    for role in ("table", "jplace"):
        if paths[role] is not None and role not in roles:
            options.parser.error(f"--{role}: these shards hold none; tropalign place --{role} makes it")
    if "reference" in roles and options.output == "-":
        options.parser.error("these shards make two files (--split): name the reads' one with -o")
    outputs = [
        Output(role, path, writer)
        for role, writer in zip(roles, writers, strict=True)
        if (path := paths.get(role)) is not None
    ]
    started(options, [output.path for output in outputs], options.shards)
    for output, writer in zip(outputs, writers, strict=False):
        _check_suffix(options, output.path, writer)
        if writer.is_binary:
            check_terminal(writer.name, output.path)
    write_outputs(outputs, lambda output: shards.sections(roles.index(output.role)))


def _check_suffix(options: argparse.Namespace, path: str, writer: Any) -> None:
    """A name that promises another format than the shards hold is refused."""
    from tropalign.formats.registry import format_of, suffix_of

    suffix, own = suffix_of(path), format_of(writer.kind, writer.name).suffixes
    if suffix and suffix not in own:
        options.parser.error(
            f"the shards hold format {writer.name}, but {path} ends in {suffix}: end the name in {' or '.join(own)}"
        )
