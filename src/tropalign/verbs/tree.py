"""``tropalign tree``: a tree of aligned sequences or of distances."""

from __future__ import annotations

import hashlib
import io
import os
import shlex
import time
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from tropalign.errors import counted
from tropalign.options.option import TEXT, Kind, Options, again, input_file, option, output_file, whole
from tropalign.results.names import ColumnRule, ConsensusRule, DistanceModel, NegativeRule, TreeMethod
from tropalign.verbs.command import (
    ClusterOptions,
    Command,
    CommentOptions,
    DeviceOptions,
    EachOption,
    MemoryOptions,
    OutputOptions,
    Served,
    ShardOptions,
    checked_progress,
    devices_of,
    header_of,
    naming,
    output_of,
    print_summary,
    with_version,
)
from tropalign.verbs.sequence_options import SequenceOptions
from tropalign.verbs.trimming import THRESHOLDS, TrimOptions, trimmed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tropalign.execution.archive import Shards
    from tropalign.execution.manifest import Shard
    from tropalign.execution.progress import Show
    from tropalign.execution.run import Output
    from tropalign.execution.task import Device
    from tropalign.results.multiple import MultipleAlignment
    from tropalign.sequences import SequenceBatch
    from tropalign.trees import Tree, TreeComparisons

#: Bytes of memory for trees, per byte of their text.
TREE_TIMES = 20
#: Value for a bootstrap until support has settled, also in `tropalign.trees.bootstrap`.
AUTO: Final = "auto"


_AUTO_IS_WHOLE = (
    "--shard and --cluster divide the samples, whose number is unknown beforehand with --bootstrap auto: give "
    "--bootstrap N"
)


def samples(text: str) -> str:
    """Parse a number of samples, or auto. Raises ValueError."""
    if not (word := text.strip()).lstrip("-+").isdigit() and word != AUTO:
        raise ValueError(f"{text!r} is not a whole number or auto")
    return AUTO if word == AUTO else str(whole(1, 1_000_000).parse(text))


class DistanceOptions(Options, group="distances"):
    """Distances between taxa."""

    unaligned: bool = option(
        default=False,
        label="Sequences are not aligned",
        excludes={
            "bootstrap": "--bootstrap needs an alignment: make one with tropalign msa",
            "gaps": "",
            **dict.fromkeys(THRESHOLDS, "{other} needs an alignment: make one with tropalign msa"),
        },
        is_common=True,
        help="the input is unaligned sequences: align every pair of them",
    )
    distances: DistanceModel | None = option(
        default=None,
        choices=get_args(DistanceModel),
        label="Distance model",
        help="distance model (default: kimura for proteins; k2p for nucleotides, jc69 with --unaligned)",
    )
    gaps: ColumnRule | None = option(
        default=None,
        choices=get_args(ColumnRule),
        label="Columns with gaps",
        help="leave out columns with a gap in either row of a pair (pairwise, default), or in any row (complete)",
    )
    alphabet: str = again(SequenceOptions, "alphabet", group="distances", is_common=False)
    distances_out: str | None = output_file(
        output="distances", suffix=".tsv", metavar="FILE", help="distances: PHYLIP, or TSV by the suffix"
    )


class TreeOptions(Options, group="tree"):
    """Construction and root of the tree."""

    method: TreeMethod = option(
        default="nj",
        choices=get_args(TreeMethod),
        excludes={
            "negative": "--negative applies to neighbour joining and tree files, because {this} gives no negative "
            "lengths: leave it out"
        },
        is_common=True,
        help="neighbour joining (default), which gives an unrooted tree, UPGMA or WPGMA",
    )
    bootstrap: str | None = option(
        default=None,
        kind=Kind("text", samples),
        metavar="N",
        label="Bootstrap samples",
        is_common=True,
        help="number of bootstrap samples for the support of branches; auto: until the support has settled, at most "
        "1000",
    )
    seed: int | None = option(
        default=None,
        kind=whole(0),
        metavar="N",
        label="Random seed",
        needs="bootstrap",
        help="seed of the bootstrap samples (default: 0)",
    )
    negative: NegativeRule | None = option(
        default=None,
        choices=get_args(NegativeRule),
        label="Negative branch lengths",
        help="treatment of negative branch lengths, also of tree files (default: keep)",
    )
    outgroup: list[str] | None = option(
        default=None,
        kind=TEXT,
        many="append",
        metavar="NAME",
        either="root",
        help="root the tree at this outgroup taxon; may be repeated",
    )
    midpoint: bool = option(
        default=False,
        label="Midpoint root",
        is_common=True,
        either="root",
        help="root the tree at the middle of its longest path",
    )


class ComparisonOptions(Options, group="several trees"):
    """Consensus of the trees of a file, and comparison with other trees."""

    consensus: ConsensusRule | None = option(
        default=None,
        choices=get_args(ConsensusRule),
        label="Consensus of the trees",
        help="replace the trees of a file by their consensus: the splits that more than half of them have (majority) "
        "or all have (strict), with the percentage of trees as support",
    )
    compare: str | None = input_file(
        default=None,
        metavar="TREES",
        holds="tree",
        label="Trees to compare with",
        help="write the Robinson-Foulds and branch-score distances to the trees of this file instead of a tree; the "
        "same file as FILE: compare each pair of its trees",
        form_help="Write the Robinson-Foulds and branch-score distances to the trees of this file instead of a tree",
    )
    compare_as: Literal["table", "rf", "normalised-rf", "branch-score", "weighted-rf"] = option(
        default="table",
        choices=("table", "rf", "normalised-rf", "branch-score", "weighted-rf"),
        label="Form of the comparison",
        needs="compare",
        help="a table of all distances with a row per pair (default), or a matrix of one distance",
    )
    common_taxa: bool = option(
        default=False,
        label="Compare the common taxa",
        needs="compare",
        help="remove taxa that only one of two trees has before comparing them (default: such taxa are an error)",
    )
    rooted: bool = option(
        default=False,
        label="Count clades",
        needs="consensus|compare",
        help="count clades of rooted trees (default: splits, which ignore roots)",
    )
    compared: str | None = output_file(
        output="comparison",
        suffix=".tsv",
        of_shards=False,
        metavar="FILE",
        needs="compare",
        help="write the comparison to this file, and the tree to -o: TSV, or PHYLIP for a matrix (by suffix)",
        form_help="The comparison, in addition to the tree",
    )


class ViewOptions(Options, group="views of the tree"):
    """Views of the tree."""

    html: str | None = output_file(
        output="report",
        suffix=".html",
        of_shards=False,
        metavar="FILE",
        help="HTML page of the tree: zoom, collapse, search, other roots, pictures",
    )
    plot: str | None = output_file(
        output="plot",
        suffix=".svg",
        of_shards=False,
        metavar="FILE",
        help="image of the tree: SVG, PNG or PDF by the suffix",
    )
    colours: str | None = input_file(
        default=None,
        holds="table",
        metavar="TABLE",
        label="Groups to colour by",
        help="groups of taxa to colour in the page and the image: a taxon's name, a tab and its group per line",
    )


class TreeCommand(
    Command,
    DistanceOptions,
    TrimOptions,
    TreeOptions,
    ComparisonOptions,
    ViewOptions,
    OutputOptions,
    CommentOptions,
    DeviceOptions,
    ClusterOptions,
    MemoryOptions,
    ShardOptions,
    EachOption,
):
    """Options of ``tropalign tree``, excluding its input."""

    #: Declared by `MakeTree`.
    taxa: str
    device: list[str] | None = again(DeviceOptions, "device", needs="unaligned")
    cluster: str | None = again(
        ClusterOptions,
        "cluster",
        needs={
            "unaligned|bootstrap": "--cluster applies to --unaligned and --bootstrap, because the rest takes a "
            "moment: leave it out"
        },
        excludes={"bootstrap=auto": _AUTO_IS_WHOLE},
    )
    shard: Shard | None = again(
        ShardOptions,
        "shard",
        needs={
            "unaligned|bootstrap": "--shard divides the samples of --bootstrap or the pairs of --unaligned, and a "
            "tree without these takes a moment: leave it out"
        },
        excludes={
            "bootstrap=auto": _AUTO_IS_WHOLE,
            **dict.fromkeys(
                ("html", "plot", "colours"),
                "--html, --plot and --colours need the whole tree: merge the shards into tree.nwk, then run "
                "tropalign tree tree.nwk --html tree.html",
            ),
            "compare": "--compare is for whole trees: merge the shards into tree.nwk, then say tropalign tree tree.nwk "
            "--compare TREES",
        },
        help="with --bootstrap or --unaligned: compute only the I-th of N shares, into a file for tropalign merge",
    )


class Distances(NamedTuple):
    """Names and distances of the taxa, and the alignment that they come from, if any."""

    names: tuple[str, ...]
    distances: NDArray[np.float64]
    alignment: MultipleAlignment | None = None


def read_taxa(options: TreeCommand, memory_bytes: int, show: Show) -> Distances | list[Tree]:
    """Read the input: distances, their source, or trees."""
    from tropalign.formats.distance_matrix import is_distance_matrix, parse_distance_matrix
    from tropalign.results.newick import is_nexus
    from tropalign.sequences.files import can_be_read_twice, file_name, read_lines
    from tropalign.sequences.nexus_files import holds_only_alignment
    from tropalign.sequences.texts import decoded

    if options.unaligned:
        _refuse_consensus(options, "sequences")
        from tropalign.trees import pair_distances

        batch = unaligned(options)
        means: dict[str, Any] = {
            "n_threads": options.threads,
            "memory_bytes": memory_bytes,
            "device": devices_of(options),
        }
        with show("pairs", len(batch) * (len(batch) - 1) // 2) as progress:
            return Distances(batch.names, pair_distances(batch, options.distances, progress=progress, **means))
    is_kept = not can_be_read_twice(options.taxa)
    lines = list(read_lines(options.taxa)) if is_kept else read_lines(options.taxa)
    first = next(line for line in lines if line.strip())
    is_tree = first.lstrip().startswith((b"(", b"["))  # or a comment such as [&R] before it
    if is_nexus(decoded(first)):
        is_tree = not holds_only_alignment(lines if is_kept else read_lines(options.taxa))
    if is_tree:
        return _given_trees(options, b"\n".join(lines if is_kept else read_lines(options.taxa)), memory_bytes, show)
    if not is_distance_matrix(first):
        _refuse_consensus(options, "an alignment")
        source = _Kept(b"\n".join(lines), file_name(options.taxa)) if is_kept else options.taxa
        return alignment_distances_of(options, source, memory_bytes, show, options.columns_out)
    _refuse_consensus(options, "distances")
    for name in filter(options.is_given, ("distances", "gaps", "bootstrap", "alphabet", *THRESHOLDS)):
        options.refuse(
            f"{options.declared()[name].flag} needs an alignment, but {file_name(options.taxa)} contains distances"
        )
    lines = lines if is_kept else read_lines(options.taxa)
    return Distances(*parse_distance_matrix(lines, file_name(options.taxa), memory_bytes))


def _refuse_consensus(options: TreeCommand, held: str) -> None:
    """Reject --consensus for an input that holds no trees."""
    from tropalign.sequences.files import file_name

    if options.consensus is not None:
        options.refuse(f"--consensus is of the trees of a file, and {file_name(options.taxa)} holds {held}")


def _given_trees(options: TreeCommand, text: bytes, memory_bytes: int, show: Show) -> list[Tree]:
    """Read trees in Newick or NEXUS format, or their consensus; reject options that need distances."""
    from tropalign.resources.limits import require
    from tropalign.sequences.files import file_name
    from tropalign.sequences.texts import decoded
    from tropalign.trees import consensus_tree, parse_trees, replace_negative_lengths

    file = file_name(options.taxa)
    for name in filter(options.is_given, ("distances", "gaps", "bootstrap", "distances_out", *THRESHOLDS)):
        needed = "an alignment" if name in THRESHOLDS else "an alignment or distances"
        options.refuse(f"{options.declared()[name].flag} needs {needed}, but {file} contains a tree")
    if options.is_given("alphabet"):
        options.refuse(f"--alphabet applies to sequences, but {file} contains a tree")
    if options.is_given("method"):
        options.refuse(f"--method makes a tree, but {file} already contains one")
    require(TREE_TIMES * len(text), memory_bytes, f"the trees of {file}", "allow more with --memory, or split the file")

    def trees() -> Iterator[Tree]:
        for k, tree in enumerate(parse_trees(decoded(text), file), 1):
            with naming(f"{file}, tree {tree.name or k}"):
                yield replace_negative_lengths(tree, options.negative or "keep")

    found = trees()
    if options.consensus is None:
        return list(found)
    with show("trees", None) as progress:
        return [consensus_tree(found, options.consensus, rooted=options.rooted, progress=progress)]


class _Kept(io.BytesIO):
    """Data from standard input or a pipe, kept for a second reading."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def alignment_distances_of(
    options: TreeCommand, source: Any, memory_bytes: int, show: Show, columns_out: str | None
) -> Distances:
    """Compute the distances of the alignment in a file, trimmed if requested."""
    from tropalign.sequences.alphabet import ALPHABETS
    from tropalign.sequences.files import file_name
    from tropalign.sequences.phylip_files import UnequalRowsError
    from tropalign.trees import alignment_distances
    from tropalign.trees.distances import alignment_in

    try:
        alignment = alignment_in(source, ALPHABETS.get(options.alphabet))
    except UnequalRowsError as error:
        error.args = (f"{error}; for sequences that are not aligned, add --unaligned",)
        raise
    with naming(file_name(options.taxa)):
        alignment = trimmed(options, alignment, columns_out)
    means: dict[str, Any] = {
        "gaps": options.gaps or "pairwise",
        "n_threads": options.threads,
        "memory_bytes": memory_bytes,
    }
    with show("blocks of pairs", None) as progress:
        found = alignment_distances(alignment, options.distances, progress=progress, **means)
    return Distances(alignment.names, found, alignment)


def compared_with(options: TreeCommand, trees: list[Tree], show: Show) -> TreeComparisons:
    """Compare the trees with those of another file, or each pair if it is the same file."""
    from tropalign.sequences.files import file_name
    from tropalign.trees import compare_trees, read_trees

    assert options.compare is not None
    others = None if compares_itself(options) else read_trees(options.compare)
    n_pairs = len(trees) * (len(trees) - 1) // 2 if others is None else len(trees) * len(others)
    how = {"rooted": options.rooted, "common_taxa": options.common_taxa}
    where = file_name(options.taxa) if others is None else f"{file_name(options.taxa)} and {file_name(options.compare)}"
    with show("pairs of trees", n_pairs) as progress, naming(where):
        return compare_trees(trees, others, progress=progress, **how)


def compares_itself(options: TreeCommand) -> bool:
    """True if the trees of the input, not their consensus, are compared with each other."""
    names = (options.taxa, options.compare or "")
    return options.consensus is None and all(map(os.path.exists, names)) and os.path.samefile(*names)


def unaligned(options: TreeCommand) -> SequenceBatch:
    """Read the sequences whose pairs are to be aligned."""
    from tropalign.msa.family import read_family
    from tropalign.sequences.alphabet import ALPHABETS

    return read_family([options.taxa], ALPHABETS.get(options.alphabet), gaps="note")


def alignment_in_bytes(
    options: TreeCommand, data: bytes, memory_bytes: int, show: Show, columns_out: str | None
) -> Distances:
    """Compute the distances of the alignment in these bytes."""
    from tropalign.formats.distance_matrix import is_distance_matrix
    from tropalign.sequences.files import file_name

    first = next((line for line in data.splitlines() if line.strip()), b"")
    if is_distance_matrix(first):
        options.refuse(f"--bootstrap needs an alignment, but {file_name(options.taxa)} contains distances")
    return alignment_distances_of(options, _Kept(data, file_name(options.taxa)), memory_bytes, show, columns_out)


def tree_outputs(options: TreeCommand, places: Mapping[str, str], groups: Mapping[str, str]) -> list[Output]:
    """Return the output files of the tree with their writers; errors are raised before anything is computed."""
    from tropalign.formats.aligned import title_of
    from tropalign.formats.trees import TreesContext

    header, context = header_of(options, {}), TreesContext(title_of(options.taxa), groups)
    formats = {
        "output": ("tree", "trees", None),
        "html": ("report", "trees", "html"),
        "plot": ("plot", "trees/plots", None),
    }
    return [
        output_of(role, kind, places[name], header, context, form)
        for name, (role, kind, form) in formats.items()
        if name in places and (name != "output" or options.compare is None or options.compared is not None)
    ]


def comparison_output(options: TreeCommand) -> Output:
    """Return the output file of the comparison with its writer."""
    from tropalign.formats.format import format_for_path, format_of, suffix_of
    from tropalign.formats.trees import ComparisonContext

    path = options.output if options.compared is None else options.compared
    suffix = suffix_of(path)
    if suffix and not any(suffix in format_of("trees/compared", name).suffixes for name in ("tsv", "phylip")):
        options.refuse(f"{path}: distances between trees are a table: end the name in .tsv, or give --compared FILE")
    is_matrix = options.compare_as != "table"
    if format_for_path("trees/compared", path) == "phylip" and not (is_matrix and compares_itself(options)):
        what = f"{path}: PHYLIP holds a matrix of trees that are compared with each other"
        options.refuse(f"{what}: {'add --compare-as rf, or ' * compares_itself(options)}write a .tsv instead")
    context = ComparisonContext(options.compare_as if is_matrix else None)
    return output_of("comparison", "trees/compared", path, header_of(options, {}), context)


def telling(output: Output, tree: Tree, what: str = "bootstrap samples") -> Output:
    """Return the output with a header that states the number of samples, or of trees with a consensus."""
    from dataclasses import replace

    from tropalign.formats.format import FormatWriter

    if tree.n_samples is None or not isinstance(writer := output.writer, FormatWriter):
        return output
    header = replace(writer.header, parameters={what: str(tree.n_samples)})
    return replace(output, writer=replace(writer, header=header))


def write_distances(options: TreeCommand, given: Distances, places: Mapping[str, str]) -> None:
    """Write the distances, if requested."""
    from tropalign.execution.files import write_to
    from tropalign.formats.distance_matrix import distance_format, write_distance_matrix

    path = places.get("distances_out")
    if path is not None:
        how = distance_format(path), not options.no_comments
        write_to(path, lambda out: write_distance_matrix(given.names, given.distances, out, *how))


def write_trees(
    options: TreeCommand, trees: list[Tree], outputs: list[Output], begin: float, found: TreeComparisons | None = None
) -> None:
    """Write the trees, a page, a picture and the comparison, and report what was done."""
    from tropalign.execution.run import write_outputs

    def sections(output: Output) -> list[bytes]:
        if output.role == "comparison":
            return [output.writer.encode(found)]
        return [output.writer.encode(tree) for tree in trees]

    write_outputs(outputs, sections)
    if not options.quiet:
        paths = [path for path in (*(output.path for output in outputs), options.distances_out) if path is not None]
        tree = trees[0]
        sampled = "" if tree.n_samples is None else f", {counted(tree.n_samples, 'samples')}"
        what = f"{tree.n_taxa:,} taxa{sampled}" if len(trees) == 1 else counted(len(trees), "trees")
        print_summary(what, time.perf_counter() - begin, 0, paths)


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
                pages = [output for output in outputs if output.role != "comparison"]
                for output in pages if len(given) > 1 else []:
                    if output.writer.name in ("html", "svg", "png", "pdf"):
                        self.refuse(
                            f"{output.path}: a page or a picture shows one tree, and {file_name(self.taxa)} holds "
                            f"{len(given):,}: make one of them by --consensus, or write that one to a file of its own"
                        )
                trees = []
                for k, tree in enumerate(given, 1):
                    with naming(file_name(self.taxa) if len(given) == 1 else f"{file_name(self.taxa)}, tree {k}"):
                        trees.append(_rooted(self, tree))
        found = None if self.compare is None else compared_with(self, trees, show)
        if isinstance(given, Distances):
            write_distances(self, given, places)
        if self.colours is not None:
            tell_unknown(groups, trees[0].names, self.colours)
        what = "bootstrap samples" if self.consensus is None else "trees of the consensus"
        write_trees(self, trees, [telling(output, trees[0], what) for output in outputs], begin, found)

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


def _rooted(options: MakeTree, tree: Tree) -> Tree:
    from tropalign.results.rooting import rooted_at_midpoint, rooted_at_outgroup

    if options.outgroup is not None:
        tree = rooted_at_outgroup(tree, options.outgroup)
    return rooted_at_midpoint(tree) if options.midpoint else tree
