"""Long sequences added by their certain residues, compared with posteriors of whole rows; and odd ones among them."""

import numpy as np
import pytest
from msa.test_anchored import evolved, random_text

import tropalign as ta
from tropalign.devices.registry import open_devices
from tropalign.errors import ResourceError, TropalignWarning
from tropalign.msa import add_long
from tropalign.msa.add import add_sequences
from tropalign.msa.options import options_of
from tropalign.results.multiple import MultipleAlignment


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Families of a thousand residues are long here."""
    monkeypatch.setattr(add_long, "LEAST_CELLS", 0)
    monkeypatch.setattr(add_long, "LEAST_LENGTH", 500)


def add(rows, new, n_threads=1, keep_length=False, **how):
    old = MultipleAlignment.from_rows([f"r{k}" for k in range(len(rows))], rows)
    batch = ta.SequenceBatch.from_strings(new, [f"n{k}" for k in range(len(new))], alphabet=old.sequences.alphabet)
    found, is_old = add_sequences(
        old, batch, options_of("fast", **how), open_devices(["cpu"], n_threads, 1, 1 << 30), n_threads,
        memory_bytes=1 << 30,
    )  # fmt: skip
    assert [row.replace("-", "") for row in found][len(rows) :] == new
    return found[:, is_old] if keep_length else found


def paired(found, row, first=0):
    """For each residue of a row, the residue of the first row in its column, or -1."""
    has = found.letters != ord("-")
    return np.where(has[first], np.cumsum(has[first]) - 1, -1)[has[row]]


def family(seed, n, rate=0.02, length=1100, letters="ACGT", n_indels=1):
    rng = np.random.default_rng(seed)
    start = random_text(rng, length, letters)
    return rng, [evolved(rng, start, rate, n_indels, letters) for _ in range(n)]


@pytest.mark.parametrize(("rate", "letters"), [(0.003, "ACGT"), (0.03, "ACGT"), (0.06, "ACDEFGHIKLMNPQRSTVWY")])
@pytest.mark.parametrize("n_rows", [1, 4])
def test_as_by_posteriors_of_whole_rows(rate, letters, n_rows):
    _, texts = family(int(1000 * rate) + n_rows, n_rows + 8, rate, 1100 if len(letters) == 4 else 600, letters)
    rows = list(ta.align_multiple(texts[:n_rows], n_threads=1)) if n_rows > 1 else texts[:1]
    new = texts[n_rows:]
    found, whole = add(rows, new), add(rows, new, no_anchors=True)
    n_same = n_all = 0
    for k in range(n_rows, len(texts)):
        for row in range(n_rows):
            one, other = paired(found, k, row), paired(whole, k, row)
            n_same, n_all = n_same + int((one == other).sum()), n_all + len(one)
    assert n_same >= 0.999 * n_all
    assert list(add(rows, new, n_threads=3)) == list(found)


def test_only_pieces_are_aligned(monkeypatch):
    """A row and its copy have no piece, and neither have substitutions; a deletion has one."""
    _, (row,) = family(1, 1)
    changed = row[:500] + ("A" if row[500] != "A" else "C") + row[501:]
    sizes = []
    solved = add_long.LongAddition._solved

    def counting(self, pieces):
        sizes.append(len(pieces))
        return solved(self, pieces)

    monkeypatch.setattr(add_long.LongAddition, "_solved", counting)
    found = add([row], [row, changed, row.lower(), row[:300] + row[310:]])
    assert sizes == [1]
    assert list(found)[:4] == [row, row, changed, row.lower()] and found.n_columns == len(row)


def test_insertions_open_columns_or_are_left_out():
    rng, (row,) = family(2, 1)
    inserted = random_text(rng, 25)
    new = row[:400] + inserted + row[400:]
    found = add([row], [new, row])
    assert found.n_columns == len(new) and "-" * 25 in found[0] and found[2] == found[0]
    old = MultipleAlignment.from_rows(["r"], [row])
    kept = ta.add_sequences(old, {"n": new, "m": row}, keep_length=True)
    assert list(kept) == [row, row, row]


def test_fragments_lie_where_they_come_from():
    _, (row, one, other) = family(3, 3, rate=0.01, length=3000)
    whole = add([row], [one, other])
    ends = [(0, 400), (900, 1300), (2500, 2900), (1500, 3000), (700, 2200)]
    pieces = [(k, begin, end) for k, text in enumerate((one, other)) for begin, end in ends if end <= len(text)]
    found = add([row], [(one, other)[k][begin:end] for k, begin, end in pieces])
    for number, (k, begin, end) in enumerate(pieces):
        expected = paired(whole, 1 + k)[begin:end]
        assert (paired(found, 1 + number) == expected).mean() > 0.98
        assert (paired(found, 1 + number)[[0, -1]] == expected[[0, -1]]).all()


def test_residues_of_another_origin_at_an_end_stay_near():
    rng, (row,) = family(4, 1, length=6000)
    junk = random_text(rng, 60)
    found = add([row], [row[1000:1800] + junk, junk + row[1000:1800]])
    assert (paired(found, 1)[:795] == np.arange(1000, 1795)).all() and paired(found, 1).max() < 1900
    assert (paired(found, 2)[65:] == np.arange(1005, 1800)).all() and paired(found, 2)[0] > 900


@pytest.mark.parametrize("places", [slice(300, 700), slice(None, None, 3)])
def test_unknown_residues_do_not_move_the_others(places):
    _, (row, new) = family(5, 2, rate=0.01)
    letters = np.array(list(new))
    letters[places] = "N"
    found = add([row], [new, "".join(letters)])
    stays = letters != "N"
    assert (paired(found, 1)[stays] == paired(found, 2)[stays]).mean() > 0.99


def test_unknown_residues_of_the_row():
    _, (row, new) = family(6, 2, rate=0.01)
    found = add([row[:400] + "N" * 200 + row[600:]], [new])
    assert (paired(found, 1) == paired(add([row], [new]), 1)).mean() > 0.98


def test_copies_have_equal_rows_and_the_order_of_others_is_theirs():
    _, texts = family(7, 6)
    found = add(texts[:1], [*texts[1:], *texts[1:3]])
    assert (found.letters[1] == found.letters[6]).all() and (found.letters[2] == found.letters[7]).all()
    one_by_one = [paired(add(texts[:1], [text]), 1).tolist() for text in texts[1:]]
    assert [paired(found, k).tolist() for k in range(1, 6)] == one_by_one


def test_large_strangers_are_named_and_aligned_with_one_row(monkeypatch):
    rng, texts = family(8, 4)
    stranger = random_text(rng, 1000)
    assert add(texts[:1], [*texts[1:], stranger]).n_columns  # small ones, by posteriors, without a warning
    monkeypatch.setattr(add_long, "MOST_CELLS", 100_000)
    with pytest.warns(
        TropalignWarning, match=r"^1 of 4 new sequences differs much from the alignment: n3; it is align"
    ):
        found = add(texts[:1], [*texts[1:], stranger])
    assert [paired(found, k).tolist() for k in (1, 2, 3)] == [
        paired(add(texts[:1], [text]), 1).tolist() for text in texts[1:]
    ]


def test_large_pieces_follow_the_best_alignment(monkeypatch):
    rng, (row,) = family(9, 1, length=2000)
    new = row[:600] + random_text(rng, 300) + row[900:]
    monkeypatch.setattr(add_long, "MOST_CELLS", 50_000)
    found = add([row], [new])
    expected = np.arange(len(row))
    assert (paired(found, 1)[:590] == expected[:590]).all() and (paired(found, 1)[910:] == expected[910:]).all()


def test_rows_between_which_the_new_ones_are_spread():
    """Two subfamilies with an insertion each: a new sequence takes the columns of its own."""
    rng, (start,) = family(10, 1)
    inserted = random_text(rng, 30)
    kinds = [start[:500] + inserted + start[500:], start]
    rows = [kinds[0], start[:500] + "-" * 30 + start[500:]]
    new = [evolved(rng, kinds[k % 2], 0.01, 0) for k in range(6)]
    found = add(rows, new)
    assert found.n_columns == len(rows[0])
    for k in range(6):
        assert ("-" * 30 in found[2 + k]) == bool(k % 2)


def test_memory_of_the_longest():
    _, texts = family(11, 2)
    old = MultipleAlignment.from_rows(["r"], texts[:1])
    batch = ta.SequenceBatch.from_strings(texts[1:], ["n"])
    with pytest.raises(ResourceError, match="the comparison of the longest sequences needs about"):
        add_sequences(old, batch, options_of("fast"), open_devices(["cpu"], 1, 1, 1 << 30), 1, memory_bytes=1 << 20)


def test_differences_have_the_insertions_that_are_left_out(tmp_path, capsys):
    from tropalign.cli.main import main

    _, (row,) = family(12, 1)
    inserted = "GGTACCTT"
    new = [row[:400] + inserted + row[400:], row[:600] + row[603:]]
    (tmp_path / "one.fa").write_text(f">r\n{row}\n")
    (tmp_path / "new.fa").write_text("".join(f">n{k}\n{text}\n" for k, text in enumerate(new)))
    words = ["msa", "one.fa", "--add", "new.fa", "--keep-length", "--differences", "d.tsv", "-o", "all.fa", "-q"]
    words = [str(tmp_path / word) if word.endswith((".fa", ".tsv")) else word for word in words]
    assert main(words) in (0, None)
    lines = [line.split("\t") for line in (tmp_path / "d.tsv").read_text().splitlines() if not line.startswith("#")]
    kinds = {(cells[1], len(cells[3]) if cells[3] != "-" else len(cells[2]), cells[5]) for cells in lines[1:]}
    assert kinds == {("insertion", 8, "n0"), ("deletion", 3, "n1")}


def test_fragments_of_other_composition_than_their_row():
    rng = np.random.default_rng(6)
    rich, poor = ("".join(rng.choice(list(letters), 1200)) for letters in ("CW", "AIKL"))
    new = [part[k:] for part in (rich, poor) for k in range(36)]
    found = add([rich + poor + poor[::-1]], new)
    assert found.n_columns == 3600
    for k, text in enumerate(new):
        begin = 1200 * (k >= 36) + k % 36
        assert (paired(found, k + 1) == np.arange(begin, begin + len(text))).mean() > 0.98


def test_twenty_fragments_of_one_long_row_are_long(monkeypatch):
    """Their posteriors with the row take about as long as with four rows."""
    monkeypatch.setattr(add_long, "LEAST_CELLS", 1e8)
    row = ta.SequenceBatch.from_strings(["ACGT" * 2250])
    for n, expected in ((4, True), (2, False)):
        assert add_long.are_long(row, ta.SequenceBatch.from_strings(["ACGTA" * 180] * n), 16) is expected
