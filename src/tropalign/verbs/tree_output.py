"""Output of ``tropalign tree``: the tree as text, page and picture, and its distances."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tropalign.errors import counted
from tropalign.options.option import Options, input_file, output_file
from tropalign.verbs.runs import tell_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tropalign.execution.run import Output
    from tropalign.trees import Tree
    from tropalign.verbs.tree import MakeTree
    from tropalign.verbs.tree_input import Distances


class ViewOptions(Options, group="to look at"):
    """Views of the tree."""

    html: str | None = output_file(
        output="report",
        suffix=".html",
        of_shards=False,
        metavar="FILE",
        help="the tree as a page for the browser: zoom, collapse, search, other roots, pictures",
    )
    plot: str | None = output_file(
        output="plot", suffix=".svg", of_shards=False, metavar="FILE", help="a picture: SVG, PNG or PDF by the suffix"
    )
    colours: str | None = input_file(
        default=None,
        holds="table",
        metavar="TABLE",
        label="Groups to colour by",
        help="groups that page and picture colour: a taxon's name, a tab and its group per line",
    )


def is_drawn(options: MakeTree) -> bool:
    """True if an output shows colours."""
    from tropalign.formats.registry import format_for_path

    form = format_for_path("trees", options.output)
    return bool(options.html or options.plot) or form in ("html", "svg", "png", "pdf")


def tree_outputs(options: MakeTree, places: Mapping[str, str], groups: Mapping[str, str]) -> list[Output]:
    """Return the files of the tree with their writers; errors are raised before anything is computed."""
    from tropalign import __version__
    from tropalign.execution.files import check_terminal
    from tropalign.execution.run import Output
    from tropalign.formats.aligned import title_of
    from tropalign.formats.header import Header
    from tropalign.formats.registry import format_for_path, format_of, make_writer, suffix_of
    from tropalign.formats.trees import TreesContext

    header = Header(__version__, options.command_line(), {}, has_comments=not options.no_comments)
    context = TreesContext(title_of(options.taxa), groups)
    outputs = []
    for option_name, role in (("output", "tree"), ("html", "report"), ("plot", "plot")):
        if (path := places.get(option_name)) is None:
            continue
        if option_name == "html" and suffix_of(path) not in ("", *format_of("trees", "html").suffixes):
            options.refuse(f"--html {path}: end the name in .html (and .gz or the like to compress)")
        kind = "trees/plots" if option_name == "plot" else "trees"
        form = "html" if option_name == "html" else format_for_path(kind, path)
        writer = make_writer(kind, form, header, context)
        if writer.is_binary:
            check_terminal(form, path)
        outputs.append(Output(role, path, writer))
    return outputs


def telling(output: Output, tree: Tree) -> Output:
    """Return the output with a header that states the number of samples."""
    from dataclasses import replace

    from tropalign.formats.writer import FormatWriter

    if tree.n_samples is None or not isinstance(writer := output.writer, FormatWriter):
        return output
    header = replace(writer.header, parameters={"bootstrap samples": str(tree.n_samples)})
    return replace(output, writer=replace(writer, header=header))


def write_distances(options: MakeTree, given: Distances, places: Mapping[str, str]) -> None:
    """Write the distances, if requested."""
    from tropalign.execution.files import write_to
    from tropalign.formats.distance_matrix import distance_format, write_distance_matrix

    path = places.get("distances_out")
    if path is not None:
        how = distance_format(path), not options.no_comments
        write_to(path, lambda out: write_distance_matrix(given.names, given.distances, out, *how))


def write_tree(options: MakeTree, tree: Tree, outputs: list[Output], begin: float) -> None:
    """Write the tree, its page and its picture, and report what was done."""
    from tropalign.execution.run import write_outputs

    write_outputs(outputs, lambda output: [output.writer.encode(tree)])
    if not options.quiet:
        paths = [path for path in (*(output.path for output in outputs), options.distances_out) if path is not None]
        sampled = "" if tree.n_samples is None else f", {counted(tree.n_samples, 'samples')}"
        tell_of(f"{tree.n_taxa:,} taxa{sampled}", time.perf_counter() - begin, 0, paths)
