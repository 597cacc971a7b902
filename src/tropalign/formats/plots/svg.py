"""The map of pairs as SVG."""

from tropalign.formats.pair_plots import plot_format

FORMAT = plot_format(".svg")
