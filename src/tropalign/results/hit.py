"""One hit, and one of its domains: views of a row of `Hits`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tropalign.results import hit_display
from tropalign.results.found_hits import Query

if TYPE_CHECKING:
    from tropalign.results.hits import Hits

#: Bits per nat, as HMMER has it.
BITS = 1.44269504088896341


@dataclass(frozen=True, eq=False, repr=False)
class Domain:
    """A domain of a hit: where the model is aligned to the sequence, once.

    Parameters
    ----------
    hit : Hit
    number
        Counted from 0 among all domains of the hit.
    """

    hit: Hit
    number: int

    @property
    def index(self) -> int:
        """The row in the columns of domains."""
        return int(self.hit.hits.domain_offsets[self.hit.index]) + self.number

    def _value(self, column: str) -> float:
        return getattr(self.hit.hits, f"domain_{column}")[self.index].item()  # type: ignore[no-any-return]

    @property
    def bits(self) -> float:
        """The score, corrected for biased composition."""
        return self._value("bits")

    @property
    def bias(self) -> float:
        """That correction, in bits."""
        return self._value("bias_nats") * BITS

    @property
    def log_p(self) -> float:
        """The logarithm of the P-value."""
        return self._value("log_p")

    @property
    def c_evalue(self) -> float:
        """The E-value on the condition that the target is a hit: among `domZ` targets."""
        return float(self.hit.hits.domain_c_evalue[self.index])

    @property
    def i_evalue(self) -> float:
        """The E-value as if this were the target's only domain: among `Z` targets."""
        return float(self.hit.hits.domain_i_evalue[self.index])

    @property
    def model_span(self) -> tuple[int, int]:
        """The nodes that are aligned, from 0, half-open."""
        return int(self._value("model_begin")), int(self._value("model_end"))

    @property
    def span(self) -> tuple[int, int]:
        """The residues of the sequence that are aligned, from 0, half-open."""
        return int(self._value("begin")), int(self._value("end"))

    @property
    def envelope(self) -> tuple[int, int]:
        """Where the domain may lie in the sequence, from 0, half-open."""
        return int(self._value("envelope_begin")), int(self._value("envelope_end"))

    @property
    def accuracy(self) -> float:
        """The expected share of the envelope's residues that are aligned right."""
        begin, end = self.envelope
        return self._value("expected_accuracy") / (end - begin)

    @property
    def is_reported(self) -> bool:
        """Whether its E-value or score passes for reports."""
        return bool(self._value("is_reported"))

    @property
    def is_included(self) -> bool:
        """Whether it is significant."""
        return bool(self._value("is_included"))

    @property
    def lines(self) -> dict[str, str]:
        """The alignment: `model_line`, `match_line`, `target_line`, `posterior_line`, a letter per column."""
        return self.hit.hits.domain_lines(self.index)

    def __repr__(self) -> str:
        return hit_display.domain_title(self)

    def __str__(self) -> str:
        return hit_display.domain_text(self)


@dataclass(frozen=True, eq=False, repr=False)
class Hit:
    """A target in which a query was found; in a scan, a model that was found in the query.

    Parameters
    ----------
    hits : Hits
    index
        The row.
    """

    hits: Hits
    index: int

    @property
    def query(self) -> Query:
        """What was searched with."""
        return self.hits.queries[int(self.hits.query[self.index])]

    @property
    def model(self) -> Query:
        """The model: the query, or in a scan the target."""
        return self.hits.model(self.index)

    @property
    def name(self) -> str:
        """The target's."""
        return self.hits.names[self.index]

    @property
    def accession(self) -> str:
        """The target's; empty where it has none."""
        return self.hits.accessions[self.index]

    @property
    def description(self) -> str:
        """The target's; empty where it has none."""
        return self.hits.descriptions[self.index]

    @property
    def length(self) -> int:
        """Residues of the target, in a scan nodes."""
        return int(self.hits.length[self.index])

    @property
    def target(self) -> int:
        """The number of the target, from 0; -1 where it is not known."""
        return int(self.hits.target[self.index])

    @property
    def bits(self) -> float:
        """The score of the whole target, corrected for biased composition."""
        return float(self.hits.bits[self.index])

    @property
    def bias(self) -> float:
        """That correction, in bits."""
        return float(self.hits.pre_bits[self.index] - self.hits.bits[self.index])

    @property
    def log_p(self) -> float:
        """The logarithm of the P-value."""
        return float(self.hits.log_p[self.index])

    @property
    def evalue(self) -> float:
        """How many such hits `Z` random targets would have."""
        return float(self.hits.evalue[self.index])

    @property
    def is_included(self) -> bool:
        """Whether it is significant."""
        return bool(self.hits.is_included[self.index])

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Domains in the order of the target, also those that are not reported."""
        return tuple(Domain(self, number) for number in range(int(self.hits.n_domains[self.index])))

    @property
    def best_domain(self) -> Domain:
        """The one of the highest score."""
        return Domain(self, int(self.hits.best_domain[self.index]))

    def __repr__(self) -> str:
        return hit_display.hit_title(self)

    def __str__(self) -> str:
        return hit_display.hit_text(self)
