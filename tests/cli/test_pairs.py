"""``tropalign pairs``: what is written."""

import io
from pathlib import Path

import numpy as np
import pytest

import tropalign
from tropalign.cli.main import main


def rows(text):
    """Header names and rows of a TSV."""
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return lines[0], lines[1:]


@pytest.fixture
def written(capsys):
    """Runs the command in this process and gives what it wrote to standard output."""

    def run(*arguments):
        assert main(["pairs", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    return run


def test_same_bytes_for_threads_tiles_places_and_pipes(family, tmp_path, monkeypatch, command):
    one, two = tmp_path / "one.tsv", tmp_path / "two.tsv"
    assert main(["pairs", family, "-t", "1", "-o", str(one)]) == 0
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "50")
    assert main(["pairs", family, "-t", "2", "--memory", "1G", "--device", "cpu", "-q", "-o", str(two)]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert command("pairs", family).stdout.encode() == one.read_bytes()


def test_header_says_version_command_and_parameters(few, written, tmp_path):
    header = [line for line in written(few, "--gap-open", 9, "-t", 1).splitlines() if line.startswith("#")]
    assert header[0].startswith("# tropalign 0.")
    assert f"# command: tropalign pairs {few} --gap-open 9 --format tsv" in header
    assert "# gap_cost: 9 + 1 * residues" in header
    assert "# matrix: BLOSUM62" in header


def test_command_in_the_header_is_quoted(few, tmp_path, written):
    path = tmp_path / "two words.fasta"
    path.write_bytes(Path(few).read_bytes())
    assert f"# command: tropalign pairs '{path}' --report score" in written(path, "--report", "score")


REPORTS = {
    "score": ["query", "target", "score"],
    "ends": ["query", "target", "score", "query_start", "query_end", "target_start", "target_end"],
}
REPORTS["alignment"] = [*REPORTS["ends"], "identity", "similarity", "gaps", "columns", "cigar"]


@pytest.mark.parametrize("report", REPORTS)
def test_reports(few, report, written):
    names, lines = rows(written(few, "--report", report))
    assert names == REPORTS[report]
    assert len(lines) == 15
    _, deepest = rows(written(few))
    assert lines == [line[: len(names)] for line in deepest]


@pytest.mark.parametrize("form", ["sam", "bam"])
def test_reads_with_qualities(amplicons, tmp_path, monkeypatch, command, form):
    """The same bytes for threads, tiles, shards and pipes; qualities and one primary line per read."""
    pysam = pytest.importorskip("pysam")
    records = [record.split("\n") for record in Path(amplicons).read_text().split(">")[1:11]]
    reads = {lines[0].split()[0]: "".join(lines[1:])[:150] for lines in records}
    fastq, one, two = tmp_path / "reads.fq", tmp_path / f"one.{form}", tmp_path / f"two.{form}"
    fastq.write_text(
        "".join(f"@{name}\n{text}\n+\n{('ABCDEFGHI!' * 15)[: len(text)]}\n" for name, text in reads.items())
    )
    arguments = ["pairs", str(fastq), amplicons, "--strand", "both", "--mode", "semiglobal"]
    assert main([*arguments, "-t", "1", "-o", str(one)]) == 0
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "7")
    assert main([*arguments, "-t", "2", "-o", str(two)]) == 0
    assert one.read_bytes() == two.read_bytes()
    shards = [str(tmp_path / f"{k}.shard") for k in (1, 2, 3)]
    for k, shard in enumerate(shards, 1):
        assert main([*arguments, "-f", form, "--shard", f"{k}/3", "-o", shard]) == 0
    assert main(["merge", *shards, "-o", str(two)]) == 0
    assert one.read_bytes() == two.read_bytes()
    with open(tmp_path / "piped", "wb") as out:
        assert command(*arguments, "-f", form, out=out).returncode == 0
    assert (tmp_path / "piped").read_bytes() == one.read_bytes()
    with pysam.AlignmentFile(str(one)) as file:
        lines = [line for line in file if not line.is_secondary]
    assert sorted(line.query_name for line in lines) == sorted(reads)
    for line in lines:
        assert line.get_forward_sequence() == reads[line.query_name]
        assert (
            "".join(chr(q + 33) for q in line.get_forward_qualities())
            == ("ABCDEFGHI!" * 15)[: len(reads[line.query_name])]
        )


@pytest.mark.parametrize("form", ["tsv", "paf", "sam", "srspair", "fasta", "parquet", "arrow", "feather", "matrix"])
def test_every_format_by_name_and_by_suffix(few, tmp_path, form, monkeypatch):
    if form in ("parquet", "feather"):
        pytest.importorskip("pyarrow")
    named = tmp_path / "named"
    assert main(["pairs", few, "-f", form, "-o", str(named)]) == 0
    assert named.stat().st_size > 100
    if form != "matrix":
        suffixed = tmp_path / f"out.{form}"
        assert main(["pairs", few, "-o", str(suffixed)]) == 0
        assert suffixed.read_bytes() == named.read_bytes()


def test_matrix_layouts(few, tmp_path, written):
    square = written(few, "-f", "matrix", "--matrix-values", "distance")
    lines = rows(square)[1]
    values = np.array([line[1:] for line in lines], float)
    assert values.shape == (6, 6) and (values == values.T).all() and (values.diagonal() == 0).all()
    phylip = written(few, "-f", "matrix", "--matrix-values", "distance", "--matrix-layout", "phylip").splitlines()
    assert phylip[0].strip() == "6" and len(phylip) == 7
    npz = tmp_path / "m.npz"
    assert main(["pairs", few, "-o", str(npz), "--matrix-values", "identity"]) == 0
    with np.load(io.BytesIO(npz.read_bytes())) as arrays:
        assert np.allclose(arrays["identity"], 1 - values, atol=1e-6)
    by_suffix = tmp_path / "m.phy"
    assert main(["pairs", few, "-o", str(by_suffix), "--matrix-values", "distance"]) == 0
    assert by_suffix.read_text().splitlines() == phylip


def test_a_matrix_of_identities_needs_no_report(few, written):
    expected = written(few, "-f", "matrix", "--matrix-values", "identity")
    given = written(few, "-f", "matrix", "--matrix-values", "identity", "--report", "score")
    assert rows(given) == rows(expected)


def test_one_set_against_another(few, family, n_family, written):
    lines = rows(written(few, family, "--report", "score"))[1]
    assert len(lines) == 6 * n_family
    assert [line[0] for line in lines[:n_family]] == [lines[0][0]] * n_family


def test_listed_pairs_in_their_order(few, tmp_path, written):
    _, everything = rows(written(few))
    wanted = [everything[k] for k in (9, 0, 4)]
    listing = tmp_path / "pairs.txt"
    listing.write_text("# query target\n\n" + "".join(f"{line[0]}\t{line[1]} ignored\n" for line in wanted))
    assert rows(written(few, "--pairs", listing))[1] == wanted


def test_selections(few, written):
    _, everything = rows(written(few))
    median = sorted(int(line[2]) for line in everything)[7]
    assert rows(written(few, "--min-score", median))[1] == [line for line in everything if int(line[2]) >= median]
    assert rows(written(few, "--min-identity", "0.5"))[1] == [line for line in everything if float(line[7]) >= 0.5]
    _, best = rows(written(few, "--top", 2, "--report", "score"))
    assert len(best) == 12 and all(line[0] != line[1] for line in best)


def test_free_ends_change_the_score(tmp_path, written):
    path = tmp_path / "two.fa"
    path.write_text(">a\nMKVLAAGWHHEMKVLAAGWHHE\n>b\nAAGWHHE\n")

    def score(*ends):
        return int(rows(written(path, "--mode", "semiglobal", "--report", "score", *ends))[1][0][2])

    everywhere, nowhere = score(), score("--free-ends", "")
    assert score("--free-ends", "query-start") == everywhere  # the target is the query's end
    assert score("--free-ends", " query-start, query-end ") == everywhere
    assert score("--free-ends", "target-start,target-end") == nowhere < everywhere


def test_both_strands(tmp_path, written):
    path = tmp_path / "dna.fa"
    path.write_text(">a\nACGTTGCAAGGTCCATTTGA\n>b\nTTTTCAAATGGACCTTGCAACGTA\n")
    names, (line,) = rows(written(path, "--strand", "both"))
    assert names[2] == "strand" and line[2] == "-" and line[3] == "100"


def test_match_and_mismatch(tmp_path, written):
    path = tmp_path / "dna.fa"
    path.write_text(">a\nACGTACGTAC\n>b\nACGTTCGTAC\n")
    assert rows(written(path, "--mode", "global", "--match", 2, "--mismatch", -3))[1][0][2] == "15"
    assert rows(written(path, "--mode", "global"))[1][0][2] == "41"
    assert rows(written(path, "--mode", "global", "--mismatch", -1))[1][0][2] == "44"


def test_standard_input(family, n_family, command):
    with open(family, "rb") as data:
        done = command("pairs", "-", "--report", "score", stdin=data)
    assert done.returncode == 0 and len(rows(done.stdout)[1]) == n_family * (n_family - 1) // 2


def test_a_link_is_followed_and_a_file_replaced(few, tmp_path):
    target, link = tmp_path / "target.tsv", tmp_path / "link.tsv"
    target.write_text("old")
    link.symlink_to(target)
    assert main(["pairs", few, "-o", str(link)]) == 0
    assert link.is_symlink() and target.read_text().startswith("# tropalign")


def test_devices_and_pipes_by_name_are_written_to_and_stay(few, tmp_path, command):
    done = command("pairs", few, "-o", "/dev/stdout", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("# tropalign")
    assert main(["pairs", few, "-o", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()


def test_gaps_of_two_pieces_and_of_the_ends(few, written, capsys, tmp_path):
    costs = ("--gap-open", 4, "--gap-extend", 2, "--gap-open2", 24, "--gap-extend2", 1)
    text = written(few, "--mode", "global", *costs, "--end-gap-open", 3)
    assert "# gap_cost: min(4 + 2 * residues, 24 + 1 * residues)" in text
    assert "# end_gap_cost: 3 + 2 * residues" in text
    names, table = rows(text)
    proteins = tropalign.read_sequences(few)
    options = {"gap": tropalign.Gap(4, 2, 24, 1), "end_gap": tropalign.Gap(3, 2), "mode": "global"}
    wanted = next(tropalign.align_all(proteins, **options))
    assert [row[names.index("cigar")] for row in table] == wanted.cigars()
    paths = [tmp_path / f"{k}.tsv" for k in (1, 2)]
    for k, path in enumerate(paths, 1):
        arguments = ["--mode", "global", *costs, "--end-gap-open", 3, "--shard", f"{k}/2", "-o", path]
        assert main(["pairs", few, *map(str, arguments)]) == 0
    assert main(["merge", *map(str, paths), "-o", str(tmp_path / "all.tsv")]) == 0
    lines = [line for line in (tmp_path / "all.tsv").read_text().splitlines() if not line.startswith("#")]
    assert lines == [line for line in text.splitlines() if not line.startswith("#")]
    for arguments, sentence in [
        (["--end-gap-open", "3"], "--end-gap-open and --end-gap-extend belong to --mode global or semiglobal"),
        (["--gap-open2", "3"], "--gap-open2 and --gap-extend2 belong together: give both"),
    ]:
        assert main(["pairs", few, *arguments]) == 2
        assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(("n_pairs", "is_whole"), [(1, False), (40, True), (600, True)])
def test_tiles_of_sam_have_whole_queries_where_they_fit(family, tmp_path, monkeypatch, n_pairs, is_whole):
    """Its bytes are those of any tiles."""
    from tropalign.formats.pairs import primary_lines

    one, other, asked = tmp_path / "one.sam", tmp_path / "other.sam", []
    assert main(["pairs", family, "-q", "-o", str(one)]) == 0
    chosen = primary_lines.chosen
    monkeypatch.setattr(primary_lines, "chosen", lambda *arguments: asked.append(1) or chosen(*arguments))
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", str(n_pairs))
    assert main(["pairs", family, "-q", "-o", str(other)]) == 0
    assert other.read_bytes() == one.read_bytes()
    assert bool(asked) != is_whole
