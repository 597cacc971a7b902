"""One hit, and one of its domains: views of a row of `Hits`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tropalign.errors import shown
from tropalign.results.columns import Result
from tropalign.results.found_hits import Query

if TYPE_CHECKING:
    from tropalign.results.hits import Hits

#: Columns of an alignment per line.
TEXT_WIDTH = 60
#: Bits per nat, as HMMER has it.
BITS = 1.44269504088896341


@dataclass(frozen=True, eq=False, repr=False)
class Domain(Result):
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
        return domain_title(self)

    def __str__(self) -> str:
        return domain_text(self)


@dataclass(frozen=True, eq=False, repr=False)
class Hit(Result):
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

    def _content(self) -> dict[str, Any]:
        """What it shows, in whichever table it stands."""
        numbers = (self.name, self.accession, self.description, self.length, self.bits, self.bias, self.evalue)
        lines = [(each.span, each.envelope, each.bits, each.i_evalue, each.lines) for each in self.domains]
        return {"query": self.query, "numbers": numbers, "is_included": self.is_included, "domains": lines}

    def __repr__(self) -> str:
        return hit_title(self)

    def __str__(self) -> str:
        return hit_text(self)


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
