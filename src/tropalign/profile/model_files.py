"""Models from files."""

from __future__ import annotations

from collections.abc import Iterator

from tropalign.profile.models import Model, from_pyhmmer
from tropalign.sequences.files import Source, opened


def read_models(source: Source) -> Iterator[Model]:
    """The models of a file, one by one."""
    import io

    import pyhmmer

    with opened(source) as stream:
        file = pyhmmer.plan7.HMMFile(io.BytesIO(stream.read()))
        for hmm in file:
            yield from_pyhmmer(hmm)
