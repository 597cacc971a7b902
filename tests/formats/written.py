"""Files as formats write them."""

import io
import itertools

from tropalign.formats.format import Header, make_writer

HEADER = Header("1.2.3", "tropalign pairs a.fa", {"mode": "local", "gap_cost": "8 + 2 * residues"})


def written(kind, form, context, pieces=(), header=HEADER):
    """The bytes of a file; each piece of the result becomes a part."""
    writer, out = make_writer(kind, form, header, context), io.BytesIO()
    writer.assemble([writer.encode(piece) for piece in pieces], out)
    return out.getvalue()


def cut(table, cuts=()):
    bounds = [0, *cuts, len(table)]
    return [table.slice(a, b) for a, b in itertools.pairwise(bounds)]
