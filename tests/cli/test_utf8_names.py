"""Names and descriptions of any letters, through every verb and into every format."""

import html
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.ipc
import pyarrow.parquet
import pyhmmer
import pytest

from tropalign.cli.main import main
from tropalign.formats.format import format_names, format_of
from tropalign.results.tree import read_tree
from tropalign.sequences.aligned_files import read_alignment

NAMES = ("caf\u00e9", "\u6f22\u5b57", "na\u00efve|\u00dc", "plain", "\U0001f9ec")
DESCRIPTION = "\u00df-lactamase"
PROTEINS = [
    "MKVLAWGGHEKVLAWMKTAYIAKQR", "MKVLAWGGHHKVLAWMKTAYIAKQR", "MKVLAWGHHHKVLWMKTAYIAKQRH", "MRVLAWGGHHKVLAWMKTYIAKQRR",
    "MKVLAWGGHEKVIAWMKTAYIAKQW",
]  # fmt: skip
DNA = [f"ACGTACGTTACG{middle}ATCGATTACGATTTCGCGCGATA" for middle in ("ACG", "ACC", "TCG", "CCC", "AAG")]
TREE = "((caf\u00e9:0.1,'\u6f22\u5b57':0.1):0.2,na\u00efve|\u00dc:0.1,(plain:0.1,\U0001f9ec:0.1):0.1);"
ALL = "--max -E 1e9 --domE 1e9 --incE 1e9 --incdomE 1e9"
#: The words of a verb, the option of an output, and the kind of its formats.
OUTPUTS = [
    ("pairs p.fa", "-o", "pairs"),
    ("pairs p.fa -o x.tsv", "--plot", "plots"),
    ("msa p.fa", "-o", "aligned"),
    ("msa p.fa -o x.fa", "--confidence", "confidence"),
    ("msa p.fa -o x.fa", "--tree-out", "trees"),
    ("cluster p.fa --min-identity 1", "-o", "clusters"),
    ("cluster p.fa --min-identity 1 -o x.tsv", "--representatives", "representatives"),
    ("decode d.fa --model cpg --label background", "-o", "segments"),
    ("decode d.fa --model cpg --label background -o x.tsv", "--plot", "tracks"),
    (f"search p.fa p.fa {ALL}", "-o", "hits"),
    (f"scan m.hmm p.fa {ALL}", "-o", "hits"),
    ("place --reference d.fa --tree d.nwk r.fa", "-o", "placed/rows"),
    ("place --reference d.fa --tree d.nwk r.fa -o x.fa", "--table", "placed/table"),
    ("place --reference d.fa --tree d.nwk r.fa -o x.fa", "--jplace", "placed/branches"),
    ("place --reference d.fa --tree d.nwk r.fa -o x.fa", "--html", "placed/report"),
    ("paths g.tsv --from @list.txt", "-o", "paths"),
]
#: Of a verb, formats that it does not write, or only of nucleotides.
NOT_OF = {("pairs", "bam"), ("scan", "stockholm"), ("msa", "vcf")}
CASES = [
    (words, option, name)
    for words, option, kind in OUTPUTS
    for name in format_names(kind)
    if (words.split()[0], name) not in NOT_OF
]
#: Formats that have descriptions, too.
DESCRIBED = {
    "msa": ("fasta", "stockholm", "html"),
    "cluster": (),
    "search": ("text", "tblout", "domtblout", "pfamtblout", "html", "json", "parquet", "arrow", "result", "stockholm"),
}
KINDS = {(words, option): kind for words, option, kind in OUTPUTS}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Sequences, an alignment, a tree, reads, a graph and a list, all with these names."""
    monkeypatch.chdir(tmp_path)
    files = {
        "p.fa": "".join(f">{name} {DESCRIPTION}\n{text}\n" for name, text in zip(NAMES, PROTEINS, strict=True)),
        "d.fa": "".join(f">{name} {DESCRIPTION}\n{text}\n" for name, text in zip(NAMES, DNA, strict=True)),
        "r.fa": "".join(f">read_{name} x\n{text[3:]}\n" for name, text in zip(NAMES, DNA, strict=True)),
        "d.nwk": TREE,
        "g.tsv": "".join(f"{a}\t{b}\t2\n" for a in NAMES for b in NAMES if a < b),
        "list.tsv": "".join(f"{a}\t{b}\n" for a in NAMES for b in NAMES if a < b),
        "list.txt": "".join(f"{name}\n" for name in NAMES),
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    alphabet = pyhmmer.easel.Alphabet.amino()
    builder, background = pyhmmer.plan7.Builder(alphabet), pyhmmer.plan7.Background(alphabet)
    with open("m.hmm", "wb") as out:
        for name, text in zip(NAMES, PROTEINS, strict=True):
            sequence = pyhmmer.easel.TextSequence(name=name.encode(), sequence=text).digitize(alphabet)
            builder.build(sequence, background)[0].write(out)
    return tmp_path


def text_of(path, name):
    """What a file says, as one text."""
    data = Path(path).read_bytes()
    if name in ("arrow", "arrows", "feather"):
        opened = pyarrow.ipc.open_file if data.startswith(b"ARROW1") else pyarrow.ipc.open_stream
        return str(opened(data).read_all().to_pylist())
    if name == "parquet":
        return str(pyarrow.parquet.read_table(path).to_pylist())
    if path.endswith(".npz"):
        with np.load(path) as arrays:
            return str([arrays[each].tolist() for each in arrays.files])
    if name == "result":
        with zipfile.ZipFile(path) as archive:
            return str(json.loads(archive.read("notes.json")))
    if name in ("html", "json", "jplace"):  # which hold JSON, in ASCII or not
        return re.sub(r"(\\u[0-9a-f]{4})+", lambda found: json.loads(f'"{found[0]}"'), data.decode())
    return html.unescape(data.decode())


def run(words, option, path):
    assert main([*words.split(), option, path, "-q"]) == 0


@pytest.mark.parametrize(("words", "option", "name"), CASES)
def test_every_format_keeps_names(words, option, name, folder, capsys):
    kind = KINDS[words, option]
    suffix = ".npz" if (kind, name) == ("pairs", "matrix") else [*format_of(kind, name).suffixes, ".txt"][0]
    path = f"out{suffix}"
    assert main([*words.split(), *(["-f", name] if option == "-o" else []), option, path]) == 0
    err = capsys.readouterr().err
    assert ("not allowed in SAM: changed" in err) == (name == "sam")
    if name in ("png", "pdf", "sam"):
        return
    text = text_of(path, name)
    assert [each for each in NAMES if each not in text] == []
    if option == "-o" and name in DESCRIBED.get(words.split()[0], ()):
        assert DESCRIPTION in text


@pytest.mark.parametrize("name", ["fasta", "clustal", "stockholm", "phylip", "msf"])
def test_alignments_are_read_again(name, folder):
    run(f"msa p.fa -f {name}", "-o", "x.msa")
    names, letters = read_alignment("x.msa")
    assert names == NAMES and letters.tobytes().replace(b"-", b"").decode().startswith(PROTEINS[0][:4])
    lines = Path("x.msa").read_text().splitlines()
    if name in ("clustal", "stockholm", "phylip"):  # rows begin one below the other, a letter per place
        begins = {line.rindex(" ") for line in lines if line.startswith(NAMES)}
        assert len(begins) == 1


def test_trees_and_distances_are_read_again(folder):
    run("msa p.fa", "-o", "x.fa")
    run("tree x.fa", "-o", "x.nwk")
    run("tree p.fa --unaligned", "-o", "y.nwk")
    for path in ("x.nwk", "y.nwk"):
        tree = read_tree(path)
        assert sorted(tree.names) == sorted(NAMES)
    for layout in ("tsv", "phylip"):
        run(f"pairs p.fa -f matrix --matrix-values distance --matrix-layout {layout}", "-o", "x.dist")
        run("tree x.dist", "-o", "z.nwk")
        tree = read_tree("z.nwk")
        assert sorted(tree.names) == sorted(NAMES)


def test_a_store_of_what_is_searched(folder):
    """A file that is searched can be a store, and gives the same hits to the byte."""
    assert main(["db", "build", "p.fa", "-o", "p.tdb"]) == 0
    for sequences in ("p.fa", "p.tdb"):
        run(f"search p.fa {sequences} {ALL} --domtblout {sequences}.domtbl", "-o", f"{sequences}.txt")
    for kind in ("txt", "domtbl"):
        own, other = (lines_of(f"p.{of}.{kind}") for of in ("fa", "tdb"))
        assert own == other and any("caf\u00e9" in line for line in own)


def lines_of(path):
    """Lines that are no comments."""
    return [line for line in Path(path).read_text().splitlines() if not line.startswith("#")]


def test_mended_names_of_sam_and_bam(folder, capsys):
    for path in ("x.sam", "x.bam"):
        assert main(["pairs", "d.fa", "--pairs", "list.tsv", "-o", path]) == 0
        told = "4 names of reads are not allowed in SAM: changed, the first 'caf\u00e9' to 'caf_'"
        assert told in capsys.readouterr().err
    assert "\ncaf_\t" in Path("x.sam").read_text() and Path("x.sam").read_bytes().isascii()


def test_shards_carry_names(folder):
    for verb in (f"search p.fa p.fa {ALL}", "pairs p.fa", "place --reference d.fa --tree d.nwk r.fa"):
        run(verb, "-o", "whole")
        for shard in ("1", "2"):
            run(f"{verb} --shard {shard}/2", "-o", f"{shard}.shard")
        run("merge 1.shard 2.shard", "-o", "merged")
        own, other = lines_of("whole"), lines_of("merged")
        assert own == other and any("caf\u00e9" in line for line in own)


def test_names_in_latin_1_are_read_and_told(folder, capsys):
    """The same names, whatever a file has them in."""
    Path("l.fa").write_text(f">caf\u00e9 {DESCRIPTION}\nACGTACGTTACG\n>\u00dc x\nACGTACGTTACC\n", encoding="latin-1")
    Path("u.fa").write_text(f">caf\u00e9 {DESCRIPTION}\nACGTACGTTACG\n>\u00dc x\nACGTACGTTACC\n", encoding="utf-8")
    for verb in ("pairs", "msa", "cluster", "decode --model cpg"):
        assert main([*verb.split(), "l.fa", "-o", "l"]) == 0
        assert "tropalign: warning: l.fa: bytes that are not UTF-8 are read as Latin-1" in capsys.readouterr().err
        run(f"{verb} u.fa", "-o", "u")
        assert lines_of("l") == lines_of("u")
