"""Alignments that homologs help."""

from pathlib import Path

import numpy as np
import pytest

import tropalign
from tropalign.cli.main import main
from tropalign.errors import InputError, TropalignWarning, UsageError
from tropalign.msa.guide_tree import GuideTree, parse_guide_tree
from tropalign.msa.homologs import homologs_of
from tropalign.msa.options import HomologOptions

LETTERS = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


def evolved(rng, text, share):
    """The text with that share of its letters kept."""
    return "".join(np.where(rng.random(len(text)) < share, list(text), rng.choice(LETTERS, len(text))))


@pytest.fixture
def sets():
    """Four members, and a database of relatives, strangers and the members themselves."""
    rng = np.random.default_rng(3)
    ancestor = "".join(rng.choice(LETTERS, 120))
    family = {f"m{k}": evolved(rng, ancestor, 0.55) for k in range(4)}
    relatives = {f"r{k}": evolved(rng, family[f"m{k % 4}"], 0.7) for k in range(12)}
    strangers = {f"s{k}": "".join(rng.choice(LETTERS, 150)) for k in range(30)}
    return family, {**strangers, **relatives, **family}


def fasta(path, records):
    path.write_text("".join(f">{name}\n{text}\n" for name, text in records.items()))
    return str(path)


def pairs_of(records):
    return list(records.items())


def test_relatives_are_found_and_nobody_else(sets):
    family, database = sets
    batch = tropalign.SequenceBatch.from_strings(family)
    found = homologs_of(batch, pairs_of(database), HomologOptions())
    assert (found.n_helped, found.n_members) == (4, 4)
    assert sorted(name.partition("/")[0] for name in found.batch.names) == sorted(f"r{k}" for k in range(12))
    for name, text in zip(found.batch.names, found.batch, strict=True):
        begin, end = map(int, name.partition("/")[2].split("-"))
        assert database[name.partition("/")[0]][begin - 1 : end] == str(text)
    few = homologs_of(batch, pairs_of(database), HomologOptions(max_homologs=1))
    assert len(few.batch) == 4 and few.batch.names == found.batch.names[:4]
    assert str(few) == "4 homologs of 4 of 4 different members"


def test_equal_ones_count_once(sets):
    family, database = sets
    copies = {f"{name}_{k}": text for name, text in database.items() for k in range(3)}
    batch = tropalign.SequenceBatch.from_strings({**family, "again": family["m0"]})
    found = homologs_of(batch, pairs_of(copies), HomologOptions())
    assert found.n_members == 4 and len(found.batch) == 12


def test_the_family_is_what_is_left(sets):
    family, database = sets
    whole = tropalign.align_with_homologs(family, pairs_of(database), keep_homologs=True)
    found = tropalign.align_with_homologs(family, pairs_of(database))
    assert found.names == tuple(family) and len(whole) == 16 and whole.names[:4] == found.names
    assert list(whole[:4].without_empty_columns()) == list(found)
    assert [row.replace("-", "") for row in found] == list(family.values())
    tree = parse_guide_tree(found.tree, found.names)
    assert tree.n_leaves == 4 and parse_guide_tree(whole.tree, whole.names).n_leaves == 16
    assert found.residue_confidence.tolist() == whole[:4].residue_confidence.tolist()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_same_bytes_for_any_number_of_threads(sets, tmp_path, capsys, threads):
    family, database = (fasta(tmp_path / f"{k}.fa", records) for k, records in enumerate(sets))
    store, out = str(tmp_path / "db.tdb"), tmp_path / "out.fa"
    assert main(["db", "build", database, "-o", store, "-q"]) == 0
    assert main(["msa", family, "--homologs", store, "-t", str(threads), "-o", str(out)]) == 0
    assert "12 homologs of 4 of 4 different members take part" in capsys.readouterr().err
    expected = tropalign.align_with_homologs(Path(family), database)
    assert out.read_text().replace("\n", "") == "".join(
        f">{name}{row}" for name, row in zip(expected.names, expected, strict=True)
    )


def test_none_are_found(sets, tmp_path, capsys):
    family, database = sets
    names = [fasta(tmp_path / "a.fa", family), fasta(tmp_path / "b.fa", dict(pairs_of(database)[:30]))]
    with pytest.warns(TropalignWarning, match="no homologs were found: the family is aligned without them"):
        found = tropalign.align_with_homologs(Path(names[0]), names[1])
    assert found == tropalign.align_multiple(family)
    assert main(["msa", names[0], "--homologs", names[1], "-o", str(tmp_path / "x.fa")]) == 0
    assert "warning: no homologs were found" in capsys.readouterr().err
    assert main(["msa", names[0], "-o", str(tmp_path / "y.fa")]) == 0
    assert (tmp_path / "x.fa").read_bytes() == (tmp_path / "y.fa").read_bytes()


def test_a_database_of_nucleotides_is_refused(sets, tmp_path, capsys):
    random = np.random.default_rng(3)
    path = tmp_path / "dna.fa"
    path.write_text("".join(f">d{k}\n{''.join(random.choice(list('ACGT'), 300))}\n" for k in range(20)))
    family = tmp_path / "family.fa"
    family.write_text(">a\nMKVLAWHEAGMKVLAWHEAG\n>b\nMKVLAWHEAGMKILAWHEAG\n>c\nMKVLAWHEAGMKVLAWHDAG\n")
    assert main(["msa", str(family), "--homologs", str(path), "-o", str(tmp_path / "x.fa")]) == 3
    assert f"{path}: the sequences look like nucleotides, but homologs are searched among" in capsys.readouterr().err


def test_names_of_the_family_in_the_database(sets):
    family, database = sets
    renamed = {f"m{k}": database[f"r{k}"] for k in range(4)}
    whole = tropalign.align_with_homologs(family, pairs_of(renamed), keep_homologs=True)
    assert len(set(whole.names)) == 8
    taken = {**family, whole.names[4]: family["m0"][:-1]}  # what a homolog would be called
    assert len(set(tropalign.align_with_homologs(taken, pairs_of(renamed), keep_homologs=True).names)) == 9


@pytest.mark.parametrize("n", [1, 2])
def test_small_families_and_equal_rows(sets, n):
    family, database = sets
    few = dict(pairs_of(family)[:n])
    assert tropalign.align_with_homologs(few, pairs_of(database)).names == tuple(few)
    equal = {f"e{k}": family["m0"] for k in range(3)}
    found = tropalign.align_with_homologs(equal, pairs_of(database))
    assert list(found) == [family["m0"]] * 3


@pytest.mark.parametrize(
    ("how", "error", "sentence"),
    [
        (
            {"effort": "fast"},
            UsageError,
            "homologs require effort default or accurate, for families of up to 500 sequences",
        ),
        ({"drop_foreign": True}, UsageError, "homologs would hide foreign members"),
        ({"tree": "((m0,m1),(m2,m3));"}, UsageError, "the given tree does not contain homologs"),
        ({"max_homologs": 0}, UsageError, "max_homologs 0"),
        ({"homolog_evalue": -1}, UsageError, "homolog_evalue -1 is not a number from 1e-300 to"),
    ],
)
def test_what_is_refused(sets, how, error, sentence):
    family, database = sets
    with pytest.raises(error) as refused:
        tropalign.align_with_homologs(family, pairs_of(database), **how)
    assert sentence in str(refused.value)


def test_nucleotides_are_refused():
    with pytest.raises(InputError, match="homologs are only searched for proteins, but the family was read as"):
        tropalign.align_with_homologs({"a": "ACGTACGTAA", "b": "ACGTTCGTAA"}, [("x", "MKV")])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--max-homologs", "3"], "--max-homologs needs --homologs"),
        (["--keep-homologs"], "--keep-homologs needs --homologs"),
        (["--homologs", "{}", "--method", "clustalw"], "--homologs has no effect with --method clustalw"),
        (["--homologs", "{}", "--add", "{}"], "--homologs has no effect with --add"),
        (["--homologs", "{}", "--model", "{}"], "--homologs has no effect with --model"),
        (["--homologs", "{}", "--shard", "1/2"], "--shard divides the work before homologs are known"),
        (["--homologs", "{}", "--dry-run"], "--dry-run cannot estimate a run before its homologs are known"),
    ],
)
def test_options_that_do_not_meet(sets, tmp_path, capsys, words, sentence):
    family = fasta(tmp_path / "a.fa", sets[0])
    code = main(["msa", family, "-o", str(tmp_path / "o.fa"), *(word.replace("{}", family) for word in words)])
    assert code == 2 and sentence in capsys.readouterr().err


def test_a_tree_of_the_first_leaves():
    rng = np.random.default_rng(5)
    for n in range(2, 9):
        children = []
        nodes = list(range(n))
        while len(nodes) > 1:
            a, b = (nodes.pop(int(rng.integers(len(nodes)))) for _ in range(2))
            children.append((a, b))
            nodes.append(n + len(children) - 1)
        tree = GuideTree(np.array(children, np.int32), rng.random(2 * n - 1))
        names = [f"t{k}" for k in range(n)]
        for kept in range(1, n + 1):
            found = tree.of_first(kept)
            assert found.n_leaves == kept
            for a in range(kept):
                for b in range(a):
                    assert way(found, a, b) == pytest.approx(way(tree, a, b))
        assert tree.of_first(n).newick(names)[:-1].count("(") == n - 1


def way(tree, a, b):
    """The length of the way between two leaves."""
    above = {child: tree.n_leaves + k for k, pair in enumerate(tree.children.tolist()) for child in pair}

    def ways(node):
        found, length = {node: 0.0}, 0.0
        while node in above:
            length += tree.branch_lengths[node]
            node = above[node]
            found[node] = length
        return found

    first, second = ways(a), ways(b)
    return min(first[node] + second[node] for node in first.keys() & second.keys())
