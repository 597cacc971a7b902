"""JSON is bounded by what it holds, before anybody decodes it."""

import json

import pytest

pytest.importorskip("fastapi", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from hypothesis import given
from hypothesis import strategies as some

from tropalign.serve.web import limits
from tropalign.serve.web.limits import MOST_VALUES, ValueCount

JSON = {"Content-Type": "application/json"}
TEXTS = some.text('a,:[{}"\\\n', max_size=8)
VALUES = some.recursive(
    some.none() | some.integers() | TEXTS,
    lambda inside: some.lists(inside, max_size=4) | some.dictionaries(TEXTS, inside, max_size=4),
    max_leaves=20,
)


def marks(value):
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    if inside is None:
        return 0
    names = len(inside) if isinstance(value, dict) else 0
    return 1 + max(0, len(inside) - 1) + names + sum(map(marks, inside))


@given(VALUES, some.integers(1, 7))
def test_values_are_counted_however_the_body_is_cut(value, length):
    body, count = json.dumps(value).encode(), ValueCount()
    for begin in range(0, len(body), length):
        count.add(body[begin : begin + length])
    assert count.n == marks(value)


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({f"k{n}": 0 for n in range(MOST_VALUES)}),
        json.dumps({"verb": "pairs", "tags": ["a"] * MOST_VALUES}),
        "[" * MOST_VALUES * 2,
        '{"a":{' * MOST_VALUES,
    ],
    ids=["names", "values", "depth", "broken"],
)
def test_what_holds_too_many_values_is_refused_before_it_is_decoded(local, monkeypatch, body):
    monkeypatch.setattr(limits, "parse_object", None)
    answer = local.post("/api/v1/jobs", body, headers=JSON)
    assert answer.status == 413
    assert answer.error == "the JSON has more than 20,000 values: send sequences as texts or files"


def test_a_long_text_is_one_value(local):
    text = '>a, [b]: "c" \\ {d}\nMKVLA\n>b\nMKILA\n'
    pasted = text + "".join(f">s{n}, [x]: {{y}}\nMKVLA\n" for n in range(MOST_VALUES))
    body = {"verb": "pairs", "inputs": {"queries": [{"text": pasted}]}, "options": {"min_score": 30}}
    assert local.post("/api/v1/jobs", body).status == 201


def test_names_are_looked_at_first_and_null_is_no_answer(local):
    answer = local.post("/api/v1/jobs", {"verbs": "pairs", "title": 3, "tags": None})
    assert (answer.status, answer.json) == (
        422,
        {"error": "there is no field 'verbs'; did you mean 'verb'?", "field": "verbs"},
    )
    job = local.submit()
    answer = local.ask("PATCH", f"/api/v1/jobs/{job['id']}", {"shared": None})
    assert (answer.status, answer.error) == (422, "shared must be true or false")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("tags", None, "tags must be a list of strings"),
        ("title", None, "title must be a string"),
        ("outputs", {}, "outputs: must be a list of the roles of outputs"),
        ("outputs", None, "outputs: must be a list of the roles of outputs"),
        ("options", [], "options: must be a JSON object"),
        ("inputs", [], "inputs: must be a JSON object"),
        ("format", None, "format: pairs has no such format: choose one of"),
        ("shared", None, "shared: must be true or false"),
    ],
)
def test_null_and_other_types_are_refused(local, field, value, sentence):
    body = {"verb": "pairs", "inputs": {"queries": [{"text": ">a\nMK\n"}]}, field: value}
    answer = local.post("/api/v1/jobs", body)
    assert answer.status == 422 and answer.error.startswith(sentence), answer.body
