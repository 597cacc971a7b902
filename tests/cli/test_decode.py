"""tropalign decode: segments, training, pictures, and what cannot be decoded."""

import gzip
import io
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.hmm.decoding import POSITION_BYTES, DecodeOptions, Decoder
from tropalign.machine.memory import PROCESS_BYTES
from tropalign.sequences.blocks import BlockReader

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


def test_a_table_of_islands(made, capsys):
    assert decode("--model", "cpg", made) == 0
    found = rows(capsys.readouterr().out)
    assert [row[:5] for row in found] == [["a", "239", "500", "island", "261"], ["c", "239", "505", "island", "266"]]
    model = ta.HMM.load("cpg")
    text = BACK + ISLAND + BACK
    support = model.posterior(text)[239:500, :4].sum(axis=1).mean()
    assert found[0][5:] == [f"{support:.4f}", f"{model.forward(text):.6f}"]


@pytest.mark.parametrize("by", ["viterbi", "posterior"])
def test_every_position_has_a_label(islands, by, capsys):
    arguments = ["--model", "cpg", islands, "--by", by, "--label", "island", "--label", "background"]
    assert decode(*arguments) == 0
    found = rows(capsys.readouterr().out)
    batch = ta.read_sequences(islands)
    ends = {}
    for name, start, end, label, length, support, _ in found:
        assert int(start) == ends.get(name, 0) and int(end) - int(start) == int(length)
        assert label in ("island", "background") and 0 <= float(support) <= 1
        ends[name] = int(end)
    assert [ends[name] for name in batch.names] == np.diff(batch.offsets).tolist()
    if by == "posterior":
        assert all(float(row[5]) >= 0.5 for row in found)


@pytest.fixture
def gapped(tmp_path):
    """A sequence without an island, one with an island beside a gap, and one of nothing else."""
    path = tmp_path / "gapped.fa"
    path.write_text(
        f">a\n{BACK}{'N' * 5000}{BACK}\n>b\n{BACK}{ISLAND}{'n' * 70000}{BACK}\n>c\n{'N' * 10}\n>d\n{BACK}\n"
    )
    return str(path)


SUMMARY = "75,010 of 76,470 letters get no label: they are in runs of 10 missing letters or more, at which sequences"


def test_gaps_have_no_label(gapped, tmp_path, capsys):
    """Neither are they segments, nor do they stretch one; the numbers of letters left out are said."""
    assert decode("--model", "cpg", gapped, "--min-support", 0.9) == 0
    captured = capsys.readouterr()
    assert [row[:4] for row in rows(captured.out)] == [["b", "239", "500", "island"]]
    assert captured.out.splitlines()[-1] == "# unlabelled: 75010 of 76470 letters, in long runs of missing ones"
    assert captured.err == f"tropalign: warning: {SUMMARY} are cut\n"
    assert decode("--model", "cpg", gapped, "-o", tmp_path / "x.bed") == 0
    assert (tmp_path / "x.bed").read_text() == "b\t239\t500\tisland\t997\n"
    assert SUMMARY in capsys.readouterr().err
    assert decode("--model", "cpg", gapped, "-q", "--no-comments") == 0
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 2 and captured.err == ""


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


def test_nothing_to_train_on_is_told(tmp_path, capsys):
    (tmp_path / "n.fa").write_text(">n\n" + "N" * 30 + "\n")
    assert decode("--model", "cpg", tmp_path / "n.fa", "--fit") == 3
    assert "there is no letter to train on: all are in long runs of missing ones" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".bedgraph", ".bdg"])
def test_bedgraph_has_the_support(made, tmp_path, suffix):
    assert decode("--model", "cpg", made, "-o", tmp_path / f"x{suffix}") == 0
    lines = [line.split("\t") for line in (tmp_path / f"x{suffix}").read_text().splitlines()]
    assert decode("--model", "cpg", made, "-o", tmp_path / "x.tsv") == 0
    expected = [[row[0], row[1], row[2], row[5]] for row in rows((tmp_path / "x.tsv").read_text())]
    assert lines == expected and len(lines) == 2


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


def test_bed_by_suffix_and_compressed(made, tmp_path, monkeypatch):
    assert decode("--model", "cpg", made, "-o", tmp_path / "x.bed.gz") == 0
    with gzip.open(tmp_path / "x.bed.gz", "rt") as lines:
        assert [line.split("\t")[:4] for line in lines] == [
            ["a", "239", "500", "island"],
            ["c", "239", "505", "island"],
        ]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(Path(made).read_bytes()))))
    assert decode("--model", "cpg", "-", "-o", tmp_path / "y.bed") == 0
    assert (tmp_path / "y.bed").read_text() == gzip.open(tmp_path / "x.bed.gz", "rt").read()


def test_empty_sequences(tmp_path, capsys):
    path = tmp_path / "a.fa"
    path.write_text(">a\n\n>b\nACGU\n")
    assert decode("--model", "cpg", path) == 3
    assert "the sequence is empty: remove the record or use --skip-empty" in capsys.readouterr().err
    assert decode("--model", "cpg", path, "--skip-empty", "--label", "background") == 0
    assert [row[:3] for row in rows(capsys.readouterr().out)] == [["b", "0", "4"]]


def test_filters(made, capsys):
    assert decode("--model", "cpg", made, "--min-length", 262) == 0
    assert [row[0] for row in rows(capsys.readouterr().out)] == ["c"]
    assert decode("--model", "cpg", made, "--min-support", 1) == 0
    assert rows(capsys.readouterr().out) == []


def test_threads_change_nothing(islands, tmp_path):
    for n_threads in (1, 3):
        assert decode("--model", "cpg", islands, "-t", n_threads, "-o", tmp_path / f"{n_threads}.bed") == 0
    assert (tmp_path / "1.bed").read_bytes() == (tmp_path / "3.bed").read_bytes()


def test_training(islands, tmp_path, capsys):
    path = tmp_path / "mine.toml"
    arguments = ["--fit", "--rounds", 3, "--model-out", path, "--fix", "emission", "--pseudocount", 1]
    assert decode("--model", "cpg", islands, *arguments) == 0
    found = capsys.readouterr().out
    want = ta.HMM.load("cpg").fit(ta.read_sequences(islands), n_rounds=3, pseudocount=1, fixed=("emission",))
    assert ta.HMM.load(path) == want
    assert decode("--model", path, islands) == 0
    assert rows(capsys.readouterr().out) == rows(found)


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


def test_training_names_the_sequence_that_the_model_cannot_make(tmp_path, flipping, capsys):
    for name, text in (("1.fa", ">x\nACAC\n>y\nCACA\n"), ("2.fa", ">z\nACAC\n>odd\nAACC\n")):
        (tmp_path / name).write_text(text)
    assert decode("--model", flipping, tmp_path / "1.fa", tmp_path / "2.fa", "--fit") == 3
    assert "2.fa, record 'odd': the model cannot make this sequence: leave it out" in capsys.readouterr().err


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
    monkeypatch.setattr("tropalign.formats.segments.context.ROWS_AT_ONCE", 7)
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


REFUSED = [
    (["--model", "none", "a.fa"], 3, "none: no model has this name and no file: name one of cpg"),
    (["--model", "cpg", "missing.fa"], 3, "missing.fa: there is no such file"),
    (["--model", "cpg", "a.fa", "--label", "x"], 3, "no state has the label 'x': the model knows island, background"),
    (["--model", "cpg", "a.fa", "--rounds", "5"], 2, "--rounds belongs to --fit"),
    (["--model", "cpg", "a.fa", "--model-out", "x"], 2, "--model-out belongs to --fit"),
    (["--model", "-", "-"], 2, "standard input can be read once"),
    (["--model", "cpg", "a.fa", "-o", "x.sam"], 2, "no format has the suffix '.sam'"),
    (["--model", "cpg", "a.fa", "--plot", "x.gif"], 2, "no format has the suffix '.gif'"),
    (["--model", "cpg", "a.fa", "-o", "a.fa"], 2, "a.fa is an input"),
    (["--model", "cpg", "a.fa", "--min-support", "2"], 2, "'2' is not a fraction"),
    (["--model", "cpg", "a.fa", "--by", "x"], 2, "invalid choice"),
    (["--model", "cpg", "bad.fa"], 3, "bad.fa, record 'b': '-' at position 3 is not a symbol of the model (ACGT)"),
    (["--model", "cpg", "a.fa", "--memory", "1M"], 4, "of memory and 1.0 MiB are allowed"),
    (["--model", "frames.toml", "a.fa"], 3, "the model has no letters as symbols"),
    (["--model", "strict.toml", "a.fa"], 3, "a.fa, record 'a': the model cannot make this sequence"),
    (["--model", "strict.toml", "a.fa", "--fit"], 3, "a.fa, record 'a': the model cannot make"),
    (["--model", "a.fa", "bad.fa"], 3, "a.fa: this is not TOML"),
]


@pytest.mark.parametrize(("arguments", "code", "text"), REFUSED)
def test_what_is_refused(arguments, code, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.fa").write_text(">a\nACGT\n")
    Path("bad.fa").write_text(">a\nACGT\n>b\nAC-T\n")
    ta.HMM([1], [[1]]).save("frames.toml")
    ta.HMM([1], [[1]], [[0.5, 0.5, 0]], symbols="ACG", missing="T").save("strict.toml")
    assert decode(*arguments) == code
    captured = capsys.readouterr()
    assert text in captured.err and captured.err.count("\n") == 1 and captured.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.fa", "bad.fa", "frames.toml", "strict.toml"]


def test_python_finds_the_same(made):
    found = ta.decode("cpg", ta.read_sequences(made), min_length=262)
    assert [tuple(segment)[:4] for segment in found] == [("c", 239, 505, "island")]
    assert found.lengths.tolist() == [740, 240, 505] and repr(found) == "<Segments: 1 of 3 sequences>"
    with pytest.raises(ta.TropalignError, match="by 'x' is none of viterbi, posterior"):
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
