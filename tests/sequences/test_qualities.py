"""Qualities of FASTQ, from the file to the batch."""

import copy
import gzip
import pickle

import dnaio
import numpy as np
import pytest

import tropalign
from tropalign.errors import InputError, TropalignWarning
from tropalign.sequences import NUCLEOTIDE, SequenceBatch, SequenceStore, read_sequences


@pytest.fixture
def reads(tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "reads.fq"
    with open(path, "w") as file:
        for k in range(5000):  # more than a block holds
            n = int(rng.integers(1, 120))
            letters = "".join(rng.choice(list("ACGTN"), n))
            scores = "".join(map(chr, rng.integers(33, 127, n)))
            file.write(f"@read{k}\n{letters}\n+\n{scores}\n")
    with dnaio.open(path) as records:
        return path, [[ord(c) - 33 for c in record.qualities] for record in records]


def scores_of(batch):
    return [batch.qualities[a:b].tolist() for a, b in zip(batch.offsets, batch.offsets[1:], strict=False)]


def test_are_those_that_dnaio_reads(reads, tmp_path):
    path, expected = reads
    assert scores_of(read_sequences(path, qualities=True)) == expected
    packed = tmp_path / "reads.fq.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert scores_of(read_sequences(packed, qualities=True)) == expected
    returns = tmp_path / "returns.fq"
    returns.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert scores_of(read_sequences(returns, qualities=True)) == expected


def test_are_read_where_they_are_wanted_only(reads):
    plain, scored = read_sequences(reads[0]), read_sequences(reads[0], qualities=True)
    assert plain.qualities is None and scored.names == plain.names
    assert np.array_equal(plain.codes, scored.codes)
    assert plain.fingerprint() != scored.fingerprint()  # a run with other qualities is another run


def test_files_without_any_and_stores_hold_none(tmp_path, reads):
    fasta, fastq = tmp_path / "a.fa", tmp_path / "b.fq"
    fasta.write_text(">a\nACG\n>b\nAC\n")
    fastq.write_text("@c\nAC GT\n+\n!I#I~\n")
    assert read_sequences(fasta, qualities=True).qualities is None
    both = read_sequences([fasta, fastq], qualities=True)
    assert scores_of(both) == [[255] * 3, [255] * 2, [0, 40, 40, 93]]  # the blank's own is left out with it
    assert scores_of(read_sequences([fastq, fasta], qualities=True))[0] == [0, 40, 40, 93]
    path = tmp_path / "reads.tdb"
    SequenceStore.build(reads[0], path)
    with pytest.warns(TropalignWarning, match=r"reads\.tdb: sequence stores contain no qualities"):
        assert read_sequences(path, qualities=True).qualities is None


def test_empty_reads_and_gaps_leave_theirs_out(tmp_path):
    path = tmp_path / "a.fq"
    path.write_text("@a\nA-C\n+\n!5I\n@b\n\n+\n\n@c\nGT\n+\n#$\n")
    assert scores_of(read_sequences(path, qualities=True, skip_empty=True, gaps="remove")) == [[0, 40], [2, 3]]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_no_quality(tmp_path, end):
    path = tmp_path / "a.fq"
    path.write_bytes(end.join(["@a", "ACG", "+", "III", "@b", "ACG", "+", "I\tI", ""]).encode())
    with pytest.raises(InputError) as caught:
        read_sequences(path, qualities=True)
    words = "'\\t' is not a quality character ('!' to '~'): correct the record"
    assert str(caught.value) == f"{path}, record 'b': {words}"
    assert len(read_sequences(path)) == 2


@pytest.fixture
def batch():
    made = SequenceBatch.from_strings({"a": "ACG", "b": "TTGA"}, alphabet=NUCLEOTIDE)
    return SequenceBatch(
        made.codes, made.offsets, made.names, made.alphabet, made.letters, qualities=np.arange(7, dtype=np.uint8)
    )


def test_go_where_the_letters_go_and_change_no_alignment(batch):
    assert scores_of(batch.reverse_complement()) == [[2, 1, 0], [6, 5, 4, 3]]
    assert scores_of(batch[[1, 0]]) == [[3, 4, 5, 6], [0, 1, 2]]
    for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        assert scores_of(other) == scores_of(batch) and other.fingerprint() == batch.fingerprint()
    (table,) = tropalign.align_all(batch, strand="both")
    assert table.queries.qualities is not None and len(table) == 1


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (np.zeros(6, np.uint8), "6 qualities for 7 codes: give one per code"),
        (np.zeros(7), "qualities must be a one-dimensional array"),
    ],
)
def test_wrong_arrays(batch, values, text):
    with pytest.raises(ValueError, match=text):
        SequenceBatch(batch.codes, batch.offsets, batch.names, batch.alphabet, batch.letters, qualities=values)
