"""The hits of a search: a row per hit, with its domains and their alignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tropalign.results import hit_display, ragged
from tropalign.results.found_hits import FoundHits, chosen
from tropalign.results.hit import BITS, Hit
from tropalign.results.hit_tables import HITS, Columns, DomainTable, Table, hit_columns
from tropalign.results.thresholds import Thresholds, exp, verdicts

Bools = NDArray[np.bool_]
Float64 = NDArray[np.float64]
Rows = slice | Sequence[int] | NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Hits(FoundHits, Table):
    """The hits of a search or a scan that are reported: a row per hit, the queries in order, their best hits first.

    ``hits[k]`` is a `Hit` with its domains; a slice, a mask or indices give those hits.

    Attributes
    ----------
    thresholds : Thresholds
        What is reported and included.
    Z
        Targets for E-values of hits.
    domZ : float64, shape (n_queries,)
        And of domains.
    is_included : bool, shape (n,)
        Which hits are significant.
    domain_is_reported, domain_is_included : bool, shape (n_domains,)
        The same of domains. A reported hit may have domains that are not.
    """

    _types = HITS

    thresholds: Thresholds
    Z: float
    domZ: Float64
    is_included: Bools
    domain_is_reported: Bools
    domain_is_included: Bools

    def __post_init__(self) -> None:
        super().__post_init__()
        n_domains = len(self.domain_bits)
        self._check("is_included", np.bool_, len(self.names))
        self._check("domain_is_reported", np.bool_, n_domains)
        self._check("domain_is_included", np.bool_, n_domains)
        self._check("domZ", np.float64, len(self.queries))

    @cached_property
    def evalue(self) -> Float64:
        """E-value of each hit: how many such hits `Z` random targets would have."""
        return exp(self.log_p) * self.Z

    @cached_property
    def bias(self) -> NDArray[np.float32]:
        """The correction of each score for biased composition, in bits, float32."""
        return self.pre_bits - self.bits

    @cached_property
    def domain_hit(self) -> NDArray[np.int64]:
        """The hit of each domain."""
        return np.repeat(np.arange(len(self)), self.n_domains)

    @cached_property
    def domain_c_evalue(self) -> Float64:
        """E-value of each domain on the condition that its target is a hit: among `domZ` targets."""
        return exp(self.domain_log_p) * self.domZ[self.query[self.domain_hit]]

    @cached_property
    def domain_i_evalue(self) -> Float64:
        """E-value of each domain as if it were its target's only one: among `Z` targets."""
        return exp(self.domain_log_p) * self.Z

    @cached_property
    def domain_bias(self) -> Float64:
        """The correction of each domain's score for biased composition, in bits."""
        return self.domain_bias_nats.astype(np.float64) * BITS

    @cached_property
    def domain_accuracy(self) -> Float64:
        """The expected share of each envelope's residues that are aligned right."""
        return self.domain_expected_accuracy.astype(np.float64) / (
            self.domain_envelope_end - self.domain_envelope_begin
        )

    @cached_property
    def n_reported(self) -> NDArray[np.int64]:
        """Reported domains of each hit."""
        return self._counts(self.domain_is_reported)

    @cached_property
    def n_included(self) -> NDArray[np.int64]:
        """Included domains of each hit."""
        return self._counts(self.domain_is_included)

    def _counts(self, marks: Bools) -> NDArray[np.int64]:
        before = np.concatenate([[0], np.cumsum(marks)])
        return np.diff(before[self.domain_offsets])

    @overload
    def __getitem__(self, key: int) -> Hit: ...
    @overload
    def __getitem__(self, key: Rows) -> Hits: ...
    def __getitem__(self, key: int | Rows) -> Hit | Hits:
        """One hit by its index; by a slice, indices or a mask those hits."""
        if isinstance(key, int | np.integer):
            return Hit(self, ragged.row_number(int(key), len(self)))
        if isinstance(key, slice):
            return self.take(np.arange(*key.indices(len(self))))
        return self.take(np.asarray(key))

    def __iter__(self) -> Iterator[Hit]:
        return (Hit(self, k) for k in range(len(self)))

    def take(self, rows: NDArray[Any]) -> Hits:
        """The hits at these indices (whole numbers) or where this mask (bool) is true, in that order.

        Parameters
        ----------
        rows
            Indices (whole numbers) or a mask (bool).

        Returns
        -------
        Hits

        Raises
        ------
        IndexError
            A hit that there is not, or a mask of another length.
        """
        rows = ragged.wanted_rows(rows, len(self))
        domains = ragged.chosen(self.domain_offsets, rows)[1]
        return Hits(
            **chosen(self, rows),
            thresholds=self.thresholds,
            Z=self.Z,
            domZ=self.domZ,
            is_included=self.is_included[rows],
            domain_is_reported=self.domain_is_reported[domains],
            domain_is_included=self.domain_is_included[domains],
        )

    @property
    def domains(self) -> DomainTable:
        """The reported domains of all hits, as a table."""
        return DomainTable(self)

    def columns(self) -> Columns:
        """The table of hits by the names of its columns: texts in lists, numbers in arrays.

        Returns
        -------
        dict of str to list or array
            An item per hit.
        """
        return hit_columns(self)

    def __repr__(self) -> str:
        return hit_display.table_text(self)


def judged(found: FoundHits, thresholds: Thresholds) -> Hits:
    """Those of found hits that are reported, sorted. Raises InputError for a model without the cutoffs asked for."""
    own = verdicts(found, thresholds)
    return Hits(
        thresholds=thresholds,
        Z=own.Z,
        domZ=own.domZ,
        is_included=own.is_included,
        domain_is_reported=own.domain_is_reported,
        domain_is_included=own.domain_is_included,
        **own.columns,
    )
