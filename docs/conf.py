"""Sphinx: make docs."""

import tropalign

project = "tropalign"
author = "the tropalign developers"
copyright = "the tropalign developers"
release = version = tropalign.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
default_role = "py:obj"  # `align_all` in a docstring is a link
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "tropalign"
