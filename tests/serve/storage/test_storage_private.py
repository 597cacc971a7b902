"""What a server keeps is for nobody else on its machine to read."""

import os
import re
import stat

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from tropalign.errors import ResourceError, UsageError
from tropalign.serve.private import make_private_file, make_private_folder, write_secret
from tropalign.serve.settings import Settings
from tropalign.serve.storage import Storage
from tropalign.serve.work.supervisor import locked


def modes(folder):
    """By the names of files and folders, those that others can open."""
    return {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in folder.rglob("*")}


@pytest.fixture
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_all_that_a_server_makes_is_its_users_alone(tmp_path, usual_umask):
    folder = tmp_path / "made"
    with locked(folder), Storage.open(Settings(folder=folder)) as storage:
        storage.audit.note("a", "b", "c")
        found = modes(folder)
        assert {"tropalign.db", "tropalign.db-wal", "tropalign.db-shm", "server.lock"} <= found.keys()
        assert set(found.values()) == {"0o600", "0o700"}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_files_of_a_server_of_before_are_taken_from_others(tmp_path, usual_umask):
    settings = Settings(folder=tmp_path / "made")
    with locked(settings.folder), Storage.open(settings) as storage:
        storage.audit.note("a", "b", "c")
        for path in settings.folder.glob("*.*"):
            path.chmod(0o644)
        with Storage.open(settings):
            assert {modes(settings.folder)[name] for name in ("tropalign.db", "tropalign.db-wal")} == {"0o600"}
    with locked(settings.folder):
        assert modes(settings.folder)["server.lock"] == "0o600"


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o770, 0o701])
def test_a_folder_that_others_can_use_is_refused(tmp_path, mode):
    folder = tmp_path / "there"
    folder.mkdir()
    folder.chmod(mode)
    sentence = (
        f"{folder}: others on this machine may read or write it (mode 0{mode:o}), and could act as any user of the "
        f"server: chmod 700 {folder}, or choose another --folder if its file system does not support modes"
    )
    with pytest.raises(ResourceError, match=f"^{re.escape(sentence)}$"):
        Storage.open(Settings(folder=folder))
    with pytest.raises(ResourceError, match=f"^{re.escape(sentence)}$"), locked(folder):
        pass
    assert list(folder.iterdir()) == []
    folder.chmod(0o700)
    Storage.open(Settings(folder=folder)).close()


def test_a_folder_of_another_user_is_told_apart(tmp_path, monkeypatch):
    """A volume that a container mounts."""
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    tmp_path.chmod(0o755)
    sentence = (
        f"{tmp_path}: it belongs to user {os.getuid()} (mode 0755), but must belong only to user 12345, who "
        f"runs tropalign: as root, chown 12345 {tmp_path} && chmod 700 {tmp_path} (for a docker volume, in a container "
        "with --user root), or choose another --folder"
    )
    with pytest.raises(ResourceError, match=f"^{re.escape(sentence)}$"):
        make_private_folder(tmp_path)


def test_a_file_that_root_has_made_is_told_with_the_remedy(tmp_path, monkeypatch):
    """By a command of a token as root, before the server's own user came."""
    path = tmp_path / "tropalign.db"
    path.touch(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith(".db"))
    sentence = (
        f"{path}: it belongs to user {os.getuid()}, but tropalign runs as user 12345: as root, chown 12345 {path}"
    )
    with pytest.raises(ResourceError, match=f"^{re.escape(sentence)}$"):
        make_private_file(path)


def test_a_token_is_written_where_nobody_else_reads_it(tmp_path, usual_umask):
    path = tmp_path / "alice.token"
    write_secret(path, "trop_x")
    assert path.read_text() == "trop_x\n" and stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match=r"alice\.token: the file exists: name another one, or remove it"):
        write_secret(path, "trop_y")
    with pytest.raises(ResourceError, match=r"it cannot be written \(No such file or directory\): name another file"):
        write_secret(tmp_path / "missing" / "x", "trop_y")
    assert path.read_text() == "trop_x\n"
