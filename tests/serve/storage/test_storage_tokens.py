"""Tokens, and the audit log."""

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import Clock

from tropalign.errors import UsageError
from tropalign.serve.storage import Storage
from tropalign.serve.storage import users as module
from tropalign.serve.storage.database import reading


def test_a_token_is_shown_once(storage):
    assert not storage.tokens.any()
    token, text = storage.tokens.add(" ann ")
    assert text.startswith(f"trop_{token.id}_")
    assert (token.user, token.revoked) == ("ann", False)
    assert storage.tokens.any()
    seen = storage.tokens.verify(text)
    assert (seen.id, seen.user) == (token.id, "ann")
    assert storage.tokens.list()[0].last_used == seen.last_used is not None
    with reading(storage.engine) as connection:
        kept = str(connection.exec_driver_sql("SELECT * FROM tokens").all())
    assert text.rpartition("_")[2] not in kept
    assert "$argon2id$" in kept


@pytest.mark.parametrize("forge", [
    lambda text: text[:-1] + ("a" if text[-1] != "a" else "b"),
    lambda text: text + "a",
    lambda text: text.upper(),
    lambda text: text[:5] + "a" * 8 + text[13:],
    lambda text: text + "\0",
    lambda text: "trop_" + "'; --aaa"[:8] + text[13:],
    lambda text: "",
    lambda text: "x" * 10**6,
    lambda text: "\ud800",
])  # fmt: skip
def test_forged_tokens_are_none(storage, forge):
    _, text = storage.tokens.add("ann")
    assert storage.tokens.verify(forge(text)) is None
    assert storage.tokens.verify(forge(text)) is None
    assert storage.tokens.verify(text).user == "ann"


def test_a_revoked_token_ends_at_once_here_and_within_a_minute_elsewhere(storage_settings):
    clock = Clock()
    with Storage.open(storage_settings, clock=clock) as here, Storage.open(storage_settings, clock=clock) as elsewhere:
        token, text = here.tokens.add("ann")
        assert here.tokens.verify(text)
        assert elsewhere.tokens.verify(text)
        assert here.tokens.revoke(token.id) == 1
        assert here.tokens.verify(text) is None
        assert elsewhere.tokens.verify(text)
        clock.now += 61
        assert elsewhere.tokens.verify(text) is None
        assert not here.tokens.any()
        assert here.tokens.list()[0].revoked


def test_all_tokens_of_a_user_are_revoked(storage):
    texts = [storage.tokens.add("ann")[1] for _ in range(3)] + [storage.tokens.add("bob")[1]]
    assert storage.tokens.revoke("ann") == 3
    assert [storage.tokens.verify(text) is None for text in texts] == [True, True, True, False]
    for nobody in ("ann", "nobody", "' OR 1=1 --", "a\0"):
        with pytest.raises(UsageError, match="is neither a valid token nor a user with one"):
            storage.tokens.revoke(nobody)


@pytest.mark.parametrize("user", ["", " ", "a" * 201, "a\nb", "a\0b", "\ud800", "\x1b[31m", "\u202e"])
def test_what_is_no_name_is_refused(storage, user):
    with pytest.raises(UsageError, match="is not a user name: give 1 to 200 printable characters") as caught:
        storage.tokens.add(user)
    assert str(caught.value).isprintable()


def test_a_hash_is_paid_once_a_minute(storage, monkeypatch):
    _, text = storage.tokens.add("ann")
    looked = []
    look = storage.tokens._looked_up
    monkeypatch.setattr(storage.tokens, "_looked_up", lambda *words: looked.append(words) or look(*words))
    forged = text[:-1] + ("a" if text[-1] != "a" else "b")
    for _ in range(20):
        storage.tokens.verify(text)
        storage.tokens.verify(forged)
    assert len(looked) == 2


def test_the_hash_of_a_valid_token_is_paid_once(storage_settings, monkeypatch):
    """Two hundred users would else cost a second of the processor each minute, and all at once."""
    clock = Clock()
    with Storage.open(storage_settings, clock=clock) as storage:
        token, text = storage.tokens.add("ann")
        looked = []
        look = storage.tokens._looked_up
        monkeypatch.setattr(storage.tokens, "_looked_up", lambda *words: looked.append(words) or look(*words))
        for _ in range(3):
            assert storage.tokens.verify(text).last_used == clock.now
            clock.now += 61
        assert len(looked) == 1
        storage.tokens.revoke(token.id)
        assert storage.tokens.verify(text) is None


def test_what_is_remembered_is_bounded(storage, monkeypatch):
    monkeypatch.setattr(module, "MOST_REMEMBERED", 5)
    for n in range(20):
        storage.tokens.verify(f"trop_{'a' * 8}_{'a' * 50}{chr(97 + n)}a")
    assert len(storage.tokens._known) <= 5


def test_the_audit_log_is_read_in_order_some_at_a_time(storage, monkeypatch):
    monkeypatch.setattr("tropalign.serve.storage.users.AT_A_TIME", 2)
    for n in range(5):
        storage.audit.note("ann", "127.0.0.1", "job.submit", f"job{n}", "x" * 5000)
    log = list(storage.audit.entries())
    assert [entry.object for entry in log] == ["job0", "job1", "job2", "job3", "job4"]
    assert len(log[0].detail) == 2000
    assert log[0].at > 0
