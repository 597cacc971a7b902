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
from tropalign.options.option import Options, again, but, input_file, option, output_file
from tropalign.verbs.command import Command
from tropalign.verbs.runs import EachOption, RunOptions
from tropalign.verbs.sequence_options import READING, SequenceOptions
from tropalign.verbs.trimming import THRESHOLDS, TrimOptions

if TYPE_CHECKING:
    from tropalign.execution.manifest import Shard
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.features import Feature

Method = Literal["consistency", "clustalw"]
#: Options that do not apply when rows are added to an alignment.
OF_FAMILIES = (
    "effort", "consistency", "through", "refine", "keep", "seed", "drop_foreign", "tree_in", "tree_out", "confidence",
    "homologs", "row_order",
)  # fmt: skip
#: Options that do not apply to alignment with a model.
OF_ALIGNMENTS = (
    "effort", "rules", "consistency", "through", "refine", "cutoff", "keep", "seed", "drop_foreign", "tree_in",
    "tree_out", "add", "merge", "homologs", "row_order",
)  # fmt: skip
_ON_CPU = "sequences are aligned to a model on the processor: leave --device and --cluster out"
_OF_PAGES = "--features is for the page of a family that is aligned by consistency, at once: leave it out here"
_OF_SHARDS = "--shard shares out the posteriors of a family that is aligned by consistency: leave it out here"
_OF_FORECASTS = "--dry-run estimates the alignment of a family by consistency: leave it out here"
#: Options by which a family is aligned otherwise than by the consistency of its pairs.
OTHERWISE = ("method", "add", "merge", "model", "aligned")


class MethodOption(Options, group="method"):
    """Alignment method."""

    method: Method = option(
        default="consistency",
        choices=get_args(Method),
        is_common=True,
        excludes=(*ConsistencyOptions.declared(), "confidence", "add", "merge", "homologs"),
        help="how families are aligned (default: consistency)",
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
        help="the guide tree (Newick, NEXUS; default: of distances)",
    )
    realign: bool = option(
        default=False,
        label="Remove gaps and align anew",
        is_common=True,
        help="the input is aligned: remove its gaps, as --gaps remove does",
    )
    aligned: bool = option(
        default=False,
        label="Keep the alignment as it is",
        excludes={
            **dict.fromkeys((*OF_ALIGNMENTS, "confidence"), ""),
            **dict.fromkeys(("method", "model", "realign"), ""),
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


class ExtensionOptions(Options, group="into an alignment"):
    """Sequences or an alignment to be added."""

    add: str | None = input_file(
        default=None,
        holds="sequences",
        either="into",
        metavar="NEW",
        excludes=OF_FAMILIES,
        label="Sequences to add to an alignment",
        help="FASTA is an alignment, into which these sequences are aligned",
        form_help="The family is an alignment, into which these sequences are aligned",
    )
    merge: str | None = input_file(
        default=None,
        holds="alignment",
        either="into",
        metavar="OTHER",
        excludes=dict.fromkeys(OF_FAMILIES, "")
        | {"strand": "--strand adjust turns sequences, and --merge takes both alignments as they are: leave it out"},
        label="Alignment to merge with",
        help="FASTA is an alignment, which is aligned with this other one",
        form_help="The family is an alignment, which is aligned with this other one",
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
            "method": "--model aligns by the model alone: leave --method out",
            "strand": "--strand adjust turns sequences by their family, and a model is of one strand: leave it out",
            "cluster": _ON_CPU,
        },
        label="Model to align to",
        help="align each sequence to the profile HMM of this file, as hmmalign does; proteins, DNA or RNA",
    )
    mapali: str | None = input_file(
        default=None,
        holds="alignment",
        metavar="SEED",
        label="Alignment of the model",
        help="with --model: put the alignment that the model was built of above the sequences",
        form_help="The alignment that the model was built of, which is put above the sequences",
    )
    trim: bool = option(
        default=False,
        label="Leave overhanging ends out",
        help="with --model: leave out residues before the first node and behind the last one",
        form_help="Leave out residues before the first node of the model and behind the last one",
    )


class HomologChoices(HomologOptions, group="homologs", needs="homologs"):
    """The database of homologs, and their selection."""

    homologs: str | None = input_file(
        default=None,
        holds="sequences",
        metavar="DB",
        label="Database of homologs",
        help="proteins, or a store of tropalign db, in which relatives of the members are looked for: they help to "
        "align the family, and are left out of the result",
        form_help="Proteins in which relatives of the members are looked for: they help to align the family, and are "
        "left out of the result",
    )


class FormatOption(Options, group="results"):
    """The format of the alignment."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("aligned"),
        role="machine",
        help="what to write (default: by the suffix of -o, else fasta)",
    )


class ResultOptions(FormatOption, RowOrderOption, group="results"):
    """Output files."""

    tree_out: str | None = output_file(
        output="tree", suffix=".nwk", metavar="FILE", help="the guide tree in Newick format"
    )
    confidence: str | None = output_file(
        output="confidence",
        suffix=".tsv",
        metavar="FILE",
        help="a row per residue: how sure its place is; TSV or Parquet by the suffix",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="the alignment as a page for the browser, beside the output",
    )
    features: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Features",
        excludes=dict.fromkeys((*OTHERWISE, "shard"), _OF_PAGES)
        | dict.fromkeys(THRESHOLDS, "--features is for pages of whole sequences: leave {other} out"),
        help="features for the page: GFF3, or #=GR and #=GC of Stockholm",
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
            "html": "--html is for whole runs: leave it out with --shard",
            "homologs": "--shard says what to do before homologs are known: leave it out with --homologs",
        },
    )
    dry_run: bool = again(
        RunOptions,
        "dry_run",
        excludes=dict.fromkeys(OTHERWISE, _OF_FORECASTS)
        | {"homologs": "--dry-run says what to do before homologs are known: leave it out with --homologs"},
    )

    def check(self) -> None:
        """Reject invalid options before anything is read."""
        from tropalign.formats.registry import format_for_path

        super().check()
        one = "--aligned" if self.aligned else self.extension
        if one is not None and len(self.family) > 1:
            self.refuse(f"{one} takes one alignment, but {len(self.family)} files are named")
        if self.model is not None and any(name not in ("auto", "cpu") for name in self.device or ()):
            self.refuse(_ON_CPU)
        is_page = self.html is not None or (self.format or format_for_path("aligned", self.output)) == "html"
        if self.features is not None and not is_page:
            self.refuse("--features belongs to --html, or to -o FILE.html")

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

    def features_of(self, batch: SequenceBatch) -> tuple[Feature, ...]:
        """Read the features of the family that a page shows."""
        if self.features is None:
            return ()
        from tropalign.sequences.features import read_features

        return read_features(self.features, batch)
