"""Pairs, their texts, and placements."""

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from oracles import gap_pieces, soft
from oracles.pairwise import FREE_ENDS, align
from other_processors.registry import family
from placement.cases import reads, reference

import tropalign as ta
from tropalign import _native
from tropalign.placement.scoring import SCHEMES
from tropalign.results.aligned_pairs import arrays_of
from tropalign.results.alignments import concatenate

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
MODES = ("local", "global", "semiglobal")
REPORTS = ("score", "ends", "alignment")
#: Too little for the directions of a long pair.
MEMORY = 4 << 20
BLOSUM50 = ta.SubstitutionMatrix.from_name("BLOSUM50")


def scaled(factor: int) -> ta.SubstitutionMatrix:
    return ta.SubstitutionMatrix("scaled", ta.PROTEIN, BLOSUM50.scores * factor, BLOSUM50.letters)


def nucleotides(match: int = 5, mismatch: int = -4, most: int = 0) -> ta.SubstitutionMatrix:
    """Scores of nucleotides. With `most` one that no text has is beyond 8 bits, so that no band is tried."""
    letters = ta.NUCLEOTIDE.letters
    scores = ta.SubstitutionMatrix.match_mismatch(match, mismatch).scores[: len(letters), : len(letters)].copy()
    n = letters.index("N")
    scores[n, n] += most
    return ta.SubstitutionMatrix.of((letters, scores), ta.NUCLEOTIDE)


def random_text(rng: random.Random, letters: str, length: int) -> str:
    return "".join(rng.choices(letters, k=length))


def changed(rng: random.Random, text: str, letters: str, share: float, longest_gap: int = 4) -> str:
    """A copy in which about that share of the places differs, a third of them by gaps."""
    out = []
    k = 0
    while k < len(text):
        luck = rng.random()
        if luck < share / 6:
            k += rng.randint(1, longest_gap)
            continue
        if luck < share / 3:
            out.append(random_text(rng, letters, rng.randint(1, longest_gap)))
        out.append(rng.choice(letters) if share / 3 <= luck < share else text[k])
        k += 1
    return "".join(out) or text[0]


def columns_of(tables: Any) -> dict[str, Any]:
    return arrays_of(concatenate(list(tables)))


def oracle_agrees(texts: list[str], matrix: ta.SubstitutionMatrix, gap: tuple[int, int], mode: str) -> None:
    """The first few pairs against plain Python."""
    batch = ta.SequenceBatch.from_strings(texts[:5], alphabet=matrix.alphabet)
    rows = concatenate(list(ta.align_all(batch, mode=mode, matrix=matrix, gap=ta.Gap(*gap), n_threads=1)))
    codes = [batch.codes[a:b].tolist() for a, b in zip(batch.offsets, batch.offsets[1:], strict=False)]
    for k in range(len(rows)):
        row = rows.row(k)
        wanted = align(codes[row.query_index], codes[row.target_index], matrix.scores, *gap, mode)
        assert (row.score, row.query_start, row.target_end, row.cigar) == (
            wanted.score,
            wanted.query_start,
            wanted.target_end,
            wanted.cigar,
        )


@family(
    "pairwise/kernels_int8.cpp",
    "pairwise/kernels_int16.cpp",
    "pairwise/kernels_int32.cpp",
    "pairwise/kernels_entry.cpp",
)
def lanes_of_pairs() -> dict[str, Any]:
    """Many short pairs, in lanes of 8, 16 and 32 bits; some saturate and go on in wider ones."""
    rng = random.Random(1)
    ancestor = random_text(rng, AMINO_ACIDS, 60)
    texts = [changed(rng, ancestor[: rng.randint(5, 60)], AMINO_ACIDS, 0.3) for _ in range(14)]
    texts += [random_text(rng, AMINO_ACIDS, rng.randint(1, 45)) for _ in range(12)]
    texts += ["A" * 70, "W" * 75, changed(rng, "W" * 75, AMINO_ACIDS, 0.1)]
    found = {}
    for factor in (1, 40, 30_000):
        for mode in MODES:
            for gap in ((8, 2), (0, 1)):
                costs = (gap[0] * factor, gap[1] * factor)
                options = {"mode": mode, "matrix": scaled(factor), "gap": ta.Gap(*costs), "n_threads": 1}
                for report in REPORTS:
                    name = f"{mode} {gap} x{factor} {report}"
                    found[name] = columns_of(ta.align_all(texts, alphabet="protein", report=report, **options))
                if factor != 40:
                    oracle_agrees(texts, scaled(factor), costs, mode)
    for ends in (("query-start",), ("target-end", "query-start"), ("query-end", "target-end")):
        options = {"mode": "semiglobal", "free_ends": ends, "n_threads": 2}
        found[f"free {ends}"] = columns_of(ta.align_all(texts, alphabet="protein", **options))
    return found


@family("pairwise/kernels_short.cpp")
def short_pairs() -> dict[str, Any]:
    """A pair per call, in 16 and 32 bits."""
    rng = random.Random(2)
    found = {}
    for factor in (1, 300):
        for mode in MODES:
            rows = []
            for length in (1, 7, 15, 16, 17, 33, 90, 200):
                query = random_text(rng, AMINO_ACIDS, length)
                target = changed(rng, query, AMINO_ACIDS, 0.4, 9)
                costs = ta.Gap(11 * factor, factor)
                for pair in ((query, target), (target, random_text(rng, AMINO_ACIDS, 40))):
                    row = ta.align(*pair, mode=mode, matrix=scaled(factor), gap=costs, alphabet="protein")
                    rows.append(arrays_of(row.table))
            found[f"{mode} x{factor}"] = rows
    return found


@family("pairwise/kernels_long.cpp")
def long_pairs() -> dict[str, Any]:
    """A few pairs whose cells are too many for masks of all, with 8, 16 and 32 bits between neighbours."""
    rng = random.Random(3)
    text = random_text(rng, "ACGT", 4300)
    other = changed(rng, text[:2000] + random_text(rng, "ACGT", 300) + text[2500:], "ACGT", 0.35, 20)
    protein = random_text(rng, AMINO_ACIDS, 4150)
    found = {}
    for mode in MODES:
        options = {"mode": mode, "matrix": nucleotides(most=300), "gap": ta.Gap(10, 1), "n_threads": 2}
        for report in REPORTS:
            found[f"{mode} {report}"] = columns_of(ta.align_all([text, other], report=report, **options))
        options |= {"matrix": nucleotides()}
        found[f"{mode}, few letters"] = columns_of(ta.align_all([text, other], **options))
        options |= {"memory_bytes": MEMORY}
        found[f"{mode}, little memory"] = columns_of(ta.align_all([text, other], **options))
    for factor in (1, 30, 3000):
        pair = [protein, changed(rng, protein, AMINO_ACIDS, 0.5, 9)]
        options = {"mode": "global", "matrix": scaled(factor), "gap": ta.Gap(10 * factor, 2 * factor), "n_threads": 1}
        found[f"x{factor}"] = columns_of(ta.align_all(pair, alphabet="protein", **options))
    return found


@family("pairwise/kernels_similar.cpp")
def similar_pairs() -> dict[str, Any]:
    """Wavefronts."""
    rng = random.Random(4)
    text = random_text(rng, "ACGT", 5000)
    found = {}
    for share in (0.0, 0.01, 0.05):
        other = changed(rng, text, "ACGT", share, 6)
        for costs in ((5, -4, 10, 1), (1, -1, 0, 1), (60, -40, 30, 5)):
            gap = ta.Gap(*costs[2:])
            matrix = nucleotides(*costs[:2], most=200)
            for report in REPORTS:
                tables = ta.align_all([text, other], mode="global", matrix=matrix, gap=gap, report=report, n_threads=1)
                found[f"{share} {costs} {report}"] = columns_of(tables)
    return found


@family("pairwise/kernels_band.cpp")
def bands() -> dict[str, Any]:
    """Pairs of similar sequences, within a band and where that does not suffice."""
    rng = random.Random(5)
    queries, targets = [], []
    for k in range(18):  # long enough on the whole that bands are thought of
        text = random_text(rng, "ACGT", rng.randint(100, 1100))
        if k % 5 == 1:
            text = ("ACA" * len(text))[: len(text)]
        queries.append(text)
        targets.append(changed(rng, text, "ACGT", (0, 0.01, 0.03, 0.06, 0.1)[k % 5], 30 if k % 6 == 3 else 4))
    pairs = np.array([(k, k) for k in range(18)])
    found = {}
    for mode in MODES:
        for gap in ((10, 1), (0, 3)):
            options = {"mode": mode, "matrix": nucleotides(), "gap": ta.Gap(*gap), "pairs": pairs, "n_threads": 1}
            for report in REPORTS:
                found[f"{mode} {gap} {report}"] = columns_of(ta.align_all(queries, targets, report=report, **options))
    proteins = [random_text(rng, AMINO_ACIDS, 600) for _ in range(8)]
    others = [changed(rng, text, AMINO_ACIDS, 0.05) for text in proteins]
    found["proteins"] = columns_of(
        ta.align_all(proteins, others, mode="global", pairs=pairs[:8], alphabet="protein", n_threads=1)
    )
    return found


@family("pairwise/kernels_groups.cpp")
def best_targets() -> dict[str, Any]:
    """The best targets of queries, in groups of targets; some scores are beyond 8 bits, some pairs are traced."""
    rng = random.Random(6)
    queries = [random_text(rng, AMINO_ACIDS, rng.randint(1, 30)) for _ in range(20)]
    targets = [random_text(rng, AMINO_ACIDS, rng.randint(1, 40)) for _ in range(150)]
    parent = random_text(rng, AMINO_ACIDS, 250)
    queries.append(parent)
    targets += [changed(rng, parent, AMINO_ACIDS, 0.2) for _ in range(70)]
    found = {}
    for mode in MODES:
        for top, least in ((4, None), (200, 9)):
            options = {"mode": mode, "top": top, "min_score": least, "alphabet": "protein", "n_threads": 2}
            for report in ("score", "alignment"):
                found[f"{mode} {top} {report}"] = columns_of(ta.align_all(queries, targets, report=report, **options))
    scores = np.random.default_rng(6).integers(-9, 8, (60, 20))
    for matrix in (ta.PositionMatrix(scores), ta.PositionMatrix(99 * scores)):  # in 8 bits, and by tables
        for mode in MODES:
            options = {"mode": mode, "alphabet": "protein", "n_threads": 1}
            for report in ("score", "alignment"):
                table = columns_of(ta.align_all(matrix, targets, report=report, top=9, **options))
                found[f"positions {mode} {matrix.scores.max()} {report}"] = table
    found["one set"] = columns_of(ta.align_all(targets[:140], top=3, report="score", alphabet="protein", n_threads=1))
    return found


@family("pairwise/kernels_pieces.cpp")
def gap_pieces_and_end_gaps() -> dict[str, Any]:
    """Gaps of two pieces and other costs at the ends, in 16 and 32 bits."""
    rng = random.Random(7)
    texts = [random_text(rng, "ACGT", 50)]
    texts += [changed(rng, texts[0], "ACGT", 0.4, 20) for _ in range(5)]
    texts += [random_text(rng, "ACGT", 300), "A"]
    texts.append(changed(rng, texts[6], "ACGT", 0.2, 40))
    found = {}
    for factor in (1, 500):
        matrix = nucleotides(2 * factor, -3 * factor)
        for gap, end_gap in (((4, 2, 24, 1), None), ((0, 3, 5, 0), (1, 1)), ((5, 2), (0, 1, 3, 0))):
            costs = [factor * cost for cost in gap]
            ends = None if end_gap is None else ta.Gap(*(factor * cost for cost in end_gap))
            for mode in MODES if end_gap is None else MODES[1:]:
                options = {"mode": mode, "matrix": matrix, "gap": ta.Gap(*costs), "end_gap": ends, "n_threads": 1}
                for report in REPORTS:
                    name = f"{mode} {gap} {end_gap} x{factor} {report}"
                    found[name] = columns_of(ta.align_all(texts, report=report, **options))
    codes = [ta.NUCLEOTIDE.encode(np.frombuffer(text.encode(), np.uint8))[0].tolist() for text in texts[:2]]
    wanted = gap_pieces.align(*codes, nucleotides(2, -3).scores, (4, 2, 24, 1), (4, 2, 24, 1), "global", FREE_ENDS)
    assert found["global (4, 2, 24, 1) None x1 alignment"]["score"][0] == wanted.score
    return found


@family("pairwise/kernels_tables.cpp")
def tables_of_scores() -> dict[str, Any]:
    """Tables of each type, longer in either direction, with further alignments."""
    random = np.random.default_rng(9)
    shapes = (40, 70), (130, 20), (1, 5), (300, 290)
    found = {}
    for kind in ("int8", "int16", "int32", "float32"):
        tables = [random.integers(-9, 8, shape).astype(kind) for shape in shapes]
        for mode in MODES:
            most = 3 if mode == "local" else 1
            table = ta.align_scores(tables, gap=ta.Gap(3, 1), mode=mode, max_hsps=most, n_threads=1)
            found[f"{kind} {mode}"] = columns_of([table])
    return found


@family("pairwise/kernels_soft.cpp")
def soft_alignments() -> dict[str, Any]:
    """Probabilities within 1e-4 of the oracle: their last digits depend on the number of lanes."""
    table = np.random.default_rng(10).normal(-0.3, 1, (40, 50)).astype(np.float32)
    found = {}
    for mode in MODES:
        wanted = soft.soft_align(table, 2.0, 0.5, mode)
        got = ta.soft_align(table, gap=ta.Gap(2, 0.5), mode=mode, n_threads=1)
        found[mode] = np.array([np.abs(got.posteriors - wanted.posteriors).max() < 1e-4])
    return found


@family()
def starts_and_bounds() -> dict[str, Any]:
    """Starts of long local alignments; what pairs can reach at most; words that two sequences share."""
    rng = random.Random(8)
    texts = [random_text(rng, AMINO_ACIDS, 600) for _ in range(3)]
    texts += [changed(rng, text, AMINO_ACIDS, 0.5) for text in texts]
    batch = ta.SequenceBatch.from_strings(texts, alphabet=ta.PROTEIN)
    found = {
        mode: columns_of(ta.align_all(batch, mode=mode, report="ends", n_threads=2)) for mode in ("local", "semiglobal")
    }
    scores = np.ascontiguousarray(BLOSUM50.scores, np.int32)
    both = (batch.codes, batch.offsets) * 2
    query, target = (np.ascontiguousarray(side) for side in np.triu_indices(len(texts), 1))
    for mode in ("local", "global"):
        found[f"bounds {mode}"] = _native.score_bounds(*both, query, target, scores, 11, 1, mode, False, 1)
    found["identity bounds"] = _native.identity_bounds(*both, query, target, 1)
    enough = np.full(len(query), 2000, np.int32)
    found["floors"] = _native.score_floors(*both, query, target, enough, scores, 11, 1, 1)
    found["shared words"] = _native.shared_words(*both, 3, 1)
    found["similar by words"] = _native.similar_by_words(*both, 3, 0.9, 1e-6, 1)
    return found


@family()
def texts_of_alignments() -> dict[str, Any]:
    """Rows with gaps, differences and whole files, which the core writes."""
    rng = random.Random(9)
    names = [f"s{k}" for k in range(9)]
    parent = random_text(rng, "ACGT", 120)
    batch = ta.SequenceBatch.from_strings([changed(rng, parent, "ACGT", 0.2) for _ in names], names)
    found = {}
    with TemporaryDirectory() as folder:
        for format in ("tsv", "m8", "paf", "sam", "fasta", "srspair"):
            path = Path(folder, "pairs")
            ta.write_alignments(ta.align_all(batch, mode="semiglobal", n_threads=1), path, format=format)
            found[format] = path.read_bytes()
    text = "".join(f">{name} of a family\n{batch.text(k)}\n" for k, name in enumerate(names)).encode()
    found["records"] = list(_native.split_fasta(np.frombuffer(text, np.uint8), False, 100, False))
    return found


@family("placement/kernels_score.cpp")
def placements() -> dict[str, Any]:
    """Scores of reads on all branches in words of 8, 16 and 32 bits, and placements with and without bounds."""
    from tropalign.placement.scorer import encoded

    found: dict[str, Any] = {}
    for kind in ("nucleotide", "protein"):
        package = reference(11, n_tips=90, n_columns=110, kind=kind)
        texts = reads(12, 12, 60, kind, package)
        sets = [package.states.sets[np.frombuffer(text.encode(), np.uint8)] for _, text in texts]
        codes, offsets, table = encoded(sets)
        for bits in (8, 16, 32):
            given = (SCHEMES["program"].numbers(), codes, offsets, table, bits, None, 0, 1, 2)
            scores, *_ = _native.place_scores(package.planes, package.n_distinct, package.n_empty, *given)
            found[f"{kind} {bits} bits"] = scores
        for scheme in SCHEMES:
            for prune in (True, False):
                tables = ta.place(package, texts, scoring=SCHEMES[scheme], prune=prune, n_threads=1)
                columns = ("branch", "score", "second_score", "ties", "letters", "column")
                found[f"{kind} {scheme} {prune}"] = [[getattr(t, name) for name in columns] for t in tables]
        found[f"{kind} vectors"] = package.vectors()
    return found


@family("masks/kernels_tantan.cpp")
def masks() -> dict[str, Any]:
    """Parts of sequences of few letters and of repeats."""
    rng = random.Random(21)
    found: dict[str, Any] = {}
    for alphabet, methods in ((ta.PROTEIN, ("seg", "tantan")), (ta.NUCLEOTIDE, ("dust", "tantan"))):
        texts = []
        for _ in range(40):
            units = [random_text(rng, alphabet.states, rng.randint(1, 30)) * rng.randint(1, 5) for _ in range(12)]
            texts.append(changed(rng, "".join(units), alphabet.states, 0.2))
        batch = ta.SequenceBatch.from_strings(texts, alphabet=alphabet)
        for method in methods:
            found[f"{alphabet.name} {method}"] = ta.mask(batch, method, n_threads=2)
            assert sum(map(len, found[f"{alphabet.name} {method}"])) > 5
    return found
