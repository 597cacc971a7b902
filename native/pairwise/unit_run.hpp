// One unit (up to a vector of pairs in parallel lanes) on one instruction set: interleave, sweep, find the ends,
// trace back.
//
// A unit is swept in bands of rows, from left to right, a few columns at a time. Residues of columns are
// interleaved in blocks, so that memory does not grow with the sequences; the values below a band go to the next
// one through `border`. If a traceback follows there is one band, since it needs the values of all cells, or the
// checkpoints that replace them in large units (checkpoints.hpp), in one layout.
//
//              block 0 |  block 1 | ...                 H_, E_ (or U, X) of the band: the current column
//     band 0   ========|====>     |
//              --------+----------+---- border_         H and F (or v, y) below each column of the band above
//     band 1           |          |
//
// Columns are swept kColumns at a time, and padded to a multiple of it.
//
// Global mode: sequences end in the unit's last row and column (sweep.hpp has the picture), so that one pass over
// these finds all ends. Cells of a lane before its first column have no meaning: the lane's state is initialised
// there.
//
//     lane 0   . o o o | o o o o | o o o o | o o o o
//     lane 1   . . . . | . . . . | . . o o | o o o o
//               begins           |  begins
#pragma once
#include <algorithm>
#include <chrono>

#include "block_walk.hpp"
#include "ends.hpp"
#include "interleave.hpp"
#include "local_maxima.hpp"
#include "pruned_rows.hpp"
#include "ranges.hpp"
#include "score_source.hpp"
#include "unit_values.hpp"
#include "walk.hpp"

namespace tropalign::TROPALIGN_ISA {

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// `WalkOnly`: only for Pass::walk.
template <class T, int B, bool WalkOnly = false>
class UnitRun {
    using V = Vec<T, B>;
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = kTableLanes<T, B>;
    static constexpr bool kHasProfiles = sizeof(T) < 4;  // 32-bit lanes are rare: PairScores suffices
    static constexpr int kBandRows = 4096;               // state and scores of a band fit a second-level cache
    template <Kept K>
    static constexpr Trace kTrace = K == Kept::values ? Trace::values : Trace::nothing;
    static constexpr bool kPrunes = sizeof(T) == 2;  // lanes of similar sequences, whose scores pass 8 bits
    static constexpr int kBlockColumns = 4096;       // a multiple of 16 (interleave.hpp) and of kColumns

  public:
    UnitRun(const Scoring &scoring, const Unit &unit, UnitScratch &scratch, LaneResult *result)
        : scoring_(scoring), unit_(unit), scratch_(scratch), result_(result) {}

    void run() {
        const auto begin = std::chrono::steady_clock::now();
        measure();
        scratch_.begin(bytes(scoring_, {m_, n_, unit_.n_lanes, unit_.shared_rows}));
        if constexpr (!WalkOnly) {
            if (scoring_.pass == Pass::score) sweep<Pass::score, false>();
            if (scoring_.pass == Pass::end_cells)
                unit_.mirrored ? sweep<Pass::end_cells, true>() : sweep<Pass::end_cells, false>();
        }
        if (scoring_.pass == Pass::walk) {
            if (keeps_checkpoints(m_, n_))
                unit_.mirrored ? sweep<Pass::walk, true, Kept::borders>() : sweep<Pass::walk, false, Kept::borders>();
            else unit_.mirrored ? sweep<Pass::walk, true, Kept::values>() : sweep<Pass::walk, false, Kept::values>();
        }
        scratch_.unit_seconds += seconds_since(begin);
        scratch_.swept_cells += static_cast<uint64_t>(m_) * n_ * L;
    }

    /// Bytes of the buffers of a unit.
    static size_t bytes(const Scoring &scoring, const UnitSize &unit) {
        const size_t m = unit.rows, n = whole_columns(unit.columns);
        const size_t band = band_rows(scoring, m);
        const size_t block = whole_blocks(static_cast<int>(std::min<size_t>(n, kBlockColumns)));
        const size_t room = (m + n + 2) * scoring.traced();
        const bool has_track = scoring.track != 0, shared = kHasProfiles && unit.shared_rows && !has_track;
        const size_t sizes[] = {
            state_bytes(band),
            std::max(shared ? 2 * profile_bytes(band) : pair_scores_bytes(scoring, band),
                     PairScores<T, B>::bytes(kSweptRows)),
            block * kTable * (1 + has_track),
            shared ? 0 : (band + 15) * kTable * (1 + has_track),
            std::max(block, shared ? 0 : band + 15) * kTable,
            scoring.traced() ? kept_bytes(m, n, room, unit.n_lanes) : 0,
            border_bytes(scoring, band < m, n),
            is_local(scoring.mode) ? 0 : 2 * sizeof(V) * band,
            sizeof(uint32_t) * room * unit.n_lanes,
            room ? GappedRows::bytes(room) : 0,
        };
        size_t sum = 0;
        for (const size_t size : sizes) sum += UnitScratch::taken(size);
        return sum;
    }

  private:
    /// True if sequences start in the unit's first row and column, and the last row and column are not kept.
    static bool is_local(Mode mode) {
        switch (mode) {
            case Mode::local:
                return true;
            case Mode::global:
                return false;
        }
        __builtin_unreachable();
    }
    /// Return the number of columns rounded up to whole groups of kColumns.
    static int64_t whole_columns(int64_t n) { return (n + kColumns - 1) / kColumns * kColumns; }
    /// Bytes of PairScores, and of the profiles of two tracks.
    static size_t pair_scores_bytes(const Scoring &scoring, size_t rows) {
        return PairScores<T, B>::bytes(rows) + (scoring.track ? SharedRows<kTable>::bytes() : 0);
    }
    /// Bytes of one profile, in whole lines of 64.
    static size_t profile_bytes(size_t rows) { return (ProfileScores<T, B>::bytes(rows) + 63) / 64 * 64; }
    /// Return the rows of a band: all if a traceback follows, or the best cell of a column is needed.
    static size_t band_rows(const Scoring &scoring, size_t m) {
        const bool is_one = scoring.traced() || (is_local(scoring.mode) && scoring.pass != Pass::score);
        return is_one ? m : std::min<size_t>(m, kBandRows);
    }
    /// Return the bytes of H and E (or u and x), and with values also of H'.
    static size_t state_bytes(size_t rows) { return sizeof(V) * 3 * (rows + 1); }
    /// Return the bytes of border_: two vectors per column between bands, else one per column of a block, if needed.
    static size_t border_bytes(const Scoring &scoring, bool is_banded, size_t n) {
        if (is_banded) return sizeof(V) * 2 * n;
        return is_local(scoring.mode) ? 0 : sizeof(V) * std::min<size_t>(n, kBlockColumns);
    }
    /// Bytes of all values, or of the checkpoints and the blocks that are swept again.
    static size_t kept_bytes(size_t m, size_t n, size_t room, int n_lanes) {
        if (!keeps_checkpoints(static_cast<int64_t>(m), static_cast<int64_t>(n)))
            return UnitScratch::taken(value_bytes(m, n)) + LocalMaxima<T, B>::bytes(m, n);
        return UnitScratch::taken(Checkpoints<T, B>::bytes(m, n)) +
               BlockWalk<T, B, Mode::local, false>::bytes(room, n_lanes);
    }
    static size_t value_bytes(size_t m, size_t n) { return sizeof(V) * m * n; }

    /// Return the pair of lane l; lanes beyond the last pair repeat the last one.
    const LanePair &pair_of(int l) const { return unit_.lane[std::min(l, unit_.n_lanes - 1)]; }

    /// The lanes that start at an index, for ascending rows or columns: the starts relative to a window of kWindow
    /// indices fit the type of the lanes, so that a query is one comparison.
    class Starts {
      public:
        explicit Starts(const int32_t *start) : start_(start) {}
        /// Return a mask of the lanes that start at i.
        V at(int i) {
            move(i);
            return load<T, B>(near_) == splat<T, B>(static_cast<T>(i - begin_));
        }
        /// Return a mask of the lanes that start at i or before it.
        V until(int i) {
            move(i);
            return load<T, B>(near_) <= splat<T, B>(static_cast<T>(i - begin_));
        }

      private:
        static constexpr int kWindow = 64;
        void move(int i) {
            if (i >= begin_ && i < begin_ + kWindow) return;
            begin_ = i;
            for (int l = 0; l < L; ++l) near_[l] = static_cast<T>(std::clamp(start_[l] - i, -1, kWindow));
        }
        const int32_t *start_;
        int begin_ = -kWindow;  // of the window
        alignas(64) T near_[L];
    };

    bool has_other_rows(int l) const {
        const Letters &rows = pair_of(l).rows, &first = unit_.lane[0].rows;
        return rows.codes != first.codes || rows.length != first.length;
    }
    /// Return a mask of the lanes whose rows differ from the first lane's.
    template <class N = T, int bytes = B>
    Vec<N, bytes> lanes_of_second() const {
        alignas(64) N lanes[Lanes<N, bytes>::count] = {};
        for (int l = 0; l < L; ++l) lanes[l] = static_cast<N>(-has_other_rows(l));
        return load<N, bytes>(lanes);
    }

    void measure() {
        m_ = n_ = 0;
        for (int l = 0; l < unit_.n_lanes; ++l) {
            m_ = std::max(m_, unit_.lane[l].rows.length);
            n_ = std::max(n_, unit_.lane[l].columns.length);
            scratch_.useful_cells += static_cast<uint64_t>(unit_.lane[l].rows.length) * unit_.lane[l].columns.length;
        }
        n_ = static_cast<int>(whole_columns(n_));
        for (int l = unit_.n_lanes; unit_.shared_rows && l-- > 1;)
            if (has_other_rows(l)) second_ = l;
        for (int l = 0; l < L; ++l) {
            const LanePair &pair = pair_of(l);
            row_start_[l] = is_local(scoring_.mode) ? 0 : m_ - pair.rows.length;
            column_start_[l] = is_local(scoring_.mode) ? 0 : n_ - pair.columns.length;
        }
    }

    template <Pass P, bool Mirrored, Kept K = Kept::nothing>
    void sweep() {
        const int band = static_cast<int>(band_rows(scoring_, m_));
        is_banded_ = band < m_;
        H_ = static_cast<V *>(scratch_.get(Slot::state, state_bytes(band)));
        E_ = H_ + band;
        track_letters_ = static_cast<ptrdiff_t>(whole_blocks(std::min(n_, kBlockColumns))) * kTable;
        letters_ = static_cast<uint8_t *>(
            scratch_.get(Slot::column_letters, static_cast<size_t>(track_letters_) * (scoring_.track ? 2 : 1)));
        border_ = static_cast<V *>(scratch_.get(Slot::border, border_bytes(scoring_, is_banded_, n_)));
        if (K == Kept::borders) checkpoints_ = {scratch_.get(Slot::checkpoints, Checkpoints<T, B>::bytes(m_, n_)), m_};
        if (K == Kept::values) values_ = static_cast<V *>(scratch_.get(Slot::values, value_bytes(m_, n_)));
        switch (scoring_.mode) {
            case Mode::local:
                return sweep_local<P, Mirrored, K>();
            case Mode::global:
                return sweep_global<K, Mirrored>();
        }
    }

    /// Call each(scores, band's first row, its rows) for every band.
    template <class Each>
    void for_each_band(Each each) {
        const int height = static_cast<int>(band_rows(scoring_, m_));
        for (int row0 = 0; row0 < m_; row0 += height) {
            const int rows = std::min(height, m_ - row0);
            if constexpr (kHasProfiles)
                if (unit_.shared_rows && !scoring_.track) {
                    shared_band(each, row0, rows, profile_bytes(height));
                    continue;
                }
            const size_t score_bytes = PairScores<T, B>::bytes(height);
            auto *memory = static_cast<uint8_t *>(scratch_.get(Slot::scores, pair_scores_bytes(scoring_, height)));
            const size_t size = static_cast<size_t>(whole_blocks(height)) * kTable;
            auto *letters = static_cast<int8_t *>(scratch_.get(Slot::row_letters, size * (scoring_.track ? 2 : 1)));
            auto *padded = static_cast<uint8_t *>(scratch_.get(Slot::padded, size));
            Side<kTable>(unit_, &LanePair::rows, row_start_).gather(row0, rows, padded, letters);
            TrackLetters track;
            SharedRows<kTable> shared;
            if (scoring_.track) {
                track = {letters + size, track_letters_};
                Side<kTable>(unit_, &LanePair::rows, row_start_, scoring_.track)
                    .gather(row0, rows, padded, letters + size);
                if (unit_.shared_rows)
                    shared = {reinterpret_cast<Vec<int8_t, kTable> *>(memory + score_bytes), second_,
                              lanes_of_second<int8_t, kTable>()};
            }
            PairScores<T, B> scores(scoring_, letters, rows, memory, track, shared);
            each(scores, row0, rows);
        }
    }
    /// Call `each` for a band whose lanes share one or two row sequences; `size`: bytes of a profile.
    template <class Each>
    void shared_band(Each &each, int row0, int rows, size_t size) {
        auto *memory = static_cast<uint8_t *>(scratch_.get(Slot::scores, 2 * size));
        ProfileScores<T, B> first(scoring_, unit_.lane[0].rows, row_start_[0] - row0, rows, memory);
        if (second_ == 0) return each(first, row0, rows);
        const ProfileScores<T, B> second(scoring_, unit_.lane[second_].rows, row_start_[second_] - row0, rows,
                                         memory + size);
        TwoProfiles<T, B> scores(first, second, lanes_of_second());
        each(scores, row0, rows);
    }

    /// Call each(begin, end) for blocks of columns, with their residues interleaved.
    template <class Each>
    void for_each_block(Each each) {
        const Side<kTable> side(unit_, &LanePair::columns, column_start_);
        for (int begin = 0, end; begin < n_; begin = end) {
            end = std::min(begin + kBlockColumns, n_);
            const size_t size = static_cast<size_t>(whole_blocks(end - begin)) * kTable;
            auto *padded = static_cast<uint8_t *>(scratch_.get(Slot::padded, size));
            side.transpose(begin, end - begin, padded, letters_);
            if (scoring_.track)
                Side<kTable>(unit_, &LanePair::columns, column_start_, scoring_.track)
                    .transpose(begin, end - begin, padded, letters_ + track_letters_);
            block_ = begin;
            each(begin, end);
        }
    }

    const uint8_t *letters(int j) const { return letters_ + static_cast<size_t>(j - block_) * kTable; }
    /// H or v below the band starting at column j, and F or y.
    V *value_border(int j) const { return border_ + (is_banded_ ? j : j - block_); }
    V *gap_border(int j) const { return border_ + n_ + j; }

    template <Pass P, bool Mirrored, Kept K>
    void sweep_local() {
        const LocalRange range = local_range(scoring_, 8 * sizeof(T));
        const LocalScoring<T> scoring{static_cast<T>(range.floor), static_cast<T>(scoring_.open + scoring_.extend),
                                      static_cast<T>(scoring_.extend)};
        auto tracked = ends_of<K>(scoring.floor);
        const V best = sweep_local_bands<P, Mirrored, K>(scoring, splat<T, B>(scoring.floor), tracked);
        if constexpr (K == Kept::values) tracked.template find<Mirrored>(values_);
        for (int l = 0; l < unit_.n_lanes; ++l) {
            const int64_t stored = P == Pass::score ? best[l] : tracked.score[l];
            LaneResult &out = result_[l];
            out = LaneResult{};
            out.saturated = stored > range.limit;
            out.score = static_cast<int32_t>(stored - range.floor);
            if (P == Pass::score || out.saturated || out.score == 0) continue;
            out.row_end = tracked.row[l] + 1;
            out.column_end = tracked.column[l] + 1;
        }
        if constexpr (K == Kept::values) walk_lanes<Mirrored, Mode::local>(scoring.floor);
        if constexpr (K == Kept::borders) walk_blocks<Mirrored, Mode::local>(scoring, nullptr);
    }

    /// Return the tracker of the cells in which local alignments end.
    template <Kept K>
    auto ends_of(T floor) {
        if constexpr (K == Kept::values) {
            void *memory = scratch_.get(Slot::maxima, LocalMaxima<T, B>::bytes(m_, n_));
            return LocalMaxima<T, B>(memory, m_, n_, floor);
        } else {
            return LocalBest<T, B>(floor);
        }
    }

    /// Sweep all bands and return the best scores, or the last thresholds if the pass tracks cells.
    template <Pass P, bool Mirrored, Kept K, class Tracker>
    V sweep_local_bands(const LocalScoring<T> &scoring, V best, Tracker &tracked) {
        const LocalRange range = local_range(scoring_, 8 * sizeof(T));
        for_each_band([&](auto &scores, int row0, int rows) {
            const V zero = splat<T, B>(scoring.floor);
            if constexpr (kPrunes && K != Kept::values) {
                PrunedRows<T, B> pruned;
                if (!is_banded_ &&
                    pruned.prepare(
                        scoring_, unit_.n_lanes, [&](int l) { return pair_of(l); }, m_, n_, range.floor, range.limit)) {
                    sweep_corridor(scores, scoring, pruned);
                    sweep_pruned<P, Mirrored, K>(scores, scoring, pruned, best, tracked);
                    return;
                }
            }
            begin_rows(scoring, 0, rows);
            V corner = zero;
            for_each_block([&](int begin, int end) {
                for (int j = begin; j < end; j += kColumns) {
                    local_part<P, Mirrored, K>(scores, row0, rows, j, scoring, corner, best, tracked);
                    keep_column<K>(j, 0, rows);
                }
            });
        });
        return best;
    }

    /// Set the state of rows in which no alignment has started.
    void begin_rows(const LocalScoring<T> &scoring, int first, int end) {
        const V zero = splat<T, B>(scoring.floor);
        for (int i = first; i < end; ++i) H_[i] = zero, E_[i] = zero - scoring.gap_first;
    }

    /// Find lower bounds of the scores in a narrow corridor.
    template <class Scores>
    [[gnu::noinline]] void sweep_corridor(Scores &scores, const LocalScoring<T> &scoring, PrunedRows<T, B> &pruned) {
        const V zero = splat<T, B>(scoring.floor);
        V best = zero;
        LocalBest<T, B> untracked(scoring.floor);
        begin_rows(scoring, 0, m_);
        for_each_block([&](int begin, int end) {
            for (int j = begin; j < end; j += kColumns) {
                const int first = pruned.first_row(j / kPruneStep), rows = pruned.end_row(j / kPruneStep) - first;
                if (rows <= 0) continue;
                Edge<T, B> edge = outside(scoring);
                scores.template columns<kColumns>(letters(j));
                sweep_rows<Pass::score, false, Kept::nothing>(scores, first, rows, j, scoring, edge, best, untracked);
            }
        });
        alignas(64) T found[L];
        store<T, B>(found, best);
        pruned.begin(found);
    }

    /// Sweep the rows of each group of columns that may be part of an optimal alignment.
    template <Pass P, bool Mirrored, Kept K, class Scores, class Tracker>
    [[gnu::noinline]] void sweep_pruned(Scores &scores, const LocalScoring<T> &scoring, const PrunedRows<T, B> &pruned,
                                        V &best, Tracker &tracked) {
        static_assert(kPruneStep == kBlock);
        const V zero = splat<T, B>(scoring.floor);
        begin_rows(scoring, 0, m_);
        if constexpr (P != Pass::score) {
            store<T, B>(tracked.score, pruned.too_low());
            best = tracked.template threshold<Mirrored>(zero);
        }
        if constexpr (K == Kept::borders) top_.assign(n_ / kBlock + 1, 0);
        int first = 0, end = std::min(pruned.blocks_with_starts() * kBlock, m_);
        for_each_block([&](int begin, int to) {
            for (int j = begin; j < to && first < end; j += kColumns) {
                const int group = j / kBlock;
                if constexpr (K == Kept::borders)
                    if (j % kBlock == 0) top_[group] = first, keep_nothing_above(scoring, group, first);
                Edge<T, B> edge = outside(scoring);
                scores.template columns<kColumns>(letters(j));
                for (int from = first;;) {
                    const V below = H_[end - 1];
                    sweep_rows<P, Mirrored, K>(scores, from, end - from, j, scoring, edge, best, tracked);
                    if (end == m_) break;
                    V highest = edge.value[0];
                    for (int c = 1; c < kColumns; ++c) highest = vmax(highest, edge.value[c]);
                    if (!any_gt<T, B>(highest, pruned.useless(end / kBlock, group))) break;
                    edge.corner = below, from = end, end = std::min(end + kMoreRows, m_);
                    // An equal score in these rows may lie in an earlier column, and is then the end.
                    if constexpr (P != Pass::score) best = tracked.template threshold<true>(zero);
                    if constexpr (K == Kept::borders) keep_nothing_before(scoring, j, from, end);
                }
                if ((j + kColumns) % kBlock != 0) continue;
                keep_column<K>(j, std::max(first - 1, 0), end);
                const int next = group + 1;
                while (first + kBlock <= end && is_useless(first, first + kBlock, pruned.useless(first / kBlock, next)))
                    first += kBlock;
                while (first < end) {
                    const int block = (end - 1) / kBlock;  // may be entered from the row above in the next column
                    if (!is_useless(std::max(block * kBlock - 1, 0), end, pruned.useless(block, next))) break;
                    begin_rows(scoring, block * kBlock, end);
                    end = block * kBlock;
                }
                if (first > 0) H_[first - 1] = zero;
            }
        });
    }
    static constexpr int kMoreRows = 2 * kBlock;

    /// Return the values above cells that are left out.
    static Edge<T, B> outside(const LocalScoring<T> &scoring) {
        Edge<T, B> edge;
        edge.corner = splat<T, B>(scoring.floor);
        for (int c = 0; c < kColumns; ++c) edge.value[c] = edge.corner, edge.gap[c] = edge.corner - scoring.gap_first;
        return edge;
    }

    /// Sweep some rows of kColumns columns.
    template <Pass P, bool Mirrored, Kept K, class Scores, class Tracker>
    [[gnu::noinline]] void sweep_rows(const Scores &scores, int first, int rows, int j, LocalScoring<T> scoring,
                                      Edge<T, B> &edge_of_rows, V &best, Tracker &tracked) {
        V running = best;
        Edge<T, B> edge = edge_of_rows;
        tracked.first_row = first;
        local_columns<T, B, kColumns, Trace::nothing, P != Pass::score, Mirrored, false>(
            RowsFrom<Scores>{scores, first}, rows, j, scoring, H_ + first, E_ + first, nullptr, running, tracked, edge,
            Participation<T, B>{}, keeper<K>(j, first));
        best = running, edge_of_rows = edge;
    }
    /// Scores from a row on.
    template <class Scores>
    struct RowsFrom {
        const Scores &scores;
        const int first;
        [[gnu::always_inline]] V score(int i, int c) const { return scores.score(first + i, c); }
    };

    /// True if no lane's H in the rows exceeds `most`.
    bool is_useless(int first, int end, V most) const {
        V highest = H_[first];
        for (int i = first + 1; i < end; ++i) highest = vmax(highest, H_[i]);
        return !any_gt<T, B>(highest, most);
    }

    /// Keep values above the first row of a group of columns as of cells that are left out.
    void keep_nothing_above(const LocalScoring<T> &scoring, int group, int first) {
        if (first == 0) return;
        V *to = checkpoints_.row(group, first / kBlock);
        const V zero = splat<T, B>(scoring.floor);
        for (int c = 0; c < kBlock; ++c) to[2 * c] = zero, to[2 * c + 1] = zero - scoring.gap_first;
    }
    /// Keep values of rows that are swept from column j on: of the cells before it in its group, which are left out.
    void keep_nothing_before(const LocalScoring<T> &scoring, int j, int first, int end) {
        const int group = j / kBlock;
        const V zero = splat<T, B>(scoring.floor), closed = zero - scoring.gap_first;
        if (group > 0) {
            V *to = checkpoints_.column(group - 1);
            for (int i = first; i < end; ++i) to[2 * i] = zero, to[2 * i + 1] = closed;
        }
        for (int block = first / kBlock + 1; block * kBlock <= end; ++block) {
            V *to = checkpoints_.row(group, block);
            for (int c = 0; c < j % kBlock; ++c) to[2 * c] = zero, to[2 * c + 1] = closed;
        }
    }

    /// Sweep kColumns columns of a band. `corner`: H above its first row in the column before, then in the last column.
    /// (A separate function, like all that sweep: GCC 12 spills values of the inner loop when it inlines several.)
    template <Pass P, bool Mirrored, Kept K, class Scores, class Tracker>
    [[gnu::noinline]] void local_part(Scores &scores, int row0, int rows, int j, LocalScoring<T> scoring, V &corner,
                                      V &best, Tracker &tracked) {
        constexpr bool Track = P != Pass::score;
        const V zero = splat<T, B>(scoring.floor), closed = zero - scoring.gap_first;
        Edge<T, B> edge;
        edge.corner = corner;
        load_edge(edge, row0, j, zero, closed);
        corner = edge.value[kColumns - 1];
        V running = best;
        scores.template columns<kColumns>(letters(j));
        local_columns<T, B, kColumns, kTrace<K>, Track, Mirrored, false>(
            scores, rows, j, scoring, H_, E_, K == Kept::values ? values_ + static_cast<ptrdiff_t>(j) * m_ : nullptr,
            running, tracked, edge, Participation<T, B>{}, keeper<K>(j, 0));
        best = running;
        if (is_banded_) store_edge(edge, j);
    }

    /// Return the keeper of the rows of kColumns columns, from row `first` on.
    template <Kept K>
    auto keeper(int j, int first) const {
        if constexpr (K == Kept::borders) return checkpoints_.rows(j, first);
        else return KeepsNoRows{};
    }
    /// Store the state of some rows after the columns starting at j if they end a group.
    template <Kept K>
    void keep_column(int j, int first, int end) const {
        if constexpr (K == Kept::borders)
            if ((j + kColumns) % kBlock == 0 && j + kColumns < n_)
                checkpoints_.keep_column(j / kBlock, H_, E_, first, end);
    }

    /// Load the values above kColumns columns of a band: the matrix's border, or those below the band above.
    void load_edge(Edge<T, B> &edge, int row0, int j, V value, V gap) const {
        for (int c = 0; c < kColumns; ++c) {
            edge.value[c] = row0 > 0 ? value_border(j)[c] : value;
            edge.gap[c] = row0 > 0 ? gap_border(j)[c] : gap;
        }
    }
    void store_edge(const Edge<T, B> &edge, int j) const {
        for (int c = 0; c < kColumns; ++c) {
            value_border(j)[c] = edge.value[c];
            if (is_banded_) gap_border(j)[c] = edge.gap[c];
        }
    }

    template <Kept K, bool Mirrored>
    void sweep_global() {
        const T open = static_cast<T>(scoring_.open), extend = static_cast<T>(scoring_.extend);
        Borders<T, L> borders;
        int row_head = 0;
        bool any_free_columns = false, any_free_rows = false;
        Line<T, L> bottom, right;
        for (int l = 0; l < L; ++l) {
            const LanePair &pair = pair_of(l);
            borders.first_row[l] = pair.free_rows_begin ? extend : -open;
            borders.row[l] = pair.free_rows_begin ? extend : 0;
            borders.first_column[l] = pair.free_columns_begin ? extend : -open;
            borders.column[l] = pair.free_columns_begin ? extend : 0;
            row_head = std::max(row_head, row_start_[l]);
            any_free_rows |= pair.free_rows_end;
            any_free_columns |= pair.free_columns_end;
            bottom.begin(l, column_start_[l], border_value(scoring_, pair.rows.length, pair.free_rows_begin));
            right.begin(l, row_start_[l], border_value(scoring_, pair.columns.length, pair.free_columns_begin));
        }
        for_each_band([&](auto &scores, int row0, int rows) {
            const Participation<T, B> part = begin_rows(borders, row0, rows, row_head);
            int next = next_begin(0);
            for_each_block([&](int begin, int end) {
                for (int j = begin; j < end; j += kColumns) {
                    if (next < j + kColumns) {
                        global_part<Part::begins, K>(scores, row0, rows, j, borders, part);
                        next = next_begin(j + kColumns);
                    } else {
                        global_part<Part::all, K>(scores, row0, rows, j, borders, part);
                    }
                    keep_column<K>(j, 0, rows);
                }
                if (row0 + rows == m_)
                    bottom.take(reinterpret_cast<const T *>(value_border(begin)), begin, end - begin, scoring_.extend,
                                any_free_columns);
            });
            if (any_free_rows) right.take(reinterpret_cast<const T *>(H_), row0, rows, scoring_.extend, true);
        });
        for (int l = 0; l < unit_.n_lanes; ++l) {
            result_[l] = LaneResult{};
            set_end<Mirrored>(unit_.lane[l], bottom, right, l, result_[l]);
        }
        if constexpr (K == Kept::values) walk_lanes<Mirrored, Mode::global>(0);
        if constexpr (K == Kept::borders) walk_blocks<Mirrored, Mode::global>({}, &borders);
    }

    /// Return the first column >= j in which a lane starts.
    int next_begin(int j) const {
        int next = n_;
        for (int l = 0; l < L; ++l) next = std::min(next, column_start_[l] >= j ? column_start_[l] : n_);
        return next;
    }

    /// Set the lanes that have started in each of a band's rows, and u(i,0) of all rows.
    Participation<T, B> begin_rows(const Borders<T, L> &borders, int row0, int rows, int row_head) {
        const int n_rows = std::clamp(row_head + 1 - row0, 0, rows);  // the band's rows in which a lane may start
        auto *started = static_cast<V *>(scratch_.get(Slot::heads, 2 * sizeof(V) * rows)), *border = started + rows;
        Participation<T, B> part;
        part.started = started, part.border = border, part.n_rows = n_rows;
        part.border_below = load<T, B>(borders.row);
        Starts starts(row_start_);
        for (int i = 0; i < n_rows; ++i) {
            started[i] = starts.until(row0 + i);
            border[i] = starts.at(row0 + i) ? load<T, B>(borders.first_row) : part.border_below;
        }
        return part;
    }

    /// Sweep kColumns columns of a band.
    template <Part Which, Kept K, class Scores>
    [[gnu::noinline]] void global_part(Scores &scores, int row0, int rows, int j, const Borders<T, L> &borders,
                                       Participation<T, B> part) {
        Edge<T, B> edge;
        load_edge(edge, row0, j, load<T, B>(borders.column), splat<T, B>(static_cast<T>(-scoring_.open)));
        V begins[kColumns];
        if constexpr (Which == Part::begins) {
            part.begins = begins;
            for (int c = 0; c < kColumns; ++c) {
                begins[c] = column_starts_.at(j + c);
                if (row0 == 0) edge.value[c] = begins[c] ? load<T, B>(borders.first_column) : edge.value[c];
            }
        }
        scores.template columns<kColumns>(letters(j));
        global_columns<T, B, kColumns, kTrace<K>, false, Which>(
            scores, rows, static_cast<T>(scoring_.open), H_, E_,
            K == Kept::values ? values_ + static_cast<ptrdiff_t>(j) * m_ : nullptr, edge, part, keeper<K>(j, 0),
            E_ + rows);
        store_edge(edge, j);
    }

    template <bool Mirrored, Mode M>
    [[gnu::noinline]] void walk_lanes(T floor) {
        const auto begin = std::chrono::steady_clock::now();
        using Cells = ValueCells<T, B, M, Mirrored>;
        lay_paths<M>([&](int l, GappedRows &gapped) {
            const LanePair &pair = unit_.lane[l];
            Cells cells(scoring_, reinterpret_cast<const T *>(values_), m_, pair, row_start_[l], column_start_[l], l,
                        floor);
            walk_back<Cells, Mirrored, M>(scoring_, pair, cells, result_[l], gapped);
        });
        scratch_.walk_seconds += seconds_since(begin);
    }

    /// Call lay(lane, gapped) for each lane with an alignment, and encode the gapped rows as a path.
    template <Mode M, class Lay>
    void lay_paths(Lay lay) {
        static_assert(M == Mode::local || M == Mode::global);
        constexpr bool kLocal = M == Mode::local;
        const size_t room = static_cast<size_t>(m_) + n_ + 2;
        auto *path = static_cast<uint32_t *>(scratch_.get(Slot::paths, sizeof(uint32_t) * room * unit_.n_lanes));
        void *memory = scratch_.get(Slot::gapped, GappedRows::bytes(room));
        for (int l = 0; l < unit_.n_lanes; ++l) {
            LaneResult &out = result_[l];
            if (out.saturated || (kLocal && out.score == 0)) continue;
            GappedRows gapped(memory, room);
            lay(l, gapped);
            if (scoring_.depth != Depth::alignment) continue;
            gapped.count(scoring_, out);
            out.path = path;
            out.path_length = gapped.encode(path);
            path += out.path_length;
        }
    }

    /// Trace all lanes back through blocks that are swept again; `costs` and `borders` as in block_walk.hpp.
    template <bool Mirrored, Mode M>
    void walk_blocks(LocalScoring<T> costs, const Borders<T, L> *borders) {
        const auto begin = std::chrono::steady_clock::now();
        const size_t room = static_cast<size_t>(m_) + n_ + 2;
        BlockWalk<T, B, M, Mirrored> blocks(scoring_, unit_, checkpoints_, row_start_, column_start_,
                                            top_.empty() ? nullptr : top_.data(), costs, borders, scratch_, result_);
        blocks.run(room);
        lay_paths<M>([&](int l, GappedRows &gapped) { blocks.runs(l).lay(unit_.lane[l], result_[l], gapped); });
        scratch_.walk_seconds += seconds_since(begin);
    }

    const Scoring &scoring_;
    const Unit &unit_;
    UnitScratch &scratch_;
    LaneResult *result_;
    int m_ = 0, n_ = 0, block_ = 0;  // block_: the first column in letters_
    int second_ = 0;                 // first lane with the second of two shared row sequences; 0 if there is only one
    bool is_banded_ = false;
    int32_t row_start_[L], column_start_[L];
    Starts column_starts_{column_start_};
    uint8_t *letters_ = nullptr;
    ptrdiff_t track_letters_ = 0;  // from a column's residues to those of the track
    V *H_ = nullptr, *E_ = nullptr, *border_ = nullptr;
    V *values_ = nullptr;
    Checkpoints<T, B> checkpoints_;
    std::vector<int32_t> top_;  // first row swept of each group of columns, if some are left out
};

}  // namespace tropalign::TROPALIGN_ISA
