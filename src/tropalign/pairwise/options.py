"""Options of pairwise alignment, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.devices.names import is_cluster
from tropalign.errors import DeviceError, InputError, ScoringError, UsageError, named
from tropalign.options.option import BITS, DECIMAL, E_VALUE, FRACTION, TEXT, Options, argument, option, whole
from tropalign.properties import cached_property
from tropalign.resources.numbers import checked_choice, decimal_number, whole_number
from tropalign.results.names import AmbiguousRule, checked_definition

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix, WholeScoring
    from tropalign.sequences import Alphabet, SequenceBatch

MethodName = Literal["seg", "dust", "tantan", "lower"]


#: Ends at which residues of that sequence may overhang at no cost (semiglobal), in the order of native code.
EndName = Literal["query-start", "query-end", "target-start", "target-end"]
FREE_ENDS = get_args(EndName)
ModeName = Literal["local", "global", "semiglobal"]
ReportName = Literal["score", "ends", "alignment"]
StrandName = Literal["plus", "both"]
Side = Literal["query", "target", "both"]
CompositionName = Literal["ignored", "scaled", "adjusted"]
MaskName = Literal["none", MethodName]
REPORTS = get_args(ReportName)
STRANDS = get_args(StrandName)
#: Largest number of database residues, which may exceed other options.
MOST_RESIDUES = 10**15
#: Nucleotides between linked alignments: default and minimum.
INTRON, LEAST_INTRON = 122, 5
#: Single alignments of sets are searched up to this E-value, or the requested one if higher.
SOUGHT_EVALUE = 10.0
#: Most alignments of a pair.
MOST_HSPS = 1000
#: Help text of --identity, with the default to fill in.
IDENTITY_HELP = (
    "what identity means: identical columns per column (columns), per residue of the shorter (shorter) or the longer "
    "sequence (longer), per pair of residues (matches), per column between the first and the last pair of residues "
    "(internal), or 1 - (mismatches + gaps, each once) per residue of the longer sequence (openings); vsearch's "
    "--iddef 0 to 4 are shorter, columns, internal, openings and blast (as columns); default: {default}"
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
        "local": Mode("the best pair of segments (Smith and Waterman 1981)", "local"),
        "global": Mode("both sequences from end to end (Needleman and Wunsch 1970)"),
        "semiglobal": Mode("global, with residues that hang over at no cost", frees_ends=True),
    }
)


class ModeOption(Options, group="alignment"):
    """Alignment mode."""

    mode: ModeName = option(
        default="local",
        choices=MODES,
        is_common=True,
        help="align the parts that score best (local), the whole sequences (global), or these with free ends "
        "(semiglobal); default: local",
        doc="Smith and Waterman 1981; Needleman and Wunsch 1970; global with free ends. All with affine gaps (Gotoh "
        "1982).",
    )


class StrandOption(Options, group="alignment"):
    """Strands of nucleotides."""

    strand: StrandName = option(
        default="plus",
        choices=STRANDS,
        is_common=True,
        help="both: the better of the query's two strands (default: plus)",
        doc="Both: the better of a nucleotide query's two strands; plus where they are equal.",
    )


class TranslationOptions(Options, group="translation"):
    """Translated sides, and their genetic code."""

    translate: Side | None = option(
        default=None,
        choices=get_args(Side),
        is_common=True,
        help="which nucleotides are aligned as proteins, each pair in the best of six frames (default: none)",
        doc="Nucleotides of this side are aligned as proteins, each pair in the best of their six frames. A table's "
        "`queries` (or `targets`) are then the frames and its attributes count their residues; `columns` and files "
        "name the sequences and count nucleotides.",
    )
    genetic_code: int | None = option(
        default=None,
        kind=whole(1),
        metavar="N",
        help="NCBI's number of the code (default: 1, standard)",
        doc="NCBI's number of the code that translates; 1, the standard one, by default.",
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
        doc="Identical columns per column (columns, or vsearch's number 1; blast, 4); per residue of the shorter "
        "sequence (shorter, 0, CD-HIT's) or of the longer one (longer); per pair of residues (matches: gaps do not "
        "count); per column between the first and the last pair of residues (internal, 2, vsearch's default); 1 - "
        "(mismatches + gaps, each once) per residue of the longer sequence (openings, 3).",
    )
    ambiguous: AmbiguousRule = option(
        default="differ",
        choices=get_args(AmbiguousRule),
        label="Ambiguous residues in identities",
        help="whether N against A, R against G ... counts as identical: match, as in vsearch, if both may be the same "
        "residue; differ (default), only if the letters are equal",
        doc="Whether a column of two letters that may be the same residue (N and A, R and G, X and any residue) counts "
        "as identical, as in vsearch (match), or only a column of equal letters (differ).",
    )


class SelectionOptions(Options, group="which pairs"):
    """Selection of rows, and their depth."""

    report: ReportName = option(
        default="alignment",
        choices=REPORTS,
        label="What is computed",
        help="scores, with start and end, or whole alignments (default; with --columns as they need it); only what "
        "is asked for is computed",
        form_help="Scores, with start and end, or whole alignments (default; with columns as these need it); only "
        "what is asked for is computed",
        doc="How much is computed.",
    )
    top: int | None = option(
        default=None,
        kind=whole(1),
        metavar="K",
        label="Best targets per query",
        is_common=True,
        help="the K best targets of each query, of those with the identity and the coverages asked for",
        doc="Only that many best targets of each query, of those with the identity and the coverages asked for; the "
        "earlier target if scores are equal.",
    )
    min_score: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Minimum score",
        is_common=True,
        help="only alignments with at least this score",
    )
    min_identity: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum identity",
        is_common=True,
        help="only alignments with at least this fraction identical",
        doc="Only alignments with at least this identity, as `identity` defines it.",
    )
    min_coverage: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum coverage",
        help="only alignments with at least this fraction of the longer sequence's residues beside a residue",
        doc="Only alignments with at least this fraction of the longer sequence's residues beside a residue (not a "
        "gap).",
    )
    min_query_coverage: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum coverage of the query",
        help="only alignments with at least this fraction of the query's residues beside a residue",
    )
    min_target_coverage: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum coverage of the target",
        help="only alignments with at least this fraction of the target's residues beside a residue",
    )
    max_evalue: float | None = option(
        default=None,
        kind=E_VALUE,
        metavar="E",
        label="Maximum E-value",
        help="only local alignments with at most this E-value",
    )
    min_bits: float | None = option(
        default=None,
        kind=BITS,
        metavar="N",
        label="Minimum bit score",
        help="only local alignments with a score of at least so many bits",
    )
    db_size: int | None = option(
        default=None,
        kind=whole(1, MOST_RESIDUES),
        metavar="N",
        label="Database size",
        help="residues of all targets that E-values reckon with (default: those of B, without B of A)",
        form_help="Residues of all targets that E-values reckon with (default: those of the targets, without targets "
        "of the queries)",
        doc="How many residues E-values take all targets to have, whose number stays; as many as they have by default.",
    )


class TopFirstOption(Options, group="which pairs"):
    """Order of `top` and the filters."""

    top_first: bool = option(
        default=False,
        label="Count the best targets before the filters",
        help="the K best targets by score are chosen first, and those of them below --min-identity or the least "
        "coverages are then left out (default: the K best of those that pass); needs --top",
        form_help="The best targets by score are chosen first, and those of them below the minimum identity or "
        "coverages are then left out (default: the best of those that pass)",
        doc="Choose the `top` targets by score first, and leave out those below the minimum identity or coverages "
        "then; by default the best of those that pass are chosen. Needs `top`.",
    )


class CompositionOption(Options, group="which pairs"):
    """Correction of bits and E-values for composition."""

    composition: CompositionName = option(
        default="ignored",
        choices=get_args(CompositionName),
        label="Composition",
        help="adjusted, scaled: bits and E-values of scores by a matrix that is adjusted to, or scaled by, the "
        "composition of both sequences (compare blastp's -comp_based_stats 2 and 1); ignored: of the scores as they "
        "are (default)",
        doc="Adjusted, scaled: `max_evalue`, `min_bits`, and a table's bits and E-values go by `corrected_score`, the "
        "score of the pair by a matrix that is adjusted to the composition of both sequences (Yu and Altschul 2005; "
        "proteins alone), or scaled by it (Schaffer and others 2001); ignored: by the score. Local mode, without "
        "translation.",
    )


class HspsOption(Options, group="which pairs"):
    """Number of alignments per pair."""

    max_hsps: int = option(
        default=1,
        kind=whole(1, MOST_HSPS),
        metavar="K",
        label="Alignments per pair",
        help="up to K local alignments of each pair, none of which pairs two residues that a better one pairs "
        "(default: 1)",
        doc="Up to so many local alignments of each pair, the best first: each is the best that pairs no two residues "
        "which those before it pair (Waterman and Eggert 1987). A row each, numbered in `hsp`, if it passes what rows "
        "have to pass, as the first one has to.",
    )


class SumOptions(Options, group="which pairs"):
    """Sum statistics of several alignments of a pair."""

    sum_statistics: bool = option(
        default=False,
        label="Sum statistics",
        help="judge alignments of a pair together that follow each other in both sequences, as exons do (compare "
        "blastx's -sum_stats): columns sum_evalue and sum_count, and --max-evalue goes by sum_evalue; needs --max-hsps "
        "above 1",
        form_help="Judge alignments of a pair together that follow each other in both sequences, as exons do: columns "
        "sum_evalue and sum_count, and the maximum E-value goes by sum_evalue; needs several alignments per pair",
        doc="Alignments of a pair that follow each other in both sequences are judged together (Karlin and Altschul "
        "1993): a table has `sum_evalue` and `sum_count`, and `max_evalue` goes by the first. Needs `max_hsps` above "
        "1.",
    )
    max_intron: int | None = option(
        default=None,
        kind=whole(LEAST_INTRON, MOST_RESIDUES),
        metavar="N",
        label="Longest intron",
        help=f"nucleotides between alignments that --sum-statistics links, of one translated side (default: {INTRON}, "
        "as blastx)",
        form_help="Nucleotides between alignments that sum statistics link, of one translated side (default: "
        f"{INTRON})",
        doc=f"Nucleotides that may lie between linked alignments on the translated side, where one is; {INTRON} by "
        "default.",
    )


class MaskOptions(Options, group="which pairs"):
    """Residues that do not count."""

    mask: MaskName = option(
        default="none",
        choices=get_args(MaskName),
        label="Mask",
        help="letters that count as unknown where scores, E-values and the best targets are found, while alignments "
        "are shown of all letters: seg (proteins), dust (nucleotides), tantan (repeats), lower (lower case), or none "
        "(default)",
        doc="Letters of both sides that count as unknown (X, N) where it is decided which pairs are kept, and for bits "
        "and E-values: a table's `corrected_score` is the score without them, `score` that of the alignment, of all "
        "letters. Methods are those of `mask`. Local mode; in others with `mask_hard`.",
    )
    mask_hard: bool = option(
        default=False,
        label="Replace masked letters",
        help="masked letters are X or N throughout, as if the files had these: in scores, alignments and outputs",
        doc="Masked letters are X or N throughout, as if the sequences had these: in scores, alignments and outputs.",
    )


class SelfOption(Options, group="which pairs"):
    """Exclusion of pairs of one name."""

    exclude_self: bool = option(
        default=False,
        label="Leave out pairs of one name",
        help="leave out pairs of sequences of the same name, where the queries are in the database, too",
        doc="Leave out pairs of sequences of the same name; such a target is none of the `top`.",
    )


class ReciprocalOption(Options, group="which pairs"):
    """Restriction to pairs in which each sequence is the other's best."""

    reciprocal: bool = option(
        default=False,
        label="Each other's best",
        help="only pairs in which each sequence is the best of the other, by the score that E-values are of; all that "
        "tie; of the pairs that pass all other options but --top",
        form_help="Only pairs in which each sequence is the best of the other, by the score that E-values are of; all "
        "that tie",
        doc="Only pairs in which each sequence is the best of the other by `corrected_score`, where there is one, else "
        "by `score`; all that tie. They are sought among the pairs that pass all other options but `top`, which then "
        "chooses among those that tie.",
    )


class CullingOption(Options, group="which pairs"):
    """Limit of better alignments that may envelop one."""

    culling: int | None = option(
        default=None,
        kind=whole(1),
        metavar="K",
        label="Culling",
        help="leave out an alignment whose span on the query lies within the spans of K or more alignments of that "
        "query with higher scores (compare blastp's -culling_limit); needs --top",
        form_help="Leave out an alignment whose span on the query lies within the spans of so many alignments of that "
        "query with higher scores, or more; of the best targets per query",
        doc="Leave out an alignment whose span on the query lies within the spans of so many others of that query, or "
        "more, with higher scores (`corrected_score` where there is one); of those that all other options leave. Needs "
        "`top`.",
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
    SumOptions,
    SelfOption,
    ReciprocalOption,
    CullingOption,
):
    """How pairs are aligned, and which of them are kept, checked.

    matrix, gap: a gap of k residues costs ``gap.open + k * gap.extend``; `whole` has the engines' integers.
    free_ends: for "semiglobal", the free ends among FREE_ENDS; all four by default.
    end_gap: cost of a gap before the first or after the last residue of its sequence if that end is not free;
        `gap` by default. Not in local mode, which has no such gaps.

    Raises UsageError for values of another type or out of range, and ScoringError if matrix or gap is not one.
    """

    matrix: SubstitutionMatrix = argument(kw_only=False)
    gap: Gap = argument(kw_only=False)
    free_ends: Iterable[str] = argument(default=frozenset(FREE_ENDS), kw_only=True)
    end_gap: Gap | None = argument(default=None, kw_only=True)

    def settle(self) -> None:
        """Check the values; numbers become int or float, ends a frozenset."""
        from tropalign.scoring import Gap, SubstitutionMatrix

        if not isinstance(self.matrix, SubstitutionMatrix):
            raise ScoringError(f"an object of type {type(self.matrix).__name__} is not a SubstitutionMatrix")
        if not isinstance(self.gap, Gap):
            raise ScoringError(
                "the gap cost has to be a Gap(open, extend), such as tropalign.Gap(10, 1): a gap of k residues costs "
                "open + k * extend"
            )
        if self.end_gap is not None and not isinstance(self.end_gap, Gap):
            raise ScoringError("the cost of gaps at the ends has to be a Gap(open, extend), too")
        self.check_choices()
        self.set("identity", checked_definition(self.identity))
        if self.end_gap is not None and MODES[self.mode].is_local:
            raise UsageError(
                "local alignments have no gaps at their ends: leave their costs out, or choose another mode"
            )
        if isinstance(self.free_ends, str) or not isinstance(self.free_ends, Iterable):
            raise UsageError(f"free ends {self.free_ends!r}: give a list of them")
        ends = tuple(self.free_ends)  # an iterator is read once
        unknown = sorted(set(map(str, ends)) - set(FREE_ENDS))
        if unknown:
            raise UsageError(f"free end {unknown[0]!r} is none of {', '.join(FREE_ENDS)}")
        self.set("free_ends", frozenset(ends))
        if self.top is not None:
            self.set("top", whole_number("top", self.top))
        if self.min_score is not None:
            self.set("min_score", decimal_number("min_score", self.min_score))
        if self.top is not None and self.top < 1:
            raise UsageError(f"{named('top')} {self.top}: at least one target per query has to be kept")
        checked_choice("top_first", self.top_first)
        if self.top_first and self.top is None:
            raise UsageError(f"{named('top_first')} says how the best targets are counted: add {named('top')}")
        for name in SHARES:
            self._check_share(named(name), getattr(self, name))
        self._check_hsps()
        checked_choice("exclude_self", self.exclude_self)
        checked_choice("reciprocal", self.reciprocal)
        if self.culling is not None:
            name = named("culling")
            self.set("culling", whole_number("culling", self.culling, 1))
            if self.top is None:
                raise UsageError(f"{name} compares the best targets of a query: add {named('top')}")
            if self.report == "score":
                raise UsageError(f"{name} goes by spans on the query: {named('report')} score has none")
        self._check_local()

    def _check_share(self, name: str, share: Any) -> None:
        if share is None:
            return
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share <= 1:  # type: ignore[operator]
            raise UsageError(f"{name} {share!r} is not a fraction between 0 and 1")
        if self.report != "alignment":
            raise UsageError(f"{name} needs {named('report')} alignment")

    def _check_hsps(self) -> None:
        """Check how many alignments a pair has, and how they are judged together."""
        name = named("max_hsps")
        self.set("max_hsps", whole_number("max_hsps", self.max_hsps, 1, MOST_HSPS))
        if self.max_hsps > 1 and not self.is_local:
            raise UsageError(f"{name} is for local alignments, of which a pair has several: use {named('mode')} local")
        if self.max_hsps > 1 and self.report != "alignment":
            raise UsageError(f"{name} needs {named('report')} alignment")
        if self.max_hsps > 1 and self.is_softly_masked:
            raise UsageError(f"{name} counts all letters of further alignments: add {named('mask_hard')}")
        name = named("sum_statistics")
        checked_choice("sum_statistics", self.sum_statistics)
        if self.sum_statistics and self.max_hsps == 1:
            raise UsageError(
                f"{name} judges several alignments of a pair together: add {named('max_hsps')}, such as 10"
            )
        if self.max_intron is None:
            return
        self.set("max_intron", whole_number("max_intron", self.max_intron, LEAST_INTRON, MOST_RESIDUES))
        if not self.sum_statistics:
            raise UsageError(f"{named('max_intron')} says which alignments {name} links: add {name}")

    def _check_local(self) -> None:
        """Check what only local alignments have: E-values, bits, and soft masks, which decide by scores."""
        if self.db_size is not None:
            self.set("db_size", whole_number("db_size", self.db_size))
        for name in ("max_evalue", "min_bits", "db_size"):
            value, word = getattr(self, name), named(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | Real) or not isfinite(value):
                raise UsageError(f"{word} {value!r} is not a number")
            if name != "min_bits" and value <= 0:
                raise UsageError(f"{word} {value}: give a number above 0")
            if not self.is_local:
                raise UsageError(
                    f"{word} applies to local alignments only, which have E-values and bits: use {named('mode')} local"
                )
        if self.knows_composition and not self.is_local:
            raise UsageError(
                f"{named('composition')} {self.composition} is for E-values and bits, which local alignments have: use "
                f"{named('mode')} local"
            )
        checked_choice("mask_hard", self.mask_hard)
        if self.mask_hard and self.mask == "none":
            raise UsageError(f"{named('mask_hard')} needs a mask: add {named('mask')} seg, or another one")
        if self.is_softly_masked and not self.is_local:
            raise UsageError(
                f"{named('mask')} {self.mask} decides by scores of local alignments: use {named('mode')} local, or add "
                f"{named('mask_hard')}, which replaces the letters"
            )

    @cached_property
    def whole(self) -> WholeScoring:
        """Scores, costs and the least score times the factor that makes them integers; may raise ScoringError."""
        from tropalign.scoring import WholeScoring

        return WholeScoring.of(self.matrix, self.gap, self.min_score, self.end_gap)

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
        """True if not every pair is reported as it is: some are chosen, or its strand is."""
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

    def able_devices(self, names: Iterable[str]) -> list[str]:
        """Return the devices that support these options: all, or the CPU. Raises DeviceError if another was named."""
        listed = list(names)
        if self.matrix.is_symmetric and self.whole.is_affine:
            return listed
        clusters = [name for name in listed if is_cluster(name)]
        named = next((name for name in listed if name not in ("auto", "cpu", *clusters)), None)
        if named is not None:
            is_gap = not self.whole.is_affine
            what = "gap costs of two pieces or of the ends" if is_gap else "scores of a matrix that is not symmetric"
            raise DeviceError(f"{named}: {what} are computed on the CPU only: choose the device cpu")
        return ["cpu", *clusters]

    def fits(self, longest: int, factor: int = 1) -> bool:
        """True if all scores of sequences of this length fit 32 bits, times a factor."""
        scores, costs = self.whole.scores, (*self.whole.gap, *self.whole.end_gap)
        most_cost = max(costs[::2]) + 2 * max(costs[1::2])  # of a gap at a cell (native/bindings/pair_arguments.hpp)
        worst = max(int(scores.max()), -int(scores.min())) + most_cost
        return factor * worst * (2 * longest + 2) < 2**31

    def check_range(self, longest: int) -> None:
        """Raise ScoringError if a score of sequences of this length may not fit 32 bits."""
        if not self.fits(longest):
            decimals = "" if self.whole.scale == 1 else f", times {self.whole.scale} for their decimals"
            raise ScoringError(
                f"scores of sequences of {longest} residues may pass 2147483647 with this matrix and these gap costs"
                f"{decimals}: {'give fewer decimals, or ' if decimals else ''}divide all of them by a common factor"
            )

    def parameters(self) -> dict[str, str]:
        """Return the parameters for the headers of results, which a resumed run has to share."""
        words = {"mode": self.mode, "matrix": self.matrix.name, "gap_cost": self.gap.formula, "report": self.report}
        ends = ",".join(end for end in FREE_ENDS if end in self.free_ends)
        optional = (
            (MODES[self.mode].frees_ends, "free_ends", ends),
            (self.end_gap is not None, "end_gap_cost", "" if self.end_gap is None else self.end_gap.formula),
            (self.identity != "columns", "identity", self.identity),
            (self.ambiguous != "differ", "ambiguous", f"{self.ambiguous} in identities"),
            (self.strand != "plus", "strand", self.strand),
            (self.knows_composition, "composition", self.composition),
            (self.mask != "none", "mask", f"{self.mask}, hard" if self.mask_hard else self.mask),
            (self.max_hsps > 1, "max_hsps", str(self.max_hsps)),
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
        f"the {words[0]} judged {first.name} and the {words[1]} {second.name}, which cannot be "
        f"aligned: translate the nucleotides with {named('translate')}, or say what both are with {named('alphabet')} "
        f"{first.name}"
    )


def check_same_alphabet(
    queries: SequenceBatch, targets: SequenceBatch, files: tuple[str | None, str | None] = (None, None)
) -> None:
    """Raise InputError if queries and targets, of these files, are of two alphabets, which no matrix scores."""
    if queries.alphabet != targets.alphabet:
        if not (queries.alphabet.judged and targets.alphabet.judged):
            raise of_two_alphabets(queries.alphabet, targets.alphabet, ("queries were", "targets"))
        from tropalign.sequences.reader import of_two_kinds

        remedy = f"translate the nucleotides with {named('translate')}"
        raise of_two_kinds([(queries, files[0]), (targets, files[1])], remedy)
    if queries.alphabet.letters != targets.alphabet.letters:
        raise InputError(
            f"queries and targets have two alphabets of the same name, {queries.alphabet.name}: read both with one"
        )
