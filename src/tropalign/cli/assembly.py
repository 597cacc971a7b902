"""A writer's context as JSON: what a shard's file carries, so that ``merge`` can assemble the whole."""

from __future__ import annotations

import dataclasses
from typing import Any

from tropalign.formats.writers import Context, Writer
from tropalign.sequences import SequenceBatch, alphabet_named

#: What encoding a part takes and assembling the parts does not.
ENCODING_ONLY = ("substitution", "gap")
SEQUENCES = ("queries", "targets")


def describe(writer: Writer, context: Context) -> dict[str, Any]:
    """What assembling takes: the format, the header's words, names and lengths."""
    entries: dict[str, Any] = {
        field.name: getattr(context, field.name)
        for field in dataclasses.fields(context)
        if field.name not in (*ENCODING_ONLY, *SEQUENCES)
    }
    entries["queries"] = _names(context.queries)
    entries["targets"] = None if context.targets is context.queries else _names(context.targets)
    return {"format": writer.name, "context": entries}


def restore(assembly: dict[str, Any]) -> tuple[str, Context]:
    """The format and the context; its batches hold names and lengths but no residues."""
    entries = dict(assembly["context"])
    entries["queries"] = _batch(entries["queries"])
    entries["targets"] = entries["queries"] if entries["targets"] is None else _batch(entries["targets"])
    return assembly["format"], Context(**entries)


def _names(batch: SequenceBatch) -> dict[str, Any]:
    return {"alphabet": batch.alphabet.name, "names": batch.names, "lengths": batch.lengths.tolist()}


def _batch(entries: dict[str, Any]) -> SequenceBatch:
    return SequenceBatch.without_residues(entries["names"], entries["lengths"], alphabet_named(entries["alphabet"]))
