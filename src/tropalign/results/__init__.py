"""Result classes of all jobs."""

from typing import Literal

#: Values that a matrix of pairs can hold.
MatrixValue = Literal["score", "identity", "distance"]
