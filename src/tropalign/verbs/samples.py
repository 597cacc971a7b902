"""Common part of verbs whose reads belong to samples."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from tropalign.errors import shown
from tropalign.options.kinds import TEXT, whole
from tropalign.options.option import Options, input_file, option, output_file
from tropalign.verbs.alignment import SequenceCommand
from tropalign.verbs.run_options import SEQUENCE_FILES

if TYPE_CHECKING:
    from tropalign.clusters.dereplication import Uniques
    from tropalign.clusters.table import SampledReads
    from tropalign.results.clusters import Clusters
    from tropalign.results.otu_table import OtuTable
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.samples import Teller

SampleRule = Literal["label", "file", "vsearch", "underscore"]
#: Samples that the line about samples names.
SHOWN_SAMPLES = 4


class SampleNameOptions(Options, group="samples"):
    """Ways to find the sample in a read's name."""

    sample_delimiter: str | None = option(
        default=None,
        kind=TEXT,
        metavar="TEXT",
        label="Delimiter behind the sample",
        help="a read's sample is its name up to this text, unless the name has ;sample=: with --sample-delimiter . "
        "that of gut-1.r7 is gut-1",
        form_help="A read's sample is its name up to this text: gut-1 of gut-1.r7 for a dot",
    )
    sample_regex: str | None = option(
        default=None,
        role="machine",
        kind=TEXT,
        metavar="REGEX",
        label="Regular expression of the sample",
        help="a read's sample is what this regular expression matches in its whole name, or its first group: "
        "'^([^.]+)[.]'",
    )


class SampleOptions(SampleNameOptions, group="samples"):
    """Selection of reads, and their samples."""

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
        help="which sample a read is of: label, by ;sample=NAME in its name; file, by its file's name up to the first "
        "dot; underscore, by its name up to the last underscore; vsearch, by ;sample=NAME or the letters, digits and "
        "underscores that the name begins with, which cuts gut-1.r7 to gut (default: by ;sample=NAME, else as file)",
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
    """A command that reads sequences of samples."""

    #: From `OutputOptions`.
    quiet: bool
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
        """True if each file is a sample."""
        if self.sample_delimiter is not None or self.sample_regex is not None:
            return False
        return len(self.queries) > 1 if self.samples is None else self.samples == "file"

    def check_samples(self) -> None:
        """Reject options of samples that do not go together."""
        if self.queries.count("-") > 1:
            self.refuse("standard input can be read once: name - once")
        if self._is_by_file and "-" in self.queries:
            self.refuse("standard input has no name to call a sample by: write --samples label, or name a file")
        for name in ("samples", "sample_delimiter", "sample_regex"):
            if getattr(self, name) not in (None, "file") and self.otu_table is None:
                self.refuse(f"--{name.replace('_', '-')} belongs to --otu-table: name a file for it")
        if self.otu_table is not None:
            self._teller()
        if self.relabel is not None and (not self.relabel.strip() or not self.relabel.isprintable()):
            self.refuse("--relabel: give letters, digits or punctuation")
        if self.relabel is not None and self.relabel.startswith(("#", ">")):
            self.refuse(f"--relabel {self.relabel}: readers of tables and FASTA take a name that begins so for none")

    def reads(self) -> SequenceBatch:
        """Read the sequences of all files, with the names of their samples if these follow from the files."""
        from tropalign.sequences.samples import pooled

        if self._is_by_file:
            return pooled((self.batch(path) for path in self.queries), self.queries, self.samples is None)
        return self.batch(self.queries)

    def _teller(self) -> Teller:
        """Make the function that finds the sample in a read's name. Raises UsageError if that is impossible."""
        from tropalign.errors import InputError
        from tropalign.sequences.samples import sample_of_file, teller

        of_file, samples = "", "label" if self.samples == "file" else self.samples  # names contain the file's by now
        if len(self.queries) == 1 and self.queries[0] != "-":
            with suppress(InputError):  # names may contain all samples
                of_file = sample_of_file(self.queries[0])
        return teller(samples, self.sample_delimiter, self.sample_regex, of_file)

    def counting(self, batch: SequenceBatch, uniques: Uniques | None = None) -> Callable[[Clusters], OtuTable] | None:
        """Return the maker of the cluster table of these reads; reject names without a sample now."""
        if self.otu_table is None:
            return None
        from tropalign.clusters.table import counted, sampled

        names = tuple(batch.names) if uniques is None else uniques.reads
        reads = sampled(names, self._teller())
        if not self.quiet:
            self._tell_samples(names, reads)
        labels = None if uniques is None else uniques.labels
        return partial(counted, reads=reads, labels=labels, relabel=self.relabel or "")

    def _tell_samples(self, names: Sequence[str], reads: SampledReads) -> None:
        """Show on stderr how names were cut: the first samples, each with the first of its reads as the file has it."""
        import numpy as np

        from tropalign.errors import counted
        from tropalign.sequences.samples import sample_of_file

        _, first, counts = np.unique(reads.sample, return_index=True, return_counts=True)
        n = len(reads.samples)
        added = {sample_of_file(path) for path in self.queries} if self._is_by_file else ()  # to names, by `pooled`
        some = []
        for sample, at, count in zip(reads.samples[:SHOWN_SAMPLES], first.tolist(), counts.tolist(), strict=False):
            name = names[at].removesuffix(f";sample={sample}") if sample in added else names[at]
            some.append(f"{sample!r} ({counted(count, 'names')}, such as {name!r})")
        more = "" if n <= SHOWN_SAMPLES else f" and {n - SHOWN_SAMPLES:,} more"
        if sys.stderr is not None:
            print(shown(f"samples: {', '.join(some)}{more}"), file=sys.stderr)
