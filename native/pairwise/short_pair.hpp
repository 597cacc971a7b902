// One short pair alone: its matrix along anti-diagonals, every H kept, no directions.
//
// The vectors lie along an anti-diagonal, whose cells depend only on earlier ones. Diagonal d = i + j is a row of
// memory, its lane j the cell (d - j, j), after i residues of the rows and j of the columns:
//
//     j      0  1  2  3  4           memory      j   0      1      2      3
//     i  0   .  .  .  .  .           d = 0         (0,0)
//        1   .  a  b  c              d = 1         (1,0)  (0,1)
//        2   .  b  c  d              d = 2         (2,0)  (1,1)  (0,2)
//        3   .  c  d  e              d = 3         (3,0)  (2,1)  (1,2)  (0,3)
//
// Row d first holds the scores s(i,j), written residue by residue, and then H. The values of E(i,j+1) and F(i+1,j)
// pass from one diagonal to the next in two separate rows. Lanes beyond the matrix hold arbitrary values: a cell
// of the matrix reads only cells of the matrix.
//
// The traceback needs no directions, since they follow from H (walk.hpp): a cell pairs its residues if its H is
// that of the diagonal cell plus the score; else it ends a gap, whose length is the first k for which H is that of
// the cell k before it minus the cost. A search per gap, of at most m + n numbers, is cheaper than four
// comparisons in every cell.
//
// Numbers of 16 bits saturate: if no H of a local alignment has reached the highest number, none was cut off.
//
// Per vector of cells: 5 loads, 3 stores, 8 sums and maxima; per vector of 16 bytes of scores: a load, 3 selections and
// a store. That is about 30 operations per 32 cells of 16 bits, and a core does 3 or 4 of them per cycle: at most some
// 15 billion cells per second. 400 x 400 residues reach 6.5 with their path, 100 x 100 reach 3.5 (2.8 us), as half of
// each vector at the matrix' corners is empty; a unit with empty lanes takes 36 us for these.
#pragma once
#include "ends.hpp"
#include "walk.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, Mode M>
class ShortPair {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    static constexpr int B = kVectorBytes, L = Lanes<T, B>::count;
    using V = Vec<T, B>;
    using Few = Vec<T, 16>;
    static constexpr int kSlant = Lanes<T, 16>::count;  // columns written together

  public:
    ShortPair(const Scoring &scoring, const LanePair &pair, UnitScratch &scratch)
        : scoring_(scoring), pair_(pair), scratch_(scratch), m_(pair.rows.length), n_(pair.columns.length),
          width_(row_of(n_)) {}

    /// Bytes of H of a pair.
    static int64_t bytes(const LanePair &pair) {
        return ((diagonals(pair) + 2 * kSlant + 4) * row_of(pair.columns.length) + 2 * L) *
               static_cast<int64_t>(sizeof(T));
    }

    void run(LaneResult &result) {
        T *cells = static_cast<T *>(scratch_.get(Slot::masks, bytes(pair_)));
        values_ = cells + L - 1;  // the cells with j = 1 are aligned
        make_profile();
        lay_scores();
        sweep();
        result = LaneResult{};
        if constexpr (kLocal) find_local_end(result);
        else find_global_end(result);
        if (scoring_.traced() && !(kLocal && result.score == 0)) walk(result);
    }

  private:
    static int64_t diagonals(const LanePair &pair) { return int64_t{pair.rows.length} + pair.columns.length + 1; }
    /// Numbers from one diagonal to the next: whole vectors, and at least one lane beyond the matrix. This lane may be
    /// the first cell of the next diagonal, which is written later. An odd number of vectors, since neighbours at
    /// powers of two fall into a few sets of a cache (500 x 500 residues took four times as long).
    static int64_t row_of(int n) { return ((n / L + 1) | 1) * L; }

    T *diagonal(int d) const { return values_ + d * width_; }
    int32_t value(int i, int j) const { return diagonal(i + j)[j]; }
    int32_t score(int i, int j) const {
        return scoring_.matrix[pair_.rows.codes[i - 1] * kLetters + pair_.columns.codes[j - 1]];
    }

    /// Fill a row of scores against all columns per residue that the rows have, and the offset of each row's
    /// scores.
    void make_profile() {
        stride_ = (n_ + B - 1) / B * B;
        profile_ = static_cast<T *>(scratch_.get(Slot::scores, kLetters * stride_ * sizeof(T)));
        offset_ = static_cast<int32_t *>(scratch_.get(Slot::row_letters, sizeof(int32_t) * (m_ + kSlant + 4)));
        int32_t place[kLetters], next = 0;
        for (int32_t &p : place) p = -1;
        for (int i = 0; i < m_; ++i) {
            int32_t &mine = place[pair_.rows.codes[i]];
            if (mine < 0) {
                mine = next, next += static_cast<int32_t>(stride_);
                score_letter(pair_.rows.codes[i], profile_ + mine);
            }
            offset_[i] = mine;
        }
        for (int i = m_; i < m_ + kSlant + 4; ++i) offset_[i] = 0;
    }

    [[gnu::always_inline]] void score_letter(int letter, T *row) {
        const uint8_t *columns = pair_.columns.codes;
        if (!scoring_.step_fits8) {
            for (int j = 0; j < n_; ++j) row[j] = static_cast<T>(scoring_.matrix[letter * kLetters + columns[j]]);
            return;
        }
        // In global mode a step is the score plus twice the extension (or, if pairing two residues never pays,
        // slightly less than two gaps, which is equivalent).
        const V more = splat<T, B>(static_cast<T>(kLocal ? 0 : 2 * scoring_.extend));
        for (int j = 0; j < n_; j += B) {
            alignas(64) int8_t steps[B];
            store<int8_t, B>(steps, lookup32<B>(scoring_.step8 + letter * kLetters, load<int8_t, B>(columns + j)));
            for (int l = 0; l < B; l += L) store<T, B>(row + j + l, widen<T, B>(steps + l) - more);
        }
    }

    /// Write s(i,j) at the position of H(i,j). A few columns at a time: lane k of a vector must come from k rows
    /// above that of lane 0, which is done by the bits of k. First the odd lanes take those of the row before,
    /// then lanes 2 and 3 (6 and 7) those of two rows before, then lanes 4 to 7 those of four rows before:
    ///
    ///     lane      0    1    2    3           0    1    2    3           0    1    2    3
    ///     row i     i    i    i    i    ->     i   i-1   i   i-1   ->     i   i-1  i-2  i-3
    [[gnu::noinline]] void lay_scores() {
        const Few first = lanes_with(1), second = lanes_with(2), third = lanes_with(4);
        const int32_t *const offset = offset_;
        const int64_t width = width_;
        const int rows = m_ + kSlant - 1;
        for (int j = 1; j <= n_; j += kSlant) {
            const T *const column = profile_ + j - 1;
            T *to = diagonal(1 + j) + j;
            Few a3{}, b2{}, b3{}, c0{}, c1{}, c2{}, c3{};  // of the rows before, by the number of selections done
            for (int i = 0; i < rows; i += 4, to += 4 * width) {
                const Few x0 = load<T, 16>(column + offset[i]), x1 = load<T, 16>(column + offset[i + 1]);
                const Few x2 = load<T, 16>(column + offset[i + 2]), x3 = load<T, 16>(column + offset[i + 3]);
                const Few y0 = first ? a3 : x0, y1 = first ? x0 : x1, y2 = first ? x1 : x2, y3 = first ? x2 : x3;
                const Few z0 = second ? b2 : y0, z1 = second ? b3 : y1, z2 = second ? y0 : y2, z3 = second ? y1 : y3;
                store<T, 16>(to, third ? c0 : z0), store<T, 16>(to + width, third ? c1 : z1);
                store<T, 16>(to + 2 * width, third ? c2 : z2), store<T, 16>(to + 3 * width, third ? c3 : z3);
                a3 = x3, b2 = y2, b3 = y3, c0 = z0, c1 = z1, c2 = z2, c3 = z3;
            }
        }
    }

    /// Return a mask of the lanes whose number has this bit.
    static Few lanes_with(int bit) {
        Few lanes{};
        for (int l = 0; l < kSlant; ++l) lanes[l] = static_cast<T>(l & bit ? -1 : 0);
        return lanes;
    }

    /// Return H on the border, with `residues` of one sequence before the other.
    T border(int residues, bool is_free) const {
        return static_cast<T>(kLocal || residues == 0 ? 0 : border_value(scoring_, residues, is_free));
    }

    [[gnu::noinline]] void sweep() {
        const size_t room = static_cast<size_t>(width_ + 2 * L);
        T *state = static_cast<T *>(scratch_.get(Slot::state, 3 * room * sizeof(T)));
        // E(i,j+1) and F(i+1,j), by j; the best of each column.
        T *const next_e = state + L - 1, *const next_f = next_e + room, *const best = next_f + room;
        for (int j = 1; j <= n_; j += L) store<T, B>(best + j, V{});
        const V first = splat<T, B>(static_cast<T>(scoring_.open + scoring_.extend));
        const V extend = splat<T, B>(static_cast<T>(scoring_.extend));
        alignas(64) T counted[L];
        for (int l = 0; l < L; ++l) counted[l] = static_cast<T>(l);
        const V lane = load<T, B>(counted);
        const T opening = static_cast<T>(scoring_.open + scoring_.extend);
        for (int d = 0; d <= m_ + n_; ++d) {
            T *const h = diagonal(d);
            const int low = std::max(1, d - m_), high = std::min(n_, d - 1);  // columns within the matrix
            // Starting with the last vector, since lane j reads lane j - 1 of the diagonal before.
            for (int j = 1 + (high - 1) / L * L; high >= low && j + L > low; j -= L) {
                const V e = load<T, B>(next_e + j - 1), f = load<T, B>(next_f + j);
                V value = vmax(adds<T, B>(load<T, B>(h + j), load<T, B>(h - 2 * width_ + j - 1)), vmax(e, f));
                if constexpr (kLocal) {
                    value = vmax(value, V{});
                    const V at = lane + splat<T, B>(static_cast<T>(j));
                    const V seen = load<T, B>(best + j);
                    const V is_within =
                        (at >= splat<T, B>(static_cast<T>(low))) & (at <= splat<T, B>(static_cast<T>(high)));
                    store<T, B>(best + j, vmax(seen, value & is_within));
                }
                store<T, B>(h + j, value);
                const V opened = subs<T, B>(value, first);
                store<T, B>(next_e + j, vmax(subs<T, B>(e, extend), opened));
                store<T, B>(next_f + j, vmax(subs<T, B>(f, extend), opened));
            }
            if (d <= m_) h[0] = border(d, pair_.free_rows_begin), next_e[0] = static_cast<T>(h[0] - opening);
            if (d <= n_) h[d] = border(d, pair_.free_columns_begin), next_f[d] = static_cast<T>(h[d] - opening);
        }
        best_ = best;
    }

    /// Find the highest H; of equal ones the first by ends_before.
    void find_local_end(LaneResult &result) const {
        int column = 1;
        for (int j = 2; j <= n_; ++j)
            if (best_[j] > best_[column]) column = j;
        if (best_[column] == 0) return;
        result.score = best_[column];
        result.column_end = column;
        while (value(++result.row_end, column) != result.score) {
        }
    }

    void find_global_end(LaneResult &result) const {
        Line<int32_t, 1> bottom{}, right{};
        bottom.begin(0, 0, value(m_, 0));
        right.begin(0, 0, value(0, n_));
        bottom.score[0] = right.score[0] = value(m_, n_);
        for (int j = 1; pair_.free_columns_end && j <= n_; ++j)
            if (later_ends(value(m_, j), bottom.best[0])) bottom.best[0] = value(m_, j), bottom.at[0] = j;
        for (int i = 1; pair_.free_rows_end && i <= m_; ++i)
            if (later_ends(value(i, n_), right.best[0])) right.best[0] = value(i, n_), right.at[0] = i;
        set_end<false>(pair_, bottom, right, 0, result);
    }

    /// The directions of the cells in the form that walk_back requires.
    class Cells {
      public:
        explicit Cells(const ShortPair &whole) : whole_(whole) {}

        void seek(int i, int j) { i_ = i, j_ = j; }

        int diagonal_run(int i, int j) {
            const int most = std::min(i, j);
            int run = 0;
            while (run < most && is_paired(i - run, j - run)) ++run;
            seek(i - run, j - run);
            return run;
        }

        int positive_run(int i, int j, int &left) {
            const int most = std::min(i, j);
            int run = 0;
            for (; run < most && left != 0 && is_paired(i - run, j - run); ++run)
                left -= whole_.score(i - run, j - run);
            seek(i - run, j - run);
            return run;
        }

        bool last_wins() const { return length(true, j_) > j_; }
        int gap_length(bool is_e, int most) const { return length(is_e, most); }

      private:
        bool is_paired(int i, int j) const {
            return whole_.value(i, j) == whole_.value(i - 1, j - 1) + whole_.score(i, j);
        }

        /// Return the length of the shortest gap that may end here by its H; most + 1 if none may.
        int length(bool is_e, int most) const {
            const int32_t open = whole_.scoring_.open, extend = whole_.scoring_.extend;
            const T *from = whole_.diagonal(i_ + j_) + j_;
            const int64_t back = whole_.width_ + (is_e ? 1 : 0);  // to (i, j - 1), or (i - 1, j)
            int32_t wanted = from[0] + open;
            int k = 1;
            for (; k <= most && (wanted += extend) != from[-k * back]; ++k) {
            }
            return k;
        }

        const ShortPair &whole_;
        int i_ = 0, j_ = 0;
    };

    void walk(LaneResult &result) {
        Cells cells(*this);
        walk_alone<M>(scoring_, pair_, cells, scratch_, result);
    }

    const Scoring &scoring_;
    const LanePair &pair_;
    UnitScratch &scratch_;
    const int m_, n_;
    const int64_t width_;
    T *values_ = nullptr, *profile_ = nullptr;
    int32_t *offset_ = nullptr;
    int64_t stride_ = 0;
    const T *best_ = nullptr;
};

}  // namespace tropalign::TROPALIGN_ISA
