import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import xopen

import tropalign as ta
from tropalign.sequences import files

FASTA = b">a first one\nMKV\nlag\n>b\r\nWWX*\r\n"
FAMILY = b"".join(b">s%d\nMKVLAAGWHHE\n" % k for k in range(500))


def zstd(data):
    stream = io.BytesIO()
    with xopen.xopen(stream, "wb", format="zst", threads=0) as file:
        file.write(data)
    return stream.getvalue()


PACKERS = [bytes, gzip.compress, bz2.compress, lzma.compress, zstd]


@pytest.fixture
def standard_input(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("from_stdin", [False, True])
def test_reads_every_compression(pack, from_stdin, tmp_path, standard_input):
    path = tmp_path / "sequences"
    path.write_bytes(pack(FASTA))
    if from_stdin:
        standard_input(pack(FASTA))
    batch = ta.read_sequences("-" if from_stdin else path)
    assert batch.names == ("a", "b") and batch.descriptions == ("first one", "")
    assert [batch.text(k) for k in range(2)] == ["MKVlag", "WWX*"]
    assert batch.alphabet is ta.PROTEIN and batch.lengths.tolist() == [6, 4]
    assert ta.PROTEIN.decode(batch.codes) == "MKVLAGWWX*"


def test_reads_fastq_and_several_files(tmp_path):
    one, two = tmp_path / "a.fq", tmp_path / "b.fa"
    one.write_text("@r1\nACGU\n+\nIIII\n")
    two.write_text(">r2\nACGTN\n")
    batch = ta.read_sequences([one, two])
    assert batch.alphabet is ta.NUCLEOTIDE and batch.names == ("r1", "r2")
    assert batch.text(0) == "ACGU" and batch.codes.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 14]


def test_unknown_letters_are_counted(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\nMKV1L?\n>b\nMKV\n")
    with pytest.warns(ta.TropalignWarning, match="2 letters outside the protein alphabet, the first '1' at position 4"):
        batch = ta.read_sequences(path)
    assert ta.PROTEIN.decode(batch.codes[:6]) == "MKVXLX"
    with pytest.raises(ta.InputError) as error:
        ta.read_sequences(path, strict=True)
    assert str(error.value) == (
        f"{path}, record 'a': 2 letters outside the protein alphabet, the first '1' at position 4: correct them or "
        "omit strict"
    )


def test_alphabets_that_contradict_the_letters(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\nACGTACGTACGT\n")
    with pytest.warns(ta.TropalignWarning, match="as requested, but its residues look like nucleotide"):
        ta.read_sequences(path, alphabet=ta.PROTEIN)
    path.write_text(">a\nMKVLAAGWHHE\n")
    with pytest.warns(ta.TropalignWarning) as given:
        ta.read_sequences(path, alphabet=ta.NUCLEOTIDE)
    assert [str(warning.message) for warning in given] == [
        f"{path}: read as nucleotide as requested, but its residues look like protein",
        f"{path}, record 'a': 2 letters outside the nucleotide alphabet, the first 'L' at position 4; read as N",
    ]


def test_empty_sequences_are_skipped_and_counted(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\n\n>b\nMKV\n")
    assert ta.read_sequences(path, skip_empty=True).names == ("b",)
    path.write_bytes(b">a\n>b\nMKV\n>b\nMKV\n")
    with pytest.raises(ta.InputError, match="record 'b': records 2 and 3 have the same name"):
        ta.read_sequences(path, skip_empty=True)
    path.write_bytes(b">a\n>b\n")
    with pytest.raises(ta.InputError, match="every sequence is empty: there is nothing to read"):
        ta.read_sequences(path, skip_empty=True)


@pytest.mark.parametrize(
    ("data", "names", "texts"),
    [
        (b"\xef\xbb\xbf>a\nMKV\n", ("a",), ["MKV"]),
        (b"\n \n>a\nMKV", ("a",), ["MKV"]),
        (b">a\n\nMK V \n\tLAG\n\n", ("a",), ["MKVLAG"]),
        (b">a\tx y\nMKV\n>b x\ty\nMKV\n", ("a", "b"), ["MKV", "MKV"]),
        (gzip.compress(b">a\nMKV\n", mtime=0) + gzip.compress(b">b\nMKL\n", mtime=0), ("a", "b"), ["MKV", "MKL"]),
    ],
)
def test_what_files_look_like_besides(data, names, texts, tmp_path):
    path = tmp_path / "a.fa"
    path.write_bytes(data)
    batch = ta.read_sequences(path)
    assert batch.names == names and [batch.text(k) for k in range(len(batch))] == texts


OR_ELSE = 'or use duplicate_names="number" or duplicate_names="keep"'
NEITHER = "this is neither FASTA nor FASTQ: a record must begin with '>' or '@'"
NO_NAME = "the header has no name: write one directly after '>' or '@'"
TRUNCATED = "the compressed file is truncated: fetch or write it again"
NO_TEXT = "a zero byte in the text: save the file as plain text, in ASCII or UTF-8"
COMMENT = (
    "this is a comment line of old FASTA files, not sequences (FASTA or FASTQ): remove the lines that begin with ';'"
)
NO_LETTER = "a non-ASCII byte in a sequence: correct the record (names may contain any UTF-8 character)"


@pytest.mark.parametrize(
    ("data", "place", "sentence"),
    [
        (b"", "", "the file is empty"),
        (b"\n \n", "", "the file is empty"),
        (gzip.compress(b"", mtime=0), "", "the file is empty"),
        (b"hello\n", ", line 1", NEITHER),
        (b"\n\n;a\nMKV\n", ", line 3", COMMENT),
        (bytes(range(256)), ", line 1", NEITHER),
        (b">a\nM\0V\n", ", line 2", NO_TEXT),
        (">a\nMKV\n>b\nMK\u00c9V\n".encode(), ", line 4", NO_LETTER),
        (b">a\nMKV\n>b\0\nMKV\n", ", line 3", NO_TEXT),
        ("@a\nAC\n+\nII\n@b\nA\u00e7\n+\nII\n".encode(), ", line 6", NO_LETTER),
        (b">a\n>b\nMKV\n", ", record 'a'", "the sequence is empty: remove the record or use skip_empty"),
        (b">a\nMKV\n>\nMKL\n", ", record 'number 2'", NO_NAME),
        (b"> a\nMKV\n", ", record 'number 1'", NO_NAME),
        (
            b">a\nMKV\n>b\nMKV\n>a\nMKL\n",
            ", record 'a'",
            f"records 1 and 3 have the same name: give each record its own name, {OR_ELSE}",
        ),
        (
            b"@a\nACGT\n+\nII\n",
            ", line 4, record 'a'",
            "the quality has 2 characters, but the sequence has 4 residues: correct the record",
        ),
        (
            b"@a\nACGT\n+\n",
            ", line 3, record 'a'",
            "the file ends within this record: fetch it again",
        ),
        *((pack(FAMILY)[:-12], "", TRUNCATED) for pack in PACKERS[1:]),
    ],
)
def test_files_that_cannot_be_used(data, place, sentence, tmp_path, standard_input):
    path = tmp_path / "a.fa"
    path.write_bytes(data)
    standard_input(data)
    for source, name in ((path, path), ("-", "standard input")):
        with pytest.raises(ta.InputError) as error:
            ta.read_sequences(source)
        assert str(error.value) == f"{name}{place}: {sentence}"


def test_damaged_compressed_file(tmp_path):
    path = tmp_path / "a.fa.gz"
    packed = gzip.compress(FAMILY, mtime=0)
    path.write_bytes(packed[:100] + b"xxxx" + packed[104:])
    with pytest.raises(ta.InputError, match=r"the compressed file is damaged \(.*\): fetch or write it again"):
        ta.read_sequences(path)


def test_one_name_in_two_files(tmp_path):
    one, two = tmp_path / "1.fa", tmp_path / "2.fa"
    one.write_text(">a\nMKV\n>b\nMKV\n")
    two.write_text(">c\nMKV\n>d\nMKV\n>b\nMKV\n")
    with pytest.raises(ta.InputError) as error:
        ta.read_sequences([one, two])
    assert str(error.value) == (
        f"{two}, record 'b': record 3, and record 2 of {one}, have the same name: give each record its own name, "
        f"{OR_ELSE}"
    )


def test_paths_that_cannot_be_read(tmp_path, monkeypatch):
    closed = tmp_path / "closed.fa"
    closed.write_bytes(gzip.compress(FASTA))  # is opened by xopen

    def refuse(path, *arguments, **options):
        raise PermissionError(13, "Permission denied", path)

    for source, sentence in (
        (tmp_path, "this is a directory: give the files in it"),
        (tmp_path / "none.fa", "there is no such file"),
        (Path(str(closed)), "no permission to read this file"),
    ):
        if source == closed:
            if os.geteuid() == 0:
                monkeypatch.setattr(xopen, "xopen", refuse)
            closed.chmod(0)
        with pytest.raises(ta.InputError) as error:
            ta.read_sequences(source)
        assert str(error.value) == f"{source}: {sentence}" and error.value.exit_code == 3
    with pytest.raises(ta.InputError, match="no file was given: give one, or '-' for standard input"):
        ta.read_sequences([])


@pytest.mark.parametrize("pack", PACKERS[1:])
def test_files_are_decompressed_in_a_thread_that_ends_with_the_reading(pack, tmp_path, monkeypatch):
    data = b"".join(b">s%d\nMKVLAAGWHHE\n" % k for k in range(3000))
    path = tmp_path / "sequences"
    path.write_bytes(pack(data))
    monkeypatch.setattr(files, "AHEAD_BYTES", 1000)
    makers, piece = set(), files._piece

    def noted(stream):
        makers.add(threading.current_thread())
        return piece(stream)

    monkeypatch.setattr(files, "_piece", noted)
    assert len(ta.read_sequences(path)) == 3000
    with files.opened(path) as stream:  # and is left early
        assert stream.read(5) == b">s0\nM"
    (_, _) = makers
    assert threading.main_thread() not in makers and not any(maker.is_alive() for maker in makers)
    path.write_bytes(pack(data)[:-9])
    with pytest.raises(ta.InputError, match=r"truncated|damaged"), files.opened(path) as stream:
        while stream.read(500):
            pass


@pytest.mark.parametrize("gaps", ["refuse", "remove"])
def test_final_stops_are_removed(tmp_path, gaps):
    random, path = np.random.default_rng(5), tmp_path / "x.fa"
    texts = [
        "M" + "".join(random.choice(list("AKLV***"), int(random.integers(1, 9)))) + "*" * (k % 2) for k in range(200)
    ]
    path.write_text("".join(f">s{k}\n{text}{'-' * (gaps == 'remove')}\n" for k, text in enumerate(texts)))
    found = ta.read_sequences(path, gaps=gaps, clip_stops=True)
    assert [str(one) for one in found] == [text.removesuffix("*") for text in texts]
    n_stops = sum(text.endswith("*") for text in texts)
    with pytest.warns(ta.errors.TropalignWarning, match=rf"{n_stops} of 200 sequences end in '\*', which is aligned"):
        kept = ta.read_sequences(path, gaps=gaps)
    assert [str(one) for one in kept] == texts
