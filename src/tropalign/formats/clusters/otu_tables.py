"""Tables of counts as text: QIIME's classic one, and BIOM 1.0 (biom-format.org/documentation/format_versions)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO

import numpy as np

from tropalign.errors import InputError, named
from tropalign.formats.clusters import ClustersContext
from tropalign.formats.format import Codec, concatenated
from tropalign.formats.header import Header
from tropalign.results.clusters import Clusters
from tropalign.results.lineages import Lineage
from tropalign.results.otu_table import OtuTable
from tropalign.results.rows import check_names

#: The last column of a classic table with lineages; older files of QIIME call it otherwise.
LINEAGE_COLUMNS = ("taxonomy", "consensus lineage", "consensuslineage")
#: Numbers of a classic table at most, zeros included: twice as many bytes.
MOST_NUMBERS = 100_000_000
#: The date that BIOM requires: equal tables have equal bytes, whenever they are written.
NO_DATE = "1970-01-01T00:00:00"
#: What stands for the lineage of a cluster that has none: an empty list is lost where BIOM 1.0 becomes BIOM 2.
UNASSIGNED = "Unassigned"


def _counted(clusters: Clusters | OtuTable, context: ClustersContext) -> OtuTable:
    """The table of clusters. Raises InputError for a name that readers of such tables refuse."""
    if isinstance(clusters, OtuTable):
        table = clusters
    else:
        assert context.table_of is not None  # who asks for a table says how
        table = context.table_of(clusters)
    for what, names in ("cluster", table.names), ("sample", table.samples):
        check_names(names)
        if not all(map(str.strip, names)):
            raise InputError(f"a {what} has no name: rename the sequences, so that it gets one")
    return table


def encode_tsv(clusters: Clusters | OtuTable, context: ClustersContext) -> bytes:
    """All lines."""
    return classic_text(_counted(clusters, context))


def check_classic(table: OtuTable) -> None:
    """Raises InputError for names that would break a line, or if the table has more than `MOST_NUMBERS` numbers."""
    n_rows, n_samples = len(table.names), len(table.samples)
    if n_rows * n_samples > MOST_NUMBERS:
        raise InputError(
            f"a classic table of {n_rows:,} rows and {n_samples:,} samples has {n_rows * n_samples:,} numbers, most of "
            f"them 0: end its name in .biom, or say which sample a read is of with {named('samples')}"
        )
    check_names([*table.names, *table.samples])
    marked = next((name for name in table.names if name.startswith("#")), None)
    if marked is not None:
        what = "a line of a classic table that begins with # is no cluster: rename it, or end the table's name in .biom"
        raise InputError(what, record=marked)


def classic_text(table: OtuTable) -> bytes:
    """QIIME's classic table; with lineages as its last column where it has them.

    Raises
    ------
    InputError
        It would have more than `MOST_NUMBERS`: most reads of a sample of their own, as a rule.
    """
    check_classic(table)
    lineages = None if table.lineages is None else ["; ".join(_ranks(each)) for each in table.lineages]
    check_names(lineages or ())
    more = [] if lineages is None else [LINEAGE_COLUMNS[0]]
    text = bytearray("\t".join(["#OTU ID", *table.samples, *more]).encode("utf-8", "backslashreplace") + b"\n")
    ends = np.searchsorted(table.cluster, np.arange(len(table.names)), "right").tolist()
    begin = 0
    for row, (name, end) in enumerate(zip(table.names, ends, strict=True)):  # a row at a time: most numbers are 0
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
    """What depends on the table, as JSON."""
    return biom_text(_counted(clusters, context))


def biom_text(table: OtuTable) -> bytes:
    """A table as JSON, without what it was made by."""
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
    """The table, and what it was made by."""
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


TSV = Codec(encode_tsv, concatenated())
BIOM = Codec(encode_biom, assemble_biom)
