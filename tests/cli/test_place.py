"""``tropalign place`` from the command line."""

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


def test_parquet(files):
    import pyarrow.parquet

    assert place(files, "-q", "-o", files / "o.fasta", "--table", files / "t.parquet") == 0
    table = pyarrow.parquet.read_table(files / "t.parquet")
    assert table.column_names[:4] == ["read", "branch", "clade", "score"] and table.num_rows == 4


def test_a_saved_reference_holds_its_own(files, capsys):
    kept = str(files / "ref.bin")
    words = ["place", "--reference", str(files / "ref.phy"), "--tree", str(files / "ref.nwk"), "--save-reference", kept]
    assert main([*words, "-o", str(files / "o.fa")]) == 2
    assert "no reads are named" in capsys.readouterr().err
    assert main(words) == 0
    for option, value in (("--tree", str(files / "ref.nwk")), ("--gap-flags", "exact"), ("--alphabet", "protein")):
        assert main(["place", "--reference", kept, str(files / "reads.fa"), option, value]) == 2
        assert f"which includes its tree, alphabet and gap flags: leave {option} out" in capsys.readouterr().err
    data = bytearray(Path(kept).read_bytes())
    for at in range(40, len(data), 97):
        damaged = bytearray(data)
        damaged[at] ^= 0x55
        Path(kept).write_bytes(damaged)
        assert main(["place", "--reference", kept, str(files / "reads.fa"), "-q", "-o", str(files / "x.fa")]) in (0, 3)
    assert "defect" not in capsys.readouterr().err


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
