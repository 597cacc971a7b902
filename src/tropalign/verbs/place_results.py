"""Additional outputs of ``tropalign place``, and the options that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from tropalign.formats.registry import format_names
from tropalign.options.option import Options, input_file, option, output_file

if TYPE_CHECKING:
    from tropalign.verbs.place import Place

Insertions = Literal["drop", "columns"]


class ResultOptions(Options, group="results"):
    """Output files."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("placed/rows"),
        role="machine",
        help="format of the alignment (default: by the suffix of -o, else fasta)",
    )
    split: bool = output_file(
        default=False,
        output="reference",
        suffix=".reference",
        follows_main=True,
        help="reads alone in -o, the reference in FILE.reference: as EPA-ng wants",
        form_help="Reads alone in the result, the reference in its own file: as EPA-ng wants",
    )
    insertions: Insertions = option(
        default="drop",
        choices=get_args(Insertions),
        label="Inserted bases",
        is_common=True,
        help="bases between columns: left out, so that the width stays (default), or in new columns",
    )
    table: str | None = output_file(
        output="table",
        suffix=".tsv",
        metavar="FILE",
        help="branch, score and place of each read, TSV or Parquet by the suffix",
    )
    jplace: str | None = output_file(
        output="jplace", suffix=".jplace", metavar="FILE", help="the best branches, for gappa and others"
    )
    taxonomy: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Lineages of the tips",
        help="lineages of the tips, a name, a tab and a;b;c per line: the table then has those of the reads",
    )
    counts: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Table of counts",
        help="how many reads of each sample each read stands for: the table of cluster or derep (--otu-table), as "
        ".tsv, .biom or .hdf5 (default: ;size=N in names)",
        form_help="How many reads of each sample each read stands for: the table of Cluster or Dereplicate, TSV or "
        "BIOM (default: ;size=N in names)",
    )
    taxa: str | None = output_file(
        output="taxa",
        suffix=".tsv",
        metavar="FILE",
        help="with --taxonomy: reads per taxon, TSV; with --counts of each sample",
        form_help="With lineages of the tips: reads per taxon, TSV; with a table of counts of each sample",
    )
    taxa_html: str | None = output_file(
        output="sunburst",
        suffix=".html",
        metavar="FILE",
        help="with --taxonomy: reads per taxon as a page for the browser, lineages as rings (sunburst)",
        form_help="With lineages of the tips: reads per taxon as a page, lineages as rings (sunburst)",
    )
    otu_table: str | None = output_file(
        output="otu_table",
        suffix=".biom",
        metavar="FILE",
        help="with --counts and --taxonomy: that table with the lineage of each read, .tsv (QIIME's classic table) or "
        ".biom (BIOM 1.0) or .hdf5 (BIOM 2.1)",
        form_help="With a table of counts and lineages of the tips: that table with the lineage of each read, BIOM 1.0",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="a report for the browser: the tree with reads per branch, table, alignments",
    )

    def beside(self) -> dict[str, str | None]:
        """Return the paths of the additional files by their options."""
        names = ("taxa", "taxa_html", "otu_table", "table", "jplace", "html")
        return {name: getattr(self, name) for name in names}


def check_results(command: Place) -> None:
    """Reject unused lineages and counts, outputs that lack them, and unusable sample options."""
    from tropalign.sequences.samples import teller

    teller(None, command.sample_delimiter, command.sample_regex)
    beside = command.beside()
    if command.taxonomy and not any(path for name, path in beside.items() if name != "jplace"):
        command.refuse(
            "--taxonomy is for --table, --taxa, --taxa-html, --otu-table or --html: name a file with one of them"
        )
    if command.counts and not any(beside.values()):
        command.refuse(
            "--counts is for --taxa, --taxa-html, --otu-table, --table, --jplace or --html: name a file with one of "
            "them"
        )
    for name in ("sample_delimiter", "sample_regex"):
        flag = f"--{name.replace('_', '-')}"
        if getattr(command, name) is not None and (command.html is None or command.counts):
            command.refuse(f"{flag} is for --html without --counts, which tells the samples: leave it out")
    if command.otu_table and not command.counts:
        command.refuse("--otu-table is a table of counts with lineages: name the table with --counts")
    for name in ("taxa", "taxa_html", "otu_table"):
        if beside[name] and not command.taxonomy:
            flag = f"--{name.replace('_', '-')}"
            command.refuse(f"{flag} needs the lineages of the tips: name their table with --taxonomy")
