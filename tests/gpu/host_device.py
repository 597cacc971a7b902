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
from functools import cache
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


def key_of(*parts):
    return hashlib.sha256(str(parts).encode()).hexdigest()[:24]


def compiled(flags, code, path):
    made = path.with_suffix(f".{os.getpid()}{path.suffix}")
    done = subprocess.run(["g++", *flags, str(code), "-o", str(made)], capture_output=True, text=True)
    if done.returncode:
        raise DeviceError(done.stderr)
    os.replace(made, path)


@cache
def standard_headers(flags):
    """A folder with the compiled headers of others: most of what a kernel takes to compile."""
    header = HERE / "simt_standard.hpp"
    folder = BUILDS / f"headers-{key_of(header.read_text(), flags)}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "simt_standard.hpp.gch"
    if not path.exists():
        compiled(flags, header, path)
    return folder


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
        text = f'#include "simt_standard.hpp"\n{defines}#include "simt_host.hpp"\n{source}{launchers(source)}'
        flags = [*FLAGS, *self.flags]
        path = BUILDS / f"{key_of(text, (HERE / 'simt_host.hpp').read_text(), flags)}.so"
        if not path.exists():
            headers = standard_headers(tuple(flags))
            code = path.with_suffix(f".{os.getpid()}.cpp")
            code.write_text(text)
            compiled([*flags, f"-I{headers}", f"-I{HERE}"], code, path)
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
    out = []
    bare = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    for name, arguments in re.findall(r"SIMT_KERNEL\(\w+\) (\w+)\((.*?)\)\s*\{", bare, re.S):
        names = [re.search(r"(\w+)\s*$", a).group(1) for a in arguments.split(",")]
        call = f"simt_launch(groups, group_size, [=] {{ {name}({', '.join(names)}); }});"
        out.append(f'extern "C" void host_{name}(int groups, int group_size, {arguments}) {{ {call} }}\n')
    return "\n" + "".join(out)
