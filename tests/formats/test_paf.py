import re

import pytest

import tropalign
from formats.conftest import context_for
from formats.tables import random_table
from tropalign.formats.pairs import gapped
from tropalign.sequences import NUCLEOTIDE, SequenceBatch


def test_rows_and_their_differences(write, any_table):
    mapped = [row for row in any_table if row.n_columns]
    lines = write("paf", any_table, (8,)).decode().splitlines()
    assert 0 < len(lines) == len(mapped) < len(any_table)
    for line, row in zip(lines, mapped, strict=True):
        query, length, begin, end, strand, target, of, at, to, matches, columns, quality, *tags = line.split("\t")
        assert (query, target) == (row.query, row.target)
        assert int(length) == len(row.query_text()) and strand == "+-"[row.strand < 0]
        assert int(of) == any_table.targets.lengths[any_table.target_index[row.index]]
        spans = (row.query_start, row.query_end, row.target_start, row.target_end)
        assert tuple(map(int, (begin, end, at, to))) == spans
        assert (int(matches), int(columns), quality) == (row.n_identical, row.n_columns, "255")
        assert tags[:3] == [f"AS:i:{row.score}", f"cg:Z:{row.cigar}", f"NM:i:{row.n_columns - row.n_identical}"]
        assert [tag[:5] for tag in tags[3:]] == ["de:f:", "cs:Z:"]
    # The gapped rows follow from cs and the target's letters; de from the events that cs lists.
    mapped = [row for row in any_table if row.n_columns]
    for line, row in zip(write("paf", any_table).decode().splitlines(), mapped, strict=True):
        *_, divergence, cs = line.split("\t")
        top, middle, bottom = (text.lower() for text in row.aligned())
        events = re.findall(r":[0-9]+|\*[a-z][a-z]|[+-][a-z]+", cs[5:])
        assert "".join(events) == cs[5:]
        shown, k, n_others = [], 0, 0
        for event in events:
            n = int(event[1:]) if event[0] == ":" else 1 if event[0] == "*" else len(event) - 1
            a, b = top[k : k + n], bottom[k : k + n]
            shown.append({":": f":{n}", "*": f"*{b}{a}", "+": f"+{a}", "-": f"-{b}"}[event[0]])
            assert (event[0] == ":") == (set(middle[k : k + n]) == {"|"})
            k, n_others = k + n, n_others + (event[0] != ":")
        assert (k, shown) == (row.n_columns, events)
        assert divergence == f"de:f:{n_others / (n_others + row.n_identical):.4f}"


def test_is_as_minimap2_says():
    """The columns and tags, mapping quality and AS aside, of minimap2 2.24 with -c --cs --eqx on the same pair."""
    query = (
        "ACGTACGATCGATCGATTACGACTAGCTAGCTAGCATCGACTACGATCGATCAGCTACGACTACGACTAGCATCGACTAGCATCAGCATCAGCTAGCATCAGCATCAGCATCGACT"
        "GCTAGCTACGATCAGCTACGATCAGCATCAG"
    )
    target = query.replace("GATTACGAC", "GATCCACGAC").replace("CATCGACTGC", "CATCACTGC")
    target = target.replace("TCAGCATCAGC", "TCAGTATCAGC", 1)
    queries, targets = (
        SequenceBatch.from_strings({n: t}, alphabet=NUCLEOTIDE) for n, t in [("q", query), ("t", target)]
    )
    (table,) = tropalign.align_all(queries, targets, mode="local", n_threads=1)
    cells = gapped.encode(table, context_for(table)).decode().split()
    assert cells[:11] == "q 147 0 147 + t 147 0 147 144 148".split()
    assert cells[13:] == ["cg:Z:17=1D1X68=1X25=1I34=", "NM:i:4", "de:f:0.0270", "cs:Z::17-c*ct:68*tc:25+g:34"]


def test_paths_lead_from_begin_to_end(write):
    """The CIGAR runs along the target's forward strand: it takes as many letters as its spans have."""
    table = random_table(3, alphabet=NUCLEOTIDE, has_strand=True, empties=False)
    for line, row in zip(write("paf", table).decode().splitlines(), table, strict=True):
        cells = line.split("\t")
        taken = {"query": 0, "target": 0}
        for operation, length in row.operations():
            taken["query"] += length * (operation != 2)
            taken["target"] += length * (operation != 1)
        assert taken == {"query": int(cells[3]) - int(cells[2]), "target": int(cells[8]) - int(cells[7])}


@pytest.mark.parametrize("n", [0, 3])
def test_nothing_mapped(write, n):
    table = random_table(0)
    assert write("paf", table.take(table.n_columns == 0).slice(0, min(n, 2))) == b""
