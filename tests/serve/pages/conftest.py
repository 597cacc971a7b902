import pytest

pytest.importorskip("fastapi", reason="the server is not installed: pip install 'tropalign[serve]'")


@pytest.fixture
def site(tmp_path):
    """A server without workers: tests finish its jobs."""
    from serve.pages.site import Site

    from tropalign.serve.settings import Settings

    made = Site(Settings(folder=tmp_path / "server"))
    yield made
    made.close()


@pytest.fixture
def closed_site(tmp_path):
    """A server that asks for a token."""
    from serve.pages.site import Site

    from tropalign.serve.settings import Settings

    made = Site(Settings(folder=tmp_path / "server", requires_token=True))
    yield made
    made.close()


@pytest.fixture(scope="module")
def working_site(tmp_path_factory):
    """A server with a worker."""
    from serve.pages.site import Site

    from tropalign.serve.settings import Settings

    made = Site(Settings(folder=tmp_path_factory.mktemp("server")))
    made.work()
    yield made
    made.close()
