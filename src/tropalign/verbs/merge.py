"""``tropalign merge``: shards joined into the files that a single run would have written."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tropalign.options.option import Option, again, input_file
from tropalign.verbs import VERBS, declared
from tropalign.verbs.command import Command, DeviceOptions, MemoryOptions, OutputOptions, checked_progress

if TYPE_CHECKING:
    from tropalign.execution.archive import Shards

#: Verbs that make no shards, or that import this module.
OTHERS = ("merge", "serve", "admin", "submit")
#: Roles of files that may have any suffix.
TABLES = ("tblout", "domtblout", "pfamtblout", "alignment")
LAST_STAGES = "last stages"


def side_outputs() -> dict[str, Option]:
    """Return options for the additional files in shards, made from the verbs' own options.

    Files that merging still computes keep the name of the verb's option, others are named by their roles.
    """
    found: dict[str, tuple[Option, list[str]]] = {}
    for name in VERBS:
        if name in OTHERS or "shard" not in (command := declared(name)).declared():
            continue
        for one in command.declared().values():
            is_finished = one.name in command.finishes
            if (
                one.role == "output"
                and one.of_shards
                and not one.follows_main
                and is_finished == bool(command.finishes)
            ):
                found.setdefault(one.name if is_finished else one.output, (one, []))[1].append(name)
    return {
        name: Option(
            name=name,
            default=None,
            flags=one.typed,
            metavar="FILE",
            role="output",
            output=", ".join(verbs),
            help=f"the file of this option, for shards that tropalign "
            f"{' or '.join(filter(None, [', '.join(verbs[:-1]), verbs[-1]]))} made with it",
        )
        for name, (one, verbs) in found.items()
    }


class Merge(Command, OutputOptions, more=side_outputs()):
    """Shards joined into the files that a single run would have written."""

    verb = "merge"
    summary = "join the shards of a run"
    description = "Merge the results of --shard I/N: write the files that a single run would have written."
    example = """example:
  tropalign pairs a.fa --shard 1/2 -o 1.shard
  tropalign pairs a.fa --shard 2/2 -o 2.shard
  tropalign merge 1.shard 2.shard -o all.tsv"""
    group_texts = {
        LAST_STAGES: "for shards of msa, tree and cluster, whose last stages merge computes; no effect on other shards"
    }

    shards: list[str] = input_file(
        flags=(), many="+", metavar="SHARD", holds="shard", help="all shards of the run, in any order"
    )
    output: str = again(OutputOptions, "output", group="")
    quiet: bool = again(OutputOptions, "quiet", group="")
    threads: int = again(DeviceOptions, "threads", group=LAST_STAGES)
    device: list[str] | None = again(DeviceOptions, "device", group=LAST_STAGES)
    memory: int | None = again(MemoryOptions, "memory", group=LAST_STAGES)

    def run(self) -> None:
        """Join the shards."""
        from tropalign.errors import InputError
        from tropalign.execution.archive import Shards
        from tropalign.execution.files import check_terminal
        from tropalign.execution.run import Output, write_outputs
        from tropalign.formats.format import restore

        shards = Shards(self.shards)
        if shards.words is not None:
            with _as_damaged_files(self.shards):
                self._finish(shards)
            return
        try:
            writers = [restore(output.writer) for output in shards.outputs]
        except InputError as error:
            raise InputError(str(error), file=self.shards[0]) from None
        roles = [output.role for output in shards.outputs]
        paths = {**self.places(), "reference": f"{self.output}.reference", roles[0]: self.output}
        self._refuse_others(roles[1:])
        if "reference" in roles and self.output == "-":
            self.refuse("these shards make two files (--split): name that of the reads with -o")
        outputs = [
            Output(role, path, writer)
            for role, writer in zip(roles, writers, strict=True)
            if (path := paths.get(role)) is not None
        ]
        checked_progress(self, [output.path for output in outputs], self.shards)
        for role, writer in zip(roles, writers, strict=True):
            path = paths.get(role)
            if path is not None and role not in ("reference", *TABLES):  # their names are free
                self._check_suffix(f"the shards have format {writer.name}", path, writer.suffixes)
            if path is not None and writer.is_binary:
                check_terminal(writer.name, path)
        with _as_damaged_files(self.shards):
            write_outputs(outputs, lambda output: shards.sections(roles.index(output.role)))

    def _finish(self, shards: Shards) -> None:
        """Let the verb of the shards finish its run."""
        from tropalign.errors import InputError
        from tropalign.formats.format import format_of, suffix_of

        words, path = shards.words or [], self.shards[0]
        if not words or words[0] not in VERBS or not declared(words[0]).finishes:
            raise InputError("another version of tropalign wrote this shard: merge with that version", file=path)
        try:
            own = declared(words[0]).from_replayed(words[1:])
        except (TypeError, ValueError):
            raise InputError("this shard contains an unknown command: compute it again", file=path) from None
        self._refuse_others({name for name in own.finishes if getattr(own, name) is not None})
        places = self.places()
        checked_progress(self, list(places.values()), self.shards)
        kind, form = own.served.kind if own.served is not None else "", getattr(own, "format", None)
        if form is not None and suffix_of(self.output):
            self._check_suffix(f"the shards have format {form}", self.output, format_of(kind, form).suffixes)
        resources = {name: getattr(self, name) for name in ("output", "threads", "memory", "device", "quiet")}
        own.replaced(**resources).finish(shards, places)

    def _refuse_others(self, held: Collection[str]) -> None:
        """Reject requests for additional files that these shards do not contain."""
        for name in self.places():
            if name != "output" and name not in held:
                one = self.declared()[name]
                verb, flag = one.output.split(", ")[0], one.typed[-1]
                self.refuse(f"{flag}: these shards do not contain this output; make it with tropalign {verb} {flag}")

    def _check_suffix(self, what: str, path: str, suffixes: Collection[str]) -> None:
        """Reject a file name with the suffix of another format than that of the shards."""
        from tropalign.formats.format import suffix_of

        suffix = suffix_of(path)
        if suffix and suffix not in suffixes:
            remedy = f"end the name in {' or '.join(suffixes)}, or make the shards with another --format"
            self.refuse(f"{what}, but {path} ends in {suffix}: {remedy}")


@contextmanager
def _as_damaged_files(paths: list[str]) -> Iterator[None]:
    """Report errors from the contents of shards as damaged files: shards are untrusted input."""
    from tropalign.errors import InputError, TropalignError, damage

    try:
        yield
    except (TropalignError, MemoryError, OSError):
        raise
    except damage() as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"this or another shard contains invalid data ({reason}): compute it again", file=paths[0]
        ) from error
