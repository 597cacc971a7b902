import pytest

from formats.page import Opened, page_of
from formats.report_page import OpenedReport
from formats.tables import GAP, matrix_for, random_table
from formats.written import cut, written
from tropalign.formats.pairs.context import PairsContext
from tropalign.sequences import NUCLEOTIDE, PROTEIN


@pytest.fixture(params=range(3))
def proteins(request):
    return random_table(request.param)


@pytest.fixture(params=range(3))
def strands(request):
    return random_table(request.param, alphabet=NUCLEOTIDE, has_strand=True)


@pytest.fixture(params=[PROTEIN, NUCLEOTIDE], ids=["protein", "strands"])
def any_table(request):
    return random_table(7, n_rows=30, alphabet=request.param, has_strand=request.param is NUCLEOTIDE)


def context_for(table, **more):
    words = {"substitution": matrix_for(table.queries.alphabet), "gap": GAP, **more}
    return PairsContext(table.queries, table.targets, table.depth, table.strand is not None, **words)


def parts_of(writer, table, cuts=()):
    return [writer.encode(piece) for piece in cut(table, cuts)]


def pairs_file(name, table, cuts=(), kind="pairs", **more):
    """Bytes of a table in a format, cut into parts."""
    return written(kind, name, context_for(table, **more), cut(table, cuts))


@pytest.fixture
def write():
    return pairs_file


@pytest.fixture
def opened_page(browser, tmp_path):
    """Opens a page, given as bytes; in the end there must be no complaint of the browser's and no other file."""

    def open_page(page, is_dark=False, size=(1300, 800)):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        browser.set_window_size(*size)
        path = tmp_path / "page.html"
        path.write_bytes(page)
        browser.get(path.as_uri())
        return Opened(browser)

    yield open_page
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    browser.set_window_size(1300, 800)


@pytest.fixture
def opened(opened_page):
    return lambda made, title="family.fa", is_dark=False, features=(): opened_page(
        page_of(made, title, features), is_dark
    )


@pytest.fixture
def opened_report(opened_page):
    def open_report(page, is_dark=False, size=(1300, 1400)):
        found = OpenedReport(opened_page(page, is_dark, size).browser)
        found.wait()
        return found

    return open_report


@pytest.fixture(params=[320, 700, 1000, 2000])
def width(request, browser):
    """Windows of several widths, of telephones too, in turn."""
    size = {"width": request.param, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield request.param
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
