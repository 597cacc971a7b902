import io
import itertools

import pytest

from formats.page import Opened, page_of
from formats.report_page import OpenedReport
from formats.tables import GAP, matrix_for, random_table
from tropalign.formats.header import Header
from tropalign.formats.pairs.context import PairsContext
from tropalign.formats.registry import make_writer
from tropalign.sequences import NUCLEOTIDE, PROTEIN

HEADER = Header("1.2.3", "tropalign pairs a.fa", {"mode": "local", "gap_cost": "8 + 2 * residues"})


@pytest.fixture(params=range(3))
def proteins(request):
    return random_table(request.param)


@pytest.fixture(params=range(3))
def strands(request):
    """Nucleotides on both strands."""
    return random_table(request.param, alphabet=NUCLEOTIDE, has_strand=True)


@pytest.fixture(params=[PROTEIN, NUCLEOTIDE], ids=["protein", "strands"])
def any_table(request):
    return random_table(7, n_rows=30, alphabet=request.param, has_strand=request.param is NUCLEOTIDE)


def context_for(table, **more):
    words = {"substitution": matrix_for(table.queries.alphabet), "gap": GAP, **more}
    return PairsContext(table.queries, table.targets, table.depth, table.strand is not None, **words)


def parts_of(writer, table, cuts=()):
    """The table cut into parts at these places."""
    return [writer.encode(table.slice(a, b)) for a, b in itertools.pairwise([0, *cuts, len(table)])]


@pytest.fixture
def write():
    """Bytes of a table in a format, cut into parts."""

    def written(name, table, cuts=(), **more):
        writer, out = make_writer("pairs", name, HEADER, context_for(table, **more)), io.BytesIO()
        writer.assemble(parts_of(writer, table, cuts), out)
        return out.getvalue()

    return written


@pytest.fixture
def opened(browser, tmp_path):
    """Opens an alignment in the browser; in the end there must be no complaint of the browser's and no other file."""

    def open_page(alignment, title="family.fa", is_dark=False, features=()):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        path = tmp_path / "page.html"
        path.write_bytes(page_of(alignment, title, features))
        browser.get(path.as_uri())
        return Opened(browser)

    yield open_page
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


@pytest.fixture
def opened_report(browser, tmp_path):
    """Opens a report, given as bytes; in the end there must be no complaint of the browser's and no other file."""

    def open_page(page, is_dark=False, size=(1300, 1400)):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        browser.set_window_size(*size)
        path = tmp_path / "report.html"
        path.write_bytes(page)
        browser.get(path.as_uri())
        found = OpenedReport(browser)
        found.wait()
        return found

    yield open_page
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    browser.set_window_size(1300, 800)
