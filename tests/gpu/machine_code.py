"""What NVRTC makes of the kernels, without a GPU: registers, spills and instructions per cell.

python tests/gpu/machine_code.py           prints the table
python tests/gpu/machine_code.py --write   records it as what the tests hold against
"""

import json
import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "machine_code.json"
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
#: Name -> (local, traced, source of scores, strips). All architectures compile the first four, and those below.
VARIANTS = {
    "local score": (True, False, 0, False),
    "local alignment": (True, True, 0, False),
    "global score": (False, False, 0, False),
    "global alignment": (False, True, 0, False),
    "local score, one query": (True, False, 1, False),
    "local alignment, one query": (True, True, 1, False),
    "local score, own rows": (True, False, 2, False),
    "local alignment, own rows": (True, True, 2, False),
    "local alignment, strips": (True, True, 2, True),
}
PLACEMENT = "placement score"
#: Kernels of multiple alignment: both sweeps of posteriors; consistency, per product. -> (kernel, its arithmetic).
MSA = {
    "posteriors, from the end": ("ends", "FFMA"),
    "posteriors": ("posteriors", "FFMA"),
    "consistency": ("relax", "POPC"),
}
#: Filters of a search -> (kernel, its arithmetic). A word of SSV and MSV has two nodes.
SEARCH = {
    "SSV": ("filter_ssv", "MNMX"),
    "MSV": ("filter_msv", "MNMX"),
    "P7Viterbi": ("filter_viterbi", "MNMX"),
}
#: Tropical algebra -> (kernel, its arithmetic). Products are counted per word of C and k; of models, what a state of 4
#: sequences costs per state before (forward), or all loops of a step, once each (Viterbi).
TROPICAL = {
    "product of integers": ("product", "MNMX"),
    "product of floats": ("product", "MNMX"),
    "product of floats, 0 or more": ("product", "MNMX"),
    "closure of a block": ("closure_block", "MNMX"),
    "Viterbi, a step of 64 states": ("hmm_sweep", "DADD"),
    "forward, 64 states": ("hmm_sweep", "DFMA"),
}
#: Alignment of profiles -> (kernel, its arithmetic); a step of a lane, the loop over letters aside.
PROFILES = {"profiles": ("profile_sweep", "IADD"), "profile and sequence": ("profile_sweep", "IADD")}
EVERYWHERE = [*list(VARIANTS)[:4], PLACEMENT, *MSA, *SEARCH, *TROPICAL, *PROFILES]
#: Instructions that go elsewhere than to the integer pipe: memory, control, the uniform and the multiply-add pipes.
ELSEWHERE = re.compile(
    r"LD|ST|CCTL|ERRBAR|MEMBAR|BRA|BSSY|BSYNC|BAR|BREAK|CALL|RET|EXIT|NOP|WARPSYNC|DEPBAR|IMAD|U[A-Z]|R2UR|S2|CS2R"
)


def nvdisasm():
    for folder in sys.path:
        found = sorted(Path(folder).glob("nvidia/*/bin/nvdisasm")) if folder else []
        if found:
            return str(found[0])
    raise FileNotFoundError("nvdisasm: pip install nvidia-cuda-nvdisasm")


def compiled(source, constants, architecture):
    """Machine code; kernels of one source and the same constants are compiled once."""
    return _compiled(source, tuple(constants.items()), architecture)


@cache
def _compiled(source, constants, architecture):
    from tropalign.devices.cuda import compile_for

    return compile_for(source, dict(constants), architecture)


@cache
def disassembled(cubin):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return subprocess.run([nvdisasm(), "-c", file.name], capture_output=True, text=True, check=True).stdout


def compile_placement(capability):
    from tropalign.devices.cuda import DPX_CAPABILITY
    from tropalign.placement.gpu import COLUMNS, Scoring, Shape, constants, source

    shape, scoring = Shape(), Scoring.of((2, 0, -3, 3, 1, 3, 1, 0))
    chosen = constants(scoring, shape.group, shape.rows[0], 16 if capability >= DPX_CAPABILITY else 32)
    return compiled(source(), chosen, f"sm_{capability}"), chosen["PLACE_ROWS"] * COLUMNS


def compile_msa(name, capability):
    from tropalign.msa import consistency
    from tropalign.msa.gpu import Shape, constants, source
    from tropalign.msa.models import PROTEIN_2

    if name == "consistency":
        return compiled(consistency.source(), consistency.constants(), f"sm_{capability}"), 1
    shape = Shape()
    chosen = constants(shape.group, max(shape.rows), len(PROTEIN_2.insert))
    return compiled(source(), chosen, f"sm_{capability}"), max(shape.rows)


def compile_search(name, capability):
    """For models of 512 nodes (bytes) and 256 (words)."""
    from tropalign.devices.cuda import DPX_CAPABILITY
    from tropalign.profiles.gpu import byte_constants, source, word_constants

    if name == "P7Viterbi":
        chosen = word_constants(32, 8)
        return compiled(source("word_filter.k"), chosen, f"sm_{capability}"), chosen["FILTER_NODES"]
    word_bits = 16 if capability >= DPX_CAPABILITY else 32
    chosen = byte_constants(32, 8, word_bits)
    return compiled(source("byte_filters.k"), chosen, f"sm_{capability}"), chosen["FILTER_WORDS"]


def compile_tropical(name, capability):
    from tropalign.decoding import gpu as gpu_hmm
    from tropalign.devices.cuda import DPX_CAPABILITY
    from tropalign.tropical import gpu

    if TROPICAL[name][0] == "hmm_sweep":
        is_forward = name.startswith("forward")
        chosen = gpu_hmm.Shape().constants(64, sums=is_forward, frames=False)
        return compiled(gpu_hmm.source(), chosen, f"sm_{capability}"), 80 if is_forward else 1
    kinds = {"product of floats": gpu.Kind.FLOATS, "product of floats, 0 or more": gpu.Kind.POSITIVE}
    chosen = gpu.constants(kinds.get(name, gpu.Kind.WORDS), 16 if capability >= DPX_CAPABILITY else 32)
    cells = 1 if TROPICAL[name][0] == "closure_block" else gpu.SIDE * gpu.DEPTH
    return compiled(gpu.source(), chosen, f"sm_{capability}"), cells


def compile_profiles(name, capability):
    from tropalign.msa import gpu_profiles

    chosen = gpu_profiles.constants(25, is_table=name != "profiles")
    return compiled(gpu_profiles.source(), chosen, f"sm_{capability}"), 1


def compile_variant(name, capability):
    """Machine code, and words of cells in its inner loop."""
    if name == PLACEMENT:
        return compile_placement(capability)
    if name in MSA:
        return compile_msa(name, capability)
    if name in SEARCH:
        return compile_search(name, capability)
    if name in TROPICAL:
        return compile_tropical(name, capability)
    if name in PROFILES:
        return compile_profiles(name, capability)

    from gpu.cases import blosum62

    from tropalign.devices.cuda import DPX_CAPABILITY
    from tropalign.pairwise.gpu import source
    from tropalign.pairwise.gpu_plan import Scheme, Shape, constants

    local, traced, scores, strips = VARIANTS[name]
    word_bits = 16 if capability >= DPX_CAPABILITY and not strips else 32
    scheme = Scheme(blosum62().scores, 11, 1, local, (False,) * 4, traced)
    chosen = constants(scheme, Shape(), scores, strips, word_bits)
    return compiled(source(), chosen, f"sm_{capability}"), chosen["PAIRS_ROWS"] * 8


def instructions(cubin, kernel):
    """(name, operands) of a kernel, and ("label", name) where jumps land."""
    found, inside = [], False
    for line in disassembled(cubin).splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.(\w+)", line):
            inside = match[1] == kernel
        elif inside and (match := re.match(r"(\.L_x_\d+):", line)):
            found.append(("label", match[1]))
        elif inside and (match := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)(.*)", line)):
            found.append((match[1], match[2]))
    return found


def inner_loop(found, arithmetic="MNMX"):
    """Instructions of the innermost loop that does most of the arithmetic, that is, instructions of this name."""
    place = {name: k for k, (kind, name) in enumerate(found) if kind == "label"}
    loops = []
    for k, (name, operands) in enumerate(found):
        target = re.search(r"(\.L_x_\d+)", operands) if name.startswith("BRA") else None
        if target and place.get(target[1], k) < k:
            body = [name for name, _ in found[place[target[1]] : k + 1] if name != "label"]
            loops.append((sum(arithmetic in name for name in body), body))
    most = max(count for count, _ in loops)
    return min((body for count, body in loops if count >= 0.6 * most), key=len)


def register_counts(cubin):
    """Registers of a work-item, and bytes of its stack, by kernel (ELF sections .nv.info, attributes 0x2f and 0x11)."""
    (table,), (count, names) = struct.unpack_from("<Q", cubin, 0x28), struct.unpack_from("<HH", cubin, 0x3C)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * k) for k in range(count)]

    def text(section, at):
        begin = sections[section][4] + at
        return cubin[begin : cubin.index(b"\0", begin)].decode()

    symbols = next(s for s in sections if s[1] == 2)
    counts = {}
    for section in sections:
        if text(names, section[0]) != ".nv.info":
            continue
        at, end = section[4], section[4] + section[5]
        while at < end:
            form, attribute, size = struct.unpack_from("<BBH", cubin, at)
            if form == 4 and attribute in (0x2F, 0x11):
                symbol, value = struct.unpack_from("<II", cubin, at + 4)
                (name,) = struct.unpack_from("<I", cubin, symbols[4] + 24 * symbol)
                counts.setdefault(text(symbols[6], name), {})[attribute] = value
            at += 4 + (size if form == 4 else 0)
    return {name: (values[0x2F], values.get(0x11, 0)) for name, values in counts.items() if 0x2F in values}


def measure(name, capability):
    """What the table holds of a kernel; a cell is one packed word: two cells of 16 bits, or one of 32.

    Branches that are rarely taken count, too.
    """
    cubin, cells = compile_variant(name, capability)
    named = MSA | SEARCH | TROPICAL | PROFILES
    kernel, arithmetic = named.get(name, ("place" if name == PLACEMENT else "sweep", "MNMX"))
    found = instructions(cubin, kernel)
    body = Counter(name.split(".")[0] for name in inner_loop(found, arithmetic))
    registers, stack = register_counts(cubin)[kernel]
    return {
        "registers": registers,
        "stack_bytes": stack,
        "spills": sum(name.startswith(("LDL", "STL")) for name, _ in found),
        "alu_a_cell": round(sum(n for name, n in body.items() if not ELSEWHERE.match(name)) / cells, 3),
        "all_a_cell": round(sum(body.values()) / cells, 3),
    }


def cases():
    return [
        (name, arch)
        for name in [*VARIANTS, PLACEMENT, *MSA, *SEARCH, *TROPICAL, *PROFILES]
        for arch in (ARCHITECTURES if name in EVERYWHERE else (80, 90))
    ]


def table():
    with ThreadPoolExecutor(2) as pool:
        measured = pool.map(lambda case: measure(*case), cases())
        return {f"{name}, sm_{arch}": row for (name, arch), row in zip(cases(), measured, strict=True)}


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    rows = table()
    print(f"{'kernel':40s} registers spills  ALU/cell  all/cell")
    for name, row in rows.items():
        print(f"{name:40s} {row['registers']:9d} {row['spills']:6d} {row['alu_a_cell']:9.2f} {row['all_a_cell']:9.2f}")
    if "--write" in sys.argv:
        TABLE.write_text(json.dumps(rows, indent=1) + "\n")
