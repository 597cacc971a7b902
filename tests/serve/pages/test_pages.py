"""Pages as a browser without a script gets them."""

import itertools
import re
from pathlib import Path

import pytest
from serve.pages.site import Site, parsed, skip_without

import tropalign
from tropalign.serve.records import Database, Search, State
from tropalign.serve.settings import Limits, Settings
from tropalign.submissions.verbs import SERVED, served_verb

WEB = Path(tropalign.__file__).parent / "serve" / "web"
HOSTILE = "<img src=x onerror=\"alert('x')\">"
SLUGS = [name.replace(" ", "-") for name in SERVED]
TSV = ("efp.tsv", "text/tab-separated-values; charset=utf-8", b"# made\nquery\ttarget\tscore\na\tb\t17\nc\td\t5\n")
REPORT = ("efp.html", "text/html; charset=utf-8", b"<!DOCTYPE html><title>r</title>report")


def check_page(page):
    """What every page has to be, for those who see it and those who hear it."""
    assert page.one("html")["lang"] == "en"
    assert page.one("title").text.strip()
    ids = [element["id"] for element in page.all() if "id" in element.attributes]
    assert len(set(ids)) == len(ids)
    labels = {label["for"] for label in page.all("label")}
    assert labels <= set(ids)
    for field in page.all("input", "select", "textarea"):
        is_hidden = field.get("type") == "hidden" or "hidden" in field.attributes
        assert is_hidden or field["id"] in labels, field.attributes
        assert set(field.get("aria-describedby", "").split()) <= set(ids), field.attributes
    for element in page.all():
        assert not {name for name in element.attributes if name.startswith("on")} | (
            {"style"} & set(element.attributes)
        )
        assert element.tag != "style" and (element.tag != "script" or element["src"].startswith("/static/"))
        assert set(element.get("aria-labelledby", "").split()) <= set(ids)
    for button in page.all("button"):
        assert button.text.strip() and (button.get("type") == "button" or button.above("form"))
    assert all("alt" in image.attributes for image in page.all("img"))
    assert all("title" in frame.attributes and "sandbox" in frame.attributes for frame in page.all("iframe"))
    levels = [int(heading.tag[1]) for heading in page.all("h1", "h2", "h3")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for form in page.all("form"):
        assert form["method"] == "get" or any(field.get("name") == "csrf" for field in form.all("input"))
    return page


def text_of(page, tag="main"):
    return " ".join(page.one(tag).text.split())


def chosen_in(select):
    return [option.text for option in select.all("option") if "selected" in option.attributes]


@pytest.mark.parametrize("path", ["/", "/jobs", "/databases", "/help", "/login", *(f"/new/{slug}" for slug in SLUGS)])
def test_pages_are_whole_small_and_fit_for_screen_readers(site, path):
    answer = site.http.get(path)
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    assert len(answer.content) < 44_000  # the form of pairs has the most fields
    check_page(parsed(answer.text))


@pytest.mark.parametrize("slug", SLUGS)
def test_examples_fill_forms_in(site, slug):
    verb = served_verb(slug.replace("-", " "))
    skip_without(verb)
    page = check_page(site.page(f"/new/{slug}?example=1"))
    for dest in verb.example:
        text = page.one("textarea", name=f"{dest}.text").text
        kept = [box for box in page.all("input", name=f"{dest}.kept") if "checked" in box.attributes]
        assert text.strip() or len(kept) == 1, dest


def test_every_field_of_a_verb_has_its_place(site):
    for name in SERVED:
        page = site.page(f"/new/{name.replace(' ', '-')}")
        names = {field.get("name") for field in page.all("input", "select", "textarea")}
        verb = served_verb(name)
        assert {f"opt.{each.dest}" for each in verb.options} <= names
        assert {f"{each.dest}.{kind}" for each in verb.inputs for kind in ("text", "file")} <= names
        options = [option.get("value") or option.text for option in page.all("option")]
        assert set(verb.formats) <= set(options) or name == "db build"
        roles = {box["value"] for box in page.all("input", name="outputs")}
        assert roles == {each.role for each in verb.outputs if not each.always}


def test_a_form_becomes_a_job(site):
    job = site.submit(
        queries__text=">a\r\nMKV\r\n>b\r\nMKL\r\n", opt__mode="global", opt__min_score="3.5", opt__gap_open=" 9 ",
        opt__strict="1", format="paf", outputs=["report"], title=" My  job ", tags="a, b,,a",
    )  # fmt: skip
    assert job.title == "My job" and job.tags == ("a", "b")
    assert job.request["options"] == {"mode": "global", "min_score": 3.5, "gap_open": 9, "strict": True}
    assert job.request["format"] == "paf" and list(job.request["outputs"]) == ["report"]
    (item,) = job.inputs
    assert (item.role, item.name) == ("queries", "pasted.fa")
    assert site.storage.files.path(item.digest).read_bytes() == b">a\nMKV\n>b\nMKL\n"


def test_files_come_with_a_form(site):
    files = [("queries.file", ("../we ird.fa", b">a\nMKV")), ("targets.file", ("b.fa.gz", b"\x1f\x8b"))]
    answer = site.send("pairs", files, queries__text="")
    job = site.storage.jobs.get(answer.headers["location"].rpartition("/")[2])
    assert [file.role for file in job.inputs] == ["queries", "targets"]
    assert all("/" not in file.name for file in job.inputs)
    assert [site.storage.files.path(file.digest).read_bytes() for file in job.inputs] == [b">a\nMKV", b"\x1f\x8b"]


@pytest.mark.parametrize(
    ("fields", "sentence", "at"),
    [
        ({"queries__text": " \n"}, "Queries: nothing is given: paste text, or choose a file", "queries-error"),
        (
            {"queries__text": ">a\nM", "opt__top": "many"},
            "Best targets per query: 'many' is not a whole number",
            "opt.top-error",
        ),
        (
            {"queries__text": ">a\nM", "opt__min_score": "inf"},
            "Minimum score: 'inf' is not a number",
            "opt.min_score-error",
        ),
    ],
)
def test_mistakes_stand_beside_their_fields_and_nothing_is_lost(site, fields, sentence, at):
    answer = site.send("pairs", **fields, title="Kept title", opt__mode="global")
    page = check_page(parsed(answer.text))
    assert answer.status_code == 422
    assert page.one("p", id=at).text == sentence
    assert page.one("div", id="errors").text == sentence and "hidden" not in page.one("div", id="errors").attributes
    assert page.one("input", id="title")["value"] == "Kept title"
    chosen = [
        option.text for option in page.one("select", id="opt.mode").all("option") if "selected" in option.attributes
    ]
    assert chosen == ["global"]
    assert page.one("textarea", id="queries.text").text.strip() == fields["queries__text"].strip()


def test_what_is_sent_is_kept_to_its_user(site):
    answer = site.send("pairs", queries__kept=f"file:{'0' * 64}:a.fa")
    assert answer.status_code == 422
    answer = site.send("pairs", queries__kept="file:../../etc/passwd:a.fa")
    assert answer.status_code == 422
    answer = site.send("pairs", queries__kept="nonsense")
    assert answer.status_code == 422
    answer = site.http.post("/new/pairs", files={"queries.text": (None, "")}, headers={"Accept": "application/json"})
    assert answer.status_code == 422
    assert answer.json() == {"error": "Queries: nothing is given: paste text, or choose a file", "field": "queries"}


def test_a_job_is_run_again_with_changes(site):
    first = site.submit(queries__text=">a\nMKV", opt__mode="global", opt__strict="1", outputs=["report"], tags="x")
    page = check_page(site.page(f"/new/pairs?from={first.id}"))
    assert page.one("textarea", id="queries.text").text.strip() == ">a\nMKV"
    assert "checked" in page.one("input", id="opt.strict").attributes
    assert "checked" in page.one("input", id="out.report").attributes
    assert page.one("input", id="tags")["value"] == "x"
    answer = site.send("pairs", [("queries.file", ("big.fa", b">a\nMKV"))])
    id = answer.headers["location"].rpartition("/")[2]
    kept = site.page(f"/new/pairs?from={id}").one("input", name="queries.kept")["value"]
    again = site.submit(queries__kept=kept, opt__mode="local")
    assert [file.name for file in again.inputs] == ["big.fa"]


ALIGNED = ("a.fasta", "text/plain", b">a\nMKVLAW\n>b\nMKILAW\n>c\nMKVL-W\n")


def test_a_result_is_used_as_input_of_another_job(site):
    job = site.submit("msa", family__text=">a\nMKVLAW\n>b\nMKILAW\n>c\nMKVLW\n", title="Three")
    site.finish(job, main=ALIGNED)
    page = check_page(site.page(f"/jobs/{job.id}"))
    forms = {link.text: link["href"] for link in page.one("nav", **{"aria-label": "Use a.fasta"}).all("a")}
    assert {*forms} == {served_verb(name).title for name in ("tree", "build", "score", "place")}
    kept = check_page(site.page(forms["Place reads"])).one("input", name="reference.kept")
    assert "checked" in kept.attributes and kept["value"] == f"job:{job.id}:main:a.fasta"
    form = check_page(site.page(forms["Make a tree"]))
    assert "Result of “Three”: a.fasta" in text_of(form)
    made = site.submit("tree", queries__text="", taxa__kept=form.one("input", name="taxa.kept")["value"])
    assert made.command == "tropalign tree a.fasta -o a.nwk"
    assert made.inputs[0].digest == job_output(site, job).digest and made.sources == (job.id,)
    shown = check_page(site.page(f"/jobs/{made.id}"))
    assert f"/jobs/{job.id}" in [link["href"] for link in shown.all("a")]
    site.http.delete(f"/api/v1/jobs/{job.id}").raise_for_status()
    assert "another job" not in text_of(check_page(site.page(f"/jobs/{made.id}")))
    again = site.page(f"/new/tree?from={made.id}").one("input", name="taxa.kept")["value"]
    assert site.submit("tree", queries__text="", taxa__kept=again, opt__method="upgma").inputs[0].name == "a.fasta"
    answer = site.send("tree", taxa__kept=f"job:{job.id}:main:a.fasta")
    sentence = "the job whose result is to be read was deleted or belongs to another user: give the file"
    assert answer.status_code == 422
    assert sentence in check_page(parsed(answer.text)).one("p", id="taxa-error").text
    assert site.send("tree", taxa__kept="job:").status_code == 422
    assert site.http.get(forms["Make a tree"]).status_code == 404


def test_a_result_that_is_still_to_come_is_used_and_waited_for(site):
    job = site.submit("msa", family__text=">a\nMKVLAW\n>b\nMKILAW\n>c\nMKVLW\n", title="Three")
    page = check_page(site.page(f"/jobs/{job.id}"))
    forms = {link.text: link["href"] for link in page.one("nav", **{"aria-label": "Use pasted.fasta"}).all("a")}
    form = check_page(site.page(forms["Make a tree"]))
    assert "Result of “Three”, for which the new job will wait: pasted.fasta" in text_of(form)
    made = site.submit("tree", queries__text="", taxa__kept=form.one("input", name="taxa.kept")["value"])
    page = check_page(site.page(f"/jobs/{made.id}"))
    assert "waits for the job “Three”" in text_of(page) and "This job reads a result of Three." in text_of(page)
    again = site.page(f"/new/tree?from={made.id}").one("input", name="taxa.kept")["value"]
    assert again == f"job:{job.id}:main:pasted.fasta"
    site.finish(job, main=("pasted.fasta", *ALIGNED[1:]))
    claimed = site.storage.queue.claim("a test", 60.0, 10)
    assert claimed.id == made.id and claimed.inputs[0].digest == job_output(site, job).digest


def test_what_no_verb_reads_is_not_offered(site):
    job = site.submit("msa", family__text=">a\nMKVLAW\n>b\nMKILAW\n", format="html")
    site.finish(job, main=("a.html", "text/html", b"<p>"))
    assert "as input of" not in text_of(check_page(site.page(f"/jobs/{job.id}")))
    assert site.http.get(f"/new/tree?use={job.id}").status_code == 404
    form = check_page(site.page("/new/cluster"))
    assert "checked" in form.one("input", id="out.representatives").attributes
    job = site.submit("cluster", queries__text=">a\nMKVLAW\n", opt__min_identity="0.9", outputs=["representatives"])
    site.finish(job, main=TSV, representatives=("r.fasta", "text/plain", b">a\nMKVLAW\n"))
    page = check_page(site.page(f"/jobs/{job.id}"))
    links = [link["href"] for link in page.one("nav", **{"aria-label": "Use r.fasta"}).all("a")]
    assert links == [f"/new/{verb}?use={job.id}&role=representatives" for verb in ("place", "msa", "find", "cluster")]
    site.storage.jobs.set_shared(job.id, True)
    seen = site.page(f"/shared/{site.storage.jobs.get(job.id).share}")
    assert "as input of" not in text_of(seen)


def job_output(site, job):
    return site.storage.jobs.get(job.id).outputs[0]


def test_a_job_shows_where_it_stands(site):
    job, later = site.submit(title="First"), site.submit(queries__text=">z\nMKVL", title="Second")
    page = check_page(site.page(f"/jobs/{later.id}"))
    assert "waiting for a worker: none is running (number 2 in the queue)" in text_of(page)
    assert page.one("progress", id="progress")["max"] == "100"
    claimed = site.storage.queue.claim("a test", 60.0, 10)
    assert claimed.id == job.id
    site.storage.queue.renew(job.id, claimed.attempt, 60.0, "aligning", 0.429)
    page = check_page(site.page(f"/jobs/{job.id}"))
    assert page.one("progress", id="progress")["value"] == "42" and "aligning" in text_of(page)
    assert page.one("meta", **{"http-equiv": "refresh"}).above("noscript")


def test_a_finished_job_shows_its_result(site):
    job = site.submit(title="Done")
    site.finish(job, main=TSV)
    page = check_page(site.page(f"/jobs/{job.id}"))
    assert [cell.text for cell in page.one("table", class_="data").all("th")] == ["query", "target", "score"]
    assert [cell.text for cell in page.one("table", class_="data").all("td")] == ["a", "b", "17", "c", "d", "5"]
    assert job.command in text_of(page)
    links = {link["href"] for link in page.all("a") if "download" in link.attributes}
    assert f"/api/v1/jobs/{job.id}/files/main" in links
    assert all(site.http.get(link).status_code == 200 for link in links)
    assert not list(page.all("iframe")) and not list(page.all("progress"))


def test_a_report_stands_in_a_frame_that_is_an_origin_of_its_own(site):
    job = site.submit(outputs=["report"])
    site.finish(job, main=TSV, report=REPORT)
    page = check_page(site.page(f"/jobs/{job.id}"))
    frame = page.one("iframe")
    assert frame["sandbox"] == "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"
    assert site.http.get(frame["src"]).content == REPORT[2]


def test_a_list_shows_what_jobs_took_and_several_are_stopped_or_deleted(site):
    done, *waiting = (site.submit(queries__text=f">a{k}\nMKV", title=f"job{k}") for k in range(4))
    site.finish(done, main=TSV)
    page = check_page(site.page("/jobs"))
    last = list(page.one("tbody").all("tr"))[-1]
    assert last.one("input", type="checkbox")["value"] == done.id
    took, size = (cell.text for cell in last.all("td", class_="number quiet"))
    assert took.endswith(" s") and size == f"{len(TSV[2])} bytes"
    assert not list(check_page(site.page("/")).all("input", type="checkbox"))
    chosen = [done.id, waiting[0].id, "nonsense", "a" * 26]
    assert site.http.post("/jobs", data={"do": "cancel", "job": chosen}).headers["location"] == "/jobs"
    states = [site.storage.jobs.get(job.id).state for job in (done, *waiting)]
    assert states == [State.DONE, State.CANCELLED, State.QUEUED, State.QUEUED]
    answer = site.http.post("/jobs", data={"do": "delete", "job": chosen})
    asks = check_page(parsed(answer.text))
    assert answer.status_code == 200 and asks.one("h1").text == "Delete 2 jobs?"
    assert [each.text for each in asks.one("ul").all("li")] == ["job0", "job1"]
    sent = [(each["name"], each["value"]) for each in asks.one("main").all("input")]
    assert {name for name, _ in sent} == {"csrf", "job", "do", "sure"}
    data = {"do": "delete", "sure": "1", "job": [value for name, value in sent if name == "job"]}
    assert site.http.post("/jobs", data=data).status_code == 303
    assert [job.title for job in site.storage.jobs.lines(Search("local")).jobs] == ["job3", "job2"]
    assert site.http.post("/jobs", data={"do": "delete"}).status_code == 303


def test_jobs_of_others_are_not_chosen(closed_site):
    site = closed_site
    site.log_in("alice")
    job = site.submit()
    site.log_in("bob")
    word = next(site.page("/databases").all("input", name="csrf"))["value"]
    for what in ("cancel", "delete"):
        answer = site.http.post("/jobs", data={"do": what, "sure": "1", "job": job.id, "csrf": word})
        assert answer.status_code == 303
    assert site.storage.jobs.get(job.id).state is State.QUEUED


def test_a_job_says_until_when_it_is_kept(tmp_path, server_modules):
    from tropalign.serve.web.api_models import moment
    from tropalign.serve.web.views import when

    made = Site(Settings(folder=tmp_path / "server", keep_days=30))
    try:
        job = made.submit()
        assert "Results are kept for 30 days." in text_of(check_page(made.page("/new/find")))
        assert "kept until" not in text_of(check_page(made.page(f"/jobs/{job.id}")))
        made.finish(job, main=TSV)
        until = made.storage.jobs.get(job.id).finished + 30 * 86400
        assert f"kept until {when(until)} UTC" in text_of(check_page(made.page(f"/jobs/{job.id}")))
        assert made.http.get(f"/api/v1/jobs/{job.id}").json()["kept_until"] == moment(until)
    finally:
        made.close()


def test_a_form_begins_with_sequences_and_tells_the_queue_and_limits(site):
    site.submit(queries__text=">z\nMKV")
    page = check_page(site.page("/new/pairs"))
    fields = [each.get("id") for each in page.one("form", id="job").all("textarea", "select", "button")]
    assert fields[0] == "queries.text" and fields.index("send") < fields.index("opt.mode") < fields.index("format")
    words = text_of(page)
    assert "Waiting now: 1 (1 yours); running: 0. Each user may have 2 running and 100 waiting" in words
    assert "each job 4.0 GB of memory, 24 h and 5,000,000 sequences; each file 500.0 MB." in words


def test_a_form_says_before_that_too_many_jobs_wait(tmp_path, server_modules):
    made = Site(Settings(folder=tmp_path / "server", limits=Limits(queued_per_user=1)))
    try:
        assert "limit of waiting jobs" not in text_of(made.page("/new/pairs"))
        made.submit()
        assert "You have reached the limit of waiting jobs (1)" in text_of(check_page(made.page("/new/pairs")))
    finally:
        made.close()


@pytest.mark.parametrize("state", [State.FAILED, State.REFUSED])
def test_a_failure_is_told_in_full(site, state):
    job = site.submit()
    sentence = f"a.fa, line 3: {HOSTILE} is no residue: " + "take it out " * 50
    site.finish(job, state, sentence.strip())
    page = check_page(site.page(f"/jobs/{job.id}"))
    assert page.one("p", role="alert").text.strip() == sentence.strip()


def test_names_are_text_everywhere(site):
    job = site.submit(queries__text=">a\nM", title=HOSTILE, tags=f"{HOSTILE},y")
    answer = site.send("pairs", [("queries.file", (f"{HOSTILE}.fa", b">b\nM"))], title="other")
    other = answer.headers["location"].rpartition("/")[2]
    content = f"query\t{HOSTILE}\n{HOSTILE}\t</td><script>alert(1)</script>\n".encode()
    site.finish(job, main=("x.tsv", "text/tab-separated-values", content))
    site.storage.jobs.set_shared(job.id, True)
    secret = site.storage.jobs.get(job.id).share
    paths = ["/", "/jobs", f"/jobs?q={HOSTILE}&tag={HOSTILE}", f"/jobs/{job.id}", f"/jobs/{job.id}/delete"]
    paths += [f"/jobs/{other}", f"/new/pairs?from={job.id}", f"/new/pairs?from={other}", f"/shared/{secret}"]
    for path in paths:
        answer = site.http.get(path)
        assert answer.status_code == 200
        page = check_page(parsed(answer.text))
        assert not list(page.all("img")) and "<script>alert" not in answer.text
    assert HOSTILE in site.page(f"/jobs/{job.id}").one("h1").text


def test_past_jobs_are_found_and_paged(site):
    for k in range(53):
        site.storage.jobs.cancel(site.submit(queries__text=f">a{k}\nMKV", title=f"job{k}", tags=f"t{k % 2}").id)
    first = check_page(site.page("/jobs"))
    assert len(list(first.one("tbody").all("tr"))) == 50
    older = check_page(site.page(first.one("a", rel="next")["href"]))
    assert [row.one("a", class_="name").text for row in older.one("tbody").all("tr")] == ["job2", "job1", "job0"]
    assert "Newest" in text_of(older)
    found = site.page("/jobs?q=job17&state=cancelled&verb=pairs&tag=t1")
    assert [row.one("a", class_="name").text for row in found.one("tbody").all("tr")] == ["job17"]
    assert "No job matches all of the filters." in text_of(site.page("/jobs?q=job17&tag=t0"))
    assert site.http.get("/jobs?state=nonsense&verb=rm&after=x'y").status_code in (200, 422)


def test_lists_are_live_while_something_is_going_on(site):
    job = site.submit()
    assert site.page("/jobs").one("div", id="jobs")["data-poll"] == "5"
    assert site.page("/").one("div", id="jobs")["data-poll"] == "5"
    site.finish(job, main=TSV)
    assert "data-poll" not in site.page("/jobs").one("div", id="jobs").attributes


def test_a_result_of_one_long_line_is_wrapped(site):
    job = site.submit()
    site.finish(job, main=("a.nwk", "text/plain", b"(a:1,b:2);\n"))
    assert "wrap" in page_classes(site.page(f"/jobs/{job.id}"))


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        ({"queries__text": ">sp|Q1|EFP the first\nMKV\n>b\nMKL\n>c\nMKL"}, "pairs sp|Q1|EFP and 2 more"),
        ({"queries__text": ">a\nMKV", "targets__text": ">b\nMKL"}, "pairs a and b"),
        ({"queries__text": ">a\nMKV\n>c\nMKL", "targets__text": ">b\nMKL"}, "pairs a and 1 more, b"),
        ({"queries__text": ">\nMKV"}, "pairs pasted.fa"),
    ],
)
def test_without_a_title_what_was_pasted_is_called_by_its_first_name(site, texts, title):
    assert site.submit(**texts).title == title


def test_a_database_without_a_name_is_called_by_its_file(site):
    body = {"verb": "db build", "inputs": {"sources": [{"text": ">a\nMKV\n", "name": "swissprot.fa"}]}}
    answer = site.http.post("/api/v1/jobs", json=body)
    assert answer.json()["title"] == "swissprot.fa", answer.text


def test_title_tags_and_format_are_changed(site):
    job = site.submit()
    answer = site.http.post(f"/jobs/{job.id}/edit", data={"title": "New  title", "tags": "one, two"})
    assert answer.status_code == 303
    changed = site.storage.jobs.get(job.id)
    assert (changed.title, changed.tags) == ("New title", ("one", "two"))
    site.http.post(f"/jobs/{job.id}/edit", data={"title": " ", "tags": ""})
    assert site.storage.jobs.get(job.id).title == "New title"
    site.finish(job, main=TSV)
    page = site.page(f"/jobs/{job.id}")
    assert page.one("form", action=f"/jobs/{job.id}/formats/paf")
    answer = site.http.post(f"/jobs/{job.id}/formats/paf")
    other = site.storage.jobs.get(answer.headers["location"].rpartition("/")[2])
    assert other.id != job.id and other.request["format"] == "paf"
    assert site.http.post(f"/jobs/{job.id}/formats/exe").status_code == 422


def test_a_job_is_shared_read_only_until_it_is_not(site):
    job = site.submit(title="Shared")
    site.finish(job, main=TSV, report=REPORT)
    site.http.post(f"/jobs/{job.id}/share")
    secret = site.storage.jobs.get(job.id).share
    page = check_page(site.page(f"/jobs/{job.id}"))
    assert f"{site.url}/shared/{secret}" in text_of(page)
    seen = check_page(site.page(f"/shared/{secret}"))
    assert not list(seen.all("form")) and job.id not in str(site.http.get(f"/shared/{secret}").text)
    assert site.http.get(seen.one("iframe")["src"]).content == REPORT[2]
    assert all(site.http.get(a["href"]).status_code == 200 for a in seen.all("a") if "download" in a.attributes)
    site.http.post(f"/jobs/{job.id}/unshare")
    assert "no longer shared" in text_of(check_page(site.page(f"/shared/{secret}", 404)))


def test_a_job_is_cancelled_and_deleted_after_a_question(site):
    job = site.submit(title="Doomed")
    site.http.post(f"/jobs/{job.id}/cancel")
    assert site.storage.jobs.get(job.id).state is State.CANCELLED
    site.http.post(f"/jobs/{job.id}/cancel")
    assert [entry.action for entry in site.storage.audit.entries()].count("cancel") == 1
    page = check_page(site.page(f"/jobs/{job.id}/delete"))
    assert "Doomed" in page.one("h1").text
    assert site.http.get(f"/jobs/{job.id}").status_code == 200
    assert site.http.post(page.one("main").one("form")["action"]).headers["location"] == "/jobs"
    assert "there is no such job" in text_of(check_page(site.page(f"/jobs/{job.id}", 404)))


def test_another_format_leaves_out_what_does_not_go_with_it(site):
    job = site.submit(opt__columns="query,target")
    answer = site.http.post(f"/jobs/{job.id}/formats/paf")
    assert answer.status_code == 303, answer.text
    other = site.storage.jobs.get(answer.headers["location"].rpartition("/")[2])
    assert (other.request["format"], other.request["options"]) == ("paf", {})


def test_databases_are_listed_used_and_deleted(site):
    stored = site.storage.files.add_bytes(b"a store")
    for id, owner in (("a" * 26, "local"), ("b" * 26, "other")):
        site.storage.databases.add(
            Database(id, owner, f"{owner} {HOSTILE}", "protein", 12_000, 3_500_000, stored.digest, stored.size, 1e9)
        )
    page = check_page(site.page("/databases"))
    assert "12,000" in text_of(page) and "3,500,000" in text_of(page)
    assert len([link for link in page.all("a") if link.text.startswith("Delete")]) == 1
    form = check_page(site.page(f"/new/search?database={'a' * 26}"))
    chosen = [
        option
        for option in form.one("select", id="sequences.database").all("option")
        if "selected" in option.attributes
    ]
    assert [option["value"] for option in chosen] == ["a" * 26]
    job = site.submit(queries__text=">a\nM", targets__database="a" * 26)
    assert job.inputs[1].database == "a" * 26
    check_page(site.page(f"/databases/{'a' * 26}/delete"))
    assert site.http.post(f"/databases/{'b' * 26}/delete").status_code == 404
    assert site.http.get(f"/databases/{'b' * 26}/delete").status_code == 404
    waits = site.http.post(f"/databases/{'a' * 26}/delete")
    assert waits.status_code == 422 and "wait" in text_of(check_page(parsed(waits.text)))
    site.storage.jobs.cancel(job.id)
    site.http.post(f"/databases/{'a' * 26}/delete")
    assert [each.id for each in site.storage.databases.list("other")] == ["b" * 26]
    assert site.storage.databases.list("local") == ()


def test_installed_databases_are_offered_and_cannot_be_deleted(site, tmp_path):
    from tropalign.sequences import SequenceStore
    from tropalign.serve.storage.databases import InstalledDatabases

    (tmp_path / "a.fa").write_text(">a\nMKVLAW\n>b\nMKILAW\n")
    SequenceStore.build(tmp_path / "a.fa", tmp_path / "swissprot.tdb")
    site.storage.databases.installed = InstalledDatabases(tmp_path)
    (installed,) = site.storage.databases.list("local")
    page = check_page(site.page("/databases"))
    assert "this server" in text_of(page) and not [link for link in page.all("a") if link.text.startswith("Delete")]
    first = next(check_page(site.page("/")).one("ul", class_="verbs").all("a"))
    assert (first.text, first["href"]) == ("Search a database", "/new/find")
    for slug, dest in (("find", "targets"), ("search", "sequences"), ("msa", "homologs")):
        form = check_page(site.page(f"/new/{slug}"))
        words = {option["value"]: option.text for option in form.one("select", id=f"{dest}.database").all("option")}
        assert words[installed.id] == "swissprot (protein, 2 sequences, of this server)"
    job = site.submit("find", queries__text=">q\nMKVLAW", targets__database=installed.id)
    assert job.inputs[1].database == installed.id and job.title == "find q and swissprot"
    check_page(site.page(f"/jobs/{job.id}"))
    assert site.http.get(f"/databases/{installed.id}/delete").status_code == 404


def test_a_database_is_shared_by_its_form_and_by_the_list(closed_site):
    site = closed_site
    site.log_in("alice")
    form = check_page(site.page("/new/db-build"))
    assert "only you can see and use the database" in text_of(form)
    assert "checked" not in form.one("input", id="shared").attributes
    job = site.submit("db-build", sources__text=">a\nMKV", title="mine", shared="1")
    assert job.request["shared"] is True
    again = check_page(site.page(f"/new/db-build?from={job.id}"))
    assert "checked" in again.one("input", id="shared").attributes
    stored = site.storage.files.add_bytes(b"a store")
    site.storage.databases.add(Database("a" * 26, "alice", "mine", "protein", 1, 3, stored.digest, 7, 1e9))
    site.storage.databases.add(Database("b" * 26, "bob", "bob's", "protein", 1, 3, stored.digest, 7, 1e9))
    assert "bob's" not in text_of(site.page("/databases"))
    site.storage.databases.set_shared("b" * 26, True)
    listed = text_of(check_page(site.page("/databases")))
    assert "alice, not shared" in listed and "bob's" in listed
    word = next(site.page("/databases").all("input", name="csrf"))["value"]
    for action, shared in (("share", True), ("unshare", False)):
        assert site.http.post(f"/databases/{'a' * 26}/{action}", data={"csrf": word}).status_code == 303
        assert site.storage.databases.get("a" * 26).shared is shared
    assert site.http.post(f"/databases/{'b' * 26}/unshare", data={"csrf": word}).status_code == 404


def test_files_without_a_job_are_listed_and_deleted(site):
    file = site.storage.uploads.keep_bytes("local", b"x", HOSTILE)
    page = check_page(site.page("/files"))
    assert HOSTILE in text_of(page)
    assert site.http.post(f"/files/{file.digest}/delete").headers["location"] == "/files"
    assert "There are no such files." in text_of(check_page(site.page("/files")))
    assert site.http.post(f"/files/{file.digest}/delete").status_code == 404


def test_errors_are_pages(site):
    for path, status in (("/nothing", 404), ("/jobs/nothing", 404), ("/new/rm", 404), ("/static/x.css", 404)):
        page = check_page(site.page(path, status))
        assert page.one("p", role="alert").text.strip()
    assert "Not found" in site.page("/nothing", 404).one("h1").text


def test_who_has_no_token_is_asked_for_it(closed_site):
    site = closed_site
    _, secret = site.storage.tokens.add("alice")
    answer = site.http.get("/jobs")
    assert answer.headers["location"] == "/login?next=/jobs"
    page = check_page(site.page(answer.headers["location"]))
    form = page.one("form")
    data = {field["name"]: field["value"] for field in form.all("input") if field.get("type") == "hidden"}
    wrong = site.http.post("/login", data={**data, "token": "trop_x"})
    assert wrong.status_code == 401
    assert "not valid" in check_page(parsed(wrong.text)).one("p", id="error").text
    right = site.http.post("/login", data={**data, "token": secret})
    assert (right.status_code, right.headers["location"]) == (303, "/jobs")
    page = check_page(site.page("/jobs"))
    assert "alice" in page.one("header").text and "Log out" in page.one("header").text


def test_static_files_are_small_and_kept_by_their_content(site):
    page = site.page("/")
    links = [element.get("href") or element.get("src") for element in page.all("link", "script")]
    assert len(links) == 3 and all(re.search(r"\?v=[0-9a-f]{12}$", link) for link in links)
    for link in links:
        assert site.http.get(link).headers["cache-control"] == "public, max-age=31536000, immutable"
        assert site.http.get(link.partition("?")[0]).headers["cache-control"] == "no-cache"
        assert "immutable" not in site.http.get(link.partition("?")[0] + "?v=0123").headers["cache-control"]
    assert (WEB / "static" / "page.css").stat().st_size < 20_000
    assert sum(path.stat().st_size for path in (WEB / "static").glob("*.js")) < 15_000


def test_colours_are_those_of_the_reports():
    reports = (WEB.parents[1] / "formats" / "pages" / "frame" / "frame.css").read_text()
    pages = (WEB / "static" / "page.css").read_text()
    themes = re.findall(r":root[^{]*\{([^}]*)\}", pages)
    light, system_dark, dark = ("".join(theme.split()) for theme in (themes[0], themes[1], themes[2]))
    assert system_dark == dark
    for theirs, ours in zip(re.findall(r":root[^{]*\{([^}]*)\}", reports), (light, dark), strict=True):
        for name, value in re.findall(r"--(page|panel|line|text|accent|on-accent|quiet): *(#\w+)", theirs):
            assert f"--{name}:{value};" in ours


def test_the_theme_is_remembered_and_help_has_the_servers_address(site):
    assert "class" not in site.page("/").one("html").attributes
    site.http.cookies.set("theme", "dark")
    assert site.page("/").one("html")["class"] == "dark"
    site.http.cookies.set("theme", '"><script>')
    assert "class" not in site.page("/").one("html").attributes
    page = text_of(site.page("/help"))
    assert f"--server {site.url}" in page and "/api/v1/jobs/{id}/events" in page


def test_what_is_pasted_begins_with_a_name_and_keeps_that_of_an_example(site):
    answer = site.send("pairs", queries__text="MKVLA\n")
    assert answer.status_code == 422
    sentence = "Queries: this does not start with a name: put a line with > and a name before each sequence"
    assert check_page(parsed(answer.text)).one("p", id="queries-error").text == sentence
    from tropalign.serve.web.forms import example_bytes

    skip_without(served_verb("pairs"))
    text = example_bytes("efp.fasta").decode().replace("\n", "\r\n")
    assert [file.name for file in site.submit(queries__text=text).inputs] == ["efp.fasta"]
    assert [file.name for file in site.submit(queries__text=text + ">more\r\nMKV").inputs] == ["pasted.fa"]


def test_a_job_says_how_programs_ask_for_it(site):
    job = site.submit(queries__text=">a\nMKV\n>b\nMKL", title="Mine")
    texts = [each.text for each in site.page(f"/jobs/{job.id}").all("pre")]
    assert any(f"tropalign submit --fetch {job.id} -o pasted.tsv --server {site.url}" in text for text in texts)
    assert any(f'connect("{site.url}").job("{job.id}")' in text for text in texts)
    assert any(f"{site.url}/api/v1/jobs/{job.id}/files/main" in text for text in texts)


def test_a_message_names_options_as_the_form_does_and_a_failed_job_has_no_result_to_fetch(site):
    job = site.submit()
    site.finish(job, State.FAILED, "a.fa: for sequences that are not aligned, add --unaligned")
    page = site.page(f"/jobs/{job.id}")
    assert page.one("p", role="alert").text.endswith("add “Sequences are not aligned”")
    assert "--fetch" not in page.text


def page_classes(page):
    return next(each["class"] for each in page.all("pre") if "preview" in each.get("class", "")).split()


def test_an_administrator_sees_and_stops_jobs_of_all(site):
    site.log_in("bob")
    job = site.submit(title="Of bob")
    site.log_in("alice")
    assert "User (* for all)" not in text_of(check_page(site.page("/jobs")))
    site.page("/jobs?user=*", 403)
    site.storage.users.set("alice", is_administrator=True)
    for user in ("*", "bob"):
        page = check_page(site.page(f"/jobs?user={user}"))
        assert "Of bob" in text_of(page) and f"/jobs/{job.id}" not in [link["href"] for link in page.all("a")]
    csrf = next(iter(page.all("input", name="csrf")))["value"]
    assert site.http.post("/jobs", data={"do": "cancel", "job": job.id, "csrf": csrf}).status_code == 303
    assert site.storage.jobs.get(job.id).state == "cancelled"
    site.page(f"/jobs/{job.id}", 404)
    check_page(site.page("/databases"))
