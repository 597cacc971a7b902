"""A server that speaks the API and computes by the command line."""

import pytest
from client.fake_server import served


@pytest.fixture
def fake():
    with served() as (fake, url):
        fake.url = url
        yield fake


@pytest.fixture(autouse=True)
def no_token(monkeypatch, tmp_path):
    """Whatever servers this machine's user has are not asked."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("TROPALIGN_TOKEN", "TROPALIGN_TOKEN_FILE", "TROPALIGN_SERVER"):
        monkeypatch.delenv(name, raising=False)
