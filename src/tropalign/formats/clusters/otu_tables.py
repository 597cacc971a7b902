"""Count tables as text: QIIME's classic table, and BIOM 1.0 (biom-format.org/documentation/format_versions)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO

import numpy as np

from tropalign.errors import InputError, named
from tropalign.formats.clusters import ClustersContext
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.results.clusters import Clusters, OtuTable
from tropalign.results.placements import Lineage
from tropalign.results.rows import check_names

#: Names of a classic table's last column, the lineages; older QIIME files use the latter two.
LINEAGE_COLUMNS = ("taxonomy", "consensus lineage", "consensuslineage")
#: Most numbers in a classic table, zeros included; each takes at least two bytes.
MOST_NUMBERS = 100_000_000
#: The date that BIOM requires, constant so that equal tables have equal bytes.
NO_DATE = "1970-01-01T00:00:00"
#: Placeholder for an empty lineage: an empty list is lost when BIOM 1.0 is converted to BIOM 2.
UNASSIGNED = "Unassigned"


def _counted(clusters: Clusters | OtuTable, context: ClustersContext) -> OtuTable:
    """Return the table of clusters. Raises InputError for a name that readers of such tables reject."""
    if isinstance(clusters, OtuTable):
        table = clusters
    else:
        assert context.table_of is not None  # set whenever a table is written
        table = context.table_of(clusters)
    for what, names in ("cluster", table.names), ("sample", table.samples):
        check_names(names)
        if not all(map(str.strip, names)):
            raise InputError(f"a {what} has no name: rename the sequences so that it has one")
    return table


def encode_tsv(clusters: Clusters | OtuTable, context: ClustersContext) -> bytes:
    """Return all lines."""
    return classic_text(_counted(clusters, context))


def check_classic(table: OtuTable) -> None:
    """Raise InputError for names that would break a line, or if the table has more than `MOST_NUMBERS` numbers."""
    n_rows, n_samples = len(table.names), len(table.samples)
    if n_rows * n_samples > MOST_NUMBERS:
        raise InputError(
            f"a classic table of {n_rows:,} rows and {n_samples:,} samples has {n_rows * n_samples:,} numbers, most "
            f"of them 0: write a .biom file, or set the sample of each read with {named('samples')}"
        )
    check_names([*table.names, *table.samples])
    marked = next((name for name in table.names if name.startswith("#")), None)
    if marked is not None:
        what = "a name in a classic table must not begin with #: rename the cluster, or write a .biom file"
        raise InputError(what, record=marked)


def classic_text(table: OtuTable) -> bytes:
    """Return QIIME's classic table, with lineages in the last column if present.

    Raises InputError if it would have more than `MOST_NUMBERS` numbers, usually because most reads have their own
    sample.
    """
    check_classic(table)
    lineages = None if table.lineages is None else ["; ".join(_ranks(each)) for each in table.lineages]
    check_names(lineages or ())
    more = [] if lineages is None else [LINEAGE_COLUMNS[0]]
    text = bytearray("\t".join(["#OTU ID", *table.samples, *more]).encode("utf-8", "backslashreplace") + b"\n")
    ends = np.searchsorted(table.cluster, np.arange(len(table.names)), "right").tolist()
    begin = 0
    for row, (name, end) in enumerate(zip(table.names, ends, strict=True)):  # row by row: most numbers are 0
        counts = ["0"] * len(table.samples)
        for sample, reads in zip(table.sample[begin:end].tolist(), table.reads[begin:end].tolist(), strict=True):
            counts[sample] = str(reads)
        more = [] if lineages is None else [lineages[row]]
        text += "\t".join([name, *counts, *more]).encode("utf-8", "backslashreplace") + b"\n"
        begin = end
    return bytes(text)


def _ranks(lineage: Lineage) -> Lineage:
    return lineage or (UNASSIGNED,)


def encode_biom(clusters: Clusters | OtuTable, context: ClustersContext) -> bytes:
    """Return the table-dependent part of the JSON."""
    return biom_text(_counted(clusters, context))


def biom_text(table: OtuTable) -> bytes:
    """Return a table as JSON, without its provenance."""
    places = np.stack([table.cluster, table.sample, table.reads], axis=1)
    lineages = [None] * len(table.names) if table.lineages is None else table.lineages
    about = [None if each is None else {"taxonomy": _ranks(each)} for each in lineages]
    return json.dumps(
        {
            "matrix_type": "sparse",
            "matrix_element_type": "int",
            "shape": [len(table.names), len(table.samples)],
            "rows": [{"id": name, "metadata": each} for name, each in zip(table.names, about, strict=True)],
            "columns": [{"id": name, "metadata": None} for name in table.samples],
            "data": places.tolist(),
        }
    ).encode()


def assemble_biom(parts: Iterable[bytes], out: IO[bytes], header: Header, context: object) -> None:
    """Write the table and its provenance."""
    about = {
        "id": None,
        "format": "Biological Observation Matrix 1.0.0",
        "format_url": "http://biom-format.org",
        "type": "OTU table",
        "generated_by": f"tropalign {header.version}",
        "date": NO_DATE,
    }
    (part,) = parts
    out.write(json.dumps(about)[:-1].encode() + b", " + part[1:] + b"\n")


TSV = Codec(encode_tsv, Concatenated())
BIOM = Codec(encode_biom, assemble_biom)
