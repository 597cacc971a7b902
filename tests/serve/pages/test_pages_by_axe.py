"""axe-core finds no violation of WCAG 2.2 AA on any page of the server, nor in any report, light or dark."""

import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from serve.pages.site import skip_without

from tropalign.serve.records import State
from tropalign.serve.web.forms import example_bytes
from tropalign.submissions.verbs import SERVED, served_verb

selenium = pytest.importorskip("selenium.common.exceptions", reason="selenium is not installed")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RUN = """
const [rules, done] = arguments;
axe.run(document, {runOnly: rules, resultTypes: ["violations"]}).then(
  found => done(found.violations.map(one => [one.id, one.nodes.length, one.nodes[0].html.slice(0, 300)])),
  error => done([["axe failed", 1, String(error)]]));
"""
SLUGS = [name.replace(" ", "-") for name in SERVED]
REPORTING = [name for name in SERVED if served_verb(name).report]


@pytest.fixture(scope="session")
def axe():
    """The script, which comes with a package for this browser's driver."""
    package = Path(find_spec("selenium_axe_python").origin).parent
    return (package / "axe-core" / "axe.min.js").read_text()


@pytest.fixture
def violations(browser, working_site, axe):
    """Asks axe for what is wrong on a page, in each colour scheme."""
    browser.get(working_site.url + working_site.login)

    def ask(path):
        found = {}
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            browser.get(working_site.url + path)
            try:
                found[scheme] = browser.execute_async_script(axe + RUN, RULES)
            except selenium.JavascriptException:  # a job went on, and its page with it
                browser.get(working_site.url + path)
                found[scheme] = browser.execute_async_script(axe + RUN, RULES)
        return {scheme: wrong for scheme, wrong in found.items() if wrong}

    browser.set_script_timeout(120)
    yield ask
    browser.delete_all_cookies()
    browser.get("about:blank")


def ended(site, id):
    until = time.monotonic() + 300
    while not (job := site.storage.jobs.get(id)).state.is_final:
        assert time.monotonic() < until
        time.sleep(0.05)
    return job


@pytest.mark.parametrize(
    "path", ["/", "/jobs", "/databases", "/files", "/help", "/nothing", *(f"/new/{s}" for s in SLUGS)]
)
def test_pages(violations, path):
    assert violations(path) == {}


def test_pages_that_have_something_to_show(violations, working_site):
    site = working_site
    done = ended(site, site.submit(outputs=["report"], title="Done", tags="a").id)
    failed = ended(site, site.submit(queries__text=">a\nMKV\n>a\nMKV\n").id)
    assert (done.state, failed.state) == (State.DONE, State.FAILED)
    site.storage.users.set("local", is_administrator=True)
    secret = site.storage.jobs.set_shared(done.id, True).share
    paths = (
        f"/jobs/{done.id}", f"/jobs/{failed.id}", f"/jobs/{done.id}/delete", f"/new/pairs?from={done.id}",
        f"/shared/{secret}", "/jobs", "/jobs?user=*", "/",
    )  # fmt: skip
    assert {path: wrong for path in paths if (wrong := violations(path))} == {}


def test_a_waiting_job_and_the_login(violations, working_site, browser):
    first = working_site.submit(
        "msa", queries__text="", family__text="".join(f">s{k}\n{'MKVLAW' * 60}\n" for k in range(40))
    )
    second = working_site.http.post(
        "/api/v1/jobs", json={"verb": "tree", "inputs": {"taxa": [{"job": first.id}]}}
    ).json()
    assert violations(f"/jobs/{second['id']}") == {}
    browser.delete_all_cookies()
    assert violations("/login") == {}


@pytest.mark.parametrize("name", REPORTING)
def test_reports(violations, working_site, name):
    verb = served_verb(name)
    skip_without(verb)
    inputs = {
        dest: [{"file": _sent(working_site, example), "name": example.rpartition("/")[2]}]
        for dest, example in verb.example.items()
    }
    body = {"verb": name, "inputs": inputs, "options": dict(verb.example_options), "outputs": [verb.report]}
    answer = working_site.http.post("/api/v1/jobs", json=body)
    assert answer.status_code == 201, answer.text
    job = ended(working_site, answer.json()["id"])
    assert job.state is State.DONE, job.message
    assert violations(f"/jobs/{job.id}/report") == {}


def _sent(site, example):
    headers = {"Content-Type": "application/octet-stream"}
    answer = site.http.post("/api/v1/files?name=x", content=example_bytes(example), headers=headers)
    return answer.raise_for_status().json()["file"]
