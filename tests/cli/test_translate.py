"""``tropalign pairs --translate``: the best frame of each pair, against Biopython, blastx and tblastn."""

import csv
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices
from Bio.Data.CodonTable import unambiguous_dna_by_id
from Bio.Seq import Seq

import tropalign as ta
from tropalign.cli.main import main
from tropalign.errors import UsageError

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


MATRIX = substitution_matrices.load("BLOSUM62")
ALIGNER = PairwiseAligner(mode="local", substitution_matrix=MATRIX, open_gap_score=-12, extend_gap_score=-1)
SIX = (1, 2, 3, -1, -2, -3)


def protein_of(text, frame, code=1):
    """Frame by Biopython."""
    strand = Seq(text) if frame > 0 else Seq(text).reverse_complement()
    piece = strand[abs(frame) - 1 :]
    return str(piece[: len(piece) // 3 * 3].translate(table=code))


def best_of(query_frames, target_frames):
    """The best score of all frames, and the first frames that have it."""
    scored = [
        (ALIGNER.score(a, b), -i, -k)
        for i, a in enumerate(query_frames)
        for k, b in enumerate(target_frames)
        if a and b
    ]
    score, i, k = max(scored)
    return int(score), SIX[-i], SIX[-k]


def run(*arguments):
    assert main(["pairs", *map(str, arguments), "-q"]) == 0


def test_the_best_frame_is_the_one_that_biopython_scores_best(files, tmp_path):
    genes_file, proteins_file, genes, proteins = files
    out = tmp_path / "out.tsv"
    run(genes_file, proteins_file, "--translate", "query", "-o", out)
    found = rows_of(out)
    assert [(row["query"], row["target"]) for row in found] == [(a, b) for a in genes for b in proteins]
    for row in found:
        gene, protein = genes[row["query"]], proteins[row["target"]]
        score, frame, _ = best_of([protein_of(gene, frame) for frame in SIX], [protein])
        assert (int(row["score"]), int(row["query_frame"])) == (score, frame)
        # The nucleotides of the row are those of the residues that its path has.
        begin, end = int(row["query_start"]), int(row["query_end"])
        part = protein_of(gene[begin:end], 1 if frame > 0 else -1)
        aligned = protein[int(row["target_start"]) : int(row["target_end"])]
        walked = sum(int(n) * (kind in "=XI") for n, kind in re.findall(r"(\d+)([=XID])", row["cigar"]))
        assert 3 * walked == end - begin == 3 * len(part)
        assert ALIGNER.score(part, aligned) == score
    assert [row["query_frame"] for row in found[::4]] == ["1", "3", "-2"]  # each gene with its own protein


@pytest.mark.filterwarnings("ignore:This table contains")
@pytest.mark.parametrize("code", [2, 3, 6, 11, 14, 23, 27, 31, 33])
def test_the_best_frame_by_another_code(code, tmp_path):
    draw = random.Random(code)
    letters = "ACGT" * 12 + "RYN"
    genes = {f"g{k}": "".join(draw.choices(letters, k=draw.randrange(3, 160))) for k in range(6)}
    proteins = {f"p{k}": protein_of(gene, draw.choice(SIX), code)[1:] for k, gene in enumerate(genes.values())}
    proteins = {name: text.translate(str.maketrans("BZJ*", "XXXW")) + "M" for name, text in proteins.items()}
    sides = fasta(tmp_path / "genes.fa", genes), fasta(tmp_path / "proteins.fa", proteins)
    columns = "query,target,score,query_frame"
    run(*sides, "--translate", "query", "--genetic-code", code, "--columns", columns, "-o", out := tmp_path / "out.tsv")
    found = rows_of(out)
    assert len(found) == 36 and len({row["query_frame"] for row in found}) >= 5
    for row in found:
        frames = [protein_of(genes[row["query"]], frame, code) for frame in SIX]
        frames = [text.translate(str.maketrans("BZJ", "XXX")) for text in frames]  # Biopython's words of two residues
        score, frame, _ = best_of(frames, [proteins[row["target"]]])
        assert int(row["score"]) == max(score, 0)
        assert score <= 0 or int(row["query_frame"]) == frame


def test_both_sides(files, tmp_path):
    genes_file, _, genes, _ = files
    out = tmp_path / "out.tsv"
    columns = "query,target,score,query_frame,target_frame,strand,query_length,pair"
    run(genes_file, genes_file, "--translate", "both", "--columns", columns, "-o", out)
    found = rows_of(out)
    assert len(found) == 9
    for number, row in enumerate(found, 1):
        a, b = genes[row["query"]], genes[row["target"]]
        score, one, other = best_of([protein_of(a, k) for k in SIX], [protein_of(b, k) for k in SIX])
        assert (int(row["score"]), int(row["query_frame"]), int(row["target_frame"])) == (score, one, other)
        assert row["strand"] == ("-" if (one < 0) != (other < 0) else "+")
        assert (int(row["query_length"]), int(row["pair"])) == (len(a), number)


def test_frames_and_scores_of_blastx(tmp_path):
    columns = "query,target,score,query_frame,query_first,query_last,target_first,target_last"
    out, sides = tmp_path / "out.tsv", (DATA / "genes.fasta", DATA / "proteins.fasta")
    run(*sides, "--translate", "query", "--top", "1", "--columns", columns, "-o", out)
    found = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    recorded = (DATA / "blastx.tsv").read_text().splitlines()
    assert found[1:] == recorded[1:] and len(found) == 13


def many(tmp_path, n):
    """A file of 12 genes, and one of n proteins among which theirs are."""
    draw = random.Random(7)
    texts = dict(read(DATA / "proteins.fasta"))
    for k in range(n - len(texts)):
        texts[f"x{k}"] = "".join(draw.choices("ACDEFGHIKLMNPQRSTVWY", k=draw.randrange(1, 60)))
    return DATA / "genes.fasta", fasta(tmp_path / "many.fa", texts)


@pytest.mark.parametrize("n", [20, 200])  # 128 and more targets are scored in groups
def test_top_counts_sequences(n, tmp_path):
    sides = many(tmp_path, n)
    run(*sides, "--translate", "query", "-o", tmp_path / "all.tsv")
    run(*sides, "--translate", "query", "--top", "3", "--min-score", "30", "-o", tmp_path / "top.tsv")
    every = {}
    for row in rows_of(tmp_path / "all.tsv"):
        every.setdefault(row["query"], []).append(row)
    expected = [
        row
        for rows in every.values()
        for row in sorted(rows, key=lambda row: -int(row["score"]))[:3]
        if int(row["score"]) >= 30
    ]
    assert rows_of(tmp_path / "top.tsv") == expected and len(expected) > 12


@pytest.mark.parametrize("side", ["query", "target", "both"])
def test_tiles_threads_and_shards_change_nothing(side, tmp_path, monkeypatch):
    genes, proteins = many(tmp_path, 20)
    sides = {"query": (genes, proteins), "target": (proteins, genes), "both": (genes, genes)}[side]
    options = (*sides, "--translate", side, "--min-score", "25", "--no-comments")
    run(*options, "-o", whole := tmp_path / "whole.tsv", "--threads", "1")
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "7")
    run(*options, "-o", tmp_path / "tiles.tsv", "--threads", "2")
    shards = [str(tmp_path / f"{k}.shard") for k in (1, 2, 3)]
    for k, shard in enumerate(shards, 1):
        run(*options, "-f", "tsv", "--shard", f"{k}/3", "-o", shard)
    assert main(["merge", *shards, "-o", str(tmp_path / "merged.tsv"), "-q"]) == 0
    for name in ("tiles", "merged"):
        assert (tmp_path / f"{name}.tsv").read_bytes() == whole.read_bytes()


def test_other_formats(files, tmp_path):
    genes, proteins, *_ = files
    paths = [tmp_path / f"out.{suffix}" for suffix in ("tsv", "csv", "jsonl", "paf", "fa", "npz")]
    for path in paths:
        layout = ["-f", "matrix"] if path.suffix == ".npz" else []
        run(genes, proteins, "--translate", "query", *layout, "-o", path)
    rows = rows_of(paths[0])
    assert list(csv.DictReader(paths[1].read_text().splitlines())) == rows
    objects = [json.loads(line) for line in paths[2].read_text().splitlines()]
    assert [[row["query_frame"], row["query_end"]] for row in objects] == [
        [int(row["query_frame"]), int(row["query_end"])] for row in rows
    ]
    first = paths[3].read_text().splitlines()[-1].split("\t")
    assert first[:5] == ["gene2", str(len(files[2]["gene2"])), rows[-1]["query_start"], rows[-1]["query_end"], "-"]
    assert "qf:i:-2" in first
    assert ">gene2/-2 6-41 score=" in paths[4].read_text()
    with np.load(paths[5]) as arrays:
        assert arrays["score"].ravel().astype(int).tolist() == [int(row["score"]) for row in rows]
        assert arrays["queries"].tolist() == ["gene0", "gene1", "gene2"]


def test_from_python(files, tmp_path):
    genes, proteins = (ta.read_sequences(path) for path in files[:2])
    run(*files[:2], "--translate", "query", "--no-comments", "-o", out := tmp_path / "out.tsv")
    (table,) = ta.align_all(genes, proteins, translate="query")
    rows = rows_of(out)
    columns = table.columns()
    assert list(columns) == list(rows[0])
    for name in ("query", "query_frame", "query_start", "target_end"):
        assert [str(value) for value in columns[name].tolist()] == [row[name] for row in rows]
    assert table.row(0).query == "gene0/+1" and table[::4].columns()["query"].tolist() == list(genes.names)
    assert table.to_polars()["query_frame"].to_list() == columns["query_frame"].tolist()
    table.write(tmp_path / "written.m8")
    run(*files[:2], "--translate", "query", "-o", tmp_path / "out.m8")
    assert (tmp_path / "written.m8").read_text() == (tmp_path / "out.m8").read_text()
    assert table.matrix().shape == (3, 3)
    refused = {"not one of query": {"translate": "reads"}, "omit alphabet": {"translate": "query", "strand": "both"}}
    for words, options in (refused | {"code 7": {"translate": "query", "genetic_code": 7}}).items():
        with pytest.raises(UsageError, match=words):
            ta.align_all(genes, proteins, **options)
    with pytest.raises(UsageError, match="format sam maps reads"):
        table.write(tmp_path / "out.sam")
