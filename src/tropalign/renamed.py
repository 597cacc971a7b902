"""Modules under their former paths, so that old pickles can be read."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

#: Former paths of modules whose classes users may have pickled, and their present paths.
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
    """Make each module importable by its former path; it is loaded on the first access to one of its names."""
    for former, home in RENAMED.items():
        _register(f"tropalign.{former}", f"tropalign.{home}")


def _register(former: str, home: str) -> None:
    def load(name: str) -> Any:
        """Load a name, but not ``__file__`` and the like: code that inspects all modules must not load this one."""
        if name.startswith("__"):
            raise AttributeError(f"module {former!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    module = ModuleType(former, f"Names of `{home}`.")
    module.__getattr__ = load  # type: ignore[method-assign]
    sys.modules[former] = module
