"""``tropalign workflow``: the files of examples/workflows, in a folder of the user."""

import pytest

from tropalign.cli.main import main
from tropalign.verbs.workflow import MANAGERS, example_path, workflow_files

if example_path("workflows") is None:
    pytest.skip("examples are not beside the package", allow_module_level=True)


@pytest.mark.parametrize("manager", MANAGERS)
def test_the_files_are_those_of_the_examples(manager, tmp_path, capsys):
    assert main(["workflow", manager, "-o", str(tmp_path / "new" / "files")]) == 0
    written = {path.relative_to(tmp_path / "new" / "files") for path in tmp_path.rglob("*") if path.is_file()}
    assert {str(name) for name in written} == {*workflow_files(manager)}
    for name in written:
        source = example_path(f"workflows/{manager}") / name
        assert (tmp_path / "new" / "files" / name).read_bytes() == source.read_bytes()
    assert capsys.readouterr().err == f"{len(written)} files for {manager} in {tmp_path / 'new' / 'files'}\n"


def test_what_is_needed_to_run_is_there():
    assert {"bio/tropalign/merge/wrapper.py", "shards/workflow/Snakefile"} <= {*workflow_files("snakemake")}
    assert {"main.nf", "nextflow.config", "modules/tropalign/place/main.nf"} <= {*workflow_files("nextflow")}
    assert not [name for name in workflow_files("nextflow") if "test" in name]


def test_the_list_names_every_file(capsys):
    assert main(["workflow", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines if line[0] != " "] == [*MANAGERS]
    assert [line.strip() for line in lines if line[0] == " "] == [n for m in MANAGERS for n in workflow_files(m)]
    assert main(["workflow", "nextflow", "--list"]) == 0
    assert "wrapper.py" not in capsys.readouterr().out


def test_an_empty_folder_is_written_into(tmp_path, capsys):
    assert main(["workflow", "nextflow", "-o", str(tmp_path), "--quiet"]) == 0
    assert (tmp_path / "main.nf").is_file() and capsys.readouterr().err == ""
