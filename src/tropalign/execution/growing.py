"""A file that only grows: what is written of a section that is never whole leaves nothing."""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path

from tropalign.execution.files import disk_error
from tropalign.execution.sections import Blocks, Stretch, is_whole, write_all


class GrowingFile:
    """A file that sections are appended to.

    Parameters
    ----------
    path
        Made when it is not there.
    end
        Where what counts in it ends. The next section is written there, whatever a kill left behind it; whoever
        appends moves the end when the section is to count.
    """

    def __init__(self, path: Path, end: int) -> None:
        self.path, self.end = path, end
        self.is_synced = True
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            self.descriptor = os.open(path, flags, 0o666)
        except OSError as error:
            raise disk_error(error, path, 0) from None

    def append(self, section: Blocks) -> Stretch:
        """Writes a section at the end; what could not be written whole leaves nothing."""
        end, checksum = self.end, 0
        try:
            if os.lseek(self.descriptor, 0, os.SEEK_END) != end:
                self.cut(end)
            for block in [section] if isinstance(section, bytes) else section:
                end += len(block)
                write_all(self.descriptor, block)
                checksum = zlib.crc32(block, checksum)
        except BaseException as error:
            with suppress(OSError):
                self.cut(self.end)
            if isinstance(error, OSError):
                raise disk_error(error, self.path, end) from None
            raise
        self.is_synced = False
        return Stretch(self.end, end - self.end, checksum)

    def has(self, stretch: Stretch) -> bool:
        """Whether a section is as it was written."""
        try:
            return is_whole(self.descriptor, stretch)
        except OSError as error:  # of the disk
            raise disk_error(error, self.path, 0) from None

    def cut(self, end: int) -> None:
        """Cuts off what lies behind `end`."""
        os.ftruncate(self.descriptor, end)
        os.lseek(self.descriptor, end, os.SEEK_SET)
        self.end = end
