"""Views of jobs for pages."""

from __future__ import annotations

import codecs
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from tropalign.serve.records import Job, JobFile, State, Wait
from tropalign.serve.web.templating import duration_text, percent, size_text
from tropalign.serve.web.user_jobs import names_of_outputs
from tropalign.submissions.form_texts import message_for_forms
from tropalign.submissions.next_verbs import uses_of
from tropalign.submissions.verbs import served_verb

if TYPE_CHECKING:
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage

PREVIEW_BYTES, PREVIEW_LINES, PREVIEW_ROWS, PREVIEW_COLUMNS = 16_000, 200, 40, 30
TEXT_TYPES = ("text/", "application/json", "application/x-ndjson")
#: States of jobs that have outputs or may get them.
WITH_OUTPUTS = (State.QUEUED, State.RUNNING, State.DONE)
#: Media type of standalone pages.
PAGE = "text/html"


@dataclass(frozen=True)
class FileView:
    """File of a job; `source` is the page of the job that wrote it."""

    role: str
    name: str
    kind: str
    size: str
    url: str
    source: str = ""


@dataclass(frozen=True)
class UseView:
    """Uses of an output as an input: labels and addresses of forms."""

    name: str
    forms: list[tuple[str, str]]


@dataclass(frozen=True)
class PictureView:
    """Picture of the result."""

    name: str
    view: str
    what: str


@dataclass(frozen=True)
class Preview:
    """Start of a result, as a table if possible, else as text."""

    text: str
    heads: list[str]
    rows: list[list[str]]
    is_cut: bool


@dataclass(frozen=True)
class JobView:
    """A job on its own page.

    - `doing`: current activity.
    - `waits_for`: titles and pages of the jobs whose results it will read.
    - `took`: run time.
    - `kept_until`: time from which the server may delete it; None for never.
    - `report`: address of its report, if any.
    - `share`: public link.
    - `formats`: other available formats.
    - `programs`: ways to fetch the result without a browser: program and command.
    - `uses`: possible uses of its outputs in new jobs.
    """

    id: str
    title: str
    verb: str
    tags: tuple[str, ...]
    state: State
    is_final: bool
    percent: int | None
    doing: str
    waits_for: list[tuple[str, str]]
    message: str
    created: float
    took: str
    kept_until: float | None
    command: str
    version: str
    inputs: list[FileView]
    outputs: list[FileView]
    report: str | None
    pictures: list[PictureView]
    preview: Preview | None
    share: str | None
    formats: tuple[str, ...]
    programs: list[tuple[str, str]]
    uses: list[UseView]


def doing(job: Job, wait: Wait | None) -> str:
    """Return a job's current activity, with the same text as `page.js`."""
    if job.state is State.RUNNING:
        return job.stage or "computing"
    return "waiting" if wait is None else wait.sentence


class JobViews:
    """Makes views of jobs, for owners and for holders of a link."""

    def __init__(self, storage: Storage, settings: Settings) -> None:
        self._storage, self._settings, self._root = storage, settings, settings.root_path

    def own(
        self, job: Job, wait: Wait | None, share_base: str, formats: tuple[str, ...], has_token: bool = True
    ) -> JobView:
        """Return the owner's view.

        `share_base` is scheme and host of the request; `has_token` is True if this user's programs need a token.
        """
        share = None if job.share is None else f"{share_base}{self._root}/shared/{job.share}"
        files, page = f"{self._root}/api/v1/jobs/{job.id}", f"{self._root}/jobs/{job.id}"
        programs = programs_of(job, share_base + self._root, has_token)
        return self._view(job, files, page, wait, share, formats, programs=programs)

    def shared(self, job: Job) -> JobView:
        """Return the view for anyone with the link."""
        secret = quote(job.share or "", safe="")
        return self._view(
            job, f"{self._root}/api/v1/shared/{secret}", f"{self._root}/shared/{secret}", None, None, (), False
        )

    def _view(
        self,
        job: Job,
        files: str,
        page: str,
        wait: Wait | None,
        share: str | None,
        formats: tuple[str, ...],
        has_inputs: bool = True,
        programs: list[tuple[str, str]] | None = None,
    ) -> JobView:
        outputs = {file.role: file for file in job.outputs}
        report = next((file for file in job.outputs if file.media_type.startswith(PAGE)), None)
        main = outputs.get("main")
        return JobView(
            id=job.id,
            title=job.title,
            verb=job.verb,
            tags=job.tags,
            state=job.state,
            is_final=job.state.is_final,
            percent=percent(job.progress),
            doing=doing(job, wait),
            waits_for=[] if wait is None else [(title, f"{self._root}/jobs/{id}") for id, title in wait.jobs],
            message=message_for_forms(job.message if has_inputs else job.open_message),
            created=job.created,
            took=duration_text(job.finished - job.started) if job.finished and job.started else "",
            kept_until=self._settings.kept_until(job.finished),
            command=job.command,
            version=job.version,
            inputs=self._inputs(job, files if has_inputs else None),
            outputs=[_file(file, f"{files}/files/{quote(file.role, safe='')}") for file in job.outputs],
            report=None if report is None else f"{page}/report",
            pictures=[
                PictureView(file.name, f"{files}/files/{quote(file.role, safe='')}", f"{file.role} of {job.title}")
                for file in job.outputs
                if file.media_type.startswith(("image/svg+xml", "image/png"))
            ],
            preview=None if main is None or report is not None else self._preview(main),
            share=share,
            formats=formats,
            programs=programs or [],
            uses=self._uses(job) if has_inputs else [],
        )

    def _uses(self, job: Job) -> list[UseView]:
        """Return the possible uses of existing and future outputs in new jobs."""
        format = str(job.request.get("format", ""))
        found = []
        for role, name in names_of_outputs(job).items() if job.state in WITH_OUTPUTS else ():
            forms = [
                (served_verb(verb).title, f"{self._root}/new/{verb}?use={job.id}&role={role}")
                for verb, _ in uses_of(job.verb, format, role)
            ]
            if forms:
                found.append(UseView(name, forms))
        return found

    def _inputs(self, job: Job, base: str | None) -> list[FileView]:
        """Return the inputs, numbered within their option; outputs of existing jobs link to those."""
        named = {source for source in job.sources if source is not None and base is not None}
        there = {each.id for each in self._storage.jobs.several(named) if each.owner == job.owner} if named else set()
        seen: dict[str, int] = {}
        found = []
        for file, source in zip(job.inputs, job.sources, strict=True):
            n = seen.setdefault(file.role, 0)
            seen[file.role] = n + 1
            url = "" if base is None or file.digest is None else f"{base}/inputs/{quote(file.role, safe='')}/{n}"
            page = f"{self._root}/jobs/{source}" if source in there else ""
            found.append(_file(file, url, page))
        return found

    def _preview(self, file: JobFile) -> Preview | None:
        if file.digest is None or not file.media_type.startswith(TEXT_TYPES) or not file.size:
            return None
        try:
            with self._storage.files.open(file.digest) as stream:
                data = stream.read(PREVIEW_BYTES + 1)
        except (KeyError, OSError):
            return None
        return preview_of(data, file.name.endswith((".tsv", ".m8")))


def authorized(has_token: bool) -> str:
    """Return the curl command, with the token if needed; the Help page explains the variable."""
    return 'curl -s -H "Authorization: Bearer $(cat "$TROPALIGN_TOKEN_FILE")"' if has_token else "curl -s"


def help_programs(server: str, has_token: bool) -> dict[str, str]:
    """Return examples of using the server from the command line, Python and curl, with a file proteins.fa."""
    python = (
        "from pathlib import Path\n\nfrom tropalign.client import connect\n\n"
        f'server = connect("{server}")\n(table,) = server.pairs(Path("proteins.fa"), mode="local")\nprint(table)'
    )
    kind, where = '-H "Content-Type: application/octet-stream"', f'"{server}/api/v1/files?name=proteins.fa"'
    return {
        "shell": f"tropalign submit pairs proteins.fa -o alignments.tsv --server {server}",
        "python": python,
        "curl": f"{authorized(has_token)} {kind} --data-binary @proteins.fa {where}",
    }


def programs_of(job: Job, server: str, has_token: bool) -> list[tuple[str, str]]:
    """Return commands that fetch a job's result with the command line, Python and curl."""
    named = shlex.split(job.command)
    name = shlex.quote(named[named.index("-o") + 1] if "-o" in named[:-1] else "result")
    return [
        ("command line", f"tropalign submit --fetch {job.id} -o {name} --server {server}"),
        ("Python", f'from tropalign.client import connect\n\ndata = connect("{server}").job("{job.id}").result()'),
        ("curl", f"{authorized(has_token)} -o {name} {server}/api/v1/jobs/{job.id}/files/main"),
    ]


def preview_of(data: bytes, is_table: bool) -> Preview | None:
    """Return the start of a text, None for binary data."""
    is_cut = len(data) > PREVIEW_BYTES
    if b"\0" in data:
        return None
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data[:PREVIEW_BYTES], final=not is_cut)
    lines = text.splitlines()
    if is_cut and len(lines) > 1:
        lines.pop()  # an incomplete line
    if is_table:
        rows = [line.split("\t")[:PREVIEW_COLUMNS] for line in lines if line and not line.startswith("#")]
        if len(rows) > 1 and len(rows[0]) > 1:
            return Preview("", rows[0], rows[1 : PREVIEW_ROWS + 1], is_cut or len(rows) > PREVIEW_ROWS + 1)
    return Preview("\n".join(lines[:PREVIEW_LINES]), [], [], is_cut or len(lines) > PREVIEW_LINES)


def _file(file: JobFile, url: str, source: str = "") -> FileView:
    kind = file.name.rpartition(".")[2] if "." in file.name else file.role
    return FileView(file.role, file.name, kind, size_text(file.size), url, source)
