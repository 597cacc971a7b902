"""Servers for tests: one of this machine's user, and one of a laboratory where users have tokens."""

import pytest


@pytest.fixture
def local(tmp_path):
    """A server without tokens, asked by the user of this machine."""
    from web_server import Client, running

    from tropalign.serve.settings import Settings

    with running(Settings(folder=tmp_path / "served")) as server:
        yield Client(server.port, server.web.local_token, server.storage)


@pytest.fixture
def users(tmp_path):
    """A server of a laboratory: alice, bob, and a stranger."""
    from types import SimpleNamespace

    from web_server import Client, running

    from tropalign.serve.settings import Settings

    with running(Settings(folder=tmp_path / "served", requires_token=True)) as server:
        tokens = {name: server.storage.tokens.add(name)[1] for name in ("alice", "bob")}
        clients = {name: Client(server.port, token, server.storage) for name, token in tokens.items()}
        yield SimpleNamespace(**clients, stranger=Client(server.port, None, server.storage), server=server)
