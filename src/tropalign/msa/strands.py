"""Sequences of a family that are written on the other strand than most of it: found by words, judged by alignments.

    family   a  ACGGTCATTGCA...        words of a    as they are: many in b     turned: few in b
             b  ACGGTTATTGCA...
             c  ...TGCAATGACCGT        words of c    as they are: few in a, b   turned: many in a, b

1. Words: every sequence in turn takes the strand that shares clearly more words with the others as they lie by now,
   and so again until none moves. Those against the majority are suspects.
2. Alignments: a suspect and its other strand are aligned locally with some of the majority. It is turned where the
   other strand scores clearly more. A false alarm is worse than a miss: where kin share less than some 60 % of their
   letters, nothing is said.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, listed, named, warn
from tropalign.msa.family import unique_sequences
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.alphabet import Alphabet
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.strands import mirrored

#: Letters of a word where sequences are short and long, and from which mean length on they are long: two unrelated
#: sequences of 500 share 4 words of 8, of 5,000 24 words of 10.
SHORT_WORD, LONG_WORD, LONG = 8, 10, 500
#: The other strand shares so many times the words, and so many more.
WORD_RATIO, WORD_EXCESS = 2, 8
#: Rounds in which sequences change their strand.
MOST_ROUNDS = 8
#: Members of the majority that a suspect is aligned with, fewer where these are long; cells of a suspect; and suspects
#: that are aligned at a time.
FEW_MEMBERS, MEMBERS, MEMBER_CELLS, AT_ONCE = 4, 32, 100_000_000, 256
#: The other strand has at least this local score (a match is 5), and so many times the sequence's own: the scores of
#: unrelated sequences differ by less.
LEAST_SCORE, SCORE_RATIO = 150, 2
#: What is added to the description of a sequence that was turned.
MARK = "(reverse complement)"


def on_one_strand(
    batch: SequenceBatch, strand: str, n_threads: int, fixed: SequenceBatch | None = None
) -> SequenceBatch:
    """A family whose sequences are turned where they have to be, or the same with a warning that names them.

    Parameters
    ----------
    strand : {"plus", "adjust"}
        Whether sequences are turned.
    fixed
        Sequences that are aligned already: these have the strand that counts.

    Raises
    ------
    InputError
        Sequences with one strand are to be turned.

    Warns
    -----
    TropalignWarning
        Sequences lie on the other strand, or were turned.
    """
    if strand == "adjust" and not batch.alphabet.has_strands:
        raise InputError(
            f"sequences are to be turned, but {batch.alphabet.name}s have one strand: leave {named('strand')} adjust "
            "out"
        )
    is_turned = turned(batch, n_threads, fixed)
    if not is_turned.any():
        return batch
    of = "the rest of the family" if fixed is None else "the alignment"
    n_turned, names = int(is_turned.sum()), listed([batch.names[k] for k in np.flatnonzero(is_turned)])
    verb, them = ("is", "it") if n_turned == 1 else ("are", "them")
    text = f"{n_turned:,} of {len(batch):,} sequences {verb} on the other strand than {of}: {names}"
    remedy = "turned to its reverse complement" if n_turned == 1 else "turned to their reverse complements"
    text += f"; {remedy}" if strand == "adjust" else f"; {named('strand')} adjust turns {them}"
    warn(text, stacklevel=3)
    return batch if strand == "plus" else with_turned(batch, is_turned)


def warn_of_turned_rows(first: MultipleAlignment, second: MultipleAlignment, n_threads: int) -> None:
    """Warns where rows of the second alignment lie on the other strand than the first one."""
    rows = _with_residues(second.sequences)
    is_turned = turned(rows, n_threads, first.sequences)
    if is_turned.any():
        names = listed([rows.names[k] for k in np.flatnonzero(is_turned)])
        text = (
            f"{is_turned.sum():,} of {len(rows):,} rows to be merged lie on the other strand than the alignment: "
            f"{names}; turn them before"
        )
        warn(text, stacklevel=3)


def _with_residues(batch: SequenceBatch) -> SequenceBatch:
    """Without the rows of gaps only that alignments may hold."""
    return batch if batch.lengths.all() else batch[np.flatnonzero(batch.lengths)]


def with_turned(batch: SequenceBatch, is_turned: NDArray[np.bool_]) -> SequenceBatch:
    """The batch with the reverse complements of some sequences, whose descriptions say so."""
    other = batch.reverse_complement()
    residues = np.repeat(is_turned, batch.lengths)
    told = batch.descriptions or ("",) * len(batch)
    marked = [_marked(text) if turn else text for text, turn in zip(told, is_turned.tolist(), strict=True)]
    return SequenceBatch(
        np.where(residues, other.codes, batch.codes),
        batch.offsets,
        batch.names,
        batch.alphabet,
        np.where(residues, other.letters, batch.letters),
        tuple(marked),
        None if other.qualities is None or batch.qualities is None
        else np.where(residues, other.qualities, batch.qualities),
    )  # fmt: skip


def _marked(description: str) -> str:
    """What describes the reverse complement; twice turned is as before."""
    if description.endswith(MARK):
        return description.removesuffix(MARK).rstrip()
    return f"{description} {MARK}".lstrip()


def turned(batch: SequenceBatch, n_threads: int, fixed: SequenceBatch | None = None) -> NDArray[np.bool_]:
    """Which sequences lie on the other strand than most of the family, or than others that are aligned already.

    Parameters
    ----------
    fixed
        The aligned ones.

    Returns
    -------
    bool, shape (n,)
        Where as many lie on either strand, the first sequence's is the right one.
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
    """By words alone: which sequences lie on the other strand than fixed ones, or else than the first of their kin."""
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
    """The words of sequences.

    Attributes
    ----------
    n_having : int32, shape (n_states**size,)
        Of each word, in how many sequences it is.
    """

    def __init__(self, alphabet: Alphabet, size: int) -> None:
        plain = alphabet.states
        self._size, self._n_states = size, len(plain)
        self._digit_of = np.full(len(alphabet.letters), -1, np.int32)
        self._digit_of[[alphabet.code(letter) for letter in plain]] = np.arange(len(plain))
        self._other = np.array([plain.index(alphabet.complement[letter]) for letter in plain], np.int32)
        self.n_having = np.zeros(len(plain) ** size, np.int32)

    def words(self, batch: SequenceBatch, k: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The different words of a sequence, and those of its other strand."""
        digits = self._digit_of[batch.codes[batch.offsets[k] : batch.offsets[k + 1]]]
        n = max(0, len(digits) - self._size + 1)
        words, is_known = np.zeros(n, np.int32), np.ones(n, bool)
        for step in range(self._size):
            words = words * self._n_states + digits[step : step + n]
            is_known &= digits[step : step + n] >= 0
        words = np.unique(words[is_known])
        others, left = np.zeros_like(words), words
        for _ in range(self._size):
            left, digits = np.divmod(left, self._n_states)
            others = others * self._n_states + self._other[digits]
        return words, others


def _is_other_kin(batch: SequenceBatch, members: SequenceBatch, n_threads: int) -> NDArray[np.bool_]:
    """Sequences whose other strand is clearly more like a member than they are, and than its letters backwards.

    Backwards they tell what composition does by itself: A-rich kin are like the other strand of any T-rich sequence.
    """
    from tropalign.pairwise.api import align_all

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
