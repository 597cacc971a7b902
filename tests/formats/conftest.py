import io
import itertools

import pytest

from formats.tables import GAP, matrix_for, random_table
from tropalign.formats.header import Header
from tropalign.formats.pairs import PairsContext
from tropalign.formats.registry import pairs_writer
from tropalign.sequences import NUCLEOTIDE, PROTEIN

HEADER = Header("1.2.3", "tropalign pairs a.fa", {"mode": "local", "gap_cost": "8 + 2 * residues"})


@pytest.fixture(params=range(3))
def proteins(request):
    return random_table(request.param)


@pytest.fixture(params=range(3))
def strands(request):
    """Nucleotides on both strands."""
    return random_table(request.param, alphabet=NUCLEOTIDE, has_strand=True)


@pytest.fixture(params=[PROTEIN, NUCLEOTIDE], ids=["protein", "strands"])
def any_table(request):
    return random_table(7, n_rows=30, alphabet=request.param, has_strand=request.param is NUCLEOTIDE)


def context_for(table, **more):
    words = {"substitution": matrix_for(table.queries.alphabet), "gap": GAP, **more}
    return PairsContext(table.queries, table.targets, table.depth, table.strand is not None, **words)


def parts_of(writer, table, cuts=()):
    """The table cut into parts at these places."""
    return [writer.encode(table.slice(a, b)) for a, b in itertools.pairwise([0, *cuts, len(table)])]


@pytest.fixture
def write():
    """Bytes of a table in a format, cut into parts."""

    def written(name, table, cuts=(), **more):
        writer, out = pairs_writer(name, HEADER, context_for(table, **more)), io.BytesIO()
        writer.assemble(iter(parts_of(writer, table, cuts)), out)
        return out.getvalue()

    return written
