"""Temporary file for the parts of a run that cannot be resumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tropalign.execution.files import disk_error
from tropalign.execution.sections import Blocks, Sections, Stretch, write_all


class Spool:
    """Parts of a run that cannot be resumed, in an unnamed file that disappears with the process.

    `directory` is on a disk with enough room; None means the system's temporary directory.
    """

    def __init__(self, directory: Path | None) -> None:
        import tempfile  # slow to import

        self._place, self._remedy = "standard output's parts", "name another folder of temporary files with TMPDIR"
        try:
            if directory is not None:
                self._place, self._remedy = f"{directory}, the folder of the output", "write elsewhere with -o"
            else:
                self._place = f"{tempfile.gettempdir()}, the folder of temporary files"
            self._file = tempfile.TemporaryFile(dir=directory, buffering=0)
        except OSError as error:
            raise disk_error(error, self._place, 0, self._remedy) from None
        self._places: list[list[Stretch]] = []
        self._end = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def write(self, sections: Sequence[Blocks]) -> None:
        """Store a part; raise ResourceError if the disk is full."""
        try:
            places = []
            for section in sections:
                begin = self._end
                for block in [section] if isinstance(section, bytes) else section:
                    write_all(self._file.fileno(), block)
                    self._end += len(block)
                places.append(Stretch(begin, self._end - begin))
            self._places.append(places)
        except OSError as error:
            raise disk_error(error, self._place, 0, self._remedy) from None

    def sections(self, number: int) -> Sections:
        """Return section `number` of every part, in order."""
        return Sections(self._file.fileno(), [places[number] for places in self._places], self._place)
