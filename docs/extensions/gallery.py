"""The gallery: runs the commands of gallery.md, keeps the pictures, and shows the pages that they write.

````{gallery} FILE```` in gallery.md is the page FILE, which one of the commands has written, in a frame.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

DOCS = Path(__file__).parent.parent
#: Where pages stand in the site, and how high a frame is, in pixels.
FOLDER, HEIGHT = "gallery", 560
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)


class Gallery(Directive):
    """A page in a frame, and a link to it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Makes the frame, which is loaded when it comes into view."""
        address = f"{FOLDER}/{self.arguments[0]}"
        frame = f'<iframe src="{address}" title="{self.arguments[0]}" loading="lazy" height="{HEIGHT}"></iframe>'
        text = f'<div class="gallery">{frame}<p><a href="{address}">the page alone</a></p></div>'
        return [nodes.raw("", text, format="html")]


def make_gallery(pictures: Path, pages: Path) -> None:
    """Runs the commands, and keeps what they write: SVG among the pictures, HTML among the pages."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(DOCS.parent / "examples")
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        for commands in COMMANDS.findall((DOCS / "gallery.md").read_text()):
            subprocess.run(["bash", "-euc", commands], cwd=folder, check=True, env={**os.environ, "PATH": path})
        for suffix, home in ((".svg", pictures), (".html", pages)):
            home.mkdir(parents=True, exist_ok=True)
            for made in Path(folder).glob(f"*{suffix}"):
                shutil.copyfile(made, home / made.name)


def setup(app: Any) -> None:
    """Makes all before Sphinx reads the pages."""
    app.add_directive("gallery", Gallery)
    app.connect("builder-inited", lambda app: make_gallery(DOCS / "pictures", Path(app.outdir) / FOLDER))
