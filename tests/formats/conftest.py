import io
import itertools

import pytest
from tropalign.formats.context import Context
from tropalign.formats.writers import WRITERS

from formats.tables import GAP, matrix_for, random_table
from tropalign.sequences import NUCLEOTIDE, PROTEIN


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
    return Context(
        "1.2.3",
        "tropalign pairs a.fa",
        {"mode": "local", "gap_cost": "8 + 2 * residues"},
        table.queries,
        table.targets,
        table.depth,
        table.strand is not None,
        substitution=matrix_for(table.queries.alphabet),
        gap=GAP,
        **more,
    )


@pytest.fixture
def write():
    """Bytes of a table in a format, cut into parts at random places."""

    def written(name, table, cuts=(), **more):
        context, writer, out = context_for(table, **more), WRITERS[name], io.BytesIO()
        bounds = [0, *cuts, len(table)]
        parts = [writer.encode(table.slice(a, b), context) for a, b in itertools.pairwise(bounds)]
        writer.assemble(iter(parts), out, context)
        return out.getvalue()

    return written
