"""Formats of placed reads."""

import io
import itertools
import json

import numpy as np
import pytest

from tropalign.errors import InputError
from tropalign.formats.format import Header, format_names, make_writer, restore
from tropalign.formats.placed.context import PlacedContext
from tropalign.results.placements import Placements

HEADER = Header("1.2.3", "tropalign place r.fa", {})
ROWS = (b"ACGT-ACG", b"AC-T-ACG", b"ACGTAACG")
#: Letters in capitals stand in columns 0, 1, 2 ...; small ones are inserted there, or hang over.
READS = ("acACG", "GxyTzz", "nn", "TA", "qACGTAACGww")
BEGINS = (0, 2, 0, 3, 0)


def placements():
    letters, column, offsets = [], [], [0]
    for text, begin in zip(READS, BEGINS, strict=True):
        at = itertools.count(begin)
        letters += text.encode()
        column += [next(at) if c.isupper() else -1 for c in text]
        offsets.append(len(letters))
    tied = ([4], [1, 3], [], list(range(7)), [2])
    return Placements(
        names=("one", "two", "none_is_placed", "four;size=7", "five"),
        letters=np.array(letters, np.uint8),
        offsets=np.array(offsets, np.int64),
        branch=np.array([4, 1, -1, 0, 2], np.int64),
        score=np.array([6, 4, 0, 4, 16], np.int32),
        second_score=np.array([5, 4, 0, 4, 11], np.int32),
        ties=np.array([1, 2, 0, 7, 1], np.int64),
        strand=np.array([1, -1, 1, 1, 1], np.int8),
        tied_branches=np.array([b for some in tied for b in some], np.int64),
        tied_offsets=np.cumsum([0, *map(len, tied)]).astype(np.int64),
        column=np.array(column, np.int32),
    )


def context(**more):
    words = {
        "names": ("r1", "r2", "r3"),
        "letters": np.array([list(row) for row in ROWS], np.uint8),
        "newick": "(a:1{0},b:2{1},c:3{2},d:4{3},e:5{4},f:6{5},g:7{6});",
        "clades": tuple("abcdefg"),
        "branch_lengths": np.arange(1, 8) / 3,
    }
    return PlacedContext(**{**words, **more})


def written(name, cuts=(), again=False, **more):
    """The file, its parts cut there; `again`: by a writer restored from JSON."""
    writer, out, table = make_writer("placed", name, HEADER, context(**more)), io.BytesIO(), placements()
    bounds = [0, *cuts, len(table)]
    parts = [writer.encode(table.take(np.arange(a, b))) for a, b in itertools.pairwise(bounds)]
    if again:
        writer = restore(json.loads(json.dumps(writer.describe())))
    writer.assemble(parts if writer.needs_all else iter(parts), out)
    return out.getvalue()


FIXED = {"one": "ACG-----", "two": "--GT----", "four;size=7": "---TA---", "five": "ACGTAACG"}
#: Two new columns before the first one, two before column 3, two after the last.
WIDE = {"one": "acACG---------", "two": "----GxyT----zz", "four;size=7": "-------TA-----", "five": "-qACG--TAACGww"}
WIDE_REFERENCE = {f"r{k + 1}": f"--{row[:3].decode()}--{row[3:].decode()}--" for k, row in enumerate(ROWS)}


@pytest.mark.parametrize("cuts", [(), (1, 3), (0, 2, 2, 5)])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("which", ["all", "reads", "reference"])
@pytest.mark.parametrize("insertions", ["drop", "columns"])
def test_rows(cuts, again, which, insertions):
    rows = {f"r{k + 1}": row.decode() for k, row in enumerate(ROWS)} | FIXED
    if insertions == "columns":
        rows = WIDE_REFERENCE | WIDE
    rows = {n: t for n, t in rows.items() if which == "all" or (n[0] == "r") == (which == "reference")}
    options = {"cuts": cuts, "again": again, "which": which, "insertions": insertions}
    assert written("fasta", **options).decode() == "".join(f">{name}\n{text}\n" for name, text in rows.items())
    head = f"{len(rows)} {14 if insertions == 'columns' else 8}\n"
    lines = "".join(f"{name:<14} {text}\n" for name, text in rows.items())
    assert written("phylip", **options).decode() == head + lines


def test_what_has_to_wait():
    for insertions in ("drop", "columns"):
        late = {name: make_writer("placed", name, HEADER, context(insertions=insertions)).needs_all for name in FORMATS}
        assert late == {
            name: name in ("phylip", "html", "result") or (name, insertions) == ("fasta", "columns") for name in FORMATS
        }


FORMATS = format_names("placed")
TABLE = """# tropalign 1.2.3
# command: tropalign place r.fa
read	branch	clade	score	second_score	ties	strand	start	end	inserted	unaligned	count
one	4	e	6	5	1	+	0	3	0	2	1
two	1	b	4	4	2	-	2	4	2	2	1
none_is_placed	-1	*	0	0	0	+	0	0	0	2	1
four;size=7	0	a	4	4	7	+	3	5	0	0	7
five	2	c	16	11	1	+	0	8	0	3	1
"""


@pytest.mark.parametrize("cuts", [(), (2, 2)])
@pytest.mark.parametrize("again", [False, True])
def test_tables(cuts, again):
    assert written("tsv", cuts, again).decode() == TABLE
    parquet = pytest.importorskip("pyarrow.parquet")
    read = parquet.read_table(io.BytesIO(written("parquet", cuts, again)))
    names, *lines = [line.split("\t") for line in TABLE.splitlines()[2:]]
    assert read.column_names == names
    assert [[str(value) for value in row.values()] for row in read.to_pylist()] == lines


def test_a_table_of_no_read():
    parquet = pytest.importorskip("pyarrow.parquet")
    whole = parquet.read_schema(io.BytesIO(written("parquet")))
    for name, parts in (("parquet", ()), ("tsv", ()), ("jplace", ()), ("phylip", ()), ("fasta", ())):
        out = io.BytesIO()
        make_writer("placed", name, HEADER, context()).assemble(parts, out)
        if name == "parquet":
            assert parquet.read_schema(out) == whole
        elif name == "jplace":
            assert json.loads(out.getvalue())["placements"] == []
        elif name == "phylip":
            assert out.getvalue().startswith(b"3 8\nr1 ACGT")


@pytest.mark.parametrize("cuts", [(), (0, 2), (2, 3), (5, 5)])
@pytest.mark.parametrize("again", [False, True])
def test_jplace(cuts, again):
    read = json.loads(written("jplace", cuts, again))
    assert read["version"] == 3 and read["tree"] == context().newick
    assert read["metadata"] == {"invocation": "tropalign place r.fa", "likelihood": "the alignment score"}
    entries = {
        entry["nm"][0][0]: [dict(zip(read["fields"], p, strict=True)) for p in entry["p"]]
        for entry in read["placements"]
    }
    assert list(entries) == ["one", "two", "four;size=7", "five"]
    table = placements()
    for name, branches in entries.items():
        k = table.names.index(name)
        assert [b["edge_num"] for b in branches] == table.tied[k].tolist()
        assert sum(b["like_weight_ratio"] for b in branches) == pytest.approx(1, abs=1e-9)
        assert len({b["like_weight_ratio"] for b in branches}) == 1
        for b in branches:
            assert b["distal_length"] == pytest.approx(context().branch_lengths[b["edge_num"]] / 2, rel=1e-9)
            assert (b["likelihood"], b["pendant_length"]) == (table.score[k], 0)


@pytest.mark.parametrize("name", ["tsv", "fasta", "phylip"])
def test_names_that_break_a_line(name):
    table = placements()
    object.__setattr__(table, "names", ("a\nb", *table.names[1:]))
    with pytest.raises(InputError, match=r"record 'a\\nb': the name contains a tab or a line break"):
        make_writer("placed", name, HEADER, context()).encode(table)


@pytest.mark.parametrize(
    "change",
    [
        {"names": "abc"}, {"names": ["a", "b"]}, {"names": [1, 2, 3]}, {"insertions": "no"}, {"which": 1},
        {"letters": None}, {"letters": {"shape": [3, 9], "packed": ""}}, {"letters": {"shape": [3], "packed": ""}},
        {"letters": {"shape": [-1, -24], "packed": ""}}, {"letters": {"shape": [3, 8], "packed": "AAAA"}},
        {"letters": {"shape": [10**30, 10**30], "packed": ""}}, {"clades": ["a"]},
    ],
)  # fmt: skip
def test_damaged_descriptions(change):
    description = make_writer("placed", "fasta", HEADER, context()).describe()
    description["context"] |= change
    with pytest.raises(InputError, match="this was written by another version of tropalign, or it is damaged"):
        restore(description)


def parts_with(**change):
    part = make_writer("placed", "phylip", HEADER, context(insertions="columns")).encode(placements())
    with np.load(io.BytesIO(part)) as arrays:
        out = io.BytesIO()
        np.savez(out, **{**arrays, **change})
    return [out.getvalue()]


@pytest.mark.parametrize(
    "parts",
    [
        [b""], [b"PK\x03\x04"], [b"no zip"],
        parts_with(column=np.full(23, 99, np.int32)), parts_with(offsets=np.zeros(0, np.int64)),
        parts_with(widened=np.array([99])), parts_with(n_rows=np.zeros(3)), parts_with(names=np.array(["a"], object)),
    ],
)  # fmt: skip
def test_damaged_parts(parts):
    with pytest.raises(InputError, match="a finished part is damaged"):
        make_writer("placed", "phylip", HEADER, context(insertions="columns")).assemble(parts, io.BytesIO())
