"""Tables of counts that are read: what is written comes back, others' files are taken, broken ones are told."""

import bz2
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.errors import InputError
from tropalign.formats.clusters import biom_hdf5
from tropalign.results.otu_table import OtuTable

LINEAGES = (("Bacteria", "Firmicutes"), (), ("Bacteria",))
TABLE = OtuTable(
    ("Otu2", "é b", "Otu1"),
    ("gut", "Skin"),
    np.array([0, 0, 2]),
    np.array([0, 1, 1]),
    np.array([3, 10**12 - 1, 5]),
    LINEAGES,
)
COUNTS = [[3, 10**12 - 1], [0, 0], [0, 5]]


def equal(found, lineages=LINEAGES):
    assert (found.names, found.samples, found.lineages) == (TABLE.names, TABLE.samples, lineages)
    assert found.counts.tolist() == COUNTS and found.reads.min() > 0
    return True


@pytest.mark.parametrize("suffix", ["tsv", "biom", "biom.gz", "tsv.xz", "hdf5", "h5.gz"])
@pytest.mark.parametrize("lineages", [LINEAGES, None])
def test_what_is_written_comes_back(tmp_path, suffix, lineages):
    if suffix.startswith("h"):
        pytest.importorskip("h5py")
    path = tmp_path / f"t.{suffix}"
    OtuTable(TABLE.names, TABLE.samples, TABLE.cluster, TABLE.sample, TABLE.reads, lineages).write(path)
    assert equal(ta.read_otu_table(path), lineages)


@pytest.mark.parametrize("kind", ["json", "dense", "classic"])
def test_what_biom_writes(tmp_path, kind):
    biom = pytest.importorskip("biom")
    metadata = [{"taxonomy": list(lineage) or ["Unassigned"]} for lineage in LINEAGES]
    table = biom.Table(np.array(COUNTS), TABLE.names, TABLE.samples, metadata, table_id="x")
    text = table.to_json("a test")
    if kind == "classic":
        text = table.to_tsv("taxonomy", "Consensus Lineage", "; ".join)
    elif kind == "dense":
        text = json.dumps(json.loads(text) | {"matrix_type": "dense", "data": COUNTS})
    (tmp_path / "t").write_text(text)
    assert equal(ta.read_otu_table(tmp_path / "t"))


def test_biom_2_of_others(tmp_path, monkeypatch):
    """With all that biom-format writes, compressed or not; without h5py a sentence."""
    biom, h5py = pytest.importorskip("biom"), pytest.importorskip("h5py")
    metadata = [{"taxonomy": list(lineage) or ["Unassigned"]} for lineage in LINEAGES]
    with h5py.File(tmp_path / "t.biom", "w") as file:
        biom.Table(np.array(COUNTS), TABLE.names, TABLE.samples, metadata).to_hdf5(file, "a test")
    assert equal(ta.read_otu_table(tmp_path / "t.biom"))
    (tmp_path / "packed").write_bytes(bz2.compress((tmp_path / "t.biom").read_bytes()))
    assert equal(ta.read_otu_table(tmp_path / "packed"))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(
        InputError, match=r"BIOM 2.1 needs h5py: pip install 'tropalign\[biom\]', or make BIOM 1.0 of it"
    ):
        ta.read_otu_table(tmp_path / "t.biom")
    with pytest.raises(InputError, match=r"BIOM 2.1 needs h5py: .*, or write .biom, which is BIOM 1.0"):
        TABLE.write(tmp_path / "x.hdf5")
    assert not (tmp_path / "x.hdf5").exists()


def test_biom_2_is_read_by_others(tmp_path):
    """The same bytes each time."""
    biom = pytest.importorskip("biom")
    for name in ("t.hdf5", "again.hdf5"):
        TABLE.write(tmp_path / name)
    assert (tmp_path / "t.hdf5").read_bytes() == (tmp_path / "again.hdf5").read_bytes()
    found = biom.load_table(str(tmp_path / "t.hdf5"))
    assert tuple(found.ids("observation")) == TABLE.names and tuple(found.ids("sample")) == TABLE.samples
    assert found.matrix_data.toarray().tolist() == COUNTS
    assert found.metadata("Otu2", "observation") == {"taxonomy": ["Bacteria", "Firmicutes"]}
    assert found.metadata("é b", "observation") == {"taxonomy": ["Unassigned"]}


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("cut", r"this is no BIOM 2.1 \(OSError\)"),
        ("names", r"this is no BIOM 2.1 \((ValueError|KeyError)\)"),
        ("places", "this is no BIOM"),
        ("shares", "is no number of reads"),
    ],
)
def test_damaged_biom_2(tmp_path, fault, sentence):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "t.hdf5"
    TABLE.write(path)
    if fault == "cut":
        path.write_bytes(path.read_bytes()[:900])
    else:
        with h5py.File(path, "r+") as file:
            if fault == "names":
                del file["observation/ids"]
            elif fault == "places":
                file["observation/matrix/indices"][0] = 7
            else:
                file["observation/matrix/data"][0] = 0.5
    with pytest.raises(InputError, match=rf"t.hdf5.*{sentence}"):
        ta.read_otu_table(path)


def test_a_damaged_biom_2_that_hdf5_never_ends_with(monkeypatch):
    """A byte of a table was changed, so that HDF5 goes in circles."""
    pytest.importorskip("h5py")
    monkeypatch.setattr(biom_hdf5, "READING_S", 2)
    with pytest.raises(InputError, match=r"endless.hdf5.gz: this is no BIOM 2.1 \(.*\): write the table again"):
        ta.read_otu_table(Path(__file__).parent.parent / "data" / "endless.hdf5.gz")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_names_that_hdf5_has_no_text_for(tmp_path, name):
    pytest.importorskip("h5py")
    table = OtuTable((name,), ("gut",), np.array([0]), np.array([0]), np.array([3]), None)
    with pytest.raises(InputError, match=r"BIOM 2\.1 holds no such name: rename it"):
        table.write(tmp_path / "x.h5")
    assert not list(tmp_path.iterdir())


def test_biom_2_on_standard_input(tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    TABLE.write(tmp_path / "t.hdf5")
    with (tmp_path / "t.hdf5").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert equal(ta.read_otu_table("-"))


@pytest.mark.parametrize("fault", ["external", "linked", "virtual", "shape", "lineages"])
def test_biom_2_shows_no_other_file_and_no_made_up_shape(tmp_path, fault):
    """Whoever sends a table to a server would read the server's files by it."""
    h5py = pytest.importorskip("h5py")
    path, other = tmp_path / "t.hdf5", tmp_path / "secret"
    TABLE.write(path)
    other.write_bytes(b"top")
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["data"] = [1.0, 2.0, 3.0]
    place = "observation/matrix/data" if fault != "lineages" else "observation/metadata/taxonomy"
    with h5py.File(path, "r+") as file:
        del file[place]
        if fault == "external":
            file.create_dataset(place, (3,), np.uint8, external=[(str(other), 0, 3)])
        elif fault == "linked":
            file[place] = h5py.ExternalLink(str(tmp_path / "other.hdf5"), "/data")
        elif fault == "virtual":
            layout = h5py.VirtualLayout((3,), float)
            layout[:] = h5py.VirtualSource(str(tmp_path / "other.hdf5"), "data", (3,))
            file.create_virtual_dataset(place, layout)
        elif fault == "shape":
            file.create_dataset(place, (10**11,), float, chunks=(1 << 20,))
        else:
            file[place] = ["a", "b"]
    with pytest.raises(InputError, match=r"t.hdf5.*this is no BIOM 2.1 \(ValueError\)"):
        ta.read_otu_table(path)


@pytest.mark.parametrize(
    "text",
    [
        "# Constructed from biom file\n#OTU ID\ta\tb\nx\t1\t0\ny\t0\t2.0\n",
        "OTU ID\ta\tb\nx\t1\t\0\n".replace("\0", "0") + "\ny\t0\t2\n",
        "# made by hand\n\nFeature ID\ta\tb\r\nx\t1\t0\r\ny\t0\t2",
        "\ufeff#OTU ID\ta\tb\ttaxonomy\nx\t1\t0\t\ny\t0\t2\t\n",
    ],
)
def test_classic_tables_of_others(tmp_path, text):
    (tmp_path / "t").write_text(text, newline="")
    found = ta.read_otu_table(tmp_path / "t")
    assert (found.names, found.samples, found.counts.tolist()) == (("x", "y"), ("a", "b"), [[1, 0], [0, 2]])


def test_a_taxonomy_that_is_a_text(tmp_path):
    TABLE.write(tmp_path / "t.biom")
    content = json.loads((tmp_path / "t.biom").read_text())
    for row, text in zip(content["rows"], ["d:Bacteria; p:X;", "", None], strict=True):
        row["metadata"] = {"taxonomy": text}
    (tmp_path / "t.biom").write_text(json.dumps(content))
    assert equal(ta.read_otu_table(tmp_path / "t.biom"), (("d:Bacteria", "p:X"), (), ()))


BIOM = {"rows": [{"id": "x"}, {"id": "y"}], "columns": [{"id": "a"}], "shape": [2, 1], "data": [[0, 0, 1]]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("#OTU ID\n", "the table has no sample: name one that has counts of reads"),
        ("#OTU ID\ttaxonomy\nx\ta\n", "the table has no sample"),
        ("#OTU ID\ta\n", "the table has no row: name one"),
        ("#OTU ID\ta\ta\nx\t1\t1\n", "the sample 'a' is there twice: add its counts up"),
        ("#OTU ID\ta\t\nx\t1\t1\n", "sample number 2 has no name: give it one"),
        ("#OTU ID\ta\nx\t1\nx\t1\n", "the row 'x' is there twice: add its counts up"),
        ("#OTU ID\ta\n\t1\n", "row number 1 has no name: give it one"),
        ("#OTU ID\ta\nx\t1\t2\n", "t, line 2: it has 3 fields, and the line of the samples 2: this is no table of co"),
        (">x\nACGT\n", "the table has no sample"),
        ("#OTU ID\ta\nx\t0.5\n", "t, record 'x': '0.5' is no number of reads: write whole numbers from 0 to 999,999,"),
        ("#OTU ID\ta\nx\t-1\n", "'-1' is no number of reads"),
        ("#OTU ID\ta\nx\tnan\n", "'nan' is no number of reads"),
        ("#OTU ID\ta\nx\t1e400\n", "'1e400' is no number of reads"),
        ("#OTU ID\ta\nx\t1000000000000\n", "is no number of reads"),
        ("#OTU ID\ta\nx\t\n", "'' is no number of reads"),
        ("{", "this is no BIOM (JSONDecodeError"),
        ("{}", "this is no BIOM (KeyError"),
        ('{"rows": 3}', "this is no BIOM"),
        (json.dumps(BIOM | {"shape": [1, 1]}), "(ValueError: another shape than its rows and columns have)"),
        (json.dumps(BIOM | {"data": [[2, 0, 1]]}), "(ValueError: a place outside of its shape)"),
        (json.dumps(BIOM | {"data": [[0, -1, 1]]}), "(ValueError: a place outside of its shape)"),
        (json.dumps(BIOM | {"data": [[0, 0, 1], [1, 0, 2], [0, 0, 2]]}), "record 'x': sample 'a' has two numbers of"),
        (json.dumps(BIOM | {"data": [[0, 0, 0.25]]}), "0.25 is no number of reads"),
        (json.dumps(BIOM | {"data": [[0, 0, None]]}), "None is no number of reads"),
        (json.dumps(BIOM | {"data": [[0, 0, 1]], "matrix_type": "dense"}), "rows of other lengths than there are sam"),
        (json.dumps(BIOM | {"columns": [{"id": "a\tb"}]}), "the sample 'a\\tb' holds what would break a table"),
        (json.dumps(BIOM | {"columns": [{"id": "\ud800"}]}), "the sample '\\ud800' holds what would break a table"),
        (json.dumps(BIOM | {"rows": [{"id": "x"}, {"id": 5}]}), "row number 2 has no name"),
        (json.dumps(BIOM | {"rows": [{"id": "x", "metadata": 3}, {"id": "y"}]}), "this is no BIOM"),
        (json.dumps(BIOM | {"data": [[10**400, 0, 1]]}), "a place outside of its shape"),
        ("[" * 100_000, "the table has no sample"),
        ('{"rows":' + "[" * 100_000, "this is no BIOM (RecursionError"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, text, words):
    (tmp_path / "t").write_text(text)
    with pytest.raises(InputError) as error:
        ta.read_otu_table(tmp_path / "t")
    assert words in str(error.value) and str(tmp_path / "t") in str(error.value)
