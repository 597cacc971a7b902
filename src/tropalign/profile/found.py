"""What native code finds in a tile, as rows of hits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tropalign.profile.models import Model
from tropalign.profile.sources import Models
from tropalign.profile.targets import Proteins
from tropalign.results.found_hits import DOMAIN_COLUMNS, HIT_COLUMNS, LINES, FoundHits, Query, chosen
from tropalign.results.threshold_options import Thresholds
from tropalign.results.thresholds import is_kept


def query_of(model: Model) -> Query:
    """What hits tell of their model."""
    return Query(
        model.name,
        model.length,
        model.accession,
        model.description,
        model.gathering,
        model.trusted,
        model.noise,
        model.reference,
        model.structure,
    )


def found_hits(
    raw: dict[str, Any], models: Models, sequences: Proteins, orientation: str, thresholds: Thresholds
) -> FoundHits:
    """The hits of a tile by query, those left out that no number of further targets lets be reported.

    Parameters
    ----------
    raw
        Of ``_native.search_block``.
    orientation
        "search": models are queries; "scan": sequences are.
    """
    model, target = raw["model"], raw["target"]
    columns = {name: raw[name] for name in (*HIT_COLUMNS, *DOMAIN_COLUMNS, *LINES) if name in raw}
    columns |= {name: raw[name] for name in ("domain_offsets", "line_offsets")}
    n_queries = len(models if orientation == "search" else sequences)
    columns["widths"] = np.zeros((n_queries, 3), np.int64)  # are known when all targets have been searched
    columns["n_passed"] = raw["passed_by_model" if orientation == "search" else "passed_by_target"]
    sides = (
        _search(model, target, models, sequences)
        if orientation == "search"
        else _scan(model, target, models, sequences)
    )
    found = FoundHits(**columns | sides, orientation=orientation)
    order = np.lexsort((found.target, found.query))
    if not (keeps := is_kept(found, thresholds)).all() or (order[1:] < order[:-1]).any():
        found = FoundHits(**chosen(found, order[keeps[order]]))
    return found


def _search(model: Any, target: Any, models: Models, sequences: Proteins) -> dict[str, Any]:
    rows = target.tolist()
    return {
        "queries": tuple(map(query_of, models.items)),
        "first_query": models.first,
        "query": model,
        "target": target.astype(np.int64) + sequences.first,
        "length": sequences.lengths[target].astype(np.int32),
        "n_targets": len(sequences),
        "n_target_residues": len(sequences.codes),
        "names": tuple(sequences.names[k] for k in rows),
        "accessions": ("",) * len(rows),
        "descriptions": tuple(sequences.descriptions[k] for k in rows),
    }


def _scan(model: Any, target: Any, models: Models, sequences: Proteins) -> dict[str, Any]:
    rows = [models.items[k] for k in model.tolist()]
    lengths = sequences.lengths.tolist()
    return {
        "queries": tuple(
            Query(name, length, "", text)
            for name, text, length in zip(sequences.names, sequences.descriptions, lengths, strict=True)
        ),
        "first_query": sequences.first,
        "query": target,
        "target": model.astype(np.int64) + models.first,
        "length": np.array([row.length for row in rows], np.int32),
        "n_targets": len(models),
        "n_target_residues": sum(item.length for item in models.items),
        "names": tuple(row.name for row in rows),
        "accessions": tuple(row.accession for row in rows),
        "descriptions": tuple(row.description for row in rows),
        "models": {models.first + k: query_of(models.items[k]) for k in np.unique(model).tolist()},
    }
