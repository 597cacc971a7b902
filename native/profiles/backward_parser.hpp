// Backward, a row at a time starting with the last one:
//
//     M(i, k) = E(i) + M(i+1, k+1) odds(x_i+1, k+1) MM + I(i+1, k) MI + D(i, k+1) MD
//     I(i, k) =        M(i+1, k+1) odds(x_i+1, k+1) IM + I(i+1, k) II
//     D(i, k) = E(i) + M(i+1, k+1) odds(x_i+1, k+1) DM + D(i, k+1) DD
//     B(i)    = M(i+1, 1) odds(x_i+1, 1) BM + ... + M(i+1, M) odds(x_i+1, M) BM
//
// in HMMER's order of operations, over nodes that are striped (float_tables.hpp). E(i) follows from B(i), so a row
// takes two sweeps, from the last node to the first:
//
//     1. all terms from row i + 1, and B
//     2. D, with E
//
// Two terms of M are still missing then: E, and the transition to D. The next row's first sweep adds them when it reads
// M, which saves a sweep.
#pragma once
#include "parser_lanes.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int G>
class BackwardParser : ParserLanes<G> {
    using Base = ParserLanes<G>;
    using Base::E, Base::N, Base::J, Base::B, Base::C, Base::loop, Base::move;
    using Base::kQuads, Base::kWidth, Base::kM, Base::kD, Base::kI, Base::Q, Base::tables;
    using typename Base::V, typename Base::Row, typename Base::Odds, typename Base::PerLane, typename Base::Cell;
    using Quad = QuadLanes<1>;
    friend Base;

  public:
    BackwardParser(const FloatTables &given_tables, ParserQueue &given_queue, float *given_cells)
        : Base(given_tables, given_queue, given_cells) {}
    void run() { Base::run(*this); }

  private:
    /// Initialise row L, which is at a different position for each target.
    int32_t start(int l) {
        const ParserTarget &given = this->lanes[l].given;
        const float *last = given.forward + static_cast<int64_t>(given.L) * kSpecials;
        C.of[l] = given.move, E.of[l] = C.of[l] * LengthOdds::kEndMove;
        end_.of[l] = E.of[l];
        delete_from_end(l, every<Quad>(E.of[l]));
        own_[l] = false;
        const float scale = last[kScale];
        if (scale > 1) {
            E.of[l] /= scale, C.of[l] /= scale;
            this->factor.of[l] = 1 / scale;
            this->total[l] = static_cast<float>(std::log(static_cast<double>(scale)));
            this->is_scaled = true;
        }
        this->rows[l] = given.rows + static_cast<int64_t>(given.L) * kSpecials;
        this->write_row(l, scale);
        this->rows[l] -= kSpecials, this->row_step[l] = -kSpecials;
        this->forward[l] = last - kSpecials;
        this->codes[l] = given.codes + given.L - 1, this->code_step[l] = -1;
        return given.L - 1;
    }

    void delete_from_end(int l, Quad E) {
        const ModelQuads<1> model(tables);
        const auto D = [&](int32_t q) { return this->quad(q, l, kD); };
        Quad next = down<1>(E), way{};
        for (int32_t q = Q - 1; q >= 0; --q) {
            way = next * model(q, kDD);
            next = E + way;
            put<1>(D(q), next);
        }
        for (int pass = 1; pass < kQuad; ++pass) {
            way = down<1>(way);
            for (int32_t q = Q - 1; q >= 0; --q) way = way * model(q, kDD), put<1>(D(q), lanes_at<1>(D(q)) + way);
        }
    }

    /// Compute row 0, which has only N and B: the sum for B runs from the first node.
    ParserResult finish(int l) {
        const ParserTarget &given = this->lanes[l].given;
        const LaneOdds<1> odds{{tables.odds_of(given.codes[0])}};
        const ModelQuads<1> model(tables);
        const auto at = [&](int32_t q, Cell c) { return lanes_at<1>(this->quad(q, l, c)); };
        const Quad end = every<Quad>(end_.of[l]), factor = every<Quad>(this->factor.of[l]);
        Quad sum{};
        for (int32_t q = 0; q < Q; ++q) {
            const Quad D_next = q + 1 < Q ? at(q + 1, kD) : down<1>(at(0, kD));
            const Quad M = ((at(q, kM) + end) + D_next * model(q, kMD)) * factor;
            sum = sum + M * odds(q) * model(q, kBM);
        }
        B.of[l] = sum_of_quads<1>(sum)[0];
        N.of[l] = B.of[l] * move.of[l] + N.of[l] * loop.of[l];
        E.of[l] = J.of[l] = C.of[l] = 0;
        this->write_row(l, 1);
        return {static_cast<float>(this->total[l] + std::log(static_cast<double>(N.of[l]))), own_[l]};
    }

    void next_row() {
        PerLane forward_scale;
        for (int n = 0; n < kQuads; ++n)
            for (int g = 0; g < G; ++g) {
                const int l = 4 * n + g;
                forward_scale.of[l] = this->forward[l][kScale];
            }
        V begins[G];
        if (this->is_scaled) first_sweep<true>(begins);
        else first_sweep<false>(begins);
        states(this->sums_of(begins));
        second_sweep();
        scale(forward_scale.all());
    }

    void states(V begins) {
        B = begins;
        C = C.all() * loop.all();
        J = begins * move.all() + J.all() * loop.all();
        N = begins * move.all() + N.all() * loop.all();
        E = C.all() * LengthOdds::kEndMove + J.all() * LengthOdds::kEndLoop;
        end_ = E.all();
    }

    /// Scale by Forward's factors, until numbers grow far beyond them; from then on by the target's own.
    void scale(V by) {
        if (this->is_scaled) this->factor = every<V>(1);
        this->is_scaled = false;
        const V b = B.all();
        const uint32_t far = ~floats_above<kQuads>(every<V>(kFarHigher), b);
        if (any_own_ || (far & kAll)) {
            PerLane scales;
            scales = by;
            for (int l = 0; l < kWidth; ++l) {
                own_[l] |= B.of[l] >= kFarHigher;
                any_own_ |= own_[l];
                if (own_[l]) scales.of[l] = B.of[l] > kHighRow ? B.of[l] : 1;
            }
            by = scales.all();
        }
        const uint32_t scaled = floats_above<kQuads>(by, every<V>(1));
        if (scaled) {
            E = E.all() / by;
            this->scale_down(scaled, by);
        }
        this->write_rows(by);
    }

    template <bool kScaled>
    void first_sweep(V (&all_begins)[G]) {
        const Row row = this->row();
        const Odds odds = this->odds_of_row();
        const int64_t Q = row.Q;
        V end[G], factor[G], M_next[G], D_next[G], begins[G];
        const auto old_M = [&](int64_t q, int g, V D_after, V MD) {
            V M = row.at(q, g, kM) + end[g];
            M = M + D_after * MD;
            return kScaled ? M * factor[g] : M;
        };
#pragma GCC unroll 4
        for (int g = 0; g < G; ++g) {
            end[g] = this->of_group(g, end_.all());
            factor[g] = this->of_group(g, this->factor.all());
            M_next[g] = down<kQuads>(old_M(0, g, row.at(1, g, kD), row.model(0, kMD)) * odds.of[g](0));
            D_next[g] = down<kQuads>(row.at(0, g, kD));
            begins[g] = V{};
        }
        V MM = down<kQuads>(row.model(0, kMM)), IM = down<kQuads>(row.model(0, kIM)),
          DM = down<kQuads>(row.model(0, kDM));
        // Each transition is loaded once for all groups.
        for (int64_t q = Q - 1; q >= 0; --q) {
            const V MD = row.model(q, kMD);
            V M[G], I[G];
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) {
                M[g] = old_M(q, g, D_next[g], MD);
                D_next[g] = row.at(q, g, kD);
                I[g] = row.at(q, g, kI);
                if (kScaled) I[g] = I[g] * factor[g];
                row.set(q, g, kD, M_next[g] * DM);
            }
            const V II = row.model(q, kII), MI = row.model(q, kMI);
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) {
                row.set(q, g, kI, I[g] * II + M_next[g] * IM);
                row.set(q, g, kM, I[g] * MI + M_next[g] * MM);
            }
            const V BM = row.model(q, kBM);
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) {
                M_next[g] = M[g] * odds.of[g](q);
                begins[g] = begins[g] + M_next[g] * BM;
            }
            MM = row.model(q, kMM), IM = row.model(q, kIM), DM = row.model(q, kDM);
        }
#pragma GCC unroll 4
        for (int g = 0; g < G; ++g) all_begins[g] = begins[g];
    }

    void second_sweep() {
        const Row row = this->row();
        V end[G], next[G], way[G];
#pragma GCC unroll 4
        for (int g = 0; g < G; ++g) {
            end[g] = this->of_group(g, end_.all());
            next[g] = down<kQuads>(row.at(0, g, kD) + end[g]);
        }
        for (int64_t q = row.Q - 1; q >= 0; --q) {
            const V DD = row.model(q, kDD);
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) {
                way[g] = next[g] * DD;
                next[g] = row.at(q, g, kD) + (way[g] + end[g]);
                row.set(q, g, kD, next[g]);
            }
        }
        more_deletes(row, way);
    }

    /// Add D -> D from one quarter of the model into those before it (row_limits.hpp).
    [[gnu::always_inline]] static void more_deletes(const Row &row, V (&way)[G]) {
        for (int pass = 1; pass < kQuad; ++pass) {
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) {
                way[g] = down<kQuads>(way[g]);
            }
            for (int64_t q = row.Q - 1; q >= 0;) {
                for (const int64_t stop = std::max(int64_t{-1}, q - kStride); q > stop; --q) {
                    const V DD = row.model(q, kDD);
#pragma GCC unroll 4
                    for (int g = 0; g < G; ++g) {
                        way[g] = way[g] * DD;
                        row.set(q, g, kD, row.at(q, g, kD) + way[g]);
                    }
                }
                uint32_t any = 0;
#pragma GCC unroll 4
                for (int g = 0; g < G; ++g) {
                    any |= floats_above<kQuads>(way[g] * kNegligible, row.at(q + 1, g, kD));
                }
                if (!any) return;
            }
        }
    }

    static constexpr int32_t kStride = 8;
    static constexpr uint32_t kAll = (1u << kWidth) - 1;
    PerLane end_;  ///< E before it was scaled.
    bool own_[kWidth] = {}, any_own_ = false;
};

}  // namespace tropalign::TROPALIGN_ISA
