"""Trees as files: which formats there are."""

from tropalign.formats.format import TEXT, Format

FORMATS = {
    "trees": (
        Format("newick", (".nwk", ".newick", ".tree", ".tre"), TEXT, "", "trees.text"),
        Format("dnd", (".dnd",), TEXT, "ClustalW's tree", "trees.text"),
    ),
}
