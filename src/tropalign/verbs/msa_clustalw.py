"""``tropalign msa --method clustalw``: a family aligned by CLUSTALW's method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.clustalw.options import WORDS
from tropalign.msa.options import ConsistencyOptions
from tropalign.verbs.run_options import devices_of

if TYPE_CHECKING:
    from tropalign.execution.run import Output
    from tropalign.verbs.msa import Msa


def check_method(command: Msa) -> None:
    """Reject options of the other method."""
    if command.method == "consistency":
        if given := command.given():
            command.refuse(f"{given[0]} belongs to --method clustalw")
        return
    if not command.quicktree:
        for name in WORDS:
            if getattr(command, name) is not None:
                command.refuse(f"--{name.replace('_', '-')} belongs to --quicktree")
    command.refuse_beside("--method clustalw", (*ConsistencyOptions.declared(), "confidence", "add", "merge"))


def align_by_clustalw(command: Msa, outputs: list[Output]) -> None:
    """Align the family by CLUSTALW's method, and write."""
    from tropalign.clustalw.given_tree import read_clustalw_tree
    from tropalign.clustalw.pipeline import align_batch, pair_cells
    from tropalign.devices.registry import open_devices
    from tropalign.execution.progress import stage_bar
    from tropalign.execution.run import memory_allowed, write_outputs
    from tropalign.machine.memory import left_for_job
    from tropalign.machine.threads import resolve_threads

    allowed, method, batch = memory_allowed(command.memory, command.output), command.settled(), command.batch()
    tree = None if command.tree_in is None else read_clustalw_tree(command.tree_in, batch.names, method)
    memory_bytes = left_for_job(allowed, batch.held_bytes)
    devices = open_devices(devices_of(command), command.threads, pair_cells(batch, method, tree), memory_bytes)
    with stage_bar(command.quiet) as progress:
        alignment = align_batch(
            batch,
            method,
            tree,
            order=command.row_order,
            n_threads=resolve_threads(command.threads),
            memory_bytes=memory_bytes,
            devices=devices,
            progress=progress,
        )
    sections = {id(output): [output.writer.encode(alignment)] for output in outputs}
    write_outputs(outputs, lambda output: sections[id(output)])
