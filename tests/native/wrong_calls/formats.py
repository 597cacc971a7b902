"""Wrong calls of native/bindings/formats.cpp."""

import numpy as np
from native.wrong_calls.kinds import Entry, at, f64, i64, part, u32

from tropalign import _native

TEXT, OFFSETS, FAR = np.frombuffer(b"abcdef", np.uint8), i64(0, 2, 6), i64(0, 1, 99)
#: Kinds of columns that are doubles, and what they say to columns of two rows.
REALS = ("shortest", "evalue", "bits")
RIGHT_COLUMNS = [(kind, numbers, "") for kind in REALS for numbers in (np.zeros(2), f64(np.nan, np.inf))]
WRONG_COLUMNS = [
    ("lacks a part", (), ("int32",), ("int32", ""), ("text", TEXT, ""), *((kind, "") for kind in REALS)),
    (TypeError, (5, ""), ("constant", 5), ("constant", None), [], "int32", None),
    ("unknown kind", ("words", "")),
    ("fewer items", ("int32", np.zeros(1, np.int32), ""), *((kind, np.zeros(1), "") for kind in REALS)),
    (TypeError, ("int32", np.zeros(2, np.int64), ""), ("int32", [1, 2], ""), ("int64", np.zeros(4, np.int64)[::2], "")),
    (TypeError, *((kind, wrong, "") for kind in REALS for wrong in (np.zeros(2, np.float32), np.zeros(4)[::2]))),
    ("decimals", ("real", np.zeros(2), 10, ""), ("real", np.zeros(2), -1, "")),
    (TypeError, ("real", np.zeros(2), "x", "")),
    ("beyond", ("text", TEXT, FAR, None, ""), ("text", TEXT, i64(-1, 2, 6), None, "")),
    ("descend", ("text", TEXT, i64(2, 0, 6), None, "")),
    (
        "fewer items",
        ("text", TEXT, i64(), None, ""),
        ("text", TEXT, i64(0), None, ""),
        ("text", TEXT, OFFSETS, i64(0), ""),
    ),
    (
        "index of a text column is out of range",
        ("text", TEXT, OFFSETS, i64(0, 2), ""),
        ("text", TEXT, OFFSETS, i64(0, -(2**63)), ""),
    ),
    ("beyond", ("cigar", np.zeros(6, np.uint32), FAR, "")),
    ("fewer items", ("cigar", np.zeros(6, np.uint32), i64(0, 6), "")),
    (TypeError, ("cigar", np.zeros(6, np.uint8), OFFSETS, "")),
]


def rows_of_text():
    """join_rows and column_text."""
    column, long = ("text", TEXT, OFFSETS, None, ""), ("constant", "x" * 1000)
    rows = [("n_rows", "negative", -1), ("n_rows", TypeError, 2**64)]
    wrong = [("columns", said, *([column] for column in columns)) for said, *columns in WRONG_COLUMNS]
    wrong += [*rows, ({"columns": [long], "n_rows": 2**62}, "any memory"), ("columns", TypeError, ("constant", ""))]
    right = [{"columns": [column]} for column in RIGHT_COLUMNS]
    yield Entry(_native.join_rows, {"columns": [column], "n_rows": 2}, wrong, right)
    wrong = [("column", said, *columns) for said, *columns in WRONG_COLUMNS]
    wrong += [*rows, ({"column": long, "n_rows": 2**62}, "any memory")]
    yield Entry(_native.column_text, {"column": column, "n_rows": 2}, wrong, [{"column": c} for c in RIGHT_COLUMNS])


def lines():
    """numbers."""
    yield Entry(_native.numbers, {"text": b"1 2.5"}, [("text", TypeError, "1 2.5", TEXT, None)], [{"text": b""}])


def alignments():
    """gapped_text, srspair_records, differences and mismatches."""
    letters, codes, two = np.frombuffer(b"ACGTACGT", np.uint8), np.arange(8, dtype=np.uint8), np.ones(2, np.int32)
    arrays = {"positive": np.ones(1024, np.uint8), "strand": None, "score": i64(-(2**63), 2**63 - 1)}
    arrays |= {"operations": u32(4 << 4 | 7, 3 << 4 | 8, 1 << 4 | 1), "offsets": i64(0, 1, 3)}
    arrays |= dict.fromkeys(("n_identical", "n_similar", "n_gaps", "query_start", "target_start"), two)
    for side in ("query", "target"):
        arrays |= {f"{side}_begin": i64(0, 4), f"{side}_letters": letters.copy(), f"{side}_codes": codes.copy()}
        arrays |= {f"{side}_names": TEXT[:2].copy(), f"{side}_name_offsets": i64(0, 1, 2), f"{side}_index": i64(0, 1)}
    begins = [
        (f"{side}_begin", "longer", *(at(1, k) for k in (6, 2**63 - 1, -1, -(2**63)))) for side in ("query", "target")
    ]
    shared = [
        *begins,
        ("query_begin", "fewer items", np.zeros(3, np.int64)),
        ("target_begin", "fewer items", part(slice(1))),
        ("query_begin", TypeError, np.zeros(2, np.int32)),
        ("query_codes", "fewer items", part(slice(7))),
        ("target_letters", "longer", part(slice(6))),
        ("operations", "longer", at(0, 2**32 - 9)),
        ("operations", "operation", at(2, 1 << 4 | 5)),
        ("offsets", "beyond", at(2, 4), at(0, -1)),
        ("offsets", "descend", at(1, 9)),
        ("offsets", "fewer items", part(slice(2))),
        ("positive", "fewer items", part(slice(1023))),
    ]
    own = [
        ("score", "fewer items", part(slice(1))),
        ("score", TypeError, np.ones(2, np.int32)),
        ("n_gaps", TypeError, np.ones(2, np.int64)),
        ("strand", "fewer items", np.ones(1, np.int8)),
        ("query_names", "beyond", part(slice(1))),
        ("query_name_offsets", "descend", i64(0, 2, 1)),
        ("query_name_offsets", "beyond", at(0, -1)),
        ("query_name_offsets", "fewer items", part(slice(0))),
        ("query_index", "no valid sequence index", at(1, 2)),
        ("target_index", "no valid sequence index", at(1, -1)),
    ]
    table = np.arange(256, dtype=np.uint8)
    of_differences = [row for row in shared if row[0] in ("target_letters", "offsets") or row[1] == "operation"]
    for name, call, wrong in (
        ("gapped", _native.gapped_text, shared),
        ("srspair", lambda arrays: _native.srspair_records(arrays, "# Gap_penalty: 1\n", ""), shared + own),
        ("differences", lambda arrays: _native.differences(arrays, table), begins + of_differences),
        ("mismatches", lambda arrays: _native.mismatches(arrays, table), begins + of_differences),
    ):
        cases = []
        for argument, said, *values in wrong:
            for value in values:
                bad = value(arrays[argument]) if callable(value) else value
                cases.append(("arrays", said, arrays | {argument: bad}))
        yield Entry(call, {"arrays": arrays}, cases, name=name)
    yield Entry(_native.gapped_text, {"arrays": arrays}, [("arrays", KeyError, {}), ("arrays", TypeError, [])])
    wrong = [("letters", "256", part(slice(255))), ("letters", TypeError, table.astype(np.int32))]
    yield Entry(_native.differences, {"arrays": arrays, "letters": table}, wrong)
    yield Entry(_native.mismatches, {"arrays": arrays, "letters": table}, wrong)
