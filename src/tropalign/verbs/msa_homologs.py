"""``tropalign msa --homologs``: a family aligned with the help of its homologs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tropalign.families.options import HomologOptions
from tropalign.options.option import input_file
from tropalign.verbs.run_options import devices_of

if TYPE_CHECKING:
    from tropalign.msa.pipeline import Job
    from tropalign.verbs.msa import Msa


class HomologChoices(HomologOptions, group="homologs"):
    """The database of homologs, and their selection."""

    homologs: str | None = input_file(
        default=None,
        holds="sequences",
        metavar="DB",
        label="Database of homologs",
        help="proteins, or a store of tropalign db, in which relatives of the members are looked for: they help to "
        "align the family, and are left out of the result",
        form_help="Proteins in which relatives of the members are looked for: they help to align the family, and are "
        "left out of the result",
    )


def check_homologs(command: Msa) -> None:
    """Reject homologs that would have no effect, and their options without them."""
    if command.homologs is None:
        for name in HomologOptions.declared():
            if getattr(command, name) not in (None, False):
                command.refuse(f"--{name.replace('_', '-')} belongs to --homologs")
        return
    if command.method != "consistency":
        command.refuse("--homologs has no meaning with --method clustalw: leave it out")
    if command.shard is not None or command.dry_run:
        word = "--shard" if command.shard is not None else "--dry-run"
        command.refuse(f"{word} says what to do before homologs are known: leave it out with --homologs")


def with_homologs(command: Msa, job: Job, memory_bytes: int, n_threads: int) -> Job:
    """Return the job with homologs of the family, and report their number on standard error."""
    from tropalign.families.homologs import check_helped, helped, homologs_of

    check_helped(job)
    how = {"device": devices_of(command), "n_threads": n_threads, "memory_bytes": memory_bytes}
    found = homologs_of(job.batch, command.homologs, command, **how)
    if not command.quiet and found.batch is not None:
        print(f"tropalign: {found} take part", file=sys.stderr)
    return helped(job, found)
