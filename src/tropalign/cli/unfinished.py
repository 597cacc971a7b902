"""Shards whose merging goes on computing: the verb that made them does the last stages (`execution/rest.py`)."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.execution.archive import Shards

#: Verbs with such shards, and the options of the files that each makes beside the main one.
UNFINISHED = {
    "msa": {"tree_out": "--tree-out", "confidence": "--confidence"},
    "tree": {"distances_out": "--distances-out"},
    "cluster": {"representatives": "--representatives", "uc": "--uc"},
}


def finish(options: argparse.Namespace, shards: Shards) -> None:
    """Lets the verb of the shards finish its run.

    Parameters
    ----------
    options
        Of `merge`.
    """
    from tropalign.cli.options import started
    from tropalign.cli.parser import command_of

    own = _options_of(shards.words or [], options.shards[0])
    places = {"output": options.output}
    for verb, files in UNFINISHED.items():
        for name, option in files.items():
            path = getattr(options, name)
            if path is None:
                continue
            if verb != own.verb or getattr(own, name) is None:
                options.parser.error(f"{option}: these shards hold none; tropalign {verb} {option} makes it")
            places[name] = path
    started(options, list(places.values()), options.shards)
    _check_suffix(own, options)
    resources = {name: getattr(options, name) for name in ("output", "threads", "memory", "device", "quiet")}
    if hasattr(own, "command"):
        command_of(own).replaced(**resources).finish(shards, places)
        return
    for name, value in {**resources, "places": places}.items():
        setattr(own, name, value)
    import_module(f"tropalign.cli.{own.verb}").finish(own, shards)


def _options_of(words: list[str], path: str) -> Any:
    """What the command of the shards asked for."""
    from tropalign.cli.main import make_parser
    from tropalign.errors import InputError

    if not words or words[0] not in UNFINISHED:
        raise InputError("another version of tropalign wrote this: merge with that version", file=path)
    try:
        return make_parser(False, words[:1]).parse_args(words)
    except SystemExit:
        raise InputError("this shard holds a command that tropalign does not know: write it again", file=path) from None


def _check_suffix(own: argparse.Namespace, options: argparse.Namespace) -> None:
    """A name that promises another format than the shards are of is refused."""
    from tropalign.formats.registry import format_of, suffix_of

    kind = {"msa": "aligned", "cluster": "clusters"}.get(own.verb)
    suffix = suffix_of(options.output)
    if kind is None or not suffix:
        return
    suffixes = format_of(kind, own.format).suffixes
    if suffix not in suffixes:
        names = " or ".join(suffixes)
        options.parser.error(
            f"the shards are of format {own.format}, but {options.output} ends in {suffix}: end the name in {names}"
        )


def check_same(fingerprint: str, shards: Shards) -> None:
    """Raises InputError where the shards are of another run than the first one says."""
    from tropalign.errors import InputError

    if fingerprint != shards.whole.fingerprint:
        raise InputError("the first shard holds other inputs than it was computed with: write it again")
