"""A shard's parts in one file, and shards back into the parts of the whole run."""

from __future__ import annotations

import dataclasses
import json
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tropalign.errors import InputError
from tropalign.execution.parts import MANIFEST, Manifest, Parts, part_name

#: Fixed, so that equal shards are equal files.
TIME = (1980, 1, 1, 0, 0, 0)


def write_archive(
    path: Path, manifest: Manifest, assembly: dict[str, Any], parts: Parts, indices: Sequence[int]
) -> None:
    """Puts a shard's parts into an uncompressed zip file.

    Parameters
    ----------
    manifest
        Of the shard.
    assembly
        What else is needed to make the final file of the parts, JSON-able; it is not interpreted here.
    indices
        Tiles of the shard.
    """
    entries = {**dataclasses.asdict(manifest), "assembly": assembly}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(MANIFEST, TIME), json.dumps(entries))
        for index in indices:
            entry = zipfile.ZipInfo(part_name(index), TIME)
            entry.file_size = parts.path(index).stat().st_size
            with open(parts.path(index), "rb") as part, archive.open(entry, "w") as copy:
                shutil.copyfileobj(part, copy, 1 << 20)


def open_archives(paths: Sequence[str]) -> tuple[Manifest, dict[str, Any], Iterator[bytes]]:
    """The manifest of a run, what its file is assembled with, and its parts in order, from all its shards.

    Raises
    ------
    InputError
        A file that is no shard, or damaged; shards of different runs; a shard missing or given twice.
    """
    archives: dict[int, tuple[str, zipfile.ZipFile]] = {}
    first: Manifest | None = None
    assembly: dict[str, Any] = {}
    for path in paths:
        archive, manifest, own = _open(path)
        assert manifest.shard is not None
        number, count = manifest.shard
        if first is None:
            first, assembly = dataclasses.replace(manifest, shard=(1, count)), own
        difference = first.difference(dataclasses.replace(manifest, shard=(1, count)))
        if difference:
            raise InputError(f"this is a shard of another run than {paths[0]} ({difference})", file=path)
        if number in archives:
            raise InputError(f"shard {number}/{count} is given twice, also as {archives[number][0]}", file=path)
        archives[number] = (path, archive)
    if first is None or first.shard is None:
        raise InputError("there is no shard to merge: name the files that --shard wrote")
    count = first.shard[1]
    missing = [str(number) for number in range(1, count + 1) if number not in archives]
    if missing:
        raise InputError(f"of {count} shards number {', '.join(missing)} is missing: give all of them")
    places = {name: archives[number] for number in archives for name in archives[number][1].namelist()}
    lacking = next((k for k in range(first.n_tiles) if part_name(k) not in places), None)
    if lacking is not None:
        raise InputError(f"no shard holds tile {lacking}: write the shards again")

    def parts() -> Iterator[bytes]:
        for index in range(first.n_tiles):
            path, archive = places[part_name(index)]
            try:
                yield archive.read(part_name(index))
            except (OSError, EOFError, zipfile.BadZipFile):
                raise InputError(f"tile {index} in it is damaged: write this shard again", file=path) from None

    return first, assembly, parts()


def _open(path: str) -> tuple[zipfile.ZipFile, Manifest, dict[str, Any]]:
    try:
        archive = zipfile.ZipFile(path)
        text = archive.read(MANIFEST)
        manifest, assembly = Manifest.from_json(text), json.loads(text)["assembly"]
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except PermissionError:
        raise InputError("no permission to read this file", file=path) from None
    except (OSError, EOFError, zipfile.BadZipFile, KeyError, ValueError):
        raise InputError("this is no shard that --shard wrote, or not all of it", file=path) from None
    if manifest.shard is None:
        raise InputError("this is no shard that --shard wrote", file=path)
    return archive, manifest, assembly
