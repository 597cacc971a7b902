"""``--columns``, filters by coverage, bits and E-values, and what goes to standard output."""

import math
import sys

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.results.alignments import concatenate
from tropalign.results.output_columns import OUTPUT_COLUMNS


def run(capsysbinary, *arguments):
    assert main(["pairs", *arguments, "-q"]) == 0
    return capsysbinary.readouterr().out


def aligned(path, **options):
    return concatenate(list(ta.align_all(ta.read_sequences(path), n_threads=1, **options)))


def test_the_list_of_columns(capsys):
    assert main(["pairs", "--columns", "help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(OUTPUT_COLUMNS)
    assert any("length of the query in residues (qlen, ql)" in line for line in lines)


@pytest.mark.parametrize(
    ("columns", "depth"),
    [
        ("query,target,score", "score"), ("pair,evalue,qlen", "score"), ("qcov,score", "ends"), ("cigar", "alignment"),
        ("query,query_coverage", "alignment"),
    ],
)  # fmt: skip
def test_only_what_columns_need_is_computed(few, capsysbinary, columns, depth, monkeypatch):
    asked = []
    from tropalign.pairwise.engines import Engines

    native = Engines.native
    monkeypatch.setattr(
        Engines,
        "native",
        lambda engines, n, rows, progress: asked.append(rows.report) or native(engines, n, rows, progress),
    )
    text = run(capsysbinary, few, "--columns", columns)
    assert set(asked) == {depth} and b"# report: " + depth.encode() in text


@pytest.mark.parametrize("asked", [["--columns", "query,evalue"], ["--max-evalue", "5"], ["--min-bits", "8"]])
@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_estimates_are_said(few, capsysbinary, asked, form, monkeypatch, tmp_path):
    """In the header and on the terminal, also where E-values only choose rows."""
    ta.score_statistics("BLOSUM62", ta.Gap(11, 1))  # its module is there
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys.modules["tropalign.pairwise.score_statistics"], "SIZES", ((200, 300),))
    scoring = ["--gap-open", "20", "--gap-extend", "3"]
    assert main(["pairs", few, *scoring, "-f", form, *asked]) == 0
    found = capsysbinary.readouterr()
    assert found.err.count(b"estimated by simulation of 200 pairs") == 1
    assert (b"(estimated by simulation of 200 pairs" in found.out) == (form == "tsv")
    assert main(["pairs", few, "-f", form, *asked]) == 0
    found = capsysbinary.readouterr()
    assert b"estimated" not in found.err and (b"published by NCBI" in found.out) == (form == "tsv")


@pytest.mark.parametrize("top", [None, 2])
@pytest.mark.parametrize("report", ["score", "alignment"])
def test_filters_by_significance(few, report, top):
    everything = aligned(few, report=report, top=top)
    columns = everything.columns(["bits", "evalue"])
    for name, least, keep in (
        ("max_evalue", float(np.median(columns["evalue"])), columns["evalue"] <= np.median(columns["evalue"])),
        ("min_bits", float(np.sort(columns["bits"])[3]), columns["bits"] >= np.sort(columns["bits"])[3]),
    ):
        kept = aligned(few, report=report, top=top, **{name: least})
        expected = everything.take(keep)
        assert 0 < len(expected) < len(everything)
        for column in ("query_index", "target_index", "score"):
            assert getattr(kept, column).tolist() == getattr(expected, column).tolist(), name


def test_filters_by_significance_of_decimal_scores(few):
    """Engines count in halves here; a filter at a pair's own value keeps the pair."""
    blosum = ta.SubstitutionMatrix.of("BLOSUM62")
    halves = ta.SubstitutionMatrix("halves", blosum.alphabet, blosum.scores / 2, blosum.letters)
    scoring = {"matrix": halves, "gap": ta.Gap(5.5, 0.5)}
    everything = aligned(few, **scoring)
    columns = everything.columns(["bits", "evalue"])
    bits, evalue = float(np.median(columns["bits"])), float(np.median(columns["evalue"]))
    for limit, keep in (
        ({"min_bits": bits}, columns["bits"] >= bits),
        ({"max_evalue": evalue}, columns["evalue"] <= evalue),
    ):
        kept, expected = aligned(few, **scoring, **limit), everything.take(keep)
        assert 0 < len(expected) < len(everything)
        assert kept.score.tolist() == expected.score.tolist()


def test_filters_of_very_many_targets():
    """The best of a query are found without a list of its pairs, and each query has a least score of its own."""
    rng = np.random.default_rng(4)
    texts = {f"s{k}": "".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), int(rng.integers(10, 60)))) for k in range(200)}
    batch = ta.SequenceBatch.from_strings(texts)
    everything = concatenate(list(ta.align_all(batch, batch, n_threads=1)))
    everything = everything.take(everything.query_index != everything.target_index)
    evalues = everything.columns(["evalue"])["evalue"]
    most = float(np.quantile(evalues, 0.02))
    kept = concatenate(list(ta.align_all(batch, top=5, max_evalue=most, n_threads=1)))
    # Of the pairs that pass the filter the best: shorter targets need less than longer ones.
    passing = everything.take(evalues <= most)
    best = np.lexsort((passing.target_index, -passing.score, passing.query_index))
    rank = [int((passing.query_index[best[:k]] == passing.query_index[row]).sum()) for k, row in enumerate(best)]
    expected = passing.take(best[np.array(rank) < 5])
    assert kept.target_index.tolist() == expected.target_index.tolist() and 100 < len(expected) < len(passing)
    # A larger data base makes everything less significant.
    fewer = concatenate(list(ta.align_all(batch, top=5, max_evalue=most, db_size=10**9, n_threads=1)))
    assert len(fewer) < len(expected)


def test_sets_of_very_many_lengths_have_the_same_least_scores(few, monkeypatch):
    most = float(np.median(aligned(few).columns(["evalue"])["evalue"]))
    whole = aligned(few, max_evalue=most)
    monkeypatch.setattr("tropalign.pairwise.filters.MOST_CLASSES", 0)
    assert 0 < len(whole) < len(aligned(few))
    assert aligned(few, max_evalue=most).score.tolist() == whole.score.tolist()


#: NCBI's numbers of BLOSUM62 with gaps of 11 + k (blast_stat.c): lambda, K, a, alpha, sigma; a and alpha without gaps.
PUBLISHED = 0.267, 0.041, 1.9, 42.6028, 43.6362, 0.7916, 4.96466


def evalue_by_hand(score, m, t, n):
    """Park and others 2012, for a query of m residues and one of t of n residues of targets."""
    rate, k, a, alpha, sigma, a_u, alpha_u = PUBLISHED
    taken = a * score + 2 * 12 * (a_u - a)
    deviation = math.sqrt(max(2 * alpha / rate, alpha * score + 2 * 12 * (alpha_u - alpha)))
    together = max(2 * sigma / rate, sigma * score + 2 * 12 * (alpha_u - sigma))

    def room(length):
        z = (length - taken) / deviation
        below = math.erfc(-z / math.sqrt(2)) / 2
        return (length - taken) * below + deviation * math.exp(-z * z / 2) / math.sqrt(2 * math.pi), below

    (of_query, fits_query), (of_target, fits_target) = room(m), room(t)
    return k * math.exp(-rate * score) * (of_query * of_target + together * fits_query * fits_target) * n / t


@pytest.mark.parametrize("db_size", [None, 3_000, 10**9])
def test_filters_by_the_formulas_of_evalues_and_bits(tmp_path, capsysbinary, db_size):
    rng = np.random.default_rng(8)
    letters = list("ARNDCQEGHILKMFPSTWYV")
    texts = {f"s{k}": "".join(rng.choice(letters, n)) for k, n in enumerate([1, 5, 40, 90, 91, 400, 1500])}
    texts |= {f"{name}x": text[3:30] + text[34:200] + "W" for name, text in list(texts.items())[2:]}
    (tmp_path / "x.fa").write_text("".join(f">{name}\n{text}\n" for name, text in texts.items()))
    sides = str(tmp_path / "x.fa"), str(tmp_path / "x.fa")
    size = [] if db_size is None else ["--db-size", str(db_size)]
    n = db_size or sum(map(len, texts.values()))
    batch = ta.read_sequences(sides[0])
    (table,) = ta.align_all(batch, batch, db_size=db_size, report="score", n_threads=1)
    columns = table.columns(["query", "target", "score", "evalue", "bits"])
    assert len(table) == len(texts) ** 2
    expected, (rate, k, *_) = {}, PUBLISHED
    for query, target, score, evalue, bits in zip(*columns.values(), strict=True):
        by_hand = (
            evalue_by_hand(score, len(texts[query]), len(texts[target]), n),
            (rate * score - math.log(k)) / math.log(2),
        )
        assert (evalue, bits) == pytest.approx(by_hand, rel=1e-8, abs=0)
        expected[query, target] = by_hand
    values = sorted(evalue for evalue, _ in expected.values())
    for most in (values[3], values[len(values) // 3], values[-4]):
        for least in (-10.0, 11.3, 30.0):
            asked = [
                "--max-evalue",
                repr(float(most) * 1.000001),
                "--min-bits",
                str(least),
                "--columns",
                "query,target",
            ]
            found = run(capsysbinary, *sides, *size, "--no-comments", *asked).decode().splitlines()[1:]
            kept = [pair for pair, (evalue, bits) in expected.items() if evalue <= most * 1.000001 and bits >= least]
            assert [tuple(line.split("\t")) for line in found] == kept


@pytest.mark.parametrize("side", ["query", "target"])
@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
def test_filters_by_coverage_of_one_side(mode, side):
    rng = np.random.default_rng(6)
    texts = ["".join(rng.choice(list("ACDW"), int(rng.integers(5, 80)))) for _ in range(40)]
    batch = ta.SequenceBatch.from_strings(texts, alphabet=ta.PROTEIN)
    everything = concatenate(list(ta.align_all(batch, mode=mode, n_threads=1)))
    share = everything.columns([f"{side}_coverage"])[f"{side}_coverage"]
    kept = concatenate(list(ta.align_all(batch, mode=mode, n_threads=1, **{f"min_{side}_coverage": 0.7})))
    expected = everything.take(share >= 0.7)
    assert 0 < len(expected) < len(everything)
    assert kept.cigars() == expected.cigars() and kept.score.tolist() == expected.score.tolist()


def test_standard_output_gets_the_stream(few, capsysbinary):
    ipc = pytest.importorskip("pyarrow.ipc")
    text = run(capsysbinary, few, "-f", "arrow", "--columns", "target,score")
    assert text == run(capsysbinary, few, "-f", "arrows", "--columns", "target,score")
    assert ipc.open_stream(text).read_all()["score"].to_pylist() == aligned(few).score.tolist()


@pytest.mark.parametrize("suffix", ["arrow", "csv.gz", "jsonl.zst", "m8.xz", "parquet", "arrows"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_files_do_not_depend_on_threads(few, tmp_path, suffix, threads, monkeypatch):
    pytest.importorskip("pyarrow")
    import xopen

    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "4")
    texts = []
    for path, n in ((tmp_path / f"a.{suffix}", "1"), (tmp_path / f"b.{suffix}", threads)):
        assert main(["pairs", few, "-q", "-t", n, "--columns", "query,evalue,cs,score", "-o", str(path)]) == 0
        with xopen.xopen(path, "rb") as file:
            texts.append(file.read())
    assert texts[0] == texts[1] and len(texts[0]) > 100
