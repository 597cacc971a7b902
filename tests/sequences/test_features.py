"""Features out of GFF3 and Stockholm files."""

import gzip

import pytest

from tropalign.errors import InputError, TropalignWarning
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.features import Feature, read_features

BATCH = SequenceBatch.from_strings({"a b": "MKVLAWMKVL", "c": "MKVL"})
GFF = """##gff-version 3
# a comment

a%20b\tPfam\tDomain\t2\t5\t.\t.\t.\tID=x1;Name=SH3%3B like;Note=n
c\t.\tsignal peptide\t1\t4\t0.5\t+\t.\tID=x2
c\t.\tsite\t3\t3\t.\t.\t.\t.
##FASTA
>c
nothing of this is read
"""


def written(folder, text):
    path = folder / "x.gff3.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_features_are_read_and_others_named(tmp_path):
    assert read_features(written(tmp_path, GFF), BATCH) == (
        Feature("a b", 1, 5, "Domain", "SH3; like"),
        Feature("c", 0, 4, "signal peptide", "x2"),
        Feature("c", 2, 3, "site", ""),
    )
    lines = "".join(f"other{k}\t.\tsite\t1\t1\t.\t.\t.\t.\n" for k in range(12))
    path = written(tmp_path, lines + "c\t.\tsite\t3\t3\t.\t.\t.\t.\n")
    with pytest.warns(TropalignWarning, match="not in the family are ignored: other0, .*, other9 and 2 more$"):
        assert len(read_features(path, BATCH)) == 1


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("c 1 2", "line 2: a GFF3 line must have 9 tab-separated fields, but this one has 1"),
        (
            "c\t.\tsite\t1\t" + 5000 * "9" + "\t.\t.\t.\t.",
            "line 2: a feature must extend from .* not from '1' to '9{20}': correct",
        ),
        ("c\t.\tsite\t0\t3\t.\t.\t.\t.", "line 2: a feature must extend from .* counted from 1, not from '0' to '3'"),
        ("c\t.\tsite\t3\t2\t.\t.\t.\t.", "not from '3' to '2'"),
        ("c\t.\tsite\tx\t2\t.\t.\t.\t.", "not from 'x' to '2'"),
        ("c\t.\tsite\t1_0\t2\t.\t.\t.\t.", "not from '1_0' to '2'"),
        (
            "c\t.\tsite\t3\t5\t.\t.\t.\t.",
            "line 2, record 'c': the feature ends at residue 5, but the sequence has 4",
        ),
    ],
)
def test_bad_lines(tmp_path, line, sentence):
    with pytest.raises(InputError, match=sentence):
        read_features(written(tmp_path, f"##gff-version 3\n{line}\n"), BATCH)


STOCKHOLM = """# STOCKHOLM 1.0
#=GF ID x
a/1-5           MK-VLA
#=GR a/1-5 SS   HH.GE-
#=GR a/1-5 pAS  .*....
b               MKAV.A
#=GR b TM       ooMMMi
other           MKAVLA
#=GC SS_cons    .EEE<>
#=GC seq_cons   mK.v.A

a/1-5           W
#=GR a/1-5 SS   E
#=GR a/1-5 pAS  .
b               W
#=GR b TM       M
other           W
#=GC SS_cons    H
#=GC seq_cons   W
//
"""
ROWS = SequenceBatch.from_strings({"a/1-5": "MKVLAW", "b": "MKAVAW"})


def test_annotations_of_rows_and_columns_are_read(tmp_path):
    with pytest.warns(TropalignWarning, match="not in the family are ignored: other$"):
        found = read_features(written(tmp_path, STOCKHOLM), ROWS)
    assert found == (
        Feature("a/1-5", 0, 3, "helix", ""),
        Feature("a/1-5", 3, 4, "strand", ""),
        Feature("a/1-5", 5, 6, "strand", ""),
        Feature("a/1-5", 1, 2, "active site, predicted", ""),
        Feature("b", 1, 4, "strand", ""),
        Feature("b", 5, 6, "helix", ""),
        Feature("b", 2, 4, "transmembrane", ""),
        Feature("b", 5, 6, "transmembrane", ""),
    )


def test_pairs_of_rna_are_stems(tmp_path):
    rna = SequenceBatch.from_strings({"r": "GGACAUCCAAUU"}, alphabet="nucleotide")
    text = "# STOCKHOLM 1.0\nr GGACAUCC.AAUU~\n#=GC SS_cons <<AA_>>:.aa[]~\n//\n"
    assert read_features(written(tmp_path, text), rna) == (
        Feature("r", 0, 4, "stem, 5' side", ""),
        Feature("r", 5, 7, "stem, 3' side", ""),
        Feature("r", 8, 10, "stem, 3' side", ""),
        Feature("r", 10, 11, "stem, 5' side", ""),
        Feature("r", 11, 12, "stem, 3' side", ""),
    )


def test_names_of_uniprot_and_parts_are_known(tmp_path):
    batch = SequenceBatch.from_strings({"sp|Q662F0|EFP_BORBP": "MKVLAW", "sp|P1|A": "MKV", "tr|P1|B": "MKV"})
    lines = "".join(f"{name}\t.\tsite\t2\t3\t.\t.\t.\t.\n" for name in ("Q662F0", "P1", "A", "C"))
    with pytest.warns(TropalignWarning, match="ignored: P1, C$"):
        found = read_features(written(tmp_path, lines), batch)
    assert [one.sequence for one in found] == ["sp|Q662F0|EFP_BORBP", "sp|P1|A"]
    rows = "# STOCKHOLM 1.0\nEFP_BORBP/3-5 VL-A\nEFP_BORBP/1-9 VLWA\n#=GC SS_cons HHH.\n//\n"
    with pytest.warns(TropalignWarning, match="ignored: EFP_BORBP/1-9$"):
        assert read_features(written(tmp_path, rows), batch) == (Feature("sp|Q662F0|EFP_BORBP", 2, 4, "helix", ""),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# STOCKHOLM 1.0\na/1-5 MKAVLAWWW\n//\n", "record 'a/1-5': the row has 9 residues, but the sequence"),
        ("# STOCKHOLM 1.0\nb MKAV\n//\n", "record 'b': the row has 4 residues, but the sequence of the family has 6"),
        (
            "# STOCKHOLM 1.0\nb MKAVAW\n#=GR b SS HH\n//\n",
            "line 3: #=GR b SS has 2 letters, but the rows have 6: correct",
        ),
        ("# STOCKHOLM 1.0\n//\n", "the file contains no alignment|this is not a valid Stockholm alignment"),
    ],
)
def test_bad_alignments(tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_features(written(tmp_path, text), ROWS)
