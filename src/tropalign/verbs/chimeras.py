"""``tropalign chimeras``: sequences that PCR has joined from two others."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tropalign.clusters.options import ChimeraOptions
from tropalign.errors import counted
from tropalign.formats.format import Format
from tropalign.options.option import Options, again, input_file, output_file
from tropalign.verbs.command import (
    GROUP,
    SEQUENCE_FILES,
    CommentOptions,
    MemoryOptions,
    OutputOptions,
    Served,
    ThreadOptions,
    checked_progress,
    header_of,
    output_of,
    print_summary,
)
from tropalign.verbs.sequence_options import SequenceCommand, SequenceOptions

if TYPE_CHECKING:
    pass


class ChimeraOutputs(Options, group=GROUP):
    """Additional output files."""

    chimeras: str | None = output_file(output="chimeras", suffix=".fasta", metavar="FILE", help="chimeras as FASTA")
    borderline: str | None = output_file(
        output="borderline",
        suffix=".fasta",
        metavar="FILE",
        help="borderline sequences as FASTA: high score, but little divergence (rule uchime)",
    )
    table: str | None = output_file(
        output="table",
        suffix=".tsv",
        metavar="FILE",
        help="score, parents, identities, votes and verdict of each sequence, with the columns of vsearch's "
        "--uchimeout: .tsv, or .uchime without column names",
    )


class Chimeras(
    ChimeraOptions, SequenceCommand, OutputOptions, ChimeraOutputs, CommentOptions, ThreadOptions, MemoryOptions
):
    """Sequences that PCR has joined from two others."""

    verb = "chimeras"
    summary = "find chimeric amplicons, de novo or by reference"
    description = (
        "Write the sequences that are not chimeras, which PCR joins from the left part of one sequence and the right "
        "part of another. Chimeras are defined as by UCHIME, with exact alignments to all possible parents."
    )
    example = """example:
  tropalign derep reads.fa -o unique.fa
  tropalign chimeras unique.fa -o good.fa --chimeras chimeras.fa --table chimeras.tsv
  tropalign chimeras unique.fa --db gold.fa -o good.fa

Without --db, parents are more abundant sequences of the same file, by ;size=N in their names.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(
        title="Find chimeras",
        kind="",
        format=Format("fasta", (".fasta", ".fa", ".fna"), "text/plain; charset=utf-8"),
        example={"queries": "mock.fasta"},
    )
    no_shards = "chimeras are detected one after another, so there are no shards: leave --shard out"

    queries: list[str] = input_file(
        flags=(), many="+", metavar="FILE", holds="sequences", label="Sequences", help=SEQUENCE_FILES
    )
    db: str | None = input_file(
        default=None,
        metavar="FILE",
        holds="sequences",
        label="References",
        excludes=("rule", "abskew"),
        help="reference sequences without chimeras, to search for parents (default: the input sequences, by their "
        "abundances)",
    )
    alphabet: str = again(SequenceOptions, "alphabet", group="input")
    strict: bool = again(SequenceOptions, "strict", group="input")
    skip_empty: bool = again(SequenceOptions, "skip_empty", group="input")
    gaps: str = again(SequenceOptions, "gaps", group="input")
    duplicate_names: str = again(SequenceOptions, "duplicate_names", group="input")
    clip_stops: bool = again(SequenceOptions, "clip_stops", group="input")

    def check(self) -> None:
        """Reject options that do not go together."""
        super().check()
        if self.borderline is not None and self.rule != "uchime":
            self.refuse(f"--rule {self.rule} has no borderline sequences: leave --borderline out")

    def run(self) -> None:
        """Read sequences, judge them and write the results."""
        from tropalign.clusters.chimera_parents import BORDERLINE, NO, YES
        from tropalign.clusters.chimeras import judged
        from tropalign.clusters.files import SEQUENCES, TABLE, write_all
        from tropalign.clusters.options import ChimeraRules
        from tropalign.formats.clusters import ChimerasContext
        from tropalign.resources.limits import default_budget, left_for_job

        self.check()
        rules = ChimeraRules(**self.shared_with(ChimeraRules))
        parameters = rules.parameters(self.db is None)
        header = header_of(self, parameters)
        outputs = [
            output_of(kind, kind, path, header, ChimerasContext(verdict))
            for kind, path, verdict in (
                (SEQUENCES, self.output, NO),
                (SEQUENCES, self.chimeras, YES),
                (SEQUENCES, self.borderline, BORDERLINE),
                (TABLE, self.table, ""),
            )
            if path is not None
        ]
        paths = [output.path for output in outputs]
        show = checked_progress(self, paths, [*self.queries, self.db], holds=True)
        batch = self.batch(self.queries)
        references = None if self.db is None else self.references(self.db, batch)
        held = batch.held_bytes + (0 if references is None else references.held_bytes)
        memory_bytes = left_for_job(self.memory or default_budget(), held)
        begin = time.perf_counter()
        with show("sequences", len(batch)) as progress:
            found = judged(batch, references, rules, self.threads, memory_bytes, progress)
        write_all(found, outputs)
        if not self.quiet:
            counts = int(found.is_chimera.sum()), int(found.is_borderline.sum())
            what = f"{counted(len(found), 'sequences')}, {counted(counts[0], 'chimeras')}, {counts[1]:,} borderline"
            print_summary(what, time.perf_counter() - begin, 0, paths)
