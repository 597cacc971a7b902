"""Columns of tables: each against its definition in plain Python, row by row."""

import re
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from formats.tables import random_table, reduced

import tropalign as ta
from tropalign.errors import UsageError
from tropalign.results.aligned_pairs import KEPT_COLUMNS
from tropalign.results.alignments import AlignmentTable
from tropalign.results.output_columns import OUTPUT_COLUMNS, chosen_names, default_names, depth_of
from tropalign.sequences import NUCLEOTIDE, PROTEIN


@pytest.fixture(params=[PROTEIN, NUCLEOTIDE], ids=["protein", "strands"])
def table(request):
    return random_table(5, n_rows=40, alphabet=request.param, has_strand=request.param is NUCLEOTIDE)


def blast_percent(part, length):
    percent = Fraction(100 * part, length)
    return int(percent + Fraction(1, 2)) if percent < 99 else int(percent)


class Row:
    """A row's columns from its letters: pairs of them, ``-`` for a gap."""

    def __init__(self, alignment, table):
        self.alignment = alignment
        query, _, target = alignment.aligned()
        self.rows = query, target
        self.pairs = list(zip(query, target, strict=True))
        self.kinds = "".join("I" if t == "-" else "D" if q == "-" else "P" for q, t in self.pairs)
        self.lengths = len(alignment.query_text()), int(table.targets.lengths[alignment.target_index])
        self.identical = alignment.n_identical  # U and T are one letter: codes were compared
        self.n_paired = self.kinds.count("P")

    @property
    def openings(self):
        return len(re.findall("I+|D+", self.kinds))

    @property
    def overhangs(self):
        a = self.alignment
        spans = zip((a.query_start, a.target_start), (a.query_end, a.target_end), self.lengths, strict=True)
        return sum((begin > 0) + (end < length) for begin, end, length in spans)

    def expected(self):
        a, n = self.alignment, len(self.kinds)
        inner = len(self.kinds.strip("ID"))
        spans = (a.query_start, a.query_end), (a.target_start, a.target_end)
        firsts = [begin + 1 if begin < end else 0 for begin, end in spans]
        lasts = [end if begin < end else 0 for begin, end in spans]
        if a.strand < 0:
            firsts[1], lasts[1] = lasts[1], firsts[1]
        mismatches = self.n_paired - self.identical
        return {
            "query": a.query, "target": a.target, "query_index": a.query_index, "target_index": a.target_index,
            "query_length": self.lengths[0], "target_length": self.lengths[1], "strand": a.strand, "score": a.score,
            "corrected_score": a.score, "hsp": 1, "query_frame": 0, "target_frame": 0,
            "query_start": a.query_start, "query_end": a.query_end, "target_start": a.target_start,
            "target_end": a.target_end, "query_first": firsts[0], "query_last": lasts[0], "target_first": firsts[1],
            "target_last": lasts[1], "query_span": (a.query_end - a.query_start) / self.lengths[0],
            "target_span": (a.target_end - a.target_start) / self.lengths[1],
            "qcovhsp": blast_percent(a.query_end - a.query_start, self.lengths[0]),
            "qcovs": blast_percent(a.query_end - a.query_start, self.lengths[0]),
            "query_coverage": self.n_paired / self.lengths[0], "target_coverage": self.n_paired / self.lengths[1],
            "identical": self.identical, "similar": a.n_similar, "mismatches": mismatches,
            "gap_openings": self.openings, "gaps": n - self.n_paired, "columns": n, "identity": a.identity,
            "similarity": a.similarity, "percent_identity": 100 * a.identity,
            "identity_0": self.identical / min(self.lengths), "identity_1": self.identical / max(n, 1),
            "identity_2": self.identical / max(inner, 1),
            "identity_3": max(1 - (mismatches + self.openings + self.overhangs) / max(self.lengths), 0)
            if self.n_paired
            else 0,
            "identity_4": self.identical / max(n, 1), "cigar": a.cigar, "cs": self.cs(),
            "query_row": self.rows[0], "target_row": self.rows[1], "staxid": "", "lineage": "",
        }  # fmt: skip

    def cs(self):
        """By its definition in minimap2's manual, run by run."""
        query, target = (row.lower().replace("u", "t") for row in self.rows)
        text, at = "", 0
        for operation, length in self.alignment.operations():
            q, t = query[at : at + length], target[at : at + length]
            text += {
                1: f"+{q}", 2: f"-{t}", 7: f":{length}", 8: "".join(f"*{b}{a}" for a, b in zip(q, t, strict=True))
            }[operation]  # fmt: skip
            at += length
        return text


def test_every_column_is_what_it_says(table):
    others = {"bits", "evalue", "pair", "sum_evalue", "sum_count", "co_optimal"}
    names = [name for name in OUTPUT_COLUMNS if name not in others]
    columns = table.columns(names)
    assert list(columns) == names
    for k, alignment in enumerate(table):
        expected = Row(alignment, table).expected()
        assert set(expected) == set(names)
        for name in names:
            found, value = columns[name][k], expected[name]
            if name == "cs":
                found = found.replace("u", "t")
            assert found == (pytest.approx(value) if isinstance(value, float) else value), (name, k)
    for name in names:
        dtype = OUTPUT_COLUMNS[name].dtype
        assert columns[name].dtype == (object if dtype is str else dtype), name


def test_pairs_are_counted_and_what_is_shown_unasked(table):
    expected = [row.query_index * len(table.targets) + row.target_index + 1 for row in table]
    assert table.columns(["pair"])["pair"].tolist() == expected
    names = default_names("alignment", table.strand is not None)
    assert tuple(table.columns()) == names and set(names) <= set(OUTPUT_COLUMNS)
    numbers = [name for name in names if OUTPUT_COLUMNS[name].dtype is not str]
    assert list(table.numbers()) == numbers == [name for name in names if name not in ("query", "target", "cigar")]
    kept = {column.name: column for column in KEPT_COLUMNS}
    for name in numbers:
        column = kept.get(name, kept.get(f"n_{name}"))
        if column is None:
            assert name in ("identity", "similarity")
        else:
            assert (column.dtype, column.depth) == (OUTPUT_COLUMNS[name].dtype, OUTPUT_COLUMNS[name].depth)


@pytest.mark.parametrize("depth", ["score", "ends"])
def test_what_a_lesser_depth_has(table, depth):
    lesser = reduced(table, depth)
    for name, column in OUTPUT_COLUMNS.items():
        if name in ("bits", "evalue", "sum_evalue", "sum_count", "co_optimal"):
            continue
        if depth_of([name]) == "score" or column.depth == depth:
            assert lesser.columns([name])[name].tolist() == table.columns([name])[name].tolist()
        else:
            with pytest.raises(
                AttributeError, match=f"column {name} was not computed: request report '{column.depth}'"
            ):
                lesser.columns([name])


def test_what_all_alignments_of_a_pair_cover_of_the_query(table):
    """Rows in any order, of pairs with one or several alignments."""
    random = np.random.default_rng(8)
    several = replace(table.take(random.permutation(np.arange(len(table)) % 25)), hsp=np.ones(len(table), np.int32))
    random_spans = np.sort(random.integers(0, several.queries.lengths[several.query_index] + 1, (2, len(table))), 0)
    several = replace(several, query_start=random_spans[0].astype(np.int32), query_end=random_spans[1].astype(np.int32))
    covered = defaultdict(set)
    for row in several:
        covered[row.query, row.target] |= set(range(row.query_start, row.query_end))
    lengths = several.columns(["query_length"])["query_length"].tolist()
    expected = [blast_percent(len(covered[row.query, row.target]), n) for row, n in zip(several, lengths, strict=True)]
    assert several.columns(["qcovs"])["qcovs"].tolist() == expected
    spans = [blast_percent(row.query_end - row.query_start, n) for row, n in zip(several, lengths, strict=True)]
    assert several.columns(["qcovhsp"])["qcovhsp"].tolist() == spans != expected
    assert several[:0].columns(["qcovs"])["qcovs"].tolist() == []


def test_coverage_as_blastp_counts_it():
    """Its own alignments, up to 30 per pair, and its per cents."""
    data = Path(__file__).parent.parent / "data"
    proteins = ta.read_sequences(data / "proteins.fasta")
    cells = [line.split("\t") for line in (data / "blast/coverage.tsv").read_text().splitlines()]
    index = {name: k for k, name in enumerate(proteins.names)}
    query, target = (np.array([index[row[side]] for row in cells]) for side in (0, 1))
    begin, end, qcovs, qcovhsp = np.array([row[2:] for row in cells], np.int32).T
    ones = np.ones(len(cells), np.int32)
    spans = {"query_start": begin - 1, "query_end": end, "target_start": ones - 1, "target_end": ones}
    table = AlignmentTable(proteins, proteins, "ends", query, target, ones, **spans, hsp=ones)
    assert len(cells) > 500 and (qcovs > qcovhsp).sum() > 300
    assert table.columns(["qcovs"])["qcovs"].tolist() == qcovs.tolist()
    assert table.columns(["qcovhsp"])["qcovhsp"].tolist() == qcovhsp.tolist()


def test_names_of_other_programs():
    assert chosen_names("qlen tlen pident qcov bitscore nident gapopen qstart qrow".split()) == (
        "query_length", "target_length", "percent_identity", "query_span", "bits", "identical", "gap_openings",
        "query_first", "query_row",
    )  # fmt: skip
    aliases = [alias for column in OUTPUT_COLUMNS.values() for alias in column.aliases]
    assert len(aliases) == len(set(aliases)) and not set(aliases) & set(OUTPUT_COLUMNS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["qury"], "no column is called 'qury': did you mean query? --columns help lists all of them"),
        (
            ["ppos"],
            "no column is called 'ppos': the similarity is a fraction, not a percentage: use similarity; --columns "
            "help lists all of them",
        ),
        (["\x1b[2J"], r"no column is called '\x1b[2J': --columns help lists all of them"),
        (["qlen", "query_length"], "column query_length is requested twice: remove one"),
        ([], "no column is requested: --columns help lists all of them"),
    ],
)
def test_wrong_names(table, words, sentence):
    with pytest.raises(UsageError) as caught:
        table.columns(words)
    assert str(caught.value) == sentence


def test_significance_is_that_of_the_statistics():
    proteins = ta.read_sequences(Path(__file__).parent.parent / "data/proteins.fasta")
    (table,) = ta.align_all(proteins, n_threads=1)
    statistics = ta.score_statistics("BLOSUM62", ta.Gap(11, 1))
    columns = table[5:90].columns(["evalue", "bits", "query_length", "target_length"])
    space = {"n_residues": int(proteins.offsets[-1]), "n_sequences": len(proteins)}
    assert columns["bits"].tolist() == statistics.bits(table.score[5:90]).tolist()
    expected = statistics.evalues(
        table.score[5:90], columns["query_length"], target_lengths=columns["target_length"], **space
    )
    assert columns["evalue"].tolist() == expected.tolist() and len(set(expected)) > 30
    pairs = [("MKVLAWHEAGAWGHEE", "MKILAWHEAGWGHEE"), ("MKVLAWHEA", "MKILAWHEAGWGHEE")]
    table = ta.align_many(pairs, mode="local")
    statistics = ta.score_statistics("BLOSUM62", ta.Gap(11, 1))
    assert table.columns(["bits"])["bits"].tolist() == statistics.bits(table.score).tolist()
    assert np.isfinite(table.columns(["evalue"])["evalue"]).all()


@pytest.mark.parametrize("mode", ["global", "semiglobal"])
def test_no_significance_of_other_modes(mode):
    (table,) = ta.align_all(["MKVLAW", "MKILAW"], mode=mode, n_threads=1)
    for name in ("bits", "evalue"):
        with pytest.raises(UsageError, match="are defined for local alignments of sequences only: use mode local"):
            table.columns([name])
