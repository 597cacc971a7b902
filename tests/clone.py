"""What tests of the sources, the pages or the benchmarks need and an installed package does not have."""

from pathlib import Path

import pytest

#: The clone, or the folder that holds a copy of tests/ and examples/ (make test-wheel).
ROOT = Path(__file__).parent.parent


def skip_without(*names: str) -> None:
    """Skip the test, or the module that calls this in its body, where a file or folder of the clone is not there."""
    for name in names:
        if not (ROOT / name).exists():
            pytest.skip(f"{name} is in a clone only, not beside an installed package", allow_module_level=True)
