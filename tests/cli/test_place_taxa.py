"""Lineages of reads, reads per taxon, counts, and jplace as its specification wants it."""

import json
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


@pytest.mark.parametrize("options", [[], ["--strand", "both"]])
def test_a_minimum_score(example, options):
    """The other files are as if reads with lower scores were not there; the table has them without a branch."""
    folder = example[0]
    outs = {name: folder / f"low.{name}" for name in ("fa", "tsv", "jplace", "taxa.tsv")}
    words = [*options, "-o", outs["fa"], "--jplace", outs["jplace"], "--taxonomy", folder / "tips.tsv"]
    assert run(folder, *words, "--table", outs["tsv"]) == 0
    all_rows, entries = rows_of(outs["tsv"]), json.loads(outs["jplace"].read_text())["placements"]
    alignment = outs["fa"].read_text().split(">")
    least = sorted(int(row["score"]) for row in all_rows)[len(all_rows) // 2]
    low = {row["read"] for row in all_rows if int(row["score"]) < least}
    assert run(folder, *words, "--table", outs["tsv"], "--taxa", outs["taxa.tsv"], "--min-score", least) == 0
    blank = {"branch": "-1", "clade": "*", "ties": "0", "start": "0", "end": "0", "inserted": "0"}
    blank |= {"taxon": "*", "lineage": "*", "support": "*"}
    for before, row in zip(all_rows, rows_of(outs["tsv"]), strict=True):
        n_letters = sum(int(before[name]) for name in ("inserted", "unaligned"))
        assert row == before if row["read"] not in low else row == before | blank | {"unaligned": row["unaligned"]}
        assert int(row["unaligned"]) >= n_letters or row["read"] not in low
    kept = [entry for entry in entries if entry["nm"][0][0] not in low]
    assert json.loads(outs["jplace"].read_text())["placements"] == kept and 0 < len(kept) < len(entries)
    assert outs["fa"].read_text().split(">") == [text for text in alignment if text.partition("\n")[0] not in low]
    (unplaced,) = (row for row in rows_of(outs["taxa.tsv"]) if row["taxon"] == "unplaced")
    assert int(unplaced["reads"]) == len(low | {row["read"] for row in all_rows if row["branch"] == "-1"})


def test_reads_of_the_other_strand_are_turned(example):
    """As without turning, but for the strand; the same by shards."""
    folder, other = example[0], {"A": "T", "C": "G", "G": "C", "T": "A"}
    records = [text.partition("\n") for text in (folder / "reads.fa").read_text().split(">")[1:-2]]
    texts = [text.replace("\n", "") for _, _, text in records]
    mixed = ["".join(other.get(x, x) for x in reversed(text)) if k % 2 else text for k, text in enumerate(texts)]
    for name, own in (("plain", texts), ("mixed", mixed)):
        lines = (f">{head}\n{text}\n" for (head, _, _), text in zip(records, own, strict=True))
        (folder / f"{name}.fa").write_text("".join(lines))

    def placed(name, *words):
        named = ["--reference", folder / "ref.npz", folder / f"{name}.fa", "-q", *words]
        assert main(["place", *map(str, named)]) == 0

    for name, strand in (("plain", "plus"), ("mixed", "adjust")):
        outs = ["-o", folder / f"{name}.out.fa", "--table", folder / f"{name}.tsv"]
        placed(name, "--strand", strand, *outs, "--jplace", folder / f"{name}.jplace")
    assert (folder / "mixed.out.fa").read_bytes() == (folder / "plain.out.fa").read_bytes()
    one, two = (json.loads((folder / f"{name}.jplace").read_text())["placements"] for name in ("plain", "mixed"))
    assert one == two and len(one) == len(texts)
    rows = rows_of(folder / "mixed.tsv")
    assert [row["strand"] for row in rows] == ["+-"[k % 2] for k in range(len(texts))]
    assert [row | {"strand": "+"} for row in rows] == rows_of(folder / "plain.tsv")
    shards = [str(folder / f"{part}.shard") for part in "12"]
    for part, shard in zip("12", shards, strict=True):
        placed("mixed", "--strand", "adjust", "--shard", f"{part}/2", "-o", shard)
    assert main(["merge", *shards, "-o", str(folder / "merged.fa"), "-q"]) == 0
    assert (folder / "merged.fa").read_bytes() == (folder / "plain.out.fa").read_bytes()
