"""Homologs of a family's members, which take part in its alignment and are then removed (Katoh et al. 2005).

Each member searches the sequences alone, as phmmer does, so that every part of a divergent family gets neighbours:

    member 1   ------------      its hits    ===========  ==========
    member 2   --------------    its hits    ==============                   all of them are aligned together;
    member 3   -----------       its hits    ==========  ===========  =====   columns of homologs alone are removed

A hit helps if it covers most of the member, is close enough to be aligned well, and distant enough to add
information. Of two nearly equal hits only the better one is used. Only the matched part is used.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tropalign.errors import InputError, UsageError, named, quiet, warn
from tropalign.msa import pipeline
from tropalign.msa.add import joined
from tropalign.msa.api import ConsistencyArguments
from tropalign.msa.family import unique_sequences
from tropalign.msa.guide_tree import tree_of
from tropalign.msa.options import MOST_SEQUENCES, HomologOptions
from tropalign.msa.pipeline import FamilyInput
from tropalign.options.called import called_with
from tropalign.options.option import argument, but
from tropalign.profiles.api import search
from tropalign.profiles.proteins import LOOK_LIKE_NUCLEOTIDES
from tropalign.profiles.sources import queries_in
from tropalign.resources.limits import budget_of
from tropalign.results.threshold_options import Thresholds
from tropalign.sequences import PROTEIN, SequenceBatch

if TYPE_CHECKING:
    from tropalign.results.hit import Domain
    from tropalign.results.hits import Hits
    from tropalign.results.multiple import MultipleAlignment
    from tropalign.sequences.batch import Sequences
    from tropalign.sequences.files import Source

#: Minimum share of the member that a homolog covers; minimum identity with it; maximum identity with it and with
#: earlier homologs.
LEAST_COVERAGE, LEAST_IDENTITY, MOST_IDENTITY = 0.8, 0.25, 0.9


@dataclass(frozen=True)
class Homologs:
    """Homologs of a family.

    `batch`: the matched parts, named NAME/START-END (from 1, inclusive); None without homologs. `n_helped`:
    distinct members that have homologs. `n_members`: distinct members.
    """

    batch: SequenceBatch | None
    n_helped: int
    n_members: int

    def __str__(self) -> str:
        n = 0 if self.batch is None else len(self.batch)
        return f"{n:,} homologs of {self.n_helped:,} of {self.n_members:,} different members"


def check_helped(job: FamilyInput) -> None:
    """Reject families that homologs do not help; raises UsageError or InputError."""
    homologs = named("homologs")
    if job.options.effort == "fast":
        raise UsageError(
            f"homologs require effort default or accurate, for families of up to {MOST_SEQUENCES} sequences: "
            f"leave {homologs} out"
        )
    if job.options.drop_foreign:
        raise UsageError(
            f"homologs would hide foreign members: align with {named('drop_foreign')} first, then realign the "
            f"result with {homologs}"
        )
    if job.tree is not None:
        raise UsageError(f"the given tree does not contain homologs: leave out the tree or {homologs}")
    if job.batch.alphabet != PROTEIN:
        kind = job.batch.alphabet.name
        raise InputError(
            f"homologs are only searched for proteins, but the family was read as {kind}: leave {homologs} out"
        )


def helped(job: FamilyInput, found: Homologs) -> FamilyInput:
    """Return the job with homologs appended to the family, or unchanged with a warning if none were found."""
    if found.batch is None:
        warn("no homologs were found: the family is aligned without them")
        return job
    return replace(job, batch=joined(job.batch, found.batch), n_homologs=len(found.batch))


def homologs_of(batch: SequenceBatch, targets: Any, options: HomologOptions, **how: Any) -> Homologs:
    """Search for homologs of each member; `targets` and `how` (device, threads, memory) as in `tropalign.search`."""
    first, _ = unique_sequences(batch)
    members = batch[first]
    fasta = "".join(f">{k}\n{members[k]}\n" for k in range(len(members)))  # hits name members by their indices
    models = list(queries_in(io.BytesIO(fasta.encode()), "sequences", "protein", keeps_text=False))
    with quiet() as dropped:  # ignore warnings about letters that no protein has
        hits = search(models, targets, thresholds=Thresholds(E=options.most_evalue), **how)
    if any(LOOK_LIKE_NUCLEOTIDES in text for text in dropped):
        raise InputError(
            f"{LOOK_LIKE_NUCLEOTIDES}, but homologs are searched among proteins: give a protein database, or "
            f"translate this one (in Python: tropalign.translate)",
            file=targets if isinstance(targets, str) else None,
        )
    found = list(_chosen(hits, members, options.most_per_member, max(MOST_SEQUENCES - len(batch), 0)))
    n_helped = len({domain.hit.query.name for domain, _ in found})
    names, taken = [], set(batch.names)
    for domain, _ in found:
        begin, end = domain.span
        name = f"{domain.hit.name}/{begin + 1}-{end}"
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    homologs = SequenceBatch.from_strings([text for _, text in found], names, PROTEIN) if found else None
    return Homologs(homologs, n_helped, len(members))


def _chosen(hits: Hits, members: SequenceBatch, most: int, most_in_all: int) -> Iterator[tuple[Domain, str]]:
    """Yield the domains that help and their residues: the best of each member, then the second best of each, etc."""
    texts = [str(members[k]).upper() for k in range(len(members))]
    number_of = np.array([int(query.name) for query in hits.queries], np.int64)[hits.query]
    by_member: dict[int, Iterator[tuple[Domain, str]]] = {}
    # One hit per target, by the most similar member; the best hit first, ties by name.
    keys = sorted(zip(hits.log_p.tolist(), hits.names, range(len(hits)), strict=True))
    order = np.array([k for _, _, k in keys], np.intp)
    _, best = np.unique(hits.target[order], return_index=True)
    order = order[np.sort(best)]
    for member in np.unique(number_of[order]).tolist():
        own = order[number_of[order] == member]
        by_member[member] = itertools.islice(_different(hits, own.tolist(), len(texts[member]), texts), most)
    n = 0
    for rank in itertools.zip_longest(*by_member.values()):
        for found in rank:
            if found is not None and n < most_in_all:
                n += 1
                yield found


def _different(hits: Hits, rows: list[int], n_nodes: int, members: list[str]) -> Iterator[tuple[Domain, str]]:
    """Yield the domains that cover the member, have an identity within the limits and differ from earlier ones."""
    seen = np.zeros((0, n_nodes), np.uint8)
    for row in rows:
        domain = hits[row].best_domain
        begin, end = domain.model_span
        if end - begin < LEAST_COVERAGE * n_nodes:
            continue
        lines = [domain.lines[name].upper().encode() for name in ("model_line", "target_line")]
        model, target = (np.frombuffer(line, np.uint8) for line in lines)
        is_node = model != ord(".")
        letters = np.where(target[is_node] == ord("-"), 0, target[is_node]).astype(np.uint8)
        text = target[target != ord("-")].tobytes().decode()
        own = np.zeros(n_nodes, np.uint8)
        own[begin:end] = letters
        likeness = float((letters == model[is_node]).sum() / max(np.count_nonzero(letters), 1))
        both = (seen != 0) & (own != 0)
        shares = ((seen == own) & both).sum(1) / np.maximum(both.sum(1), 1)  # equal residues, per earlier domain
        if not LEAST_IDENTITY <= likeness <= MOST_IDENTITY or shares.max(initial=0.0) > MOST_IDENTITY:
            continue
        if any(text in member for member in members):
            continue
        seen = np.vstack([seen, own])
        yield domain, text


class HelpedArguments(ConsistencyArguments, HomologOptions):
    """Arguments of `align_with_homologs`."""

    sequences: Sequences | MultipleAlignment = but(ConsistencyArguments, "sequences", kw_only=False)
    homologs: Sequences | Source = argument(
        kw_only=False,
        doc="Sequences to search for homologs: files, stores or a SequenceBatch, like the targets of `search`.",
    )


@called_with(HelpedArguments)
def align_with_homologs(call: HelpedArguments) -> MultipleAlignment:
    """Align a family of proteins together with relatives from a database, and remove these from the result.

    Each member searches the database as phmmer does. Hits that cover four fifths of it at 25 to 90 % identity take
    part in posteriors, consistency and tree (Katoh et al. 2005, NAR 33:511).

    Returns
    -------
    MultipleAlignment
        With confidence and the guide tree; without homologs unless `keep_homologs` is set.

    Raises
    ------
    InputError
        As `align_multiple` and `search`; a family of nucleotides.
    UsageError
        An option of the wrong type or out of range; effort fast; a given tree; members to be dropped.
    ResourceError, DeviceError
        As `align_multiple`.

    Warns
    -----
    TropalignWarning
        No homologs were found: the family is aligned alone.

    Examples
    --------
    >>> family = tropalign.read_sequences("examples/efp.fasta")[:4]
    >>> tropalign.align_with_homologs(family, "examples/efp.fasta").shape
    (4, 192)
    """
    memory, batch = budget_of(call.memory_bytes), call.batch()
    method, tree = call.for_family(len(batch)), tree_of(call.tree, batch.names)
    job = pipeline.FamilyInput(batch, method, tree, call.row_order, keeps_homologs=call.keep_homologs)
    check_helped(job)
    found = homologs_of(batch, call.homologs, call, n_threads=call.threads, memory_bytes=memory, device=call.device)
    job = helped(job, found)
    devices = call.devices(pipeline.score_cells(job), memory)
    return pipeline.align(job, devices, call.threads, memory, progress=call.progress)
