"""Options of other programs are answered with what to write here."""

import re
from pathlib import Path

import pytest

from tropalign.cli.main import main, make_parser
from tropalign.cli.other_programs import NAMES, PROGRAMS
from tropalign.cli.parser import verbs_of


@pytest.fixture(scope="module")
def options():
    """The options of each verb."""
    verbs = verbs_of(make_parser(False))
    return {name: [one for action in verb._actions for one in action.option_strings] for name, verb in verbs.items()}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("cluster a.fa --id 0.97", "cluster has no --id: write --min-identity, such as 0.97"),
        ("cluster a.fa --id=0.97", "cluster has no --id: write --min-identity, such as 0.97"),
        ("cluster a.fa --centroids o.fa", "cluster has no --centroids: write --representatives"),
        ("cluster --cluster_size a.fa", "no --cluster_size: name the file first, with --order abundance"),
        ("cluster a.fa -c 0.9", "write --min-identity (of CD-HIT) or --min-coverage (of MMseqs2)"),
        ("cluster a.fa --min-seq-id 0.5", "write --min-identity"),
        ("pairs a.fa b.fa --outfmt 6", "no --outfmt: write -o FILE.m8 for BLAST's table, or choose a --format"),
        ("pairs a.fa b.fa -outfmt 6", "no -outfmt: write -o FILE.m8 for BLAST's table, or choose a --format"),
        ("pairs a.fa --blast6out x.m8", "no --blast6out: write -o FILE.m8"),
        ("pairs a.fa --userout x.tsv", "no --userout: write -o FILE.tsv, with --columns"),
        ("pairs a.fa --tblout x.tbl", "no --tblout: write -o FILE.m8"),
        ("pairs a.fa --maxaccepts 5", "no --maxaccepts: write --top"),
        ("pairs a.fa --maxrejects 5", "no --maxrejects: leave it out: no sequence is given up after some tries"),
        ("pairs a.fa --evalue 1e-5", "pairs has no --evalue: write --max-evalue"),
        ("search m.hmm a.fa --evalue 1e-5", "search has no --evalue: write -E"),
        ("search m.hmm a.fa --cpu 4", "search has no --cpu: write --threads"),
        ("msa a.fa --thread 4", "msa has no --thread: write --threads"),
        ("msa a.fa --localpair", "msa has no --localpair: write --effort accurate"),
        ("msa a.fa --adjustdirection", "msa has no --adjustdirection: write --strand adjust"),
        (
            "derep --fastx_uniques a.fa --sizeout",
            "no --fastx_uniques: name the files first; no --sizeout: leave it out",
        ),
        ("derep a.fa --minuniquesize 2", "derep has no --minuniquesize: write --min-size"),
        ("msa a.fa --hmm m.hmm", "msa has no --hmm: write --model"),
        (
            "cluster a.fa --sintax",
            "cluster has no --sintax: leave it out: tropalign place tells taxa",
        ),
        ("tree a.fa -m LG", "tree has no -m: write --distances"),
        ("pairs a.fa --global", "pairs has no --global: write --mode global"),
        ("pairs a.fa -mode global", "pairs has no -mode: write --mode"),
    ],
)
def test_the_sentence_says_what_to_write(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.endswith(f" (see tropalign {words.split()[0]} --help)\n")
    assert list(tmp_path.iterdir()) == []  # no file 'utfmt'


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("cluster_size a.fa", "there is no verb cluster_size: its job is done by tropalign cluster --order abundance"),
        ("scan a.fa a.fa", "a.fa: it holds sequences, and models belong here: name models first, then sequences"),
        (
            "find a.fa a.fa --columns stitle",
            "no column is called 'stitle': descriptions of targets are not kept: write sseqid; --columns help",
        ),
        (
            "place a.fa --reference r.phy --tree r.nwk -o x.jplace",
            "x.jplace: -o is the alignment of the reads: write --jplace x.jplace",
        ),
    ],
)
def test_words_of_other_programs_in_other_places(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in {"a.fa": ">a\nMKVLAW\n", "r.phy": "3 2\na AC\nb AC\nc AG\n", "r.nwk": "(a:1,b:1,c:1);"}.items():
        Path(name).write_text(text)
    assert main(words.split()) in (2, 3)
    assert sentence in capsys.readouterr().err


def test_all_that_is_foreign_is_said_at_once(capsys):
    assert main("pairs -query a.fa -db b.fa -num_threads 4 -out x.m8".split()) == 2
    assert capsys.readouterr().err == (
        "tropalign: pairs has no -query or -db: name the two files first: A, then B; no -num_threads: write --threads; "
        "no -out: write -o FILE (see tropalign pairs --help)\n"
    )


def test_help_is_given_beside_them(capsys):
    assert main("pairs --help --cpu 3".split()) == 0
    assert "tropalign pairs" in capsys.readouterr().out


def test_names_that_mean_nothing_in_a_verb_are_not_answered(capsys):
    assert main("cluster a.fa --evalue 1e-5".split()) == 2
    assert "unrecognized arguments: --evalue 1e-5 (see" in capsys.readouterr().err
    assert main(["pairs", "--", "-query"]) == 3  # a file of that name
    assert "-query: there is no such file" in capsys.readouterr().err


def test_what_is_advised_exists_and_what_exists_is_not_answered(options):
    for verbs, names, what in NAMES:
        for verb in verbs:
            taken = {f"{dashes}{name}" for name in names.split() for dashes in ("-", "--")} & set(options[verb])
            assert not taken, (verb, taken)
            advised = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", what))
            assert advised <= set(options[verb]), (verb, what)


def test_other_programs_are_answered_with_the_verb_for_their_job(options, capsys):
    for names, told in PROGRAMS.items():
        verb, *more = told.split()
        assert verb in options and all(word in options[verb] for word in more if word.startswith("-"))
        for name in names.split():
            assert main([name, "a.fa"]) == 2
            sentence = (
                f"tropalign: there is no verb {name}: its job is done by tropalign {told} (see tropalign --help)\n"
            )
            assert capsys.readouterr().err == sentence
