"""Jobs, databases and files of a user, for the API and the pages: submitted, found, shared and deleted.

Texts of a submission become files, everything that it names is the user's, and equal jobs are found. What somebody else
has does not exist for who asks.
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
from tropalign.serve.hook_calls import check_told
from tropalign.serve.records import Awaited, JobFile, NewJob, State
from tropalign.serve.web.limits import MOST_TAGS
from tropalign.serve.web.refusals import Refused
from tropalign.submissions.file_names import sanitised
from tropalign.submissions.plan import outputs_of
from tropalign.submissions.submission import BUILD, Submission
from tropalign.submissions.verbs import MAIN

if TYPE_CHECKING:
    from tropalign.serve.records import Database, Job, User, Wait
    from tropalign.serve.web.context import Web
    from tropalign.submissions.submission import InputItem

MOST_TITLE = 200
MOST_TAG = 50
#: Bytes of a pasted text in which its first name is looked for, and letters of that name in a title.
MOST_LOOKED_AT, MOST_NAME = 1 << 20, 60
_ID = re.compile(r"[a-z2-7]{26}")
#: In place of a user's name, for an administrator.
ALL_USERS = "*"
_SECRET = re.compile(r"[A-Za-z0-9_-]{16,64}")
#: How a job is called that is not there or not yours.
_NONE = "there is no such job: it was deleted, or is somebody else's"
_NO_DATABASE = "there is no such database of yours: it was deleted, or is somebody else's"
_NOT_LISTED = "there is no such database: choose one that is listed (GET /api/v1/databases)"


def submit(
    web: Web,
    user: User,
    data: dict[str, Any],
    title: str = "",
    tags: tuple[str, ...] = (),
    address: str = "",
    hook: str = "",
) -> tuple[Job, bool]:
    """Submits what the JSON of a submission asks for.

    Parameters
    ----------
    hook
        The address that is told of the end of a new job; empty for none.

    Returns
    -------
    tuple[Job, bool]
        The job, and whether it is new rather than an equal one of this user that was there.

    Raises
    ------
    UsageError
        It asks for what there is not.
    Refused
        A file or database is not there.
    ResourceError
        The user has too many waiting jobs, or no room left.
    """
    _check_hook(web, hook)
    submission = Submission.from_json(data)
    submission = replace(submission, inputs=_stored(web, user, submission.inputs)).checked()
    files = tuple(_found(web, user, dest, item) for dest, items in submission.inputs.items() for item in items)
    digests = {item: _digest(web, item, file) for item, file in zip(_items(submission), files, strict=True)}
    title = clean_title(title) or _default_title(web, submission.verb, files)
    key = submission.key(digests.__getitem__, __version__)
    new = NewJob(
        owner=user.name,
        verb=submission.verb,
        title=title,
        tags=clean_tags(tags),
        key=_key_of_database(web, user, key, title, submission.shared) if submission.verb == BUILD else key,
        request=submission.as_json(),
        command=submission.shown_command(),
        version=__version__,
        inputs=files,
        awaited=_awaited(web, user, submission),
        hook=hook,
    )
    job, is_new = web.storage.jobs.submit(new, web.storage.users.limits(user.name, web.settings.limits))
    web.audit(user, address, "submit" if is_new else "submit again", job.id, submission.verb)
    return job, is_new


def _check_hook(web: Web, hook: str) -> None:
    if hook:
        try:
            check_told(hook, web.settings)
        except UsageError as error:
            raise Refused(422, str(error), field="hook") from None


def _items(submission: Submission) -> list[InputItem]:
    """All inputs, in the order in which the record has them."""
    return [item for items in submission.inputs.values() for item in items]


def _awaited(web: Web, user: User, submission: Submission) -> tuple[Awaited, ...]:
    """Inputs that other jobs are still to write."""
    found: list[Awaited] = []
    named = [(dest, item) for dest, items in submission.inputs.items() for item in items]
    for position, (dest, item) in enumerate(named):
        if item.job is not None and item.file is None:
            job = job_named(web, user, item.job)
            if job is None:  # it was deleted since it was looked up
                raise _no_source(dest)
            found.append(Awaited(position, job.id, item.role or MAIN, job.title))
    return tuple(found)


def _no_source(dest: str) -> Refused:
    sentence = "the job whose result is to be read was deleted, or is somebody else's: give the file"
    return Refused(422, sentence, field=f"inputs.{dest}")


def _key_of_database(web: Web, user: User, key: str, name: str, shared: bool) -> str:
    """Equal files make another database under another name, and where the user's own is shared otherwise by now."""
    own = [each for each in web.storage.databases.list(user.name) if each.owner == user.name and each.name == name]
    is_other = bool(own) and all(each.shared != shared for each in own)
    return sha256(f"{key} {shared} {name} {token_hex() if is_other else ''}".encode()).hexdigest()


def submit_in_format(web: Web, user: User, job: Job, format: str, address: str) -> tuple[Job, bool]:
    """Submits a job's submission in another format, under the same title and tags."""
    asked = Submission.from_json(job.request).in_format(format).as_json()
    return submit(web, user, asked, job.title, job.tags, address)


def clean_title(title: str) -> str:
    """A title on one line."""
    return " ".join(_printable(title[: 4 * MOST_TITLE]).split())[:MOST_TITLE]


def clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Tags without doubles.

    Raises
    ------
    Refused
        There are too many.
    """
    words = (" ".join(_printable(tag[: 4 * MOST_TAG]).split())[:MOST_TAG] for tag in tags)
    found = tuple(dict.fromkeys(word for word in words if word))
    if len(found) > MOST_TAGS:
        raise Refused(422, f"a job has no more than {MOST_TAGS} tags", field="tags")
    return found


def _printable(text: str) -> str:
    """Without what turns the direction of text, ends lines or cannot be seen."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _default_title(web: Web, verb: str, files: tuple[JobFile, ...]) -> str:
    names = [_title_of(web, file) for file in files[:2]]
    between = ", " if any(name.endswith(" more") for name in names) else " and "
    title = between.join(names) + (" ..." if len(files) > 2 else "")
    return clean_title(title if verb == BUILD else f"{verb} {title}")  # that one is the name of the database


def _title_of(web: Web, file: JobFile) -> str:
    """The file's name, or as all pasted texts have the same one, the name of the first record."""
    if file.digest is None or not file.name.startswith("pasted.") or file.size > MOST_LOOKED_AT:
        return file.name
    with web.storage.files.open(file.digest) as stream:
        heads = [line[1:].split() for line in stream.read().splitlines() if line.startswith(b">")]
    if not heads or not heads[0]:
        return file.name
    first = heads[0][0].decode("utf-8", "replace")[:MOST_NAME]
    return f"{first} and {len(heads) - 1} more" if len(heads) > 1 else first


def _stored(web: Web, user: User, inputs: dict[str, tuple[InputItem, ...]]) -> dict[str, tuple[InputItem, ...]]:
    """Inputs with files in place of texts, and databases by their names."""
    if any(item.text is not None for items in inputs.values() for item in items):
        most = web.storage.users.limits(user.name, web.settings.limits).stored_bytes_per_user
        web.storage.uploads.check_room(user.name, most)
    return {dest: tuple(_as_file(web, user, dest, item) for item in items) for dest, items in inputs.items()}


def _as_file(web: Web, user: User, dest: str, item: InputItem) -> InputItem:
    if item.job is not None:
        return _as_output(web, user, dest, item)
    if item.database is not None:  # whatever it was called, commands and headers show its name
        known = _database(web, user, dest, item.database)
        return replace(item, database=known.id, name=sanitised(known.name, "database"))
    if item.text is None:
        return item
    stored = web.storage.uploads.keep_bytes(user.name, item.text.encode("utf-8", "replace"), item.name)
    return replace(item, text=None, file=stored.digest)


def _as_output(web: Web, user: User, dest: str, item: InputItem) -> InputItem:
    """An output of a job of this user, as the file that it is, or is called when the job has written it."""
    job = job_named(web, user, item.job or "")
    if job is None and item.file is not None:  # as an earlier job had it, which still has the file
        return replace(item, job=None, role=None)
    if job is None:
        raise _no_source(dest)
    field = f"inputs.{dest}"
    if job.state.is_final and job.state != State.DONE:
        raise Refused(422, f"the job {shown(job.title)} is {job.state}, and has no result to be read", field=field)
    names, digests = names_of_outputs(job), {file.role: file.digest for file in job.outputs}
    role = item.role or MAIN
    if role not in names:
        there = ", ".join(names)
        raise Refused(422, f"the job {shown(job.title)} has no output {role!r}: it has {there}", field=field)
    return replace(item, file=digests.get(role), name=sanitised(names[role]))


def names_of_outputs(job: Job) -> dict[str, str]:
    """The files that a job has written, or is to write, by their roles."""
    if job.state.is_final:
        return {file.role: file.name for file in job.outputs}
    return {output.role: output.filename for output in outputs_of(Submission.from_json(job.request))}


def _database(web: Web, user: User, dest: str, word: str) -> Database:
    """The database that an input names, by its id or name. Raises Refused."""
    try:
        return web.storage.databases.named_by(user.name, word)
    except KeyError:
        raise Refused(422, _NOT_LISTED, field=f"inputs.{dest}") from None
    except UsageError as error:
        raise Refused(422, str(error), field=f"inputs.{dest}") from None


def _found(web: Web, user: User, dest: str, item: InputItem) -> JobFile:
    """What an input names, which has to be there and the user's."""
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
    """What stands for the content that the job reads: a database that is built anew under its name is another one."""
    if item.job is not None and item.file is None:
        return f"{item.role} of the job {item.job}"
    if file.digest is not None:
        return file.digest
    try:
        return web.storage.databases.get(file.database or "").digest
    except KeyError:  # it was deleted since it was looked up
        raise Refused(422, _NOT_LISTED, field=f"inputs.{file.role}") from None


@contextmanager
def still_there() -> Iterator[None]:
    """Tells of a job that another request deletes before this one is done with it as of one that is not there."""
    try:
        yield
    except KeyError:
        raise Refused(404, _NONE) from None


def own_job(web: Web, user: User, id: str) -> Job:
    """A job of this user.

    Raises
    ------
    Refused
        There is none.
    """
    job = job_named(web, user, id)
    if job is None:
        raise Refused(404, _NONE)
    return job


def is_administrator(web: Web, user: User) -> bool:
    """Whether the user may see, stop and delete what others have."""
    return web.storage.users.get(user.name).is_administrator


def listed_owner(web: Web, user: User, asked: str | None) -> str | None:
    """Whose jobs or databases to list: the asker's own; of an administrator another's, or (None) everybody's for ``*``.

    Raises
    ------
    Refused
        Somebody else asks for another's.
    """
    if not asked or asked == user.name:
        return user.name
    if not is_administrator(web, user):
        raise Refused(403, "what others have is listed for administrators alone: ask for your own", field="user")
    return None if asked == ALL_USERS else asked


def manageable_job(web: Web, user: User, id: str) -> Job:
    """A job that this user may stop and delete: one's own, and for an administrator everybody's.

    Raises
    ------
    Refused
        There is none.
    """
    with suppress(KeyError):
        if _ID.fullmatch(id) and is_administrator(web, user):
            return web.storage.jobs.get(id)
    return own_job(web, user, id)


def job_named(web: Web, user: User, id: str) -> Job | None:
    """A job of this user by its id; None where there is none."""
    if not _ID.fullmatch(id):
        return None
    try:
        job = web.storage.jobs.get(id)
    except KeyError:
        return None
    return job if job.owner == user.name else None


def shared_job(web: Web, secret: str) -> Job:
    """The job of a link.

    Raises
    ------
    Refused
        There is none, or it is shared no longer.
    """
    if _SECRET.fullmatch(secret):
        try:
            return web.storage.jobs.by_share(secret)
        except KeyError:
            pass
    raise Refused(404, "there is no such job: it is not shared any longer")


def own_database(web: Web, user: User, id: str, for_deletion: bool = False) -> Database:
    """A database of this user, and for the deletion by an administrator one that any user has built.

    Raises
    ------
    Refused
        There is none.
    """
    try:
        database = web.storage.databases.get(id[:100].replace("\0", ""))
    except KeyError:
        database = None
    if database is not None and database.is_installed:
        database = None
    if database is None or (database.owner != user.name and not (for_deletion and is_administrator(web, user))):
        raise Refused(404, _NO_DATABASE)
    return database


def share_database(web: Web, user: User, address: str, id: str, shared: bool) -> Database:
    """A database of this user, shared from now on or no longer."""
    try:
        changed = web.storage.databases.set_shared(own_database(web, user, id).id, shared)
    except KeyError:  # it was deleted since it was looked up
        raise Refused(404, _NO_DATABASE) from None
    web.audit(user, address, "share database" if shared else "unshare database", changed.id)
    return changed


def forget_database(web: Web, user: User, address: str, id: str) -> None:
    """Deletes a database of this user, and for an administrator one that any user has built.

    Raises
    ------
    Refused
        There is none.
    UsageError
        A job that waits or runs needs it.
    """
    database = own_database(web, user, id, for_deletion=True)
    try:
        web.storage.databases.delete(database.id)
    except KeyError:  # it was deleted since it was looked up
        raise Refused(404, _NO_DATABASE) from None
    web.audit(user, address, "delete database", database.id)


def delete_upload(web: Web, user: User, address: str, digest: str) -> None:
    """Deletes a file that this user has sent, and that no job has.

    Raises
    ------
    Refused
        There is none.
    """
    try:
        web.storage.uploads.delete(user.name, digest[:100].replace("\0", ""))
    except KeyError:
        raise Refused(404, "you have sent no such file of late: it was deleted, or is a job's") from None
    web.audit(user, address, "delete upload", digest[:100])


def wait_of(web: Web, job: Job) -> Wait | None:
    """What a job waits for; None where it does not."""
    return web.storage.waits.of([job], web.settings.limits.running_per_user).get(job.id)
