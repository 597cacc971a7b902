"""``tropalign chimeras``: files, verdicts and what is refused."""

import shutil
import subprocess

import pytest

import tropalign as ta

A = "ACGTTGCAAGCTTAGGCATC" * 6
B = A.replace("TTAGG", "TCAGC")
JOIN = A[:60] + B[60:]
READS = {"a;size=9": A, "b;size=8": B, "c;size=2": JOIN, "d;size=1": A[:-1] + "A"}
_NONE = "0.0000 {} * * * * * * * * 0 0 0 0 0 0 * N\n"
_JOIN = "0.2870 c;size=2 a;size=9 b;size=8 a;size=9 100.0 95.0 95.0 90.0 95.0 6 0 0 6 0 0 5.0 Y\n"
TABLE = (_NONE.format("a;size=9") + _NONE.format("b;size=8") + _JOIN + _NONE.format("d;size=1")).replace(" ", "\t")


def written(path, reads):
    path.write_text("".join(f">{name}\n{text}\n" for name, text in reads.items()))
    return str(path)


@pytest.fixture
def path(tmp_path):
    return written(tmp_path / "unique.fa", READS)


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
def test_the_table_is_that_of_vsearch(path, tmp_path):
    table = tmp_path / "v.uchime"
    words = ["vsearch", "--uchime_denovo", path, "--uchimeout", str(table), "--quiet"]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    assert table.read_text() == TABLE


def test_the_example_has_chimeras(request, tmp_path):
    mock = request.config.rootpath / "examples" / "mock.fasta"
    found = {rule: ta.find_chimeras(mock, rule=rule) for rule in ("uchime", "uchime2", "uchime3")}
    for one in found.values():
        assert {name[:5] for name in one[one.is_chimera].query_sequences.names} == {"chime"}
