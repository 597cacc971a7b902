"""Records of FASTQ, which native code splits, and Python if something is unusual: the records are the same."""

import io
import re
from itertools import pairwise

import dnaio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tropalign import InputError
from tropalign.sequences import records

LINES = st.lists(
    st.tuples(
        st.sampled_from([b"a", b"b c", b"b\tc  d ", b" a", b"", b"x\x0b"]),
        st.sampled_from([b"ACGT", b"acgtnACGTACGT", b"", b"A C", b"A\rC"]),
        st.sampled_from([b"+", b"+", b"+", b"same", b"+other"]),
        st.sampled_from([b"\n", b"\n", b"\n", b"\n", b"\r\n"]),
    ),
    max_size=9,
)


def spelled(lines):
    return b"".join(
        end.join([b"@" + name, letters, b"+" + name if plus == b"same" else plus, b"I" * len(letters), b""])
        for name, letters, plus, end in lines
    )


def with_line_feeds(data):
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def by_dnaio(data):
    found = []
    try:
        with dnaio.open(io.BytesIO(with_line_feeds(data)), mode="r", open_threads=0, fileformat="fastq") as reader:
            for record in reader:
                blank = min((record.name.find(b) for b in " \t" if b in record.name), default=len(record.name))
                found.append((record.name[:blank], record.name[blank + 1 :].strip(), record.sequence))
    except dnaio.exceptions.FileFormatError as error:
        return found, error.line + 1
    return found, None


def by_tropalign(data):
    found = []
    try:
        for block in records.records_of_file(io.BytesIO(data)):
            letters, offsets = block.letters.tobytes().decode(), block.offsets.tolist()
            texts = [letters[begin:end] for begin, end in pairwise(offsets)]
            assert block.counts.tolist() == [letters.encode().count(byte) for byte in range(256)]
            found += zip(block.names, block.descriptions, texts, strict=True)
    except InputError as error:
        return found, error.line
    return found, None


@settings(max_examples=300)
@given(LINES, st.integers(0, 30), st.sampled_from([b"", b"\n", b"\n\n", b"@", b"@x\nA\n+\n", b"ACGT\n"]), st.booleans())
def test_fastq_is_read_as_dnaio_reads_it(lines, cut, more, is_small):
    data = spelled(lines)
    data = data[: len(data) - cut] + more
    if not data.startswith(b"@"):
        return
    sizes = (2, 8, 64) if is_small else (records.BLOCK_RECORDS, records.BLOCK_LETTERS, records.FASTQ_BYTES)
    with pytest.MonkeyPatch.context() as patch:
        for name, size in zip(("BLOCK_RECORDS", "BLOCK_LETTERS", "FASTQ_BYTES"), sizes, strict=True):
            patch.setattr(records, name, size)
        found, line = by_tropalign(data)
    expected, fault = by_dnaio(data)
    if fault is None:
        assert (found, line) == (expected, None)
    elif line is None:  # dnaio does not read several lines
        assert found == [(name, about.strip(), letters) for name, about, letters, _ in by_hand(data)]
    else:
        assert found[: len(expected)] == expected[: len(found)]


def by_hand(data):
    """Name, description, letters and scores of each record; ValueError for anything else."""
    lines = with_line_feeds(data).decode("ascii").split("\n")
    at = 0
    while at < len(lines):
        name, at = lines[at], at + 1
        if not name.strip():
            continue
        plus = next((k for k in range(at, len(lines)) if lines[k][:1] == "+"), None)
        if name[:1] != "@" or plus is None or lines[plus] not in ("+", "+" + name[1:]):
            raise ValueError(name)
        parts, scores, at = [line for line in lines[at:plus] if line], [], plus + 1
        while sum(map(len, scores)) < sum(map(len, parts)):
            if at == len(lines):
                raise ValueError(name)
            scores += [lines[at]] if lines[at] else []
            at += 1
        letters, scores = "".join(parts), "".join(scores) if len(parts) > 1 else "".join(scores[:1])
        if len(letters) != len(scores) or any(part[0] in "@>" for part in parts[1:]):
            raise ValueError(name)
        yield (
            *re.fullmatch(r"([^ \t]*)[ \t]?(.*)", name[1:], re.DOTALL).groups(),
            letters,
            [ord(c) - 33 for c in scores],
        )


CHANGES = st.lists(
    st.tuples(
        st.floats(0, 1), st.sampled_from(["put", "set", "cut"]), st.integers(0, 127) | st.sampled_from(b"\n\r@+ \t")
    ),
    max_size=3,
)


@settings(max_examples=300)
@given(LINES.filter(bool), CHANGES, st.booleans())
def test_what_is_read_of_a_changed_file_is_what_stands_there(lines, changes, is_small):
    data = bytearray(spelled(lines))
    for share, change, byte in changes:
        at = int(share * len(data))
        data[at : at + (change != "put")] = b"" if change == "cut" else bytes([byte])
    sizes = (2, 8, 64) if is_small else (records.BLOCK_RECORDS, records.BLOCK_LETTERS, records.FASTQ_BYTES)
    if not data.startswith(b"@"):
        return
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for name, size in zip(("BLOCK_RECORDS", "BLOCK_LETTERS", "FASTQ_BYTES"), sizes, strict=True):
            patch.setattr(records, name, size)
        try:
            for block in records.records_of_file(io.BytesIO(data), keeps_qualities=True):
                spans = list(pairwise(block.offsets.tolist()))
                texts = [block.letters[begin:end].tobytes().decode() for begin, end in spans]
                scores = [block.qualities[begin:end].tolist() for begin, end in spans]
                found += zip(block.names, block.descriptions, texts, scores, strict=True)
        except InputError:
            return
    assert found == [(name, about.strip(), *rest) for name, about, *rest in by_hand(data)]


def test_usual_fastq_is_split_by_native_code(monkeypatch):
    monkeypatch.setattr(records, "_Fastq", None)
    usual = b"@r%d x\nACGTACGT\n+\nIIIIIIII\n"
    data = b"".join(usual % k for k in range(50_000))
    for text in (data, data[:-1], data.replace(b"\n", b"\r\n")):
        found, line = by_tropalign(text)
        assert line is None and len(found) == 50_000 and found[-1] == ("r49999", "x", "ACGTACGT")


@pytest.mark.parametrize(
    ("data", "line", "part"),
    [
        (
            b"@a\nAC\n+\nII\n@b\nAC\n+\nI\n",
            8,
            "the quality has 1 character, but the sequence has 2 residues: correct",
        ),
        (b"\n\n@a\nAC\n+\nII\n@b\nAC\n-\nII\n", 10, r"line 10, record 'b': the file ends within this record"),
        (
            b"@a\nAC\n+\nII\n@b\nAC\n",
            6,
            "the file ends within this record: fetch it again",
        ),
        (b"@a\nAC\n@b\nAC\n+\nII\n", 3, "record 'a': the '\\+' line between the sequence and its quality is missing"),
        (b"@a\nAC\n+\nII\nb\nAC\n+\nII\n", 5, "a FASTQ record must begin with '@'"),
        (b"@a\nAC\n+b\nII\n", 3, "the text after '\\+' differs from the header of the record"),
        (b"@a\nACGTA\n+\nII\n@b\nACG\n+\nIII\n", 4, "the quality has 2 characters, but the sequence has 5 residues"),
        (b"@a\nACG\nTA\n+\nII\n@b\nAC\n+\nII\n", 7, "the quality has 6 characters, but the sequence has 5 residues"),
        (b"@a\nAC\n+\nII\n@b\n\xffC\n+\nII\n", 6, "a non-ASCII byte in a sequence"),
    ],
)
def test_faults_are_told_with_their_line(data, line, part):
    with pytest.raises(InputError, match=part) as error:
        list(records.records_of_file(io.BytesIO(data)))
    assert error.value.line == line


PIECES = [b"a", b" ", b"\t", b">", b"@", b"\x7f", b"\xe9", b"\xc3", "\u00e9".encode(), "\u6f22".encode()]
HEADERS = st.lists(
    st.lists(st.sampled_from(PIECES)).map(lambda pieces: b"".join([b"n", *pieces])), min_size=1, max_size=9
)


def words_of(header):
    """Name and description: UTF-8, and other bytes as Latin-1."""
    text = header.decode("utf-8", "surrogateescape").encode("utf-16-le", "surrogatepass")
    units = [text[k] + 256 * text[k + 1] for k in range(0, len(text), 2)]
    text = "".join(chr(unit - 0xDC00 if 0xDC80 <= unit < 0xDD00 else unit) for unit in units)
    blank = min((text.find(b) for b in " \t" if b in text), default=len(text))
    return text[:blank], text[blank + 1 :].strip(" \t")


@pytest.mark.filterwarnings("ignore:the open stream. bytes that are not UTF-8 are read as Latin-1")
@settings(max_examples=200)
@given(HEADERS, st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.integers(1, 40))
def test_headers_hold_any_letter(headers, end, is_fastq, size):
    one = b"@%s%sAC%s+%sII%s" if is_fastq else b">%s%sAC%s"
    data = b"".join(one.replace(b"%s", header, 1).replace(b"%s", end) for header in headers)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BLOCK_LETTERS", "FASTQ_BYTES"):
            patch.setattr(records, name, size)
        found, line = by_tropalign(data)
    assert line is None and found == [(*words_of(header), "AC") for header in headers]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 100])
def test_bytes_outside_ascii_are_refused_in_sequences_alone(size, monkeypatch):
    monkeypatch.setattr(records, "BLOCK_LETTERS", size)
    monkeypatch.setattr(records, "FASTQ_BYTES", size)
    good = "\n \t>\u00e9 \u00df\nAC\n# \u00fc\nGT\n >b\u00e9\nA\n".encode()
    assert by_tropalign(good) == ([("\u00e9", "\u00df", "ACGT"), ("b\u00e9", "", "A")], None)
    assert by_tropalign(good + b"C\xc3")[1] == 8
    assert by_tropalign(good + b">\0\n")[1] == 8
    fastq = "@\u00e9\nAC\n+\u00e9\nII\n".encode()
    assert by_tropalign(2 * fastq) == (2 * [("\u00e9", "", "AC")], None)
    for bad, line in ((b"@b\nA\xc3\n+\nII\n", 6), (b"@b\nAC\n+\nI\xc3\n", 8), (b"@\0\nAC\n+\nII\n", 5)):
        assert by_tropalign(fastq + bad)[1] == line
