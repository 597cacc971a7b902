"""A storage on SQLite and on a real PostgreSQL, which the session starts where it is installed."""

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

_numbers = itertools.count()


def _initdb():
    """The program, where it is on the path or where Debian has it."""
    found = shutil.which("initdb") or next(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
    if found is None:
        pytest.skip("PostgreSQL is not installed: no initdb")
    return Path(found)


def _as_another_user():
    """What `subprocess` needs, since PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")


@pytest.fixture(scope="session")
def postgresql_server():
    """The URL of a server of this session, without the name of a database: format it with one."""
    psycopg = pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed: psycopg")
    initdb, other = _initdb(), _as_another_user()
    folder = Path(tempfile.mkdtemp(prefix="tropalign-pg-"))  # not pytest's, which that user could not enter
    if other:
        os.chown(folder, other["user"], other["group"])
    try:
        made = subprocess.run(
            [initdb, "-D", folder / "data", "-U", "tropalign", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            capture_output=True, text=True, cwd=folder, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, **other,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [
                    initdb.with_name("postgres"), "-D", folder / "data", "-k", folder, "-c", "listen_addresses=",
                    "-c", "fsync=off", "-c", "max_connections=80", "-c", "shared_buffers=32MB",
                ],
                stdout=log, stderr=log, cwd=folder, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, **other,
            )  # fmt: skip
        try:
            _wait_for(psycopg, folder, server)
            yield f"postgresql://tropalign@/{{}}?host={folder}"
        finally:
            server.send_signal(signal.SIGINT)  # "fast": connections are closed
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(psycopg, folder, server):
    until = time.monotonic() + 120
    while True:
        try:
            psycopg.connect(f"postgresql://tropalign@/postgres?host={folder}").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > until:
                pytest.fail(f"PostgreSQL does not start: {(folder / 'log').read_text()}")
            time.sleep(0.05)


@pytest.fixture
def postgresql_url(postgresql_server):
    """The URL of an empty database, which is dropped afterwards."""
    import psycopg

    name = f"test{next(_numbers)}"
    with psycopg.connect(postgresql_server.format("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield postgresql_server.format(name)
    with psycopg.connect(postgresql_server.format("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def storage_settings(request, tmp_path):
    """Settings of a server whose storage is on each of the engines in turn."""
    pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
    from tropalign.serve.settings import Settings

    settings = Settings(folder=tmp_path / "served")
    if request.param == "postgresql":
        settings = replace(settings, database=request.getfixturevalue("postgresql_url"))
    return settings


@pytest.fixture
def storage(storage_settings):
    from tropalign.serve.storage import Storage

    with Storage.open(storage_settings) as storage:
        yield storage
