"""The conda recipe, the Dockerfile and the citation say what pyproject.toml says."""

import json
import os
import re
import shutil
import stat
import subprocess
import tomllib

import pytest
from clone import ROOT, skip_without

import tropalign
from tropalign.cli.main import main

skip_without("packaging")
RECIPE = ROOT / "packaging" / "bioconda"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def recipe():
    """The recipe as conda-build reads it: Jinja, then YAML."""
    jinja2, yaml = pytest.importorskip("jinja2"), pytest.importorskip("yaml")
    made = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string((RECIPE / "meta.yaml").read_text())
    text = made.render(
        compiler=lambda language: f"{language}-compiler",
        stdlib=lambda language: f"{language}-stdlib",
        pin_subpackage=lambda name, max_pin: f"{name} >={tropalign.__version__},<{max_pin}",
    )
    return yaml.safe_load(text)


def plain(requirement):
    return requirement.replace(" ", "")


def test_the_recipe_needs_what_the_package_needs(recipe):
    needs = recipe["requirements"]
    assert sorted(map(plain, needs["run"])) == sorted(["python", *PROJECT["dependencies"]])
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert set(map(plain, build)) <= set(map(plain, needs["host"]))
    assert "cxx-compiler" in needs["build"]


def test_the_recipe_is_of_this_version_and_licence(recipe):
    assert recipe["package"] == {"name": "tropalign", "version": tropalign.__version__}
    assert recipe["source"]["url"].endswith(f"/t/tropalign/tropalign-{tropalign.__version__}.tar.gz")
    assert re.fullmatch("[0-9a-f]{64}", str(recipe["source"]["sha256"]))
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]
    assert recipe["extra"]["additional-platforms"] == ["linux-aarch64", "osx-arm64"]
    assert "noarch" not in recipe["build"] and recipe["build"]["run_exports"]
    least = PROJECT["requires-python"].removeprefix(">=").replace(".", "")
    assert f"  skip: True  # [py < {least}]\n" in (RECIPE / "meta.yaml").read_text()


def test_the_recipe_s_commands_run(recipe, tmp_path, monkeypatch, capsys):
    """In this process, beside the same examples; `place`, whose tests run it, takes too long here."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert recipe["test"]["source_files"] == ["examples"]
    commands = [line.split() for line in recipe["test"]["commands"]]
    assert commands[0] == ["pip", "check"]
    for program, verb, *words in commands[1:]:
        assert program == "tropalign"
        for name in (word for word in words if word.startswith("examples/")):
            assert (tmp_path / name).is_file(), name
        if verb not in ("place", "devices"):
            assert main([verb, *words]) == 0, (verb, capsys.readouterr().err)


def test_the_build_script_is_sound():
    script = RECIPE / "build.sh"
    assert script.stat().st_mode & stat.S_IXUSR
    subprocess.run(["bash", "-n", script], check=True)
    text = script.read_text()
    assert "set -euo pipefail" in text and "--no-deps" in text and "--no-build-isolation" in text


def test_the_dockerfile_names_extras_and_files_that_there_are():
    text = (ROOT / "Dockerfile").read_text()
    extras = re.search(r"^ARG EXTRAS=([a-z,]+)$", text, re.MULTILINE)
    assert extras and set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])
    assert ".whl)[${EXTRAS}]" in text
    told = re.search(r"`Dockerfile` makes an image .*?\. ", (ROOT / "docs" / "install.md").read_text(), re.DOTALL)
    assert re.findall(r"`(\w+)`", told[0])[1:] == extras[1].split(",")
    assert f'licenses="{PROJECT["license"]}"' in text
    assert f'description="{PROJECT["description"]}"' in text
    for name in re.findall(r"^!([\w./]+?)(?:/?\*+)?$", (ROOT / ".dockerignore").read_text(), re.MULTILINE):
        assert (ROOT / name).exists(), name
    for name in re.findall(
        r"^install\(DIRECTORY (\w+) DESTINATION", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE
    ):
        assert f"!{name}/**" in (ROOT / ".dockerignore").read_text(), name
    user = re.findall(r"^USER (.*)$", text, re.MULTILINE)[-1]
    assert not user.startswith(("0", "root"))


def test_hadolint_takes_the_dockerfile():
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_image_is_built_and_aligns(tmp_path):
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True).returncode:
        pytest.skip("no docker engine answers")
    if "TROPALIGN_DOCKER" not in os.environ:
        pytest.skip("building the image takes minutes: TROPALIGN_DOCKER=1 asks for it")
    subprocess.run([docker, "build", "-q", "-t", "tropalign-test", ROOT], check=True)
    shutil.copy(ROOT / "examples" / "efp.fasta", tmp_path)
    tmp_path.chmod(0o777)
    run = [docker, "run", "--rm", "-v", f"{tmp_path}:/data", "tropalign-test"]
    subprocess.run([*run, "pairs", "efp.fasta", "-q", "-o", "all.tsv"], check=True)
    assert main(["pairs", str(tmp_path / "efp.fasta"), "-q", "--no-comments", "-o", str(tmp_path / "own.tsv")]) == 0
    rows = [line for line in (tmp_path / "all.tsv").read_text().splitlines() if not line.startswith("#")]
    assert rows == (tmp_path / "own.tsv").read_text().splitlines()


def test_zenodo_and_the_citation_name_the_same():
    zenodo, citation = json.loads((ROOT / ".zenodo.json").read_text()), (ROOT / "CITATION.cff").read_text()
    assert zenodo["license"] == PROJECT["license"] and f"license: {PROJECT['license']}" in citation
    assert zenodo["title"] == PROJECT["name"] and f"title: {PROJECT['name']}" in citation
    assert [one["name"] for one in zenodo["creators"]] == [one["name"] for one in PROJECT["authors"]]
    assert zenodo["description"] == f"{PROJECT['description']}." and zenodo["description"] in citation
