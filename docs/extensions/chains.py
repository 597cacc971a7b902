"""Sphinx: the Python files that a command runs through, from the command line to the kernel and back.

The build writes them into ``docs/_generated/``; ``python docs/extensions/chains.py`` prints them. A file counts,
with all its lines, if one of its functions runs, or if an object of one of its dataclasses is made. Code that runs
while a module of the package is loaded (bodies of classes, decorators) does not count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
COMMANDS = {
    "pairs": ["pairs", "efp.fasta", "-o", "x.tsv"],
    "msa": ["msa", "efp.fasta", "-o", "x.fasta"],
    "search": ["search", "efp.hmm", "efp.fasta", "-o", "x.txt"],
    "place": ["place", "16s/reads.fasta", "--reference", "16s/ref.phy.gz", "--tree", "16s/ref.nwk", "-o", "x.fasta"],
}
OPENING = """# The ways of four commands

Files of the package whose functions a command runs, with their lines and the number of functions that ran.
"""


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", lambda app: write_chains(Path(app.srcdir) / "_generated" / "chains.md"))
    return {"parallel_read_safe": True}


def write_chains(path: Path) -> None:
    """Write the page."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(page())


def page() -> str:
    """Return the page in Markdown: a table per command."""
    lines = [OPENING]
    for verb in COMMANDS:
        files = chain(verb)
        total = f"{len(files)} files, {sum(n for n, _ in files.values()):,} lines"
        rows = [f"| `{name}` | {n_lines} | {n_functions} |" for name, (n_lines, n_functions) in files.items()]
        lines += [f"## `tropalign {verb}`: {total}", "", "| file | lines | functions |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def chain(verb: str) -> dict[str, tuple[int, int]]:
    """Return the files of a verb's command, in a process of its own: path -> (lines, functions that ran)."""
    done = subprocess.run([sys.executable, __file__, verb], stdout=subprocess.PIPE, check=True)
    return {name: (lines, functions) for name, (lines, functions) in json.loads(done.stdout).items()}


def traced(verb: str) -> dict[str, tuple[int, int]]:
    """Run a verb's command in this process, in an empty folder, and return what `chain` returns."""
    import contextlib
    import os
    import tempfile

    import tropalign
    from tropalign.cli.main import main

    package = f"{Path(tropalign.__file__).parent}{os.sep}"
    ran: dict[str, set[str]] = {}

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        path, name = code.co_filename, code.co_qualname
        if event == "call" and path == "<string>" and code.co_name == "__init__":  # dataclasses make it
            made = type(next(iter(frame.f_locals.values())))
            path, name = getattr(sys.modules.get(made.__module__), "__file__", ""), f"{made.__name__}.__init__"
        if event == "call" and path.startswith(package) and name not in ran.get(path, ()) and not is_loading(frame):
            ran.setdefault(path, set()).add(name)

    def is_loading(frame: Any) -> bool:
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(package):
                return True
            frame = frame.f_back
        return False

    words = [str(EXAMPLES / word) if (EXAMPLES / word).is_file() else word for word in COMMANDS[verb]]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        threading.setprofile(note)
        sys.setprofile(note)
        main([*words, "--quiet"])
        sys.setprofile(None)
    return {
        str(Path(name).relative_to(package)): (len(Path(name).read_text().splitlines()), len(functions))
        for name, functions in sorted(ran.items())
    }


if __name__ == "__main__":
    print(json.dumps(traced(sys.argv[1])) if sys.argv[1:] else page())
