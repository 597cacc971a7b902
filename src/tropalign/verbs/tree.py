"""``tropalign tree``: a tree of aligned sequences or of distances."""

from __future__ import annotations

import hashlib
import shlex
import time
from typing import TYPE_CHECKING, Any, Final, Literal

from tropalign.options.option import TEXT, Choices, Kind, Options, again, input_file, option, output_file, whole
from tropalign.verbs.command import Command, Served, naming
from tropalign.verbs.runs import (
    ClusterOptions,
    CommentOptions,
    DeviceOptions,
    EachOption,
    MemoryOptions,
    OutputOptions,
    ShardOptions,
    devices_of,
    started,
)
from tropalign.verbs.sequence_options import SequenceOptions
from tropalign.verbs.tree_files import (
    Distances,
    ViewOptions,
    alignment_in_bytes,
    is_drawn,
    read_taxa,
    telling,
    tree_outputs,
    unaligned,
    write_distances,
    write_tree,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tropalign.execution.archive import Shards
    from tropalign.execution.manifest import Shard
    from tropalign.execution.progress import Show
    from tropalign.execution.task import Device
    from tropalign.trees import Tree
    from tropalign.trees.bootstrap import MethodName
    from tropalign.trees.distances import GapRule, ModelName
    from tropalign.trees.joining import NegativeRule

#: Bootstrap until support has settled; `tropalign.trees.bootstrap` uses the same word.
AUTO: Final = "auto"
#: Negative lengths below this share of the longest branch are rounding errors, which are not reported.
ROUNDING = 1e-6


_AUTO_IS_WHOLE = (
    "--shard and --cluster share out samples, whose number --bootstrap auto does not know beforehand: give "
    "--bootstrap N"
)


def samples(text: str) -> str:
    """Parse a number of samples, or auto. Raises ValueError."""
    if not (word := text.strip()).lstrip("-+").isdigit() and word != AUTO:
        raise ValueError(f"{text!r} is neither a whole number nor auto")
    return AUTO if word == AUTO else str(whole(1, 1_000_000).parse(text))


class DistanceOptions(Options, group="distances"):
    """Distances between taxa."""

    unaligned: bool = option(
        default=False,
        label="Sequences are not aligned",
        excludes={"bootstrap": "--bootstrap needs an alignment: make one with tropalign msa", "gaps": ""},
        is_common=True,
        help="FILE holds sequences: align every pair of them",
        form_help="The input is sequences: every pair of them is aligned",
    )
    distances: ModelName | None = option(
        default=None,
        choices=Choices("tropalign.trees.distances", "MODELS"),
        label="Distance model",
        help="how they follow from the letters that differ (default: kimura for proteins; k2p for nucleotides, jc69 "
        "with --unaligned)",
    )
    gaps: GapRule | None = option(
        default=None,
        choices=Choices("tropalign.trees.distances", "GAPS"),
        label="Columns with gaps",
        help="leave out columns with a gap in either row of a pair (pairwise, default), or in any row (complete)",
    )
    alphabet: str = again(SequenceOptions, "alphabet", group="distances", is_common=False)
    distances_out: str | None = output_file(
        output="distances", suffix=".tsv", metavar="FILE", help="the distances: PHYLIP, or TSV by the suffix"
    )


class TreeOptions(Options, group="tree"):
    """Construction and root of the tree."""

    method: MethodName = option(
        default="nj",
        choices=Choices("tropalign.trees.bootstrap", "METHODS"),
        excludes={"negative": "--negative belongs to neighbour joining: UPGMA has no negative lengths"},
        is_common=True,
        help="neighbour joining (default), which gives a tree without a root, or UPGMA",
    )
    bootstrap: str | None = option(
        default=None,
        kind=Kind("text", samples),
        metavar="N",
        label="Bootstrap samples",
        is_common=True,
        help="support of the branches, from N samples; auto: as many as it takes until support has settled, 1000 at "
        "most",
    )
    seed: int | None = option(
        default=None,
        kind=whole(0),
        metavar="N",
        label="Random seed",
        needs="bootstrap",
        help="what the samples depend on (default: 0)",
    )
    negative: NegativeRule | None = option(
        default=None,
        choices=Choices("tropalign.trees.joining", "NEGATIVE"),
        label="Negative branch lengths",
        help="what becomes of negative branch lengths (default: keep)",
    )
    outgroup: list[str] | None = option(
        default=None,
        kind=TEXT,
        many="append",
        metavar="NAME",
        either="root",
        help="root the tree beside this taxon; several times for several",
    )
    midpoint: bool = option(
        default=False,
        label="Midpoint root",
        is_common=True,
        either="root",
        help="root the tree in the middle of its longest path",
    )


class MakeTree(
    Command,
    DistanceOptions,
    TreeOptions,
    ViewOptions,
    OutputOptions,
    CommentOptions,
    DeviceOptions,
    ClusterOptions,
    MemoryOptions,
    ShardOptions,
    EachOption,
):
    """A tree of aligned sequences or of distances."""

    verb = "tree"
    summary = "a tree of aligned sequences or of distances"
    description = (
        "Makes a tree by neighbour joining or UPGMA, from an alignment, from unaligned sequences, whose pairs are "
        "aligned first, or from a matrix of distances; or takes a tree, to root, draw or convert it."
    )
    example = """example:
  tropalign tree family.aln -o family.nwk
  tropalign tree family.aln --bootstrap 100 --seed 1 --outgroup mouse -o family.nwk
  tropalign tree family.fa --unaligned -o family.nwk
  tropalign tree distances.phy --method upgma > tree.nwk
  tropalign msa family.fa | tropalign tree - --distances-out family.tsv
  tropalign tree family.nwk --midpoint --colours groups.tsv --html family.html -o rooted.nex

The tree is in Newick format, support in percent as labels of inner nodes. By the suffix of -o: .nex NEXUS, .dnd as
CLUSTALW reads it, .html a page, .svg, .png, .pdf a picture.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(title="Make a tree", kind="trees", example={"taxa": "efp_aligned.fasta"})
    finishes = ("distances_out",)
    each_input, each_power = "taxa", 2

    taxa: str = input_file(
        flags=(),
        metavar="FILE",
        holds="alignment",
        label="Alignment, sequences, distances or a tree",
        help="an alignment (FASTA, Clustal, Stockholm, PHYLIP, MSF), sequences with --unaligned, distances (PHYLIP, "
        "or TSV as from tropalign pairs -f matrix), or a tree (Newick, NEXUS), compressed or not; - is stdin",
        form_help="An alignment (FASTA, Clustal, Stockholm, PHYLIP, MSF), sequences that are not aligned (then choose "
        "that below), distances (PHYLIP, or TSV as the format matrix of pairs has them), or a tree (Newick, "
        "NEXUS), compressed or not",
    )
    device: list[str] | None = again(DeviceOptions, "device", needs="unaligned")
    cluster: str | None = again(
        ClusterOptions,
        "cluster",
        needs={
            "unaligned|bootstrap": "--cluster is for --unaligned and --bootstrap, and the rest is done in a moment: "
            "leave it out"
        },
        excludes={"bootstrap=auto": _AUTO_IS_WHOLE},
    )
    shard: Shard | None = again(
        ShardOptions,
        "shard",
        needs={
            "unaligned|bootstrap": "--shard shares out the samples of --bootstrap or the pairs of --unaligned, and a "
            "tree without these takes a moment: leave it out"
        },
        excludes={
            "bootstrap=auto": _AUTO_IS_WHOLE,
            **dict.fromkeys(
                ("html", "plot", "colours"),
                "--html, --plot and --colours are for whole trees: merge the shards into tree.nwk, then say tropalign "
                "tree tree.nwk --html tree.html",
            ),
        },
        help="with --bootstrap or --unaligned: compute the I-th of N shares only, into a file for tropalign merge",
    )

    def run(self) -> None:
        """Read, make the tree, and write it."""
        from tropalign.formats.distance_matrix import distance_format
        from tropalign.formats.trees.groups import read_groups, tell_unknown
        from tropalign.resources.limits import default_budget, left_for_job
        from tropalign.sequences.files import file_name

        self.check()
        places = self.places() if self.shard is None else {"output": self.output}
        inputs = [path for path in (self.taxa, self.colours) if path is not None]
        show = started(self, list(places.values()), inputs, holds=True)
        groups = read_groups(self.colours) if self.colours is not None else {}
        outputs = tree_outputs(self, places, groups) if self.shard is None else []
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
            tree = _tree(self, given, memory_bytes, show) if isinstance(given, Distances) else _rooted(self, given)
        if isinstance(given, Distances):
            write_distances(self, given, places)
        if self.colours is not None:
            tell_unknown(groups, tree.names, self.colours)
        write_tree(self, tree, [telling(output, tree) for output in outputs], begin)

    def check(self) -> None:
        """Reject invalid options before anything is read."""
        super().check()
        if self.colours is not None and not is_drawn(self):
            self.refuse("--colours is for --html, --plot and for a page or a picture as -o: name one of these files")
        if list(self.places().values()).count("-") > 1:
            self.refuse("two files cannot both go to standard output: name a file for one of them")

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Make the tree with the counts of shards."""
        from tropalign.execution.manifest import hash_of
        from tropalign.execution.progress import progress_bar, status_only
        from tropalign.formats.distance_matrix import distance_format
        from tropalign.resources.limits import default_budget, left_for_job
        from tropalign.sequences.saved_batch import batch_of_bytes
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
            given = alignment_in_bytes(self, data, memory_bytes, show)
            tree, alignment = _joined(self, given, memory_bytes, show), given.alignment
            assert alignment is not None
            found = sum_of(shards.sections(0), len(tree.lengths))
            tree = supported(tree, found, int(self.bootstrap or 0), alignment, self.gaps or "pairwise")
            tree = _rooted(self, tree)
        write_distances(self, given, places)
        write_tree(self, tree, [telling(output, tree) for output in outputs], begin)


def _shard(options: MakeTree, memory_bytes: int, allowed: int, show: Show) -> None:
    """Compute a share of the samples, or of the pairs of unaligned sequences, for `finish`."""
    from tropalign.devices.registry import open_devices
    from tropalign.execution.manifest import RemainingWork
    from tropalign.execution.run import Output, Run, StageWriter
    from tropalign.sequences.files import read_lines
    from tropalign.sequences.saved_batch import batch_to_bytes
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
        given = alignment_in_bytes(options, inputs[0], memory_bytes, show)
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
    from tropalign import __version__

    options = shlex.join(word for word in words if not word.startswith("--distances-out"))
    return {"version": __version__, "options": options, "input": f"hash {hashlib.sha256(data).hexdigest()}"}


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
    """Make the unrooted tree of the distances, without support. Distances that are not written are overwritten."""
    from tropalign.results.rooting import rooted_at_outgroup
    from tropalign.trees import neighbour_joining, upgma

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
            tree = upgma(distances, names, memory_bytes=left, progress=progress)
    _tell_negative(tree)
    if options.outgroup is not None:
        rooted_at_outgroup(tree, options.outgroup)  # reports errors before the samples are computed
    return tree


def _rooted(options: MakeTree, tree: Tree) -> Tree:
    from tropalign.results.rooting import rooted_at_midpoint, rooted_at_outgroup

    if options.outgroup is not None:
        tree = rooted_at_outgroup(tree, options.outgroup)
    return rooted_at_midpoint(tree) if options.midpoint else tree


def _tell_negative(tree: Tree) -> None:
    """Warn of negative lengths."""
    import warnings

    from tropalign.errors import TropalignWarning

    count = int((tree.lengths < -ROUNDING * abs(tree.lengths).max()).sum())
    if count:
        branches = "1 branch has a negative length" if count == 1 else f"{count} branches have negative lengths"
        warnings.warn(
            f"{branches}, the least {tree.lengths.min():.8g}: --negative zero makes them 0",
            TropalignWarning,
            stacklevel=2,
        )
