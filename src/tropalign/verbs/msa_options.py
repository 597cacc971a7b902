"""Options of ``tropalign msa``, and the family that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.clustalw.options import ClustalwChoices
from tropalign.formats.registry import format_names
from tropalign.msa.options import (
    ConsistencyOptions,
    HomologOptions,
    KeepLengthOption,
    RowOrderOption,
    StrandName,
    TurningOption,
)
from tropalign.options.option import TEXT, Options, again, but, input_file, option, output_file
from tropalign.verbs.command import Command
from tropalign.verbs.runs import EachOption, RunOptions
from tropalign.verbs.sequence_options import READING, SequenceOptions
from tropalign.verbs.trimming import THRESHOLDS, TrimOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tropalign.execution.manifest import Shard
    from tropalign.execution.run import Output
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.alphabet import Alphabet
    from tropalign.sequences.features import Feature

Method = Literal["consistency", "clustalw"]
#: Options that do not apply when an alignment is extended; `no_anchors` does if sequences are added.
OF_FAMILIES = (
    "effort", "consistency", "through", "refine", "keep", "seed", "drop_foreign", "no_anchors", "tree_in", "tree_out",
    "confidence",
    "homologs", "row_order",
)  # fmt: skip
#: Options that do not apply to alignment with a model.
OF_ALIGNMENTS = (
    "effort", "rules", "consistency", "through", "refine", "cutoff", "keep", "seed", "drop_foreign", "no_anchors",
    "tree_in", "tree_out", "add", "merge", "homologs", "row_order",
)  # fmt: skip
_ON_CPU = "alignment to a model runs on the CPU only: leave --device and --cluster out"
_OF_PAGES = "--features is supported only for whole runs of alignment by consistency: leave it out"
_OF_SHARDS = "--shard is supported only for alignment by consistency: leave it out"
_OF_FORECASTS = "--dry-run is supported only for alignment by consistency: leave it out"
#: Formats that accept any name.
DRAWN = ("html", "svg", "png", "result")
#: Options that align a family by another method than the consistency of its pairs.
OTHERWISE = ("method", "add", "merge", "model", "aligned")


class MethodOption(Options, group="method"):
    """Alignment method."""

    method: Method = option(
        default="consistency",
        choices=get_args(Method),
        is_common=True,
        excludes=(*ConsistencyOptions.declared(), "confidence", "add", "merge", "homologs"),
        help="alignment method (default: consistency)",
    )


class ClustalwMethod(ClustalwChoices, needs="method=clustalw"):
    """Options of CLUSTALW's method."""


class InputOptions(Options, group="input"):
    """Input files and their treatment."""

    alphabet: str = but(SequenceOptions, "alphabet", default="auto", group="input")
    strand: StrandName = but(TurningOption, "strand", default="plus")
    tree_in: str | None = input_file(
        default=None,
        holds="tree",
        metavar="FILE",
        label="Guide tree",
        help="guide tree (Newick, NEXUS; default: computed from distances)",
    )
    realign: bool = option(
        default=False,
        label="Remove gaps and realign",
        is_common=True,
        help="remove the gaps of an aligned input and realign it, same as --gaps remove",
    )
    aligned: bool = option(
        default=False,
        label="Keep the alignment as it is",
        excludes={
            **dict.fromkeys((*OF_ALIGNMENTS, "confidence"), ""),
            **dict.fromkeys(("method", "model", "realign", "strict", "skip_empty", "gaps"), ""),
            **dict.fromkeys(("duplicate_names", "clip_stops"), ""),
            "strand": "--strand adjust turns sequences, and --aligned keeps an alignment as it is: leave it out",
            "cluster": "--aligned computes nothing: leave --cluster out",
            "device": "--aligned computes nothing: leave --device out",
        },
        help="the input is one alignment, which is only trimmed or written in another format",
        form_help="The input is one alignment, which is only trimmed or written in another format",
    )
    strict: bool = but(SequenceOptions, "strict", default=False, group="input")
    skip_empty: bool = but(SequenceOptions, "skip_empty", default=False, group="input")
    gaps: str = but(SequenceOptions, "gaps", default="refuse", group="input")
    duplicate_names: str = but(SequenceOptions, "duplicate_names", default="error", group="input")
    clip_stops: bool = but(SequenceOptions, "clip_stops", default=False, group="input")


class ExtensionOptions(Options, group="into an alignment"):
    """Sequences or an alignment to be added."""

    add: str | None = input_file(
        default=None,
        holds="sequences",
        either="into",
        metavar="NEW",
        excludes=tuple(name for name in OF_FAMILIES if name != "no_anchors"),
        label="Sequences to add to an alignment",
        help="sequences to add to the family, which must be an alignment",
    )
    merge: str | None = input_file(
        default=None,
        holds="alignment",
        either="into",
        metavar="OTHER",
        excludes=dict.fromkeys(OF_FAMILIES, "")
        | {
            "strand": "--strand adjust changes sequences, but --merge keeps both alignments as they are: leave "
            "--strand out"
        },
        label="Alignment to merge with",
        help="alignment to merge with the family, which must also be an alignment",
    )
    keep_length: bool = but(KeepLengthOption, "keep_length", default=False, needs="add")


class ModelOptions(Options, group="onto a model", needs="model"):
    """The model to which sequences are aligned, instead of to one another."""

    model: str | None = input_file(
        default=None,
        holds="models",
        metavar="HMM",
        excludes=dict.fromkeys(OF_ALIGNMENTS, "")
        | {
            "method": "--model replaces the alignment method: leave --method out",
            "strand": "--strand adjust compares sequences with their family, but a model has a single strand: leave "
            "--strand out",
            "cluster": _ON_CPU,
        },
        label="Model to align to",
        help="profile HMM to align each sequence to, as hmmalign does; proteins, DNA or RNA",
    )
    mapali: str | None = input_file(
        default=None,
        holds="alignment",
        metavar="SEED",
        label="Alignment of the model",
        help="alignment from which the model was built, to be written above the sequences",
    )
    trim: bool = option(
        default=False,
        label="Leave out overhanging ends",
        help="leave out residues before the first and after the last node of the model",
    )


class HomologChoices(HomologOptions, group="homologs", needs="homologs"):
    """The database of homologs, and their selection."""

    homologs: str | None = input_file(
        default=None,
        holds="sequences",
        metavar="DB",
        label="Database of homologs",
        help="proteins, or a store of tropalign db, to search for homologs of the members; these help to align the "
        "family, and are left out of the result",
    )


class FormatOption(Options, group="results"):
    """The format of the alignment."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("aligned"),
        role="machine",
        help="output format (default: by the suffix of -o, else fasta)",
    )


class ResultOptions(FormatOption, RowOrderOption, group="results"):
    """Output files."""

    tree_out: str | None = output_file(output="tree", suffix=".nwk", metavar="FILE", help="guide tree in Newick format")
    confidence: str | None = output_file(
        output="confidence",
        suffix=".tsv",
        metavar="FILE",
        help="confidence in the position of each residue, a row per residue; TSV or Parquet by the suffix",
    )
    differences: str | None = output_file(
        output="differences",
        suffix=".tsv",
        metavar="FILE",
        excludes=dict.fromkeys(THRESHOLDS, "--differences counts the residues of a whole row: leave {other} out"),
        help="differences of the rows to the first one, with positions, letters and names, as a table (TSV); with "
        "--keep-length also the insertions that are left out",
    )
    reference_row: str | None = option(
        default=None,
        kind=TEXT,
        metavar="NAME",
        label="Row to compare with",
        help="name of the row to compare with, for --differences and format vcf (default: the first row)",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="alignment as an HTML page, in addition to the output",
    )
    features: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Features",
        excludes=dict.fromkeys((*OTHERWISE, "shard"), _OF_PAGES)
        | dict.fromkeys(THRESHOLDS, "--features is for pages of whole sequences: leave {other} out"),
        help="features to show on the HTML page: GFF3, or #=GR and #=GC of Stockholm",
    )


class FamilyCommand(
    Command,
    MethodOption,
    ConsistencyOptions,
    ClustalwMethod,
    InputOptions,
    ExtensionOptions,
    ModelOptions,
    HomologChoices,
    TrimOptions,
    ResultOptions,
    RunOptions,
    EachOption,
):
    """A family of sequences, and how it is aligned."""

    #: Declared by `Msa`.
    family: list[str]
    shard: Shard | None = again(
        RunOptions,
        "shard",
        excludes=dict.fromkeys(OTHERWISE, _OF_SHARDS)
        | {
            "html": "--html needs a whole run: leave it out with --shard",
            "homologs": "--shard divides the work before homologs are known: leave it out with --homologs",
        },
    )
    dry_run: bool = again(
        RunOptions,
        "dry_run",
        excludes=dict.fromkeys(OTHERWISE, _OF_FORECASTS)
        | {"homologs": "--dry-run cannot estimate a run before its homologs are known: leave it out with --homologs"},
    )

    def check(self) -> None:
        """Reject invalid options before anything is read."""
        from tropalign.formats.registry import format_for_path

        super().check()
        one = "--aligned" if self.aligned else self.extension
        if one is not None and len(self.family) > 1:
            self.refuse(f"{one} takes one alignment, but {len(self.family)} files are named: name one")
        if self.model is not None and any(name not in ("auto", "cpu") for name in self.device or ()):
            self.refuse(_ON_CPU)
        form = self.format or format_for_path("aligned", self.output)
        if self.reference_row is not None and self.differences is None and form != "vcf":
            self.refuse("--reference-row is for --differences and format vcf: add one of them, or leave it out")
        if form == "vcf" and (given := [name for name in THRESHOLDS if getattr(self, name) is not None]):
            flag = self.declared()[given[0]].flag
            self.refuse(f"format vcf counts the residues of a whole row: leave {flag} out")
        is_page = self.html is not None or form == "html"
        if self.features is not None and not is_page:
            self.refuse("--features needs an HTML page: add --html, or -o FILE.html")

    @property
    def extension(self) -> str | None:
        """The option that adds rows to an alignment, or None."""
        return "--add" if self.add is not None else "--merge" if self.merge is not None else None

    @property
    def reading(self) -> dict[str, Any]:
        """Options for reading sequences."""
        found = {name: getattr(self, name) for name in READING}
        return {**found, "gaps": "remove"} if self.realign else found

    def batch(self) -> SequenceBatch:
        """Read the family, on one strand if requested."""
        from tropalign.msa.family import on_one_strand, read_family
        from tropalign.resources.limits import resolve_threads
        from tropalign.sequences.alphabet import ALPHABETS

        batch = read_family(self.family, ALPHABETS.get(self.alphabet), **self.reading)
        return on_one_strand(batch, self.strand, resolve_threads(self.threads))

    def check_names(self, outputs: Sequence[Output], names: tuple[str, ...], alphabet: Alphabet) -> None:
        """Raise InputError before anything is computed if a format does not hold the names or the alphabet."""
        from tropalign.results.multiple import MultipleAlignment

        rows = MultipleAlignment.from_rows(names, [alphabet.letters[:1]] * len(names), alphabet)
        for output in outputs:
            if output.role in ("alignment", "differences") and output.writer.name not in DRAWN:
                output.writer.encode(rows)

    def features_of(self, batch: SequenceBatch) -> tuple[Feature, ...]:
        """Read the features of the family that a page shows."""
        if self.features is None:
            return ()
        from tropalign.sequences.features import read_features

        return read_features(self.features, batch)
