"""Web report of hits: domains along sequences, coverage of models, a table, alignments on a click."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.formats.format import Codec, Header
from tropalign.formats.hits.context import ASSEMBLED_WITH, HitsContext, assembled_by, encode
from tropalign.formats.pages import Report, write_report_page
from tropalign.results.found_hits import LINES
from tropalign.results.hits import Hits

PAGE = "hits"
SCRIPTS = ("architecture.js", "coverage.js", "domains.js", "hits.js")
#: Limits of a page; beyond these, it shows the hits with the lowest E-values.
MOST_HITS, MOST_LETTERS = 200_000, 32 << 20
#: Columns of reported domains.
DOMAINS = (
    *("domain_c_evalue", "domain_i_evalue", "domain_bits", "domain_bias", "domain_accuracy"),
    *("domain_model_begin", "domain_model_end", "domain_begin", "domain_end"),
    *("domain_envelope_begin", "domain_envelope_end"),
)
Arrays = dict[str, NDArray[Any]]


class Named:
    """Models or sequences of hits, numbered in order of appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.lengths: list[int] = []
        self.descriptions: list[str] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable, name: str, length: int, description: str) -> int:
        """Return the number of the model or sequence with this key; a new one is added."""
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == len(self.names):
            self.names.append(name)
            self.lengths.append(length)
            self.descriptions.append(description)
        return number


def kept(pieces: Iterator[Hits]) -> tuple[list[Hits], dict[str, int]]:
    """Return the hits on the page, and the total numbers of queries, hits and targets."""
    waiting: list[Hits] = []
    found = {"n_queries": 0, "n_hits": 0, "n_targets": 0}
    for hits in pieces:
        found["n_queries"] += len(hits.queries)
        found["n_hits"] += len(hits)
        found["n_targets"] = max(found["n_targets"], hits.n_targets)
        if len(hits):
            waiting.append(hits)
        many = sum(map(len, waiting)) > 2 * MOST_HITS
        if many or sum(len(piece.model_line) for piece in waiting) > 2 * MOST_LETTERS:
            waiting = _best(waiting)  # hits dropped now would not be kept at the end either
    return _best(waiting), found


def _best(pieces: list[Hits]) -> list[Hits]:
    """Choose the hits with the lowest E-values that fit on the page, and keep their order."""
    sizes = [np.diff(piece.line_offsets[piece.domain_offsets]) for piece in pieces]
    letters = np.concatenate([*sizes, np.zeros(0, np.int64)])
    if len(letters) <= MOST_HITS and letters.sum() <= MOST_LETTERS:
        return pieces
    order = np.argsort(np.concatenate([piece.evalue for piece in pieces]), kind="stable")[:MOST_HITS]
    is_kept = np.zeros(len(letters), bool)
    is_kept[order[np.cumsum(letters[order]) <= MOST_LETTERS]] = True
    ends = np.cumsum([len(piece) for piece in pieces])
    return [piece.take(mask) for piece, mask in zip(pieces, np.split(is_kept, ends[:-1]), strict=True)]


def _columns(hits: Hits, models: Named, sequences: Named) -> Arrays:
    """Return columns of some hits and of their reported domains."""
    is_search = hits.orientation == "search"
    numbers = []
    for k, query in enumerate(hits.query.tolist()):
        model, asked = hits.model(k), hits.queries[query]
        target = int(hits.target[k])
        of_query, of_target = hits.first_query + query, target if target >= 0 else hits.names[k]
        about = (hits.names[k], int(hits.length[k]), hits.descriptions[k])
        keys = (of_query, of_target) if is_search else (of_target, of_query)
        sequence = about if is_search else (asked.name, asked.length, asked.description)
        named = models.number(keys[0], model.name, model.length, model.description)
        numbers.append((named, sequences.number(keys[1], *sequence)))
    model_index, sequence_index = np.array(numbers, np.int64).reshape(-1, 2).T
    shown = np.flatnonzero(hits.domain_is_reported)
    arrays: Arrays = {
        "model_index": model_index,
        "sequence_index": sequence_index,
        "evalue": hits.evalue,
        "bits": hits.bits,
        "bias": hits.bias,
        "is_included": hits.is_included.astype(np.uint8),
        "n_domains": hits.n_reported,
        "domain_is_included": hits.domain_is_included[shown].astype(np.uint8),
    }
    arrays |= {name: np.asarray(getattr(hits, name))[shown] for name in DOMAINS}
    arrays["line_sizes"] = np.diff(hits.line_offsets)[shown]
    lines = ragged.gathered([getattr(hits, name) for name in LINES], hits.line_offsets, shown)
    return arrays | dict(zip(LINES, lines, strict=True))


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write the page."""
    chosen, counts = kept(pieces)
    models, sequences = Named(), Named()
    tables = [_columns(hits, models, sequences) for hits in chosen]
    names = ("model_index", "sequence_index", "evalue", "bits", "bias", "is_included", "n_domains")
    empty = (*names, "domain_is_included", *DOMAINS, "line_sizes", *LINES)
    tables = tables or [{name: np.zeros(0) for name in empty}]
    arrays = {name: np.concatenate([table.pop(name) for table in tables]) for name in list(tables[0])}
    data = {
        "orientation": context.orientation,
        "models": {"names": models.names, "lengths": models.lengths, "descriptions": models.descriptions},
        "sequences": {"names": sequences.names, "lengths": sequences.lengths, "descriptions": sequences.descriptions},
        **counts,
    }
    write_report_page(out, Report(PAGE, SCRIPTS, "Domains found", data, arrays), header)


HTML = Codec(encode, assembled_by(write), assembled_with=ASSEMBLED_WITH, is_binary=True, needs_all=True)
