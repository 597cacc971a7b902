"""Sequences of a family: reading, checks, duplicates, and members that are foreign, turned or rearranged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import InputError, ResourceError, counted, listed, named, warn
from tropalign.msa.guide_tree import GuideTree
from tropalign.resources.limits import human
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.alphabet import PROTEIN, Alphabet, AlphabetLike, alphabet_of, mirrored
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, file_name
from tropalign.sequences.inputs import files_in
from tropalign.sequences.reader import check_kinds, read_sequences

if TYPE_CHECKING:
    from tropalign.msa.models import PairModel
    from tropalign.msa.options import MsaOptions

#: Most residues of a sequence that is aligned as a whole: columns of posteriors have 16 bits.
MOST_RESIDUES = 65_535
#: Most residues of a sequence in a family that is cut (`is_long`), as in native/msa/certain.hpp.
MOST_CUT_RESIDUES = 4_000_000
#: Memory and speed of posteriors of a long pair (one core, AVX2), and minutes that are shown as such.
CELL_BYTES, CELLS_PER_SECOND, MOST_MINUTES = 0.57, 1.2e8, 120


#: Least members, cells of all pairs and mean length of the member of a residue (fragments count less), and most
#: residues, for which cuts are looked for (anchored.py).
LEAST_CUT_MEMBERS, LEAST_CELLS, LEAST_LENGTH, MOST_FAMILY_RESIDUES = 3, 2e9, 1000, 200_000_000


@dataclass(frozen=True)
class FamilyInput:
    """A family, and how it is aligned.

    `order`: "input" or "tree", of the rows. `model`: pair model, by default that of the rules. `n_shards`: number
    of parts in which the posteriors are computed. `n_homologs`: how many sequences at the end are homologs of the
    family, which help to align it; `keeps_homologs` keeps them as rows of the result. `is_calibrated`: the confidence
    is that of aligned pieces, which is calibrated already.
    """

    batch: SequenceBatch
    options: MsaOptions
    tree: GuideTree | None = None
    order: str = "input"
    wants_confidence: bool = True
    model: PairModel | None = None
    n_shards: int = 1
    n_homologs: int = 0
    keeps_homologs: bool = False
    is_calibrated: bool = False


def is_long(job: FamilyInput) -> bool:
    """True if the family is so long and large that cuts at certain columns pay, if it is similar, too."""
    lengths = job.batch.lengths.astype(float)
    return bool(
        not job.options.no_anchors
        and job.tree is None
        and job.model is None
        and not job.n_homologs
        and len(lengths) >= LEAST_CUT_MEMBERS
        and (lengths.sum() ** 2 - (lengths**2).sum()) / 2 >= LEAST_CELLS
        and (lengths**2).sum() >= LEAST_LENGTH * lengths.sum()
        and lengths.sum() <= MOST_FAMILY_RESIDUES
    )


def read_family(
    paths: Iterable[Source],
    alphabet: AlphabetLike | None = None,
    *,
    is_judged: bool | None = None,
    most_residues: int = MOST_RESIDUES,
    **how: Any,
) -> SequenceBatch:
    """Read the sequences of all files as one family; `how` is passed to `read_sequences`.

    `is_judged` rejects nucleotides among proteins, by default if no alphabet is named. `most_residues` of a sequence.
    """
    sources = list(paths)
    batch = read_sequences(sources, alphabet=alphabet, **how)
    file = file_name(sources[0]) if len(sources) == 1 else None
    check_family(batch, alphabet is None if is_judged is None else is_judged, file, most_residues)
    return batch


def family_of(
    sequences: Any,
    alphabet: AlphabetLike | None = None,
    is_judged: bool | None = None,
    most_residues: int = MOST_RESIDUES,
) -> SequenceBatch:
    """Return a family from any Python object that `align_multiple` accepts; errors as in `read_family`."""
    is_judged = alphabet is None if is_judged is None else is_judged
    if files := files_in(sequences):
        return read_family(files, alphabet, is_judged=is_judged, most_residues=most_residues)
    if isinstance(sequences, MultipleAlignment):
        batch, is_judged = sequences.sequences, False
    elif isinstance(sequences, SequenceBatch):
        batch, is_judged = sequences, False
    else:
        chosen = None if alphabet is None else alphabet_of(alphabet)
        batch = SequenceBatch.from_strings(sequences, alphabet=chosen)
    if not batch.has_residues:
        raise InputError("the batch holds only names and lengths: read the sequences again")
    check_family(batch, is_judged, None, most_residues)
    return batch


def check_family(
    batch: SequenceBatch, is_judged: bool = True, file: str | None = None, most_residues: int = MOST_RESIDUES
) -> None:
    """Reject sequences that cannot be aligned, with InputError or ResourceError.

    `is_judged` (no alphabet was named) also rejects nucleotides among proteins. `file`: the source of all
    sequences.
    """
    if not len(batch):
        raise InputError("there are no sequences: give at least one")
    if not batch.lengths.all():
        raise InputError("the sequence is empty: remove it", record=batch.names[int(batch.lengths.argmin())])
    require_short(batch, most_residues)
    if is_judged:
        check_kinds(batch, file)


def require_short(batch: SequenceBatch, most_residues: int | None = None) -> None:
    """Raise ResourceError, with the memory and time of a pair, if a sequence is too long: by default for posteriors."""
    most_residues = MOST_RESIDUES if most_residues is None else most_residues
    longest = int(batch.lengths.argmax())
    size = int(batch.lengths[longest])
    if size > most_residues:
        what = "members of a family" if most_residues > MOST_RESIDUES else "sequences that are aligned as a whole"
        raise ResourceError(
            f"record {batch.names[longest]!r} has {size:,} residues, but {what} may have at most "
            f"{most_residues:,} ({pair_costs(size)}): shorten it, or align it to another sequence with tropalign pairs"
        )


def pair_costs(size: int) -> str:
    """Return in words the memory and time of the posteriors of two sequences of `size` residues."""
    minutes = size * size / CELLS_PER_SECOND / 60
    time = counted(max(round(minutes), 1), "minutes") if minutes < MOST_MINUTES else f"{minutes / 60:,.0f} hours"
    return f"a pair of this length would take about {human(int(CELL_BYTES * size * size))} and {time} of a core"


def unique_sequences(batch: SequenceBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of each set of equal sequences, and for each sequence the index of its set."""
    codes, offsets = batch.codes.tobytes(), batch.offsets.tolist()
    seen: dict[bytes, int] = {}
    first: list[int] = []
    copy_of = np.zeros(len(batch), np.int64)
    for k in range(len(batch)):
        copy_of[k] = seen.setdefault(codes[offsets[k] : offsets[k + 1]], len(seen))
        if len(seen) > len(first):
            first.append(k)
    return np.array(first), copy_of


def copied(values: NDArray[Any], unique: SequenceBatch, copy_of: NDArray[np.int64]) -> NDArray[Any]:
    """Expand values per residue from unique sequences to all sequences."""
    return np.concatenate([values[unique.offsets[k] : unique.offsets[k + 1]] for k in copy_of])


def with_copies(tree: GuideTree, first: NDArray[np.int64], copy_of: NDArray[np.int64]) -> GuideTree:
    """Add the copies to a tree of unique sequences, next to their originals at distance 0."""
    n, n_unique = len(copy_of), len(first)
    node_of = np.concatenate([first, np.zeros(n_unique - 1, np.int64)])
    children: list[tuple[int, int]] = []
    lengths = np.zeros(2 * n - 1)
    is_first = np.zeros(n, bool)
    is_first[first] = True
    for k in np.flatnonzero(~is_first).tolist():
        children.append((int(node_of[copy_of[k]]), k))
        node_of[copy_of[k]] = n + len(children) - 1
    for step, (left, right) in enumerate(tree.children.tolist()):
        children.append((int(node_of[left]), int(node_of[right])))
        node_of[n_unique + step] = n + len(children) - 1
    lengths[node_of] = tree.branch_lengths
    return GuideTree(np.array(children, np.int32).reshape(-1, 2), lengths)


# Foreign members, by the distances of all pairs. The distance of two sequences is 1 minus the mean posterior, per
# residue of the shorter one, of the alignment with the most expected correct pairs (docs/msa.md, stage I): 0 for equal
# sequences, the level of chance for unrelated ones. A member is foreign if all conditions hold:
#
# * its nearest relative is so far away that chance explains the distance;
# * the median of this distance in the family is much smaller, so that a divergent family loses no member;
# * all others are far, because its mean distance is that of unrelated sequences.
#
# Two foreign members that are related to each other are missed: each is the other's near relative.


class Limits(NamedTuple):
    """Thresholds of foreign members: nearest distance, its excess over the median, and mean distance."""

    nearest: float
    above_median: float
    mean: float


#: Chosen on one half of 144 families of BAliBASE 3 and BAliFam (proteins), and on parts of 16S genes (docs/msa.md).
PROTEIN_LIMITS, NUCLEOTIDE_LIMITS = Limits(0.45, 0.2, 0.8), Limits(0.45, 0.25, 0.55)
#: Fewer members do not show which one is foreign, and shorter members cannot be judged.
LEAST_MEMBERS, LEAST_RESIDUES = 4, 30


def foreign_members(distances: NDArray[np.float32], batch: SequenceBatch) -> NDArray[np.intp]:
    """Return the indices of the members that do not belong to the family.

    `distances`: float32, shape (n (n - 1) / 2,), of stage I with the rules of tropalign: (0,1), (0,2) .. (1,2) ..
    """
    n = len(batch)
    if n < LEAST_MEMBERS:
        return np.zeros(0, np.intp)
    nearest, sums = np.full(n, np.inf), np.zeros(n)
    begin = 0
    for k in range(n - 1):
        row = distances[begin : begin + n - 1 - k].astype(np.float64)
        begin += len(row)
        nearest[k] = min(nearest[k], row.min())
        nearest[k + 1 :] = np.minimum(nearest[k + 1 :], row)
        sums[k] += row.sum()
        sums[k + 1 :] += row
    limits = PROTEIN_LIMITS if batch.alphabet == PROTEIN else NUCLEOTIDE_LIMITS
    median = float(np.sort(nearest)[[(n - 1) // 2, n // 2]].mean())  # np.median would load masked arrays
    is_far = nearest >= max(limits.nearest, median + limits.above_median)
    is_far &= batch.lengths >= LEAST_RESIDUES
    return np.flatnonzero(is_far & (sums / (n - 1) >= limits.mean))


def tell_of_foreign(batch: SequenceBatch, foreign: NDArray[np.intp], are_dropped: bool) -> None:
    """Warn of the foreign members by name, and whether they are dropped."""
    verb, them = ("does", "it") if len(foreign) == 1 else ("do", "them")
    remedy = "left out" if are_dropped else f"{named('drop_foreign')} leaves {them} out"
    text = f"{len(foreign):,} of {len(batch):,} sequences {verb} not seem to belong to the family"
    names = listed([batch.names[k] for k in foreign])
    warn(f"{text}: {names}; {remedy}")


# Members on the opposite strand to most of their family, by k-mers and then by alignments.
#
#   family   a  ACGGTCATTGCA...        k-mers of a   as they are: many in b     reversed: few in b
#            b  ACGGTTATTGCA...
#            c  ...TGCAATGACCGT        k-mers of c   as they are: few in a, b   reversed: many in a, b
#
# 1. K-mers: every sequence in turn takes the strand that shares clearly more k-mers with the others in their current
#    orientation; this repeats until no sequence moves. Sequences against the majority are suspects.
# 2. Alignments: a suspect and its reverse complement are aligned locally with some of the majority. It is reversed if
#    the reverse complement scores clearly more. A false alarm is worse than a miss: if relatives share less than about
#    60 % of their residues, there is no warning.

#: Length of k-mers for short and long sequences, and the mean length from which on they are long. Unrelated
#: sequences of length 500 share four 8-mers; of length 5,000, 24 10-mers.
SHORT_WORD, LONG_WORD, LONG = 8, 10, 500
#: The other strand has to share this many times as many k-mers, plus this number.
WORD_RATIO, WORD_EXCESS = 2, 8
#: Maximum rounds in which sequences change their strand.
MOST_ROUNDS = 8
#: Minimum (if they are long) and maximum number of members that a suspect is aligned with; cells per suspect;
#: and suspects that are aligned at once.
FEW_MEMBERS, MEMBERS, MEMBER_CELLS, AT_ONCE = 4, 32, 100_000_000, 256
#: Longest sequence that is aligned as a whole; of longer ones, a piece shows the strand.
PIECE = 3_000
#: Minimum local score of the other strand (a match is 5), and its minimum ratio to the sequence's own score: the
#: scores of unrelated sequences differ by less.
LEAST_SCORE, SCORE_RATIO = 150, 2
#: Suffix of the description of a reversed sequence.
MARK = "(reverse complement)"


def on_one_strand(
    batch: SequenceBatch, strand: str, n_threads: int, fixed: SequenceBatch | None = None
) -> SequenceBatch:
    """Return a family with sequences reverse-complemented as required, or unchanged with a warning that names them.

    `strand`: "adjust" reverses them, "plus" only warns. `fixed`: aligned sequences, whose strand is the right one.
    Raises InputError if sequences without strands are to be reversed.
    """
    if strand == "adjust" and not batch.alphabet.has_strands:
        raise InputError(f"{batch.alphabet.name}s have no opposite strand: leave {named('strand')} adjust out")
    is_turned = turned(batch, n_threads, fixed)
    if not is_turned.any():
        warn_of_rearranged(batch, fixed)
        return batch
    of = "the rest of the family" if fixed is None else "the alignment"
    n_turned, names = int(is_turned.sum()), listed([batch.names[k] for k in np.flatnonzero(is_turned)])
    verb, them = ("is", "it") if n_turned == 1 else ("are", "them")
    text = f"{n_turned:,} of {len(batch):,} sequences {verb} on the opposite strand to {of}: {names}"
    remedy = "replaced by its reverse complement" if n_turned == 1 else "replaced by their reverse complements"
    text += f"; {remedy}" if strand == "adjust" else f"; {named('strand')} adjust reverse-complements {them}"
    warn(text, stacklevel=3)
    found = batch if strand == "plus" else with_turned(batch, is_turned)
    warn_of_rearranged(found, fixed)
    return found


def warn_of_turned_rows(first: MultipleAlignment, second: MultipleAlignment, n_threads: int) -> None:
    """Warn if rows of the second alignment lie on the opposite strand to the first one."""
    rows = _with_residues(second.sequences)
    is_turned = turned(rows, n_threads, first.sequences)
    if is_turned.any():
        names = listed([rows.names[k] for k in np.flatnonzero(is_turned)])
        text = (
            f"{is_turned.sum():,} of {len(rows):,} rows to be merged are on the opposite strand to the alignment: "
            f"{names}; reverse-complement them first"
        )
        warn(text, stacklevel=3)


def _with_residues(batch: SequenceBatch) -> SequenceBatch:
    """Return the batch without rows of gaps only, which alignments may hold."""
    return batch if batch.lengths.all() else batch[np.flatnonzero(batch.lengths)]


def with_turned(batch: SequenceBatch, is_turned: NDArray[np.bool_]) -> SequenceBatch:
    """Return the batch with the reverse complements of some sequences, marked in their descriptions."""
    other = batch.reverse_complement()
    residues = np.repeat(is_turned, batch.lengths)
    descriptions = [*(batch.descriptions or ("",) * len(batch))]
    for k in np.flatnonzero(is_turned).tolist():
        text = descriptions[k]  # reversing twice removes the mark
        descriptions[k] = text.removesuffix(MARK).rstrip() if text.endswith(MARK) else f"{text} {MARK}".lstrip()
    return SequenceBatch(
        np.where(residues, other.codes, batch.codes),
        batch.offsets,
        batch.names,
        batch.alphabet,
        np.where(residues, other.letters, batch.letters),
        tuple(descriptions),
        None if other.qualities is None or batch.qualities is None
        else np.where(residues, other.qualities, batch.qualities),
    )  # fmt: skip


def turned(batch: SequenceBatch, n_threads: int, fixed: SequenceBatch | None = None) -> NDArray[np.bool_]:
    """Return a mask of the sequences on the opposite strand to most of the family, or to `fixed` sequences.

    If both strands have equally many sequences, the first sequence's is the right one.
    """
    found, alphabet = np.zeros(len(batch), bool), batch.alphabet
    fixed = None if fixed is None else _with_residues(fixed)
    n_others = len(batch) - 1 if fixed is None else len(fixed)
    is_known = {alphabet.complement.get(letter) for letter in alphabet.states} == set(alphabet.states)
    if not len(batch) or not n_others or not is_known or (fixed is not None and fixed.alphabet != alphabet):
        return found
    is_other = _sides(batch, fixed)
    members = fixed
    if members is None:
        if 2 * is_other.sum() > len(batch) - is_other[0]:
            is_other = ~is_other
        members = batch[np.flatnonzero(~is_other)]
    n_members = int(np.clip(MEMBER_CELLS / float(members.lengths.mean()) ** 2, FEW_MEMBERS, MEMBERS))
    chosen = members[np.unique(np.linspace(0, len(members) - 1, n_members).astype(np.int64))]
    suspects = np.flatnonzero(is_other)
    for begin in range(0, len(suspects), AT_ONCE):
        some = suspects[begin : begin + AT_ONCE]
        found[some] = _is_other_kin(batch[some], chosen, n_threads)
    return found


def _sides(batch: SequenceBatch, fixed: SequenceBatch | None) -> NDArray[np.bool_]:
    """Return a mask, by k-mers, of sequences opposite to the fixed ones, or else to the first of their relatives."""
    others = [] if fixed is None else [fixed]
    mean = np.concatenate([one.lengths for one in (batch, *others)]).mean()
    table = _WordTable(batch.alphabet, SHORT_WORD if mean < LONG else LONG_WORD)
    for one in others:
        for k in range(len(one)):
            table.n_having[table.words(one, k)[0]] += 1
    first, copy_of = unique_sequences(batch)
    n_copies: list[int] = np.bincount(copy_of).tolist()
    is_other = np.zeros(len(first), np.bool_)
    for number in range(MOST_ROUNDS):
        before = is_other.copy()
        for kind, k in enumerate(first.tolist()):
            words = table.words(batch, k)
            if number:
                table.n_having[words[int(is_other[kind])]] -= n_copies[kind]
            plus, minus = (int(table.n_having[some].sum()) for some in words)
            is_other[kind] = minus > WORD_RATIO * plus + WORD_EXCESS
            table.n_having[words[int(is_other[kind])]] += n_copies[kind]
        if number and (is_other == before).all():
            break
    return is_other[copy_of]


class _WordTable:
    """K-mers of sequences.

    `n_having`: int32, shape (n_states**size,), number of sequences with each k-mer.
    """

    def __init__(self, alphabet: Alphabet, size: int) -> None:
        plain = alphabet.states
        self._size, self._n_states = size, len(plain)
        self._digit_of = np.full(len(alphabet.letters), -1, np.int32)
        self._digit_of[[alphabet.code(letter) for letter in plain]] = np.arange(len(plain))
        self._other = np.array([plain.index(alphabet.complement[letter]) for letter in plain], np.int32)
        self.n_having = np.zeros(len(plain) ** size, np.int32)

    def words(self, batch: SequenceBatch, k: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the distinct k-mers of a sequence, and those of its other strand."""
        digits = self._digit_of[batch.codes[batch.offsets[k] : batch.offsets[k + 1]]]
        n = max(0, len(digits) - self._size + 1)
        words, others, is_known = np.zeros(n, np.int32), np.zeros(n, np.int32), np.ones(n, bool)
        for step in range(self._size):
            some = digits[step : step + n]
            words = words * self._n_states + some
            others += self._other[some] * self._n_states**step
            is_known &= some >= 0
        return distinct(words[is_known]), distinct(others[is_known])


def _pieces(batch: SequenceBatch) -> SequenceBatch:
    """Return the piece of `PIECE` residues of each longer sequence with the fewest unknown ones."""
    if batch.lengths.max() <= PIECE:
        return batch
    is_unknown = batch.codes == batch.alphabet.code(batch.alphabet.wildcard)
    chosen, offsets = np.zeros(len(batch.codes), bool), [0]
    for begin, end in pairwise(batch.offsets.tolist()):
        size = min(PIECE, end - begin)
        before = np.concatenate([[0], np.cumsum(is_unknown[begin:end])])
        at = begin + int((before[size:] - before[:-size]).argmin())
        chosen[at : at + size] = True
        offsets.append(offsets[-1] + size)
    return SequenceBatch(batch.codes[chosen], np.array(offsets), batch.names, batch.alphabet, batch.letters[chosen])


def _is_other_kin(batch: SequenceBatch, members: SequenceBatch, n_threads: int) -> NDArray[np.bool_]:
    """Return a mask of sequences whose other strand clearly outscores the given strand and its own reversal.

    The comparison backwards shows the effect of composition: A-rich relatives resemble the other strand of any
    T-rich sequence.
    """
    from tropalign.pairwise.api import align_all

    batch = _pieces(batch)

    def best(queries: SequenceBatch) -> NDArray[np.int64]:
        tables = align_all(queries, members, report="score", n_threads=n_threads, device="cpu")
        scores: NDArray[np.int64] = np.concatenate([table.score for table in tables]).astype(np.int64)
        found: NDArray[np.int64] = scores.reshape(len(queries), len(members)).max(1)
        return found

    turned_batch = batch.reverse_complement()
    codes, letters = (mirrored(values, batch.offsets) for values in (turned_batch.codes, turned_batch.letters))
    chance = SequenceBatch(codes, batch.offsets, batch.names, batch.alphabet, letters)
    other, most = best(turned_batch), np.maximum(best(batch), best(chance))
    is_other: NDArray[np.bool_] = (other >= LEAST_SCORE) & (other >= SCORE_RATIO * most)
    return is_other


# Members that start elsewhere than the others on a circle (plasmids, mitochondria), and members that are two in one.
#
# Words that a member shares with a reference lie on diagonals i - j (i in the reference, j in the member):
#
#     reference  ABCDEFGH    rotated    DEFGHABC    diagonals 3 (DEFGH) and -5 (ABC), whose difference is the length
#                            two in one ABCDEFGHABCDEFGH    diagonals 0 and -8, each of them along the whole reference

#: Length of words: two sequences of 65,535 residues share four of them by chance.
DIAGONAL_WORD = 15
#: Words per sequence, about: of longer sequences, words are drawn by their hash, the same in all sequences.
MOST_WORDS = 4096
#: Shorter families are not examined, and fewer words on a diagonal are no evidence.
LEAST_MEDIAN, LEAST_WORDS = 500, 12
#: Insertions and deletions shift a diagonal by at most this share of the length.
TOLERANCE = 0.05
#: Least share of the shared words on both diagonals, and on each of them.
BOTH, EACH = 0.8, 0.01
#: A member of at least this multiple of the reference's length may be two in one; its halves cover at least COVERED of
#: the reference.
LONGER, COVERED = 1.5, 0.6


class Rearranged(NamedTuple):
    """Position of the reference with which a member starts, and whether the member is two in one."""

    start: int
    is_double: bool


def warn_of_rearranged(batch: SequenceBatch, fixed: SequenceBatch | None = None) -> None:
    """Warn of members that are rotated, with their offsets, and of members that are two in one.

    `fixed`: aligned sequences, whose start is the right one.
    """
    others = batch if fixed is None else fixed
    if not batch.alphabet.has_strands or others.alphabet != batch.alphabet or len(batch) + len(others) < 3:
        return
    median = float(np.sort(others.lengths)[len(others) // 2])
    if median < LEAST_MEDIAN:
        return
    reference = int(np.abs(others.lengths - median).argmin())
    words = _Words(batch.alphabet, median)
    target = _Reference(words, others, reference)
    found = [target.compared(words, batch, k) for k in range(len(batch))]
    doubles = [batch.names[k] for k, one in enumerate(found) if one is not None and one.is_double]
    if doubles:
        verb = "seems to be two members" if len(doubles) == 1 else "seem to be two members each,"
        warn(
            f"{len(doubles):,} of {counted(len(batch), 'sequences')} {verb} joined end to end: {listed(doubles)}; "
            "cut them apart"
        )
    known = [(k, one.start) for k, one in enumerate(found) if one is not None and not one.is_double]
    if not known:
        return
    starts, length = np.array([start for _, start in known]), target.length

    def is_far(start: int) -> NDArray[np.bool_]:
        direct = np.abs(starts - start)
        found: NDArray[np.bool_] = np.minimum(direct, length - direct) > TOLERANCE * length
        return found

    # By default the start that most members have, about; the first of several.
    usual = 0 if fixed is not None else min(dict.fromkeys(starts.tolist()), key=lambda start: int(is_far(start).sum()))
    rotated = [known[k] for k in np.flatnonzero(is_far(usual)).tolist()]
    if rotated:
        names = listed([f"{batch.names[k]} (from residue {(usual - start) % length + 1:,})" for k, start in rotated])
        verb = "starts" if len(rotated) == 1 else "start"
        warn(
            f"{len(rotated):,} of {counted(len(batch), 'sequences')} {verb} elsewhere on a circle than the others, "
            f"which start at the residue in brackets: {names}; rotate them, or the alignment has one part of each"
        )


class _Words:
    """Words of unambiguous residues, with their positions."""

    def __init__(self, alphabet: Alphabet, mean: float) -> None:
        self._digit_of = np.full(len(alphabet.letters), -1, np.int64)
        self._digit_of[[alphabet.code(letter) for letter in alphabet.states]] = np.arange(len(alphabet.states))
        self._n_states = len(alphabet.states)
        self._share = min(1.0, MOST_WORDS / mean)

    def of(self, batch: SequenceBatch, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return words and positions, int64."""
        digits = self._digit_of[batch.codes[batch.offsets[k] : batch.offsets[k + 1]]]
        n = max(0, len(digits) - DIAGONAL_WORD + 1)
        words, is_chosen = np.zeros(n, np.int64), np.ones(n, bool)
        for step in range(DIAGONAL_WORD):
            some = digits[step : step + n]
            words = words * self._n_states + some
            is_chosen &= some >= 0
        if self._share < 1:  # Fibonacci hashing
            hashes = (words.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
            is_chosen &= hashes < np.uint64(self._share * 2**32)
        at = np.flatnonzero(is_chosen)
        return words[at], at


class _Reference:
    """The reference: words that occur in it once."""

    def __init__(self, words: _Words, batch: SequenceBatch, k: int) -> None:
        found, at = words.of(batch, k)
        order = np.argsort(found, kind="stable")
        found, at = found[order], at[order]
        is_single = np.ones(len(found), bool)
        is_single[1:] &= found[1:] != found[:-1]
        is_single[:-1] &= found[1:] != found[:-1]
        self._words, self._at = found[is_single], at[is_single]
        self.length = int(batch.lengths[k])

    def compared(self, words: _Words, batch: SequenceBatch, k: int) -> Rearranged | None:
        """Return where a member starts; None if it shares too few words, or in another order."""
        found, at = words.of(batch, k)
        place = np.minimum(np.searchsorted(self._words, found), max(len(self._words) - 1, 0))
        is_shared = self._words[place] == found if len(self._words) else np.zeros(len(found), bool)
        i, j = self._at[place[is_shared]], at[is_shared]
        n, within = len(i), TOLERANCE * self.length
        if n < LEAST_WORDS:
            return None
        diagonal = i - j
        least = max(LEAST_WORDS, EACH * n)
        if int(batch.lengths[k]) >= LONGER * self.length:
            halves = [np.abs(diagonal + shift) <= within for shift in (0, self.length)]
            shares = [len(distinct(i[half])) / max(len(self._words), 1) for half in halves]
            known = len(distinct(i)) / max(len(self._words), 1)
            return Rearranged(0, True) if min(shares) >= COVERED * known else None
        if (np.abs(diagonal) <= within).sum() > (1 - BOTH) * n:
            return Rearranged(0, False)
        ahead, behind = diagonal[diagonal > 0], diagonal[diagonal < 0]
        if min(len(ahead), len(behind)) < least:
            return None
        start, end = (int(np.sort(some)[len(some) // 2]) for some in (ahead, behind))
        is_near = (np.abs(diagonal - start) <= within) | (np.abs(diagonal - end) <= within)
        if abs(start - end - self.length) > within or is_near.sum() < BOTH * n:
            return None
        return Rearranged(start, False)
