"""The wrappers and the workflow for Snakemake: run by Snakemake, they write the bytes of the direct commands."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from clone import ROOT, skip_without
from compared import without_dates

from tropalign import __version__
from tropalign.verbs.merge import side_outputs

skip_without("examples/workflows")
SNAKEMAKE = ROOT / "examples" / "workflows" / "snakemake"
if not shutil.which("snakemake", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])):
    pytest.skip("snakemake is not installed: pip install 'tropalign[workflows]'", allow_module_level=True)

WRAPPERS = SNAKEMAKE / "bio" / "tropalign"
RUN = ["snakemake", "--cores", "2", "--show-failed-logs"]
#: What each wrapper's test makes, and the commands that write the same.
DIRECT = {
    "pairs": (
        ["pairs/proteins.tsv", "pairs/proteins.html"],
        "pairs proteins.fasta --mode global --min-identity 0.2 -o pairs/proteins.tsv --html pairs/proteins.html",
    ),
    "search": (
        ["search/proteins.txt", "search/proteins.tbl", "search/proteins.domtbl"],
        "search query.fasta proteins.fasta -E 1e-3 -o search/proteins.txt --tblout search/proteins.tbl "
        "--domtblout search/proteins.domtbl",
    ),
    "place": (
        ["place/reads.fasta", "place/reads.tsv", "place/reads.jplace"],
        "place reads.fasta --reference reference.fasta --tree reference.nwk --strand both -o place/reads.fasta "
        "--table place/reads.tsv --jplace place/reads.jplace",
    ),
    "msa": (
        ["msa/proteins.aln", "msa/proteins.nwk", "msa/proteins.tsv"],
        "msa proteins.fasta --effort accurate -o msa/proteins.aln --tree-out msa/proteins.nwk "
        "--confidence msa/proteins.tsv",
    ),
    "merge": (["merged/proteins.paf"], "pairs proteins.fasta -o merged/proteins.paf"),
    "merge of msa": (
        ["merged/family.aln", "merged/family.nwk", "merged/family.tsv"],
        "msa proteins.fasta -o merged/family.aln --tree-out merged/family.nwk --confidence merged/family.tsv",
    ),
}


@pytest.mark.parametrize("case", DIRECT)
def test_a_wrapper_writes_what_the_command_writes(case, tmp_path, shell):
    """Run as the repository of wrappers tests its own: in a copy of test/, with master/ as the prefix."""
    verb, (targets, command) = case.split()[0], DIRECT[case]
    (tmp_path / "master").symlink_to(SNAKEMAKE)
    wrapped, direct = tmp_path / "wrapped", tmp_path / "direct"
    shutil.copytree(WRAPPERS / verb / "test", wrapped)
    shutil.copytree(WRAPPERS / verb / "test", direct)
    shell(wrapped, *RUN, "--wrapper-prefix", f"file://{tmp_path}/", *targets)
    (direct / Path(targets[0]).parent).mkdir()
    shell(direct, "tropalign", *command.split())
    for target in targets:
        found, expected = (without_dates((folder / target).read_bytes()) for folder in (wrapped, direct))
        assert found == expected, target
        assert any(found), target


def test_every_wrapper_is_whole():
    yaml = pytest.importorskip("yaml")
    folders = sorted(path.name for path in WRAPPERS.iterdir())
    assert folders == sorted({case.split()[0] for case in DIRECT})
    for folder in folders:
        meta = yaml.safe_load((WRAPPERS / folder / "meta.yaml").read_text())
        assert meta.keys() == {"name", "description", "authors", "input", "output", "params"}
        assert meta["name"] == f"tropalign {folder}"
    environments = [*WRAPPERS.glob("*/environment.yaml"), SNAKEMAKE / "shards" / "workflow" / "envs" / "tropalign.yaml"]
    assert len(environments) == len(folders) + 1
    for path in environments:
        assert yaml.safe_load(path.read_text())["dependencies"] == [f"tropalign ={__version__}"], path


def test_what_wrappers_say_of_their_files_is_what_they_take():
    """Names in meta.yaml are those that wrapper.py looks for."""
    yaml = pytest.importorskip("yaml")
    for path in WRAPPERS.glob("*/wrapper.py"):
        text = path.read_text()
        meta = yaml.safe_load(path.with_name("meta.yaml").read_text())
        lines = [line for part in ("input", "output", "params") for line in meta[part] if isinstance(line, dict)]
        for names in lines:
            for name in ", ".join(names).split(", "):
                assert f'"{name}"' in text or f"input.{name}" in text, (path, name)


def test_merge_has_a_name_for_every_file_beside():
    options = {one.typed[-1] for one in side_outputs().values()}
    text = (WRAPPERS / "merge" / "wrapper.py").read_text()
    assert set(re.findall(r'^    "\w+": "(-[\w-]+)",$', text, re.M)) == options


#: Shards of verbs that have no wrapper, by what merging makes of them.
OTHERS = """
rule share:
    input: "proteins.fasta"
    output: "{{k}}.shard"
    shell: "tropalign {words} {{input}} --shard {{wildcards.k}}/2 -o {{output}}"

rule merge:
    input: expand("{{k}}.shard", k=[2, 1])
    output: "{main}", {named}
    threads: 2
    wrapper: "master/bio/tropalign/merge"
"""


@pytest.mark.parametrize(
    ("words", "main", "files"),
    [
        ("tree --unaligned --distances-out a.phy", "all.nwk", {"distances": "a.phy"}),
        (
            "cluster --method single --representatives a.fa --uc a.uc",
            "all.tsv",
            {"representatives": "a.fa", "uc": "a.uc"},
        ),
    ],
)
def test_merge_makes_what_lies_beside_shards_of_other_verbs(words, main, files, tmp_path, shell):
    (tmp_path / "master").symlink_to(SNAKEMAKE)
    folder = tmp_path / "folder"
    shutil.copytree(WRAPPERS / "merge" / "test", folder)
    named = ", ".join(f'{name}="{path}"' for name, path in files.items())
    (folder / "Snakefile").write_text(OTHERS.format(words=words, main=main, named=named))
    shell(folder, *RUN, "--wrapper-prefix", f"file://{tmp_path}/", main)
    made = {path: (folder / path).read_bytes() for path in [main, *files.values()]}
    shell(folder, "tropalign", *words.split(), "proteins.fasta", "-o", main)
    for path, data in made.items():
        assert data and without_dates(data) == without_dates((folder / path).read_bytes()), path


@pytest.fixture
def project(tmp_path):
    """The workflow, and eight proteins to align."""
    folder = tmp_path / "project"
    shutil.copytree(SNAKEMAKE / "shards", folder)
    shutil.copy(WRAPPERS / "pairs" / "test" / "proteins.fasta", folder)
    return folder


OWN = ["--config", "sequences=proteins.fasta", "output=results/all.tsv.gz", "options=--mode global", "shards=3"]


def test_shards_become_the_bytes_of_one_run(project, shell):
    assert "good condition" in shell(project, "snakemake", "--lint")
    plan = shell(project, *RUN, "--dry-run", *OWN)
    assert plan.count("rule share:") == 3
    assert not (project / "results").exists()
    shell(project, *RUN, *OWN)
    shell(project, "tropalign", "pairs", "proteins.fasta", "--mode", "global", "-f", "tsv", "-o", "one.tsv.gz")
    assert (project / "results" / "all.tsv.gz").read_bytes() == (project / "one.tsv.gz").read_bytes()
    assert not list((project / "results").rglob("*.shard*"))  # temporary ones


#: In place of tropalign: the second share is killed when it has two parts, once; then it says what is left of it.
KILLER = """#!{python}
import os, pathlib, signal, subprocess, sys, time
sys.path.append({tests!r})
from kept_parts import parts_in
words = [{python!r}, "-m", "tropalign.cli.main", *sys.argv[1:]]
if "2/2" in words:
    parts = pathlib.Path(words[words.index("--output") + 1] + ".parts")
    killed = pathlib.Path("killed")
    if not killed.exists():
        process = subprocess.Popen(words)
        while process.poll() is None and len(parts_in(parts)) < 2:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        killed.write_text(str(process.wait()))
        sys.exit(137)
    pathlib.Path("left").write_text(str(len(parts_in(parts))))
os.execv(words[0], words)
"""


def test_a_killed_job_goes_on(project, shell, tmp_path, monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "20")
    (project / "long.fasta").write_text("".join(f">s{k}\n{'MKVLAAGWHHE' * 150}\n" for k in range(30)))
    config = ["--config", "sequences=long.fasta", "output=results/all.paf", "options=", "shards=2", "threads=1"]
    (tmp_path / "bin" / "tropalign").write_text(
        KILLER.format(python=sys.executable, tests=str(Path(__file__).parent.parent))
    )
    shell(project, *RUN, *config)
    assert (project / "killed").read_text() == "-9"
    assert int((project / "left").read_text()) >= 2  # Snakemake removes outputs of a failed job, not these
    shell(project, "tropalign", "pairs", "long.fasta", "-o", "one.paf")
    assert (project / "results" / "all.paf").read_bytes() == (project / "one.paf").read_bytes()
