"""Forms of new jobs: shown, filled in from an earlier job or an example, and submitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tropalign.errors import TropalignError, UsageError, shown
from tropalign.properties import cached
from tropalign.serve.notices import told_where
from tropalign.serve.records import Job
from tropalign.serve.web.context import Refused, address_of, refusal_of, user_of, web_of
from tropalign.serve.web.limits import read_form
from tropalign.serve.web.user_jobs import names_of_outputs, own_job, submit
from tropalign.submissions.option_values import FieldError
from tropalign.submissions.submission import BUILD, sanitised
from tropalign.submissions.verbs import (
    MAIN,
    SERVED,
    InputField,
    ServedVerb,
    for_forms,
    format_of_verb,
    is_used,
    output_label,
    served_verb,
    uses_of,
)
from tropalign.verbs.workflow import example_path

if TYPE_CHECKING:
    from tropalign.serve.records import Database
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage
    from tropalign.serve.web.views import Templates
    from tropalign.submissions.verbs import OptionField

#: Names of pasted texts, by the kind of input.
PASTED = {"models": "pasted.hmm", "tree": "pasted.nwk", "table": "pasted.tsv", "graph": "pasted.tsv"}
#: Help for inputs whose own help also mentions names: forms offer names among the options.
HELPS = {"matrix": "A file in NCBI's format, instead of a matrix chosen by its name"}
HINTS = {
    "sequences": ">name\nMKVLA...",
    "alignment": ">name\nMKV-LA...",
    "models": "HMMER3/f ...",
    "tree": "((a:1,b:1):1,c:2);",
}
#: Maximum characters in a text area from earlier pasted text and from examples; longer inputs are kept as files.
MOST_PASTED, MOST_OF_EXAMPLE = 60_000, 12_000
BLOCK = 1 << 20


@dataclass
class Given:
    """Contents of a form as texts: from an earlier job, an example, or a rejected submission."""

    texts: dict[str, str] = field(default_factory=dict)
    kept: dict[str, list[KeptItem]] = field(default_factory=dict)
    databases: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    format: str = ""
    outputs: tuple[str, ...] | None = None
    title: str = ""
    tags: str = ""
    shared: bool = False
    hook: str = ""
    error: str = ""
    error_field: str = ""


@dataclass(frozen=True)
class KeptItem:
    """Input that need not be sent again.

    `value` is ``file:DIGEST:NAME`` from an earlier job, ``job:ID:ROLE:NAME`` of an output, or ``example:DEST``;
    `words` describe its origin.
    """

    value: str
    name: str
    words: str


@dataclass(frozen=True)
class SourceView:
    """Input in a form; `is_shown` is False if it is among the further inputs."""

    dest: str
    label: str
    help: str
    required: bool
    many: bool
    is_shown: bool
    hint: str
    text: str
    kept: list[KeptItem]
    databases: Sequence[Database]
    database: str
    error: str


@dataclass(frozen=True)
class OptionView:
    """Option in a form."""

    dest: str
    flag: str
    label: str
    help: str
    kind: str
    many: bool
    choices: tuple[str, ...]
    unset: str
    value: str
    error: str


@dataclass(frozen=True)
class GroupView:
    """Options under one heading."""

    name: str
    fields: list[OptionView]
    is_open: bool


@dataclass(frozen=True)
class OutputView:
    """Optional additional output file."""

    role: str
    label: str
    help: str
    is_on: bool


def source_views(verb: ServedVerb, given: Given, databases: Sequence[Database]) -> list[SourceView]:
    """Return the inputs of a verb with their contents."""
    return [
        SourceView(
            each.dest,
            each.label,
            HELPS.get(each.kind) or for_forms(each.help),
            each.required,
            each.many,
            # Show inputs that most jobs need, and given ones.
            each.required
            or each.dest in verb.example
            or (each.takes_database and each.flag is None)
            or any(held.get(each.dest) for held in (given.texts, given.kept, given.databases)),
            HINTS.get(each.kind, ""),
            given.texts.get(each.dest, ""),
            given.kept.get(each.dest, []),
            databases if each.takes_database else (),
            given.databases.get(each.dest, ""),
            _error_of(given, each.dest),
        )
        for each in verb.inputs
    ]


def option_groups(verb: ServedVerb, given: Given) -> tuple[list[OptionView], list[GroupView]]:
    """Return the common options, and the others by group."""
    groups: dict[str, list[OptionView]] = {}
    common = []
    for each in verb.options:
        default = "" if each.default is None else str(each.default)
        value = given.options.get(each.dest, "")
        help = for_forms(each.help)
        for words in (f" (default: {default})", f"; default: {default}"):  # the field shows the default
            help = help.removesuffix(words)
        view = OptionView(
            each.dest,
            each.flag,
            each.label,
            help,
            each.kind,
            each.many,
            tuple(name for name in each.choices if name != default),
            f"{default} (default)" if default else "default",
            "" if value == default and each.kind == "choice" else value,
            _error_of(given, each.dest),
        )
        if each.is_common:
            common.append(view)
        else:
            groups.setdefault(each.group, []).append(view)
    return common, [
        GroupView(name, views, any(view.value or view.error for view in views)) for name, views in groups.items()
    ]


def output_views(verb: ServedVerb, given: Given) -> list[OutputView]:
    """Return the optional outputs besides the main one."""
    asked = given.outputs
    return [
        OutputView(
            each.role,
            output_label(each.role),
            for_forms(each.help),
            (each.role == verb.report or is_used(verb.name, each.role)) if asked is None else each.role in asked,
        )
        for each in verb.outputs
        if not each.always
    ]


def format_choices(verb: ServedVerb) -> list[tuple[str, str]]:
    """Return the formats of the result, each with a description."""
    known = [(name, format_of_verb(verb.name, name).words) for name in verb.formats]
    return [(name, f"{name}: {words}" if words else name) for name, words in known]


def options_of(verb: ServedVerb, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return options for a submission from field texts by `dest`, without empty fields.

    A flag is set by any text. Raises FieldError if a text is not a number where one is required.
    """
    found: dict[str, Any] = {}
    for each in verb.options:
        text = texts.get(each.dest, "").strip()
        if not text:
            continue
        if each.kind == "flag":
            found[each.dest] = True
        elif each.many:
            found[each.dest] = [_value(each, one.strip()) for one in text.split(",") if one.strip()]
        else:
            found[each.dest] = _value(each, text)
    return found


def texts_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return a submission's options as texts of form fields."""
    return {dest: _text(value) for dest, value in options.items() if value is not None and value is not False}


def chosen_inputs(
    field_of: InputField,
    files: list[dict[str, Any]],
    text: str,
    name: str,
    database: str,
    kept: Iterable[dict[str, Any]],
    add_text: Callable[[bytes], str],
) -> list[dict[str, Any]]:
    """Return the items of an input: uploads replace kept files unless the field accepts several.

    `files` are items of uploaded files, `name` is that of the pasted text, and `add_text` stores it and returns
    its digest.
    Raises FieldError for too many items, none in a required input, or sequences without names.
    """
    items = list(files)
    if text.strip():
        if field_of.kind == "sequences" and text.lstrip("\ufeff \t\r\n")[:1].isalnum():
            raise FieldError(
                field_of.dest,
                "this does not start with a name: put a line with > and a name before each sequence",
                field_of.label,
            )
        items.append({"file": add_text(pasted_bytes(text)), "name": name})
    if database:
        items.append({"database": database})
    if field_of.many:
        items = [*kept, *items]
    elif not items:
        items = list(kept)
    if len(items) > 1 and not field_of.many:
        raise FieldError(
            field_of.dest,
            f"{len(items)} inputs are given: give only one text, file or database",
            field_of.label,
        )
    if not items and field_of.required:
        raise FieldError(field_of.dest, "nothing is given: paste text, or choose a file", field_of.label)
    return items


def pasted_bytes(text: str) -> bytes:
    """Return pasted text as a file, with Unix line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")


def _error_of(given: Given, dest: str) -> str:
    return given.error if given.error_field == dest else ""


def _value(each: OptionField, text: str) -> Any:
    try:
        if each.kind == "whole":
            return int(text)
        if each.kind == "number":
            value = float(text)
            if not math.isfinite(value):
                raise ValueError
            return int(value) if value.is_integer() and "e" not in text.lower() else value
    except ValueError:
        what = "whole number" if each.kind == "whole" else "number"
        raise FieldError(each.dest, f"{text[:50]!r} is not a {what}", each.label) from None
    return text


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return "1" if value is True else str(value)


def slug_of(verb: str) -> str:
    """Return a verb as part of an address: ``db build`` becomes ``db-build``."""
    return verb.replace(" ", "-")


VERB_OF = {slug_of(name): name for name in SERVED}


class FormPages:
    """Routes below ``/new``."""

    def __init__(self, settings: Settings, storage: Storage, templates: Templates) -> None:
        self.settings, self.storage, self.templates = settings, storage, templates

    def add_to(self, router: APIRouter) -> None:
        """Add the GET and POST routes of forms."""
        router.add_api_route("/new/{slug}", self.form, methods=["GET"], response_class=Response)
        router.add_api_route("/new/{slug}", self.submit, methods=["POST"], response_class=Response)

    def form(self, request: Request, slug: str) -> Response:
        """Show a form, empty or filled in."""
        verb, asked = _verb(slug), request.query_params
        given = Given()
        if "from" in asked:
            given = self._of_job(own_job(web_of(request), user_of(request), asked["from"]))
        elif "use" in asked:
            job, role = own_job(web_of(request), user_of(request), asked["use"]), asked.get("role", MAIN)
            name = names_of_outputs(job).get(role)
            uses = dict(uses_of(job.verb, str(job.request.get("format", "")), role))
            if name is None or verb.name not in uses:
                raise Refused(
                    404, "the job has no such result, or this verb cannot read it: choose another one on the job's page"
                )
            words = f"Result of “{job.title}”" + ("" if job.state.is_final else ", for which the new job will wait")
            given = Given(kept={uses[verb.name]: [KeptItem(f"job:{job.id}:{role}:{name}", name, words)]})
        elif "example" in asked:
            given = _of_example(verb)
        if "database" in asked:
            # If several arguments accept a database, the last one is the target.
            takers = [each.dest for each in verb.inputs if each.takes_database and each.flag is None]
            given.databases |= dict.fromkeys(takers[-1:], asked["database"][:100])
        return self._page(request, verb, given)

    async def submit(self, request: Request, slug: str) -> Response:
        """Accept a form: store its files, then submit the job."""
        verb = _verb(slug)
        wants_json = "application/json" in request.headers.get("accept", "")
        form = await read_form(request)
        given = _sent(verb, form)
        try:
            job = await run_in_threadpool(self._make, request, verb, form, given)
        except (TropalignError, Refused) as error:
            return await run_in_threadpool(self._refusal, request, verb, given, error, wants_json)
        finally:
            await form.close()
        url = f"{self.settings.root_path}/jobs/{job.id}"
        return JSONResponse({"url": url}, 201) if wants_json else RedirectResponse(url, 303)

    def _refusal(
        self, request: Request, verb: ServedVerb, given: Given, error: TropalignError | Refused, wants_json: bool
    ) -> Response:
        """Return the error for a script, or the form again with the error."""
        refused = refusal_of(error)
        assert refused is not None
        sentence = shown(refused.sentence)
        # ``inputs.queries[0].name`` belongs to the field ``queries``.
        field = (refused.field or "").removeprefix("inputs.").removeprefix("options.")
        name = field.partition(".")[0].partition("[")[0]
        if wants_json:
            content = {"error": sentence, "field": name}
            return JSONResponse(content, refused.status, refused.headers)
        given.error, given.error_field = sentence, name
        page = self._page(request, verb, given, refused.status)
        page.headers.update(refused.headers)
        return page

    def _make(self, request: Request, verb: ServedVerb, form: FormData, given: Given) -> Job:
        """Submit the job of a form."""
        options = options_of(verb, given.options)  # before files are stored
        limits = self.storage.users.limits(user_of(request).name, self.settings.limits)
        self.storage.uploads.check_room(user_of(request).name, limits.stored_bytes_per_user)
        inputs = {}
        for each in verb.inputs:
            files = [self._stored(request, part) for part in form.getlist(f"{each.dest}.file") if _is_file(part)]
            kept = [self._kept(request, verb, item.value) for item in given.kept.get(each.dest, [])]
            text, database = given.texts.get(each.dest, ""), given.databases.get(each.dest, "")
            name, example = PASTED.get(each.kind, "pasted.fa"), verb.example.get(each.dest)
            if example is not None and example_path(example) and pasted_bytes(text) == example_bytes(example):
                name = _base_name(example)  # the example is unchanged
            items = chosen_inputs(each, files, text, name, database, kept, partial(self._add_text, request))
            if items:
                inputs[each.dest] = items
        asked = {
            "verb": verb.name,
            "inputs": inputs,
            "options": options,
            "format": given.format or verb.default_format,
            "outputs": list(given.outputs or ()),
            "shared": given.shared,
        }
        tags = tuple(given.tags.split(","))
        made, _ = submit(web_of(request), user_of(request), asked, given.title, tags, address_of(request), given.hook)
        return made

    def _stored(self, request: Request, part: Any) -> dict[str, Any]:
        """Store an uploaded file, and return its item."""
        with self.storage.files.receive(self.settings.limits.upload_bytes) as receiving:
            for block in iter(partial(part.file.read, BLOCK), b""):
                receiving.write(block)
            stored = self.storage.uploads.keep(user_of(request).name, receiving, sanitised(part.filename))
        return {"file": stored.digest, "name": part.filename}

    def _add_text(self, request: Request, content: bytes) -> str:
        return self.storage.uploads.keep_bytes(user_of(request).name, content, "pasted").digest

    def _kept(self, request: Request, verb: ServedVerb, value: str) -> dict[str, Any]:
        """Return the item of a kept input."""
        kind, _, rest = value.partition(":")
        if kind == "job":
            id, role, _ = (*rest.split(":", 2), "", "")[:3]
            return {"job": id, "role": role}
        if kind == "example" and rest in verb.example:
            return {
                "file": self._add_text(request, example_bytes(verb.example[rest])),
                "name": _base_name(verb.example[rest]),
            }
        digest, _, name = rest.partition(":")
        if kind != "file":
            raise UsageError("the input from an earlier job is unknown: give the input again")
        return {"file": digest, "name": name}

    def _of_job(self, job: Job) -> Given:
        """Return the contents of an earlier job: pasted texts for editing, files to keep."""
        given = Given(
            options=texts_of(job.request.get("options", {})),
            format=str(job.request.get("format", "")),
            outputs=tuple(job.request.get("outputs", ())),
            title=job.title,
            tags=", ".join(job.tags),
            shared=job.request.get("shared") is True,
        )
        for dest, items in job.request.get("inputs", {}).items():
            for item in items:
                if item.get("database"):
                    given.databases[dest] = item["database"]
                elif item.get("file"):
                    self._keep(given, dest, item["file"], str(item.get("name", "")))
                elif item.get("job"):
                    name = str(item.get("name", ""))
                    kept = KeptItem(f"job:{item['job']}:{item.get('role', MAIN)}:{name}", name, "Result of a job")
                    given.kept.setdefault(dest, []).append(kept)
        return given

    def _keep(self, given: Given, dest: str, digest: str, name: str) -> None:
        """Put a short pasted text back into its text area; keep other inputs as files."""
        if name.startswith("pasted.") and dest not in given.texts:
            try:
                with self.storage.files.open(digest) as stream:
                    data = stream.read(MOST_PASTED + 1)
            except (KeyError, OSError):
                data = b""
            if 0 < len(data) <= MOST_PASTED and b"\0" not in data:
                given.texts[dest] = data.decode("utf-8", "replace")
                return
        given.kept.setdefault(dest, []).append(KeptItem(f"file:{digest}:{name}", name, "as before"))

    def _page(self, request: Request, verb: ServedVerb, given: Given, status: int = 200) -> Response:
        user = user_of(request).name
        takes_databases = any(each.takes_database for each in verb.inputs)
        databases = self.storage.databases.list(user) if takes_databases else ()
        waiting, running, own_waiting = self.storage.jobs.in_work(user)
        sources = source_views(verb, given, databases)
        common, groups = option_groups(verb, given)
        first = [each for each in sources if each.is_shown]
        return self.templates.page(
            request,
            "form",
            status=status,
            here="databases" if verb.name == BUILD else "new",
            verb=verb,
            slug=slug_of(verb.name),
            inputs=first,
            more_inputs=[each for each in sources if not each.is_shown],
            common=common,
            groups=groups,
            outputs=output_views(verb, given),
            formats=format_choices(verb),
            format=given.format or verb.default_format,
            title=given.title,
            tags=given.tags,
            shared=given.shared,
            hook=given.hook,
            told_where=told_where(self.settings),
            hook_error=given.error if given.error_field == "hook" else "",
            error=given.error,
            waiting=waiting,
            running=running,
            own_waiting=own_waiting,
            limits=self.storage.users.limits(user, self.settings.limits),
            keep_days=None if self.settings.keep_days is None else f"{self.settings.keep_days:g}",
            is_database=verb.name == BUILD,
            has_example=bool(verb.example) and all(example_path(name) for name in verb.example.values()),
        )


def _verb(slug: str) -> ServedVerb:
    if slug not in VERB_OF:
        raise Refused(404, "there is no such verb: choose one on the first page")
    return served_verb(VERB_OF[slug])


def _is_file(part: Any) -> bool:
    return isinstance(part, UploadFile) and bool(part.filename)


def _sent(verb: ServedVerb, form: FormData) -> Given:
    """Return the contents of a form, excluding files."""
    outputs = tuple(str(role) for role in form.getlist("outputs"))
    given = Given(
        options={each.dest: _field(form, f"opt.{each.dest}") for each in verb.options},
        format=_field(form, "format"),
        outputs=outputs,
        title=_field(form, "title")[:200],
        tags=_field(form, "tags")[:1000],
        shared=bool(_field(form, "shared")),
        hook=_field(form, "hook").strip()[:1000],
    )
    for each in verb.inputs:
        given.texts[each.dest] = _field(form, f"{each.dest}.text")
        given.databases[each.dest] = _field(form, f"{each.dest}.database")
        kept = given.kept[each.dest] = []
        for value in form.getlist(f"{each.dest}.kept"):
            if isinstance(value, str):
                is_output = value.startswith("job:")
                name = _base_name(value.split(":", 3 if is_output else 2)[-1])
                kept.append(KeptItem(value, name, "Result of a job" if is_output else "as before"))
    return given


def _field(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _of_example(verb: ServedVerb) -> Given:
    """Return the verb's example: short inputs as text, the others as files."""
    given = Given(options=texts_of(verb.example_options), title=f"{verb.title}: an example")
    for dest, name in verb.example.items():
        path = example_path(name)
        if path is None:
            raise Refused(404, "the examples are not installed on this server")
        data = example_bytes(name)
        if len(data) <= MOST_OF_EXAMPLE and not name.endswith(".gz"):
            given.texts[dest] = data.decode("utf-8", "replace")
        else:
            given.kept[dest] = [KeptItem(f"example:{dest}", _base_name(name), "example")]
    return given


def _base_name(name: str) -> str:
    return name.rpartition("/")[2]


@cached
def example_bytes(name: str) -> bytes:
    """Return an example file, which must exist."""
    path = example_path(name)
    assert path is not None
    return path.read_bytes()
