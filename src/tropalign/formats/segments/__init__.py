"""Segments of sequences as files: which formats there are, of their table and of pictures of them ("tracks")."""

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
