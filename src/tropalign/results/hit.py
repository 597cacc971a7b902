"""The classes `Hit` and `Domain`: views of a row of `Hits` and of one of its domains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tropalign.errors import shown
from tropalign.results.columns import Result
from tropalign.results.found_hits import Query

if TYPE_CHECKING:
    from tropalign.results.hits import Hits

#: Alignment columns per line.
TEXT_WIDTH = 60
#: Bits per nat, HMMER's constant.
BITS = 1.44269504088896341


@dataclass(frozen=True, eq=False, repr=False)
class Domain(Result):
    """A domain of a hit: one alignment of the model to the sequence; `number` counts from 0 among the hit's domains."""

    hit: Hit
    number: int

    @property
    def index(self) -> int:
        """Row in the columns of domains."""
        return int(self.hit.hits.domain_offsets[self.hit.index]) + self.number

    def _value(self, column: str) -> float:
        return getattr(self.hit.hits, f"domain_{column}")[self.index].item()  # type: ignore[no-any-return]

    @property
    def bits(self) -> float:
        """Score in bits, corrected for biased composition."""
        return self._value("bits")

    @property
    def bias(self) -> float:
        """Correction of the score for biased composition, in bits."""
        return self._value("bias_nats") * BITS

    @property
    def log_p(self) -> float:
        """Logarithm of the P-value."""
        return self._value("log_p")

    @property
    def c_evalue(self) -> float:
        """Conditional E-value, given that the target is a hit: among `domZ` targets."""
        return float(self.hit.hits.domain_c_evalue[self.index])

    @property
    def i_evalue(self) -> float:
        """Independent E-value, as if this were the target's only domain: among `Z` targets."""
        return float(self.hit.hits.domain_i_evalue[self.index])

    @property
    def model_span(self) -> tuple[int, int]:
        """Aligned nodes of the model, 0-based, half-open."""
        return int(self._value("model_begin")), int(self._value("model_end"))

    @property
    def span(self) -> tuple[int, int]:
        """Aligned residues of the sequence, 0-based, half-open."""
        return int(self._value("begin")), int(self._value("end"))

    @property
    def envelope(self) -> tuple[int, int]:
        """Range of the sequence in which the domain may lie, 0-based, half-open."""
        return int(self._value("envelope_begin")), int(self._value("envelope_end"))

    @property
    def accuracy(self) -> float:
        """Expected share of the envelope's residues that are aligned correctly."""
        begin, end = self.envelope
        return self._value("expected_accuracy") / (end - begin)

    @property
    def is_reported(self) -> bool:
        """True if its E-value or score passes the reporting threshold."""
        return bool(self._value("is_reported"))

    @property
    def is_included(self) -> bool:
        """True if it passes the inclusion threshold."""
        return bool(self._value("is_included"))

    @property
    def lines(self) -> dict[str, str]:
        """The alignment: `model_line`, `match_line`, `target_line`, `posterior_line`, a character per column."""
        return self.hit.hits.domain_lines(self.index)

    def __repr__(self) -> str:
        return domain_title(self)

    def __str__(self) -> str:
        return domain_text(self)


@dataclass(frozen=True, eq=False, repr=False)
class Hit(Result):
    """A target with a match to a query (in a scan, a model with a match in the query); `index` is the row of `hits`."""

    hits: Hits
    index: int

    @property
    def query(self) -> Query:
        """The query of this hit."""
        return self.hits.queries[int(self.hits.query[self.index])]

    @property
    def model(self) -> Query:
        """The model: the query, or the target in a scan."""
        return self.hits.model(self.index)

    @property
    def name(self) -> str:
        """Name of the target."""
        return self.hits.names[self.index]

    @property
    def accession(self) -> str:
        """Accession of the target; empty if missing."""
        return self.hits.accessions[self.index]

    @property
    def description(self) -> str:
        """Description of the target; empty if missing."""
        return self.hits.descriptions[self.index]

    @property
    def length(self) -> int:
        """Length of the target in residues, or in nodes in a scan."""
        return int(self.hits.length[self.index])

    @property
    def target(self) -> int:
        """Index of the target, from 0; -1 if unknown."""
        return int(self.hits.target[self.index])

    @property
    def bits(self) -> float:
        """Score of the full target in bits, corrected for biased composition."""
        return float(self.hits.bits[self.index])

    @property
    def bias(self) -> float:
        """Correction of the score for biased composition, in bits."""
        return float(self.hits.pre_bits[self.index] - self.hits.bits[self.index])

    @property
    def log_p(self) -> float:
        """Logarithm of the P-value."""
        return float(self.hits.log_p[self.index])

    @property
    def evalue(self) -> float:
        """Expected number of such hits among `Z` random targets."""
        return float(self.hits.evalue[self.index])

    @property
    def is_included(self) -> bool:
        """True if it passes the inclusion threshold."""
        return bool(self.hits.is_included[self.index])

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Domains in the order of the target, including unreported ones."""
        return tuple(Domain(self, number) for number in range(int(self.hits.n_domains[self.index])))

    @property
    def best_domain(self) -> Domain:
        """The domain with the highest score."""
        return Domain(self, int(self.hits.best_domain[self.index]))

    def _content(self) -> dict[str, Any]:
        """Return the visible values, independent of the table that contains the hit."""
        numbers = (self.name, self.accession, self.description, self.length, self.bits, self.bias, self.evalue)
        lines = [(each.span, each.envelope, each.bits, each.i_evalue, each.lines) for each in self.domains]
        return {"query": self.query, "numbers": numbers, "is_included": self.is_included, "domains": lines}

    def __repr__(self) -> str:
        return hit_title(self)

    def __str__(self) -> str:
        return hit_text(self)


def hit_title(hit: Hit) -> str:
    """Return one line with names, E-value, score and the number of domains."""
    n = int(hit.hits.n_reported[hit.index])
    found = f"{shown(hit.query.name)} x {shown(hit.name)}: E-value {hit.evalue:.2g}, {hit.bits:.1f} bits"
    return f"{found}, {n} domain{'s' * (n != 1)}"


def domain_title(domain: Domain) -> str:
    """Return one line with names, positions, E-value and score."""
    hit, (begin, end), (first, last) = domain.hit, domain.span, domain.model_span
    sequence = hit.name if hit.hits.orientation == "search" else hit.query.name
    return (
        f"{shown(hit.model.name)} {first}-{last} x {shown(sequence)} {begin}-{end}: "
        f"E-value {domain.i_evalue:.2g}, {domain.bits:.1f} bits"
    )


def hit_text(hit: Hit) -> str:
    """Return the ``print`` text: the title, then the reported domains."""
    return "\n\n".join([hit_title(hit), *(domain_text(domain) for domain in hit.domains if domain.is_reported)])


def domain_text(domain: Domain) -> str:
    """Return the ``print`` text: the title, then the alignment if present."""
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
