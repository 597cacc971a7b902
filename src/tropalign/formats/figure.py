"""Matplotlib figures as files."""

from __future__ import annotations

import io
import logging
import threading
import warnings
from typing import TYPE_CHECKING, Any

from tropalign.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def require() -> None:
    """Raise InputError with the remedy if matplotlib is missing."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)  # suppress its two-line notice about a read-only home
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise InputError("plots need matplotlib: pip install 'tropalign[report]', or write --html") from None
    finally:
        logger.setLevel(level)


#: Settings of matplotlib and warning filters are global to the process.
_drawing = threading.Lock()


def picture(figure: Figure, kind: str) -> bytes:
    """Return a figure as a file without timestamps."""
    import matplotlib

    sink = io.BytesIO()
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    style = {"svg.hashsalt": "tropalign", "svg.fonttype": "none"}
    with _drawing, matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # drawn as a box; SVG keeps the text
        figure.savefig(sink, format=kind, dpi=150, metadata=metadata)
    return sink.getvalue()
