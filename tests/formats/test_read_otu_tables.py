"""Tables of counts that are read: what is written comes back, others' files are taken, broken ones are told."""

import bz2
import gzip
import json
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.errors import InputError, ResourceError
from tropalign.formats.clusters import biom_hdf5
from tropalign.results.clusters import OtuTable

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
        InputError, match=r"BIOM 2.1 needs h5py: pip install 'tropalign\[biom\]', or convert it to BIOM 1.0"
    ):
        ta.read_otu_table(tmp_path / "t.biom")
    with pytest.raises(InputError, match=r"BIOM 2.1 needs h5py: .*, or write .biom, which is BIOM 1.0"):
        TABLE.write(tmp_path / "x.hdf5")
    assert not (tmp_path / "x.hdf5").exists()


@pytest.mark.parametrize("suffix", ["tsv", "biom", "hdf5", "biom.gz", "tsv.zst"])
def test_no_clock_in_the_file(tmp_path, suffix):
    """Equal tables have equal bytes, whenever they are written."""
    if suffix == "hdf5":
        pytest.importorskip("h5py")
    for name in ("first", "second"):
        TABLE.write(tmp_path / f"{name}.{suffix}")
        time.sleep(1.1 * (name == "first"))
    assert (tmp_path / f"first.{suffix}").read_bytes() == (tmp_path / f"second.{suffix}").read_bytes()


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
        ("cut", r"this is not a valid BIOM 2.1 file \(OSError\)"),
        ("names", r"this is not a valid BIOM 2.1 file \((ValueError|KeyError)\)"),
        ("places", "this is not a valid BIOM"),
        ("shares", "is not a number of reads"),
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
    with pytest.raises(
        InputError, match=(r"endless.hdf5.gz: this is not a valid BIOM 2.1 file \(.*\): write the table again")
    ):
        ta.read_otu_table(Path(__file__).parent.parent / "data" / "endless.hdf5.gz")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_names_that_hdf5_has_no_text_for(tmp_path, name):
    pytest.importorskip("h5py")
    table = OtuTable((name,), ("gut",), np.array([0]), np.array([0]), np.array([3]), None)
    with pytest.raises(InputError, match=r"BIOM 2\.1 does not allow this name: rename it"):
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
    with pytest.raises(InputError, match=r"t.hdf5.*this is not a valid BIOM 2.1 file \(ValueError\)"):
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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('{"rows": [{"id": "x"}], "columns": [{"id": "a"}], "shape": [1, 1], "data": [[0.0, 0, 5.0]]}', 5),
        ("#OTU ID\ta\nx\t1e+05\n", 100_000),
        ("#OTU ID\ta\nx\t 5. \n", 5),
        ("#OTU ID\ta\nx\t+5\n", 5),
        ("#OTU ID\ta\nx\t0.0\n", 0),
    ],
)
def test_numbers_as_programs_write_them(tmp_path, text, count):
    (tmp_path / "t").write_text(text)
    assert ta.read_otu_table(tmp_path / "t").counts.tolist() == [[count]]


BIOM = {"rows": [{"id": "x"}, {"id": "y"}], "columns": [{"id": "a"}], "shape": [2, 1], "data": [[0, 0, 1]]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("#OTU ID\n", "the table has no sample: give a table of read counts"),
        ("#OTU ID\ttaxonomy\nx\ta\n", "the table has no sample"),
        ("#OTU ID\ta\n", "the table has no row: give a table"),
        ("#OTU ID\ta\ta\nx\t1\t1\n", "the sample 'a' occurs twice: add up its counts"),
        ("#OTU ID\ta\t\nx\t1\t1\n", "sample number 2 has no name: give it one"),
        ("#OTU ID\ta\nx\t1\nx\t1\n", "the row 'x' occurs twice: add up its counts"),
        ("#OTU ID\ta\n\t1\n", "row number 1 has no name: give it one"),
        ("#OTU ID\ta\nx\t1\t2\n", "t, line 2: the line has 3 fields, but the line of the samples has 2: give a table"),
        (">x\nACGT\n", "the table has no sample"),
        ("#OTU ID\ta\nx\t0.5\n", "t, record 'x': '0.5' is not a number of reads: write integers from 0 to 999,999,"),
        ("#OTU ID\ta\nx\t-1\n", "'-1' is not a number of reads"),
        ("#OTU ID\ta\nx\tnan\n", "'nan' is not a number of reads"),
        ("#OTU ID\ta\nx\t1e400\n", "'1e400' is not a number of reads"),
        ("#OTU ID\ta\nx\t1000000000000\n", "is not a number of reads"),
        ("#OTU ID\ta\nx\t\n", "'' is not a number of reads"),
        ("{", "this is not a valid BIOM file (JSONDecodeError"),
        ("{}", "this is not a valid BIOM file (KeyError"),
        ('{"rows": 3}', "this is not a valid BIOM"),
        (json.dumps(BIOM | {"shape": [1, 1]}), "(ValueError: its shape differs from that of its rows and columns)"),
        (json.dumps(BIOM | {"data": [[2, 0, 1]]}), "(ValueError: an index outside its shape)"),
        (json.dumps(BIOM | {"data": [[0, -1, 1]]}), "(ValueError: an index outside its shape)"),
        (json.dumps(BIOM | {"data": [[0, 0, 1], [1, 0, 2], [0, 0, 2]]}), "record 'x': sample 'a' has two counts"),
        (json.dumps(BIOM | {"data": [[0, 0, 0.25]]}), "0.25 is not a number of reads"),
        (json.dumps(BIOM | {"data": [[0, 0, None]]}), "None is not a number of reads"),
        (json.dumps(BIOM | {"data": [[0, 0, 1]], "matrix_type": "dense"}), "the length of a row differs from"),
        (json.dumps(BIOM | {"columns": [{"id": "a\tb"}]}), "the sample 'a\\tb' contains a character that"),
        (json.dumps(BIOM | {"columns": [{"id": "\ud800"}]}), "the sample '\\ud800' contains a character that"),
        (json.dumps(BIOM | {"rows": [{"id": "x"}, {"id": 5}]}), "row number 2 has no name"),
        (json.dumps(BIOM | {"rows": [{"id": "x", "metadata": 3}, {"id": "y"}]}), "this is not a valid BIOM"),
        (json.dumps(BIOM | {"data": [[10**400, 0, 1]]}), "an index outside its shape"),
        (json.dumps(BIOM | {"data": [[0.9, 0, 1]]}), "(ValueError: 0.9 is not a row or column index)"),
        (json.dumps(BIOM | {"data": [["1", 0, 1]]}), "(ValueError: '1' is not a row or column index)"),
        (json.dumps(BIOM | {"data": [[True, 0, 1]]}), "(ValueError: True is not a row or column index)"),
        (json.dumps(BIOM | {"data": [[0, None, 1]]}), "(ValueError: None is not a row or column index)"),
        (json.dumps(BIOM | {"data": [[0, 0, "1"]]}), "'1' is not a number of reads"),
        (json.dumps(BIOM | {"data": [[0, 0, True]]}), "True is not a number of reads"),
        (json.dumps(BIOM | {"data": [[0, 0, float("nan")]]}), "nan is not a number of reads"),
        (json.dumps(BIOM | {"columns": [{"id": "a\0"}]}), "the sample 'a\\x00' contains a character that"),
        ("#OTU ID\ta\nx\t1_0\n", "'1_0' is not a number of reads"),
        ("#OTU ID\ta\nx\t0x10\n", "'0x10' is not a number of reads"),
        ("#OTU ID\ta\nx\t\u0663\n", "is not a number of reads"),
        ("#OTU ID\ta\nx\t5.00000000000000000001\n", "is not a number of reads"),
        ("#OTU ID\ta\nx\tinf\n", "'inf' is not a number of reads"),
        ("#OTU ID\ta\nx\t1,5\n", "'1,5' is not a number of reads"),
        ("[" * 100_000, "the table has no sample"),
        ('{"rows":' + "[" * 100_000, "this is not a valid BIOM file (RecursionError"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, text, words):
    (tmp_path / "t").write_text(text)
    with pytest.raises(InputError) as error:
        ta.read_otu_table(tmp_path / "t")
    assert words in str(error.value) and str(tmp_path / "t") in str(error.value)


def biom_2_of(path, n_entries, n_rows=1, n_samples=1, taxonomy=None):
    """A small file of many equal values, which are packed."""
    h5py = pytest.importorskip("h5py")
    packed = {"compression": "gzip", "compression_opts": 9, "shuffle": True}
    with h5py.File(path, "w") as file:
        for axis, n in (("observation", n_rows), ("sample", n_samples)):
            file.create_dataset(f"{axis}/ids", data=[f"{axis}{k}" for k in range(n)], dtype=h5py.string_dtype())
        matrix = file.create_group("observation/matrix")
        matrix.create_dataset("data", data=np.zeros(n_entries), **packed)
        matrix.create_dataset("indices", data=np.zeros(n_entries, np.int32), **packed)
        matrix.create_dataset("indptr", data=np.linspace(0, n_entries, n_rows + 1).astype(np.int32))
        if taxonomy is not None:
            file.create_dataset("observation/metadata/taxonomy", data=taxonomy, dtype=h5py.string_dtype(), **packed)
    return path


def test_biom_2_with_more_counts_than_places(tmp_path):
    with pytest.raises(InputError, match=r"t.biom: this is not a valid BIOM 2.1 file \(ValueError\)"):
        ta.read_otu_table(biom_2_of(tmp_path / "t.biom", 2_000_000))


@pytest.mark.parametrize(
    "about",
    [
        {"n_entries": 2_000_000, "n_rows": 2000, "n_samples": 1000},
        {"n_entries": 1, "n_rows": 1, "taxonomy": [["a"] * 1_000_000]},
        {"n_entries": 1, "n_rows": 1, "n_samples": 400_000},
        {"n_entries": 1, "n_rows": 1, "taxonomy": ["a" * (200 << 20)]},
    ],
)
def test_biom_2_that_becomes_large(tmp_path, about):
    path = biom_2_of(tmp_path / "t.biom", **about)
    with pytest.raises(ResourceError, match=r"the table .*t.biom needs .* are allowed: allow more with memory_bytes"):
        ta.read_otu_table(path, memory_bytes=170 << 20)


def test_biom_2_where_zeros_stand_in_the_file(tmp_path):
    path = biom_2_of(tmp_path / "t.biom", 100_000, 1000, 100)
    assert not len(ta.read_otu_table(path).reads)


@pytest.mark.parametrize(
    "text",
    [
        b'{"rows": [' + b"[]," * 2_000_000 + b'[]], "columns": []}',
        b'{"rows": [' + b"{}," * 1_000_000 + b"{}]}",
        b'{"rows": ["' + b'","' * 1_000_000 + b'"]}',
        b"#OTU ID" + b"\ta" * 1_000_000 + b"\n",
        b"#OTU ID\ta\n" + b"x\t1\n" * 1_000_000,
        b"#OTU ID\n" + b"\n" * (30 << 20),
    ],
    ids=["lists", "objects", "texts", "samples", "rows", "lines"],
)
def test_text_that_becomes_large(tmp_path, text):
    (tmp_path / "t.gz").write_bytes(gzip.compress(text, 1))
    with pytest.raises(ResourceError, match=r"the table .*t.gz needs .* are allowed: allow more with memory_bytes"):
        ta.read_otu_table(tmp_path / "t.gz", memory_bytes=170 << 20)


@pytest.mark.parametrize(("soft", "hard"), [(50, 50), (40, 5000), (20, 30)])
def test_biom_2_under_a_limit_of_processor_time(tmp_path, soft, hard):
    """As batch systems set it; the limit of the file is then the lower one."""
    resource = pytest.importorskip("resource")
    pytest.importorskip("h5py")
    TABLE.write(tmp_path / "t.hdf5")
    words = [sys.executable, "-c", "import sys, tropalign; print(tropalign.read_otu_table(sys.argv[1]))"]
    ran = subprocess.run(
        [*words, tmp_path / "t.hdf5"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (soft, hard)),
    )
    assert ran.stdout.startswith("<OtuTable: ") and not ran.stderr


@pytest.mark.parametrize(
    ("number", "hard", "error", "words"),
    [
        (signal.SIGXCPU, 1, ResourceError, "took more than the 1 seconds of processor time .*: raise the limit"),
        (signal.SIGKILL, 1, ResourceError, "took more than the 1 seconds of processor time"),
        (signal.SIGKILL, None, ResourceError, "was killed: check whether memory is short"),
        (signal.SIGXCPU, None, InputError, r"this is not a valid BIOM 2.1 file \(reading it does not end\)"),
        (signal.SIGSEGV, None, InputError, r"this is not a valid BIOM 2.1 file \(signal 11\)"),
    ],
)
def test_a_limit_of_the_machine_is_no_fault_of_the_file(monkeypatch, number, hard, error, words):
    limit = resource.RLIM_INFINITY if hard is None else hard
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    found = biom_hdf5._ended_by(number, 60, "t.hdf5")
    assert isinstance(found, error) and re.search(words, str(found)) and "t.hdf5" in str(found)
