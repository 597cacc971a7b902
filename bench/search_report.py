"""docs/benchmarks/search.md from the figures of search.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absent import paragraph
from search_stages import STAGES
from tables import table, wrap

import tropalign

if TYPE_CHECKING:
    from search_stages import Row

HEAD = """One thread each, processor time, medians of three alternating runs (only one if it takes more than {slow}
s). hmmsearch runs with --cpu 0; both commands write text, tblout and domtblout. *x* is how many times as fast as
hmmsearch; *differing* is the number of fields of tblout and domtblout, and of counts of targets past each filter,
that differ from hmmsearch's. pyhmmer computes with denormal floats, as it does by default, and writes nothing. `make
bench-search MODELS=DIR` makes this page."""
STAGE_HEAD = """Billions of cells per second (GCUPS; model states times residues), except *bias* (nanoseconds per
residue) and *domains* (Forward, Backward and the domains of hits; seconds). Both sides loop over the same targets in
one process for at least 0.2 s; every score was compared, bit by bit. HMMER's side is its library, called as its
pipeline calls it (bench/hmmer_stages.c). *SSV* is the first filter: SSV, and MSV where SSV has no result. *MSV*:
targets of 90,000 residues, for which no long model has an SSV score. HMMER's unreleased AVX-512 branch (h3-avx) stops
with an error on every model here ("optimized profile is too small"); measured on another machine, its SSV reached
49-103 GCUPS, MSV 11-157, Viterbi 2.7-7.4 and Forward 1.0-1.8 (with other last bits), and its bias filter took 19-24
ns per residue."""
MMSEQS = """MMseqs2 (sensitivity 5.7, its default, --max-seqs 20000) with profiles of the same alignments takes
{seconds:.1f} s for its search alone, and finds {share:.1f} % of the {n:,} pairs of family and protein that hmmsearch
finds with E-values up to 0.001."""


class Outcome(NamedTuple):
    """A run: processor seconds, wall seconds, and the most memory it held."""

    seconds: float
    wall: float
    megabytes: float


class Found(NamedTuple):
    """A search by all tools.

    Attributes
    ----------
    outcomes
        Of `hmmsearch`, of "tropalign, v3" (the command with an instruction set) and "store, v3" (the command with a
        .tdb) for each of these, `python` (a call with a .tdb and the best of them), `pyhmmer`.
    threads
        Of hmmsearch --cpu 2 and tropalign -t 2; empty where the machine had other work.
    """

    title: str
    goal: str
    outcomes: dict[str, Outcome]
    threads: dict[str, Outcome]
    n_hits: int
    n_domains: int
    n_different: int

    def isas(self) -> list[str]:
        """The instruction sets that were measured."""
        return [tool.removeprefix("store, ") for tool in self.outcomes if tool.startswith("store, ")]


def write_report(
    found: list[Found],
    rows: list[Row],
    mmseqs: tuple[Outcome, float, int] | None,
    version: str,
    processor: str,
    about: str,
    not_there: list[str],
    slow: float,
) -> str:
    """The page, in Markdown; `about` says where the data are from, `not_there` which peers are missing."""
    lines = [
        "# Search: speed compared with HMMER",
        "",
        f"Processor: {processor}.",
        "",
        *wrap(HEAD.format(slow=slow)),
        "",
    ]
    lines += [*wrap(f"tropalign {tropalign.__version__}, hmmsearch {version}. {about}"), "", *paragraph(not_there)]
    lines += ["## Whole searches", "", *_searches(found), ""]
    if mmseqs is not None:
        outcome, share, n = mmseqs
        lines += [*wrap(MMSEQS.format(seconds=outcome.seconds, share=100 * share, n=n)), ""]
    lines += ["## Memory and threads", "", *_memory(found), ""]
    if rows:
        lines += ["## Stages", "", *wrap(STAGE_HEAD), "", *_stages(rows), ""]
    return "\n".join(lines)


def ratio(found: Found, tool: str) -> str:
    """How many times as fast as hmmsearch."""
    return f"{found.outcomes['hmmsearch'].seconds / max(found.outcomes[tool].seconds, 1e-9):.1f}x"


def _searches(found: list[Found]) -> list[str]:
    isas = found[0].isas()
    heads = ["search", "hits", "domains", "hmmsearch, s"]
    heads += [head for isa in isas for head in (f"command, s, {isa}", "x")]
    heads += [head for isa in isas for head in (f"with .tdb, s, {isa}", "x")]
    tools = [f"{kind}, {isa}" for kind in ("tropalign", "store") for isa in isas]
    rows = []
    for one in found:
        row = [one.title, f"{one.n_hits:,}", f"{one.n_domains:,}", f"{one.outcomes['hmmsearch'].seconds:.2f}"]
        for tool in (*tools, "python"):
            row += [f"{one.outcomes[tool].seconds:.2f}", ratio(one, tool)]
        rows.append([*row, one.goal, f"{one.outcomes['pyhmmer'].seconds:.2f}", str(one.n_different)])
    return table([*heads, "Python, s", "x", "to reach", "pyhmmer, s", "differing"], rows)


def _memory(found: list[Found]) -> list[str]:
    first = found[0].isas()[0]
    heads = ["search", "hmmsearch, MB", "command, MB", "with .tdb, MB", "hmmsearch --cpu 2, s", "tropalign -t 2, s"]
    rows = []
    for one in found:
        tools = ("hmmsearch", f"tropalign, {first}", f"store, {first}")
        sizes = [f"{one.outcomes[tool].megabytes:.0f}" for tool in tools]
        walls = [f"{one.threads[tool].wall:.2f}" if one.threads else "-" for tool in ("hmmsearch", "tropalign")]
        alone = one.outcomes[f"store, {first}"].wall
        gain = f"{alone / one.threads['tropalign'].wall:.2f}x" if one.threads else "-"
        rows.append([one.title, *sizes, *walls, gain])
    text = f"""Peak memory of one thread; wall time of two, measured where nothing else runs; to reach: 1.9x. All with
        {first}."""
    return [*wrap(text), "", *table([*heads, "2 threads over 1"], rows)]


def _stages(rows: list[Row]) -> list[str]:
    sides = list(dict.fromkeys(side for row in rows for side in row.seconds))
    lines = []
    for row in rows:
        figures = [figure(row, side) for side in sides]
        gains = [f"{row.seconds['HMMER'] / row.seconds[side]:.1f}x" for side in sides[1:] if "HMMER" in row.seconds]
        different = str(row.n_different) if "HMMER" in row.seconds else "-"
        goal = STAGES[row.stage][1]
        lines.append([row.stage, f"{row.model} ({row.n_nodes:,})", *figures, *gains, goal, different])
    gains = [f"x, {side}" for side in sides[1:]] if sides[0] == "HMMER" else []
    return table(["stage", "model (states)", *sides, *gains, "to reach", "differing scores"], lines)


def figure(row: Row, side: str) -> str:
    """What a side reaches, in the stage's unit."""
    seconds = row.seconds[side]
    if row.stage == "domains":
        return f"{seconds:.3f} s"
    if row.stage == "bias":
        return f"{1e9 * seconds / row.n_residues:.1f} ns"
    return f"{row.n_nodes * row.n_residues / seconds / 1e9:.2f}"


def overview_rows(found: list[Found]) -> list[str]:
    """The overview's table: searches, and how long programs take."""
    isas = found[0].isas()
    rows = []
    for one in found:
        row = [one.title, *(f"{one.outcomes[tool].seconds:.2f} s" for tool in ("hmmsearch", "pyhmmer"))]
        own = (f"store, {isa}" for isa in isas)
        row += [f"**{one.outcomes[tool].seconds:.2f} s** ({ratio(one, tool)})" for tool in own]
        rows.append([*row, str(one.n_different)])
    heads = ["", "hmmsearch", "pyhmmer", *(f"**tropalign, {isa}**" for isa in isas), "differing fields"]
    return table(heads, rows)
