"""Masks: against plain Python, and against segmasker, dustmasker and tantan on whole sets."""

import ast
import gzip
import os
import shutil
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from clone import ROOT
from oracles import masks as oracle

import tropalign as ta
from tropalign import _native
from tropalign.errors import InputError, UsageError
from tropalign.pairwise.masking import DUST, LAMBDA, METHODS, PERIODS, SEG, _ratios, masked
from tropalign.pairwise.options import MethodName

AMINO_ACIDS = ta.PROTEIN.states
#: blastp's own, within composition-based statistics.
SEG_OF_STATISTICS = (10, 1.8, 2.1)


def poor(random, letters, n, longest, others="", least=1):
    """Sequences with parts of few letters, with repeats, and now and then with another letter."""
    texts = []
    for _ in range(n):
        text = ""
        length = int(random.integers(least, longest))
        while len(text) < length:
            size, kind = int(random.integers(1, 40)), random.integers(3)
            if kind == 0:
                text += "".join(random.choice(list(letters), size))
            elif kind == 1:
                text += "".join(random.choice(list(letters), size, p=random.dirichlet(np.full(len(letters), 0.05))))
            else:
                unit = "".join(random.choice(list(letters), int(random.integers(1, 8))))
                text += unit * int(random.integers(2, 8))
            if others and random.random() < 0.3:
                text += str(random.choice(list(others))) * int(random.integers(1, 4))
        texts.append(text[:length])
    return texts


def parts_of(bounds, first):
    return [[tuple(part) for part in bounds[a:b].tolist()] for a, b in pairwise(first.tolist())]


def seg(batch, window, low, high, n_threads=2):
    return parts_of(*_native.mask_seg(batch.codes, batch.offsets, window, low, high, n_threads))


def dust(batch, window=DUST[0], level=DUST[1], n_threads=2):
    return parts_of(*_native.mask_dust(batch.codes, batch.offsets, window, level, n_threads))


def masks_of(batch, method):
    return [[tuple(part) for part in parts.tolist()] for parts in ta.mask(batch, method)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rule", [SEG, SEG_OF_STATISTICS, (5, 1.0, 1.5), (1, 0.0, 0.0)])
def test_seg_is_that_of_plain_python(seed, rule):
    texts = poor(np.random.default_rng(seed), AMINO_ACIDS, 12, 150, "XB*")
    found = seg(ta.SequenceBatch.from_strings(texts, alphabet="protein"), *rule)
    assert found == [oracle.union(oracle.seg(text, *rule)) for text in texts]
    assert sum(map(len, found)) > 10


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rule", [DUST, (20, 20), (64, 10), (4, 1)])
def test_dust_is_that_of_plain_python(seed, rule):
    texts = poor(np.random.default_rng(seed), "ACGT", 8, 250, "NR")
    found = dust(ta.SequenceBatch.from_strings(texts, alphabet="nucleotide"), *rule)
    assert found == [oracle.dust(text, *rule) for text in texts]
    assert sum(map(len, found)) > 5


@pytest.mark.parametrize("isa", _native.supported_isas())
@pytest.mark.parametrize(("alphabet", "others"), [("protein", "XB*"), ("nucleotide", "NR")])
def test_tantan_is_that_of_plain_python(alphabet, others, isa, in_isa):
    random = np.random.default_rng(5)
    known = ta.PROTEIN if alphabet == "protein" else ta.NUCLEOTIDE
    texts = poor(random, known.states, 12, 120, others)
    ratios = _ratios(known)

    def ratio(x, y):
        return ratios[known.code(y), known.code(x)]

    chances = [oracle.tantan(text, ratio, PERIODS[known]) for text in texts]
    assert not any(abs(chance - 0.5) < 1e-9 for of in chances for chance in of)
    wanted = [oracle.union([(k, k + 1) for k, chance in enumerate(of) if chance >= 0.5]) for of in chances]
    assert in_isa(isa, texts, alphabet) == wanted
    assert sum(map(len, wanted)) > 5


@pytest.fixture
def in_isa():
    """Masks by tantan in a process of that instruction set."""

    def run(isa, texts, alphabet):
        code = (
            "import sys, tropalign\n"
            "batch = tropalign.SequenceBatch.from_strings(sys.argv[2:], alphabet=sys.argv[1])\n"
            "print([[tuple(part) for part in parts.tolist()] for parts in tropalign.mask(batch, 'tantan')])"
        )
        environment = {**os.environ, "TROPALIGN_ISA": isa}
        command = [sys.executable, "-c", code, alphabet, *texts]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
        return ast.literal_eval(done.stdout)

    return run


def test_tantan_scores_by_the_lambda_of_the_matrix():
    """By which the ratios of the matrix are those of some frequencies of letters: the inverse of it sums to 1."""
    scores = ta.SubstitutionMatrix.from_name("BLOSUM62").scores[:20, :20]
    assert np.linalg.inv(np.exp(LAMBDA[ta.PROTEIN] * scores)).sum() == pytest.approx(1, abs=1e-9)
    letters = 2 * np.eye(4) - 1
    assert np.linalg.inv(np.exp(LAMBDA[ta.NUCLEOTIDE] * letters)).sum() == pytest.approx(1, abs=1e-9)


def test_lower_case_is_that_of_the_file():
    batch = ta.SequenceBatch.from_strings(["mkVLaw", "avl", "MKV", "mKv"], alphabet="protein")
    assert masks_of(batch, "lower") == [[(0, 2), (4, 6)], [(0, 3)], [], [(0, 1), (2, 3)]]


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_neighbours_change_nothing(method):
    random = np.random.default_rng(9)
    alphabet = METHODS[method].alphabets[0]
    texts = [text.lower() if k % 3 else text for k, text in enumerate(poor(random, alphabet.states, 40, 300, least=4))]
    batch = ta.SequenceBatch.from_strings(texts, alphabet=alphabet)
    wanted = [parts.tolist() for parts in ta.mask(batch, method, n_threads=1)]
    assert [parts.tolist() for parts in ta.mask(batch, method, n_threads=3)] == wanted
    alone = [ta.mask(ta.SequenceBatch.from_strings([text], alphabet=alphabet), method) for text in texts]
    assert [of[0].tolist() for of in alone] == wanted


@pytest.mark.parametrize(("method", "letters"), [("seg", AMINO_ACIDS), ("dust", "ACGT"), ("tantan", "ACGT")])
def test_masked_letters_are_unknown(method, letters):
    alphabet = "protein" if method == "seg" else "nucleotide"
    texts = poor(np.random.default_rng(3), letters, 10, 200, least=10)
    batch = ta.SequenceBatch.from_strings(texts, alphabet=alphabet)
    made = masked(batch, method, 1)
    for k, parts in enumerate(ta.mask(batch, method)):
        wanted = list(texts[k])
        for begin, end in parts.tolist():
            wanted[begin:end] = batch.alphabet.wildcard * (end - begin)
        assert made.text(k) == "".join(wanted)
    assert made.names == batch.names and made.fingerprint() != batch.fingerprint()
    np.testing.assert_array_equal(made.codes, batch.alphabet.encode(made.letters)[0])


def test_no_sequence_has_no_mask():
    empty = ta.SequenceBatch.from_strings(["MKV"])[[]]
    assert [ta.mask(empty, method) for method in ("seg", "tantan", "lower")] == [[], [], []]


def test_what_is_refused():
    with pytest.raises(InputError, match="mask dust is for nucleotides, but these are proteins: choose seg, tantan, l"):
        ta.mask(["MKVLAWMKVLAW"], "dust")
    with pytest.raises(InputError, match="mask seg is for proteins, but these are nucleotides: choose dust, tantan, l"):
        ta.mask(["ACGTACGTACGTA"], "seg")
    with pytest.raises(UsageError, match="mask 'sag' is not one of seg, dust, tantan, lower"):
        ta.mask(["MKVLAWMKVLAW"], "sag")
    with pytest.raises(InputError, match="the batch contains only names and lengths"):
        ta.mask(ta.SequenceBatch.without_residues(["a"], [6], ta.PROTEIN), "seg")


def test_methods_are_those_that_are_named():
    assert tuple(METHODS) == MethodName.__args__


def fasta(path):
    """Names and letters of a file."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as lines:
        records = [part.split("\n", 1) for part in lines.read().split(">")[1:]]
    return {name.split()[0]: letters.replace("\n", "") for name, letters in records}


#: Sets by alphabet, of the clone or beside the tests.
SETS = {
    "protein": ["examples/efp.fasta", "tests/data/proteins.fasta", "bench/data/pairs/proteins_30-3000.fasta.gz"],
    "nucleotide": [
        "examples/cpgislands.fa",
        "examples/amplicons.fasta",
        "tests/data/place_reads.fasta",
        "bench/data/pairs/dna_amplicons.fasta.gz",
    ],
}
BOTH = [(alphabet, name) for alphabet, names in SETS.items() for name in names]


def sequences_of(alphabet, name):
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} is in a clone only, not beside an installed package")
    return ta.SequenceBatch.from_strings({n: text.upper() for n, text in fasta(path).items()}, alphabet=alphabet)


def intervals_by(program, batch, folder, *words):
    """Per sequence what NCBI's masker finds."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (ncbi-blast+)")
    path = folder / "in.fa"
    path.write_text("".join(f">s{k}\n{batch.text(k)}\n" for k in range(len(batch))))
    command = [program, "-in", str(path), "-outfmt", "interval", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found = []
    for line in done.stdout.splitlines():
        if line.startswith(">"):
            found.append([])
        else:
            first, last = map(int, line.split(" - "))
            found[-1].append((first, last + 1))
    return found


@pytest.mark.parametrize("rule", [SEG, SEG_OF_STATISTICS])
@pytest.mark.parametrize("name", SETS["protein"])
def test_segmasker_says_the_same(name, rule, tmp_path):
    batch = sequences_of("protein", name)
    words = [word for flag, value in zip(("-window", "-locut", "-hicut"), rule, strict=True) for word in (flag, value)]
    found = intervals_by("segmasker", batch, tmp_path, *map(str, words))
    assert seg(batch, *rule) == [oracle.union(parts) for parts in found]


@pytest.mark.parametrize("pair", ["AADSEEESDEENE", "SPNHNHNPNNFN"])
def test_of_parts_as_probable_segmasker_takes_the_same(pair, tmp_path):
    """Five, two, two and two of four residues are as probable as six, two, two and one."""
    batch = ta.SequenceBatch.from_strings([f"KTELLVEHTVVPLKR{pair}MHLVKW", f"HLLTKKRVDLNQIFS{pair}MAW"])
    rule = SEG_OF_STATISTICS
    assert seg(batch, *rule) == [oracle.seg(batch.text(k), *rule) for k in range(2)]
    found = intervals_by("segmasker", batch, tmp_path, "-window", "10", "-locut", "1.8", "-hicut", "2.1")
    assert seg(batch, *rule) == found and found[0]


@pytest.mark.parametrize("name", SETS["nucleotide"])
def test_dustmasker_says_the_same(name, tmp_path):
    batch = sequences_of("nucleotide", name)
    assert (batch.codes < 4).all()  # it takes other letters as A
    assert dust(batch) == intervals_by("dustmasker", batch, tmp_path)


@pytest.mark.parametrize(("alphabet", "name"), BOTH)
def test_tantan_says_the_same(alphabet, name, tmp_path):
    if shutil.which("tantan") is None:
        pytest.skip("tantan is not installed")
    batch = sequences_of(alphabet, name)
    path = tmp_path / "in.fa"
    path.write_text("".join(f">s{k}\n{batch.text(k)}\n" for k in range(len(batch))))
    command = ["tantan", *(["-p"] if alphabet == "protein" else []), str(path)]
    path.with_suffix(".masked").write_text(
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    )
    their = ta.SequenceBatch.from_strings(fasta(path.with_suffix(".masked")), alphabet=alphabet)
    assert masks_of(batch, "tantan") == masks_of(their, "lower")


@pytest.mark.parametrize(("alphabet", "name"), BOTH)
def test_pytantan_says_the_same(alphabet, name):
    pytantan = pytest.importorskip("pytantan", reason="pytantan is not installed")
    batch = sequences_of(alphabet, name)
    batch = batch[batch_of_known(batch)]  # of others its matrix says something else than the program's
    their = [pytantan.mask_repeats(batch.text(k), protein=alphabet == "protein") for k in range(len(batch))]
    assert len(their) > 5
    assert masks_of(batch, "tantan") == masks_of(ta.SequenceBatch.from_strings(their, alphabet=alphabet), "lower")


def batch_of_known(batch):
    """The sequences of residues alone."""
    n_states = len(batch.alphabet.states)
    return [k for k in range(len(batch)) if (batch[[k]].codes < n_states).all()]


def test_segments_that_overlap_are_one():
    """SEG's segments may: the second one is sought behind the last window of the first, not behind its end."""
    for seed in range(200):
        texts = poor(np.random.default_rng(seed), AMINO_ACIDS, 6, 150)
        raw = [oracle.seg(text, *SEG) for text in texts]
        if any(a[1] > b[0] for parts in raw for a, b in pairwise(parts)):
            break
    else:
        pytest.fail("no segments overlap")
    batch = ta.SequenceBatch.from_strings(texts, alphabet="protein")
    parts = masks_of(batch, "seg")
    assert parts == [oracle.union(one) for one in raw]
    made = masked(batch, "seg", 1)
    is_masked = [[k for begin, end in one for k in range(begin, end)] for one in parts]
    assert [
        np.flatnonzero(made.codes[a:b] == ta.PROTEIN.code("X")).tolist() for a, b in pairwise(made.offsets.tolist())
    ] == is_masked
