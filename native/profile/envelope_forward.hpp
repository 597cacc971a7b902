// Forward over the envelopes of a unit. Each row stays, but for its deletions: M and I of the recurrence
//
//     M(i, k) = odds(x_i, k) (B(i-1) BM + M(i-1, k-1) MM + I(i-1, k-1) IM + D(i-1, k-1) DM)
//     I(i, k) = M(i-1, k) MI + I(i-1, k) II
//     D(i, k) = M(i, k-1) MD + D(i, k-1) DD
//
// in HMMER's order of operations. Nodes are striped (float_tables.hpp), so D runs along each quarter of the model
// first, then from one quarter into the next. The M of the last nodes of quarters are computed ahead, so that D's way
// can begin where the sweep over M and I does.
//
// HMMER scales a whole row down when its sum is above 10,000. Here the row stays as it is, and whoever reads it
// multiplies, which gives the same floats.
#pragma once
#include <cmath>

#include "envelope_unit.hpp"

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
    /// Fills row i but for the special states; the sum over its cells.
    template <bool kScaled>
    V next_row(int32_t i) {
        const ModelQuads<N> model = this->model;
        const LaneOdds<N> odds = this->odds_of_row(i);
        const int64_t Q = this->Q;
        const float *const before = this->cells(i - 1);
        float *const row = this->cells(i), *const D_row = D_;
        const V factor = factor_, B = B_;
        const auto scaled = [&](V v) { return kScaled ? v * factor : v; };
        const auto M_at = [&](int64_t q) { return scaled(lanes_at<N>(before + q * 2 * kWidth)); };
        const auto I_at = [&](int64_t q) { return scaled(lanes_at<N>(before + (q * 2 + 1) * kWidth)); };
        const auto D_at = [&](int64_t q) { return scaled(lanes_at<N>(D_row + q * kWidth)); };
        const auto match = [&](int64_t q, V M, V I, V D) {
            V sum = B * model(q, kBM);
            sum = sum + M * model(q, kMM);
            sum = sum + I * model(q, kIM);
            sum = sum + D * model(q, kDM);
            return sum * odds(q);
        };
        V D = up<N>(match(Q - 1, M_at(Q - 2), I_at(Q - 2), D_at(Q - 2)) * model(Q - 1, kMD));
        V M_before = up<N>(M_at(Q - 1)), I_before = up<N>(I_at(Q - 1)), D_before = up<N>(D_at(Q - 1));
        V ends{}, way{};
        for (int64_t q = 0; q < Q; ++q) {
            expect<N>(row + (Q + q) * 2 * kWidth);
            const V M = match(q, M_before, I_before, D_before);
            ends = ends + M;
            M_before = M_at(q), I_before = I_at(q), D_before = D_at(q);
            put<N>(row + q * 2 * kWidth, M);
            put<N>(row + (q * 2 + 1) * kWidth, M_before * model(q, kMI) + I_before * model(q, kII));
            put<N>(D_row + q * kWidth, D);
            way = D * model(q, kDD);
            D = way + M * model(q, kMD);
        }
        more_deletes(way);
        for (int64_t q = 0; q < Q; ++q) ends = ends + lanes_at<N>(D_row + q * kWidth);
        return sum_of_quads<N>(ends);
    }

    /// D -> D from one quarter of the model into the next ones. Models of 100 nodes or more stop after a pass that has
    /// changed nothing, each lane by itself.
    void more_deletes(V way) {
        const ModelQuads<N> model = this->model;
        const int64_t Q = this->Q;
        float *const D_row = D_;
        for (int pass = 1; pass < kQuad; ++pass) {
            way = up<N>(way);
            uint32_t changed = 0;
            for (int64_t q = 0; q < Q;) {
                V added{}, sum{};
                for (const int64_t stop = std::min(Q, q + 8); q < stop; ++q) {
                    const V had = lanes_at<N>(D_row + q * kWidth);
                    added = way, sum = way + had;
                    changed |= floats_above<N>(sum, had);
                    put<N>(D_row + q * kWidth, sum);
                    way = way * model(q, kDD);
                }
                if (!floats_above<N>(added * kNegligible, sum)) return;
            }
            if (unit.tables->M < 100) continue;
            changed |= changed >> 1, changed |= changed >> 2;
            changed = (changed & 0x1111) * 15;
            if (!changed) return;
            way = where_bits<N>(changed, way);
        }
    }

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

    /// Until its row 0 all numbers of a lane are zeros, and stay it.
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
