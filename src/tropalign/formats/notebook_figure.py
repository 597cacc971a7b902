"""Figures of matplotlib that notebooks show, also before matplotlib has been told of the notebook."""

from __future__ import annotations

from matplotlib import figure

from tropalign.formats.figure import picture


class Figure(figure.Figure):
    """A figure that shows itself: others are text until ``%matplotlib inline``, whose way is then taken for all."""

    def _repr_png_(self) -> bytes:
        return picture(self, "png")
