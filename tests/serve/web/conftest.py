"""Servers for tests: one of this machine's user, and one of a laboratory where users have tokens."""

from contextlib import ExitStack
from types import SimpleNamespace

import pytest


@pytest.fixture
def serve(tmp_path):
    """Starts servers with settings; each is told as the client of this machine's user."""
    from web_server import Client, running

    from tropalign.serve.settings import Settings

    with ExitStack() as stack:

        def start(**settings):
            server = stack.enter_context(running(Settings(folder=tmp_path / "served", **settings)))
            client = Client(server.port, server.web.local_token, server.storage)
            client.server = server
            return client

        yield start


@pytest.fixture
def local(serve):
    """A server without tokens, asked by the user of this machine."""
    return serve()


@pytest.fixture
def users(serve):
    """A server of a laboratory: alice, bob, and a stranger."""
    from web_server import Client

    server = serve(requires_token=True).server
    tokens = {name: server.storage.tokens.add(name)[1] for name in ("alice", "bob")}
    clients = {name: Client(server.port, token, server.storage) for name, token in tokens.items()}
    return SimpleNamespace(**clients, stranger=Client(server.port, None, server.storage), server=server)
