"""``tropalign pairs --translate``: every frame as a query of its own."""

import csv
import random
from pathlib import Path

import pytest
from Bio.Align import PairwiseAligner, substitution_matrices
from Bio.Data.CodonTable import unambiguous_dna_by_id
from Bio.Seq import Seq

from tropalign.cli.main import main

CODONS = {residue: codon for codon, residue in unambiguous_dna_by_id[1].forward_table.items()}


DATA = Path(__file__).parent.parent / "data" / "translation"


def read(path):
    for record in Path(path).read_text().split(">")[1:]:
        name, *lines = record.split("\n")
        yield name, "".join(lines)


def fasta(path, texts):
    path.write_text("".join(f">{name}\n{text}\n" for name, text in texts.items()))
    return str(path)


@pytest.fixture
def files(tmp_path):
    """Genes in three of the frames, and proteins like those that they code for."""
    draw = random.Random(1)
    genes, proteins = {}, {}
    for k, (before, is_reverse) in enumerate(((0, False), (2, False), (1, True))):
        protein = "M" + "".join(draw.choices("ACDEFGHIKLMNPQRSTVWY", k=40))
        gene = "".join(draw.choices("ACGT", k=before)) + "".join(CODONS[residue] for residue in protein) + "TAGAC"
        genes[f"gene{k}"] = str(Seq(gene).reverse_complement()) if is_reverse else gene
        proteins[f"protein{k}"] = protein[5:20] + protein[23:]
    return fasta(tmp_path / "genes.fa", genes), fasta(tmp_path / "proteins.fa", proteins), genes, proteins


def rows_of(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def frames(text):
    for strand, name in ((Seq(text), "+"), (Seq(text).reverse_complement(), "-")):
        for start in range(3):
            piece = strand[start:]
            yield f"{name}{start + 1}", str(piece[: len(piece) // 3 * 3].translate())


def test_every_frame_scores_as_biopython_aligns_its_translation(files, tmp_path):
    genes_file, proteins_file, genes, proteins = files
    out = tmp_path / "out.tsv"
    assert main(["pairs", genes_file, proteins_file, "--translate", "query", "-o", str(out), "-q"]) == 0
    matrix = substitution_matrices.load("BLOSUM62")
    aligner = PairwiseAligner(mode="local", substitution_matrix=matrix, open_gap_score=-12, extend_gap_score=-1)
    expected = {
        (f"{name}/{frame}", other): aligner.score(text, proteins[other])
        for name, gene in genes.items()
        for frame, text in frames(gene)
        for other in proteins
    }
    found = rows_of(out)
    assert {(row["query"], row["target"]): float(row["score"]) for row in found} == expected
    best = sorted(found, key=lambda row: -int(row["score"]))[:3]
    assert sorted((row["query"], row["target"]) for row in best) == [
        ("gene0/+1", "protein0"), ("gene1/+3", "protein1"), ("gene2/-2", "protein2"),
    ]  # fmt: skip


def test_what_blastx_finds(tmp_path):
    out = tmp_path / "out.tsv"
    genes, proteins = (str(DATA / f"{name}.fasta") for name in ("genes", "proteins"))
    assert main(["pairs", genes, proteins, "--translate", "query", "-o", str(out), "-q"]) == 0
    length = {name: len(text) for name, text in read(genes)}
    best = {}
    for row in rows_of(out):
        name, frame = row["query"].split("/")
        shift, a, b = abs(int(frame)) - 1, int(row["query_start"]), int(row["query_end"])
        begin, end = (shift + 3 * a + 1, shift + 3 * b)  # of the strand, counted from 1
        if int(frame) < 0:
            begin, end = length[name] + 1 - begin, length[name] + 1 - end
        found = int(row["score"]), int(frame), begin, end, int(row["target_start"]) + 1, int(row["target_end"])
        best[name, row["target"]] = max(best.get((name, row["target"]), (0,)), found)
    recorded = list(csv.reader((DATA / "blastx.tsv").read_text().splitlines()[1:], delimiter="\t"))
    assert len(recorded) == 12
    for query, target, *numbers in recorded:
        assert best[query, target] == tuple(map(int, numbers))


def test_targets_or_both(files, tmp_path):
    genes, proteins, *_ = files
    one, other, both = (tmp_path / f"{name}.tsv" for name in ("one", "other", "both"))
    assert main(["pairs", genes, proteins, "--translate", "query", "-o", str(one), "-q"]) == 0
    assert main(["pairs", proteins, genes, "--translate", "target", "-o", str(other), "-q"]) == 0
    scores = [{(row[a], row[b]): row["score"] for row in rows_of(path)}
              for path, a, b in ((one, "query", "target"), (other, "target", "query"))]  # fmt: skip
    assert scores[0] == scores[1]
    assert main(["pairs", genes, genes, "--translate", "both", "--report", "score", "-o", str(both), "-q"]) == 0
    assert len(rows_of(both)) == 18 * 18


def test_the_code_counts_and_the_command_is_in_the_header(files, tmp_path):
    genes, proteins, *_ = files
    out = tmp_path / "out.tsv"
    assert main(["pairs", genes, proteins, "--translate", "query", "--genetic-code", "4", "-o", str(out), "-q"]) == 0
    assert "--translate query --genetic-code 4" in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ("G P", 3, "translate the nucleotides with --translate"),
        ("G P --genetic-code 1", 2, "--genetic-code belongs to --translate"),
        ("G P --translate query --genetic-code 7", 2, "there is no genetic code 7: NCBI's numbers are 1, 2, 3"),
        (
            "G P --translate query --alphabet protein",
            2,
            "--translate says what the sequences are: leave --alphabet out",
        ),
        ("G P --translate query --strand both", 2, "--translate takes both strands by itself: leave --strand out"),
        ("G --translate both", 2, "need a second file: give B, or take --translate query"),
        ("P G --translate query", 3, "but the sequences were judged protein: leave --translate out"),
        ("G G --translate query", 3, "but the sequences were judged nucleotide: take --translate both"),
    ],
)
def test_what_is_refused(files, tmp_path, capsys, arguments, status, words):
    out = tmp_path / "out.tsv"
    named = [{"G": files[0], "P": files[1]}.get(word, word) for word in arguments.split()]
    try:
        assert main(["pairs", *named, "-o", str(out), "-q"]) == status
    except SystemExit as exit:
        assert exit.code == status
    assert words in capsys.readouterr().err and not out.exists()
