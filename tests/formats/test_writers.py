import pickle
from pathlib import Path

import pytest
from tropalign.formats.writers import WRITERS, format_for_path, writer_for

from formats.conftest import context_for
from formats.tables import random_table
from tropalign.errors import InputError
from tropalign.sequences import NUCLEOTIDE

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.tsv", "tsv"), ("a.PAF", "paf"), ("a.sam", "sam"), ("a.fasta", "fasta"), ("a.fa", "fasta"),
        ("x/a.srspair", "srspair"), ("a.needle", "srspair"), ("a.arrow", "arrow"), ("a.arrows", "arrow"),
        ("a.feather", "feather"), ("a.parquet", "parquet"), ("a.npz", "matrix"), ("a.phy", "matrix"), ("a.dat", "tsv"),
        ("a", "tsv"), (None, "tsv"),
    ],
)  # fmt: skip
def test_suffixes(path, name):
    assert format_for_path(path) == name
    assert writer_for(None, path, "alignment").name == name
    assert writer_for("paf", path, "alignment").name == "paf"


def test_each_suffix_has_one_format():
    suffixes = [suffix for writer in WRITERS.values() for suffix in writer.suffixes]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize("name", ["paf", "sam", "fasta", "srspair"])
def test_formats_of_alignments(name):
    with pytest.raises(InputError, match=f"format {name} shows alignments: use --report alignment"):
        writer_for(name, None, "ends")


@pytest.mark.parametrize("name", ["tsv", "paf", "sam", "fasta", "srspair"])
@pytest.mark.parametrize("kind", ["proteins", "strands"])
def test_golden_files(write, name, kind):
    """Every byte of small files; look at the difference, then write them anew, when a format changes on purpose."""
    table = random_table(11, 6) if kind == "proteins" else random_table(12, 6, NUCLEOTIDE, has_strand=True)
    assert write(name, table).decode() == (GOLDEN / f"{kind}.{name}").read_text()


@pytest.mark.parametrize("name", ["tsv", "paf", "sam", "fasta", "srspair"])
def test_same_bytes_however_cut(write, any_table, name):
    assert write(name, any_table, (1, 7, 7, 20)) == write(name, any_table)


def test_context_travels(any_table):
    context = pickle.loads(pickle.dumps(context_for(any_table)))
    assert context.comment_lines() == context_for(any_table).comment_lines()
