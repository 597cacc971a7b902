"""What a multiple alignment is to be: options, checked once, and what each mode takes where nothing is said.

It imports no NumPy, so that the command line can list names before anything is computed.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from tropalign.errors import TropalignWarning, UsageError, named
from tropalign.machine.numbers import whole_number

#: Whose rules: models of pairs, consistency and refinement (docs/msa.md).
RULES = ("tropalign", "quickprobs1", "quickprobs2")
#: How the rows of an alignment follow one another.
ORDERS = ("input", "tree")
#: Which strand of nucleotides is aligned: the one that is given, or that of the family (turned.py).
STRANDS = ("plus", "adjust")
#: A family of more sequences is aligned in mode "fast" where no mode is named: mode default would take more than some
#: 20 seconds of a core and 2 GB for sequences of 250, and on families of known history does not find more columns.
MOST_SEQUENCES = 500
#: Options of larger families; more passes and refinement cost time there, and column by column do more harm than good.
MANY_SEQUENCES, MODES_OF_MANY = 50, {"consistency": 1, "refine": 0}
#: Whole numbers at most; more change nothing.
MOST = {"consistency": 20, "through": 1_000_000, "refine": 100_000, "seed": 2**63 - 1}


@dataclass(frozen=True)
class MsaOptions:
    """How a family is aligned. Make it with `options_of`, which knows what each mode takes.

    Attributes
    ----------
    mode : {"default", "accurate", "fast"}
    rules : {"tropalign", "quickprobs1", "quickprobs2"}
        Whose parameters, consistency and refinement.
    consistency
        Passes of consistency.
    through
        Third sequences of a pass, each of which stands for others like it; 0: all.
    refine
        Rounds of refinement.
    cutoff
        Posteriors below this are dropped, 0 < cutoff < 1.
    keep
        The share of each matrix' elements to keep instead, 0 < keep <= 1; 0: those above the cutoff.
    seed
        Of the random choices of refinement.
    """

    mode: str = "default"
    rules: str = "tropalign"
    consistency: int = 2
    through: int = 32
    refine: int = 30
    cutoff: float = 0.01
    keep: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, words in (("mode", tuple(MODES)), ("rules", RULES)):
            word = getattr(self, name)
            if not isinstance(word, str) or word not in words:
                raise UsageError(f"{named(name)} {word!r} is none of {', '.join(words)}")
        for name, most in MOST.items():
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 0, most))
        for name, low, high in (("cutoff", 1e-4, 0.5), ("keep", 0.0, 1.0)):
            object.__setattr__(self, name, _fraction(name, getattr(self, name), low, high))

    @property
    def votes(self) -> bool:
        """Whether several models align, and their alignments vote (ensemble.py)."""
        return self.mode == "accurate" and self.rules == "tropalign"

    def parameters(self) -> dict[str, str]:
        """For headers and manifests, by name."""
        return {name: str(value) for name, value in asdict(self).items()}


def _fraction(name: str, value: Any, least: float, most: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        raise UsageError(f"{named(name)} {value!r} is not a number from {least:g} to {most:g}")
    return float(value)


#: What each mode takes where nothing else is said.
MODES: dict[str, dict[str, Any]] = {
    "default": {"rules": "tropalign", "consistency": 2, "through": 32, "refine": 30, "cutoff": 0.01, "keep": 0.0},
    "accurate": {"rules": "tropalign", "consistency": 2, "through": 32, "refine": 30, "cutoff": 0.01, "keep": 0.0},
    "fast": {"rules": "tropalign", "consistency": 1, "through": 32, "refine": 0, "cutoff": 0.01, "keep": 0.0},
}


def options_of(mode: str | None = None, n_sequences: int = 0, **given: Any) -> MsaOptions:
    """The options of a mode, with what is given in place of what the mode takes.

    Parameters
    ----------
    mode
        None: "default", or "fast" for more than MOST_SEQUENCES sequences.
    given
        Fields of MsaOptions; those that are None are the mode's.

    Raises
    ------
    UsageError
        A word or number that an option does not take.

    Warns
    -----
    TropalignWarning
        Mode fast was chosen.

    Examples
    --------
    >>> options_of("accurate", seed=3).refine, options_of(n_sequences=51).consistency
    (30, 1)
    """
    if mode is None:
        mode = "fast" if n_sequences > MOST_SEQUENCES else "default"
        if mode == "fast":
            text = (
                f"{n_sequences:,} sequences are aligned in mode fast: mode default is more exact and takes far longer"
            )
            warnings.warn(text, TropalignWarning, stacklevel=2)
    if not isinstance(mode, str) or mode not in MODES:
        raise UsageError(f"{named('mode')} {mode!r} is none of {', '.join(MODES)}")
    known = {field.name for field in fields(MsaOptions)}
    if unknown := set(given) - known:
        raise UsageError(f"there is no option {', '.join(sorted(unknown))}: the options are {', '.join(sorted(known))}")
    of_many = MODES_OF_MANY if n_sequences > MANY_SEQUENCES else {}
    chosen = MsaOptions(mode=mode, **MODES[mode] | of_many)
    return replace(chosen, **{name: value for name, value in given.items() if value is not None})


def check_order(order: Any) -> None:
    """Raises UsageError where a word is not one of ORDERS."""
    if not isinstance(order, str) or order not in ORDERS:
        raise UsageError(f"order {order!r} is none of {', '.join(ORDERS)}")


def check_tree(tree: Any) -> None:
    """Raises UsageError where a guide tree is neither Newick text nor the path of a file, nor left out."""
    if tree is not None and not isinstance(tree, str | os.PathLike):
        raise UsageError(f"an object of type {type(tree).__name__} is no tree: give Newick text or a file's Path")


def checked_progress(progress: Any) -> Callable[[str, float], object] | None:
    """A function that takes a stage and a share of the work, or None. Raises UsageError on what cannot be called."""
    if progress is not None and not callable(progress):
        raise UsageError(f"progress {progress!r} is not a function: give one that takes a stage and a share")
    found: Callable[[str, float], object] | None = progress
    return found
