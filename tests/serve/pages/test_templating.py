"""What of a page is kept for the next one."""

from dataclasses import replace

import pytest

pytest.importorskip("jinja2", reason="the server's modules are not installed: pip install 'tropalign[serve]'")

from tropalign.serve.records import JobLine, State
from tropalign.serve.web.forms import OptionView
from tropalign.serve.web.views import Templates


@pytest.fixture
def counted(monkeypatch):
    """What pages are made with, and the names of all templates that are filled in, one after another."""
    from jinja2 import Template

    names, render = [], Template.render
    monkeypatch.setattr(Template, "render", lambda self, **words: names.append(self.name) or render(self, **words))
    return Templates("")._environment.globals, names


def test_a_line_of_a_list_is_made_once_and_anew_when_the_job_changes(counted):
    kept, names = counted
    job = JobLine("a" * 26, "<b>", "pairs", ("x",), State.RUNNING, 0.25, 0.0)
    assert kept["line"](job, False) == kept["line"](replace(job), False)
    assert "&lt;b&gt;" in kept["line"](job, False)
    assert "25 %" in kept["line"](job, False)
    assert "26 %" in kept["line"](replace(job, progress=0.26), False)
    assert names == ["line.html"] * 2


def test_what_users_fill_in_is_not_kept(counted):
    kept, names = counted
    empty = OptionView("mode", "--mode", "Mode", "", "text", False, (), "default", "", "")
    for _ in range(3):
        kept["option"](empty)
    assert names == ["option.html"]
    for _ in range(3):
        assert "&lt;i&gt;" in kept["option"](replace(empty, value="<i>"))
    assert names == ["option.html"] * 4
