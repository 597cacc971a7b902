"""``tropalign submit``: run a tropalign command on a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tropalign.errors import InputError, TropalignError
from tropalign.options.option import Options, again, option
from tropalign.verbs.command import Command, OutputOptions

if TYPE_CHECKING:
    from tropalign.client.remote_job import RemoteJob
    from tropalign.client.server import Server

#: Media types that are not text for a terminal.
BINARY = ("application/octet-stream", "application/vnd.", "image/png")


class ServerOptions(Options, group="server"):
    """Choice of the server."""

    server: str | None = option(
        default=None, role="machine", metavar="URL", help="the server's address (default: that in TROPALIGN_SERVER)"
    )
    insecure: bool = option(default=False, role="machine", help="send the token unencrypted even to other machines")


class JobOptions(Options, group="job"):
    """Job title, tags, notification, and whether to wait."""

    title: str = option(
        default="", role="machine", metavar="TEXT", help="title of the job (default: made from the command)"
    )
    tag: list[str] | None = option(
        default=None, role="machine", many="append", metavar="WORD", help="a tag of the job; may be repeated"
    )
    hook: str = option(
        default="",
        role="machine",
        metavar="ADDRESS",
        help="e-mail address or web hook URL that the server notifies when the job has ended (default: none)",
    )
    detach: bool = option(
        default=False, role="machine", help="print the address of the job and exit instead of waiting for it"
    )


class EarlierOptions(Options, group="earlier jobs"):
    """Access to jobs that were submitted earlier."""

    list: bool = option(default=False, role="machine", help="list the jobs and exit")
    fetch: str | None = option(
        default=None, role="machine", metavar="ID", help="wait for this job, and write its main result to -o FILE"
    )


class WhereOptions(Options, group="output"):
    """Destination of the main result."""

    output: str = again(OutputOptions, "output", group="output")
    quiet: bool = again(OutputOptions, "quiet", group="output")


class Submit(Command, ServerOptions, JobOptions, EarlierOptions, WhereOptions):
    """Run a tropalign command on a server."""

    verb = "submit"
    summary = "run a command of tropalign on a server"
    description = (
        "Send the files of a command to a server (tropalign serve), show the progress, and write the results to the "
        "files that the command names."
    )
    example = """example:
  tropalign submit pairs proteins.fa -o pairs.tsv --mode global --server https://align.example.org
  tropalign submit search globins.hmm proteome.fa -o hits.txt --title globins --detach
  tropalign submit find proteins.fa swissprot -o hits.m8
  tropalign submit --list
  tropalign submit --fetch ID -o hits.txt

The server's address comes from --server or TROPALIGN_SERVER, the token from TROPALIGN_TOKEN or the file that
TROPALIGN_TOKEN_FILE names; your own server on this machine needs neither. Ctrl-C asks the server to cancel the job.
Exit codes: those of the verb; 4 if the server cannot be reached, 130 if interrupted."""

    command: Sequence[str] = option(
        default=(), role="machine", flags=(), many="...", metavar="COMMAND", help="a verb with its files and options"
    )

    def run(self) -> None:
        """List the jobs, fetch an earlier one, or submit the command."""
        from tropalign.client.server import connect

        asked = self.with_own_options()
        asked.check()
        server = connect(asked.server, insecure=asked.insecure)
        if asked.list:
            _list(server)
        elif asked.fetch is not None:
            _fetch(server, asked, asked.fetch)
        else:
            _submit(server, asked)

    def check(self) -> None:
        """Reject options that exclude each other."""
        if self.list + (self.fetch is not None) + self.detach > 1:
            self.refuse("--list, --fetch and --detach exclude each other: give one of them")
        if (self.list or self.fetch is not None) and self.command:
            self.refuse(f"--list and --fetch take no command: leave {self.command[0]} out, and keep only -o FILE")
        if not self.command and not self.list and self.fetch is None:
            self.refuse("no command is given: name one, such as tropalign submit pairs proteins.fa -o pairs.tsv")

    def with_own_options(self) -> Submit:
        """Return the options from any position in the command line, with the remaining arguments in `command`."""
        found: dict[str, Any] = {}
        command = self._split_own_options(found)
        if command and self.output != "-":  # -o before the command
            begin = 2 if command[0] == "db" else 1
            command[begin:begin] = [f"--output={self.output}"]
        return self.replaced(**found, command=command)

    def _split_own_options(self, found: dict[str, Any]) -> list[str]:
        """Move this verb's own options from the arguments to `found`, and return the other arguments."""
        mixins = (ServerOptions, JobOptions, EarlierOptions)  # allowed in any position: no verb uses these names
        known = {flag: one for mixin in mixins for one in mixin.declared().values() for flag in one.typed}
        left: list[str] = []
        rest = iter(self.command)
        for word in rest:
            if word == "--":
                return [*left, word, *rest]
            name, equals, value = word.partition("=")
            one = known.get(name)
            if one is None:
                left.append(word)
            elif one.is_flag:
                found[one.name] = True
            else:
                text = value if equals else next(rest, None)
                if text is None:
                    self.refuse(f"argument {name}: expected one argument")
                found[one.name] = [*(found.get("tag") or self.tag or ()), text] if one.name == "tag" else text
        return left


def _submit(server: Server, asked: Submit) -> None:
    from tropalign.execution.files import check_outputs, check_terminal
    from tropalign.submissions.command_line import submission_of
    from tropalign.submissions.submission import outputs_of
    from tropalign.submissions.verbs import served_verb

    submission, inputs, outputs = submission_of(asked.command)
    if not asked.detach:
        check_outputs(list(outputs.values()), list(inputs.values()))
        if outputs_of(submission)[0].media_type.startswith(BINARY):
            check_terminal(submission.format, outputs["main"])
    stores = {
        inputs[item.name]
        for one in served_verb(submission.verb).inputs
        for item in submission.inputs.get(one.dest, ())
        if one.takes_database
    }
    sent = {path: _sent(server, path, path in stores) for path in dict.fromkeys(inputs.values())}
    items = {
        dest: [{**sent[inputs[item.name]], "name": item.name} for item in given]
        for dest, given in submission.inputs.items()
    }
    job = server.submit(
        submission.verb,
        items,
        submission.options,
        format=submission.format,
        outputs=submission.outputs,
        title=asked.title,
        tags=asked.tag or (),
        hook=asked.hook,
    )
    if asked.detach:
        print(job.url)
        return
    _watch(job, asked.quiet or "-q" in asked.command or "--quiet" in asked.command)
    for role, path in outputs.items():
        job.write(path, role)


def _sent(server: Server, path: str, may_be_database: bool) -> dict[str, str]:
    """Return a file as an input of submissions; NAME or OWNER/NAME is a database if no local file has this name."""
    from tropalign.verbs.db import SUFFIX

    if not may_be_database or path in ("-", "") or path.count("/") > 1 or os.path.lexists(path):
        return server.uploads.file(path)
    name = path.removesuffix(SUFFIX)
    if not any(name in (each.id, each.name, f"{each.owner}/{each.name}") for each in server.databases()):
        raise InputError("neither a local file nor a database on the server has this name: check the name", file=path)
    return {"database": server.database(name).id}


def _watch(job: RemoteJob, is_quiet: bool) -> None:
    """Wait, and raise the exception that the command would raise locally."""
    from tropalign.execution.progress import stage_bar

    try:
        with stage_bar(is_quiet) as progress:
            job.wait(progress=progress)
    except KeyboardInterrupt:
        with suppress(TropalignError):
            job.cancel()
            raise KeyboardInterrupt(f"interrupted: the server was asked to cancel {job.url}") from None
        raise KeyboardInterrupt(f"interrupted, but the job may still be running: {job.url}") from None
    job.check()


def _fetch(server: Server, asked: Submit, job_id: str) -> None:
    from tropalign.execution.files import check_outputs

    check_outputs([asked.output], [])
    job = server.job(job_id)
    _watch(job, asked.quiet)
    job.write(asked.output)


def _list(server: Server) -> None:
    """Print one line per job."""
    for job in server.jobs():
        record = job.record
        print("\t".join((record.id, record.state, record.verb, record.created, record.title, ",".join(record.tags))))
