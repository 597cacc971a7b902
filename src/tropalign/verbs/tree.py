"""``tropalign tree``: a tree of aligned sequences or of distances."""

from __future__ import annotations

import hashlib
import io
import shlex
import time
from typing import TYPE_CHECKING, Any, BinaryIO

from tropalign.options.kinds import TEXT, Choices, whole
from tropalign.options.option import Options, again, input_file, option, output_file
from tropalign.verbs.alignment import SequenceOptions
from tropalign.verbs.command import Command, Served, naming
from tropalign.verbs.run_options import (
    ClusterOptions,
    DeviceOptions,
    EachOption,
    MemoryOptions,
    OutputOptions,
    ShardOptions,
    devices_of,
    started,
)
from tropalign.verbs.runs import tell_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tropalign.execution.archive import Shards
    from tropalign.execution.manifest import Shard
    from tropalign.execution.progress import Show
    from tropalign.execution.task import Device
    from tropalign.sequences import SequenceBatch
    from tropalign.trees import Tree

#: Digits of branch lengths behind the point.
DIGITS = 8
#: Negative lengths nearer to 0 than this share of the longest branch are roundings, and not worth a word.
ROUNDING = 1e-6


class DistanceOptions(Options, group="distances"):
    """What the distances are."""

    unaligned: bool = option(
        default=False,
        label="Sequences are not aligned",
        is_common=True,
        help="FILE holds sequences: align every pair of them",
        form_help="The input is sequences: every pair of them is aligned",
    )
    distances: str | None = option(
        default=None,
        choices=Choices("tropalign.distance_trees.distances", "MODELS"),
        label="Distance model",
        help="how they follow from the letters that differ (default: kimura for proteins; k2p for nucleotides, jc69 "
        "with --unaligned)",
    )
    gaps: str | None = option(
        default=None,
        choices=Choices("tropalign.distance_trees.distances", "GAPS"),
        label="Columns with gaps",
        help="leave out columns with a gap in either row of a pair (pairwise, default), or in any row (complete)",
    )
    alphabet: str = again(SequenceOptions, "alphabet", group="distances", is_common=False)
    distances_out: str | None = output_file(
        output="distances", suffix=".tsv", metavar="FILE", help="the distances: PHYLIP, or TSV by the suffix"
    )


class TreeOptions(Options, group="tree"):
    """How the tree is made, and where its root is."""

    method: str = option(
        default="nj",
        choices=Choices("tropalign.distance_trees.bootstrap", "METHODS"),
        is_common=True,
        help="neighbour joining (default), which gives a tree without a root, or UPGMA",
    )
    bootstrap: int | None = option(
        default=None,
        kind=whole(1, 1_000_000),
        metavar="N",
        label="Bootstrap samples",
        is_common=True,
        help="support of the branches, from N samples",
    )
    seed: int | None = option(
        default=None, kind=whole(0), metavar="N", label="Random seed", help="what the samples depend on (default: 0)"
    )
    negative: str | None = option(
        default=None,
        choices=Choices("tropalign.distance_trees.joining", "NEGATIVE"),
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
    OutputOptions,
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
        "aligned first, or from a matrix of distances."
    )
    example = """example:
  tropalign tree family.aln -o family.nwk
  tropalign tree family.aln --bootstrap 100 --seed 1 --outgroup mouse -o family.nwk
  tropalign tree family.fa --unaligned -o family.nwk
  tropalign tree distances.phy --method upgma > tree.nwk
  tropalign msa family.fa | tropalign tree - --distances-out family.tsv

The tree is in Newick format, support in percent as labels of inner nodes; -o x.dnd writes it as CLUSTALW reads it.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(title="Make a tree", kind="trees", example={"taxa": "efp_aligned.fasta"})
    finishes = ("distances_out",)
    each_input, each_power = "taxa", 2

    taxa: str = input_file(
        flags=(),
        metavar="FILE",
        holds="alignment",
        label="Alignment, sequences or distances",
        help="an alignment (FASTA, Clustal, Stockholm, PHYLIP, MSF), sequences with --unaligned, or distances (PHYLIP, "
        "or TSV as from tropalign pairs -f matrix), compressed or not; - is stdin",
        form_help="An alignment (FASTA, Clustal, Stockholm, PHYLIP, MSF), sequences that are not aligned (then choose "
        "that below), or distances (PHYLIP, or TSV as the format matrix of pairs has them), compressed or not",
    )
    shard: Shard | None = again(
        ShardOptions,
        "shard",
        help="with --bootstrap or --unaligned: compute the I-th of N shares only, into a file for tropalign merge",
    )

    def run(self) -> None:
        """Reads, makes the tree, and writes it."""
        from tropalign.formats.distance_matrix import distance_format
        from tropalign.formats.registry import format_for_path
        from tropalign.machine.memory import default_budget, left_for_job
        from tropalign.sequences.files import file_name

        self.check()
        outputs = [path for path in (self.output, self.distances_out) if path is not None]
        show = started(self, outputs if self.shard is None else outputs[:1], [self.taxa], holds=True)
        format_for_path("trees", self.output)
        if self.distances_out is not None:
            distance_format(self.distances_out)
        allowed = self.memory or default_budget()
        memory_bytes = left_for_job(allowed, 0)
        begin = time.perf_counter()
        with naming(file_name(self.taxa)):
            if self.shard is not None:
                _shard(self, memory_bytes, allowed, show)
                return
            names, distances, alignment = _distances(self, memory_bytes, show)
            tree = _tree(self, names, distances, alignment, memory_bytes, show)
        _write_files(self, names, distances, tree, self.places(), begin)

    def check(self) -> None:
        refuse = self.refuse
        if self.shard is not None and not self.unaligned and self.bootstrap is None:
            refuse(
                "--shard shares out the samples of --bootstrap or the pairs of --unaligned, and a tree without these "
                "takes a moment: leave it out"
            )
        if self.device is not None and not self.unaligned:
            refuse("--device belongs to --unaligned: leave it out")
        if self.cluster is not None and not self.unaligned and self.bootstrap is None:
            refuse("--cluster is for --unaligned and --bootstrap, and the rest is done in a moment: leave it out")
        if self.seed is not None and self.bootstrap is None:
            refuse("--seed belongs to --bootstrap")
        if self.unaligned and self.bootstrap is not None:
            refuse("--bootstrap needs an alignment: make one with tropalign msa")
        if self.unaligned and self.gaps is not None:
            refuse("--gaps has no meaning with --unaligned: leave it out")
        if self.method == "upgma" and self.negative is not None:
            refuse("--negative belongs to neighbour joining: UPGMA has no negative lengths")
        if self.distances_out == "-" and self.output == "-":
            refuse("the tree and its distances cannot both go to standard output: name a file for one of them")

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Makes the tree with what shards have counted.

        Parameters
        ----------
        options
            Of the command that made the shards, with the output and resources of the one that merges them.
        """
        from tropalign.distance_trees.bootstrap import sum_of, supported
        from tropalign.distance_trees.distances import counted_distances, unaligned_model
        from tropalign.distance_trees.pair_counts import pair_counts_of
        from tropalign.execution.manifest import hash_of
        from tropalign.execution.progress import progress_bar, status_only
        from tropalign.formats.distance_matrix import distance_format
        from tropalign.formats.registry import format_for_path
        from tropalign.machine.memory import default_budget, left_for_job
        from tropalign.sequences.saved_batch import batch_of_bytes

        format_for_path("trees", self.output)
        if "distances_out" in places:
            distance_format(places["distances_out"])
        show, begin = status_only if self.quiet else progress_bar, time.perf_counter()
        memory_bytes = left_for_job(self.memory or default_budget(), 0)
        (data,) = shards.inputs(1)
        shards.check_same(hash_of(_parameters(shards.words or [], data)))
        if self.unaligned:
            batch = batch_of_bytes(data)
            counts = pair_counts_of(shards.sections(0), len(batch))
            distances = counted_distances(batch, unaligned_model(self.distances, batch.alphabet), *counts)
            names, tree = batch.names, _tree(self, batch.names, distances, None, memory_bytes, show)
        else:
            names, distances, _ = _alignment_of(self, data, memory_bytes, show)
            tree = _joined(self, names, distances, memory_bytes, show)
            found = sum_of(shards.sections(0), len(tree.lengths))
            tree = _rooted(self, supported(tree, found, self.bootstrap or 0))
        _write_files(self, names, distances, tree, places, begin)


def _write_files(
    options: MakeTree,
    names: tuple[str, ...],
    distances: NDArray[np.float64],
    tree: Tree,
    places: Mapping[str, str],
    begin: float,
) -> None:
    """The tree, and the distances where they are wanted."""
    from tropalign.execution.files import write_to
    from tropalign.formats.distance_matrix import distance_format, write_distance_matrix
    from tropalign.formats.registry import format_for_path
    from tropalign.formats.trees.text import dnd_text

    distances_out = places.get("distances_out")
    if distances_out is not None:
        write_to(
            distances_out, lambda out: write_distance_matrix(names, distances, distance_format(distances_out), out)
        )
    newick = tree.newick(DIGITS)
    text = dnd_text(newick) if format_for_path("trees", options.output) == "dnd" else f"{newick}\n"
    write_to(options.output, lambda out: _write(text.encode(), out))
    if not options.quiet:
        outputs = [path for path in (options.output, distances_out) if path is not None]
        tell_of(f"{len(names):,} taxa", time.perf_counter() - begin, 0, outputs)


def _shard(options: MakeTree, memory_bytes: int, allowed: int, show: Show) -> None:
    """Computes a share of the samples, or of the pairs of unaligned sequences, for `finish`."""
    from tropalign.devices.registry import open_devices
    from tropalign.distance_trees.bootstrap import SampleTask, count_bytes
    from tropalign.distance_trees.distances import unaligned_model
    from tropalign.distance_trees.pair_counts import PairCountTask
    from tropalign.execution.manifest import RemainingWork
    from tropalign.execution.run import Output, Run, StageWriter
    from tropalign.sequences.files import read_lines
    from tropalign.sequences.saved_batch import batch_to_bytes

    assert options.shard is not None
    task: PairCountTask | SampleTask
    devices: Sequence[Device]
    if options.unaligned:
        batch = _unaligned(options)
        unaligned_model(options.distances, batch.alphabet)
        task, inputs = PairCountTask(batch, options.shard, memory_bytes), [batch_to_bytes(batch)]
        cost_cells = sum(tile.cost_cells for tile in task.tiles())
        devices = open_devices(devices_of(options), options.threads, cost_cells, memory_bytes)
    else:
        inputs = [b"\n".join(read_lines(options.taxa))]
        names, distances, alignment = _alignment_of(options, inputs[0], memory_bytes, show)
        tree = _joined(options, names, distances, memory_bytes, show)
        words = _sampling(options)
        task = SampleTask(tree, alignment, options.bootstrap or 0, options.shard, memory_bytes=memory_bytes, **words)
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
    """All that decides the tree, by name."""
    from tropalign import __version__

    options = shlex.join(word for word in words if not word.startswith("--distances-out"))
    return {"version": __version__, "options": options, "input": f"hash {hashlib.sha256(data).hexdigest()}"}


def _write(text: bytes, out: BinaryIO) -> None:
    out.write(text)


def _distances(options: MakeTree, memory_bytes: int, show: Show) -> tuple[tuple[str, ...], NDArray[np.float64], Any]:
    """Names and distances of the taxa, and the alignment that they are of, where there is one."""
    from tropalign.formats.distance_matrix import is_distance_matrix, parse_distance_matrix
    from tropalign.sequences.files import can_be_read_twice, file_name, read_lines

    if options.unaligned:
        return (*_pair_distances(options, memory_bytes, show), None)
    is_kept = not can_be_read_twice(options.taxa)
    lines = list(read_lines(options.taxa)) if is_kept else read_lines(options.taxa)
    first = next(line for line in lines if line.strip())
    if not is_distance_matrix(first):
        source = _Kept(b"\n".join(lines), file_name(options.taxa)) if is_kept else options.taxa
        return _alignment_distances(options, source, memory_bytes, show)
    for name in ("distances", "gaps", "bootstrap"):
        if getattr(options, name) is not None:
            options.refuse(f"--{name} needs an alignment, and {file_name(options.taxa)} holds distances")
    lines = lines if is_kept else read_lines(options.taxa)
    return (*parse_distance_matrix(lines, file_name(options.taxa), memory_bytes), None)


class _Kept(io.BytesIO):
    """What was read from standard input or a pipe, to be read again."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def _alignment_distances(
    options: MakeTree, source: Any, memory_bytes: int, show: Show
) -> tuple[tuple[str, ...], NDArray[np.float64], Any]:
    from tropalign.distance_trees.distances import alignment_in
    from tropalign.sequences.aligned_files import UnequalRowsError
    from tropalign.sequences.alphabet import ALPHABETS
    from tropalign.trees import alignment_distances

    try:
        alignment = alignment_in(source, ALPHABETS.get(options.alphabet))
    except UnequalRowsError as error:
        error.args = (f"{error}; for sequences that are not aligned, add --unaligned",)
        raise
    means: dict[str, Any] = {
        "gaps": options.gaps or "pairwise",
        "n_threads": options.threads,
        "memory_bytes": memory_bytes,
    }
    with show("blocks of pairs", None) as progress:
        found = alignment_distances(alignment, options.distances, progress=progress, **means)
    return alignment.names, found, alignment


def _pair_distances(options: MakeTree, memory_bytes: int, show: Show) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    from tropalign.trees import pair_distances

    batch = _unaligned(options)
    means: dict[str, Any] = {"n_threads": options.threads, "memory_bytes": memory_bytes, "device": devices_of(options)}
    with show("pairs", len(batch) * (len(batch) - 1) // 2) as progress:
        return batch.names, pair_distances(batch, options.distances, progress=progress, **means)


def _unaligned(options: MakeTree) -> SequenceBatch:
    from tropalign.msa.family import read_family
    from tropalign.sequences.alphabet import ALPHABETS

    reading = {"is_realigned": False, "skip_empty": False, "strict": False}
    return read_family([options.taxa], ALPHABETS.get(options.alphabet), **reading)


def _alignment_of(
    options: MakeTree, data: bytes, memory_bytes: int, show: Show
) -> tuple[tuple[str, ...], NDArray[np.float64], Any]:
    """Names and distances of the alignment in these bytes, and the alignment."""
    from tropalign.formats.distance_matrix import is_distance_matrix
    from tropalign.sequences.files import file_name

    first = next((line for line in data.splitlines() if line.strip()), b"")
    if is_distance_matrix(first):
        options.refuse(f"--bootstrap needs an alignment, and {file_name(options.taxa)} holds distances")
    return _alignment_distances(options, _Kept(data, file_name(options.taxa)), memory_bytes, show)


def _tree(
    options: MakeTree,
    names: tuple[str, ...],
    distances: NDArray[np.float64],
    alignment: Any,
    memory_bytes: int,
    show: Show,
) -> Tree:
    from tropalign.trees import with_support

    tree = _joined(options, names, distances, memory_bytes, show)
    if options.bootstrap is not None and alignment is not None:
        means: dict[str, Any] = {
            "n_threads": options.threads,
            "memory_bytes": memory_bytes,
            "device": devices_of(options),
        }
        with show("samples", options.bootstrap) as progress:
            tree = with_support(tree, alignment, options.bootstrap, progress=progress, **_sampling(options), **means)
    return _rooted(options, tree)


def _sampling(options: MakeTree) -> dict[str, Any]:
    """How the tree of each sample is made."""
    gaps = options.gaps or "pairwise"
    return {"method": options.method, "model": options.distances, "gaps": gaps, "seed": options.seed or 0}


def _joined(
    options: MakeTree, names: tuple[str, ...], distances: NDArray[np.float64], memory_bytes: int, show: Show
) -> Tree:
    """The tree of the distances, without support, not rooted yet."""
    from tropalign.trees import neighbour_joining, upgma
    from tropalign.trees.rooting import rooted_at_outgroup

    left = max(1, memory_bytes - distances.nbytes)
    with show("joins", len(names)) as progress:
        if options.method == "nj":
            negative = options.negative or "keep"
            tree = neighbour_joining(distances, names, negative=negative, memory_bytes=left, progress=progress)
        else:
            tree = upgma(distances, names, memory_bytes=left, progress=progress)
    _tell_negative(tree)
    if options.outgroup is not None:
        rooted_at_outgroup(tree, options.outgroup)  # what it refuses should not have to wait for the samples
    return tree


def _rooted(options: MakeTree, tree: Tree) -> Tree:
    from tropalign.trees.rooting import rooted_at_midpoint, rooted_at_outgroup

    if options.outgroup is not None:
        tree = rooted_at_outgroup(tree, options.outgroup)
    return rooted_at_midpoint(tree) if options.midpoint else tree


def _tell_negative(tree: Tree) -> None:
    """A word on negative lengths."""
    import warnings

    from tropalign.errors import TropalignWarning

    count = int((tree.lengths < -ROUNDING * abs(tree.lengths).max()).sum())
    if count:
        branches = "1 branch has a negative length" if count == 1 else f"{count} branches have negative lengths"
        warnings.warn(
            f"{branches}, the least {tree.lengths.min():.{DIGITS}f}: --negative zero makes them 0",
            TropalignWarning,
            stacklevel=2,
        )
