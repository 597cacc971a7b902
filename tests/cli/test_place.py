"""``tropalign place`` from the command line."""

import gzip
import json
import re
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from Bio import Phylo, SeqIO
from oracles.jplace import check_jplace

import tropalign as ta
from tropalign.cli.main import main

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "16s"
REFERENCE = """ 5 12
t1 ACGTAC-TACGT
t2 ACGTAC-TACGA
t3 ACG-ACGTACTT
t4 TCG-ACGTACTT
t5 TCGTAC-TAC-T
"""
TREE = "((t1:0.1,t2:0.1):0.2,(t3:0.1,t4:0.1):0.1,t5:0.3);\n"
READS = ">r1\nGTACTACG\n>r2\nCGACGTA\n>none\nNNN\n>r3 something\nACGTACCCTACGT\n"


@pytest.fixture
def files(tmp_path):
    """Reference, tree and reads."""
    for name, text in (("ref.phy", REFERENCE), ("ref.nwk", TREE), ("reads.fa", READS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def place(files, *arguments, reads="reads.fa"):
    words = ["place", "--reference", files / "ref.phy", "--tree", files / "ref.nwk", files / reads, *arguments]
    return main([str(word) for word in words])


def records(path):
    parts = [record.split("\n") for record in path.read_text().split(">")[1:]]
    return {part[0]: "".join(part[1:]) for part in parts}


def test_all_outputs(files, capsys):
    out, table, jplace = (files / name for name in ("out.fasta", "t.tsv", "x.jplace"))
    assert place(files, "-o", out, "--table", table, "--jplace", jplace) == 0
    assert "tropalign: warning: there is no usable letter in 1 read, which cannot be placed" in capsys.readouterr().err
    rows = records(out)
    assert list(rows) == ["t1", "t2", "t3", "t4", "t5", "r1", "r2", "r3"]
    assert rows["t3"] == "ACG-ACGTACTT" and {len(row) for row in rows.values()} == {12}
    assert rows["r1"].replace("-", "") == "GTACTACG"
    lines = [line.split("\t") for line in table.read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "read branch clade score second_score ties strand start end inserted unaligned count".split()
    by_name = {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[1:]}
    assert list(by_name) == ["r1", "r2", "none", "r3"]
    assert by_name["none"]["branch"] == "-1" and by_name["none"]["clade"] == "*"
    assert int(by_name["r3"]["inserted"]) + int(by_name["r3"]["unaligned"]) == 13 - len(rows["r3"].replace("-", ""))
    placed = json.loads(jplace.read_text())
    assert placed["version"] == 3 and [entry["nm"][0][0] for entry in placed["placements"]] == ["r1", "r2", "r3"]
    edge, likelihood, weight, distal, pendant = placed["placements"][0]["p"][0]
    assert str(edge) == by_name["r1"]["branch"] and likelihood == float(by_name["r1"]["score"])
    assert weight == 1 / int(by_name["r1"]["ties"]) and pendant == 0 and f"{{{edge}}}" in placed["tree"]
    assert placed["fields"][0] == "edge_num" and distal > 0


def test_headers_say_how_gaps_are_counted(files):
    """The opening cost is the whole cost of the first column, where pairs adds an extension."""
    assert place(files, "-q", "-o", files / "out.fasta", "--table", files / "t.tsv", "--insert-open", 4) == 0
    lines = (files / "t.tsv").read_text().splitlines()
    assert "# gaps: 3 for the first column, 1 for each further one" in lines
    assert "# insertions: 4 for the first base, 1 for each further one" in lines


#: Trees of the tips t1 to t5 as they may come.
ODD_TREES = {
    "all lengths zero": "((t1:0,t2:0):0,(t3:0,t4:0):0,t5:0);",
    "minus zero": "((t1:-0.0,t2:0.1):-0,(t3:0.1,t4:0.1):0.1,t5:0.3);",
    "a root of five": "(t1:0.1,t2:0.2,t3:0.3,t4:0.4,t5:0.5);",
    "a root of two, one a tip": "(t1:0.25,((t2:0.1,t3:0.1):0.2,(t4:1e-12,t5:1e9):0.125):0.5);",
    "a root of two inner nodes": "((t1:0.1,t2:0.1):0.3333333333333333,(t3:0.1,(t4:0.1,t5:0.3):0.1):0.111111111111);",
    "no lengths": "((t1,t2),(t3,t4),t5);",
    "nodes of one child": "((((t1:0.1):0.1,t2:0.1):0.2):0.4,((t3:0.1,t4:0.1):0.1):0.1,t5:0.3);",
    "labels and comments": "(('t1':0.1[&x=1],t2:0.1)99:0.2,(t3:0.1,t4:0.1)'a {9} b':0.1,t5:0.3)root;",
}


@pytest.mark.filterwarnings("ignore::tropalign.errors.TropalignWarning")
@pytest.mark.parametrize("kind", ODD_TREES)
def test_jplace_of_odd_trees(files, kind):
    """Numbers, weights and lengths are those that the specification asks for; the tree has all tips."""
    (files / "ref.nwk").write_text(ODD_TREES[kind])
    assert place(files, "-q", "-o", files / "x.fa", "--jplace", files / "x.jplace", "--strand", "both") == 0
    text = (files / "x.jplace").read_text()
    assert list(check_jplace(text)) == ["r1", "r2", "r3"]
    tree = json.loads(text)["tree"]
    assert sorted(re.findall(r"t\d", tree)) == ["t1", "t2", "t3", "t4", "t5"] and ":-" not in tree
    tree, n_numbers = re.subn(r"\{\d+\}(?=[,);])", "", tree)
    read = Phylo.read(StringIO(tree), "newick")
    assert n_numbers == len(list(read.find_clades())) - 1 == (8 if len(read.root) == 2 else 7)
    assert read.count_terminals() == 5


def test_the_root_branch_is_one_branch(files):
    """In jplace its longer part has its number, and root and labels stay; its lineage is that of all tips."""
    tree = "((t1:0.1,t2:0.1)97.0:0.3,(t3:0.1,(t4:0.1,t5:0.3)95/100:0.1)'a b':0.1)root;"
    nexus = "#NEXUS begin trees; translate 1 t1, 2 't2', 3 t3, 4 t4, 5 t5; tree x = [&R] {}; end;"
    (files / "tips.tsv").write_text("t1\tR;P\nt2\tR;P\nt3\tR;Q\nt4\tR;Q;x\nt5\tR;Q;y\n")
    for text in (tree, nexus.format(re.sub(r"t(\d)", r"\1", tree))):
        (files / "ref.nwk").write_text(text)
        assert place(files, "-q", "-o", files / "x.fa", "--jplace", files / "x.jplace") == 0
        check_jplace((files / "x.jplace").read_text())
        assert json.loads((files / "x.jplace").read_text())["tree"] == (
            "((t1:0.1{5},t2:0.1{6})97.0:0.3{0},(t3:0.1{1},(t4:0.1{3},t5:0.3{4})95/100:0.1{2})'a b':0.1{7})root;"
        )
        package = ta.ReferencePackage.read(files / "ref.phy", files / "ref.nwk")
        lineages = ta.read_taxonomy(files / "tips.tsv", package)
        assert lineages.below([0]).common == ("R",) and lineages.below([2]).common == ("R", "Q")
        assert [package.tree.clades()[branch] for branch in (0, 2, 5)] == ["t1|t5", "t4|t5", "t1"]
    turned = "((t3:0.1,(t4:0.1,t5:0.3):0.1):0.1,(t1:0.1,t2:0.1):0.3);"
    (files / "ref.nwk").write_text(turned)
    package = ta.ReferencePackage.read(files / "ref.phy", files / "ref.nwk")
    assert ta.read_taxonomy(files / "tips.tsv", package).below([0]).common == ("R",)


@pytest.mark.parametrize("name", ["it's", "x:1{3}", "(p,q)", '"', "[c]", "a;b"])
def test_jplace_of_a_quoted_tip(files, name):
    rows = {record.id: str(record.seq) for record in SeqIO.parse(StringIO(REFERENCE), "phylip-relaxed")}
    rows[name] = rows.pop("t3")
    (files / "ref.phy").write_text("".join(f">{row}\n{letters}\n" for row, letters in rows.items()))
    quoted = name.replace("'", "''")
    (files / "ref.nwk").write_text(TREE.replace("t3", f"'{quoted}'"))
    assert place(files, "-q", "-o", files / "x.fa", "--jplace", files / "x.jplace") == 0
    tree = json.loads((files / "x.jplace").read_text())["tree"]
    assert tree.count(f"'{quoted}':0.1{{") == 1
    found = Phylo.read(StringIO(re.sub(r"\{\d+\}(?=[,);])", "", tree)), "newick")
    assert {tip.name for tip in found.get_terminals()} == set(rows)


def test_to_standard_output(files, capsysbinary):
    assert place(files, "-q") == 0
    assert capsysbinary.readouterr().out.count(b">") == 8


def test_insertions_in_columns(files):
    out = files / "out.phy"
    assert place(files, "-q", "-f", "phylip", "--insertions", "columns", "-o", out) == 0
    head, *rows = out.read_text().splitlines()
    n_rows, width = map(int, head.split())
    assert n_rows == len(rows) == 8 and width > 12
    texts = dict(row.split() for row in rows)
    assert {len(text) for text in texts.values()} == {width}
    assert texts["r3"].replace("-", "") == "ACGTACCCTACGT" and texts["t3"].replace("-", "") == "ACGACGTACTT"
    assert place(files, "-q", "--insertions", "columns", "-o", files / "out.fasta") == 0
    assert records(files / "out.fasta") == texts


def test_split_for_epa_ng(files):
    out = files / "q.fasta"
    assert place(files, "-q", "--split", "-o", out) == 0
    assert list(records(out)) == ["r1", "r2", "r3"]
    assert list(records(files / "q.fasta.reference")) == ["t1", "t2", "t3", "t4", "t5"]
    assert place(files, "-q", "--split", "-f", "phylip", "-o", files / "q.phy") == 0
    assert (files / "q.phy").read_text().startswith("3 12\n")
    assert (files / "q.phy.reference").read_text().startswith("5 12\n")


def test_compressed_input_and_a_kept_reference(files):
    packed = files / "reads.fq.gz"
    packed.write_bytes(gzip.compress(b"@r1\nGTACTACG\n+\nIIIIIIII\n@r2\nCGACGTA\n+\nIIIIIII\n"))
    kept, out = files / "ref.npz", files / "a.fasta"
    assert place(files, "-o", out, "--save-reference", kept, reads="reads.fq.gz") == 0
    again = files / "b.fasta"
    assert main(["place", "--reference", str(kept), str(packed), "-o", str(again)]) == 0
    assert out.read_bytes() == again.read_bytes()


def test_parquet(files):
    import pyarrow.parquet

    assert place(files, "-q", "-o", files / "o.fasta", "--table", files / "t.parquet") == 0
    table = pyarrow.parquet.read_table(files / "t.parquet")
    assert table.column_names[:4] == ["read", "branch", "clade", "score"] and table.num_rows == 4


def test_threads_pruning_and_strands(files):
    outs = []
    for k, words in enumerate((["-t", "1"], ["-t", "2", "--no-pruning"])):
        table = files / f"{k}.tsv"
        assert place(files, "-q", "-o", files / f"{k}.fasta", "--table", table, *words) == 0
        rows = [line for line in table.read_text().splitlines() if not line.startswith("#")]
        outs.append(((files / f"{k}.fasta").read_bytes(), rows))
    assert outs[0] == outs[1]
    (files / "rc.fa").write_text(">r\nCGTAGTAC\n")
    table = files / "rc.tsv"
    assert place(files, "--strand", "both", "-o", files / "rc.fasta", "--table", table, reads="rc.fa") == 0
    assert table.read_text().splitlines()[-1].split("\t")[6] == "-"
    assert records(files / "rc.fasta")["r"].replace("-", "") == "GTACTACG"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--split"], 2, "--split makes two files: name the reads' one with -o"),
        (["--table", "x.csv"], 2, "x.csv: no format has the suffix '.csv': end the name in one of .parquet .tsv .txt"),
        (["-o", "same.fasta", "--table", "./same.fasta"], 2, "two outputs go to ./same.fasta: give each its own name"),
        (["--split", "-o", "x", "--jplace", "x.reference"], 2, "two outputs go to x.reference"),
        (["--jplace", "-"], 2, "two outputs go to standard output: give each its own name"),
        (["-o", "reads.fa"], 2, "reads.fa is an input: name another file to write to"),
        (["-o", "x.fa", "--table", "sub/../ref.nwk.tsv", "--jplace", "ref.nwk"], 2, "ref.nwk is an input"),
        (["-", "-"], 2, "standard input can be read once: name - once"),
        (["-", "--tree", "-"], 2, "standard input can be read once: name - once"),
        (["--scheme", "paper", "--device", "cuda:0"], 2, "whole reads are placed by the processor only"),
        (["--match", "7"], 3, "a match on a gap column (7 -3) has to score below zero"),
        (["--gap-open", "-2"], 3, "gap and insertion costs are zero or more"),
        (["-o", "nowhere/x.fasta"], 3, "there is no such directory to write to: make it first"),
        (["--jplace", "/dev/full"], 4, "the disk is full"),
    ],
)
def test_usage(files, capsys, arguments, code, words, monkeypatch):
    monkeypatch.chdir(files)
    assert place(files, *arguments) == code
    error = capsys.readouterr().err
    assert words in error and "Traceback" not in error


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("reads.fa", "", "reads.fa: the file is empty"),
        ("reads.fa", "ACGT\n", "reads.fa, line 1: this is neither FASTA nor FASTQ"),
        ("ref.nwk", "((t1,t2),t3", "ref.nwk, line 1, column 1: this bracket is not closed: the file may be cut short"),
        ("ref.nwk", "(t1:1,t2:1,x:1);", "3 only in the alignment (t3, t4, t5)"),
        ("ref.phy", "2 3\na AC\nb ACG\n", "ref.phy, record 'a': 2 letters, but 3 are expected"),
    ],
)
def test_bad_files_leave_nothing(files, capsys, name, text, words):
    (files / name).write_text(text)
    out = files / "out.fasta"
    assert place(files, "-o", out, "--table", files / "t.tsv") == 3
    error = capsys.readouterr().err
    assert words in error
    assert sorted(path.name for path in files.iterdir()) == ["reads.fa", "ref.nwk", "ref.phy"]


def test_a_missing_tree(files, capsys):
    assert main(["place", "--reference", str(files / "ref.phy"), str(files / "reads.fa")]) == 2
    assert "name the reference's tree with --tree" in capsys.readouterr().err


def test_windows_line_ends(files):
    for name in ("ref.phy", "ref.nwk", "reads.fa"):
        (files / f"crlf.{name}").write_bytes((files / name).read_bytes().replace(b"\n", b"\r\n"))
    words = ["--reference", files / "crlf.ref.phy", "--tree", files / "crlf.ref.nwk", files / "crlf.reads.fa"]
    assert main(["place", *map(str, words), "-q", "-o", str(files / "b.fasta")]) == 0
    assert place(files, "-q", "-o", files / "a.fasta") == 0
    assert (files / "a.fasta").read_bytes() == (files / "b.fasta").read_bytes()


def test_a_saved_reference_holds_its_own(files, capsys):
    kept = str(files / "ref.bin")
    words = ["place", "--reference", str(files / "ref.phy"), "--tree", str(files / "ref.nwk"), "--save-reference", kept]
    assert main([*words, "-o", str(files / "o.fa")]) == 2
    assert "no reads are named" in capsys.readouterr().err
    assert main(words) == 0
    for option, value in (("--tree", str(files / "ref.nwk")), ("--gap-flags", "exact"), ("--alphabet", "protein")):
        assert main(["place", "--reference", kept, str(files / "reads.fa"), option, value]) == 2
        assert f"which holds its own: leave {option} out" in capsys.readouterr().err
    data = bytearray(Path(kept).read_bytes())
    for at in range(40, len(data), 97):
        damaged = bytearray(data)
        damaged[at] ^= 0x55
        Path(kept).write_bytes(damaged)
        assert main(["place", "--reference", kept, str(files / "reads.fa"), "-q", "-o", str(files / "x.fa")]) in (0, 3)
    assert "defect" not in capsys.readouterr().err


def test_names_outside_ascii_and_of_the_reference(files, capsys):
    (files / "reads.fa").write_bytes("\ufeff>t1 Müller\nGTACTACG\n>é\nCGACGTA\n".encode())
    assert place(files, "-o", files / "o.fasta") == 0
    assert list(records(files / "o.fasta"))[5:] == ["t1_2", "é"]
    assert "the name 't1' is there already" in capsys.readouterr().err


def waits_for_input(pid):
    """Whether the process sleeps, for half a second now, with a handler of SIGTERM."""
    for _ in range(10):
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        if not int(status["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1 or not status["State"].startswith("S"):
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux says what a process does")
def test_a_batch_systems_end_leaves_no_half_files(files):
    words = [
        "--reference",
        files / "ref.phy",
        "--tree",
        files / "ref.nwk",
        "-",
        "-o",
        files / "o.fa",
        "--table",
        files / "t.tsv",
    ]
    command = [sys.executable, "-m", "tropalign.cli.main", "place", *map(str, words)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not waits_for_input(process.pid):
        time.sleep(0.01)
    process.terminate()
    assert process.wait(timeout=120) == 143
    process.stdin.close()
    assert sorted(path.name for path in files.iterdir()) == ["reads.fa", "ref.nwk", "ref.phy"]


def test_proteins_are_no_reads_of_a_nucleotide_reference(files, capsys):
    (files / "proteins.fa").write_text(">p\nMKVLAWEQFILPEQKVLAWEQFMKVLAWEQFILPEQKVLAWEQF\n")
    assert place(files, "-o", files / "out.fasta", reads="proteins.fa") == 3
    said = capsys.readouterr().err
    assert "of the reads' letters are no nucleotide letters, which the reference holds" in said
    assert not (files / "out.fasta").exists()
