"""The class `Hits`, the result of a search: a row per hit, with its domains and their alignments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tropalign import ragged
from tropalign.errors import shown
from tropalign.results import display, hit_pyhmmer
from tropalign.results.columns import Table
from tropalign.results.found_hits import FoundHits, JudgedHits, verdicts
from tropalign.results.hit import HITS, Columns, DomainTable, Hit, shown_columns
from tropalign.results.names import HitsFormat
from tropalign.results.threshold_options import Thresholds

if TYPE_CHECKING:
    import os


class Hits(JudgedHits, Table[Hit]):
    """The reported hits of a search or a scan: a row per hit, queries in order, the best hits of each first.

    ``hits[k]`` is a `Hit` with its domains; a slice, a mask or indices select hits.

    Positions are 0-based and half-open; nats are natural logarithms of odds.

    Attributes
    ----------
    queries : tuple of Query
    first_query
        Index of the first of them among all queries; 0 if these are all.
    orientation : {"search", "scan"}
        "search": queries are models and targets are sequences. "scan": the reverse.
    n_targets, n_target_residues
        Number of searched targets, and of their residues (or nodes, for models).
    n_passed : int64, shape (n_queries, 4)
        Targets past each of FILTERS, per query.
    widths : int64, shape (n_queries, 3)
        Bytes of the longest name, of the longest accession, and of the longest accession or else name, among hits
        that were dropped but that HMMER would have kept while reading; its tables have these widths. 0 (default) if
        there were no such hits.
    domZ : float64, shape (n_queries,)
        Targets for the E-values of domains; NaN (default) to derive it from the number of reported hits.
    models : mapping of int to Query
        In a scan: the models of the hits, by `target`.
    names, accessions, descriptions : tuple of str
        Texts of the target of each hit; empty if missing.
    query : int32
        Index in `queries`.
    target : int64
        Index of the target among all; -1 if unknown.
    length : int32
        Length of the target.
    bits, pre_bits, sum_bits : float32
        The score; the score without the correction for biased composition; the score from the sum over domains.
    log_p, pre_log_p, sum_log_p : float64
        Logarithms of their P-values.
    n_expected : float32
        Expected number of domains by posterior probability.
    n_regions, n_clustered, n_overlaps, n_envelopes : int32
        How the domains were found.
    best_domain : int32
        Domain with the highest score, counted from 0 within the hit.
    domain_offsets : int64, shape (n + 1,)
        Domains of hit k: items ``domain_offsets[k]:domain_offsets[k + 1]`` of the columns of domains.
    line_offsets : int64, shape (n_domains + 1,)
        Alignment lines of domain d: characters ``line_offsets[d]:line_offsets[d + 1]`` of each line. All 0, with
        empty lines, if alignments were not requested.
    domain_envelope_begin, domain_envelope_end : int32, shape (n_domains,)
        Range of the sequence in which the domain may lie.
    domain_begin, domain_end, domain_model_begin, domain_model_end : int32
        Aligned range of the sequence, and of the nodes.
    domain_envelope_nats, domain_correction_nats, domain_bias_nats : float32
        Score of the envelope alone; corrections for biased composition of the envelope, and of `domain_bits`.
    domain_expected_accuracy : float32
        Sum of the posterior probabilities of aligned residues.
    domain_bits : float32
        Score of the domain.
    domain_log_p : float64
        Logarithm of its P-value.
    model_line, match_line, target_line, posterior_line : uint8
        The alignments: characters of the model ('.' at inserts), matches, residues of the sequence ('-' at deletes),
        and posterior probabilities ('0' to '9' and '*', '.' at deletes).
    thresholds : Thresholds
        Thresholds of reporting and inclusion.
    Z
        Targets for the E-values of hits.
    is_included : bool, shape (n,)
        Hits that pass the inclusion threshold.
    domain_is_reported, domain_is_included : bool, shape (n_domains,)
        Domains that pass these thresholds. A reported hit may have unreported domains.

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

    def row(self, k: int) -> Hit:
        """Return a single hit.

        Parameters
        ----------
        k
            The row, from 0; negative numbers count from the end.

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
        """Return the table of hits by column name: texts as lists, numbers as arrays.

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
        """Write the hits: see `tropalign.write_hits`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            Name of the format; by default, the suffix of the path decides.

        Raises
        ------
        TropalignError
            The format does not exist or its package is missing, or the file cannot be written.

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
        import tropalign  # through the public name: results do not depend on files

        tropalign.write_hits(self, path, format)

    @classmethod
    def from_pyhmmer(cls, top_hits: Any) -> Hits:
        """Convert the reported hits of a ``pyhmmer.plan7.TopHits``.

        Parameters
        ----------
        top_hits
            TopHits of one query, or several of them. Their targets have no indices: `target` is -1.

        Returns
        -------
        Hits

        Raises
        ------
        ValueError
            There are no TopHits, or a scan used its models' own cutoffs, which pyhmmer does not store.

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
        """Return the hits as ``pyhmmer.plan7.TopHits``, one per query.

        Parameters
        ----------
        queries
            pyhmmer's query objects, one per query, since its results refer to them: HMMs, or digital sequences in a
            scan.

        Returns
        -------
        list of pyhmmer.plan7.TopHits

        Raises
        ------
        ValueError
            There is not one object per query.

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
        """Return the first hits as text, by column name."""
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
    """Return the reported hits, sorted. Raises InputError for a model without the requested cutoffs."""
    return Hits(**verdicts(found, thresholds))
