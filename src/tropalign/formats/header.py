"""Header of an output: its provenance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tropalign.errors import shown


@dataclass(frozen=True)
class Header:
    r"""Version, command and parameters.

    Bytes that are not UTF-8 (file names may hold any byte) are escaped as ``\xff``, so that every format can write
    them.
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
        """Return version, command and sorted parameters, one line each; an empty list without comments."""
        return [mark + line for line in (f"tropalign {self.version}", *self.description_lines()) if self.has_comments]

    def description_lines(self) -> list[str]:
        """Return the command, then the parameters by name, one line each."""
        lines = [f"command: {self.command}"]
        lines += [f"{name}: {value}" for name, value in self.parameters.items()]
        return [one_line(line) for line in lines]

    def notes(self) -> dict[str, str]:
        """Return version, command and parameters by name, for the metadata of a schema."""
        return {"tropalign": self.version, "command": self.command, **self.parameters}

    def describe(self) -> dict[str, Any]:
        """Return the header as JSON."""
        return asdict(self)

    @classmethod
    def restore(cls, entries: Any) -> Header:
        """Make a header from JSON. Raises ValueError, KeyError or TypeError if it is invalid."""
        version, command, parameters = (entries[name] for name in ("version", "command", "parameters"))
        has_comments = entries.get("has_comments", True)
        words = [version, command, *parameters.keys(), *parameters.values()]
        if not all(isinstance(word, str) for word in words):
            raise TypeError("a header holds text")
        if not isinstance(has_comments, bool):
            raise TypeError("comments are there or not")
        return cls(version, command, parameters, has_comments)


def one_line(text: str) -> str:
    """Return a text without line breaks and terminal escape sequences."""
    return shown(" ".join(text.split()))


def _utf8(text: str) -> str:
    """Decode bytes that the system's encoding could not decode as UTF-8, if they are valid UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
