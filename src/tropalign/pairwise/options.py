"""Options of pairwise alignment, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from tropalign.devices.registry import is_cluster
from tropalign.errors import DeviceError, InputError, ScoringError, UsageError, named
from tropalign.options.option import (
    AMOUNT,
    BITS,
    DECIMAL,
    E_VALUE,
    EXCLUSIVE,
    FRACTION,
    TEXT,
    Options,
    argument,
    input_file,
    number,
    option,
    whole,
)
from tropalign.properties import cached_property
from tropalign.resources.limits import checked_choice, decimal_number, whole_number
from tropalign.results.names import AmbiguousRule, checked_definition

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix, WholeScoring
    from tropalign.sequences import Alphabet, SequenceBatch

MethodName = Literal["seg", "dust", "tantan", "lower"]


#: Ends of sequences that may overhang at no cost (semiglobal), in the order of native code.
EndName = Literal["query-start", "query-end", "target-start", "target-end"]
FREE_ENDS = get_args(EndName)
ModeName = Literal["local", "global", "semiglobal"]
ReportName = Literal["score", "ends", "alignment"]
StrandName = Literal["plus", "minus", "both"]
#: Strands of verbs that compare every sequence as it is given.
PlusOrBoth = Literal["plus", "both"]
Side = Literal["query", "target", "both"]
CompositionName = Literal["ignored", "scaled", "adjusted"]
MaskName = Literal["none", MethodName]
REPORTS = get_args(ReportName)
STRANDS = get_args(StrandName)
#: Upper limit of numbers of residues; other options have lower limits.
MOST_RESIDUES = 10**15
#: `max_intron`, in nucleotides: default and least value.
INTRON, LEAST_INTRON = 122, 5
#: Single alignments of sets are searched up to this E-value, or the requested one if higher.
SOUGHT_EVALUE = 10.0
#: Most alignments of a pair.
MOST_HSPS = 1000
#: Most listed co-optimal alignments of a pair.
MOST_CO_OPTIMAL = 10_000
#: Help text of --identity, with the default to fill in.
IDENTITY_HELP = (
    "definition of identity: identical columns divided by columns (columns), by residues of the shorter (shorter) or "
    "the longer sequence (longer), by pairs of residues (matches), or by columns between the first and the last pair "
    "of residues (internal); or 1 - (mismatches + gaps, each gap counted once) / residues of the longer sequence "
    "(openings). vsearch's --iddef 0 to 4 are shorter, columns, internal, openings and blast (same as columns); "
    "default: {default}"
)
#: Options that drop alignments by a share of their columns or residues.
SHARES = ("min_identity", "min_coverage", "min_query_coverage", "min_target_coverage")


@dataclass(frozen=True)
class Mode:
    """An alignment mode.

    meaning: for help texts.
    recurrence: "local", i.e. alignments that start and end anywhere and score at least 0, or "global", with any
        free ends.
    frees_ends: ends may be free (all four by default).
    """

    meaning: str
    recurrence: str = "global"
    frees_ends: bool = False

    @property
    def is_local(self) -> bool:
        """True if alignments may start and end anywhere."""
        return self.recurrence == "local"


#: All modes by name, for the command line and the API. Engines have two recurrences, local and global, and free
#: ends (`PairOptions.recurrence`, `PairOptions.freed`).
MODES: Mapping[ModeName, Mode] = MappingProxyType(
    {
        "local": Mode("the best-scoring pair of segments (Smith and Waterman 1981)", "local"),
        "global": Mode("both sequences from end to end (Needleman and Wunsch 1970)"),
        "semiglobal": Mode("global, with free overhangs at the ends", frees_ends=True),
    }
)


class ModeOption(Options, group="alignment"):
    """Alignment mode."""

    mode: ModeName = option(
        default="local",
        choices=MODES,
        is_common=True,
        help="align the best-scoring segments (local), the whole sequences (global), or whole sequences with free ends "
        "(semiglobal); default: local",
        doc="Local (Smith and Waterman 1981), global (Needleman and Wunsch 1970), or semiglobal, which is global "
        "with free ends. Gap costs are affine (Gotoh 1982).",
    )


class StrandOption(Options, group="alignment"):
    """Strands of nucleotides."""

    strand: StrandName = option(
        default="plus",
        choices=STRANDS,
        is_common=True,
        help="strand of nucleotide queries: plus, minus (the reverse complement), or the better of both (plus if "
        "equal); default: plus",
    )


#: Highest weight of a second track.
MOST_WEIGHT = 1000
#: Options that a second track excludes if its scores are added, with the reason.
NO_ADDED_TRACK: Mapping[str, str] = {
    "strand=minus|both": "--track has no reverse strand: leave --strand out",
    **dict.fromkeys(
        ("max_evalue", "min_bits", "db_size", "composition=scaled|adjusted", "sum_statistics"),
        "{other} applies to E-values and bits, which scores of two tracks do not have: leave {other} out",
    ),
    "mask": "{other} masks the residues, but not the second track: leave {other} out",
    **dict.fromkeys(
        ("co_optimal", "gap_open2", "end_gap_open", "end_gap_extend"),
        "{this} does not support {other}: leave {other} out",
    ),
}
#: Options that a second track excludes, also if its weight is 0.
NO_TRACK: Mapping[str, str] = {
    "translate": "--track belongs to the given residues, but --translate aligns others: leave one of them out",
    "embeddings": "--track adds to scores of letters, but --embeddings scores vectors: leave one of them out",
    **NO_ADDED_TRACK,
}


class TrackOptions(Options, group="alignment"):
    """A second string per sequence, aligned with the residues."""

    track: list[str] | None = input_file(
        default=None,
        many="+",
        holds="sequences",
        metavar="FILE",
        label="Second track",
        needs={"track_matrix": "--track has no default scores: add --track-matrix with a file in NCBI format"},
        excludes=NO_TRACK,
        help="a second string per sequence, such as 3Di structure letters, in FASTA with the names and lengths of the "
        "sequences: a file for each file of sequences, in their order; its scores are added to those of the residues",
    )
    track_matrix: str | None = input_file(
        default=None,
        holds="matrix",
        metavar="FILE",
        label="Matrix of the second track",
        needs={"track": "--track-matrix scores a second track: add --track"},
        help="matrix of the second track in NCBI format: up to 31 letters, in upper or lower case",
    )
    track_weight: float = option(
        default=1.0,
        kind=number(0, MOST_WEIGHT),
        metavar="W",
        label="Weight of the second track",
        needs={"track": "--track-weight applies to a second track: add --track"},
        help="factor of the track's scores, which are then rounded to whole numbers, or to the decimals of --matrix "
        "and the gap costs; 0: as without a track (default: 1)",
    )


class TranslationOptions(Options, group="translation"):
    """Translated sides, and their genetic code."""

    translate: Side | None = option(
        default=None,
        choices=get_args(Side),
        is_common=True,
        needs={"targets": "--translate needs a second file: name B, which may be A again with --translate both"},
        excludes={
            "alphabet": "--translate sets the alphabets: leave --alphabet out",
            "strand=minus|both": "--translate covers both strands: leave --strand out",
        },
        help="side to translate from nucleotides to proteins; each pair is aligned in the best of six reading frames "
        "(default: none)",
        doc="Translate the nucleotides of this side, and align each pair in the best of the six reading frames. In a "
        "table, `queries` (or `targets`) are then the frames, and its attributes count their residues; `columns` and "
        "files name the sequences and count nucleotides.",
    )
    genetic_code: int | None = option(
        default=None,
        kind=whole(1),
        metavar="N",
        needs="translate",
        help="NCBI's number of the genetic code for --translate (default: 1, the standard code)",
    )


class IdentityOptions(Options, group="alignment"):
    """The definition of identity, for every output of a run."""

    identity: str = option(
        default="columns",
        flags=("--identity", "--identity-definition"),
        kind=TEXT,
        metavar="NAME",
        label="Definition of identity",
        help=IDENTITY_HELP.format(default="columns"),
    )
    ambiguous: AmbiguousRule = option(
        default="differ",
        choices=get_args(AmbiguousRule),
        label="Ambiguous residues in identities",
        help="comparison of ambiguous residues (N and A, R and G) in identities: differ (default; identical only if "
        "the letters are equal), match (identical if they may be the same residue, as in vsearch), or ignore (as "
        "differ, but pairs of residues with an N, or an X in proteins, do not count)",
    )


class SelectionOptions(Options, group="selection of pairs"):
    """Selection of rows, and their depth."""

    report: ReportName = option(
        default="alignment",
        choices=REPORTS,
        label="Depth of the results",
        help="depth of the results: scores, scores with start and end, or whole alignments (default: alignment, or "
        "what --columns needs); nothing beyond it is computed",
        doc="Depth of the results: scores, scores with start and end, or whole alignments.",
    )
    top: int | None = option(
        default=None,
        kind=whole(1),
        metavar="K",
        label="Best targets per query",
        is_common=True,
        help="maximum number of targets per query: the best of those that pass the identity and coverage filters (of "
        "equal scores, the earlier target)",
    )
    min_score: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Minimum score",
        is_common=True,
        help="minimum score of an alignment",
    )
    min_identity: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum identity",
        is_common=True,
        help="minimum identity of an alignment, as defined by --identity",
    )
    min_coverage: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum coverage",
        help="minimum fraction of the longer sequence's residues that are aligned with a residue",
    )
    min_query_coverage: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum coverage of the query",
        help="minimum fraction of the query's residues that are aligned with a residue",
    )
    min_target_coverage: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum coverage of the target",
        help="minimum fraction of the target's residues that are aligned with a residue",
    )
    max_evalue: float | None = option(
        default=None,
        kind=E_VALUE,
        metavar="E",
        label="Maximum E-value",
        help="maximum E-value of an alignment (local mode only)",
    )
    min_bits: float | None = option(
        default=None,
        kind=BITS,
        metavar="N",
        label="Minimum bit score",
        help="minimum score of an alignment in bits (local mode only)",
    )
    db_size: int | None = option(
        default=None,
        kind=whole(1, MOST_RESIDUES),
        metavar="N",
        label="Database size",
        help="database size in residues, for E-values; the number of targets is unchanged (default: residues of the "
        "targets, or of the queries if there are no targets)",
    )


class TopFirstOption(Options, group="selection of pairs"):
    """Order of `top` and the filters."""

    top_first: bool = option(
        default=False,
        label="Count the best targets before the filters",
        help="choose the best targets by score before --min-identity and the coverage filters apply, not after; "
        "needs --top",
    )


class CompositionOption(Options, group="selection of pairs"):
    """Correction of bits and E-values for composition."""

    composition: CompositionName = option(
        default="ignored",
        choices=get_args(CompositionName),
        label="Composition",
        help="correction of bits and E-values for the composition of both sequences, by a matrix that is adjusted or "
        "scaled (like blastp's -comp_based_stats 2 and 1); ignored: no correction (default)",
        doc="Adjusted, scaled: `max_evalue`, `min_bits`, and a table's bits and E-values are based on "
        "`corrected_score`, the score by a matrix that is adjusted to the composition of both sequences (Yu and "
        "Altschul 2005; proteins only), or scaled by it (Schaffer and others 2001). Ignored: they are based on "
        "`score`. Local mode, without translation.",
    )


class HspsOption(Options, group="selection of pairs"):
    """Number of alignments per pair."""

    max_hsps: int = option(
        default=1,
        kind=whole(1, MOST_HSPS),
        metavar="K",
        label="Alignments per pair",
        help="maximum number of local alignments per pair; none reuses a residue pair of a better one (default: 1)",
        doc="Maximum number of local alignments per pair, the best first; none reuses a residue pair of an earlier "
        "one (Waterman and Eggert 1987). Each is a row, numbered in `hsp`, and must pass the same filters as the "
        "first.",
    )


class CoOptimalOptions(Options, group="selection of pairs"):
    """All alignments of a pair with the best score, or nearly."""

    co_optimal: int | None = option(
        default=None,
        kind=whole(1, MOST_CO_OPTIMAL),
        metavar="N",
        label="Co-optimal alignments",
        excludes={
            "max_hsps": EXCLUSIVE,
            "culling": EXCLUSIVE,
            "gap_open2": "--co-optimal does not support two-piece gap costs: leave --gap-open2 and --gap-extend2 out",
            "report=score|ends": "--co-optimal lists whole alignments: leave --report out",
        },
        help="count all alignments of a pair with the best score exactly, and list at most N of them, in the order of "
        "the tie rule: adds the columns hsp and co_optimal",
        doc="Count all alignments of a pair with the best score exactly, and list at most this number, in the order of "
        "the tie rule: each is a row, numbered in `hsp`, and the table's `co_optimal` has the numbers. Filters "
        "apply to the first.",
    )
    within: float | None = option(
        default=None,
        kind=AMOUNT,
        metavar="SCORE",
        label="Score below the best",
        needs={
            "co_optimal": "--within extends the list of co-optimal alignments: add --co-optimal",
            "mode=global|semiglobal": "--within needs --mode global or semiglobal: add it, or find further local "
            "alignments with --max-hsps",
        },
        help="count and list also alignments that score up to SCORE less than the best, best first; needs --co-optimal",
    )


class SumOptions(Options, group="selection of pairs"):
    """Sum statistics of several alignments of a pair."""

    sum_statistics: bool = option(
        default=False,
        label="Sum statistics",
        needs={"max_hsps": "--sum-statistics combines several alignments of a pair: add --max-hsps, such as 10"},
        help="combine alignments of a pair that follow each other in both sequences, such as exons (Karlin and "
        "Altschul 1993; like blastx's -sum_stats): adds columns sum_evalue and sum_count, and --max-evalue applies "
        "to sum_evalue; needs --max-hsps above 1",
    )
    max_intron: int | None = option(
        default=None,
        kind=whole(LEAST_INTRON, MOST_RESIDUES),
        metavar="N",
        label="Longest intron",
        needs={
            "sum_statistics": "--max-intron applies to alignments that --sum-statistics links: add --sum-statistics",
            "translate=query|target": "--max-intron applies to nucleotides against proteins: add --translate query "
            "or target, or leave it out",
        },
        help="maximum number of nucleotides between alignments that --sum-statistics links, on the translated side "
        f"if there is one (default: {INTRON}, as in blastx)",
    )


class MaskOptions(Options, group="selection of pairs"):
    """Masking of residues."""

    mask: MaskName = option(
        default="none",
        choices=get_args(MaskName),
        label="Mask",
        help="residues that count as unknown when pairs are selected and E-values computed, but are shown in "
        "alignments: seg (proteins), dust (nucleotides), tantan (repeats), lower (lower case), or none (default)",
        doc="Residues of both sides that count as unknown (X, N) when pairs are selected, and for bits and E-values: "
        "a table's `corrected_score` excludes them, and `score` is that of the alignment with all residues. Methods "
        "as in the function `mask`. Other modes than local need `mask_hard`.",
    )
    mask_hard: bool = option(
        default=False,
        label="Replace masked letters",
        help="replace masked residues by X or N everywhere: in scores, alignments and outputs",
    )


class SelfOption(Options, group="selection of pairs"):
    """Exclusion of pairs of one name."""

    exclude_self: bool = option(
        default=False,
        label="Leave out pairs of one name",
        help="leave out pairs of sequences of the same name, for queries that are also in the database; such targets "
        "do not count towards --top",
    )


class ReciprocalOption(Options, group="selection of pairs"):
    """Restriction to pairs in which each sequence is the other's best."""

    reciprocal: bool = option(
        default=False,
        label="Each other's best",
        help="only pairs in which each sequence is the best of the other, by corrected_score or, without correction, "
        "by score; ties are kept; all other filters apply before, --top after",
    )


class CullingOption(Options, group="selection of pairs"):
    """Removal of alignments that better ones envelop."""

    culling: int | None = option(
        default=None,
        kind=whole(1),
        metavar="K",
        label="Culling",
        help="leave out an alignment whose span on the query lies within the spans of at least this many alignments "
        "of that query with higher scores, after all other filters (like blastp's -culling_limit); needs --top",
    )


class PairOptions(
    ModeOption,
    StrandOption,
    IdentityOptions,
    SelectionOptions,
    TopFirstOption,
    CompositionOption,
    MaskOptions,
    HspsOption,
    CoOptimalOptions,
    SumOptions,
    SelfOption,
    ReciprocalOption,
    CullingOption,
):
    """How pairs are aligned, and which of them are kept, checked.

    matrix, gap: a gap of k residues costs ``gap.open + k * gap.extend``; `whole` has the engines' integers.
    free_ends: for "semiglobal", the free ends among FREE_ENDS, or "all" (default).
    end_gap: cost of a gap before the first or after the last residue of its sequence if that end is not free;
        `gap` by default. Not in local mode, which has no such gaps.
    track_matrix, track_weight: scores of the sequences' second track, and their factor, above 0; None without one.

    Raises UsageError for values of another type or out of range, and ScoringError if matrix or gap is not one.
    """

    #: True if letters and the matrix determine scores.
    scores_letters: ClassVar[bool] = True

    matrix: SubstitutionMatrix = argument(kw_only=False)
    gap: Gap = argument(kw_only=False)
    free_ends: Iterable[str] = argument(default=frozenset(FREE_ENDS), kw_only=True)
    end_gap: Gap | None = argument(default=None, kw_only=True)
    track_matrix: SubstitutionMatrix | None = argument(default=None, kw_only=True)
    track_weight: float = argument(default=1.0, kw_only=True)

    def settle(self) -> None:
        """Check the values; numbers become int or float, ends a frozenset."""
        from tropalign.scoring import Gap, SubstitutionMatrix

        if not isinstance(self.matrix, SubstitutionMatrix):
            raise ScoringError(f"an object of type {type(self.matrix).__name__} is not a SubstitutionMatrix")
        if not isinstance(self.gap, Gap):
            raise ScoringError(
                "the gap cost must be a Gap(open, extend), such as tropalign.Gap(10, 1): a gap of k residues costs "
                "open + k * extend"
            )
        if self.end_gap is not None and not isinstance(self.end_gap, Gap):
            raise ScoringError("the cost of gaps at the ends must also be a Gap(open, extend)")
        self.check_choices()
        self.set("identity", checked_definition(self.identity))
        if self.end_gap is not None and MODES[self.mode].is_local:
            raise UsageError(
                "local alignments have no gaps at their ends: leave the costs of end gaps out, or choose another mode"
            )
        given = FREE_ENDS if isinstance(self.free_ends, str) and self.free_ends == "all" else self.free_ends
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise UsageError(f"free ends {given!r} are not a list: give a list of names, or all")
        ends = tuple(given)  # an iterator is read once
        unknown = sorted(set(map(str, ends)) - set(FREE_ENDS))
        if unknown:
            raise UsageError(f"free end {unknown[0]!r} is not one of {', '.join(FREE_ENDS)}")
        self.set("free_ends", frozenset(ends))
        if self.top is not None:
            self.set("top", whole_number("top", self.top))
        if self.min_score is not None:
            self.set("min_score", decimal_number("min_score", self.min_score))
        if self.top is not None and self.top < 1:
            raise UsageError(f"{named('top')} {self.top} is below 1: keep at least one target per query")
        checked_choice("top_first", self.top_first)
        if self.top_first and self.top is None:
            raise UsageError(f"{named('top_first')} has no effect without a number of targets: add {named('top')}")
        for name in SHARES:
            self._check_share(named(name), getattr(self, name))
        self._check_hsps()
        checked_choice("exclude_self", self.exclude_self)
        checked_choice("reciprocal", self.reciprocal)
        if self.culling is not None:
            name = named("culling")
            self.set("culling", whole_number("culling", self.culling, 1))
            if self.top is None:
                raise UsageError(f"{name} applies to the best targets of a query: add {named('top')}")
            if self.report == "score":
                raise UsageError(
                    f"{name} needs spans on the query, which {named('report')} score does not compute: "
                    "choose ends or alignment"
                )
        self._check_local()
        self._check_co_optimal()
        if self.has_track:
            self._check_track()

    def _check_track(self) -> None:
        """Reject options that one matrix supports, but not two tracks."""
        if self.gap.has_two_pieces or self.end_gap is not None:
            raise UsageError(
                f"{named('track')} supports one open and one extend cost for all gaps: leave second pieces and costs "
                "of end gaps out"
            )
        if self.strand != "plus":
            raise UsageError(f"{named('track')} has no reverse strand: leave {named('strand')} out")
        of_evalues = {
            **{name: getattr(self, name) is not None for name in ("max_evalue", "min_bits", "db_size")},
            "composition": self.knows_composition,
            "sum_statistics": self.sum_statistics,
        }
        for name in (name for name, is_given in of_evalues.items() if is_given):
            raise UsageError(
                f"{named(name)} applies to E-values and bits, which scores of two tracks do not have: leave it out"
            )
        for name in (name for name in ("mask", "co_optimal") if getattr(self, name) not in (None, "none")):
            raise UsageError(f"{named('track')} does not support {named(name)}: leave one of them out")

    def _check_share(self, name: str, share: Any) -> None:
        if share is None:
            return
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share <= 1:  # type: ignore[operator]
            raise UsageError(f"{name} {share!r} is not a fraction between 0 and 1")
        if self.report != "alignment":
            raise UsageError(f"{name} needs {named('report')} alignment")

    def _check_hsps(self) -> None:
        """Check the options for several alignments of a pair and for their sums."""
        name = named("max_hsps")
        self.set("max_hsps", whole_number("max_hsps", self.max_hsps, 1, MOST_HSPS))
        if self.max_hsps > 1 and not self.is_local:
            raise UsageError(f"{name} applies to local alignments only: use {named('mode')} local")
        if self.max_hsps > 1 and self.report != "alignment":
            raise UsageError(f"{name} needs {named('report')} alignment")
        if self.max_hsps > 1 and self.is_softly_masked:
            raise UsageError(f"{name} does not support soft masks: add {named('mask_hard')}")
        name = named("sum_statistics")
        checked_choice("sum_statistics", self.sum_statistics)
        if self.sum_statistics and self.max_hsps == 1:
            raise UsageError(f"{name} combines several alignments of a pair: add {named('max_hsps')}, such as 10")
        if self.max_intron is None:
            return
        self.set("max_intron", whole_number("max_intron", self.max_intron, LEAST_INTRON, MOST_RESIDUES))
        if not self.sum_statistics:
            raise UsageError(f"{named('max_intron')} applies to alignments that {name} links: add {name}")

    def _check_local(self) -> None:
        """Check options that only local alignments support: E-values, bits and soft masks."""
        if self.db_size is not None:
            self.set("db_size", whole_number("db_size", self.db_size))
        for name in ("max_evalue", "min_bits", "db_size"):
            value, word = getattr(self, name), named(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | Real) or not isfinite(value):
                raise UsageError(f"{word} {value!r} is not a number")
            if name != "min_bits" and value <= 0:
                raise UsageError(f"{word} {value} is not a number above 0")
            if not self.is_local:
                raise UsageError(
                    f"{word} applies to local alignments only, because others have no E-values and bits: use "
                    f"{named('mode')} local"
                )
        if self.knows_composition and not self.is_local:
            raise UsageError(
                f"{named('composition')} {self.composition} applies to E-values and bits, which only local alignments "
                f"have: use {named('mode')} local"
            )
        checked_choice("mask_hard", self.mask_hard)
        if self.mask_hard and self.mask == "none":
            raise UsageError(f"{named('mask_hard')} needs a mask: add {named('mask')} seg, or another method")
        if self.is_softly_masked and not self.is_local:
            raise UsageError(
                f"{named('mask')} {self.mask} selects pairs by scores of local alignments: use {named('mode')} local, "
                f"or add {named('mask_hard')}, which replaces the residues"
            )

    def _check_co_optimal(self) -> None:
        """Check the options for co-optimal alignments."""
        name = named("co_optimal")
        if self.within is not None:
            self.set("within", decimal_number("within", self.within))
            if self.co_optimal is None:
                raise UsageError(f"{named('within')} extends the list of co-optimal alignments: add {name}")
            if self.is_local:
                raise UsageError(
                    f"{named('within')} needs {named('mode')} global or semiglobal: choose one, or find further local "
                    f"alignments with {named('max_hsps')}"
                )
        if self.co_optimal is None:
            return
        self.set("co_optimal", whole_number("co_optimal", self.co_optimal, 1, MOST_CO_OPTIMAL))
        if self.report != "alignment":
            raise UsageError(f"{name} needs {named('report')} alignment")
        if any(cost is not None and cost.has_two_pieces for cost in (self.gap, self.end_gap)):
            raise UsageError(f"{name} does not support two-piece gap costs: use one open and one extend")
        for other, is_given in (("max_hsps", self.max_hsps > 1), ("culling", self.culling is not None)):
            if is_given:
                raise UsageError(EXCLUSIVE.format(this=name, other=named(other)))

    @cached_property
    def whole(self) -> WholeScoring:
        """Scores, costs and the least score times the factor that makes them integers; may raise ScoringError."""
        from tropalign.scoring import WholeScoring

        track = None if self.track_matrix is None else (self.track_matrix, self.track_weight)
        return WholeScoring.of(self.matrix, self.gap, self.min_score, self.end_gap, track)

    @property
    def has_track(self) -> bool:
        """True if the scores of a second track are added."""
        return self.track_matrix is not None

    @property
    def has_decimals(self) -> bool:
        """True if scores are float64."""
        return self.whole.scale > 1

    @property
    def asks_scores(self) -> bool:
        """True if a filter by score, bits or E-value is set."""
        return any(limit is not None for limit in (self.min_score, self.min_bits, self.max_evalue))

    @property
    def asks_shares(self) -> bool:
        """True if alignments are filtered by identity or coverage."""
        return any(getattr(self, name) is not None for name in SHARES)

    @property
    def selects(self) -> bool:
        """True if the run selects pairs, or selects the strand of each pair."""
        is_chosen = self.top is not None or self.exclude_self or self.strand == "both" or self.is_softly_masked
        return is_chosen or self.asks_scores or self.asks_shares

    @property
    def sought_evalue(self) -> float | None:
        """E-value up to which single alignments are searched: sets of them may have lower ones."""
        if self.max_evalue is None or not self.sum_statistics:
            return self.max_evalue
        return max(self.max_evalue, SOUGHT_EVALUE)

    @property
    def is_local(self) -> bool:
        """True if alignments may start and end anywhere."""
        return MODES[self.mode].is_local

    @property
    def knows_composition(self) -> bool:
        """True if bits and E-values are based on scores that are corrected for composition."""
        return self.composition != "ignored"

    @property
    def is_softly_masked(self) -> bool:
        """True if masked residues count as unknown when pairs are selected and judged, but are shown in alignments."""
        return self.mask != "none" and not self.mask_hard

    @property
    def recurrence(self) -> str:
        """The engines' name of the mode."""
        return MODES[self.mode].recurrence

    @property
    def pays_ends(self) -> bool:
        """True if every residue is in a column, even if against a gap."""
        return self.recurrence == "global" and not any(self.freed())

    def freed(self) -> tuple[bool, bool, bool, bool]:
        """Return which of FREE_ENDS are free, as engines need it; all False in modes without free ends."""
        free = self.free_ends if MODES[self.mode].frees_ends else frozenset()
        return tuple(end in free for end in FREE_ENDS)  # type: ignore[return-value]

    def able_devices(self, names: Iterable[str], has_positions: bool = False) -> list[str]:
        """Return the devices that support these options: all, or the CPU. Raises DeviceError if another was named."""
        listed = list(names)
        if self.matrix.is_symmetric and self.whole.is_affine and not has_positions and not self.has_track:
            return listed
        clusters = [name for name in listed if is_cluster(name)]
        named = next((name for name in listed if name not in ("auto", "cpu", *clusters)), None)
        if named is not None:
            is_gap = not self.whole.is_affine
            what = "two-piece gap costs and costs of end gaps" if is_gap else "asymmetric matrices"
            what = "position matrices" if has_positions else what
            what = "second tracks" if self.has_track else what
            raise DeviceError(f"{named}: {what} are supported on the CPU only: choose the device cpu")
        return ["cpu", *clusters]

    def fits(self, longest: int, factor: int = 1) -> bool:
        """True if all scores of sequences of this length, times `factor`, fit 32 bits."""
        scores, costs = self.whole.scores, (*self.whole.gap, *self.whole.end_gap)
        most_cost = max(costs[::2]) + 2 * max(costs[1::2])  # of a gap at a cell (native/bindings/pair_arguments.hpp)
        worst = max(int(scores.max()), -int(scores.min())) + most_cost
        track = self.whole.track_scores
        worst += 0 if track is None else max(int(track.max()), -int(track.min()))
        return factor * worst * (2 * longest + 2) < 2**31

    def check_range(self, longest: int) -> None:
        """Raise ScoringError if a score of sequences of this length may not fit 32 bits."""
        if not self.fits(longest):
            decimals = "" if self.whole.scale == 1 else f", times {self.whole.scale} for their decimals"
            raise ScoringError(
                f"scores of sequences of {longest} residues may exceed 2147483647 with this matrix and these gap "
                f"costs{decimals}: {'give fewer decimals, or ' if decimals else ''}divide all of them by a common "
                "factor"
            )

    def parameters(self) -> dict[str, str]:
        """Return the parameters for the headers of results, which a resumed run has to share."""
        words = {"mode": self.mode, "matrix": self.matrix.name, "gap_cost": self.gap.formula, "report": self.report}
        ends = ",".join(end for end in FREE_ENDS if end in self.free_ends)
        optional = (
            (MODES[self.mode].frees_ends, "free_ends", ends),
            (self.end_gap is not None, "end_gap_cost", "" if self.end_gap is None else self.end_gap.formula),
            (self.has_track, "track_matrix", "" if self.track_matrix is None else self.track_matrix.name),
            (self.has_track, "track_weight", f"{self.track_weight:g}"),
            (self.identity != "columns", "identity", self.identity),
            (self.ambiguous != "differ", "ambiguous", f"{self.ambiguous} in identities"),
            (self.strand != "plus", "strand", self.strand),
            (self.knows_composition, "composition", self.composition),
            (self.mask != "none", "mask", f"{self.mask}, hard" if self.mask_hard else self.mask),
            (self.max_hsps > 1, "max_hsps", str(self.max_hsps)),
            (self.co_optimal is not None, "co_optimal", str(self.co_optimal)),
            (self.within is not None, "within", str(self.within)),
            (self.sum_statistics, "sum_statistics", f"sets in order, introns up to {self.max_intron or INTRON}"),
            (self.top_first, "top_first", "before identity and coverage"),
            (self.exclude_self, "pairs_of_one_name", "left out"),
            (self.culling is not None, "culling", str(self.culling)),
            (self.reciprocal, "pairs", "each other's best"),
        )
        words |= {name: text for is_said, name, text in optional if is_said}
        for name in SelectionOptions.declared():
            if name != "report" and getattr(self, name) is not None:
                words[name] = str(getattr(self, name))
        return words


def of_two_alphabets(first: Alphabet, second: Alphabet, words: tuple[str, str]) -> InputError:
    """Return the error for queries and targets that no matrix scores together; `words` name them."""
    return InputError(
        f"the {words[0]} detected as {first.name} and the {words[1]} as {second.name}, which cannot be aligned with "
        f"each other: translate the nucleotides with {named('translate')}, or set the alphabet of both with "
        f"{named('alphabet')} {first.name}"
    )


def check_same_alphabet(
    queries: SequenceBatch, targets: SequenceBatch, files: tuple[str | None, str | None] = (None, None)
) -> None:
    """Raise InputError if queries and targets (of these files) have different alphabets, which no matrix scores."""
    if queries.alphabet != targets.alphabet:
        if not (queries.alphabet.judged and targets.alphabet.judged):
            raise of_two_alphabets(queries.alphabet, targets.alphabet, ("queries were", "targets"))
        from tropalign.sequences.reader import of_two_kinds

        remedy = f"translate the nucleotides with {named('translate')}"
        raise of_two_kinds([(queries, files[0]), (targets, files[1])], remedy)
    if queries.alphabet.letters != targets.alphabet.letters:
        raise InputError(
            f"queries and targets have different alphabets of the same name, {queries.alphabet.name}: read both with "
            "one alphabet"
        )
