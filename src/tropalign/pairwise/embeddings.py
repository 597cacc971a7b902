"""Python API of alignments of embeddings."""

from __future__ import annotations

from tropalign.devices.registry import open_devices
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import again, argument
from tropalign.pairwise.embedded import Embedded, Embeddings, check_dimensions, vectors_of
from tropalign.pairwise.embedding_options import EmbeddedPairOptions, SimilarityOptions
from tropalign.pairwise.options import SelectionOptions
from tropalign.pairwise.score_tables import TableOptions
from tropalign.pairwise.task import PairsTask
from tropalign.resources.limits import budget_of, checked_threads
from tropalign.results.alignments import AlignmentTable, concatenate
from tropalign.scoring import SubstitutionMatrix
from tropalign.sequences import PROTEIN


class EmbeddingArguments(TableOptions, SimilarityOptions):
    """Arguments of `align_embeddings`."""

    queries: Embeddings = argument(
        kw_only=False,
        doc="Arrays of shape (length, d), a vector per residue, which are read as float32: a mapping of names to "
        "arrays, a list, or a file: .npz, or .h5 with a dataset per name (needs h5py).",
    )
    targets: Embeddings | None = argument(
        default=None, kw_only=False, doc="As `queries`. Without targets: all pairs i < j of `queries`."
    )
    top: int | None = again(SelectionOptions, "top")


@called_with(EmbeddingArguments)
def align_embeddings(call: EmbeddingArguments) -> AlignmentTable:
    """Align residues by the similarity of their vectors, such as those of a protein language model, exactly.

    Each pair is a matrix product and an alignment by `align_scores`; only the tables of some pairs are held at once.
    The products are NumPy's, whose last digits depend on the processor.

    Returns
    -------
    AlignmentTable
        A row per pair, or with `max_hsps` several; with `top`, of the targets with the highest scores of each query
        (of equal scores, the earlier target). Residues show as X, and no two count as identical.

    Raises
    ------
    InputError
        An array is not of shape (length, d), is empty, has another d or a number that is not finite; a file cannot
        be read; or there is no pair.
    UsageError
        An option has another type or is out of range.
    ScoringError
        `gap` has two pieces.
    ResourceError
        The table of one pair exceeds the memory.

    Examples
    --------
    >>> import numpy as np
    >>> letters = dict(zip("ACDE", np.eye(4, dtype=np.float32)))
    >>> first, second = (np.stack([letters[one] for one in text]) for text in ("ACDE", "ACE"))
    >>> table = tropalign.align_embeddings({"a": first, "b": second}, shift=0.5, gap=tropalign.Gap(0.1, 0.1))
    >>> table.score.round(2).tolist(), table.cigars()
    ([1.3], ['2X1I1X'])
    """
    memory_bytes, n_threads, progress = budget_of(call.memory_bytes), checked_threads(call.n_threads), call.progress
    matrix = SubstitutionMatrix.default(PROTEIN)
    options = EmbeddedPairOptions(**{**call.shared_with(EmbeddedPairOptions), "matrix": matrix})
    given = [(call.queries, "query")] + ([] if call.targets is None else [(call.targets, "target")])
    vectors = [vectors_of(one, word, options.similarity, memory_bytes) for one, word in given]
    check_dimensions((side, None) for side in vectors)
    sides = [Embedded.of(side) for side in vectors]
    left = memory_bytes - sum(side.vector_bytes for side in sides)
    task = PairsTask(sides[0], sides[1] if len(sides) > 1 else None, options, memory_bytes=left, n_threads=n_threads)
    devices = open_devices(options.able_devices(["cpu"]), n_threads, task.n_cells)
    tables = Scheduler(devices, checked_progress(progress)).run([task])
    return concatenate([result.value for result in tables])
