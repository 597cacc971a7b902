"""A server that speaks the API and computes by the command line."""

import pytest
from client.fake_server import served


@pytest.fixture
def fake():
    with served() as (fake, url):
        fake.url = url
        yield fake


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    for name in ("TROPALIGN_TOKEN", "TROPALIGN_TOKEN_FILE", "TROPALIGN_SERVER"):
        monkeypatch.delenv(name, raising=False)
