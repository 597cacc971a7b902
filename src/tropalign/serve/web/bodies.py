"""Request bodies: JSON and forms, read within limits."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser

from tropalign.errors import did_you_mean, shown
from tropalign.serve.web.refusals import Refused

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

MOST_FILES = 64
MOST_FIELDS = 500
#: Maximum bytes of all fields of a form except files, which are held in memory.
MOST_FIELD_BYTES = 32 * 10**6
#: Longer JSON is parsed in a thread, so that other requests are answered meanwhile.
SMALL_BYTES = 100_000
#: Maximum values and names in JSON: they take a hundred times the memory and time of as many bytes in one string.
MOST_VALUES = 20_000
#: Start of a surrogate in JSON.
_SURROGATE = re.compile(r"\\u[dD]")


async def read_json(request: Request, known: Sequence[str]) -> dict[str, Any]:
    """Return the JSON object of a request; raise Refused if it is invalid, has too many values or unknown fields."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "the body has to be JSON: send Content-Type: application/json")
    body = await _counted(request)
    found = parse_object(body) if len(body) < SMALL_BYTES else await run_in_threadpool(parse_object, body)
    check_names(found, known)
    return found


async def _counted(request: Request) -> bytes:
    """Return the body, counting its values on arrival: one with too many is neither stored nor decoded.

    It is read to its end regardless, since most clients listen only after they have sent everything.
    """
    count, pieces = ValueCount(), []
    async for piece in request.stream():
        if count.n <= MOST_VALUES:
            count.add(piece)
            pieces.append(piece)
        else:
            pieces.clear()
    if count.n > MOST_VALUES:
        raise Refused(413, f"the JSON holds more than {MOST_VALUES:,} values: send sequences as texts or files")
    return b"".join(pieces)


class ValueCount:
    """Streaming count of values and names in JSON without decoding, exact enough to bound them.

    `n` counts `,`, `:`, `[` and `{` outside of strings, one for each value but the first and for each name.
    """

    def __init__(self) -> None:
        self.n = 0
        self._is_in_text = False
        self._held = b""  # a backslash whose second character is in the next piece

    def add(self, piece: bytes) -> None:
        """Count a piece."""
        data = self._held + piece
        n_last = len(data) - len(data.rstrip(b"\\"))
        self._held = b"\\" if n_last % 2 else b""
        data = data[: len(data) - n_last]  # pairs of backslashes at the end represent themselves
        if b"\\" in data:
            data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = data.split(b'"')
        outside = b"".join(parts[1 if self._is_in_text else 0 :: 2])
        self._is_in_text ^= len(parts) % 2 == 0
        self.n += sum(map(outside.count, (b",", b":", b"[", b"{")))


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object strictly (no NaN, no duplicate names), or raise Refused."""
    try:
        text = body.decode("utf-8")
        found = _DECODER.decode(text)
        if _SURROGATE.search(text):  # which may be unpaired
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise Refused(422, "the JSON is nested too deeply") from None
    except UnicodeError:
        raise Refused(422, "the JSON is not UTF-8") from None
    except ValueError as error:
        raise Refused(422, f"the body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refused(422, "the body has to be a JSON object")
    return found


def check_names(data: dict[str, Any], known: Sequence[str]) -> None:
    """Raise Refused if the data has an unknown field."""
    for name in data:
        if name not in known:
            word = shown(name[:100])
            raise Refused(422, f"there is no field {word!r}{did_you_mean(word, known)}", field=word)


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def _whole(digits: str) -> int:
    if len(digits) > 19:
        raise ValueError("a number has too many digits")
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


_DECODER = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_object, parse_int=_whole, parse_float=_real)


async def read_form(request: Request) -> FormData:
    """Return a request's form, with files in temporary files until it is closed; raise Refused if invalid."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        raise Refused(415, "the body has to be a form")
    try:
        if kind == "multipart/form-data":
            parts = _Parts(
                request.headers, request.stream(), max_files=MOST_FILES, max_fields=MOST_FIELDS,
                max_part_size=MOST_FIELD_BYTES,
            )  # fmt: skip
            return await parts.parse()
        return await request.form(max_fields=MOST_FIELDS)
    except MultiPartException as error:
        raise Refused(422, f"the form cannot be read: {error.message}") from None
    except HTTPException as error:
        raise Refused(422, f"the form cannot be read: {error.detail}") from None


class _Parts(MultiPartParser):
    """Starlette's parser, with a limit for all fields together in addition to the limit per field."""

    n_bytes = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._current_part.file is None:
            self.n_bytes += end - start
            if self.n_bytes > MOST_FIELD_BYTES:
                raise MultiPartException(f"its fields hold more than {MOST_FIELD_BYTES:,} bytes: send files")
        super().on_part_data(data, start, end)
