// One unit (up to a vector of pairs, side by side) on one instruction set: interleave, sweep, find the ends, walk.
#pragma once
#include <algorithm>
#include <chrono>
#include <limits>

#include "score_source.hpp"
#include "sweep.hpp"
#include "unit.hpp"
#include "walk.hpp"

namespace tropalign::TROPALIGN_ISA {

// Slots of Scratch.
enum Slot { kState, kScores, kColumnLetters, kRowLetters, kPadded, kMasks, kBottom, kHeads, kPaths, kGapped };

/// Bounds of the local form in T: `floor` stands for zero; a best score above `limit` may have wrapped.
template <class T>
struct LocalRange {
    int64_t floor, limit;
    explicit LocalRange(const Scoring &s) {
        int64_t least = std::numeric_limits<T>::min();
        floor = least + std::max<int64_t>(int64_t{s.open} + 2 * int64_t{s.extend}, -int64_t{s.lowest});
        limit = std::numeric_limits<T>::max() - std::max(s.highest, 0);
    }
    bool usable() const { return limit - floor >= 64; }
};

/// Whether every value of the difference form fits T.
template <class T>
bool global_fits(const Scoring &s) {
    int64_t top = std::numeric_limits<T>::max(), q = s.open, highest = int64_t{s.highest} + 2 * int64_t{s.extend};
    highest = std::max<int64_t>(highest, 0);
    return std::max<int64_t>(highest, s.extend) + 2 * q + 1 <= top && s.extend <= highest + q;
}

template <class T>
bool fits(const Scoring &s) {
    return s.mode == Mode::local ? LocalRange<T>(s).usable() : global_fits<T>(s);
}

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class T, int B>
class UnitRun {
    using V = Vec<T, B>;
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = L < 16 ? 16 : L;

  public:
    UnitRun(const Scoring &scoring, const Unit &unit, Scratch &scratch, LaneResult *result)
        : scoring_(scoring), unit_(unit), scratch_(scratch), result_(result) {}

    void run() {
        const auto begin = std::chrono::steady_clock::now();
        measure();
        interleave_columns();
        H_ = static_cast<V *>(scratch_.get(kState, sizeof(V) * 2 * (m_ + 1)));
        E_ = H_ + m_;
        if (scoring_.depth == Depth::score) sweep<false, false>();
        else {
            const size_t margin = MaskLayout::margin(m_), cells = static_cast<size_t>(m_) * (n_ + 2 * kColumns);
            masks_ = static_cast<Masks<T, B> *>(scratch_.get(kMasks, sizeof(Masks<T, B>) * (margin + cells))) + margin;
            if (unit_.rows_are_short) sweep<true, true>();
            else sweep<true, false>();
        }
        scratch_.unit_seconds += seconds_since(begin);
        scratch_.swept_cells += static_cast<uint64_t>(m_) * n_ * L;
    }

  private:
    const LanePair &pair_of(int l) const { return unit_.lane[std::min(l, unit_.n_lanes - 1)]; }

    /// All bits of the lanes with start[l] <= i, or == i. (Through memory: GCC 12 builds a vector lane by lane badly.)
    static V at_most(const int32_t *start, int i) {
        alignas(64) T lanes[L];
        for (int l = 0; l < L; ++l) lanes[l] = static_cast<T>(-(start[l] <= i));
        return load<T, B>(lanes);
    }
    static V equal(const int32_t *start, int i) {
        alignas(64) T lanes[L];
        for (int l = 0; l < L; ++l) lanes[l] = static_cast<T>(-(start[l] == i));
        return load<T, B>(lanes);
    }

    bool local() const { return scoring_.mode == Mode::local; }

    void measure() {
        m_ = n_ = 0;
        for (int l = 0; l < unit_.n_lanes; ++l) {
            m_ = std::max(m_, unit_.lane[l].rows.length);
            n_ = std::max(n_, unit_.lane[l].columns.length);
            scratch_.useful_cells += static_cast<uint64_t>(unit_.lane[l].rows.length) * unit_.lane[l].columns.length;
        }
        for (int l = 0; l < L; ++l) {
            const LanePair &pair = pair_of(l);
            row_start_[l] = local() ? 0 : m_ - pair.rows.length;
            column_start_[l] = local() ? 0 : n_ - pair.columns.length;
        }
    }

    /// Lane l's letters from `start[l]` on in row l of a padded table of kTable rows and `width` bytes a row.
    template <class Side>
    const uint8_t *pad(Side side, const int32_t *start, int width) {
        auto *padded = static_cast<uint8_t *>(scratch_.get(kPadded, static_cast<size_t>(kTable) * width));
        std::memset(padded, kPadCode, static_cast<size_t>(kTable) * width);
        for (int l = 0; l < unit_.n_lanes; ++l) {
            const Letters &letters = side(unit_.lane[l]);
            std::memcpy(padded + static_cast<size_t>(l) * width + start[l], letters.codes, letters.length);
        }
        return padded;
    }

    /// 16 letters of each lane: vector l holds those of the lanes l, l + 16, l + 32, ... one after another.
    static void gather16(const uint8_t *padded, int width, int at, int8_t *out) {
        for (int l = 0; l < kTable; ++l)
            std::memcpy(out + (l % 16) * kTable + l / 16 * 16, padded + static_cast<size_t>(l) * width + at, 16);
    }

    /// Column letters, a vector of lanes a column.
    void interleave_columns() {
        int width = (n_ + 15) / 16 * 16;
        auto *letters = static_cast<uint8_t *>(scratch_.get(kColumnLetters, static_cast<size_t>(width) * kTable));
        columns_ = letters;
        const uint8_t *padded = pad([](const LanePair &p) -> const Letters & { return p.columns; }, column_start_, width);
        for (int j = 0; j < width; j += 16) {
            alignas(64) int8_t block[16 * kTable];
            gather16(padded, width, j, block);
            Vec<int8_t, kTable> v[16];
            for (int k = 0; k < 16; ++k) v[k] = load<int8_t, kTable>(block + k * kTable);
            transpose16<kTable>(v);
            for (int k = 0; k < 16; ++k) store<int8_t, kTable>(letters + static_cast<size_t>(j + k) * kTable, v[k]);
        }
    }

    /// Row letters for PairScores: blocks of 16 rows as gather16 makes them.
    const int8_t *interleave_rows() {
        int width = (m_ + 15) / 16 * 16;
        auto *letters = static_cast<int8_t *>(scratch_.get(kRowLetters, static_cast<size_t>(width) * kTable));
        const uint8_t *padded = pad([](const LanePair &p) -> const Letters & { return p.rows; }, row_start_, width);
        for (int i = 0; i < width; i += 16) gather16(padded, width, i, letters + static_cast<size_t>(i) * kTable);
        return letters;
    }

    template <bool Trace, bool Swap>
    void sweep() {
        if (unit_.shared_rows) {
            void *memory = scratch_.get(kScores, ProfileScores<T, B>::bytes(m_));
            ProfileScores<T, B> scores(scoring_, unit_.lane[0].rows.codes, m_, columns_, memory);
            if (local()) sweep_local<Trace, Swap>(scores);
            else sweep_global<Trace, Swap>(scores);
        } else {
            void *memory = scratch_.get(kScores, PairScores<T, B>::bytes(m_));
            PairScores<T, B> scores(scoring_, interleave_rows(), m_, columns_, memory);
            if (local()) sweep_local<Trace, Swap>(scores);
            else sweep_global<Trace, Swap>(scores);
        }
    }

    template <bool Trace, bool Swap, class Scores>
    void sweep_local(Scores &scores) {
        LocalRange<T> range(scoring_);
        LocalScoring<T> scoring{static_cast<T>(range.floor), static_cast<T>(scoring_.open + scoring_.extend),
                                static_cast<T>(scoring_.extend)};
        LocalBest<T, B> tracked(scoring.floor);
        V best = splat<T, B>(scoring.floor);
        for (int i = 0; i < m_; ++i) H_[i] = best, E_[i] = best - scoring.first;
        MaskLayout layout{m_, 0};
        const Participation<T, B> everyone;
        const V zero = splat<T, B>(scoring.floor), closed = zero - scoring.first;
        int j = 0;
        for (; j + kColumns <= n_; j += kColumns) {
            Edge<T, B> edge{{zero, zero, zero, zero}, {closed, closed, closed, closed}, zero};
            scores.template columns<kColumns>(j);
            local_columns<T, B, kColumns, Trace, Trace, Swap, false>(scores, m_, j, scoring, H_, E_,
                                                                     Trace ? masks_ + layout.cell(0, j) : nullptr, best,
                                                                     tracked, edge, everyone);
        }
        for (; j < n_; ++j) {
            Edge<T, B> edge{{zero}, {closed}, zero};
            scores.template columns<1>(j);
            local_columns<T, B, 1, Trace, Trace, Swap, false>(scores, m_, j, scoring, H_, E_,
                                                              Trace ? masks_ + layout.cell(0, j) : nullptr, best, tracked,
                                                              edge, everyone);
        }
        for (int l = 0; l < unit_.n_lanes; ++l) {
            int64_t stored = Trace ? tracked.score[l] : best[l];
            LaneResult &out = result_[l];
            out = LaneResult{};
            out.saturated = stored > range.limit;
            out.score = static_cast<int32_t>(stored - range.floor);
            if constexpr (Trace) {
                if (out.saturated || out.score == 0) continue;
                out.row_end = tracked.row[l] + 1;
                out.column_end = tracked.column[l] + 1;
            }
        }
        if constexpr (Trace) walk_lanes<Swap, true>(layout);
    }

    template <bool Trace, bool Swap, class Scores>
    void sweep_global(Scores &scores) {
        const T open = static_cast<T>(scoring_.open), extend = static_cast<T>(scoring_.extend);
        int row_head = 0, column_head = 0;
        const V closed = splat<T, B>(static_cast<T>(-open));
        // v(0,j) and u(i,0): of the first column and row, and beyond.
        alignas(64) T first_column[L], border_column[L], first_row[L], border_row[L];
        for (int l = 0; l < L; ++l) {
            const LanePair &pair = pair_of(l);
            first_column[l] = pair.free_columns_begin ? extend : -open;
            border_column[l] = pair.free_columns_begin ? extend : 0;
            first_row[l] = pair.free_rows_begin ? extend : -open;
            border_row[l] = pair.free_rows_begin ? extend : 0;
        }
        for (int l = 0; l < unit_.n_lanes; ++l) {
            row_head = std::max(row_head, row_start_[l]);
            column_head = std::max(column_head, column_start_[l]);
        }
        V *started_rows = static_cast<V *>(scratch_.get(kHeads, sizeof(V) * (row_head + 1)));
        for (int i = 0; i < m_; ++i) {
            const V border = load<T, B>(border_row);
            H_[i] = border;
            E_[i] = closed;
            if (i > row_head) continue;
            V begins = equal(row_start_, i);
            H_[i] = begins ? load<T, B>(first_row) : border;
            if (i < row_head) started_rows[i] = at_most(row_start_, i);
        }
        V *bottom = static_cast<V *>(scratch_.get(kBottom, sizeof(V) * (n_ + kColumns)));

        // The first columns one by one: up to the last lane's first, and until kColumns divides the rest.
        int head = std::min(n_, column_head + 1);
        head += (n_ - head) % kColumns;
        MaskLayout layout{m_, (kColumns - head % kColumns) % kColumns};
        const V border = load<T, B>(border_column);
        const Participation<T, B> everyone{V{}, started_rows, row_head};
        for (int j = 0; j < head; ++j) {
            const Participation<T, B> begun{at_most(column_start_, j), started_rows, row_head};
            Edge<T, B> edge{{equal(column_start_, j) ? load<T, B>(first_column) : border}, {closed}, {}};
            scores.template columns<1>(j);
            global_columns<T, B, 1, Trace, Swap, true>(scores, m_, open, H_, E_, Trace ? masks_ + layout.cell(0, j) : nullptr,
                                                       edge, begun);
            bottom[j] = edge.value[0];
        }
        for (int j = head; j < n_; j += kColumns) {
            Edge<T, B> edge{{border, border, border, border}, {closed, closed, closed, closed}, {}};
            scores.template columns<kColumns>(j);
            global_columns<T, B, kColumns, Trace, Swap, false>(
                scores, m_, open, H_, E_, Trace ? masks_ + layout.cell(0, j) : nullptr, edge, everyone);
            for (int c = 0; c < kColumns; ++c) bottom[j + c] = edge.value[c];
        }
        find_ends<Swap>(reinterpret_cast<const T *>(bottom), reinterpret_cast<const T *>(H_));
        if constexpr (Trace) walk_lanes<Swap, false>(layout);
    }

    /// Scores and end cells from v of the last row and u of the last column. Equal scores: the smaller overhang,
    /// then the overhang of the longer sequence.
    template <bool Swap>
    void find_ends(const T *bottom, const T *last_column) {
        const int32_t extend = scoring_.extend;
        int32_t score[L], best[L], at[L];
        bool any_columns = false, any_rows = false;
        for (int l = 0; l < L; ++l) {
            const LanePair &pair = pair_of(l);
            score[l] = pair.free_rows_begin ? 0 : -(scoring_.open + extend * pair.rows.length);
            best[l] = score[l], at[l] = column_start_[l];
            any_columns |= pair.free_columns_end;
            any_rows |= pair.free_rows_end;
        }
        scan(bottom, n_, column_start_, any_columns, score, best, at);
        for (int l = 0; l < unit_.n_lanes; ++l) {
            LaneResult &out = result_[l];
            const LanePair &pair = unit_.lane[l];
            out = LaneResult{};
            out.score = score[l];
            out.row_end = pair.rows.length;
            out.column_end = pair.columns.length;
            int column = at[l] - column_start_[l];
            if (pair.free_columns_end && best[l] > score[l]) out.score = best[l], out.column_end = column;
        }
        if (!any_rows) return;
        for (int l = 0; l < L; ++l) {
            const LanePair &pair = pair_of(l);
            score[l] = pair.free_columns_begin ? 0 : -(scoring_.open + extend * pair.columns.length);
            best[l] = score[l], at[l] = row_start_[l];
        }
        scan(last_column, m_, row_start_, true, score, best, at);
        for (int l = 0; l < unit_.n_lanes; ++l) {
            LaneResult &out = result_[l];
            const LanePair &pair = unit_.lane[l];
            if (!pair.free_rows_end) continue;
            int row = at[l] - row_start_[l];
            int overhang = pair.rows.length - row, other = pair.columns.length - out.column_end;
            bool preferred = overhang < other || (overhang == other && !Swap);
            if (best[l] > out.score || (best[l] == out.score && preferred)) {
                out.score = best[l];
                out.row_end = row;
                out.column_end = pair.columns.length;
            }
        }
    }

    /// Running sums of `steps` (count vectors) less `extend` each, from `start` on; with `track` the last of the highest.
    void scan(const T *steps, int count, const int32_t *__restrict start, bool track, int32_t *__restrict score,
              int32_t *__restrict best, int32_t *__restrict at) {
        const int32_t extend = scoring_.extend;
        for (int k = 0; k < count; ++k, steps += L)
            for (int l = 0; l < L; ++l) {  // no branch, so that the compiler makes vectors of it
                const int32_t step = steps[l], s = score[l] + ((step - extend) & -int32_t{start[l] <= k});
                const int32_t better = -int32_t{s >= best[l]};
                score[l] = s;
                if (!track) continue;
                best[l] = (s & better) | (best[l] & ~better);
                at[l] = ((k + 1) & better) | (at[l] & ~better);
            }
    }

    template <bool Swap, bool Local>
    void walk_lanes(const MaskLayout &layout) {
        const auto begin = std::chrono::steady_clock::now();
        const size_t room = static_cast<size_t>(m_) + n_ + 2;
        const bool wants_path = scoring_.depth == Depth::alignment;
        const MaskMap<T, B> map(masks_, layout);
        auto *path = static_cast<uint32_t *>(scratch_.get(kPaths, sizeof(uint32_t) * room * unit_.n_lanes));
        void *memory = scratch_.get(kGapped, GappedRows::bytes(room));
        for (int l = 0; l < unit_.n_lanes; ++l) {
            LaneResult &out = result_[l];
            if (out.saturated || (Local && out.score == 0)) continue;
            GappedRows gapped(memory, room);
            Walk<T, B, Swap, Local>(scoring_, map, unit_.lane[l], row_start_[l], column_start_[l], l).run(out, gapped);
            if (!wants_path) continue;
            out.path = path;
            out.path_length = gapped.encode(scoring_, path, out);
            path += out.path_length;
        }
        scratch_.walk_seconds += seconds_since(begin);
    }

    const Scoring &scoring_;
    const Unit &unit_;
    Scratch &scratch_;
    LaneResult *result_;
    int m_ = 0, n_ = 0;
    int32_t row_start_[L], column_start_[L];
    const uint8_t *columns_ = nullptr;
    V *H_ = nullptr, *E_ = nullptr;
    Masks<T, B> *masks_ = nullptr;
};

/// Runs the unit with T in the narrowest vectors that hold its lanes.
template <class T>
void run_unit(const Scoring &scoring, const Unit &unit, Scratch &scratch, LaneResult *result) {
    const int needed = unit.n_lanes * static_cast<int>(sizeof(T));
    if constexpr (kVectorBytes >= 64)
        if (needed > 32) return UnitRun<T, 64>(scoring, unit, scratch, result).run();
    if constexpr (kVectorBytes >= 32)
        if (needed > 16) return UnitRun<T, 32>(scoring, unit, scratch, result).run();
    UnitRun<T, 16>(scoring, unit, scratch, result).run();
}

void run_long(const Scoring &, const LanePair &, int n_threads, const Poll &, LaneResult &, Buffer<uint32_t> &path);
void run_unit8(const Scoring &, const Unit &, Scratch &, LaneResult *);
void run_unit16(const Scoring &, const Unit &, Scratch &, LaneResult *);
void run_unit32(const Scoring &, const Unit &, Scratch &, LaneResult *);

}  // namespace tropalign::TROPALIGN_ISA
