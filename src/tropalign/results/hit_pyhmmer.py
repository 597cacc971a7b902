"""Conversion of hits from and to pyhmmer's objects.

pyhmmer stores a hit as HMMER does and exposes it completely when pickled: big-endian bytes, first the hit, then its
domains, each followed by its alignment.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from tropalign.ragged import offsets_of
from tropalign.results.found_hits import (
    DOMAIN_COLUMNS,
    FILTERS,
    HIT_COLUMNS,
    LINES,
    TEXTS,
    FoundHits,
    JudgedHits,
    Query,
    annotation_line,
    of_all_queries,
)
from tropalign.results.hit import Domain, Hit
from tropalign.results.threshold_options import Cutoffs, Thresholds
from tropalign.sequences.texts import decoded

#: A hit: size, window, sort key; scores, logarithms of P-values; expected domains; counts, flags, counts and the
#: best domain; index and start of a window; flags of the texts after the name.
_HIT = struct.Struct(">Iid3f3df9iqqB")
#: A domain: size; envelope, alignment, reading frame; scores; logarithm of the P-value; two flags, number of scores
#: per column.
_DOMAIN = struct.Struct(">I6q5fd2iI")
#: An alignment: size, columns, first and last node, number of nodes; first and last residue, number of residues;
#: flags of the lines.
_ALIGNMENT = struct.Struct(">IIIIIqqqB")
_ACCESSION, _DESCRIPTION = 1, 2
_REFERENCE, _MASK, _STRUCTURE, _POSTERIOR, _TARGET, _CODONS = (1 << k for k in range(6))
_INCLUDED, _REPORTED = 1, 2
#: HMMER's flags of score cutoffs, which all models must have.
_CUTOFFS: dict[Cutoffs | None, int] = {"gathering": 1 << 10, "trusted": 1 << 11, "noise": 1 << 12}


#: Models of a scan and their indices, by name.
_Models = dict[str, tuple[int, Query]]


class _Reader:
    """Sequential reader of the bytes of a hit."""

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


def _add_hit(columns: dict[str, list[Any]], models: _Models | None, data: bytes) -> None:
    """Read a hit with its domains and their alignments; for a scan, add its model to `models`, by name."""
    reader = _Reader(data)
    numbers = reader.numbers(_HIT)
    (n_domains, _, _, _, best), texts = numbers[14:19], numbers[21]
    name = decoded(reader.text())
    accession, description = (decoded(reader.text()) if texts & mark else "" for mark in (_ACCESSION, _DESCRIPTION))
    for _ in range(n_domains):
        domain = reader.numbers(_DOMAIN)
        reader.at += 4 * domain[15]  # skip a score per column
        _, n_columns, first, last, n_nodes, _, _, n_residues, lines = reader.numbers(_ALIGNMENT)
        there = {mark: reader.text() for mark in (_REFERENCE, _MASK, _STRUCTURE) if lines & mark}
        model, match = reader.text(), reader.text()
        there |= {mark: reader.text() for mark in (_TARGET, _CODONS, _POSTERIOR) if lines & mark}
        for _ in range(6):  # names, accessions and descriptions of both
            reader.text()
        # Envelope, alignment, nodes; scores and the logarithm of the P-value.
        of_domain = (domain[1] - 1, domain[2], domain[3] - 1, domain[4], first - 1, last, *domain[7:13])
        of_lines = (model, match, there[_TARGET], there.get(_POSTERIOR, b"." * n_columns))
        for column, value in zip((*DOMAIN_COLUMNS, *LINES), (*of_domain, *of_lines), strict=True):
            columns[column].append(value)
    target, length = -1, n_residues
    if models is not None:
        models.setdefault(name, (len(models), Query(name, n_nodes, accession, description)))
        target, length = models[name][0], n_nodes
    row = (0, target, length, *numbers[3:10], *numbers[10:14], best)
    for column, value in zip((*HIT_COLUMNS, *TEXTS), (*row, name, accession, description), strict=True):
        columns[column].append(value)
    columns["n_domains"].append(n_domains)


def found_of(top_hits: Any, models: _Models | None = None) -> FoundHits:
    """Return the hits of one query, including those that pyhmmer stores but does not report.

    models: those of earlier queries of a scan; new ones are added.
    """
    state = top_hits.__getstate__()
    counts, is_scan = state["pipeline"], top_hits.mode == "scan"
    models = {} if models is None else models
    columns: dict[str, list[Any]] = {name: [] for name in (*HIT_COLUMNS, *DOMAIN_COLUMNS, *TEXTS, *LINES, "n_domains")}
    for k in state["hit"]:
        _add_hit(columns, models if is_scan else None, bytes(state["unsrt"][k]))
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
        models=dict(models[name] for name in columns["names"]) if is_scan else {},
        **arrays,
    )


def _query(query: Any) -> Query:
    """Convert pyhmmer's query, a model or a sequence."""
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
    return decoded(value) if isinstance(value, bytes) else value or ""


def _thresholds(own: dict[str, Any]) -> Thresholds:
    """Return the thresholds of a pipeline."""
    space = {name: own[name] for name in ("Z", "domZ") if own[f"{name}_setby"]}
    if own["use_bit_cutoffs"]:
        kinds = {number: kind for kind, number in _CUTOFFS.items()}
        return Thresholds(bit_cutoffs=kinds[own["use_bit_cutoffs"]], **space)
    return Thresholds(
        E=own["E"],
        T=None if own["by_E"] else own["T"],
        domE=own["domE"],
        domT=None if own["dom_by_E"] else own["domT"],
        incE=own["incE"],
        incT=None if own["inc_by_E"] else own["incT"],
        incdomE=own["incdomE"],
        incdomT=None if own["incdom_by_E"] else own["incdomT"],
        **space,
    )


def found_in(top_hits: Any) -> tuple[FoundHits, Thresholds]:
    """Convert a pyhmmer.plan7.TopHits, or several with a query each, to hits and their thresholds.

    Raises ValueError if there are no TopHits, or for a scan by the cutoffs of its models.
    """
    several = [top_hits] if hasattr(top_hits, "included") else list(top_hits)
    if not several:
        raise ValueError("there are no TopHits: give at least one")
    thresholds = _thresholds(several[0].__getstate__()["pipeline"])
    if thresholds.bit_cutoffs and several[0].mode == "scan":
        raise ValueError("pyhmmer does not keep the cutoffs of a scan's models: scan by scores or E-values")
    models: _Models = {}
    return of_all_queries([found_of(one, models) for one in several]), thresholds


def top_hits_of(hits: JudgedHits, queries: Iterable[Any]) -> list[Any]:
    """Return a pyhmmer.plan7.TopHits per query with its reported hits; ValueError unless there is one object per query.

    queries: pyhmmer's objects, since its results refer to their query: HMMs, or digital sequences in a scan.
    """
    from pyhmmer.easel import VectorU8
    from pyhmmer.plan7 import TopHits

    objects = list(queries)
    if len(objects) != len(hits.queries):
        raise ValueError(f"{len(objects)} objects for {len(hits.queries)} queries: give one pyhmmer object per query")
    bounds = np.searchsorted(hits.query, np.arange(len(objects) + 1)).tolist()
    found = []
    for index, query in enumerate(objects):
        rows = range(bounds[index], bounds[index + 1])
        made = TopHits(query)
        packed = [VectorU8(bytearray(_packed_hit(Hit(hits, row)))) for row in rows]
        counts = {
            "N": len(rows),
            "Nalloc": max(len(rows), 1),
            "nreported": len(rows),
            "nincluded": int(hits.is_included[rows.start : rows.stop].sum()),
        }
        made.__setstate__(
            {
                "_empty": False,
                "unsrt": packed,
                "hit": list(range(len(rows))),
                "is_sorted_by_sortkey": True,
                "is_sorted_by_seqidx": False,
                "pipeline": _pipeline(hits, index),
                **counts,
            }
        )
        found.append(made)
    return found


def _pipeline(hits: JudgedHits, index: int) -> dict[str, Any]:
    """Return the state of the pipeline that found the hits of a query."""
    chosen, is_search = hits.thresholds, hits.orientation == "search"
    own, others = hits.queries[index].length, hits.n_target_residues
    counts = dict(zip(("msv", "bias", "vit", "fwd"), hits.n_passed[index].tolist(), strict=True))
    return {
        **{name: getattr(chosen, name) for name in ("E", "domE", "incE", "incdomE")},
        **{name: getattr(chosen, name) or 0.0 for name in ("T", "domT", "incT", "incdomT")},
        "by_E": chosen.T is None,
        "dom_by_E": chosen.domT is None,
        "inc_by_E": chosen.incT is None,
        "incdom_by_E": chosen.incdomT is None,
        "use_bit_cutoffs": _CUTOFFS.get(chosen.bit_cutoffs, 0),
        "Z": hits.Z,
        "domZ": float(hits.domZ[index]),
        "Z_setby": int(chosen.Z is not None),
        "domZ_setby": int(chosen.domZ is not None),
        **{"do_max": False, "F1": 0.02, "F2": 1e-3, "F3": 1e-5, "B1": -1, "B2": -1, "B3": -1},
        **{"do_biasfilter": True, "do_null2": True, "n_output": 0, "pos_output": 0},
        "nmodels": 1 if is_search else hits.n_targets,
        "nseqs": hits.n_targets if is_search else 1,
        "nres": others if is_search else own,
        "nnodes": own if is_search else others,
        **{f"n_past_{name}": n for name, n in counts.items()},
        **{f"pos_past_{name}": 0 for name in counts},
        **{"mode": 0 if is_search else 1, "long_targets": False, "strands": 0, "W": -1, "block_length": 0},
    }


def _packed_hit(hit: Hit) -> bytes:
    hits, k = hit.hits, hit.index
    texts = [_zero_ended(hit.name)]
    marks = 0
    for mark, text in ((_ACCESSION, hit.accession), (_DESCRIPTION, hit.description)):
        if text:
            marks |= mark
            texts.append(_zero_ended(text))
    key = hit.bits if hits.thresholds.sorts_by_score else -hit.log_p
    scores = [float(getattr(hits, name)[k]) for name in ("bits", "pre_bits", "sum_bits")]
    logs = [float(getattr(hits, name)[k]) for name in ("log_p", "pre_log_p", "sum_log_p")]
    found = [int(getattr(hits, name)[k]) for name in ("n_regions", "n_clustered", "n_overlaps", "n_envelopes")]
    flags = _REPORTED | (_INCLUDED if hit.is_included else 0)
    counts = [int(hits.n_domains[k]), flags, int(hits.n_reported[k]), int(hits.n_included[k])]
    numbers = (key, *scores, *logs, float(hits.n_expected[k]), *found, *counts, int(hits.best_domain[k]), 0, 0, marks)
    size = _HIT.size + sum(map(len, texts))
    return b"".join([_HIT.pack(size, 0, *numbers), *texts, *map(_packed_domain, hit.domains)])


def _packed_domain(domain: Domain) -> bytes:
    hits, d = domain.hit.hits, domain.index
    (begin, end), (first, last) = domain.envelope, domain.span
    names = ("envelope_nats", "correction_nats", "bias_nats", "expected_accuracy", "bits", "log_p")
    values = [float(getattr(hits, f"domain_{name}")[d]) for name in names]
    spans = (begin + 1, end, first + 1, last, 0, 0)
    head = _DOMAIN.pack(_DOMAIN.size, *spans, *values, domain.is_reported, domain.is_included, 0)
    hit, model, lines = domain.hit, domain.hit.model, domain.lines
    (begin, end), (first, last) = domain.span, domain.model_span
    is_search = hit.hits.orientation == "search"
    marks, texts = _POSTERIOR | _TARGET, []
    for mark, annotation in ((_REFERENCE, model.reference), (_STRUCTURE, model.structure)):
        if annotation is not None:
            marks |= mark
            texts.append(annotation_line(annotation, lines["model_line"], first))
    query = (hit.query.name, hit.query.accession, hit.query.description)
    target = (hit.name, hit.accession, hit.description)
    data = b"".join(map(_zero_ended, [*texts, *lines.values(), *(query + target if is_search else target + query)]))
    n_residues = hit.length if is_search else hit.query.length
    numbers = (len(lines["model_line"]), first + 1, last, model.length, begin + 1, end, n_residues, marks)
    return head + _ALIGNMENT.pack(_ALIGNMENT.size + len(data), *numbers) + data


def _zero_ended(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape") + b"\0"
