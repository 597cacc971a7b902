"""The header of an output: how it was made."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tropalign.errors import shown


@dataclass(frozen=True)
class Header:
    r"""Version, command and parameters.

    Text that is no UTF-8 (file names may hold any byte) has the bytes as ``\xff``, so that every format can write it.
    """

    version: str
    command: str
    parameters: dict[str, str]
    has_comments: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", _utf8(self.version))
        object.__setattr__(self, "command", _utf8(self.command))
        cleaned = {_utf8(name): _utf8(value) for name, value in sorted(self.parameters.items())}
        object.__setattr__(self, "parameters", cleaned)

    def comment_lines(self, mark: str = "# ") -> list[str]:
        """Version, command, then the parameters by name, each on one line; none where comments are left out."""
        return [mark + line for line in (f"tropalign {self.version}", *self.description_lines()) if self.has_comments]

    def description_lines(self) -> list[str]:
        """The command, then the parameters by name; each on one line."""
        lines = [f"command: {self.command}"]
        lines += [f"{name}: {value}" for name, value in self.parameters.items()]
        return [one_line(line) for line in lines]

    def notes(self) -> dict[str, str]:
        """Version, command and parameters by name, for the metadata of a schema."""
        return {"tropalign": self.version, "command": self.command, **self.parameters}

    def describe(self) -> dict[str, Any]:
        """Gives the header as JSON."""
        return asdict(self)

    @classmethod
    def restore(cls, entries: Any) -> Header:
        """Makes a header of JSON. Raises ValueError, KeyError or TypeError when it is no header."""
        version, command, parameters = (entries[name] for name in ("version", "command", "parameters"))
        has_comments = entries.get("has_comments", True)
        words = [version, command, *parameters.keys(), *parameters.values()]
        if not all(isinstance(word, str) for word in words):
            raise TypeError("a header holds text")
        if not isinstance(has_comments, bool):
            raise TypeError("comments are there or not")
        return cls(version, command, parameters, has_comments)


def one_line(text: str) -> str:
    """Text without line breaks, and without what a terminal would obey."""
    return shown(" ".join(text.split()))


def _utf8(text: str) -> str:
    """Text of bytes that the system's encoding did not know: read as UTF-8 where they are that."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
