"""``tropalign submit``: a command of tropalign, computed by a server."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.client.remote_job import RemoteJob
    from tropalign.client.server import Server
    from tropalign.submissions.submission import Submission

EXAMPLE = """example:
  tropalign submit pairs proteins.fa -o pairs.tsv --mode global --server https://align.example.org
  tropalign submit search globins.hmm proteome.fa -o hits.txt --title globins --detach
  tropalign submit --list
  tropalign submit --fetch ID -o hits.txt

The server is that of --server or TROPALIGN_SERVER, the token that of TROPALIGN_TOKEN or in the file of
TROPALIGN_TOKEN_FILE. Ctrl-C asks the server to cancel the job.
Exit codes: those of the verb; 4 when the server cannot be reached, 130 interrupted."""
#: Kinds of content that are no text for a terminal.
BINARY = ("application/octet-stream", "application/vnd.", "image/png")


@dataclass(frozen=True)
class Asked:
    """What is for this verb, and the words of the command that the server runs."""

    words: tuple[str, ...]
    server: str | None
    title: str
    tags: tuple[str, ...]
    detach: bool
    insecure: bool
    list: bool
    fetch: str | None


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "submit",
        help="a command of tropalign, computed by a server",
        description="Sends the files of a command to a server of tropalign serve, shows how far it is, and writes the "
        "results where the command says.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    _add_options(parser)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help="a verb with its files and options"
    )
    parser.set_defaults(run=run, parser=parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("server")
    group.add_argument("--server", metavar="URL", help="its address (default: that in TROPALIGN_SERVER)")
    group.add_argument(
        "--insecure", action="store_true", help="send the token without encryption beyond this machine, too"
    )
    group = parser.add_argument_group("job")
    group.add_argument("--title", default="", metavar="TEXT", help="what the job is called there")
    group.add_argument(
        "--tag", action="append", default=[], metavar="WORD", help="a tag of the job; several times for several"
    )
    group.add_argument(
        "--detach", action="store_true", help="print the address of the job and end, instead of waiting for it"
    )
    group = parser.add_argument_group("jobs of before")
    group.add_argument("--list", action="store_true", help="list the jobs, and end")
    group.add_argument("--fetch", metavar="ID", help="wait for this job, and write its main result to -o FILE")


def asked_of(options: argparse.Namespace) -> Asked:
    """What is asked: options of this verb stand before the command, or anywhere in it."""
    own = argparse.Namespace(**vars(options))
    words = _taken_out(options.parser, options.command, own)
    return Asked(
        tuple(words), own.server, own.title, tuple(own.tag), own.detach, own.insecure, own.list, own.fetch
    )


def _taken_out(parser: argparse.ArgumentParser, words: Sequence[str], own: argparse.Namespace) -> list[str]:
    """The words without options of this verb, which are set."""
    known = {name: action for action in parser._actions for name in action.option_strings if name.startswith("--")}
    left: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*left, word, *rest]
        name, equals, value = word.partition("=")
        action = known.get(name)
        if action is None or action.dest == "help":
            left.append(word)
        elif action.nargs == 0:
            setattr(own, action.dest, True)
        else:
            text = value if equals else next(rest, None)
            if text is None:
                parser.error(f"argument {name}: expected one argument")
            setattr(own, action.dest, [*getattr(own, action.dest), text] if action.dest == "tag" else text)
    return left


def run(options: argparse.Namespace) -> None:
    """Sends, watches, fetches."""
    from tropalign.client.server import connect

    asked = asked_of(options)
    _check_usage(asked, options.parser)
    server = connect(asked.server, insecure=asked.insecure)
    if asked.list:
        _list(server)
    elif asked.fetch is not None:
        _fetch(server, asked.fetch, asked.words, options.parser)
    else:
        _submit(server, asked)


def _check_usage(asked: Asked, parser: argparse.ArgumentParser) -> None:
    if asked.list + (asked.fetch is not None) + asked.detach > 1:
        parser.error("--list, --fetch and --detach exclude each other: give one of them")
    if asked.list and asked.words:
        parser.error(f"--list takes no more words: leave {asked.words[0]} out")
    if not asked.words and not asked.list and asked.fetch is None:
        parser.error("name a command, such as tropalign submit pairs proteins.fa -o pairs.tsv")


def _submit(server: Server, asked: Asked) -> None:
    from tropalign.execution.files import check_outputs
    from tropalign.submissions.submission import submission_of

    submission, inputs, outputs = submission_of(asked.words)
    is_quiet = "-q" in asked.words or "--quiet" in asked.words
    if not asked.detach:
        check_outputs(list(outputs.values()), list(inputs.values()))
        _check_terminal(submission, outputs["main"])
    sent = {path: server.uploads.file(path) for path in dict.fromkeys(inputs.values())}
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
        tags=asked.tags,
    )
    if asked.detach:
        print(job.url)
        return
    _watch(job, is_quiet)
    for role, path in outputs.items():
        job.write(path, role)


def _check_terminal(submission: Submission, path: str) -> None:
    """Refuses bytes on a terminal, before anything is sent."""
    from tropalign.execution.files import check_terminal
    from tropalign.submissions.submission import outputs_of

    if outputs_of(submission)[0].media_type.startswith(BINARY):
        check_terminal(submission.format, path)


def _watch(job: RemoteJob, is_quiet: bool) -> None:
    """Waits, and raises what the command would raise here."""
    from contextlib import suppress

    from tropalign.errors import TropalignError
    from tropalign.execution.progress import stage_bar

    try:
        with stage_bar(is_quiet) as progress:
            job.wait(progress=progress)
    except KeyboardInterrupt:
        with suppress(TropalignError):
            job.cancel()
            raise KeyboardInterrupt(f"interrupted: the server was asked to cancel {job.url}") from None
        raise KeyboardInterrupt(f"interrupted, but the job may go on: {job.url}") from None
    job.check()


def _list(server: Server) -> None:
    """A line per job."""
    for job in server.jobs():
        record = job.record
        print("\t".join((record.id, record.state, record.verb, record.created, record.title, ",".join(record.tags))))


def _fetch(server: Server, id: str, words: Sequence[str], parser: argparse.ArgumentParser) -> None:
    from tropalign.execution.files import check_outputs

    more = argparse.ArgumentParser(prog=parser.prog, add_help=False, exit_on_error=False, allow_abbrev=False)
    more.add_argument("-o", "--output", default="-")
    more.add_argument("-q", "--quiet", action="store_true")
    try:
        options, extra = more.parse_known_args(list(words))
    except argparse.ArgumentError as error:
        parser.error(str(error))
    if extra:
        parser.error(f"--fetch takes -o FILE and no more: leave {extra[0]} out")
    check_outputs([options.output], [])
    job = server.job(id)
    _watch(job, options.quiet)
    job.write(options.output)
