"""Names that users of Biopython, scikit-bio and pyhmmer try, and what to write instead."""

from __future__ import annotations

import os
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@lru_cache(maxsize=1)
def hints() -> dict[str, dict[str, str]]:
    """Return what to write, by class or package and by guessed name.

    "[]", "len" and "[name]" are indexing, ``len()`` and indexing by a name. The file has a row per hint: owner, names
    separated by blanks, and the hint, with ``{}`` for the name.
    """
    found: dict[str, dict[str, str]] = {}
    with open(f"{os.path.splitext(__file__)[0]}.tsv", encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            owner, names, hint = line.split("\t")
            found.setdefault(owner, {}).update({name: hint.replace("{}", name) for name in names.split()})
    return found


class Hinted:
    """Base of classes whose missing attributes are answered with the right name."""

    if not TYPE_CHECKING:  # type checkers would accept every name

        def __getattr__(self, name: str) -> Any:
            """Raise the AttributeError of Python, or of a property of this name, unless there is a hint."""
            if (hint := hint_for(self, name)) is None:
                return object.__getattribute__(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}: write {hint}")

        def __format__(self, form: str) -> str:
            """Return the text; formats of files are answered with the method that writes them."""
            if form and (hint := hint_for(self, "format")) is not None:
                raise TypeError(
                    f"format() of {type(self).__name__!r} object does not support the format {form!r}: write {hint}"
                )
            return super().__format__(form)


class Single(Hinted):
    """Base of classes that users of other packages take for a list."""

    if not TYPE_CHECKING:

        def __getitem__(self, key: object) -> Any:
            hint = hint_for(self, "[]")
            raise TypeError(f"{type(self).__name__!r} object has no items: write {hint}")

        def __len__(self) -> int:
            raise TypeError(f"{type(self).__name__!r} object has no len(): write {hint_for(self, 'len')}")

        def __bool__(self) -> bool:
            return True


def hint_for(owner: object, name: str) -> str | None:
    """Return what to write instead of a guessed name, if a class of this object has a hint."""
    return next((hint for kind in type(owner).__mro__ if (hint := hints().get(kind.__name__, {}).get(name))), None)
