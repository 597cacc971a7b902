"""The reader of every verb: blocks, what is taken and what is refused, and how far it is."""

import bz2
import gzip
import hashlib
import io
import lzma
import sys
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tropalign as ta
from tropalign.sequences import records as module
from tropalign.sequences.reader import READS, SEQUENCES, BlockReader, Policy, ReadBlocks, survey_of, with_gaps

REMOVING = with_gaps(READS, "remove")
READS_TEXT = b">a one\nAC-GT\nac\n>\nA.C\n>b\n\n>a\nNN__\n"


def records(blocks):
    return [
        (name, block.letters[block.offsets[k] : block.offsets[k + 1]].tobytes().decode())
        for block in blocks
        for k, name in enumerate(block.names)
    ]


@pytest.fixture
def reads(tmp_path):
    path = tmp_path / "reads.fa"
    path.write_bytes(READS_TEXT)
    return path


def test_reads_as_they_come(reads):
    with pytest.warns(ta.TropalignWarning, match="the name 'a' occurs again: reads of the same name are numbered"):
        (block,) = ReadBlocks(reads, policy=REMOVING)
    assert records([block]) == [("a", "ACGTac"), ("read_2", "AC"), ("b", ""), ("a_2", "NN")]
    assert block.numbers.tolist() == [1, 2, 3, 4] and block.descriptions[0] == "one" and block.file == str(reads)


def test_each_rule_of_a_policy_by_itself(reads):
    def read(**rules):
        return records(BlockReader(reads, Policy(**{"names_records": True, "empty": "keep", "gaps": "keep", **rules})))

    assert read()[0] == ("a", "AC-GTac") and read(gaps="remove")[0] == ("a", "ACGTac")
    with pytest.raises(ta.InputError, match=r"reads.fa, line 2, record 'a': '-' at position 3 is a gap, but"):
        read(gaps="refuse")
    assert [name for name, _ in read(empty="skip")] == ["a", "read_2", "a"]
    with pytest.raises(ta.InputError, match="record 'b': the sequence is empty: remove the record or use skip_empty"):
        read(empty="refuse")
    with pytest.raises(ta.InputError, match="record 'number 2': the header has no name"):
        read(names_records=False)
    reads.write_bytes(b">\xc3\xa9\nA\0C\xe9\n")
    assert read(replaces_bytes=True) == [("\u00e9", "A?C?")]
    with pytest.raises(ta.InputError, match="line 2: a zero byte in the text"):
        read()


def test_record_numbers_count_what_is_left_out(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\n>b\nMKV\n>c\n>d\nMKV\n")
    (block,) = BlockReader(path, Policy(empty="skip"))
    assert block.numbers.tolist() == [2, 4] and block.names == ("b", "d")


names = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=30)
texts = st.text("ACGTacgtN", max_size=12)


@given(st.data(), names, st.integers(1, 7), st.integers(1, 40), st.booleans())
def test_the_cut_into_blocks_changes_nothing(data, names, n_reads, n_letters, is_fastq):
    given_texts = [data.draw(texts) for _ in names]
    if is_fastq:
        lines = [f"@{n} x\n{t}\n+\n{'I' * len(t)}\n" for n, t in zip(names, given_texts, strict=True)]
    else:
        lines = [f">{n} x\n{t[:5]}\n{t[5:]}\n" for n, t in zip(names, given_texts, strict=True)]
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = records(ReadBlocks(io.BytesIO("".join(lines).encode())))
        patch.setattr(module, "BLOCK_RECORDS", n_reads)
        patch.setattr(module, "BLOCK_LETTERS", n_letters)
        cut = list(ReadBlocks(io.BytesIO("".join(lines).encode())))
        from_pairs = records(ReadBlocks(list(zip(names, given_texts, strict=True))))
    assert records(cut) == whole == from_pairs
    assert all(len(block) <= n_reads for block in cut)
    assert np.concatenate([block.numbers for block in cut]).tolist() == list(range(1, len(names) + 1))
    assert [text for _, text in whole] == given_texts and len({name for name, _ in whole}) == len(names)


PACKS = {
    "plain": bytes,
    "gzip": partial(gzip.compress, compresslevel=1),
    "bzip2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
}


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_how_far_it_is(tmp_path, monkeypatch, pack):
    rng = np.random.default_rng(1)
    letters = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, (3000, 400))]
    lines = [b">%d\n%s\n" % (k, row.tobytes()) for k, row in enumerate(letters)]
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(pack(b"".join(lines)))
    two.write_bytes(pack(b"".join(b">x" + line[1:] for line in lines)))
    monkeypatch.setattr(module, "BLOCK_RECORDS", 500)
    reader = ReadBlocks([one, two])
    assert reader.fraction() == 0
    seen = [reader.fraction() for _ in reader]
    assert seen == sorted(seen) and len(seen) == 14  # a megabyte of a file has 500 records five times, and a rest
    assert 0 < seen[0] < 0.6 and seen[7] >= 0.5 and reader.fraction() == 1  # igzip takes half a megabyte at a time
    assert ReadBlocks(io.BytesIO(b">a\nA\n")).fraction() is None and ReadBlocks([("a", "A")]).fraction() is None


def test_other_reads_than_files():
    batch = ta.SequenceBatch.from_strings(["MKV", "WW"], ["a", "b"])
    pairs = {"a": "MKV", "b": b"WW"}
    for reads in (batch, list(batch), [("a", "MKV"), ("b", "WW")], pairs.items(), pairs):
        assert records(ReadBlocks(reads)) == [("a", "MKV"), ("b", "WW")]
    assert records(ReadBlocks((pair for pair in [("a", "M-K")]), taken=["x"], policy=REMOVING)) == [("a", "MK")]
    assert list(ReadBlocks([])) == []
    with pytest.raises(ta.InputError, match="None is not a sequence"):
        list(ReadBlocks([("a", None)]))
    with pytest.raises(ta.InputError, match="is not a file"):
        list(ReadBlocks(["reads.fa", ("a", "MKV")]))


def test_survey(reads, tmp_path):
    found = survey_of(ReadBlocks(reads, policy=REMOVING))
    assert found.n_reads == 4 and found.lengths.tolist() == [6, 2, 0, 2] and found.lengths.dtype == np.int64
    packed, parts = tmp_path / "x.gz", [tmp_path / "1", tmp_path / "2"]
    packed.write_bytes(gzip.compress(READS_TEXT))
    assert survey_of(ReadBlocks(packed, policy=REMOVING)).sha256 == found.sha256
    parts[0].write_bytes(b">a one\nACGTac\n>read_2\nAC\n>b\n")
    parts[1].write_bytes(b">a\nNN\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        in_two = survey_of(ReadBlocks(parts))
    assert in_two.sha256 == found.sha256
    others = [
        READS_TEXT.replace(b">b", b">c"),
        READS_TEXT.replace(b"ac", b"ca"),
        READS_TEXT.replace(b"ac\n>\n", b"a\n>\nc"),
    ]
    digests = {found.sha256}
    for other in others:
        reads.write_bytes(other)
        digests.add(survey_of(ReadBlocks(reads, policy=REMOVING)).sha256)
    assert len(digests) == 4 and all(len(digest) == 64 for digest in digests)


def test_streams_that_are_closed_or_endless(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ta.InputError) as error:
        ta.read_sequences("-")
    assert str(error.value) == "standard input: the stream is closed: pipe data into it, or give a file"

    class Blanks:
        def read(self, size):
            return b"\n" * size

    with pytest.raises(ta.InputError, match="neither FASTA nor FASTQ"):
        ta.read_sequences(Blanks())


def test_a_stream_with_nothing_but_read():
    class Stream:
        def __init__(self, chunks):
            self.chunks = chunks

        def read(self, size):
            return self.chunks.pop(0) if self.chunks else ""

    assert ta.read_sequences(Stream([">a\nMK", "V\n" + ">b\nMKVL" * 1, "\n"])).names == ("a", "b")
    assert ta.read_sequences(Stream([b">a\n" + b"MKV" * 100_000])).lengths.tolist() == [300_000]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("tail", [b"something else that follows", b">c\nMKV\n" * 9])
def test_what_follows_the_compressed_part(tmp_path, pack, tail):
    path = tmp_path / "x"
    path.write_bytes(pack(b">a\nMKV\n>b\nMKV\n") + tail)
    with pytest.raises(ta.InputError, match=r"x: the compressed file is damaged \(.*\): fetch or write it again"):
        ta.read_sequences(path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_several_members_and_padding(tmp_path, pack):
    path = tmp_path / "x"
    path.write_bytes(pack(b">a\nMKV\n") + pack(b"MKV\n>b\nMK") + pack(b"V\n") + b"\0" * 8)
    assert records(BlockReader(path, SEQUENCES)) == [("a", "MKVMKV"), ("b", "MKV")]


@given(st.binary(max_size=300), st.integers(1, 50), st.sampled_from([bz2.compress, lzma.compress]))
def test_members_are_read_whole_whatever_their_sizes(data, size, pack):
    from tropalign.sequences.files import opened

    packed = b"".join(pack(data[k : k + size]) for k in range(0, len(data), size)) or pack(b"")
    with opened(io.BytesIO(packed)) as stream:
        assert stream.read() == data


def test_messages_are_one_line_and_hold_no_control_characters(tmp_path):
    path = tmp_path / "x\x1b[31m.fq"
    path.write_bytes(b"@a\x1b[31m\nACGT\n+b\x1b[0m\nIIII\n")
    with pytest.raises(ta.InputError) as error:
        ta.read_sequences(path)
    text = str(error.value)
    assert text.isprintable() and "the text after '+' differs" in text and text.endswith(": correct the record")
    path.write_bytes("@é\nACGT\n+e\nIIII\n".encode())
    with pytest.raises(ta.InputError, match=r"record 'é': the text after '\+' differs from the header"):
        ta.read_sequences(path)
    path.write_bytes(b">a\x1b[31m\nMKV\n>a\x1b[31m\nMKV\n")
    with pytest.raises(ta.InputError) as error:
        ta.read_sequences(path)
    assert str(error.value).isprintable() and "record 'a\\x1b[31m'" in str(error.value)


def test_reading_many_short_records_takes_little_beside_their_names(tmp_path):
    """A set of N records: names take about 70 bytes each, letters, codes and offsets 28, the rest less than that."""
    path, n = tmp_path / "x.fa", 60_000
    path.write_text("".join(f">s{k}\nMKVLAWHEAG\n" for k in range(n)))
    ta.read_sequences(path)
    tracemalloc.start()
    batch = ta.read_sequences(path)
    peak = tracemalloc.get_traced_memory()[1] - 20 * module.BLOCK_LETTERS // 8
    tracemalloc.stop()
    assert len(batch) == n and peak < 200 * n


def test_read_policy_is_that_of_place():
    assert Policy("refuse", True, True, "keep", True) == READS
    assert hashlib.sha256(b"").hexdigest() != survey_of(ReadBlocks([])).sha256


SIGNS = [b">", b"@", b"+", b"\n", b"\r", b" ", b"\t", b"#", b"a", b"ACGT", b"II", b"\0", b"\xe9", b"-", b"*"]


def read_or_refused(data, policy):
    """All blocks, and the sentence where there are none. Bytes that nobody wrote may be no UTF-8, which is told."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the open stream: bytes that are not UTF-8")
            return list(BlockReader(io.BytesIO(data), policy)), ""
    except ta.InputError as error:
        return [], str(error)


@given(
    st.lists(st.sampled_from(SIGNS), max_size=40),
    st.sampled_from([SEQUENCES, READS, Policy(empty="skip")]),
    st.integers(1, 3),
)
@example([b">", b"\n", b"ACGT", b"\r", b"a"], SEQUENCES, 1)
@pytest.mark.filterwarnings("ignore:the open stream. bytes that are not UTF-8 are read as Latin-1")
def test_any_text_is_read_or_refused_in_one_sentence(pieces, policy, n_reads):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_RECORDS", n_reads)
        blocks, sentence = read_or_refused(b"".join(pieces), policy)
    assert sentence.isprintable() and (blocks or sentence.startswith("the open stream"))
    for block in blocks:
        assert len(block.offsets) == len(block) + 1 == len(block.numbers) + 1 == len(block.descriptions) + 1
        assert block.offsets[0] == 0 and block.offsets[-1] == len(block.letters) and (np.diff(block.offsets) >= 0).all()
        assert all(block.names) and not np.isin(block.letters, list(b" \t\n\r")).any()
        assert policy.empty == "keep" or np.diff(block.offsets).all()


@given(st.binary(max_size=60), st.integers(0, 200), st.sampled_from([gzip.compress, bz2.compress, lzma.compress]))
def test_damaged_compression_is_refused_or_read(change, at, pack):
    packed = bytearray(pack(b">a\nMKV\n>b\nMKVLAWHEAG\n" * 3))
    packed[at : at + len(change)] = change
    blocks, sentence = read_or_refused(packed, READS)
    assert sentence.isprintable() and bool(blocks) != bool(sentence)
