import pytest
from pairwise.engines import Engine


@pytest.fixture(scope="session")
def engines(request):
    """An engine per instruction set of this machine, the best first; only the best in `make test`."""
    from tropalign import _native

    n = 1 if request.config.getoption("slow") == "skip" else None
    engines = [Engine(isa) for isa in _native.supported_isas()[:n]]
    yield engines
    for engine in engines:
        engine.close()
