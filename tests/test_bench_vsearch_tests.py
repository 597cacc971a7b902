"""bench/vsearch_tests.py: commands of vsearch in tropalign's words, and the counts of a script."""

import sys
from pathlib import Path

import pytest
from bench_scripts import loaded

SCRIPT = r"""#!/bin/bash -
failure () {
    printf "%bFAIL%b: %s\n" "${RED}" "${NO_COLOR}" "${1}"
    exit 1
}

success () {
    printf "%bPASS%b: %s\n" "${GREEN}" "${NO_COLOR}" "${1}"
}
VSEARCH="${1}"

DESCRIPTION="no command"
[[ -x "${VSEARCH}" ]] && success "${DESCRIPTION}" || failure "${DESCRIPTION}"

DESCRIPTION="wrong"
printf ">s\nACGT\n" | "${VSEARCH}" --derep_fulllength - --minseqlength 1 --output - | grep -q "size" && \
    success "${DESCRIPTION}" || failure "${DESCRIPTION}"

DESCRIPTION="right"
printf ">s\nACGT\n>t\nACGT\n" | "${VSEARCH}" --derep_fulllength - --minseqlength 1 --sizeout --output - | \
    grep -qx ">s;size=2" && success "${DESCRIPTION}" || failure "${DESCRIPTION}"

DESCRIPTION="no translation"
"${VSEARCH}" --shuffle x --output - && success "${DESCRIPTION}" || failure "${DESCRIPTION}"

DESCRIPTION="of messages"
"${VSEARCH}" --derep_fulllength x --output - 2>&1 | grep -q x && success "${DESCRIPTION}" || failure "${DESCRIPTION}"
"""


@pytest.fixture
def script(monkeypatch):
    return loaded(monkeypatch, "vsearch_tests")


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("--derep_fulllength x --output y --quiet", "derep x --duplicate-names keep -o F/output.fasta -q "
         "--min-length 32 --no-sizes"),
        ("--fastx_uniques x --fastqout y --sizeout --fastq_qout_max", "derep x --duplicate-names keep -o "
         "F/fastqout.fastq --quality max --min-length 1"),
        ("--cluster_size x --id 0.9 --sizein --uc=y --qmask none", "cluster --order abundance x --duplicate-names keep "
         "COSTS --min-identity 0.9 --uc F/uc.uc --identity 2 -o F/main.tsv"),
        ("--usearch_global x --db z --id 0.9 --userout - --userfields query+id1", "pairs --mode global x z "
         "--duplicate-names keep COSTS --no-header --columns query,identity_1 --min-identity 0.9 -o F/userout.tsv "
         "--top 1 --identity 2"),
    ],
)  # fmt: skip
def test_commands_are_translated(script, words, own):
    found, outputs = script.translated(words.split(), Path("F"))
    assert " ".join(found) == own.replace("COSTS", " ".join(script.COSTS)) and len(outputs) == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--shuffle x --output y", "command --shuffle"),
        ("--derep_fulllength x --output y --relabel_md5", "option --relabel_md5"),
        ("--derep_fulllength x", "no output"),
        ("--cluster_fast x --uc y", "no --id"),
        ("--usearch_global x --db z --id 0.9 --userout - --userfields qilo", "fields qilo"),
    ],
)
def test_other_commands_do_not_apply(script, words, why):
    with pytest.raises(script.NotApplicable, match=why):
        script.translated(words.split(), Path("F"))


def test_tests_are_counted(script, tmp_path, monkeypatch, capsys):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "some.sh").write_text(SCRIPT)
    monkeypatch.setattr(sys, "argv", ["vsearch_tests.py", str(tmp_path), "some"])
    script.main()
    shown = capsys.readouterr().out
    assert "| some | 1 | 1 | 3 |" in shown and "* some: wrong\n" in shown
    assert {"* 1 no command", "* 1 command --shuffle", "* 1 messages or memory"} <= set(shown.splitlines())
