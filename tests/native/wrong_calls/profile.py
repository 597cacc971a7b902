"""Wrong calls of native/bindings/profile_*.cpp."""

import numpy as np
from native.wrong_calls.kinds import Entry, at, f32, i32, i64, part

from tropalign import _native

F32, INF, NAN = np.float32, float("inf"), float("nan")
MODEL = {
    "match": np.full((4, 20), 0.05, F32), "transitions": np.full((4, 7), 0.3, F32),
    "composition": np.full(20, 0.05, F32), "background": np.full(20, 0.05, F32),
    "evalue": f32(-8, 0.7, -9, 0.7, -4, 0.7), "consensus": b"acd",
}  # fmt: skip
TARGETS = {"codes": np.arange(10, dtype=np.uint8), "offsets": i64(0, 4, 10)}


def models():
    """ProfileModel, read_model, and how many sequences an alignment counts for."""
    wrong = [
        ("match", "must have 1 to 1000000 nodes", part(slice(1)), part(slice(0))),
        ("match", "must have 20 residues", np.zeros((4, 19), F32)),
        ("match", "not a probability", *(at((2, 3), value) for value in (-0.1, INF, 1e30))),
        ("transitions", "must have as many rows", np.zeros((5, 7), F32)),
        ("transitions", "must have 7 per node", np.zeros((4, 8), F32)),
        ("transitions", "not a probability", at((0, 0), NAN)),
        ("composition", "must have 20 residues", np.zeros(21, F32)),
        ("composition", "not a probability", at(7, NAN)),
        ("background", "a residue of less than", np.zeros(20, F32)),
        ("background", "must have 20 residues", np.zeros(29, F32)),
        ("evalue", "must have 6 numbers", part(slice(5))),
        ("evalue", "not finite", at(5, NAN)),
        ("consensus", "must have a letter per node", b"ac"),
        ("consensus", TypeError, "acd"),
    ]
    yield Entry(_native.ProfileModel, MODEL, wrong, name="ProfileModel")
    aligned = {"codes": np.zeros((3, 4), np.uint8), "is_node": np.ones(4, np.uint8), "background": MODEL["background"]}
    wrong = [
        ("codes", "at least one row and one column", np.zeros((0, 4), np.uint8), np.zeros((3, 0), np.uint8)),
        ("codes", "beyond the alphabet of 29", np.full((3, 4), 29, np.uint8)),
        ("is_node", "must have an entry per column", np.ones(5, np.uint8)),
        ("is_node", "beyond the alphabet of 2", np.full(4, 2, np.uint8)),
        ("background", "must have 20 residues", np.zeros(29, F32)),
        ("background", "a residue of less than", np.zeros(20, F32)),
    ]
    numbers = {"occupancy": 0.5, "fragment": 0.5, "entropy": 0.59, "sigma": 45.0}
    yield Entry(_native.effective_number, aligned | numbers, wrong)
    yield Entry(_native.read_model, {"text": b"HMMER3/f\nNAME x\n"}, [("text", TypeError, "HMMER3/f")])


def stages():
    """TargetBlock, and the stages that take targets."""
    wrong = [
        ("codes", "beyond the alphabet of 29", np.full(10, 29, np.uint8), np.full(10, 255, np.uint8)),
        ({"codes": np.zeros(100_001, np.uint8), "offsets": i64(0, 100_001)}, "longer than 100000"),
    ]
    yield Entry(_native.TargetBlock, TARGETS, wrong, name="TargetBlock")
    chosen = {"model": _native.ProfileModel(**MODEL), "block": _native.TargetBlock(**TARGETS), "targets": i32(0, 1)}
    wrong = [("targets", "outside of 0 to 1", at(1, 2), i32(-1)), ("block", TypeError, chosen["model"])]
    for stage in (_native.msv_scores, _native.bias_scores, _native.viterbi_scores, _native.forward_scores):
        yield Entry(stage, chosen, wrong)
    yield Entry(_native.parse_targets, chosen, wrong)
    for stage, n in [
        (_native.testing.arranged_bias_scores, _native.testing.n_bias_arrangements()),
        (_native.testing.arranged_viterbi_scores, _native.testing.n_viterbi_arrangements()),
    ]:
        yield Entry(stage, chosen | {"arrangement": 1}, [*wrong, ("arrangement", "does not exist", -1, n)])
    filtered = [("targets", "in order of ascending length", i32(1, 0)), ("F1", "must be a P-value", -0.1, NAN)]
    yield Entry(_native.msv_filter, chosen | {"F1": 0.02}, wrong + filtered)
    bad = [("values", "positive and normal", *(at(1, value) for value in (0, -1, INF, NAN, 1e-41)))]
    yield Entry(_native.testing.bias_logarithms, {"values": f32(1, 1)}, bad)
    envelopes = [
        ("envelopes", "not in the block", at((0, 0), -1), at((0, 0), 2)),
        ("envelopes", "extends beyond", at((0, 1), -1), at((0, 2), 5), at((1, 2), 2**31 - 1)),
        ("envelopes", "is empty", at((0, 1), 4)),
        ("envelopes", "must have target, begin and end", np.zeros((2, 4), np.int32)),
    ]
    valid = chosen | {"envelopes": i32([0, 0, 4], [1, 2, 3])}
    del valid["targets"]
    yield Entry(_native.testing.rescore_envelopes, valid, envelopes)


def domains():
    """find_regions, trace_segments, cluster_segments, find_domains."""
    regions = dict.fromkeys(("begin", "end", "homology"), np.zeros(3, F32))
    wrong = [(name, "length", np.zeros(4, F32)) for name in regions]
    wrong += [(dict.fromkeys(regions, np.zeros(0, F32)), "above 0")]
    yield Entry(_native.testing.find_regions, regions, wrong)
    block = _native.TargetBlock(np.arange(10, dtype=np.uint8), i64(0, 4, 4, 10))
    searched = {"model": _native.ProfileModel(**MODEL), "block": block}
    yield Entry(
        _native.trace_segments,
        searched | {"target": 2, "begin": 1, "end": 6, "n_traces": 3, "seed": 1},
        [
            ("target", "not in the block", 3, -1),
            ("target", "beyond the target", 1),
            ("begin", "beyond the target", -1),
            ("begin", "empty", 6),
            ("end", "beyond the target", 7),
            ("n_traces", "outside of 1 to 1000000", 0, 1_000_001),
            ("seed", TypeError, -1),
        ],
    )
    yield Entry(
        _native.testing.cluster_segments,
        {"segments": i32([0, 3, 9, 0, 5], [1, 2, 9, 0, 6]), "n_traces": 2},
        [
            ("segments", "traces descend", at((0, 0), -1)),
            ("segments", "more than n_traces", at((0, 0), 2), at((1, 0), 2)),
            ("segments", "beyond any target", at((0, 1), -1), at((0, 2), 100_001)),
            ("segments", "empty", at((0, 2), 3), at((1, 3), 6)),
            ("segments", "beyond any model", at((1, 4), 2**31 - 1)),
            ("segments", "must have trace", part(slice(2), slice(4))),
            ("n_traces", "below 1", 0),
        ],
    )
    wrong = [("targets", "outside of 0 to 2", i32(3), i32(-1)), ("block", TypeError, searched["model"])]
    yield Entry(_native.find_domains, searched | {"targets": i32(2, 1), "seed": 5, "null2": False}, wrong)


def searches():
    """search_block and finish_block."""
    model, block = _native.ProfileModel(**MODEL), _native.TargetBlock(np.arange(10, dtype=np.uint8), i64(0, 4, 4, 10))
    options = (0.02, 1e-3, 1e-5, True, True, 42)
    wrong = [
        ("models", "must be ProfileModels", [model, None], [block]),
        ("models", TypeError, model),
        ("options", "must be P-values", (-0.1, *options[1:]), (*options[:2], NAN, *options[3:])),
        ("options", TypeError, (*options[:5], -1)),
        (
            "reporting",
            "not a valid threshold",
            *((*limits, 0, False) for limits in ((NAN, 0, 0), (10, -1, 0), (10, 0, NAN))),
        ),
        ("reporting", "not a valid number of targets", *((10, 0, 0, n, False) for n in (-1, 1 << 62))),
        ("reporting", TypeError, (10.0, 0.0, 0.0, 0)),
    ]
    whole = {"models": [model, model], "block": block, "options": options, "n_threads": 2}
    yield Entry(_native.search_block, whole, wrong)
    rest = {"model": i32(0, 1), "target": i32(2, 0), "msv_nats": f32(3, INF), "viterbi_nats": np.zeros(0, F32)}
    wrong += [
        ("model", "outside of 0 to 1", at(1, 2), at(1, -1)),
        ("target", "outside of 0 to 2", at(0, 3)),
        ("target", "a sequence is empty", at(0, 1)),
        ("target", "unequal lengths", i32(0)),
        ("msv_nats", "not a number", f32(0, NAN)),
        ("msv_nats", "unequal lengths", np.zeros(3, F32)),
        ("viterbi_nats", "must have none, or one per target", np.zeros(1, F32)),
        ("viterbi_nats", "not a number", np.full(2, NAN, F32)),
    ]
    yield Entry(_native.finish_block, whole | rest, wrong)


def recodings():
    """recode."""
    letters = np.arange(40, dtype=np.uint8)
    yield Entry(
        _native.recode,
        {"letters": letters, "table": np.arange(256, dtype=np.uint8), "codes": np.zeros(40, np.uint8)},
        [
            ("table", "must have a code per byte", part(slice(255)), part(slice(0))),
            ("codes", "must be as many as letters", np.zeros(39, np.uint8), np.zeros(41, np.uint8)),
            ("codes", TypeError, np.frombuffer(bytes(40), np.uint8)),
            ("letters", "must be as many as letters", part(slice(0))),
        ],
    )
