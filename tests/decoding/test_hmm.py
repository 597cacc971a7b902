"""The class HMM: what it takes and refuses, training, files, hmmlearn."""

import copy
import io
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from oracles import hmm_sums

import tropalign as ta
from tropalign.cli.main import main
from tropalign.decoding.model_base import PARTS
from tropalign.errors import InputError, UsageError

COIN = {"start": [0.5, 0.5], "transition": [[0.9, 0.1], [0.2, 0.8]], "emission": [[0.8, 0.2], [0.3, 0.7]]}


def coin(**changes):
    return ta.HMM(**{**COIN, "symbols": "HT", **changes})


def rows(numbers):
    return numbers / numbers.sum(axis=-1, keepdims=True)


def random_model(n_states, n_symbols, seed=0, **words):
    random = np.random.default_rng(seed)
    parts = [rows(random.random(shape)) for shape in (n_states, (n_states, n_states), (n_states, n_symbols))]
    return ta.HMM(*parts, **words)


REFUSED = {
    "a row that does not sum to 1": (
        {"transition": [[0.9, 0.1], [0.2, 0.7]]},
        r"row 1 \(1\) of transition sums to 0.9",
    ),
    "a negative probability": (
        {"emission": [[1.2, -0.2], [0.5, 0.5]]},
        r"row 0 \(0\) of emission has -0.2 in column 1",
    ),
    "no number": ({"start": [np.nan, 1]}, "start has nan in column 0"),
    "words": ({"start": ["a", "b"]}, "start is not an array of numbers"),
    "ragged rows": ({"transition": [[1], [0.5, 0.5]]}, "transition is not an array of numbers"),
    "another shape": ({"transition": [[0.5, 0.5]]}, "transition has the shape 1 x 2 instead of 2 x 2"),
    "emission of another number of states": ({"emission": [[0.5, 0.5]]}, "emission has the shape 1 x 2 instead of 2 x"),
    "start that is a table": ({"start": [[0.5, 0.5]]}, "start has the shape 1 x 2"),
    "no states": ({"start": []}, "start has the shape 0"),
    "too few symbols": ({"symbols": "H"}, "1 symbols and 2 columns"),
    "a symbol twice": ({"symbols": "HH"}, "occurs twice"),
    "a symbol that is missing": ({"missing": "H"}, "occurs twice"),
    "a symbol of two letters": ({"symbols": ("H", "TT")}, "not a printable ASCII character"),
    "equal names": ({"state_names": ("a", "a")}, "two states have the same name"),
    "too few names": ({"state_names": ("a",)}, "state_names has 1 values for 2 states"),
    "a label of none": ({"labels": ("a", "")}, "labels has 2 values for 2 states: give a non-empty string per state"),
    "a report of no label": ({"report": ("x",)}, "report names 'x'"),
    "a report that is a number": ({"report": 5}, "report is of type int: give a list of strings"),
    "symbols that are a number": ({"symbols": 5}, "symbols is of type int: give a list of strings"),
    "labels that are a number": ({"labels": 5}, "labels is of type int: give a list of strings"),
    "missing that is a number": ({"missing": 5}, "missing is of type int: give a string of letters"),
    "complex numbers": ({"start": np.array([0.5 + 1j, 0.5])}, "start is not an array of numbers"),
    "a masked array": ({"start": np.ma.array([0.5, 0.5], mask=[0, 1])}, "start is not an array of numbers"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_models_that_are_refused(case):
    changes, text = REFUSED[case]
    with pytest.raises(InputError, match=text):
        coin(**changes)


@pytest.mark.parametrize(
    ("observations", "text"),
    [
        ("HTX", "'X' at position 3 is not a symbol"),
        (["HT", "HXT"], "record 'number 2': 'X' at position 2"),
        (np.array([0, 2]), "code 2 at position 1 is outside 0 to 1"),
        (np.array([0, -2]), "code -2 at position 1"),
        ([np.zeros(3, np.uint8), np.array([0, 2], np.uint8)], "record 'number 2': code 2 at position 1 is outside"),
        ([np.zeros(3, np.uint8), np.zeros((2, 2))], "some sequences are codes and others frames"),
        (np.zeros((3, 3)), "frames have 3 columns, but the model has 2 states"),
        (np.full((3, 2), np.nan), "the score nan of position 0 in state 0"),
        (np.full((3, 2), np.inf), "the score inf of position 0"),
        (np.array([0.5, 1.0]), "an array of float64 of shape"),
        (5, "an object of type int holds no observations"),
        (None, "an object of type NoneType holds no observations"),
        ([None], "holds no observations"),
        (np.ma.array([0, 1], mask=[True, False]), "observations are a masked array: give code -1 for missing ones"),
        (["HT", np.zeros((2, 2))], "some sequences are codes and others frames"),
    ],
)
def test_observations_that_are_refused(observations, text):
    model = coin()
    for call in (model.forward, model.viterbi, model.posterior, model.fit):
        with pytest.raises(InputError, match=text):
            call(observations)


@pytest.mark.parametrize("letter", ["é", "€", "\N{GREEK CAPITAL LETTER TAU}", "\udc80", "\N{DNA DOUBLE HELIX}"])
def test_letters_beyond_a_byte_are_no_question_marks(letter):
    model = coin(missing="?")
    with pytest.raises(InputError, match="at position 3 is not a symbol"):
        model.viterbi(f"HT{letter}H")
    with pytest.raises(InputError, match="record 'x': a non-ASCII letter at position 3 is not a symbol"):
        ta.decode(model, {"x": f"HT{letter}H"})


def test_forms_of_observations():
    model = coin(missing="N?")
    want = model.forward("HHTN")
    for given in (
        b"HHTN",
        "hht?",
        np.array([0, 0, 1, -1]),
        [0, 0, 1, -1],
        (0, 0, 1, -1),
        np.array([0, 0, 1, -1], np.int8),
    ):
        assert model.forward(given) == want
    assert ta.HMM.load("cpg").forward("ACGUu") == ta.HMM.load("cpg").forward("ACGTT")
    frames = np.log(np.array([[0.8, 0.3], [0.8, 0.3], [0.2, 0.7], [1, 1]]))
    assert model.forward(frames) == pytest.approx(want, rel=1e-14)
    assert model.forward(np.asfortranarray(frames.astype(np.float32))) == pytest.approx(want, rel=1e-6)
    assert model.forward(["HHTN", b"HHTN"]).tolist() == [want, want]
    assert model.forward({"a": "HHTN"}).tolist() == [want]
    assert model.forward([]).tolist() == []
    assert model.forward("") == 0 and model.posterior("").shape == (0, 2)
    assert model.forward([[0, 0, 1], [1]]).shape == (2,)


def test_a_model_does_not_change():
    start = np.array([0.5, 0.5])
    model = coin(start=start)
    start[0] = 7
    assert model.start.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        model.transition[0, 0] = 1
    with pytest.raises(AttributeError, match="models are immutable"):
        model.start = start
    assert pickle.loads(pickle.dumps(model)) == copy.deepcopy(model) == model
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        with pytest.raises(ValueError, match="read-only"):
            other.emission[0, 0] = 1


def test_impossible_observations():
    model = coin(emission=[[1, 0], [1, 0]])
    assert model.forward("HTH") == -np.inf
    assert model.viterbi("HTH")[1] == -np.inf
    assert (model.posterior("HTH") == 0).all()
    with pytest.raises(InputError, match="record 'number 2': the model cannot generate this sequence") as caught:
        model.fit(["HH", "HTH"])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.number) == (str(caught.value), 1)


@pytest.mark.parametrize("n_symbols", [254, 255, 300])
def test_many_symbols(n_symbols):
    model = random_model(3, n_symbols)
    codes = np.random.default_rng(1).integers(0, n_symbols, 50)
    frames = np.log(model.emission.T[codes])
    assert model.forward(codes) == pytest.approx(model.forward(frames), rel=1e-12)
    assert model.fit([codes], n_rounds=2).emission.shape == (3, n_symbols)


def test_training_goes_uphill_and_keeps_what_is_fixed():
    model = coin()
    random = np.random.default_rng(2)
    sequences = [random.integers(0, 2, n) for n in (100, 1, 50)]
    trained = model.fit(sequences, n_rounds=20, tolerance=0)
    assert len(trained.history) == 21 and (np.diff(trained.history) > -1e-9).all()
    assert model.history == () and trained.forward(sequences).sum() == pytest.approx(trained.history[-1])
    kept = model.fit(sequences, n_rounds=2, fixed=("emission", "start"))
    assert (kept.emission == model.emission).all() and (kept.start == model.start).all()
    assert (kept.transition != model.transition).any()
    assert model.fit(sequences, n_rounds=0) == model
    assert (
        model.fit(sequences, tolerance=1e9).history[1:] != () and len(model.fit(sequences, tolerance=1e9).history) == 2
    )


def trained_by_hand(start, transition, emission, sequences, pseudocount, fixed):
    """A round of Baum and Welch in fractions (Rabiner 1989, III.C); None is a symbol that is missing."""
    states = range(len(start))
    counts = [[0] * len(start)], [[0] * len(start) for _ in states], [[0] * len(emission[0]) for _ in states]
    for codes in sequences:
        seen = [[1.0 if code is None else emission[s][code] for s in states] for code in codes]
        steps = hmm_sums.transitions(start, transition, seen)
        for t, row in enumerate(hmm_sums.posteriors(start, transition, seen)):
            for s in states:
                counts[0][0][s] += row[s] if t == 0 else 0
                if codes[t] is not None:
                    counts[2][s][codes[t]] += row[s]
        for r in states:
            for s in states:
                counts[1][r][s] += steps[r][s]
    parts = []
    for name, part, expected in zip(PARTS, ([start], transition, emission), counts, strict=True):
        rows = []
        for before, row in zip(part, expected, strict=True):
            row = [n + Fraction(pseudocount) if p > 0 else 0 for n, p in zip(row, before, strict=True)]
            rows.append([float(n / sum(row)) for n in row] if sum(row) and name not in fixed else list(before))
        parts.append(rows)
    return parts[0][0], parts[1], parts[2]


@pytest.mark.parametrize("fixed", [(), ("start",), ("transition", "emission")])
@pytest.mark.parametrize("pseudocount", [0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_training_is_that_of_baum_and_welch(seed, pseudocount, fixed, tmp_path):
    """In Python and from the command line: zeros, missing letters, several sequences, some of one letter."""
    random = np.random.default_rng(seed)
    n_states = int(random.integers(1, 4))
    tables = [random.random(shape) + 0.1 for shape in ((1, n_states), (n_states, n_states), (n_states, 3))]
    if n_states > 1:
        tables[1][0, -1] = tables[2][1, 0] = 0  # as impossible as they stay
    start, transition, emission = (rows(table).tolist() for table in tables)
    model = ta.HMM(start[0], transition, emission, symbols="abc", missing="N")
    texts = ["".join(random.choice(list("abcN"), n, p=[0.3, 0.3, 0.3, 0.1])) for n in (12, 1, 7)]
    sequences = [[None if letter == "N" else "abc".index(letter) for letter in text] for text in texts]
    model.save(tmp_path / "model.toml")
    (tmp_path / "x.fa").write_text("".join(f">{k}\n{text}\n" for k, text in enumerate(texts)))
    words = ["--fit", "--rounds", "2", "--tolerance", "0", "--pseudocount", str(pseudocount)]
    words += [word for part in fixed for word in ("--fix", part)]
    files = ["--model", tmp_path / "model.toml", tmp_path / "x.fa", "--model-out", tmp_path / "out.toml"]
    assert main(["decode", *map(str, files), *words, "-q", "-o", str(tmp_path / "out.tsv")]) == 0
    trained = model.fit(texts, n_rounds=2, tolerance=0, pseudocount=pseudocount, fixed=fixed)
    assert ta.HMM.load(tmp_path / "out.toml") == trained
    n_rounds = len(trained.history) - 1
    assert n_rounds == 2 or trained.history[-1] < trained.history[-2]  # counts that are added may cost likelihood
    parts = start[0], transition, emission
    for _ in range(n_rounds):
        parts = trained_by_hand(*parts, sequences, pseudocount, fixed)
    for name, expected in zip(PARTS, parts, strict=True):
        np.testing.assert_allclose(getattr(trained, name), expected, rtol=1e-9, atol=1e-14)


def test_missing_observations_and_pseudocounts():
    model = coin(missing="N")
    assert (model.fit(["NNNN"], n_rounds=1).emission == model.emission).all()
    one = model.fit(["HHTHNT"], n_rounds=1)
    posterior = model.posterior("HHTHNT")
    counts = np.stack([posterior[[0, 1, 3]].sum(axis=0), posterior[[2, 5]].sum(axis=0)], axis=1)
    np.testing.assert_allclose(one.emission, rows(counts), rtol=1e-12)
    model = coin(transition=[[0.9, 0.1], [0, 1]])
    trained = model.fit(["HHHH"], n_rounds=1, pseudocount=1)
    assert trained.transition[1, 0] == 0 and (trained.emission > 0).all()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_rounds": -1}, "n_rounds"), ({"n_rounds": 1.5}, "n_rounds"), ({"tolerance": -1}, "tolerance"),
        ({"pseudocount": 1e308}, "not a number from 0 to 1e.300"),
        ({"pseudocount": float("nan")}, "pseudocount"), ({"fixed": ("x",)}, "'x' is not a part"),
        ({"n_threads": -1}, "n_threads"), ({"fixed": 5}, "fixed is of type int: give a list of start, transition"),
    ],
)  # fmt: skip
def test_options_of_training_that_are_refused(options, text):
    with pytest.raises(UsageError, match=text):
        coin().fit(["HT"], **options)
    with pytest.raises(InputError, match="there are no training sequences"):
        coin().fit([])


def test_samples_follow_the_model():
    model = coin()
    codes, states = model.sample(20000, seed=3)
    assert (model.sample(20000, seed=3)[0] == codes).all()
    assert np.mean(states[1:][states[:-1] == 0]) == pytest.approx(0.1, abs=0.02)
    assert np.mean(codes[states == 1]) == pytest.approx(0.7, abs=0.02)
    assert model.sample(0)[0].shape == (0,)
    with pytest.raises(UsageError):
        model.sample(-1)
    with pytest.raises(InputError, match="it cannot be sampled"):
        ta.HMM([1], [[1]]).sample(3)


def test_files_keep_everything(tmp_path):
    model = random_model(
        4, 3, symbols="AB\"", missing="\\N", state_names=("a", "b c", 'd"', "\u00e9"), labels=("x", "x", "y", "y"),
        name="name\n", description="\x01", report=("y",),
    )  # fmt: skip
    for suffix in ("", ".gz"):
        model.save(tmp_path / f"model.toml{suffix}")
        assert ta.HMM.load(tmp_path / f"model.toml{suffix}") == model
    stream = io.BytesIO()
    model.save(stream)
    stream.seek(0)
    assert ta.HMM.load(stream) == model
    frames = ta.HMM([1, 0], [[0.5, 0.5], [0, 1]])
    frames.save(tmp_path / "frames.toml")
    assert ta.HMM.load(tmp_path / "frames.toml") == frames
    with pytest.raises(InputError, match="symbols of the model are not letters"):
        random_model(2, 3).save(tmp_path / "x.toml")
    with pytest.raises(InputError, match="is not a file name"):
        model.save(tmp_path)


GOOD = 'format = "tropalign hmm 1"\nsymbols = "HT"\n[[states]]\nname = "a"\nstart = 1\n'
ROW = "emission = { H = 0.5, T = 0.5 }\ntransition = { a = 1 }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("x = ", "this is not TOML"),
        ("x = 1", 'the file does not start with format = "tropalign hmm 1"'),
        ('format = "tropalign hmm 1"', "there are no states"),
        (GOOD + ROW + "colour = 1", "state 1 has an unknown field 'colour'"),
        (GOOD.replace("[[", "kind = 1\n[[") + ROW, "the model has an unknown field 'kind'"),
        (GOOD + "transition = { a = 1 }", "emission of state a is missing"),
        (GOOD + ROW.replace("a = 1", "b = 1"), "transition of state a names 'b', which is not a state"),
        (GOOD + ROW.replace("H = ", "X = "), "emission of state a names 'X', which is not a symbol"),
        (GOOD + ROW.replace("H = 0.5", "H = 0.4"), r"row 0 \(a\) of emission sums to 0.9"),
        (GOOD + ROW.replace("H = 0.5", 'H = "0.5"'), "emission of state a for H is not a number"),
        (GOOD.replace('symbols = "HT"', "") + ROW, "there are no symbols"),
        (GOOD.replace('name = "a"', "name = 5") + ROW, "state 1 has no name"),
        (GOOD.replace("[[", "report = 5\n[[") + ROW, "report is of type int: give a list of strings"),
        (GOOD.replace("= 1\n", f"= 1{400 * '0'}\n") + ROW, "start has inf in column 0"),
        (GOOD.replace("= 1\n", f"= 1{5000 * '0'}\n") + ROW, "this is not TOML"),
        (f"x = {3000 * '['}", "this is not TOML"),
        (GOOD + ROW + '[[states]]\nname = "a"\n' + ROW, "two states have the same name"),
    ],
)
def test_files_that_are_refused(tmp_path, text, message):
    path = tmp_path / "model.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        ta.HMM.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_model_by_name():
    assert ta.HMM.load("cpg").all_labels == ("island", "background")
    with pytest.raises(
        InputError, match="nothing: there is neither a model nor a file of this name: choose one of cpg"
    ):
        ta.HMM.load("nothing")


hmm = pytest.importorskip("hmmlearn.hmm", reason="hmmlearn is not installed")


def categorical(n_states, n_symbols=4, seed=0, **options):
    model = random_model(n_states, n_symbols, seed)
    made = hmm.CategoricalHMM(n_states, init_params="", **options)
    made.startprob_, made.transmat_, made.emissionprob_ = model.start, model.transition, model.emission
    made.n_features = n_symbols
    return made


@pytest.mark.parametrize("n_states", [1, 2, 3, 8, 20, 64, 300])
def test_hmmlearn_finds_the_same(n_states):
    theirs = categorical(n_states)
    ours = ta.HMM.from_hmmlearn(theirs)
    random = np.random.default_rng(4)
    sequences = [random.integers(0, 4, n) for n in (80, 1, 40)]
    for codes in sequences:
        assert ours.forward(codes) == pytest.approx(theirs.score(codes[:, None]), rel=1e-9)
        np.testing.assert_allclose(ours.posterior(codes), theirs.predict_proba(codes[:, None]), rtol=1e-7, atol=1e-12)
        assert ours.viterbi(codes)[1] == pytest.approx(theirs.decode(codes[:, None])[0], rel=1e-9)
    joined = np.concatenate(sequences)[:, None]
    assert ours.forward(sequences).sum() == pytest.approx(theirs.score(joined, [80, 1, 40]), rel=1e-9)


def test_hmmlearn_learns_the_same():
    theirs = categorical(5, n_iter=10, tol=-1)
    random = np.random.default_rng(5)
    sequences = [random.integers(0, 4, n) for n in (80, 30, 40)]
    ours = ta.HMM.from_hmmlearn(theirs).fit(sequences, n_rounds=10, tolerance=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(np.concatenate(sequences)[:, None], [80, 30, 40])
    for name, numbers in (
        ("start", theirs.startprob_),
        ("transition", theirs.transmat_),
        ("emission", theirs.emissionprob_),
    ):
        np.testing.assert_allclose(getattr(ours, name), numbers, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("covariance", ["spherical", "diag", "full", "tied"])
def test_gaussian_models_of_hmmlearn(covariance):
    theirs = hmm.GaussianHMM(3, covariance, random_state=1)
    seen = np.random.default_rng(6).normal(size=(200, 2)) + np.repeat([[0], [4], [9], [1]], 50, axis=0)
    theirs.fit(seen)
    ours = ta.HMM.from_hmmlearn(theirs)
    assert ours.forward(ours.frames(seen)) == pytest.approx(theirs.score(seen), rel=1e-9)
    assert ours.viterbi(ours.frames(seen))[1] == pytest.approx(theirs.decode(seen)[0], rel=1e-9)


@pytest.mark.parametrize(
    ("theirs", "text"),
    [(5, "not a model of hmmlearn"), (hmm.GaussianHMM(2), "has no startprob_ yet"), (hmm.CategoricalHMM(2), "yet")],
)
def test_models_of_hmmlearn_that_are_refused(theirs, text):
    with pytest.raises(InputError, match=text):
        ta.HMM.from_hmmlearn(theirs)
    with pytest.raises(InputError, match="no function that computes frames"):
        coin().frames([1])
