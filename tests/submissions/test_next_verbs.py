"""What an output can be an input of: every verb, input and format that is named is there, and is read."""

import pytest

from tropalign.cli.main import main
from tropalign.submissions.verbs import MAIN, READ, SERVED, USES, is_used, served_verb, uses_of


def test_verbs_inputs_roles_and_formats_are_there():
    for (verb, role), uses in USES.items():
        assert served_verb(verb).output(role) is not None
        assert all(served_verb(other).input(dest) is not None for other, dest in uses)
        assert len({other for other, _ in uses}) == len(uses)  # a form is asked for by its verb
    for verb, formats in READ.items():
        assert {*formats} <= {*served_verb(verb).formats}
        assert all(uses_of(verb, format, MAIN) for format in formats)
    assert [verb for verb in SERVED if any(is_used(verb, one.role) for one in served_verb(verb).outputs)] == ["cluster"]


@pytest.mark.parametrize("format", READ["msa"])
def test_alignments_of_every_format_are_read(tmp_path, monkeypatch, format):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.fa").write_text(">a\nMKVLAWHHEW\n>b\nMKILAWHEW\n>c\nMKVLWHHEW\n")
    assert main(["msa", "x.fa", "-q", "-f", format, "-o", "x.out"]) == 0
    for words in (["tree", "x.out", "-o", "x.nwk"], ["build", "x.out", "-o", "x.hmm"]):
        assert main([*words, "-q"]) == 0
    assert main(["score", "x.out", "--reference", "x.out", "-o", "x.tsv", "-q"]) == 0
