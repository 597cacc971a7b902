"""The package's functions as jobs on a server: arguments become options, the result becomes the function's object."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from tropalign.client.remote_job import RemoteDatabase
from tropalign.clusters.api import cluster as cluster_sequences
from tropalign.decoding.decoding import decode as decode_sequences
from tropalign.errors import InputError, UsageError, did_you_mean
from tropalign.formats.saved_results import read_result
from tropalign.msa.api import align_multiple
from tropalign.pairwise.api import align_all
from tropalign.pairwise.significance import Significance
from tropalign.placement.api import place as place_reads
from tropalign.profiles.api import scan as scan_sequences
from tropalign.profiles.api import search as search_models
from tropalign.profiles.options import SearchOptions
from tropalign.results.alignments import AlignmentTable
from tropalign.results.clusters import Clusters
from tropalign.results.hits import Hits
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.placements import Placements
from tropalign.results.segments import Segments
from tropalign.results.threshold_options import IF_ANY, Thresholds
from tropalign.scoring import Gap, default_scoring
from tropalign.sequences import SequenceBatch, read_sequences
from tropalign.sequences.inputs import named_file
from tropalign.submissions.verbs import options_of

if TYPE_CHECKING:
    from tropalign.client.remote_job import RemoteJob
    from tropalign.client.transport import Uploads

#: Arguments that the server decides.
SERVERS = ("n_threads", "memory_bytes", "device")
#: Functions whose arguments become options of each verb.
FUNCTIONS = {
    "pairs": align_all,
    "cluster": cluster_sequences,
    "msa": align_multiple,
    "decode": decode_sequences,
    "place": place_reads,
    "search": search_models,
    "scan": scan_sequences,
}
#: Arguments that differ from options in form, converted by the functions below.
OWN = {
    "pairs": ("matrix", "gap", "end_gap", "free_ends", "pairs", "alphabet"),
    "cluster": ("to", "matrix", "gap", "end_gap", "free_ends", "alphabet"),
    "msa": ("tree", "alphabet"),
    "decode": ("labels",),
    "place": ("mates", "scoring", "prune"),
    "search": ("thresholds", "options", "skip_foreign", "n_rounds"),
    "scan": ("thresholds", "options", "skip_foreign"),
}
#: Arguments whose results a server does not return in the form that these functions return.
NOT_SENT = {"pairs": ("translate", "genetic_code")}
#: Fields of PlacementScoring that are named like options.
SCORES = ("match", "mismatch", "on_gap", "gap_open", "gap_extend", "insert_open", "insert_extend")
T = TypeVar("T")


def plain(verb: str) -> list[str]:
    """Return the arguments with the same name and values as options of their verb."""
    arguments = FUNCTIONS[verb].arguments.declared()  # type: ignore[attr-defined]
    others = (*OWN[verb], *NOT_SENT.get(verb, ()))
    return [one.name for one in options_of(verb, "value") if one.name in arguments and one.name not in others]


class Server(Protocol):
    """The parts of `tropalign.client.Server` that calls need."""

    @property
    def uploads(self) -> Uploads:  # pragma: no cover
        """Uploads of files to the server."""
        ...

    def submit(
        self, verb: str, inputs: Mapping[str, Any], options: Mapping[str, Any] | None = None, *, format: str = ""
    ) -> RemoteJob:  # pragma: no cover
        """Submit a job."""
        ...


class _Job:
    """Inputs and options of a job in preparation."""

    def __init__(self, server: Server, verb: str, given: Mapping[str, Any]) -> None:
        self.server, self.verb = server, verb
        self.inputs: dict[str, Any] = {}
        self.given = {name: value for name, value in given.items() if value is not None}
        self.progress = self.given.pop("progress", None)
        if self.progress is not None and not callable(self.progress):
            raise UsageError("progress must be a function of the stage and the finished share of the work")
        known = (*plain(verb), *OWN[verb])
        for name in self.given:
            if name in SERVERS:
                raise UsageError(f"the server chooses threads, memory and devices: leave {name} out")
            if name not in known:
                raise UsageError(f"a server does not accept {name} for {verb}{did_you_mean(name, known)}")
        self.options = {name: self.given[name] for name in plain(verb) if name in self.given}

    def option(self, name: str, value: Any, usual: Any = None) -> None:
        """Set an option unless the value is None or the usual one."""
        if value is not None and value != usual:
            self.options[name] = value

    def result(self, kind: type[T]) -> T:
        """Submit the job, wait, and read its result."""
        job = self.server.submit(self.verb, self.inputs, self.options, format="result")
        job.wait(progress=self.progress)
        with tempfile.TemporaryFile() as file:
            job.fetch(file)
            file.seek(0)
            found = read_result(file)
        if not isinstance(found, kind):
            raise InputError(f"the server did not return a result of {self.verb}: check that it is a tropalign server")
        return found


def pairs(server: Server, queries: Any, targets: Any, given: Mapping[str, Any]) -> Iterator[AlignmentTable]:
    """Run `align_all` on the server."""
    job = _Job(server, "pairs", given)
    job.inputs["queries"] = _sequences(server, queries, "queries")
    if targets is not None:
        job.inputs["targets"] = _sequences(server, targets, "targets")
    _scoring(job)
    if "pairs" in job.given:
        job.inputs["pairs"] = _listed(job.given["pairs"], queries, queries if targets is None else targets)
    table = job.result(AlignmentTable)
    if job.given.get("mode", "local") == "local":
        table.significance = _significance(table, job.given)
    return iter([table])


def _significance(table: AlignmentTable, given: Mapping[str, Any]) -> Any:
    """Return the parameters of bit scores and E-values, as the same call uses them locally."""
    scoring = default_scoring(table.queries.alphabet, given.get("matrix"), given.get("gap"))
    return Significance(scoring, given.get("db_size") or int(table.targets.offsets[-1]), len(table.targets))


def _listed(pairs: Any, queries: Any, targets: Any) -> tuple[str, bytes]:
    """Convert pairs of indices to a file that lists them by name."""

    def names(given: Any) -> tuple[str, ...]:
        given = named_file(given)
        if isinstance(given, os.PathLike):
            return read_sequences(given).names
        return (given if isinstance(given, SequenceBatch) else SequenceBatch.from_strings(given)).names

    index = np.asarray(pairs)
    if index.ndim != 2 or index.shape[1:] != (2,) or index.dtype.kind not in "iu":
        raise InputError("pairs must be whole numbers, two per row: indices of query and target")
    sides = names(queries), names(targets)
    for side, places in zip(sides, index.T, strict=True):
        if len(set(side)) < len(side):
            raise InputError("two sequences have the same name, and a server identifies pairs by name: rename one")
        if len(places) and not 0 <= places.min() <= places.max() < len(side):
            raise InputError(f"the index of a pair is out of range: there are {len(side)} sequences")
    lines = [f"{sides[0][query]}\t{sides[1][target]}\n" for query, target in index.tolist()]
    return "pairs.tsv", "".join(lines).encode()


def cluster(server: Server, sequences: Any, min_identity: float | None, given: Mapping[str, Any]) -> Clusters:
    """Run `cluster` on the server."""
    job = _Job(server, "cluster", {**given, "min_identity": min_identity})
    job.inputs["queries"] = _sequences(server, sequences, "sequences")
    if given.get("to") is not None:
        job.inputs["to"] = _sequences(server, given["to"], "to")
    if "identity" in job.options:
        job.options["identity"] = str(job.options["identity"])
    _scoring(job)
    return job.result(Clusters)


def _scoring(job: _Job) -> None:
    """Set matrix, gap costs, free ends and alphabet."""
    given = job.given
    matrix = given.get("matrix")
    if isinstance(matrix, os.PathLike):
        job.inputs["matrix"] = matrix
    elif isinstance(matrix, str):
        job.options["matrix"] = matrix
    elif matrix is not None:
        raise UsageError("a server accepts a matrix as its name or as the Path of its file")
    for name in ("gap", "end_gap"):
        cost = given.get(name)
        if cost is None:
            continue
        if not isinstance(cost, Gap):
            raise UsageError(f"{name} must be a tropalign.Gap")
        for part in ("open", "extend", "open2", "extend2"):
            job.option(f"{name}_{part}", getattr(cost, part))
    ends = given.get("free_ends")
    if ends is not None and given.get("mode", "local" if job.verb == "pairs" else "global") == "semiglobal":
        job.options["free_ends"] = ends if isinstance(ends, str) else ",".join(sorted(ends))
    _alphabet(job)


def _alphabet(job: _Job) -> None:
    alphabet = job.given.get("alphabet")
    if alphabet is not None:
        job.options["alphabet"] = str(getattr(alphabet, "name", alphabet))


def msa(server: Server, sequences: Any, given: Mapping[str, Any]) -> MultipleAlignment:
    """Run `align_multiple` on the server."""
    job = _Job(server, "msa", given)
    if isinstance(sequences, MultipleAlignment):
        sequences = sequences.sequences
    job.inputs["family"] = _sequences(server, sequences, "family")
    tree = job.given.get("tree")
    if tree is not None:
        job.inputs["tree_in"] = ("tree.nwk", tree.encode()) if isinstance(tree, str) else tree
    _alphabet(job)
    return job.result(MultipleAlignment)


def search(server: Server, models: Any, targets: Any, given: Mapping[str, Any]) -> Hits:
    """Run `search` on the server."""
    return _hits(_Job(server, "search", given), models, targets)


def scan(server: Server, sequences: Any, models: Any, given: Mapping[str, Any]) -> Hits:
    """Run `scan` on the server."""
    return _hits(_Job(server, "scan", given), models, sequences)


def _hits(job: _Job, models: Any, sequences: Any) -> Hits:
    given = job.given
    if not isinstance(models, str | os.PathLike):
        raise UsageError("a server reads models from one file: give its path")
    job.inputs["models"] = models
    job.inputs["sequences"] = _files_or_sequences(job.server, sequences, "sequences")
    n_rounds = given.get("n_rounds", 1)
    job.option("iterate", n_rounds, 1)
    thresholds = given.get("thresholds")
    if thresholds is not None:
        _thresholds(job, thresholds, n_rounds)
    job.option("skip_foreign", given.get("skip_foreign", False), False)
    if given.get("options") is not None:
        options = given["options"]
        if not isinstance(options, SearchOptions):
            raise UsageError("options must be a tropalign.SearchOptions")
        usual = SearchOptions()
        if options == SearchOptions.unfiltered(null2=options.null2, seed=options.seed):
            job.options["max"] = True
        else:
            for name in ("f1", "f2", "f3"):
                job.option(name.upper(), getattr(options, name), getattr(usual, name))
            job.option("nobias", not options.bias_filter, False)
        job.option("nonull2", not options.null2, False)
        job.option("seed", options.seed, usual.seed)
    return job.result(Hits)


def _thresholds(job: _Job, thresholds: Any, n_rounds: int) -> None:
    if not isinstance(thresholds, Thresholds):
        raise UsageError("thresholds must be a tropalign.Thresholds")
    usual = Thresholds()
    for kind in ("", "dom", "inc", "incdom"):
        score = getattr(thresholds, f"{kind}T")
        if score is not None:  # takes precedence over any E-value
            job.options[f"{kind}T"] = score
        else:
            # On the command line, rounds have other default E-values for inclusion.
            is_said = n_rounds > 1 and kind.startswith("inc")
            job.option(f"{kind}E", getattr(thresholds, f"{kind}E"), None if is_said else getattr(usual, f"{kind}E"))
    job.option("Z", thresholds.Z)
    job.option("domZ", thresholds.domZ)
    if own := thresholds.per_model:
        for name in own:
            if name != name.strip() or name.startswith("#") or set(name) & set("\t\r\n"):
                raise UsageError(f"per_model: the name {name!r} cannot be sent, as it has blanks around it, tabs or #")
        table = "".join(f"{name}\t{hit!r}\t{domain!r}\n" for name, (hit, domain) in own.items())
        job.inputs["model_thresholds"] = ("thresholds.tsv", table.encode())
    names = {"gathering": "ga", "noise": "nc", "trusted": "tc"}
    if thresholds.bit_cutoffs is not None and not thresholds.requires_cutoffs:
        job.options["cut"] = names[thresholds.bit_cutoffs.removesuffix(IF_ANY)] + IF_ANY
    elif thresholds.bit_cutoffs is not None:
        for option in [name for name in job.options if name not in ("Z", "domZ", "iterate")]:
            del job.options[option]
        job.options[f"cut_{names[thresholds.bit_cutoffs]}"] = True


def place(server: Server, package: Any, reads: Any, given: Mapping[str, Any]) -> Iterator[Placements]:
    """Run `place` on the server."""
    job = _Job(server, "place", given)
    if not hasattr(package, "save"):
        raise UsageError(
            f"an object of type {type(package).__name__} is not a ReferencePackage: make one with "
            "ReferencePackage.build, .read or .load"
        )
    saved = io.BytesIO()
    package.save(saved)
    job.inputs["reference"] = ("reference.tref", saved.getvalue())
    job.inputs["reads"] = _files_or_sequences(server, reads, "reads")
    if "mates" in job.given:
        job.inputs["mates"] = _files_or_sequences(server, job.given["mates"], "mates")
    scoring = job.given.get("scoring", "program")
    if isinstance(scoring, str):
        job.option("scheme", scoring, "program")
    else:
        job.options |= {name: getattr(scoring, name) for name in SCORES}
    job.option("no_pruning", job.given.get("prune") is False, False)
    return iter([job.result(Placements)])


def decode(server: Server, model: Any, sequences: Any, given: Mapping[str, Any]) -> Segments:
    """Run `decode` on the server."""
    job = _Job(server, "decode", given)
    if hasattr(model, "save"):
        saved = io.BytesIO()
        model.save(saved)
        job.inputs["model"] = ("model.toml", saved.getvalue())
    elif isinstance(model, str) and not os.path.exists(model):
        job.options["model"] = model
    else:
        job.inputs["model"] = model
    job.inputs["sequences"] = _sequences(server, sequences, "sequences")
    labels = job.given.get("labels")
    if labels:
        job.options["label"] = [labels] if isinstance(labels, str) else list(labels)
    return job.result(Segments)


def _sequences(server: Server, given: Any, name: str) -> Any:
    """Return sequences (as for `SequenceBatch.from_strings`), the Path of a file, or a database, as an input."""
    return given if isinstance(given, RemoteDatabase) else server.uploads.sequences(given, name)


def _files_or_sequences(server: Server, given: Any, name: str) -> Any:
    """Return sequences or file paths as an input; strings are paths."""
    is_file: Callable[[Any], bool] = lambda value: isinstance(value, str | os.PathLike)  # noqa: E731
    if is_file(given) or (isinstance(given, list | tuple) and given and all(map(is_file, given))):
        return given
    return _sequences(server, given, name)
