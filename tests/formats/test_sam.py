"""SAM and BAM: every line from the alignments, and what samtools, pysam and Biopython read."""

import dataclasses
import io
import itertools
import shutil
import subprocess
import sys

import numpy as np
import pytest
from Bio import Align

import tropalign
from formats.conftest import context_for, pairs_file, parts_of
from formats.tables import random_table
from formats.written import HEADER, written
from tropalign.errors import InputError, TropalignWarning
from tropalign.formats.format import make_writer
from tropalign.formats.pairs import sam as bam
from tropalign.formats.pairs.sam import NO_READ, NO_REFERENCE
from tropalign.results.alignments import concatenate
from tropalign.sequences import NUCLEOTIDE, SequenceBatch


def lines_of(text):
    lines = text.decode().splitlines()
    return [x for x in lines if x.startswith("@")], [x.split("\t") for x in lines if not x.startswith("@")]


def primaries(table):
    """Of each query the row of its primary line, in plain Python; one without a column where there is no other."""
    best = {}
    for row in table:
        rank = (row.n_columns > 0, row.score)
        if row.query not in best or rank > best[row.query][0]:
            best[row.query] = rank, row.index
    return {index for _, index in best.values()}


def shown(table):
    first = primaries(table)
    return [row for row in table if row.n_columns or row.index in first]


def md_of(row):
    """The MD tag of an alignment, column by column."""
    text, n, is_gap = "", 0, False
    for top, sign, bottom in zip(*row.aligned(), strict=True):
        shown, was_gap, is_gap = bottom.upper().replace("U", "T"), is_gap, top == "-"
        if sign == "|":
            n += 1
        elif bottom != "-":
            text += shown if is_gap and was_gap else f"{n}{'^' * is_gap}{shown}"
            n = 0
    return f"{text}{n}"


@pytest.mark.parametrize("cuts", [(), (1, 2), tuple(range(1, 30))])
def test_rows(write, any_table, cuts):
    _, rows = lines_of(write("sam", any_table, cuts))
    expected, first = shown(any_table), primaries(any_table)
    assert len(rows) == len(expected)
    for cells, row in zip(rows, expected, strict=True):
        text, (begin, end) = row.query_text(), row.query_span()
        flag = (16 if row.strand < 0 else 0) + (0 if row.index in first else 256)
        letters = text if row.index in first else "*"
        assert cells[0] == row.query and cells[6:11] == ["*", "0", "0", letters, "*"]
        tags = [f"AS:i:{row.score}", f"NM:i:{row.n_columns - row.n_identical}"]
        assert cells[11:] == tags + [f"MD:Z:{md_of(row)}"] * any_table.targets.alphabet.has_strands
        if not row.n_columns:
            assert cells[1:6] == [str(4 + flag), "*", "0", "0", "*"]
            continue
        clips = [f"{n}S" * (n > 0) for n in (begin, len(text) - end)]
        assert cells[1:6] == [str(flag), row.target, str(row.target_start + 1), "255", clips[0] + row.cigar + clips[1]]


def test_one_primary_line_per_read(write):
    """The first of equal scores; a read is unmapped only where no pair of it has a column."""
    table = random_table(4, 40, NUCLEOTIDE, has_strand=True)
    table = dataclasses.replace(table, score=np.where(table.n_columns > 0, 7, 0).astype(np.int32))
    nothing = table.take(table.n_columns == 0)
    table = concatenate([nothing, table])
    _, rows = lines_of(write("sam", table, (3, 20)))
    primary = [cells for cells in rows if not int(cells[1]) & 256]
    assert sorted(cells[0] for cells in primary) == sorted({cells[0] for cells in rows})
    for cells in primary:
        assert cells == next(other for other in rows if other[0] == cells[0]) and not int(cells[1]) & 4
    _, alone = lines_of(write("sam", nothing, (1,)))
    assert [cells[:3:2] for cells in alone] == [[name, "*"] for name in dict.fromkeys(row.query for row in nothing)]


def test_decimals_decide(write):
    """Of 4.4 and 4.5 the higher one is the primary line's."""
    table = random_table(2, 2, NUCLEOTIDE, empties=False)
    index = np.zeros(2, np.int64)
    for scores, flags in (([4.4, 4.5], ["256", "0"]), ([4.5, 4.4], ["0", "256"])):
        made = dataclasses.replace(table, query_index=index, target_index=table.target_index, score=np.array(scores))
        starts = {name: index.astype(np.int32) for name in ("query_start", "target_start")}
        ends = {name: np.ones(2, np.int32) for name in ("query_end", "target_end", "n_columns")}
        paths = {"cigar_ops": np.array([24, 24], np.uint32), "cigar_offsets": np.array([0, 1, 2])}
        made = dataclasses.replace(made, **{**starts, **ends, **paths})
        for cuts in ((), (1,)):
            assert [cells[1] for cells in lines_of(write("sam", made, cuts))[1]] == flags


def with_qualities(table, missing=()):
    """The same table, whose queries have random qualities, but for some."""
    batch = table.queries
    values = np.random.default_rng(1).integers(0, 94, len(batch.codes)).astype(np.uint8)
    for k in missing:
        values[batch.offsets[k] : batch.offsets[k + 1]] = 255
    queries = dataclasses.replace(batch, names=tuple(batch.names), qualities=values)
    return dataclasses.replace(table, queries=queries)


def test_qualities_turn_with_the_strand(write, strands):
    table = with_qualities(strands, missing=[2])
    _, rows = lines_of(write("sam", table, (4,)))
    n_checked = 0
    for cells, row in zip(rows, shown(table), strict=True):
        if cells[9] == "*":
            assert cells[10] == "*"
            continue
        k, n_checked = row.query_index, n_checked + 1
        values = table.queries.qualities[table.queries.offsets[k] : table.queries.offsets[k + 1]]
        expected = bytes((values + 33).tolist()).decode() if k != 2 else "*"
        assert cells[10] == (expected[::-1] if row.strand < 0 else expected)
    assert n_checked == len({row.query for row in table})


def without_u(table):
    """samtools reads U as N; our BAM has T for it."""
    queries = table.queries
    letters = queries.letters.copy()
    letters[letters == ord("U")] = ord("T")
    return dataclasses.replace(table, queries=dataclasses.replace(queries, names=queries.names, letters=letters))


def named(table, queries, targets):
    batches = [dataclasses.replace(b, names=n) for b, n in ((table.queries, queries), (table.targets, targets))]
    return dataclasses.replace(table, queries=batches[0], targets=batches[1])


def test_names_are_those_of_the_specification(write):
    long = "n" * 300
    table = random_table(1, 30)
    table = named(table, ("a@b", "a_b", "é", long, long + "b"), ("t(1)", "*t", "t_1_", "=t[2]"))
    with pytest.warns(TropalignWarning) as told:
        header, rows = lines_of(write("sam", table, (9,)))
    reads = {"a@b": "a_b_2", "a_b": "a_b", "é": "_", long: "n" * 254, long + "b": "n" * 252 + "_2"}
    assert [str(w.message) for w in told if "reads" in str(w.message)] == [
        "4 names of reads are not allowed in SAM: changed, the first 'a@b' to 'a_b_2'"
    ]
    assert [str(w.message) for w in told if "references" in str(w.message)] == [
        "3 names of references are not allowed in SAM: changed, the first 't(1)' to 't_1__2'"
    ]
    references = dict(zip(table.targets.names, ("t_1__2", "_t", "t_1_", "_t_2_"), strict=True))
    assert [line.split("\t")[1][3:] for line in header if line.startswith("@SQ")] == list(references.values())
    for cells, row in zip(rows, shown(table), strict=True):
        assert cells[0] == reads[row.query] and len(cells[0]) <= 254 and not NO_READ.search(cells[0])
        assert cells[2] == (references[row.target] if row.n_columns else "*")
    assert not any(NO_REFERENCE.search(name) for name in references.values())


def test_what_is_no_letter(write):
    table = random_table(3, 20)
    letters = table.queries.letters.copy()
    letters[:3] = list(b"*-1")
    table = dataclasses.replace(table, queries=dataclasses.replace(table.queries, letters=letters))
    with pytest.warns(TropalignWarning, match=r"3 letters such as '\*' not allowed in SAM: written as X"):
        _, rows = lines_of(write("sam", table))
    of_first = [cells[9] for cells in rows if cells[0] == "query0" and cells[9] != "*"]
    assert of_first == ["XXX" + table.queries.text(0)[3:]]


def test_biopython_reads_the_alignments(write, any_table):
    table = any_table.take(any_table.n_columns > 0)
    read = list(Align.parse(io.StringIO(write("sam", table).decode()), "sam"))
    assert len(read) == len(table)
    for alignment, row in zip(read, table, strict=True):
        assert alignment.query.id == row.query and alignment.target.id == row.target
        assert alignment.score == row.score
        target, query = alignment.coordinates
        assert (target[0], target[-1]) == (row.target_start, row.target_end)
        assert sorted((query[0], query[-1])) == [row.query_start, row.query_end]
        assert (query[0] > query[-1]) == (row.strand < 0)


@pytest.fixture(params=["sam", "bam"])
def read_by_pysam(request, write, tmp_path):
    pysam = pytest.importorskip("pysam")
    table = with_qualities(random_table(5, 40, NUCLEOTIDE, has_strand=True), missing=[1])
    path = tmp_path / f"a.{request.param}"
    path.write_bytes(write(request.param, table, (2, 17)))
    with pysam.AlignmentFile(str(path)) as file:
        assert list(file.references) == list(table.targets.names)
        yield table, list(file)


def test_pysam_reads_the_alignments(read_by_pysam):
    table, lines = read_by_pysam
    first = primaries(table)
    for read, row in zip(lines, shown(table), strict=True):
        assert read.query_name == row.query and read.get_tag("AS") == row.score
        assert read.is_secondary == (row.index not in first) and read.is_reverse == (row.strand < 0)
        if row.index in first:
            assert read.query_sequence.upper().replace("U", "T") == row.query_text().upper().replace("U", "T")
        if row.n_columns == 0:
            assert read.is_unmapped
            continue
        spans = (row.target, row.target_start, row.target_end)
        assert (read.reference_name, read.reference_start, read.reference_end) == spans
        inner = [(op, n) for op, n in read.cigartuples if op != 4]
        assert inner == row.operations() and read.infer_query_length() == len(row.query_text())
        if row.index in first:
            assert (read.query_alignment_start, read.query_alignment_end) == row.query_span()


def test_samtools_takes_both(write, tmp_path):
    """BAM and SAM hold the same lines; they are sorted, indexed and counted."""
    samtools = shutil.which("samtools")
    if samtools is None:
        pytest.skip("samtools is not installed")
    pytest.importorskip("pysam")
    table = without_u(with_qualities(random_table(8, 40, NUCLEOTIDE, has_strand=True)))

    def run(*arguments):
        return subprocess.run([samtools, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    seen = []
    for form in ("sam", "bam"):
        path, ordered = tmp_path / f"a.{form}", tmp_path / f"{form}.sorted.bam"
        path.write_bytes(write(form, table, (11,)))
        run("quickcheck", path)
        seen.append(run("view", "--no-PG", path))
        run("sort", "-o", ordered, path)
        run("index", ordered)
        counts = run("flagstat", ordered)
        assert f"{len(set(table.query_index.tolist()))} + 0 primary\n" in counts
    lines = seen[0].splitlines()
    assert seen[0] == seen[1] and len(lines) == len(shown(table))


def test_what_bam_needs(proteins, strands):
    pytest.importorskip("pysam")
    with pytest.raises(InputError, match=r"^BAM supports nucleotides only, but these are proteins: choose format sam$"):
        make_writer("pairs", "bam", HEADER, context_for(proteins))

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    writer = make_writer("pairs", "bam", HEADER, context_for(strands))
    with pytest.raises(OSError, match="No space left"):
        writer.assemble(parts_of(writer, strands), Full())


def test_without_pysam(monkeypatch, strands):
    monkeypatch.setitem(sys.modules, "pysam", None)
    with pytest.raises(InputError, match=r"BAM needs pysam: pip install 'tropalign\[bam\]', or choose format sam"):
        bam.require_pysam()


@pytest.mark.parametrize("seed", range(5))
def test_whole_queries_are_written_as_they_stand_in_the_file(seed, monkeypatch):
    """In blocks of some rows, which cut a query's rows apart."""
    monkeypatch.setattr("tropalign.formats.format.BLOCK_BYTES", 700)
    monkeypatch.setattr("tropalign.formats.format.FIRST_ROWS", 3)
    table = random_table(seed, n_rows=40, alphabet=NUCLEOTIDE, has_strand=True)
    table = table.take(np.argsort(table.query_index, kind="stable"))
    usual = make_writer("pairs", "sam", HEADER, context_for(table))
    whole = make_writer("pairs", "sam", HEADER, context_for(table, has_whole_queries=True))
    assert usual.needs_all and usual.frame is None and not whole.needs_all
    expected, out = io.BytesIO(), io.BytesIO()
    usual.assemble(parts_of(usual, table, (7, 20)), expected)
    borders = np.flatnonzero(np.diff(table.query_index)) + 1
    cuts = [0, int(borders[len(borders) // 2]), len(table)]
    blocks = [list(whole.blocks(table.slice(a, b))) for a, b in itertools.pairwise(cuts)]
    assert max(map(len, blocks)) > 1
    whole.assemble(itertools.chain(*blocks), out)
    assert out.getvalue() == expected.getvalue()
    head, foot = whole.frame
    assert head + b"".join(itertools.chain(*blocks)) + foot == out.getvalue()
    assert b"".join(whole.encode(table.slice(a, b)) for a, b in itertools.pairwise(cuts)) == b"".join(
        itertools.chain(*blocks)
    )


@pytest.mark.parametrize("change", [{"query": 99}, {"query": -1}, {"end": 10**9}, {"offsets": -5}, {"begin": 10**6}])
def test_damaged_parts(strands, change):
    """A shard may hold anything; nothing of it points beyond its bytes."""
    writer = make_writer("pairs", "sam", HEADER, context_for(strands))
    ((name, value),) = change.items()
    with np.load(io.BytesIO(writer.encode(strands))) as found:
        arrays = dict(found)
    arrays[name] = np.append(arrays[name][:-1], value)
    sink = io.BytesIO()
    np.savez(sink, **arrays)
    for part in (sink.getvalue(), b"x", sink.getvalue()[:50]):
        with pytest.raises(InputError, match="a finished part is damaged"):
            writer.assemble([part], io.BytesIO())


def test_no_pair(write, proteins):
    header, rows = lines_of(write("sam", proteins.slice(0, 0)))
    assert len(header) == 6 and rows == []


#: Tags of `samtools calmd` (1.16.1) for the three reads below.
OF_CALMD = {"read1": ("3", "6A3^T6G7"), "read2": ("3", "19"), "read3": ("0", "14")}


def test_md_and_nm_are_those_of_samtools():
    reference = "GATTACAGGCTTAACCGGTTCATGCCATGAC"
    reads = {"read1": "GATTACTGGCTAACCGATTCATGC", "read2": "GGCTTAACCGTTTGTTCATGCC", "read3": "GATTACAGGCTTAA"}
    queries, targets = (SequenceBatch.from_strings(x, alphabet=NUCLEOTIDE) for x in (reads, {"r": reference}))
    (table,) = tropalign.align_all(queries, targets, mode="semiglobal", n_threads=1)
    _, rows = lines_of(pairs_file("sam", table))
    found = {cells[0]: (cells[12].removeprefix("NM:i:"), cells[13].removeprefix("MD:Z:")) for cells in rows}
    assert found == OF_CALMD


@pytest.mark.skipif(not shutil.which("samtools"), reason="samtools is not installed")
@pytest.mark.parametrize("seed", range(3))
def test_calmd_changes_nothing(tmp_path, seed):
    """Of random reads that differ from their reference, on both strands."""
    rng = np.random.default_rng(seed)
    reference, reads = "".join(rng.choice(list("ACGT"), 300)), {}
    for k in range(40):
        begin = int(rng.integers(0, 200))
        letters = [
            str(rng.choice(["", "A", c + "G", c + "TTA"])) if rng.random() < 0.15 else c
            for c in reference[begin : begin + 90]
        ]
        reads[f"q{k}"] = "".join(letters)[:: 1 if k % 2 else -1]
        if not k % 2:
            reads[f"q{k}"] = reads[f"q{k}"].translate(str.maketrans("ACGT", "TGCA"))
    queries, targets = (SequenceBatch.from_strings(x, alphabet=NUCLEOTIDE) for x in (reads, {"r": reference}))
    (table,) = tropalign.align_all(queries, targets, mode="semiglobal", strand="both", n_threads=1)
    (tmp_path / "r.fa").write_text(f">r\n{reference}\n")
    (tmp_path / "x.sam").write_bytes(pairs_file("sam", table))
    words = ["samtools", "calmd", tmp_path / "x.sam", tmp_path / "r.fa"]
    theirs = subprocess.run(words, check=True, capture_output=True).stdout
    assert lines_of(theirs)[1] == lines_of(pairs_file("sam", table))[1]


def test_without_the_header(any_table):
    whole, bare = (
        written("pairs", "sam", context_for(any_table), [any_table], header)
        for header in (HEADER, dataclasses.replace(HEADER, has_names=False))
    )
    assert whole.startswith(b"@HD") and whole.endswith(bare) and not lines_of(bare)[0]
    assert lines_of(bare)[1] == lines_of(whole)[1]
