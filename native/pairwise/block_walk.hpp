// Traceback for sweeps that kept checkpoints (checkpoints.hpp) instead of directions: only the blocks that a path
// crosses are swept again, with directions, for all lanes at a time.
//
// In each round every active lane has a block of up to 32 x 16 cells with its current cell in the last rows and
// columns. The values left of the block and above it are gathered from the checkpoints, lane l's into lane l. One sweep
// of the gathered unit finds the directions of all blocks. Each lane is then traced back until it leaves its block,
// usually through the left side, since at least 16 rows are above the current cell.
//
//       group g - 1    group g                        lane l of the unit that is swept
//                 |               |
//     -- row -----+===============+-------           +===============+     v, y (H, F) of the columns
//              .. | \             |                  |               |
//     -- row + 16-+- \  ----------+-------    ->     | u, x (H, E)   |
//              .. |    \          |                  | of the rows   |
//                 |     o  cell   |                  |          o    |
//     -- row + 32-+---------------+-------           +---------------+
//
// A block starts at its lane's first row or column if that is nearer: there the matrix's own border lies before
// it, and no lane has cells before its start.
//
// Counted for 32 lanes of 8 bits: a round takes 512 x 27 operations to sweep, 9,000 to look up scores (each lane
// has its own sequences) and 192 per lane to gather. Lanes of n columns take n / 16 rounds, and one more for each
// gap that leads out of a block at its top.
#pragma once
#include "checkpoints.hpp"
#include "score_source.hpp"
#include "unit_masks.hpp"
#include "walk.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Kinds of runs of alignment columns: pairs, or residues of only the columns (E) or only the rows (F).
enum class Step : uint32_t { diagonal, e, f };

/// The runs of a path, in reverse order.
struct StepRuns {
    uint32_t *run;  // length << 2 | step
    int count = 0;

    void add(Step step, int length) {
        if (length == 0) return;
        const uint32_t columns = static_cast<uint32_t>(length) << 2;
        if (count > 0 && (run[count - 1] & 3) == static_cast<uint32_t>(step)) run[count - 1] += columns;
        else run[count++] = columns | static_cast<uint32_t>(step);
    }

    /// Append the alignment columns to `gapped`.
    void lay(const LanePair &pair, const LaneResult &result, GappedRows &gapped) const {
        const uint8_t *row = pair.rows.codes + result.row_end, *column = pair.columns.codes + result.column_end;
        for (int k = 0; k < count; ++k) {
            const auto step = static_cast<Step>(run[k] & 3);
            const auto length = static_cast<int>(run[k] >> 2);
            gapped.add(step == Step::e ? nullptr : row, step == Step::f ? nullptr : column, length);
            row -= step == Step::e ? 0 : length, column -= step == Step::f ? 0 : length;
        }
    }
};

/// Border values of each lane, u(i,0) and v(0,j): one for its first row or column, one for all later ones.
template <class T, int L>
struct Borders {
    alignas(64) T first_row[L], row[L], first_column[L], column[L];
};

template <class T, int B, Mode M, bool Mirrored>
class BlockWalk {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    using V = Vec<T, B>;
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = kTableLanes<T, B>;
    static constexpr int kRows = kSweptRows, kWidth = kSweptColumns;

  public:
    /// `costs`: of the local sweep. `borders`: of the global one. `top`: for each group of columns, the first row that
    /// was swept; null: all were.
    BlockWalk(const Scoring &scoring, const Unit &unit, const Checkpoints<T, B> &kept, const int32_t *row_start,
              const int32_t *column_start, const int32_t *top, LocalScoring<T> costs, const Borders<T, L> *borders,
              UnitScratch &scratch, LaneResult *result)
        : scoring_(scoring), unit_(unit), kept_(kept), row_start_(row_start), column_start_(column_start), top_(top),
          costs_(costs), borders_(borders), scratch_(scratch), result_(result),
          scores_(scratch.get(Slot::scores, PairScores<T, B>::bytes(kRows))),
          swept_(*new (scratch.get(Slot::swept, sizeof(Swept))) Swept), map_(swept_.masks, layout()) {
        std::memset(swept_.row_letters, kPadCode, sizeof swept_.row_letters);  // including lanes without a pair
        std::memset(swept_.column_letters, kPadCode, sizeof swept_.column_letters);
        std::memset(swept_.row_track, kPadCode, sizeof swept_.row_track);
        std::memset(swept_.column_track, kPadCode, sizeof swept_.column_track);
    }

    /// Bytes needed besides the checkpoints, for alignments of up to `room` columns.
    static size_t bytes(size_t room, int n_lanes) {
        return UnitScratch::taken(sizeof(Swept)) + UnitScratch::taken(PairScores<T, B>::bytes(kRows)) +
               UnitScratch::taken(sizeof(uint32_t) * room * n_lanes);
    }

    /// Trace back all lanes whose results have an end cell and a score, and set their starts. Afterwards lane l's
    /// path is runs(l).
    void run(size_t room) {
        auto *runs = static_cast<uint32_t *>(scratch_.get(Slot::runs, sizeof(uint32_t) * room * unit_.n_lanes));
        int under_way[L], n = 0;
        for (int l = 0; l < unit_.n_lanes; ++l) {
            const LaneResult &out = result_[l];
            if (out.saturated || (kLocal && out.score == 0)) continue;
            lane_[l] = {out.row_end, out.column_end, out.score, Step::diagonal, {runs + room * l}, 0, 0};
            under_way[n++] = l;
        }
        for (int left; n > 0; n = left) {
            int height = 0, width = 0;
            for (int k = left = 0; k < n; ++k) {
                const int l = under_way[k];
                if (is_under_way(lane_[l])) gather(under_way[left++] = l, height, width);
                else finish(lane_[l], l);
            }
            if (left > 0) sweep(height, width);
            for (int k = 0; k < left; ++k) walk(under_way[k]);
        }
    }

    /// Path of a lane, in reverse order.
    const StepRuns &runs(int l) const { return lane_[l].runs; }

  private:
    struct Lane {
        int i, j, left;  // residues before the cell; local: score not yet used up
        Step step;       // a gap that may continue beyond the block, else the diagonal
        StepRuns runs;
        int row, column;  // residues before the block
    };

    /// Blocks of all lanes: residues, the values before them, and the directions.
    struct Swept {
        alignas(64) int8_t row_letters[kRows * kTable], column_letters[kWidth * kTable];  // as gathered
        alignas(64) int8_t row_track[kRows * kTable], column_track[kWidth * kTable];      // of a second track
        alignas(64) T value[kRows][L], gap[kRows][L];                                     // left: H and E, or u and x
        alignas(64) T above[kWidth][L], gap_above[kWidth][L], corner[L];                  // H and F, or v and y
        Masks<T, B> margin[MaskLayout::margin(kRows)], masks[kRows * kWidth];
    };

    bool is_under_way(const Lane &lane) const { return lane.i > 0 && lane.j > 0 && (!kLocal || lane.left != 0); }

    /// Choose a lane's block, and gather its residues and borders.
    void gather(int l, int &height, int &width) {
        Lane &lane = lane_[l];
        Swept &to = swept_;
        const LanePair &pair = unit_.lane[l];
        const int row_start = row_start_[l], column_start = column_start_[l];
        const int i = lane.i - 1 + row_start, j = lane.j - 1 + column_start;
        const int column = std::max(j / kWidth * kWidth, column_start), group = column / kBlock;
        const int row = std::max({i / kBlock * kBlock - (kRows - kBlock), row_start, top_ ? top_[group] : 0});
        height = std::max(height, i + 1 - row), width = std::max(width, j + 1 - column);
        lane.row = row - row_start, lane.column = column - column_start;
        take_letters<kRows>(pair.rows.codes + lane.row, l, to.row_letters);
        take_letters<kWidth>(pair.columns.codes + lane.column, l, to.column_letters);
        if (scoring_.track) {
            take_letters<kRows>(pair.rows.codes + lane.row + scoring_.track, l, to.row_track);
            take_letters<kWidth>(pair.columns.codes + lane.column + scoring_.track, l, to.column_track);
        }
        T *value = &to.value[0][l], *gap = &to.gap[0][l], *above = &to.above[0][l], *gap_above = &to.gap_above[0][l];
        if (lane.column > 0) {
            take<kRows>(reinterpret_cast<const T *>(kept_.column(group - 1) + 2 * row) + l, value, gap);
        } else {
            const Before before = before_first_column(l);
            for (int k = 0; k < kRows; ++k) value[k * L] = before.next, gap[k * L] = before.gap;
            if (lane.row == 0) value[0] = before.first;
        }
        if (lane.row > 0) {
            const V *from = kept_.row(group, row / kBlock) + 2 * (column % kBlock);
            take<kWidth>(reinterpret_cast<const T *>(from) + l, above, gap_above);
        } else {
            const Before before = before_first_row(l);
            for (int k = 0; k < kWidth; ++k) above[k * L] = before.next, gap_above[k * L] = before.gap;
            if (lane.column == 0) above[0] = before.first;
        }
        if constexpr (kLocal)
            to.corner[l] = lane.row > 0 && lane.column > 0
                               ? reinterpret_cast<const T *>(kept_.column(group - 1) + 2 * (row - 1))[l]
                               : costs_.floor;
    }

    /// Copy one lane's residues. Bytes after the end of a sequence are arbitrary (kCodeMargin) and are masked to
    /// valid codes.
    template <int count>
    static void take_letters(const uint8_t *codes, int l, int8_t *letters) {
        for (int k = 0; k < count; k += 16)
            store<int8_t, 16>(letters + gathered_index<kTable>(l, k),
                              load<int8_t, 16>(codes + k) & splat<int8_t, 16>(kLetters - 1));
    }

    /// Copy one lane's values from `count` pairs of vectors.
    template <int count>
    [[gnu::always_inline]] static void take(const T *from, T *value, T *gap) {
#pragma GCC unroll 32
        for (int k = 0; k < count; ++k) value[k * L] = from[2 * k * L], gap[k * L] = from[(2 * k + 1) * L];
    }

    /// Values before a lane's first column or row: H or a difference, in the first row (column) and in the others,
    /// and the gap's value.
    struct Before {
        T first, next, gap;
    };
    Before before_first_column(int l) const {
        if constexpr (kLocal) return outside();
        else return {borders_->first_row[l], borders_->row[l], static_cast<T>(-scoring_.open)};
    }
    Before before_first_row(int l) const {
        if constexpr (kLocal) return outside();
        else return {borders_->first_column[l], borders_->column[l], static_cast<T>(-scoring_.open)};
    }
    Before outside() const { return {costs_.floor, costs_.floor, static_cast<T>(costs_.floor - costs_.gap_first)}; }

    /// Transpose the residues of columns, as gathered.
    static void transpose(const int8_t *from, uint8_t *to) {
        static_assert(kWidth == 16);
        Vec<int8_t, kTable> v[16];
        for (int k = 0; k < 16; ++k) v[k] = load<int8_t, kTable>(from + k * kTable);
        transpose16<kTable>(v);
        for (int k = 0; k < 16; ++k) store<int8_t, kTable>(to + k * kTable, v[k]);
    }

    /// Find the directions of all blocks, or of the part that lanes may trace through.
    [[gnu::noinline]] void sweep(int height, int width) {
        Swept &at = swept_;
        alignas(64) uint8_t letters[2 * kWidth * kTable];
        PairScores<T, B> scores(scoring_, at.row_letters, height, scores_, {at.row_track, kWidth * kTable});
        transpose(at.column_letters, letters);
        if (scoring_.track) transpose(at.column_track, letters + kWidth * kTable);
        auto *value = reinterpret_cast<V *>(at.value), *gap = reinterpret_cast<V *>(at.gap);
        for (int j = 0; j < width; j += kColumns) {
            Edge<T, B> edge;
            for (int c = 0; c < kColumns; ++c) {
                edge.value[c] = load<T, B>(at.above[j + c]);
                edge.gap[c] = load<T, B>(at.gap_above[j + c]);
            }
            scores.template columns<kColumns>(letters + j * kTable);
            Masks<T, B> *masks = at.masks + layout().cell(0, j);
            if constexpr (kLocal) {
                edge.corner = load<T, B>(j == 0 ? at.corner : at.above[j - 1]);
                V best = splat<T, B>(costs_.floor);
                LocalBest<T, B> untracked(costs_.floor);
                local_columns<T, B, kColumns, Trace::masks, false, Mirrored, false>(
                    scores, height, 0, costs_, value, gap, masks, best, untracked, edge, Participation<T, B>{});
            } else {
                global_columns<T, B, kColumns, Trace::masks, Mirrored, Part::all>(
                    scores, height, static_cast<T>(scoring_.open), value, gap, masks, edge, Participation<T, B>{});
            }
        }
    }

    /// Trace back within a lane's block until the path leaves it or ends. (walk_back of walk.hpp explains the
    /// steps.)
    void walk(int l) {
        Lane &lane = lane_[l];
        LanePair pair = unit_.lane[l];
        pair.rows.codes += lane.row, pair.columns.codes += lane.column;
        UnitCells<T, B, M> cells(scoring_, map_, pair, 0, 0, l);
        int i = lane.i - lane.row, j = lane.j - lane.column, left = lane.left;
        auto add_gap = [&](bool is_e, int length, int most) {
            const Step step = is_e ? Step::e : Step::f;
            lane.runs.add(step, length);
            i -= is_e ? 0 : length, j -= is_e ? length : 0;
            left += length * scoring_.extend;
            lane.step = length == most ? step : Step::diagonal;  // at `most` the gap may continue beyond the block
        };
        if (lane.step != Step::diagonal) {  // examined as from the cell that the gap came from
            const bool is_e = lane.step == Step::e;
            const int most = is_e ? j : i;
            cells.seek(i + !is_e, j + is_e);
            add_gap(is_e, cells.gap_length(is_e, most + 1) - 1, most);
        }
        cells.seek(i, j);
        while (i > 0 && j > 0) {
            int run;
            if constexpr (kLocal) run = cells.positive_run(i, j, left);
            else run = cells.diagonal_run(i, j);
            lane.runs.add(Step::diagonal, run);
            i -= run, j -= run;
            if (i == 0 || j == 0 || (kLocal && left == 0)) break;
            const bool is_e = step_is_e<Mirrored>(cells.last_wins());
            const int most = is_e ? j : i;
            left += scoring_.open;
            add_gap(is_e, cells.gap_length(is_e, most), most);
            cells.seek(i, j);
        }
        lane.i = i + lane.row, lane.j = j + lane.column, lane.left = left;
    }

    /// Set the start of a lane whose traceback is complete.
    void finish(Lane &lane, int l) const {
        if constexpr (!kLocal) {  // the rest of one sequence is one gap, or overhangs
            const LanePair &pair = unit_.lane[l];
            if (lane.i > 0 && !pair.free_rows_begin) lane.runs.add(Step::f, lane.i), lane.i = 0;
            if (lane.j > 0 && !pair.free_columns_begin) lane.runs.add(Step::e, lane.j), lane.j = 0;
        }
        result_[l].row_begin = lane.i, result_[l].column_begin = lane.j;
    }

    static constexpr MaskLayout layout() { return {kRows}; }

    const Scoring &scoring_;
    const Unit &unit_;
    const Checkpoints<T, B> &kept_;
    const int32_t *row_start_, *column_start_, *top_;
    const LocalScoring<T> costs_;
    const Borders<T, L> *borders_;
    UnitScratch &scratch_;
    LaneResult *result_;
    void *scores_;
    Swept &swept_;
    const MaskMap<T, B> map_;
    Lane lane_[L];
};

}  // namespace tropalign::TROPALIGN_ISA
