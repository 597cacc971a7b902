import pytest
from serve.pages.site import Site

from tropalign.serve.settings import Settings


@pytest.fixture(scope="session")
def server_modules():
    """Skips where the server is not installed."""
    for module in ("fastapi", "uvicorn", "httpx", "sqlalchemy", "multipart"):
        pytest.importorskip(module, reason=f"the server is not installed ({module}): pip install 'tropalign[serve]'")


@pytest.fixture
def site(tmp_path, server_modules):
    """A server without workers: tests finish its jobs."""
    made = Site(Settings(folder=tmp_path / "server"))
    yield made
    made.close()


@pytest.fixture
def closed_site(tmp_path, server_modules):
    """A server that asks for a token."""
    made = Site(Settings(folder=tmp_path / "server", requires_token=True))
    yield made
    made.close()


@pytest.fixture(scope="module")
def working_site(tmp_path_factory, server_modules):
    """A server with a worker."""
    made = Site(Settings(folder=tmp_path_factory.mktemp("server")))
    made.work()
    yield made
    made.close()
