"""Append-only file: a section that is not written completely leaves nothing."""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path

from tropalign.execution.files import disk_error
from tropalign.execution.sections import Blocks, Stretch, is_whole, write_all


class GrowingFile:
    """File to which sections are appended, created if missing.

    `end` is the end of valid data. The next section is written there, over anything that a kill left behind; the
    caller of `append` moves it once the section is valid.
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
        """Write a section at the end; an incomplete write leaves nothing."""
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
        """True if a section is intact."""
        try:
            return is_whole(self.descriptor, stretch)
        except OSError as error:  # a disk error
            raise disk_error(error, self.path, 0) from None

    def cut(self, end: int) -> None:
        """Truncate the file at `end`."""
        os.ftruncate(self.descriptor, end)
        os.lseek(self.descriptor, end, os.SEEK_SET)
        self.end = end
