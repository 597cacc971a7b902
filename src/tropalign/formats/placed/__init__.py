"""Formats of placed reads, a kind for each output of `tropalign place`."""

from dataclasses import replace

from tropalign.formats.clusters import FORMATS as OF_CLUSTERS
from tropalign.formats.format import FASTA, HTML, PARQUET, PHYLIP, RESULT, TSV, Format

_CLASSIC, _BIOM, _BIOM2 = OF_CLUSTERS["counts"]
_OUTPUTS = {
    "placed/rows": (
        Format(*FASTA, "placed.rows"),
        Format(*PHYLIP, "placed.rows"),
        Format(*RESULT, "placed.rows"),
    ),
    "placed/table": (Format(*TSV, "placed.tables"), Format(*PARQUET, "placed.tables")),
    "placed/branches": (Format("jplace", (".jplace",), "application/json", "", "placed.tables"),),
    "placed/by_branch": (Format("branches", *TSV[1:], "placed.tables"),),
    "placed/taxa": (Format("taxa", *TSV[1:], "placed.taxa"),),
    "placed/sunburst": (Format("sunburst", *HTML[1:], "placed.taxa"),),
    "placed/otus": (
        replace(_CLASSIC, name="otus", module="placed.taxa"),
        replace(_BIOM, module="placed.taxa"),
        replace(_BIOM2, module="placed.taxa"),
    ),
    "placed/report": (Format(*HTML, "placed.report"),),
}
#: In shards, all these formats have the kind "placed".
FORMATS = {**_OUTPUTS, "placed": tuple(form for forms in _OUTPUTS.values() for form in forms)}
