"""What ``--help`` says: examples that work, sentences for every option, defaults."""

import argparse
import gzip
import importlib.util
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tropalign.cli.main import VERBS, main, make_parser
from tropalign.cli.parser import verbs_of

ROOT = Path(__file__).parents[2]
EXAMPLES, SEARCH = ROOT / "examples", ROOT / "tests" / "data" / "search"
ALIGNED = ">human\nMKVLAWGGHIKL\n>mouse\nMKVIAWGG-IKL\n>frog\nMRVIAW-GHIKL\n>fly\nMRVLSW-GHLKL\n"
NEEDED = {".svg": "matplotlib", ".parquet": "pyarrow"}


def parsers(parser):
    """A parser, and those of its verbs."""
    yield parser
    for verb in verbs_of(parser).values():
        yield from parsers(verb)


def examples():
    """Each line of the examples of each ``--help``, the verb first."""
    for parser in parsers(make_parser(False)):
        blocks = (parser.epilog or "").split("\n\n")
        for block in blocks:
            if block.startswith(("example:\n", "examples:\n")):
                yield from ((parser.prog, line.strip()) for line in block.splitlines()[1:])


def records(path, n):
    """The first n records of a FASTA file."""
    return ">" + ">".join(path.read_text().split(">")[1 : n + 1])


def stockholm_of(fasta, name):
    """An alignment of this name in Stockholm's format."""
    rows = (record.split("\n", 1) for record in fasta.split(">")[1:])
    lines = (f"{header.split()[0]} {letters.replace(chr(10), '')}" for header, letters in rows)
    return "\n".join(["# STOCKHOLM 1.0", f"#=GF ID {name}", *lines, "//", ""])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small files with the names that the examples speak of."""
    here = tmp_path_factory.mktemp("examples")
    proteins = records(EXAMPLES / "family.fasta", 4)
    reads = "".join(f">r{k};size={k + 1}\nACGTTGCAAGCTTACGGATCCA\n" for k in range(3))
    texts = dict.fromkeys(("proteins.fa", "family.fa", "a.fa", "b.fa", "new.fa", "proteome.fa"), proteins)
    texts["family.fa"] = ALIGNED.replace("-", "")
    texts["b.fa"] = texts["new.fa"] = proteins.replace(">", ">b_")
    texts |= dict.fromkeys(
        ("family.aln", "old.sto", "reference.fa", "alignment.fa", "tropalign.fa", "mafft.fa"), ALIGNED
    )
    texts |= {
        "muscle.fa": ALIGNED,
        "reads.fa": reads,
        "good.fa": reads,
        "unique.tsv": "#OTU ID\tgut\nr0\t1\nr1\t2\nr2\t3\n",
        "gold.fa": reads.replace(">r", ">g"),
        "genes.fa": records(EXAMPLES / "cpgislands.fa", 2),
    }
    texts["ref.phy"] = "4 24\n" + "".join(
        f"t{k} ACGTTGCAAGCTTACG{pair}ATCCAA\n" for k, pair in enumerate(("GG", "GA", "TA", "TT"))
    )
    texts["ref.nwk"] = "((t0:1,t1:1):1,t2:1,t3:1);\n"
    texts["ref.bestModel"] = "GTR{1/1/1/1/1/1}+FU{0.25/0.25/0.25/0.25}+G4{0.5}, noname = 1-24\n"
    texts["taxids.tsv"] = "".join(f"{record.split()[0]}\t2\n" for record in proteins.split(">")[1:])
    texts["groups.tsv"] = "mouse\trodents\n"
    texts["distances.phy"] = "3\na 0 1 2\nb 1 0 2\nc 2 2 0\n"
    texts["edges.tsv"] = "Ulm\tAalen\t2\nAalen\tUlm\t2\n"
    texts["table.tsv"] = "Ulm\tAalen\tx\ty\t2\nAalen\tUlm\tx\ty\t2\n"
    texts["graph.mtx"] = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n2 1 3\n"
    for name, text in texts.items():
        (here / name).write_text(text)
    packed = {"genomes.fa": reads.replace(">r", ">g"), "proteins.fa": proteins, "roads.tsv": texts["edges.tsv"]}
    packed |= {"chr21.fa": texts["genes.fa"], "swissprot.fasta": proteins}
    packed["nr.fasta"] = proteins
    packed["reads.fq"] = "".join(f"@r{k}\nACGTTGCAAGCTTACGG\n+\nIIIIIIIIIIIIIIIII\n" for k in range(3))
    for name, text in packed.items():
        (here / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("Pfam-A.hmm", "globins4.hmm", "globins.hmm", "kinase.hmm"):
        shutil.copy(SEARCH / "pfam.hmm", here / name)
    shutil.copy(EXAMPLES / "efp.hmm", here / "family.hmm")
    rows = records(EXAMPLES / "efp_aligned.fasta", 9)
    (here / "family.sto").write_text(stockholm_of(rows, "family"))
    (here / "families.sto.gz").write_bytes(gzip.compress((stockholm_of(rows, "a") + stockholm_of(rows, "b")).encode()))
    with tarfile.open(here / "taxdump.tar.gz", "w:gz") as archive:
        for name, text in {
            "nodes": "1\t|\t1\t|\n2\t|\t1\t|\n",
            "names": "2\t|\tB\t|\t\t|\tscientific name\t|\n",
        }.items():
            (here / f"{name}.dmp").write_text(text)
            archive.add(here / f"{name}.dmp", f"{name}.dmp")
    for name in ("references", "alignments"):
        (here / name).mkdir()
        (here / name / "family.fa").write_text(ALIGNED)
    (here / "examples").mkdir()
    shutil.copy(EXAMPLES / "cpgislands.fa", here / "examples")
    shutil.copy(EXAMPLES / "embeddings.npz", here / "vectors.npz")
    command = here / "bin" / "tropalign"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tropalign.cli.main "$@"\n')
    command.chmod(0o755)
    return here


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="examples are not beside the tests")
@pytest.mark.parametrize("prog", dict.fromkeys(prog for prog, _ in examples()))
def test_the_examples_work(prog, folder, no_gpus, monkeypatch, capfd):
    """In their order: what one makes, the next may read."""
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder / "no drivers"))
    if prog.split()[-1] in ("serve", "admin", "submit"):
        pytest.skip("servers run in tests/serve and tests/client")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")
    for line in (line for verb, line in examples() if verb == prog):
        if any(line.endswith(end) and importlib.util.find_spec(library) is None for end, library in NEEDED.items()):
            continue
        if "--pipeline" in line and shutil.which("epa-ng") is None:
            line += " --write-only"
        words = shlex.split(line)
        if words[0] == "tropalign" and not {"|", ">"} & set(words):
            assert main(words[1:]) == 0, (line, capfd.readouterr().err)
        else:
            ran = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
            assert ran.returncode == 0, (line, ran.stderr)


def test_every_verb_has_an_example():
    assert {prog.split()[-1] for prog, _ in examples()} == {"tropalign", *VERBS}


@pytest.mark.parametrize("parser", list(parsers(make_parser(False))), ids=lambda parser: parser.prog)
def test_every_option_says_what_it_does_and_its_default(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help is argparse.SUPPRESS:
            continue
        assert action.help and not action.help.startswith(("(", "default")), action.option_strings
        has_default = action.nargs != 0 and action.option_strings and action.default not in (None, argparse.SUPPRESS)
        assert not has_default or "default" in action.help, action.option_strings


def test_cluster_aligns_whole_sequences_by_default(capsys):
    one = verbs_of(make_parser(False, ["cluster"]))["cluster"]
    (mode,) = [action for action in one._actions if action.dest == "mode"]
    assert mode.default == one.get_default("mode") == "global"
    assert mode.help.endswith("default: global")


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("pairs", "cost of opening a gap, excluding its residues"),
        ("cluster", "cost of opening a gap, excluding its residues"),
        (
            "place",
            "total cost of the first column that the read skips; --gap-extend is not added, unlike in tropalign pairs",
        ),
        ("msa", "cost of a gap between profiles, which CLUSTALW scales by lengths, matrix and column"),
    ],
)
def test_the_opening_cost_of_each_verb_says_what_it_is(verb, words):
    (action,) = [a for a in verbs_of(make_parser(False, [verb]))[verb]._actions if "--gap-open" in a.option_strings]
    assert action.help.startswith(words)
