"""Models compared to the last bit."""

from dataclasses import fields
from pathlib import Path

import numpy as np

from tropalign.profiles.models import Model

#: A model of ten nodes in several formats, made by hmmbuild and hmmconvert from ten columns that somebody made up.
CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus" / "models"


def assert_same(model, other):
    for name in (field.name for field in fields(Model) if field.name not in ("text", "file")):  # a text has its day
        found, expected = getattr(model, name), getattr(other, name)
        if isinstance(found, np.ndarray):
            assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes(), name
        else:
            assert found == expected, name
