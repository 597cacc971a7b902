"""The alignment that a model was built from, as rows above the sequences that are aligned to the model."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, UsageError, named
from tropalign.profile.family_models import FamilyModel
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.aligned_files import read_described
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import file_name

#: Padding of some rows of Stockholm and MSF beyond their ends.
MISSING = ord("~")


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Rows of an alignment, and the positions of their residues in the model.

    `places`: int32, shape (n_residues,), as in native/profile/target_alignment.hpp.
    """

    sequences: SequenceBatch
    places: NDArray[np.int32]

    def above(self, batch: SequenceBatch) -> SequenceBatch:
        """Return these sequences followed by those of the batch; raises InputError if two share a name."""
        own = self.sequences
        if twice := set(own.names) & set(batch.names):
            raise InputError(
                "the alignment of the model has a row of this name, too: rename the sequence", record=min(twice)
            )
        descriptions = [(*one.descriptions,) or ("",) * len(one) for one in (own, batch)]
        return SequenceBatch(
            np.concatenate([own.codes, batch.codes]),
            np.concatenate([own.offsets, own.offsets[-1] + batch.offsets[1:]]),
            (*own.names, *batch.names),
            batch.alphabet,
            np.concatenate([own.letters, batch.letters]),
            (*descriptions[0], *descriptions[1]),
        )


def mapped_rows(given: Any, model: FamilyModel) -> MappedRows:
    """Return the rows of the alignment that a model was built from, given as MultipleAlignment or file.

    Raises InputError for another alignment than the model's, or for a model without columns and checksum.
    """
    descriptions: tuple[str, ...] = ()
    if isinstance(given, MultipleAlignment):
        names, letters, file = given.names, given.letters, None
        descriptions = tuple(given.sequences.descriptions)
    elif isinstance(given, str | os.PathLike):
        names, letters, descriptions = read_described(given)
        file = file_name(given)
    else:
        raise UsageError(f"{named('mapali')}: an object of type {type(given).__name__} is no alignment")
    if model.columns is None or model.checksum is None:
        raise InputError(
            "the model does not tell the columns and the checksum of its alignment (MAP, CKSUM): build it again, or "
            f"leave {named('mapali')} out",
            file=model.file,
            record=model.name,
        )
    is_known = _native.alignment_checksum(model.letters.codes[letters].ravel()) == model.checksum
    if not is_known or int(model.columns[-1]) > letters.shape[1]:
        raise InputError(
            f"this is another alignment than the one that the model {model.name!r} was built of, by its checksum: name "
            f"that one, or leave {named('mapali')} out",
            file=file,
        )
    plain = np.where(letters == MISSING, ord("-"), letters).astype(np.uint8)
    rows = MultipleAlignment.from_rows(names, plain, model.letters.alphabet)
    node = np.zeros(letters.shape[1] + 1, np.int32)
    node[model.columns] = 1
    place = -np.cumsum(node, dtype=np.int32)
    place[model.columns] *= -1
    own = rows.sequences
    batch = SequenceBatch(own.codes, own.offsets, own.names, own.alphabet, own.letters, descriptions)
    return MappedRows(batch, place[1:][rows.columns])
