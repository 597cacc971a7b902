"""--device: several devices write the bytes that one does, and no GPU library loads before it is asked for."""

import subprocess
import sys

import pytest

from tropalign.cli.main import main


@pytest.mark.parametrize("arguments", [[], ["--mode", "semiglobal", "--report", "score"]])
def test_any_mix_of_devices_writes_the_same(few, tmp_path, capsys, arguments, monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "3")
    written = []
    for k, names in enumerate((["cpu"], ["opencl:0.0"], ["opencl:0.0", "cpu"])):
        path = tmp_path / f"{k}.tsv"
        chosen = [word for name in names for word in ("--device", name)]
        assert main(["pairs", str(few), *arguments, *chosen, "-o", str(path)]) == 0
        written.append(
            b"".join(line for line in path.read_bytes().splitlines(True) if not line.startswith(b"# command"))
        )
    assert written[0].count(b"\n") > 3 and written[0] == written[1] == written[2]
    assert capsys.readouterr().err.count("failed") == 0


def test_a_run_on_the_processor_loads_no_gpu_library(few):
    code = (
        "import sys; from tropalign.cli.main import main; main(['pairs', sys.argv[1], '-q', '-o', sys.argv[2]])\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('cuda', 'pyopencl')])"
    )
    done = subprocess.run([sys.executable, "-c", code, few, f"{few}.tsv"], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
