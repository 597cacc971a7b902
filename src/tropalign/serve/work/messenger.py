"""Threads that tell addresses of jobs that have ended, beside the web server: no worker waits for them."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tropalign.errors import shown
from tropalign.serve.hook_calls import call
from tropalign.serve.mail import domain_of, is_mail, send

if TYPE_CHECKING:
    from tropalign.serve.records import Hook
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage

LOOK_SECONDS = 1.0
#: Calls at a time, each for another user.
N_CALLS = 8


class Messenger:
    """Calls hooks, and sends e-mail, until it is told to end.

    Parameters
    ----------
    storage
        Where the hooks are.
    settings
        Which hosts may be called, and the mail server.
    is_quiet
        No lines about calls that fail.
    """

    def __init__(self, storage: Storage, settings: Settings, is_quiet: bool) -> None:
        self._storage, self._hosts, self._mail, self._is_quiet = storage, settings.hook_hosts, settings.mail, is_quiet
        self._ends, self._wakes = threading.Event(), threading.Event()
        self._busy: set[str] = set()  # users whose hooks are being called
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        """Begins, where any address may be told."""
        if self._hosts or self._mail is not None:
            self._thread.start()

    def stop(self) -> None:
        """Ends, and waits for no call: one that is on its way is made again, by whoever calls hooks then."""
        self._ends.set()
        self._wakes.set()

    def _look(self) -> None:
        while True:
            self._wakes.wait(LOOK_SECONDS)
            self._wakes.clear()
            if self._ends.is_set():
                return
            busy = self._busy.copy()
            if len(busy) == N_CALLS:
                continue
            try:
                claimed = self._storage.hooks.claim(N_CALLS - len(busy), busy)
            except Exception:  # the database is away, which others say
                continue
            for hook in claimed:
                self._begin(hook)

    def _begin(self, hook: Hook) -> None:
        """Calls a hook in a thread of its own, for which the end of the process does not wait, unlike a pool's."""
        self._busy.add(hook.job.owner)
        try:
            threading.Thread(target=self._call_and_free, args=(hook,), daemon=True).start()
        except RuntimeError:  # the system has no thread left: the claim ends, and the hook is due again
            self._busy.discard(hook.job.owner)

    def _call_and_free(self, hook: Hook) -> None:
        try:
            self._call(hook)
        finally:
            self._busy.discard(hook.job.owner)
            self._wakes.set()

    def _call(self, hook: Hook) -> None:
        by_mail = is_mail(hook.url)
        fault = send(hook.url, self._mail, hook.job) if by_mail else call(hook.url, self._hosts, hook.job)
        try:
            comes_again = self._storage.hooks.called(hook, not fault)
            if fault and not comes_again:
                host = domain_of(hook.url) if by_mail else urlsplit(hook.url).hostname or ""  # the rest may be a secret
                self._storage.audit.note(hook.job.owner, "", "hook given up", hook.job.id, host)
        except Exception as error:
            fault = f"{fault} ({type(error).__name__})"
        if fault and not self._is_quiet and not self._ends.is_set():
            what = "e-mail" if by_mail else "web hook"
            print(f"tropalign: {what} of job {hook.job.id}: {shown(fault[:300])}", file=sys.stderr, flush=True)
