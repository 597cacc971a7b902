"""Inputs that each output can serve as, so that one job can continue from another."""

from __future__ import annotations

from tropalign.submissions.verbs import MAIN

#: Formats of main outputs that other verbs read.
READ = {
    "msa": ("fasta", "a2m", "a3m", "clustal", "msf", "phylip", "stockholm"),
    "tree": ("newick", "dnd"),
    "search": ("stockholm",),
    "derep": ("fasta",),
    "chimeras": ("fasta",),
    "build": ("hmm",),
}
_OF_HITS = (("msa", "family"), ("build", "alignment"))
_OF_MODELS = (("search", "models"), ("scan", "models"), ("msa", "model"))
#: By verb and output role: verbs and their inputs, the most likely first.
USES = {
    ("msa", MAIN): (("tree", "taxa"), ("build", "alignment"), ("score", "alignments"), ("place", "reference")),
    ("tree", MAIN): (("place", "tree"),),
    ("build", MAIN): _OF_MODELS,
    ("search", MAIN): _OF_HITS,
    ("search", "alignment"): _OF_HITS,
    ("search", "models"): _OF_MODELS,
    ("cluster", "representatives"): (("place", "reads"), ("msa", "family"), ("find", "queries")),
    ("derep", MAIN): (("chimeras", "queries"), ("cluster", "queries"), ("place", "reads")),
    ("chimeras", MAIN): (("cluster", "queries"), ("place", "reads")),
}


def uses_of(verb: str, format: str, role: str) -> tuple[tuple[str, str], ...]:
    """Return the verbs, each with its input, that take an output of `verb`; `format` is that of the main output.

    >>> from tropalign.submissions.next_verbs import uses_of
    >>> uses_of("tree", "newick", "main"), uses_of("tree", "svg", "main")
    ((('place', 'tree'),), ())
    """
    is_read = role != MAIN or format in READ.get(verb, ())
    return USES.get((verb, role), ()) if is_read else ()


def is_used(verb: str, role: str) -> bool:
    """True if other verbs take this side output: forms then request it."""
    return role != MAIN and (verb, role) in USES and not READ.get(verb, ())
