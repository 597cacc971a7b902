"""tropalign decode: segments, training, pictures, and what cannot be decoded."""

import re
import tracemalloc

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.decoding.decoding import POSITION_BYTES, DecodeOptions, Decoder
from tropalign.resources.limits import PROCESS_BYTES
from tropalign.sequences.reader import BlockReader

BACK, ISLAND = "ATTGCAATCATG" * 20, "CGCGGCGCCGACG" * 20


@pytest.fixture
def islands(request):
    """Six human CpG islands with what is around them."""
    return str(request.config.rootpath / "examples" / "cpgislands.fa")


@pytest.fixture
def made(tmp_path):
    """Sequences with an island each at a known place, but for the second."""
    path = tmp_path / "made.fa"
    path.write_text(f">a x\n{BACK + ISLAND + BACK}\n>b\n{BACK.lower()}\n>c\n{BACK + 'NNNNN' + ISLAND}\n")
    return str(path)


def decode(*arguments):
    return main(["decode", *map(str, arguments)])


def rows(text):
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    assert lines[0] == ["sequence", "start", "end", "label", "length", "support", "log_likelihood"]
    return lines[1:]


@pytest.fixture
def gapped(tmp_path):
    """A sequence without an island, one with an island beside a gap, and one of nothing else."""
    path = tmp_path / "gapped.fa"
    path.write_text(
        f">a\n{BACK}{'N' * 5000}{BACK}\n>b\n{BACK}{ISLAND}{'n' * 70000}{BACK}\n>c\n{'N' * 10}\n>d\n{BACK}\n"
    )
    return str(path)


def test_a_picture_shows_gaps(gapped, tmp_path):
    assert decode("--model", "cpg", gapped, "-q", "--by", "posterior", "--plot", tmp_path / "x.svg") == 0
    text = (tmp_path / "x.svg").read_text()
    assert "5,480 letters, 0 segments, 5,000 letters unlabelled" in text
    assert "10 letters, 0 segments, 10 letters unlabelled" in text
    (gaps,) = re.findall('fill="#c4c8d0" d="([^"]*)"', text)
    width = 800 / 5480
    assert gaps.count("z") == 3 and gaps.startswith(f"M{52 + 240 * width:.1f} ") and f"h{5000 * width:.4g}" in gaps


def test_training_reads_what_lies_between_gaps(gapped, tmp_path):
    model = ta.HMM.load("cpg")
    assert decode("--model", "cpg", gapped, "-q", "--fit", "--rounds", 2, "--model-out", tmp_path / "m.toml") == 0
    assert ta.HMM.load(tmp_path / "m.toml") == model.fit([BACK, BACK, BACK + ISLAND, BACK, BACK], n_rounds=2)


def test_training_on_two_files_with_missing_letters(made, tmp_path):
    more = tmp_path / "more.fa"
    more.write_text(f">d\nNNACGTNN{ISLAND}N\n")
    assert decode("--model", "cpg", made, more, "--fit", "--rounds", 2, "--model-out", tmp_path / "m.toml") == 0
    texts = [text for path in (made, more) for text in ta.read_sequences(path)]
    want = ta.HMM.load("cpg").fit(texts, n_rounds=2)
    assert ta.HMM.load(tmp_path / "m.toml") == want


def test_training_needs_memory_for_all(tmp_path, capsys):
    """Each file alone would do."""
    paths = [tmp_path / f"{k}.fa" for k in range(4)]
    for path in paths:
        path.write_text(">x\n" + "ACGT" * 250_000 + "\n")
    allowed = PROCESS_BYTES + 2 * POSITION_BYTES * 1_000_000
    arguments = ["--model", "cpg", *paths, "--memory", allowed, "--label", "island"]
    assert decode(*arguments) == 0
    assert decode(*arguments, "--fit", "--rounds", 0) == 4
    assert "training on 3,000,000 letters, up to" in capsys.readouterr().err


@pytest.fixture
def flipping(tmp_path):
    """A model whose label changes at every letter."""
    path = tmp_path / "flip.toml"
    ta.HMM(
        [0.5, 0.5], [[0, 1], [1, 0]], [[1, 0], [0, 1]], symbols="AC", state_names=("a", "c"), labels=("a", "c")
    ).save(path)
    return path


def test_a_segment_per_letter(tmp_path, flipping, capsys, monkeypatch):
    """So many are written in pieces, which do not show, and refused where they do not fit."""
    path = tmp_path / "x.fa"
    path.write_text(f">s\n{'AC' * 500}\n>t\nC\n>u\n{'CA' * 300}\n")
    assert decode("--model", flipping, path) == 0
    whole = capsys.readouterr().out
    assert len(rows(whole)) == 1000 + 1 + 600
    monkeypatch.setattr("tropalign.formats.segments.ROWS_AT_ONCE", 7)
    assert decode("--model", flipping, path) == 0
    assert capsys.readouterr().out == whole
    path.write_text(f">s\n{'AC' * 1_000_000}\n")
    assert decode("--model", flipping, path, "--memory", PROCESS_BYTES + 20_000_000) == 4
    assert "a label that changes" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_pictures(islands, tmp_path, suffix, capsys):
    pytest.importorskip("PIL")
    path = tmp_path / f"x.{suffix}"
    assert decode("--model", "cpg", islands, "--plot", path) == 0
    data = path.read_bytes()
    assert data.startswith(b"<svg" if suffix == "svg" else b"\x89PNG")
    if suffix == "svg":
        assert data.count(b" segment") == 6 and b"cpgislands: island" in data


def test_python_finds_the_same(made):
    found = ta.decode("cpg", ta.read_sequences(made), min_length=262)
    assert [tuple(segment)[:4] for segment in found] == [("c", 239, 505, "island")]
    assert found.lengths.tolist() == [740, 240, 505] and repr(found) == "<Segments: 1 of 3 sequences>"
    with pytest.raises(ta.TropalignError, match="by 'x' is not one of viterbi, posterior"):
        ta.decode("cpg", ["ACGT"], by="x")
    assert len(ta.decode("cpg", [])) == 0


@pytest.mark.parametrize("gap", [0, 1_000_000])
def test_a_chromosome_is_not_copied(tmp_path, gap):
    """What Python and NumPy allocate beside letters and path, which are native: the codes, and little else."""
    n = 3_000_000
    path = tmp_path / "long.fa"
    letters = np.random.default_rng(1).choice(np.frombuffer(b"ACGT", np.uint8), n)
    letters[500_000 : 500_000 + gap] = ord("N")
    path.write_bytes(b">long\n" + letters.tobytes())
    decoder = Decoder(ta.HMM.load("cpg"), DecodeOptions())
    tracemalloc.start()
    try:
        (block,) = (tracemalloc.reset_peak() or block for block in BlockReader(path))
        held = tracemalloc.get_traced_memory()[0]
        assert len(decoder.decode(block.names, block.letters, block.offsets).start)
        assert held < 0.2 * n and tracemalloc.get_traced_memory()[1] < 1.6 * n
    finally:
        tracemalloc.stop()


def test_bedgraph_of_several_labels_has_a_track_of_each(made, tmp_path):
    labels = ["--label", "island", "--label", "background"]
    path = tmp_path / "x.bedgraph"
    assert decode("--model", "cpg", made, *labels, "-o", path) == 0
    tracks = {}
    for line in path.read_text().splitlines():
        if line.startswith("track "):
            tracks[re.search('name="(.*?)"', line)[1]] = own = []
        else:
            own.append(line.split("\t"))
    assert decode("--model", "cpg", made, *labels, "-o", tmp_path / "x.tsv") == 0
    expected = {}
    for row in rows((tmp_path / "x.tsv").read_text()):
        expected.setdefault(row[3], []).append([row[0], row[1], row[2], row[5]])
    assert tracks == expected and set(tracks) == {"island", "background"}
