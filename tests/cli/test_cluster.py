"""``tropalign cluster``: files, vsearch's clusters, and mistakes as one sentence."""

import gzip
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main

FEW = ">a;size=3\nACGTACGTTTGACCATGACTTGACTAGCATC\n>b;size=9\nACGTACGTTTGACCATGACTTGACTAGCAT\n>c\nTTGGGCCCAAATTTGCG\n"


@pytest.fixture
def few(tmp_path):
    path = tmp_path / "few.fa"
    path.write_text(FEW)
    return path


def said(capfd, *arguments):
    """Exit code, standard output and the sentence."""
    code = main(["cluster", *map(str, arguments)])
    return code, *capfd.readouterr()


def rows_of(text):
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def test_the_table_has_a_row_per_sequence(capfd, few):
    code, out, _ = said(capfd, few, "--min-identity", 0.9)
    assert code == 0
    assert out.startswith("# tropalign ")
    assert "# min_identity: 0.9\n" in out
    assert rows_of(out)[0] == ["cluster", "representative", "member", "identity", "strand", "score", "length", "size"]
    assert [row[:5] for row in rows_of(out)[1:]] == [
        ["0", "a;size=3", "a;size=3", "1.0000", "+"],
        ["0", "a;size=3", "b;size=9", "1.0000", "+"],
        ["1", "c", "c", "1.0000", "+"],
    ]


def test_every_file_is_written_and_compressed(capfd, few, tmp_path):
    uc, fasta, table = tmp_path / "x.uc.gz", tmp_path / "r.fa.gz", tmp_path / "t.tsv"
    arguments = ("-o", table, "--uc", uc, "--representatives", fasta, "--sizeout", "--order", "abundance", "-q")
    assert said(capfd, few, *arguments, "--min-identity", 0.9) == (0, "", "")
    assert gzip.decompress(fasta.read_bytes()).decode() == (
        ">b;size=12\nACGTACGTTTGACCATGACTTGACTAGCAT\n>c;size=1\nTTGGGCCCAAATTTGCG\n"
    )
    assert gzip.decompress(uc.read_bytes()).decode().splitlines() == [
        "S\t0\t30\t*\t*\t*\t*\t*\tb;size=9\t*",
        "H\t0\t31\t100.0\t+\t0\t0\t30MD\ta;size=3\tb;size=9",
        "S\t1\t17\t*\t*\t*\t*\t*\tc\t*",
        "C\t0\t12\t*\t*\t*\t*\t*\tb;size=9\t*",
        "C\t1\t1\t*\t*\t*\t*\t*\tc\t*",
    ]
    assert len(rows_of(table.read_text())) == 4
    written = ta.cluster(few, 0.9, order="abundance")
    written.write(tmp_path / "again.uc")
    assert (tmp_path / "again.uc").read_bytes() == gzip.decompress(uc.read_bytes())
    written.write(tmp_path / "again.fa")
    assert (tmp_path / "again.fa").read_text().startswith(">b;size=9\n")


def test_standard_input_and_threads_give_the_same_bytes(command, amplicons):
    outputs = []
    for threads, stdin in ((1, None), (3, amplicons)):
        source = open(stdin) if stdin else None
        done = command("cluster", "-" if stdin else amplicons, "-f", "uc", "-t", threads, "-q", stdin=source)
        assert (done.returncode, done.stderr) == (0, "")
        outputs.append(done.stdout)
        if source:
            source.close()
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\nS\t") > 10


def test_linkages(capfd, amplicons):
    counts = []
    for method in ("single", "average", "complete"):
        code, out, _ = said(capfd, amplicons, "--method", method, "--min-identity", 0.9, "--identity", "columns", "-q")
        assert code == 0
        counts.append(len({row[0] for row in rows_of(out)[1:]}))
    assert counts == sorted(counts)


#: Costs as vsearch has them, whose opening cost is that of a gap's first residue, and as tropalign; its default last.
VSEARCH_COSTS = {
    "equal": (
        ("--match", 5, "--mismatch", -4, "--gapopen", 10, "--gapext", 1),
        ("--gap-open", 9, "--gap-extend", 1, "--iupac", "zero"),
    ),
    "default": (
        (),
        "--match 2 --mismatch -4 --iupac zero --gap-open 18 --gap-extend 2 --end-gap-open 1 --end-gap-extend 1".split(),
    ),
}


@pytest.mark.skipif(not shutil.which("vsearch"), reason="vsearch is not installed")
@pytest.mark.parametrize("costs", VSEARCH_COSTS)
def test_scores_are_those_of_vsearch(costs, command, amplicons, tmp_path):
    """Raw scores of all pairs, which tell costs apart that clusters do not."""
    theirs, ours = VSEARCH_COSTS[costs]
    words = ["vsearch", "--allpairs_global", amplicons, "--acceptall", "--qmask", "none", "--quiet", *theirs]
    words += ["--userout", tmp_path / "theirs.tsv", "--userfields", "query+target+raw"]
    subprocess.run([str(word) for word in words], check=True)
    words = ["pairs", amplicons, "--mode", "global", *ours, "--no-comments", "--columns", "query,target,score"]
    assert command(*words, "-o", tmp_path / "ours.tsv").returncode == 0
    their_rows, our_rows = (
        [line.split("\t") for line in (tmp_path / name).read_text().splitlines()] for name in ("theirs.tsv", "ours.tsv")
    )
    scores = {frozenset(names): float(score) for *names, score in their_rows}
    assert scores == {frozenset(names): float(score) for *names, score in our_rows[1:]} and len(scores) > 100


@pytest.mark.skipif(not shutil.which("vsearch"), reason="vsearch is not installed")
@pytest.mark.parametrize("share", [0, 0.03])
def test_clusters_are_those_of_vsearch(capfd, amplicons, tmp_path, share):
    """vsearch with the same scores and costs, every sequence compared with every centroid, its best one taken.

    With --maxaccepts 0 and --maxrejects 0 it looks at all centroids; its own costs are lower at the ends. A `share` of
    the letters becomes ambiguous.
    """
    rng, path = np.random.default_rng(5), tmp_path / "amplicons.fa"
    path.write_text(
        "".join(
            f">{one.name}\n"
            + "".join(rng.choice(list("NNRYSWKMBDHV")) if rng.random() < share else c for c in str(one))
            + "\n"
            for one in ta.read_sequences(amplicons)
        )
    )
    amplicons, ours, theirs = str(path), tmp_path / "ours.uc", tmp_path / "theirs.uc"
    same = ("--identity", 2, "--ambiguous", "match", "--strand", "both", "--order", "input")
    equal, default = VSEARCH_COSTS.values()
    for least, (scores, ours_scores) in ((0.9, equal), (0.97, equal), (0.97, default)):
        assert said(capfd, amplicons, *same, *ours_scores, "--min-identity", least, "-o", ours, "-q")[0] == 0
        words = ["vsearch", "--cluster_smallmem", amplicons, "--usersort", "--id", least, "--iddef", 2, *scores]
        words += [
            "--maxaccepts",
            0,
            "--maxrejects",
            0,
            "--qmask",
            "none",
            "--minwordmatches",
            0,
            "--strand",
            "both",
            "--uc",
            theirs,
            "--quiet",
        ]
        subprocess.run([str(word) for word in words], check=True)
        found = [
            {(row[0], row[1], row[2], row[4], row[8], row[9]) for row in rows_of(path.read_text())}
            for path in (ours, theirs)
        ]
        assert found[0] == found[1]
        identities = [
            {row[8]: float(row[3]) for row in rows_of(path.read_text()) if row[0] == "H"} for path in (ours, theirs)
        ]
        assert np.allclose(list(identities[0].values()), [identities[1][name] for name in identities[0]], atol=0.6)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--min-identity", "97"], 2, "'97' is not a fraction between 0 and 1"),
        (["--identity", "6"], 2, "identity '6' is none of 0 shorter, 1 columns, 2 internal, 3 openings, 4 blast"),
        (["--shard", "1/2", "-o", "x"], 2, "greedy clusters are decided one after another and have no shards"),
        (["--free-ends", "query-start"], 2, "--free-ends belongs to --mode semiglobal"),
        (["--sizeout"], 2, "--sizeout belongs to --representatives"),
        (["--method", "single", "--assign", "first"], 2, "--assign belongs to --method greedy"),
        (["--mode", "local", "--identity", "columns"], 2, "give --min-coverage, or choose --mode global"),
        (["-o", "x.paf"], 2, "no format has the suffix '.paf'"),
        (["--representatives", "x.uc"], 2, "no format has the suffix '.uc'"),
        (["--method", "average", "--memory", "100M"], 0, ""),
        (["--memory", "1M"], 4, "allow more with --memory"),
        (["--matrix", "BLOSUM62"], 3, "protein matrix"),
        (["-f", "tsv", "-o", "FILE"], 2, "is an input: name another file to write to"),
    ],
)
def test_what_is_refused(capfd, few, tmp_path, monkeypatch, arguments, code, sentence):
    monkeypatch.chdir(tmp_path)
    there = sorted(tmp_path.iterdir())
    try:
        found, out, error = said(capfd, few, *[str(few) if word == "FILE" else word for word in arguments])
    except SystemExit as stop:
        found, (out, error) = stop.code, capfd.readouterr()
    assert (found, sorted(tmp_path.iterdir())) == (code, there)
    assert sentence in error
    assert not code or (not out and error.startswith("tropalign: "))


def test_names_that_a_table_cannot_hold_are_refused(capfd, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nACGT\n>a\nACGT\n")
    code, _, error = said(capfd, path)
    assert code == 3
    assert "a" in error


COUNTED = ("--counts", "unique.tsv")


@pytest.fixture
def joined(tmp_path, monkeypatch):
    """Reads of two samples, of two kinds and of joins of both, dereplicated and without chimeras."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    one = random.choice(list("ACGT"), 120)
    other = np.where(random.random(120) < 0.3, random.choice(list("ACGT"), 120), one)
    kinds = [one, other, np.concatenate([one[:60], other[60:]]), np.concatenate([other[:50], one[50:]])]
    for sample, counts in (("gut", (20, 6, 2, 0)), ("skin", (3, 18, 1, 3))):
        reads = ["".join(kind) for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
        Path(f"{sample}.fa").write_text("".join(f">{sample}_{k}\n{read}\n" for k, read in enumerate(reads)))
    assert main(["derep", "gut.fa", "skin.fa", "--otu-table", "unique.tsv", "-o", "unique.fa", "-q"]) == 0
    assert main(["chimeras", "unique.fa", "-o", "good.fa", "-q"]) == 0
    return tmp_path


def test_samples_outlive_dereplication_and_chimeras(joined):
    """Step by step as at once, without the chimeras."""
    how = ["--order", "abundance", "--min-identity", "0.99", "--relabel", "Otu", "-q"]
    assert main(["cluster", "good.fa", *COUNTED, *how, "--otu-table", "steps.tsv", "-o", "steps.clusters.tsv"]) == 0
    assert Path("steps.tsv").read_text() == "#OTU ID\tgut\tskin\nOtu1\t6\t18\nOtu2\t20\t3\n"
    assert main(["cluster", "unique.fa", *COUNTED, *how, "--otu-table", "all.tsv", "-o", "all.clusters.tsv"]) == 0
    once = ["--dereplicate", *how, "--otu-table", "once.tsv", "-o", "once.clusters.tsv"]
    assert main(["cluster", "gut.fa", "skin.fa", *once]) == 0
    assert Path("all.tsv").read_text() == Path("once.tsv").read_text() != Path("steps.tsv").read_text()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "--counts belongs to --otu-table"),
        (["--otu-table", "t.tsv", "--samples", "label"], 2, "--counts tells the samples of all reads"),
        (["--otu-table", "t.tsv", "--dereplicate"], 2, "leave --dereplicate out"),
        (["--otu-table", "t.tsv", "--method", "single", "--shard", "1/2"], 2, "leave --counts out, or --shard"),
        (["gut.fa", "--otu-table", "t.tsv"], 3, "two sequences have this row"),
    ],
)
def test_what_does_not_go_with_counts(joined, capsys, words, code, sentence):
    assert main(["cluster", "good.fa", *words, *COUNTED, "-o", "c.tsv", "-q"]) == code
    assert sentence in capsys.readouterr().err and not Path("c.tsv").exists()
