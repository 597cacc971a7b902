"""Hits from and to pyhmmer's objects.

pyhmmer keeps a hit as HMMER does, and gives it away whole where it is pickled: bytes in network order, the hit first,
then its domains, each followed by its alignment.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tropalign.results.found_hits import (
    DOMAIN_COLUMNS,
    FILTERS,
    HIT_COLUMNS,
    LINES,
    TEXTS,
    FoundHits,
    Query,
    of_all_queries,
)
from tropalign.results.hits import Hits, judged
from tropalign.results.ragged import offsets_of
from tropalign.results.thresholds import Thresholds

#: A hit: size, window, sort key; scores, logarithms of P-values; expected domains; counts, flags, counts and the best
#: domain; index and begin of a window; which texts follow the name.
_HIT = struct.Struct(">Iid3f3df9iqqB")
#: A domain: size; envelope, alignment, reading frame; scores; logarithm of the P-value; two flags, scores per column.
_DOMAIN = struct.Struct(">I6q5fd2iI")
#: An alignment: size, columns, nodes from and to, nodes in all; residues from and to, residues in all; which lines.
_ALIGNMENT = struct.Struct(">IIIIIqqqB")
_ACCESSION, _DESCRIPTION = 1, 2
_REFERENCE, _MASK, _STRUCTURE, _POSTERIOR, _TARGET, _CODONS = (1 << k for k in range(6))
_INCLUDED, _REPORTED = 1, 2
#: Numbers of HMMER's score cutoffs.
_CUTOFFS = dict(zip(("gathering", "trusted", "noise"), (1, 2, 3), strict=True))


class _Reader:
    """Goes through the bytes of a hit."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, layout: struct.Struct) -> tuple[Any, ...]:
        values = layout.unpack_from(self.data, self.at)
        self.at += layout.size
        return values

    def text(self) -> bytes:
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end]
        self.at = end + 1
        return found


def _add_hit(columns: dict[str, list[Any]], models: dict[int, Query], data: bytes, is_scan: bool) -> None:
    reader = _Reader(data)
    _, _, _, bits, pre_bits, sum_bits, log_p, pre_log_p, sum_log_p, expected, *rest = reader.numbers(_HIT)
    n_regions, n_clustered, n_overlaps, n_envelopes, n_domains, _, _, _, best, _, _, texts = rest
    name = reader.text().decode("utf-8", "replace")
    accession, description = (
        reader.text().decode("utf-8", "replace") if texts & mark else "" for mark in (_ACCESSION, _DESCRIPTION)
    )
    target = len(models) if is_scan else -1
    for _ in range(n_domains):
        n_nodes, n_residues = _add_domain(columns, reader)
    if is_scan:
        models[target] = Query(name, n_nodes, accession, description)
    scores = (bits, pre_bits, sum_bits, log_p, pre_log_p, sum_log_p, expected)
    row = (
        0,
        target,
        n_nodes if is_scan else n_residues,
        *scores,
        n_regions,
        n_clustered,
        n_overlaps,
        n_envelopes,
        best,
    )
    for column, value in zip((*HIT_COLUMNS, *TEXTS), (*row, name, accession, description), strict=True):
        columns[column].append(value)
    columns["n_domains"].append(n_domains)


def _add_domain(columns: dict[str, list[Any]], reader: _Reader) -> tuple[int, int]:
    """Reads a domain and its alignment; the lengths of model and sequence."""
    _, begin, end, ali_begin, ali_end, _, _, envelope, correction, bias, accuracy, bits, log_p, _, _, n_scores = (
        reader.numbers(_DOMAIN)
    )
    reader.at += 4 * n_scores
    _, n_columns, first, last, n_nodes, _, _, n_residues, lines = reader.numbers(_ALIGNMENT)
    there = {mark: reader.text() for mark in (_REFERENCE, _MASK, _STRUCTURE) if lines & mark}
    model, match = reader.text(), reader.text()
    there |= {mark: reader.text() for mark in (_TARGET, _CODONS, _POSTERIOR) if lines & mark}
    for _ in range(6):  # names, accessions and descriptions of both
        reader.text()
    row = (begin - 1, end, ali_begin - 1, ali_end, first - 1, last, envelope, correction, bias, accuracy, bits, log_p)
    for column, value in zip(DOMAIN_COLUMNS, row, strict=True):
        columns[column].append(value)
    for column, value in zip(
        LINES, (model, match, there[_TARGET], there.get(_POSTERIOR, b"." * n_columns)), strict=True
    ):
        columns[column].append(value)
    return n_nodes, n_residues


def found_of(top_hits: Any) -> FoundHits:
    """The hits of one query, also those that pyhmmer kept and does not report."""
    state = top_hits.__getstate__()
    counts, is_scan = state["pipeline"], top_hits.mode == "scan"
    columns: dict[str, list[Any]] = {name: [] for name in (*HIT_COLUMNS, *DOMAIN_COLUMNS, *TEXTS, *LINES, "n_domains")}
    models: dict[int, Query] = {}
    for k in state["hit"]:
        _add_hit(columns, models, bytes(state["unsrt"][k]), is_scan)
    arrays: dict[str, Any] = {
        name: np.array(columns[name], dtype) for name, dtype in (HIT_COLUMNS | DOMAIN_COLUMNS).items()
    }
    arrays |= {name: np.frombuffer(b"".join(columns[name]), np.uint8) for name in LINES}
    arrays |= {name: tuple(columns[name]) for name in TEXTS}
    past = [[counts[f"n_past_{name}"] for name in ("msv", "bias", "vit", "fwd")]]
    return FoundHits(
        queries=(_query(top_hits.query),),
        orientation="scan" if is_scan else "search",
        n_targets=counts["nmodels"] if is_scan else counts["nseqs"],
        n_target_residues=counts["nnodes"] if is_scan else counts["nres"],
        n_passed=np.array(past, np.int64).reshape(1, len(FILTERS)),
        domain_offsets=offsets_of(np.array(columns["n_domains"], np.int64)),
        line_offsets=offsets_of(np.array([len(line) for line in columns["model_line"]], np.int64)),
        models=models,
        **arrays,
    )


def _query(query: Any) -> Query:
    """What is known of pyhmmer's query: a model or a sequence."""
    cutoffs = getattr(query, "cutoffs", None)
    return Query(
        name=_text(query.name),
        length=query.M if hasattr(query, "M") else len(query),
        accession=_text(query.accession),
        description=_text(query.description),
        gathering=getattr(cutoffs, "gathering", None),
        trusted=getattr(cutoffs, "trusted", None),
        noise=getattr(cutoffs, "noise", None),
        reference=getattr(query, "reference", None),
        structure=getattr(query, "consensus_structure", None),
    )


def _text(value: str | bytes | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""


def hits_of(top_hits: Any) -> Hits:
    """The reported hits of a pyhmmer.plan7.TopHits, or of several, a query each. Raises ValueError for none."""
    several = [top_hits] if hasattr(top_hits, "included") else list(top_hits)
    if not several:
        raise ValueError("there are no TopHits: give one or several")
    own = several[0].__getstate__()["pipeline"]
    kinds = {number: kind for kind, number in _CUTOFFS.items()}
    thresholds = Thresholds(
        E=own["E"],
        T=None if own["by_E"] else own["T"],
        domE=own["domE"],
        domT=None if own["dom_by_E"] else own["domT"],
        incE=own["incE"],
        incT=None if own["inc_by_E"] else own["incT"],
        incdomE=own["incdomE"],
        incdomT=None if own["incdom_by_E"] else own["incdomT"],
        bit_cutoffs=kinds.get(own["use_bit_cutoffs"]),
        Z=own["Z"] if own["Z_setby"] else None,
        domZ=own["domZ"] if own["domZ_setby"] else None,
    )
    return judged(of_all_queries([found_of(one) for one in several]), thresholds)
