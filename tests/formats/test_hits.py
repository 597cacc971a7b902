"""Formats of hits: HMMER's files byte for byte from what pyhmmer finds, however the parts were cut."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from Bio import SearchIO
from results.found import made_found

from formats.written import written
from tropalign.errors import InputError
from tropalign.formats.format import Header, format_names, make_writer, restore
from tropalign.formats.hits import context as hit_context
from tropalign.formats.hits.context import HitsContext
from tropalign.results.found_hits import LINES, FoundHits, chosen, columns_of
from tropalign.results.hit_pyhmmer import found_of
from tropalign.results.hits import judged
from tropalign.results.threshold_options import Thresholds

pyhmmer = pytest.importorskip("pyhmmer")
from pyhmmer.easel import SequenceFile  # noqa: E402
from pyhmmer.plan7 import HMMFile  # noqa: E402

DATA = Path(__file__).parent.parent / "data" / "search"
HEADER = Header("1.2.3", "tropalign search models.hmm proteins.fasta", {})
FORMATS = {"txt": "text", "tbl": "tblout", "domtbl": "domtblout", "pfamtbl": "pfamtblout"}
UNFILTERED = {"f1": 1.0, "f2": 1.0, "f3": 1.0, "bias_filter": False}
#: Recorded runs of hmmsearch 3.4: models, its thresholds, and the other options as contexts have them.
RUNS = {
    "search": (("pfam.hmm", "reference.hmm"), Thresholds(), {}),
    "acc": (("pfam.hmm",), Thresholds(), {"shows_accessions": True, "text_width": 0}),
    "cut_ga": (("pfam.hmm",), Thresholds(bit_cutoffs="gathering"), {"shows_alignments": False}),
    "scores": (("pfam.hmm",), Thresholds(T=30, domT=10, incT=40, incdomT=20, Z=1000), {"text_width": 200}),
    "max": (("pfam.hmm",), Thresholds(E=1, incE=1e-20, domZ=3), {**UNFILTERED, "null2": False, "seed": 7}),
    "scan": (("pfam.hmm", "reference.hmm"), Thresholds(), {"orientation": "scan"}),
}
RECORDED = [(path.stem, path.suffix[1:]) for path in sorted(DATA.glob("*.*tbl")) + sorted(DATA.glob("*.txt"))]


def models_of(names):
    found = []
    for name in names:
        with HMMFile(DATA / name) as file:
            found += list(file)
    return found


def sequences_of(alphabet):
    with SequenceFile(DATA / "proteins.fasta", digital=True, alphabet=alphabet) as file:
        return file.read_block()


def pyhmmer_options(thresholds, context):
    given = {name: value for name, value in vars(thresholds).items() if value is not None}
    names = {"f1": "F1", "f2": "F2", "f3": "F3", "bias_filter": "bias_filter", "null2": "null2", "seed": "seed"}
    return given | {names[name]: value for name, value in context.items() if name in names}


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    """Name of a run, its context, and what pyhmmer found for each query, with the numbers of targets."""
    names, thresholds, shown = RUNS[request.param]
    models = models_of(names)
    sequences = sequences_of(models[0].alphabet)
    options = pyhmmer_options(thresholds, shown)
    if request.param == "scan":
        results = pyhmmer.hmmscan(sequences, models, cpus=1, **options)
        number = {model.name: k for k, model in enumerate(models)}
        own = {number[model.name]: found_of(one).queries[0] for model, one in _searched(models, sequences)}
    else:
        results = pyhmmer.hmmsearch(models, sequences, cpus=1, **options)
        number, own = {sequence.name: k for k, sequence in enumerate(sequences)}, {}
    found = []
    for query, result in enumerate(results):
        one = found_of(result)
        target = np.array([number[name] for name in one.names], np.int64)
        models_hit = {k: own[k] for k in target.tolist()} if own else {}
        found.append(FoundHits(**columns_of(one) | {"first_query": query, "target": target, "models": models_hit}))
    context = HitsContext(thresholds=thresholds, n_targets=len(number), **shown)
    return request.param, context, found


def _searched(models, sequences):
    return zip(models, pyhmmer.hmmsearch(models, sequences, cpus=1), strict=True)


def assembled(name, context, pieces):
    return written("hits", name, context, pieces, HEADER)


def without_program(text, suffix):
    """A file without what says which program wrote it, from which files."""
    if suffix != "txt":
        return text[: text.index(b"# Program:")] if b"# Program:" in text else text
    begin = text.index(b"# - - ")
    return re.sub(rb"# (query|target) .*\n", b"", text[begin:])


def halves(found):
    """A query's hits as those in the first and in the last targets."""
    n_first = 11 if found.orientation == "search" else 1
    columns = columns_of(found)
    pieces = []
    for rows, n in (
        (found.target < n_first, n_first),
        (found.target >= n_first, found.n_targets - n_first),
    ):
        own = chosen(found, np.flatnonzero(rows))
        n_past = columns["n_passed"] if not pieces else np.zeros_like(columns["n_passed"])
        n_residues = columns["n_target_residues"] if not pieces else 0
        pieces.append(FoundHits(**own | {"n_targets": n, "n_passed": n_past, "n_target_residues": n_residues}))
    return pieces


def test_as_hmmer_writes_them(run):
    name, context, found = run
    for stem, suffix in RECORDED:
        if stem == name:
            recorded = (DATA / f"{stem}.{suffix}").read_bytes()
            text = assembled(FORMATS[suffix], context, found)
            assert without_program(text, suffix) == without_program(recorded, suffix)


def test_every_run_has_a_record():
    assert {stem for stem, _ in RECORDED} == set(RUNS)
    assert {suffix for _, suffix in RECORDED} == set(FORMATS)


@pytest.mark.parametrize("name", format_names("hits"))
def test_bytes_do_not_depend_on_the_parts(run, name):
    _, context, found = run
    if (name, context.orientation) == ("stockholm", "scan"):
        with pytest.raises(InputError, match="hits of a scan cannot form an alignment, since each has its own model"):
            make_writer("hits", name, HEADER, context)
        return
    whole = assembled(name, context, found)
    by_target = [piece for one in found for piece in halves(one)]
    assert assembled(name, context, by_target) == whole
    assert assembled(name, context, sorted(by_target, key=lambda piece: piece.n_targets)) == whole
    assert assembled(name, replace(context, n_targets=None), by_target[::-1]) == whole


def test_hits_are_given_out_when_their_last_target_was_searched(run):
    _, context, found = run
    parts = [hit_context.encode(piece, context) for one in found for piece in halves(one)]
    taken = []
    complete = hit_context.complete((taken.append(part) or part for part in parts), context)
    for number, hits in enumerate(complete):
        assert hits.first_query == number
        assert len(taken) == 2 * (number + 1)


@pytest.mark.parametrize("cut", [0, 3, 50, -1])
def test_a_damaged_part_is_told(run, cut):
    _, context, found = run
    part = hit_context.encode(found[0], context)
    with pytest.raises(InputError, match="a finished part is damaged: remove the parts, or write the shard again"):
        list(hit_context.complete([part[:cut]], context))


def test_parts_and_writers_keep_everything(run):
    _, context, found = run
    for one in found:
        (hits,) = hit_context.complete([hit_context.encode(one, context)], context)
        expected = judged(one, context.thresholds)
        for name in hits.__dataclass_fields__:
            a, b = getattr(hits, name), getattr(expected, name)
            np.testing.assert_equal(a, b, name)
    for name in FORMATS.values():
        writer = make_writer("hits", name, HEADER, context)
        again = restore(json.loads(json.dumps(writer.describe())))
        out = io.BytesIO()
        again.assemble([writer.encode(one) for one in found], out)
        assert out.getvalue() == assembled(name, context, found)
    document = json.loads(assembled("json", context, found))
    assert document["orientation"] == context.orientation
    assert [query["name"] for query in document["queries"]] == [one.queries[0].name for one in found]
    for query, one in zip(document["queries"], found, strict=True):
        hits = judged(one, context.thresholds)
        assert [hit["name"] for hit in query["hits"]] == list(hits.names)
        assert [hit["evalue"] for hit in query["hits"]] == hits.evalue.tolist()
        lines = [domain["target_line"] for hit in query["hits"] for domain in hit["domains"]]
        assert "".join(lines).encode() == hits.target_line.tobytes()


@pytest.mark.parametrize(("suffix", "name"), [("txt", "hmmer3-text"), ("tbl", "hmmer3-tab")])
def test_biopython_reads_them(run, suffix, name):
    _, context, found = run
    text = assembled(FORMATS[suffix], context, found).decode()
    results = {result.id: result for result in SearchIO.parse(io.StringIO(text), name)}
    programs = {"hmmscan" if context.orientation == "scan" else "hmmsearch"}
    assert suffix == "tbl" or {result.program for result in results.values()} == programs
    for one in found:
        names = [hit.name for hit in judged(one, context.thresholds)]
        assert [hit.id for hit in results.get(one.queries[0].name, [])] == names


def test_tables(run):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    _, context, found = run
    whole = polars.concat([judged(one, context.thresholds).domains.to_polars() for one in found])
    parquet = polars.read_parquet(io.BytesIO(assembled("parquet", context, found)))
    arrow = polars.read_ipc_stream(io.BytesIO(assembled("arrow", context, found)))
    assert parquet.equals(whole) and arrow.equals(whole) and len(whole)
    text = assembled("tsv", context, found)
    tsv = polars.read_csv(io.BytesIO(text), separator="\t", comment_prefix="#", infer_schema_length=None)
    assert tsv.columns == whole.columns and len(tsv) == len(whole)
    for column in ("target", "domain", "of", "model_begin", "sequence_end", "envelope_begin"):
        assert tsv[column].to_list() == whole[column].to_list()
    for column in ("evalue", "bits", "i_evalue", "domain_bias", "accuracy"):
        assert np.allclose(tsv[column], whole[column], rtol=1e-2, atol=6e-3)


def one_domain(name, model_line, target_line, **fields):
    """A hit with one domain of these lines; its target begins with the domain."""
    n_nodes, n_residues = len(model_line) - model_line.count("."), len(target_line) - target_line.count("-")
    domain = {"end": n_residues, "envelope_end": n_residues, "model_end": n_nodes, "bits": 9, "log_p": -30}
    found = made_found([(name, {"log_p": -30, "length": n_residues, **fields}, [domain])])
    texts = (model_line, " " * len(model_line), target_line, "*" * len(model_line))
    lines = {line: np.frombuffer(text.encode(), np.uint8) for line, text in zip(LINES, texts, strict=True)}
    return FoundHits(**columns_of(found) | lines | {"line_offsets": np.array([0, len(model_line)])})


def test_a_line_without_a_residue():
    """Blocks have 40 columns at least, however long names are; one without a residue has no positions."""
    name = "n" * 90
    found = one_domain(name, "a" * 100, "A" * 40 + "-" * 45 + "A" * 15)
    lines = assembled("text", HitsContext(n_targets=100), [found]).decode().splitlines()
    assert [line for line in lines if line.lstrip().startswith("n" * 90 + " ")] == [
        f"  {name}   1 {'A' * 40} 40 ",
        f"  {name}   - {'-' * 40}   -",
        f"  {name}  41 {'-' * 5}{'A' * 15} 55 ",
    ]
    q = " " * 89 + "q"
    assert [line for line in lines if line.startswith(f"  {q} ")] == [
        f"  {q}   1 {'a' * 40} 40 ",
        f"  {q}  41 {'a' * 40} 80 ",
        f"  {q}  81 {'a' * 20} 100",
    ]


def test_pfam_sorts_domains_as_hits_are_sorted():
    own = [{"bits": 5, "log_p": -30}, {"bits": 9, "log_p": -20}]
    found = made_found([("t", {"log_p": -30, "bits": 50}, own)])
    for thresholds, order in ((Thresholds(), ["5.0", "9.0"]), (Thresholds(incT=1), ["9.0", "5.0"])):
        lines = assembled("pfamtblout", HitsContext(thresholds, n_targets=100), [found]).decode().splitlines()
        rows = [line.split() for line in lines if line.startswith("t ")]
        assert [row[1] for row in rows[1:]] == order


def test_names_are_as_wide_as_their_bytes_and_hold_no_line_break(run):
    _, context, found = run
    one = found[0]
    names = tuple(f"{name[:3]}é" for name in one.names)
    changed = FoundHits(**columns_of(one) | {"names": names, "descriptions": ("größer",) * len(one)})
    lines = assembled("tblout", context, [changed]).decode().splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert len(rows) == len(judged(changed, context.thresholds))
    assert all(line.encode()[:21].endswith(b" ") and line.endswith("größer") for line in rows)
    changed = FoundHits(**columns_of(found[0]) | {"names": ("a\nb",) * len(found[0])})
    if len(judged(changed, context.thresholds)):
        with pytest.raises(
            InputError, match=(r"record 'a\\nb': the name or description contains a line break: remove it")
        ):
            assembled("tblout", context, [changed])


@pytest.mark.parametrize(
    "entries",
    [
        {"f1": "much"},
        {"text_width": -1},
        {"orientation": "across"},
        {"thresholds": {"E": -1}},
        {"thresholds": {"E": "x"}},
        {"thresholds": 3},
        {"n_targets": 1.5},
        {"f2": float("nan")},
        {"unknown": 1},
    ],
)
def test_a_context_that_is_none_is_refused(entries):
    with pytest.raises((TypeError, ValueError, AttributeError)):
        HitsContext.restore(entries)
