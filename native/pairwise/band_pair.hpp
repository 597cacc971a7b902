// One pair within a band of diagonals: for similar sequences, whose best paths stay near the main diagonal.
//
// The vectors lie along an anti-diagonal d = i + j, whose cells depend only on the previous one, since the
// recurrence is that of differences (sweep.hpp). Lanes are diagonals k = j - i, every other one of them per
// anti-diagonal:
//
//     k        low    low+1  low+2  low+3  low+4  low+5
//     even d   lane 0        lane 1        lane 2          u(i,j-1) is in the lane before, v(i-1,j) in the same
//     odd d           lane 0        lane 1        lane 2   u(i,j-1) is in the same lane, v(i-1,j) in the next
//
// So one pair of vectors moves by a lane per step: u and x up before an even d, v and y down before an odd one.
// The value that enters at the band's edge stands for the cell beyond it: H' there is a gap opened from the band's
// last cell, -open for all of u, x, v and y. Then no score is too high, and a path that stays inside has its exact
// score (docs/exactness.md).
//
// Row 0 and column 0 are written into their lanes when the band meets them. Lanes beyond the matrix hold arbitrary
// values: a cell of the matrix reads only other cells of the matrix, a border or an edge.
//
// Per vector of cells: 16 operations with the look-up, 4 shifts, 4 compares with Trace; 6 loads, 4 stores and 4 of
// masks. Stores are the bottleneck, some 6 cycles per 64 cells. Bands of one to three vectors stay in registers; a
// step then takes as long as its dependency chain (shift, sum, two maxima, difference, maximum), some 12 cycles.
#pragma once
#include "../simd/bytes.hpp"
#include "band.hpp"
#include "band_scores.hpp"
#include "ends.hpp"
#include "sweep.hpp"
#include "walk.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Scores is FewLetters or ManyLetters (band_scores.hpp).
template <class Scores>
class BandPair {
    static constexpr int B = kVectorBytes;
    using V = Vec<int8_t, B>;
    using Mask = Masks<int8_t, B>;
    static constexpr int kMostInRegisters = 3;
    static constexpr int kAskedVectors = 1 << 20, kAskedSteps = 256;  // between checks for a stop
    static constexpr int kRunSteps = 8;  // cells of a diagonal that a traceback examines together

  public:
    BandPair(const Scoring &scoring, const LanePair &pair, const Band &band, UnitScratch &scratch)
        : scoring_(scoring), pair_(pair), band_(band), scratch_(scratch), m_(pair.rows.length), n_(pair.columns.length),
          vectors_(vectors_of(band)), source_(scoring, pair) {}

    static int vectors_of(const Band &band) { return (band.high - band.low + 2 * B) / (2 * B); }

    static size_t bytes(const Scoring &scoring, const LanePair &pair, const Band &band) {
        const size_t m = pair.rows.length, n = pair.columns.length, vectors = vectors_of(band);
        const size_t sizes[] = {
            state_bytes(vectors),
            letter_bytes(m, n, vectors),
            letter_bytes(m, n, vectors),
            letter_bytes(m, n, vectors),
            line_bytes(m, n),
            walks(scoring, pair) ? mask_bytes(m + n, vectors) : 0,
            scoring.depth == Depth::alignment ? sizeof(uint32_t) * (m + n + 2) : 0,
            walks(scoring, pair) ? GappedRows::bytes(m + n + 2) : 0,
        };
        size_t sum = 0;
        for (const size_t size : sizes) sum += UnitScratch::taken(size);
        return sum;
    }

    /// False if a path outside the band may be as good, with a lower bound of the pair's score in `result`; also
    /// false if a stop is requested.
    bool run(LaneResult &result) {
        const bool traced = walks(scoring_, pair_);
        const uint64_t swept = static_cast<uint64_t>(m_ + n_) * vectors_ * B;
        scratch_.useful_cells += swept, scratch_.swept_cells += swept;
        prepare(traced);
        result = LaneResult{};
        if (!(traced ? sweep<true>() : sweep<false>())) return false;
        find_end(result);
        if (result.score <= band_.beyond) return false;
        if (traced) walk(result);
        return true;
    }

  private:
    /// True if the path is requested, or needed to find where it starts.
    static bool walks(const Scoring &scoring, const LanePair &pair) {
        return scoring.depth == Depth::alignment ||
               (scoring.traced() && (pair.free_rows_begin || pair.free_columns_begin));
    }
    /// Return the bytes of u, x, v and y, each with a vector before and after for the edges.
    static size_t state_bytes(size_t vectors) { return 4 * (vectors + 2) * B; }
    static size_t letter_bytes(size_t m, size_t n, size_t vectors) { return m + n + (3 * vectors + 2) * B; }
    static size_t line_bytes(size_t m, size_t n) { return m + n + 2; }
    /// Return the number of masks that a traceback may read before anti-diagonal 0.
    static size_t mask_margin(size_t vectors) { return 2 * kRunSteps * vectors; }
    static size_t mask_bytes(size_t diagonals, size_t vectors) {
        return sizeof(Mask) * (mask_margin(vectors) + (diagonals + 1) * vectors);
    }

    void prepare(bool traced) {
        scratch_.begin(bytes(scoring_, pair_, band_));
        auto *state = static_cast<V *>(scratch_.get(Slot::state, state_bytes(vectors_)));
        const V edge = splat<int8_t, B>(static_cast<int8_t>(-scoring_.open));
        for (int b = 0; b < 4 * (vectors_ + 2); ++b) state[b] = edge;
        u_ = state + 1, x_ = u_ + vectors_ + 2, v_ = x_ + vectors_ + 2, y_ = v_ + vectors_ + 2;
        const size_t size = letter_bytes(m_, n_, vectors_);
        auto *rows = static_cast<uint8_t *>(scratch_.get(Slot::row_letters, size));
        auto *columns = static_cast<uint8_t *>(scratch_.get(Slot::column_letters, size));
        auto *groups = static_cast<uint8_t *>(scratch_.get(Slot::padded, size));
        for (uint8_t *letters : {rows, columns, groups}) std::memset(letters, 0, size);
        // Lane 0 is at its first column, low / 2 + 1, on anti-diagonal 1, and at its last row, (m + n - low) / 2,
        // on the last anti-diagonal.
        columns_ = columns - band_.low / 2;
        rows_ = rows + (n_ - m_ - band_.low + 1) / 2;
        for (int j = 0; j < n_; ++j) columns_[j] = source_.number_of_column(pair_.columns.codes[j]);
        for (int i = 0; i < m_; ++i) rows_[m_ - 1 - i] = source_.number_of_row(pair_.rows.codes[i]);
        groups_ = groups + (rows_ - rows);
        for (int i = 0; i < m_; ++i) groups_[m_ - 1 - i] = source_.group_of_row(pair_.rows.codes[i]);
        auto *lines = static_cast<int8_t *>(scratch_.get(Slot::border, line_bytes(m_, n_)));
        bottom_ = lines, right_ = lines + n_ + 1;
        if (traced)
            masks_ =
                static_cast<Mask *>(scratch_.get(Slot::masks, mask_bytes(m_ + n_, vectors_))) + mask_margin(vectors_);
    }

    /// Row i and column j of lane 0 on anti-diagonal d, counted from 1.
    int row_of_lane0(int d) const { return (d - band_.low - (d & 1)) / 2; }
    int column_of_lane0(int d) const { return (d + band_.low + (d & 1)) / 2; }
    int lane(int d, int k) const { return (k - band_.low - (d & 1)) / 2; }

    /// Pointers to the data of an anti-diagonal, starting at lane 0.
    struct Place {
        const uint8_t *rows, *groups, *columns;
        Mask *masks;
        [[gnu::always_inline]] V score(const Scores &source, int b) const {
            return source.score(rows + b * B, groups + b * B, columns + b * B);
        }
    };
    [[gnu::always_inline]] Place place_of(int d) const {
        const int row = m_ - row_of_lane0(d), column = column_of_lane0(d) - 1;
        return {rows_ + row, groups_ + row, columns_ + column, masks_ + static_cast<ptrdiff_t>(d) * vectors_};
    }

    /// False if a stop is requested.
    template <bool Trace>
    bool sweep() {
        score_ = 0;
        const int last = m_ + n_, borders = std::min(last, std::max(-band_.low, band_.high) + 1);
        int d = 1;
        for (; d <= borders; ++d) {
            if (d % kAskedSteps == 0 && scratch_.is_stopped()) return false;
            step<Trace>(d), begin_lines(d), score_ += corner_step(d), take_lines(d);
        }
        const int at_once = std::max(kAskedVectors / vectors_, 1);
        for (int end; d <= last; d = end + 1) {
            end = std::min(last - d, at_once) + d;
            if (scratch_.is_stopped()) return false;
            sweep_some<Trace>(d, end);
        }
        return true;
    }

    template <bool Trace>
    void sweep_some(int d, int last) {
        if (vectors_ == 1) return sweep_registers<Trace, 1>(d, last);
        if (vectors_ == 2) return sweep_registers<Trace, 2>(d, last);
        if (vectors_ == 3) return sweep_registers<Trace, 3>(d, last);
        for (; d <= last; ++d) step<Trace>(d), score_ += corner_step(d), take_lines(d);
    }

    /// Write row 0 and column 0 if anti-diagonal d meets them within the band.
    void begin_lines(int d) {
        const auto open = static_cast<int8_t>(-scoring_.open), extend = static_cast<int8_t>(scoring_.extend);
        const int8_t costs = d == 1 ? open : 0;
        if (d <= m_ && -d >= band_.low) {
            lane_of(u_, lane(d, -d)) = pair_.free_rows_begin ? extend : costs;
            lane_of(x_, lane(d, -d)) = open;
        }
        if (d <= n_ && d <= last_diagonal()) {
            lane_of(v_, lane(d, d)) = pair_.free_columns_begin ? extend : costs;
            lane_of(y_, lane(d, d)) = open;
        }
    }
    int last_diagonal() const { return band_.low + 2 * B * vectors_ - 1; }
    static int8_t &lane_of(V *vectors, int l) { return reinterpret_cast<int8_t *>(vectors)[l]; }

    /// Compute one vector of cells. On entry u and x are those of (i,j-1), v and y those of (i-1,j); on return
    /// they are the cell's.
    template <bool Trace>
    [[gnu::always_inline]] static void cells(V s, V edge, V &u, V &x, V &v, V &y, Mask *mask) {
        V a = x + u, b = y + v;
        Answer<int8_t, B> gap_wins, last_wins;
        const V z = best_step<int8_t, B, Trace, false>(s, a, b, gap_wins, last_wins);
        const V v_new = z - u;
        u = z - v, v = v_new;
        a = a - z, b = b - z;
        if constexpr (Trace) {
            typename Mask::Pending pending;
            mask->template put<0>(pending, gap_wins);
            mask->template put<1>(pending, last_wins);
            mask->template put<2>(pending, goes_on<int8_t, B>(a, edge));
            mask->template put<3>(pending, goes_on<int8_t, B>(b, edge));
        }
        x = vmax(a, edge), y = vmax(b, edge);
    }

    /// Sweep anti-diagonal d with its state in memory; only vectors that contain a cell of the matrix.
    template <bool Trace>
    [[gnu::always_inline]] void step(int d) {
        const int i0 = row_of_lane0(d), j0 = column_of_lane0(d);
        const int least = std::max({0, 1 - j0, i0 - m_}), most = std::min({vectors_ * B - 1, i0 - 1, n_ - j0});
        if (most < least) return;
        const int first = least / B, last = most / B;
        const Place place = place_of(d);
        if (d & 1) step_odd<Trace>(place, first, last);
        else step_even<Trace>(place, first, last);
    }
    template <bool Trace>
    [[gnu::noinline]] void step_even(Place place, int first, int last) {
        const V edge = splat<int8_t, B>(static_cast<int8_t>(-scoring_.open));
        V u_before = u_[first - 1], x_before = x_[first - 1];
        for (int b = first; b <= last; ++b) {
            const V u_here = u_[b], x_here = x_[b];
            V u = shift_in<B>(u_here, u_before), x = shift_in<B>(x_here, x_before), v = v_[b], y = y_[b];
            u_before = u_here, x_before = x_here;
            cells<Trace>(place.score(source_, b), edge, u, x, v, y, place.masks + b);
            u_[b] = u, x_[b] = x, v_[b] = v, y_[b] = y;
        }
    }
    template <bool Trace>
    [[gnu::noinline]] void step_odd(Place place, int first, int last) {
        const V edge = splat<int8_t, B>(static_cast<int8_t>(-scoring_.open));
        V v_after = v_[last + 1], y_after = y_[last + 1];
        for (int b = last; b >= first; --b) {
            const V v_here = v_[b], y_here = y_[b];
            V v = shift_out<B>(v_here, v_after), y = shift_out<B>(y_here, y_after), u = u_[b], x = x_[b];
            v_after = v_here, y_after = y_here;
            cells<Trace>(place.score(source_, b), edge, u, x, v, y, place.masks + b);
            u_[b] = u, x_[b] = x, v_[b] = v, y_[b] = y;
        }
    }

    /// Sweep anti-diagonals d to last with the state of N vectors in registers; u and v are written for
    /// take_lines.
    template <bool Trace, int N>
    [[gnu::noinline]] void sweep_registers(int d, int last) {
        const V edge = splat<int8_t, B>(static_cast<int8_t>(-scoring_.open));
        V u[N], x[N], v[N], y[N];
        for (int b = 0; b < N; ++b) u[b] = u_[b], x[b] = x_[b], v[b] = v_[b], y[b] = y_[b];
        const Scores source = source_;
        const bool has_lines = pair_.free_columns_end || pair_.free_rows_end;
        int32_t score = score_;
        auto step = [&](int d, auto is_odd) __attribute__((always_inline)) {
            const Place place = place_of(d);
            if constexpr (is_odd.value) {
#pragma GCC unroll 3
                for (int b = 0; b < N; ++b) {
                    v[b] = shift_out<B>(v[b], b + 1 < N ? v[b + 1 < N ? b + 1 : b] : edge);
                    y[b] = shift_out<B>(y[b], b + 1 < N ? y[b + 1 < N ? b + 1 : b] : edge);
                }
            } else {
#pragma GCC unroll 3
                for (int b = N - 1; b >= 0; --b) {
                    u[b] = shift_in<B>(u[b], b > 0 ? u[b > 0 ? b - 1 : 0] : edge);
                    x[b] = shift_in<B>(x[b], b > 0 ? x[b > 0 ? b - 1 : 0] : edge);
                }
            }
#pragma GCC unroll 3
            for (int b = 0; b < N; ++b) {
                cells<Trace>(place.score(source, b), edge, u[b], x[b], v[b], y[b], place.masks + b);
                if (is_odd.value || has_lines || d > 2 * n_) v_[b] = v[b];
                if (!is_odd.value || has_lines || d > 2 * n_) u_[b] = u[b];
            }
        };
        auto take = [&](int d) __attribute__((always_inline)) {
            score += corner_step(d);
            if (has_lines) take_lines(d);
        };
        if (d % 2 == 0 && d <= last) step(d, std::false_type{}), take(d), ++d;
        for (; d < last; d += 2) {
            step(d, std::true_type{}), take(d);
            step(d + 1, std::false_type{}), take(d + 1);
        }
        if (d == last) step(d, std::true_type{}), take(d);
        for (int b = 0; b < N; ++b) u_[b] = u[b], x_[b] = x[b], v_[b] = v[b], y_[b] = y[b];  // for the next call
        score_ = score;
    }

    /// Return the next difference on the way to the corner: along diagonals 0 and 1 to the last column, then down that
    /// column.
    [[gnu::always_inline]] int8_t corner_step(int d) const {
        if (d > 2 * n_) return lane_of(u_, lane(d, 2 * n_ - d));
        return d & 1 ? lane_of(v_, lane(d, 1)) : lane_of(u_, lane(d, 0));
    }

    /// Store cells of the last row and the last column that lie in the band, if an alignment may end there.
    void take_lines(int d) {
        if (pair_.free_columns_end && d > m_ && d - 2 * m_ >= band_.low)
            bottom_[d - m_] = lane_of(v_, lane(d, d - 2 * m_));
        if (pair_.free_rows_end && d > n_ && 2 * n_ - d <= last_diagonal())
            right_[d - n_] = lane_of(u_, lane(d, 2 * n_ - d));
    }

    void find_end(LaneResult &result) const {
        Line<int32_t, 1> bottom{}, right{};
        const int32_t corner = score_ - scoring_.extend * (m_ + n_);
        bottom.begin(0, 0, corner), right.begin(0, 0, corner);
        bottom.at[0] = n_, right.at[0] = m_;
        if (pair_.free_columns_end) look_back(bottom, bottom_, n_, std::max(0, m_ + band_.low - 1));
        if (pair_.free_rows_end) look_back(right, right_, m_, std::max(0, n_ - last_diagonal() - 1));
        set_end<false>(pair_, bottom, right, 0, result);
    }

    /// Find the best cell of a line from its last cell back to `first`, by the differences between neighbours.
    void look_back(Line<int32_t, 1> &line, const int8_t *steps, int last, int first) const {
        int32_t value = line.score[0];
        for (int k = last; k > first; --k) {
            value -= steps[k] - scoring_.extend;
            if (!later_ends(line.best[0], value)) line.best[0] = value, line.at[0] = k - 1;
        }
    }

    /// The directions of the cells in the form that walk_back requires.
    class Cells {
      public:
        explicit Cells(const BandPair &whole) : whole_(whole) {}

        void seek(int i, int j) {
            const int d = i + j, l = whole_.lane(d, j - i);
            mask_ = whole_.masks_ + static_cast<ptrdiff_t>(d) * whole_.vectors_ + l / B;
            bit_ = Mask::place(l % B);
            i_ = i, j_ = j;
        }

        /// A diagonal is one lane of every other anti-diagonal.
        int diagonal_run(int i, int j) {
            const int most = std::min(i, j);
            const ptrdiff_t back = 2 * whole_.vectors_;
            const Mask *at = mask_;
            int run = 0;
            for (; run < most; run += kRunSteps, at -= kRunSteps * back) {
                unsigned stops = 0;
                for (int k = 0; k < kRunSteps; ++k) {
                    const Mask &mask = at[-k * back];
                    stops |= mask.bit(bit_, 0) << k;
                }
                if (stops) {
                    run += __builtin_ctz(stops);
                    break;
                }
            }
            run = std::min(run, most);
            seek(i - run, j - run);
            return run;
        }

        int positive_run(int i, int j, int &left);  // local mode has no bands

        bool last_wins() const { return mask_->bit(bit_, 1); }
        int gap_length(bool is_e, int most) const {
            int k = 1;
            while (k < most && (is_e ? is_set(i_, j_ - k, 2) : is_set(i_ - k, j_, 3))) ++k;
            return k;
        }

      private:
        bool is_set(int i, int j, int word) const {
            const int d = i + j, l = whole_.lane(d, j - i);
            const Mask &mask = whole_.masks_[static_cast<ptrdiff_t>(d) * whole_.vectors_ + l / B];
            return mask.bit(Mask::place(l % B), word);
        }

        const BandPair &whole_;
        const Mask *mask_ = nullptr;
        int i_ = 0, j_ = 0, bit_ = 0;
    };

    void walk(LaneResult &result) {
        Cells cells(*this);
        walk_alone<Mode::global>(scoring_, pair_, cells, scratch_, result);
    }

    const Scoring &scoring_;
    const LanePair &pair_;
    const Band band_;
    UnitScratch &scratch_;
    const int m_, n_, vectors_;
    const Scores source_;
    V *u_ = nullptr, *x_ = nullptr, *v_ = nullptr, *y_ = nullptr;
    // Numbers of the residues, and the groups of the rows' residues; both row arrays start at the last row.
    uint8_t *rows_ = nullptr, *groups_ = nullptr, *columns_ = nullptr;
    int8_t *bottom_ = nullptr, *right_ = nullptr;  // v of the last row, u of the last column
    int32_t score_ = 0;                            // H' of the cell that the corner steps have reached
    Mask *masks_ = nullptr;
};

}  // namespace tropalign::TROPALIGN_ISA
