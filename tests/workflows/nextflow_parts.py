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

LABELS = ("input", "output", "when", "script", "stub")


def has_groovy():
    return bool(shutil.which("groovy") and shutil.which("java"))


def groovy(program, folder, data, *words):
    """What a program in Groovy prints of data, both JSON."""
    path = Path(folder) / "data.json"
    path.write_text(json.dumps(data))
    home = os.environ.get("JAVA_HOME") or str(Path(shutil.which("java")).resolve().parent.parent)
    command = ["groovy", str(Path(__file__).with_name(program)), str(path), *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"JAVA_HOME": home})
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return json.loads(ran.stdout)


def run_groovy(folder, jobs):
    """What each job gives: code with values, or a text to parse."""
    return groovy("sections.groovy", folder, jobs)


def run_workflow(folder, text, name, modules, inputs, values, args):
    """The files that a workflow's channels emit: its body with lists for channels, each task run with bash."""
    body = re.search(rf"^workflow {name} \{{\n(.*?)^\}}$", text, re.MULTILINE | re.DOTALL)[1]
    take, main, emit = re.fullmatch(r"    take:\n(.*)    main:\n(.*)    emit:\n(.*)", body, re.DOTALL).groups()
    assert re.findall(r"^    (\w+)", take, re.MULTILINE) == ["sequences", *values]
    included = dict(re.findall(r"^include \{ (\w+) \} from './modules/tropalign/(\w+)/main'$", text, re.MULTILINE))
    processes = {}
    for process, verb in included.items():
        parts = sections(modules[verb])
        kinds = [re.findall(r"(val|path)\(?\s*(\w+)", line) for line in parts["input"].strip().splitlines()]
        processes[process] = {
            "inputs": [[{"kind": kind, "name": given} for kind, given in line] for line in kinds],
            "script": parts["script"],
            "outputs": [
                {"pattern": pattern, "emit": channel, "tuple": channel != "versions"}
                for pattern, channel, _ in outputs(modules[verb])
            ],
            "args": args.get(process),
        }
    emits = dict(re.findall(r"^    (\w+) += (\S+)", emit, re.MULTILINE))
    data = {"processes": processes, "body": main, "emits": emits, "inputs": inputs, "values": values}
    return groovy("workflow.groovy", folder, data, folder)


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
