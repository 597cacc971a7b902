"""Letters of proteins as codes in Easel's order, which HMMER's tables are in.

The 20 amino acids in alphabetical order are 0 to 19; then come the gap (20), the ambiguous letters B J Z O U X (21 to
26), ``*`` (27) and ``~`` (28).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

LETTERS: Final = "ACDEFGHIKLMNPQRSTVWY-BJZOUX*~"
#: How many of the codes are amino acids.
N_CANONICAL: Final = 20
#: The code of a byte that is no letter of a protein.
UNKNOWN: Final = 255


def _codes() -> NDArray[np.uint8]:
    codes = np.full(256, UNKNOWN, np.uint8)
    for code, letter in enumerate(LETTERS):
        codes[[ord(letter), ord(letter.lower())]] = code
    codes[[ord(letter) for letter in "._"]] = LETTERS.index("-")
    codes.flags.writeable = False
    return codes


#: The code of each byte.
EASEL_CODES: Final = _codes()

#: How often each amino acid stands in proteins: HMMER's background (of Swiss-Prot 50.8).
BACKGROUND: Final = np.array(
    [0.0787945, 0.0151600, 0.0535222, 0.0668298, 0.0397062, 0.0695071, 0.0229198, 0.0590092, 0.0594422, 0.0963728,
     0.0237718, 0.0414386, 0.0482904, 0.0395639, 0.0540978, 0.0683364, 0.0540687, 0.0673417, 0.0114135, 0.0304133],
    np.float32,
)  # fmt: skip
BACKGROUND.flags.writeable = False


def encode(letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Codes of letters: lower case like upper case, ``.`` and ``_`` as gaps, 255 for what is no letter of a protein.

    Parameters
    ----------
    letters : uint8
        Bytes of text, in any shape.

    Returns
    -------
    uint8, the same shape
        Codes 0 to 28, or 255.

    Examples
    --------
    >>> encode(np.frombuffer(b"ACy-X*1", np.uint8)).tolist()
    [0, 1, 19, 20, 26, 27, 255]
    """
    return EASEL_CODES[letters]
