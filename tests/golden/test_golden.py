"""Commands with their inputs and their output: each ``*.txt`` in this folder is a table of them.

A table consists of paragraphs. A paragraph with a command is a test, in an empty folder of its own. The files of a
paragraph without a command are made for all tests below it. A paragraph has lines of these kinds::

    # text                     the first one names the test
    file NAME                  makes a file of the lines `| ...` below it, or of a Python expression (text or bytes):
    file NAME = EXPRESSION     read(PATH) gives a file of the test or the repository, records(PATH) its FASTA records
    folder NAME                makes a folder
    $ tropalign VERB ...       runs in this process; NAME=VALUE in front, `< FILE` and `> FILE` at the end are allowed
    $ cat FILE ...             shows files, decompressed by suffix; `rows` omits lines that begin with #
    $ cmp FILE FILE ...        compares files byte by byte; `cmp-rows` ignores lines that begin with #
    $ ls                       lists the files that commands have made
    $ shards 1,3 tropalign ... compares the files of a command, called {}.tsv and so on in it, with those that
                               `tropalign merge` makes of 1 shard and of 3 shards in reversed order
    needs MODULE               skips the test if Python has no such module

The lines below a command are what to expect: `| line` of standard output, `! line` of standard error, `2! line` if it
exits with 2, `sha256 HEX` for a long output, and `left NAME` for what a command that fails leaves. ``...`` stands for
any text in a line and, alone in a line, for any lines. The number of the version is written as VERSION.

``pytest tests/golden --write-golden`` writes what is new or has changed: check the difference before you commit it.
``--golden-with "--threads 4"`` adds these options to all commands that have them, and expects the same output.
"""

import gzip
import hashlib
import os
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from xopen import xopen

import tropalign
from tropalign.cli.main import main, make_parser
from tropalign.cli.parser import verbs_of

ROOT, HERE = Path(__file__).parents[2], Path(__file__).parent
LONGEST = 5  # lines that are written out
STEP, EXPECTED = re.compile(r"#|file |folder |needs |\$ "), re.compile(r"[|!]|\d+!|sha256 |left ")


class Block(NamedTuple):
    """A paragraph with commands, and the paragraphs without commands above it."""

    table: Path
    shared: list[str]
    text: str

    def __str__(self):
        title = re.search(r"^# (.*)", self.text, re.M) or re.search(r"^\$ (?:tropalign )?(.*)", self.text, re.M)
        return f"{self.table.stem}: {title[1]}"


def blocks_of(table):
    """Split a table into its tests."""
    shared, found = [], []
    for text in re.split(r"\n\n+", table.read_text(encoding="utf-8").strip("\n")):
        if re.search(r"^\$ ", text, re.M):
            found.append(Block(table, shared[:], text))
        else:
            shared.append(text)
    return found


def steps_of(text):
    """Split a paragraph into pairs of a step and the lines below it."""
    steps = []
    for line in text.split("\n"):
        if STEP.match(line):
            steps.append((line, []))
        else:
            assert steps and EXPECTED.match(line), f"this line is of no kind: {line}"
            steps[-1][1].append(line)
    return steps


def read(path):
    """Read a file of the test, or else of the repository."""
    return (Path(path) if Path(path).exists() else ROOT / path).read_bytes()


def records(path):
    """Split such a file into its FASTA records."""
    return [f">{record}" for record in read(path).decode().split(">")[1:]]


class Shell:
    """Run the steps of a paragraph in the current folder."""

    def __init__(self, capture, monkeypatch, extra):
        self.capture, self.monkeypatch, self.extra, self.inputs = capture, monkeypatch, extra, set()

    def run(self, step, below):
        """Run a step, and return the lines to expect below it."""
        kind, _, rest = step.partition(" ")
        if kind == "$":
            with self.monkeypatch.context() as patch:
                return self._command(shlex.split(rest), below, patch)
        before, (name, _, expression) = names_here(), rest.partition(" = ")
        if kind == "file":
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            names = {"gzip": gzip, "read": read, "records": records}
            content = eval(expression, names) if expression else "".join(f"{line[2:]}\n" for line in below)
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        elif kind == "folder":
            Path(name).mkdir(parents=True)
        elif kind == "needs":
            pytest.importorskip(name)
        self.inputs |= names_here() - before
        return below

    def _command(self, words, below, patch):
        while re.match(r"[A-Z_]+=", words[0]):
            patch.setenv(*words.pop(0).split("=", 1))
        streams = {"<": os.devnull, ">": None}
        while len(words) > 2 and words[-2] in streams:
            streams[words[-2]] = words[-1]
            del words[-2:]
        before, code, error = names_here(), 0, b""
        if "tropalign" in words[:3]:
            self.capture.readouterr()
            with open(streams["<"], encoding="utf-8") as file:
                patch.setattr("sys.stdin", file)
                code = self._main(words[1:]) if words[0] == "tropalign" else self._sharded(words[1], words[3:])
            text, error = self.capture.readouterr()
        else:
            text = TOOLS[words[0]](words[1:], self.inputs)
        if streams[">"]:
            Path(streams[">"]).write_bytes(text)
            text = b""
        left = sorted(names_here() - before) if code else []
        shown, is_written = lines_of(text, "| "), any(line.startswith("|") for line in below)
        if any(line.startswith("sha256 ") for line in below) or (len(shown) > LONGEST and not is_written):
            shown = [f"sha256 {hashlib.sha256(of_any_version(text)).hexdigest()}"]
        return [*shown, *lines_of(error, f"{code or ''}! "), *(f"left {name}" for name in left)]

    def _main(self, words):
        verb = verbs_of(make_parser(False)).get(words[0]) if self.extra and words else None
        has_them = verb is not None and self.extra[0] in verb._option_string_actions
        return main([*words[:1], *self.extra, *words[1:]] if has_them else words)

    def _sharded(self, counts, words):
        outputs = [word for pair in pairwise(words) if "{}" in pair[1] for word in pair]
        words = [word.replace("{}", "one") for word in words]
        code = self._main(words)
        whole = {path.name: path.read_bytes() for path in Path().glob("one*")}
        at = words.index("-o") + 1
        for count in map(int, counts.split(",")):
            shards = [f"{k}.shard" for k in range(1, count + 1)]
            for k, shard in enumerate(shards, 1):
                code += self._main([*words[:at], shard, *words[at + 1 :], "--shard", f"{k}/{count}"])
            code += self._main(["merge", *reversed(shards), *(word.replace("{}", "merged") for word in outputs)])
            for name, data in whole.items():
                for path in (Path(name), Path(name.replace("one", "merged", 1))):
                    if not path.exists() or path.read_bytes() != data:
                        print(f"{path} after {count} shards is not the {name} of one run")
        return code


def names_here():
    """List the files and folders below the current one."""
    return {str(path) for path in Path().rglob("*")}


def of_any_version(data):
    """Replace the number of the version and the name of the folder."""
    data = data.replace(f"tropalign {tropalign.__version__}".encode(), b"tropalign VERSION")
    return data.replace(str(Path().absolute()).encode(), b".")


def lines_of(data, prefix):
    """Split an output into lines as they stand in a table."""
    lines = of_any_version(data).decode(errors="backslashreplace").replace("\r", "\\r").split("\n")
    end = lines.pop()
    lines += [f"{end}\\"] if end else []  # without a line end
    if not lines and prefix not in ("| ", "! "):
        lines = ["nothing"]
    return [f"{prefix}{line}".rstrip(" ") if not line else f"{prefix}{line}" for line in lines]


def content(path):
    """Read a file, decompressed by its suffix."""
    with xopen(path, "rb", threads=0) as file:
        return file.read()


def rows(path):
    """Read a file without the lines that begin with #."""
    return b"".join(line for line in content(path).splitlines(keepends=True) if not line.startswith(b"#"))


def differing(paths, of):
    """Name each file that differs from the first one, in a line."""
    return "".join(f"{path} differs from {paths[0]}\n" for path in paths[1:] if of(path) != of(paths[0])).encode()


TOOLS = {
    "cat": lambda paths, _: b"".join(map(content, paths)),
    "rows": lambda paths, _: b"".join(map(rows, paths)),
    "cmp": lambda paths, _: differing(paths, lambda path: Path(path).read_bytes()),
    "cmp-rows": lambda paths, _: differing(paths, rows),
    "ls": lambda _, inputs: "".join(f"{name}\n" for name in sorted(names_here() - inputs)).encode(),
}


def agrees(expected, lines):
    """Compare lines with the expected ones, in which ... stands for anything."""
    pattern = "".join(
        r"(?:\d*[|!] ?.*\n)*" if line in ("| ...", "! ...") else ".*?".join(map(re.escape, line.split("..."))) + r"\n"
        for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


@pytest.mark.parametrize(
    "block", [block for table in sorted(HERE.glob("*.txt")) for block in blocks_of(table)], ids=str
)
def test_commands(block, tmp_path, monkeypatch, capfdbinary, request):
    monkeypatch.chdir(tmp_path)
    shell = Shell(capfdbinary, monkeypatch, shlex.split(request.config.getoption("--golden-with")))
    for text in block.shared:
        for step, below in steps_of(text):
            shell.run(step, below)
    expected, found = [], []
    for step, below in steps_of(block.text):
        lines = shell.run(step, below)
        expected += [step, *below]
        found += [step, *(below if agrees(below, lines) else lines)]
    if request.config.getoption("--write-golden") and found != expected:
        table = block.table.read_text(encoding="utf-8")
        assert table.count(block.text) == 1, "two paragraphs are the same"
        block.table.write_text(table.replace(block.text, "\n".join(found)), encoding="utf-8")
    else:
        assert found == expected
