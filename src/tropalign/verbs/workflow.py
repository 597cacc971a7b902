"""``tropalign workflow``: wrappers and modules for workflow managers, as files in a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from tropalign.errors import InputError, ResourceError, counted
from tropalign.options.option import option
from tropalign.properties import cached
from tropalign.verbs.command import Command

#: Contents of each manager's folder in examples/workflows.
MANAGERS = {
    "snakemake": "wrappers (bio/tropalign) and a workflow that aligns pairs in shards (shards), for Snakemake 8",
    "nextflow": "modules (modules/tropalign) and a workflow that aligns pairs in shards (main.nf), for Nextflow 24.04",
}
#: Omitted: tests of modules, whose data are with the Snakemake wrappers, and compiled Python files.
_LEFT_OUT = {"tests", "nf-test.config", "__pycache__"}


class Workflow(Command):
    """Files for workflow managers."""

    verb = "workflow"
    summary = "write wrappers and workflows for Snakemake or Nextflow"
    description = (
        "Write the wrappers, modules and workflows of this version of tropalign for a workflow manager into a "
        "folder, where you can edit them and refer to them in rules."
    )
    example = """example:
  tropalign workflow --list
  tropalign workflow snakemake -o wrappers
  tropalign workflow nextflow -o modules

Exit codes: 0 done, 2 usage, 3 a folder that is not empty or cannot be written, 4 disk."""

    manager: Literal["snakemake", "nextflow"] | None = option(
        default=None,
        flags=(),
        many="?",
        choices=tuple(MANAGERS),
        role="private",
        help="workflow manager: snakemake or nextflow",
    )
    output: str | None = option(
        default=None,
        flags=("-o", "--output"),
        metavar="DIR",
        role="private",
        help="folder to write into, new or empty",
    )
    list: bool = option(default=False, role="private", help="list the files and their purpose instead")
    quiet: bool = option(default=False, flags=("-q", "--quiet"), role="private", help="do not report what was written")

    def check(self) -> None:
        """Reject incomplete or contradictory options."""
        if self.list and self.output is not None:
            self.refuse("--list writes no files: leave --list or -o out")
        if not self.list and self.manager is None:
            self.refuse(f"name a workflow manager: {' or '.join(MANAGERS)}, or see --list")
        if not self.list and self.output is None:
            self.refuse("name the folder to write into with -o")
        if self.output == "-":
            self.refuse("a folder cannot go to standard output: name one with -o")

    def run(self) -> None:
        """List or write the files."""
        self.check()
        if self.list:
            _list(list(MANAGERS) if self.manager is None else [self.manager])
            return
        assert self.manager is not None and self.output is not None
        try:
            n_files = _write(self.manager, Path(self.output))
        except OSError as error:
            raise ResourceError(
                f"{error.filename or self.output}: operating system error ({error.strerror}): name another folder "
                "with -o"
            ) from None
        if not self.quiet:
            print(f"{counted(n_files, 'files')} for {self.manager} in {self.output}", file=sys.stderr)


def workflow_files(manager: str) -> dict[str, Path]:
    """Return the files for a workflow manager, by their names in the output folder.

    Raises InputError if the package was installed without them.
    """
    folder = example_path(f"workflows/{manager}")
    if folder is None:
        raise InputError("the package was installed without its examples and workflows: install its wheel")
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(name): folder / name for path in found if not _LEFT_OUT & {*(name := path.relative_to(folder)).parts}}


def _list(managers: list[str]) -> None:
    """Print the files of each manager."""
    if sys.stdout is None:
        raise InputError("standard output is closed: redirect it to a file or a terminal")
    for manager in managers:
        print(f"{manager}: {MANAGERS[manager]}")
        for name in workflow_files(manager):
            print(f"  {name}")


def _write(manager: str, folder: Path) -> int:
    """Copy the files, and return their number."""
    import shutil

    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file: name a folder with -o", file=str(folder))
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError("the folder is not empty: name a new one with -o, or empty it", file=str(folder))
    files = workflow_files(manager)
    for name, path in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return len(files)


#: Possible locations of ``examples/``: in the sources, and in the wheel.
_PLACES = (Path(__file__).parents[3] / "examples", Path(__file__).parents[1] / "examples")


@cached
def example_path(name: str) -> Path | None:
    """Return the path of a file or folder of the examples; None if the package came without them."""
    return next((path for place in _PLACES if (path := place / name).exists()), None)
