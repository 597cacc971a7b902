"""Modules under the paths that they had before: what was pickled then can be read."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

#: Former paths of modules whose classes users may have pickled, and where these modules are now.
RENAMED = {
    "client.databases": "client.records",
    "msa.clustalw": "clustalw",
    "msa.clustalw.options": "clustalw.options",
    "phylo.states": "phylo.reference_rows",
    "tropical.cycles": "semirings.tropical_closures",
    "tropical.decoding": "hmm.decoding",
    "tropical.fitting": "hmm.fitting",
    "tropical.folding": "semirings.folding",
    "tropical.graphs": "semirings.graphs",
    "tropical.hmm": "hmm.model",
    "tropical.intervals": "semirings.intervals",
    "tropical.model_calls": "hmm.model_calls",
    "tropical.observations": "hmm.observations",
    "tropical.semirings": "semirings.semirings",
}


def register() -> None:
    """Makes each module importable by its former path, and loads it when a name of it is asked for."""
    for former, home in RENAMED.items():
        _register(f"tropalign.{former}", f"tropalign.{home}")


def _register(former: str, home: str) -> None:
    def load(name: str) -> Any:
        """Loads a name; what looks through all modules asks for those of Python (``__file__``), and loads nothing."""
        if name.startswith("__"):
            raise AttributeError(f"module {former!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    module = ModuleType(former, f"Names of `{home}`.")
    module.__getattr__ = load  # type: ignore[method-assign]
    sys.modules[former] = module
