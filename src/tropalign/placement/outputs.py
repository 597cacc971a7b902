"""Output files of a placement, and the parameters that identify a run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tropalign.execution.files import check_terminal
from tropalign.execution.run import Output
from tropalign.formats.format import Header, format_for_path, make_writer
from tropalign.formats.placed.context import PlacedContext
from tropalign.placement.reference import ReferencePackage
from tropalign.sequences.annotations import teller

if TYPE_CHECKING:
    from tropalign.execution.run import Writer
    from tropalign.placement.task import PlaceTask
    from tropalign.results.clusters import OtuTable
    from tropalign.results.placements import BranchLineages
    from tropalign.sequences.reader import Survey


@dataclass(frozen=True)
class Wanted:
    """The output files of a placement; paths are None for files that are not requested.

    `rows`: format of the alignment, "fasta" or "phylip". `is_split`: write the reads alone there, and the reference
    to ``FILE.reference``. `insertions`: "drop" letters between the reference's columns, or put them into new
    "columns". `branches`: table of reads per branch. `otus`: table of counts with lineages. `sunburst`, `report`:
    HTML pages of the taxa, and of the tree. `query`: the reads alone in the reference's columns, as FASTA, for
    another program. `sample_delimiter`, `sample_regex`: how names give samples for the page of the tree, as in
    `tropalign.sequences.annotations.teller`.
    """

    alignment: str | None
    rows: str = "fasta"
    is_split: bool = False
    insertions: str = "drop"
    table: str | None = None
    jplace: str | None = None
    branches: str | None = None
    taxa: str | None = None
    sunburst: str | None = None
    otus: str | None = None
    report: str | None = None
    query: str | None = None
    sample_delimiter: str | None = None
    sample_regex: str | None = None

    def paths(self) -> list[str]:
        """Return the paths that the caller named, the alignment first."""
        reference = reference_path(self.alignment) if self.is_split and self.alignment else None
        named = (self.alignment, reference, *(path for _, _, path in self.beside()))
        return [path for path in named if path is not None]

    def beside(self) -> tuple[tuple[str, str, str | None], ...]:
        """Return role, kind and path of each output, excluding the alignment."""
        return (
            ("table", "table", self.table),
            ("jplace", "branches", self.jplace),
            ("branches", "by_branch", self.branches),
            ("taxa", "taxa", self.taxa),
            ("sunburst", "sunburst", self.sunburst),
            ("otu_table", "otus", self.otus),
            ("report", "report", self.report),
        )


def reference_path(alignment: str) -> str:
    """Return the path of the reference that accompanies an alignment of the reads alone."""
    return f"{alignment}.reference"


def outputs_of(
    package: ReferencePackage,
    header: Header,
    wanted: Wanted,
    is_shard: bool,
    lineages: BranchLineages | None = None,
    page_bytes: int | None = None,
    otus: OtuTable | None = None,
) -> list[Output]:
    """Create files and their writers, the alignment first.

    `lineages`: of the tips below each branch, for the table and the reads per taxon. `page_bytes`: memory limit
    for making the report. `otus`: counts of the reads, if their names do not contain these. Raises UsageError for
    unknown suffixes and binary output to a terminal, InputError for a format that lacks its package.
    """
    clades = tuple(package.tree.clades()) if wanted.table or wanted.branches else ()
    unrooted, lengths = package.tree.newick(), package.tree.branch_lengths()

    more = "" if lineages is None else "lineages"
    tell = teller(None, wanted.sample_delimiter, wanted.sample_regex)

    def writer(name: str, which: str = "all", insertions: str = wanted.insertions) -> Writer:
        newick = package.tree.jplace() if name == "jplace" else unrooted
        about = (package.names, package.letters, newick, clades, lengths, insertions, which, more, lineages, page_bytes)
        context = PlacedContext(*about, samples=() if otus is None else otus.samples, otus=otus, tell=tell)
        return make_writer("placed", name, header, context)

    outputs = []
    if wanted.alignment is not None:
        alignment = writer(wanted.rows, "reads" if wanted.is_split else "all")
        outputs.append(Output("alignment", wanted.alignment, alignment))
        if wanted.is_split:
            outputs.append(Output("reference", reference_path(wanted.alignment), writer(wanted.rows, "reference")))
    if wanted.query is not None:
        outputs.append(Output("query", wanted.query, writer("fasta", "reads", "drop")))
    for role, kind, path in wanted.beside():
        if path is not None:
            outputs.append(Output(role, path, writer(format_for_path(f"placed/{kind}", path))))
    for output in outputs if not is_shard else ():
        if output.writer.is_binary:
            check_terminal(output.writer.name, output.path)
    return outputs


def run_parameters(
    task: PlaceTask,
    found: Survey,
    outputs: list[Output],
    wanted: Wanted,
    version: str,
    lineages: BranchLineages | None = None,
    otus: OtuTable | None = None,
) -> dict[str, str]:
    """Return all parameters that determine a run's output, by name."""
    package = task.package
    parameters = {
        "version": version,
        "outputs": ", ".join(f"{output.role} as {output.writer.name}" for output in outputs),
        "insertions": wanted.insertions,
        "strand": "both" if task.both_strands else "adjust" if task.adjusts_strand else "plus",
        "minimum score": str(task.min_score),
        "scoring": ", ".join(map(str, task.scoring.numbers())),
        "reference": f"{len(package.names)} rows, hash {package.fingerprint()[:16]}",
        "reads": f"{found.n_reads} reads of {int(found.lengths.sum())} letters, hash {found.sha256[:16]}",
    }
    if lineages is not None:
        known = repr(lineages.lineages).encode("utf-8", "surrogatepass")
        parameters["taxonomy"] = f"hash {hashlib.sha256(known).hexdigest()[:16]}"
    for name in ("sample_delimiter", "sample_regex"):
        if getattr(wanted, name) is not None:
            parameters[name] = getattr(wanted, name)
    if otus is not None:
        counted = hashlib.sha256(repr((otus.names, otus.samples)).encode("utf-8", "surrogatepass"))
        for column in (otus.cluster, otus.sample, otus.reads):
            counted.update(column.tobytes())
        parameters["counts"] = f"hash {counted.hexdigest()[:16]}"
    return parameters
