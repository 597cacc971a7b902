import io
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from clone import ROOT, skip_without

from formats.conftest import context_for, parts_of
from formats.tables import random_table
from formats.written import HEADER, written
from tropalign.errors import InputError, UsageError
from tropalign.formats.format import (
    FOLDERS,
    Codec,
    Header,
    check_format,
    format_for_path,
    format_names,
    format_of,
    make_writer,
    restore,
    suffix_of,
)
from tropalign.formats.pairs import FORMATS
from tropalign.sequences import NUCLEOTIDE

GOLDEN = Path(__file__).parent / "golden"
PAIRS = format_names("pairs")
KINDS = [kind for room in FOLDERS for kind in import_module(f"tropalign.formats.{room}").FORMATS]
TEXTS = ("tsv", "csv", "jsonl", "m8", "paf", "sam", "fasta", "srspair")


def test_formats_of_rooms_and_those_in_blocks():
    assert PAIRS[0] == "tsv"
    assert list(PAIRS[1:]) == sorted(PAIRS[1:])
    assert set(PAIRS) >= {"tsv", "arrow", "fasta", "feather", "matrix", "paf", "parquet", "sam", "srspair"}
    assert format_names("placed/rows")[:2] == ("fasta", "phylip")
    assert format_names("placed/table")[:2] == ("tsv", "parquet")
    assert set(format_names("placed")) >= {"fasta", "phylip", "tsv", "parquet", "jplace"}
    known = {form.name for form in FORMATS["pairs"] if form.is_in_blocks or form.wants_whole_queries}
    assert known == {form.name for form in FORMATS["pairs"] if form.codec.blocks is not None}


def test_names_are_known_before_anything_is_imported():
    code = "import sys; from tropalign.formats.format import media_type_of; media_type_of('.x'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "tropalign.formats.trees" in loaded
    assert "numpy" not in loaded and "tropalign.formats.pairs.tables" not in loaded


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_has_its_codec(kind):
    for name in format_names(kind):
        form = format_of(kind, name)
        assert isinstance(form.codec, Codec) and form.media_type.partition("/")[2] and form.suffix
        assert form.suffix in form.suffixes or name == "matrix"


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("formats.md", "pairs"),
        ("place.md", "placed"),
        ("profile-search.md", "hits"),
        ("decode.md", "segments"),
        ("decode.md", "tracks"),
    ],
)
def test_the_documentation_names_every_format_and_suffix(page, kind):
    skip_without("docs")
    text = re.sub(r"```.*?```", "", (ROOT / "docs" / page).read_text(), flags=re.DOTALL)
    words = set(re.findall(r"`([^`]+)`", text))
    for name in format_names(kind):
        assert name in words, name
        assert words.issuperset(format_of(kind, name).suffixes), name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.tsv", "tsv"), ("a.PAF", "paf"), ("a.sam", "sam"), ("a.fasta", "fasta"), ("a.fa", "fasta"),
        ("x/a.srspair", "srspair"), ("a.needle", "srspair"), ("a.arrows", "arrows"),
        ("a.arrow", "arrow"), ("a.m8", "m8"), ("a.b6.gz", "m8"), ("a.CSV", "csv"),
        ("a.jsonl", "jsonl"), ("a.blast6", "m8"), ("a.feather", "feather"),
        ("a.parquet", "parquet"), ("a.npz", "matrix"), ("a.phy", "matrix"), ("a", "tsv"), (None, "tsv"), ("-", "tsv"),
        ("/dev/stdout", "tsv"), ("/dev/fd/63.x", "tsv"), ("/dev/shm/a.paf", "paf"),
        ("x.d/a", "tsv"), ("a.tsv.gz", "tsv"), ("a.paf.ZST", "paf"),
        ("a.gz", "tsv"), ("1.paf.shard", "paf"), ("1.shard", "tsv"),
        ("x.1.shard", "tsv"), ("x.1-of-3.shard", "tsv"), ("x.12of30.SHARD", "tsv"), ("x.1_of_3.shard", "tsv"),
        ("x.paf.1.shard", "paf"), ("x.sam.2-of-3.shard", "sam"), ("all.d/x.007.shard", "tsv"), (".1.shard", "tsv"),
    ],
)  # fmt: skip
def test_suffixes(path, name):
    assert format_for_path("pairs", path) == name
    if name in ("tsv", "parquet") and "shard" not in str(path):
        assert format_for_path("placed/table", path) == name


def test_a_pipe_has_no_suffix(tmp_path):
    import os

    os.mkfifo(tmp_path / "a.docx")
    assert format_for_path("pairs", tmp_path / "a.docx") == "tsv" and suffix_of(tmp_path / "a.docx") == ""


@pytest.mark.parametrize(
    "path",
    [*"a.docx a.xlsx a.docx.gz a.tsv.zip x.y/a.b x.1 x.1.gz x.docx.1.shard x.v1.shard".split(), "x.\u0661.shard"],
)
def test_unknown_suffixes(path):
    with pytest.raises(UsageError) as caught:
        format_for_path("pairs", path)
    text = str(caught.value)
    assert text.startswith(f"{path}: no format has the suffix ") and ".paf .parquet " in text and ".zst" in text
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("kind", ["pairs", "placed/rows", "placed/table", "placed/branches", "placed/taxa"])
def test_each_suffix_has_one_format(kind):
    suffixes = [suffix for name in format_names(kind) for suffix in format_of(kind, name).suffixes]
    if kind.startswith("placed/"):  # an option each
        assert len(suffixes) == len(set(suffixes))
    assert all(re.fullmatch(r"\.[a-z0-9]+", suffix) for suffix in suffixes)


@pytest.mark.parametrize("name", ["paf", "sam", "fasta", "srspair", "html"])
def test_formats_of_alignments(name):
    for depth in ("score", "ends"):
        with pytest.raises(InputError, match=f"format {name} requires alignments: use report alignment"):
            check_format("pairs", name, depth)
    check_format("pairs", name, "alignment")


def test_no_such_format_and_layouts_of_a_matrix(any_table):
    with pytest.raises(UsageError, match=r"format 'docx' is not one of tsv, arrow, "):
        make_writer("pairs", "docx", HEADER, context_for(any_table))
    for layout in ("tsv", "npz"):
        writer = make_writer("pairs", "matrix", HEADER, context_for(any_table, matrix_layout=layout))
        assert writer.is_binary == (layout == "npz")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("kind", ["proteins", "strands"])
def test_golden_files(write, name, kind):
    """Every byte of small files; look at the difference, then write them anew, when a format changes on purpose."""
    table = random_table(11, 6) if kind == "proteins" else random_table(12, 6, NUCLEOTIDE, has_strand=True)
    assert write(name, table).decode() == (GOLDEN / f"{kind}.{name}").read_text()


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_bytes_by_a_restored_writer_and_however_cut(any_table, name):
    """What a shard carries is enough, and it is JSON."""
    table = suited(any_table, name)
    writer = make_writer("pairs", name, HEADER, context_for(table))
    again = restore(json.loads(json.dumps(writer.describe())))
    assert (again.name, again.kind, again.is_binary, again.needs_all) == (
        name, "pairs", name in ("arrow", "arrows", "bam", "feather", "html", "parquet", "result"),
        name in ("bam", "html", "matrix", "result", "sam"),
    )  # fmt: skip
    files = io.BytesIO(), io.BytesIO()
    for made_by, cuts, out in zip((writer, again), ((), (1, 7, 7, 20)), files, strict=True):
        parts = parts_of(writer, table, cuts)
        made_by.assemble(parts if writer.needs_all else iter(parts), out)
    assert files[0].getvalue() == files[1].getvalue() != b""


def suited(table, name):
    """The table, or what the format takes in its place."""
    if name == "bam" and table.queries.alphabet is not NUCLEOTIDE:
        pytest.skip("BAM supports nucleotides")
    return every_pair(table) if name == "matrix" else table


def every_pair(table):
    """The rows of a table, its indices those of all pairs of the first queries and targets."""
    import numpy as np

    from tropalign.results.alignments import AlignmentTable

    query, target = (a.ravel().astype(np.int64) for a in np.indices((len(table.queries), len(table.targets))))
    part = table.slice(0, len(query))
    return AlignmentTable(**{**vars(part), "query_index": query, "target_index": target})


@pytest.mark.parametrize(
    "change",
    [
        {"layout": 0}, {"layout": "1"}, {"kind": "hits"}, {"kind": ["pairs"]}, {"kind": "pairs/../../cli"},
        {"format": "os"}, {"format": None}, {"format": "../sam"}, {"header": None}, {"header": {}},
        {"header": {"version": "1", "command": 3, "parameters": {}}}, {"context": None}, {"context": []},
        {"header": {"version": "1", "command": "\udfff", "parameters": {}}},
        {"context": {"targets": None}}, {"context": {"targets": {"names": "ab", "lengths": [1, 2]}}},
        {"context": {"targets": {"names": ["a"], "lengths": [1, 2]}}},
        {"context": {"targets": {"names": ["a"], "lengths": [-1]}}},
        {"context": {"targets": {"names": ["a"], "lengths": ["1"]}}},
        {"context": {"targets": {"names": ["a"], "lengths": [1.5]}}},
        {"context": {"targets": {"names": ["a"], "lengths": [10**30]}}},
        {"context": {"targets": {"names": [3], "lengths": [1]}}},
        {"context": {"targets": {"names": ["\ud800"], "lengths": [1]}}},
        {"context": {"targets": {"names": ["a"], "lengths": [[1]]}}},
        {"context": {"report": "deep"}}, {"context": {"gap": 3}}, {"context": {"both_strands": "yes"}},
        {"context": {"matrix_layout": ["tsv"]}}, {"context": {"columns": []}}, {"context": {"columns": ["quary"]}},
        {"context": {"columns": "query"}}, {"context": {"columns": [["query"]]}},
        {"header": {"version": "1", "command": "", "parameters": {}, "has_comments": 1}},
    ],
)  # fmt: skip
def test_damaged_descriptions(any_table, change):
    description = {**make_writer("pairs", "sam", HEADER, context_for(any_table)).describe(), **change}
    with pytest.raises(InputError, match="this was written by another version of tropalign, or it is damaged"):
        restore(description)


@pytest.mark.parametrize("description", [None, [], "sam", {}, {"layout": 1}, 7])
def test_what_is_no_description(description):
    with pytest.raises(InputError, match="this was written by another version of tropalign"):
        restore(description)


def test_headers_are_safe_to_show():
    header = Header("1", "pairs 'a\x1b[2J\n.fa'", {"b": "x\ty", "a": "\x07"})
    assert header.comment_lines() == ["# tropalign 1", r"# command: pairs 'a\x1b[2J .fa'", r"# a: \x07", "# b: x y"]
    # What the system could not decode is UTF-8 where it can be that, and written as bytes where not.
    name = "é".encode().decode("ascii", "surrogateescape") + b"\xff".decode("utf-8", "surrogateescape")
    assert Header("1", name, {}).command == "é\\xff"
    assert Header("1", "é", {"ü": "ß"}).notes() == {"tropalign": "1", "command": "é", "ü": "ß"}


@pytest.mark.parametrize("name", PAIRS)
def test_every_format_writes_any_command(any_table, name):
    table = suited(any_table, name)
    header = Header("1", "pairs \udcff\x1b.fa", {"matrix": "\udcff"})
    text = written("pairs", name, context_for(table), [table], header)
    assert b"\x1b" not in text or make_writer("pairs", name, header, context_for(table)).is_binary


IN_BLOCKS = [form.name for form in FORMATS["pairs"] if form.is_in_blocks]


@pytest.mark.parametrize("name", IN_BLOCKS)
@pytest.mark.parametrize("n_bytes", [1, 3000])
def test_blocks_are_the_part_and_the_frame_is_around_it(name, n_bytes, any_table, monkeypatch):
    monkeypatch.setattr("tropalign.formats.format.BLOCK_BYTES", n_bytes)
    monkeypatch.setattr("tropalign.formats.format.FIRST_ROWS", 2)
    writer, out = make_writer("pairs", name, HEADER, context_for(any_table)), io.BytesIO()
    blocks = list(writer.blocks(any_table))
    assert len(blocks) > 2 and b"".join(blocks) == writer.encode(any_table)
    writer.assemble(blocks, out)
    head, foot = writer.frame
    assert out.getvalue() == head + b"".join(blocks) + foot
