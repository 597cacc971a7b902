"""What a process of Nextflow consists of, and its sections evaluated by Groovy, the language in which they are written.

It stands in for Nextflow, which no registry of packages has: sections are found by their labels, and Groovy
makes the script from the values that Nextflow would put there.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

EVALUATE = Path(__file__).with_name("sections.groovy")
LABELS = ("input", "output", "when", "script", "stub")


def has_groovy():
    return bool(shutil.which("groovy") and shutil.which("java"))


def run_groovy(folder, jobs):
    """What each job gives: code with values, or a text to parse."""
    path = Path(folder) / "jobs.json"
    path.write_text(json.dumps(jobs))
    home = os.environ.get("JAVA_HOME") or str(Path(shutil.which("java")).resolve().parent.parent)
    words = ["groovy", str(EVALUATE), str(path)]
    ran = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"JAVA_HOME": home})
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return json.loads(ran.stdout)


def groovy_2(text):
    """The same for Groovy 2, which takes no line break in a string of one line: only `container` has one."""
    return re.sub(
        r'^    container "[^"]*"$', lambda found: re.sub(r"\s*\n\s*", " ", found[0]), text, flags=re.MULTILINE
    )


def sections(text):
    """The sections of a file with one process, by their labels; directives are under the empty one."""
    (body,) = re.findall(r"^process \w+ \{\n(.*)^\}$", text, re.MULTILINE | re.DOTALL)
    pieces = re.split(rf"^    ({'|'.join(LABELS)}):\n", body, flags=re.MULTILINE)
    assert tuple(pieces[1::2]) == LABELS
    return {"": pieces[0], **dict(zip(pieces[1::2], pieces[2::2], strict=True))}


def input_names(text):
    """The names of a process's inputs, a list per line."""
    lines = sections(text)["input"].strip().splitlines()
    return [re.findall(r"(?:val|path)\(?\s*(\w+)\)?", line) for line in lines]


def outputs(text):
    """The patterns of a process's files, each with its name and whether it may be missing."""
    lines = sections(text)["output"].strip().splitlines()
    found = [re.fullmatch(r'.*path[( ]"([^"]+)"\)?, emit: (\w+)(, optional: true)?', line.strip()) for line in lines]
    return [(match[1], match[2], bool(match[3])) for match in found]
