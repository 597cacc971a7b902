"""Figures that matplotlib draws, as files."""

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
    """Raises InputError with the remedy where matplotlib is missing."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)  # where a home cannot be written, it says in two lines that it makes do without
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise InputError("plots need matplotlib: pip install 'tropalign[report]', or write --html") from None
    finally:
        logger.setLevel(level)


#: Settings of matplotlib and filters of warnings are those of the whole process.
_drawing = threading.Lock()


def picture(figure: Figure, kind: str) -> bytes:
    """A figure as a file that says nothing of the hour."""
    import matplotlib

    sink = io.BytesIO()
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    style = {"svg.hashsalt": "tropalign", "svg.fonttype": "none"}
    with _drawing, matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # a box stands for it; SVG keeps the text
        figure.savefig(sink, format=kind, dpi=150, metadata=metadata)
    return sink.getvalue()
