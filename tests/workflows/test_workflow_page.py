"""The page on workflows names files that exist."""

import re

from clone import ROOT, skip_without

skip_without("examples/workflows", "docs")


def test_files_that_the_page_names_exist():
    page = (ROOT / "docs" / "workflows.md").read_text()
    folder = ROOT / "examples" / "workflows"
    names = [ROOT / name for name in re.findall(r"`(examples/[\w/.-]+)`", page)]
    names += [folder / "snakemake" / name for name in re.findall(r"`(bio/[\w/.-]+)`", page)]
    names += [folder / "snakemake" / name for name in re.findall(r"^(shards/\S+)", page, re.MULTILINE)]
    names += [folder / name for name in re.findall(r"^(nextflow/\S+)", page, re.MULTILINE)]
    assert len(names) > 8
    for name in names:
        assert name.exists(), name


def test_modules_are_described_as_they_are():
    """Their inputs and outputs in the table are those of main.nf."""
    page = (ROOT / "docs" / "workflows.md").read_text()
    rows = re.findall(r"^\| `TROPALIGN_(\w+)` \| (.+) \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for verb, given, made in rows:
        path = ROOT / "examples" / "workflows" / "nextflow" / "modules" / "tropalign" / verb.lower() / "main.nf"
        text = path.read_text()
        section = re.search(r"    input:\n(.*?)\n\n", text, re.DOTALL)[1]
        assert re.findall(r"\w+", given.replace("`", "")) == re.findall(r"(?:val|path)\(?\s*(\w+)", section), verb
        emitted = set(re.findall(r"emit: (\w+)", text)) - {"versions"}
        named = set(re.findall(r"`(\w+)`", made))
        assert named == emitted or (verb == "MERGE" and named < emitted), verb
