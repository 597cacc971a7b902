"""What verbs that align pairs share: how pairs are aligned and scored, and the sequences."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import Choices, decimal, whole

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.sequences import Alphabet, SequenceBatch
    from tropalign.sequences.translation import Frames

    Side = SequenceBatch | Frames

#: Where the words of options stand.
OPTIONS = "tropalign.pairwise.options"
#: Score of a match and a mismatch where only the other one is given.
MATCH, MISMATCH = 5, -4


def add_alignment_options(group: Any, mode: str = "local") -> None:
    """Mode, with its default, scoring, strands and letters."""
    group.add_argument(
        "--mode",
        choices=Choices(OPTIONS, "MODES"),
        default=mode,
        help="align the parts that score best (local), the whole sequences (global), or these with free ends "
        f"(semiglobal); default: {mode}",
    )
    group.add_argument(
        "--free-ends",
        metavar="LIST",
        help="with semiglobal: which of query-start,query-end,target-start,target-end are free (default: all)",
    )
    _add_letter_options(group)
    _add_gap_options(group)
    _add_sequence_options(group)


def _add_letter_options(group: Any) -> None:
    group.add_argument(
        "--matrix",
        metavar="NAME|FILE",
        help="substitution matrix: a name, also EMBOSS's or parasail's (BLOSUM62, EDNAFULL), or a file in NCBI format "
        f"(default: BLOSUM62; for nucleotides match {MATCH}, mismatch {MISMATCH})",
    )
    group.add_argument("--match", type=decimal, metavar="N", help="score of equal letters, in place of a matrix")
    group.add_argument("--mismatch", type=decimal, metavar="N", help="score of different letters, mostly negative")
    group.add_argument(
        "--iupac",
        choices=Choices("tropalign.scoring.letter_scores", "IUPAC"),
        help="without a matrix, R against A, N against C ...: mismatch (default; N scores 0), zero as in vsearch, or "
        "match where both may be the same residue",
    )


def _add_gap_options(group: Any) -> None:
    group.add_argument(
        "--gap-open",
        type=decimal,
        metavar="N",
        help="cost of a gap beside its residues (default: 11; nucleotides 10); EMBOSS's 10 and 0.5 are 9.5 and "
        "--gap-extend 0.5",
    )
    group.add_argument(
        "--gap-extend", type=decimal, metavar="N", help="cost of each residue of a gap, the first too (default: 1)"
    )
    group.add_argument(
        "--gap-open2",
        type=decimal,
        metavar="N",
        help="with --gap-extend2 a second cost of gaps, each of which costs the less of the two",
    )
    group.add_argument("--gap-extend2", type=decimal, metavar="N", help="the second cost of each residue of a gap")
    group.add_argument(
        "--end-gap-open",
        type=decimal,
        metavar="N",
        help="with global and semiglobal: the same for gaps before the first and after the last residue of a sequence, "
        "where that end is not free (default: as within)",
    )
    group.add_argument("--end-gap-extend", type=decimal, metavar="N", help="the cost of each residue of such a gap")


def _add_sequence_options(group: Any) -> None:
    group.add_argument(
        "--strand",
        choices=Choices(OPTIONS, "STRANDS"),
        default="plus",
        help="both: the better of the query's two strands (default: plus)",
    )
    group.add_argument(
        "--alphabet",
        choices=Choices("tropalign.sequences.alphabet", "ALPHABETS", "auto"),
        default="auto",
        help="what the sequences are (default: judged by their letters)",
    )
    group.add_argument("--strict", action="store_true", help="letters outside the alphabet are an error")
    group.add_argument("--skip-empty", action="store_true", help="leave empty sequences out")


def add_translation_options(group: Any) -> None:
    """Which sequences are translated, and how."""
    group.add_argument(
        "--translate",
        choices=("query", "target", "both"),
        help="which nucleotides are aligned as proteins, each pair in the best of six frames (default: none)",
    )
    group.add_argument("--genetic-code", type=whole(1), metavar="N", help="NCBI's number of it (default: 1, standard)")


def check_translation(options: argparse.Namespace) -> None:
    """Refuses options that do not go with translation."""
    refuse = options.parser.error
    if options.translate is None:
        if options.genetic_code is not None:
            refuse("--genetic-code belongs to --translate")
        return
    if options.alphabet != "auto":
        refuse("--translate says what the sequences are: leave --alphabet out")
    if options.strand != "plus":
        refuse("--translate takes both strands by itself: leave --strand out")
    if options.targets is None:
        refuse("--translate needs a second file: give B, which may be A again with --translate both")


def _translated_sides(options: argparse.Namespace) -> tuple[Side, Side | None]:
    """Queries and targets, the translated ones with their frames; the other ones are proteins."""
    from tropalign.pairwise.translated import check_code, side_of
    from tropalign.sequences import read_sequences

    code = options.genetic_code or 1
    check_code(code)  # before anything is read
    sides = []
    for side, path in (("query", options.queries), ("target", options.targets)):
        batch = read_sequences(path, skip_empty=options.skip_empty, strict=options.strict)
        sides.append(side_of(batch, side, options.translate, code, path))
    return sides[0], sides[1]


def pair_sides(options: argparse.Namespace, wants_qualities: bool = False) -> tuple[Side, Side | None]:
    """The same as `sequences_of`, those that are translated with their frames."""
    return sequences_of(options, wants_qualities) if options.translate is None else _translated_sides(options)


def sequences_of(
    options: argparse.Namespace, wants_qualities: bool = False
) -> tuple[SequenceBatch, SequenceBatch | None]:
    """Queries, with their qualities where these are wanted, and targets."""
    from tropalign.pairwise.options import check_same_alphabet
    from tropalign.sequences import read_sequences
    from tropalign.sequences.alphabet import ALPHABETS

    reading: dict[str, Any] = {"skip_empty": options.skip_empty, "strict": options.strict}
    alphabet = ALPHABETS.get(options.alphabet)  # None for "auto"
    queries = read_sequences(options.queries, alphabet=alphabet, qualities=wants_qualities, **reading)
    if options.targets is None:
        return queries, None
    targets = read_sequences(options.targets, alphabet=alphabet, **reading)
    check_same_alphabet(queries, targets)
    return queries, targets


def scoring_of(options: argparse.Namespace, alphabet: Alphabet) -> tuple[SubstitutionMatrix, Gap]:
    """The matrix and gap cost asked for, else those of the alphabet."""
    from tropalign.pairwise.api import default_scoring
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.scoring.letter_scores import IUPAC

    matrix: SubstitutionMatrix | None = None
    if options.matrix is not None:
        matrix = SubstitutionMatrix.load(options.matrix, alphabet)
    elif any(given is not None for given in (options.match, options.mismatch, options.iupac)):
        if options.match is options.mismatch is None and alphabet.match_mismatch is None:
            options.parser.error(f"--iupac goes with --match and --mismatch where sequences are {alphabet.name}s")
        match = MATCH if options.match is None else options.match
        mismatch = MISMATCH if options.mismatch is None else options.mismatch
        matrix = SubstitutionMatrix.match_mismatch(match, mismatch, alphabet, options.iupac or IUPAC[0])
    matrix, gap = default_scoring(alphabet, matrix, None)
    if (options.gap_open2 is None) != (options.gap_extend2 is None):
        options.parser.error("--gap-open2 and --gap-extend2 belong together: give both")
    return matrix, Gap(
        gap.open if options.gap_open is None else options.gap_open,
        gap.extend if options.gap_extend is None else options.gap_extend,
        options.gap_open2,
        options.gap_extend2,
    )


def end_gap_of(options: argparse.Namespace, gap: Gap) -> Gap | None:
    """The cost of gaps at the ends, of which what is not said is as within; None where nothing is said."""
    from tropalign.scoring import Gap

    if options.end_gap_open is None and options.end_gap_extend is None:
        return None
    return Gap(
        gap.open if options.end_gap_open is None else options.end_gap_open,
        gap.extend if options.end_gap_extend is None else options.end_gap_extend,
    )
