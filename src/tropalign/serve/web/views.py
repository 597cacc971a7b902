"""Views of jobs for pages."""

from __future__ import annotations

import codecs
import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from tropalign import __version__
from tropalign.properties import cached_property
from tropalign.serve.records import Job, JobFile, State, Wait
from tropalign.serve.web.context import csrf_of
from tropalign.serve.web.user_jobs import names_of_outputs
from tropalign.submissions.verbs import SERVED, message_for_forms, served_verb, uses_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from tropalign.serve.records import JobLine
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage

HERE = Path(__file__).parent
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: Rendered job lines in the cache.
MOST_LINES = 2_048
#: Cached options: more than all verbs have.
MOST_OPTIONS = 1_024
THEMES = ("light", "dark")
PREVIEW_BYTES, PREVIEW_LINES, PREVIEW_ROWS, PREVIEW_COLUMNS = 16_000, 200, 40, 30
TEXT_TYPES = ("text/", "application/json", "application/x-ndjson")
#: States of jobs that have outputs or may get them.
WITH_OUTPUTS = (State.QUEUED, State.RUNNING, State.DONE)
#: Media type of standalone pages.
PAGE = "text/html"


@dataclass(frozen=True)
class StaticFile:
    """Static file: its bytes, and the first characters of their hash."""

    content: bytes
    media_type: str
    mark: str

    def response(self, mark: str) -> Response:
        """Return the file, cacheable forever if requested with the hash of its content."""
        age = "public, max-age=31536000, immutable" if mark == self.mark else "no-cache"
        return Response(self.content, media_type=self.media_type, headers={"Cache-Control": age})


def static_files() -> dict[str, StaticFile]:
    """Return all static files by name."""
    found = {}
    for path in sorted((HERE / "static").iterdir()):
        if path.suffix in MEDIA_TYPES:
            content = path.read_bytes()
            mark = hashlib.sha256(content).hexdigest()[:12]
            found[path.name] = StaticFile(content, MEDIA_TYPES[path.suffix], mark)
    return found


class _WithoutIndents(FileSystemLoader):
    """Template loader that removes indentation, which would only enlarge pages."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return the text of a template."""
        text, path, is_current = super().get_source(environment, template)
        return re.sub(r"(?m)^[ ]+", "", text), path, is_current


class Templates:
    """Pages from templates; `root` is the path prefix, such as "/tropalign"."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.files = static_files()
        self._static = {name: f"{root}/static/{name}?v={file.mark}" for name, file in self.files.items()}

    @cached_property
    def _environment(self) -> Environment:
        made = Environment(
            loader=_WithoutIndents(HERE / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            undefined=StrictUndefined,
        )
        made.filters |= {"iso": iso, "when": when, "bytes": size_text, "number": number_text}
        made.filters |= {"quoted": shlex.quote, "duration": duration_text, "sentence": sentence, "percent": percent}
        made.globals |= {"root": self.root, "static": self._static, "version": __version__}
        template = made.get_template("option.html")

        def option(field: Any) -> Markup:
            return Markup(template.render(field=field))

        kept = lru_cache(MOST_OPTIONS)(option)  # only empty fields: user input may be long
        made.globals["line"] = _line(made)
        made.globals["option"] = lambda field: (option if field.value or field.error else kept)(field)
        return made

    def page(self, request: Request, name: str, /, *, status: int = 200, here: str = "", **words: Any) -> HTMLResponse:
        """Render a page for the user of a request.

        `name` is the template without ``.html``, `here` the current menu entry, and `words` the template's
        variables.
        """
        state: Mapping[str, Any] = request.scope.get("state", {})
        theme = request.cookies.get("theme")
        text = self._environment.get_template(f"{name}.html").render(
            user=state.get("user"),
            csrf=csrf_of(request),
            theme=theme if theme in THEMES else None,
            here=here,
            **words,
        )
        return HTMLResponse(text, status)


def _line(environment: Environment) -> Callable[[JobLine, bool], Markup]:
    """Return a cached renderer of job lines, most of which are unchanged between requests."""
    template = environment.get_template("line.html")

    @lru_cache(MOST_LINES)
    def line(job: JobLine, is_chosen_from: bool) -> Markup:
        return Markup(template.render(job=job, is_chosen_from=is_chosen_from))

    return line


def iso(at: float) -> str:
    """Format seconds since 1970 as ISO 8601."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def when(at: float) -> str:
    """Format seconds since 1970 for people.

    >>> when(86400 * 365)
    '1971-01-01 00:00'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


def size_text(n_bytes: float) -> str:
    """Format bytes for people.

    >>> size_text(999), size_text(1000), size_text(25_300_000)
    ('999 bytes', '1.0 kB', '25.3 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        n_bytes /= 1000
        if n_bytes < 999.95:
            return f"{n_bytes:.1f} {unit}"
    return f"{n_bytes / 1000:.1f} TB"


def number_text(value: float) -> str:
    """Format a number as an integer with thousands separators."""
    return f"{value:,.0f}"


def duration_text(seconds: float) -> str:
    """Format a duration for people.

    >>> duration_text(0.31), duration_text(75), duration_text(86400)
    ('0.3 s', '1 min 15 s', '24 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def percent(progress: float | None) -> int | None:
    """Return the progress in percent, rounded down, so that 100 means finished."""
    return None if progress is None else int(100 * min(max(progress, 0.0), 1.0))


def sentence(text: str) -> str:
    """Return a text with a capital letter at the start and a full stop at the end."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


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


def doing(job: Job, wait: Wait | None) -> str:
    """Return a job's current activity, with the same text as `page.js`."""
    if job.state is State.RUNNING:
        return job.stage or "computing"
    return "waiting" if wait is None else wait.sentence


class JobViews:
    """Views of a job, which pages show in addition to its record, for owners and holders of a link."""

    def __init__(self, storage: Storage, settings: Settings) -> None:
        self._storage, self._settings, self._root = storage, settings, settings.root_path

    def own(self, job: Job, wait: Wait | None, share_base: str, has_token: bool = True) -> dict[str, Any]:
        """Return the owner's view; `share_base` is scheme and host of the request."""
        formats: tuple[str, ...] = ()
        if job.verb in SERVED and len((verb := served_verb(job.verb)).formats) > 1:
            current = job.request.get("format") or verb.default_format
            formats = tuple(name for name in verb.formats if name != current)
        return {
            **self._view(job, f"{self._root}/api/v1/jobs/{job.id}", f"{self._root}/jobs/{job.id}"),
            "doing": doing(job, wait),
            "waits_for": [] if wait is None else [(title, f"{self._root}/jobs/{id}") for id, title in wait.jobs],
            "message": message_for_forms(job.message),
            "inputs": self._inputs(job),
            "share": None if job.share is None else f"{share_base}{self._root}/shared/{job.share}",
            "formats": formats,
            "programs": programs_of(job, share_base + self._root, has_token),
            "uses": self._uses(job),
        }

    def shared(self, job: Job) -> dict[str, Any]:
        """Return the view for anyone with the link."""
        secret = quote(job.share or "", safe="")
        return {
            **self._view(job, f"{self._root}/api/v1/shared/{secret}", f"{self._root}/shared/{secret}"),
            "doing": doing(job, None),
            "waits_for": [],
            "message": message_for_forms(job.open_message),
            "inputs": [_file(file, "") for file in job.inputs],
            "share": None,
            "formats": (),
            "programs": [],
            "uses": [],
        }

    def _view(self, job: Job, files: str, page: str) -> dict[str, Any]:
        """Return the view for all users; `files` and `page` are the addresses of the job's files and page."""
        report = next((file for file in job.outputs if file.media_type.startswith(PAGE)), None)
        main = next((file for file in job.outputs if file.role == "main"), None)
        preview = None
        if main is not None and main.digest and main.size and not report and main.media_type.startswith(TEXT_TYPES):
            with suppress(KeyError, OSError), self._storage.files.open(main.digest) as stream:
                preview = preview_of(stream.read(PREVIEW_BYTES + 1), main.name.endswith((".tsv", ".m8")))
        return {
            "percent": percent(job.progress),
            "took": duration_text(job.finished - job.started) if job.finished and job.started else "",
            "kept_until": self._settings.kept_until(job.finished),
            "outputs": [_file(file, f"{files}/files/{quote(file.role, safe='')}") for file in job.outputs],
            "report": None if report is None else f"{page}/report",
            "pictures": [
                PictureView(file.name, f"{files}/files/{quote(file.role, safe='')}", f"{file.role} of {job.title}")
                for file in job.outputs
                if file.media_type.startswith(("image/svg+xml", "image/png"))
            ],
            "preview": preview,
        }

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

    def _inputs(self, job: Job) -> list[FileView]:
        """Return the inputs, numbered within their option; outputs of existing jobs link to the jobs."""
        named = {source for source in job.sources if source is not None}
        there = {each.id for each in self._storage.jobs.several(named) if each.owner == job.owner} if named else set()
        seen: Counter[str] = Counter()
        found = []
        for file, source in zip(job.inputs, job.sources, strict=True):
            role = quote(file.role, safe="")
            url = f"{self._root}/api/v1/jobs/{job.id}/inputs/{role}/{seen[file.role]}" if file.digest else ""
            seen[file.role] += 1
            found.append(_file(file, url, f"{self._root}/jobs/{source}" if source in there else ""))
        return found


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
