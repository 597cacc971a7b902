"""Hits as people read them: text, and HTML for notebooks.

Names come from files, so they are escaped: a terminal obeys no control character in them, a browser no tag.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from tropalign.errors import shown
from tropalign.results import display
from tropalign.results.display import SHOWN_ROWS

if TYPE_CHECKING:
    from tropalign.results.hit import Domain, Hit
    from tropalign.results.hits import Hits

#: Columns of an alignment per line.
TEXT_WIDTH = 60


def hit_title(hit: Hit) -> str:
    """One line: names, E-value, score and the number of domains."""
    n = int(hit.hits.n_reported[hit.index])
    found = f"{shown(hit.query.name)} x {shown(hit.name)}: E-value {hit.evalue:.2g}, {hit.bits:.1f} bits"
    return f"{found}, {n} domain{'s' * (n != 1)}"


def domain_title(domain: Domain) -> str:
    """One line: names, E-value, score and where."""
    hit, (begin, end), (first, last) = domain.hit, domain.span, domain.model_span
    sequence = hit.name if hit.hits.orientation == "search" else hit.query.name
    return (
        f"{shown(hit.model.name)} {first}-{last} x {shown(sequence)} {begin}-{end}: "
        f"E-value {domain.i_evalue:.2g}, {domain.bits:.1f} bits"
    )


def hit_text(hit: Hit) -> str:
    """What ``print`` shows: the title, then the reported domains."""
    return "\n\n".join([hit_title(hit), *(domain_text(domain) for domain in hit.domains if domain.is_reported)])


def domain_text(domain: Domain) -> str:
    """What ``print`` shows: the title, then the alignment where it is there."""
    lines = [domain_title(domain)]
    model, match, target, posterior = domain.lines.values()
    i, j = domain.model_span[0], domain.span[0]
    digits = len(str(max(domain.model_span[1], domain.span[1])))
    for k in range(0, len(model), TEXT_WIDTH):
        part = slice(k, k + TEXT_WIDTH)
        n_model = len(model[part]) - model[part].count(".")
        n_target = len(target[part]) - target[part].count("-")
        lines += [
            "",
            f"model  {i + (n_model > 0):>{digits}} {model[part]} {i + n_model}",
            f"{'':{digits + 7}} {match[part]}",
            f"target {j + (n_target > 0):>{digits}} {target[part]} {j + n_target}",
            f"{'':{digits + 7}} {posterior[part]}",
        ]
        i, j = i + n_model, j + n_target
    return "\n".join(lines)


def title(hits: Hits) -> str:
    """One line: hits, queries and targets."""
    n = len(hits.queries)
    return f"Hits: {len(hits):,} of {n:,} {'query' if n == 1 else 'queries'} in {hits.n_targets:,} targets"


def _first_rows(hits: Hits) -> dict[str, list[str]]:
    """The first hits as text, by the names of the columns."""
    return {
        "query": [shown(hits.queries[k].name) for k in hits.query[:SHOWN_ROWS].tolist()],
        "target": [shown(name) for name in hits.names[:SHOWN_ROWS]],
        "E-value": [f"{value:.2g}" for value in hits.evalue[:SHOWN_ROWS].tolist()],
        "bits": [f"{value:.1f}" for value in hits.bits[:SHOWN_ROWS].tolist()],
        "bias": [f"{value:.1f}" for value in hits.bias[:SHOWN_ROWS].tolist()],
        "domains": [str(value) for value in hits.n_reported[:SHOWN_ROWS].tolist()],
        "included": ["yes" if value else "no" for value in hits.is_included[:SHOWN_ROWS].tolist()],
    }


def table_text(hits: Hits) -> str:
    """What ``repr`` gives: a title, the first hits below the names of the columns, and how many more there are."""
    return display.grid_text(title(hits), _first_rows(hits), len(hits))


def table_html(hits: Hits) -> str:
    """What ``repr`` gives as HTML, with the domains of the hits to unfold."""
    rows = hits[:SHOWN_ROWS] if hits.has_lines else ()
    details = ((hit_title(hit), html.escape(hit_text(hit))) for hit in rows)
    return display.grid_html(title(hits), _first_rows(hits), len(hits), details)
