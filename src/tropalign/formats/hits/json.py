"""Hits with their domains and alignments as JSON: one object with a line per query."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import IO, Any

from tropalign.formats.format import Codec, Header
from tropalign.formats.hits.context import HitsContext, QueryHits, queries_of
from tropalign.formats.hits.parts import ASSEMBLED_WITH, assembled_by, encode
from tropalign.results.found_hits import FILTERS
from tropalign.results.hit import Domain, Hit
from tropalign.results.hits import Hits

#: Fields of a query that are not annotation of a model.
_QUERY = ("name", "accession", "description", "length")


def _number(value: float) -> float | None:
    """Return a number, or None if JSON cannot hold it."""
    return value if math.isfinite(value) else None


def _domain(domain: Domain) -> dict[str, Any]:
    numbers = ("bits", "bias", "c_evalue", "i_evalue", "log_p", "accuracy")
    return {
        **{name: _number(getattr(domain, name)) for name in numbers},
        "is_reported": domain.is_reported,
        "is_included": domain.is_included,
        "model": domain.model_span,
        "sequence": domain.span,
        "envelope": domain.envelope,
        **domain.lines,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        **{name: getattr(hit, name) for name in _QUERY},
        "target": hit.target,
        **{name: _number(getattr(hit, name)) for name in ("evalue", "bits", "bias", "log_p")},
        "is_included": hit.is_included,
        "n_expected": _number(float(hit.hits.n_expected[hit.index])),
        "best_domain": hit.best_domain.number,
        "domains": [_domain(domain) for domain in hit.domains],
    }


def _query(found: QueryHits) -> dict[str, Any]:
    hits = found.hits
    return {
        **{name: getattr(found.query, name) for name in _QUERY},
        "n_targets": hits.n_targets,
        "n_passed": dict(zip(FILTERS, hits.n_passed[found.index].tolist(), strict=True)),
        "Z": hits.Z,
        "domZ": float(hits.domZ[found.index]),
        "hits": [_hit(hits[row]) for row in found.rows],
    }


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write the search settings, then the queries."""
    notes = {
        "tropalign": header.version,
        "command": header.command,
        "orientation": context.orientation,
        "thresholds": context.thresholds.values(),
    }
    out.write(json.dumps(notes)[:-1].encode() + b', "queries": [')
    separator = b"\n"
    for query in queries_of(pieces):
        out.write(separator + json.dumps(_query(query)).encode())
        separator = b",\n"
    out.write(b"\n]}\n")


JSON = Codec(encode, assembled_by(write), assembled_with=ASSEMBLED_WITH)
