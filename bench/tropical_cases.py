"""What bench/tropical.py measures: cases by group."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msa_families import evolved_rows

from tropalign.trees import neighbour_joining
from tropalign.tropical import HMM, closure, matmul, matrix_chain, nussinov, shortest_paths


class Case(NamedTuple):
    """A row of the page.

    `work` is what a call does: sums and minima (unit "G/s"), or n l^2 (unit "ns"); `goal` is in that unit, 0 for none.
    `clock` is "processor", "wall", or "own" where calls return their seconds.
    """

    title: str
    unit: str
    goal: float
    ours: Callable[[], object]
    peers: dict[str, Callable[[], object]]
    work: float = 1.0
    clock: str = "processor"


def imported(name: str) -> Any:
    """A module; None where it, or what it imports, is not there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def products(is_quick: bool) -> Iterator[Case]:
    """Min-plus products of square matrices."""
    tropical_gemm = imported("tropical_gemm")
    rng = np.random.default_rng(1)
    goals = {"float32": 40, "float64": 20, "int32": 45, "int16": 85}
    there = {"float32": "minplus_matmul", "float64": "minplus_matmul_f64", "int32": "minplus_matmul_i32"}
    for dtype, goal in goals.items():
        for n in (64,) if is_quick else (1024, 2048):
            a, b = (rng.integers(0, 4000, (n, n)).astype(dtype) for _ in range(2))
            peer = getattr(tropical_gemm, there.get(dtype, ""), None)
            known = {} if peer is None else {"tropical-gemm": partial(peer, a, b)}
            yield Case(f"{dtype}, n = {n:,}", "G/s", goal, partial(matmul, a, b, n_threads=1), known, n**3)


def paths(is_quick: bool) -> Iterator[Case]:
    """Closures of dense matrices, and of bipartite graphs."""
    graphs, igraph, numba = map(imported, ("scipy.sparse.csgraph", "igraph", "tropical_peers"))
    rng = np.random.default_rng(2)
    n = 96 if is_quick else 2048
    weights = rng.integers(1, 1000, (n, n))
    np.fill_diagonal(weights, 0)
    wide = weights.astype(np.float64)
    there = {}
    if graphs:
        there["scipy"] = partial(graphs.floyd_warshall, wide)
    if igraph:
        graph = igraph.Graph.Weighted_Adjacency(wide, mode="directed", loops=False)
        there["igraph"] = partial(graph.distances, weights="weight")
    if numba:
        there["numba, plain loops"] = lambda: numba.floyd_warshall(wide.astype(np.float32))
    for dtype, goal in (("int16", 0.12), ("int32", 0.20), ("float32", 0.24)):
        ours = weights.astype(dtype)
        yield Case(f"all pairs, {dtype}, n = {n:,}", "s", goal, partial(closure, ours, n_threads=1), there)
        there = {}
    n, p = (64, 16) if is_quick else (1024, 256)
    whole = np.full((n, n), np.inf)
    whole[:p, p:], whole[p:, :p] = rng.random((p, n - p)), rng.random((n - p, p))
    np.fill_diagonal(whole, 0)
    parts = whole[:p, p:].astype(np.float32), whole[p:, :p].astype(np.float32)
    there = {"scipy": partial(graphs.floyd_warshall, whole)} if graphs else {}
    ours_of_parts = lambda: shortest_paths(bipartite=parts, n_threads=1).distances  # noqa: E731
    yield Case(f"bipartite, float32, n = {n:,}, p = {p}", "s", 0.012, ours_of_parts, there)


def _model(rng: np.random.Generator, n_states: int, n_symbols: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(rng.dirichlet(np.ones(k), n) for n, k in ((1, n_states), (n_states, n_states), (n_states, n_symbols)))


def hmm(is_quick: bool) -> Iterator[Case]:
    """Best paths and likelihoods."""
    hmmlearn, numba = map(imported, ("hmmlearn.hmm", "tropical_peers"))
    rng = np.random.default_rng(3)
    n = 64 if is_quick else 2048
    codes = rng.integers(0, 4, n).astype(np.uint8)
    for kind, goals in (("Viterbi", (0.10, 0.045, 0.035)), ("forward", (0.08, 0.04, 0.035))):
        for n_states, goal in zip((16, 64, 256), goals, strict=True):
            (start,), transition, emission = _model(rng, n_states)
            ours = HMM(start, transition, emission)
            call = partial(getattr(ours, kind.lower()), codes, n_threads=1)
            parts, there = (start, transition, emission), {}
            if hmmlearn:
                peer = hmmlearn.CategoricalHMM(n_components=n_states)
                peer.startprob_, peer.transmat_, peer.emissionprob_ = parts
                there["hmmlearn"] = partial(peer.decode if kind == "Viterbi" else peer.score, codes.reshape(-1, 1))
            if numba:
                given = [np.log(part) for part in parts] if kind == "Viterbi" else parts
                there["numba"] = partial(getattr(numba, kind.lower()), *given, codes)
            yield Case(f"{kind}, {n_states} states", "ns", goal, call, there, n * n_states**2)
    for n_states in (8, 16, 32, 64):
        (start,), transition, emission = _model(rng, n_states)
        ours = HMM(start, transition, emission)
        batch = [rng.integers(0, 4, n).astype(np.uint8) for _ in range(64)]
        call = partial(ours.viterbi, batch, n_threads=1)
        yield Case(f"Viterbi, 64 sequences, {n_states} states", "ns", 0.022, call, {}, 64 * n * n_states**2)


def polyadic(is_quick: bool) -> Iterator[Case]:
    """Matrix chains and nested pairs, with their tracebacks."""
    rng, numba = np.random.default_rng(4), imported("tropical_peers")
    n = 100 if is_quick else 3000
    sizes = rng.integers(5, 200, n + 1)
    there = {"numba": partial(numba.matrix_chain, sizes.astype(np.float64))} if numba else {}
    yield Case(f"matrix chain, n = {n:,}", "s", 0.35, partial(matrix_chain, sizes, n_threads=1), there)
    text = "".join(rng.choice(list("ACGU"), n))
    letters = np.frombuffer(text.encode(), np.uint8)
    partners = [(a, b) for a, b in ("AU", "UA", "CG", "GC", "GU", "UG")]
    pairs = sum((letters[:, None] == ord(a)) & (letters[None, :] == ord(b)) for a, b in partners) > 0
    there = {"numba": partial(numba.nussinov, pairs, 3)} if numba else {}
    yield Case(f"Nussinov, n = {n:,}", "s", 0.35, partial(nussinov, text, n_threads=1), there)


def trees(is_quick: bool, folder: Path) -> Iterator[Case]:
    """Neighbour joining of given distances."""
    rng = np.random.default_rng(5)
    for n in (50,) if is_quick else (2000, 10_000):
        distances = _tree_distances(rng, n)
        phylip = folder / f"{n}.phy"
        if not phylip.exists():  # of another instruction set's turn
            with open(phylip, "w") as file:
                file.write(f"{n}\n")
                for name, row in enumerate(distances):
                    file.write(f"t{name} " + " ".join(f"{x:.6f}" for x in row) + "\n")
        tree = folder / "nj.nwk"
        there = {
            "rapidnj": partial(run, ["rapidnj", phylip, "-i", "pd", "-c", "1", "-x", tree]),
            "rapidnj without reading": partial(
                seconds_after_reading, ["rapidnj", phylip, "-i", "pd", "-v", "-x", tree]
            ),
        }
        if n <= 2000:
            there["quicktree"] = partial(run, ["quicktree", "-in", "m", phylip])
        ours = partial(timed, partial(neighbour_joining, distances))
        yield Case(f"neighbour joining, {n:,} taxa", "s", 0.0, ours, there, clock="own")
        ours = partial(run, command("tree", phylip, "-o", tree, "-t", "1", "-q"))
        yield Case(f"the same as a command, {n:,} taxa", "s", 0.0, ours, {"rapidnj": there["rapidnj"]}, clock="own")
    n, n_samples = (20, 5) if is_quick else (1000, 100)
    rows = rng.choice(list("ACGT"), (1, n))
    while len(rows) < n:
        row = rows[int(rng.integers(len(rows)))]
        rows = np.vstack([rows, np.where(rng.random(n) < 0.05, rng.choice(list("ACGT"), n), row)])
    path = folder / "rows.fa"
    path.write_text("".join(f">t{k}\n{''.join(row)}\n" for k, row in enumerate(rows)))
    words: list[object] = ["rapidnj", path, "-i", "fa", "-a", "kim", "-t", "d", "-c", "1", "-b", n_samples, "-x", tree]
    ours = partial(run, command("tree", path, "-o", tree, "--bootstrap", n_samples, "-t", "1", "-q"))
    title = f"command, {n_samples} bootstrap samples, {n:,} rows of {n:,} columns"
    yield Case(title, "s", 0.0, ours, {"rapidnj": partial(run, words)}, clock="own")


def seconds_after_reading(words: list[object]) -> float:
    """Processor seconds of rapidnj, without those up to the line that says the matrix is read."""
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    before, seen = 0.0, b""
    while piece := os.read(process.stdout.fileno(), 4096):
        seen = seen[-100:] + piece
        if not before and b"Computing" in seen:
            ticks = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
            before = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime - before


def _tree_distances(rng: np.random.Generator, n: int) -> np.ndarray:
    """Distances along a random tree, with noise: a walk of joins from the leaves up."""
    height = np.zeros(n)
    distances = np.zeros((n, n))
    groups = [np.array([k]) for k in range(n)]
    while len(groups) > 1:
        a = groups.pop(int(rng.integers(len(groups))))
        b = groups.pop(int(rng.integers(len(groups))))
        height[a] += rng.exponential(0.02)
        height[b] += rng.exponential(0.02)
        distances[np.ix_(a, b)] = height[a][:, None] + height[b][None, :]
        groups.append(np.concatenate([a, b]))
    distances = np.round((distances + distances.T) * rng.uniform(0.95, 1.05, (n, n)), 6)
    return np.triu(distances, 1) + np.triu(distances, 1).T


def clustalw(is_quick: bool, folder: Path, data: Path | None) -> Iterator[Case]:
    """Whole commands on families."""
    families = [("simulated, 20 of about 120", evolved(folder, 20, 120), 0.0)] if is_quick else []
    if data is not None and not is_quick:
        families.append(("48 envelope proteins of HIV", data / "hiv_env_48.fasta", 0.25))
    if not is_quick:
        families.append(("simulated, 2,000 of about 250", evolved(folder, 2000, 250), 20.0))
    for title, path, goal in families:
        ours = command(
            "msa", path, "--method", "clustalw", "-o", folder / "ours.aln", "-t", "1", "-q", "--device", "cpu"
        )
        there = {}
        if path.stat().st_size < 100_000:  # clustalo takes minutes for the largest family, clustalw 20
            there["clustalo"] = partial(run, ["clustalo", "--threads=1", "--force", "-i", path, "-o", folder / "o.fa"])
            there["clustalw"] = partial(run, ["clustalw", f"-INFILE={path}", f"-OUTFILE={folder / 'w.aln'}"])
            there["tropalign --compat"] = partial(run, [*ours, "--compat"])
        yield Case(title, "s", goal, partial(run, ours), there, clock="own")


def evolved(folder: Path, n_sequences: int, length: int) -> Path:
    """A file of a simulated family."""
    rows = evolved_rows(np.random.default_rng(6), n_sequences, length, 40)
    path = folder / f"family{n_sequences}.fa"
    path.write_text("".join(f">s{k}\n{bytes(row[row != ord('-')]).decode()}\n" for k, row in enumerate(rows)))
    return path


def command(*words: object) -> list[object]:
    """A command of tropalign."""
    return [sys.executable, "-m", "tropalign.cli.main", *words]


def run(words: list[object]) -> float:
    """Processor seconds of a command."""
    silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    texts = [str(word) for word in words]
    pid = os.posix_spawnp(texts[0], texts, os.environ, file_actions=silent)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(texts)} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def timed(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def threads(is_quick: bool, is_brief: bool, folder: Path) -> Iterator[Case]:
    """Wall time of two threads."""
    rng = np.random.default_rng(7)
    n = 128 if is_quick else 8_192 if is_brief else 16_384
    weights = rng.integers(1, 200, (n, n)).astype(np.int16)
    np.fill_diagonal(weights, 0)
    yield Case(
        f"all pairs, int16, n = {n:,}",
        "s",
        0 if is_brief else 40,
        partial(closure, weights, n_threads=2),
        {},
        clock="wall",
    )
    n = 100_000 if is_quick else 250_000_000
    (start,), transition, emission = _model(rng, 8)
    transition = 0.1 * transition / 8 + np.eye(8) * (1 - 0.1 / 8)
    transition /= transition.sum(axis=1, keepdims=True)
    model, codes = HMM(start, transition, emission), rng.integers(0, 4, n).astype(np.uint8)
    for name, goal in (("viterbi", 10), ("forward", 0)):
        call = partial(getattr(model, name), codes, n_threads=2)
        yield Case(f"{name.capitalize()}, 8 states, {n:,} symbols", "s", goal, call, {}, clock="wall")
    path = folder / "chromosome.fa"
    with open(path, "wb") as file:
        file.write(b">chromosome\n" + np.frombuffer(b"ACGT", np.uint8)[codes].tobytes() + b"\n")
    decode = command("decode", "--model", "cpg", path, "-o", folder / "islands.bed", "-t", "2", "-q")
    yield Case(f"the command decode, CpG islands, {n:,} letters", "s", 10, partial(run, decode), {}, clock="wall")
