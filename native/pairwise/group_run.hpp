// Scores of one query after another with a group of targets, an 8-bit lane per target; if queries score by position,
// also a 16-bit lane.
//
// Work that a unit (unit_run.hpp) does per query is done once per group here: the targets' residues are
// interleaved, and if the targets are short the scores of every residue with their columns, the profile, are
// looked up. All lanes have the same rows and start in the first column, so that no lane waits for another one:
//
//     lane 0   o o o o o o o o o o        the shortest target ends here: v
//     lane 1   o o o o o o o o o o . .    columns beyond a lane's end are swept, and ignored
//     lane 2   o o o o o o o o . . . .
//              kColumns at a time     |
//
// Global mode needs H in each lane's last cell: the running sum of the last row's differences v up to the lane's
// end (sweep.hpp). If the rows' end is free, the columns in which some lane ends are swept one by one, and u is
// added up along them.
//
// Cost per vector of cells: the 10 operations of the recurrence. Per unit, i.e. query and group: 2 to 8 operations
// per column for the sums, and state and results of 64 lanes; per group some 20 look-ups per column. Measured with
// 64 lanes (Zen 5): 1.16 ns per vector of cells and 120 ns per unit in global mode, 1.0 ns and 70 ns in local
// mode, so that 16 x 16 residues reach .71 of the rate of long sequences.
#pragma once
#include <algorithm>
#include <type_traits>

#include "best_targets.hpp"
#include "ends.hpp"
#include "interleave.hpp"
#include "ranges.hpp"
#include "sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Scores of kColumns columns with the residues of a query: profile[residue * kColumns + c], offsets by row.
template <int B>
struct GroupScores {
    const Vec<int8_t, B> *profile;
    const uint16_t *offset;  // of the row's residue, in bytes

    [[gnu::always_inline]] Vec<int8_t, B> score(int i, int c) const {
        return *reinterpret_cast<const Vec<int8_t, B> *>(reinterpret_cast<const char *>(profile + c) + offset[i]);
    }
};

/// Scores of kColumns columns by the position of the row: a look-up per cell instead of a load.
template <class T, int B>
struct GroupPositions {
    static constexpr int kTable = kTableLanes<T, B>;
    const int8_t *steps;  // of the query
    Vec<int8_t, kTable> letters[kColumns];

    [[gnu::always_inline]] Vec<T, B> score(int i, int c) const {
        const int8_t *row = steps + static_cast<ptrdiff_t>(i) * sizeof(T) * kLetters;
        if constexpr (sizeof(T) == 1) return lookup32<B>(row, letters[c]);
        alignas(64) int8_t bytes[2][kTable];
        for (int k = 0; k < 2; ++k) store<int8_t, kTable>(bytes[k], lookup32<kTable>(row + k * kLetters, letters[c]));
        return widen<T, B>(bytes[0]) + (widen<T, B>(bytes[1]) << 8);
    }
};

/// `Positions`: the request has scores by position.
template <class T, int B, bool Positions>
class GroupRun {
    static_assert(sizeof(T) == 1 || Positions);
    using V = Vec<T, B>;
    using Scores = std::conditional_t<Positions, GroupPositions<T, B>, GroupScores<B>>;
    using Sum = std::conditional_t<sizeof(T) == 1, int16_t, int32_t>;
    static constexpr int L = Lanes<T, B>::count, kTable = kTableLanes<T, B>, kBits = 8 * sizeof(T);
    static constexpr int kProfile = kLetters * kColumns;  // vectors per kColumns columns
    static constexpr int kProfiledColumns = 64;           // up to this many, the profile of the whole group is kept
    static constexpr int kSumColumns = 128;               // the sum of this many differences fits Sum

  public:
    GroupRun(const Scoring &scoring, const GroupRequest &request, GroupScratch &scratch)
        : scoring_(scoring), request_(request), scratch_(scratch) {}

    void run(int32_t *scores, uint64_t *saturated) {
        prepare();
        for (int k = 0; k < request_.n_queries; ++k) {
            saturated[k] = ~uint64_t{0};
            if (request_.queries[k].length > kMostGroupRows) continue;
            set_rows(request_.queries[k]);
            saturated[k] = 0;
            switch (scoring_.mode) {
                case Mode::local:
                    saturated[k] = local(scores + k * kMaxLanes);
                    break;
                case Mode::global:
                    global(scores + k * kMaxLanes);
                    break;
            }
        }
    }

  private:
    /// Allocate memory, interleave residues, and fill the profile of short targets.
    void prepare() {
        const Unit &group = request_.group;
        shortest_ = INT32_MAX, n_ = 0;
        for (int l = 0; l < L; ++l) {
            length_[l] = group.lane[std::min(l, group.n_lanes - 1)].columns.length;
            end_[l] = static_cast<int16_t>(length_[l]);
            shortest_ = std::min(shortest_, length_[l]);
            n_ = std::max(n_, length_[l]);
        }
        int32_t longest = 0;
        for (int k = 0; k < request_.n_queries; ++k)
            longest = std::max(longest, std::min(request_.queries[k].length, kMostGroupRows));
        const auto width = static_cast<size_t>(whole_blocks(n_));
        scratch_.begin(0);
        letters_ = static_cast<uint8_t *>(scratch_.get(GroupSlot::letters, width * kTable));
        const Side<kTable> side(group, &LanePair::columns, kStarts);
        side.transpose(0, n_, static_cast<uint8_t *>(scratch_.get(GroupSlot::padded, width * kTable)), letters_);
        H_ = static_cast<V *>(scratch_.get(GroupSlot::state, sizeof(V) * 2 * longest));
        E_ = H_ + longest;
        offset_ = static_cast<uint16_t *>(scratch_.get(GroupSlot::offsets, sizeof(uint16_t) * longest));
        if constexpr (Positions) return;
        else fill_profile();
    }

    void fill_profile() {
        is_profiled_ = n_ <= kProfiledColumns;
        const int quads = is_profiled_ ? (n_ + kColumns - 1) / kColumns : 1;
        profile_ = static_cast<V *>(scratch_.get(GroupSlot::profile, sizeof(V) * kProfile * quads));
        if (!is_profiled_) return;
        used_ = 0;
        for (int k = 0; k < request_.n_queries; ++k) add_used(request_.queries[k]);
        for (int j = 0; j < n_; j += kColumns) fill<kColumns>(j, profile_ + static_cast<size_t>(j) * kLetters);
    }

    void add_used(const Letters &query) {
        for (int i = 0; i < query.length; ++i) used_ |= uint32_t{1} << query.codes[i];
    }

    void set_rows(const Letters &query) {
        m_ = query.length;
        if constexpr (Positions) {
            steps_ = request_.positions->steps(query, kBits);
            return;
        }
        for (int i = 0; i < m_; ++i) offset_[i] = static_cast<uint16_t>(query.codes[i] * kColumns * B);
        if (is_profiled_) return;
        used_ = 0;
        add_used(query);
    }

    /// Fill the scores of C columns starting at j with all residues in use.
    template <int C>
    void fill(int j, V *profile) const {
        V letters[C];
        for (int c = 0; c < C; ++c) letters[c] = load<T, B>(letters_ + static_cast<size_t>(j + c) * L);
        for (uint32_t left = used_; left; left &= left - 1) {
            const int a = __builtin_ctz(left);
            for (int c = 0; c < C; ++c)
                profile[a * kColumns + c] = lookup32<B>(scoring_.step8 + a * kLetters, letters[c]);
        }
    }

    /// Return the scores of C columns starting at j.
    template <int C>
    Scores scores(int j) const {
        if constexpr (Positions) {
            Scores scores{steps_, {}};
            for (int c = 0; c < C; ++c)
                scores.letters[c] = load<int8_t, kTable>(letters_ + static_cast<size_t>(j + c) * kTable);
            return scores;
        } else {
            return of_letters<C>(j);
        }
    }
    template <int C>
    GroupScores<B> of_letters(int j) const {
        if (is_profiled_) {
            const int quad = j / kColumns;
            return {profile_ + static_cast<size_t>(quad) * kProfile + j % kColumns, offset_};
        }
        fill<C>(j, profile_);
        return {profile_, offset_};
    }

    uint64_t local(int32_t *out) {
        const LocalRange range = local_range(scoring_, kBits);
        const LocalScoring<T> scoring{static_cast<T>(range.floor), static_cast<T>(scoring_.open + scoring_.extend),
                                      static_cast<T>(scoring_.extend)};
        const V zero = splat<T, B>(scoring.floor), closed = zero - scoring.gap_first;
        for (int i = 0; i < m_; ++i) H_[i] = zero, E_[i] = closed;
        V best = zero;
        for (int j = 0; j < n_; j += kColumns) local_part(scores<kColumns>(j), scoring, best);
        uint64_t saturated = 0;
        alignas(64) T stored[L];
        store<T, B>(stored, best);
        for (int l = 0; l < L; ++l) out[l] = stored[l] - static_cast<int32_t>(range.floor);
        if (any_gt<T, B>(best, splat<T, B>(static_cast<T>(range.limit))))
            for (int l = 0; l < L; ++l) saturated |= uint64_t{stored[l] > range.limit} << l;
        return saturated;
    }

    /// Sweep kColumns columns. (A separate function, like all that sweep: GCC 12 spills values of the inner loop
    /// when it inlines several.)
    [[gnu::noinline]] void local_part(Scores scores, LocalScoring<T> scoring, V &best) {
        const V zero = splat<T, B>(scoring.floor);
        Edge<T, B> edge;
        edge.corner = zero;
        for (int c = 0; c < kColumns; ++c) edge.value[c] = zero, edge.gap[c] = zero - scoring.gap_first;
        LocalBest<T, B> untracked(scoring.floor);
        V running = best;
        local_columns<T, B, kColumns, Trace::nothing, false, false, false>(
            scores, m_, 0, scoring, H_, E_, nullptr, running, untracked, edge, Participation<T, B>{});
        best = running;
    }

    void global(int32_t *out) {
        const FreeEnds &free = request_.free_ends;
        const V row = splat<T, B>(static_cast<T>(free.query_start ? scoring_.extend : 0));
        const V min_gap = splat<T, B>(static_cast<T>(-scoring_.open));
        for (int i = 0; i < m_; ++i) H_[i] = row, E_[i] = min_gap;
        if (!free.query_start) H_[0] = min_gap;
        const int32_t border = border_value(scoring_, m_, free.query_start);
        for (int l = 0; l < L; ++l) bottom_[l] = best_[l] = border, right_[l] = INT32_MIN, sum_[l] = 0;
        // If the rows' end is free, H_ must be examined in each column in which a lane ends.
        const int together = free.query_end ? shortest_ / kColumns * kColumns : n_;
        int j = 0;
        for (; j < together; j += kColumns) global_part<kColumns>(scores<kColumns>(j), j);
        for (; free.query_end; ++j) {
            take_right(j);
            if (j == n_) break;
            global_part<1>(scores<1>(j), j);
        }
        add_sums();
        for (int l = 0; l < L; ++l) {
            const int32_t corner = bottom_[l] - (free.target_end ? 0 : scoring_.extend * length_[l]);
            out[l] = std::max({corner, free.target_end ? best_[l] : corner, right_[l]});
        }
    }

    /// Sweep C columns starting at j, and add their differences in the last row.
    template <int C>
    [[gnu::noinline]] void global_part(Scores scores, int j) {
        const FreeEnds &free = request_.free_ends;
        Edge<T, B> edge;
        for (int c = 0; c < C; ++c) {
            edge.value[c] = splat<T, B>(static_cast<T>(free.target_start ? scoring_.extend : 0));
            edge.gap[c] = splat<T, B>(static_cast<T>(-scoring_.open));
        }
        if (j == 0 && !free.target_start) edge.value[0] = edge.gap[0];
        global_columns<T, B, C, Trace::nothing, false, Part::all>(scores, m_, static_cast<T>(scoring_.open), H_, E_,
                                                                  nullptr, edge, Participation<T, B>{});
        for (int c = 0; c < C; ++c) {
            alignas(64) T steps[L];
            store<T, B>(steps, edge.value[c]);
            if (free.target_end) add_tracked(steps, j + c);
            else add(steps, j + c);
        }
        if (j / kSumColumns != (j + C) / kSumColumns) add_sums();
    }

    /// Add the differences v of the last row in column j, up to each lane's end. (Loops without branches, so that
    /// the compiler vectorises them.)
    void add(const T *steps, int j) {
        if (j < shortest_) {
            for (int l = 0; l < L; ++l) sum_[l] = static_cast<Sum>(sum_[l] + steps[l]);
        } else {
            const auto column = static_cast<int16_t>(j);
            for (int l = 0; l < L; ++l) sum_[l] = static_cast<Sum>(sum_[l] + (steps[l] & -(column < end_[l])));
        }
    }
    void add_sums() {
        for (int l = 0; l < L; ++l) bottom_[l] += sum_[l], sum_[l] = 0;
    }
    /// Add a column if the target's end is free: H itself, and the best so far.
    void add_tracked(const T *steps, int j) {
        for (int l = 0; l < L; ++l) {
            bottom_[l] += (steps[l] - scoring_.extend) & -int32_t{j < length_[l]};
            best_[l] = std::max(best_[l], bottom_[l]);
        }
    }
    /// Set the best of the last column of the lanes with n columns, including the border: H along that column is the
    /// sum of u.
    void take_right(int n) {
        bool any = false;
        for (int l = 0; l < L; ++l) any |= length_[l] == n;
        if (!any) return;
        alignas(64) int32_t h[L], best[L];
        for (int l = 0; l < L; ++l) h[l] = best[l] = border_value(scoring_, n, request_.free_ends.target_start);
        const auto *steps = reinterpret_cast<const T *>(H_);
        for (int i = 0; i < m_; ++i, steps += L)
            for (int l = 0; l < L; ++l) {
                h[l] += steps[l] - scoring_.extend;
                best[l] = std::max(best[l], h[l]);
            }
        for (int l = 0; l < L; ++l) right_[l] = length_[l] == n ? best[l] : right_[l];
    }

    static constexpr int32_t kStarts[kMaxLanes] = {};  // all lanes start in the first column

    const Scoring &scoring_;
    const GroupRequest &request_;
    GroupScratch &scratch_;
    int32_t m_ = 0, n_ = 0, shortest_ = 0;
    uint32_t used_ = 0;  // a bit per residue of the rows
    bool is_profiled_ = false;
    uint8_t *letters_ = nullptr;
    V *H_ = nullptr, *E_ = nullptr, *profile_ = nullptr;
    uint16_t *offset_ = nullptr;
    const int8_t *steps_ = nullptr;  // of the query's positions
    alignas(64) int32_t length_[L], bottom_[L], best_[L], right_[L];
    alignas(64) int16_t end_[L];
    alignas(64) Sum sum_[L];
};

}  // namespace tropalign::TROPALIGN_ISA
