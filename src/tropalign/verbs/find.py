"""``tropalign find``: exact search of a database, with the defaults of a search tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tropalign.formats.format import format_names
from tropalign.options.option import but, input_file
from tropalign.pairwise.options import (
    CompositionName,
    CompositionOption,
    SelectionOptions,
    StrandName,
    StrandOption,
)
from tropalign.verbs.command import SEQUENCE_FILES, Served
from tropalign.verbs.pairs import FormatOptions, PairsCommand
from tropalign.verbs.sequence_options import ScoringOptions

if TYPE_CHECKING:
    from tropalign.formats.format import PairsFormat
    from tropalign.sequences import Alphabet

#: Scores of nucleotides in blastn.
MATCH, MISMATCH, GAP_OPEN, GAP_EXTEND = 2, -3, 5, 2
#: Default E-value, and default number of targets per query.
MAX_EVALUE, TOP = 1e-3, 500
#: Default columns of tables.
COLUMNS = (
    "query,target,evalue,bits,score,identity,columns,query_start,query_end,target_start,target_end,strand,"
    "query_coverage,target_coverage,cigar"
)
_NUCLEOTIDES = f"nucleotides match {MATCH}, mismatch {MISMATCH}"


class Find(PairsCommand):
    """Sequences against a database."""

    verb = "find"
    summary = "search a database with sequences, as BLAST does, but exactly"
    description = (
        "Align each query with each sequence of a database, and report the significant local alignments: those with "
        f"E-values up to {MAX_EVALUE}, and of each query the {TOP} best. Same as tropalign pairs, with defaults for a "
        "search."
    )
    example = """example:
  tropalign db build swissprot.fasta.gz -o swissprot.tdb
  tropalign find proteins.fa swissprot.tdb -o hits.m8
  tropalign find reads.fa swissprot.tdb --translate query -o hits.m8

A gap of k residues costs open + k * extend. Coordinates in TSV are 0-based, half-open.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(
        title="Search a database",
        kind="pairs",
        never_formats=("matrix",),
        is_resumable=True,
        example={"queries": "efp.fasta", "targets": "efp.fasta"},
    )
    match_mismatch: ClassVar[tuple[int, int]] = (MATCH, MISMATCH)
    nucleotide_gap: ClassVar[tuple[int, int] | None] = (GAP_OPEN, GAP_EXTEND)

    queries: str = input_file(flags=(), metavar="QUERIES", holds="sequences", help=SEQUENCE_FILES)
    targets: str = input_file(
        flags=(),
        metavar="DB",
        holds="sequences",
        label="Database",
        help="database: a store made by tropalign db build, the name of a store in the folders of TROPALIGN_DB, or a "
        "file of sequences",
        form_help="Database to search",
    )
    matrix: str | None = but(
        ScoringOptions,
        "matrix",
        default=None,
        help=f"substitution matrix: a name or a file in NCBI format (default: BLOSUM62; {_NUCLEOTIDES})",
        form_help="Substitution matrix: a name, or a file in NCBI format, see the other inputs (default: BLOSUM62; "
        f"{_NUCLEOTIDES})",
    )
    gap_open: float | None = but(
        ScoringOptions,
        "gap_open",
        default=None,
        help=f"cost of opening a gap, excluding its residues (default: 11; nucleotides {GAP_OPEN})",
    )
    gap_extend: float | None = but(
        ScoringOptions,
        "gap_extend",
        default=None,
        help=f"cost of each residue of a gap, including the first (default: 1; nucleotides {GAP_EXTEND})",
    )
    strand: StrandName | None = but(  # type: ignore[assignment]  # by the alphabet
        StrandOption,
        "strand",
        default=None,
        help="strand of nucleotide queries: plus, minus (the reverse complement), or the better of both (default: both "
        "for nucleotides)",
    )
    top: int | None = but(
        SelectionOptions,
        "top",
        default=TOP,
        help=f"maximum number of targets per query, the best ones (default: {TOP})",
    )
    max_evalue: float | None = but(
        SelectionOptions,
        "max_evalue",
        default=MAX_EVALUE,
        help=f"maximum E-value of an alignment (default: {MAX_EVALUE})",
    )
    composition: CompositionName | None = but(  # type: ignore[assignment]  # by the alphabet
        CompositionOption,
        "composition",
        default=None,
        help="correction of E-values for the composition of both sequences, by a matrix that is adjusted (default "
        "for proteins, as in blastp) or scaled; ignored: no correction (default for nucleotides and --translate)",
    )

    format: str | None = but(
        FormatOptions, "format", default=None, choices=[name for name in format_names("pairs") if name != "matrix"]
    )

    @property
    def _has_no_evalues(self) -> bool:
        """True for letters of one's own, position matrices and second tracks, whose scores have no statistics."""
        return self.letters is not None or self.pssm is not None or self.has_track

    def settle(self) -> None:
        """Resolve the name of a database, and drop the default E-value if there are no E-values."""
        from tropalign.verbs.db import database_path

        if self._has_no_evalues and self.max_evalue == MAX_EVALUE:
            self.set("max_evalue", None)

        self.set("targets", database_path(self.targets))

    def run(self) -> None:
        """Search the database, if it exists."""
        import os

        from tropalign.errors import InputError
        from tropalign.verbs.db import VARIABLE

        if self.targets == os.path.basename(self.targets) != "-" and not os.path.lexists(self.targets):
            raise InputError(
                f"there is no such file, and no database of this name in the folders of {VARIABLE}: tropalign db list "
                "shows the databases",
                file=self.targets,
            )
        super().run()

    def default_columns(self, form: PairsFormat) -> str | None:
        """Return columns that include the significance, if the format has no columns of its own."""
        if not form.takes_columns or form.own_columns or self.report not in (None, "alignment"):
            return None
        columns = COLUMNS.replace("strand", "query_frame,target_frame") if self.translate else COLUMNS
        if self.max_hsps > 1:
            columns = columns.replace("target,", "target,hsp,", 1)
        if self._has_no_evalues:
            columns = columns.replace("evalue,bits,", "")
        return columns.replace("evalue,", "evalue,sum_evalue,sum_count,", 1) if self.sum_statistics else columns

    def by_alphabet(self, alphabet: Alphabet) -> dict[str, Any]:
        """Return the defaults of strand and composition."""
        is_plain = self.translate is None and self.pssm is None and not self.has_track
        is_plain &= alphabet.judged and not alphabet.has_strands
        corrected = "adjusted" if self.gap_open2 is None else "scaled"  # adjustment needs affine gaps
        return {
            "strand": self.strand or ("both" if alphabet.has_strands else "plus"),
            "composition": self.composition or (corrected if is_plain else "ignored"),
        }
