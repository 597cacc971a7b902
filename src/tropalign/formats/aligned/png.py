"""The alignment as a PNG picture, drawn by Pillow."""

from __future__ import annotations

import io
from typing import Any

from tropalign.errors import InputError
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned_picture import Picture, picture
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment

#: Pixels of the file per pixel of the picture, so that letters are sharp in print.
SCALE = 2
#: As Pillow calls them: left, middle or right of the text, and the middle of its height.
ANCHORS = {"start": "lm", "middle": "mm", "letters": "mm", "end": "rm"}


def require() -> None:
    """Raises InputError with the remedy where Pillow is missing."""
    try:
        import PIL.ImageFont  # noqa: F401
    except ImportError:
        raise InputError(
            "format png needs Pillow: install it with pip install 'tropalign[report]', or write svg or html"
        ) from None


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The picture."""
    return drawn(picture(alignment, context.title))


def drawn(made: Picture) -> bytes:
    """A picture as PNG."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (round(SCALE * made.width), round(SCALE * made.height)), "white")
    brush = ImageDraw.Draw(image)
    for x, y, width, height, colour in made.boxes:
        corner = SCALE * (x + width) - 1, SCALE * (y + height) - 1
        if corner[1] >= SCALE * y:  # a bar of no height is none
            brush.rectangle((SCALE * x, SCALE * y, *corner), colour)
    fonts: dict[float, Any] = {}
    for xs, y, text, anchor, size, colour in made.texts:
        font = fonts.setdefault(size, ImageFont.load_default(SCALE * size))
        for x, piece in zip(xs, text if anchor == "letters" else [text], strict=True):
            brush.text((SCALE * x, SCALE * y), piece, colour, font, ANCHORS[anchor])
    out = io.BytesIO()
    image.save(out, "png", optimize=True)
    return out.getvalue()


FORMAT = Format(
    (".png",), encode, concatenated(), is_binary=lambda context: True, require=require, shows_confidence=True
)
