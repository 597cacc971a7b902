"""Reports and plots of pairs from Python."""

import gzip

import numpy as np
import pytest
from formats.test_pairs_html import aligned_set, data_of, family

import tropalign
from tropalign.errors import InputError, UsageError
from tropalign.results.alignments import concatenate

NAMES = [f"seq{k}" for k in range(12)]


def test_a_report_has_all_tables(tmp_path):
    table = aligned_set(family(12), NAMES)
    tropalign.write_report([table.slice(0, 20), table.slice(20, 66)], tmp_path / "a.html.gz")
    tropalign.write_report(table, str(tmp_path / "b.html"))
    made = (tmp_path / "b.html").read_bytes()
    assert gzip.decompress((tmp_path / "a.html.gz").read_bytes()) == made
    data, arrays = data_of(made)
    assert data["names"] == [NAMES] and arrays["score"].tolist() == table.score.tolist()


def test_scores_with_decimals_stay_as_they_are(tmp_path):
    table = aligned_set(family(6), matrix="BLOSUM62", gap=tropalign.Gap(9.5, 0.5))
    tropalign.write_report(table, tmp_path / "a.html")
    scores = data_of((tmp_path / "a.html").read_bytes())[1]["score"].tolist()
    assert scores == table.score.tolist() and any(score % 1 for score in scores)


def test_what_a_report_refuses(tmp_path):
    path = tmp_path / "a.html"
    with pytest.raises(InputError, match="there is no table: give at least one"):
        tropalign.write_report([], path)
    with pytest.raises(InputError, match="format html requires alignments"):
        tropalign.write_report(aligned_set(["MKV", "MKI"], report="ends"), path)
    with pytest.raises(InputError, match="the tables are of different sequences: give those of one run"):
        tropalign.write_report([aligned_set(["MKV", "MKI"]), aligned_set(["MKV", "MKI"])], path)
    with pytest.raises(InputError):
        tropalign.write_report(aligned_set(["MKV", "MKI"]), tmp_path / "nowhere" / "a.html")
    assert list(tmp_path.iterdir()) == []


def cells_and_names(figure):
    axes = figure.axes[0]
    names = [[label.get_text() for label in axis.get_ticklabels()] for axis in (axes.yaxis, axes.xaxis)]
    return np.ma.filled(axes.images[0].get_array().astype(float), np.nan), *names


@pytest.mark.parametrize("value", ["identity", "score"])
def test_the_map_shows_each_pair_where_its_names_stand(value):
    pytest.importorskip("matplotlib")
    table = aligned_set(family(12), NAMES)
    cells, rows, columns = cells_and_names(tropalign.plot_matrix(table, value))
    assert sorted(rows) == sorted(NAMES) and rows == columns
    for row in table:
        for a, b in ((row.query, row.target), (row.target, row.query)):
            assert cells[rows.index(a), columns.index(b)] == getattr(row, value)
    assert np.isnan(np.diagonal(cells)).all()


def test_maps_of_two_sets_and_what_they_refuse():
    pytest.importorskip("matplotlib")
    texts = family(12)
    table = concatenate(list(tropalign.align_all(texts[:3], texts[3:], mode="global", report="alignment")))
    cells, rows, columns = cells_and_names(tropalign.plot_matrix(table.take(np.arange(1, 27))))
    assert cells.shape == (3, 9)
    first = table.row(0)
    assert np.isnan(cells[rows.index(first.query), columns.index(first.target)]) and np.isnan(cells).sum() == 1
    with pytest.raises(UsageError, match="value 'length' is not one of identity, score"):
        tropalign.plot_matrix(aligned_set(["MKV", "MKI"]), "length")
    with pytest.raises(InputError, match="identities were not computed: request report 'alignment', or plot scores"):
        tropalign.plot_matrix(aligned_set(["MKV", "MKI"], report="score"), "identity")


@pytest.mark.parametrize("strand", ["plus", "both"])
def test_a_dot_plot_has_the_words_and_the_path(strand):
    pytest.importorskip("matplotlib")
    row = tropalign.align("AACGGGTTTACCATTGAC", "TTGGTAAACCGGCCGTT", mode="local", strand=strand)
    figure = tropalign.dot_plot(row, 3)
    axes = figure.axes[0]
    query, target = row.query_text(), "TTGGTAAACCGGCCGTT"
    dots = {(y - 1.5, x - 1.5) for x, y in axes.collections[0].get_offsets().tolist()}
    n, m = len(query), len(target)
    assert (
        dots == {(i, j) for i in range(n - 2) for j in range(m - 2) if query[i : i + 3] == target[j : j + 3]} != set()
    )
    path = axes.lines[0].get_xydata()
    assert path[0].tolist() == [row.target_start, row.query_span()[0]]
    assert path[-1].tolist() == [row.target_end, row.query_span()[1]]
    assert ("reverse strand" in axes.get_ylabel()) == (row.strand < 0) == (strand == "both")
    with pytest.raises(UsageError, match="word must be at least 1, not 0"):
        tropalign.dot_plot(row, 0)


def test_a_dot_plot_of_scores_has_the_table_and_the_path():
    pytest.importorskip("matplotlib")
    scores = np.random.default_rng(2).normal(size=(7, 9)).astype(np.float32)
    hit = tropalign.align_scores(scores, gap=tropalign.Gap(1, 0.5), mode="global")
    scores[2, 3] = -np.inf  # not aligned
    axes = tropalign.dot_plot(hit, scores=scores).axes[0]
    drawn = axes.images[0].get_array()
    assert drawn.mask.sum() == drawn.mask[2, 3] == 1
    np.testing.assert_array_equal(np.delete(drawn.data.ravel(), 21), np.delete(scores.ravel(), 21))
    assert axes.lines[0].get_xydata()[-1].tolist() == [9, 7] and axes.images[0].get_extent() == [0, 9, 7, 0]
    soft = tropalign.soft_align(np.ones((7, 9), np.float32), gap=tropalign.Gap(1, 0.5), mode="global")
    assert tropalign.dot_plot(soft.alignment(), scores=soft.posteriors).axes[0].images
    for wrong, said in ((scores.T, r"the shape \(9, 7\), but the sequences \(7, 9\)"), ([["a"]], "not a table")):
        with pytest.raises(InputError, match=said):
            tropalign.dot_plot(hit, scores=wrong)
    with pytest.raises(UsageError, match="word and scores exclude each other"):
        tropalign.dot_plot(hit, 3, scores=scores)
