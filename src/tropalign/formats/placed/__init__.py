"""Placed reads as files: which formats there are, a kind for each output that `tropalign place` may write."""

from tropalign.formats.format import FASTA, HTML, PARQUET, PHYLIP, RESULT, TSV, Format

_OUTPUTS = {
    "placed/rows": (
        Format(*FASTA, "placed.rows"),
        Format(*PHYLIP, "placed.rows"),
        Format(*RESULT, "placed.rows"),
    ),
    "placed/table": (Format(*TSV, "placed.table"), Format(*PARQUET, "placed.table")),
    "placed/branches": (Format("jplace", (".jplace",), "application/json", "", "placed.jplace"),),
    "placed/taxa": (Format("taxa", *TSV[1:], "placed.table"),),
    "placed/report": (Format(*HTML, "placed.report"),),
}
#: All of them have the kind "placed" in shards.
FORMATS = {**_OUTPUTS, "placed": tuple(form for forms in _OUTPUTS.values() for form in forms)}
