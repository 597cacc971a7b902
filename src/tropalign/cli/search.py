"""``tropalign search``: profile HMMs against protein sequences."""

from __future__ import annotations

import argparse
from typing import Any

from tropalign.cli.hit_options import add_options, check_usage, run_hits

EXAMPLE = """example:
  tropalign search globins4.hmm proteins.fa.gz --tblout hits.tbl
  tropalign search Pfam-A.hmm proteome.fa --cut_ga -o /dev/null --domtblout domains.domtbl
  tropalign search kinase.hmm proteins.fa -E 1e-5 -o hits.parquet

Hits, scores and E-values are those of hmmsearch 3.4, to the last digit. Exit codes: 0 done, 2 usage, 3 bad input,
4 memory, disk or device, 130 interrupted."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "search",
        help="find the members of protein families: profile HMMs against sequences",
        description="Compares each model with all sequences and reports those that belong to its family, as hmmsearch "
        "of HMMER 3.4 does, several times faster.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    add_options(parser, "target")
    parser.set_defaults(run=run, parser=parser, check=check_usage)


def run(options: argparse.Namespace) -> None:
    """Searches."""
    run_hits(options, "search")
