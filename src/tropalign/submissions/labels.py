"""Labels of option groups and outputs in forms; options declare their own labels."""

from __future__ import annotations

from collections.abc import Mapping

#: Headings of option groups.
GROUPS: Mapping[str, str] = {
    "Method clustalw": "Details of method clustalw",
    "Output and resources": "Details of the output",
    "Format": "Format of the result",
    "Options": "More options",
    "Results": "Details of the result",
    "Into an alignment": "Into an existing alignment",
}
#: Labels of outputs by role.
OUTPUTS: Mapping[str, str] = {
    "main": "Result",
    "report": "Report for the browser",
    "plot": "Picture",
    "tree": "Guide tree",
    "tblout": "Table of hits, as HMMER has it",
    "domtblout": "Table of domains, as HMMER has it",
    "pfamtblout": "Both tables, as Pfam has them",
    "jplace": "Placements (jplace)",
    "table": "Table of reads",
    "taxa": "Table of taxa",
    "sunburst": "Taxa as a page (sunburst)",
    "otu_table": "Table of counts with lineages",
    "uc": "Clusters in USEARCH's format",
    "model": "Trained model",
    "reference": "Reference apart from the reads",
}


def group_label(title: str) -> str:
    """Return the form label of an option group."""
    label = in_words(title)
    return GROUPS.get(label, label)


def output_label(role: str) -> str:
    """Return the form label of an output."""
    return OUTPUTS.get(role) or in_words(role)


def in_words(name: str) -> str:
    """Convert the name of an option, a group or an output to plain words."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]
