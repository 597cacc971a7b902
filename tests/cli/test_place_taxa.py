"""Lineages of reads, reads per taxon, counts, and jplace as its specification wants it."""

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from oracles.jplace import check_jplace

from tropalign.cli.main import main

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "16s"


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The example's first reads placed, and the table of its tips."""
    import tropalign as ta

    folder = tmp_path_factory.mktemp("taxa")
    package = ta.ReferencePackage.read(EXAMPLE / "ref.phy.gz", EXAMPLE / "ref.nwk")
    package.save(folder / "ref.npz")
    tips = [package.tree.names[tip] for tip in package.tree.tips]
    rng = random.Random(4)
    # Ranks that mostly agree with the tree: neighbours in it share their first ranks.
    lineages = {
        tip: ";".join([f"p{k // 300}", f"c{k // 90}", f"o{k // 20}", f"g{k // 6}"][: rng.randint(2, 4)])
        for k, tip in enumerate(tips)
    }
    (folder / "tips.tsv").write_text("# tips\n" + "".join(f"{tip}\t{words};\n" for tip, words in lineages.items()))
    records = (EXAMPLE / "reads.fasta").read_text().split(">")[1:61]
    sized = [record.replace("\n", f";size={k % 7 + 1}\n", 1) for k, record in enumerate(records)]
    (folder / "reads.fa").write_text(">" + ">".join(sized) + ">none;size=4\nNNNN\n>few\nACG\n")
    return folder, package, {tip: tuple(words.split(";")) for tip, words in lineages.items()}


def run(folder, *words):
    return main(["place", "--reference", str(folder / "ref.npz"), str(folder / "reads.fa"), "-q", *map(str, words)])


def rows_of(path):
    lines = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def tips_below(tree, branch):
    """From the definition: those reached without the branch's upper end; all for the branch through a root of two."""
    stack, found = [tree.branches()[branch] if branch or len(tree.children[0]) != 2 else 0], []
    while stack:
        node = stack.pop()
        stack += tree.children[node]
        found += [] if tree.children[node] else [tree.names[node]]
    return found


def plain_lineage(tree, lineages, branches, order):
    """(common, likely, shares): every branch counts the same, and within it every tip that has a lineage."""
    weights = Counter()
    known = [[tip for tip in tips_below(tree, branch) if lineages.get(tip)] for branch in branches]
    known = [tips for tips in known if tips]
    for tips in known:
        for tip in tips:
            weights[tip] += Fraction(1, len(tips) * len(known))
    common, likely, shares = [], [], []
    while True:
        held = Counter()
        for tip in sorted(weights, key=order.__getitem__):
            lineage = lineages[tip]
            if list(lineage[: len(likely)]) == likely and len(lineage) > len(likely):
                held[lineage[len(likely)]] += weights[tip]
        if not held:
            return tuple(common), tuple(likely), shares
        word, share = max(held.items(), key=lambda item: item[1])  # the first of equal ones
        likely.append(word)
        shares.append(share)
        if share == 1:
            common.append(word)


def test_lineages_and_taxa(example):
    folder, package, lineages = example
    out, table, taxa, jplace = (folder / name for name in ("o.fa", "t.tsv", "taxa.tsv", "x.jplace"))
    words = ["-o", out, "--table", table, "--jplace", jplace, "--taxonomy", folder / "tips.tsv", "--taxa", taxa]
    assert run(folder, *words) == 0
    entries = check_jplace(jplace.read_text())
    order = {package.tree.names[tip]: k for k, tip in enumerate(package.tree.tips)}
    sums = Counter()
    for row in rows_of(table):
        if row["branch"] == "-1":
            assert (row["taxon"], row["lineage"], row["support"]) == ("*", "*", "*")
            sums["unplaced"] += np.array([1, 4])
            continue
        count, placed = entries.pop(row["read"])
        assert str(count) == row["count"] and len(placed) == int(row["ties"])
        assert all(p["likelihood"] == float(row["score"]) for p in placed)
        branches = [p["edge_num"] for p in placed]
        common, likely, shares = plain_lineage(package.tree, lineages, branches, order)
        assert row["taxon"] == (";".join(common) or "*") and len(row["support"].split(";")) == len(likely)
        for _, share, support in zip(row["lineage"].split(";"), shares, row["support"].split(";"), strict=True):
            assert float(support) == pytest.approx(float(share), rel=1e-3)
        assert row["lineage"].startswith(row["taxon"]) or row["taxon"] == "*"
        if all(a != b for k, a in enumerate(shares) for b in shares[k + 1 :]):
            assert row["lineage"] == ";".join(likely)
        for rank in range(len(common) + 1):
            sums[";".join(common[:rank]) or "*"] += np.array([1, count])
    assert not entries
    found = {row["taxon"]: [int(row["reads"]), int(row["count"])] for row in rows_of(taxa)}
    assert found == {taxon: numbers.tolist() for taxon, numbers in sums.items()}
    own = [int(row["own_count"]) for row in rows_of(taxa)]
    assert sum(own) == found["*"][1] + found["unplaced"][1]


def test_many_equal_branches_are_all_listed(example):
    folder = example[0]
    assert run(folder, "-o", folder / "m.fa", "--jplace", folder / "m.jplace") == 0
    assert max(len(placed) for _, placed in check_jplace((folder / "m.jplace").read_text()).values()) > 7


def test_shards_threads_and_compression(example):
    folder = example[0]
    words = ["--taxonomy", folder / "tips.tsv"]
    outs = ["-o", "w.fa", "--table", "w.tsv", "--jplace", "w.jplace.gz", "--taxa", "w.taxa.tsv"]
    whole = [folder / word if word[0] == "w" else word for word in outs]
    assert run(folder, "-t", "1", *words, *whole) == 0
    for k in (1, 2, 3):
        named = ["--table", "-t.tsv", "--jplace", "x.jplace", "--taxa", "x.tsv"]
        named = [folder / f"{k}{word}" if word[0] != "-" or word == "-t.tsv" else word for word in named]
        assert run(folder, "-t", "2", *words, *named, "--shard", f"{k}/3", "-o", folder / f"{k}.shard") == 0
    merged = [str(folder / word.replace("w", "n", 1)) if word[0] == "w" else word for word in outs]
    assert main(["merge", *(str(folder / f"{k}.shard") for k in (3, 1, 2)), *merged]) == 0
    import gzip

    def plain(path):
        data = Path(path).read_bytes()
        text = gzip.decompress(data) if str(path).endswith(".gz") else data
        return [
            line for line in text.splitlines() if not line.startswith((b"# command", b'"metadata"', b'"invocation'))
        ]

    for one, other in zip(whole[1::2], merged[1::2], strict=True):
        assert plain(one) == plain(other), one


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("t1\ta;b\nx\n", 3, "tips.tsv, line 2: this is no table of tips: write a name, a tab and a lineage such"),
        ("t1\ta;;c\n", 3, "tips.tsv, line 1: rank 2 of its lineage is empty: write a word for it, such as un"),
        ("t1\t\n", 3, "tips.tsv, line 1: rank 1 of its lineage is empty"),
        ("t1\ta\nt1\tb\n", 3, "tips.tsv, line 2: the tip 't1' is there already: give it one line"),
        ("x1\ta\n", 3, "tips.tsv: none of the tree's tips is in it, 't1' for one: its first column has to hold"),
        ("# none\n", 3, "tips.tsv: none of the tree's tips is in it"),
        ("t1\ta\n", 0, "tips.tsv: 2 tips of the tree have no lineage, 't2' for one: left out"),
        ("t1\ta\n't1'\tb\n", 3, "tips.tsv: 't1' and \"'t1'\" are one tip, with two lineages: leave one of them out"),
        ("t1\ta\n't1'\ta\n", 0, "2 tips of the tree have no lineage"),
        ("t1\ta\n't2'\tb\n t3\tb", 0, "1 tips of the tree have no lineage, 't3' for one"),
    ],
)  # fmt: skip
def test_tables_of_tips(tmp_path, capsys, text, code, words):
    (tmp_path / "ref.fa").write_text(">t1\nACGTACGT\n>t2\nACGTTCGT\n>t3\nACGAACGA\n")
    (tmp_path / "ref.nwk").write_text("(t1:1,t2:1,t3:1);")
    (tmp_path / "r.fa").write_text(">r\nACGT\n")
    (tmp_path / "tips.tsv").write_text(text)
    names = ["--reference", "ref.fa", "--tree", "ref.nwk", "r.fa", "--taxonomy", "tips.tsv", "--table", "t.tsv"]
    command = ["place", *(str(tmp_path / w) if "." in w else w for w in names), "-o", str(tmp_path / "o.fa")]
    assert main(command) == code
    assert words in capsys.readouterr().err
    assert (tmp_path / "o.fa").exists() == (tmp_path / "t.tsv").exists() == (code == 0)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_of_a_spreadsheet(example, capsys, end):
    """A byte order mark, quotes, ends of lines, and a letter by which only Unicode ends lines."""
    rows = [line.split("\t") for line in (example[0] / "tips.tsv").read_text().splitlines()[1:]]
    plain = "".join(f"{name}\t{lineage}x\u2028y\n" for name, lineage in rows)
    quoted = "".join(f'{name}\t"{lineage}x\u2028y"{end}' for name, lineage in rows)
    found = []
    for text in (plain, "\ufeff" + quoted):
        (example[0] / "odd.tsv").write_bytes(text.encode())
        outs = ["-o", "x.fa", "--table", "x.tsv", "--taxa", "taxa.tsv"]
        outs = [example[0] / word if word[0] != "-" else word for word in outs]
        assert run(example[0], "--taxonomy", example[0] / "odd.tsv", "--no-comments", *outs) == 0
        found.append(((example[0] / "x.tsv").read_bytes(), (example[0] / "taxa.tsv").read_bytes()))
    assert found[0] == found[1]
    assert "x\u2028y" in found[0][0].decode() or "u2028" in found[0][0].decode()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--taxonomy", "tips.tsv"], "--taxonomy is for --table, --taxa, --taxa-html, --otu-table or --html: name"),
        (["--taxa", "x.tsv"], "--taxa needs the lineages of the tips: name their table with --taxonomy"),
    ],
)
def test_usage(example, capsys, options, words):
    assert run(example[0], "-o", example[0] / "u.fa", *options) == 2
    assert words in capsys.readouterr().err


def test_a_wrong_count(example, capsys):
    folder = example[0]
    (folder / "zero.fa").write_text(">a;size=0\nACGTACGT\n")
    words = ["place", "--reference", folder / "ref.npz", folder / "zero.fa", "-o", folder / "z.fa"]
    assert main([*map(str, words), "--table", str(folder / "z.tsv")]) == 3
    assert "record 'a;size=0': its count is 0: write ;size= and a whole number" in capsys.readouterr().err
    assert not (folder / "z.fa").exists()
