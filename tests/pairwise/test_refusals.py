"""What cannot be asked of pairs: each refusal is a sentence, from Python and on the command line."""

import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.errors import DeviceError, InputError, ScoringError, UsageError
from tropalign.pairwise.options import MOST_HSPS

PROTEINS, DNA = ["MKVLAWCC", "MKILAWCC"], ["ACCA", "CCA"]
GENES = ["ACGTACGTACGTAAACC"]
BLASTN = {"matrix": ta.SubstitutionMatrix.match_mismatch(2, -3), "gap": ta.Gap(5, 2)}
SUMS = {"max_hsps": 2, "sum_statistics": True}


@pytest.mark.parametrize(
    ("sets", "options", "error", "sentence"),
    [
        ([PROTEINS], {"mode": "global", "composition": "scaled"}, UsageError,
         "composition scaled applies to E-values and bits, which only local alignments"),
        ([PROTEINS], {"composition": "known"}, UsageError,
         "composition 'known' is not one of ignored, scaled, adjusted"),
        ([DNA, DNA], {"composition": "adjusted", **BLASTN}, ScoringError,
         "only protein matrices can be adjusted to composition: use compo"),
        ([PROTEINS], {"composition": "adjusted", "gap": ta.Gap(11, 1, 14, 0.5)}, ScoringError,
         "matrices cannot be adjusted to composition with gap costs of two pieces: use"),
        ([GENES, PROTEINS], {"translate": "query", "composition": "scaled"}, UsageError,
         "composition scaled uses the residues of whole sequences"),
        ([PROTEINS], {"mask": "seg", "mode": "global"}, UsageError,
         "mask seg selects pairs by scores of local alignments: use mode local, or"),
        ([PROTEINS], {"mask_hard": True}, UsageError, "mask_hard needs a mask: add mask seg, or another method"),
        ([PROTEINS], {"mask": "dust"}, InputError, "mask dust is for nucleotides, but these are proteins"),
        ([GENES, PROTEINS], {"translate": "query", "mask": "lower"}, UsageError,
         "mask lower depends on the case of letters, which translated"),
        ([DNA], {"mode": "local", "end_gap": ta.Gap(1, 1)}, UsageError,
         "local alignments have no gaps at their ends"),
        ([DNA], {"mode": "global", "end_gap": (1, 1)}, ScoringError, "the cost of gaps at the ends must also be a Gap"),
        ([DNA], {"gap": ta.Gap(1, 1, 2, 0), "device": "opencl:0.0"}, DeviceError,
         "opencl:0.0: two-piece gap costs and costs of end gaps are supported on"),
        ([["ACGT" * 300] * 2], {"gap": ta.Gap(1, 1, 1_000_000, 1_000_000), "alphabet": "nucleotide"}, ScoringError,
         "scores of sequences of 1200 residues may exceed 2147483647"),
        ([PROTEINS], {"max_hsps": 0}, UsageError, "max_hsps 0 is out of range: give a number from 1 to 1000"),
        ([PROTEINS], {"max_hsps": MOST_HSPS + 1}, UsageError,
         "max_hsps 1001 is out of range: give a number from 1 to 1000"),
        ([PROTEINS], {"max_hsps": 2.0}, UsageError, "max_hsps 2.0 is not a whole number"),
        ([PROTEINS], {"max_hsps": 2, "mode": "global"}, UsageError,
         "max_hsps applies to local alignments only: use mode local"),
        ([PROTEINS], {"max_hsps": 2, "report": "ends"}, UsageError, "max_hsps needs report alignment"),
        ([PROTEINS], {**SUMS, "max_hsps": 1}, UsageError,
         "sum_statistics combines several alignments of a pair: add max_hsps, such as 10"),
        ([PROTEINS], {**SUMS, "max_intron": 4}, UsageError,
         "max_intron 4 is out of range: give a number from 5 to 1000000000000000"),
        ([PROTEINS], {"max_hsps": 2, "max_intron": 90}, UsageError,
         "max_intron applies to alignments that sum_statistics links: add sum_statistics"),
        ([PROTEINS], {**SUMS, "max_intron": 90}, UsageError,
         "max_intron requires nucleotides against proteins: add translate query or target, or omit it"),
        ([PROTEINS], {"culling": 1}, UsageError, "culling applies to the best targets of a query: add top"),
        ([PROTEINS], {"culling": 0, "top": 3}, UsageError, "culling 0 is out of range"),
        ([PROTEINS], {"culling": 1, "top": 3, "report": "score"}, UsageError,
         "culling needs spans on the query, which report score does not compute"),
        ([PROTEINS], {"reciprocal": "yes"}, UsageError, "reciprocal"),
    ],
)  # fmt: skip
def test_options_that_are_refused(sets, options, error, sentence):
    with pytest.raises(error) as caught:
        list(ta.align_all(*sets, **options))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ("--composition scaled", 2, "--composition applies to E-values and bits, but none are requested"),
        ("--composition scaled -f matrix", 2, "--format matrix contains no E-values: leave --composition out"),
        ("--composition scaled -f m8 --mode global", 2, "--composition scaled applies to E-values"),
        ("--mask seg -f matrix", 2, "--format matrix contains scores of all residues: leave --mask out"),
        ("--mask-hard", 2, "--mask-hard needs a mask: add --mask seg, or another method"),
        ("--mask dust", 3, "--mask dust is for nucleotides, but these are proteins: choose seg, tantan, lower"),
        ("--columns corrected_score", 2, "add --composition adjusted or --mask"),
        ("--seg yes", 2, "write --mask, seg, dust or tantan"),
        ("--culling 1", 2, "--culling applies to the best targets of a query: add --top"),
        ("--culling 1 -f matrix", 2, "--format matrix contains one value per pair: leave --culling out"),
        (
            "--culling 1 --top 1 --report score",
            2,
            "--culling needs spans on the query, which --report score does not compute",
        ),
        ("--reciprocal --shard 1/2", 2, "--reciprocal compares all pairs of a sequence, but a shard has only some"),
        ("--reciprocal -f matrix", 2, "--format matrix contains every pair: leave --reciprocal out"),
        ("--exclude-self -f matrix", 2, "--format matrix contains every pair: leave --exclude-self out"),
        ("--iupac average", 2, "argument --iupac: invalid choice: 'average'"),
        ("--iupac match --matrix EDNAFULL", 2, "--matrix and --match/--mismatch/--iupac exclude each other"),
        ("--iupac match --alphabet protein", 2, "--iupac needs --match and --mismatch if sequences are p"),
    ],
)
def test_commands_that_are_refused(tmp_path, capsys, words, code, sentence):
    path, out = tmp_path / "a.fa", tmp_path / "out"
    path.write_text(">a\nMKVLAWCCDEF\n>b\nMKILAWCCDEF\n")
    try:
        status = main(["pairs", str(path), *words.split(), "-o", str(out), "-q"])
    except SystemExit as stop:
        status = stop.code
    assert status == code and sentence in capsys.readouterr().err and not out.exists()
