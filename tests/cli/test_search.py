"""``tropalign search`` and ``tropalign scan``: files as HMMER's, streams, shards, runs that go on, and errors."""

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest

import tropalign
from tropalign.cli.main import main
from tropalign.profiles import task as search_task

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = Path(__file__).parent.parent / "data" / "search"
PFAM, PROTEINS = str(DATA / "pfam.hmm"), str(DATA / "proteins.fasta")
TABLES = {"tbl": "--tblout", "domtbl": "--domtblout", "pfamtbl": "--pfamtblout"}
#: Recorded runs of hmmsearch and hmmscan 3.4: whether of all models, and options.
RUNS = {
    "search": (True, ""),
    "acc": (False, "--acc --notextw"),
    "cut_ga": (False, "--cut_ga --noali"),
    "scores": (False, "-T 30 --domT 10 --incT 40 --incdomT 20 -Z 1000 --textw 200"),
    "max": (False, "--max --nonull2 --domZ 3 --seed 7 -E 1 --incE 1e-20"),
    "scan": (True, ""),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """All models in one file; the current directory."""
    models = DATA.joinpath("pfam.hmm").read_bytes() + DATA.joinpath("reference.hmm").read_bytes()
    (tmp_path / "all.hmm").write_bytes(models)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    assert main([*map(str, words), "-q"]) == 0


def plain(path):
    """A file without what says which program wrote it from which files."""
    text = Path(path).read_bytes()
    if b"# - - " in text:
        return re.sub(rb"# (query|target) .*\n", b"", text[text.index(b"# - - ") :])
    return text.partition(b"# Program:")[0]


@pytest.mark.parametrize("name", RUNS)
def test_files_are_those_of_hmmer(name, folder):
    is_of_all, options = RUNS[name]
    words = ["scan" if name == "scan" else "search", "all.hmm" if is_of_all else PFAM, PROTEINS, *options.split()]
    for suffix, option in TABLES.items():
        words += [option, f"own.{suffix}"]
    run(*words, "-o", "own.txt", "-t", 2)
    for path in DATA.glob(f"{name}.*"):
        assert plain(f"own{path.suffix}") == plain(path)


def test_thresholds_of_models_from_a_file(folder):
    """As if the models' own gathering scores were those of the file."""
    text = Path("all.hmm").read_text()
    assert "NAME  test\n" in text and "GA    17.70 17.70\n" in text
    edited = text.replace("GA    17.70 17.70", "GA    30.0 25.5").replace("NAME  test", "NAME  test\nGA    50 60")
    Path("edited.hmm").write_text(edited)
    Path("own.tsv").write_text("# name\tsequence\tdomain\nPF00076\t30\t25.5\n\ntest\t50\t60\n")
    run("search", "edited.hmm", PROTEINS, "--cut_ga", "--noali", "-o", "edited.txt")
    run("search", "all.hmm", PROTEINS, "--cut_ga", "--model-thresholds", "own.tsv", "--noali", "-o", "own.txt")
    assert sections("own.txt") == sections("edited.txt") and len(sections("own.txt")) == 3
    run("search", "edited.hmm", PROTEINS, "--noali", "-E", "1e-6", "-o", "by_E.txt")
    words = ["--model-thresholds", "own.tsv", "-E", "1e-6", "--noali"]
    run("search", "all.hmm", PROTEINS, *words, "-o", "own.txt")
    (fn3,) = (query for query in sections("own.txt") if "fn3" in query)
    assert sections("own.txt") == sections("edited.txt") | {fn3: sections("by_E.txt")[fn3]}
    for part in "12":
        run("search", "all.hmm", PROTEINS, *words, "--shard", f"{part}/2", "-o", f"{part}.shard")
    run("merge", "1.shard", "2.shard", "-o", "merged.txt")
    assert plain("merged.txt") == plain("own.txt")
    run("scan", "edited.hmm", PROTEINS, "--cut_ga", "--tblout", "edited.tbl", "-o", os.devnull)
    words = ["--cut", "ga-if-any", "--model-thresholds", "own.tsv", "--tblout"]
    run("scan", "all.hmm", PROTEINS, *words, "own.tbl", "-o", os.devnull)
    assert sorted(plain("own.tbl").split(b"\n")) == sorted(plain("edited.tbl").split(b"\n"))


def test_names_of_thresholds_that_no_model_has(folder, capsys):
    Path("own.tsv").write_text("RRM_1\t1\t1\nother\t2\t2\nPF00041.13\t1\t1\nmore\t2\t2\n")
    assert main(["search", "all.hmm", PROTEINS, "--model-thresholds", "own.tsv", "-o", "own.txt"]) == 0
    sentence = "own.tsv, line 2: no model has the name or accession 'other'; nor can 1 name after it be found\n"
    assert capsys.readouterr().err == f"tropalign: warning: {sentence}"
    Path("copy.fa").write_bytes(Path(PROTEINS).read_bytes())
    words = ["--each", "--model-thresholds", "own.tsv", "-o", "{name}.txt"]
    assert main(["search", "all.hmm", PROTEINS, "copy.fa", *words]) == 0
    assert capsys.readouterr().err.count("own.tsv, line 2") == 1
    with pytest.warns(tropalign.TropalignWarning, match="per_model: no model has the name or accession 'other'"):
        hits = tropalign.search(PFAM, PROTEINS, thresholds=tropalign.Thresholds(per_model={"other": (1, 1)}))
    assert len(hits) == len(tropalign.search(PFAM, PROTEINS))


def test_accessions_of_uniprot_files(folder):
    """HMMER's tables have those of flat files and models, as recorded from hmmsearch; other tables also FASTA's."""
    model = EXAMPLES.joinpath("efp.hmm").read_text().replace("\nLENG ", "\nACC   PF01132.4\nLENG ", 1)
    Path("efp.hmm").write_text(model)
    record = EXAMPLES.joinpath("efp.fasta").read_text().partition(">sp|Q4UKM7|")[2].partition(">")[0]
    text = "".join(record.split("\n")[1:])
    lines = ["ID   EFP_RICFE   Reviewed;   188 AA.", "AC   Q4UKM7; Q9999;", "SQ   SEQUENCE   188 AA;"]
    Path("efp.dat").write_text("\n".join([*lines, f"     {text}", "//", ""]))
    Path("efp.fa").write_text(f">sp|Q4UKM7|EFP_RICFE\n{text}\n>sp|Q4UKM7-2|EFP_RICFE\n{text}\n>sp|efp\n{text}\n")
    of_fasta = [("sp|Q4UKM7-2|EFP_RICFE", "Q4UKM7-2"), ("sp|Q4UKM7|EFP_RICFE", "Q4UKM7"), ("sp|efp", "")]
    wanted = {"dat": [("EFP_RICFE", "Q4UKM7")], "fa": of_fasta}
    for suffix, expected in wanted.items():
        outputs = ["--tblout", "own.tbl", "--domtblout", "own.dom", "-o"]
        run("search", "efp.hmm", f"efp.{suffix}", *outputs, "own.json")
        run("search", "efp.hmm", f"efp.{suffix}", "--no-comments", "-o", "own.tsv")
        run("scan", "efp.hmm", f"efp.{suffix}", "--no-comments", "-o", "scan.tsv")
        rows = [line.split("\t") for line in Path("own.tsv").read_text().splitlines()[1:]]
        assert sorted((row[3], row[4]) for row in rows) == expected and {row[1] for row in rows} == {"PF01132.4"}
        rows = [line.split("\t") for line in Path("scan.tsv").read_text().splitlines()[1:]]
        assert sorted((row[0], row[1]) for row in rows) == expected and {row[4] for row in rows} == {"PF01132.4"}
        (query,) = json.loads(Path("own.json").read_text())["queries"]
        assert sorted((hit["name"], hit["accession"]) for hit in query["hits"]) == expected
        for name, at in (("own.tbl", 3), ("own.dom", 4)):
            rows = [line.split() for line in Path(name).read_text().splitlines() if line[0] != "#"]
            own = [accession if suffix == "dat" else "-" for _, accession in expected]
            assert sorted(row[1] for row in rows) == own and {row[at] for row in rows} == {"PF01132.4"}


def sections(path):
    """The text of each query, by its first line."""
    texts = plain(path).decode().split("//\n")[:-1]
    return {text[text.index("Query:") :].partition("\n")[0]: text[text.index("Query:") :] for text in texts}


@pytest.mark.parametrize("options", [[], ["-E", "1e-20", "--incE", "1e-30"]])
def test_cutoffs_of_the_models_that_have_them(options, folder):
    run("search", "all.hmm", PROTEINS, "--cut", "ga-if-any", "--noali", *options, "-o", "own.txt")
    run("search", DATA / "reference.hmm", PROTEINS, "--noali", *options, "-o", "others.txt")
    curated, others = sections(DATA / "cut_ga.txt"), sections("others.txt")  # the first ones by hmmsearch
    assert curated and others and sections("own.txt") == curated | others
    assert "thresholding:     GA cutoffs, if the model has them" in Path("own.txt").read_text()
    for part in "12":
        words = ["--cut", "ga-if-any", "--noali", *options, "--shard", f"{part}/2"]
        run("search", "all.hmm", PROTEINS, *words, "-o", f"{part}.shard")
    run("merge", "1.shard", "2.shard", "-o", "merged.txt")
    assert plain("merged.txt") == plain("own.txt")


def test_a_scan_by_the_cutoffs_of_some_models(folder):
    found = {}
    for name, words in {"ga": ["--cut_ga"], "any": ["--cut", "ga-if-any"], "E": []}.items():
        models = PFAM if name == "ga" else "all.hmm"
        run("scan", models, PROTEINS, *words, "--no-comments", "-Z", "9", "--domZ", "9", "-o", f"{name}.tsv")
        rows = [line.split("\t") for line in Path(f"{name}.tsv").read_text().splitlines()[1:]]
        found[name] = {tuple(row) for row in rows}
    curated = {row[3] for row in found["ga"]}
    of_others = {row for row in found["E"] if row[3] not in {model.name for model in tropalign.read_queries(PFAM)}}
    assert curated and of_others and found["any"] == found["ga"] | of_others


def test_a_run_goes_on_where_it_was_interrupted(folder, monkeypatch, capsys):
    monkeypatch.setattr(search_task, "MOST_MODELS", 1)
    monkeypatch.setenv("TROPALIGN_LEAST_KEPT_CELLS", "1")
    words = ["search", "all.hmm", PROTEINS, "--tblout", "a.tbl", "--html", "a.html", "-o", "a.txt"]
    run(*words)
    report = Path("a.html").read_bytes()
    for name in ("a.txt", "a.tbl", "a.html"):
        Path(name).unlink()
    compute, done = search_task.SearchTask.on_cpu, []

    def on_cpu(self, tile, *others):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(tile.index)
        return compute(self, tile, *others)

    monkeypatch.setattr(search_task.SearchTask, "on_cpu", on_cpu)
    assert main([*words, "-q"]) == 130
    assert "the same command goes on where this one stopped" in capsys.readouterr().err
    assert not Path("a.txt").exists() and Path("a.txt.parts").is_dir()
    assert main([*words, "-E", "1"]) == 3
    text = "this directory holds finished parts of another run (thresholds was 'as by default' and is 'E 1.0')"
    assert text in capsys.readouterr().err
    done.clear()
    run(*words)
    assert len(done) == 1
    assert sorted(os.listdir()) == ["a.html", "a.tbl", "a.txt", "all.hmm"]
    assert Path("a.html").read_bytes() == report and plain("a.txt") == plain(DATA / "search.txt")
    assert plain("a.tbl") == plain(DATA / "search.tbl")


def test_what_takes_a_moment_is_not_kept(folder, monkeypatch, capsys):
    def on_cpu(*arguments):
        assert sorted(os.listdir()) == ["all.hmm"]
        raise KeyboardInterrupt

    monkeypatch.setattr(search_task.SearchTask, "on_cpu", on_cpu)
    assert main(["search", "all.hmm", PROTEINS, "-o", "a.txt", "-q"]) == 130
    assert sorted(os.listdir()) == ["all.hmm"]
    monkeypatch.setenv("TROPALIGN_LEAST_KEPT_CELLS", "x")
    assert main(["search", "all.hmm", PROTEINS, "-o", "a.txt", "-q"]) == 2
    assert "TROPALIGN_LEAST_KEPT_CELLS='x' is not a whole number above 0" in capsys.readouterr().err


def test_parquet(folder):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    run("search", PFAM, PROTEINS, "-o", "a.parquet")
    frame = polars.read_parquet("a.parquet")
    lines = (DATA / "search.domtbl").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#") and " test " not in line]
    assert frame["target"].to_list() == [row[0] for row in rows]
    assert [f"{value:.1f}" for value in frame["domain_bits"]] == [row[13] for row in rows]
    assert [f"{value:.2g}" for value in frame["i_evalue"]] == [row[12] for row in rows]


def test_tables_are_no_text_for_a_terminal(folder, monkeypatch, capsys):
    pytest.importorskip("pyarrow")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(["search", PFAM, PROTEINS, "-f", "parquet"]) == 2
    assert "format parquet is binary and cannot be shown in a terminal: name a file with -o" in capsys.readouterr().err


def test_models_of_nucleotides_are_left_out_from_python(folder):
    foreign = DATA.joinpath("reference.hmm").read_bytes().replace(b"ALPH  amino", b"ALPH  DNA")
    Path("mixed.hmm").write_bytes(foreign + Path(PFAM).read_bytes())
    with pytest.warns(tropalign.TropalignWarning, match="the model 'test' is not for proteins and is left out"):
        found = tropalign.search("mixed.hmm", PROTEINS, skip_foreign=True)
        other = tropalign.scan(PROTEINS, "mixed.hmm", skip_foreign=True)
    assert len(found) == len(tropalign.search(PFAM, PROTEINS)) and len(other) == len(tropalign.scan(PROTEINS, PFAM))
    with pytest.raises(tropalign.InputError, match="the model is for DNA"):
        tropalign.search("mixed.hmm", PROTEINS)


@pytest.mark.parametrize("options", [(), ("--iterate", "2")])
def test_the_text_says_whether_the_query_is_a_sequence(options, folder):
    """phmmer and jackhmmer give the residues of a sequence, hmmsearch the nodes of a model."""
    Path("query.fa").write_text(">a\n" + "MKVLAWHEAG" * 3 + "\n")
    Path("family.sto").write_text(f"# STOCKHOLM 1.0\na {'MKVLAWHEAG' * 3}\nb {'MKVLAWHDAG' * 3}\n//\n")
    for query, wanted in (("query.fa", "[L=30]"), ("family.sto", "[M=30]"))[: 1 if options else 2]:
        run("search", query, PROTEINS, *options, "-o", "x.txt")
        (line,) = [line for line in Path("x.txt").read_text().splitlines() if line.startswith("Query: ")][:1]
        assert line.split()[-1] == wanted


#: Name, E-value, score and bias of the best targets by `hmmsearch --tformat afa` (3.3.2), examples/efp_aligned.fasta
#: against its own model.
OF_AFA = """
tr|H8KCP7|H8KCP7_RICMS 8.2e-85 274.3 2.3
sp|Q4UKM7|EFP_RICFE 2.3e-84 272.9 2.8
tr|G4KMG2|G4KMG2_RICJY 6.2e-84 271.4 3.7
"""


def test_targets_with_gaps_are_those_of_an_aligned_file(tmp_path, capfd):
    """FASTA with gaps is refused with the remedy, which gives the hits of hmmsearch's format afa."""
    aligned, model = Path(__file__).parents[2] / "examples/efp_aligned.fasta", tmp_path / "efp.hmm"
    run("build", aligned, "-o", model)
    assert main(["search", str(model), str(aligned)]) == 3
    assert "is a gap, but unaligned sequences are required: remove the gaps, or use --gaps remove" in (
        capfd.readouterr().err
    )
    run("search", model, aligned, "--gaps", "remove", "--tblout", tmp_path / "x.tbl", "-o", tmp_path / "x.txt")
    rows = [line.split() for line in (tmp_path / "x.tbl").read_text().splitlines() if not line.startswith("#")]
    assert len(rows) == 37
    assert [" ".join([row[0], *row[4:7]]) for row in rows[:3]] == OF_AFA.split("\n")[1:4]
