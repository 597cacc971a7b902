"""Wrong calls of every native entry: what is wrong, the exception, and a part of its text.

Run with the name of a group, it makes the group's calls and prints a line per call: "ok", or what came instead. So a
crash ends a process of its own, and the last line names the call.
"""

import inspect
import sys
from importlib import import_module
from pathlib import Path


def _groups():
    """Every public generator of calls in this folder's modules, by name."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
    modules = [import_module(f"native.wrong_calls.{name}") for name in names]
    made = [f for module in modules for f in vars(module).values() if inspect.isgeneratorfunction(f)]
    found = [f for f in made if not f.__name__.startswith("_")]
    assert len({f.__name__ for f in found}) == len(found), "two groups of one name"
    return {f.__name__: f for f in found}


GROUPS = _groups()


def outcome(call, arguments, error, text):
    """The word "ok", or what came instead of the exception."""
    try:
        call(**arguments)
    except Exception as raised:
        if error is None or type(raised) is not error or text not in str(raised):
            return f"{type(raised).__name__}: {raised}"
    else:
        if error is not None:
            return "no exception"
    return "ok"


if __name__ == "__main__":
    for name, *case in GROUPS[sys.argv[1]]():
        print(name.replace("\n", " "), end="\t", flush=True)
        print(outcome(*case).replace("\n", " "), flush=True)
