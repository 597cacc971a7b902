"""Hits to files, from Python."""

from __future__ import annotations

import os

from tropalign.errors import UsageError
from tropalign.execution.files import check_outputs, check_terminal, write_to
from tropalign.formats.header import Header
from tropalign.formats.registry import format_for_path, make_writer
from tropalign.profile.options import SearchOptions
from tropalign.profile.outputs import context_of
from tropalign.results.hits import Hits


def write_hits(
    hits: Hits, path: str | os.PathLike[str], format: str | None = None, *, options: SearchOptions | None = None
) -> None:
    """Writes hits; the file appears whole or not at all.

    Parameters
    ----------
    hits
        What to write.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses.
    format
        "text", "tblout", "domtblout", "pfamtblout", "tsv", "parquet", "arrow", "json": by the suffix of the path when
        not given.
    options
        The filters of the search, where they were not as by default: "text" tells of them.

    Raises
    ------
    UsageError
        A format or suffix that does not exist, or something else than hits.
    InputError
        A format that lacks its package; a place that cannot be written.
    ResourceError
        The disk is full.

    Examples
    --------
    >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
    >>> tropalign.write_hits(hits[:1], "-", "tblout")
    #                                                                         --- full sequence ---- ...
    # target name                  accession  query name           accession    E-value  score  bias ...
    #          ------------------- ---------- -------------------- ---------- --------- ------ ----- ...
    tr|H8KCP7|H8KCP7_RICMS         -          EFP                  -            8.2e-85  274.3   2.3 ...
    ...
    """
    if not isinstance(hits, Hits):
        raise UsageError(f"an object of type {type(hits).__name__} is no Hits: search returns them")
    from tropalign import __version__

    output = os.fspath(path)
    name = format_for_path("hits", output) if format is None else format
    context = context_of(hits.orientation, hits.n_targets, hits.thresholds, options or SearchOptions())
    writer = make_writer("hits", name, Header(__version__, "tropalign.write_hits", {}), context)
    check_outputs([output], [])
    if writer.is_binary:
        check_terminal(name, output)
    part = writer.encode(hits)
    write_to(output, lambda out: writer.assemble([part], out))
