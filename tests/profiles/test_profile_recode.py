"""Letters as codes by a table, on every instruction set."""

import numpy as np
import pytest

from tropalign import _native


@pytest.mark.parametrize("letters", [b"ACDEFGHIKLMNPQRSTVWY", b"acdXy@`{DEL", b"AC*d.", bytes(range(256))])
def test_every_byte_becomes_what_the_table_says(letters, isa):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 256, 256, dtype=np.uint8)
    for n in (0, 1, 15, 16, 63, 64, 65, 200, 1000):
        text = rng.choice(np.frombuffer(letters, np.uint8), n)
        codes = np.full(n + 1, 77, np.uint8)
        bits = _native.recode(text, table, codes[:n])
        assert codes[:n].tolist() == table[text].tolist() and codes[n] == 77
        assert bits == np.bitwise_or.reduce(table[text], initial=0)
