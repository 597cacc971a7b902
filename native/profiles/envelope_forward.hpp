// Forward over the envelopes of a unit:
//
//     M(i, k) = odds(x_i, k) (B(i-1) BM + M(i-1, k-1) MM + I(i-1, k-1) IM + D(i-1, k-1) DM)
//     I(i, k) = M(i-1, k) MI + I(i-1, k) II
//     D(i, k) = M(i, k-1) MD + D(i, k-1) DD
//
// (forward_row.hpp). M and I of each row are kept; its deletions are kept until the next one.
//
// HMMER scales a whole row down when its sum is above 10,000. Here the row is left as it is, and multiplied when
// it is read, which gives the same floats.
#pragma once
#include <cmath>

#include "envelope_unit.hpp"
#include "forward_row.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int N>
class ForwardSweep : UnitMemory<N> {
    using Base = UnitMemory<N>;
    using V = typename Base::V;
    using Base::unit, Base::Q, Base::n_rows, Base::kWidth;

  public:
    explicit ForwardSweep(EnvelopeUnit &given) : Base(given) {}

    void run() {
        std::memset(this->cells(0), 0, sizeof(float) * 2 * kWidth * Q);
        std::memset(D_, 0, sizeof(float) * kWidth * Q);
        start_lanes(0);
        write_specials(0, every<V>(1));
        for (int32_t i = 1; i <= n_rows; ++i) {
            const V ends = is_scaled_ ? next_row<true>(i) : next_row<false>(i);
            close_row(i, ends);
            start_lanes(i);
        }
        for (int k = 0; k < unit.n_lanes; ++k) {
            EnvelopeLane &lane = unit.lanes[k];
            const float C = this->of_lane(C_, k) * lane.move;
            lane.nats = static_cast<float>(totals_[k] + std::log(static_cast<double>(C)));
            lane.in_range = std::isfinite(C) && C > 0;
        }
    }

  private:
    /// Fill row i except the special states; return the sum over its cells.
    template <bool kScaled>
    V next_row(int32_t i) {
        return forward_row<N>(*unit.tables, this->odds_of_row(i), B_,
                              Cells<kScaled>{this->cells(i - 1), this->cells(i), D_, this->Q, factor_});
    }

    /// A row and the one before, in the form that forward_row() requires.
    template <bool kScaled>
    struct Cells {
        const float *before;
        float *row, *D_row;
        int64_t Q;
        V factor;

        [[gnu::always_inline]] V scaled(const float *p) const {
            return kScaled ? lanes_at<N>(p) * factor : lanes_at<N>(p);
        }
        [[gnu::always_inline]] V M(int64_t q) const { return scaled(before + q * 2 * kWidth); }
        [[gnu::always_inline]] V I(int64_t q) const { return scaled(before + (q * 2 + 1) * kWidth); }
        [[gnu::always_inline]] V D(int64_t q) const { return scaled(D_row + q * kWidth); }
        [[gnu::always_inline]] void set(int64_t q, V M, V I) const {
            expect<N>(row + (Q + q) * 2 * kWidth);
            put<N>(row + q * 2 * kWidth, M);
            put<N>(row + (q * 2 + 1) * kWidth, I);
        }
        DeleteRow deletes() const { return {D_row, kWidth}; }
    };

    void close_row(int32_t i, V E) {
        N_ = N_ * loop_;
        C_ = C_ * loop_ + E;
        B_ = N_ * move_;
        const uint32_t high = floats_above<N>(E, every<V>(kHighRow));
        V scale = every<V>(1);
        is_scaled_ = high != 0;
        if (is_scaled_) {
            scale = this->choose(high, E, scale);
            N_ = N_ / scale, C_ = C_ / scale, B_ = B_ / scale;
            factor_ = every<V>(1) / scale;
            for (int k = 0; k < unit.n_lanes; ++k)
                if (high >> 4 * k & 1)
                    totals_[k] = static_cast<float>(totals_[k] + std::log(static_cast<double>(this->of_lane(E, k))));
        }
        write_specials(i, scale);
    }

    void write_specials(int32_t i, V scale) const {
        put<N>(this->special(i, kForwardN), N_);
        put<N>(this->special(i, kForwardC), C_);
        put<N>(this->special(i, kForwardScale), scale);
    }

    /// Initialise the lanes whose row 0 is `row`. Before that, all numbers of a lane are and stay zero.
    void start_lanes(int32_t row) {
        for (int k = 0; k < unit.n_lanes; ++k)
            if (this->begin(k) == row) {
                N_ = this->with_lane(N_, k, 1);
                B_ = this->with_lane(B_, k, unit.lanes[k].move);
                if (row > 0) put<N>(this->special(row, kForwardN), N_);
            }
    }

    float *const D_ = this->work(0);
    const V loop_ = this->of_lanes([](const EnvelopeLane &lane) { return lane.loop; });
    const V move_ = this->of_lanes([](const EnvelopeLane &lane) { return lane.move; });
    V N_{}, B_{}, C_{}, factor_{};
    bool is_scaled_ = false;
    float totals_[N] = {};
};

}  // namespace tropalign::TROPALIGN_ISA
