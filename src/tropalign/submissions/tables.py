"""What parsers do not say of the verbs that a server runs: titles, what files hold, which outputs there are.

Everything else (flags, choices, numbers, help, groups) is read from the parsers by `verbs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tropalign.formats.format import BYTES, TSV, Format

#: Options that say how, where and with what a job runs: the server decides that, whatever the verb.
SERVERS = frozenset(
    ("help", "output", "quiet", "threads", "memory", "device", "cluster", "shard", "dry_run", "format")
)  # `format` is a field of a submission by itself


@dataclass(frozen=True)
class Beside:
    """An output that an option asks for, beside the main one.

    Parameters
    ----------
    role
        What it is called in submissions.
    dest
        The option's.
    follows_main
        Whether the option takes no name: the file is called after the main one, with `suffix` added.
    """

    role: str
    dest: str
    suffix: str
    follows_main: bool = False


@dataclass(frozen=True)
class About:
    """What is known of a verb beside its parser.

    Parameters
    ----------
    title
        Words of a button.
    kind
        Whose formats the main output has, as `formats.registry` calls them; empty where there is one format alone.
    inputs
        What the files of an option or argument hold, by `dest`.
    texts
        Options that take free text, none of which names a file or an address.
    named
        Options that take a file or one of known names.
    beside
        Outputs beside the main one.
    never
        Options of this verb alone that no user of a server may set.
    common
        Options that forms show first.
    format
        The only format of a verb whose output is of no kind.
    never_formats
        Those of the parser's that the verb always refuses.
    is_resumable
        Whether a job that was ended goes on with the parts that it left.
    example, example_options
        Files of ``examples/`` by `dest`, and what makes sense with them.
    labels
        What forms call inputs, where the parser's name says little.
    """

    title: str
    kind: str
    inputs: Mapping[str, str]
    texts: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()
    never: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    format: Format | None = None
    never_formats: tuple[str, ...] = ()
    is_resumable: bool = False
    example: Mapping[str, str] = field(default_factory=dict)
    example_options: Mapping[str, object] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


_HIT_TABLES = tuple(Beside(name, name, f".{name}") for name in ("tblout", "domtblout", "pfamtblout"))
_HITS_REPORT = Beside("report", "report", ".html")
_HITS_COMMON = ("E", "domE", "cut_ga", "noali")
_ALIGNING = ("mode", "matrix", "gap_open", "gap_extend", "strand", "alphabet")

ABOUT: dict[str, About] = {
    "pairs": About(
        title="Align pairs",
        kind="pairs",
        inputs={"queries": "sequences", "targets": "sequences", "pairs": "table", "matrix": "matrix"},
        texts=("free_ends", "columns"),
        named=("matrix",),
        beside=(Beside("report", "html", ".html"), Beside("plot", "plot", ".svg")),
        common=(*_ALIGNING, "top", "min_score", "min_identity", "translate"),
        is_resumable=True,
        example={"queries": "efp.fasta"},
        labels={
            "targets": "Targets (without these, every pair of the queries)",
            "pairs": "List of pairs",
            "matrix": "Matrix of your own",
        },
    ),
    "cluster": About(
        title="Cluster",
        kind="clusters",
        inputs={"queries": "sequences", "matrix": "matrix"},
        texts=("free_ends", "identity"),
        named=("matrix",),
        beside=(
            Beside("representatives", "representatives", ".fasta"),
            Beside("uc", "uc", ".uc"),
        ),
        common=("min_identity", "method", "order", "strand", "min_coverage", "sizeout"),
        example={"queries": "amplicons.fasta"},
        labels={"queries": "Sequences", "matrix": "Matrix of your own"},
    ),
    "msa": About(
        title="Align a family",
        kind="aligned",
        inputs={"family": "sequences", "tree_in": "tree", "add": "sequences", "merge": "alignment"},
        texts=("hydrophilic",),
        beside=(
            Beside("tree", "tree_out", ".nwk"),
            Beside("confidence", "confidence", ".tsv"),
            Beside("report", "html", ".html"),
        ),
        common=("mode", "method", "order", "strand", "alphabet", "realign"),
        is_resumable=True,
        example={"family": "efp.fasta"},
        labels={"tree_in": "Guide tree", "add": "Sequences to add to an alignment", "merge": "Alignment to merge with"},
    ),
    "tree": About(
        title="Make a tree",
        kind="trees",
        inputs={"taxa": "alignment"},
        texts=("outgroup",),
        beside=(Beside("distances", "distances_out", ".tsv"),),
        common=("unaligned", "method", "bootstrap", "midpoint"),
        example={"taxa": "efp_aligned.fasta"},
        labels={"taxa": "Alignment, sequences or distances"},
    ),
    "search": About(
        title="Search with profiles",
        kind="hits",
        inputs={"models": "models", "sequences": "sequences"},
        beside=(*_HIT_TABLES, Beside("alignment", "alignment", ".sto"), _HITS_REPORT),
        common=(*_HITS_COMMON, "queries", "iterate"),
        is_resumable=True,
        example={"models": "efp.hmm", "sequences": "efp.fasta"},
        labels={"models": "Profiles, an alignment or sequences"},
    ),
    "scan": About(
        title="Scan for domains",
        kind="hits",
        inputs={"models": "models", "sequences": "sequences"},
        beside=(*_HIT_TABLES, _HITS_REPORT),
        common=_HITS_COMMON,
        never_formats=("stockholm",),  # hits of a scan make no alignment
        is_resumable=True,
        example={"models": "efp.hmm", "sequences": "efp.fasta"},
        labels={"models": "Profiles"},
    ),
    "place": About(
        title="Place reads",
        kind="placed/rows",
        inputs={
            "reads": "sequences",
            "mates": "sequences",
            "reference": "alignment",
            "tree": "tree",
            "taxonomy": "table",
        },
        beside=(
            Beside("table", "table", ".tsv"),
            Beside("jplace", "jplace", ".jplace"),
            Beside("taxa", "taxa", ".tsv"),
            Beside("reference", "split", ".reference", follows_main=True),
            Beside("report", "html", ".html"),
        ),
        never=("pipeline", "model", "epa_ng", "write_only", "save_reference"),
        common=("strand", "insertions", "scheme"),
        is_resumable=True,
        example={"reads": "16s/reads.fasta", "reference": "16s/ref.phy.gz", "tree": "16s/ref.nwk"},
        labels={
            "mates": "Second mates",
            "reference": "Reference alignment",
            "tree": "Reference tree",
            "taxonomy": "Lineages of the tips",
        },
    ),
    "decode": About(
        title="Find segments",
        kind="segments",
        inputs={"sequences": "sequences", "model": "model"},
        texts=("label",),
        named=("model",),
        beside=(Beside("plot", "plot", ".svg"), Beside("model", "model_out", ".toml")),
        common=("model", "by", "min_length", "min_support"),
        is_resumable=True,
        example={"sequences": "cpgislands.fa"},
    ),
    "score": About(
        title="Score alignments",
        kind="",
        inputs={"alignments": "alignment", "reference": "alignment", "mask": "table"},
        common=("all_columns",),
        format=Format(*TSV),
        example={"alignments": "efp_clustalw.fasta", "reference": "efp_aligned.fasta"},
        example_options={"all_columns": True},
        labels={"reference": "Reference alignment", "mask": "Columns that count"},
    ),
    "paths": About(
        title="Find shortest paths",
        kind="paths",
        inputs={"graph": "graph"},
        texts=("sources", "targets"),
        common=("undirected", "sources", "targets", "paths"),
        example={"graph": "codons.tsv"},
        example_options={"undirected": True},
        labels={"graph": "Edges"},
    ),
    "db build": About(
        title="Build a database",
        kind="",
        inputs={"sources": "sequences"},
        format=Format("store", (".tdb",), BYTES),
        example={"sources": "family.fasta"},
        labels={"sources": "Sequences"},
    ),
}
#: Names that an option takes in place of a file, where it has a default among them.
DEFAULT_NAMES = {"model": "cpg"}
