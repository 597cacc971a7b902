"""Notification threads next to the web server, so that no worker waits for them."""

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
#: Concurrent calls, each for another user.
N_CALLS = 8


class Messenger:
    """Caller of web hooks and sender of e-mail, until stopped."""

    def __init__(self, storage: Storage, settings: Settings, is_quiet: bool) -> None:
        self._storage, self._hosts, self._mail, self._is_quiet = storage, settings.hook_hosts, settings.mail, is_quiet
        self._ends, self._wakes = threading.Event(), threading.Event()
        self._busy: set[str] = set()  # users whose hooks are being called
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        """Start, if notifications are configured."""
        if self._hosts or self._mail is not None:
            self._thread.start()

    def stop(self) -> None:
        """Stop without waiting for calls: an interrupted call is repeated by the next messenger."""
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
            except Exception:  # the database is unavailable, which others report
                continue
            for hook in claimed:
                self._begin(hook)

    def _begin(self, hook: Hook) -> None:
        """Call a hook in its own thread; unlike a pool's threads, it does not delay the end of the process."""
        self._busy.add(hook.job.owner)
        try:
            threading.Thread(target=self._call_and_free, args=(hook,), daemon=True).start()
        except RuntimeError:  # no thread available: the claim expires, and the hook is due again
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
                host = domain_of(hook.url) if by_mail else urlsplit(hook.url).hostname or ""  # the rest may be secret
                self._storage.audit.note(hook.job.owner, "", "hook given up", hook.job.id, host)
        except Exception as error:
            fault = f"{fault} ({type(error).__name__})"
        if fault and not self._is_quiet and not self._ends.is_set():
            what = "e-mail" if by_mail else "web hook"
            print(f"tropalign: {what} of job {hook.job.id}: {shown(fault[:300])}", file=sys.stderr, flush=True)
