"""`lazy`: packages whose public names are loaded from their modules on first use (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any


def lazy(
    package: str,
    homes: Mapping[str, str],
    root: str | None = None,
    modules: str = "",
    elsewhere: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package, so that importing it costs nothing.

    Type checkers and editors do not run this: for them the package imports the names where ``TYPE_CHECKING``, each
    under its own name again (``from home import name as name``). A test compares the two lists.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        The public names of each module, separated by spaces; modules are named within `root`.
    root
        The package that the modules are in; this one when not given.
    modules
        Modules that are public names themselves, separated by spaces.
    elsewhere
        What to write in place of names that users of other packages and of the command line look for.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        """Loads a public name from its home, once."""
        if name in modules.split():
            return import_module(f"{package}.{name}")
        if name not in home_of:
            hint = f": write {elsewhere[name]}" if name in elsewhere else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        value = getattr(import_module(f"{root or package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted([*home_of, *modules.split()])
    return names, load, lambda: sorted(names)
