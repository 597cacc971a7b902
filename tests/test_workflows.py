"""GitHub's workflows: what actionlint does not ask of them (`make check-workflows` runs that)."""

import re
import tomllib

import pytest
from clone import ROOT, skip_without

skip_without(".github/workflows")
FOLDER = ROOT / ".github" / "workflows"
yaml = pytest.importorskip("yaml")
WORKFLOWS = {path.name: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yml"))}
JOBS = {f"{name}:{job}": body for name, flow in WORKFLOWS.items() for job, body in flow["jobs"].items()}
#: Machines that GitHub lends: Linux and macOS, x86-64 and arm64.
MACHINES = {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel"}
#: Jobs that may do more than read the repository, and what.
MAY = {
    "release.yml:publish": {"id-token": "write", "attestations": "write"},
    "docs.yml:publish": {"pages": "write", "id-token": "write"},
}


def steps(job):
    return JOBS[job].get("steps", [])


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_reads_only_and_gives_way_to_its_successor(name):
    assert WORKFLOWS[name]["permissions"] == {"contents": "read"}
    assert WORKFLOWS[name]["concurrency"]["group"]


@pytest.mark.parametrize("job", JOBS)
def test_a_job_has_the_least_permissions_a_limit_and_a_known_machine(job):
    assert JOBS[job].get("permissions") == MAY.get(job)
    if "uses" in JOBS[job]:  # has its own jobs
        assert (ROOT / JOBS[job]["uses"]).is_file()
        return
    assert 5 <= JOBS[job]["timeout-minutes"] <= (120 if job == "release.yml:long" else 60)
    machine = JOBS[job]["runs-on"]
    machines = JOBS[job]["strategy"]["matrix"]["machine"] if machine == "${{ matrix.machine }}" else [machine]
    assert set(machines) <= MACHINES


@pytest.mark.parametrize("job", JOBS)
def test_actions_are_fixed_and_get_no_password(job):
    for step in steps(job):
        if "uses" in step:
            assert re.fullmatch(r"(actions|pypa)/[a-z-]+@(v\d+|release/v1)", step["uses"]), step
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        assert "secrets." not in str(step)


@pytest.mark.parametrize("job", JOBS)
def test_no_word_of_a_stranger_gets_into_a_command(job):
    """Titles and names of branches are texts that anybody writes; ${{ }} pastes them into the shell."""
    for step in steps(job):
        pasted = re.findall(r"\$\{\{(.*?)\}\}", step.get("run", ""))
        assert not pasted, step


@pytest.mark.parametrize("job", JOBS)
def test_what_a_job_runs_is_there(job):
    makefile = (ROOT / "Makefile").read_text()
    for line in (line for step in steps(job) for line in step.get("run", "").splitlines()):
        if made := re.match(r"make (.*)", line):
            for target in made[1].split():
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
        for path in re.findall(r"(?<![\w/.-])(?:packaging|\.ci|tests)(?:/[\w.-]+)*", line):
            assert (ROOT / path).exists(), path


def test_every_job_that_is_waited_for_is_there():
    for name, flow in WORKFLOWS.items():
        for job, body in flow["jobs"].items():
            needs = body.get("needs", [])
            assert set([needs] if isinstance(needs, str) else needs) <= set(flow["jobs"]), f"{name}:{job}"


def test_all_systems_with_wheels_are_tested_with_the_oldest_and_the_newest_python():
    matrix = JOBS["ci.yml:tests"]["strategy"]["matrix"]
    assert set(matrix["machine"]) == set(JOBS["wheels.yml:wheels"]["strategy"]["matrix"]["machine"]) == MACHINES
    versions = {*matrix["python"], *(one["python"] for one in matrix["include"])}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {words[-1] for one in project["classifiers"] if (words := one.split(" :: "))[-1].startswith("3.")}
    assert versions == named
    assert project["requires-python"] == f">={min(named, key=lambda version: int(version[2:]))}"


def test_a_release_comes_from_a_tag_alone_and_is_attested():
    release = WORKFLOWS["release.yml"]
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads "on" as true
    assert release["jobs"]["build"]["needs"] == release["jobs"]["long"]["needs"] == "version"
    assert release["jobs"]["publish"]["needs"] == ["build", "long"]
    uses = [step["uses"] for step in steps("release.yml:publish")]
    assert uses[-2].startswith("actions/attest-build-provenance@")
    assert uses[-1].startswith("pypa/gh-action-pypi-publish@")
    assert "password" not in str(release)
