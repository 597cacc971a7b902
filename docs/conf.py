"""Sphinx: make docs."""

import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import tropalign

project = "tropalign"
author = "the tropalign developers"
copyright = "the tropalign developers"
release = version = tropalign.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "command_line",
    "chains",
    "gallery",
    "make_pictures",
    "mathml",
    "source_map",
]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "NDArray": "NDArray", "MatrixLike": "MatrixLike"}
python_maximum_signature_line_length = 100  # longer ones have a line per parameter
python_use_unqualified_type_names = True
autosummary_generate = False  # tables of links; the pages in docs/api/ say what stands where
default_role = "py:obj"  # `align_all` in a docstring is a link
smartquotes_action = "q"  # two hyphens are an option's
# Formulae and everything else of the site come with it: it can be read without a network.
html_math_renderer = "mathml"
copybutton_prompt_text = "$ "

# Links into the pages of Python and NumPy. A build asks no network: Python's inventory is that of Debian's package
# python3-doc, where it is installed. With DOCS_ONLINE set both are fetched.
PAGES_OF_OTHERS = {"python": "https://docs.python.org/3/", "numpy": "https://numpy.org/doc/stable/"}
INSTALLED = Path("/usr/share/doc/python3/html/objects.inv")
if os.environ.get("DOCS_ONLINE"):
    intersphinx_mapping = {name: (address, None) for name, address in PAGES_OF_OTHERS.items()}
else:
    intersphinx_mapping = {"python": (PAGES_OF_OTHERS["python"], str(INSTALLED))} if INSTALLED.exists() else {}
if intersphinx_mapping:
    extensions.append("sphinx.ext.intersphinx")

exclude_patterns = ["_build", "extensions"]
html_theme = "furo"
html_title = "tropalign"
html_static_path = ["static"]
html_css_files = ["site.css"]


def setup(app: Any) -> None:
    """Sphinx 9 shows the alias of a union (`MatrixLike | None`) by its own wrapper; the name is what readers know."""

    def unwrap(
        app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
    ) -> Any:
        names = [text and re.sub(r"TypeAliasForwardRef\('([\w.]+)'\)", r"\1", text) for text in (signature, returned)]
        return tuple(names)

    app.connect("autodoc-process-signature", unwrap)
