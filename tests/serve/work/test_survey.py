"""What inputs hold, counted as streams."""

import bz2
import gzip
import json
import lzma
import random
import tracemalloc

import pytest

from tropalign.sequences import SequenceStore, read_sequences
from tropalign.serve.work import survey as module
from tropalign.serve.work.survey import Counts, OverLimit, is_small, plan_of, survey

MOST = Counts(10**9, 10**6, 10**9)


@pytest.fixture(params=[1, 7, 100, 1 << 20])
def block(request, monkeypatch):
    """Blocks of several sizes, so that their ends fall everywhere."""
    monkeypatch.setattr(module, "BLOCK_BYTES", request.param)


def written(tmp_path, data, name="x.fa"):
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def fasta(chance):
    lines = []
    for k in range(chance.randrange(1, 30)):
        lines.append(f">s{k} some > words @ here")
        lines += ["".join(chance.choices("ACGT", k=chance.randrange(1, 60))) for _ in range(chance.randrange(1, 4))]
    return lines


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fasta_counts_as_the_reader_does(tmp_path, block, seed, end):
    path = written(tmp_path, "\n \n" * (seed % 2) + end.join(fasta(random.Random(seed))) + end * (seed % 3))
    found, batch = survey([path], MOST), read_sequences(path)
    assert (found.n_sequences, found.n_residues) == (len(batch), int(batch.lengths.sum()))
    assert found.n_bytes == (tmp_path / "x.fa").stat().st_size


@pytest.mark.parametrize("last", ["", "\n"])
def test_fastq_counts_as_the_reader_does(tmp_path, block, last):
    text = "\n".join(f"@r{k} lane\nACGTN{'A' * k}\n+\n@@>II{'>' * k}" for k in range(20)) + last
    path = written(tmp_path, text, "x.fq")
    found, batch = survey([path], MOST), read_sequences(path)
    assert (found.n_sequences, found.n_residues) == (len(batch), int(batch.lengths.sum()))


def test_what_several_files_stores_and_others_hold(tmp_path):
    paths = [written(tmp_path, ">a\nACGT\n", "a.fa"), written(tmp_path, ">b\nAC\n>c\nG\n", "b.fa")]
    assert survey(paths, MOST, Counts(0, 10, 100, "held")) == Counts(19, 13, 107, "held a b c")
    path = written(tmp_path, "HMMER3/f\nNAME x\n>no sequence\nACGT\n")
    assert survey([path], MOST) == Counts(34, 0, 0, "")
    assert survey([written(tmp_path, "", "empty")], MOST) == Counts()
    fasta = written(tmp_path, ">a x\nMKVLAAGWHHE\n>b\nMKV\n")
    path = str(tmp_path / "x.tdb")
    SequenceStore.build([fasta], path)
    found = survey([path], MOST)
    assert (found.n_sequences, found.n_residues, found.names) == (2, 14, "a b")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_bomb_is_left_at_the_limit(tmp_path, compress):
    path = written(tmp_path, compress(b">x\n" + b"A" * 60_000_000), "bomb.fa")
    assert not is_small([path])
    tracemalloc.start()
    with pytest.raises(OverLimit, match="the inputs hold more than 20,000,000 bytes, decompressed, which is the limit"):
        survey([path], Counts(20_000_000, 10, 10**9))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000


def test_a_line_without_end_is_never_held(tmp_path):
    path = written(tmp_path, b">" + b"n" * 50_000_000)
    tracemalloc.start()
    assert survey([path], MOST).n_sequences == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000


@pytest.mark.parametrize(
    ("most", "what"),
    [
        (Counts(10**9, 2, 10**9), "2 sequences"),
        (Counts(10**9, 10, 5), "5 residues"),
        (Counts(5, 9, 9), "5 bytes, deco"),
    ],
)
def test_each_limit_is_a_sentence(tmp_path, most, what):
    path = written(tmp_path, ">a\nAC\n>b\nAC\n>c\nAC\n")
    with pytest.raises(OverLimit, match=f"^the inputs hold more than {what}"):
        survey([path], most)


def test_names_are_shown_and_few(tmp_path):
    path = written(tmp_path, ">\x1b[31mred\nA\n" + "".join(f">{'long' * 100}{k}\nA\n" for k in range(100)))
    found = survey([path], MOST)
    assert "\x1b" not in found.names and len(found.names) < 8_100 and "red" in found.names


def test_a_process_of_its_own_says_the_same(tmp_path, capsys):
    path = written(tmp_path, ">a\nACGT\n")
    assert module.main([plan_of([path], MOST, Counts())]) == 0
    assert Counts(**json.loads(capsys.readouterr().out)) == Counts(8, 1, 4, "a")
    assert module.main([plan_of([path], Counts(1, 1, 1), Counts())]) == 0
    assert json.loads(capsys.readouterr().out)["refused"].startswith("the inputs hold more than 1 bytes, decompressed")
    damaged = written(tmp_path, b"\x1f\x8b\x08\0\0", "x.gz")
    assert module.main([plan_of([damaged], MOST, Counts())]) == 3
    assert capsys.readouterr().err.startswith(f"tropalign: {damaged}: ")
