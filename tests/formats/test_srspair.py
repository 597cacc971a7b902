import io
import re
from pathlib import Path

import numpy as np
import pytest
from Bio import Align, AlignIO

import tropalign
from formats.conftest import context_for
from formats.tables import GAP, matrix_for, random_table
from tropalign.formats.pairs.gapped import encode_srspair
from tropalign.sequences import NUCLEOTIDE, PROTEIN, SequenceBatch

GOLDEN = Path(__file__).parent / "golden"


def test_biopython_reads_it(write, proteins):
    """Its older parser does not take positions that descend; see below for the newer one."""
    text = write("srspair", proteins, (5, 20)).decode()
    mapped = [row for row in proteins if row.n_columns]
    read = list(AlignIO.parse(io.StringIO(text), "emboss"))
    assert len(read) == len(mapped)
    for alignment, row in zip(read, mapped, strict=True):
        top, _, bottom = row.aligned()
        assert [(r.id, str(r.seq)) for r in alignment] == [(row.query, top), (row.target, bottom)]
        assert alignment.annotations == {
            "identity": row.n_identical,
            "similarity": row.n_similar,
            "gaps": row.n_gaps,
            "score": row.score,
        }


def read_again(text, table):
    mapped = [row for row in table if row.n_columns]
    read = list(Align.parse(io.StringIO(text.decode()), "emboss"))
    assert [(a.annotations["Score"], a.annotations["Identity"]) for a in read] == [
        (row.score, row.n_identical) for row in mapped
    ]
    is_minus = [a.annotations["Matrix"].endswith("; minus strand of 1") for a in read]
    assert is_minus == [row.strand < 0 for row in mapped]
    return is_minus


def test_biopythons_newer_parser_reads_it(write, proteins, strands):
    assert not any(read_again(write("srspair", proteins), proteins))
    assert any(read_again(write("srspair", strands), strands))


def test_the_frame_and_positions_of_blocks(write, strands):
    text = write("srspair", strands).decode()
    assert text.startswith("#" * 40 + "\n# Program: tropalign\n# Version: 1.2.3\n# command: tropalign pairs a.fa\n")
    assert text.endswith("\n\n\n#---------------------------------------\n#---------------------------------------\n")
    assert "# Gap_penalty: 10.0\n# Extend_penalty: 2.0\n" in text and "; minus strand of 1\n# Gap_penalty" in text
    table = random_table(2, empties=False)
    text = write("srspair", table).decode()
    for row, record in zip(table, text.split("# Aligned_sequences: 2\n")[1:], strict=True):
        lines = [line for line in record.splitlines() if line.startswith((row.query, row.target))]
        assert int(lines[0][14:20]) == row.query_start + 1 and int(lines[1][14:20]) == row.target_start + 1
        assert int(lines[-2].split()[-1]) == row.query_end and int(lines[-1].split()[-1]) == row.target_end
        assert all(len(line.split()[2]) == 50 for line in lines[:-2])


def test_positions_of_minus_strands_descend(write):
    table = random_table(2, alphabet=NUCLEOTIDE, has_strand=True, empties=False)
    text = write("srspair", table).decode()
    n_minus = 0
    for row, record in zip(table, text.split("# Aligned_sequences: 2\n")[1:], strict=True):
        lines = [line for line in record.splitlines() if line.startswith(row.query)]
        first, last = int(lines[0][14:20]), int(lines[-1].split()[-1])
        assert (first, last) == (row.query_start + 1, row.query_end)[:: row.strand]
        shown = str(row).splitlines()
        lines = [line.split() for line in shown if line.startswith("query ")]
        assert (int(lines[0][1]), int(lines[-1][3])) == (first, last)
        n_minus += row.strand < 0
    assert 0 < n_minus < len(table)


def test_blocks_of_a_minus_strand_go_on_where_the_last_one_ended(tmp_path):
    """A gap is longer than a line, so that a line has no residue of the query and repeats its last position."""
    random = np.random.default_rng(5)
    target = "".join(random.choice(list("ACGT"), 400))
    query = str(SequenceBatch.from_strings([target[:120] + target[300:]]).reverse_complement()[0])
    (table,) = tropalign.align_all({"q": query}, {"t": target}, strand="both", mode="global")
    tropalign.write_alignments(table, tmp_path / "x.srspair")
    for text in (str(table[0]).replace("query  ", "q "), (tmp_path / "x.srspair").read_text()):
        lines = [line.split()[1:] for line in text.splitlines() if re.match(r"q +\d+ [-A-Z]+ +\d+$", line)]
        position = len(query) + 1
        for first, letters, last in lines:
            n = len(letters.replace("-", ""))
            assert (int(first), int(last)) == ((position - 1, position - n) if n else (position, position))
            position -= n
        assert position == 1 and any(not line[1].strip("-") for line in lines)


def test_is_byte_for_byte_that_of_emboss():
    """golden/water.srspair is what EMBOSS 6.6.0's water wrote of golden/water.fasta (first with each other)."""
    records = [record.split("\n", 1) for record in (GOLDEN / "water.fasta").read_text().split(">")[1:]]
    batch = SequenceBatch.from_strings(
        ["".join(text.split()) for _, text in records], [name for name, _ in records], PROTEIN
    )
    pairs = np.array([[0, k] for k in range(1, len(batch))])
    matrix = matrix_for(PROTEIN)
    (table,) = tropalign.align_all(batch, batch, pairs=pairs, matrix=matrix, gap=GAP, mode="local", n_threads=1)
    assert encode_srspair(table, context_for(table)).decode() == (GOLDEN / "water.srspair").read_text()


@pytest.mark.parametrize("known", [True, False])
def test_without_a_matrix(proteins, known):
    context = context_for(proteins) if known else context_for(proteins, substitution=None, gap=None)
    text = encode_srspair(proteins, context).decode()
    assert ("# Matrix: BLOSUM50" in text) == known == ("Gap_penalty" in text)


def test_names_are_cut_and_padded_by_letters(tmp_path):
    names = ("\u6f22\u5b57" * 7, "caf\u00e9", "a" * 14)
    (table,) = tropalign.align_all(dict(zip(names, ["MKVLAWGGHE", "MKVLAWGGHH", "MKVLAWGGH"], strict=True)))
    table.write(tmp_path / "x.srspair")
    lines = (tmp_path / "x.srspair").read_bytes().decode().splitlines()
    rows = [line for line in lines if line.endswith(" 9") and not line.startswith("#")]
    assert {row[:13] for row in rows} == {name[:13].ljust(13) for name in names}
    assert {row[13:] for row in rows} == {"      1 MKVLAWGGH      9"}
    assert f"# 1: {names[0]}" in lines
