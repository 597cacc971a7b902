"""Planned commands: the verb's parser reads them as meant, and the examples run and leave what was promised."""

import re
import shlex
from pathlib import Path

import pytest

from tropalign.cli.main import main
from tropalign.submissions.command_line import submission_of
from tropalign.submissions.option_values import parsed
from tropalign.submissions.submission import (
    InputItem,
    Resources,
    Submission,
    foretells,
    link_names,
    outputs_of,
    planned,
)
from tropalign.submissions.verbs import SERVED, served_verb

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Options with which the example of another verb will do, too.
ANY_TARGET = {"msa": {"effort": "fast"}, "pairs": {"report": "score"}}
RESOURCES = Resources(memory_bytes=2 * 10**9, threads=1)


def example(verb, outputs=(), format="", options=None):
    """The example of a verb as a submission, and where its files are."""
    known = served_verb(verb)
    inputs = {dest: (InputItem(Path(file).name, file="0" * 64),) for dest, file in known.example.items()}
    one = Submission(verb, inputs, {**known.example_options, **(options or {})}, format, tuple(outputs))
    return one, {inputs[dest][0]: EXAMPLES / file for dest, file in known.example.items()}


def run_in(folder, one, files, monkeypatch, **how):
    """As a worker does: links in a folder of its own, and there the command."""
    names = link_names(one)
    for item, name in names.items():
        (folder / name).symlink_to(files[item])
    words, outputs = planned(one, names.__getitem__, RESOURCES, **how)
    monkeypatch.chdir(folder)
    assert main(words) == 0, words
    return outputs


def all_outputs(verb):
    """The roles that go together with the example."""
    return [one.role for one in served_verb(verb).outputs if one.role != "main"]


@pytest.mark.parametrize("verb", SERVED)
def test_examples_run_and_leave_what_was_promised(verb, tmp_path, monkeypatch, capsys):
    trimmed = {"min_occupancy": 0.5}
    chosen = {"decode": {"fit": True, "rounds": 2}, "search": {"iterate": 2}, "msa": trimmed, "tree": trimmed}
    options = chosen.get(verb, {})
    # Outputs that need a taxonomy, other trees, given sequences, or all columns.
    left_out = {
        "place": ("taxa", "sunburst", "otu_table"),
        "tree": ("comparison",),
        "cluster": ("unmapped",),
        "derep": ("orientations", "unoriented"),
        "msa": ("differences",),
    }
    roles = [role for role in all_outputs(verb) if role not in left_out.get(verb, ())]
    one, files = example(verb, roles, options=options)
    outputs = run_in(tmp_path, one.checked(), files, monkeypatch)
    assert {output.role for output in outputs} == {"main", *roles}
    there = {path.name for path in tmp_path.iterdir() if not path.is_symlink()}
    assert there == {output.filename for output in outputs}
    for output in outputs:
        data = (tmp_path / output.filename).read_bytes()
        assert data and str(tmp_path).encode() not in data, output
        assert b"/examples/" not in data[:10_000]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("verb", SERVED)
def test_the_command_that_is_shown_writes_the_same_bytes(verb, tmp_path, monkeypatch):
    one, files = example(verb, [role for role in all_outputs(verb) if role in ("report", "tblout", "tree")])
    folders = tmp_path / "there", tmp_path / "here"
    for folder in folders:
        folder.mkdir()
    outputs = run_in(folders[0], one.checked(), files, monkeypatch)
    for item, name in link_names(one).items():
        (folders[1] / name).symlink_to(files[item])
    monkeypatch.chdir(folders[1])
    assert main(shlex.split(one.checked().shown_command())[1:]) == 0
    for output in outputs:
        assert (folders[0] / output.filename).read_bytes() == (folders[1] / output.filename).read_bytes(), output


@pytest.mark.parametrize("verb", [name for name in SERVED if name not in ("place", "score", "db build", "tree")])
def test_every_format_is_written(verb, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="tables of Arrow need pyarrow")
    for format in served_verb(verb).formats:
        if (verb, format) == ("msa", "vcf"):  # of nucleotides; the example has proteins
            continue
        options = {"mode": "global"} if verb == "pairs" else {}
        one, files = example(verb, format=format, options=options)
        if verb == "pairs":  # sam and bam name references
            one = Submission(verb, {**one.inputs, "targets": one.inputs["queries"]}, one.options, format)
        folder = tmp_path / format
        folder.mkdir()
        try:
            (main_output,) = run_in(folder, one, files, monkeypatch)
        except AssertionError:
            if format in ("png", "bam"):  # whose packages may be missing
                continue
            raise
        assert (folder / main_output.filename).stat().st_size > 0


@pytest.mark.parametrize("verb", [name for name in SERVED if served_verb(name).has_forecast])
def test_forecasts_write_nothing(verb, tmp_path, monkeypatch, capsys):
    one, files = example(verb, [role for role in all_outputs(verb) if role == "report"])
    assert foretells(one)
    run_in(tmp_path, one, files, monkeypatch, forecast=True)
    assert re.match(r"cells +", capsys.readouterr().out)
    assert all(path.is_symlink() for path in tmp_path.iterdir())


def test_what_is_not_foretold():
    family = {"family": (InputItem("a.fa"),)}
    assert not foretells(Submission("msa", family, {"method": "clustalw"}))
    assert not foretells(Submission("msa", {**family, "add": (InputItem("b.fa"),)}))
    assert foretells(Submission("msa", family)) and not foretells(example("tree")[0])


def test_a_database_stands_where_a_file_does(tmp_path, monkeypatch):
    one, _ = example("db build")
    (output,) = outputs_of(one)
    assert output.filename == "family.tdb"
    held = InputItem("swiss", database="ab")
    for verb in SERVED:
        for field in served_verb(verb).inputs:
            if field.takes_database and field.dest not in ("mates", "add", "track"):
                asked, places = example(verb)
                (item,) = asked.inputs.get(field.dest, asked.items[:1])
                store = tmp_path / f"{verb}-{field.dest}.tdb"
                assert main(["db", "build", str(places[item]), "-o", str(store)]) == 0
                others = {} if field.dest == "homologs" else ANY_TARGET.get(verb, {})
                asked = Submission(verb, {**asked.inputs, field.dest: (held,)}, others)
                folder = tmp_path / f"{verb}-{field.dest}"
                folder.mkdir()
                run_in(folder, asked, {**places, held: store}, monkeypatch)
                assert (folder / "swiss.tdb").is_symlink()


def some_values(verb):
    for one in served_verb(verb).options:
        values = {"flag": [True], "whole": [200], "number": [0.25, 1e-7], "text": ["-x=y z"], "choice": one.choices}
        values |= {"bootstrap": ["auto"], "letters": ["ABC"]}
        for value in values.get(one.dest, values[one.kind]):
            yield one, value


@pytest.mark.parametrize("verb", SERVED)
def test_the_parser_reads_what_was_planned(verb):
    one, _ = example(verb)
    for option, value in some_values(verb):
        if (
            value == 1e-7 and option.flag in ("--match", "--mismatch", "--xn", "--dn", "--cutoff")
        ) or option.flag.endswith("fix"):
            continue
        asked = Submission(verb, one.inputs, {option.dest: [value] if option.many else value})
        words, _ = planned(asked, lambda item: item.name, RESOURCES)
        found = getattr(parsed(verb, words[len(verb.split()) :]), option.dest)
        assert found == ([value] if option.many else value), words


def test_the_server_decides_how_to_run():
    words, _ = planned(example("pairs")[0], lambda item: item.name, Resources(10**9, 3, "tcp://127.0.0.1:8786"))
    options = parsed("pairs", words[1:])
    assert (options.memory, options.threads, options.cluster) == (10**9, 3, "tcp://127.0.0.1:8786")
    taxa = {"taxa": (InputItem("a.fa"),)}
    at_once, _ = planned(Submission("tree", taxa), str, Resources(10**9, 3, "local:2"))
    shared, _ = planned(Submission("tree", taxa, {"bootstrap": 9}), str, Resources(10**9, 3, "local:2"))
    settling, _ = planned(Submission("tree", taxa, {"bootstrap": "auto"}), str, Resources(10**9, 3, "local:2"))
    assert "--cluster=local:2" not in (*at_once, *settling) and "--cluster=local:2" in shared
    assert planned(example("score")[0], lambda item: item.name, RESOURCES)[0][:2] == [
        "score",
        "--output=efp_clustalw.tsv",
    ]


def test_several_files_of_an_option_come_before_those_of_the_verb():
    inputs = {"reads": ("r1.fq", "r2.fq"), "mates": ("m1.fq", "m2.fq"), "reference": ("ref.phy",), "tree": ("t.nwk",)}
    one = Submission("place", {dest: tuple(map(InputItem, names)) for dest, names in inputs.items()})
    words, _ = planned(one, lambda item: item.name, RESOURCES)
    options = parsed("place", words[1:])
    assert (options.reads, options.mates) == (["r1.fq", "r2.fq"], ["m1.fq", "m2.fq"])
    again, paths, _ = submission_of(one.shown_command().split()[1:])
    assert again == one and paths == {name: name for names in inputs.values() for name in names}


def test_links_collide_with_nothing():
    names = ["x.fa", "X.fa", "x.fasta", "x.msa.fasta.parts", "x-2.fa"]
    items = tuple(InputItem(name, file=f"{k:064x}") for k, name in enumerate(names))
    one = Submission("msa", {"family": items})
    assert [*link_names(one).values()] == ["x.fa", "X-2.fa", "x.fasta", "x.msa.fasta.parts", "x-2-2.fa"]
    assert [output.filename for output in outputs_of(one)] == ["x.msa-2.fasta"]
    reads = InputItem("cpg", file="1" * 64)  # the verb would read a model from it
    assert link_names(Submission("decode", {"sequences": (reads,)}))[reads] == "input-cpg"
    own = InputItem("BLOSUM62", file="0" * 64)
    assert link_names(Submission("pairs", {"queries": items[:1], "matrix": (own,)}))[own] == "BLOSUM62.txt"


def test_a_matrix_of_a_user_is_not_taken_for_one_of_that_name(tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.write_text(
        "   A  R  N  D\n" + "".join(f"{a} {' '.join('7' if a == b else '-7' for b in 'ARND')}\n" for a in "ARND")
    )
    sequences = tmp_path / "s.fa"
    sequences.write_text(">a\nARND\n>b\nARND\n")
    items = InputItem("s.fa", file="1" * 64), InputItem("NUC.4.4", file="0" * 64)
    one = Submission("pairs", {"queries": items[:1], "matrix": items[1:]}, {"report": "score", "alphabet": "protein"})
    folder = tmp_path / "job"
    folder.mkdir()
    run_in(folder, one, {items[0]: sequences, items[1]: own}, monkeypatch)
    assert (folder / "s.tsv").read_text().splitlines()[-1].split("\t")[2] == "28"


def test_names_that_are_shown():
    def shown(verb, name, **others):
        field = served_verb(verb).inputs[0]
        one = Submission(verb, {field.dest: (InputItem(name),)}, **others)
        return [output.filename for output in outputs_of(one)]

    assert shown("pairs", "proteins.fa.gz", outputs=("report", "plot")) == [
        "proteins.tsv",
        "proteins.html",
        "proteins.svg",
    ]
    assert shown("pairs", "p.fa", format="html", outputs=("report",)) == ["p.html", "p.report.html"]
    assert shown("msa", "family.fasta") == ["family.msa.fasta"]
    assert shown("paths", "edges.tsv") == ["edges.paths.tsv"]
    assert shown("pairs", "p.fa", format="matrix", options={"matrix_layout": "phylip"}) == ["p.phy"]
    assert shown("place", "r.fa", outputs=("reference", "table")) == ["r.fasta", "r.fasta.reference", "r.tsv"]
    assert shown("search", "q.hmm", format="tblout", outputs=("tblout",)) == ["q.tblout", "q.tblout.tblout"]
