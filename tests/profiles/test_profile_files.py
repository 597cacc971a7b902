"""Hits to files from Python."""

import io
from pathlib import Path

import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.formats.format import format_names

DATA = Path(__file__).parent.parent / "data" / "search"
PFAM, PROTEINS = str(DATA / "pfam.hmm"), str(DATA / "proteins.fasta")


@pytest.fixture(scope="module")
def hits():
    return ta.search(PFAM, PROTEINS)


def rows(path):
    return [line for line in Path(path).read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("suffix", ["txt", "tbl", "domtbl", "pfamtbl", "sto", "tsv", "json"])
def test_files_are_those_of_the_command_line(hits, suffix, tmp_path):
    hits.write(tmp_path / f"a.{suffix}")
    assert main(["search", PFAM, PROTEINS, "-o", str(tmp_path / f"b.{suffix}"), "-q"]) == 0
    a, b = (rows(tmp_path / f"{name}.{suffix}") for name in "ab")
    if suffix == "json":
        a, b = a[1:], b[1:]  # the first line has the command
    assert a == b and a


def test_text_tells_of_the_filters(tmp_path):
    options = ta.SearchOptions.unfiltered(null2=False, seed=7)
    thresholds = ta.Thresholds(E=1, incE=1e-20, domZ=3)
    hits = ta.search(PFAM, PROTEINS, thresholds=thresholds, options=options)
    ta.write_hits(hits, tmp_path / "a.txt", options=options)
    text, recorded = (tmp_path / "a.txt").read_text(), (DATA / "max.txt").read_text()
    assert text[text.index("Query: ") :] == recorded[recorded.index("Query: ") :]
    assert "# Max sensitivity mode:            on [all heuristic filters off]\n" in text


def test_some_hits_keep_their_evalues(hits, tmp_path):
    hits.write(tmp_path / "all.domtbl")
    hits[3:5].write(tmp_path / "some.domtbl")
    some = [line.split() for line in rows(tmp_path / "some.domtbl")]
    assert len(some) == len(hits[3:5].domains)
    assert all(row in [line.split() for line in rows(tmp_path / "all.domtbl")] for row in some)


def test_compressed_and_binary(hits, tmp_path):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    ta.write_hits(hits, tmp_path / "a.arrow")
    ta.write_hits(hits, tmp_path / "b", "parquet")
    ta.write_hits(hits, tmp_path / "c.tbl.gz")
    assert polars.read_parquet(tmp_path / "b").equals(hits.domains.to_polars())
    assert polars.read_ipc_stream(io.BytesIO((tmp_path / "a.arrow").read_bytes())).equals(hits.domains.to_polars())
    assert (tmp_path / "c.tbl.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_a_scan_is_written(tmp_path):
    hits = ta.scan(PROTEINS, PFAM)
    for name in format_names("hits"):
        if name == "stockholm":
            with pytest.raises(ta.InputError, match="hits of a scan cannot form an alignment"):
                ta.write_hits(hits, tmp_path / name, name)
        else:
            ta.write_hits(hits, tmp_path / name, name)
            assert (tmp_path / name).stat().st_size


@pytest.mark.parametrize(
    "search", [ta.search, lambda models, sequences, **options: ta.scan(sequences, models, **options)]
)
def test_a_model_without_cutoffs_is_told_before_anything_is_computed(search):
    thresholds = ta.Thresholds(bit_cutoffs="gathering")
    with pytest.raises(
        ta.InputError, match=r"^record 'test': the model has no gathering cutoffs: choose other thresholds$"
    ):
        search([PFAM, str(DATA / "reference.hmm")], PROTEINS, thresholds=thresholds)


def test_what_cannot_be_written(hits, tmp_path):
    with pytest.raises(ta.TropalignError, match="format 'bam' is not one of text, arrow"):
        hits.write(tmp_path / "x", "bam")
    with pytest.raises(ta.TropalignError, match="no format has the suffix '\\.bam'"):
        hits.write(tmp_path / "x.bam")
    with pytest.raises(ta.InputError, match="there is no such directory to write to"):
        hits.write(tmp_path / "no" / "x.tbl")
    with pytest.raises(ta.TropalignError, match="an object of type list is not a Hits object, as search returns"):
        ta.write_hits([], tmp_path / "x.tbl")
    assert not list(tmp_path.iterdir())
