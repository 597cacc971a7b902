"""``tropalign merge``: the shards of a run become the files that one run would have written."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import add_device_options, add_memory_option, add_output_options, started
from tropalign.cli.unfinished import UNFINISHED, finish

if TYPE_CHECKING:
    from tropalign.formats.writer import FormatWriter

EXAMPLE = """example:
  tropalign pairs a.fa --shard 1/2 -o 1.shard
  tropalign pairs a.fa --shard 2/2 -o 2.shard
  tropalign merge 1.shard 2.shard -o all.tsv"""


#: Files beside the main one, by their roles: the option that names each, here and in the verbs that make it.
ROLES = {
    "report": ("--html", "pairs, place, search or scan"),
    "plot": ("--plot", "pairs or decode"),
    "table": ("--table", "place"),
    "jplace": ("--jplace", "place"),
    "taxa": ("--taxa", "place"),
    "tblout": ("--tblout", "search or scan"),
    "domtblout": ("--domtblout", "search or scan"),
    "pfamtblout": ("--pfamtblout", "search or scan"),
    "alignment": ("-A", "search"),
}
#: All of them by the names of the options here, with those that merging computes.
BESIDE = {**ROLES, **{name: (option, verb) for verb, files in UNFINISHED.items() for name, option in files.items()}}
#: Those of search and scan, whose names may end in anything.
TABLES = ("tblout", "domtblout", "pfamtblout", "alignment")


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
    for name, (option, verbs_of_it) in BESIDE.items():
        parser.add_argument(
            option, dest=name, metavar="FILE", help=f"of shards that tropalign {verbs_of_it} wrote with it"
        )
    group = parser.add_argument_group(
        "last stages", "of shards of msa, tree and cluster, which merge still computes; they change nothing for others"
    )
    add_device_options(group)
    add_memory_option(group)
    parser.set_defaults(run=run, parser=parser, shard=None)


def run(options: argparse.Namespace) -> None:
    """Joins."""
    from tropalign.errors import InputError
    from tropalign.execution.archive import Shards
    from tropalign.execution.files import check_terminal
    from tropalign.execution.run import Output, write_outputs
    from tropalign.formats.registry import restore

    shards = Shards(options.shards)
    if shards.words is not None:
        _refuse_others(options, {name for files in UNFINISHED.values() for name in files})
        with _damage_told(options.shards):
            finish(options, shards)
        return
    try:
        writers = [restore(output.writer) for output in shards.outputs]
    except InputError as error:
        raise InputError(str(error), file=options.shards[0]) from None
    roles = [output.role for output in shards.outputs]
    paths = {"reference": f"{options.output}.reference", **{role: getattr(options, role) for role in ROLES}}
    paths[roles[0]] = options.output
    _refuse_others(options, roles[1:])
    if "reference" in roles and options.output == "-":
        options.parser.error("these shards make two files (--split): name the reads' one with -o")
    outputs = [
        Output(role, path, writer)
        for role, writer in zip(roles, writers, strict=True)
        if (path := paths.get(role)) is not None
    ]
    started(options, [output.path for output in outputs], options.shards)
    for role, writer in zip(roles, writers, strict=True):
        path = paths.get(role)
        if path is not None and role not in ("reference", *TABLES):  # which follows from the first one, or any name
            _check_suffix(options, path, writer)
        if path is not None and writer.is_binary:
            check_terminal(writer.name, path)
    with _damage_told(options.shards):
        write_outputs(outputs, lambda output: shards.sections(roles.index(output.role)))


def _refuse_others(options: argparse.Namespace, held: Collection[str]) -> None:
    """No file beside the main one is made that these shards do not hold."""
    for name, (option, verbs) in BESIDE.items():
        if getattr(options, name) is not None and name not in held:
            verb = verbs.split()[0].rstrip(",")
            options.parser.error(f"{option}: these shards hold none; tropalign {verb} {option} makes it")


def _check_suffix(options: argparse.Namespace, path: str, writer: FormatWriter[Any]) -> None:
    """A name that promises another format than the shards hold is refused."""
    from tropalign.formats.registry import suffix_of

    suffix = suffix_of(path)
    if suffix and suffix not in writer.suffixes:
        own = " or ".join(writer.suffixes)
        options.parser.error(
            f"the shards hold format {writer.name}, but {path} ends in {suffix}: end the name in {own}"
        )


@contextmanager
def _damage_told(paths: list[str]) -> Iterator[None]:
    """Shards are files that anybody may have changed: what their contents break is no defect of tropalign."""
    from tropalign.errors import InputError, TropalignError, damage

    try:
        yield
    except (TropalignError, MemoryError, OSError):
        raise
    except damage() as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"this or another shard holds what tropalign never writes ({reason}): write it again", file=paths[0]
        ) from error
