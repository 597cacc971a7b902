"""Wrong calls of native/bindings/sequences.cpp."""

import numpy as np

from tropalign import _native

I64, U8 = np.int64, np.uint8

TEXT = np.frombuffer(b">a\nMKV\n>b\nM\n", U8)


def records_of_text():
    """split_fasta and split_fastq."""
    usual = {"text": TEXT, "goes_on": False, "most_records": 5, "leading_blanks": False}
    for call, more in ((_native.split_fasta, {}), (_native.split_fastq, {"most_letters": 9})):
        for changes, error, part in [
            ({}, None, ""),
            ({"text": TEXT[:0]}, None, ""),
            ({"text": TEXT.astype(np.int8)}, TypeError, ""),
            ({"text": TEXT[::2]}, TypeError, ""),
            ({"text": ">a"}, TypeError, ""),
            ({"most_records": 0}, ValueError, "most_records"),
            ({"most_records": 2**64}, TypeError, ""),
        ]:
            yield f"{call.__name__} {changes}", call, {**usual, **more, **changes}, error, part
    yield "no letters", _native.split_fastq, {**usual, "most_letters": 0}, ValueError, "most_letters"


def letters_of_files():
    """check_plain, count_bytes, encode_letters and find_repeated."""
    for call, name in ((_native.check_plain, "text"), (_native.count_bytes, "letters")):
        for value, error in ((TEXT, None), (TEXT[:0], None), (TEXT.astype(I64), TypeError), (TEXT[::3], TypeError)):
            yield f"{name} {value}", call, {name: value}, error, ""
    usual = {"letters": TEXT, "table": np.zeros(256, U8), "wildcard": 3}
    for changes, error, part in [
        ({}, None, ""),
        ({"table": np.zeros(255, U8)}, ValueError, "table"),
        ({"table": np.zeros(256, np.int8)}, TypeError, ""),
        ({"wildcard": -1}, ValueError, "wildcard"),
        ({"wildcard": 255}, ValueError, "wildcard"),
        ({"letters": TEXT[::2]}, TypeError, ""),
    ]:
        yield f"encode {changes}", _native.encode_letters, {**usual, **changes}, error, part
    for offsets, error, part in [
        ([0, 1, 12], None, ""),
        ([0], None, ""),
        ([], ValueError, "offsets"),
        ([0, 13], ValueError, "beyond"),
        ([-1, 3], ValueError, "beyond"),
        ([0, 5, 2, 12], ValueError, "descend"),
    ]:
        arguments = {"data": TEXT, "offsets": np.array(offsets, I64)}
        yield f"repeated {offsets}", _native.find_repeated, arguments, error, part
