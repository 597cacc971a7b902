"""Saved references: kept whole, and refused when they are damaged or made to do harm."""

import copy
import io
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement.cases import reads, reference

import tropalign as ta
from tropalign.placement.reference import write_saved

KINDS = ["nucleotide", "protein"]


@pytest.fixture(scope="module", params=KINDS)
def package(request):
    return reference(5, n_tips=40, n_columns=30, kind=request.param)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ref.npz"


def members(package):
    """Every array of a saved reference by name, and its words."""
    stream = io.BytesIO()
    package.save(stream)
    stream.seek(0)
    with np.load(stream) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return json.loads(arrays.pop("meta").tobytes()), arrays


def write(path, meta, arrays):
    write_saved(path, {k: v for k, v in meta.items() if k != "format"}, arrays)


def test_kept_whole(package, path):
    package.save(path)
    again = ta.ReferencePackage.load(path)
    assert again.fingerprint() == package.fingerprint() and again.states is package.states
    assert again.names == package.names and not again.planes.flags.writeable


def test_copies_place_alike(package):
    texts = reads(1, 30, 20, kind=package.states.alphabet.name, package=package)
    strand = "both" if package.states.alphabet.has_strands else "plus"
    (wanted,) = ta.place(package, texts, strand=strand)
    for made in (pickle.loads(pickle.dumps(package)), copy.deepcopy(package)):
        (placed,) = ta.place(made, texts, strand=strand)
        assert placed.score.tolist() == wanted.score.tolist() and placed.branch.tolist() == wanted.branch.tolist()
        assert placed.strand.tolist() == wanted.strand.tolist() and made.states is package.states


def short(array):
    return array[:-1]


DAMAGE = {
    "planes of other states": lambda m, a: a.update(planes=np.zeros((1, 20, 3), np.uint64)),
    "fewer groups": lambda m, a: a.update(planes=a["planes"][:-1]),
    "fewer columns in the planes": lambda m, a: a.update(planes=np.ascontiguousarray(a["planes"][:, :-1])),
    "other type": lambda m, a: a.update(planes=a["planes"].astype(np.float64)),
    "signed": lambda m, a: a.update(planes=a["planes"].astype(np.int64)),
    "fewer axes": lambda m, a: a.update(planes=a["planes"].ravel()),
    "columns beyond": lambda m, a: a["columns"].__setitem__(-1, 10**9),
    "columns below": lambda m, a: a["columns"].__setitem__(0, -1),
    "columns descending": lambda m, a: a.update(columns=np.ascontiguousarray(a["columns"][::-1])),
    "columns twice": lambda m, a: a["columns"].__setitem__(1, a["columns"][0]),
    "no columns": lambda m, a: a.update(columns=a["columns"][:0]),
    "fewer columns": lambda m, a: a.update(columns=a["columns"][8:]),
    "distinct beyond": lambda m, a: a["distinct"].__setitem__(0, 10**9),
    "distinct below": lambda m, a: a["distinct"].__setitem__(0, -1),
    "distinct with a gap": lambda m, a: a["distinct"].__setitem__(a["distinct"] == 1, 0),
    "distinct in another order": lambda m, a: a.update(distinct=a["distinct"].max() - a["distinct"]),
    "fewer branches": lambda m, a: a.update(distinct=short(a["distinct"])),
    "no branches": lambda m, a: a.update(distinct=a["distinct"][:0]),
    "fewer rows": lambda m, a: a.update(letters=short(a["letters"])),
    "no rows": lambda m, a: (a.update(letters=a["letters"][:0]), m.update(names=[])),
    "letters of one axis": lambda m, a: a.update(letters=a["letters"].ravel()),
    "fewer names": lambda m, a: m["names"].pop(),
    "a name twice": lambda m, a: m["names"].__setitem__(0, m["names"][1]),
    "a number for a name": lambda m, a: m["names"].__setitem__(0, 5),
    "a name of two lines": lambda m, a: m["names"].__setitem__(0, "a\n>b"),
    "names missing": lambda m, a: m.pop("names"),
    "names none": lambda m, a: m.update(names=None),
    "another alphabet": lambda m, a: m.update(alphabet="klingon"),
    "alphabet a list": lambda m, a: m.update(alphabet=["protein"]),
    "other gap flags": lambda m, a: m.update(gap_flags="none"),
    "gap flags a number": lambda m, a: m.update(gap_flags=3),
    "no tree": lambda m, a: m.update(tree=None),
    "fewer lengths": lambda m, a: m["tree"]["lengths"].pop(),
    "a length negative": lambda m, a: m["tree"]["lengths"].__setitem__(1, -1.0),
    "a length too large": lambda m, a: m["tree"]["lengths"].__setitem__(1, 1e999),
    "a length no number": lambda m, a: m["tree"]["lengths"].__setitem__(1, "x"),
    "lengths nested": lambda m, a: m["tree"].update(lengths=[[x] for x in m["tree"]["lengths"]]),
    "a child beyond": lambda m, a: m["tree"]["children"][0].__setitem__(0, 10**9),
    "a child below": lambda m, a: m["tree"]["children"][0].__setitem__(0, -1),
    "a circle": lambda m, a: m["tree"]["children"][0].__setitem__(0, 0),
    "a child of two": lambda m, a: m["tree"]["children"][0].__setitem__(0, m["tree"]["children"][0][1]),
    "a child no number": lambda m, a: m["tree"]["children"][0].__setitem__(0, "1"),
    "children no lists": lambda m, a: m["tree"].update(children=5),
    "no nodes": lambda m, a: m.update(tree={"children": [], "lengths": [], "names": []}),
    "another alphabet's planes": lambda m, a: m.update(
        alphabet="protein" if m["alphabet"] == "nucleotide" else "nucleotide"
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged(package, path, damage):
    meta, arrays = members(package)
    DAMAGE[damage](meta, arrays)
    write(path, meta, arrays)
    with pytest.raises(ta.InputError) as error:
        ta.ReferencePackage.load(path)
    text = str(error.value)
    assert text.startswith(f"{path}: this is not a saved reference, or it is damaged") and text.isprintable()


def rewritten(path, change):
    """The archive with the bytes of its members changed, their checksums made good."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in parts.items():
            new.writestr(name, data)


ARCHIVES = {
    "a member is missing": lambda p: p.pop("planes.npy"),
    "a member too many": lambda p: p.update({"more.npy": b""}),
    "meta is not JSON": lambda p: p.update({"meta.npy": packed(np.frombuffer(b"{]", np.uint8))}),
    "meta is nested too deep": lambda p: p.update({"meta.npy": packed(np.frombuffer(b"[" * 200_000, np.uint8))}),
    "meta is a list": lambda p: p.update({"meta.npy": packed(np.frombuffer(b"[1]", np.uint8))}),
    "meta is no array": lambda p: p.update({"meta.npy": b"{}"}),
    "objects": lambda p: p.update({"planes.npy": packed(np.array([{}, None], object))}),
    "an empty member": lambda p: p.update({"planes.npy": b""}),
    "a header that lies": lambda p: p.update({"letters.npy": p["letters.npy"].replace(b"(40,", b"(99,")}),
    "a header of negative size": lambda p: p.update({"letters.npy": p["letters.npy"].replace(b"(40,", b"(-4,")}),
    "a header that is code": lambda p: p.update({"letters.npy": p["letters.npy"].replace(b"False", b"exit()")}),
    "data cut short": lambda p: p.update({"planes.npy": p["planes.npy"][:-1]}),
    "data too long": lambda p: p.update({"planes.npy": p["planes.npy"] + b"x"}),
}


def packed(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("change", ARCHIVES)
def test_archives_made_to_harm(package, path, change):
    package.save(path)
    rewritten(path, ARCHIVES[change])
    with pytest.raises(ta.InputError, match=r"this is not a saved reference, or it is damaged|by another version"):
        ta.ReferencePackage.load(path)


def test_another_version(package, path):
    package.save(path)
    meta, _ = members(package)
    changed = np.frombuffer(json.dumps({**meta, "format": 2}).encode(), np.uint8)
    rewritten(path, lambda parts: parts.update({"meta.npy": packed(changed)}))
    with pytest.raises(ta.InputError, match="the reference was saved by another version of tropalign: build it again"):
        ta.ReferencePackage.load(path)


def test_sizes_are_known_before_anything_is_unpacked(package, path, monkeypatch):
    """An array of zeros that a small file promises is refused by its size alone."""
    meta, arrays = members(package)
    arrays["letters"] = np.zeros((len(meta["names"]), 1_000_000), np.uint8)
    write(path, meta, arrays)
    assert path.stat().st_size < 100_000
    monkeypatch.setattr("tropalign.placement.reference._array", None)  # whoever unpacks fails
    with pytest.raises(ta.ResourceError, match=r"the saved reference .* needs 38.* MiB of memory and 9.5 MiB"):
        ta.ReferencePackage.load(path, memory_bytes=10_000_000)


@settings(max_examples=150)
@given(st.data())
def test_mutated_files_are_refused_or_whole(tmp_path_factory, data):
    """Whatever bytes change: an InputError, or a reference that places without a crash."""
    package = reference(5, n_tips=5, n_columns=9)
    path = tmp_path_factory.getbasetemp() / "mutated.npz"
    package.save(path)
    is_inside = data.draw(st.booleans())

    def change(content):
        made = bytearray(content)
        for _ in range(data.draw(st.integers(1, 4))):
            made[data.draw(st.integers(0, len(made) - 1))] = data.draw(st.integers(0, 255))
        return bytes(made[: data.draw(st.integers(0, len(made)))] if data.draw(st.booleans()) else made)

    if is_inside:
        name = data.draw(st.sampled_from(["meta", "letters", "columns", "planes", "distinct"]))
        rewritten(path, lambda parts: parts.update({f"{name}.npy": change(parts[f"{name}.npy"])}))
    else:
        path.write_bytes(change(path.read_bytes()))
    try:
        made = ta.ReferencePackage.load(path)
    except ta.TropalignError as error:
        sentence = str(error)
    else:
        sentence = ""
    assert sentence.isprintable()
    if sentence:
        return
    (placed,) = ta.place(made, [("r", "ACGTACGT")], n_threads=1)
    assert len(placed) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"names": ("a",)}, "there are 1 names for 40 rows"),
        ({"planes": np.zeros((1, 20, 3), np.uint64)}, "planes must have shape"),
        ({"tree": None}, "tree must be a Tree"),
        ({"letters": None}, "letters must be an array of 2 axes and type uint8"),
    ],
)
def test_replaced_parts_have_to_fit(package, changes, words):
    with pytest.raises(ValueError, match=words):
        replace(package, **changes)


ROWS = np.array([list(b"ACGT")] * 4, np.uint8)


@pytest.mark.parametrize(
    ("names", "letters", "words"),
    [
        (("a", "b", "c"), ROWS, "the alignment: 3 names for 4 rows: give one name per row"),
        (("a", "b", "c", "c"), ROWS, "the alignment: two rows have the same name: give each its own"),
        (("a", "b", "c", "d"), ROWS.astype(np.int64), "must be a two-dimensional uint8 array"),
        (("a", "b", "c", "d"), ["ACGT"] * 4, "must be a two-dimensional uint8 array"),
        (("a", "b", "c", "d"), ROWS[0], "must be a two-dimensional uint8 array"),
    ],
)
def test_alignments_that_make_no_reference(names, letters, words):
    with pytest.raises(ta.InputError, match=words):
        ta.ReferencePackage.build(names, letters, "(a:1,b:1,(c:1,d:1):1);")


def test_an_alphabet_by_name():
    package = ta.ReferencePackage.build(("a", "b", "c"), ROWS[:3], "(a:1,b:1,c:1);", alphabet="protein")
    assert package.states.alphabet is ta.PROTEIN
