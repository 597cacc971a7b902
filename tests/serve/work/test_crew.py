"""What looks after the workers also looks after the files."""

import os

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from job_desk import wait_until

from tropalign.serve.settings import Settings
from tropalign.serve.storage import Storage
from tropalign.serve.work.supervisor import Crew


def test_a_server_that_starts_removes_files_that_nothing_has(tmp_path):
    settings = Settings(folder=tmp_path / "served", n_workers=0)
    with Storage.open(settings) as storage:
        old, new = storage.files.add_bytes(b"old"), storage.files.add_bytes(b"new")
        os.utime(storage.files.path(old.digest), (1, 1))
        crew = Crew(storage, settings, is_quiet=True, keeps_files=True)
        crew.start()
        try:
            wait_until(lambda: not storage.files.holds(old.digest))
        finally:
            crew.stop()
        assert storage.files.holds(new.digest)
