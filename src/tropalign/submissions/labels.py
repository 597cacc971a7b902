"""What forms call options, groups and outputs: words in place of flags, which are shorter."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Options by their flags, and by verb where a flag means something else there. The rest is called after its flag.
OPTIONS: Mapping[str, str] = {
    "--free-ends": "Ends that are free",
    "--iupac": "Ambiguous nucleotides",
    "--gap-open": "Gap opening cost",
    "--gap-extend": "Gap extension cost",
    "--gap-open2": "Second gap opening cost",
    "--gap-extend2": "Second gap extension cost",
    "--end-gap-open": "End gap opening cost",
    "--end-gap-extend": "End gap extension cost",
    "--match": "Match score",
    "--mismatch": "Mismatch score",
    "--strict": "Refuse other letters",
    "--skip-empty": "Leave empty sequences out",
    "--report": "What is computed",
    "--top": "Best targets per query",
    "--min-score": "Minimum score",
    "--min-identity": "Minimum identity",
    "--min-coverage": "Minimum coverage",
    "--min-query-coverage": "Minimum coverage of the query",
    "--min-target-coverage": "Minimum coverage of the target",
    "--max-evalue": "Maximum E-value",
    "--min-bits": "Minimum bit score",
    "--db-size": "Database size",
    "--matrix": "Substitution matrix",
    "--matrix-values": "Values of the matrix",
    "--matrix-layout": "Layout of the matrix",
    "--no-comments": "No comment lines",
    "--identity": "Definition of identity",
    "--coverage-of": "Coverage of which sequence",
    "--sizeout": "Sizes in names",
    "--order": "Order",
    "--assign": "Which representative",
    "--rules": "Parameters of",
    "--consistency": "Consistency passes",
    "--through": "Third sequences per pass",
    "--refine": "Refinement rounds",
    "--cutoff": "Posterior cutoff",
    "--keep": "Fraction kept",
    "--seed": "Random seed",
    "--compat": "Bit for bit as ClustalW",
    "--quicktree": "Quick tree",
    "--n-diagonals": "Best diagonals",
    "--clustering": "Guide tree method",
    "--word-gap": "Gap between words",
    "--series": "Protein matrices",
    "--pw-gap-open": "Pairwise gap opening cost",
    "--pw-gap-extend": "Pairwise gap extension cost",
    "--delay": "Delay divergent sequences",
    "--gap-distance": "Gap separation",
    "--hydrophilic": "Hydrophilic residues",
    "--realign": "Remove gaps and align anew",
    "--unaligned": "Sequences are not aligned",
    "--distances": "Distance model",
    "--gaps": "Columns with gaps",
    "--bootstrap": "Bootstrap samples",
    "--negative": "Negative branch lengths",
    "--midpoint": "Midpoint root",
    "--queries": "Kind of the queries",
    "--iterate": "Iterations",
    "--acc": "Accessions in place of names",
    "--noali": "No alignments in the text",
    "--notextw": "Unlimited line width",
    "--textw": "Line width",
    "-E": "Maximum E-value of a hit",
    "-T": "Minimum score of a hit",
    "--domE": "Maximum E-value of a domain",
    "--domT": "Minimum score of a domain",
    "--incE": "Significant E-value of a hit",
    "--incT": "Significant score of a hit",
    "--incdomE": "Significant E-value of a domain",
    "--incdomT": "Significant score of a domain",
    "--cut_ga": "Gathering cutoffs",
    "--cut_nc": "Noise cutoffs",
    "--cut_tc": "Trusted cutoffs",
    "-Z": "Number of targets",
    "--domZ": "Number of reported targets",
    "--F1": "MSV filter",
    "--F2": "Viterbi filter",
    "--F3": "Forward filter",
    "--skip-foreign": "Leave models of nucleotides out",
    "--nobias": "No bias filter",
    "--max": "No filters",
    "--nonull2": "No correction for biased composition",
    "--gap-flags": "Gaps of branches",
    "--scheme": "Scoring scheme",
    "--on-gap": "Score on a gap",
    "--insert-open": "Insertion opening cost",
    "--insert-extend": "Insertion extension cost",
    "--no-hydrophilic-gaps": "Gaps in hydrophilic runs cost the same",
    "--no-pruning": "Score every branch",
    "--insertions": "Inserted bases",
    "--by": "Segments by",
    "--label": "Labels",
    "--min-length": "Minimum length",
    "--min-support": "Minimum support",
    "--fit": "Train the model first",
    "--rounds": "Training rounds",
    "--fix": "Keep fixed",
    "--all-columns": "All columns count",
    "--undirected": "Edges lead both ways",
    "--from": "From these vertices",
    "--to": "To these vertices",
    "--paths": "Vertices of each path",
}
#: Groups of options as headings.
GROUPS: Mapping[str, str] = {
    "Method clustalw": "Details of method clustalw",
    "Output and resources": "Details of the output",
    "Format": "Format of the result",
    "Options": "More options",
    "Results": "Details of the result",
    "Into an alignment": "Into an existing alignment",
}
#: Outputs by their roles.
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
    "uc": "Clusters in USEARCH's format",
    "model": "Trained model",
    "reference": "Reference apart from the reads",
}
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_SEE_HELP = re.compile(r" \(see tropalign [a-z ]+ --help\)$")
#: What is said of command lines alone.
_COMMAND_LINE = re.compile(
    r"[;,] - (\(default\) )?is (standard input|stdin|stdout)|; --columns help lists them|; several times for several"
    r"|; may be repeated|; @FILE for those of a file, one per line"
)
_PLACEHOLDERS = {
    "what MODELS holds": "what the queries are",
    "FILE holds sequences": "the input is sequences",
    "FASTA is an alignment": "the family is an alignment",
    "a file for each of READS": "a file for each of the reads",
    "reads alone in -o, the reference in FILE.reference": "reads alone in the result, the reference in its own file",
    "in place of that, from a score of S bits on": "in place of the E-value, from a score of so many bits on",
    "with an E-value up to X": "with at most this E-value",
    "align A with B; without B every pair of A": "each query is aligned with each of these",
    "beside those of -o": "beside the result",
    "with --columns as they need it": "as the columns need it",
    "of --format matrix (default: by the suffix, else tsv)": "of the format matrix (default: tsv)",
    "what --format matrix holds": "what the format matrix holds",
    "those of B, without B of A": "those of the targets, without these of the queries",
    "of --add: leave": "of the added sequences: leave",
    "with --taxonomy: reads": "with lineages of the tips: reads",
    "sequences with --unaligned": "sequences that are not aligned (then choose that below)",
    " as from tropalign pairs -f matrix": " as the format matrix of pairs has them",
    ", or what --save-reference made": "",
    ", or a file in NCBI format": "; or a file in NCBI format, among more inputs",
    "; or a directory, whose files have the names of the alignments (suffixes aside)": "",
    ", or a directory of them if the reference is one": "",
}


def option_label(flag: str) -> str:
    """What forms call an option.

    Examples
    --------
    >>> from tropalign.submissions.labels import option_label
    >>> option_label("--domE"), option_label("--genetic-code")
    ('Maximum E-value of a domain', 'Genetic code')
    """
    return OPTIONS.get(flag) or _words(flag.lstrip("-"))


def group_label(title: str) -> str:
    """What forms call a group of the parser's options."""
    label = _words(title)
    return GROUPS.get(label, label)


def output_label(role: str) -> str:
    """What forms call an output."""
    return OUTPUTS.get(role) or _words(role)


def for_forms(text: str) -> str:
    """A text of the command line for readers of a form: options by their labels, nothing of files beside.

    Examples
    --------
    >>> from tropalign.submissions.labels import for_forms
    >>> for_forms("with --gap-extend2 a second cost; - is stdin")
    'With “Second gap extension cost” a second cost'
    """
    for theirs, ours in _PLACEHOLDERS.items():
        text = text.replace(theirs, ours)
    text = _FLAG.sub(lambda found: _named(found.group()), _COMMAND_LINE.sub("", text))
    return text[:1].upper() + text[1:]


def message_for_forms(text: str) -> str:
    """A message that tells a remedy by options: these by their labels, without the command line's help.

    Examples
    --------
    >>> from tropalign.submissions.labels import message_for_forms
    >>> message_for_forms("x.fa: add --unaligned (see tropalign tree --help)")
    'x.fa: add “Sequences are not aligned”'
    """
    text = _SEE_HELP.sub("", text)
    return _FLAG.sub(lambda found: _named(found.group()) if found.group() in OPTIONS else found.group(), text)


def _named(flag: str) -> str:
    return f"“{option_label(flag)}”" if flag in OPTIONS or flag.startswith("--") else flag


def _words(text: str) -> str:
    words = text.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]
