"""Taxa in stores: where they come from, what is told of bad tables, and that stores without are as they were."""

import gzip
import io
import pickle
import tarfile

import numpy as np
import pytest
from sequences.test_sequence_store import manifest_of, with_manifest

import tropalign as ta
from tropalign.errors import InputError, ResourceError, TropalignWarning, UsageError
from tropalign.sequences import files, store
from tropalign.sequences.mapped_store import ARRAYS, TAXA_ARRAYS, Taxa
from tropalign.sequences.store import SequenceStore, TableRow, TaxonTable
from tropalign.sequences.stored_batch import stored_batch
from tropalign.sequences.texts import Texts

FASTA = ">a first OS=Homo sapiens OX=9606 GN=x\nMKVLAW\n>b\nMKILAW\n>c OX=562x\nMKV\n>d OX=4 OX=5\nMKVV\n"
NODES = {1: 1, 131567: 1, 2: 131567, 562: 2, 9606: 131567}
NAMES = {1: "root", 131567: "cellular organisms", 2: "Bacteria", 562: "Escherichia coli", 9606: "Homo sapiens ß"}


@pytest.fixture
def fasta(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(FASTA)
    return path


def dump(folder, nodes=NODES, names=NAMES, merged=((83333, 562),)):
    folder.mkdir(exist_ok=True)
    (folder / "nodes.dmp").write_text("".join(f"{k}\t|\t{up}\t|\tno rank\t|\t\t|\n" for k, up in nodes.items()))
    lines = [f"{k}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for k, name in names.items()]
    (folder / "names.dmp").write_text("562\t|\tE. coli\t|\t\t|\tsynonym\t|\n" + "".join(lines))
    (folder / "merged.dmp").write_text("".join(f"{old}\t|\t{new}\t|\n" for old, new in merged))
    return folder


def table(tmp_path, text):
    path = tmp_path / "taxids.tsv"
    path.write_text(text)
    return path


def told(taxa):
    return [(taxid, taxa.lineages[k]) for taxid, k in zip(taxa.taxids.tolist(), taxa.lineage.tolist(), strict=True)]


HEADERS = ["sp|P12345|A OX=9606", "tr|Q1AB23|Q1AB23_9BACT x", "gi|5|ref|NP_1.1| y", "NP_2", "NP_3.2", "sp|P5|B OX=7"]
ACCESSIONS = "".join(f">{header}\nMKV\n" for header in HEADERS)


@pytest.mark.parametrize("is_packed", [False, True])
def test_accessions(tmp_path, is_packed):
    """As NCBI's prot.accession2taxid names them, with and without versions; headers where no table names one."""
    (tmp_path / "x.fa").write_text(ACCESSIONS)
    lines = ["accession\taccession.version\ttaxid\tgi", "P12345\tP12345.1\t10\t0", "Q1AB23\tQ1AB23\t11\t0"]
    lines += ["NP_1\tNP_1.1\t12\t5", "NP_2\tNP_2.7\t13\t0", "NP_3\tNP_3.1\t14\t0", "NP_9\tNP_9.1\t15\t0"]
    text = ("\n".join(lines) + "\n").encode()
    path = tmp_path / "prot.accession2taxid"
    path.write_bytes(gzip.compress(text) if is_packed else text)
    with pytest.warns(TropalignWarning, match=r"1 of its 6 names is not in the files, for example 'NP_9.1' \(line 7\)"):
        store = SequenceStore.build(tmp_path / "x.fa", tmp_path / "x.tdb", path)
    assert store.taxa.taxids.tolist() == [10, 11, 12, 13, 14, 7]


def test_tables_name_sequences(tmp_path):
    (tmp_path / "x.fa").write_text(">sp|P1|A\nMKV\n>NP_1.2\nMKV\n>NP_1.3\nMKV\n>NP_2.5\nMKV\n")
    given = "sp|P1|A\t1\nNP_1.1\t2\nNP_1.2\t3\nNP_2.1\t4\nNP_2.2\t4\n"
    with pytest.warns(TropalignWarning, match="names are not in the files"):
        store = SequenceStore.build(tmp_path / "x.fa", tmp_path / "x.tdb", table(tmp_path, given))
    assert store.taxa.taxids.tolist() == [1, 3, 0, 4]  # of NP_1.3 two versions say two taxa
    # Contigs are no versions of one another, a bar is no database, and a number of GenBank (gi) no accession.
    rows = {name: TableRow(9606, "", 1) for name in ("contig.1", "contig1", "5", "contig_7")}
    for name in ("contig.2", "contig", "sampleA|contig1", "gi|5|ref|ZZ_1.1|", "contig_7.1"):
        assert TaxonTable("t", rows).name_of(name) is None


def test_headers_have_taxids_in_stores_and_tables(fasta, tmp_path):
    store = SequenceStore.build(fasta, tmp_path / "x.tdb")
    assert told(store.taxa) == [(9606, ""), (0, ""), (0, ""), (4, "")]
    store.verify()
    text = "accession\ttaxid\n# a remark\n\nb\t562\tBacteria;E. coli\na\t83333\t\nb\t562\tBacteria;E. coli\n"
    store = SequenceStore.build(fasta, tmp_path / "x.tdb", table(tmp_path, text))
    assert told(store.taxa) == [(83333, ""), (562, "Bacteria;E. coli"), (0, ""), (4, "")]
    store = SequenceStore.build(fasta, tmp_path / "x.tdb")
    stored = stored_batch(store.path, 0)
    assert told(stored.taxa) == told(store.taxa) and told(stored[[3, 0]].taxa) == [(4, ""), (9606, "")]


@pytest.mark.parametrize("is_archive", [False, True])
def test_lineages_of_a_taxdump(fasta, tmp_path, is_archive):
    path = dump(tmp_path / "taxdump")
    if is_archive:
        with tarfile.open(tmp_path / "taxdump.tar.gz", "w:gz") as archive:
            for name in ("names", "merged", "nodes"):
                archive.add(path / f"{name}.dmp", f"./{name}.dmp")
        path = tmp_path / "taxdump.tar.gz"
    with pytest.warns(
        TropalignWarning, match=r"taxdump.*: 1 of the sequences' taxids is not in it, for example 4: their"
    ):
        store = SequenceStore.build(fasta, tmp_path / "x.tdb", table(tmp_path, "b 83333\nc 1\n"), path)
    assert told(store.taxa) == [
        (9606, "cellular organisms;Homo sapiens ß"),
        (83333, "cellular organisms;Bacteria;Escherichia coli"),
        (1, "root"),
        (4, ""),
    ]
    assert store.manifest["layout"] == 2


def test_stores_keep_what_those_know_that_they_are_made_of(fasta, tmp_path):
    first = SequenceStore.build(fasta, tmp_path / "x.tdb", table(tmp_path, "b\t562\tBacteria\n"))
    (tmp_path / "y.fa").write_text(">e\nMKV\n>f OX=7\nMKV\n")
    both = SequenceStore.build([tmp_path / "y.fa", first.path], tmp_path / "both.tdb")
    assert told(both.taxa) == [(0, ""), (7, ""), (9606, ""), (562, "Bacteria"), (0, ""), (4, "")]
    path = dump(tmp_path / "td", {1: 1, 4: 1, 5: 1})
    with (
        pytest.warns(TropalignWarning, match="1 taxon of .* without a scientific name, for example 4"),
        pytest.warns(TropalignWarning, match="1 of the sequences' taxids is not in it, for example 9606"),
    ):
        again = SequenceStore.build(first.path, tmp_path / "again.tdb", taxdump=path)
    assert told(again.taxa) == [(9606, ""), (562, "Bacteria"), (0, ""), (4, "4")]


def test_a_batch_has_the_taxa_of_its_store(fasta, tmp_path):
    (tmp_path / "y.fa").write_text(">e\nMKV\n>empty\n\n>f\nMKVV\n")
    SequenceStore.build([fasta, tmp_path / "y.fa"], tmp_path / "x.tdb", table(tmp_path, "f 562 \nempty 3\n"))
    (tmp_path / "z.fa").write_text(">g\nMKV\n")
    batch = ta.read_sequences([tmp_path / "z.fa", tmp_path / "x.tdb"], skip_empty=True)
    expected = [(0, ""), (9606, ""), (0, ""), (0, ""), (4, ""), (0, ""), (562, "")]
    assert told(batch.taxa) == expected
    assert told(batch[[6, 1]].taxa) == [expected[6], expected[1]]
    assert told(batch.part(3, 5).taxa) == expected[3:5]
    assert told(pickle.loads(pickle.dumps(batch)).taxa) == expected
    plain = ta.read_sequences(tmp_path / "z.fa")
    assert plain.taxa is None and plain[[0]].taxa is None and pickle.loads(pickle.dumps(plain)).taxa is None


def test_nothing_changes_where_nothing_is_known(tmp_path):
    """No array more, and equal fingerprints with taxa and without."""
    (tmp_path / "plain.fa").write_text(">a\nMKV\n>b\nMKVV\n")
    plain = SequenceStore.build(tmp_path / "plain.fa", tmp_path / "plain.tdb")
    assert plain.taxa is None and set(plain.manifest["arrays"]) == set(ARRAYS)
    known = SequenceStore.build(tmp_path / "plain.fa", tmp_path / "known.tdb", table(tmp_path, "a 7\n"))
    assert set(known.manifest["arrays"]) == {*ARRAYS, *TAXA_ARRAYS}
    one, other = (ta.read_sequences(store.path) for store in (plain, known))
    assert one.fingerprint() == other.fingerprint() and one.taxa is None and told(other.taxa) == [(7, ""), (0, "")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a\t1\na\t2\n", r"taxids\.tsv, line 2: 'a' has taxid 1 in line 1: remove one of the lines"),
        ("a\t1\tP\na\t1\tQ\n", r"taxids\.tsv, line 2: 'a' has another lineage in line 1"),
        ("name\ttaxid\na\tx\n", r"taxids\.tsv, line 2: 'x' is not a taxid: write NCBI's number of the taxon"),
        ("a\t-1\n", r"taxids\.tsv, line 1: '-1' is not a taxid"),
        ("a\t9999999999\n", r"'9999999999' is not a taxid"),
        ("a\t1.5\n", r"line 1: '1\.5' is not a taxid"),
        ("a\t" + "0" * 5000 + "9\n", r"line 1: '0+\.*.* is not a taxid"),
        ("a\n", r"line 1: this is not a line of a taxid table: write a name, a tab and a taxid"),
        ("a\t1\tP\t9\n", r"line 1: this is not a line of a taxid table"),
        ("name\ttaxid\n", r"taxids\.tsv: the table contains no sequence"),
        ("\n", r"taxids\.tsv: the file is empty"),
        (
            "x\t1\ny\t1\n",
            r"taxids\.tsv: none of its names is in the files, for example 'x': a name must be the header",
        ),
    ],
)
def test_bad_tables(fasta, tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        SequenceStore.build(fasta, tmp_path / "x.tdb", table(tmp_path, text))
    assert not (tmp_path / "x.tdb").exists()


def test_names_that_are_not_in_the_files_are_counted(fasta, tmp_path):
    with pytest.warns(TropalignWarning, match=r"2 of its 3 names are not in the files, for example 'x' \(line 2\)$"):
        SequenceStore.build(fasta, tmp_path / "x.tdb", table(tmp_path, "a\t1\nx\t1\ny\t1\n"))


BAD_DUMPS = {
    "no folder": (lambda d: d.rename(d.parent / "else"), "there is no such file"),
    "no names": (lambda d: (d / "names.dmp").unlink(), "it contains no names.dmp: give NCBI's taxdump.tar.gz, or the"),
    "no nodes": (lambda d: (d / "nodes.dmp").unlink(), "it contains no nodes.dmp"),
    "no numbers": (
        lambda d: (d / "nodes.dmp").write_text("1\t|\t1\t|\nx\t|\t1\t|\n"),
        r"nodes.dmp, line 2: a line of NCBI's taxdump must begin with two taxids",
    ),
    "one number": (
        lambda d: (d / "merged.dmp").write_text("7\n"),
        r"merged.dmp, line 1: a line of NCBI's taxdump must begin",
    ),
    "a number beyond all": (
        lambda d: (d / "merged.dmp").write_text(f"7\t|\t{9**40}\t|\n"),
        r"merged.dmp, line 1: a line of",
    ),
    "an orphan": (lambda d: dump(d, {1: 1, 9606: 77}), "taxon 77, the parent of 9606, has no line in nodes.dmp"),
    "a circle": (lambda d: dump(d, {1: 1, 9606: 77, 77: 9606}), "taxon 9606 has no path to the root in nodes.dmp"),
    "another one": (
        lambda d: dump(d, {1: 1}),
        "none of the sequences' taxids is in it, for example 4: use a newer one",
    ),
}


@pytest.mark.parametrize("name", BAD_DUMPS)
def test_bad_taxdumps(fasta, tmp_path, name):
    breaks, sentence = BAD_DUMPS[name]
    breaks(dump(tmp_path / "taxdump"))
    with pytest.raises(InputError, match=sentence):
        SequenceStore.build(fasta, tmp_path / "x.tdb", taxdump=tmp_path / "taxdump")


def test_files_of_a_taxdump_are_no_output(fasta, tmp_path):
    path = dump(tmp_path / "taxdump")
    with pytest.raises(UsageError, match=r"nodes\.dmp"):
        SequenceStore.build(fasta, path / "nodes.dmp", taxdump=path)
    assert (path / "nodes.dmp").read_text().startswith("1\t|")


@pytest.mark.parametrize("data", [b"no archive", b"\x1f\x8b\x08\x00 cut short"])
def test_what_is_no_archive(fasta, tmp_path, data):
    (tmp_path / "x.gz").write_bytes(data)
    with pytest.raises(InputError, match=r"x\.gz: it (is neither a folder nor a complete archive|cannot be read)"):
        SequenceStore.build(fasta, tmp_path / "x.tdb", taxdump=tmp_path / "x.gz")


@pytest.mark.parametrize("given", ["taxonomy", "taxdump"])
def test_an_input_is_not_written_onto(fasta, tmp_path, given):
    path = table(tmp_path, "a 1\n")
    with pytest.raises(UsageError, match="is an input: name another file to write to"):
        SequenceStore.build(fasta, path, **{given: path})
    assert path.read_text() == "a 1\n"


def changed(name, **entry):
    return lambda manifest: manifest["arrays"][name].update(entry)


BROKEN = {
    "an array that is not there": (lambda m: m["arrays"].pop("lineages"), "its manifest is incomplete or invalid"),
    "taxids beyond the end": (changed("taxids", bytes=1 << 40), "its taxids extend beyond the end of the file"),
    "few taxids": (changed("taxids", bytes=8), "1 taxids for 4 lineages"),
    "few of both": (
        lambda m: [m["arrays"][name].update(bytes=8) for name in ("taxids", "lineage_numbers")],
        "it has 1 taxids for 4 sequences",
    ),
    "no lineage": (changed("lineage_offsets", bytes=8), "do not ascend to the end of their data"),
    "letters as numbers": (
        lambda m: m["arrays"]["lineage_numbers"].update(begin=m["arrays"]["letters"]["begin"]),
        "a lineage index is out of range for 2 lineages",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_damaged_stores(fasta, tmp_path, name):
    change, sentence = BROKEN[name]
    path = tmp_path / "x.tdb"
    SequenceStore.build(fasta, path, table(tmp_path, "b\t562\tBacteria\n"))
    path.write_bytes(with_manifest(path.read_bytes(), change))
    with pytest.raises(InputError, match=r"x\.tdb: the store is damaged \(.*" + sentence):
        SequenceStore.open(path)


def test_a_changed_byte_is_told(fasta, tmp_path):
    path = tmp_path / "x.tdb"
    SequenceStore.build(fasta, path, table(tmp_path, "b\t562\tBacteria\n"))
    data = bytearray(path.read_bytes())
    data[manifest_of(bytes(data))["arrays"]["lineages"]["begin"]] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="the checksum of its lineages does not match"):
        SequenceStore.open(path).verify()


def test_arrays_that_do_not_fit():
    one = np.zeros(1, np.int64)
    for taxids, numbers, sentence in (
        (np.zeros(2, np.int64), one, "2 taxids for 1 lineages: give one per lineage"),
        (one, one + 1, "a lineage index is out of range for 1 lineages"),
        (one - 1, one, "a taxid is -1: taxids must be 0 or more"),
    ):
        with pytest.raises(ValueError, match=sentence):
            Taxa(taxids, Texts.of([""]), numbers)
    batch = ta.SequenceBatch.from_strings({"a": "MKV", "b": "MK"})
    with pytest.raises(ValueError, match="taxa of 1 sequences for 2 sequences: give one taxon"):
        ta.SequenceBatch(batch.codes, batch.offsets, batch.names, batch.alphabet, batch.letters, taxa=Taxa.unknown(1))


def packed(path, member, text):
    with gzip.open(path, "wb", 1) as file, tarfile.open(fileobj=file, mode="w") as tar:
        for name, data in (("names.dmp", b"1\t|\troot\t|\t\t|\tscientific name\t|\n"), (member, text)):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"1\t|\t" * 600_000, r"nodes\.dmp: a line has more than 1,048,576 bytes: give a file of the right kind"),
        (b"1\t|\t1\t|\n" * 1001, r"nodes\.dmp has more than 1,000 lines: give NCBI's taxdump\.tar\.gz"),
        (b"1\t|\t1\t|\n1_0\t|\t1\t|\n", r"nodes\.dmp, line 2: a line of NCBI's taxdump must begin"),
        (b"1\t|\t0x1\t|\n", "nodes.dmp, line 1: a line of NCBI's taxdump must begin"),
        (b"-1\t|\t1\t|\n", "nodes.dmp, line 1: a line of NCBI's taxdump must begin"),
        (b"1\t|\t9999999999999999999\t|\n", "nodes.dmp, line 1: a line of NCBI's taxdump must begin"),
    ],
)
def test_a_taxdump_holds_what_ncbis_does(tmp_path, fasta, monkeypatch, text, words):
    monkeypatch.setattr("tropalign.sequences.store.MOST_LINES", 1000)
    with pytest.raises(InputError, match=words):
        store.Taxdump(packed(tmp_path / "taxdump.tar.gz", "nodes.dmp", text))


def test_a_table_of_taxids_is_bounded_by_what_it_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "default_budget", lambda: 1 << 20)
    monkeypatch.setattr(store, "ROWS_AT_ONCE", 1000)
    path = table(tmp_path, "".join(f"s{k}\t9606\n" for k in range(5000)))
    with pytest.raises(ResourceError, match=r"the table .*taxids.tsv needs .*: keep only the lines of sequences in"):
        TaxonTable.read(path)


def test_a_line_is_bounded(tmp_path, monkeypatch):
    """Readers of lines see the length before they hold it twice."""
    monkeypatch.setattr(files, "MOST_LINE", 1 << 17)
    path = tmp_path / "x.gz"
    for text in (b"a" * (1 << 18), b"a\n" + b"b" * (1 << 18) + b"\n", b"\n" * 3 + b"c" * (1 << 19)):
        path.write_bytes(gzip.compress(text))
        with pytest.raises(InputError, match=r"x\.gz: a line has more than 131,072 bytes: give a file of the right"):
            list(files.read_lines(path))
    path.write_bytes(gzip.compress(b"a" * ((1 << 17) - 1) + b"\nb\r\n"))
    assert [len(line) for line in files.read_lines(path)] == [(1 << 17) - 1, 1]
