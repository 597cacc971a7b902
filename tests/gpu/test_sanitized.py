"""The kernels on the host's fibres under AddressSanitizer and UndefinedBehaviorSanitizer, in a process of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
sys.path[:0] = {path!r}
import numpy as np
from gpu.cases import STRIPS, check, check_places, check_posteriors, check_relax, check_shares, proteins
from gpu.cases import random_family, random_places, random_proteins, random_store, task
from gpu.host_device import HostDevice
from tropalign.msa.gpu import Shape as Lanes
from tropalign.msa.gpu_profiles import ProfilesOnGpu
from tropalign.msa.models import PROTEIN_2
from tropalign.placement.gpu import Shape
from tropalign.profiles.gpu import FiltersOnGpu, Shape as Groups
from tropalign.profiles.gpu import on_processor, proteins_of, random_model
from tropalign.tropical.gpu import Kind, Layout, ProductsOnGpu
from tropalign.decoding.gpu import ModelsOnGpu
from tropalign.decoding.observations import Observations
from tropalign.decoding.gpu import Shape as Abreast
from tropalign.tropical.gpu import random_matrix

flags = ["-g", "-fsanitize=address,undefined", "-fno-omit-frame-pointer"]
for word_bits in (16, 32):
    device = HostDevice(word_bits, flags=flags)
    batch = proteins(random_proteins(1, 24, 60))
    for mode in ("local", "global", "semiglobal"):
        for report in ("score", "alignment"):
            check(device, task(batch, mode=mode, report=report))
            check(device, task(batch[:1], batch[1:], mode, report=report))
    check(device, task(proteins(random_proteins(2, 6, 150))), STRIPS)
    for n_columns in (1, 6, 35):
        places = random_places(3, 13, n_columns, 5, 60, 0.3, 0.2)
        check_places(device, *places, (2, 0, -3, 3, 1, 3, 1, 0), Shape(8, (8,)))
check_posteriors(device, PROTEIN_2, random_family(4, [1, 30, 50, 43]), Lanes(4, (2,)))
check_shares(device, PROTEIN_2, random_family(4, [1, 30, 50]), Lanes(4, (2,)), 0.3)
twice = [random_store(4, [1, 30, 50, 43]) for _ in range(2)]
check_relax(device, twice, 8, (np.ones(4), np.zeros(4, np.int32), 0, 0.01))
rng = np.random.default_rng(4)
model, consensus = random_model(rng, 40)
proteins = proteins_of([rng.integers(0, 29, n) for n in (0, 1, 30, 70)] + [consensus, np.tile(consensus, 9)])
for word_bits in (16, 32):
    device = HostDevice(word_bits, flags=flags)
    got = FiltersOnGpu(device, Groups((4, 8), (1, 2, 5), (1, 3, 8))).survivors([model], proteins, 1.0)
    assert all(map(np.array_equal, got, on_processor([model], proteins, 1.0)))
    models = ModelsOnGpu(device, Abreast(2))
    products = ProductsOnGpu(device, 2)
    for layout in (Layout(Kind.WORDS, word_bits), Layout(Kind.FLOATS, 32), Layout(Kind.POSITIVE, 32)):
        a, b = random_matrix(rng, (2, 70, 20), layout), random_matrix(rng, (1, 20, 130), layout)
        products.product(a, b, layout)
        products.chain(random_matrix(rng, (3, 9, 9), layout), layout)
        products.closure(np.abs(random_matrix(rng, (140, 140), layout, 0.9)), layout)
for n_states in (3, 70):
    logs = np.log(rng.dirichlet(np.ones(n_states), n_states))
    steps = Observations.of(rng.integers(0, 3, 50).astype(np.uint8), np.array([0, 20, 20, 21, 50], np.int64))
    models.paths(logs[0], logs, logs[:, :3].copy(), steps)
    models.forward(np.exp(logs[0]), np.exp(logs), np.exp(logs[:, :3]), steps)
    frames = Observations.of(np.exp(logs[:3]), np.array([0, 1, 3], np.int64))
    models.forward(np.exp(logs[0]), np.exp(logs), None, frames)
profiles = [rng.dirichlet(np.ones(5), n) for n in (1, 64, 70, 3)]
aligned = ProfilesOnGpu(device)
aligned.profiles([(profiles[0], profiles[1]), (profiles[2], profiles[3])])
aligned.sequences([(profiles[2], np.zeros(30, np.uint8)), (profiles[0], np.ones(1, np.uint8))], np.eye(5))
print("clean")
"""


def library(name):
    if shutil.which("g++") is None:
        return None
    path = subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) else None


@pytest.mark.long
@pytest.mark.skipif(not (library("libasan.so") and library("libubsan.so")), reason="g++ has no sanitizers")
def test_kernels_under_sanitizers():
    script = SCRIPT.format(path=[str(Path(__file__).parent.parent)])
    environment = {
        **os.environ,
        "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=900)
    assert done.returncode == 0 and done.stdout.endswith("clean\n"), done.stdout + done.stderr
