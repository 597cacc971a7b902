"""A command line that a user types becomes a submission, with the places of its files."""

import pytest

from tropalign.errors import UsageError
from tropalign.submissions.command_line import submission_of
from tropalign.submissions.submission import InputItem


def asked(text):
    return submission_of(text.split())


def test_files_options_and_outputs():
    one, inputs, outputs = asked("pairs data/a.fa b/a.fa --mode global -o out/x.tsv --html x.html -q --min-score 30")
    assert one.verb == "pairs" and one.options == {"mode": "global", "min_score": 30}
    assert one.inputs == {"queries": (InputItem("a.fa"),), "targets": (InputItem("a-2.fa"),)}
    assert inputs == {"a.fa": "data/a.fa", "a-2.fa": "b/a.fa"}
    assert outputs == {"main": "out/x.tsv", "report": "x.html"} and one.outputs == ("report",)


def test_a_file_that_is_read_twice_is_one_item():
    one, inputs, _ = asked("pairs a.fa a.fa")
    assert one.inputs["queries"] == one.inputs["targets"] and inputs == {"a.fa": "a.fa"}


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("pairs a.fa", "tsv"),
        ("pairs a.fa -o x.paf.gz", "paf"),
        ("pairs a.fa -f sam -o x.txt", "sam"),
        ("msa a.fa -o x.sto", "stockholm"),
        ("tree a.fa -o x.dnd", "dnd"),
        ("search a.hmm b.fa -o x.tbl", "tblout"),
        ("db build a.fa -o x.tdb", "store"),
        ("score a.fa --reference b.fa -o x.txt", "tsv"),
    ],
)
def test_the_format_follows_the_suffix_as_at_home(text, format):
    assert asked(text)[0].format == format


def test_the_layout_of_a_matrix_follows_the_suffix_too():
    assert asked("pairs a.fa -o x.phy")[0].options == {"matrix_layout": "phylip"}
    assert asked("pairs a.fa -f matrix -o x.tsv")[0].options == {}


def test_standard_input_and_output():
    one, inputs, outputs = asked("msa -")
    assert (one.inputs["family"], inputs, outputs) == ((InputItem("stdin.fa"),), {"stdin.fa": "-"}, {"main": "-"})


def test_matrices_and_models_are_names_or_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert asked("pairs a.fa --matrix eblosum50")[0].options == {"matrix": "eblosum50"}
    one, inputs, _ = asked("pairs a.fa --matrix own/m.txt")
    assert one.inputs["matrix"] == (InputItem("m.txt"),) and inputs["m.txt"] == "own/m.txt" and one.options == {}
    assert asked("decode a.fa --model cpg")[0].options == {}
    (tmp_path / "cpg").write_text("")
    assert asked("decode a.fa --model cpg")[0].inputs["model"] == (InputItem("cpg"),)


def test_second_mates_and_the_reference_beside():
    one, _, outputs = asked("place r1.fq --mates r2.fq --reference x.phy --tree x.nwk --split -o out.fa")
    assert one.inputs["mates"] == (InputItem("r2.fq"),)
    assert outputs == {"main": "out.fa", "reference": "out.fa.reference"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "servers cannot run the verb ''"),
        ("merge a.shard", "servers cannot run the verb 'merge'"),
        ("db info x.tdb", "servers cannot run the verb 'db info'"),
        ("pairs", "there is no input: name a file of sequences"),
        ("pairs a.fa --help", "tropalign pairs --help lists the arguments"),
        ("pairs a.fa --threads 3", "the server chooses --threads itself: leave it out"),
        ("pairs a.fa --memory 3G", "the server chooses --memory itself"),
        ("pairs a.fa --device cpu", "the server chooses --device itself"),
        ("pairs a.fa --cluster local:2", "the server chooses --cluster itself"),
        ("pairs a.fa --shard 1/2", "the server chooses --shard itself"),
        ("msa a.fa --each", "servers do not support --each: submit the files one by one"),
        ("pairs a.fa --dry-run", "the server chooses --dry-run itself"),
        ("place r.fa --reference x --pipeline epa-ng", "the server chooses --pipeline itself"),
        ("place r.fa --reference x --save-reference y", "the server chooses --save-reference itself"),
        ("paths g.tsv --from @list.txt", "lists in a file .@FILE. are not sent"),
        ("pairs a.fa --columns help", "lists the arguments"),
        ("pairs a.fa --plot x.png", "--plot x.png: a server writes .svg here"),
        ("cluster a.fa --otu-table x.tsv", "--otu-table x.tsv: a server writes .biom here"),
        ("pairs a.fa --html -", "two outputs cannot both go to standard output"),
        ("pairs a.fa -o x.exe", "no format has the suffix '.exe'"),
        ("pairs a.fa --mod local", "unrecognized arguments: --mod local"),
        ("score . --reference x.fa", r"\. is a folder, but only files are sent"),
    ],
)
def test_what_is_refused(text, sentence, capsys):
    with pytest.raises(UsageError, match=sentence):
        asked(text)


def test_what_the_verb_refuses_is_refused_before_anything_is_sent():
    with pytest.raises(UsageError, match="--sizeout needs --representatives"):
        asked("cluster a.fa --sizeout")
    with pytest.raises(UsageError, match="--split writes two files"):
        asked("place r.fa --reference x --tree y --split")


def test_an_empty_name():
    with pytest.raises(UsageError, match="a file name is empty"):
        submission_of(["pairs", ""])
