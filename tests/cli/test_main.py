"""The command around the verbs: help, version, devices, warnings, pipes, terminals and defects."""

import json
import shutil
import subprocess
import sys

import pytest

from tropalign.cli.main import main
from tropalign.errors import DeviceError


def test_version_and_its_imports(command):
    assert command("--version").stdout.startswith("tropalign 0.")
    code = (
        "import sys; from tropalign.cli.main import main; main(['--version'])\n"
        "heavy = ('numpy', 'Bio', 'rich', 'rich_argparse', 'argparse', 'inspect')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[1] == "[]"


def test_the_package_runs_as_a_module():
    """The program is called tropalign in its help, and ends with the command's code."""
    run = [sys.executable, "-m", "tropalign"]
    shown = subprocess.run([*run, "--help"], capture_output=True, text=True)
    assert shown.returncode == 0 and shown.stdout.startswith("Usage: tropalign [-h]")
    refused = subprocess.run([*run, "pairs", "none.fa", "--mode", "x"], capture_output=True, text=True)
    assert refused.returncode == 2 and "(see tropalign pairs --help)" in refused.stderr


@pytest.mark.parametrize("words", [["pairs", "a.fa", "--mode", "x"], ["place", "a.fa", "--scheme", "x"], ["merge"]])
def test_a_wrong_option_loads_nothing_heavy(words):
    code = (
        f"import sys; from tropalign.cli.main import main; print(main({words}))\n"
        "print([m for m in ('numpy', 'Bio', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["2", "[]"]


@pytest.mark.parametrize("verb", [[], ["pairs"], ["msa"], ["place"], ["score"], ["merge"], ["devices"]])
def test_help_ends_with_an_example(verb, capsys):
    assert main([*verb, "--help"]) == 0
    out = capsys.readouterr().out
    example = out[out.index("example:\n") :]
    assert f"\n  tropalign {' '.join(verb)}".rstrip() in example


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_shells_complete_words(shell, capsys):
    assert main(["--print-completion", shell]) == 0
    script = capsys.readouterr().out
    assert "tropalign" in script and "cut_ga" in script


def test_bash_completes_verbs_options_and_files(tmp_path, capsys):
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    main(["--print-completion", "bash"])
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "abc.hmm").touch()
    expected = {
        ("sea",): "search",
        ("search", "--cut_g"): "--cut_ga",
        ("search", "ab"): "abc.hmm",
        ("search", "-f", "js"): "json",
        ("clu",): "cluster",
        ("pairs", "--colu"): "--columns",
        ("pairs", "--html", "ab"): "abc.hmm",
        ("cluster", "--method", "comp"): "complete",
        ("place", "--pipel"): "--pipeline",
    }
    for words, found in expected.items():
        typed = f"COMP_WORDS=(tropalign {' '.join(words)}); COMP_CWORD={len(words)}"
        code = f"{typed}; _shtab_tropalign; echo ${{COMPREPLY[@]}}"
        command = ["bash", "-c", f"source ./script; {code}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [found]


def test_devices(no_gpus, capsys):
    assert main(["devices"]) == 0
    text = capsys.readouterr().out
    assert "(selected)" in text and "threads" in text and "free memory" in text
    assert main(["devices", "--json"]) == 0
    cpu = json.loads(capsys.readouterr().out)["cpu"]
    assert cpu["selected"] in cpu["instruction_sets"] and cpu["n_threads"] >= 1
    assert 0 < cpu["default_budget_bytes"] <= cpu["free_bytes"]


def test_every_instruction_set_can_be_forced(no_gpus, isa, capsys):
    assert main(["devices"]) == 0
    assert f"{isa} (selected)" in capsys.readouterr().out


def test_a_closed_pipe_is_quiet(family, start):
    process = start("pairs", family, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (DeviceError("no device"), 4, "no device"),
        (MemoryError(), 4, "out of memory: give a lower limit with --memory, so that less is held at once"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("by 0"), 1, "ZeroDivisionError: by 0: this is a defect of tropalign; TROPALIGN_TRACEBACK=1"),
    ],
)
def test_errors_become_a_sentence_and_a_code(error, code, sentence, monkeypatch, capsys):
    def fails(options):
        raise error

    monkeypatch.setattr("tropalign.verbs.devices.Devices.run", fails)
    assert main(["devices"]) == code
    text = capsys.readouterr().err
    assert text.startswith(f"tropalign: {sentence}") and text.count("\n") == 1
    monkeypatch.setenv("TROPALIGN_TRACEBACK", "1")
    if code == 1:
        assert main(["devices"]) == 1
        assert "Traceback" in capsys.readouterr().err


def test_progress_on_a_terminal_only(family, n_family, on_terminal, command, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    n_pairs = n_family * (n_family - 1) // 2
    assert "pairs" in (shown := on_terminal("pairs", family)) and f"{n_pairs}/{n_pairs}" in shown
    assert f"{n_pairs} pairs in " in shown
    assert on_terminal("pairs", family, "-q") == ""
    assert command("pairs", family).stderr == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError("compiled for instruction sets"), "tropalign: compiled for instruction sets\n"),
        (
            ModuleNotFoundError("No module named 'scipy'", name="scipy"),
            "tropalign: No module named 'scipy': install tropalign and its packages again (pip install scipy)\n",
        ),
    ],
)
def test_what_cannot_be_imported_is_no_defect(error, said, monkeypatch, capsys):
    def refuse(words):
        raise error

    monkeypatch.setattr("tropalign.cli.main._run", refuse)
    assert main(["pairs", "x.fa"]) == 4 and capsys.readouterr().err == said
