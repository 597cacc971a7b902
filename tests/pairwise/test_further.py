"""Several alignments per pair: against the plain recurrence, every path of short sequences, and lalign36."""

import random
import shutil
import subprocess
from itertools import combinations, groupby

import numpy as np
import pytest
from oracles import composition, waterman_eggert
from oracles.pairwise import cigar_operations, rescore
from pairwise.engines import AMINO_ACIDS, codes, rows

import tropalign as ta
from tropalign import _native
from tropalign.errors import ResourceError
from tropalign.scoring.statistics import background, rates
from tropalign.sequences import NUCLEOTIDE, PROTEIN

KEYS = ("query_index", "target_index", "hsp", "score")
BLOSUM62 = ta.SubstitutionMatrix.from_name("BLOSUM62")


def changed(rng, text, letters, rate):
    """A copy with substitutions, and a residue more or less now and then."""
    out = []
    for letter in text:
        chance = rng.random()
        if chance < rate / 4:
            continue
        out.append(rng.choice(letters) if chance < rate else letter)
        if chance > 1 - rate / 8:
            out.append(rng.choice(letters))
    return "".join(out)


def with_repeats(rng, letters, domain, copies, between, rate=0.2):
    parts = []
    for _ in range(copies):
        parts.append("".join(rng.choice(letters) for _ in range(rng.randint(0, between))))
        parts.append(changed(rng, domain, letters, rate))
    return "".join(parts) or letters[0]


def family(rng, letters, count, longest=24, copies=(0, 3), between=8):
    domain = "".join(rng.choice(letters) for _ in range(rng.randint(4, longest)))
    return [with_repeats(rng, letters, domain, rng.randint(*copies), between) for _ in range(count)]


def expected(sequences, matrix, pieces, most, least=1):
    letters = [codes(matrix.alphabet, text) for text in sequences]
    return [waterman_eggert.alignments(a, b, matrix.scores, pieces, most, least) for a, b in combinations(letters, 2)]


def check(engines, sequences, matrix, gap, most, **options):
    pieces = list(zip(gap[::2], gap[1::2], strict=True))
    wanted = expected(sequences, matrix, pieces, most)
    for engine in engines:
        columns = engine.align(
            sequences,
            None,
            matrix=matrix,
            gap=gap,
            max_hsps=most,
            n_threads=1,
            protein=matrix.alphabet.name == "protein",
            **options,
        )
        found = iter(zip(rows(columns), columns["hsp"].tolist(), strict=True))
        for pair, listed in enumerate(wanted):
            for number, row in enumerate(listed, 1):
                assert next(found) == (row, number), f"alignment {number} of pair {pair} on {engine.isa}"
            if not listed:
                assert next(found)[0].n_columns == 0
        assert not list(found)


def nucleotides(match=2, mismatch=-3):
    return ta.SubstitutionMatrix.match_mismatch(match, mismatch)


def test_the_oracle_finds_the_best_of_all_paths():
    rng = random.Random(1)
    for _ in range(30):
        scores = [[rng.randint(-3, 4) for _ in range(3)] for _ in range(3)]
        a, b = ([rng.randrange(3) for _ in range(rng.randint(1, 5))] for _ in range(2))
        pieces = [(rng.randint(0, 3), rng.randint(0, 2)) for _ in range(rng.choice([1, 2]))]
        taken = set()
        for row in [*waterman_eggert.alignments(a, b, scores, pieces, 4), None]:
            best = waterman_eggert.best_score(a, b, scores, pieces, taken)
            assert best == (0 if row is None else row.score) or (row is None and len(taken))
            if row is not None:
                pairs = waterman_eggert.pairs_of(row)
                assert not pairs & taken
                taken |= pairs


@pytest.mark.parametrize("seed", range(12))
def test_proteins(engines, seed):
    rng = random.Random(seed)
    check(engines, family(rng, AMINO_ACIDS, 5), BLOSUM62, [(11, 1), (6, 2), (1, 0), (0, 0)][seed % 4], 5)


@pytest.mark.parametrize("seed", range(12))
def test_nucleotides(engines, seed):
    """Few letters make ties."""
    rng = random.Random(seed)
    gap = [(5, 2), (2, 1), (0, 1), (0, 0), (3, 1, 6, 0), (0, 2, 4, 1)][seed % 6]
    check(engines, family(rng, "AC" if seed % 2 else "ACGT", 6, 12), nucleotides(1, -1), gap, 8)


@pytest.mark.parametrize("unit", [60, 700, 30_000])
def test_scores_beyond_8_and_16_bits(engines, unit):
    rng = random.Random(unit)
    check(engines, family(rng, "ACGT", 4), nucleotides(2 * unit, -3 * unit), (4 * unit, 2 * unit), 4)


def test_unsymmetric_matrices_and_sequences_of_unlike_lengths(engines):
    rng = random.Random(5)
    matrix = ta.SubstitutionMatrix.of(("ACGT", [[rng.randint(-4, 3) for _ in "ACGT"] for _ in "ACGT"]), "nucleotide")
    assert not matrix.is_symmetric
    check(engines, family(rng, "ACGT", 6, 15), matrix, (2, 1), 5)
    # Vectors that reach over the ends of lines.
    rng = random.Random(6)
    domain = "".join(rng.choice("ACGT") for _ in range(30))
    long = with_repeats(rng, "ACGT", domain, 4, 40, 0.1)
    check(
        engines, [domain[:k] for k in (1, 2, 31)] + [long, changed(rng, domain, "ACGT", 0.1)], nucleotides(), (5, 2), 6
    )


def table_of(queries, targets=None, **how):
    from tropalign.results.alignments import concatenate

    return concatenate(list(ta.align_all(queries, targets, device="cpu", **{"n_threads": 1, "max_hsps": 4, **how})))


def test_a_path_beyond_the_checkpoints():
    """Where directions of all cells would take too much memory, paths have their scores and share no pair."""
    rng = random.Random(8)
    domain = "".join(rng.choice("ACGT") for _ in range(900))
    texts = [with_repeats(rng, "ACGT", domain, copies, 200, 0.1) for copies in (4, 5)]
    assert min(map(len, texts)) * sum(map(len, texts)) > 16 << 20
    table = table_of([texts[0]], [texts[1]], max_hsps=12, matrix=nucleotides(), gap=ta.Gap(5, 2), alphabet="nucleotide")
    a, b = (codes(NUCLEOTIDE, text) for text in texts)
    taken = set()
    assert table.hsp.tolist() == list(range(1, 13)) and (np.diff(table.score) <= 0).all()
    for row in table:
        path = cigar_operations(row.cigar)
        found = rescore(a, b, nucleotides().scores, 5, 2, path, row.query_start, row.target_start)
        assert found == (row.score, row.query_end, row.target_end)
        pairs = waterman_eggert.pairs_of(row)
        assert not pairs & taken
        taken |= pairs


@pytest.fixture(scope="module")
def repeats():
    """Proteins of one family with repeats, and some without, as (queries, targets)."""
    rng = random.Random(9)
    domain = "".join(rng.choice(AMINO_ACIDS) for _ in range(40))
    texts = [with_repeats(rng, AMINO_ACIDS, domain, rng.randint(0, 3), 30, 0.4) for _ in range(26)]
    return tuple(ta.SequenceBatch.from_strings(some, alphabet="protein") for some in (texts[:6], texts[6:]))


def keys(table):
    return list(zip(*(getattr(table, name).tolist() for name in KEYS), strict=True))


def test_rows_pass_what_rows_have_to_pass(repeats):
    everything = table_of(*repeats, max_hsps=6)
    evalue, bits = (everything.columns([name])[name] for name in ("evalue", "bits"))
    coverage = everything.columns(["query_coverage"])["query_coverage"]
    for how, passes in (
        ({"max_evalue": 1e-3}, evalue <= 1e-3),
        ({"min_bits": 30.0}, bits >= 30),
        ({"min_score": 40}, everything.score >= 40),
    ):
        assert 0 < passes.sum() < len(passes)
        assert keys(table_of(*repeats, max_hsps=6, **how)) == keys(everything.take(passes))
    for how, passes in (
        ({"min_identity": 0.5}, everything.identity >= 0.5),
        ({"min_query_coverage": 0.3}, coverage >= 0.3),
    ):
        # A pair whose first alignment is left out has no other.
        first = passes[np.flatnonzero(everything.hsp == 1)][np.cumsum(everything.hsp == 1) - 1]
        assert 0 < (passes & first).sum() < passes.sum()
        assert keys(table_of(*repeats, max_hsps=6, **how)) == keys(everything.take(passes & first))


def test_fewer_and_the_matrix_have_the_first(repeats):
    most = table_of(*repeats, max_hsps=5)
    assert most.hsp.max() == 5
    for k in (2, 4):
        assert table_of(*repeats, max_hsps=k) == most.take(most.hsp <= k)
    one = table_of(*repeats, max_hsps=1)
    assert one.hsp is None and paths(one) == paths(most.take(most.hsp == 1))
    queries, _ = repeats
    several, one = table_of(queries), table_of(queries, max_hsps=1)
    np.testing.assert_array_equal(several.matrix(), one.matrix())
    assert len(several) > len(one)
    assert [row.hsp for row in several][:2] == several.hsp.tolist()[:2] and one.row(0).hsp == 1


def paths(table):
    return list(zip(table.query_index.tolist(), table.target_index.tolist(), table.cigars(), strict=True))


@pytest.mark.parametrize("n_targets", [20, 200])
def test_top_counts_targets(repeats, n_targets):
    """Also where the best targets are found in groups."""
    queries, targets = repeats
    many = ta.SequenceBatch.from_strings([targets.text(k % len(targets)) for k in range(n_targets)], alphabet="protein")
    best, everything = (table_of(queries, many, top=3, max_hsps=k, max_evalue=1.0) for k in (1, 5))
    assert paths(everything.take(everything.hsp == 1)) == paths(best)
    assert len(everything) > len(best)
    for _, numbers in groupby(keys(everything), lambda row: row[:2]):  # those of a pair lie together
        listed = [row[2] for row in numbers]
        assert listed == list(range(1, len(listed) + 1))


def test_strands():
    """Of the better strand; places count on the query's own."""
    rng = random.Random(10)
    domain = "".join(rng.choice("ACGT") for _ in range(40))
    texts = [with_repeats(rng, "ACGT", domain, 3, 30) for _ in range(6)]
    queries = ta.SequenceBatch.from_strings(texts[:3], alphabet="nucleotide")
    targets = ta.SequenceBatch.from_strings(texts[3:], alphabet="nucleotide")
    reverse = queries.reverse_complement()
    how = {"matrix": nucleotides(), "gap": ta.Gap(5, 2)}
    plus, minus = table_of(queries, targets, **how), table_of(reverse, targets, strand="both", **how)
    assert (minus.strand == -1).all() and plus.hsp.max() == 4
    assert keys(plus) == keys(minus) and plus.cigars() == minus.cigars()
    lengths = queries.lengths[minus.query_index]
    np.testing.assert_array_equal(lengths - minus.query_end, plus.query_start)
    np.testing.assert_array_equal(minus.target_start, plus.target_start)


def test_translated():
    """Of the best frames of each pair."""
    rng = random.Random(11)
    genes = ["".join(rng.choice("ACGT") for _ in range(30)) + "ATGAAACGTTGGCATGAACTG" * 6 + "CCGT" for _ in range(3)]
    queries = ta.SequenceBatch.from_strings(genes, alphabet="nucleotide")
    proteins = ta.SequenceBatch.from_strings(["MKRWHEL" * 4 + "PPPP" + "MKRWHEL" * 2], alphabet="protein")
    table = table_of(queries, proteins, translate="query", max_evalue=1.0)
    pairs = np.unique(np.stack([table.query_index, table.target_index], 1), axis=0)
    assert table.hsp.max() == 4 and len(pairs) == 3
    assert keys(table_of(table.queries, proteins, pairs=pairs, max_evalue=1.0)) == keys(table)
    assert "hsp" in table.columns() and "query_frame" in table.columns()


@pytest.mark.parametrize("strand", ["plus", "both"])
def test_corrected_scores_are_by_the_same_taken_pairs(strand):
    rng = random.Random(12)
    matrix, pieces = (BLOSUM62, [(11, 1)]) if strand == "plus" else (nucleotides(), [(5, 2)])
    letters, alphabet = ("AEEKKLLVG", PROTEIN) if strand == "plus" else ("AAACGTT", NUCLEOTIDE)
    texts = family(rng, letters, 7, 40, (1, 3), 10)
    batch = ta.SequenceBatch.from_strings(texts, alphabet=alphabet)
    how = {"matrix": matrix, "gap": ta.Gap(*pieces[0]), "strand": strand, "max_hsps": 5}
    table = table_of(batch, batch, composition="scaled", **how)
    raw = table_of(batch, batch, **how)
    assert keys(raw) == keys(table) and table.hsp.max() == 5 and (table.corrected_score < table.score).any()
    residues, average = set(background(alphabet)[0].tolist()), rates(matrix)[0]
    reverse = batch if strand == "plus" else batch.reverse_complement()
    taken = set()
    for row in table:
        taken = set() if row.hsp == 1 else taken
        begin, end = batch.offsets[row.query_index : row.query_index + 2]
        query = (batch if row.strand > 0 else reverse).codes[begin:end].tolist()
        target = codes(alphabet, texts[row.target_index])
        factor = composition.rho(query, target, matrix.scores.tolist(), residues, average)
        whole = np.asarray(matrix.scores) * factor.numerator
        costs = [(factor.denominator * o, factor.denominator * x) for o, x in pieces]
        best, _ = waterman_eggert._next(query, target, whole, costs, taken)
        assert row.corrected_score == min(round(best.score / factor.denominator), row.score)
        begin = row.query_start if row.strand > 0 else len(query) - row.query_end
        taken |= {(i + begin - row.query_start, j) for i, j in waterman_eggert.pairs_of(row)}
    # Filters go by it.
    evalue = table.columns(["evalue"])["evalue"]
    limit = float(np.median(evalue))
    assert keys(table_of(batch, batch, composition="scaled", max_evalue=limit, **how)) == keys(
        table.take(evalue <= limit)
    )


@pytest.mark.parametrize("how", [{"n_threads": 2}, {"memory_bytes": 8 << 20}, {"n_threads": 2, "top": 5}])
def test_neither_threads_nor_tiles_change_rows(repeats, how, monkeypatch):
    one = table_of(*repeats, **{**how, "n_threads": 1, "memory_bytes": None})
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "7")
    assert table_of(*repeats, **how) == one


def test_decimals():
    rng = random.Random(13)
    texts = family(rng, "ACGT", 6)
    halves = table_of(texts, matrix=ta.SubstitutionMatrix.match_mismatch(1, -1.5), gap=ta.Gap(2.5, 1))
    whole = table_of(texts, matrix=nucleotides(), gap=ta.Gap(5, 2))
    assert halves.score.dtype == np.float64 and halves.cigars() == whole.cigars()
    np.testing.assert_array_equal(2 * halves.score, whole.score)


def test_a_pair_beyond_the_memory_is_refused():
    rng = random.Random(14)
    text = "".join(rng.choice("ACGT") for _ in range(20_000)) * 2
    with pytest.raises(ResourceError) as caught:
        table_of([text, text[1:]], max_hsps=2, memory_bytes=6 << 20, matrix=nucleotides(), min_score=1000)
    assert str(caught.value).endswith(
        "a pair requires more memory than allowed with several alignments per pair: allow more with memory_bytes"
    )


def test_a_stop_comes_within_a_pair():
    class StopError(Exception):
        pass

    rng = np.random.default_rng(1)
    code, offsets = rng.integers(0, 4, 80_000).astype(np.uint8), np.array([0, 40_000, 80_000])
    arrays = (code, offsets, code, offsets, np.array([0]), np.array([1]), nucleotides().scores)
    none = np.zeros(0, np.int32)
    taken = (np.zeros(2, np.int64), none, none, np.zeros(1, np.int64), np.zeros(0, np.uint32), np.ones(1, np.int32))

    def stop(_):
        raise StopError

    with pytest.raises(StopError):
        _native.align_next(*arrays, (4, 2, 4, 2), *taken, 2, 1, 1 << 28, stop)


def without_ties(factor, path):
    """BLOSUM62 times a factor and a little by chance, so that few alignments are equally good; also as a file."""
    rng = random.Random(3)
    place = {letter: codes(PROTEIN, letter)[0] for letter in AMINO_ACIDS}
    scores = np.zeros((20, 20), int)
    for i, a in enumerate(AMINO_ACIDS):
        for j, b in enumerate(AMINO_ACIDS[: i + 1]):
            score = factor * int(BLOSUM62.scores[place[a], place[b]]) + rng.randint(-(factor // 2), factor // 2)
            scores[i, j] = scores[j, i] = score
    lines = [f"{letter} {' '.join(map(str, row))}" for letter, row in zip(AMINO_ACIDS, scores.tolist(), strict=True)]
    path.write_text("\n".join(["  " + " ".join(AMINO_ACIDS), *lines, ""]))
    return ta.SubstitutionMatrix.of((AMINO_ACIDS, scores.tolist()), "protein")


def lalign(folder, query, target, most, gap):
    """What lalign36 finds: (score, query start, query end, target start, target end), in its order."""
    for name, text in (("query", query), ("target", target)):
        (folder / f"{name}.fa").write_text(f">{name}\n{text}\n")
    costs = ["-s", "matrix", "-f", str(-gap.open), "-g", str(-gap.extend)]  # it takes no long path
    command = ["lalign36", "-q", "-m", "11", *costs, "-K", str(most), "-E", "1e9", "query.fa", "target.fa"]
    text = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True).stdout
    found = []
    for line in text.splitlines():
        word, *numbers = line.split() or [""]
        if word == "a":
            found.append([])
        elif found and word in ("s", "b", "e"):
            found[-1] += [int(number) - (word == "b") for number in numbers[: 1 if word == "s" else 2]]
    return [(score, a, b, c, d) for score, a, c, b, d in found]


@pytest.mark.skipif(shutil.which("lalign36") is None, reason="lalign36 (Debian: fasta3) is not installed")
def test_lalign36_finds_the_same(tmp_path):
    """Scores of all, and spans where no other alignment is as good; with BLOSUM62 itself, ties lead apart."""
    rng, factor = random.Random(15), 14
    matrix, gap = without_ties(factor, tmp_path / "matrix"), ta.Gap(11 * factor, factor)
    least, n_rows, n_same = 35 * factor, 0, 0
    for _ in range(12):
        domain = "".join(rng.choice(AMINO_ACIDS) for _ in range(rng.randint(30, 80)))
        texts = [with_repeats(rng, AMINO_ACIDS, domain, rng.randint(2, 4), 40, 0.3) for _ in range(2)]
        table = table_of([texts[0]], [texts[1]], max_hsps=20, min_score=least, matrix=matrix, gap=gap)
        ours = [(row.score, row.query_start, row.query_end, row.target_start, row.target_end) for row in table]
        theirs = sorted((row for row in lalign(tmp_path, *texts, 20, gap) if row[0] >= least), reverse=True)
        assert [row[0] for row in ours] == [row[0] for row in theirs]
        n_rows, n_same = n_rows + len(ours), n_same + len(set(ours) & set(theirs))
    assert n_rows > 60 and n_same > 0.95 * n_rows
