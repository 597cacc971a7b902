"""Decorator for Python functions whose signature, checks and docs come from a class of options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import wraps
from textwrap import dedent, fill, indent
from typing import ParamSpec, TypeVar, cast

from tropalign.options.option import Option, Options

P = ParamSpec("P")
A = TypeVar("A", bound=Options)
R = TypeVar("R")


def called_with(arguments: Callable[P, A]) -> Callable[[Callable[[A], R]], Callable[P, R]]:
    """Turn a function of one options object into a function that takes these options as arguments.

    Type checkers see the class's signature as the function's; ``help()`` also shows the docs of each option.

    >>> from tropalign.options.option import Options, option
    >>> class Sum(Options):
    ...     factor: int = option(default=2, doc="What the result is multiplied by.", kind=None)
    >>> @called_with(Sum)
    ... def twice(call):
    ...     '''Multiplies.'''
    ...     return call.factor * 10
    >>> twice(factor=3), twice()
    (30, 20)
    """
    assert isinstance(arguments, type) and issubclass(arguments, Options)

    def made(function: Callable[[A], R]) -> Callable[P, R]:
        @wraps(function)
        def call(*values: P.args, **named: P.kwargs) -> R:
            try:
                given = cast(A, arguments(*values, **named))
            except TypeError as error:
                raise TypeError(str(error).replace(arguments.__name__, f"{function.__name__}()", 1)) from None
            return function(given)

        from inspect import signature  # 5 ms, which commands do not need

        call.__signature__ = signature(arguments)  # type: ignore[attr-defined]
        call.__doc__ = _documented(function.__doc__ or "", arguments.in_order_of_call())
        call.arguments = arguments  # type: ignore[attr-defined]
        return call

    return made


def documented(options: type[A]) -> type[A]:
    """Insert the docs of the options into the docstring of their class."""
    options.__doc__ = _documented(options.__doc__ or "", options.in_order_of_call())
    return options


def _documented(text: str, options: Iterable[Option]) -> str:
    """Insert a parameters section after the first paragraphs of a docstring."""
    first, _, rest = text.partition("\n")
    head, *sections = re.split(r"\n\n(?=[A-Z][a-z]+\n-+\n)", f"{first}\n{dedent(rest)}".strip())
    parameters = "Parameters\n----------"
    for one in options:
        words = "" if one.choices is None else " : {" + ", ".join(f'"{word}"' for word in one.choices) + "}"
        help = re.sub(r"--([a-z][a-z-]*[a-z])", lambda flag: f"`{flag[1].replace('-', '_')}`", one.help)
        body = one.doc or f"{help[:1].upper()}{help[1:]}."
        body = fill(body, 108, break_long_words=False, break_on_hyphens=False)
        parameters += f"\n{one.name}{words}\n{indent(body, '    ')}"
    return "\n\n".join([head, parameters, *sections])
