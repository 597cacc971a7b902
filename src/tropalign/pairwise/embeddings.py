"""Alignment of embeddings: a vector per residue, and similarities of vectors as scores."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign.errors import InputError, ResourceError
from tropalign.execution.task import checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import again, argument
from tropalign.pairwise.options import PairOptions, SelectionOptions
from tropalign.pairwise.score_tables import TableOptions, TableSide, aligned, unknown_codes
from tropalign.resources.limits import budget_of, resolve_threads
from tropalign.resources.numbers import decimal_number
from tropalign.results.alignments import AlignmentTable, concatenate
from tropalign.sequences import PROTEIN, SequenceBatch

Similarity = Literal["cosine", "dot", "euclidean"]
#: Arrays of shape (length, d) by name, in a list, or in a file .npz or .h5.
Embeddings: TypeAlias = "Mapping[str, ArrayLike] | list[ArrayLike] | str | os.PathLike[str]"
Vectors = dict[str, NDArray[np.float32]]

#: Most cells of the tables that are held at once, per thread (a cache holds them), and their share of the memory.
TILE_CELLS, TILE_SHARE = 1 << 20, 4


class EmbeddingArguments(TableOptions):
    """Arguments of `align_embeddings`."""

    queries: Embeddings = argument(
        kw_only=False,
        doc="Arrays of shape (length, d), a vector per residue, which are read as float32: a mapping of names to "
        "arrays, a list, or a file: .npz, or .h5 with a dataset per name (needs h5py).",
    )
    targets: Embeddings | None = argument(
        default=None, kw_only=False, doc="As `queries`. Without targets: all pairs i < j of `queries`."
    )
    similarity: Similarity = argument(
        default="cosine",
        choices=get_args(Similarity),
        kw_only=True,
        doc="Similarity of two vectors: the cosine of their angle, their dot product, or exp(-distance) of their "
        "Euclidean distance. A vector of zeros has the cosine 0 with all others.",
    )
    z_scores: bool = argument(
        default=False,
        kw_only=True,
        doc="Replace each similarity by the mean of its z-scores in its row and in its column (Pantolini and others "
        "2024, EBA), so that unrelated residues score about 0.",
    )
    scale: float = argument(default=1.0, kw_only=True, doc="A score is ``scale * similarity - shift``.")
    shift: float = argument(
        default=0.0,
        kw_only=True,
        doc="See `scale`. Local alignments need scores below 0 for unrelated residues: subtract more than their mean "
        "similarity.",
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
    options = call.pair_options()
    scale, shift = (np.float32(decimal_number(name, getattr(call, name))) for name in ("scale", "shift"))
    vectors = [_vectors(call.queries, "query"), None if call.targets is None else _vectors(call.targets, "target")]
    found = [_prepared(side, call.similarity) for side in vectors if side is not None]
    first = next(iter(found[0].items()))
    for side in found:
        for name, array in side.items():
            if array.shape[1] != first[1].shape[1]:
                raise InputError(
                    f"the vectors have {array.shape[1]} numbers, but those of {first[0]} have {first[1].shape[1]}",
                    record=name,
                )
    batches = [
        SequenceBatch.from_strings({name: "X" * len(array) for name, array in side.items()}, alphabet=PROTEIN)
        for side in found
    ]
    queries, targets = list(found[0].values()), list(found[-1].values())
    if len(found) == 1:
        query, target = np.triu_indices(len(queries), 1)
    else:
        query, target = (index.ravel() for index in np.indices((len(queries), len(targets))))
    if not len(query):
        raise InputError("there is only one array, so there is no pair: give at least two, or targets")
    threads, memory = resolve_threads(call.n_threads), budget_of(call.memory_bytes)
    progress = checked_progress(call.progress)
    cells_of_memory = memory // TILE_SHARE // 4
    most_cells = min(TILE_CELLS * threads, cells_of_memory)
    codes = [unknown_codes(batches[0], 0), unknown_codes(batches[-1], 1)]

    def tables(query: Any, target: Any, options: PairOptions) -> Iterator[AlignmentTable]:
        cells = np.cumsum(batches[0].lengths[query] * batches[-1].lengths[target])
        begin = 0
        while begin < len(query):
            done = int(cells[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(cells, done + most_cells, "right")), begin + 1)
            held_cells = int(cells[end - 1]) - done
            if held_cells > cells_of_memory:
                raise ResourceError("the scores of one pair exceed the memory: allow more with memory_bytes")
            pairs = zip(query[begin:end].tolist(), target[begin:end].tolist(), strict=True)
            with np.errstate(over="ignore", invalid="ignore"):  # infinite scores are reported below
                scores = [_similarities(queries[i], targets[j], call) for i, j in pairs]
                for one in scores:
                    one *= scale
                    one -= shift
            sides = [
                TableSide(batch, index[begin:end], code)
                for batch, index, code in zip((batches[0], batches[-1]), (query, target), codes, strict=True)
            ]
            try:
                yield aligned(scores, sides, options, threads, memory - held_cells * 4, None)
            except InputError as error:  # with the number of the table
                k = begin + next(k for k, one in enumerate(scores) if not np.isfinite(one).all())
                pair = f"{batches[0].names[query[k]]} x {batches[-1].names[target[k]]}"
                raise InputError("a score is not finite: scale the vectors, or scale and shift", record=pair) from error
            if progress is not None:
                progress(n_scored + end)
            begin = end

    n_scored = 0  # pairs, before those of the best targets are aligned
    if call.top is not None:
        scored = concatenate(list(tables(query, target, options.replaced(report="score", max_hsps=1))))
        if len(found) == 1:  # each sequence of a set is a query
            query, target = np.concatenate([query, target]), np.concatenate([target, query])
        values = np.tile(np.asarray(scored.score, np.float64), 3 - len(found))
        order = np.lexsort((target, -values, query))
        rank = np.arange(len(order)) - np.searchsorted(query[order], query[order])
        chosen = order[rank < call.top]
        n_scored = len(scored)
        query, target = query[chosen], target[chosen]
    return concatenate(list(tables(query, target, options)))


def _vectors(given: Embeddings, word: str) -> Vectors:
    """Return arrays of float32 by name. Raises InputError for anything else."""
    if isinstance(given, str | os.PathLike):
        given = _read(given)
    if not isinstance(given, Iterable):
        raise InputError("the embeddings must be arrays by name, a list of arrays, or a file")
    items = given.items() if isinstance(given, Mapping) else ((f"{word}_{k}", one) for k, one in enumerate(given, 1))
    found: Vectors = {}
    for name, value in items:
        try:
            array = np.asarray(value)
        except ValueError:
            raise InputError(
                "the vectors have different lengths: give an array (length, d)", record=str(name)
            ) from None
        if array.ndim != 2 or not array.size or array.dtype.kind not in "fiu":
            raise InputError(
                f"an array of shape {array.shape} and type {array.dtype} is not an embedding: give numbers of shape "
                "(length, d)",
                record=str(name),
            )
        if str(name) in found:
            raise InputError("two arrays have the same name: give each its own", record=str(name))
        array = array.astype(np.float32)
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0, 0])
            raise InputError(f"the vector of residue {row} (from 0) has a number that is not finite", record=str(name))
        found[str(name)] = array
    if not found:
        raise InputError("there is no array: give one or more")
    return found


def _read(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file."""
    path = os.fspath(path)
    try:
        if path.lower().endswith(".npz"):
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                return dict(file)
        import h5py

        with h5py.File(path, "r") as file:
            return {name: file[name][()] for name in file}
    except ImportError:
        raise InputError("reading .h5 needs the package h5py: install it, or give .npz", file=path) from None
    except OSError as error:
        raise InputError(error.strerror or "this file is not an .npz or .h5 of arrays", file=path) from None
    except (ValueError, EOFError, KeyError, TypeError, RuntimeError, BadZipFile, zlib.error):
        raise InputError("this file is not an .npz or .h5 of arrays", file=path) from None


def _prepared(vectors: Vectors, similarity: str) -> Vectors:
    """Scale vectors to length 1 for cosines."""
    if similarity != "cosine":
        return vectors
    scaled = {}
    for name, array in vectors.items():
        wide = array.astype(np.float64)  # squares of float32 may overflow
        norms = np.linalg.norm(wide, axis=1, keepdims=True)
        scaled[name] = (wide / np.where(norms == 0, 1, norms)).astype(np.float32)
    return scaled


def _similarities(
    query: NDArray[np.float32], target: NDArray[np.float32], call: EmbeddingArguments
) -> NDArray[np.float32]:
    """Return the similarities of all pairs of residues."""
    found: NDArray[np.float32]
    if call.similarity == "euclidean":
        wide = query.astype(np.float64), target.astype(np.float64)  # differences of large squares
        squares = [np.einsum("ij,ij->i", side, side) for side in wide]
        distances = np.sqrt(np.maximum(squares[0][:, None] + squares[1] - 2 * (wide[0] @ wide[1].T), 0))
        found = np.exp(-distances).astype(np.float32)
    else:
        found = query @ target.T
    if call.z_scores:
        least = 1e-5 * float(np.abs(found).max())  # below this, differences are rounding errors
        spreads = (found.std(axis, keepdims=True) for axis in (1, 0))
        means = (found.mean(axis, keepdims=True) for axis in (1, 0))
        row, column = (
            (found - mean) / np.where(spread > least, spread, np.float32(np.inf))
            for mean, spread in zip(means, spreads, strict=True)
        )
        found = (row + column) / 2
    return found
