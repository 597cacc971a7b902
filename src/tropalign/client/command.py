"""``tropalign submit``: a command of tropalign, computed by a server."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import add_output_options

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
TROPALIGN_TOKEN_FILE; one's own server on this machine needs neither. Ctrl-C asks the server to cancel the job.
Exit codes: those of the verb; 4 when the server cannot be reached, 130 interrupted."""
#: Kinds of content that are no text for a terminal.
BINARY = ("application/octet-stream", "application/vnd.", "image/png")


#: Options of this verb that may stand anywhere in the command: no verb has others of these names.
_OWN = ("server", "insecure", "title", "tag", "detach", "list", "fetch")


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
    group.add_argument(
        "--title", default="", metavar="TEXT", help="what the job is called there (default: by its command)"
    )
    group.add_argument("--tag", action="append", metavar="WORD", help="a tag of the job; several times for several")
    group.add_argument(
        "--detach", action="store_true", help="print the address of the job and end, instead of waiting for it"
    )
    group = parser.add_argument_group("earlier jobs")
    group.add_argument("--list", action="store_true", help="list the jobs, and end")
    group.add_argument("--fetch", metavar="ID", help="wait for this job, and write its main result to -o FILE")
    add_output_options(parser.add_argument_group("output"))


def asked_of(options: argparse.Namespace) -> argparse.Namespace:
    """The options, wherever they stand, with the words that are left in `command`."""
    asked = argparse.Namespace(**vars(options))
    asked.command = _taken_out(options.parser, options.command, asked)
    if asked.command and asked.output != "-":  # -o before the command
        begin = 2 if asked.command[0] == "db" else 1
        asked.command[begin:begin] = [f"--output={asked.output}"]
    return asked


def _taken_out(parser: argparse.ArgumentParser, words: Sequence[str], asked: argparse.Namespace) -> list[str]:
    """The words without options of this verb, which are set."""
    known = {name: action for action in parser._actions if action.dest in _OWN for name in action.option_strings}
    left: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*left, word, *rest]
        name, equals, value = word.partition("=")
        action = known.get(name)
        if action is None:
            left.append(word)
        elif action.nargs == 0:
            setattr(asked, action.dest, True)
        else:
            text = value if equals else next(rest, None)
            if text is None:
                parser.error(f"argument {name}: expected one argument")
            setattr(asked, action.dest, [*(asked.tag or ()), text] if action.dest == "tag" else text)
    return left


def run(options: argparse.Namespace) -> None:
    """Sends, watches, fetches."""
    from tropalign.client.server import connect

    asked = asked_of(options)
    _check_usage(asked)
    server = connect(asked.server, insecure=asked.insecure)
    if asked.list:
        _list(server)
    elif asked.fetch is not None:
        _fetch(server, asked)
    else:
        _submit(server, asked)


def _check_usage(asked: argparse.Namespace) -> None:
    refuse = asked.parser.error
    if asked.list + (asked.fetch is not None) + asked.detach > 1:
        refuse("--list, --fetch and --detach exclude each other: give one of them")
    if (asked.list or asked.fetch is not None) and asked.command:
        refuse(f"--list and --fetch take no command: leave {asked.command[0]} out, and put -o FILE before")
    if not asked.command and not asked.list and asked.fetch is None:
        refuse("name a command, such as tropalign submit pairs proteins.fa -o pairs.tsv")


def _submit(server: Server, asked: argparse.Namespace) -> None:
    from tropalign.execution.files import check_outputs
    from tropalign.submissions.submission import submission_of

    submission, inputs, outputs = submission_of(asked.command)
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
        tags=asked.tag or (),
    )
    if asked.detach:
        print(job.url)
        return
    _watch(job, asked.quiet or "-q" in asked.command or "--quiet" in asked.command)
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


def _fetch(server: Server, asked: argparse.Namespace) -> None:
    from tropalign.execution.files import check_outputs

    check_outputs([asked.output], [])
    job = server.job(asked.fetch)
    _watch(job, asked.quiet)
    job.write(asked.output)


def _list(server: Server) -> None:
    """A line per job."""
    for job in server.jobs():
        record = job.record
        print("\t".join((record.id, record.state, record.verb, record.created, record.title, ",".join(record.tags))))
