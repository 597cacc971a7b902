"""``tropalign pairs``: what is written."""

from pathlib import Path

import pytest

from tropalign.cli.main import main


def test_same_bytes_for_threads_tiles_places_and_pipes(family, tmp_path, monkeypatch, command):
    one, two = tmp_path / "one.tsv", tmp_path / "two.tsv"
    assert main(["pairs", family, "-t", "1", "-o", str(one)]) == 0
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "50")
    assert main(["pairs", family, "-t", "2", "--memory", "1G", "--device", "cpu", "-q", "-o", str(two)]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert command("pairs", family).stdout.encode() == one.read_bytes()


REPORTS = {
    "score": ["query", "target", "score"],
    "ends": ["query", "target", "score", "query_start", "query_end", "target_start", "target_end"],
}
REPORTS["alignment"] = [*REPORTS["ends"], "identity", "similarity", "gaps", "columns", "cigar"]


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


@pytest.mark.parametrize(("n_pairs", "is_whole"), [(1, False), (40, True), (600, True)])
def test_tiles_of_sam_have_whole_queries_where_they_fit(family, tmp_path, monkeypatch, n_pairs, is_whole):
    """Its bytes are those of any tiles."""
    from tropalign.formats.pairs import sam

    one, other, asked = tmp_path / "one.sam", tmp_path / "other.sam", []
    assert main(["pairs", family, "-q", "-o", str(one)]) == 0
    chosen = sam.chosen_lines
    monkeypatch.setattr(sam, "chosen_lines", lambda *arguments: asked.append(1) or chosen(*arguments))
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", str(n_pairs))
    assert main(["pairs", family, "-q", "-o", str(other)]) == 0
    assert other.read_bytes() == one.read_bytes()
    assert bool(asked) != is_whole


@pytest.mark.parametrize("form", ["sam", "tsv", "csv"])
def test_without_a_header_shards_are_merged_to_the_same_file(form, tmp_path, capfd):
    (tmp_path / "x.fa").write_text("".join(f">s{k}\n{'ACGTTGCATGCC'[k:]}ACGTACGTAC\n" for k in range(6)))
    words = ["pairs", str(tmp_path / "x.fa"), "-q", "-f", form]
    whole, bare = tmp_path / f"whole.{form}", tmp_path / f"bare.{form}"
    assert main([*words, "-o", str(whole)]) == 0
    assert main([*words, "--no-header", "-o", str(bare)]) == 0
    assert main([*words, "--no-header", "--threads", "2", "-o", str(tmp_path / "two")]) == 0
    lines = whole.read_text().splitlines(keepends=True)
    n_rows = len([line for line in lines if line[0] not in "@#" and not line.startswith("query")])
    assert bare.read_text() == "".join(lines[-n_rows:]) == (tmp_path / "two").read_text()
    shards = [str(tmp_path / f"{k}.shard") for k in (1, 2)]
    for k, shard in enumerate(shards, 1):
        assert main([*words, "--no-header", "--shard", f"{k}/2", "-o", shard]) == 0
    assert main(["merge", *shards, "-q", "-o", str(tmp_path / f"merged.{form}")]) == 0
    assert (tmp_path / f"merged.{form}").read_text() == bare.read_text()


def test_no_header_is_for_files_that_have_one(tmp_path, capfd):
    (tmp_path / "x.fa").write_text(">a\nACGT\n>b\nACGT\n")
    assert main(["pairs", str(tmp_path / "x.fa"), "-f", "paf", "--no-header"]) == 2
    what = "--no-header applies to sam, tsv, csv: choose one of these formats, or leave it out"
    assert what in capfd.readouterr().err
