"""New sequences into an alignment, and two alignments into one: what stays, and where the new ones go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msa.evolved import evolved_family

import tropalign
from tropalign.devices.registry import open_devices
from tropalign.errors import InputError, ResourceError
from tropalign.msa.add import add_sequences, merge_alignments, opened, representatives_of
from tropalign.msa.options import options_of
from tropalign.results.multiple import MultipleAlignment

OPTIONS = options_of("default")
TEXTS, COLUMNS = evolved_family(60, 70, 7, depth=1.0, fragments=0.1)


def devices(n_threads=1):
    return open_devices(["cpu"], n_threads, 1, 1 << 30)


def add(alignment, batch, n_threads=1, keep_length=False, **how):
    how |= {"memory_bytes": 1 << 30}
    found, is_old = add_sequences(alignment, batch, OPTIONS, devices(n_threads), n_threads, **how)
    return found[:, is_old] if keep_length else found


def merge(first, second, n_threads=1):
    return merge_alignments(first, second, OPTIONS, devices(n_threads), n_threads, memory_bytes=1 << 30)


def true_alignment(chosen):
    """Some of the family as it is truly aligned."""
    letters = np.full((len(chosen), max(column.max() for column in COLUMNS) + 1), ord("-"), np.uint8)
    for row, k in zip(letters, chosen, strict=True):
        row[COLUMNS[k]] = np.frombuffer(TEXTS[k].encode(), np.uint8)
    return without_gap_columns([f"s{k}" for k in chosen], letters)


def without_gap_columns(names, letters):
    return MultipleAlignment.from_rows(names, np.ascontiguousarray(letters[:, (letters != ord("-")).any(0)]))


def same_rows(alignment, rows, old):
    """Whether some rows are those of the old alignment, without the columns that have become gaps only."""
    some = alignment[rows]
    return without_gap_columns(some.names, some.letters).letters.tolist() == old.letters.tolist()


def true_share(found, order):
    """The share of truly aligned pairs of residues that are aligned; order: what each row is of the family."""
    parts = np.split(found.columns, found.sequences.offsets[1:-1])
    good = n_pairs = 0
    for x in range(len(order)):
        for y in range(x):
            _, i, j = np.intersect1d(COLUMNS[order[x]], COLUMNS[order[y]], return_indices=True)
            good += int((parts[x][i] == parts[y][j]).sum())
            n_pairs += len(i)
    return good / n_pairs


def batch_of(chosen):
    return tropalign.SequenceBatch.from_strings([TEXTS[k] for k in chosen], [f"s{k}" for k in chosen])


def test_new_sequences_find_their_columns():
    old = true_alignment(range(30))
    found = add(old, batch_of(range(30, 60)))
    assert found.names == tuple(f"s{k}" for k in range(60))
    assert same_rows(found, slice(30), old)
    assert true_share(found, range(60)) > 0.97
    assert (found.letters != ord("-")).any(0).all()


def test_keep_length():
    old = true_alignment(range(30))
    found = add(old, batch_of(range(30, 60)), keep_length=True)
    wide = add(old, batch_of(range(30, 60)))
    assert found[:30].letters.tolist() == old.letters.tolist()
    is_old = (wide[:30].letters != ord("-")).any(0)
    assert found.letters.tolist() == wide.letters[:, is_old].tolist()


def test_rows_and_columns_of_gaps_stay():
    old = MultipleAlignment.from_rows(["a", "b", "c"], ["MKV--LAWERT", "-----------", "MKI--LAWE-T"])
    found = add(old, tropalign.SequenceBatch.from_strings(["MKVLAWERT", "W"], ["d", "e"]))
    assert found.letters[:4].tobytes().decode() == "MKV--LAWERT" + "-" * 11 + "MKI--LAWE-T" + "MKV--LAWERT"
    with pytest.raises(InputError, match="consists of gaps"):
        add(old[[1]], batch_of([0]))
    with pytest.raises(InputError, match="consists of gaps"):
        merge(old, MultipleAlignment.from_rows(["f"], ["--"]))


@pytest.mark.parametrize("row", ["------MKVLAWMKTERTYCHGLMKVLAW", "MKVL---AWMKTERTYCHGLMKVLAW--"])
def test_an_alignment_of_one_row_may_have_gaps(row):
    """Posteriors are of residues, and its columns are others."""
    text = row.replace("-", "")
    old, new = (MultipleAlignment.from_rows([name], [some]) for name, some in (("a", row), ("b", text)))
    assert list(add(old, new.sequences)) == [row, row]
    assert list(merge(old, new)) == list(merge(new, old)) == [row, row]


def test_insertions_get_columns():
    old = MultipleAlignment.from_rows(["a", "b"], ["MKVERTLAWCHILW", "MKVERTLAWCHIIW"])
    new = tropalign.SequenceBatch.from_strings(["MKVERTGGGGLAWCHILW", "MKVERTLAWCHILWPPP", "MKVERTLAWCHILW"])
    assert list(add(old, new)) == [
        "MKVERT----LAWCHILW---",
        "MKVERT----LAWCHIIW---",
        "MKVERTGGGGLAWCHILW---",
        "MKVERT----LAWCHILWPPP",
        "MKVERT----LAWCHILW---",
    ]
    assert list(add(old, new, keep_length=True))[2:] == ["MKVERTLAWCHILW"] * 3


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 12))
def test_opened_columns(seed, n_new, n_columns):
    """Old columns keep their order, each residue a place of its own, and insertions stay between their neighbours."""
    rng = np.random.default_rng(seed)
    column, inserted, offsets = [], [], [0]
    for _ in range(n_new):
        at = np.sort(rng.integers(0, n_columns + 1, rng.integers(0, 9)))
        stands = (np.diff(at, append=n_columns + 1) > 0) & (at < n_columns) & (rng.random(len(at)) < 0.7)
        column.append(at)
        inserted.append(~stands)  # the last of the residues at a column may stand in it
        offsets.append(offsets[-1] + len(at))
    at, is_inserted = np.concatenate(column), np.concatenate(inserted)
    of_old, of_residues = opened(at, is_inserted, np.array(offsets), n_columns)
    assert (np.diff(of_old) > 0).all()
    assert (of_residues[~is_inserted] == of_old[at[~is_inserted]]).all()
    assert not np.isin(of_residues[is_inserted], of_old).any()
    bounds = np.concatenate([[-1], of_old, [np.iinfo(np.int64).max]])
    assert (bounds[at] < of_residues).all() and (of_residues <= bounds[at + 1]).all()
    for k in range(n_new):
        assert (np.diff(of_residues[offsets[k] : offsets[k + 1]]) > 0).all()
    places = np.union1d(of_old, of_residues)
    assert places.tolist() == list(range(len(places)))


def test_alignments_are_merged():
    first, second = true_alignment(range(0, 60, 2)), true_alignment(range(1, 60, 2))
    found = merge(first, second)
    assert same_rows(found, slice(30), first) and same_rows(found, slice(30, 60), second)
    assert true_share(found, [*range(0, 60, 2), *range(1, 60, 2)]) > 0.97


def test_same_for_any_number_of_threads():
    old, rest = true_alignment(range(30)), range(30, 60)
    assert add(old, batch_of(rest), 1).letters.tolist() == add(old, batch_of(rest), 3).letters.tolist()
    new = true_alignment(rest)
    assert merge(old, new, 1).letters.tolist() == merge(old, new, 3).letters.tolist()


def test_representatives():
    batch = batch_of(range(40))
    chosen = representatives_of(batch, 8, 1)
    assert len(chosen) == 8 == len(set(chosen))
    assert representatives_of(batch_of(range(5)), 8, 1) == [0, 1, 2, 3, 4]


def test_representatives_of_many_rows_are_among_those_drawn(monkeypatch):
    monkeypatch.setattr("tropalign.msa.add.DRAWN", 20)
    chosen = representatives_of(batch_of(range(60)), 8, 1)
    assert len(set(chosen)) == 8 and set(chosen) <= set(np.linspace(0, 59, 20).astype(int).tolist())


def test_progress_ascends():
    seen = []
    add(true_alignment(range(30)), batch_of(range(30, 60)), progress=lambda _, share: seen.append(share))
    assert seen == sorted(seen) and 0 < seen[-1] <= 1


def test_what_does_not_fit():
    old = true_alignment(range(3))
    with pytest.raises(
        InputError, match=r"^record 's1': the alignment already has a row with this name: rename one of th"
    ):
        add(old, batch_of([5, 1]))
    with pytest.raises(
        InputError, match="the alignment holds protein sequences, but the new sequences were read as nucleotide"
    ):
        add(old, tropalign.SequenceBatch.from_strings({"n": "ACGTACGTACGT"}))
    wide = MultipleAlignment(old.sequences, old.columns, 65_536)
    with pytest.raises(ResourceError, match="has 65,536 columns, but at most 65,535 are supported"):
        add(wide, batch_of([5]))
    with pytest.raises(ResourceError, match="has 65,536 columns, but at most 65,535 are supported"):
        merge(true_alignment([5]), wide)


def test_what_follows_names_stays(tmp_path):
    for name, text in (("old.afa", ">a first one\nMKV-LAW\n>b\nMKVALAW\n"), ("new.fa", ">c third one\nMKVLAW\n")):
        (tmp_path / name).write_text(text)
    old = tropalign.read_alignment(tmp_path / "old.afa")
    assert tropalign.add_sequences(old, tmp_path / "new.fa").sequences.descriptions == ("first one", "", "third one")
    old.write(tmp_path / "old.sto")
    assert tropalign.read_alignment(tmp_path / "old.sto").sequences.descriptions == ("first one", "")
