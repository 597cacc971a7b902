"""The version stands in one place, the sdist holds what builds and is tested, the wheel what runs."""

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from clone import ROOT, skip_without

import tropalign

#: Endings of files that are code, or made by the build: all others are read when the package runs.
CODE = {".py", ".pyi", ".pyc", ".so"}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    skip_without("src", "CMakeLists.txt")
    backend = pytest.importorskip("scikit_build_core.build")
    folder = tmp_path_factory.mktemp("sdist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        name = backend.build_sdist(str(folder))
    with tarfile.open(folder / name) as archive:
        files = (member for member in archive if member.isfile())
        return {member.name.split("/", 1)[1]: archive.extractfile(member).read() for member in files}


def test_the_sdist_has_the_version_of_the_package(sdist):
    assert Parser().parsestr(sdist["PKG-INFO"].decode())["Version"] == tropalign.__version__


def test_the_sdist_is_what_git_tracks(sdist):
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("these are the files of an sdist, not a clone, or git is not installed")
    told = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = {name for name in told.split("\0") if name and (ROOT / name).is_file()}
    assert tracked <= set(sdist)
    new = {name for name in set(sdist) - tracked if not name.startswith("build/man/man1/")}
    assert not [name for name in new if name.startswith((".venv", "build", "dist")) or name.endswith(".so")]


def test_the_metadata_names_the_licence_and_its_files(sdist):
    told = Parser().parsestr(sdist["PKG-INFO"].decode())
    assert told["License-Expression"] == "BSD-3-Clause"
    assert told.get_all("License-File") == ["LICENSE", "LICENSE.third-party"]
    assert any(name.startswith("Programming Language :: Python :: 3.1") for name in told.get_all("Classifier"))


def test_the_installed_version_is_the_version_of_the_package():
    try:
        installed = importlib.metadata.version("tropalign")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("tropalign is imported from its sources")
    assert installed == tropalign.__version__


def test_no_other_file_tells_the_version():
    skip_without("CITATION.cff", "pyproject.toml")
    assert "\nversion" not in (ROOT / "CITATION.cff").read_text()
    assert "\nversion =" not in (ROOT / "pyproject.toml").read_text()


def test_the_changelog_has_the_version_and_what_follows_it():
    skip_without("CHANGELOG.md")
    text = (ROOT / "CHANGELOG.md").read_text()
    assert text.index("## [Unreleased]") < text.index(f"## [{tropalign.__version__}]")


def test_the_wheel_holds_what_is_read_beside_the_code(tmp_path, monkeypatch):
    """Kernels, colours and the page. The compiled core is left out, which would take minutes."""
    skip_without("src", "CMakeLists.txt")
    backend = pytest.importorskip("scikit_build_core.build")
    monkeypatch.chdir(ROOT)
    name = backend.build_wheel(str(tmp_path), {"wheel.cmake": "false", "wheel.py-api": "py3"})
    with zipfile.ZipFile(tmp_path / name) as wheel:
        held = set(wheel.namelist())
    sources = ROOT / "src"
    data = [path for path in sources.rglob("*") if path.is_file() and path.suffix not in CODE]
    assert {".k", ".json", ".html", ".toml", ".tsv"} <= {path.suffix for path in data}
    assert {str(path.relative_to(sources)) for path in data} <= held


def test_no_generated_file_is_tracked():
    """What a run or a build wrote, and somebody added with the rest."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("these are the files of an sdist, not a clone, or git is not installed")

    def tracked(*words):
        told = subprocess.run(["git", "ls-files", "-z", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return [name for name in told.stdout.split("\0") if (ROOT / name).is_file()]

    assert tracked("-i", "-c", "--exclude-standard") == []
    own = {"", ".md", ".toml", ".txt", ".cff", ".json", ".yaml", ".third-party"}
    assert [name for name in tracked() if "/" not in name and Path(name).suffix not in own] == []
    made = (".result", ".shard", ".part", ".so", ".o", ".a", ".pyc", ".whl", ".log")
    assert [name for name in tracked() if name.endswith(made) and not name.startswith("tests/data/")] == []


def test_the_sdist_builds_and_tests_itself(sdist):
    """The folders that the build and the tests read, also where git is not there to ask."""
    folders = {name.split("/")[0] for name in sdist if "/" in name}
    assert {"native", "src", "tests", "bench", "docs", "examples"} <= folders
    files = {"CMakeLists.txt", "LICENSE", "LICENSE.third-party", "README.md", "pyproject.toml", "CITATION.cff"}
    assert files <= set(sdist)


@pytest.fixture(scope="module")
def checks():
    """packaging/check_dist.py, which `make check-dist` runs on a wheel that was built."""
    path = ROOT / "packaging" / "check_dist.py"
    if not path.is_file():
        pytest.skip("packaging is not beside the tests")
    spec = importlib.util.spec_from_file_location("check_dist", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FINE = (
    "tropalign.whl is consistent with the following platform tag: {} . The wheel references external versioned symbols"
)
NONE = "The wheel requires no external shared libraries! :)"


@pytest.mark.parametrize(
    ("tag", "rest", "fault"),
    [
        ('"manylinux_2_35_x86_64"', NONE, None),
        ('"manylinux_2_28_aarch64"', "", None),
        ('"manylinux_2_39_x86_64"', NONE, "newer than the builder's glibc 2.36"),
        ('"linux_x86_64"', NONE, "does not run on other Linux"),
        (
            '"manylinux_2_35_x86_64"',
            "The following external shared libraries are required",
            "needs an external library",
        ),
    ],
)
def test_the_check_of_a_wheel_s_platform(checks, tag, rest, fault):
    told = f"{FINE.format(tag)} {rest}"
    if fault is None:
        assert checks.check_platform(told, ("glibc", "2.36")) == tag.strip('"')
    else:
        with pytest.raises(SystemExit, match=fault):
            checks.check_platform(told, ("glibc", "2.36"))


def test_the_check_of_a_wheel_s_files(checks):
    info, man = "tropalign-1.dist-info", "tropalign-1.data/data/share/man/man1"
    names = ["tropalign/__init__.py", "tropalign/_native.abi3.so", f"{info}/METADATA"]
    names += [f"{info}/licenses/LICENSE", f"{info}/licenses/LICENSE.third-party"]
    names += [f"{man}/tropalign.1", f"{man}/tropalign-pairs.1"]
    checks.check_contents(names, ["pairs"])
    for name in names[1:2] + names[3:]:
        with pytest.raises(SystemExit, match="the wheel lacks"):
            checks.check_contents([other for other in names if other != name], ["pairs"])
    for strange in ("tests/test_x.py", "tropalign/core.cpp", "libstdc++.so.6"):
        with pytest.raises(SystemExit, match="the wheel holds"):
            checks.check_contents([*names, strange], ["pairs"])


def test_wheels_are_built_for_all_pythons_and_tried_with_files_that_there_are():
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())
    told, abi3 = options["tool"]["cibuildwheel"], options["tool"]["scikit-build"]["wheel"]["py-api"]
    own = {f"cp{version}" for version in ("311", "312", "313", "314") if f"cp{version}" < abi3}
    assert set(told["build"].replace("-*", "").split()) == own | {abi3}
    named = [path for line in told["test-command"] for path in re.findall(r"\{project\}/(examples/\S+)", line)]
    assert len(named) >= 2 and all((ROOT / path).is_file() for path in named)
