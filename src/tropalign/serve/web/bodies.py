"""Bodies of requests: JSON and forms, read within limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser

from tropalign.serve.web.refusals import Refused

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

MOST_FILES = 64
MOST_FIELDS = 500
#: Of all fields of a form but files, which are kept in memory.
MOST_FIELD_BYTES = 32 * 10**6
#: Longer JSON is read in a thread: others are answered meanwhile.
SMALL_BYTES = 100_000


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object that a request brings.

    Raises
    ------
    Refused
        It is no JSON, or another value than an object.
    """
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "the body has to be JSON: send Content-Type: application/json")
    body = await request.body()
    return parse_object(body) if len(body) < SMALL_BYTES else await run_in_threadpool(parse_object, body)


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in these bytes, by the letter of its standard: no NaN, no name twice.

    Raises
    ------
    Refused
        It is none.
    """
    try:
        found = _DECODER.decode(body.decode("utf-8"))
        json.dumps(found, ensure_ascii=False).encode()  # lone halves of surrogates
    except RecursionError:
        raise Refused(422, "the JSON is nested too deeply") from None
    except UnicodeError:
        raise Refused(422, "the JSON is not UTF-8") from None
    except ValueError as error:
        raise Refused(422, f"the body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refused(422, "the body has to be a JSON object")
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


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
    """The form that a request brings; its files are in temporary files until it is closed.

    Raises
    ------
    Refused
        It is none, or has too many parts.
    """
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
    """As Starlette has it, which bounds each field; here all of them together have a bound, too."""

    n_bytes = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._current_part.file is None:
            self.n_bytes += end - start
            if self.n_bytes > MOST_FIELD_BYTES:
                raise MultiPartException(f"its fields hold more than {MOST_FIELD_BYTES:,} bytes: send files")
        super().on_part_data(data, start, end)
