"""Tables of random alignments, made without the kernels, and what they mean in plain Python."""

import numpy as np

from tropalign.results.alignments import AlignmentTable
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences import NUCLEOTIDE, PROTEIN, SequenceBatch

INSERTION, DELETION, EQUAL, DIFFERENT = 1, 2, 7, 8
OPERATIONS = "MIDNSHP=X"
GAP = Gap(8, 2)


def matrix_for(alphabet):
    if alphabet is PROTEIN:
        return SubstitutionMatrix.from_name("BLOSUM50")
    return SubstitutionMatrix.match_mismatch(5, -4, NUCLEOTIDE)


def random_batch(rng, n, letters, name, alphabet):
    texts = ["".join(rng.choice(list(letters), int(rng.integers(1, 130)))) for _ in range(n)]
    return SequenceBatch.from_strings(texts, [f"{name}{k}" for k in range(n)], alphabet)


def runs(kinds):
    """BAM-coded operations of a list of columns."""
    out = []
    for kind in kinds:
        if out and out[-1] & 15 == kind:
            out[-1] += 16
        else:
            out.append(16 | kind)
    return out


def random_table(seed, n_rows=12, alphabet=PROTEIN, has_strand=False, empties=True):
    """Random paths over random sequences; every count is that of its path."""
    rng = np.random.default_rng(seed)
    letters = "ARNDCQEGHILKMFPSTWYVX" + "arnd" if alphabet is PROTEIN else "ACGTNacgtU"
    queries = random_batch(rng, 5, letters, "query", alphabet)
    targets = random_batch(rng, 4, letters, "target", alphabet)
    other = queries.reverse_complement() if has_strand else queries
    positive = matrix_for(alphabet).scores > 0
    rows, ops, offsets = [], [], [0]
    for k in range(n_rows):
        q, t = int(rng.integers(len(queries))), int(rng.integers(len(targets)))
        strand = int(rng.choice([1, -1])) if has_strand else 1
        batch = queries if strand > 0 else other
        a = batch.codes[batch.offsets[q] : batch.offsets[q + 1]]
        b = targets.codes[targets.offsets[t] : targets.offsets[t + 1]]
        i, j = int(rng.integers(len(a))), int(rng.integers(len(b)))
        begin, kinds, similar = (i, j), [], 0
        for _ in range(0 if empties and k % 5 == 3 else 200):
            kind = rng.choice(["pair", "pair", "pair", "pair", "pair", INSERTION, DELETION])
            if kind == "pair" and i < len(a) and j < len(b):
                kinds.append(EQUAL if a[i] == b[j] else DIFFERENT)
                similar += positive[a[i], b[j]]
                i, j = i + 1, j + 1
            elif kind == str(INSERTION) and i < len(a):
                kinds.append(INSERTION)
                i += 1
            elif kind == str(DELETION) and j < len(b):
                kinds.append(DELETION)
                j += 1
        if not kinds:
            begin, i, j = (0, 0), 0, 0
        span = (begin[0], i) if strand > 0 or not kinds else (len(a) - i, len(a) - begin[0])
        gaps = kinds.count(INSERTION) + kinds.count(DELETION)
        score = int(rng.integers(1, 500)) if kinds else 0
        rows.append((q, t, score, strand, *span, begin[1], j, kinds.count(EQUAL), similar, gaps, len(kinds)))
        ops += runs(kinds)
        offsets.append(len(ops))
    columns = np.array(rows, np.int64).reshape(n_rows, 12).T
    query, target, score, strand, *rest = columns
    return AlignmentTable(
        queries,
        targets,
        "alignment",
        np.ascontiguousarray(query),
        np.ascontiguousarray(target),
        score.astype(np.int32),
        strand.astype(np.int8) if has_strand else None,
        *(column.astype(np.int32) for column in rest),
        np.array(ops, np.uint32),
        np.array(offsets, np.int64),
    )


def reduced(table, depth):
    names = () if depth == "score" else ("query_start", "query_end", "target_start", "target_end")
    ends = {name: getattr(table, name) for name in names}
    return AlignmentTable(
        table.queries, table.targets, depth, table.query_index, table.target_index, table.score, table.strand, **ends
    )


def plain_cigar(ops):
    return "".join(f"{op >> 4}{OPERATIONS[op & 15]}" for op in ops.tolist()) or "*"


def plain_rows(columns, n_rows, separator="\t", terminator="\n"):
    """What the native joiner has to write."""
    lines = []
    for row in range(n_rows):
        cells = []
        for kind, *arrays, prefix in columns:
            if kind in ("int32", "int64"):
                cell = str(int(arrays[0][row]))
            elif kind == "real":
                cell = f"{arrays[0][row]:.{arrays[1]}f}"
            elif kind == "text":
                data, offsets, index = arrays
                k = row if index is None else index[row]
                cell = data[offsets[k] : offsets[k + 1]].tobytes().decode("latin-1")
            elif kind == "cigar":
                cell = plain_cigar(arrays[0][arrays[1][row] : arrays[1][row + 1]])
            else:
                cell = ""
            cells.append(prefix + cell)
        lines.append(separator.join(cells) + terminator)
    return "".join(lines).encode("latin-1")
