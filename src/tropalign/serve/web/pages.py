"""Pages for people: jobs, databases, help. The forms of new jobs are in `forms.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tropalign.errors import counted
from tropalign.serve.private import LOCAL, LOCAL_ID
from tropalign.serve.records import Job, JobLine, Search, State, User
from tropalign.serve.web.access import COOKIE, verified
from tropalign.serve.web.context import SESSION_SECONDS, Refused, address_of, local_path, user_of, web_of
from tropalign.serve.web.forms import FormPages
from tropalign.serve.web.limits import read_form
from tropalign.serve.web.user_jobs import (
    clean_tags,
    clean_title,
    delete_upload,
    forget_database,
    is_administrator,
    listed_owner,
    manageable_job,
    own_database,
    own_job,
    share_database,
    shared_job,
    still_there,
    submit_in_format,
    wait_of,
)
from tropalign.serve.web.views import JobViews, Templates, help_programs
from tropalign.submissions.local_server import LOCAL_TOKEN
from tropalign.submissions.submission import BUILD
from tropalign.submissions.verbs import SERVED, served_verb

if TYPE_CHECKING:
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage
    from tropalign.serve.web.context import Web

N_RECENT, N_LISTED = 8, 50
#: The most frequently used verb, listed first.
FIND = "find"
TITLES = {
    400: "The request cannot be read",
    401: "Log in first",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    413: "Too large",
    421: "Unknown server name",
    422: "Invalid request",
    429: "Too many requests",
    500: "Internal error",
    503: "Temporarily unavailable",
}
MOST_LETTERS = 500
router = APIRouter(include_in_schema=False)


def make_pages(settings: Settings, storage: Storage) -> tuple[APIRouter, Callable[[Request, int, str], Response]]:
    """Return the router of all pages, and the function that makes error pages."""
    router = APIRouter(include_in_schema=False)
    templates = Templates(settings.root_path)
    Pages(settings, storage, templates).add_to(router)
    FormPages(settings, storage, templates).add_to(router)

    def error_page(request: Request, status: int, sentence: str) -> Response:
        """Return an error page; for a failed login, the login form."""
        if status == 401:
            return login_page(templates, request, "", sentence)
        title = TITLES.get(status, "Invalid request")
        return templates.page(request, "error", status=status, title=title, sentence=sentence)

    return router, error_page


def login_page(templates: Templates, request: Request, wish: str, error: str = "") -> Response:
    """Return the login page, which explains where tokens come from; `wish` is the page to open afterwards."""
    is_local = request.state.tokens.lets_local_in
    status = 401 if error else 200
    return templates.page(request, "login", status=status, next=wish, error=error, is_local=is_local)


class Pages:
    """Page routes, one method each."""

    def __init__(self, settings: Settings, storage: Storage, templates: Templates) -> None:
        self.settings, self.storage, self.templates = settings, storage, templates
        self.root = settings.root_path
        self.views = JobViews(storage, settings)
        first = (FIND, *(name for name in SERVED if name not in (FIND, BUILD)))
        self.verbs = [served_verb(name) for name in first]

    def add_to(self, router: APIRouter) -> None:
        """Add the route of every page."""
        shown: dict[str, Callable[..., Any]] = {
            "/": self.home,
            "/jobs": self.jobs,
            "/jobs/{id}": self.job,
            "/jobs/{id}/delete": self.ask_to_delete,
            "/shared/{secret}": self.shared,
            "/databases": self.databases,
            "/databases/{id}/delete": self.ask_to_delete_database,
            "/files": self.files,
            "/login": self.login,
            "/help": self.help,
            "/static/{name}": self.static,
        }
        for path, answer in shown.items():
            router.add_api_route(path, answer, methods=["GET"], response_class=Response)
        changed: dict[str, Callable[..., Any]] = {
            "/jobs": self.change_chosen,
            "/jobs/{id}/edit": self.edit,
            "/jobs/{id}/cancel": self.cancel,
            "/jobs/{id}/share": self.share,
            "/jobs/{id}/unshare": self.share,
            "/jobs/{id}/delete": self.delete,
            "/jobs/{id}/formats/{format}": self.reformat,
            "/databases/{id}/delete": self.delete_database,
            "/databases/{id}/share": self.share_database,
            "/databases/{id}/unshare": self.share_database,
            "/files/{digest}/delete": self.delete_file,
        }
        for path, change in changed.items():
            router.add_api_route(path, change, methods=["POST"], response_class=Response)

    def home(self, request: Request) -> Response:
        """Show the verbs and the latest jobs."""
        found = self.storage.jobs.lines(Search(owner=user_of(request).name, limit=N_RECENT)).jobs
        return self.templates.page(request, "home", here="new", verbs=self.verbs, jobs=found, is_live=_are_live(found))

    def jobs(self, request: Request) -> Response:
        """Show or search past jobs."""
        user, asked = user_of(request), request.query_params
        text, tag = asked.get("q", "")[:MOST_LETTERS], asked.get("tag", "")[:MOST_LETTERS]
        state = asked.get("state", "") if asked.get("state") in set(State) else ""
        verb = asked.get("verb", "") if asked.get("verb") in SERVED else ""
        after, of_user = asked.get("after", "")[:MOST_LETTERS], asked.get("user", "")[:MOST_LETTERS]
        owner = listed_owner(web_of(request), user, of_user)
        found = self.storage.jobs.lines(
            Search(owner, text, State(state) if state else None, verb or None, tag or None, N_LISTED, after or None)
        )
        given = (("q", text), ("state", state), ("verb", verb), ("tag", tag), ("user", of_user))
        words = {name: value for name, value in given if value}
        lines = found.jobs if owner in (None, user.name) else tuple(replace(one, owner=owner) for one in found.jobs)
        here = f"{self.root}/jobs?"
        return self.templates.page(
            request,
            "jobs",
            here="jobs",
            jobs=lines,
            is_live=_are_live(lines),
            q=text,
            of_user=of_user,
            is_administrator=is_administrator(web_of(request), user),
            has_owners=owner != user.name,
            state=state,
            verb=verb,
            tag=tag,
            states=[*State],
            verbs=SERVED,
            tags=[*dict.fromkeys([*self.storage.jobs.tags(user.name), *([tag] if tag else [])])],
            is_filtered=bool(words),
            is_later=bool(after),
            first_page=here + urlencode(words),
            next_page=here + urlencode({**words, "after": found.after}) if found.after else None,
        )

    def job(self, request: Request, id: str) -> Response:
        """Show a job with its progress and result."""
        job = self._own(request, id)
        base = str(request.base_url).rstrip("/").removesuffix(self.root)
        has_token = user_of(request).token is not None
        view = self.views.own(job, wait_of(web_of(request), job), base, has_token)
        return self.templates.page(request, "job", here="jobs", job=job, view=view, is_own=True)

    def shared(self, request: Request, secret: str) -> Response:
        """Show a shared job."""
        job = shared_job(web_of(request), secret)
        return self.templates.page(request, "job", job=job, view=self.views.shared(job), is_own=False)

    def ask_to_delete(self, request: Request, id: str) -> Response:
        """Ask for confirmation, because deletion cannot be undone."""
        job = self._own(request, id)
        sentence = "The job, its result and its inputs are deleted permanently."
        back = f"/jobs/{job.id}"
        return self._ask(request, "jobs", job.title, sentence, f"{back}/delete", back)

    def _ask(
        self, request: Request, here: str, name: str, sentence: str, action: str, back: str, jobs: Sequence[Job] = ()
    ) -> Response:
        """Show the page that asks for confirmation of a deletion."""
        action, back = self.root + action, self.root + back
        return self.templates.page(
            request, "delete", here=here, name=name, sentence=sentence, action=action, back=back, jobs=jobs
        )

    async def change_chosen(self, request: Request) -> Response:
        """Stop or delete the selected jobs of a list, with a confirmation before deletion."""
        form = await read_form(request)
        ids = list(dict.fromkeys(str(id) for id in form.getlist("job")))[:N_LISTED]
        what, is_sure = form.get("do"), bool(form.get("sure"))
        await form.close()
        return await run_in_threadpool(self._change_chosen, request, ids, what == "delete", is_sure)

    def _change_chosen(self, request: Request, ids: list[str], deletes: bool, is_sure: bool) -> Response:
        found = []
        for id in ids:
            with suppress(Refused):  # deleted meanwhile
                found.append(manageable_job(web_of(request), user_of(request), id))
        if deletes and found and not is_sure:
            sentence = "The jobs, their results and their inputs are deleted permanently."
            return self._ask(request, "jobs", counted(len(found), "jobs"), sentence, "/jobs", "/jobs", found)
        for job in found:
            if deletes:
                self._delete(request, job)
            elif not job.state.is_final:
                with suppress(KeyError):  # deleted by another request
                    self.storage.jobs.cancel(job.id)
                    self._note(request, "cancel", job.id)
        return self._redirect_to("/jobs")

    async def edit(self, request: Request, id: str) -> Response:
        """Change the title or tags."""
        job = await run_in_threadpool(self._own, request, id)
        form = await read_form(request)
        title, tags = str(form.get("title", "")), str(form.get("tags", "")).split(",")
        await form.close()

        def change() -> None:
            with still_there():
                self.storage.jobs.change(job.id, title=clean_title(title) or job.title, tags=clean_tags(tuple(tags)))

        await run_in_threadpool(change)
        return self._redirect_to(f"/jobs/{job.id}")

    def cancel(self, request: Request, id: str) -> Response:
        """Cancel a running or queued job."""
        job = self._own(request, id)
        if not job.state.is_final:
            with still_there():
                self.storage.jobs.cancel(job.id)
            self._note(request, "cancel", job.id)
        return self._redirect_to(f"/jobs/{job.id}")

    def share(self, request: Request, id: str) -> Response:
        """Create or remove a job's public link."""
        job, is_shared = self._own(request, id), not request.url.path.endswith("/unshare")
        with still_there():
            self.storage.jobs.set_shared(job.id, is_shared)
        self._note(request, "share" if is_shared else "unshare", job.id)
        return self._redirect_to(f"/jobs/{job.id}")

    def delete(self, request: Request, id: str) -> Response:
        """Delete a job."""
        self._delete(request, self._own(request, id))
        return self._redirect_to("/jobs")

    def _delete(self, request: Request, job: Job) -> None:
        with suppress(KeyError):  # deleted by another request
            self.storage.jobs.delete(job.id)
            self._note(request, "delete", job.id)

    def reformat(self, request: Request, id: str, format: str) -> Response:
        """Compute a job in another format, unless that result exists."""
        job = self._own(request, id)
        made, _ = submit_in_format(web_of(request), user_of(request), job, format, address_of(request))
        return self._redirect_to(f"/jobs/{made.id}")

    def databases(self, request: Request) -> Response:
        """Show the databases that jobs may use."""
        uses = [verb.name for verb in self.verbs if any(each.takes_database for each in verb.inputs)]
        user, web = user_of(request), web_of(request)
        found = self.storage.databases.list(user.name)
        may_delete = is_administrator(web, user)
        others = [each for each in self.storage.databases.built() if each not in found] if may_delete else []
        return self.templates.page(
            request, "databases", here="databases", databases=found, others=others, uses=uses, may_delete=may_delete
        )

    def ask_to_delete_database(self, request: Request, id: str) -> Response:
        """Ask for confirmation."""
        database = own_database(web_of(request), user_of(request), id, for_deletion=True)
        sentence = (
            "Finished jobs that used the database keep their results; new jobs cannot use it. The job that built it "
            "keeps a copy of its file until that job is also deleted."
        )
        return self._ask(request, "databases", database.name, sentence, f"/databases/{id}/delete", "/databases")

    def delete_database(self, request: Request, id: str) -> Response:
        """Delete a database."""
        forget_database(web_of(request), user_of(request), address_of(request), id)
        return self._redirect_to("/databases")

    def share_database(self, request: Request, id: str) -> Response:
        """Share a database with all users, or make it private again."""
        is_shared = not request.url.path.endswith("/unshare")
        share_database(web_of(request), user_of(request), address_of(request), id, is_shared)
        return self._redirect_to("/databases")

    def files(self, request: Request) -> Response:
        """Show uploaded files that no job uses."""
        found = self.storage.uploads.list(user_of(request).name)
        return self.templates.page(request, "files", here="jobs", files=found)

    def delete_file(self, request: Request, digest: str) -> Response:
        """Delete an uploaded file."""
        delete_upload(web_of(request), user_of(request), address_of(request), digest)
        return self._redirect_to("/files")

    def login(self, request: Request) -> Response:
        """Show the login page; the printed address logs in this machine's user."""
        token = request.query_params.get("token")
        if token is not None:
            return let_in_by_address(request, token)
        return login_page(self.templates, request, request.query_params.get("next", "")[:MOST_LETTERS])

    def help(self, request: Request) -> Response:
        """Show how to use the server from programs."""
        user = user_of(request)
        programs = help_programs(str(request.base_url).rstrip("/"), user.token is not None)
        routes = []  # routes of the API, from its OpenAPI document
        for path, methods in request.app.openapi()["paths"].items():
            for method, about in methods.items() if path.startswith("/api/") else ():
                words = about.get("description", about.get("summary", "")).partition("\n")[0]
                routes.append({"method": method.upper(), "path": path, "words": words})
        return self.templates.page(
            request,
            "help",
            here="help",
            programs=programs,
            token_file=str(self.settings.folder / LOCAL_TOKEN) if user.token == LOCAL_ID else None,
            limits=self.settings.limits,
            routes=routes,
        )

    def static(self, request: Request, name: str) -> Response:
        """Send one of the static files."""
        file = self.templates.files.get(name)
        if file is None:
            raise Refused(404, "there is no such file")
        return file.response(request.query_params.get("v", ""))

    def _own(self, request: Request, id: str) -> Job:
        """Return the user's own job; raise Refused for missing jobs and for those of others alike."""
        return own_job(web_of(request), user_of(request), id)

    def _note(self, request: Request, action: str, what: str) -> None:
        web_of(request).audit(user_of(request), address_of(request), action, what)

    def _redirect_to(self, path: str) -> Response:
        return RedirectResponse(self.root + path, 303)


def _are_live(jobs: tuple[JobLine, ...]) -> bool:
    return any(not job.state.is_final for job in jobs)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Exchange a token for a session."""
    web = web_of(request)
    form = await read_form(request)
    token, wish = form.get("token"), form.get("next")
    await form.close()
    text = token.strip() if isinstance(token, str) else ""
    user, id = await verified(web, request.state.tokens, text[:500], address_of(request))
    request.state.tokens.forget()  # a token newer than the cache
    await run_in_threadpool(web.audit, User(user, id), address_of(request), "login")
    return _login_response(web, User(user, id), wish if isinstance(wish, str) else None)


def let_in_by_address(request: Request, token: str) -> Response:
    """Start a session for this machine's user, who has opened the printed address.

    Raises Refused for other tokens: users' tokens must not appear in addresses, which browsers and logs store.
    """
    web, user = web_of(request), User(LOCAL, LOCAL_ID)
    if not request.state.tokens.is_local(token):
        raise Refused(401, "this address is no longer valid: open the one that tropalign serve printed last")
    web.audit(user, address_of(request), "login")
    return _login_response(web, user, None)


def _login_response(web: Web, user: User, wish: str | None) -> Response:
    response = RedirectResponse(web.url(local_path(wish)), 303)
    _set_cookie(web, response, web.sessions.cookie(user.token or "", user.name), SESSION_SECONDS)
    return response


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the session."""
    web = web_of(request)
    session = request.state.session
    if session is not None:
        await run_in_threadpool(web.storage.ended_sessions.add, session.id, session.expires)
        request.state.tokens.forget()
        await run_in_threadpool(web.audit, user_of(request), address_of(request), "logout")
    response = RedirectResponse(web.url("/login"), 303)
    _set_cookie(web, response, "", 0)
    return response


def _set_cookie(web: Web, response: Response, value: str, seconds: int) -> None:
    response.set_cookie(
        COOKIE,
        value,
        max_age=seconds,
        path=web.settings.root_path or "/",
        secure=web.settings.is_https,
        httponly=True,
        samesite="lax",
    )
