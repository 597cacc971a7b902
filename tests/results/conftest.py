from formats.conftest import any_table  # noqa: F401
