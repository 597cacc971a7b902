"""The kernel dialect on the host, as a device: g++ and fibres (simt_host.hpp)."""

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tropalign.errors import DeviceError

HERE = Path(__file__).parent
BUILDS = Path(tempfile.gettempdir()) / f"tropalign-host-kernels-{os.getuid()}"
FLAGS = ["-O1", "-std=c++17", "-shared", "-fPIC", "-fwrapv", "-w"]
#: The fibres are one process's.
ONE_AT_A_TIME = threading.Lock()


def skip_without_compiler():
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")


class HostProgram:
    def __init__(self, library):
        self.compiled = library

    def launch(self, kernel, groups, group_size, *arguments):
        passed = [
            a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else ctypes.c_int(a) for a in arguments
        ]
        with ONE_AT_A_TIME:
            getattr(self.compiled, f"host_{kernel}")(groups, group_size, *passed)


class HostDevice:
    """Buffers are arrays filled with a pattern, so that what a kernel reads before it is written shows."""

    def __init__(self, word_bits=16, budget=1 << 28, flags=()):
        skip_without_compiler()
        self.name, self.word_bits, self.budget, self.flags = "host", word_bits, budget, list(flags)
        self.n_streams = self.n_multiprocessors = 1
        self.built = []

    def build(self, source, constants):
        self.built.append(constants)
        defines = "".join(f"#define {name} {value}\n" for name, value in constants.items())
        text = defines + '#include "simt_host.hpp"\n' + source + launchers(source)
        flags = [*FLAGS, *self.flags]
        key = hashlib.sha256((text + (HERE / "simt_host.hpp").read_text() + str(flags)).encode()).hexdigest()[:24]
        BUILDS.mkdir(exist_ok=True)
        path = BUILDS / f"{key}.so"
        if not path.exists():
            code = path.with_suffix(f".{os.getpid()}.cpp")
            code.write_text(text)
            made = code.with_suffix(".so")
            done = subprocess.run(
                ["g++", *flags, f"-I{HERE}", str(code), "-o", str(made)], capture_output=True, text=True
            )
            if done.returncode:
                raise DeviceError(done.stderr)
            os.replace(made, path)
            code.unlink()
        return HostProgram(ctypes.CDLL(str(path)))

    def upload(self, array):
        return np.ascontiguousarray(array).copy()

    def allocate(self, n_bytes):
        return np.full(n_bytes, 0xAB, np.uint8)

    def download(self, buffer, dtype, count):
        return buffer.view(np.uint8)[: count * np.dtype(dtype).itemsize].view(dtype).copy()

    def wait(self):
        pass  # launches wait

    @contextmanager
    def scope(self):
        yield self

    def budget_bytes(self):
        return self.budget


def launchers(source):
    """C functions host_NAME(groups, group_size, arguments...), one for each kernel."""
    out = []
    bare = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    for name, arguments in re.findall(r"SIMT_KERNEL\(\w+\) (\w+)\((.*?)\)\s*\{", bare, re.S):
        names = [re.search(r"(\w+)\s*$", a).group(1) for a in arguments.split(",")]
        call = f"simt_launch(groups, group_size, [=] {{ {name}({', '.join(names)}); }});"
        out.append(f'extern "C" void host_{name}(int groups, int group_size, {arguments}) {{ {call} }}\n')
    return "\n" + "".join(out)
