"""``place --html --memory``: the room of the page is taken off before anything is computed, or the run is refused."""

import io
import re
from pathlib import Path

import pytest

import tropalign
from tropalign.cli.main import main
from tropalign.formats.placed import report as html

REFERENCE = ["place", "--reference", "ref.phy", "--tree", "ref.nwk", "-q"]
N_READS = 300_000


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "ref.phy").write_text("4 8\na ACGTACGT\nb ACGTACGA\nc ACCTTCGA\nd ACCTTCGG\n")
    (tmp_path / "ref.nwk").write_text("((a:0.1,b:0.1):0.1,(c:0.1,d:0.1):0.1);\n")
    (tmp_path / "few.fa").write_text(">r\nACGTACG\n>s\nCCTTCG\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_many_reads_are_refused_before_they_are_placed(folder, monkeypatch, capsys):
    from tropalign.placement.task import PlaceTask

    Path("many.fa").write_text("".join(f">r{k}\nACGTA\n" for k in range(N_READS)))
    monkeypatch.setattr(PlaceTask, "on_cpu", lambda *given: pytest.fail("a read was placed"))
    before = set(Path().iterdir())
    assert main([*REFERENCE, "many.fa", "-o", "o.fa", "--html", "r.html", "--memory", "250M"]) == 4
    error = capsys.readouterr().err
    assert re.search(r"the report of 300,000 reads needs [0-9.]+ MiB of memory and [0-9.]+ MiB are allowed", error)
    assert "leave --html out" in error and set(Path().iterdir()) == before


def test_a_stream_is_refused_when_its_reads_are_too_many(folder, monkeypatch, capsys):
    text = Path("few.fa").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    monkeypatch.setattr(html, "READ_BYTES", 100 << 20)
    before = set(Path().iterdir())
    assert main([*REFERENCE, "-", "-o", "o.fa", "--html", "r.html", "--memory", "300M"]) == 4
    error = capsys.readouterr().err
    assert (
        "the report of at least 2 reads from a stream needs 200.0 MiB" in error
        and "write the reads to a file first" in error
    )
    assert set(Path().iterdir()) == before


def test_what_is_allowed_does_not_change_the_page(folder):
    for name, memory in (("a", "150M"), ("b", "2G")):
        assert main([*REFERENCE, "few.fa", "-o", f"{name}.fa", "--html", "r.html", "--memory", memory]) == 0
        Path("r.html").rename(f"{name}.html")
    pages = [re.sub(rb"[ab]\.fa|150M|2G", b"", Path(f"{name}.html").read_bytes()) for name in "ab"]
    assert pages[0] == pages[1]


def test_the_page_takes_no_more_than_is_reserved(folder):
    """By the memory that Python and NumPy hand out, as tracemalloc counts it."""
    import tracemalloc

    from tropalign.formats.format import Header
    from tropalign.formats.placed.context import PlacedContext

    package = tropalign.ReferencePackage.read("ref.phy", "ref.nwk")
    reads = [(f"r{k}", "ACGTACG" * 20) for k in range(2000)]
    placements = next(iter(tropalign.place(package, reads)))
    context = PlacedContext(package.names, package.letters, package.tree.newick())
    part = html.encode(placements, context)
    n, sizes = 20 * len(placements), []
    for copies in (0, 20):
        tracemalloc.start()
        html.assemble((part for _ in range(copies)), io.BytesIO(), Header("0", "", {}), context)
        sizes.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    reserved = html.report_bytes(n, 20 * len(placements.letters), package.letters.size)
    assert reserved / 3 < sizes[1] - sizes[0] <= reserved
