"""What verbs share that take reads of samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from tropalign.options.kinds import TEXT, whole
from tropalign.options.option import Options, input_file, option, output_file
from tropalign.verbs.alignment import SequenceCommand
from tropalign.verbs.run_options import SEQUENCE_FILES

if TYPE_CHECKING:
    from tropalign.clusters.dereplication import Uniques
    from tropalign.results.clusters import Clusters
    from tropalign.results.otu_table import OtuTable
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.samples import NameRule

SampleRule = Literal["label", "file", "underscore"]


class SampleOptions(Options, group="samples"):
    """Which reads count, and their samples."""

    min_size: int | None = option(
        default=None,
        kind=whole(1),
        metavar="N",
        label="Least reads",
        help="of equal reads, only those of which there are N: 2 leaves singletons out",
    )
    otu_table: str | None = output_file(
        former=("table",),
        output="table",
        suffix=".biom",
        metavar="FILE",
        help="reads of each sample, a row per representative: .tsv (QIIME's classic table), .biom (BIOM 1.0) or .hdf5 "
        "(BIOM 2.1)",
        form_help="Reads of each sample, a row per representative (BIOM 1.0)",
    )
    samples: SampleRule | None = option(
        default=None,
        choices=get_args(SampleRule),
        label="Samples",
        help="which sample a read is of: label, by ;sample=NAME in its name, else by the letters, digits and "
        "underscores that the name begins with (default); file, by its file's name up to the first dot (default of "
        "several files); underscore, by its name up to the last underscore",
    )
    relabel: str | None = option(
        default=None,
        kind=TEXT,
        metavar="sha1|PREFIX",
        label="Names of clusters",
        help="representatives, in FASTA and table, are called by the SHA-1 of their letters, which is the same in "
        "every run (sha1), or by PREFIX and a number: Otu1, Otu2",
    )


class SampleCommand(SequenceCommand, SampleOptions):
    """What reads sequences of samples."""

    queries: list[str] = input_file(
        flags=(),
        many="+",
        metavar="FILE",
        holds="sequences",
        label="Sequences",
        help=SEQUENCE_FILES,
    )

    @property
    def _is_by_file(self) -> bool:
        """Whether each file is a sample."""
        return len(self.queries) > 1 if self.samples is None else self.samples == "file"

    def check_samples(self) -> None:
        """Refuses options of samples that do not go together."""
        if self.queries.count("-") > 1:
            self.refuse("standard input can be read once: name - once")
        if self._is_by_file and "-" in self.queries:
            self.refuse("standard input has no name to call a sample by: write --samples label, or name a file")
        if self.samples is not None and self.otu_table is None and self.samples != "file":
            self.refuse("--samples belongs to --otu-table: name a file for it")
        if self.relabel is not None and (not self.relabel.strip() or not self.relabel.isprintable()):
            self.refuse("--relabel: give letters, digits or punctuation")
        if self.relabel is not None and self.relabel.startswith(("#", ">")):
            self.refuse(f"--relabel {self.relabel}: readers of tables and FASTA take a name that begins so for none")

    def reads(self) -> SequenceBatch:
        """The sequences of all files, with the names of their samples if files tell these."""
        from tropalign.sequences.samples import pooled

        if self._is_by_file:
            return pooled((self.batch(path) for path in self.queries), self.queries)
        return self.batch(self.queries)

    def counting(self, batch: SequenceBatch, uniques: Uniques | None = None) -> Callable[[Clusters], OtuTable] | None:
        """What makes the table of clusters of these reads; names that tell no sample are refused at once."""
        if self.otu_table is None:
            return None
        from tropalign.clusters.table import counted, sampled

        rule: NameRule = "label" if self.samples is None or self.samples == "file" else self.samples
        reads = sampled(tuple(batch.names) if uniques is None else uniques.reads, rule)
        labels = None if uniques is None else uniques.labels
        return partial(counted, reads=reads, labels=labels, relabel=self.relabel or "")
