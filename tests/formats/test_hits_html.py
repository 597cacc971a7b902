"""The report of hits, in a real browser and out of it, against what HMMER 3.4 wrote of the same search."""

import io
import re
import time
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from Bio import SearchIO

import tropalign
from formats.test_pairs_html import HOSTILE, data_of
from tropalign.cli.main import main
from tropalign.formats.format import Header, make_writer
from tropalign.formats.hits import report as html
from tropalign.formats.hits.context import HitsContext

DATA = Path(__file__).parent.parent / "data" / "search"
PROTEINS = str(DATA / "proteins.fasta")
#: A line of HMMER's alignments with letters.
LETTERS = re.compile(r" +\S+ +[0-9-]+ (\S+) +[0-9-]+ *")


def alignments_of(path, verb):
    """The lines of every domain in HMMER's text, by (model, sequence)."""
    found = defaultdict(list)
    for chapter in path.read_text().split("//\n")[:-1]:
        query = re.search(r"Query: +(\S+)", chapter)[1]
        for hit in chapter.split("\n>> ")[1:]:
            target = hit.split()[0]
            for domain in hit.split("  == domain ")[1:]:
                text, lines = dict.fromkeys(("model", "match", "target", "posterior"), ""), domain.split("\n")
                tops = [k for k, line in enumerate(lines[:-3]) if LETTERS.fullmatch(line) and lines[k + 3][-2:] == "PP"]
                for k in tops:
                    begin, end = LETTERS.fullmatch(lines[k]).span(1)
                    for name, line in zip(text, lines[k : k + 4], strict=True):
                        text[name] += line[begin:end].ljust(end - begin)
                found[(query, target) if verb == "search" else (target, query)].append(text)
    return found


@pytest.fixture(scope="module", params=["search", "scan"])
def searched(request, tmp_path_factory):
    """The verb, its page, and HMMER's text as Biopython reads it, by (model, sequence)."""
    folder = tmp_path_factory.mktemp("hits")
    models = folder / "all.hmm"
    models.write_bytes(DATA.joinpath("pfam.hmm").read_bytes() + DATA.joinpath("reference.hmm").read_bytes())
    path = folder / "report.html"
    assert main([request.param, str(models), PROTEINS, "-q", "-o", str(folder / "o.txt"), "--html", str(path)]) == 0
    hits = {}
    for result in SearchIO.parse(str(DATA / f"{request.param}.txt"), "hmmer3-text"):
        for hit in result:
            pair = (result.id, hit.id) if request.param == "search" else (hit.id, result.id)
            hits[pair] = hit
    return request.param, path.read_bytes(), hits


def pairs_of(page):
    script = """[...page.arrays.model_index].map((model, row) =>
        [page.data.models.names[model], page.data.sequences.names[page.arrays.sequence_index[row]]])"""
    return [tuple(pair) for pair in page(script)]


def test_the_page_opens_at_its_top(searched, opened_report):
    _, made, _ = searched
    page = opened_report(made, size=(1000, 500))
    assert page("document.documentElement.scrollHeight > innerHeight + 100")
    assert page("scrollY") == 0


def test_numbers_and_alignments_are_hmmers(searched, opened_report):
    verb, made, wanted = searched
    page = opened_report(made, size=(2600, 1500))
    pairs = pairs_of(page)
    assert len(pairs) == len(set(pairs)) and set(pairs) == set(wanted)
    assert page("page.data.orientation") == verb
    drawn = defaultdict(list)
    for row, cells in enumerate(page.rows()):
        model, sequence = pairs[row]
        hit = wanted[model, sequence]
        assert cells[:2] == [sequence, model] and float(cells[2]) == pytest.approx(hit.evalue, rel=0.06)
        assert float(cells[3]) == hit.bitscore and float(cells[4]) == hit.bias
        assert cells[5] == str(len(hit)) and (cells[8] == "yes") == hit.is_included
        assert cells[9].startswith(hit.description) or hit.description == "<unknown description>"
        for d, domain in zip(page(f"page.domainsOf({row})"), hit, strict=True):
            assert page(f"page.arrays.domain_bits[{d}]") == pytest.approx(domain.bitscore, abs=0.051)
            assert page(f"page.arrays.domain_i_evalue[{d}]") == pytest.approx(domain.evalue, rel=0.06)
            drawn[model, sequence].append(page(f"page.lines({d})"))
    assert drawn == alignments_of(DATA / f"{verb}.txt", verb)


def test_a_hit_shows_its_domains_in_blocks(searched, opened_report):
    page = opened_report(searched[1])
    for row in range(page("page.nRows")):
        page(f"page.table.choose({row})")
        lines = [page(f"page.lines({d})") for d in page(f"page.domainsOf({row})")]
        assert page.lines()[0] == "".join(line["model"] for line in lines)
        assert page.lines()[1] == "".join(line["match"] for line in lines)
        assert page.lines()[2] == "".join(line["target"] for line in lines)
        places = page("[...document.querySelectorAll('#domains pre')].map((pre) => pre.textContent.split('\\n')[2])")
        first = page(f"page.arrays.domain_begin[page.domainsOf({row})[0]]") + 1
        last = page(f"page.arrays.domain_end[page.domainsOf({row}).at(-1)]")
        assert f" {first} " in places[0] and places[-1].endswith(f" {last}")


def test_coverage_is_counted_position_by_position(searched, opened_report):
    page = opened_report(searched[1])
    arrays = data_of(searched[1])[1]
    ends = np.cumsum(arrays["line_sizes"])
    hit_of = np.repeat(np.arange(len(arrays["evalue"])), arrays["n_domains"])
    for model, length in enumerate(page("page.data.models.lengths")):
        over, residues = np.zeros(length, int), np.zeros(length, int)
        for d in np.flatnonzero(arrays["model_index"][hit_of] == model):
            line = slice(ends[d] - arrays["line_sizes"][d], ends[d])
            is_node = arrays["model_line"][line] != ord(".")
            begin, end = arrays["domain_model_begin"][d], arrays["domain_model_end"][d]
            over[begin:end] += 1
            residues[begin:end] += arrays["target_line"][line][is_node] != ord("-")
        page.choose("coverage-of", str(model))
        assert page("[...page.coverage.spans]") == over.tolist()
        assert page("[...page.coverage.residues]") == residues.tolist()
        assert f"at most {over.max()} domain" in page.find("coverage").get_attribute("aria-label")


def test_filters_choose_what_is_drawn(searched, opened_report):
    page = opened_report(searched[1])
    page.type("model", "RRM")
    n = sum(model == "RRM_1" for model, _ in searched[2])
    assert page.text("rows-shown").startswith(f"{n} of ") and page("page.architecture.lines.length") == n
    page.type("E-value", "..1e-10")
    kept = [pair for pair, hit in searched[2].items() if pair[0] == "RRM_1" and hit.evalue <= 1e-10]
    assert page("page.architecture.lines.length") == len(kept)
    assert page("page.coverage.most") <= sum(len(searched[2][pair]) for pair in kept)
    page.type("sequence", "nothing-is-called-so")
    assert page("page.architecture.lines") == [] and page("page.coverage.most") == 0
    page.find("clear").click()
    assert page.text("rows-shown") == f"{len(searched[2])} rows"


def test_a_model_has_one_colour_in_all_pictures_and_pages(searched, opened_report):
    page = opened_report(searched[1], size=(1300, 1400))
    shades = "shadesOf(hueOfName(arguments[0]), arguments[1])"
    names = page("page.data.models.names")
    assert len({page(shades, name, False)["fill"] for name in names}) == len(names)
    assert page(shades, "RRM_1", False) == {"fill": "#8a83e2", "pale": "#c8c5f1", "edge": "#2b2395"}  # on every page
    legend = page("[...document.querySelectorAll('#models li')].map((one) => one.textContent)")
    assert sorted(legend) == sorted(names)
    in_legend = "getComputedStyle(document.querySelector('#models .swatch')).backgroundColor"
    fill = page(shades, legend[0], False)["fill"]
    assert page(in_legend) == "rgb({}, {}, {})".format(*bytes.fromhex(fill[1:]))
    page.find("theme").click()
    fill = page(shades, legend[0], True)["fill"]
    assert page(in_legend) == "rgb({}, {}, {})".format(*bytes.fromhex(fill[1:]))


def test_pictures_are_saved_on_paper(searched, opened_report):
    page = opened_report(searched[1], size=(1300, 1400))
    page("""(() => { window.saved = {};
        saveFile = (name, content) => window.saved[name] = typeof content === "string" ? content : content.size;
        for (const kind of ["svg", "png"]) {
          document.getElementById(`architecture-${kind}`).click();
          document.getElementById(`coverage-${kind}`).click();
        } })()""")
    end = time.monotonic() + 60
    while len(page("Object.keys(window.saved)")) < 4:
        assert time.monotonic() < end
        time.sleep(0.05)
    saved = page("window.saved")
    assert saved["architecture.png"] > 1000 and saved["coverage.png"] > 1000
    root, space = ElementTree.fromstring(saved["architecture.svg"]), "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in root.iter(f"{space}text")]
    begins = tuple(text.rstrip("…") for text in texts)  # long names are cut
    assert all(any(name.startswith(begin) for begin in begins if len(begin) > 6) for _, name in searched[2])
    assert {model for model, _ in searched[2]} <= set(texts)
    fills = {path.get("fill") for path in root.iter(f"{space}path")}
    assert {page("shadesOf(hueOfName(arguments[0]), false).fill", model) for model, _ in searched[2]} <= fills
    model = page("page.coverage.model")
    root = ElementTree.fromstring(saved["coverage.svg"])
    shades = page("shadesOf(hueOfName(arguments[0]), false)", model)
    areas = [path.get("fill") for path in root.iter(f"{space}path")]
    assert areas == [shades["fill"], shades["edge"]]
    assert any(text.text.startswith(model) for text in root.iter(f"{space}text"))


def test_boxes_by_mouse_and_keys(searched, opened_report):
    page = opened_report(searched[1])
    canvas = page.find("boxes")
    page.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    for line in (2, 0):
        best = page(f"page.architecture.lines[{line}][1].at(-1)")
        x, y = page(
            f"""(() => {{ const a = page.architecture, [sequence] = a.lines[{line}], d = {best};
            return [Math.round(a.x((a.domains.begin[d] + a.domains.end[d]) / 2, sequence) - a.width / 2),
                    Math.round(({line} + .5) * 24 - a.height / 2)]; }})()"""
        )
        page.mouse().move_to_element_with_offset(canvas, x, y).click().perform()
        assert page("page.architecture.chosen") == best and page("page.chosen") == page(f"page.hitOf[{best}]")
        assert "bits" in page("document.getElementById('tip').textContent")
    canvas.send_keys("\ue015")  # down
    assert page("page.architecture.lines[1][1].includes(page.architecture.chosen)")
    begin = page("[...page.arrays.domain_begin]")
    own = sorted(page("page.architecture.lines[1][1]"), key=lambda d: begin[d])
    canvas.send_keys("\ue014")  # right
    assert page("page.architecture.chosen") == own[min(1, len(own) - 1)]
    page.choose("scale", "own")
    sequence = page("page.architecture.lines[1][0]")
    length = page(f"page.data.sequences.lengths[{sequence}]")
    assert page(f"page.architecture.x({length}, {sequence})") == pytest.approx(page("page.architecture.width") - 14)


def test_light_and_dark(searched, opened_report):
    colours = """(() => { page.architecture.draw(); const c = page.architecture.canvas;
        const b = new OffscreenCanvas(c.width, c.height).getContext("2d", {willReadFrequently: true});
        b.drawImage(c, 0, 0);
        const d = b.getImageData(0, 0, c.width, c.height).data, seen = new Set();
        for (let k = 0; k < d.length; k += 4) if (d[k + 3] === 255) seen.add(d[k] << 16 | d[k + 1] << 8 | d[k + 2]);
        return [...seen].sort(); })()"""
    light = opened_report(searched[1])(colours)
    page = opened_report(searched[1], is_dark=True)
    dark = page(colours)
    assert set(dark) - set(light)
    page.find("theme").click()
    assert page(colours) == light


def test_names_are_text_and_nothing_else(opened_report):
    page_bytes = made_of(HOSTILE, [f"about {name}" for name in HOSTILE])
    page = opened_report(page_bytes)
    names = page("page.data.sequences.names")
    assert sorted(names) == sorted(HOSTILE) and page("page.nRows") == len(HOSTILE)
    page.check_markup()
    for row in range(len(HOSTILE)):
        page(f"page.table.choose({row})")
        name = re.sub("[\u202e\u2028]", "\ufffd", names[page(f"page.arrays.sequence_index[{row}]")])
        assert page("document.getElementById('hit-title').textContent") == f"EFP in {name}"
    page.check_policy()


def made_of(names, descriptions, **limits):
    """A page of the example model's hits in copies of its best protein."""
    hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
    hits = hits.take(np.zeros(len(names), np.int64))
    object.__setattr__(hits, "names", tuple(names))
    object.__setattr__(hits, "descriptions", tuple(descriptions))
    object.__setattr__(hits, "target", np.arange(len(names)))
    writer, out = make_writer("hits", "html", Header("1.2.3", "tropalign search", {}), HitsContext()), io.BytesIO()
    html.write(iter([hits]), out, writer.header, HitsContext())
    return out.getvalue()


def test_a_page_has_its_limits(monkeypatch):
    whole = data_of(made_of("abc", "abc"))
    monkeypatch.setattr(html, "MOST_HITS", 2)
    data, arrays = data_of(made_of("abc", "abc"))
    assert data["n_hits"] == 3 and len(arrays["evalue"]) == 2 and data["sequences"]["names"] == ["a", "b"]
    monkeypatch.setattr(html, "MOST_LETTERS", int(whole[1]["line_sizes"].sum()) // 3)
    assert data_of(made_of("abc", "abc"))[0]["sequences"]["names"] == ["a"]


def test_a_page_without_hits(opened_report, tmp_path):
    path = tmp_path / "none.fa"
    path.write_text(">x\nMKV\n")
    out = tmp_path / "r.html"
    assert main(["search", "examples/efp.hmm", str(path), "-q", "-o", str(tmp_path / "o"), "--html", str(out)]) == 0
    page = opened_report(out.read_bytes())
    assert page.text("rows-shown") == "0 rows" and "0 hits" in page.text("facts")


def test_shards_streams_and_refusals(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["search", str(DATA / "pfam.hmm"), PROTEINS, "-q"]
    assert main([*words, "-o", "o.txt", "--html", "r.html", "-t", "1"]) == 0
    whole = Path("r.html").read_bytes()
    assert main([*words, "-o", "o.txt", "--html", "r.html", "-t", "2", "--memory", "300M"]) == 0
    assert Path("r.html").read_bytes() == whole
    for k in (1, 2, 3):
        assert main([*words, "--html", "r.html", "--shard", f"{k}/3", "-o", f"{k}.shard"]) == 0
    assert main(["merge", "3.shard", "1.shard", "2.shard", "-q", "-o", "m.txt", "--html", "m.html"]) == 0
    assert Path("m.html").read_bytes() == whole and Path("m.txt").read_bytes() == Path("o.txt").read_bytes()
    assert main(["merge", "3.shard", "1.shard", "2.shard", "-q", "-o", "m.txt", "--html", "m.tsv"]) == 2
    assert main([*words, "-o", "x.html"]) == 0 and Path("x.html").read_bytes().startswith(b"<!DOCTYPE html>")
    capsys.readouterr()
    assert main([*words, "-o", "o.txt", "--html", "r.tsv"]) == 2
    assert "--html r.tsv: end the name in .html" in capsys.readouterr().err and not Path("r.tsv").exists()
