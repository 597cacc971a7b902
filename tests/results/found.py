"""Found hits that are made up."""

import numpy as np

from tropalign.ragged import offsets_of
from tropalign.results.found_hits import DOMAIN_COLUMNS, HIT_COLUMNS, LINES, FoundHits, Query


def made_found(rows, n_targets=100, queries=None, orientation="search", models=None):
    """Hits of (name, fields of the hit, list of fields per domain); what is not named is 0, and a domain 1 to 5."""
    columns = {name: np.zeros(len(rows), dtype) for name, dtype in HIT_COLUMNS.items()}
    domains = [domain for _, _, own in rows for domain in own]
    columns |= {name: np.zeros(len(domains), dtype) for name, dtype in DOMAIN_COLUMNS.items()}
    for column, value in (("domain_begin", 0), ("domain_end", 5), ("domain_envelope_end", 5)):
        columns[column][:] = value
    for k, (_, fields, _) in enumerate(rows):
        columns["target"][k] = k
        for name, value in fields.items():
            if name != "accession":
                columns[name][k] = value
    for d, fields in enumerate(domains):
        for name, value in fields.items():
            columns[f"domain_{name}"][d] = value
    queries = queries or (Query("q", 7),)
    return FoundHits(
        queries=queries,
        orientation=orientation,
        n_targets=n_targets,
        n_target_residues=10 * n_targets,
        n_passed=np.zeros((len(queries), 4), np.int64),
        names=tuple(name for name, _, _ in rows),
        accessions=tuple(fields.get("accession", "") for _, fields, _ in rows),
        descriptions=("",) * len(rows),
        domain_offsets=offsets_of(np.array([len(own) for _, _, own in rows], np.int64)),
        line_offsets=5 * np.arange(len(domains) + 1),
        models=models or {},
        **dict.fromkeys(LINES, np.full(5 * len(domains), ord("A"), np.uint8)),
        **columns,
    )
