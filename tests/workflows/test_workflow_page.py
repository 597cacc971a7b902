"""The commands of docs/workflows.md run as they are written, and what they make is what tropalign makes."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "workflows.md"
if not PAGE.is_file() or not (ROOT / "examples" / "workflows").is_dir():
    pytest.skip("pages and workflows are in a clone only, not in the sdist", allow_module_level=True)
PATHS = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def commands(title):
    """The commands below a heading of the second level, as one script."""
    section = re.search(rf"^## {title}\n.*?(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```console\n(.*?)^```$", section[0], re.MULTILINE | re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns(".snakemake", "work"))
    return folder


@pytest.mark.skipif(not shutil.which("snakemake", path=PATHS), reason="snakemake is not installed")
def test_the_commands_for_snakemake(clone, shell):
    found = commands("Snakemake")
    assert len(found) == 6
    shell(clone, "bash", "-euc", "\n".join(found))
    project = clone / "project"
    options = ["--mode", "global", "--min-identity", "0.2"]
    shell(project, "tropalign", "pairs", "proteins.fasta", *options, "-f", "tsv", "-o", "one.tsv")
    shell(project, "tropalign", "pairs", "proteins.fasta", *options, "-f", "paf", "-o", "one.paf.gz")
    assert (project / "results" / "proteins.tsv").read_bytes() == (project / "one.tsv").read_bytes()
    assert (project / "results" / "proteins.paf.gz").read_bytes() == (project / "one.paf.gz").read_bytes()


def test_files_that_the_page_names_exist():
    for name in re.findall(r"`(examples/[\w/.-]+)`", PAGE.read_text()):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"^(shards/\S+)", PAGE.read_text(), re.MULTILINE):
        assert (ROOT / "examples" / "workflows" / "snakemake" / name).is_file(), name
