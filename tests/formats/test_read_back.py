"""Whatever is written as an alignment, a matrix, a table of counts or models is read back, with any names."""

import io

import numpy as np
import pytest

import tropalign
from formats.written import HEADER
from tropalign.errors import InputError, UsageError
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.distance_matrix import read_distance_matrix
from tropalign.formats.format import FOLDERS, format_names, make_writer
from tropalign.results.clusters import OtuTable
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.aligned_files import read_described
from tropalign.sequences.alphabet import ALPHABETS

#: Formats of sequences, whose headers hold a name and a description.
WITH_HEADERS = ("fasta", "a2m", "a3m")
ALIGNED = (*WITH_HEADERS, "phylip", "nexus", "stockholm", "clustal", "msf")
#: Formats of the other kinds of results that are read by a function of their own.
READ_ELSEWHERE = {
    "aligned": {"result"},
    "pairs": {"matrix", "result", "fasta"},
    "placed/rows": {"fasta", "phylip"},
    "hits": {"stockholm", "result"},
    "clusters": {"result"},
    "counts": {"tsv", "biom", "biom2"},
    "representatives": {"fasta"},
    "chimeras/sequences": {"fasta"},
    "segments": {"result"},
    "models": {"hmm"},
    "trees": {"newick", "dnd", "nexus"},
}
NAMES = {
    "plain": ("a", "b"),
    "blanks": ("Homo sapiens", "Pan troglodytes"),
    "one_first_word": ("Homo sapiens", "Homo erectus"),
    "apostrophes": ("5'UTR", "it's 'quoted'"),
    "double_quotes": ('"a"', 'b"c"'),
    "pipes": ("sp|P12345|NAME_HUMAN", "gi|1|gb|X.1|"),
    "ranges": ("x/1-8", "x/9-16"),
    "long": ("n" * 300, "n" * 299 + "m"),
    "ten": ("abcdefghij", "abcdefghik"),
    "unicode": ("voil\u00e0", "\u6f22\u5b57"),
    "no_break_space": ("a\u00a0b", "c\u2003d"),
    "brackets": ("a[1]", "(b),c:{d}"),
    "semicolons": ("a;size=3", "b;c=d;"),
    "numbers": ("1", "2"),
    "signs": ("#a", "//"),
    "greater": (">a", "@b"),
    "residues": ("ACGT", "AC-T"),
    "formats": ("CLUSTAL", "#NEXUS"),
    "words": ("matrix", "end;"),
    "underscores": ("a_b", "_"),
    "backslashes": ("a\\n", "b\\"),
    "tab": ("a\tb", "c"),
    "line_break": ("a\nb", "c\rd"),
    "empty": ("", "b"),
    "blank": (" ", "b"),
    "leading": (" a", "b "),
}
ROWS = {
    "protein": ("MK--VLAWMKTC", "MKIIVLAWM--C"),
    "dna": ("ACGTACGT--ACGT", "ACGTACGTTTAC--"),
    "long": ("MKVLAW" * 30, "MK-LAW" * 30),
    "no_gap": ("MKVLAWMK", "MKILAWMR"),
    "ends": ("---MKVLAWMK---", "MKVMKVLAWMKMKV"),
}


def written(kind, name, result, context):
    writer, out = make_writer(kind, name, HEADER, context), io.BytesIO()
    writer.assemble([writer.encode(result)], out)
    return out.getvalue()


def test_every_format_is_read_or_known_to_have_no_reader():
    """A format of alignments that is new is added above, or to those that have no reader."""
    no_reader = {"html", "svg", "png", "vcf"}
    assert {*ALIGNED, *READ_ELSEWHERE["aligned"], *no_reader} == set(format_names("aligned"))
    for kind, names in READ_ELSEWHERE.items():
        assert names <= set(format_names(kind))
    elsewhere = {*FOLDERS, "counts", "representatives", "chimeras", "models"}
    assert {kind.partition("/")[0] for kind in READ_ELSEWHERE} <= elsewhere


@pytest.mark.filterwarnings("ignore:.*a letter that")
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("form", ALIGNED)
def test_alignments(form, kind, rows, tmp_path):
    names, path = NAMES[kind], tmp_path / f"x.{form}"
    whole = MultipleAlignment.from_rows(names, ROWS[rows])
    try:
        path.write_bytes(written("aligned", form, whole, AlignedContext("it's [a] title;")))
    except InputError as error:
        assert kind not in ("plain", "pipes", "long", "unicode", "ten", "brackets", "semicolons", "numbers")
        assert "rename" in str(error)
        return
    found, letters, descriptions = read_described(path)
    if form in WITH_HEADERS:
        found = tuple(f"{name} {text}".strip() for name, text in zip(found, descriptions, strict=True))
        names = tuple(name.strip() for name in names)
    assert found == names
    gaps = np.isin(letters, list(b".~"))
    texts = [row.tobytes().decode() for row in np.where(gaps, ord("-"), letters)]
    if form in ("a2m", "a3m"):  # columns without a residue in the first row are inserted
        texts, wanted = ([text.replace("-", "") for text in each] for each in (texts, ROWS[rows]))
        assert texts == wanted
    else:
        assert tuple(texts) == ROWS[rows]


@pytest.mark.parametrize("layout", ["tsv", "phylip"])
@pytest.mark.parametrize("kind", NAMES)
def test_distances(layout, kind, tmp_path):
    names = (*NAMES[kind], "third")
    batch = dict(zip(names, ("ACGTACGT", "ACGTTCGT", "ACGAACGA"), strict=True))
    path = tmp_path / ("x.tsv" if layout == "tsv" else "x.phy")
    try:
        tables = tropalign.align_all(batch, mode="global")
        tropalign.write_alignments(tables, path, "matrix", matrix_values="distance")
    except InputError as error:
        assert "rename" in str(error)
        return
    found, distances = read_distance_matrix(path)
    assert found == (names if layout == "tsv" else tuple("_".join(name.split()) for name in names))
    assert np.allclose(distances, [0.125, 0.25, 0.375])


@pytest.mark.parametrize("form", format_names("counts"))
@pytest.mark.parametrize("kind", NAMES)
def test_tables_of_counts(form, kind, tmp_path):
    names = NAMES[kind]
    table = OtuTable(names, (*reversed(names),), np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([3, 1, 2]))
    path = tmp_path / f"x{'.hdf5' if form == 'biom2' else '.' + form}"
    try:
        table.write(path)
    except InputError as error:
        assert "rename" in str(error)
        return
    found = tropalign.read_otu_table(path)
    assert (found.names, found.samples) == (table.names, table.samples)
    assert found.counts.tolist() == table.counts.tolist() == [[3, 0], [1, 2]]


@pytest.mark.parametrize("kind", NAMES)
def test_models(kind, tmp_path):
    """A model has the alignment's name."""
    path = tmp_path / "x.hmm"
    whole = MultipleAlignment.from_rows(("a", "b"), ROWS["long"], ALPHABETS["protein"])
    try:
        model = tropalign.build_model(whole, name=NAMES[kind][0])
    except (InputError, UsageError):
        return
    model.write(path)
    assert [one.name for one in tropalign.read_queries(path)] == [NAMES[kind][0]]
