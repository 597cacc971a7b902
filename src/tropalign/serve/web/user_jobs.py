"""Jobs, databases and files of a user, for the API and the pages: submit, find, share and delete.

Texts in a submission become files, everything that it refers to must belong to the user, and equal jobs are
reused. Objects of other users are treated as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from tropalign import __version__
from tropalign.errors import UsageError, shown
from tropalign.serve.notices import check_told
from tropalign.serve.records import Awaited, JobFile, NewJob, State
from tropalign.serve.web.context import Refused
from tropalign.serve.web.limits import MOST_TAGS
from tropalign.submissions.submission import BUILD, Submission, outputs_of, sanitised
from tropalign.submissions.verbs import MAIN

if TYPE_CHECKING:
    from tropalign.serve.records import Database, Job, User, Wait
    from tropalign.serve.web.context import Web
    from tropalign.submissions.submission import InputItem

MOST_TITLE = 200
MOST_TAG = 50
#: Maximum bytes of a pasted text that are searched for its first name, and maximum characters of that name in a
#: title.
MOST_LOOKED_AT, MOST_NAME = 1 << 20, 60
_ID = re.compile(r"[a-z2-7]{26}")
#: Stands for all users in an administrator's request.
ALL_USERS = "*"
_SECRET = re.compile(r"[A-Za-z0-9_-]{16,64}")
#: Message for a job that does not exist or belongs to another user.
_NONE = "there is no such job: it was deleted, or belongs to another user"
_NO_DATABASE = "you have no such database: it was deleted, or belongs to another user"
_NOT_LISTED = "there is no such database: choose one from the list (GET /api/v1/databases)"


def submit(
    web: Web,
    user: User,
    data: dict[str, Any],
    title: str = "",
    tags: tuple[str, ...] = (),
    address: str = "",
    hook: str = "",
) -> tuple[Job, bool]:
    """Submit the JSON of a submission; return the job, and whether it is new rather than an equal job of this user.

    `hook` is the address to notify at a new job's end, empty for none. Raises UsageError for an invalid
    submission, Refused if a file or database is missing, and ResourceError if the user has too many waiting jobs
    or no space left.
    """
    if hook:
        try:
            check_told(hook, web.settings)
        except UsageError as error:
            raise Refused(422, str(error), field="hook") from None
    submission = Submission.from_json(data)
    submission = replace(submission, inputs=_stored(web, user, submission.inputs)).checked()
    named = _named(submission)
    files = tuple(_found(web, user, dest, item) for dest, item in named)
    digests = {item: _digest(web, item, file) for (_, item), file in zip(named, files, strict=True)}
    title = clean_title(title)
    if not title:
        names = [_title_of(web, file) for file in files[:2]]
        between = ", " if any(name.endswith(" more") for name in names) else " and "
        title = between.join(names) + (" ..." if len(files) > 2 else "")
        title = clean_title(
            title if submission.verb == BUILD else f"{submission.verb} {title}"
        )  # a build's title names its database
    key = submission.key(digests.__getitem__, __version__)
    if submission.verb == BUILD:
        # Equal files make another database if the name differs, or if the user's own one is shared differently.
        own = [one for one in web.storage.databases.list(user.name) if (one.owner, one.name) == (user.name, title)]
        is_other = bool(own) and all(one.shared != submission.shared for one in own)
        key = sha256(f"{key} {submission.shared} {title} {token_hex() if is_other else ''}".encode()).hexdigest()
    awaited: list[Awaited] = []  # inputs that other jobs have yet to write
    for position, (dest, item) in enumerate(named):
        if item.job is not None and item.file is None:
            source = job_named(web, user, item.job)
            if source is None:  # deleted since the lookup
                raise _no_source(dest)
            awaited.append(Awaited(position, source.id, item.role or MAIN, source.title))
    new = NewJob(
        owner=user.name,
        verb=submission.verb,
        title=title,
        tags=clean_tags(tags),
        key=key,
        request=submission.as_json(),
        command=submission.shown_command(),
        version=__version__,
        inputs=files,
        awaited=tuple(awaited),
        hook=hook,
    )
    job, is_new = web.storage.jobs.submit(new, web.storage.users.limits(user.name, web.settings.limits))
    web.audit(user, address, "submit" if is_new else "submit again", job.id, submission.verb)
    return job, is_new


def _named(submission: Submission) -> list[tuple[str, InputItem]]:
    """Return all inputs with their names, in the order of the record."""
    return [(dest, item) for dest, items in submission.inputs.items() for item in items]


def _no_source(dest: str) -> Refused:
    sentence = "the job whose result is to be read was deleted or belongs to another user: give the file"
    return Refused(422, sentence, field=f"inputs.{dest}")


def submit_in_format(web: Web, user: User, job: Job, format: str, address: str) -> tuple[Job, bool]:
    """Submit a job's submission in another format, with the same title and tags."""
    asked = Submission.from_json(job.request).in_format(format).as_json()
    return submit(web, user, asked, job.title, job.tags, address)


def clean_title(title: str) -> str:
    """Return a title on one line."""
    return " ".join(_printable(title[: 4 * MOST_TITLE]).split())[:MOST_TITLE]


def clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return distinct tags, or raise Refused if there are too many."""
    words = (" ".join(_printable(tag[: 4 * MOST_TAG]).split())[:MOST_TAG] for tag in tags)
    found = tuple(dict.fromkeys(word for word in words if word))
    if len(found) > MOST_TAGS:
        raise Refused(422, f"a job can have at most {MOST_TAGS} tags", field="tags")
    return found


def _printable(text: str) -> str:
    """Replace invisible characters, line ends and direction marks by blanks."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _title_of(web: Web, file: JobFile) -> str:
    """Return the file's name, or the first record's name for pasted texts, which all have the same file name."""
    if file.digest is None or not file.name.startswith("pasted.") or file.size > MOST_LOOKED_AT:
        return file.name
    with web.storage.files.open(file.digest) as stream:
        heads = [line[1:].split() for line in stream.read().splitlines() if line.startswith(b">")]
    if not heads or not heads[0]:
        return file.name
    first = heads[0][0].decode("utf-8", "replace")[:MOST_NAME]
    return f"{first} and {len(heads) - 1} more" if len(heads) > 1 else first


def _stored(web: Web, user: User, inputs: dict[str, tuple[InputItem, ...]]) -> dict[str, tuple[InputItem, ...]]:
    """Return the inputs with texts stored as files, and databases by their names."""
    if any(item.text is not None for items in inputs.values() for item in items):
        most = web.storage.users.limits(user.name, web.settings.limits).stored_bytes_per_user
        web.storage.uploads.check_room(user.name, most)
    return {dest: tuple(_as_file(web, user, dest, item) for item in items) for dest, items in inputs.items()}


def _as_file(web: Web, user: User, dest: str, item: InputItem) -> InputItem:
    if item.job is not None:
        return _as_output(web, user, dest, item)
    if item.database is not None:  # commands and headers show the database's own name
        known = _database(web, user, dest, item.database)
        return replace(item, database=known.id, name=sanitised(known.name, "database"))
    if item.text is None:
        return item
    stored = web.storage.uploads.keep_bytes(user.name, item.text.encode("utf-8", "replace"), item.name)
    return replace(item, text=None, file=stored.digest)


def _as_output(web: Web, user: User, dest: str, item: InputItem) -> InputItem:
    """Return the output of this user's job as an existing or future file."""
    job = job_named(web, user, item.job or "")
    if job is None and item.file is not None:  # from an earlier job, which still has the file
        return replace(item, job=None, role=None)
    if job is None:
        raise _no_source(dest)
    field = f"inputs.{dest}"
    if job.state.is_final and job.state != State.DONE:
        raise Refused(422, f"the job {shown(job.title)} is {job.state} and has no result", field=field)
    names, digests = names_of_outputs(job), {file.role: file.digest for file in job.outputs}
    role = item.role or MAIN
    if role not in names:
        there = ", ".join(names)
        raise Refused(422, f"the job {shown(job.title)} has no output {role!r}: it has {there}", field=field)
    return replace(item, file=digests.get(role), name=sanitised(names[role]))


def names_of_outputs(job: Job) -> dict[str, str]:
    """Return the names of existing or future outputs of a job, by role."""
    if job.state.is_final:
        return {file.role: file.name for file in job.outputs}
    return {output.role: output.filename for output in outputs_of(Submission.from_json(job.request))}


def _database(web: Web, user: User, dest: str, word: str) -> Database:
    """Return the database of an input, by its id or name, or raise Refused."""
    try:
        return web.storage.databases.named_by(user.name, word)
    except KeyError:
        raise Refused(422, _NOT_LISTED, field=f"inputs.{dest}") from None
    except UsageError as error:
        raise Refused(422, str(error), field=f"inputs.{dest}") from None


def _found(web: Web, user: User, dest: str, item: InputItem) -> JobFile:
    """Return the file of an input; raise Refused if it is missing or belongs to another user."""
    if item.database is not None:
        database = _database(web, user, dest, item.database)
        return JobFile(dest, database.name, None, database.size, database=database.id)
    if item.file is None:
        return JobFile(dest, item.name, None, 0)
    digest = item.file
    try:
        if not (web.storage.uploads.has(user.name, digest) or web.storage.jobs.has_file(user.name, digest)):
            raise KeyError(digest)
        size = web.storage.files.size_of(digest)
    except KeyError:
        raise Refused(422, "the file is not here: send it first (POST /api/v1/files)", field=f"inputs.{dest}") from None
    return JobFile(dest, item.name, digest, size)


def _digest(web: Web, item: InputItem, file: JobFile) -> str:
    """Return an identifier of the content that the job will read; a rebuilt database has different content."""
    if item.job is not None and item.file is None:
        return f"{item.role} of the job {item.job}"
    if file.digest is not None:
        return file.digest
    try:
        return web.storage.databases.get(file.database or "").digest
    except KeyError:  # deleted since the lookup
        raise Refused(422, _NOT_LISTED, field=f"inputs.{file.role}") from None


@contextmanager
def still_there(sentence: str = _NONE) -> Iterator[None]:
    """Convert KeyError to Refused: a job or file is missing, perhaps just deleted by another request."""
    try:
        yield
    except KeyError:
        raise Refused(404, sentence) from None


def own_job(web: Web, user: User, id: str) -> Job:
    """Return a job of this user, or raise Refused."""
    job = job_named(web, user, id)
    if job is None:
        raise Refused(404, _NONE)
    return job


def is_administrator(web: Web, user: User) -> bool:
    """True if the user may see, stop and delete data of others."""
    return web.storage.users.get(user.name).is_administrator


def listed_owner(web: Web, user: User, asked: str | None) -> str | None:
    """Return the owner whose jobs or databases to list: the user, or for an administrator another one, None for ``*``.

    Raises Refused if other users request another owner.
    """
    if not asked or asked == user.name:
        return user.name
    if not is_administrator(web, user):
        raise Refused(403, "only administrators can list what other users have: ask for your own", field="user")
    return None if asked == ALL_USERS else asked


def manageable_job(web: Web, user: User, id: str) -> Job:
    """Return a job that this user may stop and delete (for administrators, any job), or raise Refused."""
    with suppress(KeyError):
        if _ID.fullmatch(id) and is_administrator(web, user):
            return web.storage.jobs.get(id)
    return own_job(web, user, id)


def job_named(web: Web, user: User, id: str) -> Job | None:
    """Return a job of this user by id, or None."""
    if not _ID.fullmatch(id):
        return None
    try:
        job = web.storage.jobs.get(id)
    except KeyError:
        return None
    return job if job.owner == user.name else None


def shared_job(web: Web, secret: str) -> Job:
    """Return the job of a link; raise Refused if the link is unknown or no longer shared."""
    if _SECRET.fullmatch(secret):
        try:
            return web.storage.jobs.by_share(secret)
        except KeyError:
            pass
    raise Refused(404, "there is no such job: it is no longer shared")


def own_database(web: Web, user: User, id: str, for_deletion: bool = False) -> Database:
    """Return a database of this user (of any user, for deletion by an administrator), or raise Refused."""
    with still_there(_NO_DATABASE):
        database = web.storage.databases.get(id[:100].replace("\0", ""))
    is_own = database.owner == user.name or (for_deletion and is_administrator(web, user))
    if database.is_installed or not is_own:
        raise Refused(404, _NO_DATABASE)
    return database


def share_database(web: Web, user: User, address: str, id: str, shared: bool) -> Database:
    """Share a database of this user or make it private, and return it."""
    with still_there(_NO_DATABASE):
        changed = web.storage.databases.set_shared(own_database(web, user, id).id, shared)
    web.audit(user, address, "share database" if shared else "unshare database", changed.id)
    return changed


def forget_database(web: Web, user: User, address: str, id: str) -> None:
    """Delete a database of this user; administrators may delete any.

    Raises Refused if it does not exist, UsageError if a queued or running job needs it.
    """
    database = own_database(web, user, id, for_deletion=True)
    with still_there(_NO_DATABASE):
        web.storage.databases.delete(database.id)
    web.audit(user, address, "delete database", database.id)


def delete_upload(web: Web, user: User, address: str, digest: str) -> None:
    """Delete an upload of this user, or raise Refused if there is no such upload."""
    with still_there("you have no such unused file: it was deleted, or belongs to a job"):
        web.storage.uploads.delete(user.name, digest[:100].replace("\0", ""))
    web.audit(user, address, "delete upload", digest[:100])


def wait_of(web: Web, job: Job) -> Wait | None:
    """Return the reason that a job waits, None if it does not."""
    return web.storage.waits.of([job], web.settings.limits.running_per_user).get(job.id)
