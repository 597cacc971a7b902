// The path of highest expected accuracy (Kall and others 2005) over the envelopes of a unit, as in HMMER: the sum
// of the posteriors of its residues, with P(M) and P(I) of a residue in a node,
//
//     M(i, k) = P(M, i, k) + max of B(i-1), M(i-1, k-1), I(i-1, k-1), D(i-1, k-1)
//     I(i, k) = P(I, i, k) + max of M(i-1, k), I(i-1, k)
//     D(i, k) = max of M(i, k-1), D(i, k-1)
//
// where a step whose transition is impossible counts 0, as in HMMER. For each cell the traceback reads which of two
// terms was larger: five bits per node. The same sweep computes posteriors from the products that Backward left, and
// sums them for null2.
//
// A maximum has no rounding, so D needs no passes: it is the larger of the value from within its own quarter of the
// model and the value that enters the quarter from the left, which the next row's sweep adds. And it never exceeds the
// row's largest M, since it is a copy of an M.
#pragma once
#include <limits>

#include "envelope_unit.hpp"

namespace tropalign::TROPALIGN_ISA {

/// The masks of paths (envelope_kernels.hpp).
template <int N>
struct MaskQuads {
    const uint32_t *masks;
    const uint8_t *all_pass;

    [[gnu::always_inline]] QuadLanes<N> operator()(int64_t q, int which) const {
        return same_quads<N>(reinterpret_cast<const float *>(masks) + (q * PathMasks::kMasks + which) * kQuad);
    }
};

template <int N>
class AccuracySweep : UnitMemory<N> {
    using Base = UnitMemory<N>;
    using V = typename Base::V;
    using Base::unit, Base::Q, Base::n_rows, Base::kWidth;
    using Bits = std::conditional_t<N == 4, uint16_t, uint8_t>;
    static constexpr float kNever = -std::numeric_limits<float>::infinity();

  public:
    /// `total`: the return value of Backward.
    AccuracySweep(EnvelopeUnit &given, V total, bool has_own_scales)
        : Base(given), total_(total), has_own_scales_(has_own_scales) {}

    void run() {
        start_lanes(0);
        for (int32_t i = 1; i <= n_rows; ++i) {
            const V total = rest_ * lanes_at<N>(this->special(i, kForwardScale));
            put<N>(this->special(i, kTotal), total);
            put_back_posteriors(i);
            const V E = is_null2_wanted_ ? next_row<true>(i, total) : next_row<false>(i, total);
            close_row(i, E);
            start_lanes(i);
        }
        leave_rows(n_rows, leaves_);
        for (int k = 0; k < unit.n_lanes; ++k) {
            EnvelopeLane &lane = unit.lanes[k];
            lane.accuracy = this->of_lane(C_, k);
            lane.in_range &= std::isfinite(this->of_lane(rest_, k)) != 0;
            lane.end_node = end_node(k);
        }
        if (is_null2_wanted_) null2();
    }

  private:
    V mask(int32_t q, int which) const { return same_quads<N>(unit.masks->of(q, which)); }
    float *rows_of_M(int32_t i) const { return this->work(i & 1); }

    // Computes the posteriors of N and C of this row.
    void put_back_posteriors(int32_t i) {
        const auto posterior = [&](LaneSpecial forward, LaneSpecial backward) {
            return lanes_at<N>(this->special(i - 1, forward)) * lanes_at<N>(this->special(i, backward)) * loop_ * rest_;
        };
        posterior_N_ = posterior(kForwardN, kBackwardN), posterior_C_ = posterior(kForwardC, kBackwardC);
        put<N>(this->special(i, kPosteriorN), posterior_N_), put<N>(this->special(i, kPosteriorC), posterior_C_);
        sum_N_ = sum_N_ + posterior_N_, sum_C_ = sum_C_ + posterior_C_;
        if (has_own_scales_)
            rest_ =
                rest_ * (lanes_at<N>(this->special(i, kForwardScale)) / lanes_at<N>(this->special(i, kBackwardScale)));
    }

    /// One quad's best predecessors of M and I, and the comparisons that chose them.
    struct Ways {
        V M, I;
        uint32_t choices[kChoices];
    };
    /// Predecessors of a quad: M, I, D of the node before, and M, I, D of the node itself, one row above.
    struct Sources {
        V M, I, D, M_above, I_above, D_above;
    };
    template <bool kAllPass>
    [[gnu::always_inline]] static Ways ways(const MaskQuads<N> &mask, int64_t q, V begin, const Sources &from) {
        const auto if_possible = [&](Transition t, V v) { return kAllPass ? v : masked<N>(v, mask(q, t)); };
        const V M = if_possible(kMM, from.M), I = if_possible(kIM, from.I), D = if_possible(kDM, from.D),
                B = if_possible(kBM, begin);
        const V inserts_M = if_possible(kMI, from.M_above), inserts_I = if_possible(kII, from.I_above);
        const V continued = larger(M, I), others = larger(D, B);
        return {larger(continued, others),
                larger(inserts_M, inserts_I),
                {floats_above<N>(I, M), floats_above<N>(B, D), floats_above<N>(others, continued),
                 floats_above<N>(inserts_I, inserts_M),
                 floats_above<N>(if_possible(kDD, from.D_above), if_possible(kMD, from.M_above))}};
    }

    template <bool kNull2>
    V next_row(int32_t i, V total) {
        const MaskQuads<N> mask = mask_;
        const int64_t Q = this->Q;
        const float *const products = this->cells(i), *const M_row = rows_of_M(i - 1);
        float *const M_out = rows_of_M(i), *const I_row = I_, *const D_row = D_, *const sums_M = sums_M_,
                     *const sums_I = sums_I_;
        auto *choices = reinterpret_cast<Bits *>(unit.choices) + i * Q * kChoices;
        const V never = every<V>(kNever), entering = entering_, begin = B_;
        const auto D_at = [&](int64_t q) {
            return larger(lanes_at<N>(D_row + q * kWidth), masked<N>(entering, mask(q, PathMasks::kOpen)));
        };
        Sources from{up_after<N>(never, lanes_at<N>(M_row + (Q - 1) * kWidth)),
                     up_after<N>(never, lanes_at<N>(I_row + (Q - 1) * kWidth)),
                     up_after<N>(never, D_at(Q - 1)),
                     {},
                     {},
                     {}};
        V ends = never, D = never;
        for (int64_t q = 0; q < Q; ++q, choices += kChoices) {
            from.M_above = lanes_at<N>(M_row + q * kWidth), from.I_above = lanes_at<N>(I_row + q * kWidth);
            expect<N>(products + (Q + q) * 2 * kWidth);
            const bool all_pass = mask.all_pass[q];
            from.D_above = all_pass ? larger(lanes_at<N>(D_row + q * kWidth), entering) : D_at(q);
            const Ways best = all_pass ? ways<true>(mask, q, begin, from) : ways<false>(mask, q, begin, from);
            const V posterior_M = lanes_at<N>(products + q * 2 * kWidth) * total,
                    posterior_I = lanes_at<N>(products + (q * 2 + 1) * kWidth) * total;
            if constexpr (kNull2) {
                put<N>(sums_M + q * kWidth, posterior_M + lanes_at<N>(sums_M + q * kWidth));
                put<N>(sums_I + q * kWidth, posterior_I + lanes_at<N>(sums_I + q * kWidth));
            }
            const V M = best.M + posterior_M;
            ends = larger(ends, M);
            put<N>(M_out + q * kWidth, M);
            put<N>(I_row + q * kWidth, best.I + posterior_I);
            put<N>(D_row + q * kWidth, D);
            D = all_pass ? larger(M, D) : larger(masked<N>(M, mask(q, kMD)), masked<N>(D, mask(q, kDD)));
            for (int c = 0; c < kChoices; ++c) choices[c] = static_cast<Bits>(best.choices[c]);
            from.M = from.M_above, from.I = from.I_above, from.D = from.D_above;
        }
        enter_quarters(D);
        return largest_of_quads<N>(ends);
    }

    /// Compute the value that enters each quarter of the model from the left, from those that leave each quarter.
    void enter_quarters(V leaving) {
        const V never = every<V>(kNever), through = mask_(Q - 1, PathMasks::kOpen), last = mask_(Q - 1, kDD);
        const V own = up_after<N>(never, leaving);
        entering_ = own;
        for (int pass = 0; pass < 2; ++pass)
            entering_ = larger(own, up_after<N>(never, masked<N>(masked<N>(entering_, through), last)));
    }

    void close_row(int32_t i, V E) {
        const V stays = C_ + posterior_C_;
        const uint32_t leaves = ~floats_above<N>(stays, E) & this->kAllFloats;
        leave_rows(i - 1, leaves_ & ~leaves);
        leaves_ = leaves;
        C_ = larger(stays, E);
        N_ = N_ + posterior_N_;
        B_ = N_;
    }

    /// Save row i of lanes whose path leaves the model there, unless a later row is better.
    void leave_rows(int32_t i, uint32_t lanes) {
        for (int k = 0; k < unit.n_lanes; ++k) {
            if (!(lanes >> 4 * k & 1)) continue;
            const float *row = rows_of_M(i) + 4 * k;
            for (int64_t q = 0; q < Q; ++q) put<1>(left_ + q * kWidth + 4 * k, lanes_at<1>(row + q * kWidth));
            unit.lanes[k].end_row = i;
        }
    }

    /// Return the node at which a lane's path leaves: the last one with the largest M, in the order of memory.
    int32_t end_node(int k) const {
        float best = kNever;
        int64_t node = 1;
        for (int64_t q = 0; q < Q; ++q)
            for (int r = 0; r < 4; ++r) {
                const float M = left_[q * kWidth + 4 * k + r];
                if (M >= best) best = M, node = r * Q + q + 1;
            }
        return static_cast<int32_t>(node);
    }

    void start_lanes(int32_t row) {
        for (int k = 0; k < N; ++k) {
            if (this->begin(k) != row && row > 0) continue;
            const auto fill = [&](float *quads, float x) {
                for (int64_t q = 0; q < Q; ++q) std::fill_n(quads + q * kWidth + 4 * k, 4, x);
            };
            for (float *quads : {rows_of_M(row), I_, D_}) fill(quads, kNever);
            fill(sums_M_, 0), fill(sums_I_, 0);
            entering_ = this->with_lane(entering_, k, kNever);
            // Backward may have scaled the lane's row 0, for which HMMER has no factor.
            rest_ = this->with_lane(rest_, k, this->of_lane(total_, k));
            C_ = this->with_lane(C_, k, kNever);
            for (V *v : {&N_, &B_, &sum_N_, &sum_C_}) *v = this->with_lane(*v, k, 0);
            leaves_ &= ~(15u << 4 * k);
        }
    }

    /// Compute the odds of residues from the usage of each node, and of N and C, whose odds are 1.
    void null2() {
        const int64_t Q = this->Q;
        const float *const sums_M = sums_M_, *const sums_I = sums_I_, *const all_odds = unit.tables->odds_of(0);
        const V share = this->of_lanes(
            [](const EnvelopeLane &lane) { return static_cast<float>(1.0 / static_cast<double>(lane.L)); });
        const V outside = sum_N_ * share + sum_C_ * share;
        constexpr int kTogether = 5;  // as many as fit into registers
        for (int first = 0; first < kResidues; first += kTogether) {
            V sums[kTogether] = {};
            for (int64_t q = 0; q < Q; ++q) {
                const V M = lanes_at<N>(sums_M + q * kWidth) * share, I = lanes_at<N>(sums_I + q * kWidth) * share;
                for (int x = 0; x < kTogether; ++x)
                    sums[x] = (sums[x] + M * same_quads<N>(all_odds + ((first + x) * Q + q) * kQuad)) + I;
            }
            for (int x = 0; x < kTogether; ++x) {
                const V odds = sum_of_quads<N>(sums[x]) + outside;
                for (int k = 0; k < unit.n_lanes; ++k)
                    if (unit.lanes[k].null2) unit.lanes[k].null2[first + x] = this->of_lane(odds, k);
            }
        }
    }

    bool any_null2() const {
        bool any = false;
        for (int k = 0; k < unit.n_lanes; ++k) any |= unit.lanes[k].null2 != nullptr;
        return any;
    }

    float *const I_ = this->work(2), *const D_ = this->work(3), *const sums_M_ = this->work(4),
                 *const sums_I_ = this->work(5), *const left_ = this->work(6);
    const V loop_ = this->of_lanes([](const EnvelopeLane &lane) { return lane.loop; });
    const MaskQuads<N> mask_{unit.masks->masks.data(), unit.masks->all_pass.data()};
    const bool is_null2_wanted_ = any_null2();
    V N_{}, B_{}, C_{}, sum_N_{}, sum_C_{}, posterior_N_{}, posterior_C_{}, entering_{};
    V rest_{};
    const V total_;
    uint32_t leaves_ = 0;
    const bool has_own_scales_;
};

}  // namespace tropalign::TROPALIGN_ISA
