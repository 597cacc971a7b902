"""``tropalign msa --features``: features on the page of an alignment."""

import json
import re
from pathlib import Path

import pytest

from tropalign.cli.main import main


@pytest.fixture
def files(tmp_path):
    family, gff = tmp_path / "x.fa", tmp_path / "x.gff"
    family.write_text(">a\nMKVLAWHEYF\n>b\nMKVLAWEYF\n>c\nMKVAWHEYF\n")
    gff.write_text("##gff-version 3\nb\tPfam\tDomain\t2\t5\t.\t.\t.\tName=<SH3>\n")
    return str(family), str(gff)


def features_in(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', Path(path).read_text(), re.DOTALL)[1])["features"]


def test_the_page_has_them(files, tmp_path):
    family, gff = files
    out, page = str(tmp_path / "x.html"), str(tmp_path / "y.html")
    assert main(["msa", family, "--features", gff, "-o", out, "-q"]) == 0
    assert main(["msa", family, "--features", gff, "-o", str(tmp_path / "x.aln"), "--html", page, "-q"]) == 0
    assert features_in(out) == features_in(page) == [[1, 1, 5, "Domain", "<SH3>"]]
    assert main(["msa", family, "--features", gff, "-o", out, "--row-order", "tree", "-q"]) == 0
    ((row, *_),) = features_in(out)
    data = json.loads(re.search(r'id="data">(.*?)</script>', Path(out).read_text(), re.DOTALL)[1])
    assert data["names"][row] == "b"


def test_an_alignment_with_annotations_is_both(tmp_path):
    path, out = tmp_path / "x.sto", tmp_path / "x.html"
    path.write_text("# STOCKHOLM 1.0\na MKV-LAW\nb MKVQLAW\n#=GC SS_cons .HHHH..\n//\n")
    assert main(["msa", str(path), "--realign", "--features", str(path), "-o", str(out), "-q"]) == 0
    assert features_in(out) == [[0, 1, 4, "helix", ""], [1, 1, 5, "helix", ""]]
