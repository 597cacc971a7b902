"""Definitions of identity, by hand and as vsearch 2.22 gives them; ambiguous letters as each of their residues."""

import re

import numpy as np
import pytest

import tropalign as ta
from tropalign.errors import UsageError
from tropalign.results.aligned_pairs import compatible_columns, residue_sets
from tropalign.results.names import DEFINITIONS

PLAIN = "ACGTACGGTTACAGTCAGTCAGGACCATGCATTTGACAGGTACCA"
#: Sequences beside PLAIN, and what vsearch --iddef 0 to 4 makes of them, in per cent.
SEEN = {
    PLAIN: (100.0, 100.0, 100.0, 100.0, 100.0),
    "ACGTACGGTTACAGTCAGTCANGACCATGCATTTGACAGGTACCA": (100.0, 100.0, 100.0, 100.0, 100.0),
    "ACGTACGGTTACAGTCAGTCARGACCATGCATTTGACAGGTACCA": (100.0, 100.0, 100.0, 100.0, 100.0),
    "ACGTACGGTTACAGTCAGTCAYGACCATGCATTTGACAGGTACCA": (97.8, 97.8, 97.8, 97.8, 97.8),
    "ACGTACGGTTACANTCAGTCATGACCATGCATTTGACAGGTACCA": (97.8, 97.8, 97.8, 97.8, 97.8),
    "NCGTACGGTTACANTCAGTCATGACCATGTTTGACAGGTACCA": (97.7, 93.3, 93.3, 95.6, 93.3),
}


@pytest.mark.parametrize("number", range(5))
def test_ambiguous_letters_match_as_in_vsearch(number):
    names = [f"s{k}" for k in range(len(SEEN))]
    queries = ta.SequenceBatch.from_strings(list(SEEN), names, ta.NUCLEOTIDE)
    how = {"mode": "global", "identity": number, "ambiguous": "match"}
    (table,) = ta.align_all(queries, [PLAIN], alphabet=ta.NUCLEOTIDE, **how)
    assert np.round(100 * table.identity, 1).tolist() == [seen[number] for seen in SEEN.values()]
    assert table.columns([f"identity_{number}"])[f"identity_{number}"].tolist() == table.identity.tolist()
    assert [row.identity for row in table] == table.identity.tolist()


def test_definitions_by_hand():
    """Nine columns: five identical, one mismatch, a gap of one residue and a gap of two."""
    query, target = "ACGCTTT", "CGATTTGG"
    seen = {"shorter": 5 / 7, "blast": 5 / 9, "columns": 5 / 9, "internal": 5 / 6, "openings": 1 - 3 / 8}
    seen |= {"longer": 5 / 8, "matches": 5 / 6}
    for definition in DEFINITIONS:
        (table,) = ta.align_all([query], [target], mode="global", identity=definition, alphabet=ta.NUCLEOTIDE)
        assert table.cigar(0) == "1I2=1X3=2D" and table.identity[0] == pytest.approx(seen[definition])


def test_local_ends_that_are_not_aligned_count_as_gaps():
    (table,) = ta.align_all(["GGGGACGTACGTACGT"], ["ACGTACGTACGTCCCC"], identity="openings")
    assert table.cigar(0) == "12=" and table.identity[0] == 14 / 16


@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("mode", ["global", "local"])
def test_compatible_columns_are_counted_one_by_one(mode, strand):
    rng = np.random.default_rng(7)
    letters = ta.NUCLEOTIDE.letters
    texts = ["".join(rng.choice(list("ACGT" * 4 + letters), rng.integers(1, 60))) for _ in range(40)]
    batch = ta.SequenceBatch.from_strings(texts, alphabet=ta.NUCLEOTIDE)
    (plain,) = ta.align_all(batch, mode=mode, strand=strand)
    (table,) = ta.align_all(batch, mode=mode, strand=strand, ambiguous="match")
    of = {**{letter: {letter} for letter in "ACGT"}, **{k: set(v) for k, v in ta.NUCLEOTIDE.ambiguous.items()}}
    of["N"] = set("ACGT")
    assert table.cigars() == plain.cigars() and table.score.tolist() == plain.score.tolist()
    for row, n_identical in zip(plain, table.n_identical.tolist(), strict=True):
        query, _, target = row.aligned()
        assert n_identical == sum(bool(of.get(a, set()) & of.get(b, set())) for a, b in zip(query, target, strict=True))
    assert (table.n_identical > plain.n_identical).any()
    assert compatible_columns(plain).tolist() == table.n_identical.tolist()


DIVISORS = {  # by columns (query and target) without ignored pairs: identical columns are divided by this number
    "columns": lambda columns, m, n: len(columns),
    "shorter": lambda columns, m, n: min(m, n),
    "longer": lambda columns, m, n: max(m, n),
    "matches": lambda columns, m, n: sum("-" not in column for column in columns),
}


@pytest.mark.parametrize("definition", [*DIVISORS, "internal", "openings"])
@pytest.mark.parametrize(("alphabet", "wildcard"), [("nucleotide", "N"), ("protein", "X")])
def test_wildcards_are_ignored_as_by_definition(definition, alphabet, wildcard):
    rng = np.random.default_rng(3)
    letters = list("ACGTACGT" + 3 * wildcard)
    texts = ["".join(rng.choice(letters, rng.integers(1, 30))) for _ in range(25)] + [wildcard * 5]
    how = {"mode": "global", "alphabet": alphabet, "identity": definition}
    (table,) = ta.align_all(texts, ambiguous="ignore", **how)
    (plain,) = ta.align_all(texts, **how)
    assert table.cigars() == plain.cigars() and table.n_columns.tolist() == plain.n_columns.tolist()
    for row, seen in zip(table, table.identity.tolist(), strict=True):
        query, _, target = row.aligned()
        every = list(zip(query, target, strict=True))
        columns = [one for one in every if wildcard not in one or "-" in one]
        identical = sum(a == b for a, b in columns)
        n_ignored = len(every) - len(columns)
        m, n = (len(text.replace("-", "")) - n_ignored for text in (query, target))
        if definition == "internal":
            n_internal = len("".join(" " if "-" in one else "x" for one in every).strip())
            expected = identical / max(n_internal - n_ignored, 1)
        elif definition == "openings":
            gaps = sum(len(re.findall("-+", text)) for text in (query, target))
            mismatches = sum(a != b for a, b in columns if "-" not in (a, b))
            expected = max(max(m, n) - mismatches - gaps, 0) / max(m, n, 1)
            expected *= any("-" not in one for one in columns)
        else:
            expected = identical / max(DIVISORS[definition](columns, m, n), 1)
        assert seen == row.identity == pytest.approx(expected), (query, target)
    assert (table.n_ignored > 0).any() and (table.n_identical < plain.n_identical).any()


def test_ignored_wildcards_are_kept_by_files(tmp_path):
    (table,) = ta.align_all({"a": "ACGTNACGT", "b": "ACGTAACGT", "c": "ACNTAACCT"}, ambiguous="ignore", mode="global")
    assert table.identity.tolist() == [1.0, 6 / 7, 7 / 8] and table.n_ignored.tolist() == [1, 2, 1]
    table.write(tmp_path / "x.result")
    again = ta.read_result(tmp_path / "x.result")
    assert again.identity.tolist() == table.identity.tolist() and again == table
    assert table.columns(["mismatches"])["mismatches"].tolist() == [0, 1, 1]


@pytest.mark.parametrize("identity", ["shorter", "columns", "internal"])
def test_clusters_ignore_wildcards(identity):
    """Greedy clusters, one by one: the bounds skip no pair that is similar without its wildcards."""
    rng = np.random.default_rng(9)
    seeds = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(4)]
    texts = {}
    for k in range(40):
        text = np.array(list(seeds[rng.integers(4)]))
        text[rng.random(60) < 0.15] = "N"
        text[rng.random(60) < 0.03] = "A"
        texts[f"s{k}"] = "".join(text)
    found = ta.cluster(texts, 0.95, identity=identity, ambiguous="ignore", order="input")
    names, chosen, labels = list(texts), [], []
    for name in names:
        near = [
            ta.align_all([texts[name]], [texts[one]], mode="global", identity=identity, ambiguous="ignore")
            for one in chosen
        ]
        best = max(((table.identity[0], -k) for k, (table,) in enumerate(near)), default=(0, 0))
        if best[0] < 0.95:
            chosen.append(name)
        labels.append(-best[1] if best[0] >= 0.95 else len(chosen) - 1)
    assert found.labels.tolist() == labels
    assert len(chosen) < len(ta.cluster(texts, 0.95, identity=identity, order="input"))


def test_ambiguous_residues():
    sets = dict(zip(ta.PROTEIN.letters, residue_sets(ta.PROTEIN).tolist(), strict=True))
    same = {a + b for a in sets for b in sets if sets[a] & sets[b] and a != b}
    assert {"BD", "BN", "ZE", "ZQ", "JI", "JL", "XW", "XU", "XB"} <= same
    assert not {"BZ", "X*", "UC", "OK", "BA", "*B"} & same


@pytest.mark.parametrize("name", ["vsearch", "5", 7, True, None, 1.0])
def test_what_is_no_definition(name):
    with pytest.raises(UsageError, match=r"identity .* is not one of 0 shorter, 1 columns, .*, longer, matches"):
        list(ta.align_all(["ACGT", "ACGA"], identity=name))


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("mode", ["global", "local", "semiglobal"])
def test_least_identity_goes_by_the_definition(mode, definition):
    rng = np.random.default_rng(8)
    texts = ["".join(rng.choice(list("ACGTN"), rng.integers(3, 30))) for _ in range(40)]
    texts += [text[: len(text) // 2] for text in texts[:20] if len(text) > 1]
    for ambiguous in ("differ", "match"):
        how = {"mode": mode, "identity": definition, "ambiguous": ambiguous, "alphabet": ta.NUCLEOTIDE}
        (every,), (kept,) = ta.align_all(texts, **how), ta.align_all(texts, min_identity=0.55, **how)
        assert every.identity.min() >= 0 and every.identity.max() <= 1
        passes = every.identity >= 0.55
        assert kept.cigars() == every[passes].cigars() and 0 < len(kept) < len(every)


def test_formats_count_equal_letters_though_identities_ignore_them(tmp_path):
    """SAM's NM and MD, and PAF, describe the letters; N against N is equal there."""
    texts = {"a": "ACGTNACGTACGTNACGT", "b": "ACGTNACGTACGTAACGT"}
    (table,) = ta.align_all(texts, mode="global", ambiguous="ignore")
    table.write(tmp_path / "x.sam")
    table.write(tmp_path / "x.paf")
    assert {"NM:i:1", "MD:Z:13A4"} <= set((tmp_path / "x.sam").read_text().split())
    assert (tmp_path / "x.paf").read_text().split("\t")[9] == "17"
    assert table.identity.tolist() == [1.0]


def test_an_alphabet_without_a_wildcard_ignores_nothing():
    own = ta.Alphabet("own", "HEC")
    (table,) = ta.align_all({"a": "HHEC", "b": "HHCC"}, alphabet=own, matrix=(2, -1), mode="global", ambiguous="ignore")
    assert table.identity.tolist() == [0.75] and table.n_ignored.tolist() == [0]
