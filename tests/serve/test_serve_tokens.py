"""Tokens as an operator makes, lists and revokes them."""

import os
import stat

import pytest

for module in ("sqlalchemy", "alembic", "argon2", "fastapi", "uvicorn", "jinja2"):
    pytest.importorskip(module, reason="the server's modules are not installed: pip install 'tropalign[serve]'")


@pytest.fixture
def serve(tmp_path, capsys):
    """Runs `tropalign serve`; its exit code, and what it says."""
    from tropalign.cli.main import main

    def run(*words):
        code = main(["serve", "--folder", str(tmp_path / "served"), *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_token_is_written_to_a_file_or_printed(serve, tmp_path):
    before = os.umask(0o022)
    os.umask(before)
    path = tmp_path / "alice.token"
    assert serve("--add-token", "alice", "--token-file", str(path)) == (0, "", "")
    assert path.read_text().startswith("trop_") and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert serve("--add-token", "bob")[1].startswith("trop_")
    assert [line.split("\t")[1:] for line in serve("--list-tokens")[1].splitlines()] == [
        ["alice", "valid"], ["bob", "valid"],
    ]  # fmt: skip
    now = os.umask(before)
    assert now == before


def test_a_token_that_nobody_can_be_told_is_not_valid(serve, tmp_path):
    path = tmp_path / "there"
    path.write_text("")
    code, out, err = serve("--add-token", "alice", "--token-file", str(path))
    sentence = f"tropalign: {path}: there is a file already: name another one, or remove it\n"
    assert (code, out, err) == (2, "", sentence)
    assert serve("--list-tokens")[1].endswith("\talice\trevoked\n")


def test_a_file_without_a_token_is_a_mistake(serve, tmp_path):
    code, _, err = serve("--token-file", str(tmp_path / "x"))
    assert code == 2 and "--token-file goes with --add-token: name the user" in err
