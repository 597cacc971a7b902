"""The hits of a search: a row per hit, with its domains and their alignments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import shown
from tropalign.properties import cached_property
from tropalign.results import display, hit_pyhmmer
from tropalign.results.columns import Axis, Table
from tropalign.results.format_names import HitsFormat
from tropalign.results.found_hits import AXIS, FoundHits
from tropalign.results.hit import BITS, Hit
from tropalign.results.hit_tables import HITS, Columns, DomainTable, shown_columns
from tropalign.results.threshold_options import Thresholds
from tropalign.results.thresholds import e_values, verdicts

if TYPE_CHECKING:
    import os

Bools = NDArray[np.bool_]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Hits(FoundHits, Table[Hit]):
    """The hits of a search or a scan that are reported: a row per hit, the queries in order, their best hits first.

    ``hits[k]`` is a `Hit` with its domains; a slice, a mask or indices give those hits.

    Positions are 0-based and half-open; nats are natural logarithms of odds.

    Attributes
    ----------
    queries : tuple of Query
    first_query
        The number of the first of them among all queries; 0 where these are all.
    orientation : {"search", "scan"}
        Whether the queries are models, and targets sequences, or the other way round.
    n_targets, n_target_residues
        Targets that were searched, and their residues (of models: nodes).
    n_passed : int64, shape (n_queries, 4)
        Targets past each of FILTERS, per query.
    widths : int64, shape (n_queries, 3)
        Bytes of the longest name, accession, and accession or else name among hits that were left out since, but that
        HMMER would have kept while it read; its tables are as wide. 0 (default) where none was.
    domZ : float64, shape (n_queries,)
        Targets for the E-values of domains; NaN (default) where it follows from the hits how many are reported.
    models : mapping of int to Query
        Of a scan: the models of the hits, by `target`.
    names, accessions, descriptions : tuple of str
        Of the target of each hit; empty where there is none.
    query : int32
        Index in `queries`.
    target : int64
        The number of the target among all; -1 where it is not known.
    length : int32
        Of the target.
    bits, pre_bits, sum_bits : float32
        The score; the score without the correction for biased composition; the score from the sum over domains.
    log_p, pre_log_p, sum_log_p : float64
        Logarithms of their P-values.
    n_expected : float32
        Domains that are expected by posterior probability.
    n_regions, n_clustered, n_overlaps, n_envelopes : int32
        How the domains were found.
    best_domain : int32
        The domain of the highest score, counted from 0 within the hit.
    domain_offsets : int64, shape (n + 1,)
        Domains of hit k: items ``domain_offsets[k]:domain_offsets[k + 1]`` of the columns of domains.
    line_offsets : int64, shape (n_domains + 1,)
        Alignment lines of domain d: letters ``line_offsets[d]:line_offsets[d + 1]`` of each line. All 0, and the lines
        empty, where nobody asked for alignments.
    domain_envelope_begin, domain_envelope_end : int32, shape (n_domains,)
        Where the domain may lie in the sequence.
    domain_begin, domain_end, domain_model_begin, domain_model_end : int32
        Where it is aligned in the sequence, and to which nodes.
    domain_envelope_nats, domain_correction_nats, domain_bias_nats : float32
        The score of the envelope alone; the corrections for biased composition of the envelope, and of `domain_bits`.
    domain_expected_accuracy : float32
        The sum of the posterior probabilities of aligned residues.
    domain_bits : float32
        The score.
    domain_log_p : float64
        The logarithm of its P-value.
    model_line, match_line, target_line, posterior_line : uint8
        The alignments: letters of the model ('.' at inserts), what they have in common, letters of the sequence ('-' at
        deletes), and posterior probabilities ('0' to '9' and '*', '.' at deletes).
    thresholds : Thresholds
        What is reported and included.
    Z
        Targets for the E-values of hits.
    is_included : bool, shape (n,)
        Which hits are significant.
    domain_is_reported, domain_is_included : bool, shape (n_domains,)
        The same of domains. A reported hit may have domains that are not.

    Examples
    --------
    >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
    >>> hits[:2]
    <Hits: 2 of 1 query in 37 targets>
    query  target                  E-value   bits  bias  domains  included
    EFP    tr|H8KCP7|H8KCP7_RICMS  8.2e-85  274.3   2.3        1       yes
    EFP    sp|Q4UKM7|EFP_RICFE     2.3e-84  272.9   2.8        1       yes
    >>> hits[0].best_domain
    EFP 0-187 x tr|H8KCP7|H8KCP7_RICMS 0-188: E-value 9.1e-85, 274.2 bits
    >>> hits[0].best_domain.lines["model_line"][:25]
    'MkievndirkGsvielegelyivle'
    """

    _axis: ClassVar[Axis] = AXIS.with_columns(
        {"is_included": np.bool_},
        domain_offsets=AXIS.runs["domain_offsets"].with_columns(
            {"domain_is_reported": np.bool_, "domain_is_included": np.bool_}
        ),
    )

    thresholds: Thresholds
    Z: float
    is_included: Bools
    domain_is_reported: Bools
    domain_is_included: Bools

    @cached_property
    def evalue(self) -> Float64:
        """E-value of each hit: how many such hits `Z` random targets would have."""
        return e_values(self.log_p, self.Z)

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
        return e_values(self.domain_log_p, self.domZ[self.query[self.domain_hit]])

    @cached_property
    def domain_i_evalue(self) -> Float64:
        """E-value of each domain as if it were its target's only one: among `Z` targets."""
        return e_values(self.domain_log_p, self.Z)

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

    def row(self, k: int) -> Hit:
        """Hit k by itself.

        Parameters
        ----------
        k
            The row, from 0; from the end where it is negative.

        Returns
        -------
        Hit

        Raises
        ------
        IndexError
            There is no such row.

        Examples
        --------
        >>> tropalign.search("examples/efp.hmm", "examples/efp.fasta").row(1).name
        'sp|Q4UKM7|EFP_RICFE'
        """
        return Hit(self, ragged.row_number(k, len(self)))

    @property
    def domains(self) -> DomainTable:
        """The reported domains of all hits: `Domain` objects by iteration, and a table for other libraries."""
        return DomainTable(self)

    def columns(self) -> Columns:
        """The table of hits by the names of its columns: texts in lists, numbers in arrays.

        Returns
        -------
        dict of str to list or array
            An item per hit.

        Examples
        --------
        >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
        >>> hits.columns()["target"][0], list(hits.columns())[6:9]
        ('tr|H8KCP7|H8KCP7_RICMS', ['evalue', 'bits', 'bias'])
        """
        return shown_columns(HITS, self, np.arange(len(self)))

    def write(self, path: str | os.PathLike[str], format: HitsFormat | None = None) -> None:
        """Writes the hits: see `tropalign.write_hits`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            By the suffix of the path when not given.

        Raises
        ------
        TropalignError
            A format that does not exist or lacks its package; a file that cannot be written.

        Examples
        --------
        >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
        >>> hits[:2].write("-", "pfamtblout")
        # Sequence scores
        # ---------------
        #
        # name                     bits   E-value   n   exp  bias    description
        #    ------------------- ------ --------- --- ----- -----    ---------------------
        tr|H8KCP7|H8KCP7_RICMS   274.3   8.2e-85   1   1.0   2.3    Elongation factor P OS=Rickettsia montanensis ...
        sp|Q4UKM7|EFP_RICFE      272.9   2.3e-84   1   1.0   2.8    Elongation factor P OS=Rickettsia felis ...
        ...
        """
        import tropalign  # by its public name: results know nothing of files

        tropalign.write_hits(self, path, format)

    @classmethod
    def from_pyhmmer(cls, top_hits: Any) -> Hits:
        """The reported hits of a ``pyhmmer.plan7.TopHits``.

        Parameters
        ----------
        top_hits
            Of one query, or several of them. Targets have no numbers there: `target` is -1.

        Returns
        -------
        Hits

        Raises
        ------
        ValueError
            None was given; a scan by its models' own cutoffs, which pyhmmer does not keep.

        Examples
        --------
        >>> import pyhmmer
        >>> with pyhmmer.plan7.HMMFile("examples/efp.hmm") as file:
        ...     model = file.read()
        >>> with pyhmmer.easel.SequenceFile("examples/efp.fasta", digital=True, alphabet=model.alphabet) as file:
        ...     found = pyhmmer.plan7.Pipeline(model.alphabet).search_hmm(model, file.read_block())
        >>> len(tropalign.Hits.from_pyhmmer(found))
        37
        """
        return judged(*hit_pyhmmer.found_in(top_hits))

    def to_pyhmmer(self, queries: Iterable[Any]) -> list[Any]:
        """The hits as ``pyhmmer.plan7.TopHits``, one per query.

        Parameters
        ----------
        queries
            pyhmmer's objects, of which its results know theirs: HMMs, or in a scan digital sequences, one per query.

        Returns
        -------
        list of pyhmmer.plan7.TopHits

        Raises
        ------
        ValueError
            Not one object per query.

        Examples
        --------
        >>> import pyhmmer
        >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
        >>> with pyhmmer.plan7.HMMFile("examples/efp.hmm") as file:
        ...     (found,) = hits.to_pyhmmer(file)
        >>> len(found.included), found[0].best_domain.alignment.hmm_name
        (37, 'EFP')
        """
        return hit_pyhmmer.top_hits_of(self, queries)

    def _title(self) -> str:
        n = len(self.queries)
        return f"Hits: {len(self):,} of {n:,} {'query' if n == 1 else 'queries'} in {self.n_targets:,} targets"

    def _first_rows(self) -> dict[str, list[str]]:
        """The first hits as text, by the names of the columns."""
        return {
            "query": [shown(self.queries[k].name) for k in self.query[: display.SHOWN_ROWS].tolist()],
            "target": [shown(name) for name in self.names[: display.SHOWN_ROWS]],
            "E-value": [f"{value:.2g}" for value in self.evalue[: display.SHOWN_ROWS].tolist()],
            "bits": [f"{value:.1f}" for value in self.bits[: display.SHOWN_ROWS].tolist()],
            "bias": [f"{value:.1f}" for value in self.bias[: display.SHOWN_ROWS].tolist()],
            "domains": [str(value) for value in self.n_reported[: display.SHOWN_ROWS].tolist()],
            "included": ["yes" if value else "no" for value in self.is_included[: display.SHOWN_ROWS].tolist()],
        }

    def __repr__(self) -> str:
        return display.grid_text(self._title(), self._first_rows(), len(self))

    def _repr_html_(self) -> str:
        rows = self[: display.SHOWN_ROWS] if self.has_lines else ()
        details = ((repr(hit), display.escaped(str(hit))) for hit in rows)
        return display.grid_html(self._title(), self._first_rows(), len(self), details)


def judged(found: FoundHits, thresholds: Thresholds) -> Hits:
    """Found hits that are reported, sorted. Raises InputError for a model without the cutoffs asked for."""
    own = verdicts(found, thresholds)
    return Hits(
        thresholds=thresholds,
        Z=own.Z,
        is_included=own.is_included,
        domain_is_reported=own.domain_is_reported,
        domain_is_included=own.domain_is_included,
        **own.columns,
    )
