"""Formats of shortest paths."""

from tropalign.formats.format import BYTES, HTML, PARQUET, PYARROW_BYTES, TSV, Format

FORMATS = {
    "paths": (
        Format(*TSV, "paths.tables"),
        Format("matrix", (), TSV[2], "matrix of all pairs", "paths.tables", own_suffix=".tsv"),
        Format("npz", (".npz",), BYTES, "NumPy", "paths.tables"),
        Format(*HTML, "paths.report"),
        Format(*PARQUET, "paths.tables", package_bytes=PYARROW_BYTES),
    ),
}
