"""Pages in Chromium: forms filled in, jobs computed and their results read, by whoever sees, hears or types."""

import json
import time
from pathlib import Path

import pytest
from serve.pages.site import skip_without

from tropalign.serve.records import State
from tropalign.submissions.verbs import SERVED, served_verb

HERE = Path(__file__).parent
HOSTILE = "<img/src=x/onerror=document.title='owned'>"
FASTA = ">first\nMKVLAAGIVGLPNVGKSTLFN\n>second\nMKVLAAGIIGLPNVGKSTLFN\n>third\nMRVLAGIVGLPNVGSTLFNAL\n"
#: Every text against what is behind it, as WCAG reckons contrast: those below 4.5.
LOW_CONTRAST = (HERE / "low_contrast.js").read_text()
#: Shows what a page folds away.
OPEN_ALL = "for (const details of document.querySelectorAll('details')) details.open = true"
#: What only the verb finds wrong: a name that stands twice.
WRONG = ">a\nMKV\n>a\nMKV\n"
#: Drops files, each (name, text), on what a selector finds.
DROP = """
const [selector, files] = arguments, moved = new DataTransfer();
for (const [name, text] of files) moved.items.add(new File([text], name));
for (const kind of ["dragenter", "dragover", "drop"])
  document.querySelector(selector)
    .dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: moved}));
"""


class Visitor:
    def __init__(self, browser, site):
        self.browser, self.site = browser, site

    def look(self, is_dark=False, width=1300, height=900):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def command(self, name, **words):
        return self.browser.execute_cdp_cmd(name, words)

    def go(self, path):
        self.browser.get(self.site.url + path)

    def one(self, selector):
        (found,) = self.browser.find_elements("css selector", selector)
        return found

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def fill(self, selector, text):
        self.run("arguments[0].value = arguments[1]", self.one(selector), text)

    def until(self, happens, seconds=180):
        """Waits; what hangs fails."""
        from selenium.common.exceptions import WebDriverException

        end, last = time.monotonic() + seconds, None
        while time.monotonic() < end:
            try:
                if found := happens():
                    return found
            except (WebDriverException, ValueError) as error:
                last = error  # the page is just being replaced, for which the driver has many words
            time.sleep(0.05)
        where = f"{self.browser.current_url}: {self.browser.page_source[:3000]}"
        raise AssertionError(f"waited for {seconds} s at {where}") from last

    def click(self, selector):
        """Clicks on the only one of these, as soon as it is there; it was not clicked where the driver says no."""
        self.until(lambda: self.one(selector).click() or True)

    def until_job(self, state="done"):
        self.until(lambda: "/jobs/" in self.browser.current_url)
        self.until(lambda: self.one(".lead .state").text.startswith(state))
        return self.site.storage.jobs.get(self.browser.current_url.rpartition("/")[2])

    def until_report(self, happens):
        def inside():
            self.browser.switch_to.default_content()
            self.browser.switch_to.frame(self.one("iframe"))
            return happens()

        try:
            self.until(inside)
        finally:
            self.browser.switch_to.default_content()

    def complaints(self):
        """What the browser has to say since it was asked last."""
        return [entry["message"] for entry in self.browser.get_log("browser")]


@pytest.fixture
def visitor(browser, working_site):
    """A visitor; in the end there must be no complaint of the browser's, and nothing from elsewhere."""
    browser.get(working_site.url + working_site.login)
    found = Visitor(browser, working_site)
    found.look()
    found.complaints()
    yield found
    assert found.complaints() == []
    names = found.run("return performance.getEntriesByType('resource').map(one => one.name)")
    assert all(name.startswith(working_site.url) for name in names)
    browser.delete_all_cookies()
    found.command("Emulation.clearDeviceMetricsOverride")
    found.command("Emulation.setScriptExecutionDisabled", value=False)
    browser.get("about:blank")


@pytest.fixture(scope="module")
def done_job(working_site):
    job = working_site.submit(queries__text=FASTA, outputs=["report"], title="A finished job", tags="one,two")
    end = time.monotonic() + 180
    while not (job := working_site.storage.jobs.get(job.id)).state.is_final:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert job.state is State.DONE, job.message
    return job


def test_sequences_are_pasted_and_the_report_is_read(visitor):
    visitor.go("/")
    visitor.one("a[href='/new/pairs']").click()
    visitor.fill("[id='queries.text']", FASTA)
    visitor.one("#title").send_keys("Pasted")
    visitor.one("#send").click()
    job = visitor.until_job()
    assert (job.title, job.state) == ("Pasted", State.DONE)
    visitor.until_report(lambda: "3 pairs" in visitor.one("#facts").text)


@pytest.mark.parametrize("slug", [name.replace(" ", "-") for name in SERVED])
def test_every_verb_runs_on_its_example(visitor, slug):
    verb = served_verb(slug.replace("-", " "))
    skip_without(verb)
    visitor.go(f"/new/{slug}")
    visitor.one("a[href$='example=1']").click()
    visitor.until(lambda: visitor.browser.current_url.endswith("example=1"))
    visitor.one("#send").click()
    job = visitor.until_job()
    assert {file.role for file in job.outputs} >= {"main"} | ({"report"} if verb.report else set())
    if verb.report is not None:
        visitor.until_report(lambda: visitor.one("#facts").text not in ("", "reading ..."))
    elif slug == "db-build":
        assert [each.name for each in visitor.site.storage.databases.list("local")] == [job.title]
    else:
        visitor.until(lambda: visitor.one("#preview-title").is_displayed())


def test_a_file_dropped_anywhere_goes_to_the_first_empty_input(visitor):
    visitor.go("/new/pairs")
    visitor.run(DROP, "h1", [["a.fa", FASTA]])
    visitor.run(DROP, "h1", [["b.fa", FASTA]])
    names = "return ['queries', 'targets'].map(dest => document.getElementById(`${dest}.file`).files[0].name)"
    assert visitor.run(names) == ["a.fa", "b.fa"]
    visitor.run(DROP, "[data-dest=queries] textarea", [["c.fa", FASTA], ["d.fa", FASTA]])
    assert visitor.run(names) == ["c.fa", "b.fa"]
    visitor.one("#send").click()
    assert [file.name for file in visitor.until_job().inputs] == ["c.fa", "b.fa"]


def test_mistakes_are_told_beside_the_field_at_once(visitor):
    visitor.go("/new/pairs")
    top = visitor.one("[id='opt.top']")
    top.send_keys("many\t")
    assert visitor.one("[id='opt.top-error']").text == "many is not a whole number"
    assert top.get_attribute("aria-invalid") == "true"
    top.clear()
    top.send_keys("3\t")
    assert visitor.one("[id='opt.top-error']").text == "" and top.get_attribute("aria-invalid") is None
    visitor.one("#send").click()
    visitor.until(lambda: visitor.one("#queries-error").text.startswith("Queries: nothing is given"))
    assert visitor.run("return document.activeElement.id") == "queries.text"
    assert visitor.one("#send").is_enabled()
    (complaint,) = visitor.complaints()
    assert "422" in complaint  # the browser notes every answer of this kind


def test_a_failed_job_says_why(visitor):
    visitor.go("/new/pairs")
    visitor.fill("[id='queries.text']", WRONG)
    visitor.one("#send").click()
    visitor.until_job("failed")
    visitor.until(lambda: "'a'" in visitor.one("p[role=alert]").text)
    visitor.click("a[href*='?from=']")
    visitor.until(lambda: visitor.one("[id='queries.text']").get_attribute("value") == WRONG)


def test_the_colours_are_the_systems_until_they_are_chosen(visitor, done_job):
    shade = "return getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(255, 255, 255)", "rgb(20, 23, 28)"
    visitor.look(is_dark=True)
    visitor.go("/")
    assert visitor.run(shade) == dark and visitor.one("#theme").get_attribute("aria-pressed") == "true"
    visitor.one("#theme").click()
    assert visitor.run(shade) == light
    visitor.go(f"/jobs/{done_job.id}")
    assert visitor.run(shade) == light
    visitor.one("#theme").click()
    visitor.look(is_dark=False)
    visitor.go("/jobs")
    assert visitor.run(shade) == dark


def test_nothing_is_wider_than_the_window(visitor, done_job):
    for path in ("/", "/jobs", f"/jobs/{done_job.id}", f"/jobs/{done_job.id}/delete", "/databases", "/help", "/login",
                 "/nothing", *(f"/new/{name.replace(' ', '-')}" for name in SERVED)):  # fmt: skip
        visitor.go(path)
        visitor.run(OPEN_ALL)
        for width in (320, 760, 1300):
            visitor.look(width=width)
            visitor.until(lambda width=width: visitor.run("return innerWidth") == width)
            assert visitor.run("return document.documentElement.scrollWidth - innerWidth") <= 0, (path, width)
    assert [text for text in visitor.complaints() if "404" not in text] == []


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(visitor, done_job, is_dark):
    visitor.look(is_dark=is_dark)
    failed = visitor.site.submit(queries__text=WRONG, title="Wrong")
    visitor.until(lambda: visitor.site.storage.jobs.get(failed.id).state.is_final)
    jobs = (f"/jobs/{job.id}" for job in (done_job, failed))
    for path in (*jobs, "/", "/jobs", "/databases", "/help", "/login", "/new/pairs"):
        visitor.go(path)
        visitor.run(OPEN_ALL)
        assert visitor.run(LOW_CONTRAST) == [], path


def test_a_job_is_submitted_by_the_keyboard_alone(visitor):
    from selenium.webdriver import ActionChains, Keys

    def press(*keys):
        ActionChains(visitor.browser).send_keys(*keys).perform()

    visitor.go("/new/msa")
    press(Keys.TAB)
    assert visitor.run("return document.activeElement.className") == "skip"
    press(Keys.ENTER)
    assert visitor.run("return document.activeElement.id") == "main"
    seen = []
    while (at := visitor.run("return document.activeElement.id")) != "family.text":
        press(Keys.TAB)
        seen.append(at)
        assert len(seen) < 20, seen
    press(*FASTA.replace("\n", Keys.ENTER))
    while visitor.run("return document.activeElement.id") != "send":
        outline = visitor.run("return getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", visitor.run("return document.activeElement.outerHTML")
        press(Keys.TAB)
        seen.append("")
        assert len(seen) < 100
    press(Keys.ENTER)
    assert visitor.until_job().verb == "msa"


@pytest.mark.parametrize("slug", [name.replace(" ", "-") for name in SERVED])
def test_run_is_reached_within_twelve_tabs(visitor, slug):
    from selenium.webdriver import ActionChains, Keys

    visitor.go(f"/new/{slug}")
    ActionChains(visitor.browser).send_keys(Keys.TAB, Keys.ENTER).perform()  # past the menu
    n = 1
    while visitor.run("return document.activeElement.id") != "send":
        ActionChains(visitor.browser).send_keys(Keys.TAB).perform()
        n += 1
        assert n <= 12, visitor.run("return document.activeElement.outerHTML")


def test_control_enter_sends_from_any_field(visitor):
    from selenium.webdriver import ActionChains, Keys

    for place, title in (("[id='queries.text']", "From the text"), ("#title", "From the title")):
        visitor.go("/new/pairs")
        visitor.fill("[id='queries.text']", FASTA)
        visitor.fill("#title", title)
        visitor.one("[id='opt.min_score']").send_keys(str(len(title)))  # another job each time
        visitor.one(place).click()
        ActionChains(visitor.browser).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
        assert visitor.until_job().title == title


def test_everything_works_without_scripts(visitor, tmp_path):
    file = tmp_path / "by_hand.fasta"  # of its own: an equal job of another test would be given back
    file.write_text(">a\nMKVLAWHH\n>b\nMKILAWHH\n")
    visitor.go("/new/pairs")
    visitor.command("Emulation.setScriptExecutionDisabled", value=True)
    visitor.go("/new/pairs")
    visitor.until(lambda: not visitor.one("#theme").is_displayed())
    visitor.one("[id='queries.file']").send_keys(str(file))
    visitor.one("#title").send_keys("By hand")
    visitor.click("#send")
    job = visitor.until_job()  # the page asks for itself again
    assert (job.title, job.inputs[0].name) == ("By hand", "by_hand.fasta")
    visitor.click("form[action$='/share'] button")
    visitor.until(lambda: "/shared/" in visitor.one(".notice pre").text)
    visitor.click("a[href$='/delete']")
    visitor.click("button.danger")
    visitor.until(lambda: visitor.browser.current_url.endswith("/jobs"))
    with pytest.raises(KeyError):
        visitor.site.storage.jobs.get(job.id)


def test_names_are_text(visitor):
    files = [("queries.file", (f"{HOSTILE}.fa", f">a{HOSTILE}\nMKVLAAGIVGL\n>b{HOSTILE}\nMKVLAAGIVGL\n".encode()))]
    answer = visitor.site.send("pairs", files, title=HOSTILE, tags=HOSTILE, opt__min_score="1")
    path = answer.headers["location"]
    visitor.go(path)
    job = visitor.until_job()
    assert visitor.one("h1").text == HOSTILE and "/" not in job.inputs[0].name
    assert "<img" in visitor.one("table.data").text
    visitor.site.storage.jobs.set_shared(job.id, True)
    secret = visitor.site.storage.jobs.get(job.id).share
    for place in (path, "/", "/jobs", f"/new/pairs?from={job.id}", f"{path}/delete", f"/shared/{secret}"):
        visitor.go(place)
        assert visitor.all("img") == [] and "owned" not in visitor.run("return document.title").replace(HOSTILE, "")


def test_a_list_shows_new_states_by_itself(visitor):
    job = visitor.site.submit(verb="pairs", queries__text=WRONG, title="Watched from the list")
    visitor.go("/jobs?q=Watched")
    visitor.until(lambda: "failed" in visitor.one("tbody").text)
    visitor.until(lambda: visitor.site.storage.jobs.get(job.id).state.is_final)


def test_a_command_is_copied_by_a_button_of_one_height(visitor, done_job):
    visitor.command("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    visitor.go(f"/jobs/{done_job.id}")
    button = visitor.all("button[data-copy]")[0]
    button.click()
    visitor.until(lambda: button.text == "Copied")
    assert visitor.one("#said").get_attribute("textContent") == "Copied"
    assert json.loads(visitor.run("return JSON.stringify(arguments[0].dataset.copy)", button)) == done_job.command
    visitor.go("/help")
    height = "return arguments[0].offsetHeight"
    assert len({visitor.run(height, button) for button in visitor.all("button[data-copy]")}) == 1


def test_the_switch_of_light_and_dark_reaches_the_report(visitor, done_job):
    is_dark = "return document.documentElement.classList.contains('dark')"

    def report_is_read():
        return visitor.one("#facts").text not in ("", "reading ...")

    visitor.go(f"/jobs/{done_job.id}")
    visitor.until_report(lambda: report_is_read() and not visitor.run(is_dark))
    visitor.one("#theme").click()
    visitor.until_report(lambda: report_is_read() and visitor.run(is_dark))
    visitor.browser.refresh()
    visitor.until_report(lambda: report_is_read() and visitor.run(is_dark))


@pytest.fixture
def watcher(browser, site):
    """A visitor of a server without workers, where jobs wait until the test finishes them."""
    browser.get(site.url + site.login)
    found = Visitor(browser, site)
    yield found
    found.complaints()
    browser.get("about:blank")


def test_a_page_says_that_the_server_is_away_and_goes_on(watcher):
    job = watcher.site.submit(title="Watched")
    for path in (f"/jobs/{job.id}", "/jobs"):
        watcher.go(path)
        with watcher.site.away():
            watcher.until(lambda: "does not answer" in watcher.one("#away").text)
            assert "does not answer" in watcher.one("#said").get_attribute("textContent")
        watcher.until(lambda: not watcher.all("#away"))
    watcher.go(f"/jobs/{job.id}")
    with watcher.site.away():
        watcher.until(lambda: watcher.one("#away"))
        watcher.site.finish(job, State.FAILED, "it did not work")
    watcher.until_job("failed")


def test_jobs_of_a_list_are_ticked_and_stay_so_while_it_changes(watcher):
    first, second = (watcher.site.submit(queries__text=f">{k}\nMKV", title=f"job{k}") for k in range(2))
    watcher.go("/jobs")
    assert {place.text for place in watcher.all(".when time")} == {"just now"}
    assert all(place.get_attribute("title").endswith(" UTC") for place in watcher.all(".when time"))
    watcher.one(f"[id='job.{second.id}']").click()
    watcher.site.finish(first, State.FAILED, "it did not work")
    watcher.until(lambda: "failed" in watcher.one("tbody").text, 30)
    assert watcher.one(f"[id='job.{second.id}']").is_selected()
    assert watcher.run("return document.activeElement.id") == f"job.{second.id}"
    assert not watcher.one(f"[id='job.{first.id}']").is_selected()
    watcher.one("button[value=cancel]").click()
    watcher.until(lambda: "cancelled" in watcher.one("tbody").text)
    watcher.one("#all").click()
    assert all(box.is_selected() for box in watcher.all("tbody input"))
    watcher.one("button[value=delete]").click()
    watcher.click("button.danger")
    watcher.until(lambda: "There are no jobs yet" in watcher.one("main").text)


def test_a_watched_job_that_is_deleted_elsewhere_is_shown_as_gone(watcher):
    job = watcher.site.submit(title="Deleted")
    watcher.go(f"/jobs/{job.id}")
    watcher.site.http.delete(f"/api/v1/jobs/{job.id}").raise_for_status()
    watcher.until(lambda: "no such job" in watcher.one("main").text)
