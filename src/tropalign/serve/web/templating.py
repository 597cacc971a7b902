"""Compiled templates, and static files, each with an address that changes with its content."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from tropalign import __version__
from tropalign.properties import cached_property
from tropalign.serve.web.context import csrf_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from tropalign.serve.records import JobLine
    from tropalign.serve.web.form_fields import OptionView

HERE = Path(__file__).parent
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: Rendered job lines in the cache.
MOST_LINES = 2_048
#: More than the options of all verbs.
MOST_OPTIONS = 1_024
THEMES = ("light", "dark")


@dataclass(frozen=True)
class StaticFile:
    """Static file: its bytes, and the first characters of their hash."""

    content: bytes
    media_type: str
    mark: str

    def response(self, mark: str) -> Response:
        """Return the file, cacheable forever if requested with the hash of its content."""
        age = "public, max-age=31536000, immutable" if mark == self.mark else "no-cache"
        return Response(self.content, media_type=self.media_type, headers={"Cache-Control": age})


def static_files() -> dict[str, StaticFile]:
    """Return all static files by name."""
    found = {}
    for path in sorted((HERE / "static").iterdir()):
        if path.suffix in MEDIA_TYPES:
            content = path.read_bytes()
            mark = hashlib.sha256(content).hexdigest()[:12]
            found[path.name] = StaticFile(content, MEDIA_TYPES[path.suffix], mark)
    return found


class _WithoutIndents(FileSystemLoader):
    """Template loader that removes indentation, which would only enlarge pages."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return the text of a template."""
        text, path, is_current = super().get_source(environment, template)
        return re.sub(r"(?m)^[ ]+", "", text), path, is_current


class Templates:
    """Pages from templates; `root` is the path prefix, such as "/tropalign"."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.files = static_files()
        self._static = {name: f"{root}/static/{name}?v={file.mark}" for name, file in self.files.items()}

    @cached_property
    def _environment(self) -> Environment:
        made = Environment(
            loader=_WithoutIndents(HERE / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            undefined=StrictUndefined,
        )
        made.filters |= {"iso": iso, "when": when, "bytes": size_text, "number": number_text}
        made.filters |= {"quoted": shlex.quote, "duration": duration_text, "sentence": sentence, "percent": percent}
        made.globals |= {"root": self.root, "static": self._static, "version": __version__}
        made.globals |= {"line": _line(made), "option": _option(made)}
        return made

    def page(self, request: Request, name: str, /, *, status: int = 200, here: str = "", **words: Any) -> HTMLResponse:
        """Render a page for the user of a request.

        `name` is the template without ``.html``, `here` the current menu entry, and `words` the template's
        variables.
        """
        state: Mapping[str, Any] = request.scope.get("state", {})
        theme = request.cookies.get("theme")
        text = self._environment.get_template(f"{name}.html").render(
            user=state.get("user"),
            csrf=csrf_of(request),
            theme=theme if theme in THEMES else None,
            here=here,
            **words,
        )
        return HTMLResponse(text, status)


def _line(environment: Environment) -> Callable[[JobLine, bool], Markup]:
    """Return a cached renderer of job lines, most of which are unchanged between requests."""
    template = environment.get_template("line.html")

    @lru_cache(MOST_LINES)
    def line(job: JobLine, is_chosen_from: bool) -> Markup:
        return Markup(template.render(job=job, is_chosen_from=is_chosen_from))

    return line


def _option(environment: Environment) -> Callable[[OptionView], Markup]:
    """Return a renderer of form options; only empty ones are cached, since user input may be long."""
    template = environment.get_template("option.html")

    def shown(field: OptionView) -> Markup:
        return Markup(template.render(field=field))

    kept = lru_cache(MOST_OPTIONS)(shown)
    return lambda field: shown(field) if field.value or field.error else kept(field)


def iso(at: float) -> str:
    """Format seconds since 1970 as ISO 8601."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def when(at: float) -> str:
    """Format seconds since 1970 for people.

    >>> when(86400 * 365)
    '1971-01-01 00:00'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


def size_text(n_bytes: float) -> str:
    """Format bytes for people.

    >>> size_text(999), size_text(1000), size_text(25_300_000)
    ('999 bytes', '1.0 kB', '25.3 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        n_bytes /= 1000
        if n_bytes < 999.95:
            return f"{n_bytes:.1f} {unit}"
    return f"{n_bytes / 1000:.1f} TB"


def number_text(value: float) -> str:
    """Format a number as an integer with thousands separators."""
    return f"{value:,.0f}"


def duration_text(seconds: float) -> str:
    """Format a duration for people.

    >>> duration_text(0.31), duration_text(75), duration_text(86400)
    ('0.3 s', '1 min 15 s', '24 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def percent(progress: float | None) -> int | None:
    """Return the progress in percent, rounded down, so that 100 means finished."""
    return None if progress is None else int(100 * min(max(progress, 0.0), 1.0))


def sentence(text: str) -> str:
    """Return a text with a capital letter at the start and a full stop at the end."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
