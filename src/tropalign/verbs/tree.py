"""``tropalign tree``: a tree of aligned sequences or of distances."""

from __future__ import annotations

import hashlib
import shlex
import time
from typing import TYPE_CHECKING, Any, Literal

from tropalign.options.option import input_file
from tropalign.verbs.command import Served, naming
from tropalign.verbs.runs import (
    checked_progress,
    devices_of,
    with_version,
)
from tropalign.verbs.tree_files import (
    AUTO,
    Distances,
    TreeCommand,
    alignment_in_bytes,
    compared_with,
    comparison_output,
    read_taxa,
    telling,
    tree_outputs,
    unaligned,
    write_distances,
    write_trees,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tropalign.execution.archive import Shards
    from tropalign.execution.progress import Show
    from tropalign.execution.run import Output
    from tropalign.execution.task import Device
    from tropalign.trees import Tree


class MakeTree(TreeCommand):
    """A tree of aligned sequences or of distances."""

    verb = "tree"
    summary = "make a tree from aligned sequences or distances"
    description = (
        "Make a tree by neighbour joining, UPGMA or WPGMA from an alignment, from unaligned sequences (whose pairs are "
        "aligned first) or from a matrix of distances; or root, draw, convert or compare given trees, or make their "
        "consensus."
    )
    example = """example:
  tropalign tree family.aln -o family.nwk
  tropalign tree family.aln --bootstrap 100 --seed 1 --outgroup mouse -o family.nwk
  tropalign tree family.fa --unaligned -o family.nwk
  tropalign tree distances.phy --method upgma > tree.nwk
  tropalign msa family.fa | tropalign tree - --distances-out family.tsv
  tropalign tree family.aln --min-occupancy 0.5 -o trimmed.nwk
  tropalign tree family.nwk --consensus majority -o consensus.nwk
  tropalign tree family.nwk --compare trimmed.nwk -o distances.tsv
  tropalign tree family.nwk --midpoint --colours groups.tsv --html family.html -o rooted.nex

The tree is in Newick format, with support in percent as labels of inner nodes. The suffix of -o selects other formats:
.nex NEXUS, .dnd for CLUSTALW, .html a page, .svg, .png and .pdf an image.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(title="Make a tree", kind="trees", example={"taxa": "efp_aligned.fasta"})
    finishes = ("distances_out", "columns_out")
    each_input, each_power = "taxa", 2

    taxa: str = input_file(
        flags=(),
        metavar="FILE",
        holds="alignment",
        label="Alignment, sequences, distances or a tree",
        help="an alignment (FASTA, Clustal, Stockholm, PHYLIP, MSF), sequences with --unaligned, distances (PHYLIP, "
        "or TSV as from tropalign pairs -f matrix), or a tree (Newick, NEXUS), compressed or not; - is stdin",
        form_help="An alignment (FASTA, Clustal, Stockholm, PHYLIP, MSF), unaligned sequences (then select this "
        "below), distances (PHYLIP, or TSV from the format matrix of pairs), or a tree (Newick, NEXUS), compressed "
        "or not",
    )

    def run(self) -> None:
        """Read, make the tree, and write it."""
        from tropalign.formats.distance_matrix import distance_format
        from tropalign.formats.trees.groups import read_groups, tell_unknown
        from tropalign.resources.limits import default_budget, left_for_job
        from tropalign.sequences.files import file_name

        self.check()
        places = self.places() if self.shard is None else {"output": self.output}
        inputs = [path for path in (self.taxa, self.colours, self.compare) if path is not None]
        show = checked_progress(self, list(places.values()), inputs, holds=True)
        groups = read_groups(self.colours) if self.colours is not None else {}
        outputs = tree_outputs(self, places, groups) if self.shard is None else []
        if self.compare is not None:
            outputs.append(comparison_output(self))
        if self.distances_out is not None:
            distance_format(self.distances_out)
        allowed = self.memory or default_budget()
        memory_bytes = left_for_job(allowed, 0)
        begin = time.perf_counter()
        with naming(file_name(self.taxa)):
            if self.shard is not None:
                _shard(self, memory_bytes, allowed, show)
                return
            given = read_taxa(self, memory_bytes, show)
            if isinstance(given, Distances):
                trees = [_tree(self, given, memory_bytes, show)]
            else:
                self._check_views(outputs, len(given))
                trees = list(_each_rooted(self, given))
        found = None if self.compare is None else compared_with(self, trees, show)
        if isinstance(given, Distances):
            write_distances(self, given, places)
        if self.colours is not None:
            tell_unknown(groups, trees[0].names, self.colours)
        what = "bootstrap samples" if self.consensus is None else "trees of the consensus"
        write_trees(self, trees, [telling(output, trees[0], what) for output in outputs], begin, found)

    def _check_views(self, outputs: list[Output], n_trees: int) -> None:
        """Reject pages and pictures of several trees."""
        from tropalign.sequences.files import file_name

        for output in outputs if n_trees > 1 else []:
            if output.role != "comparison" and output.writer.name in ("html", "svg", "png", "pdf"):
                self.refuse(
                    f"{output.path}: a page or a picture shows one tree, and {file_name(self.taxa)} holds {n_trees:,}: "
                    "make one of them by --consensus, or write that one to a file of its own"
                )

    def check(self) -> None:
        """Reject invalid options before anything is read."""
        from tropalign.formats.format import format_for_path

        super().check()
        kind = "trees" if self.compare is None or self.compared is not None else "trees/compared"
        is_view = kind == "trees" and format_for_path(kind, self.output) in ("html", "svg", "png", "pdf")
        shows_colours = self.html or self.plot or is_view
        if self.colours is not None and not shows_colours:
            self.refuse("--colours needs a page or a picture: add --html or --plot, or name one with -o")
        if list(self.places().values()).count("-") > 1:
            self.refuse("two files cannot both go to standard output: name a file for one of them")

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Make the tree with the counts of shards."""
        from tropalign.execution.manifest import hash_of
        from tropalign.execution.progress import progress_bar, status_only
        from tropalign.formats.distance_matrix import distance_format
        from tropalign.resources.limits import default_budget, left_for_job
        from tropalign.sequences.store import batch_of_bytes
        from tropalign.trees.bootstrap import sum_of, supported
        from tropalign.trees.distances import counted_distances, unaligned_model
        from tropalign.trees.pair_counts import pair_counts_of

        outputs = tree_outputs(self, places, {})
        if "distances_out" in places:
            distance_format(places["distances_out"])
        show, begin = status_only if self.quiet else progress_bar, time.perf_counter()
        memory_bytes = left_for_job(self.memory or default_budget(), 0)
        (data,) = shards.inputs(1)
        shards.check_same(hash_of(_parameters(shards.words or [], data)))
        if self.unaligned:
            batch = batch_of_bytes(data)
            counts = pair_counts_of(shards.sections(0), len(batch))
            model = unaligned_model(self.distances, batch.alphabet)
            given = Distances(batch.names, counted_distances(batch, model, *counts))
            tree = _tree(self, given, memory_bytes, show)
        else:
            given = alignment_in_bytes(self, data, memory_bytes, show, places.get("columns_out"))
            tree, alignment = _joined(self, given, memory_bytes, show), given.alignment
            assert alignment is not None
            found = sum_of(shards.sections(0), len(tree.lengths))
            tree = supported(tree, found, int(self.bootstrap or 0), alignment, self.gaps or "pairwise")
            tree = _rooted(self, tree)
        write_distances(self, given, places)
        write_trees(self, [tree], [telling(output, tree) for output in outputs], begin)


def _shard(options: MakeTree, memory_bytes: int, allowed: int, show: Show) -> None:
    """Compute a share of the samples, or of the pairs of unaligned sequences, for `finish`."""
    from tropalign.devices.registry import open_devices
    from tropalign.execution.manifest import RemainingWork
    from tropalign.execution.run import Output, Run, StageWriter
    from tropalign.sequences.files import read_lines
    from tropalign.sequences.store import batch_to_bytes
    from tropalign.trees.bootstrap import SampleTask, count_bytes
    from tropalign.trees.distances import unaligned_model
    from tropalign.trees.pair_counts import PairCountTask

    assert options.shard is not None
    task: PairCountTask | SampleTask
    devices: Sequence[Device]
    if options.unaligned:
        batch = unaligned(options)
        unaligned_model(options.distances, batch.alphabet)
        task, inputs = PairCountTask(batch, options.shard, memory_bytes), [batch_to_bytes(batch)]
        cost_cells = sum(tile.cost_cells for tile in task.tiles())
        devices = open_devices(devices_of(options), options.threads, cost_cells, memory_bytes)
    else:
        inputs = [b"\n".join(read_lines(options.taxa))]
        given = alignment_in_bytes(options, inputs[0], memory_bytes, show, None)
        tree, alignment = _joined(options, given, memory_bytes, show), given.alignment
        assert alignment is not None
        words = _sampling(options)
        task = SampleTask(
            tree, alignment, int(options.bootstrap or 0), options.shard, memory_bytes=memory_bytes, **words
        )
        cost_cells = sum(tile.cost_cells for tile in task.tiles())
        processors = ["cpu", *filter(None, [options.cluster])]
        devices = open_devices(processors, options.threads, cost_cells, memory_bytes)
    replaying = options.replayed()
    parameters = _parameters(replaying, inputs[0])
    Run(
        task=task,
        outputs=[Output("counts", options.output, StageWriter(count_bytes))],
        outline=task.tiles(),
        parameters=parameters,
        memory_bytes=allowed,
        shard=options.shard,
        unit="pairs" if options.unaligned else "samples",
        remaining=RemainingWork(replaying, inputs),
    ).compute(devices, show)


def _parameters(words: list[str], data: bytes) -> dict[str, str]:
    """Return everything that determines the tree, by name."""
    options = shlex.join(word for word in words if not word.startswith(("--distances-out", "--columns-out")))
    return with_version(options=options, input=f"hash {hashlib.sha256(data).hexdigest()}")


def _tree(options: MakeTree, given: Distances, memory_bytes: int, show: Show) -> Tree:
    """Make the tree of the distances, with support if requested, and its root."""
    from tropalign.trees import with_support

    tree, alignment = _joined(options, given, memory_bytes, show), given.alignment
    if options.bootstrap is not None and alignment is not None:
        means: dict[str, Any] = {
            "n_threads": options.threads,
            "memory_bytes": memory_bytes,
            "device": devices_of(options),
        }
        n_samples: int | Literal["auto"] = AUTO if options.bootstrap == AUTO else int(options.bootstrap)
        with show("samples", None if isinstance(n_samples, str) else n_samples) as progress:
            tree = with_support(tree, alignment, n_samples, progress=progress, **_sampling(options), **means)
    return _rooted(options, tree)


def _sampling(options: MakeTree) -> dict[str, Any]:
    """Return the options for the tree of each sample."""
    gaps = options.gaps or "pairwise"
    return {"method": options.method, "model": options.distances, "gaps": gaps, "seed": options.seed or 0}


def _joined(options: MakeTree, given: Distances, memory_bytes: int, show: Show) -> Tree:
    """Make the unrooted tree of the distances, without support; overwrite them unless they are written later."""
    from tropalign.errors import warn
    from tropalign.results.rooting import rooted_at_outgroup
    from tropalign.trees import neighbour_joining, upgma, wpgma
    from tropalign.trees.joining import is_negative

    names, distances = given.names, given.distances
    left = max(1, memory_bytes - distances.nbytes)
    with show("joins", len(names)) as progress:
        if options.method == "nj":
            negative = options.negative or "keep"
            is_last = options.distances_out is None  # the distances are not written
            tree = neighbour_joining(
                distances, names, negative=negative, overwrite=is_last, memory_bytes=left, progress=progress
            )
        else:
            make = upgma if options.method == "upgma" else wpgma
            tree = make(distances, names, memory_bytes=left, progress=progress)
    count = int(is_negative(tree.lengths).sum())
    if count:
        branches = "1 branch has a negative length" if count == 1 else f"{count} branches have negative lengths"
        warn(f"{branches}, the lowest {tree.lengths.min():.8g}: --negative zero sets them to 0")
    if options.outgroup is not None:
        rooted_at_outgroup(tree, options.outgroup)  # reports errors before the samples are computed
    return tree


def _each_rooted(options: MakeTree, trees: list[Tree]) -> Iterator[Tree]:
    """Yield the trees with the root that is requested; errors name the tree."""
    from tropalign.sequences.files import file_name

    for k, tree in enumerate(trees, 1):
        with naming(file_name(options.taxa) if len(trees) == 1 else f"{file_name(options.taxa)}, tree {k}"):
            yield _rooted(options, tree)


def _rooted(options: MakeTree, tree: Tree) -> Tree:
    from tropalign.results.rooting import rooted_at_midpoint, rooted_at_outgroup

    if options.outgroup is not None:
        tree = rooted_at_outgroup(tree, options.outgroup)
    return rooted_at_midpoint(tree) if options.midpoint else tree
