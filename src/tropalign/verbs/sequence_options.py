"""Options of verbs that align pairs: alignment, scoring and sequences."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from tropalign.errors import shown
from tropalign.options.option import DECIMAL, TEXT, Choices, Options, input_file, option, output_file, whole
from tropalign.pairwise.options import FREE_ENDS, MODES, ModeName, ModeOption, StrandOption
from tropalign.verbs.command import Command
from tropalign.verbs.runs import SEQUENCE_FILES

if TYPE_CHECKING:
    from tropalign.clusters.dereplication import SampledReads, Uniques
    from tropalign.results.clusters import Clusters
    from tropalign.results.otu_table import OtuTable
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.annotations import Teller

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.scoring.scores import IupacRule
    from tropalign.sequences import Alphabet, SequenceBatch
    from tropalign.sequences.translation import Frames

    Side = SequenceBatch | Frames

#: Scores of a match and a mismatch if only the other one is given.
MATCH, MISMATCH = 5, -4


class ScoringOptions(Options, group="alignment"):
    """Scores of residues, and costs of gaps."""

    matrix: str | None = input_file(
        default=None,
        holds="matrix",
        names=("tropalign.scoring.names", "known_names"),
        metavar="NAME|FILE",
        label="Substitution matrix",
        file_label="Matrix of your own",
        is_common=True,
        help="substitution matrix: a name, also EMBOSS's or parasail's (BLOSUM62, EDNAFULL), or a file in NCBI format "
        f"(default: BLOSUM62; for nucleotides match {MATCH}, mismatch {MISMATCH})",
        form_help="Substitution matrix: a name, also EMBOSS's or parasail's (BLOSUM62, EDNAFULL); or a file in NCBI "
        f"format, among more inputs (default: BLOSUM62; for nucleotides match {MATCH}, mismatch {MISMATCH})",
    )
    match: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Match score",
        help="score of equal letters, in place of a matrix",
    )
    mismatch: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Mismatch score",
        help="score of different letters, mostly negative",
    )
    iupac: IupacRule | None = option(
        default=None,
        choices=Choices("tropalign.scoring.scores", "IUPAC"),
        label="Ambiguous nucleotides",
        help="without a matrix, R against A, N against C ...: mismatch (default; N scores 0), zero as in vsearch, or "
        "match where both may be the same residue",
    )
    gap_open: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Gap opening cost",
        is_common=True,
        help="cost of a gap beside its residues (default: 11; nucleotides 10); EMBOSS's 10 and 0.5 are 9.5 and "
        "--gap-extend 0.5",
    )
    gap_extend: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Gap extension cost",
        is_common=True,
        help="cost of each residue of a gap, the first too (default: 1)",
    )
    gap_open2: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Second gap opening cost",
        help="with --gap-extend2 a second cost of gaps, each of which costs the less of the two",
    )
    gap_extend2: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="Second gap extension cost",
        help="the second cost of each residue of a gap",
    )


class EndOptions(Options, group="alignment"):
    """Costs of ends in global and semiglobal alignments."""

    free_ends: str | None = option(
        default=None,
        kind=TEXT,
        metavar="LIST",
        label="Ends that are free",
        help="with semiglobal: which of query-start,query-end,target-start,target-end are free (default: all)",
    )
    end_gap_open: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="End gap opening cost",
        help="with global and semiglobal: cost of a gap beside its residues, before the first and after the last "
        "residue of a sequence, where that end is not free (default: as within)",
    )
    end_gap_extend: float | None = option(
        default=None,
        kind=DECIMAL,
        metavar="N",
        label="End gap extension cost",
        help="the cost of each residue of such a gap",
    )


class SequenceOptions(Options, group="alignment"):
    """Alphabet and treatment of the sequences."""

    alphabet: str = option(
        default="auto",
        choices=Choices("tropalign.sequences.alphabet", "ALPHABETS", "auto"),
        is_common=True,
        help="what the sequences are (default: judged by their letters)",
    )
    strict: bool = option(default=False, label="Refuse other letters", help="letters outside the alphabet are an error")
    skip_empty: bool = option(default=False, label="Leave empty sequences out", help="leave empty sequences out")
    gaps: str = option(
        default="refuse",
        choices=("refuse", "remove"),
        label="Gap letters",
        help="gap letters (- . _ ~) in FASTA and FASTQ: refuse (default) or remove; gaps of alignments (Stockholm, "
        "Clustal, PHYLIP, MSF) are always removed",
    )
    duplicate_names: str = option(
        default="error",
        choices=("error", "number", "keep"),
        label="Duplicate names",
        help="records of one name: error (default), number (the second a becomes a_2), or keep",
    )


#: Options that `read_sequences` accepts under the same names.
READING = ("strict", "skip_empty", "gaps", "duplicate_names")


class SequenceCommand(Command, SequenceOptions):
    """A command that reads sequences."""

    def batch(self, path: str | list[str], wants_qualities: bool = False) -> SequenceBatch:
        """Read the sequences of one or several files, with qualities if requested."""
        from tropalign.sequences import read_sequences
        from tropalign.sequences.alphabet import ALPHABETS

        alphabet = ALPHABETS.get(self.alphabet)  # None for "auto"
        reading: dict[str, Any] = {name: getattr(self, name) for name in READING}
        return read_sequences(path, alphabet=alphabet, qualities=wants_qualities, **reading)


class AlignmentOptions(SequenceCommand, ScoringOptions, StrandOption, arranged=(ScoringOptions, StrandOption)):
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

    @property
    def aligned_mode(self) -> ModeName:
        """The mode of the alignments."""
        return self.mode or "local"

    def check_alignment(self) -> None:
        """Reject options that exclude each other."""
        if self.free_ends is not None:
            freeing = [name for name, mode in MODES.items() if mode.frees_ends]
            if self.mode not in freeing:
                self.refuse(f"--free-ends belongs to --mode {' or '.join(freeing)}")
        if self.matrix is not None and any(given is not None for given in (self.match, self.mismatch, self.iupac)):
            self.refuse("--matrix and --match/--mismatch/--iupac exclude each other")

    @property
    def ends(self) -> frozenset[str]:
        """The free ends, in modes with free ends."""
        words = FREE_ENDS if self.free_ends is None else filter(None, self.free_ends.split(","))
        return frozenset(end.strip() for end in words)

    def scoring(self, alphabet: Alphabet) -> tuple[SubstitutionMatrix, Gap]:
        """Return the requested matrix and gap cost, else those of the alphabet."""
        from tropalign.scoring import Gap, SubstitutionMatrix, default_scoring
        from tropalign.scoring.scores import IUPAC

        matrix: SubstitutionMatrix | None = None
        is_nucleotide = alphabet.match_mismatch is not None
        if self.matrix is not None:
            matrix = SubstitutionMatrix.load(self.matrix, alphabet)
        elif is_nucleotide or any(given is not None for given in (self.match, self.mismatch, self.iupac)):
            if self.match is self.mismatch is None and not is_nucleotide:
                self.refuse(f"--iupac goes with --match and --mismatch where sequences are {alphabet.name}s")
            usual, unusual = self.match_mismatch
            match = usual if self.match is None else self.match
            mismatch = unusual if self.mismatch is None else self.mismatch
            matrix = SubstitutionMatrix.match_mismatch(match, mismatch, alphabet, self.iupac or IUPAC[0])
        usual_gap = Gap(*self.nucleotide_gap) if is_nucleotide and self.nucleotide_gap is not None else None
        matrix, gap = default_scoring(alphabet, matrix, usual_gap)
        if (self.gap_open2 is None) != (self.gap_extend2 is None):
            self.refuse("--gap-open2 and --gap-extend2 belong together: give both")
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


class ModesOptions(AlignmentOptions, ModeOption, EndOptions, arranged=(ModeOption, ScoringOptions, EndOptions)):
    """Common part of verbs that align pairs in any mode."""


SampleRule = Literal["label", "file", "vsearch", "underscore"]
#: Samples that the line about samples names.
SHOWN_SAMPLES = 4


class SampleNameOptions(Options, group="samples"):
    """Ways to find the sample in a read's name."""

    sample_delimiter: str | None = option(
        default=None,
        kind=TEXT,
        metavar="TEXT",
        label="Delimiter behind the sample",
        help="a read's sample is its name up to this text, unless the name has ;sample=: with --sample-delimiter . "
        "that of gut-1.r7 is gut-1",
        form_help="A read's sample is its name up to this text: gut-1 of gut-1.r7 for a dot",
    )
    sample_regex: str | None = option(
        default=None,
        role="machine",
        kind=TEXT,
        metavar="REGEX",
        label="Regular expression of the sample",
        help="a read's sample is what this regular expression matches in its whole name, or its first group: "
        "'^([^.]+)[.]'",
    )


class SampleOptions(SampleNameOptions, group="samples"):
    """Selection of reads, and their samples."""

    min_size: int | None = option(
        default=None,
        kind=whole(1),
        metavar="N",
        label="Least reads",
        help="of equal reads, only those of which there are N: 2 leaves singletons out",
    )
    otu_table: str | None = output_file(
        output="table",
        suffix=".biom",
        metavar="FILE",
        help="reads of each sample, a row per representative: .tsv (QIIME's classic table), .biom (BIOM 1.0) or .hdf5 "
        "(BIOM 2.1)",
        form_help="Reads of each sample, a row per representative (BIOM 1.0)",
    )
    samples: SampleRule | None = option(
        default=None,
        choices=get_args(SampleRule),
        label="Samples",
        help="which sample a read is of: label, by ;sample=NAME in its name; file, by its file's name up to the first "
        "dot; underscore, by its name up to the last underscore; vsearch, by ;sample=NAME or the letters, digits and "
        "underscores that the name begins with, which cuts gut-1.r7 to gut (default: by ;sample=NAME, else as file)",
    )
    relabel: str | None = option(
        default=None,
        kind=TEXT,
        metavar="sha1|PREFIX",
        label="Names of clusters",
        help="representatives, in FASTA and table, are called by the SHA-1 of their letters, which is the same in "
        "every run (sha1), or by PREFIX and a number: Otu1, Otu2",
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
    def _is_by_file(self) -> bool:
        """True if each file is a sample."""
        if self.sample_delimiter is not None or self.sample_regex is not None:
            return False
        return len(self.queries) > 1 if self.samples is None else self.samples == "file"

    def check_samples(self) -> None:
        """Reject options of samples that do not go together."""
        if self.queries.count("-") > 1:
            self.refuse("standard input can be read once: name - once")
        if self._is_by_file and "-" in self.queries:
            self.refuse("standard input has no name to call a sample by: write --samples label, or name a file")
        for name in ("samples", "sample_delimiter", "sample_regex"):
            if getattr(self, name) not in (None, "file") and self.otu_table is None:
                self.refuse(f"--{name.replace('_', '-')} belongs to --otu-table: name a file for it")
        if self.otu_table is not None:
            self._teller()
        if self.relabel is not None and (not self.relabel.strip() or not self.relabel.isprintable()):
            self.refuse("--relabel: give letters, digits or punctuation")
        if self.relabel is not None and self.relabel.startswith(("#", ">")):
            self.refuse(f"--relabel {self.relabel}: readers of tables and FASTA take a name that begins so for none")

    def reads(self) -> SequenceBatch:
        """Read the sequences of all files, with the names of their samples if these follow from the files."""
        from tropalign.sequences.annotations import pooled

        if self._is_by_file:
            return pooled((self.batch(path) for path in self.queries), self.queries, self.samples is None)
        return self.batch(self.queries)

    def _teller(self) -> Teller:
        """Make the function that finds the sample in a read's name. Raises UsageError if that is impossible."""
        from tropalign.errors import InputError
        from tropalign.sequences.annotations import sample_of_file, teller

        of_file, samples = "", "label" if self.samples == "file" else self.samples  # names contain the file's by now
        if len(self.queries) == 1 and self.queries[0] != "-":
            with suppress(InputError):  # names may contain all samples
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
        """Show on stderr how names were cut: the first samples, each with the first of its reads as the file has it."""
        import numpy as np

        from tropalign.errors import counted
        from tropalign.sequences.annotations import sample_of_file

        _, first, counts = np.unique(reads.sample, return_index=True, return_counts=True)
        n = len(reads.samples)
        added = {sample_of_file(path) for path in self.queries} if self._is_by_file else ()  # to names, by `pooled`
        some = []
        for sample, at, count in zip(reads.samples[:SHOWN_SAMPLES], first.tolist(), counts.tolist(), strict=False):
            name = names[at].removesuffix(f";sample={sample}") if sample in added else names[at]
            some.append(f"{sample!r} ({counted(count, 'names')}, such as {name!r})")
        more = "" if n <= SHOWN_SAMPLES else f" and {n - SHOWN_SAMPLES:,} more"
        if sys.stderr is not None:
            print(shown(f"samples: {', '.join(some)}{more}"), file=sys.stderr)
