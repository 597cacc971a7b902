"""Write src/tropalign/_native.pyi: the compiled core for type checkers. `make rebuild` and `make lint` run it.

Names, parameters, defaults and types come from nanobind, for the installed core; the result types are those of the
functions in native/bindings (python.hpp has the typed ones). The file is not in the repository.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from nanobind.stubgen import StubGen  # type: ignore[import-untyped]

from tropalign import _native

STUB = Path(__file__).resolve().parent.parent / "src" / "tropalign" / "_native.pyi"
HEAD = '''"""The compiled core for type checkers; made by packaging/stub.py from native/bindings.

Every function checks its arrays and raises ValueError for an invalid one, TypeError for another dtype or layout.
Arrays are C-contiguous. Other threads must not write to them during a call.
"""

'''


def stub() -> str:
    """Return the text of the stub for the imported core."""
    made = StubGen(_native, include_docstrings=False)
    made.put(_native)
    text = re.sub(r"Annotated\[(NDArray(?:\[[\w.]+\])?), dict\((?:[^()]|\([^()]*\))*\)\]", r"\1", made.get())
    text = re.sub(r"\bNDArray\b(?!\[|$)", "NDArray[Any]", text, flags=re.MULTILINE)
    left_out = r"^import (types|numpy\.typing)\n|^from typing import .*\n|^from \S+ import testing as testing\n"
    text = re.sub(left_out, "", text, flags=re.MULTILINE)
    text = text.replace("numpy.typing.NDArray", "NDArray")
    text = text.replace("types.EllipsisType", "...").replace("numpy.bool]", "numpy.bool_]")
    text = re.sub(r"\(float\('inf'\).*?\)\)?(?=\) ->)", "...", text)
    arrays = sorted(set(re.findall(r"NDArray\[numpy\.(\w+)\]", text)))
    aliases = "".join(f"_{name.strip('_')}: TypeAlias = NDArray[numpy.{name}]\n" for name in arrays)
    text = re.sub(r"NDArray\[numpy\.(\w+?)_?\]", r"_\1", text).replace("typing.Any", "Any")
    text = text.replace("\n\nimport numpy\n", "\nfrom typing import Any, TypeAlias\n\nimport numpy\n", 1)
    text = text.replace("import NDArray\n", f"import NDArray\n\n{aliases}", 1)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", STUB.name, "-"]
    return subprocess.run(command, input=HEAD + text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
