"""``tropalign cluster``: clusters of similar sequences."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tropalign.clusters.options import (
    MIN_IDENTITY,
    ClusteringOptions,
    ClusterOptions,
    ClusterStrandOption,
    CoverageOf,
    MethodName,
)
from tropalign.errors import counted
from tropalign.formats.format import format_for_path, format_names
from tropalign.options.option import Options, again, but, input_file, option, output_file
from tropalign.pairwise.options import NO_TRACK, ModeName, ModeOption, PairOptions, PlusOrBoth, TrackOptions
from tropalign.verbs.command import (
    GROUP,
    CommentOptions,
    DeviceOptions,
    DryRunOptions,
    MemoryOptions,
    OutputOptions,
    Served,
    ShardOptions,
    checked_progress,
    devices_of,
    forecast_device,
    header_of,
    output_of,
    print_forecast,
    print_summary,
    with_version,
)
from tropalign.verbs.command import ClusterOptions as WorkerOptions
from tropalign.verbs.sequence_options import ModesOptions, SampleCommand, TrackCommand

if TYPE_CHECKING:
    from tropalign.clusters.dereplication import Uniques
    from tropalign.execution.archive import Shards
    from tropalign.execution.manifest import Shard
    from tropalign.execution.progress import Show
    from tropalign.execution.run import Output
    from tropalign.results.clusters import Clusters, OtuTable
    from tropalign.scoring import SubstitutionMatrix
    from tropalign.sequences import Alphabet, SequenceBatch


class ResultOptions(Options, group=GROUP):
    """Output files."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("clusters"),
        role="machine",
        help="output format (default: by the suffix of -o, else tsv)",
    )
    representatives: str | None = output_file(
        output="representatives", suffix=".fasta", metavar="FILE", help="representatives as FASTA"
    )
    uc: str | None = output_file(
        output="uc",
        suffix=".uc",
        metavar="FILE",
        help="clusters in USEARCH's format, in addition to the output",
    )
    report: str | None = output_file(  # the name that merge uses for other verbs' shards as well
        output="report",
        flags=("--html",),
        suffix=".html",
        metavar="FILE",
        help="HTML report in addition to the output: sizes, identities, members, alignments",
    )
    sizeout: bool = option(
        default=False,
        label="Sizes in names",
        is_common=True,
        needs="representatives",
        help="append the number of reads in the cluster to each representative's name, as ;size=N",
    )


class Cluster(
    ClusteringOptions,
    SampleCommand,
    TrackCommand,
    ModesOptions,
    OutputOptions,
    ResultOptions,
    CommentOptions,
    DeviceOptions,
    WorkerOptions,
    MemoryOptions,
    DryRunOptions,
    ShardOptions,
):
    """Clusters of similar sequences, greedily or by linkage of all pairs."""

    verb = "cluster"
    summary = "cluster similar sequences"
    description = (
        "Cluster sequences by exact pairwise alignment: greedily around representatives, or by linkage of all pairs."
    )
    example = """example:
  tropalign cluster reads.fa -o clusters.tsv --representatives otus.fa --sizeout
  tropalign cluster reads.fa --min-identity 0.99 --order abundance --strand both -o clusters.uc
  tropalign cluster proteins.fa --method average --min-identity 0.4 --identity columns -o families.tsv
  tropalign cluster reads.fa -o clusters.tsv --html clusters.html
  tropalign cluster good.fa --counts unique.tsv --otu-table otus.tsv -o clusters.tsv

Every sequence is aligned with every representative that it might join (docs/cluster.md explains which are skipped).
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(title="Cluster", kind="clusters", example={"queries": "amplicons.fasta"})
    finishes = ("representatives", "uc", "otu_table", "report")

    to: str | None = input_file(
        default=None,
        metavar="FILE",
        holds="sequences",
        group="clusters",
        label="Given representatives",
        excludes=dict.fromkeys(("order", "method"), "--to gives the representatives: leave {other} out"),
        help="map each sequence to the most similar of these representatives, such as OTUs (the first if several are "
        "equally similar); no sequence of the input becomes a representative (default: representatives are chosen)",
    )
    unmapped: str | None = output_file(
        output="unmapped",
        suffix=".fasta",
        metavar="FILE",
        group="clusters",
        needs="to",
        help="sequences that are similar to no given representative, as FASTA",
    )
    dereplicate: bool = option(
        default=False,
        group="samples",
        label="Compare equal reads once",
        is_common=True,
        help="compare equal reads once, as a sequence with ;size=N, the most abundant first (see tropalign derep)",
    )
    counts: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        group="samples",
        label="Table of counts",
        needs="otu_table",
        excludes={
            **dict.fromkeys(
                ("samples", "sample_delimiter", "sample_regex"),
                "--counts sets the samples of all reads: leave {other} out",
            ),
            "dereplicate": "--counts has a row per distinct sequence: leave --dereplicate out",
            "shard": "shards contain all reads with their samples: leave out --counts or --shard",
        },
        help="numbers of reads per sample that each sequence represents, for --otu-table: the table of tropalign "
        "derep, as .tsv or .biom; rows without a sequence, such as those of chimeras, are ignored (default: from the "
        "names)",
        form_help="Numbers of reads per sample that each sequence represents: the table of Dereplicate, TSV or BIOM; "
        "rows without a sequence, such as those of chimeras, are ignored (default: from the names)",
    )
    min_identity: float | None = but(ClusteringOptions, "min_identity", default=None)  # type: ignore[assignment]
    coverage_of: CoverageOf | None = but(ClusteringOptions, "coverage_of", default=None, needs="min_coverage")  # type: ignore[assignment]
    mode: ModeName = but(
        ModeOption,
        "mode",
        default="global",
        is_common=False,
        help=ModeOption.declared()["mode"].help.replace("default: local", "default: global"),
    )
    strand: PlusOrBoth = again(ClusterStrandOption, "strand")
    method: MethodName = again(ClusteringOptions, "method", excludes="assign")
    min_size: int | None = again(SampleCommand, "min_size", needs="dereplicate")
    relabel: str | None = again(SampleCommand, "relabel", needs="representatives|otu_table")
    track: list[str] | None = again(
        TrackOptions,
        "track",
        excludes={
            **NO_TRACK,
            "to": "--track belongs to the sequences, but --to has none: leave one of them out",
            "dereplicate": "--dereplicate compares the residues, but not the second track: leave one of them out",
            "shard": "shards contain no second track: leave --shard or --track out",
        },
    )
    matrix: str | None = again(ModesOptions, "matrix", is_common=False)
    gap_open: float | None = again(ModesOptions, "gap_open", is_common=False)
    gap_extend: float | None = again(ModesOptions, "gap_extend", is_common=False)
    alphabet: str = again(ModesOptions, "alphabet", is_common=False)
    shard: Shard | None = but(
        ShardOptions,
        "shard",
        default=None,
        excludes={"dereplicate": "shards contain all reads: leave --dereplicate out, or run tropalign derep first"},
        help=f"with --method single, complete or average: {ShardOptions.declared()['shard'].help}",
    )

    def check(self) -> None:
        """Reject options that do not go together."""
        if self.shard is not None and self.method == "greedy":
            self.refuse(
                "greedy clusters depend on each other, so there are no shards: choose --method single, complete or "
                "average, or leave --shard out"
            )
        super().check()

    @staticmethod
    def _page_bytes(places: Mapping[str, str], form: str, batch: SequenceBatch) -> int:
        """Return the memory for output pages, which are made one at a time."""
        from tropalign.formats.clusters.report import page_bytes

        return page_bytes(len(batch), int(batch.lengths.sum())) if "report" in places or form == "html" else 0

    @property
    def is_by_file(self) -> bool:
        return self.counts is None and super().is_by_file

    def counting(self, batch: SequenceBatch, uniques: Uniques | None = None) -> Callable[[Clusters], OtuTable] | None:
        """Return the maker of the table of clusters: from the reads of ``--counts``, else from names."""
        if self.counts is None:
            return super().counting(batch, uniques)
        from tropalign.clusters.dereplication import counted, tabled
        from tropalign.formats.clusters.read_otu_tables import read_otu_table
        from tropalign.sequences.files import file_name

        table = read_otu_table(self.counts, memory_bytes=self.memory)
        reads, labels = tabled(batch.names, table, file_name(self.counts))
        return partial(counted, reads=reads, labels=labels, relabel=self.relabel or "")

    def run(self) -> None:
        """Read sequences, cluster them, and write the results."""
        import numpy as np

        from tropalign.clusters.dereplication import Limits, dereplicated
        from tropalign.clusters.files import write_all
        from tropalign.clusters.methods import cluster_batch, with_given
        from tropalign.resources.limits import default_budget, left_for_job

        self.check()
        places = self.places() if self.shard is None else {"output": self.output}  # merge adds the others later
        form = self.format or format_for_path("clusters", self.output)
        for kind, path in (
            ("representatives", self.representatives),
            ("representatives", self.unmapped),
            ("counts", self.otu_table),
        ):
            if path is not None:
                format_for_path(kind, path)
        show = checked_progress(
            self,
            list(places.values()),
            [*self.queries, self.matrix, self.counts, self.to, *(self.track or []), self.track_matrix],
            holds=True,
        )
        batch, track_matrix = self._tracked_reads()
        uniques = dereplicated(batch, self.strand, Limits(self.min_size or 1)) if self.dereplicate else None
        batch = batch if uniques is None else uniques.sequences
        reads, n_given = batch, 0
        if self.to is not None:
            batch, n_given = with_given(self.references(self.to, reads), reads)
        allowed = self.memory or default_budget()
        held = batch.held_bytes + (reads.held_bytes if n_given else 0)
        memory_bytes = left_for_job(allowed, held + self._page_bytes(places, form, batch))
        chosen = self._chosen(batch.alphabet, n_given, track_matrix)
        if self.shard is not None:
            self.counting(batch)  # reports errors earlier than merge
            self._shard(batch, chosen, form, show, allowed)
            return
        outputs = self._outputs(places, form, chosen, reads, uniques)
        if self.dry_run:
            self._foretell(batch, chosen, memory_bytes, allowed)
            return
        begin = time.perf_counter()
        with show("sequences", len(reads)) as progress:
            found = cluster_batch(batch, chosen, self.threads, memory_bytes, devices_of(self), progress)
        write_all(found, outputs)
        if not self.quiet:
            what = "" if uniques is None else f"{counted(len(uniques.reads), 'reads')}, "
            what += f"{counted(len(reads), 'sequences')}, {counted(len(found), 'clusters')}"
            what += f", {np.count_nonzero(found.labels < 0):,} unmapped" if n_given else ""
            print_summary(what, time.perf_counter() - begin, 0, [output.path for output in outputs])

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Make clusters from the comparisons of shards."""
        from tropalign.clusters.files import write_all
        from tropalign.clusters.methods import check_memory, compared_by, labels_of, linked, restored
        from tropalign.execution.manifest import hash_of
        from tropalign.resources.limits import default_budget, left_for_job
        from tropalign.sequences.store import batch_of_bytes

        (data,) = shards.inputs(1)
        batch = batch_of_bytes(data)
        chosen = self._chosen(batch.alphabet)
        shards.check_same(hash_of(_parameters(shards.words or [], chosen, data)))
        assert self.format is not None
        outputs = self._outputs(places, self.format, chosen, batch)
        held = batch.held_bytes + self._page_bytes(places, self.format, batch)
        memory_bytes = left_for_job(self.memory or default_budget(), held)
        check_memory(len(batch), chosen.method, memory_bytes // 2)
        comparison, _ = compared_by(batch, chosen, self.threads, memory_bytes, devices_of(self))
        labels = labels_of(len(batch), chosen, restored(shards.sections(0), len(batch)))
        write_all(linked(comparison, labels), outputs)

    def _shard(self, batch: SequenceBatch, chosen: ClusterOptions, form: str, show: Show, allowed: int) -> None:
        """Compare a share of the pairs, for `finish`."""
        from tropalign.clusters.methods import LinkageTask, check_memory, compared_by, encoded
        from tropalign.devices.registry import CpuDevice
        from tropalign.execution.manifest import RemainingWork
        from tropalign.execution.run import Output, Run, StageWriter
        from tropalign.resources.limits import left_for_job
        from tropalign.sequences.store import batch_to_bytes

        assert self.shard is not None
        memory_bytes = left_for_job(allowed, batch.held_bytes)
        check_memory(len(batch), chosen.method, memory_bytes // 2)  # needed by merge
        task = LinkageTask(*compared_by(batch, chosen, self.threads, memory_bytes, devices_of(self)), self.shard)
        data, replaying = batch_to_bytes(batch), self.replayed(format=form)
        Run(
            task=task,
            outputs=[Output("similarities", self.output, StageWriter(encoded))],
            outline=task.tiles(),
            parameters=_parameters(replaying, chosen, data),
            memory_bytes=allowed,
            shard=self.shard,
            unit="sequences",
            remaining=RemainingWork(replaying, [data]),
        ).compute([CpuDevice(self.threads)], show)

    def _foretell(self, batch: SequenceBatch, chosen: ClusterOptions, memory_bytes: int, allowed: int) -> None:
        """Print a forecast of the run."""
        from tropalign.clusters.api import foretold
        from tropalign.devices.registry import open_devices

        cells = int(batch.lengths.sum()) ** 2 // 8  # as in `cluster_batch`
        devices = open_devices(devices_of(self), self.threads, cells, memory_bytes)
        n_pairs, n_cells, seconds = foretold(batch, chosen, devices, self.threads, memory_bytes)
        what = (n_pairs, f"alignments of {len(batch) - chosen.n_given:,} sequences")
        print_forecast(n_cells, what, seconds, forecast_device(devices, self), None, allowed)

    def _tracked_reads(self) -> tuple[SequenceBatch, SubstitutionMatrix | None]:
        """Read the sequences with their second track, whose files are those of the sequences' files, in order."""
        if self.track is None or not self.is_by_file:
            batch, _, scores = self.tracked(self.reads())
            return batch, scores
        if len(self.track) != len(self.queries):
            self.refuse(f"--track needs a file for each file of sequences, in their order: name {len(self.queries)}")
        found: list[tuple[SequenceBatch, SubstitutionMatrix | None]] = []
        for path, track in zip(self.queries, self.track, strict=True):
            batch, _, scores = self.tracked(self.batch(path), files=[track])
            found.append((batch, scores))
        return self.pooled(batch for batch, _ in found), found[0][1]

    def _chosen(
        self, alphabet: Alphabet, n_given: int = 0, track_matrix: SubstitutionMatrix | None = None
    ) -> ClusterOptions:
        """Return the checked options of clustering."""
        matrix, gap = self.scoring(alphabet)
        how: dict[str, Any] = {"mode": self.mode, "strand": self.strand, "free_ends": self.ends}
        how["ambiguous"] = self.ambiguous
        track: dict[str, Any] = {"track_matrix": track_matrix, "track_weight": self.track_weight}
        changes = {
            "pairs": PairOptions(matrix, gap, end_gap=self.end_gap(gap), **how, **track),
            "min_identity": MIN_IDENTITY if self.min_identity is None else self.min_identity,
            "coverage_of": self.coverage_of or "longer",
            "n_given": n_given,
        }
        return ClusterOptions(**{**self.shared_with(ClusterOptions), **changes})

    def _outputs(
        self,
        places: Mapping[str, str],
        form: str,
        chosen: ClusterOptions,
        batch: SequenceBatch,
        uniques: Uniques | None = None,
    ) -> list[Output]:
        """Return the outputs at these paths."""
        from tropalign.formats.clusters import ClustersContext

        header = header_of(self, chosen.parameters(), format=form)
        context = ClustersContext(self.sizeout, self.relabel or "", table_of=self.counting(batch, uniques))
        kinds = {
            "output": ("clusters", form),
            "representatives": ("representatives", "fasta"),
            "unmapped": ("representatives", "fasta"),
            "uc": ("clusters", "uc"),
            "report": ("clusters", "html"),
            "otu_table": ("counts", format_for_path("counts", places.get("otu_table"))),
        }
        return [
            output_of(kind, kind, places[name], header, replace(context, takes_unmapped=name == "unmapped"), own)
            for name, (kind, own) in kinds.items()
            if name in places
        ]


def _parameters(words: list[str], chosen: ClusterOptions, data: bytes) -> dict[str, str]:
    """Return everything that determines the clusters, by name."""
    scores = hashlib.sha256(chosen.pairs.matrix.scores.tobytes()).hexdigest()
    read = {"scores": f"hash {scores[:16]}", "input": f"hash {hashlib.sha256(data).hexdigest()}"}
    return with_version(options=shlex.join(words), **read, **chosen.parameters())
