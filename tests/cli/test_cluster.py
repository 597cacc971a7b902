"""``tropalign cluster``: files, vsearch's clusters, and mistakes as one sentence."""

import shutil
import subprocess

import numpy as np
import pytest
from clone import ROOT

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


#: Lines of `cd-hit -c 0.7 -g 1 -d 0` (4.8.1) for the first cluster of examples/efp.fasta.
OF_CD_HIT = """192aa, >sp|Q662F0|EFP_BORBP... at 73.96%
192aa, >sp|B7J1E4|EFP_BORBZ... at 72.40%
192aa, >sp|B5RR32|EFP_BORRA... at 90.10%
192aa, >tr|A0A0A7UVF8|A0A0A7UVF8_9SPIR... at 73.96%
192aa, >tr|W5SME5|W5SME5_9SPIR... at 90.62%
196aa, >tr|W5ST92|W5ST92_9SPIR... *
"""


def clstr_of(text):
    """The clusters of a .clstr file as sets of entries, after a check of their numbers."""
    found = []
    for number, cluster in enumerate(text.split(">Cluster ")[1:]):
        first, *rows = cluster.splitlines()
        assert first == str(number)
        assert [row.split("\t")[0] for row in rows] == [str(k) for k in range(len(rows))]
        assert sum(row.endswith(" *") for row in rows) == 1
        found.append({row.split("\t")[1] for row in rows})
    return found


def test_clstr_is_that_of_cd_hit(capfd, tmp_path):
    path = tmp_path / "efp.clstr"
    assert said(capfd, ROOT / "examples/efp.fasta", "--min-identity", 0.7, "-o", path, "-q")[0] == 0
    assert path.read_text().startswith(">Cluster 0\n0\t196aa, >tr|W5ST92|W5ST92_9SPIR... *\n1\t192aa, ")
    assert clstr_of(path.read_text())[0] == set(OF_CD_HIT.splitlines())


def test_clstr_has_strands_of_nucleotides(capfd, tmp_path):
    path = tmp_path / "reads.fa"
    path.write_text(">a\nAAACCCGGTTTTACGTA\n>b\nTACGTAAAACCGGGTT\n>c\nAAACCCGGTTTAACGTA\n")
    code, out, _ = said(capfd, path, "--min-identity", 0.9, "--strand", "both", "-f", "clstr", "-q")
    assert code == 0
    assert out == ">Cluster 0\n0\t17nt, >a... *\n1\t17nt, >c... at +/94.12%\n2\t16nt, >b... at -/100.00%\n"


@pytest.mark.skipif(not shutil.which("cd-hit"), reason="CD-HIT is not installed")
def test_clstr_of_amplicons_is_that_of_cd_hit_est(capfd, amplicons, tmp_path):
    """Identities may differ by a column or two, because the programs' costs differ."""
    ours, theirs = tmp_path / "ours.clstr", tmp_path / "theirs"
    words = ["cd-hit-est", "-i", amplicons, "-o", theirs, "-c", "0.97", "-g", "1", "-d", "0"]
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
    assert said(capfd, amplicons, "--min-identity", 0.97, "--strand", "both", "-o", ours, "-q")[0] == 0
    found, wanted = (
        {frozenset(entry.partition("... ")[0] for entry in cluster) for cluster in clstr_of(path.read_text())}
        for path in (ours, tmp_path / "theirs.clstr")
    )
    assert found == wanted
