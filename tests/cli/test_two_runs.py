"""A second run at an output is refused while the first one computes, before it has computed the same."""

import fcntl
import os
import threading

import pytest

from tropalign.cli.main import main
from tropalign.execution.files import hold_outputs, release_outputs

LINES = (
    "msa in.fa -o out.fa",
    "cluster in.fa -o out.tsv",
    "cluster in.fa -o x.tsv --uc out.uc",
    "tree in.fa -o out.nwk",
)
LINES += (
    "tree in.fa --unaligned -o out.nwk",
    "score in.fa --reference in.fa -o out.tsv",
    "msa in.fa --add new.fa -o out.fa",
)


@pytest.mark.parametrize("line", LINES)
def test_a_second_run_is_refused_and_harms_nothing(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.fa").write_text("nothing that anybody has read")
    (tmp_path / "new.fa").write_text(">d\nMKVLAWGGH\n")
    out = next(word for word in line.split() if word.startswith("out."))
    held = os.open(f".{out}.part", os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)  # as the first run does
    words = [*line.split(), "-q", *(["--realign"] if line == LINES[0] else [])]
    assert main(words) == 3
    assert f"{out}: another run is writing here: wait for it, or name another file" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"in.fa", "new.fa", f".{out}.part"}
    os.close(held)
    (tmp_path / "in.fa").write_text(">a\nMKVLAWGGHE\n>b\nMKVLAWGGHH\n>c\nMKILAWGGHH\n")
    assert main(words) == 0
    assert {path.name for path in tmp_path.iterdir()} - {"x.tsv"} == {"in.fa", "new.fa", out}


def test_a_command_in_another_thread_takes_nothing_away(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.fa").write_text(">a\nMKVLAWGGHE\n>b\nMKVLAWGGHH\n")
    hold_outputs([str(tmp_path / "held.fa")])
    codes = []
    for name in ("out.fa", "held.fa"):
        other = threading.Thread(target=lambda words: codes.append(main(words)), args=(["msa", "in.fa", "-qo", name],))
        other.start()
        other.join()
    assert codes == [0, 3]
    assert {path.name for path in tmp_path.iterdir()} == {"in.fa", "out.fa", ".held.fa.part"}
    release_outputs()
    assert {path.name for path in tmp_path.iterdir()} == {"in.fa", "out.fa"}
