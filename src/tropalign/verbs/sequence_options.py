"""Options of verbs that align pairs: alignment, scoring and sequences."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from tropalign.errors import shown
from tropalign.options.option import (
    DECIMAL,
    TEXT,
    Kind,
    Option,
    Options,
    again,
    input_file,
    option,
    output_file,
    whole,
)
from tropalign.pairwise.options import (
    FREE_ENDS,
    MODES,
    NO_ADDED_TRACK,
    ModeName,
    ModeOption,
    StrandOption,
    TrackOptions,
)
from tropalign.sequences.alphabet import ALPHABETS, IUPAC_RULES, IupacRule, PositionFormat, own_alphabet
from tropalign.verbs.command import SEQUENCE_FILES, Command

if TYPE_CHECKING:
    from tropalign.clusters.dereplication import SampledReads, Uniques
    from tropalign.results.clusters import Clusters, OtuTable
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.annotations import Teller

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.sequences import Alphabet, SequenceBatch

#: Scores of a match and a mismatch if only the other one is given.
MATCH, MISMATCH = 5, -4
_BOTH_COSTS = "--gap-open2 and --gap-extend2 belong together: give both"


class ScoringOptions(Options, group="alignment"):
    """Scores of residues, and costs of gaps."""

    matrix: str | None = input_file(
        default=None,
        holds="matrix",
        names=("tropalign.scoring.matrix", "known_names"),
        metavar="NAME|FILE",
        label="Substitution matrix",
        file_label="Your own matrix",
        excludes=dict.fromkeys(
            ("match", "mismatch", "iupac"), "--matrix and --match/--mismatch/--iupac exclude each other"
        ),
        is_common=True,
        help="substitution matrix: a name, including EMBOSS's and parasail's (such as BLOSUM62 or EDNAFULL), or a "
        f"file in NCBI format (default: BLOSUM62; for nucleotides match {MATCH}, mismatch {MISMATCH})",
        form_help="Substitution matrix: a name, including EMBOSS's and parasail's (such as BLOSUM62 or EDNAFULL), or "
        f"a file in NCBI format, see the other inputs (default: BLOSUM62; for nucleotides match {MATCH}, mismatch "
        f"{MISMATCH})",
    )
    match: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Match score",
        help="score of equal residues, instead of a matrix",
    )
    mismatch: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Mismatch score",
        help="score of different residues, usually negative",
    )
    iupac: IupacRule | None = option(
        default=None,
        choices=IUPAC_RULES,
        label="Ambiguous nucleotides",
        help="scores of ambiguous nucleotides without a matrix, such as R and A or N and C: mismatch (default; N "
        "scores 0), zero (as in vsearch), or match (if both may be the same residue)",
    )
    gap_open: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Gap opening cost",
        is_common=True,
        help="cost of opening a gap, excluding its residues (default: 11; nucleotides 10); EMBOSS's costs of 10 and "
        "0.5 correspond to --gap-open 9.5 --gap-extend 0.5",
    )
    gap_extend: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Gap extension cost",
        is_common=True,
        help="cost of each residue of a gap, including the first (default: 1)",
    )
    gap_open2: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Second gap opening cost",
        needs={"gap_extend2": _BOTH_COSTS},
        help="second cost of opening a gap, with --gap-extend2; each gap costs the lower of the two",
    )
    gap_extend2: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Second gap extension cost",
        needs={"gap_open2": _BOTH_COSTS},
        help="second cost of each residue of a gap",
    )


class EndOptions(Options, group="alignment"):
    """Costs of ends in global and semiglobal alignments."""

    free_ends: str | None = option(
        default=None,
        kind=TEXT,
        metavar="LIST",
        label="Free ends",
        needs="mode=" + "|".join(name for name, mode in MODES.items() if mode.frees_ends),
        help="with semiglobal: free ends, separated by commas, among query-start,query-end,target-start,target-end; or "
        "all (default)",
    )
    end_gap_open: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="End gap opening cost",
        help="with global and semiglobal: cost of opening a gap before the first or after the last residue of a "
        "sequence, if that end is not free (default: --gap-open)",
    )
    end_gap_extend: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="End gap extension cost",
        help="cost of each residue of such a gap (default: --gap-extend)",
    )


class SequenceOptions(Options, group="alignment"):
    """Alphabet and treatment of the sequences."""

    alphabet: str = option(
        default="auto",
        choices=("auto", *ALPHABETS),
        is_common=True,
        help="alphabet of the sequences (default: detected from their letters)",
    )
    strict: bool = option(
        default=False, label="Refuse other letters", help="report letters outside the alphabet as an error"
    )
    skip_empty: bool = option(default=False, label="Leave out empty sequences", help="leave out empty sequences")
    gaps: str = option(
        default="refuse",
        choices=("refuse", "remove"),
        label="Gap characters",
        help="gap characters (- . _ ~) in FASTA and FASTQ: refuse (default) or remove; gaps of alignments "
        "(Stockholm, Clustal, PHYLIP, MSF) are always removed",
    )
    duplicate_names: str = option(
        default="error",
        choices=("error", "number", "keep"),
        label="Duplicate names",
        help="records of the same name: error (default), number (the second a becomes a_2), or keep",
    )
    clip_stops: bool = option(
        default=False,
        label="Remove final stops",
        help="remove a * at the end of each sequence, as in translated genes; otherwise it is aligned as a residue",
    )


class LettersOption(Options, group="alignment"):
    """An alphabet of the user's own."""

    letters: str | None = option(
        default=None,
        kind=Kind("text", lambda text: own_alphabet(text).letters),
        metavar="LETTERS",
        label="Letters of your own alphabet",
        needs={
            "matrix|match|mismatch": "--letters has no default scores: add --matrix with a file of these letters, or "
            "--match and --mismatch (5 and -4 where one is not given)"
        },
        excludes={
            "alphabet": "--letters and --alphabet exclude each other: give one of them",
            **dict.fromkeys(
                (
                    "translate",
                    "strand=both",
                    "strand=minus",
                    "ambiguous",
                    "mask",
                    "composition",
                    "iupac",
                    "max_evalue",
                    "min_bits",
                ),
                "{other} applies only to nucleotides and proteins: leave {other} out, or leave --letters out",
            ),
        },
        help="letters of an alphabet of your own, up to 31, such as structural states; upper and lower case are the "
        "same letter; needs --matrix, or --match and --mismatch",
    )


class PositionsOption(Options, group="alignment"):
    """Position matrices as queries."""

    pssm: PositionFormat | None = option(
        default=None,
        choices=get_args(PositionFormat),
        label="Format of position matrices",
        needs={"targets": "--pssm aligns position matrices with sequences: name a second file"},
        excludes=dict.fromkeys(
            (
                "matrix",
                "match",
                "mismatch",
                "iupac",
                "letters",
                "translate",
                "mask",
                "composition",
                "gap_open2",
                "end_gap_open",
                "end_gap_extend",
                "max_evalue",
                "min_bits",
                "db_size",
                "sum_statistics",
                "co_optimal",
                "track",
            ),
            "{other} does not support position matrices: leave {other} out, or leave --pssm out",
        ),
        help="read the queries as position matrices (PSSMs, motifs) in this format: meme, jaspar, transfac, or "
        "psiblast (ASCII); by default they are sequences",
    )


#: Options that `read_sequences` accepts under the same names.
READING = ("strict", "skip_empty", "gaps", "duplicate_names", "clip_stops")


class SequenceCommand(Command, SequenceOptions):
    """A command that reads sequences."""

    #: `AlignmentOptions` has an option for it.
    letters: str | None = None

    @property
    def chosen_alphabet(self) -> Alphabet | None:
        """The alphabet of --letters or --alphabet; None if it is detected."""
        return ALPHABETS.get(self.alphabet) if self.letters is None else own_alphabet(self.letters)

    def batch(self, path: str | list[str], wants_qualities: bool = False) -> SequenceBatch:
        """Read the sequences of one or several files, with qualities if requested."""
        from tropalign.sequences import read_sequences

        reading: dict[str, Any] = {name: getattr(self, name) for name in READING}
        return read_sequences(path, alphabet=self.chosen_alphabet, qualities=wants_qualities, **reading)

    def references(self, path: str, batch: SequenceBatch) -> SequenceBatch:
        """Read reference sequences, which must have the alphabet of the others."""
        from tropalign.errors import InputError
        from tropalign.sequences.reader import without_kind_warnings

        with without_kind_warnings():
            references = self.batch(path)
        if references.alphabet != batch.alphabet:
            raise InputError(
                f"these are {references.alphabet.name}s, but the sequences are {batch.alphabet.name}s: name "
                "references of the same kind, or set the alphabet of both with --alphabet",
                file=path,
            )
        return references


class AlignmentOptions(
    SequenceCommand, LettersOption, ScoringOptions, StrandOption, arranged=(ScoringOptions, StrandOption)
):
    """Common part of verbs that align pairs.

    match_mismatch: default scores of nucleotides, also for the one of both that is not given.
    nucleotide_gap: default gap cost of nucleotides; the alphabet's if None.
    """

    match_mismatch: ClassVar[tuple[int, int]] = (MATCH, MISMATCH)
    nucleotide_gap: ClassVar[tuple[int, int] | None] = None
    #: `ModesOptions` has options for these.
    mode: ModeName | None = "local"
    free_ends: str | None = None
    end_gap_open: float | None = None
    end_gap_extend: float | None = None
    #: `PositionsOption` has an option for it.
    pssm: str | None = None

    @property
    def aligned_mode(self) -> ModeName:
        """The mode of the alignments."""
        return self.mode or "local"

    @property
    def ends(self) -> frozenset[str]:
        """The free ends, in modes with free ends."""
        words = FREE_ENDS if self.free_ends in (None, "all") else filter(None, self.free_ends.split(","))
        return frozenset(end.strip() for end in words)

    def scoring(self, alphabet: Alphabet) -> tuple[SubstitutionMatrix, Gap]:
        """Return the requested matrix and gap cost, else those of the alphabet."""
        from tropalign.scoring import Gap, SubstitutionMatrix, default_scoring

        matrix: SubstitutionMatrix | None = None
        is_nucleotide = alphabet.match_mismatch is not None
        if self.matrix is not None:
            matrix = SubstitutionMatrix.load(self.matrix, alphabet)
        elif is_nucleotide or any(given is not None for given in (self.match, self.mismatch, self.iupac)):
            if self.match is self.mismatch is None and not is_nucleotide:
                self.refuse(f"--iupac needs --match and --mismatch if sequences are {alphabet.name}s")
            usual, unusual = self.match_mismatch
            match = usual if self.match is None else self.match
            mismatch = unusual if self.mismatch is None else self.mismatch
            matrix = SubstitutionMatrix.match_mismatch(match, mismatch, alphabet, self.iupac or IUPAC_RULES[0])
        has_own_gap = is_nucleotide and self.nucleotide_gap is not None and self.pssm is None
        usual_gap = Gap(*self.nucleotide_gap) if has_own_gap and self.nucleotide_gap is not None else None
        matrix, gap = default_scoring(alphabet, matrix, usual_gap)
        return matrix, Gap(
            gap.open if self.gap_open is None else self.gap_open,
            gap.extend if self.gap_extend is None else self.gap_extend,
            self.gap_open2,
            self.gap_extend2,
        )

    def end_gap(self, gap: Gap) -> Gap | None:
        """Return the cost of gaps at the ends, completed from `gap`; None if it is not given."""
        from tropalign.scoring import Gap

        if self.end_gap_open is None and self.end_gap_extend is None:
            return None
        return Gap(
            gap.open if self.end_gap_open is None else self.end_gap_open,
            gap.extend if self.end_gap_extend is None else self.end_gap_extend,
        )


class TrackCommand(AlignmentOptions, TrackOptions):
    """Common part of verbs that align pairs, with a second track if requested."""

    @property
    def has_track(self) -> bool:
        """True if the scores of a second track are added."""
        return self.track is not None and self.track_weight > 0

    def exclusions(self, one: Option) -> list[tuple[str, str]]:
        """Return the options that a given one excludes; a track of weight 0 supports all that one track supports."""
        found = super().exclusions(one)
        if one.name != "track" or self.has_track:
            return found
        return [(condition, sentence) for condition, sentence in found if condition not in NO_ADDED_TRACK]

    def tracked(
        self, queries: SequenceBatch, targets: SequenceBatch | None = None, files: list[str] | None = None
    ) -> tuple[SequenceBatch, SequenceBatch | None, SubstitutionMatrix | None]:
        """Return the sequences with their second track, from --track or `files`, and its matrix.

        The matrix is None if nothing is to be added.
        """
        from pathlib import Path

        from tropalign.pairwise.tracks import with_tracks

        given = self.track if files is None else files
        track: Any = None if given is None else [Path(path) for path in given]
        if track is not None and targets is not None:
            track = track[:1], track[1:]
        reading = {"skip_empty": self.skip_empty, "gaps": self.gaps}
        both, scores = with_tracks((queries, targets), track, self.track_matrix, self.track_weight, **reading)
        return *both, scores


class ModesOptions(AlignmentOptions, ModeOption, EndOptions, arranged=(ModeOption, ScoringOptions, EndOptions)):
    """Common part of verbs that align pairs in any mode."""


SampleRule = Literal["label", "file", "vsearch", "underscore"]
#: Largest limit of numbers of reads; sums of ``;size=N`` may exceed 32 bits.
MOST_READS = 10**15
#: Samples that the line about samples names.
SHOWN_SAMPLES = 4


class SampleNameOptions(Options, group="samples"):
    """Ways to find the sample in a read's name."""

    sample_delimiter: str | None = option(
        default=None,
        kind=TEXT,
        metavar="TEXT",
        label="Delimiter after the sample",
        help="text that ends the sample in a read's name, unless the name has ;sample=: a dot makes gut-1 the sample "
        "of gut-1.r7",
    )
    sample_regex: str | None = option(
        default=None,
        role="machine",
        kind=TEXT,
        metavar="REGEX",
        label="Regular expression of the sample",
        help="regular expression that finds the sample in a read's whole name: its first group, or the whole match "
        "if it has no group, as in '^([^.]+)[.]'",
    )


class SampleOptions(SampleNameOptions, group="samples"):
    """Selection of reads, and their samples."""

    sample_delimiter: str | None = again(SampleNameOptions, "sample_delimiter", needs="otu_table")
    sample_regex: str | None = again(SampleNameOptions, "sample_regex", needs="otu_table")
    min_size: int | None = option(
        default=None,
        kind=whole(1, MOST_READS),
        metavar="N",
        label="Minimum reads",
        help="minimum number of equal reads; 2 leaves out singletons",
    )
    otu_table: str | None = output_file(
        output="table",
        suffix=".biom",
        metavar="FILE",
        help="table of reads per sample, a row per representative: .tsv (QIIME's classic table), .biom (BIOM 1.0) or "
        ".hdf5 (BIOM 2.1)",
        form_help="Table of reads per sample, a row per representative (BIOM 1.0)",
    )
    samples: SampleRule | None = option(
        default=None,
        choices=get_args(SampleRule),
        label="Samples",
        help="source of a read's sample: label, ;sample=NAME in its name; file, its file's name up to the first dot; "
        "underscore, its name up to the last underscore; vsearch, ;sample=NAME or the leading letters, digits and "
        "underscores of its name, which is gut for gut-1.r7 (default: ;sample=NAME, else file)",
    )
    relabel: str | None = option(
        default=None,
        kind=TEXT,
        metavar="sha1|PREFIX",
        label="Names of clusters",
        help="new names of representatives in FASTA and table: sha1 (SHA-1 of the sequence, the same in every run), "
        "or a prefix that gets a number: Otu gives Otu1, Otu2",
    )


class SampleCommand(SequenceCommand, SampleOptions):
    """A command that reads sequences of samples."""

    #: From `OutputOptions`.
    quiet: bool
    queries: list[str] = input_file(
        flags=(),
        many="+",
        metavar="FILE",
        holds="sequences",
        label="Sequences",
        help=SEQUENCE_FILES,
    )

    @property
    def is_by_file(self) -> bool:
        """True if each file is a sample."""
        if self.sample_delimiter is not None or self.sample_regex is not None:
            return False
        return len(self.queries) > 1 if self.samples is None else self.samples == "file"

    def check(self) -> None:
        """Reject options of samples that do not go together."""
        super().check()
        if self.is_given("samples=label|vsearch|underscore") and self.otu_table is None:  # `file` also names reads
            self.refuse("--samples needs --otu-table: add it, or leave --samples out")
        if self.is_by_file and "-" in self.queries:
            self.refuse("standard input has no file name to use as a sample: write --samples label, or name a file")
        if self.otu_table is not None:
            self._teller()
        if self.relabel is not None and (not self.relabel.strip() or not self.relabel.isprintable()):
            self.refuse("--relabel is empty or has control characters: give letters, digits or punctuation")
        if self.relabel is not None and self.relabel.startswith(("#", ">")):
            self.refuse(
                f"--relabel {self.relabel}: readers of tables and FASTA skip names that begin with # or >: "
                "choose another prefix"
            )

    def reads(self, wants_qualities: bool = False) -> SequenceBatch:
        """Read the sequences of all files, with the names of their samples if these follow from the files."""
        if self.is_by_file:
            return self.pooled(self.batch(path, wants_qualities) for path in self.queries)
        return self.batch(self.queries, wants_qualities)

    def pooled(self, batches: Iterable[SequenceBatch]) -> SequenceBatch:
        """Return the sequences of all files together, with the names of their samples."""
        from tropalign.sequences.annotations import pooled

        return pooled(batches, self.queries, self.samples is None)

    def _teller(self) -> Teller:
        """Make the function that finds the sample in a read's name. Raises UsageError if that is impossible."""
        from tropalign.errors import InputError
        from tropalign.sequences.annotations import sample_of_file, teller

        of_file, samples = "", "label" if self.samples == "file" else self.samples  # names contain the sample now
        if len(self.queries) == 1 and self.queries[0] != "-":
            with suppress(InputError):  # names may give the samples
                of_file = sample_of_file(self.queries[0])
        return teller(samples, self.sample_delimiter, self.sample_regex, of_file)

    def counting(self, batch: SequenceBatch, uniques: Uniques | None = None) -> Callable[[Clusters], OtuTable] | None:
        """Return the maker of the cluster table of these reads; reject names without a sample now."""
        if self.otu_table is None:
            return None
        from tropalign.clusters.dereplication import counted, sampled

        names = tuple(batch.names) if uniques is None else uniques.reads
        reads = sampled(names, self._teller())
        if not self.quiet:
            self._tell_samples(names, reads)
        labels = None if uniques is None else uniques.labels
        return partial(counted, reads=reads, labels=labels, relabel=self.relabel or "")

    def _tell_samples(self, names: Sequence[str], reads: SampledReads) -> None:
        """Show on stderr how names were cut: the first samples, each with its first read's name as in the file."""
        import numpy as np

        from tropalign.errors import counted
        from tropalign.sequences.annotations import sample_of_file

        _, first, counts = np.unique(reads.sample, return_index=True, return_counts=True)
        n = len(reads.samples)
        added = {sample_of_file(path) for path in self.queries} if self.is_by_file else ()  # to names, by `pooled`
        some = []
        for sample, at, count in zip(reads.samples[:SHOWN_SAMPLES], first.tolist(), counts.tolist(), strict=False):
            name = names[at].removesuffix(f";sample={sample}") if sample in added else names[at]
            some.append(f"{sample!r} ({counted(count, 'names')}, such as {name!r})")
        more = "" if n <= SHOWN_SAMPLES else f" and {n - SHOWN_SAMPLES:,} more"
        if sys.stderr is not None:
            print(shown(f"samples: {', '.join(some)}{more}"), file=sys.stderr)
