"""Python API of alignments that homologs help."""

from __future__ import annotations

from tropalign.families.homologs import check_helped, helped, homologs_of
from tropalign.families.options import HomologOptions
from tropalign.machine.memory import budget_of
from tropalign.msa import pipeline
from tropalign.msa.api import ConsistencyArguments, tree_of
from tropalign.options.called import called_with
from tropalign.options.option import argument, but
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.batch import Sequences
from tropalign.sequences.files import Source


class HelpedArguments(ConsistencyArguments, HomologOptions):
    """Arguments of `align_with_homologs`."""

    sequences: Sequences | MultipleAlignment = but(ConsistencyArguments, "sequences", kw_only=False)
    homologs: Sequences | Source = argument(
        kw_only=False, doc="Where relatives are looked for: files, stores, a SequenceBatch, as `search` takes targets."
    )


@called_with(HelpedArguments)
def align_with_homologs(call: HelpedArguments) -> MultipleAlignment:
    """Align a family of proteins together with relatives from a database, and remove these from the result.

    Each member searches the database as phmmer does. Hits that cover four fifths of it at 25 to 90 % identity take
    part in posteriors, consistency and tree (Katoh et al. 2005, NAR 33:511).

    Returns
    -------
    MultipleAlignment
        With confidence and the guide tree; without homologs unless `keep_homologs` is set.

    Raises
    ------
    InputError
        As `align_multiple` and `search`; a family of nucleotides.
    UsageError
        An option of the wrong type or out of range; effort fast; a given tree; members to be dropped.
    ResourceError, DeviceError
        As `align_multiple`.

    Warns
    -----
    TropalignWarning
        No homologs were found: the family is aligned alone.

    Examples
    --------
    >>> family = tropalign.read_sequences("examples/efp.fasta")[:4]
    >>> tropalign.align_with_homologs(family, "examples/efp.fasta").shape
    (4, 192)
    """
    memory, batch = budget_of(call.memory_bytes), call.batch()
    method, tree = call.for_family(len(batch)), tree_of(call.tree, batch)
    job = pipeline.Job(batch, method, tree, call.row_order, keeps_homologs=call.keep_homologs)
    check_helped(job)
    found = homologs_of(batch, call.homologs, call, n_threads=call.threads, memory_bytes=memory, device=call.device)
    job = helped(job, found)
    devices = call.devices(pipeline.score_cells(job), memory)
    return pipeline.align(job, devices, call.threads, memory, progress=call.progress)
