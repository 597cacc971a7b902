"""SHA-256 of what all verbs write, of their help, of the server's API and schema, and of the public signatures.

    python tests/golden/manifest.py NEW.tsv           # every verb and format, from the files of examples/
    python tests/golden/manifest.py NEW.tsv OLD.tsv   # the same, then list the lines that differ from an older manifest
    python tests/golden/manifest.py --variants        # compare 1 thread, 4 threads, merged shards, instruction sets

Run it before and after a change that must not change any output; it exits with 1 if something differs. Hashes are not
kept in the repository, because those of pictures and Parquet depend on the versions of other packages.
"""

import contextlib
import hashlib
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tropalign
from tropalign import _native
from tropalign.cli.main import main
from tropalign.formats import format as formats
from tropalign.formats.format import Format
from tropalign.options.option import REQUIRED, Option
from tropalign.verbs import VERBS, declared

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Floating-point sums in these outputs differ in their last digits between instruction sets with and without FMA.
FLOATING = ("msa html", "msa result", "msa --tree-out", "msa --confidence", "msa --html")
#: The suffix is chosen when a shard is made; a name for the main output alone is not enough.
NOT_MERGED = ("pairs matrix", "place --split")


def run(words: list[str]) -> tuple[int, str]:
    """Run a command in this process, and return its exit code and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, printed.getvalue()


def commands() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield a name, the words of a command on the example, and the options that write one of its outputs."""
    for verb in [command for name in VERBS for command in (declared(name), *declared(name).actions)]:
        if verb.served is None:
            continue
        options = verb.declared()
        words = [*verb.verb.split(), *(["--threads", "1"] if "threads" in options else [])]
        for option in options.values():
            flag = [] if option.flags == () else [flag_of(option)]
            if option.name in verb.served.example:
                words += [*flag, f"examples/{verb.served.example[option.name]}"]
            elif option.default_name and option.default is REQUIRED:
                words += [*flag, option.default_name]
        words += [flag_of(options[name]) for name in verb.served.example_options]
        kind, form = verb.served.kind, verb.served.format
        forms = [form] if form else [form for form in format_table(kind) if form.name not in verb.served.never_formats]
        for form in forms:
            chosen = ["-f", form.name] if "format" in options else []
            yield f"{verb.verb} {form.name}", words, ["-o", main_name(form), *chosen]
        for option in options.values():
            if option.role == "output" and option.output not in ("", "main"):
                name = [] if option.follows_main else [f"side{option.suffix}"]
                yield (
                    f"{verb.verb} {flag_of(option)}",
                    words,
                    ["-o", main_name(forms[0]), flag_of(option), *name],
                )


def main_name(form: Format) -> str:
    """Name the main output of a format."""
    return f"main{form.suffixes[0] if form.suffixes else '.txt'}"


def flag_of(option: Option) -> str:
    """Return the longest flag of an option."""
    return option.flags[-1] if option.flags else f"--{option.name.replace('_', '-')}"


def format_table(kind: str) -> list[Format]:
    """Return the formats of a kind of results."""
    return list(formats._formats(kind).values())


@contextlib.contextmanager
def workplace() -> Iterator[str]:
    """Work in an empty folder with a link to the examples, so that headers hold the same names everywhere."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("examples").symlink_to(EXAMPLES)
        yield folder


def written(words: list[str]) -> str:
    """Run a command in an empty folder, and hash the files that it leaves there."""
    with workplace():
        code, _ = run(words)
        found = hashlib.sha256()
        for path in sorted(Path().rglob("*")):
            if path.is_file():
                found.update(f"{path}\0".encode() + path.read_bytes())
        return found.hexdigest()[:32] if code == 0 else f"exit {code}"


def merged(words: list[str], outputs: list[str]) -> str:
    """Hash what `merge` makes of two shards; empty if the verb has no shards."""
    with workplace() as folder:
        shards = [f"{folder}/{k}.shard" for k in (1, 2)]
        for k, shard in enumerate(shards, 1):
            if run([*words, "-o", shard, *outputs[2:], "--shard", f"{k}/2"])[0]:
                return ""
        files = [word for word in outputs if word != "-f"] if "-f" not in outputs else outputs[:2]
        return written(["merge", *shards, *files])


def outputs() -> dict[str, str]:
    """Hash each output of each verb, on the instruction set of this process."""
    return {name: written([*words, *outputs]) for name, words, outputs in commands()}


def interface() -> Iterator[tuple[str, str]]:
    """Yield names and texts of help, signatures, the server's API and its tables."""
    for name in VERBS:
        for command in (declared(name), *declared(name).actions):
            yield f"help {command.verb}", run([*command.verb.split(), "--help"])[1]
    for name in tropalign.__all__:
        thing = getattr(tropalign, name)
        if callable(thing):
            members = inspect.getmembers(thing) if inspect.isclass(thing) else []
            lines = [f"{member}{signature(value)}" for member, value in members if not member.startswith("_")]
            yield f"signature {name}", "\n".join([f"{name}{signature(thing)}", *lines])
    from sqlalchemy.schema import CreateTable

    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import schema
    from tropalign.serve.web.app import create_app

    yield "schema", "\n".join(str(CreateTable(table)) for table in schema.metadata.sorted_tables)
    with tempfile.TemporaryDirectory() as folder:
        yield "openapi", json.dumps(create_app(Settings(Path(folder))).openapi(), sort_keys=True)


def signature(thing: object) -> str:
    """Write the parameters of a callable; empty for other values."""
    try:
        return str(inspect.signature(thing)) if callable(thing) else ""
    except ValueError:
        return ""


def variants(found: dict[str, str]) -> Iterator[str]:
    """Name each output that changes with threads, shards or the instruction set."""
    for name, words, options in commands():
        with_threads = written([*words, *options, "--threads", "4"]) if "--threads" in words else ""
        of_shards = "" if name in NOT_MERGED else merged(words, options)
        for kind, other in (("4 threads", with_threads), ("shards", of_shards)):
            if other and other != found[name]:
                yield f"{name}: {kind} give {other}"
    for isa in _native.supported_isas():
        words, environment = [sys.executable, __file__, "--outputs"], {**os.environ, "TROPALIGN_ISA": isa}
        text = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True).stdout
        for name, value in json.loads(text).items():
            if value != found[name] and name not in FLOATING:
                yield f"{name}: instruction set {isa} gives {value}"


def compared(path: Path, old: Path | None) -> Iterator[str]:
    """Write a manifest, and name the entries that differ from those of an older one."""
    found = outputs() | {name: hashlib.sha256(text.encode()).hexdigest()[:32] for name, text in interface()}
    path.write_text("".join(f"{name}\t{value}\n" for name, value in found.items()), encoding="utf-8")
    if old is not None:
        before = dict(line.split("\t") for line in old.read_text(encoding="utf-8").splitlines())
        for name in {**before, **found}:
            if before.get(name) != found.get(name):
                yield f"{name}: {before.get(name)} -> {found.get(name)}"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--outputs"]:
            print(json.dumps(outputs()))
            sys.exit()
        case ["--variants"]:
            different = list(variants(outputs()))
        case [new, *old]:
            different = list(compared(Path(new), Path(old[0]) if old else None))
        case _:
            sys.exit(__doc__)
    print("\n".join([*different, f"{len(different)} differ"]))
    sys.exit(bool(different))
