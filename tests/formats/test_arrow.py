import builtins
import io

import nanoarrow as na
import pytest

from formats.tables import random_table, reduced
from tropalign.errors import InputError
from tropalign.formats.registry import check_format

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
    return (pa.ipc.open_stream if name == "arrow" else pa.ipc.open_file)(io.BytesIO(text)).read_all()


@pytest.mark.parametrize("name", ["arrow", "feather", "parquet"])
@pytest.mark.parametrize("depth", ["score", "ends", "alignment"])
def test_columns(write, any_table, name, depth):
    table = any_table if depth == "alignment" else reduced(any_table, depth)
    for cuts in ((), (0, 6), (len(table),)):
        read = read_with_pyarrow(name, write(name, table, cuts))
        assert read.column_names == list(table.columns())
        for column, values in table.columns().items():
            assert read[column].to_pylist() == values.tolist(), column
        assert {key: read.schema.metadata[key] for key in NOTES} == NOTES


@pytest.mark.parametrize("name", ["arrow", "feather", "parquet"])
def test_no_row(write, any_table, name):
    read = read_with_pyarrow(name, write(name, any_table.slice(0, 0)))
    assert read.num_rows == 0 and read.column_names == list(any_table.columns())


def test_stream_needs_no_pyarrow(write, proteins):
    rows = na.ArrayStream.from_readable(write("arrow", proteins, (2,))).read_all().to_pylist()
    assert [row["cigar"] for row in rows] == proteins.cigars()


@pytest.mark.parametrize("name", ["feather", "parquet"])
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
        "Parquet and Feather need pyarrow: pip install 'tropalign[parquet]', or choose another --format"
    )


def test_polars_reads_the_stream(write):
    polars = pytest.importorskip("polars")
    table = random_table(0)
    assert polars.read_ipc_stream(io.BytesIO(write("arrow", table))).equals(table.to_polars())
