"""``tropalign devices``: what can compute here."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "devices",
        help="list what can compute here",
        description="Lists the processor, its instruction sets, threads and free memory.",
        epilog="example:\n  tropalign devices\n  TROPALIGN_ISA=v3 tropalign devices --json",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="as JSON, sizes in bytes")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    from tropalign.compute.devices import cpu_info
    from tropalign.compute.memory import human

    info = cpu_info()
    if options.json:
        print(json.dumps({"cpu": dataclasses.asdict(info)}, indent=1))
        return
    sets = ", ".join(f"{name} (selected)" if name == info.selected else name for name in info.instruction_sets)
    print(f"cpu  {info.model}")
    print(f"     instruction sets  {sets}")
    print(f"     threads           {info.n_threads}")
    print(f"     free memory       {human(info.free_bytes)}")
    print(f"     default --memory  {human(info.default_budget_bytes)}")
