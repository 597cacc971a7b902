"""Differences to a row, beside a walk along the columns; VCF, which bcftools turns back into the sequences."""

import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tropalign
from tropalign.errors import InputError, UsageError

ROWS = {"ref": "ACG--TTACGA", "a": "ACTGGTT--GA", "b": "-CG--T-AC--", "c": "acg--unacga"}


def alignment_of(rows):
    return tropalign.MultipleAlignment.from_rows(list(rows), list(rows.values()), tropalign.NUCLEOTIDE)


def walked(reference, row):
    """Differences of two rows, column by column: (position, kind, old, new)."""
    row, residues = row.upper().replace("U", "T"), [k for k, letter in enumerate(row) if letter != "-"]
    if not residues:
        return []
    found, position, old, new, begin = [], 0, "", "", 0

    def end_run():
        if new:
            found.append((begin, "insertion", "", new))
        if old:
            found.append((begin, "deletion", old, ""))

    for column, (a, b) in enumerate(zip(reference, row, strict=True)):
        is_within = residues[0] <= column <= residues[-1]
        if is_within and (a == "-") != (b == "-"):
            begin = begin if old or new else position
            old, new = old + a.replace("-", ""), new + b.replace("-", "")
        elif is_within and a != "-":
            end_run()
            old = new = ""
            if a != b and b != "N":
                found.append((position, "substitution", a, b))
        position += a != "-"
    end_run()
    return found


@settings(deadline=None)
@given(st.data())
def test_differences_are_those_of_a_walk_along_the_columns(data):
    width, n = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    row = st.text("ACGN---", min_size=width, max_size=width)
    rows = {f"s{k}": data.draw(row) for k in range(n)}
    chosen = data.draw(st.integers(0, n - 1))
    expected = {}
    for k, text in enumerate(rows.values()):
        for one in walked(rows[f"s{chosen}"], text) if k != chosen else []:
            expected.setdefault(one, []).append(k)
    kinds = ("insertion", "substitution", "deletion")
    order = sorted(expected, key=lambda one: (one[0], kinds.index(one[1]), *one[2:]))
    assert alignment_of(rows).differences(f"s{chosen}") == [(*one, tuple(expected[one])) for one in order]


def test_a_reference_is_a_row_by_index_or_name():
    alignment = alignment_of(ROWS)
    assert alignment.differences() == alignment.differences("ref") == alignment.differences(np.int64(-4))
    with pytest.raises(InputError, match="no row of the name 'x'"):
        alignment.differences("x")
    for wrong in (4, -5, 1.0, True, None):
        with pytest.raises(UsageError, match="reference"):
            alignment.differences(wrong)


def records(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("##")]


def test_vcf(tmp_path):
    path = tmp_path / "x.vcf"
    alignment_of(ROWS).write(path)
    head, *found = records(path)
    assert head[:2] == ["#CHROM", "POS"] and head[9:] == ["a", "b", "c"]
    assert [(one[1], one[3], one[4], *one[9:]) for one in found] == [
        ("3", "G", "T", "1", "0", "0"),
        ("3", "G", "GGG", "1", "0", "0"),
        ("4", "TT", "T", "0", "1", "0"),
        ("5", "TAC", "T,*", "1", "2", "."),
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"r": "RCG", "a": "ACG", "b": "TYG"}, [("1", "A", "T", "0", "1")]),
        ({"r": "--ACG", "a": "GGACG", "b": "---CG"}, [("1", "A", "GGA", "1", ".")]),
        ({"r": "-A-CG", "a": "GATCG", "b": "-A-CG"}, [("1", "A", "GAT", "1", "0")]),
        ({"r": "--TG", "a": "GAAG", "b": "--CG"}, [("1", "T", "C", ".", "1"), ("1", "T", "GAA", "1", "0")]),
        ({"r": "--TTG", "a": "CAA-G", "b": "-GTTG"}, [("1", "T", "GT", "0", "1"), ("1", "TT", "CAA", "1", "0")]),
        ({"r": "-TG", "a": "CNG", "b": "CT-"}, [("1", "T", "CT", "1", "1")]),
        ({"r": "AC--G", "a": "A-TTG", "b": "ACRNG"}, [("2", "C", "T", "1", "0"), ("2", "C", "CNN,CT", "2", "1")]),
        ({"r": "ACCG", "a": "A--G", "b": "ANTG"}, [("1", "ACC", "A", "1", "0"), ("3", "C", "T,*", "2", "1")]),
    ],
)
def test_vcf_of_codes_and_of_residues_beside_gaps(tmp_path, rows, expected):
    alignment_of(rows).write(tmp_path / "x.vcf")
    found = records(tmp_path / "x.vcf")[1:]
    assert [(one[1], one[3], one[4], *one[9:]) for one in found] == expected


@pytest.mark.parametrize(
    ("alignment", "sentence"),
    [
        (tropalign.MultipleAlignment.from_rows("ab", ["MKV", "MKL"]), "format vcf is for nucleotides"),
        (alignment_of({"a b": "AC", "c": "AC"}), "record 'a b': format vcf does not allow empty names or blanks"),
        (
            alignment_of({"*a": "AC", "c": "AC"}),
            r"record '\*a': format vcf does not allow this name of the reference row",
        ),
        (
            tropalign.MultipleAlignment.from_rows("aba", ["AC", "AC", "AC"]),
            "record 'a': format vcf does not allow two rows",
        ),
        (alignment_of({"a": "--", "c": "AC"}), "record 'a': format vcf needs residues in the reference row"),
    ],
)
def test_vcf_refuses(tmp_path, alignment, sentence):
    with pytest.raises(InputError, match=sentence):
        alignment.write(tmp_path / "x.vcf")
    assert not list(tmp_path.iterdir())


def made_of(reference, row):
    """Reference with the differences of a walk; an unknown residue in place of another is that of the reference."""
    made, gone = list(reference.replace("-", "")), {}
    for at, kind, old, new in reversed(walked(reference, row)):
        if kind == "deletion":
            made[at : at + len(old)], gone[at] = "", old
        elif kind == "insertion":
            replaced = gone.get(at, "")[: len(new)].ljust(len(new), "N")
            made[at:at] = [b if b != "N" else a for a, b in zip(replaced, new, strict=True)]
        else:
            made[at] = new
    return "".join(made)


@pytest.mark.skipif(shutil.which("bcftools") is None, reason="needs bcftools")
@settings(deadline=None, max_examples=20)
@given(st.data())
def test_bcftools_makes_the_sequences_of_vcf_and_reference(tmp_path_factory, data):
    folder, width = tmp_path_factory.mktemp("vcf"), data.draw(st.integers(2, 16))
    residues = st.sampled_from("ACGT---N")
    rows = {f"s{k}": "".join(data.draw(st.lists(residues, min_size=width, max_size=width))) for k in range(4)}
    assume(rows["s0"].strip("-"))
    alignment_of(rows).write(folder / "x.vcf")
    (folder / "ref.fa").write_text(f">s0\n{rows['s0'].replace('-', '')}\n")

    def bcftools(*words):
        done = subprocess.run(["bcftools", *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    bcftools("norm", "-N", "-c", "e", "-f", "ref.fa", "x.vcf", "-Oz", "-o", "x.vcf.gz")  # checks REF, shifts nothing
    bcftools("index", "x.vcf.gz")
    for name in list(rows)[1:]:
        made = bcftools("consensus", "-f", "ref.fa", "-s", name, "x.vcf.gz").split("\n", 1)[1].replace("\n", "")
        assert made == made_of(rows["s0"], rows[name])
