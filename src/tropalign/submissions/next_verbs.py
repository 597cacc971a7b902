"""Which inputs an output can be, so that a job goes on where another one has ended."""

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
#: By verb and role of an output: verbs and inputs, the likeliest first.
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
    """Verbs, each with its input, that take an output.

    Parameters
    ----------
    verb
        What has made it.
    format
        Of the main output.
    role
        The output: "main", or one beside it.

    Examples
    --------
    >>> from tropalign.submissions.next_verbs import uses_of
    >>> uses_of("tree", "newick", "main"), uses_of("tree", "svg", "main")
    ((('place', 'tree'),), ())
    """
    is_read = role != MAIN or format in READ.get(verb, ())
    return USES.get((verb, role), ()) if is_read else ()


def is_used(verb: str, role: str) -> bool:
    """Whether an output beside the main one is what other verbs take: forms then ask for it."""
    return role != MAIN and (verb, role) in USES and not READ.get(verb, ())
