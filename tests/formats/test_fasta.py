import io

from Bio import SeqIO


def test_records(write, any_table):
    text = write("fasta", any_table, (3,)).decode()
    mapped = [row for row in any_table if row.n_columns]
    records = list(SeqIO.parse(io.StringIO(text), "fasta"))
    assert len(records) == 2 * len(mapped) and text.count("\n\n") == len(mapped)
    for query, target, row in zip(records[::2], records[1::2], mapped, strict=True):
        top, _, bottom = row.aligned()
        assert (query.id, str(query.seq), target.id, str(target.seq)) == (row.query, top, row.target, bottom)
        strand = f" strand={'+-'[row.strand < 0]}" if any_table.strand is not None else ""
        ends = (row.query_start + 1, row.query_end)[:: row.strand]
        assert query.description == f"{row.query} {ends[0]}-{ends[1]}{strand} score={row.score}"
        assert target.description == f"{row.target} {row.target_start + 1}-{row.target_end}"
