"""Pictures of boxes and texts, drawn as scalable, editable SVG, and as PNG by Pillow; and matplotlib's figures."""

from __future__ import annotations

import html
import io
import logging
import threading
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tropalign.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Font size and outer margin in pixels; an SVG file scales.
TEXT, MARGIN = 12, 16
#: Width of a character relative to the font size, above the mean of most fonts.
LETTER = 0.66
INK, QUIET, FAINT, BAR = "#1b1f27", "#626b7b", "#b3bac6", "#3aa394"
STYLE = (
    "text{font-family:Helvetica,Arial,'Liberation Sans',sans-serif;dominant-baseline:central}"
    ".m{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;text-anchor:middle}"
)


class Box(NamedTuple):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


class Text(NamedTuple):
    """A text with its "start", "middle" or "end" at x; or "letters" of a row, each centred at its own x.

    ``y`` is the vertical middle.
    """

    xs: tuple[float, ...]
    y: float
    text: str
    anchor: str
    size: float
    colour: str


@dataclass
class Picture:
    """Boxes and the texts above them, in pixels from the upper left corner."""

    width: float
    height: float = 0
    boxes: list[Box] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)


def as_svg(made: Picture, title: str) -> bytes:
    """Return a picture as SVG: a path per colour, below the texts."""
    size = f'width="{made.width:.0f}" height="{made.height:.0f}" viewBox="0 0 {made.width:.0f} {made.height:.0f}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    paths: dict[str, list[str]] = {}
    for x, y, width, height, colour in made.boxes:
        paths.setdefault(colour, []).append(f"M{x:.1f} {y:.1f}h{width:.4g}v{height:.4g}h-{width:.4g}z")
    out += [f'<path fill="{colour}" d="{"".join(pieces)}"/>' for colour, pieces in paths.items()]
    for xs, y, text, anchor, size_, colour in made.texts:
        style = 'class="m"' if anchor == "letters" else f'text-anchor="{anchor}"'
        places = " ".join(f"{x:.1f}" for x in xs)
        out.append(
            f'<text x="{places}" y="{y:.1f}" {style} font-size="{size_}" fill="{colour}">{html.escape(text)}</text>'
        )
    return "\n".join([*out, "</svg>\n"]).encode("utf-8", "replace")


#: Pixels of the file per pixel of the picture, so that characters are sharp in print.
SCALE = 2
#: Pillow's anchors: left, middle or right of the text, and its vertical middle.
ANCHORS = {"start": "lm", "middle": "mm", "letters": "mm", "end": "rm"}


def require_pillow() -> None:
    """Raise InputError with the remedy if Pillow is missing."""
    try:
        import PIL.ImageFont  # noqa: F401
    except ImportError:
        raise InputError(
            "format png needs Pillow: install it with pip install 'tropalign[report]', or write svg or html"
        ) from None


def as_png(made: Picture) -> bytes:
    """Return a picture as PNG."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (round(SCALE * made.width), round(SCALE * made.height)), "white")
    brush = ImageDraw.Draw(image)
    for x, y, width, height, colour in made.boxes:
        corner = SCALE * (x + width) - 1, SCALE * (y + height) - 1
        if corner[1] >= SCALE * y:  # skip bars of height 0
            brush.rectangle((SCALE * x, SCALE * y, *corner), colour)
    fonts: dict[float, Any] = {}
    for xs, y, text, anchor, size, colour in made.texts:
        font = fonts.setdefault(size, ImageFont.load_default(SCALE * size))
        for x, piece in zip(xs, text if anchor == "letters" else [text], strict=True):
            brush.text((SCALE * x, SCALE * y), piece, colour, font, ANCHORS[anchor])
    out = io.BytesIO()
    image.save(out, "png", optimize=True)
    return out.getvalue()


def require_matplotlib() -> None:
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


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as a file without timestamps."""
    import matplotlib

    sink = io.BytesIO()
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    style = {"svg.hashsalt": "tropalign", "svg.fonttype": "none"}
    with _drawing, matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # drawn as a box; SVG keeps the text
        figure.savefig(sink, format=kind, dpi=150, metadata=metadata)
    return sink.getvalue()
