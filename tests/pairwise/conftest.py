import pytest
from pairwise.engines import Engine


@pytest.fixture(scope="session")
def engines():
    """One engine an instruction set of this machine, the best first."""
    from tropalign import _native

    engines = [Engine(isa) for isa in _native.supported_isas()]
    yield engines
    for engine in engines:
        engine.close()
