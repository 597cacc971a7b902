"""Scores and costs with decimals: engines compute with whole multiples, users see the numbers that they know."""

import gzip
import io
from fractions import Fraction
from itertools import combinations

import numpy as np
import parasail
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices

import tropalign as ta
from tropalign.cli.main import main
from tropalign.results.alignments import concatenate

EMBOSS = ta.Gap.from_first_residue(10, 0.5)
COLUMNS = ("query_start", "query_end", "target_start", "target_end", "n_identical", "n_similar", "n_gaps", "n_columns")


@pytest.fixture(scope="module")
def proteins(request):
    return ta.read_sequences(request.config.rootpath / "tests" / "data" / "proteins.fasta")


@pytest.fixture(scope="module")
def few(proteins, tmp_path_factory):
    """Nine of them of up to 300 residues, as a file."""
    path = tmp_path_factory.mktemp("decimals") / "few.fa"
    rows = [k for k in range(len(proteins)) if proteins.lengths[k] <= 300][:9]
    path.write_text("".join(f">{proteins.names[k]}\n{proteins.text(k)}\n" for k in rows))
    return path


@pytest.fixture
def written(capsysbinary):
    def run(*arguments):
        assert main([*map(str, arguments), "-q"]) == 0
        return capsysbinary.readouterr().out

    return run


def table_of(text):
    lines = [line.split("\t") for line in text.decode().splitlines() if not line.startswith("#")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


MODES = {"water": "local", "needle": "semiglobal", "needle -endweight": "global"}


def test_what_emboss_finds(request, proteins):
    """tests/data/emboss_decimals.tsv is what EMBOSS 6.6.0 says with its costs of 10 and 0.5."""
    text = (request.config.rootpath / "tests" / "data" / "emboss_decimals.tsv").read_text()
    header, *lines = (line.split("\t") for line in text.splitlines())
    number, others = {name: k for k, name in enumerate(proteins.names)}, 0
    for line in lines:
        said = dict(zip(header, line, strict=True))
        texts = (proteins.text(number[said[side]]) for side in ("query", "target"))
        pair = ta.align(*texts, mode=MODES[said["program"]], gap=EMBOSS)
        assert pair.score == float(said["score"])
        same = [pair.n_identical == int(said["identity"]), pair.n_similar == int(said["similarity"])]
        if said["program"] != "needle":  # which shows and counts what hangs over
            same += [pair.n_gaps == int(said["gaps"]), pair.n_columns == int(said["length"])]
        others += not all(same)
    assert len(lines) == 60 and others == 2  # pairs with several best alignments


def biopython(matrix, gap, mode):
    aligner = PairwiseAligner(mode="local" if mode == "local" else "global", substitution_matrix=matrix)
    aligner.open_gap_score, aligner.extend_gap_score = -(gap.open + gap.extend), -gap.extend
    if mode == "semiglobal":
        aligner.end_gap_score = 0
    return aligner


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
@pytest.mark.parametrize(("name", "gap"), [("BLOSUM62", EMBOSS), ("GONNET1992", ta.Gap(10.25, 0.125))])
def test_scores_of_biopython(proteins, mode, name, gap):
    aligner = biopython(substitution_matrices.load(name), gap, mode)
    rows = [k for k in range(len(proteins)) if proteins.lengths[k] <= 150][:8]
    texts = [proteins.text(k) for k in rows]
    for one, other in combinations(texts, 2):
        pair = ta.align(one, other, mode=mode, matrix=name, gap=gap)
        assert pair.score == pytest.approx(aligner.score(one, other), abs=1e-6) and isinstance(pair.score, float)
    table = concatenate(list(ta.align_all(texts, mode=mode, matrix=name, gap=gap, report="score")))
    assert table.score.dtype == np.float64
    assert table.score == pytest.approx([aligner.score(*pair) for pair in combinations(texts, 2)], abs=1e-6)


def test_parasail_with_everything_ten_times_as_large(proteins):
    texts = [proteins.text(k) for k in range(8)]
    gonnet = substitution_matrices.load("GONNET1992")
    large = parasail.matrix_create(str(gonnet.alphabet), 1, 0)
    for i, j in np.ndindex(gonnet.shape):
        large[i, j] = round(10 * gonnet[i, j])
    table = ta.align_many(list(combinations(texts, 2)), mode="global", matrix="GONNET1992", gap=ta.Gap(9.7, 1.1))
    scores = [parasail.nw_scan_32(*pair, 108, 11, large).score for pair in combinations(texts, 2)]
    assert table.score.tolist() == [score / 10 for score in scores]


def letters(rng, n, text="ACGT"):
    return "".join(rng.choice(list(text), n))


def like(rng, text, share):
    return "".join(letters(rng, 1) if rng.random() < share else letter for letter in text if rng.random() > share / 4)


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
def test_the_same_as_whole_numbers_times_the_factor(mode, report):
    """Also where pairs are similar (bands, wavefronts), and by pairs, by lists and by sets."""
    rng = np.random.default_rng(7)
    texts = [letters(rng, 300)]
    texts += [like(rng, texts[0], share) for share in (0.01, 0.05, 0.2)] + [letters(rng, 120), letters(rng, 40)]
    small = {"matrix": ta.SubstitutionMatrix.match_mismatch(1.25, -1), "gap": ta.Gap(1.5, 0.75)}
    large = {"matrix": ta.SubstitutionMatrix.match_mismatch(5, -4), "gap": ta.Gap(6, 3)}
    asked = {"mode": mode, "report": report, "strand": "both"}
    pairs = list(combinations(texts, 2))
    tables = [
        (concatenate(list(ta.align_all(texts, **asked, **scoring))), ta.align_many(pairs, **asked, **scoring))
        for scoring in (small, large)
    ]
    for found, wanted in zip(*tables, strict=True):
        assert found.score.dtype == np.float64 and wanted.score.dtype == np.int32
        assert (found.score * 4 == wanted.score).all() and (found.strand == wanted.strand).all()
        if report == "alignment":
            assert found.cigars() == wanted.cigars()
        for name in COLUMNS:
            column = getattr(found, name)
            assert column is None or (column == getattr(wanted, name)).all()
    for k, pair in enumerate(pairs):
        assert ta.align(*pair, **asked, **small).score == tables[0][0].score[k]


@pytest.mark.parametrize("least", [30.5, 30.6, 31, np.float64(30.75), Fraction(61, 2)])
def test_the_least_score(proteins, least):
    every = concatenate(list(ta.align_all(proteins, gap=EMBOSS, report="score")))
    kept = concatenate(list(ta.align_all(proteins, gap=EMBOSS, report="score", min_score=least)))
    assert kept.score.tolist() == every.score[every.score >= float(least)].tolist()
    assert (every.score == 30.5).any()  # so that it matters on which side of it the limit is
    whole = concatenate(list(ta.align_all(proteins, report="score")))
    kept = concatenate(list(ta.align_all(proteins, report="score", min_score=least)))
    assert kept.score.tolist() == whole.score[whole.score >= float(least)].tolist()


def test_the_best_targets(proteins):
    """By groups of targets, and with a bound on their scores."""
    targets = ta.SequenceBatch.from_strings([proteins.text(k)[:90] for k in range(45)] * 3)
    every = concatenate(list(ta.align_all(proteins, targets, gap=EMBOSS, report="score")))
    best = concatenate(list(ta.align_all(proteins, targets, gap=EMBOSS, report="score", top=2, min_score=33.5)))
    for query in range(len(proteins)):
        scores = np.sort(every.score[every.query_index == query])[::-1][:2]
        assert best.score[best.query_index == query].tolist() == scores[scores >= 33.5].tolist()


def test_every_format(few, written):
    costs = ("--gap-open", "9.5", "--gap-extend", ".5")
    lines = table_of(written("pairs", few, *costs))
    scores = [line["score"] for line in lines]
    assert len(scores) == 36 and {score[-2:] for score in scores} == {".0", ".5"}
    assert b"# gap_cost: 9.5 + 0.5 * residues\n" in written("pairs", few, *costs)
    paf = [line.split(b"\t")[12:14] for line in written("pairs", few, *costs, "-f", "paf").splitlines()]
    assert [tag[1].decode() for tag in paf] == [f"as:f:{score}" for score in scores]
    assert [tag[0].decode() for tag in paf] == [f"AS:i:{round(float(score))}" for score in scores]
    fasta = written("pairs", few, *costs, "-f", "fasta").decode()
    assert [line.split("score=")[1] for line in fasta.splitlines() if "score=" in line] == scores
    needle = written("pairs", few, *costs, "-f", "srspair").decode()
    assert [line[9:] for line in needle.splitlines() if line.startswith("# Score: ")] == scores
    assert "# Gap_penalty: 10.0\n# Extend_penalty: 0.5\n" in needle
    matrix = written("pairs", few, *costs, "-f", "matrix").decode().splitlines()[-9:]
    cells = [line.split("\t")[1:] for line in matrix]
    assert [cells[i][j] for i, j in combinations(range(9), 2)] == scores


def test_samtools_and_pysam_read_the_tags(few, written, tmp_path):
    pysam = pytest.importorskip("pysam")
    path = tmp_path / "out.sam"
    assert main(["pairs", str(few), "--gap-extend", "0.5", "-q", "-o", str(path)]) == 0
    scores = [float(line["score"]) for line in table_of(written("pairs", few, "--gap-extend", "0.5"))]
    with pysam.AlignmentFile(str(path)) as file:
        found = [(record.get_tag("AS"), record.get_tag("as")) for record in file]
    assert found == [(round(score), score) for score in scores]


@pytest.mark.parametrize("form", ["arrow", "feather", "parquet"])
def test_tables_of_columns(few, written, tmp_path, form):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    def read(data):
        if form == "arrow":
            return pyarrow.ipc.open_stream(data).read_all()
        return (feather.read_table if form == "feather" else parquet.read_table)(io.BytesIO(data))

    scores = [float(line["score"]) for line in table_of(written("pairs", few, "--gap-open", "9.25"))]
    table = read(written("pairs", few, "--gap-open", "9.25", "-f", form))
    assert table["score"].type == pyarrow.float64() and table["score"].to_pylist() == scores
    empty = read(written("pairs", few, "--gap-open", "9.25", "--min-score", 99999, "-f", form))
    assert empty["score"].type == pyarrow.float64() and len(empty) == 0
    assert read(written("pairs", few, "-f", form))["score"].type == pyarrow.int32()


@pytest.mark.parametrize("form", ["tsv", "parquet", "matrix"])
def test_threads_tiles_shards_and_compression(few, tmp_path, monkeypatch, form):
    """A run of shards and a whole one write the same bytes."""
    if form == "parquet":
        pytest.importorskip("pyarrow")
    suffix = {"matrix": ".tsv"}.get(form, f".{form}")
    words = ["pairs", str(few), "--gap-open", "9.5", "--match", "1.5", "--mismatch=-0.75", "-f", form, "-q"]
    whole, other = tmp_path / f"whole{suffix}", tmp_path / f"other{suffix}"
    assert main([*words, "-t", "1", "-o", str(whole)]) == 0
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "5")
    assert main([*words, "-t", "2", "-o", str(other)]) == 0
    assert other.read_bytes() == whole.read_bytes()
    shards = [str(tmp_path / f"{k}{suffix}.shard") for k in (1, 2)]
    for k, shard in enumerate(shards, 1):
        assert main([*words, "--shard", f"{k}/2", "-o", shard]) == 0
    merged = tmp_path / f"merged{suffix}"
    assert main(["merge", *shards, "-o", str(merged), "-q"]) == 0
    assert merged.read_bytes() == whole.read_bytes()
    if form == "tsv":
        packed = tmp_path / "packed.tsv.gz"
        assert main([*words, "-o", str(packed)]) == 0
        assert gzip.decompress(packed.read_bytes()) == whole.read_bytes()


def test_what_people_see():
    pair = ta.align("MKVLAWHEAG", "MKVLWHEAG", gap=EMBOSS, mode="global")
    assert "score 42.0" in str(pair).splitlines()[0]
    table = ta.align_many([("MKVLAWHEAG", "MKVLWHEAG")], gap=EMBOSS, mode="global")
    assert "42.0" in repr(table)
    assert table.to_pandas()["score"].dtype == np.float64 and table[0].score == 42.0


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--gap-open", "1.23456"), 3, "the gap open cost 1.23456 has more than four decimals: round it"),
        (("--gap-open", "1e3"), 2, "argument --gap-open: '1e3' is not a number"),
        (("--gap-extend", "nan"), 2, "argument --gap-extend: 'nan' is not a number"),
        (("--gap-open=-0.5",), 3, "the gap open cost -0.5 is negative: give costs as positive numbers"),
        (("--min-score", "x"), 2, "argument --min-score: 'x' is not a number"),
        (("--match", "1e7"), 2, "argument --match: '1e7' is not a number"),
        (("--match", "900000", "--gap-open", "0.5"), 3, "the scores of match 900000 mismatch -4, times 2 for the "),
        (
            ("--match", "100000.5", "--mismatch=-0.1", "--gap-open", "0.25"),
            3,
            "has scores beyond 100000, the limit for ",
        ),
    ],
)
def test_numbers_that_cannot_be(few, tmp_path, capsys, words, code, sentence):
    out = tmp_path / "out.tsv"
    try:
        status = main(["pairs", str(few), *words, "-o", str(out)])
    except SystemExit as stop:
        status = stop.code
    said = capsys.readouterr().err
    assert status == code and sentence in said and said.count("\n") == 1 and not out.exists()


def test_scores_that_pass_32_bits_with_their_decimals():
    long = ta.SequenceBatch.from_strings(["ACGT" * 10_000] * 2)
    with pytest.raises(ta.ScoringError) as error:
        ta.align_all(long, matrix=ta.SubstitutionMatrix.match_mismatch(5, -4), gap=ta.Gap(10.0001, 1))
    assert str(error.value) == (
        "scores of sequences of 40000 residues may exceed 2147483647 with this matrix and these gap costs, times 10000 "
        "for their decimals: give fewer decimals, or divide all of them by a common factor"
    )


def test_a_file_with_decimals(tmp_path, few, written):
    path = tmp_path / "half.mat"
    theirs = substitution_matrices.load("BLOSUM62")
    names = theirs.alphabet
    rows = [f"{a} " + " ".join(f"{theirs[a, b] / 2:g}" for b in names) for a in names]
    path.write_text("  " + " ".join(names) + "\n" + "\n".join(rows) + "\n")
    halves = table_of(written("pairs", few, "--matrix", path, "--gap-open", 5.5, "--gap-extend", 0.5))
    whole = table_of(written("pairs", few))
    assert [2 * float(line.pop("score")) for line in halves] == [int(line.pop("score")) for line in whole]
    assert halves == whole
