"""Submissions: JSON is read strictly, and equal jobs have equal keys."""

import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tropalign.errors import UsageError
from tropalign.submissions.command_line import submission_of
from tropalign.submissions.option_values import FieldError
from tropalign.submissions.submission import InputItem, Submission
from tropalign.submissions.verbs import SERVED, served_verb

DIGEST = "0" * 64


def asked(verb="pairs", inputs=None, **others):
    """A submission of JSON, with a file for each input that is needed."""
    needed = {
        one.dest: [{"file": DIGEST, "name": f"{one.dest}.fa"}] for one in served_verb(verb).inputs if one.required
    }
    return Submission.from_json({"verb": verb, "inputs": {**needed, **(inputs or {})}, **others})


@pytest.mark.parametrize("verb", SERVED)
def test_json_goes_both_ways(verb):
    outputs = [one.role for one in served_verb(verb).outputs if one.role != "main"]
    for format in served_verb(verb).formats:
        one = asked(verb, outputs=outputs, format=format)
        assert Submission.from_json(json.loads(json.dumps(one.as_json()))) == one


def filled(verb):
    """Every option of a verb, with a value that is not its default."""
    texts = {"columns": "query,target", "free_ends": "query-start", "bootstrap": "auto"}
    words = {"flag": True, "whole": 200, "number": 0.25, "text": "x"}
    for one in served_verb(verb).options:
        if one.kind == "choice":
            for choice in one.choices[:20]:
                yield one.dest, [choice] if one.many else choice
        else:
            value = texts.get(one.dest, words[one.kind])
            yield one.dest, [value, value] if one.many else value


#: What options need beside them, by verb and option; a group's by the beginning of its heading.
GLOBAL, FITTED, BY_CLUSTALW = {"mode": "global"}, {"fit": True}, {"method": "clustalw"}
BESIDE = {
    "letters": {"match": 2},
    "free_ends": {"mode": "semiglobal"},
    "end_gap_open": GLOBAL,
    "within": {"mode": "global", "co_optimal": 2},
    "end_gap_extend": GLOBAL,
    "iupac": {"match": 3},
    "matrix_values": {},
    "coverage_of": {"min_coverage": 0.5},
    "assign": {},
    "rounds": FITTED,
    "tolerance": FITTED,
    "pseudocount": FITTED,
    "fix": FITTED,
    "word_length": {"quicktree": True},
    "word_gap": {"quicktree": True},
    "n_diagonals": {"quicktree": True},
    "diagonal_window": {"quicktree": True},
}
FORMATS = {"matrix_values": "matrix", "matrix_layout": "matrix"}


def beside_sums(dest, value):
    """What sum statistics go with, and what goes with them."""
    if dest == "sum_statistics":
        return {"max_hsps": 3}
    if dest == "max_intron":
        return {"max_hsps": 3, "sum_statistics": True, "translate": "query"}
    return {"max_hsps": 3, "sum_statistics": True} if value in (["sum_evalue"], ["sum_count"]) else {}


def with_others(verb, dest, value):
    """A submission with an option, and what goes with it."""
    option, inputs, outputs = served_verb(verb).option(dest), {}, []
    others = dict(BESIDE.get(dest, {}))
    if dest in ("gap_open2", "gap_extend2"):
        others["gap_extend2" if dest == "gap_open2" else "gap_open2"] = 1
    if option.group.endswith("clustalw"):
        others |= BY_CLUSTALW
    if (verb, dest) == ("tree", "seed"):
        others["bootstrap"] = "9"
    if (verb, dest) in (("pairs", "db_size"), ("pairs", "composition")):
        others["max_evalue"] = 3
    others |= beside_sums(dest, value)
    if (verb, dest) in (("pairs", "culling"), ("pairs", "top_first")):
        others["top"] = 3
    if dest == "reference_row":
        outputs = ["differences"]
    if dest == "sizeout":
        outputs = ["representatives"]
    if dest in ("samples", "relabel", "sample_delimiter"):
        outputs = ["report" if verb == "place" else "table"]
    if (verb, dest) == ("cluster", "min_size"):
        others["dereplicate"] = True
    if dest == "keep_length":
        inputs["add"] = [{"file": DIGEST, "name": "new.fa"}]
    if option.group == "Embeddings":
        inputs["embeddings"] = [{"file": DIGEST, "name": "vectors.npz"}]
    if option.group == "Homologs":
        inputs["homologs"] = [{"file": DIGEST, "name": "proteins.fa"}]
    if dest in ("compare_as", "common_taxa", "rooted"):
        inputs["compare"] = [{"file": DIGEST, "name": "others.nwk"}]
    if dest == "track_weight":
        inputs["track"] = [{"file": DIGEST, "name": "3di.fa"}] * (2 if verb == "find" else 1)
        inputs["track_matrix"] = [{"file": DIGEST, "name": "states.txt"}]
    if dest == "trim":
        inputs["model"] = [{"file": DIGEST, "name": "family.hmm"}]
    if dest in ("translate", "genetic_code", "max_intron", "pssm"):
        inputs["targets"] = [{"file": DIGEST, "name": "targets.fa"}]
        others |= {"translate": "both"} if dest == "genetic_code" else {}
    value = 2 if verb == "msa" and option.kind == "whole" else value.upper() if dest == "letters" else value
    format = FORMATS.get(dest, served_verb(verb).default_format)
    if value == "phylip":
        others["matrix_values"] = "distance"
    return asked(verb, inputs, options={**others, dest: value}, outputs=outputs, format=format), value, others


@pytest.mark.parametrize("verb", SERVED)
def test_every_value_of_every_option_survives_the_command_that_is_shown(verb):
    for dest, value in filled(verb):
        one, value, others = with_others(verb, dest, value)
        one = one.checked()
        known = served_verb(verb).option(dest)
        expected = {**others, **({} if value == known.default else {dest: value})}
        defaults = {option.dest: option.default for option in served_verb(verb).options}
        assert one.options == {name: value for name, value in expected.items() if value != defaults[name]}
        words = shlex.split(one.shown_command())[1:]
        again, _, _ = submission_of(words)
        assert again.checked().options == one.options, words


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "the submission: must be a JSON object"),
        ([], "the submission: must be a JSON object"),
        ({}, "verb: must be the name of a verb"),
        ({"verb": "pairs"}, "inputs.queries: pairs needs this input: give a file, text, database or job"),
        ({"verb": "pairs", "x": 1}, "the submission: has an unknown field 'x'"),
        (
            {"verb": "pairs", "inputs": {"query": []}},
            "inputs: has an unknown field 'query': the fields are queries, targets",
        ),
        ({"verb": "pairs", "inputs": {"queries": "x"}}, "inputs.queries: must be a list of files"),
        ({"verb": "pairs", "inputs": {"queries": [{}]}}, r"inputs.queries\[0\]: must have one of file"),
        (
            {"verb": "pairs", "inputs": {"queries": [{"file": "../x"}]}},
            r"inputs.queries\[0\].file: must be the hexadecimal SHA-256",
        ),
        ({"verb": "pairs", "inputs": {"queries": [{"file": DIGEST, "text": "x"}]}}, "must have one of file"),
        ({"verb": "pairs", "inputs": {"queries": [{"file": DIGEST}] * 2}}, "inputs.queries: accepts at most one file"),
        ({"verb": "pairs", "inputs": {"queries": [{"database": "a\nb"}]}}, "must be the id or the name of a database"),
        ({"verb": "tree", "inputs": {"taxa": [{"database": "ab"}]}}, "holds sequences, but this input needs alignment"),
        ({"verb": "pairs", "inputs": {"queries": [{"text": " "}]}}, "is empty: paste text"),
        ({"verb": "pairs", "inputs": {"queries": [{"text": "\ud800"}]}}, "incomplete characters"),
        ({"verb": "pairs", "format": "exe"}, "format: pairs has no such format"),
        ({"verb": "pairs", "format": ["tsv"]}, "format: pairs has no such format"),
    ],
)
def test_wrong_json_is_refused_with_its_field(data, sentence):
    with pytest.raises(UsageError, match=sentence):
        Submission.from_json(data)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"output": "/etc/x"}, "options.output: pairs has no such option on a server"),
        ({"threads": 64}, "options.threads: pairs has no such option"),
        ({"html": "/etc/x"}, "options.html: pairs has no such option"),
        ({"device": "cuda:0"}, "options.device: pairs has no such option"),
        ({"mod": "local"}, "did you mean 'mode'"),
        ({"mode": "--output=/etc/x"}, "options.mode: '--output=/etc/x' is not a choice"),
        ({"matrix": "/etc/passwd"}, "options.matrix: '/etc/passwd' is not a choice"),
        ({"columns": "help"}, "options.columns: must be a list of columns"),
        ({"columns": "@/etc/passwd"}, "cannot name a file"),
        ({"columns": "a\0b"}, "contains invisible characters"),
        ({"columns": "a\nb"}, "contains invisible characters"),
        ({"columns": "x" * 1001}, "has 1,001 characters"),
        ({"columns": "--"}, "cannot be only --"),
        ({"columns": ""}, "is empty: leave it out"),
        ({"columns": {}}, "must be a string"),
        ({"strict": "yes"}, "options.strict: must be true or false"),
        ({"top": "5; rm -rf /"}, "options.top: '5; rm -rf /' is not a whole number"),
        ({"top": 0}, "options.top: 0 is below 1"),
        ({"top": True}, "options.top: must be a number"),
        ({"top": [1]}, "options.top: must be a number"),
        ({"top": 10**30}, "must be a finite number up to 1e18"),
        ({"min_score": float("nan")}, "must be a finite number up to 1e18"),
        ({"min_bits": "inf"}, "options.min_bits: 'inf' is not a number"),
        ({"min_score": "-o/x"}, "options.min_score: '-o/x' is not a number"),
        ([], "options: must be a JSON object"),
    ],
)
def test_wrong_options_are_refused_with_their_field(options, sentence):
    with pytest.raises(UsageError, match=sentence):
        asked(options=options).checked()


def test_vertices_of_a_file_are_refused():
    with pytest.raises(FieldError, match=r"options\.sources: cannot name a file") as caught:
        asked("paths", options={"sources": ["a", "@/etc/passwd"]})
    assert caught.value.field == "options.sources"


@pytest.mark.parametrize(
    "text", ["--output=/etc/x", "-o/x", "../../x", "$(x)", "`x`", "a b; c", "'\"", "---", "-", "{0}"]
)
def test_hostile_texts_stay_values(text):
    one = asked("paths", options={"sources": [text], "targets": [text]}).checked()
    assert one.options == {"sources": [text], "targets": [text]}
    again, inputs, outputs = submission_of(shlex.split(one.shown_command())[1:])
    assert again.options == one.options and inputs == {"graph.fa": "graph.fa"} and outputs == {"main": "graph.tsv"}


def test_a_file_or_a_name_but_not_both():
    file = {"matrix": [{"file": DIGEST, "name": "own.txt"}]}
    assert asked(inputs=file).options == {}
    with pytest.raises(FieldError, match=r"inputs\.matrix: is given both as a file and by name"):
        asked(inputs=file, options={"matrix": "BLOSUM50"})
    assert asked(options={"matrix": "EDNAFULL"}).checked().options == {"matrix": "EDNAFULL"}


@pytest.mark.parametrize(
    ("verb", "options", "sentence"),
    [
        ("pairs", {"mode": "local", "free_ends": "query-start"}, "--free-ends needs --mode semiglobal"),
        ("pairs", {"columns": "query,nonsense"}, "nonsense"),
        ("pairs", {"strand": "both", "translate": "query"}, "--translate needs a second file"),
        ("cluster", {"sizeout": True}, "--sizeout needs --representatives"),
        ("msa", {"consistency": 200}, "consistency 200 is out of range"),
        ("msa", {"compat": True}, "--compat needs --method clustalw"),
        ("tree", {"unaligned": True, "bootstrap": 10}, "--bootstrap needs an alignment"),
        ("search", {"E": 1, "T": 20}, "-E and -T exclude each other"),
        ("scan", {"cut_ga": True, "E": 1}, "--cut_ga sets all thresholds"),
        ("decode", {"rounds": 5}, "--rounds needs --fit"),
        ("tree", {"midpoint": True, "outgroup": ["a"]}, "not allowed with argument"),
    ],
)
def test_options_that_do_not_go_together_are_refused_at_once(verb, options, sentence):
    with pytest.raises(UsageError, match=sentence):
        asked(verb, options=options).checked()


def test_outputs_and_formats_have_their_say_too():
    with pytest.raises(UsageError, match="--taxa needs --taxonomy"):
        asked("place", outputs=["taxa"]).checked()
    with pytest.raises(UsageError, match="a matrix cannot contain paths"):
        asked("paths", format="matrix", options={"paths": True}).checked()


def test_another_format_leaves_out_what_does_not_go_with_it():
    one = asked(options={"columns": "query,target,evalue", "top": 3}, outputs=["report"])
    assert one.in_format("csv").options == one.options
    paf = one.in_format("paf")
    assert (paf.format, paf.options, paf.outputs) == ("paf", {"top": 3}, ("report",))
    matrix = asked(outputs=["report"]).in_format("matrix")
    assert (matrix.format, matrix.outputs) == ("matrix", ())
    assert asked(format="matrix", options={"matrix_layout": "phylip"}).in_format("tsv").options == {}
    with pytest.raises(FieldError, match="format: pairs has no such format"):
        one.in_format("exe")
    with pytest.raises(UsageError, match="--format matrix contains every pair: leave --top out"):
        one.in_format("matrix")


def key(one, version="1", content="x"):
    return one.key(lambda item: f"{content}-{item.file}", version)


def test_equal_jobs_have_equal_keys():
    plain = asked()
    same = [
        asked(options={"identity": "columns", "strand": "plus", "strict": False, "top": None}),
        asked(format="tsv"),
        asked(outputs=["main"]),
    ]
    assert {key(one) for one in same} == {key(plain)}
    first = asked(options={"top": 5, "min_score": "30"}, outputs=["plot", "report"])
    second = asked(options={"min_score": 30.0, "top": "5"}, outputs=["report", "plot", "report"])
    assert key(first) == key(second)
    assert key(asked("decode", options={"model": "cpg"})) == key(asked("decode"))


def test_other_jobs_have_other_keys():
    plain = asked()
    others = [
        key(asked(options={"mode": "global"})),
        key(asked(format="paf")),
        key(asked(outputs=["report"])),
        key(asked("cluster")),
        key(plain, version="2"),
        key(plain, content="y"),
        key(asked(inputs={"queries": [{"file": DIGEST, "name": "other.fa"}]})),  # headers and tables show names
        key(asked(inputs={"targets": [{"file": DIGEST, "name": "queries.fa"}]})),
    ]
    assert len({key(plain), *others}) == len(others) + 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@st.composite
def nearly_right(draw):
    """A submission with the right fields and anything in some of them."""
    verb = served_verb(draw(st.sampled_from(SERVED)))
    item = st.fixed_dictionaries(
        {}, optional={"file": st.just(DIGEST) | JSON, "text": JSON, "name": JSON, "database": JSON}
    )
    inputs = {
        one.dest: draw(st.lists(item, max_size=2) | JSON) for one in verb.inputs if one.required or draw(st.booleans())
    }
    dests = draw(st.lists(st.sampled_from([one.dest for one in verb.options]), max_size=4)) if verb.options else []
    options = {dest: draw(JSON | st.sampled_from(["-1", "@x", "--", "1e400", "0x1", " 1"])) for dest in dests}
    roles = [one.role for one in verb.outputs]
    return {
        "verb": verb.name,
        "inputs": inputs,
        "options": draw(st.just(options) | JSON),
        "format": draw(st.sampled_from(verb.formats) | JSON),
        "outputs": draw(st.lists(st.sampled_from(roles), max_size=3) | JSON),
    }


@settings(max_examples=300)
@given(JSON | nearly_right())
def test_hostile_json_is_used_or_refused(data):
    try:
        one = Submission.from_json(data)
        checked = one.checked()
    except UsageError as error:
        assert str(error).isprintable()
        return
    assert checked.checked() == checked
    json.dumps(checked.as_json(), allow_nan=False)
    assert checked.shown_command().isprintable() and len(key(checked)) == 64
    again, _, _ = submission_of(shlex.split(checked.shown_command())[1:])
    assert (again.options, again.format, {*again.outputs}) == (checked.options, checked.format, {*checked.outputs})


def test_items_are_in_the_order_of_the_fields():
    one = asked("place", inputs={"tree": [{"text": "(a,b);"}]})
    assert [item.name for item in one.items] == ["reads.fa", "reference.fa", "tree.nwk"]
    assert one.inputs["tree"] == (InputItem("tree.nwk", text="(a,b);"),)
