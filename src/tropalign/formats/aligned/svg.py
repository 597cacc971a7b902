"""The alignment as an SVG picture, to be edited and printed at any size."""

from __future__ import annotations

import html

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned_picture import Picture, picture
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment

STYLE = (
    "text{font-family:Helvetica,Arial,'Liberation Sans',sans-serif;dominant-baseline:central}"
    ".m{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;text-anchor:middle}"
)


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The picture."""
    return drawn(picture(alignment, context.title), context.title)


def drawn(made: Picture, title: str) -> bytes:
    """A picture as SVG: a path per colour, below the texts."""
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


FORMAT = Format((".svg",), encode, concatenated(), shows_confidence=True)
