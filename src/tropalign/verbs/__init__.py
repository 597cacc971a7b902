"""The verbs: one module each, with inputs, options, outputs and a run."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tropalign.verbs.command import Command

#: Module and class of each verb, in the order of the help. `serve`, `admin` and `submit` are in the packages that
#: they run.
HOMES = {
    "pairs": "tropalign.verbs.pairs:Pairs",
    "find": "tropalign.verbs.find:Find",
    "cluster": "tropalign.verbs.cluster:Cluster",
    "derep": "tropalign.verbs.derep:Derep",
    "chimeras": "tropalign.verbs.chimeras:Chimeras",
    "msa": "tropalign.verbs.msa:Msa",
    "tree": "tropalign.verbs.tree:MakeTree",
    "build": "tropalign.verbs.build:Build",
    "search": "tropalign.verbs.search:Search",
    "scan": "tropalign.verbs.search:Scan",
    "place": "tropalign.verbs.place:Place",
    "decode": "tropalign.verbs.decode:Decode",
    "score": "tropalign.verbs.score:Score",
    "paths": "tropalign.verbs.paths:Paths",
    "db": "tropalign.verbs.db:Db",
    "merge": "tropalign.verbs.merge:Merge",
    "devices": "tropalign.verbs.devices:Devices",
    "workflow": "tropalign.verbs.workflow:Workflow",
    "serve": "tropalign.serve.command:Serve",
    "admin": "tropalign.serve.admin:Admin",
    "submit": "tropalign.client.command:Submit",
}
VERBS = tuple(HOMES)


def declared(name: str) -> type[Command]:
    """Return the verb of this name. Raises KeyError if it does not exist."""
    module, _, word = HOMES[name].partition(":")
    found: type[Command] = getattr(import_module(module), word)
    return found
