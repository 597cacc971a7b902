"""vsearch's own tests with tropalign in vsearch's place: how many of those that apply pass.

    git clone https://github.com/frederic-mahe/vsearch-tests
    .venv/bin/python bench/vsearch_tests.py vsearch-tests [derep_fulllength ...]

Each test is a few lines of bash that run vsearch and call `success` or `failure`. Here they run this file instead,
which translates the command to tropalign's. A test applies if it runs vsearch, and all its commands and options have a
translation, and if it does not test messages or memory. All other tests are counted by their reason.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

#: File to which the adapter writes a line per command: "ran", or the reason why a test does not apply.
LOG = "VSEARCH_TESTS_LOG"
#: Scripts of commands with a translation, and their verbs.
SCRIPTS = (
    "derep_fulllength", "fastx_uniques", "cluster_fast", "cluster_size", "cluster_smallmem", "usearch_global",
    "allpairs_global", "uchime_denovo", "uchime2_denovo", "uchime3_denovo", "uchime_ref", "orient",
)  # fmt: skip
#: vsearch's scores, and its treatment of N.
COSTS = (
    "--match 2 --mismatch -4 --iupac zero --gap-open 18 --gap-extend 2 --end-gap-open 1 --end-gap-extend 1 "
    "--ambiguous match"
).split()
#: Columns of `--userfields`, which vsearch and tropalign compute alike, by vsearch's name.
FIELDS = {
    "id": "identity", **{f"id{k}": f"identity_{k}" for k in range(5)}, "query": "query", "target": "target",
    "raw": "score", "ql": "query_length", "tl": "target_length", "ids": "identical", "mism": "mismatches",
    "opens": "gap_openings", "gaps": "gaps", "alnlen": "columns",
}  # fmt: skip

# Options: None is left out together with its value, "" left out without a value, "--x" takes the value, "--x=y" is a
# flag that becomes --x y, "!x" an output file with this suffix.
COMMON = {"quiet": "-q=", "no_progress": "", "threads": "-t", "sizein": ""}
DEREP = COMMON | {
    "threads": None, "output": "-o!.fasta", "fastaout": "-o!.fasta", "fastqout": "-o!.fastq", "uc": "--uc!.uc",
    "sizeout": "", "strand": "--strand",
    "xsize": "--no-sizes=", "minuniquesize": "--min-size", "maxuniquesize": "--max-unique-size", "topn": "--topn",
    "minseqlength": "--min-length", "maxseqlength": "--max-length", "relabel": "--relabel",
    "relabel_sha1": "--relabel=sha1", "fastq_qout_max": "--quality=max",
}  # fmt: skip
ORIENT = COMMON | {
    "threads": None, "fastaout": "-o!.fasta", "fastqout": "-o!.fastq", "notmatched": "--unoriented!.fasta",
    "db": "--orient",
}  # fmt: skip
#: Rules that let vsearch skip pairs, which tropalign never does, and masks of these rules.
ALIGNED = COMMON | {
    "strand": "--strand", "id": "--min-identity", "iddef": "--identity", "maxrejects": None, "minwordmatches": None,
    "fulldp": "", "match": "--match", "mismatch": "--mismatch",
}  # fmt: skip
CLUSTER = ALIGNED | {
    "centroids": "--representatives!.fasta", "uc": "--uc!.uc", "sizeout": "--sizeout=", "relabel": "--relabel",
    "relabel_sha1": "--relabel=sha1", "otutabout": "--otu-table!.tsv", "biomout": "--otu-table!.biom",
    "maxaccepts": None,
}  # fmt: skip
MAPPED = ALIGNED | {
    "db": "--to", "uc": "--uc!.uc", "otutabout": "--otu-table!.tsv", "biomout": "--otu-table!.biom",
    "notmatched": "--unmapped!.fasta", "dbmatched": "--representatives!.fasta", "maxaccepts": None,
}  # fmt: skip
PAIRS = ALIGNED | {
    "db": None, "blast6out": "-o!.m8", "samout": "-o!.sam", "userout": "-o!.tsv", "userfields": None, "acceptall": "",
    "maxaccepts": "--top", "query_cov": "--min-query-coverage", "target_cov": "--min-target-coverage",
    "samheader": "", "self": "--exclude-self=",
}  # fmt: skip
CHIMERAS = COMMON | {
    "nonchimeras": "-o!.fasta", "chimeras": "--chimeras!.fasta", "borderline": "--borderline!.fasta",
    "uchimeout": "--table!.uchime", "db": "--db", "sizeout": "",
    **{name: f"--{name}" for name in ("abskew", "minh", "mindiv", "mindiffs", "xn", "dn")},
}  # fmt: skip
#: By vsearch's command: the verb with options, and the translation of options.
COMMANDS = {
    "derep_fulllength": (["derep"], DEREP),
    "fastx_uniques": (["derep"], DEREP),
    "cluster_fast": (["cluster", "--order", "length"], CLUSTER),
    "cluster_size": (["cluster", "--order", "abundance"], CLUSTER),
    "cluster_smallmem": (["cluster", "--order", "input"], CLUSTER | {"usersort": ""}),
    "usearch_global": (["cluster"], MAPPED),
    "allpairs_global": (["pairs", "--mode", "global"], PAIRS),
    "uchime_denovo": (["chimeras"], CHIMERAS),
    "uchime2_denovo": (["chimeras", "--rule", "uchime2"], CHIMERAS),
    "uchime3_denovo": (["chimeras", "--rule", "uchime3"], CHIMERAS),
    "uchime_ref": (["chimeras"], CHIMERAS | {"strand": None}),
    "orient": (["derep"], ORIENT),
}
#: Values without an effect on results: masks hide residues from k-mers alone.
WITHOUT_EFFECT = {("qmask", "none"), ("qmask", "dust"), ("dbmask", "none"), ("dbmask", "dust")}


class NotApplicable(Exception):
    """A command that has no translation, with the reason."""


def parsed(words: list[str]) -> tuple[str, str, dict[str, str | None]]:
    """Return vsearch's command, its input and its options."""
    options: dict[str, str | None] = {}
    left = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    while left:
        word = left.pop(0)
        if not word.startswith("-") or word == "-":
            raise NotApplicable(f"a word without an option: {word}")
        has_value = left and (not left[0].startswith("-") or left[0] == "-" or re.fullmatch(r"-[\d.]+", left[0]))
        options[word.lstrip("-")] = left.pop(0) if has_value else None
    command = next((name for name in COMMANDS if name in options), None)
    if command is None:
        raise NotApplicable(f"command --{next(iter(options), '')}")
    return command, options.pop(command) or "", options


def settled(command: str, queries: str, options: dict[str, str | None]) -> tuple[list[str], dict[str, str | None]]:
    """Return the first words of tropalign's command, and the table of options; add vsearch's defaults to `options`."""
    verb, table = COMMANDS[command]
    if command == "usearch_global" and {"blast6out", "samout", "userout"} & options.keys():
        (verb, table), queries = COMMANDS["allpairs_global"], f"{queries}\n{options.get('db') or ''}"
        options.setdefault("maxaccepts", "1")
    found = [*verb, *queries.split("\n"), "--duplicate-names", "keep"]
    if command == "cluster_size" and "sizein" not in options:
        found[found.index("abundance")] = "input"  # without --sizein, all abundances are 1
    if table is PAIRS and options.get("maxaccepts") == "0":
        del options["maxaccepts"]
    if verb[0] in ("cluster", "pairs"):
        if "acceptall" in options:
            options.pop("id", None)
        elif options.get("id") is None:
            raise NotApplicable("no --id")
        options.setdefault("iddef", "2")
        found += COSTS
    elif table is DEREP:
        options.setdefault("minseqlength", "32" if command == "derep_fulllength" else "1")
        if not {"sizein", "sizeout"} & options.keys():
            options["xsize"] = None
        elif "sizeout" in options:
            options.pop("xsize", None)
    elif table is ORIENT:
        found += ["--no-sizes"]
    if {"otutabout", "biomout"} & options.keys():
        found += ["--samples", "vsearch"]
    if "samout" in options and "samheader" not in options:
        found += ["--no-header"]
    if "userout" in options:
        fields = (options.get("userfields") or "").split("+")
        if not set(fields) <= FIELDS.keys():
            raise NotApplicable(f"fields {' '.join(sorted(set(fields) - FIELDS.keys()))}")
        found += ["--no-header", "--columns", ",".join(FIELDS[field] for field in fields)]
    return found, table


def translated(words: list[str], folder: Path) -> tuple[list[str], dict[Path, str]]:
    """Return tropalign's words for vsearch's, and the wanted outputs by the files in `folder` that are written."""
    command, queries, options = parsed(words)
    found, table = settled(command, queries, options)
    outputs = dict[Path, str]()
    for name, value in options.items():
        if (name, value) in WITHOUT_EFFECT or (name == "minseqlength" and value == "1" and table is not DEREP):
            continue
        if name not in table:
            raise NotApplicable(f"option --{name}")
        flag, mark, rest = re.fullmatch(r"([^!=]*)([!=]?)(.*)", table[name] or "").groups()
        if flag and flag in found:
            raise NotApplicable("two options that are one in tropalign")
        if flag and mark != "=" and value is None:
            raise NotApplicable(f"--{name} without a value")
        if mark == "!":
            outputs[folder / f"{name}{rest}"] = value or ""
            found += [flag, str(folder / f"{name}{rest}")]
        elif flag:
            found += [flag, *filter(None, [rest if mark else value])]
    if not outputs:
        raise NotApplicable("no output")
    if "-o" not in found:
        found += ["-o", str(folder / ("main.tsv" if found[0] == "cluster" else "main.fasta"))]
    return found, outputs


def as_vsearch(words: list[str]) -> int:
    """Run a command of vsearch by tropalign; return its exit code."""
    log = Path(os.environ[LOG])
    with tempfile.TemporaryDirectory() as folder:
        try:
            own, outputs = translated(words, Path(folder))
            files = [Path(name) for name in (*words, *outputs.values()) if os.path.isfile(name)]
            if os.getuid() == 0 and any(file.stat().st_mode & 0o600 != 0o600 for file in files):
                raise NotApplicable("permissions of files, which root ignores")
        except NotApplicable as error:
            log.open("a").write(f"{error}\n")
            return 0
        log.open("a").write("ran\n")
        from tropalign.cli.main import main

        code = main(own)
        for file, wanted in outputs.items() if code == 0 else ():
            if wanted in ("-", "/dev/stdout"):
                sys.stdout.buffer.write(file.read_bytes())
            else:
                Path(wanted).write_bytes(file.read_bytes())
    return code


def instrumented(script: str) -> str:
    """Return a script whose `success` and `failure` write the outcome, what the adapter logged, and the test's name."""
    report = (
        'printf "%s\\t%s\\t%s\\n" {} "$(sort -u "${{{}}}" | paste -sd ";" -)" "${{1}}" >> "${{RESULTS}}"; : > "${{{}}}"'
    )
    for name in ("success", "failure"):
        body = f"{name} () {{\n    {report.format(name, LOG, LOG)}\n}}"
        script, count = re.subn(rf"^{name} \(\) \{{\n.*?^\}}", lambda _, body=body: body, script, flags=re.M | re.S)
        assert count == 1, name
    return script


def outcomes(script: Path, adapter: Path, folder: Path) -> list[tuple[str, str, str]]:
    """Run a script; return outcome, log and name of each test."""
    text, results = folder / script.name, folder / f"{script.stem}.tsv"
    text.write_text(instrumented(script.read_text()))
    environment = os.environ | {LOG: str(folder / f"{script.stem}.log"), "RESULTS": str(results), "TMPDIR": str(folder)}
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    subprocess.run(["bash", text, adapter], cwd=folder, env=environment, check=False, **quiet)
    # Tests of vsearch's messages and of its memory do not apply.
    blocks = re.split(r"^(?=DESCRIPTION=)", script.read_text(), flags=re.M)
    others = {block.split('"')[1]: "messages or memory" for block in blocks[1:] if re.search("2>&1|valgrind", block)}
    found = [line.split("\t", 2) for line in results.read_text().splitlines()]
    return [(outcome, others.get(test, log), test) for outcome, log, test in found]


def main() -> None:
    """Run the scripts and print the counts, the failed tests, and the reasons of those that do not apply."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", type=Path, help="checkout of frederic-mahe/vsearch-tests")
    parser.add_argument(
        "scripts", nargs="*", default=SCRIPTS, help="names of scripts (default: all with tests that apply)"
    )
    options = parser.parse_args()
    total, reasons, failed = Counter(), Counter(), []
    print("| script | passed | failed | not applicable |\n|---|---|---|---|")
    folder = Path(tempfile.mkdtemp())
    adapter = folder / "vsearch"
    adapter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" --as-vsearch "$@"\n')
    adapter.chmod(0o755)
    for name in options.scripts:
        counts = Counter()
        for outcome, log, test in outcomes(options.tests.resolve() / "scripts" / f"{name}.sh", adapter, folder):
            kind = {"success": "passed", "failure": "failed"}[outcome] if log == "ran" else "not applicable"
            counts[kind] += 1
            if kind == "not applicable":
                reasons[log.removesuffix(";ran") or "no command"] += 1
            elif kind == "failed":
                failed.append(f"{name}: {test}")
        total += counts
        print(f"| {name} | {counts['passed']} | {counts['failed']} | {counts['not applicable']} |", flush=True)
    shutil.rmtree(folder)
    print(f"| all | {total['passed']} | {total['failed']} | {total['not applicable']} |")
    print("\nFailed:", *failed, sep="\n* ")
    print("\nNot applicable:", *(f"{count} {reason}" for reason, count in reasons.most_common()), sep="\n* ")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-vsearch"]:
        sys.exit(as_vsearch(sys.argv[2:]))
    main()
