"""Write the man pages to a folder, as in `PYTHONPATH=src python packaging/man_pages.py build/man/man1`."""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

if find_spec("tropalign._native") is None:  # declarations only name tables, so no core is needed
    sys.modules["tropalign._native"] = ModuleType("tropalign._native")

from tropalign.cli.main import make_parser
from tropalign.cli.parser import write_man_pages

write_man_pages(make_parser(False), Path(sys.argv[1]))
