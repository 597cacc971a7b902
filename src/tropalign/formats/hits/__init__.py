"""Formats of hits, and of the models that were searched for.

A part holds the hits of one tile. E-values, and which hits are reported, are known only when all targets of a query
have been searched. So every format encodes found hits in the same way (`tropalign.formats.hits.context`), and writes a
query after its last part.
"""

from tropalign.formats.format import ARROW_STREAM, HTML, PARQUET, PYARROW_BYTES, RESULT, TEXT, TSV, Format

FORMATS = {
    "hits": (
        Format("text", (".txt", ".out", ".hmmout"), TEXT, "HMMER's text", "hits.hmmer"),
        Format("tblout", (".tblout", ".tbl"), TEXT, "HMMER's table of hits", "hits.hmmer"),
        Format("domtblout", (".domtblout", ".domtbl"), TEXT, "HMMER's table of domains", "hits.hmmer"),
        Format("pfamtblout", (".pfamtblout", ".pfamtbl"), TEXT, "Pfam's tables", "hits.hmmer"),
        Format("stockholm", (".sto", ".stk"), TEXT, "Pfam", "hits.hmmer"),
        Format(TSV[0], (".tsv",), *TSV[2:], "hits.tables"),
        Format("arrow", (".arrow", ".arrows"), ARROW_STREAM, "Arrow file", "hits.tables"),
        Format(*PARQUET, "hits.tables", package_bytes=PYARROW_BYTES),
        Format("json", (".json",), "application/json", "", "hits.tables"),
        Format(*HTML, "hits.report"),
        Format(*RESULT, "hits.tables"),
    ),
    "models": (Format("hmm", (".hmm",), TEXT, "HMMER's models", "hits.hmmer"),),
    "models/alignments": (Format("annotated", (".sto", ".stk"), TEXT, "Stockholm", "hits.hmmer"),),
}
