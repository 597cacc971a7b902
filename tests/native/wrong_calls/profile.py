"""Wrong calls of native/bindings/profile_*.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

F32 = np.float32


def models():
    """ProfileModel."""
    valid = {
        "match": np.full((4, 20), 0.05, F32),
        "transitions": np.full((4, 7), 0.3, F32),
        "composition": np.full(20, 0.05, F32),
        "background": np.full(20, 0.05, F32),
        "evalue": np.array([-8, 0.7, -9, 0.7, -4, 0.7], F32),
        "consensus": b"acd",
    }
    yield "valid", _native.ProfileModel, valid, None, ""
    for name, wrong, text in [
        ("match", np.zeros((1, 20), F32), "not of 1 to 1000000 nodes"),
        ("match", np.zeros((0, 20), F32), "not of 1 to 1000000 nodes"),
        ("match", np.zeros((4, 19), F32), "not 20 residues"),
        ("match", with_value(valid["match"], (2, 3), -0.1), "no probability"),
        ("match", with_value(valid["match"], (2, 3), np.inf), "no probability"),
        ("match", with_value(valid["match"], (2, 3), 1e30), "no probability"),
        ("transitions", np.zeros((5, 7), F32), "not as many rows"),
        ("transitions", np.zeros((4, 8), F32), "not 7 per node"),
        ("transitions", with_value(valid["transitions"], (0, 0), np.nan), "no probability"),
        ("composition", np.zeros(21, F32), "not 20 residues"),
        ("composition", with_value(valid["composition"], 7, np.nan), "no probability"),
        ("background", np.zeros(20, F32), "a residue of less than"),
        ("background", np.zeros(29, F32), "not 20 residues"),
        ("evalue", np.zeros(5, F32), "not 6 numbers"),
        ("evalue", with_value(valid["evalue"], 5, np.nan), "not finite"),
        ("consensus", b"ac", "not a letter per node"),
    ]:
        yield f"{name} {text}", _native.ProfileModel, changed(valid, **{name: wrong}), ValueError, text
    for name in ("match", "transitions", "composition", "background", "evalue"):
        wrong = valid[name].astype(np.float64)
        yield f"{name} of doubles", _native.ProfileModel, changed(valid, **{name: wrong}), TypeError, ""
    yield "consensus as text", _native.ProfileModel, changed(valid, consensus="acd"), TypeError, ""
    yield "a text of bytes", _native.read_model, {"text": b"HMMER3/f\nNAME x\n"}, None, ""
    yield "a text that is none", _native.read_model, {"text": "HMMER3/f"}, TypeError, ""


def targets():
    """TargetBlock, and the targets that stages take."""
    valid = {"codes": np.arange(10, dtype=np.uint8), "offsets": np.array([0, 4, 10])}
    yield "valid", _native.TargetBlock, valid, None, ""
    long = {"codes": np.zeros(100_001, np.uint8), "offsets": np.array([0, 100_001])}
    yield "too long", _native.TargetBlock, long, ValueError, "longer than 100000"
    for name, wrong, error, text in [
        ("codes", np.full(10, 29, np.uint8), ValueError, "beyond the alphabet of 29"),
        ("codes", np.full(10, 255, np.uint8), ValueError, "beyond the alphabet of 29"),
        ("codes", np.zeros(10, np.int8), TypeError, ""),
        ("codes", np.zeros(20, np.uint8)[::2], TypeError, ""),
        ("offsets", np.array([0, 11]), ValueError, "beyond the data"),
        ("offsets", np.array([-1, 4]), ValueError, "beyond the data"),
        ("offsets", np.array([0, 5, 4]), ValueError, "descend"),
        ("offsets", np.zeros(0, np.int64), ValueError, "empty"),
        ("offsets", np.array([0, 4], np.int32), TypeError, ""),
    ]:
        yield f"{name} {text}", _native.TargetBlock, changed(valid, **{name: wrong}), error, text
    model = _native.ProfileModel(**next(models())[2])
    block = _native.TargetBlock(**valid)
    chosen = {"model": model, "block": block, "targets": np.array([0, 1], np.int32)}
    stages = (_native.msv_scores, _native.msv_filter, _native.bias_scores, _native.viterbi_scores)
    for stage in stages:
        good = chosen | ({"F1": 0.02} if stage is _native.msv_filter else {})
    more = {
        _native.msv_scores: {},
        _native.msv_filter: {"F1": 0.02},
        _native.bias_scores: {},
        _native.arranged_bias_scores: {"arrangement": 1},
        _native.viterbi_scores: {},
        _native.arranged_viterbi_scores: {"arrangement": 1},
    }
    for stage, other in more.items():
        good = chosen | other
        yield f"valid {stage.__name__}", stage, good, None, ""
        for name, wrong, error, text in [
            ("targets", np.array([0, 2], np.int32), ValueError, "outside of 0 to 1"),
            ("targets", np.array([-1], np.int32), ValueError, "outside of 0 to 1"),
            ("targets", np.array([0, 1]), TypeError, ""),
            ("targets", [0, 1], TypeError, ""),
            ("model", None, TypeError, ""),
            ("block", None, TypeError, ""),
        ]:
            yield f"{stage.__name__} {name} {text}", stage, changed(good, **{name: wrong}), error, text
    valid = chosen | {"F1": 0.02}
    for name, wrong, text in [
        ("targets", np.array([1, 0], np.int32), "not by ascending length"),
        ("F1", -0.1, "not a P-value"),
        ("F1", np.nan, "not a P-value"),
    ]:
        yield f"msv_filter {name} {wrong}", _native.msv_filter, changed(valid, **{name: wrong}), ValueError, text
    for stage, n in [
        (_native.arranged_bias_scores, _native.n_bias_arrangements()),
        (_native.arranged_viterbi_scores, _native.n_viterbi_arrangements()),
    ]:
        for wrong in (-1, n):
            yield f"{stage.__name__} {wrong}", stage, chosen | {"arrangement": wrong}, ValueError, "none of this number"
    for wrong in (0.0, -1.0, np.inf, np.nan, 1e-41):
        values = {"values": np.array([1, wrong], F32)}
        yield f"bias_logarithms {wrong}", _native.bias_logarithms, values, ValueError, "positive and normal"
    yield "doubles", _native.bias_logarithms, {"values": np.ones(2)}, TypeError, ""


def envelopes():
    """rescore_envelopes."""
    model = _native.ProfileModel(
        np.full((4, 20), 0.05, F32),
        np.full((4, 7), 0.3, F32),
        np.full(20, 0.05, F32),
        np.full(20, 0.05, F32),
        np.array([-8, 0.7, -9, 0.7, -4, 0.7], F32),
        b"acd",
    )
    block = _native.TargetBlock(np.arange(10, dtype=np.uint8), np.array([0, 4, 10]))
    valid = {"model": model, "block": block, "envelopes": np.array([[0, 0, 4], [1, 2, 3]], np.int32)}
    function = _native.rescore_envelopes
    yield "valid", function, valid, None, ""
    for at, value, text in [
        ((0, 0), -1, "not in the block"),
        ((0, 0), 2, "not in the block"),
        ((0, 1), -1, "reaches beyond"),
        ((0, 1), 4, "is empty"),
        ((0, 2), 5, "reaches beyond"),
        ((1, 2), 2**31 - 1, "reaches beyond"),
    ]:
        wrong = with_value(valid["envelopes"], at, value)
        yield f"{at} {value}", function, changed(valid, envelopes=wrong), ValueError, text
    wrong = np.zeros((2, 4), np.int32)
    yield "four columns", function, changed(valid, envelopes=wrong), ValueError, "not target, begin and end"
    wrong = valid["envelopes"].astype(np.int64)
    yield "envelopes of int64", function, changed(valid, envelopes=wrong), TypeError, ""
    yield "no model", function, changed(valid, model=None), TypeError, ""
    yield "no block", function, changed(valid, block=None), TypeError, ""


def domains():
    """find_regions, trace_segments, cluster_segments, find_domains."""
    three = np.zeros(3, F32)
    valid = {"begin": three, "end": three, "homology": three}
    yield "valid", _native.find_regions, valid, None, ""
    for name in valid:
        yield f"{name} longer", _native.find_regions, changed(valid, **{name: np.zeros(4, F32)}), ValueError, "length"
        yield f"{name} of doubles", _native.find_regions, changed(valid, **{name: np.zeros(3)}), TypeError, ""
    yield "empty", _native.find_regions, dict.fromkeys(valid, np.zeros(0, F32)), ValueError, "above 0"

    model = _native.ProfileModel(**next(models())[2])
    block = _native.TargetBlock(np.arange(10, dtype=np.uint8), np.array([0, 4, 4, 10]))
    valid = {"model": model, "block": block, "target": 2, "begin": 1, "end": 6, "n_traces": 3, "seed": 1}
    yield "valid", _native.trace_segments, valid, None, ""
    for name, wrong, error, text in [
        ("target", 3, ValueError, "not in the block"),
        ("target", -1, ValueError, "not in the block"),
        ("target", 1, ValueError, "beyond the target"),
        ("begin", -1, ValueError, "beyond the target"),
        ("begin", 6, ValueError, "empty"),
        ("end", 7, ValueError, "beyond the target"),
        ("n_traces", 0, ValueError, "outside of 1 to 1000000"),
        ("n_traces", 1_000_001, ValueError, "outside of 1 to 1000000"),
        ("seed", -1, TypeError, ""),
        ("model", None, TypeError, ""),
    ]:
        yield f"{name} {wrong}", _native.trace_segments, changed(valid, **{name: wrong}), error, text

    segments = np.array([[0, 3, 9, 0, 5], [1, 2, 9, 0, 6]], np.int32)
    valid = {"segments": segments, "n_traces": 2}
    yield "valid", _native.cluster_segments, valid, None, ""
    for at, value, text in [
        ((0, 0), -1, "traces descend"),
        ((0, 0), 2, "more than n_traces"),
        ((1, 0), 2, "more than n_traces"),
        ((0, 1), -1, "beyond any target"),
        ((0, 2), 3, "empty"),
        ((0, 2), 100_001, "beyond any target"),
        ((1, 3), 6, "empty"),
        ((1, 4), 2**31 - 1, "beyond any model"),
    ]:
        wrong = changed(valid, segments=with_value(segments, at, value))
        yield f"{at} {value}", _native.cluster_segments, wrong, ValueError, text
    yield (
        "four columns",
        _native.cluster_segments,
        changed(valid, segments=segments[:, :4].copy()),
        ValueError,
        "not trace",
    )
    yield "no traces", _native.cluster_segments, changed(valid, n_traces=0), ValueError, "below 1"
    yield "int64", _native.cluster_segments, changed(valid, segments=segments.astype(np.int64)), TypeError, ""

    valid = {"model": model, "block": block, "targets": np.array([2, 1], np.int32), "seed": 5, "null2": False}
    yield "valid", _native.find_domains, valid, None, ""
    for name, wrong, error, text in [
        ("targets", np.array([3], np.int32), ValueError, "outside of 0 to 2"),
        ("targets", np.array([-1], np.int32), ValueError, "outside of 0 to 2"),
        ("targets", np.array([0]), TypeError, ""),
        ("block", model, TypeError, ""),
    ]:
        yield f"{name} {text}", _native.find_domains, changed(valid, **{name: wrong}), error, text


def searches():
    """search_block and finish_block."""
    model = _native.ProfileModel(**next(models())[2])
    block = _native.TargetBlock(np.arange(10, dtype=np.uint8), np.array([0, 4, 4, 10]))
    options = (0.02, 1e-3, 1e-5, True, True, 42)
    whole = {"models": [model, model], "block": block, "options": options, "n_threads": 2}
    yield "valid", _native.search_block, whole, None, ""
    rest = {
        "model": np.array([0, 1], np.int32),
        "target": np.array([2, 0], np.int32),
        "msv_nats": np.array([3, np.inf], F32),
        "viterbi_nats": np.zeros(0, F32),
    }
    finish = whole | rest
    yield "valid end", _native.finish_block, finish, None, ""
    for function, valid in ((_native.search_block, whole), (_native.finish_block, finish)):
        for name, wrong, error, text in [
            ("models", [model, None], ValueError, "not a ProfileModel"),
            ("models", [block], ValueError, "not a ProfileModel"),
            ("models", model, TypeError, ""),
            ("block", None, TypeError, ""),
            ("options", (-0.1, *options[1:]), ValueError, "not a P-value"),
            ("options", (*options[:2], np.nan, *options[3:]), ValueError, "not a P-value"),
            ("options", (*options[:5], -1), TypeError, ""),
            ("options", options[:5], TypeError, ""),
            ("n_threads", 0, ValueError, "below 1"),
            ("progress", 7, TypeError, "not callable"),
            ("reporting", (np.nan, 0.0, 0.0, 0, False), ValueError, "not a threshold"),
            ("reporting", (10.0, -1.0, 0.0, 0, False), ValueError, "not a threshold"),
            ("reporting", (10.0, 0.0, np.nan, 0, False), ValueError, "not a threshold"),
            ("reporting", (10.0, 0.0, 0.0, -1, False), ValueError, "not a number of targets"),
            ("reporting", (10.0, 0.0, 0.0, 1 << 62, False), ValueError, "not a number of targets"),
            ("reporting", (10.0, 0.0, 0.0, 0), TypeError, ""),
        ]:
            yield f"{function.__name__} {name} {text}", function, changed(valid, **{name: wrong}), error, text
    for name, wrong, error, text in [
        ("model", np.array([0, 2], np.int32), ValueError, "outside of 0 to 1"),
        ("model", np.array([0, -1], np.int32), ValueError, "outside of 0 to 1"),
        ("model", np.array([0, 1]), TypeError, ""),
        ("target", np.array([3, 0], np.int32), ValueError, "outside of 0 to 2"),
        ("target", np.array([1, 0], np.int32), ValueError, "an empty sequence"),
        ("target", np.array([0], np.int32), ValueError, "not equally many"),
        ("msv_nats", np.array([0, np.nan], F32), ValueError, "not a number"),
        ("msv_nats", np.zeros(3, F32), ValueError, "not equally many"),
        ("viterbi_nats", np.zeros(1, F32), ValueError, "neither none nor one per target"),
        ("viterbi_nats", np.full(2, np.nan, F32), ValueError, "not a number"),
    ]:
        yield f"finish {name} {text}", _native.finish_block, changed(finish, **{name: wrong}), error, text


def recodings():
    """recode."""
    valid = {
        "letters": np.arange(40, dtype=np.uint8),
        "table": np.arange(256, dtype=np.uint8),
        "codes": np.zeros(40, np.uint8),
    }
    yield "valid", _native.recode, valid, None, ""
    for name, wrong, error, text in [
        ("table", np.zeros(255, np.uint8), ValueError, "not a code for each byte"),
        ("table", np.zeros(0, np.uint8), ValueError, "not a code for each byte"),
        ("table", np.zeros(512, np.uint8)[::2], TypeError, ""),
        ("table", np.zeros(256, np.int8), TypeError, ""),
        ("codes", np.zeros(39, np.uint8), ValueError, "not as many as letters"),
        ("codes", np.zeros(41, np.uint8), ValueError, "not as many as letters"),
        ("codes", np.zeros(40, np.int64), TypeError, ""),
        ("codes", np.zeros(80, np.uint8)[::2], TypeError, ""),
        ("codes", np.frombuffer(bytes(40), np.uint8), TypeError, ""),
        ("letters", np.zeros(0, np.uint8), ValueError, "not as many as letters"),
        ("letters", np.zeros(40, np.int8), TypeError, ""),
    ]:
        yield f"{name} {text}", _native.recode, changed(valid, **{name: wrong}), error, text
