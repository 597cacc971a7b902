"""Models of hmmlearn, trained or set by hand, as tropalign's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown

Frames = Callable[[Any], NDArray[np.float64]]


def parts_of(model: Any) -> tuple[dict[str, Any], Frames | None]:
    """What `HMM` takes, and the function that makes frames, for models whose observations are no symbols.

    Raises
    ------
    InputError
        Something else than a model of hmmlearn, or one that has no numbers yet.
    """
    kind = type(model).__name__
    if not hasattr(model, "startprob") and not hasattr(model, "n_components"):
        raise InputError(f"an object of type {shown(kind)} is no model of hmmlearn")
    for name in ("startprob_", "transmat_"):
        if not hasattr(model, name):
            raise InputError(f"the {shown(kind)} has no {name} yet: fit it, or set it by hand")
    parts = {"start": model.startprob_, "transition": model.transmat_, "name": kind}
    if kind == "CategoricalHMM":
        if not hasattr(model, "emissionprob_"):
            raise InputError("the CategoricalHMM has no emissionprob_ yet: fit it, or set it by hand")
        return {**parts, "emission": model.emissionprob_}, None
    if not hasattr(model, "_compute_log_likelihood"):
        raise InputError(f"the {shown(kind)} does not say how it scores observations: give frames of your own")
    return parts, partial(_frames, model)


def _frames(model: Any, observations: Any) -> NDArray[np.float64]:
    """What a model of hmmlearn says of observations (n,) or (n, n_features), per state."""
    rows = np.asarray(observations)
    rows = rows[:, None] if rows.ndim == 1 else rows
    return np.ascontiguousarray(model._compute_log_likelihood(rows), np.float64)
