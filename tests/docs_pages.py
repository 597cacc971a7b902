"""Reads the pages of the documentation: their commands, their Python, and what these are said to print."""

import re
from dataclasses import dataclass, field

from clone import ROOT

#: A fenced block or an invisible comment, whichever comes next. Blocks are known by the word behind the fence.
PART = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<body>.*?)^```$|^<!--(?P<comment>.*?)-->$", re.MULTILINE | re.DOTALL)
#: README indents its commands by four spaces instead of fencing them.
INDENTED = re.compile(r"(?:^ {4}(?:tropalign|make|eval|pip) .*\n)+", re.MULTILINE)
#: Programs that change the machine, or need one that a test does not have: a line with them never runs.
NEVER = {
    **dict.fromkeys(["pip", "pipx", "uv", "conda", "mamba", "apt", "apt-get", "sudo", "brew"], "installs software"),
    **dict.fromkeys(["docker", "podman", "apptainer", "singularity"], "needs a container engine"),
    **dict.fromkeys(["sbatch", "srun", "qsub", "kubectl"], "needs a cluster"),
    **dict.fromkeys(["git", "make", "wget", "curl"], "sets up a clone, or reaches out to the network"),
}
#: Words of a command line that need what a test does not have.
NEVER_WITH = {
    "tcp://scheduler": "needs a cluster",
    "--device cuda": "needs a graphics card",
    "--pipeline epa-ng": "needs EPA-ng, which is in neither PyPI nor Debian",
}


@dataclass
class Step:
    """Something that a page runs.

    Attributes
    ----------
    kind
        ``sh`` or ``python``.
    code
        What runs.
    shown
        What it prints to standard output according to the page, None where the page does not say.
    needs
        Programs and Python modules that it needs beside tropalign.
    reason
        Why it does not run in a test, empty where it does.
    """

    kind: str
    code: str
    shown: str | None = None
    needs: list[str] = field(default_factory=list)
    reason: str = ""

    def commands(self) -> int:
        """How many commands of a shell there are, by lines that begin one."""
        lines = joined(self.code).splitlines()
        return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in lines)


def pages() -> list[str]:
    built = {ROOT / "docs" / folder for folder in ("_build", "_generated", "cli")}
    found = [path for path in (ROOT / "docs").rglob("*.md") if built.isdisjoint(path.parents)]
    return sorted(str(path.relative_to(ROOT)) for path in [*found, ROOT / "README.md"])


def joined(code: str) -> str:
    return re.sub(r"\\\n\s*", "", code)


def read_steps(text: str) -> list[Step]:
    r"""The steps of a page, in order.

    Comments that stand before a block, and after the block before it, speak of it::

        <!-- not run: why it cannot run in a test -->
        <!-- needs: mafft, hmmlearn -->
        <!-- not compared: why the output differs from run to run -->
        <!-- python
        names = "that a reader has by then"
        -->

    A block of kind ``text`` right behind one that ran is what that one prints.
    """
    steps: list[Step] = []
    marks: dict[str, str] = {}
    end_of_last = -1
    for part in parts(text):
        if part["comment"] is not None:
            steps += read_comment(part["comment"], marks)
            continue
        kind, body = part["kind"].strip(), part["body"]
        if kind == "text" and end_of_last >= 0 and not part["before"].strip():
            if "not compared" not in marks:
                steps[-1].shown = body
        else:
            found = read_block(kind, body)
            for step in found:
                step.reason = marks.get("not run", step.reason)
                step.needs = [name.strip() for name in marks.get("needs", "").split(",") if name.strip()]
                if "not compared" in marks:
                    step.shown = None
            steps += found
            end_of_last = len(steps) if found and not found[-1].reason else -1
        marks = {}
    return steps


def parts(text: str) -> list[dict[str, str | None]]:
    """Blocks and comments of a page, each with the text between it and the one before."""
    text = INDENTED.sub(lambda match: "```sh\n" + re.sub("^ {4}", "", match[0], flags=re.MULTILINE) + "```\n", text)
    found, last = [], 0
    for match in PART.finditer(text):
        found.append({**match.groupdict(), "before": text[last : match.start()]})
        last = match.end()
    return found


def read_comment(comment: str, marks: dict[str, str]) -> list[Step]:
    """Put a comment's mark into `marks`; one that holds Python is a step."""
    name, colon, value = comment.strip().partition(":")
    if colon and name in ("not run", "needs", "not compared"):
        marks[name] = " ".join(value.split())
    elif comment.strip().startswith("python\n"):
        return [Step("python", comment.strip().removeprefix("python\n"))]
    return []


def read_block(kind: str, body: str) -> list[Step]:
    """The steps of a block: a script, or the commands behind dollar signs and what they print."""
    if kind == "python":
        return [Step("python", body)]
    if kind in ("sh", "bash"):
        return without_installers(body)
    if kind != "console":
        return []
    steps = []
    for prompt, printed in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
        steps += without_installers(prompt + "\n")
        steps[-1].shown = printed if printed.strip() else None
    return steps


def without_installers(script: str) -> list[Step]:
    """The script as a step, and before it a step that does not run per line that a test must not run."""
    kept, steps = [], []
    for line in joined(script).splitlines():
        reason = why_never(line)
        if reason:
            steps.append(Step("sh", line, reason=reason))
        else:
            kept.append(line)
    if any(line.strip() and not line.startswith("#") for line in kept):
        steps.append(Step("sh", "\n".join(kept) + "\n"))
    return steps


def why_never(line: str) -> str:
    """Why a line of a script must not or cannot run in a test; empty where it can."""
    first = (line.split() or [""])[0]
    needed = [reason for words, reason in NEVER_WITH.items() if words in line and "--write-only" not in line]
    return NEVER.get(first, "") or "".join(needed[:1])


def is_printed(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed.

    Blanks stand apart in a page as they do in no file; a line ``...`` stands for any lines, and ``...`` within a line
    for anything.
    """
    pattern = ""
    for words in (line.split() for line in shown.splitlines()):
        if words in (["..."], ["#", "..."]):
            pattern += r"(?:.*\n)*?"
        elif words:
            pattern += ".*".join(map(re.escape, " ".join(words).split("..."))) + r"\n"
    found = "".join(" ".join(line.split()) + "\n" for line in printed.splitlines() if line.strip())
    return re.fullmatch(pattern, found) is not None
