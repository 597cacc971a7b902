"""Formats of aligned pairs, as tables (kind "pairs") and as plots ("plots")."""

from __future__ import annotations

from tropalign.formats.format import (
    ARROW_FILE,
    ARROW_STREAM,
    BYTES,
    FASTA,
    HTML,
    MATPLOTLIB_BYTES,
    PARQUET,
    PDF,
    PNG,
    PYARROW_BYTES,
    RESULT,
    SVG,
    TEXT,
    TSV,
    Format,
    PairsFormat,
)

#: BLAST's qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore.
M8_COLUMNS = (
    "query", "target", "percent_identity", "columns", "mismatches", "gap_openings", "query_first", "query_last",
    "target_first", "target_last", "evalue", "bits",
)  # fmt: skip
#: Layouts of a matrix, the default first, and the suffixes that select them; suffixes of tables do not select a
#: matrix.
MATRIX_LAYOUTS = {"tsv": (".tsv", ".txt"), "phylip": (".phy", ".dist"), "npz": (".npz",)}
#: Memory of pysam, which writes BAM.
PYSAM_BYTES = 24 << 20


FORMATS = {
    "pairs": (
        PairsFormat(*TSV, "pairs.tables", takes_columns=True, is_in_blocks=True),
        PairsFormat(
            "csv", (".csv",), "text/csv; charset=utf-8", "comma-separated table", "pairs.tables",
            takes_columns=True, is_in_blocks=True,
        ),
        PairsFormat(
            "jsonl", (".jsonl", ".ndjson"), "application/x-ndjson", "a JSON object per line", "pairs.tables",
            takes_columns=True, is_in_blocks=True,
        ),
        PairsFormat(
            "m8", (".m8", ".b6", ".blast6"), TEXT, "BLAST's table", "pairs.tables",
            takes_columns=True, is_in_blocks=True, own_columns=M8_COLUMNS,
        ),
        PairsFormat(
            "arrow", (".arrow",), ARROW_FILE, "Arrow file", "pairs.arrow",
            package_bytes=PYARROW_BYTES, takes_columns=True,
        ),
        PairsFormat("arrows", (".arrows",), ARROW_STREAM, "Arrow stream", "pairs.arrow", takes_columns=True),
        PairsFormat(
            "feather", (".feather",), ARROW_FILE, "Feather, for R and pandas", "pairs.arrow",
            package_bytes=PYARROW_BYTES, takes_columns=True,
        ),
        PairsFormat(*PARQUET, "pairs.arrow", package_bytes=PYARROW_BYTES, takes_columns=True),
        PairsFormat("paf", (".paf",), TEXT, "", "pairs.gapped", shows_all_reports=False, is_in_blocks=True),
        PairsFormat(
            "bed", (".bed",), TEXT, "intervals of the targets", "pairs.gapped",
            shows_all_reports=False, is_in_blocks=True,
        ),
        PairsFormat(
            "sam", (".sam",), TEXT, "", "pairs.sam",
            shows_all_reports=False, wants_whole_queries=True, wants_qualities=True,
        ),
        PairsFormat(
            "bam", (".bam",), BYTES, "", "pairs.sam",
            package_bytes=PYSAM_BYTES, shows_all_reports=False, column_bytes=3.0, wants_qualities=True,
        ),
        PairsFormat(*FASTA, "pairs.gapped", shows_all_reports=False, is_in_blocks=True),
        PairsFormat(
            "srspair", (".srspair", ".needle", ".water"), TEXT, "EMBOSS's text", "pairs.gapped",
            shows_all_reports=False, is_in_blocks=True,
        ),
        PairsFormat(
            "matrix", (".npz", ".phy", ".dist"), TSV[2], "matrix of all pairs", "pairs.matrix", own_suffix=".tsv"
        ),
        PairsFormat(*HTML, "pairs.report", shows_all_reports=False),
        PairsFormat(*RESULT, "pairs.tables"),
    ),
    "plots": tuple(
        Format(*form, "pairs.plots", package_bytes=MATPLOTLIB_BYTES)
        for form in (SVG, PNG, PDF)
    ),
}  # fmt: skip


def layout_of(suffix: str) -> str:
    """Return the layout of a matrix for a suffix."""
    return next((layout for layout, suffixes in MATRIX_LAYOUTS.items() if suffix in suffixes), "tsv")
