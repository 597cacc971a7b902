"""Chimeras: against plain Python and vsearch, and examples that were computed by hand."""

import re
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest
from oracles import chimeras as oracle
from oracles import gap_pieces, pairwise

import tropalign as ta
from tropalign.clusters.chimera_parents import (
    ParentAligner,
    counted_columns,
    explained,
    parents,
    proposed,
    scoring,
    with_ends,
)
from tropalign.clusters.chimeras import blocks
from tropalign.clusters.options import ChimeraRules
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.scoring.scores import matched

needs_vsearch = pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
RULES = ("uchime", "uchime2", "uchime3")
#: Other weights than those by default.
HOW = {"minh": 0.1, "mindiv": 1.5, "mindiffs": 2, "xn": 4, "dn": 1}


def changed(text, random, n, begin=0, end=None, letters="ACGT"):
    """The text with n letters replaced by others."""
    found = list(text)
    for k in random.choice(np.arange(begin, len(text) if end is None else end), n, replace=False).tolist():
        found[k] = str(random.choice([letter for letter in letters if letter != text[k]]))
    return "".join(found)


def letters_of(random, n, alphabet="ACGT"):
    return "".join(random.choice(list(alphabet), n).tolist())


def joined(a, b, share):
    """The left part of one text and the right part of another."""
    return a[: int(share * len(a))] + b[int(share * len(b)) :]


def community(seed, length=90):
    """Parents, their chimeras of two and three, copies with errors, gaps and letters that stand for several."""
    random = np.random.default_rng(seed)
    base = letters_of(random, length)
    parents = [changed(base, random, int(random.integers(3, 12))) for _ in range(5)]
    parents[1] = parents[1][:30] + letters_of(random, int(random.integers(1, 4))) + parents[1][30:]
    parents[2] = parents[2][:50] + parents[2][52:]
    texts = list(parents)
    for _ in range(8):
        a, b, c = (parents[k] for k in random.choice(5, 3, replace=False).tolist())
        text = joined(a, b, random.uniform(0.1, 0.9))
        if random.random() < 0.25:
            text = joined(text, c, random.uniform(0.5, 0.9))
        text = changed(text, random, int(random.integers(0, 3)), letters="ACGTACGTNR")
        at = int(random.integers(len(text)))
        texts.append(text[:at] + "A" * (random.random() < 0.2) + text[at + (random.random() < 0.2) :])
    texts += [parents[0], texts[6][5:], texts[7][:-4], parents[3][:31], "ACG", "N" * 40, letters_of(random, 60)]
    sizes = [100, 80, 80, 60, 50, *random.integers(1, 45, len(texts) - 5).tolist()]
    return [(f"s{k % 7}_{k};size={size}", text, size) for k, (text, size) in enumerate(zip(texts, sizes, strict=True))]


def columns(query, reference):
    """The alignment of both with an end in front and behind, by the oracle of pairs, and less these ends."""
    both = ta.SequenceBatch.from_strings({"q": query, "r": reference}, alphabet="nucleotide")
    ends = with_ends(both)
    codes = [ends.codes[ends.offsets[k] : ends.offsets[k + 1]].tolist() for k in range(2)]
    options = scoring()
    found = pairwise.align(*codes, options.matrix.scores, options.gap.open, options.gap.extend, "semiglobal")
    rows = [f"^{query}$", f"^{reference}$"]
    i, j = found.query_start, found.target_start
    pairs = [(letter, "-") for letter in rows[0][:i]] + [("-", letter) for letter in rows[1][:j]]
    for operation in expanded(found.cigar):
        pairs.append((rows[0][i] if operation != "D" else "-", rows[1][j] if operation != "I" else "-"))
        i, j = i + (operation != "D"), j + (operation != "I")
    pairs += [(letter, "-") for letter in rows[0][i:]] + [("-", letter) for letter in rows[1][j:]]
    plain = [tuple("-" if letter in "^$" else letter for letter in pair) for pair in pairs]
    # A letter beside an end hangs over, and stands before or behind the other's letters.
    return [pair for pair in plain if pair != ("-", "-")]


def expanded(cigar):
    return "".join(kind * int(count) for count, kind in re.findall(r"(\d+)([=XID])", cigar))


def lines(found, tmp_path):
    path = tmp_path / "found.uchime"
    found.write(path)
    return path.read_text().splitlines()


@pytest.mark.parametrize("seed", range(12))
def test_as_by_definition(seed, tmp_path):
    """De novo by every rule; and by references, of which there are more, too, than the parts of a sequence propose.

    One test, since the oracle takes long to align, and most pairs are those of another rule.
    """
    made, random, aligned = community(seed), np.random.default_rng(seed), cache(columns)
    given = {name: text for name, text, _ in made}
    for rule in RULES:
        found = ta.find_chimeras(given, rule=rule, abskew=2, alphabet="nucleotide")
        assert lines(found, tmp_path) == oracle.de_novo(made, oracle.Rules(rule), aligned), rule
        assert found.sequences.names == tuple(name for name, *_ in made) and found.references is found.sequences
    references = [(name, text) for name, text, _ in made[:5]]
    more = [(f"more{k}", changed(made[k % 5][1], random, 9)) for k in range(20)]
    for known in (references, references + more):
        found = ta.find_chimeras(given, dict(known), alphabet="nucleotide", **HOW)
        assert lines(found, tmp_path) == oracle.by_reference(made, known, oracle.Rules(**HOW), aligned), len(known)
        assert {"Y", "N"} <= set(found.verdicts)


def test_the_sets_have_what_is_hard():
    """Gaps, ambiguous letters, ties, every verdict."""
    verdicts, has_abstained, swapped = set(), 0, 0
    for seed in range(12):
        given = {name: text for name, text, _ in community(seed)}
        found = ta.find_chimeras(given, alphabet="nucleotide", **HOW)
        verdicts |= set(found.verdicts)
        has_abstained += int(found.left_abstain.sum())
        swapped += int(found.right_no.sum())
    assert verdicts == {"Y", "N", "?"} and has_abstained and swapped


def test_alignments_are_the_best_ones(tmp_path):
    """The scores of sequences with ends are those of the costs that were meant, and so are the paths."""
    random = np.random.default_rng(3)
    base = letters_of(random, 40)
    texts = [letters_of(random, int(n), "ACGTN") for n in random.integers(1, 30, 8)]
    for _ in range(8):
        text = changed(base, random, int(random.integers(1, 6)))
        at = int(random.integers(35))
        texts.append(
            text[int(random.integers(4)) : at] + text[at + int(random.integers(3)) :] + "AC"[: random.integers(3)]
        )
    batch = ta.SequenceBatch.from_strings(texts, alphabet="nucleotide")
    scores = matched(ta.NUCLEOTIDE, 2, -4, "zero").astype(int)
    pairs = np.array([(i, j) for i in range(len(batch)) for j in range(len(batch))])[::3]
    aligner = ParentAligner(batch, batch, 1, 1 << 28)
    row = 0
    for table in aligner.alignments(pairs[:, 0], pairs[:, 1]):
        for k in range(len(table)):
            a, b = (batch.codes[batch.offsets[i] : batch.offsets[i + 1]].tolist() for i in pairs[row])
            best = gap_pieces.align(a, b, scores, (18, 2, 18, 2), (1, 1, 1, 1), "global").score
            assert table.score[k] - 2 - len(a) - len(b) == best
            row += 1
    assert row == len(pairs)
    with_gaps = 0
    for i, j in pairs[::2].tolist():
        path = columns(texts[i], texts[j])
        kinds = ["M" if "-" not in pair else "I" if pair[1] == "-" else "D" for pair in path]
        a, b = (batch.codes[batch.offsets[k] : batch.offsets[k + 1]].tolist() for k in (i, j))
        best = gap_pieces.align(a, b, scores, (18, 2, 18, 2), (1, 1, 1, 1), "global").score
        assert gap_pieces._path_score(a, b, scores, (18, 2, 18, 2), (1, 1, 1, 1), "".join(kinds)) == best
        with_gaps += "I" in kinds or "D" in kinds
    assert with_gaps > 10


def parents_of_21():
    """Parents that differ in 21 letters, and their join behind the tenth of these."""
    random = np.random.default_rng(1)
    a = letters_of(random, 210)
    b = list(a)
    for k in range(21):
        b[5 + 10 * k] = "ACGT"[("ACGT".index(a[5 + 10 * k]) + 1) % 4]
    b = "".join(b)
    return a, b, a[:100] + b[100:]


def test_a_join_has_the_score_that_was_computed_by_hand():
    """10 and 11 votes: 10/11.2 x 11/11.2; with a letter of its own on each side 10/12.2 x 11/12.2."""
    a, b, join = parents_of_21()
    own = list(join)
    for k in (20, 180):
        own[k] = "ACGT"[("ACGT".index(join[k]) + 2) % 4]
    found = ta.find_chimeras({"x": join, "y": "".join(own)}, {"a": a, "b": b})
    assert [round(score, 4) for score in found.score] == [0.8769, 0.7390]
    assert (found.left_yes.tolist(), found.right_yes.tolist()) == ([10, 10], [11, 11])
    assert (found.left_abstain.tolist(), found.right_abstain.tolist()) == ([0, 1], [0, 1])
    assert found.model_identity[0] == 100 and found.row(0) == ("x", "Y", pytest.approx(0.8769, abs=1e-4), "a", "b")


@pytest.mark.parametrize(
    ("rule", "sizes", "verdict"),
    [
        ("uchime", (100, 50, 25), "Y"),
        ("uchime", (100, 50, 26), "N"),
        ("uchime2", (100, 50, 25), "Y"),
        ("uchime3", (100, 50, 25), "N"),
        ("uchime3", (1600, 800, 50), "Y"),
        ("uchime3", (1600, 799, 50), "N"),
    ],
)
def test_parents_are_so_much_more_abundant(rule, sizes, verdict):
    given = {f"{name};size={size}": text for name, text, size in zip("abc", parents_of_21(), sizes, strict=True)}
    found = ta.find_chimeras(given, rule=rule)
    assert found.verdicts == ("N", "N", verdict)


def test_errors_make_no_chimera_by_uchime2():
    """A letter of its own: QM is less than 100."""
    a, b, join = parents_of_21()
    given = {"a;size=9": a, "b;size=9": b, "c;size=2": join[:3] + "ACGT".replace(join[3], "")[0] + join[4:]}
    verdicts = [ta.find_chimeras(given, rule=rule, abskew=2).verdicts[2] for rule in RULES]
    assert verdicts == ["Y", "N", "N"]


def test_a_chimera_is_no_parent():
    """A sequence that is explained by a chimera and a parent has these parents' parents."""
    a, b, join = parents_of_21()
    again = join[:50] + b[50:]
    found = ta.find_chimeras({"a;size=900": a, "b;size=800": b, "c;size=90": join, "d;size=9": again})
    assert found.verdicts == ("N", "N", "Y", "Y")
    assert found.row(3).parent_a == "a;size=900" and found.row(3).parent_b == "b;size=800"


def test_little_divergence_is_borderline():
    a, b, join = parents_of_21()
    found = ta.find_chimeras({"x": join}, {"a": a, "b": b}, mindiv=5)
    assert found.verdicts == ("?",) and found.is_borderline.tolist() == [True]
    assert ta.find_chimeras({"x": join}, {"a": a, "b": b}, mindiffs=11).verdicts == ("?",)
    assert ta.find_chimeras({"x": join}, {"a": a, "b": b}, minh=0.9).verdicts == ("N",)


@pytest.mark.parametrize(
    "text", ["ACG", "A" * 31, "N" * 60, parents_of_21()[2][::-1].translate(str.maketrans("ACGT", "TGCA"))]
)
def test_what_is_never_a_chimera(text):
    """Too short for a window, without letters that tell anything, of the other strand."""
    a, b, _ = parents_of_21()
    assert ta.find_chimeras({"x": text}, {"a": a, "b": b}, alphabet="nucleotide").verdicts == ("N",)


def test_equal_parents_explain_nothing():
    a, _, join = parents_of_21()
    found = ta.find_chimeras({"x": join}, {"a": a, "b": a})
    assert found.verdicts == ("N",) and found.row(0).parent_a is None


def test_rna_and_lower_case_are_equal_letters():
    a, b, join = parents_of_21()
    one = ta.find_chimeras({"x": join}, {"a": a, "b": b})
    other = ta.find_chimeras({"x": join.lower().replace("t", "u")}, {"a": a, "b": b})
    assert one.score.tolist() == other.score.tolist() and one.verdicts == other.verdicts == ("Y",)


def test_threads_and_memory_change_nothing():
    made = {
        name: text for seed in range(4) for name, text, _ in [(f"{seed}{one[0]}", *one[1:]) for one in community(seed)]
    }
    one = ta.find_chimeras(made, alphabet="nucleotide", n_threads=1)
    assert ta.find_chimeras(made, alphabet="nucleotide", n_threads=3, memory_bytes=8 << 20) == one
    with pytest.raises(ResourceError, match="allow more with memory_bytes"):
        ta.find_chimeras(made, alphabet="nucleotide", memory_bytes=1 << 10)


def test_progress_counts_sequences():
    told = []
    made = {name: text for name, text, _ in community(0)}
    ta.find_chimeras(made, alphabet="nucleotide", progress=told.append)
    assert told == sorted(told) and told[-1] == len(made)


def test_blocks_hold_no_pair_of_parent_and_chimera():
    random = np.random.default_rng(0)
    for skew in (1, 1.5, 2, 16):
        sizes = np.sort(random.integers(1, 60, 50))[::-1]
        found = list(blocks(sizes, skew))
        assert [begin for begin, _ in found] == [0, *[end for _, end in found[:-1]]] and found[-1][1] == 50
        for begin, end in found:
            assert end == begin + 1 or sizes[begin] < skew * sizes[end - 1]


def test_rows_are_chosen_and_shown():
    a, b, join = parents_of_21()
    found = ta.find_chimeras({"a;size=9": a, "b;size=8": b, "c;size=2": join})
    assert found.is_chimera.tolist() == [False, False, True] and found.is_clean.tolist() == [True, True, False]
    assert found[found.is_chimera].query_sequences.names == ("c;size=2",)
    assert [one.query for one in found[::-1]] == ["c;size=2", "b;size=8", "a;size=9"]
    table = found.to_pandas()
    assert table["closer_parent"].tolist()[2] == "b;size=8" and table["verdict"].tolist() == ["N", "N", "Y"]
    assert repr(found) == "<Chimeras: 1 of 3 sequences>" and found == found[:3] and found != found[:2]


def as_vsearch(tmp_path, words, made, references=None):
    """The columns that vsearch finds."""
    path, out = tmp_path / "x.fa", tmp_path / "u.out"
    path.write_text("".join(f">{name}\n{text}\n" for name, text, _ in made))
    if references:
        (tmp_path / "db.fa").write_text("".join(f">{name}\n{text}\n" for name, text in references))
    command = ["vsearch", *words, "--uchimeout", str(out), "--threads", "1", "--quiet"]
    subprocess.run(
        [str(path) if word == "X" else str(tmp_path / "db.fa") if word == "DB" else word for word in command],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return out.read_text().splitlines()


def clear_set(seed):
    """Few parents that differ clearly, joins of two with and without errors, copies with errors."""
    random = np.random.default_rng(seed)
    base = letters_of(random, 250)
    parents = [changed(base, random, int(random.integers(18, 30))) for _ in range(4)]
    parents[1] = parents[1][:100] + parents[1][103:]
    made = [(f"p{k};size={900 - 50 * k}", text, 900 - 50 * k) for k, text in enumerate(parents)]
    for k in range(8):
        a, b = random.choice(4, 2, replace=False).tolist()
        text = changed(joined(parents[a], parents[b], random.uniform(0.25, 0.75)), random, k % 3)
        made.append((f"c{k};size={30 - k}", text, 30 - k))
    made += [(f"e{k};size=3", changed(parents[k], random, 3), 3) for k in range(4)]
    return made


@needs_vsearch
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rule", RULES)
def test_de_novo_as_vsearch(seed, rule, tmp_path):
    made = clear_set(seed)
    found = ta.find_chimeras({name: text for name, text, _ in made}, rule=rule)
    ours, theirs = lines(found, tmp_path), as_vsearch(tmp_path, [f"--{rule}_denovo", "X"], made)
    assert [line.split("\t")[-1] for line in ours] == [line.split("\t")[-1] for line in theirs]
    assert ours == theirs


@needs_vsearch
@pytest.mark.parametrize("seed", range(8))
def test_by_reference_as_vsearch(seed, tmp_path):
    made = clear_set(seed)
    references = [(f"r{k}", text) for k, (_, text, _) in enumerate(made[:4])]
    found = ta.find_chimeras({name: text for name, text, _ in made}, dict(references))
    assert lines(found, tmp_path) == as_vsearch(tmp_path, ["--uchime_ref", "X", "--db", "DB"], made, references)


@needs_vsearch
def test_weights_as_vsearch(tmp_path):
    made = clear_set(0)
    found = ta.find_chimeras(
        {name: text for name, text, _ in made}, xn=4, dn=2, minh=0.5, mindiv=3, mindiffs=6, abskew=30
    )
    words = "--uchime_denovo X --xn 4 --dn 2 --minh 0.5 --mindiv 3 --mindiffs 6 --abskew 30".split()
    assert lines(found, tmp_path) == as_vsearch(tmp_path, words, made)


@pytest.mark.parametrize(
    ("given", "how", "error", "sentence"),
    [
        ({"a": "ACGT", "b": "AGGT"}, {}, InputError, "no name has an abundance such as ;size=12"),
        ({"a;size=2": "ACGT", "b": "AGGT"}, {}, InputError, "record 'b': the name has no abundance"),
        ({"a;size=0": "ACGT", "b;size=1": "AGGT"}, {}, InputError, "its ;size= count is 0"),
        (
            {"a;size=2": "MKVLAWPEHH"},
            {"alphabet": "protein"},
            InputError,
            "the sequences were read as protein, but chimeras",
        ),
        (
            {"a": "ACGT"},
            {"references": {"p": "MKVLAWHEAGAW"}},
            InputError,
            "the references were read as protein, but chimeras",
        ),
        (
            {"a": "ACGT"},
            {"references": {"p": "ACGT"}, "rule": "uchime2"},
            UsageError,
            "rule uchime2 takes no references",
        ),
        (
            {"a": "ACGT"},
            {"references": {"p": "ACGT"}, "abskew": 3},
            UsageError,
            "abskew compares abundances, and references",
        ),
        ({"a": "ACGT"}, {"references": {}}, InputError, "there is no sequence"),
        (
            {"a;size=2": "ACGT"},
            {"rule": "uchime4"},
            UsageError,
            "rule 'uchime4' is not one of uchime, uchime2, uchime3",
        ),
        ({"a;size=2": "ACGT"}, {"abskew": 0.5}, UsageError, "abskew 0.5 is below 1: parents are"),
        ({"a;size=2": "ACGT"}, {"xn": 0}, UsageError, "xn 0 is not a number from 1e-06 to 1e"),
        ({"a;size=2": "ACGT"}, {"minh": -1}, UsageError, "minh -1 is not a number from 0 to 1e[+]09"),
        ({"a;size=2": "ACGT"}, {"dn": 1e308}, UsageError, "dn 1e[+]308 is not a number from 1e-06 to 1e"),
        ({"a;size=2": "ACGT"}, {"mindiffs": 0}, UsageError, "mindiffs 0 is out of range"),
    ],
)
def test_what_is_refused(given, how, error, sentence):
    with pytest.raises(error, match=sentence):
        ta.find_chimeras(given, **how)


def test_votes_of_given_columns():
    """Columns of gaps and beside them, and of ambiguous letters, do not count; the first of equal splits is taken."""
    codes = {letter: k for k, letter in enumerate("ACGTRYSWKMBDHVN")} | {"-": -1}
    query, a, b = (
        np.array([codes[letter] for letter in text], np.int16) for text in ("ACGTNCGTAC", "ACGTACC-AC", "GCGTACGTAC")
    )
    inserted = np.zeros(11, bool)
    is_ambiguous = np.arange(15) > 3
    counts = counted_columns(query, (a, b), inserted, is_ambiguous)
    assert counts.tolist() == [True] * 4 + [False, True, False, False, False, True]
    assert explained(query, a, b, counts, ChimeraRules()) is None  # one vote, for a, and none behind it
    inserted[2] = True
    assert counted_columns(query, (a, b), inserted, is_ambiguous).tolist()[:4] == [True, False, False, True]


def test_references_without_words_in_common_are_no_parents():
    """What matches here and there is far away, however many of its letters match."""
    letters = np.arange(256)
    near, scattered, joined_at_its_end = letters >= 0, letters % 8 != 0, letters >= 256 - 19
    assert proposed(np.stack([near, scattered])).tolist() == [0]
    assert parents(np.stack([near, scattered])) is None
    assert proposed(np.stack([scattered, near, joined_at_its_end])).tolist() == [1, 2]
    assert proposed(np.stack([scattered, near, letters >= 256 - 18])).tolist() == [1]  # eleven words


def test_a_skew_beyond_all_sizes_leaves_no_parents():
    a = "ACGTTGCAAGCTTAGGCATC" * 6
    b = a.replace("TTAGG", "TCAGC")
    sequences = {"a;size=9": a, "b;size=8": b, "c;size=2": a[:60] + b[60:]}
    assert ta.find_chimeras(sequences, abskew=10**9).verdicts == ("N", "N", "N")
