"""The HTML page in a real browser: what it says and draws."""

import json
import math
import re
from collections import Counter

import numpy as np
import pytest

from formats.page import AMINO_ACIDS, WHITE, alignment_of, page_of, random_rows
from formats.test_pairs_html import HOSTILE as HOSTILE_NAMES
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned.report import data_of
from tropalign.results.multiple import MultipleAlignment, cell_colours

#: As Capra and Singh (2007) give them.
_SHARES = "078 051 041 052 024 034 059 083 025 062 092 056 024 043 043 059 055 014 034 072".split()
BLOSUM62_SHARES = dict(zip(AMINO_ACIDS, [int(share) / 1000 for share in _SHARES], strict=True))


def test_the_page_says_what_it_shows(opened):
    n_residues = sum(len(row.replace("-", "")) for row in random_rows(20, 200))
    page = opened(
        alignment_of(random_rows(20, 200), confidence=np.ones(n_residues), column_confidence=np.full(200, 0.75))
    )
    assert page.text("title") == "family.fa"
    assert page.text("facts") == "20 sequences · 200 columns · protein · mean confidence 0.75"
    page.find("help").click()
    assert "tropalign msa <family>.fa" in page.text("made") and "1.2.3" in page.text("made")
    assert "hydrophobic" in page.text("legend")


def test_letters_are_kept_and_u_counts_as_t(opened):
    rows = random_rows(5, 40)
    page = opened(alignment_of(rows))
    assert [page("page.alignment.text(arguments[0], 0, 40)", k) for k in range(5)] == rows
    page = opened(alignment_of(["ACGUU", "ACGTT", "ACGTA"]))
    assert page.text("facts").endswith("nucleotide")
    assert page("page.alignment.consensus.join('')") == "ACGTT"
    assert page.search("motif", "GTW") == "1 of 3"


def measures(column, letters, background):
    """Consensus, information, conservation and occupancy of one column, from their definitions."""
    upper = column.upper()
    n = len(column)
    counts = Counter(letter for letter in upper if letter in letters)
    total = sum(counts.values())
    occupancy = 1 - upper.count("-") / n
    every = Counter(upper.replace("-", ""))
    most = min(every, key=lambda letter: (-every[letter], letter)) if every else "x"
    consensus = "-" if occupancy < 0.5 else most if every[most] * 2 >= n else most.lower()
    if not total:
        return consensus, 0, 0, occupancy
    shares = {letter: counts[letter] / total for letter in letters}
    entropy = -sum(share * math.log2(share) for share in shares.values() if share)
    information = math.log2(len(letters)) - entropy - (len(letters) - 1) / (2 * math.log(2) * total)
    divergence = 0.0
    for letter in letters:
        middle = (shares[letter] + background[letter]) / 2
        divergence += sum(p / 2 * math.log2(p / middle) for p in (shares[letter], background[letter]) if p)
    return consensus, max(0, information) * occupancy, divergence * occupancy, occupancy


@pytest.mark.parametrize(
    ("letters", "background", "written"),
    [(AMINO_ACIDS, BLOSUM62_SHARES, AMINO_ACIDS + "acwXBU"), ("ACGT", dict.fromkeys("ACGT", 0.25), "ACGTacgtN")],
)
def test_tracks_are_their_formulas(opened, letters, background, written):
    rows = random_rows(23, 60, written)
    page = opened(alignment_of(rows))
    expected = [measures("".join(column), letters, background) for column in zip(*rows, strict=True)]
    assert page("page.alignment.consensus") == [row[0] for row in expected]
    for k, name in enumerate(("information", "conservation", "occupancy"), 1):
        found = page(f"[...page.alignment.{name}]")
        assert found == pytest.approx([row[k] for row in expected], abs=1e-5)


CLUSTAL_COLUMNS = [
    # A column, a letter of it, the hue that Clustal X gives that letter.
    ("GAAAAAAAAA", "G", "orange"),
    ("PSSSSSSSSS", "P", "yellow"),
    ("KRKRKRDDDD", "K", "red"),
    ("KRKRKDDDDD", "K", None),
    ("KRKRKDDDDD", "D", "magenta"),
    ("LLLLLL----", "L", "blue"),
    ("LLLLL-----", "L", None),
    ("LLLLLLTTSS", "T", "green"),
    ("LLLLLLTTSS", "S", None),
    ("LLLLLLLLSS", "S", "green"),
    ("CCCCCCCCCA", "C", "pink"),
    ("CCCCCCCAAA", "C", "blue"),
    ("YYYYYYKKKK", "Y", "cyan"),
    ("NNNNNSSSSS", "N", "green"),
    ("QQEEEAAAAA", "Q", "green"),
    ("QQEEEAAAAA", "E", "magenta"),
    ("aaaaaaaaaa", "a", "blue"),
]


def test_clustal_colours_follow_their_rules(opened):
    rows = ["".join(letters) for letters in zip(*(column for column, _, _ in CLUSTAL_COLUMNS), strict=True)]
    page = opened(alignment_of(rows))
    hues = page("RULES.clustal.hues")
    for k, (column, letter, hue) in enumerate(CLUSTAL_COLUMNS):
        wanted = WHITE if hue is None else [int(hues[hue][0][i : i + 2], 16) for i in (1, 3, 5)]
        assert page.colour(column.index(letter), k) == wanted, (column, letter)


@pytest.mark.parametrize("letters", [AMINO_ACIDS + "acwXB", "ACGTacguN"])
def test_colours_are_those_of_the_pictures(opened, letters):
    made = alignment_of(random_rows(35, 300, letters))
    page = opened(made)
    numbers, palette = cell_colours(made)
    on_page = np.reshape(page("[...page.sheet.colours]"), numbers.shape)
    assert (np.where(on_page == 63, 0, on_page) == numbers).all()
    assert page("page.sheet.scheme.palette.slice(1).map(css)") == [
        f"rgb({' '.join(str(int(hue[k : k + 2], 16)) for k in (1, 3, 5))})" for hue in palette[1:]
    ]


def test_schemes_change_the_colours(opened):
    rows = ["KKK-", "KKK-", "KKKL"]
    n = 10
    page = opened(alignment_of(rows, confidence=np.linspace(0, 1, n), column_confidence=[1, 1, 1, 0]))
    found = {}
    for scheme in page("[...document.getElementById('scheme').options].map((o) => o.value)"):
        page.choose("scheme", scheme)
        found[scheme] = page.colour(0, 0)
        assert page.colour(0, 3) == WHITE
    assert list(found) == ["clustal", "taylor", "hydrophobicity", "confidence", "identity", "none"]
    assert found["taylor"] == [0x66, 0x00, 0xFF] and found["none"] == WHITE
    assert len({tuple(colour) for colour in found.values()}) == len(found)
    page.choose("scheme", "confidence")
    assert page.colour(0, 0) != page.colour(2, 2)


def test_without_confidence_there_is_none(opened):
    page = opened(alignment_of(["MKV", "MKI"]))
    assert "confidence" not in page.text("facts")
    assert page("SCHEMES.confidence.fits(page.alignment)") is False
    assert "Confidence" not in page("page.sheet.tracks.list.map((t) => t.title)")
    conservation = measures("VI", AMINO_ACIDS, BLOSUM62_SHARES)[2]
    assert page.point(0, 2) == f"s0 · V 3 · column 3 · I 50 % · conservation {conservation:.2f} · residues 100 %"


def test_pointing_at_a_cell(opened):
    page = opened(
        alignment_of(["mK--V", "-KLAV"], ["first", "second"], np.arange(7) / 10, column_confidence=[0, 0.25, 0, 0, 1])
    )
    status = page.point(0, 1)
    assert status.startswith("first · K 2 · confidence 0.10 · column 2 · K 100 % · conservation 0.")
    assert status.endswith("residues 100 % · column's confidence 0.25")
    assert page.point(1, 4).startswith("second · V 4 · confidence 0.60 · column 5")
    assert page.point(0, 3).startswith("first · gap after residue 2 · column 4")
    assert page.point(1, 0).startswith("second · gap before residue 1 · column 1")
    assert page.point(0, 0).startswith("first · m 1")


HOSTILE = [*HOSTILE_NAMES[:5], "日本語", "x" * 500, "\udcff"]


def test_names_are_text_and_nothing_else(opened):
    made = alignment_of(["MKVLAW"] * len(HOSTILE), HOSTILE)
    page = opened(made, title="</title><script>alert(2)</script>")
    assert page("page.alignment.names.slice(0, -1)") == HOSTILE[:-1]
    page.check_markup(4)
    assert page.text("title") == "</title><script>alert(2)</script>"
    for k in range(4):
        assert page.point(k, 0).startswith(f"{HOSTILE[k]} · M 1")
    assert page.point(4, 0).startswith("right\ufffdleft\ufffdnext")
    page("window.dispatchEvent(new Event('beforeprint'))")
    assert page("document.images.length") == 0
    page.check_policy()


def test_light_and_dark(opened):
    made = alignment_of(["MK-", "MK-"])
    light = opened(made).colour(0, 2)
    page = opened(made, is_dark=True)
    dark = page.colour(0, 2)
    assert light == WHITE and max(dark) < 60
    page.find("theme").click()
    assert page.colour(0, 2) == WHITE


@pytest.mark.parametrize("rows", [["M"], ["-", "M"], ["M" * 5_000]])
def test_extreme_shapes(opened, rows):
    page = opened(alignment_of(rows))
    assert page("page.alignment.text(page.alignment.nRows - 1, 0, 1)") == "M"
    assert page.point(len(rows) - 1, 0).startswith(f"s{len(rows) - 1} · M 1")


def test_the_file_needs_nothing_else():
    made = alignment_of(["MKV-", "MKIL"], confidence=np.linspace(0, 1, 7), column_confidence=[1, 1, 0.5, 0])
    text = page_of(made).decode()
    loads = text.replace("http://www.w3.org/2000/svg", "")  # the name of a language
    assert not re.search(r"(?:src|href)\s*=\s*[\"']|@import|url\((?!#)|https?:", loads)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["letters"] == "MKV-MKIL" and data["n_columns"] == 4


@pytest.mark.parametrize("share", [0.0, 0.01, 0.05, 0.5])
def test_similar_rows_are_stored_as_differences(share):
    rng = np.random.default_rng(1)
    letters = np.tile(rng.choice(np.frombuffer(b"ACGTacgtN", np.uint8), 500), (20, 1))
    is_other = rng.random(letters.shape) < share
    is_other[:, 100:150] &= False
    letters[is_other] = rng.choice(np.frombuffer(b"ACGT-", np.uint8), int(is_other.sum()))
    letters[3, :50] = letters[4, -50:] = letters[5, 200:210] = ord("-")
    found = data_of(MultipleAlignment.from_rows([f"s{k}" for k in range(20)], letters), AlignedContext("x"))
    assert ("letters" in found) == (share > 0.1)
    if "letters" in found:
        return
    rows = []
    for parts in found["changes"]:
        row, at = list(found["common"]), 0
        for skipped, text in zip(parts[::2], parts[1::2], strict=True):
            at += skipped
            row[at : at + len(text)] = text
            at += len(text)
        rows.append("".join(row).encode())
    assert rows == [row.tobytes() for row in letters]


def test_a_page_of_similar_rows_has_their_letters_and_hides_columns_without_a_difference(opened):
    rows = [
        ["ACGT" * 100, "c"],
        ["ACGt" + "ACGT" * 99, "c"],
        ["AC-T" * 2 + "ACGT" * 98, "c"],
        ["ACNG" + "ACGT" * 99, "c"],
    ]
    alignment = alignment_of(["".join(row) for row in rows])
    assert "changes" in data_of(alignment, AlignedContext())
    page = opened(alignment)
    found = page("page.whole.fasta([0, 1, 2, 3], 0, 401)").split(">")[1:]
    assert ["".join(one.split("\n")[1:]) for one in found] == list(alignment)
    page.choose("hiding", "same")
    assert page("[...page.sheet.alignment.columnOf]") == [2, 3, 6]
