"""Options that many verbs share: output, devices, memory and shards; and functions that interpret them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tropalign.devices.names import check_device_name
from tropalign.execution.cluster_address import check_address
from tropalign.execution.manifest import Shard, parse_shard
from tropalign.machine.memory import parse_bytes
from tropalign.machine.numbers import MOST_THREADS
from tropalign.options.kinds import Kind, whole
from tropalign.options.option import Options, option
from tropalign.verbs.command import Command

if TYPE_CHECKING:
    from tropalign.execution.progress import Show

GROUP = "output and resources"
#: Supported sequence files (`tropalign.sequences.records`), for the verbs' help.
SEQUENCE_FILES = "FASTA, FASTQ, UniProt, EMBL, GenBank or an alignment, compressed or not; - is standard input"


class OutputOptions(Options, group=GROUP):
    """Output file and verbosity."""

    output: str = option(
        default="-",
        flags=("-o", "--output"),
        metavar="FILE",
        role="machine",
        help="where to write; - (default) is stdout",
    )
    quiet: bool = option(default=False, flags=("-q", "--quiet"), role="machine", help="no progress, no warnings")


class CommentOptions(Options, group=GROUP):
    """Comment lines of tables."""

    no_comments: bool = option(
        default=False,
        label="No comment lines",
        help="no lines of comments (#) before tables: for readers that know none, or names with a #",
    )


class ThreadOptions(Options, group=GROUP):
    """Number of threads."""

    threads: int = option(
        default=0,
        flags=("-t", "--threads"),
        kind=whole(0, MOST_THREADS),
        metavar="N",
        role="machine",
        help="threads; 0 (default) for all there are",
    )


class DeviceOptions(ThreadOptions, group=GROUP):
    """Threads and devices."""

    device: list[str] | None = option(
        default=None,
        kind=Kind("text", check_device_name),
        many="append",
        metavar="NAME",
        role="machine",
        help="what computes: cpu, cuda:0, opencl:0.0 (tropalign devices lists them), several times for several; "
        "auto (default): the processor, and with it the GPUs if the job is large",
    )


class ClusterOptions(Options, group=GROUP):
    """Workers on other machines."""

    cluster: str | None = option(
        default=None,
        kind=Kind("text", check_address),
        metavar="ADDRESS",
        role="machine",
        help="compute on the workers of this scheduler of Dask: tcp://HOST:8786 or its file.json; local:4 starts four "
        "processes here",
    )


class MemoryOptions(Options, group=GROUP):
    """Memory limit of the process."""

    memory: int | None = option(
        default=None,
        kind=Kind("text", parse_bytes),
        metavar="SIZE",
        role="machine",
        help="memory to take at most, like 8G (default: 60% of the free)",
    )


class ShardOptions(Options, group=GROUP):
    """A share of a run."""

    shard: Shard | None = option(
        default=None,
        kind=Kind("text", parse_shard),
        metavar="I/N",
        role="machine",
        help="compute the I-th of N shares only, into a file for tropalign merge",
    )


class DryRunOptions(Options, group=GROUP):
    """A forecast instead of the run."""

    dry_run: bool = option(
        default=False,
        role="machine",
        help="check everything and try a second of it, then say what the run will take; nothing is written",
    )


class EachOption(Options, group=GROUP):
    """Many files, each as if it were given alone."""

    each: bool = option(
        default=False,
        role="private",
        help="do each of the files by itself, all in one run: -o is then a folder, options of further outputs name the "
        "ending of their files (--html .html), and each.tsv says what became of each (exit code 5 where some failed)",
    )


class RunOptions(
    OutputOptions, CommentOptions, DeviceOptions, ClusterOptions, MemoryOptions, ShardOptions, DryRunOptions
):
    """Options of verbs that compute in tiles."""


def devices_of(options: DeviceOptions) -> list[str]:
    """Return device names for `open_devices`; a forecast runs locally, without the cluster."""
    cluster = getattr(options, "cluster", None)
    names = list(options.device or ["auto"])
    return names if cluster is None or getattr(options, "dry_run", False) else [*names, cluster]


def started(command: Command, outputs: Sequence[str], inputs: Sequence[str | None], holds: bool = False) -> Show:
    """Check outputs, inputs and the CPU before anything is read, and return the progress display.

    `holds`: outputs are written at the very end and there is no parts folder that marks them as in use, so hold
    them for the length of the run. Raises TropalignError.
    """
    from tropalign.devices.registry import selected_isa
    from tropalign.execution.files import check_outputs, hold_outputs
    from tropalign.execution.progress import progress_bar, status_only

    shard = getattr(command, "shard", None)
    if "" in (*outputs, *inputs):
        command.refuse("the name of a file is empty: name one, or see which variable of a script is not set")
    if shard is not None and command.output == "-":  # type: ignore[attr-defined]
        command.refuse("a shard goes to a file that tropalign merge reads: name it with -o")
    check_outputs(outputs, [path for path in inputs if path is not None])
    selected_isa()
    if holds and shard is None and not getattr(command, "dry_run", False):
        hold_outputs(outputs)
    return status_only if getattr(command, "quiet", False) else progress_bar
