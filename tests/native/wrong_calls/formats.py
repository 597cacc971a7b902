"""Wrong calls of native/bindings/formats.cpp."""

import numpy as np

from tropalign import _native

I32, I64, U8, U32 = np.int32, np.int64, np.uint8, np.uint32


SIDES, FAR = ("query", "target"), (6, 2**63 - 1, -1, -(2**63))


def rows_of_text():
    """join_rows and column_text."""
    text, far = np.frombuffer(b"abcdef", U8), np.array([0, 1, 99], I64)
    offsets = np.array([0, 2, 6], I64)
    for column, error, part in [
        (("text", text, offsets, None, ""), None, ""),
        ((), ValueError, "lacks a part"),
        (("int32",), ValueError, "lacks a part"),
        (("int32", ""), ValueError, "lacks a part"),
        (("text", text, ""), ValueError, "lacks a part"),
        ((5, ""), TypeError, "kind"),
        (("constant", 5), TypeError, "prefix"),
        (("constant", None), TypeError, "prefix"),
        (("words", ""), ValueError, "unknown kind"),
        ([], TypeError, ""),
        ("int32", TypeError, ""),
        (None, TypeError, ""),
        (("int32", np.zeros(1, I32), ""), ValueError, "fewer items"),
        (("int32", np.zeros(2, I64), ""), TypeError, "another type"),
        (("int32", [1, 2], ""), TypeError, "another type"),
        (("int64", np.zeros(4, I64)[::2], ""), TypeError, "not contiguous"),
        (("real", np.zeros(2), 10, ""), ValueError, "decimals"),
        (("real", np.zeros(2), -1, ""), ValueError, "decimals"),
        (("real", np.zeros(2), "x", ""), TypeError, "decimals"),
        *(
            case
            for kind in ("shortest", "evalue", "bits")
            for case in (
                ((kind, np.zeros(2), ""), None, ""),
                ((kind, np.array([np.nan, np.inf]), ""), None, ""),
                ((kind, np.zeros(1), ""), ValueError, "fewer items"),
                ((kind, np.zeros(2, np.float32), ""), TypeError, "another type"),
                ((kind, np.zeros(4)[::2], ""), TypeError, "not contiguous"),
                ((kind, ""), ValueError, "lacks a part"),
            )
        ),
        (("text", text, far, None, ""), ValueError, "beyond"),
        (("text", text, np.array([-1, 2, 6], I64), None, ""), ValueError, "beyond"),
        (("text", text, np.array([2, 0, 6], I64), None, ""), ValueError, "descend"),
        (("text", text, np.zeros(0, I64), None, ""), ValueError, "fewer items"),
        (("text", text, np.array([0], I64), None, ""), ValueError, "fewer items"),
        (("text", text, offsets, np.array([0, 2], I64), ""), ValueError, "names no item"),
        (("text", text, offsets, np.array([0, -(2**63)], I64), ""), ValueError, "names no item"),
        (("text", text, offsets, np.array([0], I64), ""), ValueError, "fewer items"),
        (("cigar", np.zeros(6, U32), far, ""), ValueError, "beyond"),
        (("cigar", np.zeros(6, U32), np.array([0, 6], I64), ""), ValueError, "fewer items"),
        (("cigar", np.zeros(6, U8), offsets, ""), TypeError, "another type"),
    ]:
        yield f"join {column}", _native.join_rows, {"columns": [column], "n_rows": 2}, error, part
        yield f"column {column}", _native.column_text, {"column": column, "n_rows": 2}, error, part
    constant = ("constant", "x" * 1000)
    for n_rows, error, part in [
        (-1, ValueError, "negative"),
        (2**62, ValueError, "any memory"),
        (2**64, TypeError, ""),
    ]:
        yield f"join {n_rows}", _native.join_rows, {"columns": [constant], "n_rows": n_rows}, error, part
        yield f"column {n_rows}", _native.column_text, {"column": constant, "n_rows": n_rows}, error, part
    yield "no list", _native.join_rows, {"columns": ("constant", ""), "n_rows": 1}, TypeError, ""


def _differences(arrays, letters):
    """Of these alignments, the valid call first."""
    table = np.arange(256, dtype=U8)

    def differences(letters=table, **changes):
        return _native.differences({**arrays, **changes}, letters)

    yield "valid differences", differences, {}, None, ""
    for changes, error, part in [
        ({"letters": table[:255]}, ValueError, "256"),
        ({"letters": table.astype(I32)}, TypeError, ""),
        ({"query_begin": np.array([0, 6], I64)}, ValueError, "longer"),
        ({"target_begin": np.array([-1, 4], I64)}, ValueError, "longer"),
        ({"target_letters": letters[:6]}, ValueError, "longer"),
        ({"operations": np.array([4 << 4 | 7, 3 << 4 | 8, 1 << 4 | 5], U32)}, ValueError, "operation"),
        ({"offsets": np.array([0, 3, 1], I64)}, ValueError, "descend"),
    ]:
        yield f"differences {list(changes)}", differences, changes, error, part


def alignments():
    """gapped_text, srspair_records and differences."""
    letters, codes = np.frombuffer(b"ACGTACGT", U8), np.arange(8, dtype=U8)
    ones, names, bounds = np.ones(2, I32), np.frombuffer(b"ab", U8), np.array([0, 1, 2], I64)
    arrays = {
        "query_begin": np.array([0, 4], I64),
        "target_begin": np.array([0, 4], I64),
        "query_letters": letters,
        "query_codes": codes,
        "target_letters": letters.copy(),
        "target_codes": codes.copy(),
        "operations": np.array([4 << 4 | 7, 3 << 4 | 8, 1 << 4 | 1], U32),
        "offsets": np.array([0, 1, 3], I64),
        "positive": np.ones((32, 32), U8).ravel(),
        "score": np.array([-(2**63), 2**63 - 1], I64),
        **dict.fromkeys(("n_identical", "n_similar", "n_gaps", "query_start", "target_start"), ones),
        "strand": None,
        **{f"{side}_names": names for side in ("query", "target")},
        **{f"{side}_name_offsets": bounds for side in ("query", "target")},
        **{f"{side}_index": np.array([0, 1], I64) for side in ("query", "target")},
    }

    def gapped(**changes):
        return _native.gapped_text({**arrays, **changes})

    def srspair(**changes):
        return _native.srspair_records({**arrays, **changes}, "# Gap_penalty: 1\n", "")

    yield "valid gapped", gapped, {}, None, ""
    yield "valid srspair", srspair, {}, None, ""
    for name, wrong, error, text in [
        *((f"{side}_begin", np.array([0, k], I64), ValueError, "longer") for side in SIDES for k in FAR),
        ("query_begin", np.zeros(3, I64), ValueError, "fewer items"),
        ("query_begin", np.zeros(2, I32), TypeError, "another type"),
        ("target_begin", np.zeros(1, I64), ValueError, "fewer items"),
        ("query_codes", codes[:7], ValueError, "fewer items"),
        ("target_letters", letters[:6], ValueError, "longer"),
        ("operations", np.array([2**32 - 9, 3 << 4 | 8, 1 << 4 | 1], U32), ValueError, "longer"),
        ("operations", np.array([4 << 4 | 7, 3 << 4 | 8, 1 << 4 | 5], U32), ValueError, "operation"),
        ("offsets", np.array([0, 1, 4], I64), ValueError, "beyond"),
        ("offsets", np.array([0, 3, 1], I64), ValueError, "descend"),
        ("offsets", np.array([-1, 1, 3], I64), ValueError, "beyond"),
        ("offsets", np.array([0, 1], I64), ValueError, "fewer items"),
        ("positive", np.ones(1023, U8), ValueError, "fewer items"),
    ]:
        yield f"gapped {name} {wrong}", gapped, {name: wrong}, error, text
        yield f"srspair {name} {wrong}", srspair, {name: wrong}, error, text
    for name, wrong, error, text in [
        ("score", np.ones(1, I64), ValueError, "fewer items"),
        ("score", np.ones(2, I32), TypeError, "another type"),
        ("n_gaps", np.ones(2, I64), TypeError, "another type"),
        ("strand", np.ones(1, np.int8), ValueError, "fewer items"),
        ("query_names", names[:1], ValueError, "beyond"),
        ("query_name_offsets", np.array([0, 2, 1], I64), ValueError, "descend"),
        ("query_name_offsets", np.array([-1, 1, 2], I64), ValueError, "beyond"),
        ("query_name_offsets", np.zeros(0, I64), ValueError, "fewer items"),
        ("query_index", np.array([0, 2], I64), ValueError, "names no sequence"),
        ("target_index", np.array([0, -1], I64), ValueError, "names no sequence"),
    ]:
        yield f"srspair {name} {wrong}", srspair, {name: wrong}, error, text
    yield from _differences(arrays, letters)
    yield "empty dict", _native.gapped_text, {"arrays": {}}, KeyError, "query_begin"
    yield "no dict", _native.gapped_text, {"arrays": []}, TypeError, ""
