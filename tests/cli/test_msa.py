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
from Bio import AlignIO, SeqIO
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


@pytest.mark.parametrize(
    ("suffix", "reader"),
    [(".aln", "clustal"), (".sto", "stockholm"), (".phy", "phylip-relaxed"), (".msf", "msf"), (".nex", "nexus")],
)
def test_formats_by_suffix(few, tmp_path, suffix, reader):
    out, plain = tmp_path / f"out{suffix}", tmp_path / "out.afa"
    assert main(["msa", few, "-o", str(out)]) == main(["msa", few, "-o", str(plain)]) == 0
    rows = {row.id: str(row.seq).replace(".", "-") for row in AlignIO.read(io.StringIO(out.read_text()), reader)}
    assert rows == rows_in(plain)


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


DNA, PROTEIN = "ACGTTGCAAC" * 4, "MKVLAWERDQPYHFSTINLGMKVLAWERDQ"
OF_KIND = "but the others are read as {}: remove it, or set the kind of all sequences with {}alphabet"


@pytest.mark.parametrize(
    ("old", "new", "kinds"), [(PROTEIN, DNA, ("nucleotide", "protein")), (DNA, PROTEIN, ("protein", "nucleotide"))]
)
@pytest.mark.filterwarnings("ignore::tropalign.TropalignWarning")
def test_another_kind_into_an_alignment(old, new, kinds, tmp_path, capsys):
    alignment = family_file(tmp_path, f">a\n{old}\n>b\n{old}\n", "old.fa")
    other, out = family_file(tmp_path, f">c\n{new}\n", "new.fa"), tmp_path / "out.fa"
    why = f"{other}, record 'c': this looks like a {kinds[0]} sequence, {OF_KIND}"
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


#: Runs the command and leaves its peak beside it. (What the system tells of a child begins with its parent's memory.)
MEASURED = """
import sys
from pathlib import Path
from tropalign.cli.main import main
from tropalign.resources.limits import peak_bytes
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
        and b"this directory holds finished parts of another run (seed was '0' and is '1')" in other.stderr.read()
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
    interrupts(tmp_path, start, [long, "--no-anchors"])  # copies take no time if the family is cut


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


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["#=GF ID x", "#=GC RF xxxxxx", "#=GR a SS HHHHHH", "#=GS a AC X1"], "#=GC RF, #=GF ID, #=GR SS, #=GS AC"),
        (["#=GC PP_cons 999999"], "#=GC PP_cons"),
        (["#=GF CC by hand"], "#=GF CC"),
        (["#=GF CC tropalign 1.0", "#=GF CC command: x"], ""),
        (["#=GS a DE a protein"], ""),
        ([], ""),
    ],
)
@pytest.mark.parametrize("option", ["--add", "--merge"])
def test_annotation_that_is_not_kept_is_named(option, lines, wanted, tmp_path, capsys):
    old, new, out = (tmp_path / name for name in ("old.sto", "new.fa", "out.sto"))
    old.write_text("\n".join(["# STOCKHOLM 1.0", *lines, "a MKVLAW", "b MKV-AW", "//", ""]))
    new.write_text(">n\nMKVLLAW\n")
    assert main(["msa", str(old), option, str(new), "-o", str(out)]) == 0
    told = capsys.readouterr().err
    assert f"warning: {old}: annotation is not kept: {wanted}\n" in told if wanted else "annotation" not in told
    assert ("#=GS a DE a protein" in out.read_text()) == any("DE a protein" in line for line in lines)


@pytest.mark.parametrize("words", [["--realign"], ["--gaps", "remove"]])
def test_gaps_are_refused_or_removed(words, tmp_path, capsys):
    path, out = family_file(tmp_path, ">a\nMK-VLAW\n>b\nMKVLA.W\n"), tmp_path / "out.fa"
    assert main(["msa", path, "-o", str(out)]) == 3
    assert "line 2, record 'a': '-' at position 3 is a gap" in (said := capsys.readouterr().err) and "--gaps" in said
    assert main(["msa", path, "-o", str(out), *words]) == 0
    assert capsys.readouterr().err == "" and rows_in(out) == {"a": "MKVLAW", "b": "MKVLAW"}


@pytest.mark.parametrize("form", ["phylip", "stockholm", "clustal", "msf", "fasta"])
def test_names_that_a_format_cannot_hold_are_refused_before_anything_is_computed(form, tmp_path, monkeypatch, capsys):
    from tropalign.msa import run

    monkeypatch.setattr(run.MsaRun, "compute", lambda *_: pytest.fail("the family was aligned"))
    rows = "'Homo sapiens' MKVLAW\n'Homo erectus' MKVLCW\n"
    head = "#NEXUS\nbegin data;\ndimensions ntax=2 nchar=6;\nformat datatype=protein gap=-;\nmatrix\n"
    (tmp_path / "x.nex").write_text(f"{head}{rows};\nend;\n")
    assert main(["msa", str(tmp_path / "x.nex"), "-f", form, "-o", str(tmp_path / "out")]) == 3
    assert "rename the sequence" in capsys.readouterr().err


OLD, NEW = ">ref\nACGTTGCA--TTGCATGGCATTAGG\n>b\nACGTAGCAGGTTGCATGGCATTAGG\n", ">c\nACGTTGCATTGCATGGCCCCATTAGG\n"


def differences_in(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")][1:]


def test_differences_have_the_insertions_that_keep_length_leaves_out(tmp_path):
    (tmp_path / "old.fa").write_text(OLD), (tmp_path / "new.fa").write_text(NEW)
    words = ["msa", str(tmp_path / "old.fa"), "--add", str(tmp_path / "new.fa"), "--keep-length", "-o"]
    table, kept, same = tmp_path / "d.tsv", tmp_path / "kept.fa", tmp_path / "same.fa"
    assert main([*words, str(kept), "--differences", str(table)]) == main([*words, str(same)]) == 0
    assert kept.read_bytes() == same.read_bytes() and rows_in(kept)["c"] == rows_in(kept)["ref"]
    assert differences_in(table) == [
        ["5", "substitution", "T", "A", "1", "b"],
        ["8", "insertion", "-", "GG", "1", "b"],
        ["17", "insertion", "-", "CCC", "1", "c"],
    ]
    assert main([*words, "-", "-f", "vcf", "--reference-row", "b", "--differences", str(table)]) == 0
    assert differences_in(table)[1] == ["9", "deletion", "GG", "-", "2", "ref c"]


def test_differences_of_proteins_and_of_an_alignment_kept_as_it_is(tmp_path, capsys):
    path, table = family_file(tmp_path, ">a\nMKVLAW\n>b\nMKVLCW\n>c\nMK-LAW\n"), tmp_path / "d.tsv"
    assert main(["msa", "--aligned", path, "-q", "-o", str(tmp_path / "x.aln"), "--differences", str(table)]) == 0
    assert differences_in(table) == [["3", "deletion", "V", "-", "1", "c"], ["5", "substitution", "A", "C", "1", "b"]]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--reference-row", "a"], 2, "--reference-row is for --differences and format vcf"),
        (["-f", "vcf", "--max-gaps", "0.5"], 2, "format vcf counts the residues of a whole row: leave --max-gaps out"),
        (["--differences", "d.tsv", "--max-gaps", "0.5"], 2, "--differences counts the residues of a whole row"),
        (["-f", "vcf"], 3, "format vcf is for nucleotides"),
        (["--differences", "d.tsv", "--reference-row", "x"], 3, "the alignment has no row of the name 'x'"),
        (["--differences", "d.tsv", "--reference-row", ""], 3, "the alignment has no row of the name ''"),
    ],
)
def test_differences_that_cannot_be_are_refused_before_anything_is_computed(
    words, code, sentence, tmp_path, monkeypatch, capsys
):
    from tropalign.msa import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run.MsaRun, "compute", lambda *_: pytest.fail("the family was aligned"))
    path = family_file(tmp_path, ">a\nMKVLAW\n>b\nMKVLCW\n")
    assert main(["msa", path, *words]) == code and sentence in capsys.readouterr().err
