// Backward over the envelopes of a unit; Forward's cells are replaced by Forward times Backward:
//
//     M(i, k) = E(i) + M(i+1, k+1) odds(x_i+1, k+1) MM + I(i+1, k) MI + D(i, k+1) MD
//     I(i, k) =        M(i+1, k+1) odds(x_i+1, k+1) IM + I(i+1, k) II
//     D(i, k) = E(i) + M(i+1, k+1) odds(x_i+1, k+1) DM + D(i, k+1) DD
//
// (MM: into k+1; MI: from k) in HMMER's order of operations. M(i, k) needs D of its own row, which is complete
// after a pass through all quarters of the model; so one sweep, from the last node down, completes M of row i and
// computes I, D and the known part of M of the row above it. E of a row is known in advance: with one domain only,
// it is C.
#pragma once
#include "envelope_unit.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int N>
class BackwardSweep : UnitMemory<N> {
    using Base = UnitMemory<N>;
    using V = typename Base::V;
    using Base::unit, Base::Q, Base::n_rows, Base::kWidth;

  public:
    explicit BackwardSweep(EnvelopeUnit &given) : Base(given) {}

    /// Return the factor for all products, provided that rows have the same factors in both directions.
    V run() {
        last_row();
        for (int32_t i = n_rows; i >= 1; --i) {
            const V scale = scale_row(i);
            odds_ = this->odds_of_row(i);
            finish_lanes(i, scale);
            const V forward_scale = lanes_at<N>(this->special(i, kForwardScale));
            const bool is_scaled = floats_above<N>(larger(scale, forward_scale), every<V>(1)) != 0;
            factor_ = every<V>(1) / scale, forward_factor_ = every<V>(1) / forward_scale;
            E_above_ = C_ * loop_;
            const V begins = is_scaled ? next_row<true>(i) : next_row<false>(i);
            B_ = begins;
            C_ = E_above_;
            N_ = B_ * move_ + N_ * loop_;
        }
        for (int k = 0; k < unit.n_lanes; ++k) unit.lanes[k].has_own_scales = own_ >> 4 * k & 1;
        return every<V>(1) / first_N_;
    }

    bool has_own_scales() const { return own_ != 0; }

  private:
    void last_row() {
        C_ = move_;
        V way{}, D = down<N>(C_);
        for (int64_t q = Q - 1; q >= 0; --q) {
            put<N>(M_ + q * kWidth, V{});
            put<N>(I_ + q * kWidth, V{});
            way = D * this->model(q, kDD);
            D = way + C_;
            put<N>(D_ + q * kWidth, D);
        }
        more_deletes(way);
    }

    /// Return the row's factor: Forward's, until numbers grow far beyond it; then Backward's own.
    V scale_row(int32_t i) {
        E_ = C_;
        own_ |= ~floats_above<N>(every<V>(kFarHigher), B_) & this->kAllFloats;
        V scale = lanes_at<N>(this->special(i, kForwardScale));
        if (own_) {
            const uint32_t high = floats_above<N>(B_, every<V>(kHighRow));
            scale = this->choose(own_, this->choose(high, B_, every<V>(1)), scale);
        }
        if (floats_above<N>(scale, every<V>(1))) N_ = N_ / scale, C_ = C_ / scale;
        put<N>(this->special(i, kBackwardN), N_);
        put<N>(this->special(i, kBackwardC), C_);
        put<N>(this->special(i, kBackwardScale), scale);
        return scale;
    }

    template <bool kScaled>
    V next_row(int32_t i) {
        const ModelQuads<N> model = this->model;
        const LaneOdds<N> odds = odds_;
        const int64_t Q = this->Q;
        float *const row = this->cells(i), *const M_row = M_, *const I_row = I_, *const D_row = D_;
        const V E = E_, E_above = E_above_, factor = factor_, forward_factor = forward_factor_;
        const auto M_at = [&](int64_t q, V D_next) {
            V M = lanes_at<N>(M_row + q * kWidth) + E;
            M = M + D_next * model(q, kMD);
            return kScaled ? M * factor : M;
        };
        const auto D_at = [&](int64_t q) { return lanes_at<N>(D_row + q * kWidth); };
        const auto times_odds = [&](V M, int64_t q) { return M * odds(q); };

        const V first_D = down<N>(D_at(0));
        V M_next = times_odds(M_at(1, 2 < Q ? D_at(2) : first_D), 1);
        V D = down<N>(M_next * model(1, kDM) + E_above);
        M_next = down<N>(times_odds(M_at(0, D_at(1)), 0));
        V MM = down<N>(model(0, kMM)), IM = down<N>(model(0, kIM)), DM = down<N>(model(0, kDM));
        V D_next = first_D, begins{}, way{};
        for (int64_t q = Q - 1; q >= 0; --q) {
            expect<N>(row + (q - Q) * 2 * kWidth);
            const V M = M_at(q, D_next);
            D_next = D_at(q);
            V I = lanes_at<N>(I_row + q * kWidth);
            if (kScaled) I = I * factor;
            V forward_M = lanes_at<N>(row + q * 2 * kWidth), forward_I = lanes_at<N>(row + (q * 2 + 1) * kWidth);
            if (kScaled) forward_M = forward_M * forward_factor, forward_I = forward_I * forward_factor;
            put<N>(row + q * 2 * kWidth, forward_M * M);
            put<N>(row + (q * 2 + 1) * kWidth, forward_I * I);

            put<N>(I_row + q * kWidth, I * model(q, kII) + M_next * IM);
            put<N>(M_row + q * kWidth, I * model(q, kMI) + M_next * MM);
            way = D * model(q, kDD);
            D = M_next * DM + (way + E_above);
            put<N>(D_row + q * kWidth, D);
            MM = model(q, kMM), IM = model(q, kIM), DM = model(q, kDM);
            M_next = times_odds(M, q);
            begins = begins + M_next * model(q, kBM);
        }
        more_deletes(way);
        return sum_of_quads<N>(begins);
    }

    /// Add D -> D from one quarter of the model into those before it.
    void more_deletes(V way) {
        const ModelQuads<N> model = this->model;
        const int64_t Q = this->Q;
        float *const D_row = D_;
        for (int pass = 1; pass < kQuad; ++pass) {
            way = down<N>(way);
            for (int64_t q = Q - 1; q >= 0;) {
                V sum{};
                for (const int64_t stop = std::max<int64_t>(-1, q - 8); q > stop; --q) {
                    way = way * model(q, kDD);
                    sum = lanes_at<N>(D_row + q * kWidth) + way;
                    put<N>(D_row + q * kWidth, sum);
                }
                if (!floats_above<N>(way * kNegligible, sum)) return;
            }
        }
    }

    /// For lanes whose first residue is in row i, compute N of their row 0 by the sum over all nodes at which they
    /// may start, from the first node on as in HMMER.
    void finish_lanes(int32_t i, V scale) {
        for (int k = 0; k < unit.n_lanes; ++k) {
            if (this->begin(k) != i - 1) continue;
            using Quad = QuadLanes<1>;
            const auto at = [&](const float *row, int64_t q) { return lanes_at<1>(row + q * kWidth + 4 * k); };
            const Quad E = every<Quad>(this->of_lane(E_, k));
            const float lane_scale = this->of_lane(scale, k);
            const Quad factor = every<Quad>(1 / lane_scale);
            Quad begins{};
            for (int64_t q = 0; q < Q; ++q) {
                const Quad D_next = q + 1 < Q ? at(D_, q + 1) : down<1>(at(D_, 0));
                const float *t = this->model.transitions + q * kDD * kQuad;
                Quad M = (at(M_, q) + E) + D_next * lanes_at<1>(t + kMD * kQuad);
                if (lane_scale > 1) M = M * factor;
                begins = begins + M * lanes_at<1>(odds_.lanes[k] + q * kQuad) * lanes_at<1>(t + kBM * kQuad);
            }
            const EnvelopeLane &lane = unit.lanes[k];
            const float B = sum_of_quads<1>(begins)[0];
            first_N_ = this->with_lane(first_N_, k, B * lane.move + this->of_lane(N_, k) * lane.loop);
        }
    }

    float *const M_ = this->work(0), *const I_ = this->work(1), *const D_ = this->work(2);
    const V loop_ = this->of_lanes([](const EnvelopeLane &lane) { return lane.loop; });
    const V move_ = this->of_lanes([](const EnvelopeLane &lane) { return lane.move; });
    V N_{}, B_{}, C_{}, E_{}, E_above_{}, factor_{}, forward_factor_{};
    V first_N_ = every<V>(1);
    uint32_t own_ = 0;
    LaneOdds<N> odds_;
};

}  // namespace tropalign::TROPALIGN_ISA
