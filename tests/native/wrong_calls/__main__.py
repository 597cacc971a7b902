"""Wrong calls of every native entry: what is wrong, the exception, and a part of its text.

Run with the name of a module of this folder, it makes the calls of its entries and prints a line per call: "ok", or
what came instead. So a crash ends a process of its own, and the last line names the call.
"""

import inspect
import sys
from importlib import import_module
from pathlib import Path

from native.wrong_calls.kinds import Entry

#: Modules whose public generators yield entries.
GROUPS = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py") if path.stem != "kinds")


def entries(group):
    for function in vars(import_module(f"native.wrong_calls.{group}")).values():
        if inspect.isgeneratorfunction(function):
            yield from function()


def outcome(entry: Entry, arguments, error, text):
    """The word "ok", or what came instead of the exception."""
    try:
        entry.call(**arguments)
    except Exception as raised:
        if error is None or type(raised) is not error or text not in str(raised):
            return f"{type(raised).__name__}: {raised}"
    else:
        if error is not None:
            return "no exception"
    return "ok"


if __name__ == "__main__":
    for entry in entries(sys.argv[1]):
        for name, *case in entry.cases():
            print(name.replace("\n", " "), end="\t", flush=True)
            print(outcome(entry, *case).replace("\n", " "), flush=True)
