"""Wrong command lines of every verb: a sentence with the remedy, exit 2 or 3, and nothing is written or left."""

import shlex

import pytest

from tropalign.cli.main import main

PLACE = "place --reference ref.phy --tree ref.nwk r1.fa -o x.fasta "
MODEL = "--jplace x.jplace --model GTR+G "

#: What is typed, the exit code, and what the sentence says.
LINES = [
    ("build p.fa x.sto", 2, "2 files are too many: name one and the output with -o, or add --each to do each of them"),
    ("build p.fa x.sto -o x.hmm", 2, "2 files are too many: name one, or add --each to do each of them"),
    ("pairs p.fa n.fa p.fa", 2, "3 files are too many: join those of one set, as in cat p.fa n.fa p.fa | trop"),
    ("pairs n.fa n.fa 'my reads.fa'", 2, "as in cat n.fa n.fa 'my reads.fa' | tropalign pairs -"),
    ("pairs p.fa --columns none -o x.tsv", 2, "--columns help lists all of them"),
    ("pairs p.fa --columns score,score -o x.tsv", 2, "asked for twice: leave one out"),
    ("pairs p.fa --columns score -o x.sam", 2, "choose tsv, csv, m8, jsonl or another table"),
    ("pairs p.fa --columns score -f matrix", 2, "leave --columns out"),
    ("pairs p.fa --columns evalue --mode global -o x.tsv", 2, "use --mode local"),
    ("pairs p.fa -f m8 --report score -o x.m8", 2, "leave it out"),
    ("pairs p.fa --max-evalue nan -o x.tsv", 2, "'nan' is not a number"),
    ("pairs p.fa --max-evalue 1e-400 -o x.tsv", 2, "is not above 0"),
    ("pairs p.fa --max-evalue 1e-306 -o x.tsv", 2, "is below 1e-300: give a number from 1e-300 to 1e+300"),
    ("pairs p.fa --min-bits 1e10 -o x.tsv", 2, "is above 1e+09: give a number from -1e+09 to 1e+09"),
    ("chimeras n.fa --dn 1e308 -o x.tsv", 2, "is above 1e+06: give a number from 1e-06 to 1e+06"),
    ("chimeras n.fa --xn 1e23 -o x.tsv", 2, "is above 1e+06"),
    ("chimeras n.fa --minh 1e23 -o x.tsv", 2, "is above 1e+09"),
    ("build p.fa --effective-number 1e23 -o x.hmm", 2, "is above 1e+09"),
    ("build p.fa --sigma 1e23 -o x.hmm", 2, "is above 1e+06"),
    ("pairs p.fa --max-evalue 1_0 -o x.tsv", 2, "'1_0' is not a number"),
    ("pairs p.fa --min-query-coverage 50% -o x.tsv", 2, "is not a fraction between 0 and 1"),
    ("pairs p.fa --gap-open 1e400 -o x.tsv", 2, "'1e400' is not a number"),
    ("pairs p.fa --gap-open nan -o x.tsv", 2, "'nan' is not a number"),
    ("pairs p.fa --gap-open -1 -o x.tsv", 3, "costs are given as positive numbers"),
    ("pairs p.fa --gap-open2 24 -o x.tsv", 2, "give both"),
    ("pairs p.fa --end-gap-open 1 -o x.tsv", 2, "belong to --mode global or semiglobal"),
    ("pairs p.fa n.fa -o x.tsv", 3, "translate the nucleotides with --translate"),
    ("pairs n.fa --translate both -o x.tsv", 2, "needs a second file"),
    ("pairs p.fa --db-size 5 -o x.tsv", 2, "--db-size counts for E-values"),
    ("pairs n.fa p.fa --translate query --genetic-code 99 -o x.tsv", 2, "NCBI's numbers are 1, 2, 3"),
    ("pairs p.fa --html p.fa -o x.tsv", 2, "end the name in .html"),
    ("pairs p.fa --html - -o -", 2, "give each its own name"),
    ("pairs p.fa --plot x.txt -o x.tsv", 2, "end the name in one of .pdf .png .svg"),
    ("pairs p.fa --html folder -o x.tsv", 3, "name a file in it"),
    ("pairs p.fa --html none/x.html -o x.tsv", 3, "make it first"),
    ("pairs p.fa -o ''", 2, "the name of a file is empty"),
    ("pairs p.fa --html '' -o x.tsv", 2, "the name of a file is empty"),
    ("pairs '' -o x.tsv", 2, "the name of a file is empty"),
    ("merge '' -o x.tsv", 3, "'': there is no such file"),
    ("pairs p.fa --shard 1/2", 2, "name it with -o"),
    ("pairs empty.fa -o x.tsv", 3, "empty.fa: the file is empty"),
    ("cluster n.fa --min-identity nan -o x.tsv", 2, "is not a fraction between 0 and 1"),
    ("cluster n.fa --iupac match --matrix EDNAFULL -o x.tsv", 2, "exclude each other"),
    ("cluster n.fa --coverage-of member -o x.tsv", 2, "belongs to --min-coverage"),
    ("cluster n.fa --uc n.fa -o x.tsv", 2, "n.fa is an input"),
    ("cluster n.fa --uc x.tsv -o x.tsv", 2, "give each its own name"),
    ("cluster n.fa --order abundance -o x.tsv", 3, "choose order length or input"),
    ("paths n.fa --shard 1/2 -o x.tsv", 2, "rounds of an elimination depend on each other and have no shards"),
    ("score n.fa --reference n.fa --shard=1/2", 2, "scoring alignments takes a moment and has no shards"),
    ("cluster n.fa --shard 1/2 -o x.tsv", 2, "leave --shard out"),
    (PLACE + "--mates r1.fa", 2, "r1.fa is named as reads and as their mates: name the file of the second mates"),
    (PLACE + "--mates n.fa", 3, "the same reads in the same order"),
    (PLACE + "--mates r1.fa n.fa", 2, "name as many"),
    (PLACE + "--taxonomy p.fa --table x.tsv", 3, "write a name, a tab and a lineage"),
    (PLACE + "--taxa x.taxa", 2, "name their table with --taxonomy"),
    (PLACE + "--pipeline foo", 2, "invalid choice: 'foo'"),
    (PLACE + "--pipeline epa-ng", 2, "name it with --jplace"),
    (PLACE + MODEL + "--pipeline epa-ng --epa-ng none", 3, "there is no such program"),
    (PLACE + MODEL + "--pipeline epa-ng --shard 1/2", 2, "leave --shard out"),
    (PLACE + "--table r1.fa", 2, "r1.fa is an input"),
    ("msa p.fa --dry-run -o p.fa", 2, "p.fa is an input"),
    ("tree p.fa -o x.nwk", 3, "add --unaligned"),
    ("help pair", 2, "did you mean 'pairs'?"),
    ("--print-man foo", 2, "there is no page 'foo'"),
    ("--print-completion fish", 2, "choose from 'bash', 'zsh', 'tcsh'"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    here = tmp_path_factory.mktemp("wrong")
    (here / "p.fa").write_text(">a\nMKVLAWGGHIKLL\n>b\nMKVIAWGGHIKL\n>c\nMRVIAWGHHIKL\n")
    (here / "n.fa").write_text(">a\nACGTTGCAAGCTTACGG\n>b\nACGTTGCAAGCTTACGA\n")
    (here / "r1.fa").write_text(">r\nACGTTGCAAGCTTACGG\n")
    (here / "ref.phy").write_text("3 17\n" + "".join(f"t{k} ACGTTGCAAGCTTACG{end}\n" for k, end in enumerate("GAT")))
    (here / "ref.nwk").write_text("(t0:1,t1:1,t2:1);\n")
    (here / "empty.fa").touch()
    (here / "folder").mkdir()
    return here


def found(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.parametrize(("line", "code", "sentence"), LINES, ids=[line for line, _, _ in LINES])
def test_a_wrong_line_is_answered_and_nothing_is_left(line, code, sentence, folder, monkeypatch, capfd):
    monkeypatch.chdir(folder)
    before = found(folder)
    assert main(shlex.split(line)) == code
    said = capfd.readouterr()
    assert sentence in said.err and said.out == ""
    assert said.err.startswith("tropalign: ") and said.err.count("\n") == 1
    assert found(folder) == before


def test_words_behind_help_and_version_do_no_harm(capfd):
    assert main(["help", "help"]) == 0
    assert "VERB" in capfd.readouterr().out
    assert main(["version", "--verbose"]) == 0
    assert capfd.readouterr().out.startswith("tropalign 0.")


def test_a_database_may_hold_billions_of_residues(folder, capfd):
    """E-values grow with its size, and by no less where 32 bits end."""
    found = []
    for size in ("4000000", "4000000000"):
        assert main(["pairs", str(folder / "p.fa"), "--columns", "evalue", "--no-comments", "--db-size", size]) == 0
        found.append(float(capfd.readouterr().out.splitlines()[1]))
    assert 900 < found[1] / found[0] < 1010
