import pytest

from tropalign.execution.manifest import parse_shard


def test_parse():
    assert parse_shard("2/8") == (2, 8)


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "a/b", "1/2/3", "-1/2", "1/99999999999", "1/2000000"])
def test_no_shard(text):
    with pytest.raises(ValueError, match="is not a shard: write 2/8 for the second of eight"):
        parse_shard(text)
