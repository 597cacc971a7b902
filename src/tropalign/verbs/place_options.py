"""Options of ``tropalign place``, and the reference and the reads that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.errors import counted
from tropalign.formats.format import format_names
from tropalign.options.option import Options, but, input_file, option, output_file
from tropalign.placement.scoring import GAP_FLAGS, ReadOptions, ScoreOptions
from tropalign.verbs.command import Command
from tropalign.verbs.runs import EachOption, RunOptions
from tropalign.verbs.sequence_options import SampleNameOptions, SequenceOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tropalign.placement.reference import ReferencePackage
    from tropalign.results.otu_table import OtuTable
    from tropalign.sequences.blocks import Survey

Insertions = Literal["drop", "columns"]


class ResultOptions(Options, group="results"):
    """Output files."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("placed/rows"),
        role="machine",
        help="output format of the alignment (default: by the suffix of -o, else fasta)",
    )
    split: bool = output_file(
        default=False,
        output="reference",
        suffix=".reference",
        follows_main=True,
        help="write the reads alone to -o and the reference to FILE.reference, as EPA-ng requires",
        form_help="Write the reads alone to the result and the reference to its own file, as EPA-ng requires",
    )
    insertions: Insertions = option(
        default="drop",
        choices=get_args(Insertions),
        label="Inserted bases",
        is_common=True,
        help="bases between columns of the reference: drop (default; the width stays the same), or keep in new columns",
    )
    table: str | None = output_file(
        output="table",
        suffix=".tsv",
        metavar="FILE",
        help="table of the branch, score and position of each read; TSV or Parquet by the suffix",
    )
    jplace: str | None = output_file(
        output="jplace",
        suffix=".jplace",
        metavar="FILE",
        help="best branches of each read, for gappa and other programs",
    )
    branches: str | None = output_file(
        output="branches",
        suffix=".tsv",
        metavar="FILE",
        help="table of reads per branch (TSV); with --counts, also per sample",
        form_help="Table of reads per branch (TSV); with a table of counts, also per sample",
    )
    taxonomy: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Lineages of the tips",
        needs="table|taxa|taxa_html|otu_table|html",
        help="lineages of the tips, one per line: name, tab, a;b;c; the table then has the lineages of the reads",
    )
    counts: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Table of counts",
        needs="taxa|taxa_html|otu_table|table|jplace|branches|html",
        excludes=("sample_delimiter", "sample_regex"),
        help="numbers of reads per sample that each read represents: the table of cluster or derep (--otu-table), as "
        ".tsv, .biom or .hdf5 (default: ;size=N in names)",
        form_help="Numbers of reads per sample that each read represents: the table of Cluster or Dereplicate, TSV "
        "or BIOM (default: ;size=N in names)",
    )
    taxa: str | None = output_file(
        output="taxa",
        suffix=".tsv",
        needs="taxonomy",
        metavar="FILE",
        help="with --taxonomy: table of reads per taxon (TSV); with --counts, per taxon and sample",
        form_help="With lineages of the tips: table of reads per taxon (TSV); with a table of counts, per taxon and "
        "sample",
    )
    taxa_html: str | None = output_file(
        output="sunburst",
        suffix=".html",
        needs="taxonomy",
        metavar="FILE",
        help="with --taxonomy: HTML page of reads per taxon, with lineages as rings (sunburst)",
        form_help="With lineages of the tips: HTML page of reads per taxon, with lineages as rings (sunburst)",
    )
    otu_table: str | None = output_file(
        output="otu_table",
        suffix=".biom",
        needs={
            "counts": "--otu-table adds lineages to a table of counts: name that table with --counts",
            "taxonomy": "",
        },
        metavar="FILE",
        help="with --counts and --taxonomy: the table of counts with the lineage of each read, as .tsv (QIIME's "
        "classic table), .biom (BIOM 1.0) or .hdf5 (BIOM 2.1)",
        form_help="With a table of counts and lineages of the tips: the table of counts with the lineage of each "
        "read (BIOM 1.0)",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="HTML report: the tree with reads per branch, table, alignments",
    )

    def beside(self) -> dict[str, str | None]:
        """Return the paths of the additional files by their options."""
        names = ("taxa", "taxa_html", "otu_table", "table", "jplace", "branches", "html")
        return {name: getattr(self, name) for name in names}


class ReferenceOptions(Options, group="reference"):
    """The reference alignment and its tree."""

    reference: str = input_file(
        holds="alignment",
        metavar="FILE",
        label="Reference alignment",
        help="reference alignment (PHYLIP, FASTA, Stockholm), or a file made with --save-reference",
        form_help="Reference alignment (PHYLIP, FASTA, Stockholm)",
    )
    tree: str | None = input_file(
        default=None, holds="tree", metavar="FILE", label="Reference tree", help="tree of the reference (Newick, NEXUS)"
    )
    alphabet: str | None = but(
        SequenceOptions,
        "alphabet",
        default=None,
        group="reference",
        is_common=False,
        help="alphabet of the reference (default: detected from its letters)",
    )
    gap_flags: str | None = option(
        default=None,
        choices=GAP_FLAGS,
        label="Gap columns of branches",
        help="rule for the gap columns of a branch: compat (default; identical to PaPaRa 2.5), exact (in closed "
        "form) or discrete (the 2011 paper); compat and exact differ only with branches of length 0",
    )
    save_reference: str | None = option(
        default=None, metavar="FILE", role="private", help="save the prepared reference for later runs"
    )


class PruningOption(Options, group="scoring"):
    """Option to score every branch."""

    no_pruning: bool = option(
        default=False, label="Score every branch", help="score every branch instead of pruning; the result is the same"
    )


#: Supported programs.
Next = Literal["epa-ng"]


class PipelineOptions(Options, group="likelihoods", needs="pipeline=epa-ng"):
    """The program, its path and its arguments."""

    pipeline: Next | None = option(
        default=None,
        choices=get_args(Next),
        role="private",
        needs={
            "jplace": "--pipeline writes a jplace file: name it with --jplace",
            "model": "EPA-ng needs a model: name a .bestModel file, or a model such as GTR+G, with --model",
        },
        excludes={
            "shard": "--pipeline needs all reads: leave --shard out, or merge shards made with --split and run "
            "EPA-ng on them"
        },
        help="place the aligned reads by likelihood with EPA-ng, and write its result to --jplace (default: none)",
    )
    model: str | None = option(
        default=None,
        metavar="MODEL",
        role="private",
        help="model for EPA-ng: a .bestModel file of RAxML-NG, an info file of RAxML 8, or a name such as GTR+G, "
        "whose parameters are then not fitted to the reference",
    )
    epa_ng: str | None = option(
        default=None, metavar="PATH", role="private", help="path of the EPA-ng program (default: epa-ng on PATH)"
    )
    write_only: bool = option(
        default=False, role="private", help="write the input files of EPA-ng and print its command, without running it"
    )


class PlaceCommand(
    Command,
    ReferenceOptions,
    ReadOptions,
    ScoreOptions,
    PruningOption,
    ResultOptions,
    PipelineOptions,
    SampleNameOptions,
    RunOptions,
    EachOption,
):
    """Reads, and the reference that they are placed in."""

    #: Declared by `Place`.
    reads: list[str]
    mates: list[str] | None = None
    gaps: str

    def check(self) -> None:
        """Reject options that do not go together."""
        from tropalign.execution.files import output_path
        from tropalign.sequences.annotations import teller

        super().check()
        teller(None, self.sample_delimiter, self.sample_regex)
        asks_for_reads = self.output != "-" or any(self.beside().values()) or not self.save_reference
        if self.dry_run and not self.reads:
            self.refuse("--dry-run needs reads: name a file")
        if not self.reads and (asks_for_reads or self.pipeline is not None):
            self.refuse("no reads are named: name a file, or - for standard input")
        if self.split and self.output == "-":
            self.refuse("--split writes two files: name that of the reads with -o")
        if self.mates is not None and len(self.mates) != len(self.reads):
            self.refuse(
                f"{counted(len(self.reads), 'files of reads')}, but {len(self.mates)} of mates: name a file of mates "
                "for each file of reads, in the same order, and the reads before --mates"
            )
        mates = self.mates or []
        if twice := set(mates) & set(self.reads) - {"-"}:
            self.refuse(f"{min(twice)} is named both as reads and as mates: name the file of the second mates")
        if self.shard is not None and "-" in [*self.reads, *mates]:
            self.refuse("reads from standard input cannot be divided into shards: write them to a file first")
        if self.pipeline is not None and (self.jplace is None or output_path(self.jplace) is None):
            self.refuse("--pipeline writes a jplace file: name it with --jplace")

    def package(self) -> ReferencePackage:
        """Read or load the reference."""
        from tropalign.placement.reference import ReferencePackage
        from tropalign.sequences.alphabet import ALPHABETS

        if ReferencePackage.is_saved(self.reference):
            reason = f"{self.reference} is a saved reference, which includes its tree, alphabet and gap flags"
            self.leave_out(reason, ("tree", "alphabet", "gap_flags"))
            return ReferencePackage.load(self.reference, self.memory)
        if self.tree is None:
            self.refuse("the tree of the reference is missing: name it with --tree")
        alphabet = ALPHABETS.get(self.alphabet or "auto")
        chosen: dict[str, Any] = {"gap_flags": self.gap_flags or "compat", "n_threads": self.threads}
        return ReferencePackage.read(self.reference, self.tree, alphabet=alphabet, **chosen)

    def blocks_of_reads(
        self, package: ReferencePackage, otus: OtuTable | None
    ) -> tuple[Callable[..., Iterator[Any]], Survey | None]:
        """Return a function that opens the reads, given names in use, and a survey of them if possible."""
        from tropalign.placement.reads import opened, owning
        from tropalign.placement.scorer import check_mates
        from tropalign.results.otu_table import RowOwners
        from tropalign.sequences.blocks import survey_of
        from tropalign.sequences.files import can_be_read_twice, file_name

        if self.mates is not None:
            check_mates(package)

        def blocks(taken: Iterable[str] = package.names) -> Iterator[Any]:
            return opened(self.reads, self.mates, taken, self.gaps)

        is_first_of_two = all(map(can_be_read_twice, [*self.reads, *(self.mates or [])]))
        if otus is None or self.counts is None:
            return blocks, survey_of(blocks(())) if is_first_of_two else None
        owners = RowOwners(otus, file_name(self.counts))
        if not is_first_of_two:
            return lambda: owning(blocks(), owners), None
        found = survey_of(owning(blocks(), owners, settles=False))
        owners.settle()
        return blocks, found
