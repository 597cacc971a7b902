"""Matplotlib figures that notebooks display even before matplotlib's notebook integration is active."""

from __future__ import annotations

from matplotlib import figure

from tropalign.formats.picture import figure_bytes


class Figure(figure.Figure):
    """A figure that displays itself; plain figures are shown as text before ``%matplotlib inline``."""

    def _repr_png_(self) -> bytes:
        return figure_bytes(self, "png")
