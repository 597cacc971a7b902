"""The modules for Nextflow: their scripts, filled by Groovy, write the bytes of the direct commands."""

import re
import shutil
from pathlib import Path

import pytest
from clone import ROOT, skip_without
from compared import without_dates
from nextflow_parts import groovy_2, has_groovy, input_names, outputs, run_groovy, run_workflow, sections

from tropalign import __version__

skip_without("examples/workflows")
NEXTFLOW = ROOT / "examples" / "workflows" / "nextflow"

MODULES = {path.parent.name: path.read_text() for path in sorted(NEXTFLOW.glob("modules/tropalign/*/main.nf"))}
DATA = ROOT / "examples" / "workflows" / "snakemake" / "bio" / "tropalign"
needs_groovy = pytest.mark.skipif(not has_groovy(), reason="groovy is not installed: apt-get install groovy")
needs_nextflow = pytest.mark.skipif(not shutil.which("nextflow"), reason="nextflow is not installed")

#: Cases of a module: its inputs, ext.args, the files that it has to make beside versions.yml, and the direct command.
CASES = {
    "pairs": (
        "pairs",
        {"queries": "proteins.fasta", "targets": "", "shard": "", "suffix": "tsv.gz", "files": ["html", "plot"]},
        "--mode global",
        ["test.tsv.gz", "test.html", "test.svg"],
        "pairs proteins.fasta --mode global -o test.tsv.gz --html test.html --plot test.svg",
    ),
    "pairs of two files": (
        "pairs",
        {"queries": "proteins.fasta", "targets": "others.fasta", "shard": "", "suffix": "paf", "files": []},
        None,
        ["test.paf"],
        "pairs proteins.fasta others.fasta -o test.paf",
    ),
    "search": (
        "search",
        {
            "models": "query.fasta",
            "sequences": "proteins.fasta",
            "shard": "",
            "suffix": "txt",
            "files": ["tblout", "domtblout", "pfamtblout", "alignment", "html"],
        },
        "-E 1e-3",
        ["test.txt", "test.tblout", "test.domtblout", "test.pfamtblout", "test.sto", "test.html"],
        "search query.fasta proteins.fasta -E 1e-3 -o test.txt --tblout test.tblout --domtblout test.domtblout "
        "--pfamtblout test.pfamtblout -A test.sto --html test.html",
    ),
    "place": (
        "place",
        {
            "reads": "reads.fasta",
            "mates": "",
            "reference": "reference.fasta",
            "tree": "reference.nwk",
            "taxonomy": "",
            "shard": "",
            "suffix": "phy",
            "files": ["table", "jplace"],
        },
        "--strand both",
        ["test.phy", "test.table.tsv", "test.jplace"],
        "place reads.fasta --reference reference.fasta --tree reference.nwk --strand both -o test.phy "
        "--table test.table.tsv --jplace test.jplace",
    ),
    "msa": (
        "msa",
        {"sequences": "proteins.fasta", "guide": "", "suffix": "aln", "files": ["tree", "confidence"]},
        "--effort fast",
        ["test.aln", "test.nwk", "test.confidence.tsv"],
        "msa proteins.fasta --effort fast -o test.aln --tree-out test.nwk --confidence test.confidence.tsv",
    ),
}


def values_for(verb, inputs, args=None, prefix=None):
    """What Nextflow puts into a module's script."""
    names = {name for line in input_names(MODULES[verb]) for name in line if not name.startswith("meta")}
    assert inputs.keys() == names, verb
    task = {"ext": {"args": args, "prefix": prefix}, "cpus": 2, "memory": 1024, "process": f"TROPALIGN_{verb.upper()}"}
    return {"meta": {"id": "test"}, "meta2": {"id": "other"}, "task": task, **inputs}


def filled(folder, wanted):
    """Scripts and the patterns of their outputs, of modules with their values; Groovy is started once for all."""
    jobs, ends = [], [0]
    for verb, values, section in wanted:
        parts = sections(MODULES[verb])
        patterns = [f'"{pattern}"' for pattern, _, _ in outputs(MODULES[verb])]
        jobs += [{"code": code, "values": values} for code in (parts[section], parts["when"], *patterns)]
        ends.append(len(jobs))
    texts = run_groovy(folder, jobs)
    found = []
    for (verb, _, _), begin, end in zip(wanted, ends, ends[1:], strict=False):
        script, when, *patterns = texts[begin:end]
        assert when == "true"
        names = [(name, is_optional) for _, name, is_optional in outputs(MODULES[verb])]
        found.append((script, [(pattern, *rest) for pattern, rest in zip(patterns, names, strict=True)]))
    return found


def folder_with_data(path, verb):
    """A folder of a task, with the inputs that stand in the wrapper's test."""
    path.mkdir()
    for file in (DATA / verb / "test").glob("*.*"):
        shutil.copy(file, path)
    shutil.copy(DATA / "search" / "test" / "proteins.fasta", path / "others.fasta")
    return {file.name for file in path.iterdir()}


def run_task(path, shell, script, patterns, given):
    """Runs a script as Nextflow does; what it makes has to be what the outputs say."""
    (path / ".command.sh").write_text(script)
    shell(path, "bash", "-euo", "pipefail", ".command.sh")
    made = {file.name for file in path.iterdir()} - given - {".command.sh", ".command.out"}
    matched = {}
    for pattern, name, is_optional in patterns:
        matched[name] = {file.name for file in path.glob(pattern)} - given
        assert matched[name] or is_optional, name
    assert set().union(*matched.values()) == made
    versions = (path / "versions.yml").read_text()
    assert re.fullmatch(rf'"TROPALIGN_\w+":\n {{4}}tropalign: {re.escape(__version__)}\n', versions), versions
    return matched


@needs_groovy
@pytest.mark.parametrize("case", CASES)
def test_a_module_writes_what_the_command_writes(case, tmp_path, shell):
    verb, inputs, args, names, command = CASES[case]
    values = values_for(verb, inputs, args)
    (script, patterns), (stub, _) = filled(tmp_path, [(verb, values, "script"), (verb, values, "stub")])
    for place, text in {"task": script, "stub": stub}.items():
        given = folder_with_data(tmp_path / place, verb)
        matched = run_task(tmp_path / place, shell, text, patterns, given)
        assert set().union(*matched.values()) == {*names, "versions.yml"}
    folder_with_data(tmp_path / "direct", verb)
    shell(tmp_path / "direct", "tropalign", *command.split())
    for name in names:
        found, expected = (without_dates((tmp_path / place / name).read_bytes()) for place in ("task", "direct"))
        assert found == expected and any(found), name


SHARDED = {
    "pairs": ("tsv", ["html"]),
    "search": ("txt", ["tblout", "domtblout"]),
    "place": ("fasta", ["table", "jplace"]),
}


@needs_groovy
@pytest.mark.parametrize("verb", SHARDED)
def test_shards_and_merge_write_the_bytes_of_one_task(verb, tmp_path, shell):
    suffix, files = SHARDED[verb]
    inputs = {**CASES[verb][1], "suffix": suffix, "files": files}
    given = folder_with_data(tmp_path / "merge", verb)
    names = [f"test.{number}_of_3.shard" for number in (1, 2, 3)]
    joined = values_for("merge", {"shards": " ".join(reversed(names)), "suffix": suffix, "files": files})
    parts = [(verb, values_for(verb, {**inputs, "shard": f"{number}/3"}), "script") for number in (1, 2, 3)]
    *tasks, merge, one = filled(
        tmp_path, [*parts, ("merge", joined, "script"), (verb, values_for(verb, inputs), "script")]
    )
    for name, (script, patterns) in zip(names, tasks, strict=True):
        folder_with_data(tmp_path / name, verb)
        assert run_task(tmp_path / name, shell, script, patterns, given)["shard"] == {name}
        shutil.copy(tmp_path / name / name, tmp_path / "merge")
    merged = run_task(tmp_path / "merge", shell, *merge, given | set(names))
    folder_with_data(tmp_path / "one", verb)
    run_task(tmp_path / "one", shell, *one, given)
    assert merged["merged"] == {f"test.{suffix}"}
    for name in set().union(*merged.values()):
        if name != "versions.yml":
            found, expected = (without_dates((tmp_path / place / name).read_bytes()) for place in ("merge", "one"))
            assert found == expected, name


@needs_groovy
def test_the_workflow_scatters_and_merges(tmp_path, shell):
    """Two files in three shards each; `shell` puts the command on PATH."""
    records = (DATA / "pairs" / "test" / "proteins.fasta").read_text().split(">")[1:]
    for name, chosen in {"a": records[:5], "b": records[4:]}.items():
        (tmp_path / f"{name}.fasta").write_text(">" + ">".join(chosen))
    inputs = [{"id": name, "path": str(tmp_path / f"{name}.fasta")} for name in "ab"]
    values = {"shards": 3, "suffix": "paf", "files": ["html"]}
    args = {"TROPALIGN_PAIRS": "--mode global"}
    text = (NEXTFLOW / "main.nf").read_text()
    made = run_workflow(tmp_path, text, "ALIGN_IN_SHARDS", MODULES, inputs, values, args)
    assert {channel: len(files) for channel, files in made.items()} == {
        "merged": 2,
        "html": 2,
        "plot": 0,
        "versions": 2,
    }
    for name, merged, page in zip("ab", made["merged"], made["html"], strict=True):
        options = ["--mode", "global", "-o", f"{name}.paf", "--html", f"{name}.html"]
        shell(tmp_path, "tropalign", "pairs", f"{name}.fasta", *options)
        assert Path(merged).read_bytes() == (tmp_path / f"{name}.paf").read_bytes()
        assert Path(page).read_bytes() == (tmp_path / f"{name}.html").read_bytes()


@needs_groovy
def test_every_file_is_groovy(tmp_path):
    files = [*NEXTFLOW.glob("*.config"), *NEXTFLOW.rglob("*.nf"), *NEXTFLOW.rglob("*.nf.test")]
    assert len(files) > 12
    assert run_groovy(tmp_path, [{"parse": groovy_2(path.read_text())} for path in files]) == [""] * len(files)
    with pytest.raises(AssertionError, match="startup failed"):
        run_groovy(tmp_path, [{"parse": "workflow { A( }"}])


def test_every_module_is_whole():
    yaml = pytest.importorskip("yaml")
    assert sorted(MODULES) == ["merge", "msa", "pairs", "place", "search"]
    for verb, text in MODULES.items():
        folder = NEXTFLOW / "modules" / "tropalign" / verb
        assert text.startswith(f"process TROPALIGN_{verb.upper()} {{")
        meta = yaml.safe_load((folder / "meta.yml").read_text())
        assert meta["name"] == f"tropalign_{verb}"
        described = [
            [name for part in item for name in part] if isinstance(item, list) else [*item] for item in meta["input"]
        ]
        assert described == input_names(text)
        names = {}
        for name, (item,) in meta["output"].items():
            (names[name],) = item[-1] if isinstance(item, list) else item
        assert names == {name: pattern for pattern, name, _ in outputs(text)}
        environment = yaml.safe_load((folder / "environment.yml").read_text())
        assert environment["dependencies"] == [f"bioconda::tropalign={__version__}"]
        assert re.findall(r"tropalign:([\d.]+)'", text) == [__version__] * 2
        assert f'process "TROPALIGN_{verb.upper()}"' in (folder / "tests" / "main.nf.test").read_text()


@needs_nextflow
@pytest.mark.parametrize("stub", [False, True])
def test_the_engine_runs_the_workflow(tmp_path, shell, stub):
    workflow = tmp_path / "nextflow"
    shutil.copytree(NEXTFLOW, workflow)
    shutil.copy(DATA / "pairs" / "test" / "proteins.fasta", tmp_path)
    shell(tmp_path, "nextflow", "-v")
    words = ["-profile", "test", "--input", "proteins.fasta", "--options", "--mode global", "-ansi-log", "false"]
    shell(tmp_path, "nextflow", "run", workflow, *words, *(["-stub"] if stub else []))
    result = tmp_path / "results" / "proteins.tsv"
    assert result.is_file()
    if not stub:
        shell(tmp_path, "tropalign", "pairs", "proteins.fasta", "--mode", "global", "-o", "one.tsv")
        assert result.read_bytes() == (tmp_path / "one.tsv").read_bytes()
