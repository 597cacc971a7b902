import builtins
import errno
import io

import nanoarrow as na
import pytest

from formats.conftest import context_for, parts_of
from formats.tables import reduced
from formats.written import HEADER
from tropalign.errors import InputError
from tropalign.formats.format import check_format, make_writer

NOTES = {
    b"tropalign": b"1.2.3",
    b"command": b"tropalign pairs a.fa",
    b"mode": b"local",
    b"gap_cost": b"8 + 2 * residues",
}


def read_with_pyarrow(name, text):
    pa = pytest.importorskip("pyarrow")
    if name == "parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(text))
    return (pa.ipc.open_stream if name == "arrows" else pa.ipc.open_file)(io.BytesIO(text)).read_all()


@pytest.mark.parametrize("name", ["arrow", "arrows", "feather", "parquet"])
@pytest.mark.parametrize("depth", ["score", "ends", "alignment"])
def test_columns(write, any_table, name, depth):
    table = any_table if depth == "alignment" else reduced(any_table, depth)
    for cuts in ((), (0, 6), (len(table),)):
        read = read_with_pyarrow(name, write(name, table, cuts))
        assert read.column_names == list(table.columns())
        for column, values in table.columns().items():
            assert read[column].to_pylist() == values.tolist(), column
        assert {key: read.schema.metadata[key] for key in NOTES} == NOTES


@pytest.mark.parametrize("name", ["arrow", "arrows", "feather", "parquet"])
def test_no_row(write, any_table, name):
    read = read_with_pyarrow(name, write(name, any_table.slice(0, 0)))
    assert read.num_rows == 0 and read.column_names == list(any_table.columns())


def test_the_stream_needs_no_pyarrow(write, proteins):
    text = write("arrows", proteins, (2,))
    rows = na.ArrayStream.from_readable(text).read_all().to_pylist()
    assert [row["cigar"] for row in rows] == proteins.cigars()
    polars = pytest.importorskip("polars")
    assert polars.read_ipc_stream(io.BytesIO(text)).equals(proteins.to_polars())


@pytest.mark.parametrize("name", ["arrow", "feather", "parquet"])
def test_says_what_is_missing(monkeypatch, name):
    found = builtins.__import__

    def without(module, *rest):
        if module.split(".")[0] == "pyarrow":
            raise ImportError(module)
        return found(module, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError) as caught:
        check_format("pairs", name, "alignment")
    assert str(caught.value) == (
        "Parquet and Arrow files need pyarrow: pip install 'tropalign[parquet]', or choose another format (arrows)"
    )


@pytest.mark.parametrize("name", ["arrow", "arrows", "feather", "parquet"])
@pytest.mark.parametrize("rows", [1, 7, 30, 100])
def test_same_bytes_however_cut(write, any_table, name, rows, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("tropalign.formats.pairs.arrow.BATCH_ROWS", rows)
    whole = write(name, any_table)
    for cuts in ((1, 7, 7, 20), range(1, 30), (29,)):
        assert write(name, any_table, cuts) == whole
    assert read_with_pyarrow(name, whole)["cigar"].to_pylist() == any_table.cigars()


class Full:
    """A file that takes some bytes and then no more."""

    def __init__(self, error, room):
        self.error, self.room = error, room

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise self.error
        return len(data)


@pytest.mark.parametrize("error", [BrokenPipeError(errno.EPIPE, "x"), OSError(errno.ENOSPC, "x")])
@pytest.mark.parametrize("room", [0, 1000, 2000])
def test_what_cannot_be_written_is_an_error_of_the_file(proteins, error, room):
    """nanoarrow has its own exception for it."""
    writer = make_writer("pairs", "arrows", HEADER, context_for(proteins))
    with pytest.raises(type(error)) as caught:
        writer.assemble(parts_of(writer, proteins), Full(error, room))
    assert caught.value is error


@pytest.mark.parametrize("damage", [lambda part: part[:-9], lambda part: b"", lambda part: b"PK" + part[9:]])
def test_damaged_parts(proteins, damage):
    writer = make_writer("pairs", "arrow", HEADER, context_for(proteins))
    parts = [damage(part) for part in parts_of(writer, proteins)]
    with pytest.raises(InputError, match="a finished part is damaged"):
        writer.assemble(parts, io.BytesIO())
