"""Formats of segments of sequences, as tables and as pictures ("tracks")."""

from tropalign.formats.format import PNG, RESULT, SVG, TEXT, TSV, Format

FORMATS = {
    "segments": (
        Format(*TSV, "segments.tables"),
        Format("bed", (".bed",), TEXT, "intervals for genome browsers", "segments.tables"),
        Format("bedgraph", (".bedgraph", ".bdg"), TEXT, "support along sequences", "segments.tables"),
        Format(*RESULT, "segments.tables"),
    ),
    "tracks": (Format(*SVG, "segments.tracks"), Format(*PNG, "segments.tracks")),
}
