"""``tropalign scan``: protein sequences against a library of profile HMMs."""

from __future__ import annotations

import argparse
from typing import Any

from tropalign.cli.hit_options import add_options, check_usage, run_hits

EXAMPLE = """example:
  tropalign scan Pfam-A.hmm proteins.fa --cut_ga --domtblout domains.domtbl -o scan.txt
  tropalign scan Pfam-A.hmm proteins.fa -o domains.tsv

Hits and E-values are those of hmmscan 3.4, to the last digit; the library need not be pressed. Exit codes: 0 done,
2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "scan",
        help="find the families that proteins belong to: sequences against profile HMMs",
        description="Compares each sequence with all models of a library and reports the families that it belongs to, "
        "as hmmscan of HMMER 3.4 does. What is computed is as in tropalign search; E-values count models.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    add_options(parser, "model")
    parser.set_defaults(run=run, parser=parser, check=check_usage)


def run(options: argparse.Namespace) -> None:
    """Scans."""
    run_hits(options, "scan")
