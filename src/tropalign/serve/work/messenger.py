"""The thread that calls web hooks of jobs that have ended, beside the web server: no worker waits for it."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tropalign.errors import shown
from tropalign.serve.hook_calls import call

if TYPE_CHECKING:
    from tropalign.serve.records import Hook
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage

LOOK_SECONDS = 1.0
#: Calls at a time: a host that answers slowly holds up few others.
N_CALLS = 8


class Messenger:
    """Calls hooks until it is told to end.

    Parameters
    ----------
    storage
        Where the hooks are.
    settings
        Which hosts may be called.
    is_quiet
        No lines about calls that fail.
    """

    def __init__(self, storage: Storage, settings: Settings, is_quiet: bool) -> None:
        self._storage, self._hosts, self._is_quiet = storage, settings.hook_hosts, is_quiet
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        """Begins, where any host may be called."""
        if self._hosts:
            self._thread.start()

    def stop(self) -> None:
        """Ends, and waits for no call: those that are on their way are made again at the next start."""
        self._ends.set()

    def _look(self) -> None:
        with ThreadPoolExecutor(N_CALLS, "hooks") as pool:
            while not self._ends.wait(LOOK_SECONDS):
                try:
                    due = self._storage.hooks.due()
                except Exception:  # the database is away, which others say
                    continue
                list(pool.map(self._call, due))

    def _call(self, hook: Hook) -> None:
        fault = call(hook.url, self._hosts, hook.job)
        try:
            comes_again = self._storage.hooks.called(hook, not fault)
            if fault and not comes_again:
                host = urlsplit(hook.url).hostname or ""  # the rest may be a secret
                self._storage.audit.note(hook.job.owner, "", "hook given up", hook.job.id, host)
        except Exception as error:
            fault = f"{fault} ({type(error).__name__})"
        if fault and not self._is_quiet and not self._ends.is_set():
            print(f"tropalign: web hook of job {hook.job.id}: {shown(fault[:300])}", file=sys.stderr, flush=True)
