"""One pair that fills no vector and whose directions would not fit the memory that is allowed."""

import json
import random
import subprocess
import sys

import pytest
from oracles.pairwise import cigar_operations, rescore

LENGTH = 12_000
MEMORY = 200 << 20

CHILD = """
import json, sys, tropalign as ta
from tropalign.resources.limits import peak_bytes
request = json.load(sys.stdin)
batch = ta.SequenceBatch.from_strings(request["sequences"], alphabet=ta.NUCLEOTIDE)
matrix = ta.SubstitutionMatrix.match_mismatch(5, -4)
before = peak_bytes()
tables = ta.align_all(batch, mode=request["mode"], matrix=matrix, gap=ta.Gap(10, 1), report=request["report"],
                      memory_bytes=request["memory"], n_threads=request["threads"])
row = next(tables).row(0)
out = {"score": row.score, "bytes": peak_bytes() - before}
if request["report"] != "score":
    out["ends"] = [row.query_start, row.query_end, row.target_start, row.target_end]
if request["report"] == "alignment":
    out["cigar"] = row.cigar
json.dump(out, sys.stdout)
"""


def aligned(sequences, mode, report, threads=2):
    request = {"sequences": sequences, "mode": mode, "report": report, "memory": MEMORY, "threads": threads}
    done = subprocess.run([sys.executable, "-c", CHILD], input=json.dumps(request), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def relatives():
    """Two sequences of which one in five residues differ, with gaps of up to 200 residues."""
    rng = random.Random(2)
    first = "".join(rng.choice("ACGT") for _ in range(LENGTH))
    second = [letter if rng.random() < 0.8 else rng.choice(["", *"ACGT", "AC", "GTA"]) for letter in first]
    for _ in range(6):
        at = rng.randrange(LENGTH - 1000)
        second[at : at + rng.randint(10, 200)] = []
    return first, "".join(second)


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_path_within_the_memory_allowed(relatives, mode):
    row = aligned(relatives, mode, "alignment")
    assert row["bytes"] < 1.2 * MEMORY
    codes = [list(map(ord, text)) for text in relatives]
    scores = {ord(a): {ord(b): 5 if a == b else -4 for b in "ACGT"} for a in "ACGT"}
    start = (row["ends"][0], row["ends"][2])
    rescored = rescore(*codes, scores, 10, 1, cigar_operations(row["cigar"]), *start)
    assert rescored == (row["score"], row["ends"][1], row["ends"][3])
    assert aligned(relatives, mode, "alignment", threads=1) | {"bytes": 0} == row | {"bytes": 0}
    ends = aligned(relatives, mode, "ends")
    assert (ends["score"], ends["ends"]) == (row["score"], row["ends"]) and ends["bytes"] < 1.2 * MEMORY


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_score_alone_takes_little_memory(relatives, mode):
    row = aligned(relatives, mode, "score")
    assert row["bytes"] < MEMORY // 4
    assert aligned(relatives[::-1], mode, "score", threads=1)["score"] == row["score"]
