"""``tropalign msa``: options, files, bad input, kills."""

import io
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from Bio import AlignIO, Phylo, SeqIO
from kept_parts import parts_in
from msa.evolved import evolved_family

import tropalign
from tropalign.cli.main import main
from tropalign.execution.progress import STATUS

KEPT = {"TROPALIGN_LEAST_KEPT_CELLS": "1", "TROPALIGN_TILE_PAIRS": "4"}


def rows_in(path):
    return {row.id: str(row.seq) for row in SeqIO.parse(io.StringIO(Path(path).read_text()), "fasta")}


def refused(arguments, capsys):
    """Exit code and the one sentence."""
    code = main(["msa", *map(str, arguments)])
    err = capsys.readouterr().err
    assert err.startswith("tropalign: ") and err.count("\n") == 1, err
    return code, err.removeprefix("tropalign: ").strip()


@pytest.fixture
def few(request, tmp_path):
    """Six proteins that all belong to one family."""
    path = tmp_path / "few.fasta"
    records = (request.config.rootpath / "examples" / "efp.fasta").read_text().split(">")
    path.write_text(">" + ">".join(records[1:7]))
    return str(path)


def family_file(tmp_path, text, name="x.fa"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_standard_input_to_standard_output(command, few):
    with open(few) as family:
        done = command("msa", "-", stdin=family)
    assert done.returncode == 0 and done.stderr == ""
    rows = {row.id: str(row.seq) for row in SeqIO.parse(io.StringIO(done.stdout), "fasta")}
    assert {name: row.replace("-", "") for name, row in rows.items()} == rows_in(few)
    assert list(rows) == list(rows_in(few)) and len({*map(len, rows.values())}) == 1


@pytest.mark.parametrize(
    ("suffix", "reader"),
    [(".aln", "clustal"), (".sto", "stockholm"), (".phy", "phylip-relaxed"), (".msf", "msf"), (".nex", "nexus")],
)
def test_formats_by_suffix(few, tmp_path, suffix, reader):
    out, plain = tmp_path / f"out{suffix}", tmp_path / "out.afa"
    assert main(["msa", few, "-o", str(out)]) == main(["msa", few, "-o", str(plain)]) == 0
    rows = {row.id: str(row.seq).replace(".", "-") for row in AlignIO.read(io.StringIO(out.read_text()), reader)}
    assert rows == rows_in(plain)


def test_tables_and_order(few, tmp_path):
    out, table = tmp_path / "out.sto.gz", tmp_path / "confidence.tsv"
    assert main(["msa", few, "-o", str(out), "--confidence", str(table), "--row-order", "tree"]) == 0
    lines = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 1 + sum(map(len, rows_in(few).values()))
    names = list(dict.fromkeys(line.split("\t")[0] for line in lines[1:]))
    assert sorted(names) == sorted(rows_in(few))
    assert (
        f"# command: tropalign msa {few} --format stockholm --row-order tree --confidence {table}\n"
        in table.read_text()
    )


@pytest.mark.parametrize("words", [[], ["--method", "clustalw"], ["--realign", "--effort", "fast"]])
def test_the_page_beside_is_the_page_alone(few, tmp_path, words):
    page, beside = tmp_path / "alone.html", tmp_path / "beside.html"
    assert main(["msa", few, *words, "-o", str(page)]) == 0
    assert main(["msa", few, *words, "-o", str(tmp_path / "out.sto"), "--html", str(beside)]) == 0

    def letters(path):
        return re.search(r'"letters": ?"([^"]+)"', path.read_text()).group(1)

    assert letters(page) == letters(beside)
    assert (tmp_path / "out.sto").read_text().startswith("# STOCKHOLM 1.0")


def test_the_page_beside_an_alignment_that_grows(few, tmp_path):
    out, page = tmp_path / "out.fa", tmp_path / "page.html"
    old, new = tmp_path / "old.fa", tmp_path / "new.fa"
    records = [">" + record for record in Path(few).read_text().split(">")[1:]]
    new.write_text(records[-1])
    (tmp_path / "some.fa").write_text("".join(records[:-1]))
    assert main(["msa", str(tmp_path / "some.fa"), "-o", str(old)]) == 0
    assert main(["msa", str(old), "--add", str(new), "-o", str(out), "--html", str(page)]) == 0
    assert len(rows_in(out)) == len(records) and "<!doctype html>" in page.read_text().lower()


def test_trees_out_and_in(few, tmp_path, capsys):
    tree, out, again = tmp_path / "x.nwk", tmp_path / "out.fa", tmp_path / "again.fa"
    assert main(["msa", few, "-o", str(out), "--tree-out", str(tree), "--row-order", "tree"]) == 0
    leaves = [leaf.name for leaf in Phylo.read(io.StringIO(tree.read_text()), "newick").get_terminals()]
    assert leaves == list(rows_in(out))
    assert main(["msa", few, "-o", str(again), "--tree-in", str(tree), "--row-order", "tree"]) == 0
    assert again.read_bytes() == out.read_bytes()
    text = tree.read_text().replace(leaves[0], "nobody")
    tree.write_text(text)
    code, why = refused([few, "-o", out, "--tree-in", tree], capsys)
    assert code == 3 and why.startswith(f"{tree}: the tree has 'nobody', which is no sequence, and it has no ")


def test_shards_and_kills_drop_the_same_members(few, family, tmp_path, monkeypatch):
    from tropalign.msa import pipeline

    text = Path(few).read_text() + ">" + Path(family).read_text().split(">")[5]
    mixed, alone, out, merged = family_file(tmp_path, text), *(str(tmp_path / f"{name}.fa") for name in "aom")
    assert main(["msa", few, "-q", "-o", alone]) == 0
    rows = Path(alone).read_text()
    with monkeypatch.context() as patch:
        patch.setenv("TROPALIGN_LEAST_KEPT_CELLS", "1")
        patch.setattr(pipeline, "tell_of_foreign", lambda *_: (_ for _ in ()).throw(MemoryError))
        assert main(["msa", mixed, "-q", "--drop-foreign", "-o", out]) == 4  # after the posteriors
    assert main(["msa", mixed, "-q", "--drop-foreign", "-o", out]) == 0
    assert Path(out).read_text() == rows
    shards = [str(tmp_path / f"{k}.shard") for k in (1, 2)]
    for k, shard in enumerate(shards, 1):
        assert main(["msa", mixed, "-q", "--drop-foreign", "--shard", f"{k}/2", "-o", shard]) == 0
    assert main(["merge", *shards, "-o", merged]) == 0
    assert Path(merged).read_text() == rows


def test_the_same_bytes_for_any_number_of_threads(few, tmp_path):
    outs = []
    for n in (1, 2, 3):
        outs.append(tmp_path / f"{n}.sto")
        assert main(["msa", few, "-o", str(outs[-1]), "-t", str(n), "--seed", "5"]) == 0
    assert len({out.read_bytes() for out in outs}) == 1


def test_several_files_are_one_family(few, tmp_path):
    first, *others = Path(few).read_text().split(">")[1:]
    paths = [family_file(tmp_path, f">{text}", f"{k}.fa") for k, text in enumerate((first, ">".join(others)))]
    out, both = tmp_path / "out.fa", tmp_path / "both.fa"
    assert main(["msa", few, "-o", str(out)]) == main(["msa", *paths, "-o", str(both)]) == 0
    assert out.read_bytes() == both.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["--shard", "1/2", "-o", "x.shard", "--effort", "fast"],
            "effort fast aligns group after group and has no shards",
        ),
        (["--shard", "1/2", "-o", "x.shard", "--add", "y.fa"], "--shard shares out the posteriors of a family"),
        (["-", "-"], "standard input can be read once: name - once"),
        (["--cutoff", "0.9"], "argument --cutoff: '0.9' is above 0.5: give a number from 0.0001 to 0.5"),
        (["--keep", "x"], "argument --keep: 'x' is not a number"),
        (["--consistency", "21"], "--consistency 21 is out of range: give a number from 0 to 20"),
        (["--effort", "best"], "argument --effort: invalid choice: 'best'"),
        (["-o", "x.doc"], "x.doc: no format has the suffix '.doc'"),
        (["--confidence", "x.fa"], "x.fa: no format has the suffix '.fa'"),
        (["--html", "x.pdf"], "--html x.pdf: end the name in .html"),
        (["--html", "x.html", "--shard", "1/2", "-o", "x.shard"], "--html is for whole runs"),
        (["--add", "-", "--merge", "x"], "argument --merge: not allowed with argument --add"),
        (["--keep-length"], "--keep-length belongs to --add"),
        (["more.fa", "--add", "x.fa"], "--add takes one alignment, but 2 files are named"),
        (["--merge", "x.fa", "--refine", "3"], "--refine has no meaning with --merge: leave it out"),
        (["--add", "x.fa", "--row-order", "tree"], "--row-order has no meaning with --add: leave it out"),
    ],
)
def test_wrong_usage(arguments, why, few, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text = refused([few, *arguments], capsys)
    assert code == 2 and text.startswith(why)
    assert [path.name for path in tmp_path.iterdir()] == ["few.fasta"]


def test_an_output_is_no_input(few, tmp_path, capsys):
    before = Path(few).read_bytes()
    assert refused([few, "-o", few], capsys) == (2, f"{few} is an input: name another file to write to")
    code, text = refused([few, "-o", tmp_path / "a.fa", "--confidence", tmp_path / "a.fa"], capsys)
    assert code == 2 and "two outputs go to" in text
    assert Path(few).read_bytes() == before


def test_a_file_that_is_named_twice(tmp_path, capsys):
    path = family_file(tmp_path, ">a\nMKV\n>b\nMKL\n")
    sentence = f"{path}: the file is named twice, and all of its records come twice: name it once"
    assert refused([path, path, "-o", tmp_path / "out.fa"], capsys) == (3, sentence)


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        ("", 3, "the file is empty"),
        (">a\nMKV\n>b\n", 3, "record 'b': the sequence is empty: remove the record or use --skip-empty"),
        (">a\nMKV\n>a\nMKL\n", 3, "record 'a': records 1 and 2 have the same name: give each record its own"),
        (">a\n---\n>b\nMKV\n", 3, "record 'a': the sequence is empty: remove the record or use --skip-empty"),
        (">a\nMKVLAWMKT\n>b\n" + "ACGT" * 9 + "\n", 3, "record 'b': this is a nucleotide sequence by its letters"),
        (">a\nMKV\n>b\n" + "M" * 65_536 + "\n", 4, "record 'b' has 65,536 residues, and a family is aligned up to"),
    ],
)
def test_bad_families(text, code, why, tmp_path, capsys):
    path = family_file(tmp_path, text)
    found = refused([path, "-o", tmp_path / "out.fa"], capsys)
    assert found[0] == code and why in found[1]
    assert not (tmp_path / "out.fa").exists()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (">one this\nMKVlaw\n", {"one": "MKVlaw"}),
        (">a\nM\n>b\nMKV\n", None),
        (">a\nMKV\n>b\nMKV\n>c\nmkv\n", {"a": "MKV", "b": "MKV", "c": "mkv"}),
        (">a\nMKXBZUOJ*V\n>b\nMKXBZUOJ*V\n", {"a": "MKXBZUOJ*V", "b": "MKXBZUOJ*V"}),
    ],
)
def test_small_families(text, rows, tmp_path, capsys):
    out = tmp_path / "out.fa"
    assert main(["msa", family_file(tmp_path, text), "-o", str(out)]) == 0
    assert capsys.readouterr().err == ""
    if rows is not None:
        assert rows_in(out) == rows


def test_gaps_are_noted_and_realigned(tmp_path, capsys):
    path, out = family_file(tmp_path, ">a\nMK-VLAW\n>b\nMKVLA.W\n"), tmp_path / "out.fa"
    assert main(["msa", path, "-o", str(out)]) == 0
    assert capsys.readouterr().err == f"tropalign: warning: {path}: 2 gaps in the sequences are left out\n"
    assert main(["msa", path, "-o", str(out), "--realign"]) == 0
    assert capsys.readouterr().err == "" and rows_in(out) == {"a": "MKVLAW", "b": "MKVLAW"}


def test_into_an_alignment(few, tmp_path, capsys):
    records = [f">{text}" for text in Path(few).read_text().split(">")[1:]]
    parts = [family_file(tmp_path, "".join(some), f"{k}.fa") for k, some in enumerate((records[:4], records[4:]))]
    aligned = [tmp_path / "0.sto", tmp_path / "1.aln"]
    for part, out in zip(parts, aligned, strict=True):
        assert main(["msa", part, "-o", str(out)]) == 0
    for option, other in (("--add", parts[1]), ("--merge", aligned[1])):
        out = tmp_path / f"out{option}.fa"
        assert main(["msa", str(aligned[0]), option, str(other), "-o", str(out)]) == 0
        rows = rows_in(out)
        assert list(rows) == list(rows_in(few))
        assert {name: row.replace("-", "") for name, row in rows.items()} == rows_in(few)
        old = tropalign.read_alignment(out)[:4].without_empty_columns()
        assert old == tropalign.read_alignment(aligned[0])
    kept = tmp_path / "kept.fa"
    assert main(["msa", str(aligned[0]), "--add", parts[1], "--keep-length", "-o", str(kept)]) == 0
    assert tropalign.read_alignment(kept).n_columns == old.n_columns
    for option in ("--add", "--merge"):
        code, why = refused([aligned[0], option, aligned[0], "-o", kept], capsys)
        assert code == 3 and "the alignment has a row of this name already: rename one of them" in why
    assert main(["msa", str(aligned[0]), "--add", str(aligned[1]), "-o", str(kept)]) == 0  # its rows without gaps
    assert rows_in(kept) == rows_in(tmp_path / "out--add.fa")
    assert refused([aligned[0], "--add", parts[1], "-o", aligned[0]], capsys)[0] == 2


DNA, PROTEIN = "ACGTTGCAAC" * 4, "MKVLAWERDQPYHFSTINLGMKVLAWERDQ"
OF_KIND = "by its letters, but the family is read as {}: remove it, or say what all are with {}alphabet"


@pytest.mark.parametrize(
    ("old", "new", "kinds"), [(PROTEIN, DNA, ("nucleotide", "protein")), (DNA, PROTEIN, ("protein", "nucleotide"))]
)
@pytest.mark.filterwarnings("ignore::tropalign.TropalignWarning")
def test_another_kind_into_an_alignment(old, new, kinds, tmp_path, capsys):
    alignment = family_file(tmp_path, f">a\n{old}\n>b\n{old}\n", "old.fa")
    other, out = family_file(tmp_path, f">c\n{new}\n", "new.fa"), tmp_path / "out.fa"
    why = f"{other}, record 'c': this is a {kinds[0]} sequence {OF_KIND}"
    for option in ("--add", "--merge"):
        assert main(["msa", alignment, option, other, "-o", str(out)]) == 3
        assert capsys.readouterr().err.splitlines()[-1] == f"tropalign: {why.format(kinds[1], '--')}"
    for extend in (tropalign.add_sequences, tropalign.merge_alignments):
        with pytest.raises(tropalign.InputError) as caught:
            extend(tropalign.read_alignment(alignment), Path(other))
        assert str(caught.value) == why.format(kinds[1], "")
    with pytest.raises(tropalign.InputError, match=r"^record 'c': "):
        tropalign.add_sequences(tropalign.read_alignment(alignment), {"c": new})
    named = [alignment, "--alphabet", "protein", "-o", str(out)]
    for option in ("--add", "--merge"):  # the alphabet is named
        assert main(["msa", *named, option, other]) == 0


@pytest.mark.filterwarnings("ignore:.* do not seem to belong to the family")
def test_memory_is_asked_for_once(family):
    """What is said beforehand is what some of the posteriors say, not the least that there could be."""
    batch = tropalign.read_sequences(family)[:24]
    with pytest.raises(tropalign.ResourceError) as refused:
        tropalign.align_multiple(batch, effort="default", memory_bytes=100 << 20)
    enough = int(1.05 * refused.value.needed_bytes)
    assert len(tropalign.align_multiple(batch, effort="default", memory_bytes=enough).names) == len(batch)


def test_memory_beforehand(family, tmp_path, capsys):
    code, text = refused([family, "-o", tmp_path / "out.fa", "--memory", "75M"], capsys)
    assert code == 4 and " MiB are allowed: allow more with --memory, or align with --effort fast" in text


#: Runs the command and leaves its peak beside it. (What the system tells of a child begins with its parent's memory.)
MEASURED = """
import sys
from pathlib import Path
from tropalign.cli.main import main
from tropalign.machine.memory import peak_bytes
status = main(sys.argv[2:])
Path(sys.argv[1]).write_text(str(peak_bytes() >> 10))
sys.exit(status)
"""


def needed_mib(error):
    """Of the sentence that refuses a run, with what the process takes."""
    return float(re.search(r"needs (?:about )?([\d.]+) MiB", error)[1]) + 90


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the peak")
def test_memory_is_kept(tmp_path, capsys):
    random = np.random.default_rng(1)
    first = random.choice(list("ACDEFGHIKLMNPQRSTVWY"), 250)
    rows = [np.where(random.random(250) < 0.7, random.permutation(first), first) for _ in range(70)]
    path = family_file(tmp_path, "".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(rows)))
    keeps_to_memory(tmp_path, capsys, [path, "--refine", "2"])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the peak")
def test_memory_is_kept_in_mode_fast(tmp_path, capsys):
    keeps_to_memory(tmp_path, capsys, [many(tmp_path), "--effort", "fast"])


def keeps_to_memory(tmp_path, capsys, options):
    """Allows what the sentence of a refused run asks for, and compares the peak with it."""
    options = [*map(str, ["msa", *options, "-o", tmp_path / "out.fa", "-t", "2"])]
    assert main([*options, "--memory", "80M"]) == 4
    needed = needed_mib(capsys.readouterr().err)
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "peak"), *options, "--memory"]
    done = subprocess.run([*command, f"{needed:.0f}M"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int((tmp_path / "peak").read_text()) < needed * 1024 * 1.02


@pytest.fixture
def some(tmp_path):
    """Twelve proteins of 700 residues, alike: a second's work in tiles of four pairs."""
    random = np.random.default_rng(0)
    first = random.choice(list("ACDEFGHIKLMNPQRSTVWY"), 700)
    rows = [np.where(random.random(700) < 0.4, random.permutation(first), first) for _ in range(12)]
    return family_file(tmp_path, "".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(rows)), "some.fa")


@pytest.mark.parametrize("n_parts", [1, 5, 17])
@pytest.mark.parametrize("name", ["out.fa", "out.sto"])
def test_a_killed_run_goes_on(some, tmp_path, start, n_parts, name):
    goes_on(tmp_path, start, n_parts, name, [some, "--refine", "500", "--rules", "quickprobs1"])


@pytest.mark.parametrize("n_parts", [1, 4])
def test_a_killed_run_in_mode_fast_goes_on(tmp_path, start, n_parts):
    goes_on(tmp_path, start, n_parts, "out.sto", [many(tmp_path), "--effort", "fast", "--tree-out", tmp_path / "x.nwk"])


def many(tmp_path):
    """300 proteins of 200 residues: some ten groups of effort fast."""
    texts, _ = evolved_family(300, 200, 1)
    return family_file(tmp_path, "".join(f">s{k}\n{text}\n" for k, text in enumerate(texts)), "many.fa")


def goes_on(tmp_path, start, n_parts, name, options):
    """Kills a run that has so many parts; its like goes on, and writes what a run that nobody killed does."""
    out, whole, parts = tmp_path / name, tmp_path / f"whole.{name}", tmp_path / f"{name}.parts"
    options = ["msa", *map(str, options), "-t", "1"]
    process = start(*options, "-o", out, environment=KEPT)
    while len(parts_in(parts)) < n_parts:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.0005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists() and parts_in(parts)
    other = start(*options, "--seed", "1", "-o", out, environment=KEPT, stderr=subprocess.PIPE)
    assert (
        other.wait() == 3
        and b"this holds finished parts of another run (seed was '0' and is '1')" in other.stderr.read()
    )
    assert start(*options, "-o", out, environment=KEPT).wait() == 0
    assert not out.with_name(f"{name}.parts").exists()
    assert main([*options, "-o", str(whole)]) == 0
    lines, expected = (path.read_text().splitlines() for path in (out, whole))
    assert [line for line in lines if "command:" not in line] == [line for line in expected if "command:" not in line]


def test_a_kept_run_leaves_nothing_behind(few, tmp_path, monkeypatch):
    out, whole = tmp_path / "out.fa", tmp_path / "whole.fa"
    assert main(["msa", few, "-o", str(whole)]) == 0
    for name, value in KEPT.items():
        monkeypatch.setenv(name, value)
    assert main(["msa", few, "-o", str(out)]) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.fasta", "out.fa", "whole.fa"]


def test_interrupted(long, tmp_path, start):
    interrupts(tmp_path, start, [long])


def test_interrupted_while_groups_are_aligned(tmp_path, start):
    interrupts(tmp_path, start, [many(tmp_path), *"--effort fast --rules quickprobs1 --refine 100000 -t 2".split()])


def interrupts(tmp_path, start, options):
    status = tmp_path / "status"
    process = start("msa", *options, "-o", tmp_path / "out.fa", environment={STATUS: str(status)}, stderr=-1)
    while not status.exists() or b"share" not in status.read_bytes():
        assert process.poll() is None, "the run ended before it could be interrupted"
        time.sleep(0.001)
    time.sleep(1)  # and further on
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130  # ends what hangs; a second is what is aimed at
    assert b"interrupted" in process.stderr.read()
    assert not (tmp_path / "out.fa").exists()


def test_stages_on_a_terminal(few, on_terminal):
    seen = on_terminal("msa", few)
    assert "%" in seen and any(stage in seen for stage in ("posteriors", "consistency", "alignment", "refinement"))
