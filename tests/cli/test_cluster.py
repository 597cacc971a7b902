"""``tropalign cluster``: files, vsearch's clusters, and mistakes as one sentence."""

import shutil
import subprocess

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main


def said(capfd, *arguments):
    """Exit code, standard output and the sentence."""
    code = main(["cluster", *map(str, arguments)])
    return code, *capfd.readouterr()


def rows_of(text):
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


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
