"""tropalign on each instruction set of this machine: a process apiece, since the set is chosen at import."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import numpy as np
from oracles.pairwise import FREE_ENDS, Expected

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
MODES = ("local", "global", "semiglobal")
#: All choices of ends at which residues may hang over at no cost.
FREE_SETS = [tuple(ends) for k in range(5) for ends in combinations(FREE_ENDS, k)]
COLUMNS = ("query_index", "target_index", "score", "query_start", "query_end", "target_start", "target_end")
COLUMNS += ("n_identical", "n_similar", "n_gaps", "n_columns", "hsp")


def align_here(queries: list[str], targets: list[str] | None, options: dict[str, Any]) -> dict[str, Any]:
    """Columns of `align_all` over protein or nucleotide strings; `options` as its keywords, gap as a pair of costs."""
    import tropalign
    from tropalign.results.alignments import concatenate

    options = dict(options)
    alphabet = tropalign.PROTEIN if options.pop("protein", True) else tropalign.NUCLEOTIDE
    if "match" in options:
        options["matrix"] = tropalign.SubstitutionMatrix.match_mismatch(
            options.pop("match"), options.pop("mismatch"), alphabet
        )
    options["gap"] = tropalign.Gap(*options["gap"])
    batch = tropalign.SequenceBatch.from_strings(queries, alphabet=alphabet)
    others = None if targets is None else tropalign.SequenceBatch.from_strings(targets, alphabet=alphabet)
    return columns_of(concatenate(list(tropalign.align_all(batch, others, **options))))


def columns_of(table: Any) -> dict[str, Any]:
    columns = {name: getattr(table, name) for name in COLUMNS if getattr(table, name) is not None}
    if table.cigar_ops is not None:
        columns["cigar"] = np.array(table.cigars(), dtype=object)
    return columns


def align_scores_here(tables: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Columns of `align_scores`; gap as a pair of costs."""
    import tropalign

    return columns_of(tropalign.align_scores(tables, **{**options, "gap": tropalign.Gap(*options["gap"])}))


def soft_align_here(tables: list[Any], options: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes of the results of `soft_align`; gap as a pair of costs."""
    import tropalign

    return [vars(one) for one in tropalign.soft_align(tables, **{**options, "gap": tropalign.Gap(*options["gap"])})]


def selected_isa() -> str:
    from tropalign import _native

    return _native.selected_isa()


class Engine:
    """A process that aligns on one instruction set."""

    def __init__(self, isa: str) -> None:
        self.isa = isa
        self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        with environment(TROPALIGN_ISA=isa):  # the process begins with its first task
            assert self._pool.submit(selected_isa).result(timeout=60) == isa

    def align(self, queries: list[str], targets: list[str] | None = None, **options: Any) -> dict[str, Any]:
        return self._pool.submit(align_here, queries, targets, options).result(timeout=600)

    def align_scores(self, tables: list[Any], **options: Any) -> dict[str, Any]:
        return self._pool.submit(align_scores_here, tables, options).result(timeout=600)

    def soft_align(self, tables: list[Any], **options: Any) -> list[dict[str, Any]]:
        return self._pool.submit(soft_align_here, tables, options).result(timeout=600)

    def close(self) -> None:
        self._pool.shutdown()


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def rows(columns: dict[str, Any]) -> list[Expected]:
    names = Expected.__dataclass_fields__
    return [
        Expected(*(value if isinstance(value, str) else int(value) for value in row))
        for row in zip(*(columns[name] for name in names), strict=True)
    ]


def assert_same(columns: dict[str, Any], others: dict[str, Any]) -> None:
    for name in columns.keys() & others.keys():
        np.testing.assert_array_equal(columns[name], others[name], err_msg=name)


def check_engines(
    engines: list[Engine], queries: list[str], targets: list[str] | None, wanted: Any, **options: Any
) -> None:
    for engine in engines:
        columns = engine.align(queries, targets, **options)
        for k, (got, want) in enumerate(zip(rows(columns), wanted, strict=True)):
            assert got == want, f"row {k} on {engine.isa}"
        for report in ("ends", "score"):
            shallow = engine.align(queries, targets, report=report, **options)
            assert ("query_start" in shallow) == (report == "ends") and "cigar" not in shallow
            assert_same(shallow, columns)


def codes(alphabet: Any, text: str) -> list[int]:
    return alphabet.encode(np.frombuffer(text.encode(), np.uint8))[0].tolist()
