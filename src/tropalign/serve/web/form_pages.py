"""Forms of new jobs: shown, filled in from an earlier job or an example, and submitted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tropalign.errors import TropalignError, UsageError, shown
from tropalign.properties import cached
from tropalign.serve.hook_calls import told_where
from tropalign.serve.records import Job
from tropalign.serve.web.bodies import read_form
from tropalign.serve.web.context import address_of, user_of, web_of
from tropalign.serve.web.form_fields import (
    PASTED,
    Given,
    KeptItem,
    chosen_inputs,
    format_choices,
    option_groups,
    options_of,
    output_views,
    pasted_bytes,
    source_views,
    texts_of,
)
from tropalign.serve.web.refusals import Refused, refusal_of
from tropalign.serve.web.user_jobs import names_of_outputs, own_job, submit
from tropalign.submissions.file_names import sanitised
from tropalign.submissions.submission import BUILD, by_todays_names
from tropalign.submissions.verbs import MAIN, SERVED, InputField, ServedVerb, served_verb, uses_of
from tropalign.verbs.workflow import example_path

if TYPE_CHECKING:
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage
    from tropalign.serve.web.views import Templates

#: Maximum characters in a text area from earlier pasted text and from examples; longer inputs are kept as files.
MOST_PASTED, MOST_OF_EXAMPLE = 60_000, 12_000
BLOCK = 1 << 20


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
            given = self._of_job(verb, self._earlier(request, asked["from"]))
        elif "use" in asked:
            given = self._of_output(verb, self._earlier(request, asked["use"]), asked.get("role", MAIN))
        elif "example" in asked:
            given = _of_example(verb)
        if "database" in asked:
            given.databases |= dict.fromkeys(_takers(verb)[-1:], asked["database"][:100])
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
        sentence, name = shown(refused.sentence), _dest_of(refused.field)
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
            name = _pasted_name(verb, each, text)
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
                "name": _last(verb.example[rest]),
            }
        digest, _, name = rest.partition(":")
        if kind != "file":
            raise UsageError("what was kept of an earlier job is not known: give the input again")
        return {"file": digest, "name": name}

    def _earlier(self, request: Request, id: str) -> Job:
        return own_job(web_of(request), user_of(request), id)

    def _of_job(self, verb: ServedVerb, job: Job) -> Given:
        """Return the contents of an earlier job: pasted texts for editing, files to keep."""
        asked = by_todays_names(verb, job.request)
        given = Given(
            options=texts_of(asked.get("options", {})),
            format=str(asked.get("format", "")),
            outputs=tuple(asked.get("outputs", ())),
            title=job.title,
            tags=", ".join(job.tags),
            shared=asked.get("shared") is True,
        )
        for dest, items in asked.get("inputs", {}).items():
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

    def _of_output(self, verb: ServedVerb, job: Job, role: str) -> Given:
        """Return a form whose input is an output of an earlier job."""
        name = names_of_outputs(job).get(role)
        uses = dict(uses_of(job.verb, str(job.request.get("format", "")), role))
        if name is None or verb.name not in uses:
            raise Refused(404, "the job has no such result that this verb reads: choose another one on the job's page")
        kept = KeptItem(f"job:{job.id}:{role}:{name}", name, _result_of(job))
        return Given(kept={uses[verb.name]: [kept]})

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


def _result_of(job: Job) -> str:
    """Return a description of an existing or awaited result."""
    return f"Result of “{job.title}”" + ("" if job.state.is_final else ", for which the new job will wait")


def _verb(slug: str) -> ServedVerb:
    if slug not in VERB_OF:
        raise Refused(404, "there is no such verb: choose one on the first page")
    return served_verb(VERB_OF[slug])


def _takers(verb: ServedVerb) -> list[str]:
    """Return arguments that accept a database; if several qualify, the last one is the target."""
    return [each.dest for each in verb.inputs if each.takes_database and each.flag is None]


def _is_file(part: Any) -> bool:
    return isinstance(part, UploadFile) and bool(part.filename)


def _sent(verb: ServedVerb, form: FormData) -> Given:
    """Return the contents of a form, excluding files."""
    outputs = tuple(str(role) for role in form.getlist("outputs"))
    given = Given(
        options={each.dest: _text(form, f"opt.{each.dest}") for each in verb.options},
        format=_text(form, "format"),
        outputs=outputs,
        title=_text(form, "title")[:200],
        tags=_text(form, "tags")[:1000],
        shared=bool(_text(form, "shared")),
        hook=_text(form, "hook").strip()[:1000],
    )
    for each in verb.inputs:
        given.texts[each.dest] = _text(form, f"{each.dest}.text")
        given.databases[each.dest] = _text(form, f"{each.dest}.database")
        values = [value for value in form.getlist(f"{each.dest}.kept") if isinstance(value, str)]
        given.kept[each.dest] = [_kept_item(value) for value in values]
    return given


def _kept_item(value: str) -> KeptItem:
    """Return a kept input as shown when the form comes back."""
    is_output = value.startswith("job:")
    name = value.split(":", 3 if is_output else 2)[-1]
    return KeptItem(value, _last(name), "Result of a job" if is_output else "as before")


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _of_example(verb: ServedVerb) -> Given:
    """Return the verb's example: short inputs as text, the others as files."""
    given = Given(options=texts_of(verb.example_options), title=f"{verb.title}: an example")
    for dest, name in verb.example.items():
        path = example_path(name)
        if path is None:
            raise Refused(404, "the examples are not installed here")
        data = example_bytes(name)
        if len(data) <= MOST_OF_EXAMPLE and not name.endswith(".gz"):
            given.texts[dest] = data.decode("utf-8", "replace")
        else:
            given.kept[dest] = [KeptItem(f"example:{dest}", _last(name), "example")]
    return given


def _pasted_name(verb: ServedVerb, each: InputField, text: str) -> str:
    """Return the name of a pasted text; an unchanged example keeps its file name."""
    example = verb.example.get(each.dest)
    if example is not None and example_path(example) is not None and pasted_bytes(text) == example_bytes(example):
        return _last(example)
    return PASTED.get(each.kind, "pasted.fa")


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _dest_of(name: str | None) -> str:
    """Return the field of an error: ``queries`` for ``inputs.queries[0].name``."""
    words = (name or "").removeprefix("inputs.").removeprefix("options.")
    return words.partition(".")[0].partition("[")[0]


@cached
def example_bytes(name: str) -> bytes:
    """Return an example file, which must exist."""
    path = example_path(name)
    assert path is not None
    return path.read_bytes()
