"""Both engines: opened, migrated, refused."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
pytest.importorskip("alembic", reason="the server's modules are not installed: pip install 'tropalign[serve]'")

import tropalign
from tropalign.errors import ResourceError, UsageError
from tropalign.serve.records import Search
from tropalign.serve.settings import Settings
from tropalign.serve.storage import Storage
from tropalign.serve.storage.database import hold, is_postgresql, open_database, reading, writing
from tropalign.serve.storage.schema import metadata, search_metadata


def test_the_migrations_lead_to_the_tables(storage):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    tables = [metadata, search_metadata] if is_postgresql(storage.engine) else metadata

    def is_ours(name, kind, parents):
        is_search = (name or "").startswith("job_words") and not is_postgresql(storage.engine)
        return not is_search and name != "alembic_version"

    with reading(storage.engine) as connection:
        options = {"compare_type": True, "include_name": is_ours}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), tables) == []


def test_opening_again_keeps_what_is_there(storage, storage_settings):
    storage.audit.note("a", "b", "c")
    with Storage.open(storage_settings, migrate=False) as other:
        assert len(list(other.audit.entries())) == 1
        assert other.secret() == storage.secret()
        assert len(other.secret()) == 32
        other.is_well()


def test_opening_waits_for_no_writer(storage, storage_settings, monkeypatch):
    """A process that was stopped in the midst of writing must not keep a server from its start."""
    monkeypatch.setattr("tropalign.serve.storage.database.PATIENCE", 0.2)
    with writing(storage.engine) as connection:
        hold(connection, "migration")
        with Storage.open(storage_settings) as other:
            assert other.jobs.list(Search("alice")).jobs == ()


def test_a_newer_database_is_refused(storage, storage_settings):
    with writing(storage.engine) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    for migrate in (True, False):
        with pytest.raises(UsageError, match="the database was made by a newer tropalign: update this one, or choose"):
            Storage.open(storage_settings, migrate=migrate)


def test_an_empty_database_is_made_by_a_server_alone(storage_settings):
    with pytest.raises(UsageError, match="the database is of an older tropalign: start this version's server first"):
        Storage.open(storage_settings, migrate=False)


OPEN = """
import sys
from pathlib import Path
from tropalign.serve.settings import Settings
from tropalign.serve.storage import Storage
with Storage.open(Settings(folder=Path(sys.argv[1]), database=sys.argv[2] or None)) as storage:
    print(storage.secret().hex())
"""


def test_servers_that_start_together_migrate_once(storage_settings):
    command = [sys.executable, "-c", OPEN, storage_settings.folder, storage_settings.database or ""]
    environment = {**os.environ, "PYTHONPATH": str(Path(tropalign.__file__).parent.parent)}
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(3)
    ]
    ended = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0] * 3, ended
    assert len({secret for secret, _ in ended}) == 1


@pytest.mark.parametrize(
    "url", ["", "nonsense", "mysql://a:secret@b/c", "sqlite://", "sqlite:///:memory:", "http://x:99999999/"]
)
def test_what_is_no_database_is_refused(url):
    with pytest.raises(
        UsageError, match="a database must be named like postgresql://USER:PASSWORD@HOST/NAME"
    ) as caught:
        open_database(url)
    assert "secret" not in str(caught.value)


def test_a_server_that_does_not_answer():
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed: psycopg")
    with pytest.raises(ResourceError, match="the database cannot be opened") as caught:
        open_database("postgresql://ann:hidden@127.0.0.1:1/x")
    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "tropalign.db").write_text("no database" * 1000)
    sentence = f"the database cannot be opened: {tmp_path}/tropalign.db: file is not a database: restore the backup"
    with pytest.raises(ResourceError, match=f"^{re.escape(sentence)} of its folder$"):
        Storage.open(Settings(folder=tmp_path))
    with pytest.raises(ResourceError, match="choose another --folder"):
        Storage.open(Settings(folder=tmp_path / "tropalign.db" / "x"))


def test_a_damaged_database_is_a_sentence_with_the_remedy(tmp_path):
    settings = Settings(folder=tmp_path)
    with Storage.open(settings) as storage:
        storage.secret()
    with closing(sqlite3.connect(tmp_path / "tropalign.db")) as database:
        (page_bytes,) = database.execute("PRAGMA page_size").fetchone()
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'secrets'").fetchone()
    with (tmp_path / "tropalign.db").open("r+b") as file:
        file.seek(page_bytes * (root - 1))
        file.write(b"\xff" * page_bytes)
    sentence = "the database tropalign.db is damaged (database disk image is malformed): stop the server, and restore"
    with (
        Storage.open(settings) as storage,
        pytest.raises(ResourceError, match=f"^{re.escape(sentence)} the backup of its folder$") as caught,
    ):
        storage.secret()
    assert caught.value.exit_code == 4


def test_a_folder_whose_name_looks_like_a_url(tmp_path):
    with Storage.open(Settings(folder=tmp_path / "a?b#c%20d e")) as storage:
        storage.is_well()
    assert (tmp_path / "a?b#c%20d e" / "tropalign.db").is_file()


def test_sqlite_keeps_a_log_and_flushes_each_commit(tmp_path):
    with Storage.open(Settings(folder=tmp_path)) as storage, reading(storage.engine) as connection:
        pragmas = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert pragmas == ["wal", 2, 1]


def test_what_cannot_be_written_is_not_well(tmp_path, monkeypatch):
    with Storage.open(Settings(folder=tmp_path)) as storage:
        monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
        with pytest.raises(ResourceError, match="the server's folder of files cannot be written"):
            storage.is_well()


def test_a_url_of_postgresql_needs_no_driver_in_it(postgresql_url, tmp_path):
    for prefix in ("postgres://", "postgresql+psycopg://"):
        url = postgresql_url.replace("postgresql://", prefix)
        with Storage.open(Settings(folder=tmp_path, database=url)) as storage:
            storage.is_well()


def test_connections_that_the_server_ends_are_made_again(postgresql_url, tmp_path):
    """As when PostgreSQL starts again."""
    settings = Settings(folder=tmp_path, database=postgresql_url)
    with Storage.open(settings) as storage, Storage.open(settings) as other:
        with reading(storage.engine) as connection:
            ours = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with writing(other.engine) as connection:
            connection.exec_driver_sql(f"SELECT pg_terminate_backend({ours})")
        storage.is_well()
        with pytest.raises(ResourceError, match="the database does not answer"), reading(storage.engine) as connection:
            ours = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
            with writing(other.engine) as killing:
                killing.exec_driver_sql(f"SELECT pg_terminate_backend({ours})")
            connection.exec_driver_sql("SELECT 1")
        storage.is_well()


def test_tables_that_may_not_be_made(postgresql_url, tmp_path):
    import psycopg

    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
    try:
        url = postgresql_url.replace("tropalign@", "guest@")
        with pytest.raises(ResourceError, match="the database's tables cannot be made: permission denied"):
            Storage.open(Settings(folder=tmp_path, database=url))
    finally:
        with psycopg.connect(postgresql_url, autocommit=True) as connection:
            connection.execute("DROP ROLE guest")
