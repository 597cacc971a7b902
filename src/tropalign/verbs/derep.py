"""``tropalign derep``: distinct reads, each written once."""

from __future__ import annotations

import time
from typing import Any, get_args

from tropalign.errors import counted
from tropalign.formats.format import Format, format_for_path
from tropalign.options.option import again, but, input_file, option, output_file, whole
from tropalign.pairwise.options import PlusOrBoth, StrandOption
from tropalign.results.names import Quality
from tropalign.verbs.command import OutputOptions, Served, checked_progress, header_of, output_of, print_summary
from tropalign.verbs.sequence_options import MOST_READS, SampleCommand, SequenceOptions


class Derep(SampleCommand, OutputOptions):
    """Distinct reads, each written once."""

    verb = "derep"
    summary = "write each distinct read once, with its count"
    description = (
        "Write each distinct sequence once, with its number of reads as ;size=N, the most abundant first, and "
        "optionally a table of reads per sample."
    )
    example = """example:
  tropalign derep reads.fa -o unique.fa
  tropalign derep reads.fa --min-size 2 --relabel sha1 --otu-table table.biom -o unique.fa
  tropalign derep reads.fq.gz -o unique.fq
  tropalign derep reads.fa --orient gold.fa --unoriented other.fa -o unique.fa

Reads are equal if they have the same length and letters; case is ignored, and U equals T.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(
        title="Dereplicate",
        kind="",
        format=Format("fasta", (".fasta", ".fa", ".fna"), "text/plain; charset=utf-8"),
        example={"queries": "amplicons.fasta"},
    )
    no_shards = "equal reads are found in seconds, so there are no shards: leave --shard out"

    strand: PlusOrBoth = but(
        StrandOption,
        "strand",
        default="plus",
        choices=get_args(PlusOrBoth),
        group="samples",
        help="both: reads that are reverse complements of each other also count as equal (default: plus)",
    )
    orient: str | None = input_file(
        default=None,
        metavar="FILE",
        holds="sequences",
        group="samples",
        label="References for the strand",
        help="turn reads to the strand of these references, by common 12-mers, and leave out reads whose strand is "
        "uncertain",
    )
    orientations: str | None = output_file(
        output="orientations",
        suffix=".tsv",
        metavar="FILE",
        group="samples",
        needs="orient",
        help="table of the strand of each read (+, -, or ? if uncertain) and its number of 12-mers of each strand",
    )
    unoriented: str | None = output_file(
        output="unoriented",
        suffix=".fasta",
        metavar="FILE",
        group="samples",
        needs="orient",
        help="reads whose strand is uncertain, as FASTA",
    )
    no_sizes: bool = option(
        default=False,
        group="samples",
        label="No sizes in names",
        help="do not add ;size=N to names, so that they match the table, as QIIME requires",
    )
    uc: str | None = output_file(
        output="uc",
        suffix=".uc",
        metavar="FILE",
        help="reads of each sequence in USEARCH's format, in addition to the output",
    )
    max_unique_size: int | None = option(
        default=None,
        kind=whole(1, MOST_READS),
        metavar="N",
        group="samples",
        label="Maximum reads",
        help="maximum number of equal reads",
    )
    min_length: int | None = option(
        default=None,
        kind=whole(1),
        metavar="N",
        group="samples",
        label="Minimum length",
        help="minimum number of residues of a read; shorter reads are left out (default: 1)",
    )
    max_length: int | None = option(
        default=None,
        kind=whole(1),
        metavar="N",
        group="samples",
        label="Maximum length",
        help="maximum number of residues of a read; longer reads are left out",
    )
    topn: int | None = option(
        default=None,
        kind=whole(1, MOST_READS),
        metavar="N",
        group="samples",
        label="Maximum sequences",
        help="maximum number of sequences, the most abundant ones",
    )
    quality: Quality = option(
        default="mean",
        choices=get_args(Quality),
        role="machine",  # servers write FASTA
        group="samples",
        label="Qualities of equal reads",
        help="with -o x.fastq, the quality of a residue that several reads have: that of the mean of their error "
        "probabilities, rounded down (default), or the highest one",
    )
    alphabet: str = again(SequenceOptions, "alphabet", group="input")
    strict: bool = again(SequenceOptions, "strict", group="input")
    skip_empty: bool = again(SequenceOptions, "skip_empty", group="input")
    gaps: str = again(SequenceOptions, "gaps", group="input")
    duplicate_names: str = again(SequenceOptions, "duplicate_names", group="input")
    clip_stops: bool = again(SequenceOptions, "clip_stops", group="input")

    def run(self) -> None:
        """Read reads and write the distinct ones."""
        from tropalign.clusters.dereplication import Limits, clusters_of_reads, dereplicated, orientations
        from tropalign.execution.run import write_outputs
        from tropalign.formats.clusters import ClustersContext

        self.check()
        roles = {
            "representatives": ("representatives/reads", self.output),
            "counts": ("counts", self.otu_table),
            "clusters": ("clusters", self.uc),
            "orientations": ("orientations/table", self.orientations),
            "unoriented": ("orientations/sequences", self.unoriented),
        }
        wanted = {role: (kind, path) for role, (kind, path) in roles.items() if path is not None}
        paths = [path for _, path in wanted.values()]
        for kind, path in wanted.values():
            if kind != "clusters":
                format_for_path(kind, path)
        is_fastq = format_for_path("representatives/reads", self.output) == "fastq"
        if self.quality != "mean" and not is_fastq:
            self.refuse("--quality is for FASTQ output: end the name of -o in .fastq, or leave --quality out")
        limits = Limits(self.min_size or 1, self.max_unique_size, self.min_length, self.max_length, self.topn)
        checked_progress(self, paths, [*self.queries, self.orient], holds=True)
        begin = time.perf_counter()
        batch = self.reads(is_fastq)
        results, what = dict[str, Any](), counted(len(batch), "reads")
        if self.orient is not None:
            found = orientations(batch, self.references(self.orient, batch))
            batch, unknown = found.oriented(), int((found.strand == 0).sum())
            what += f" ({int((found.strand < 0).sum()):,} turned, {unknown:,} of uncertain strand)"
            results = dict.fromkeys(("orientations", "unoriented"), found)
        uniques = dereplicated(batch, self.strand, limits, self.quality)
        header = header_of(self, {})
        context = ClustersContext(
            not self.no_sizes,
            self.relabel or "",
            self.no_sizes,
            self.counting(uniques.sequences, uniques),
            has_qualities=uniques.sequences.qualities is not None,
        )
        own = {"clusters": "uc"}
        outputs = [output_of(role, kind, path, header, context, own.get(role)) for role, (kind, path) in wanted.items()]
        clusters = uniques.clusters()
        if self.uc is not None:
            results["clusters"] = clusters_of_reads(batch, uniques)
        del batch  # a quarter of the peak otherwise
        write_outputs(outputs, lambda output: [output.writer.encode(results.get(output.role, clusters))])
        if not self.quiet:
            singletons = int((clusters.sizes == 1).sum())
            what += f", {len(clusters):,} distinct, {singletons:,} of them singletons"
            print_summary(what, time.perf_counter() - begin, 0, paths)
