// The traceback from an alignment's end cell to its start. Each engine stores or derives the directions in its own
// class of cells; the choice among directions is made here, once for all engines.
#pragma once
#include "path.hpp"
#include "ties.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Set the starts of `result` from its end cell (row_end, column_end) and score; the columns go to `gapped`.
///
/// Cell (i, j) pairs rows[i - 1] and columns[j - 1]. `cells` provides the directions of one cell at a time:
///   seek(i, j)                     moves to the cell
///   diagonal_run(i, j)             global: cells from there up that are entered diagonally; moves to the next
///   positive_run(i, j, left)       local: the same, until the scores have used up `left`
///   last_wins()                    which gap the cell is entered from (ties.hpp)
///   gap_length(is_e, most)         residues of the gap that ends there, at most `most`
template <class Cells, bool Mirrored, Mode M>
void walk_back(const Scoring &scoring, const LanePair &pair, Cells &cells, LaneResult &result, GappedRows &gapped) {
    static_assert(M == Mode::local || M == Mode::global);
    constexpr bool kLocal = M == Mode::local;
    const uint8_t *rows = pair.rows.codes, *columns = pair.columns.codes;
    int i = result.row_end, j = result.column_end, left = result.score;
    cells.seek(i, j);
    while (i > 0 && j > 0) {
        int run;
        if constexpr (kLocal) run = cells.positive_run(i, j, left);
        else run = cells.diagonal_run(i, j);
        gapped.add(rows + i, columns + j, run);
        i -= run, j -= run;
        if (i == 0 || j == 0 || (kLocal && left == 0)) break;
        const bool is_e = step_is_e<Mirrored>(cells.last_wins());
        const int k = cells.gap_length(is_e, is_e ? j : i);
        gapped.add(is_e ? nullptr : rows + i, is_e ? columns + j : nullptr, k);
        i -= is_e ? 0 : k, j -= is_e ? k : 0;
        left += scoring.open + k * scoring.extend;
        cells.seek(i, j);
    }
    if (!kLocal) {  // the rest of one sequence is one gap, or overhangs
        if (i > 0 && !pair.free_rows_begin) gapped.add(rows + i, nullptr, i), i = 0;
        if (j > 0 && !pair.free_columns_begin) gapped.add(nullptr, columns + j, j), j = 0;
    }
    result.row_begin = i;
    result.column_begin = j;
}

/// Trace back a pair that runs alone, from the end cell of `result`; whole alignments get their counts and their
/// path, which stays in the scratch.
template <Mode M, class Cells>
void walk_alone(const Scoring &scoring, const LanePair &pair, Cells &cells, UnitScratch &scratch, LaneResult &result) {
    const size_t columns = static_cast<size_t>(result.row_end) + result.column_end + 2;
    GappedRows gapped(scratch.get(Slot::gapped, GappedRows::bytes(columns)), columns);
    walk_back<Cells, false, M>(scoring, pair, cells, result, gapped);
    if (scoring.depth != Depth::alignment) return;
    gapped.count(scoring, result);
    auto *path = static_cast<uint32_t *>(scratch.get(Slot::paths, sizeof(uint32_t) * (gapped.runs() + 1)));
    result.path_length = gapped.encode(path);
    result.path = path;
}

}  // namespace tropalign::TROPALIGN_ISA
