"""What jobs return."""

from typing import Literal

#: What a matrix of pairs may hold.
MatrixValue = Literal["score", "identity", "distance"]
