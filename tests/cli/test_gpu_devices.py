"""--device: several devices write the bytes that one does, and no GPU library loads before it is asked for."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tropalign.cli.main import main


@pytest.mark.parametrize("arguments", [[], ["--mode", "semiglobal", "--report", "score"]])
def test_any_mix_of_devices_writes_the_same(few, tmp_path, capsys, arguments, monkeypatch, opencl_name):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "3")
    written = []
    for k, names in enumerate((["cpu"], [opencl_name], [opencl_name, "cpu"])):
        path = tmp_path / f"{k}.tsv"
        chosen = [word for name in names for word in ("--device", name)]
        assert main(["pairs", str(few), *arguments, *chosen, "-o", str(path)]) == 0
        written.append(
            b"".join(line for line in path.read_bytes().splitlines(True) if not line.startswith(b"# command"))
        )
    assert written[0].count(b"\n") > 3 and written[0] == written[1] == written[2]
    assert capsys.readouterr().err.count("failed") == 0


def test_placements_on_any_mix_of_devices(tmp_path, capsys, opencl_name):
    examples = Path(__file__).parent.parent.parent / "examples" / "16s"
    reads = tmp_path / "reads.fa"
    reads.write_text("".join((examples / "reads.fasta").read_text().splitlines(keepends=True)[:8]))
    written = []
    for k, names in enumerate((["cpu"], [opencl_name], [opencl_name, "cpu"])):
        chosen = [word for name in names for word in ("--device", name)]
        words = ["--reference", examples / "ref.phy.gz", "--tree", examples / "ref.nwk", reads, *chosen]
        outputs = ["-o", tmp_path / f"{k}.fasta", "--table", tmp_path / f"{k}.tsv"]
        assert main(["place", *map(str, words), *map(str, outputs)]) == 0
        rows = [line for line in (tmp_path / f"{k}.tsv").read_text().splitlines() if not line.startswith("#")]
        written.append(((tmp_path / f"{k}.fasta").read_bytes(), rows))
    assert len(written[0][1]) == 5 and written[0] == written[1] == written[2]
    assert "failed" not in capsys.readouterr().err


def test_a_run_on_the_processor_loads_no_gpu_library(few):
    code = (
        "import sys; from tropalign.cli.main import main; main(['pairs', sys.argv[1], '-q', '-o', sys.argv[2]])\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('cuda', 'pyopencl')])"
    )
    done = subprocess.run([sys.executable, "-c", code, few, f"{few}.tsv"], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.long
def test_every_device_passes_its_test(opencl_name, capsys):
    """All drivers that there are compile all kernels: minutes. tests/gpu holds the kernels against the processor."""
    assert main(["devices"]) == 0
    lines = [line.split(None, 1)[1] for line in capsys.readouterr().out.splitlines() if "self-test" in line]
    assert lines and all(line == "ok (pairs, place, msa, search, paths, decode)" for line in lines)


def test_every_job_is_tested_on_every_device(monkeypatch, capsys):
    """On the host's kernels: as they are, and with numbers changed on their way back."""
    from gpu.host_device import HostDevice, skip_without_compiler

    from tropalign.devices.gpu import GpuInfo

    skip_without_compiler()

    class Wrong(HostDevice):
        def download(self, buffer, dtype, count):
            integer = np.int32 if dtype == np.float32 else dtype
            return (super().download(buffer, integer, count) ^ 1).view(dtype)

    def found():
        return [GpuInfo(name, "model", "driver", 1 << 30, None, True, False, "") for name in ("host:0", "host:1")], []

    monkeypatch.setattr("tropalign.devices.registry.find_gpus", found)
    monkeypatch.setattr(
        "tropalign.devices.registry.open_gpu", lambda name: HostDevice() if name == "host:0" else Wrong()
    )
    assert main(["devices"]) == 0
    lines = [line.split(None, 1)[1] for line in capsys.readouterr().out.splitlines() if "self-test" in line]
    assert lines == [
        "ok (pairs, place, msa, search, paths, decode)",
        "fails: pairs: host: its local alignments differ from those of the CPU; "
        "place: host: its scores of reads differ from those of the CPU; "
        "msa: host: its posteriors differ from those of the CPU; "
        "search: host: its scores of profile models differ from those of the CPU; "
        "paths: host: its products differ from those of the CPU; "
        "decode: host: its paths of hidden Markov models differ from those of the CPU",
    ]
